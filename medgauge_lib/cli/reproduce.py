"""The command ``medgauge reproduce``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from medgauge_lib.cli.options import PATH, as_json, format_option


@click.command("reproduce")
@click.argument("report_dir", type=PATH)
@click.option("--figure", "figures", multiple=True, metavar="ID", help="This figure only; may be repeated.")
@click.option("--records", type=PATH, help="Folder of the records on this machine.")
@click.option("--params", type=PATH, help="Params file on this machine.")
@click.option("--labels", type=PATH, help="Task labels on this machine.")
@format_option("the differences")
@click.pass_context
def reproduce_command(
    ctx: click.Context,
    report_dir: Path,
    figures: Sequence[str],
    records: Path | None,
    params: Path | None,
    labels: Path | None,
    form: str,
) -> None:
    """Run the notebooks of the report in REPORT_DIR again and compare its figures with what they give.

    Exit codes: 0 every figure matches, 1 a figure differs, 2 an input changed or a notebook does not run.
    The notebooks are programs: reproduce only what comes from someone you trust, or read them first.
    """
    from medgauge_lib.report.reproduce import reproduce

    made = reproduce(report_dir, figures=figures, records=records, params=params, labels=labels)
    if form == "json":
        click.echo(as_json(made.to_json()), nl=False)
    else:
        click.echo(made.to_text())
    for notebook in made.not_run:
        click.echo(f"medgauge: {notebook} did not run, so its figures cannot be compared", err=True)
    ctx.exit(made.exit_code)
