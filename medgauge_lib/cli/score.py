"""The command ``medgauge score``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from medgauge_lib.cli.options import PATH, SEED_OPTION, SOURCES, one_or_many

if TYPE_CHECKING:
    from datetime import datetime


@click.command("score")
@SOURCES
@click.option("--out", required=True, type=PATH, help="Folder for the records, new or empty.")
@SEED_OPTION
@click.option(
    "--as-of",
    type=click.DateTime(formats=["%Y-%m-%d"]),
    help="Date of the board.  [default: latest creation date among the records]",
)
def score_command(records: Sequence[Path], out: Path, seed: int, as_of: datetime | None) -> None:
    """Write RECORDS with their figures, intervals and board block computed from their runs."""
    from medgauge_lib.files import require_new
    from medgauge_lib.records import read_records
    from medgauge_lib.scoring import score, write

    require_new(out)  # before any work is spent
    made = score(
        read_records(one_or_many(records)),
        seed=seed,
        as_of=None if as_of is None else as_of.date().isoformat(),
    )
    paths = write(made, out)
    click.echo(f"{len(paths)} scored record{'s' * (len(paths) != 1)} in {out}")
