"""The command ``medgauge board``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from medgauge_lib.cli.options import PATH, SEED_OPTION, SOURCES, SUBSET, as_json, format_option, one_or_many

if TYPE_CHECKING:
    from medgauge_lib.difficulty import Difficulty


@click.command("board")
@SOURCES
@SUBSET
@SEED_OPTION
@format_option("the board", "table", "json", "csv", "latex", "markdown")
@click.option(
    "--labels",
    type=PATH,
    help="Closed file of task labels; adds the figures by class of difficulty, which then are not public.",
)
def board_command(records: Sequence[Path], subset: str, seed: int, form: str, labels: Path | None) -> None:
    """Print the board of RECORDS, a folder of result records or the files themselves."""
    from medgauge_lib.board import board
    from medgauge_lib.cli.layout import board_text, strata_text
    from medgauge_lib.difficulty import difficulty
    from medgauge_lib.export import board_table
    from medgauge_lib.labels import read_labels
    from medgauge_lib.records import read_records

    if labels and form not in ("table", "json"):
        raise click.UsageError(f"--labels goes with --format table or json; {form} holds one line a row")
    held = read_records(one_or_many(records))
    found = board(held, subset, seed=seed)
    strata = difficulty(held, found, read_labels(labels, held), publish="internal") if labels else None
    match form:
        case "json":
            click.echo(
                as_json(found.to_json() | ({"strata": _strata_json(strata)} if strata else {})), nl=False
            )
        case "table":
            click.echo(board_text(found) + (f"\n\n{strata_text(strata)}" if strata else ""))
        case _:
            click.echo(board_table(found).to_bytes(form), nl=False)


def _strata_json(strata: Difficulty) -> Sequence[Any]:
    frame = strata.to_frame().astype(object)
    return frame.where(frame.notna(), None).to_dict("records")
