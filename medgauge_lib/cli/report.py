"""The command ``medgauge report``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from medgauge_lib.cli.options import DASK, PATH
from medgauge_lib.errors import InputError


@click.command("report")
@click.argument("params", nargs=-1, type=PATH)
@click.option(
    "--out",
    type=PATH,
    default="reports",
    show_default=True,
    help="Folder that holds all reports.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Run this notebook only; may be repeated.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Notebooks that run at a time.  [default: cores + 1; with --dask, 1 a worker]",
)
@click.option("--cell-seconds", type=click.IntRange(1), help="Time limit of one cell.  [default: 600]")
@click.option("--single-file", is_flag=True, help="Write report.html besides: the whole report in one file.")
@click.option("--pdf", is_flag=True, help="Write report.pdf besides, printed by Chromium.")
@DASK
@click.option("--force", is_flag=True, help="Build even where no input has changed.")
def report_command(
    params: Sequence[Path],
    out: Path,
    only: Sequence[str],
    jobs: int | None,
    cell_seconds: int | None,
    single_file: bool,
    pdf: bool,
    dask: str | None,
    force: bool,
) -> None:
    """Build the reports of the params files PARAMS, or of every file in params/ where none is named.

    With --dask, every machine of the cluster must see the records, the notebooks and the reports under the
    same paths.
    """
    from medgauge_lib.parallel import Workers
    from medgauge_lib.report.build import build

    made = build(
        params or _every_params_file(),
        out=out,
        only=only,
        jobs=jobs,
        cell_seconds=cell_seconds,
        force=force,
        single_file=single_file,
        pdf=pdf,
        workers=None if dask is None else Workers(dask=dask),
    )
    for built in made:
        click.echo(f"{built.folder / 'index.html'}: {built.status}")
        for notice in built.notices:
            click.echo(f"{built.folder / 'index.html'}: {notice}", err=True)


def _every_params_file() -> list[Path]:
    found = sorted(Path("params").glob("*.yaml"))
    if not found:
        raise InputError("there is no params file", "name one, or run where params/*.yaml is", file="params")
    return found
