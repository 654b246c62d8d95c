"""The commands ``medgauge export board|pairs|dimensions|difficulty|failures|figure``.

Thin: each makes one table and writes it, to a file whole or not at all, or to standard output.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from medgauge_lib.cli.options import PATH, SEED_OPTION, SOURCES, SUBSET, one_or_many, require_apart
from medgauge_lib.errors import InputError

if TYPE_CHECKING:
    from medgauge_lib.board import Board
    from medgauge_lib.export.tables import Exported
    from medgauge_lib.records import RecordSet

_FORMATS = ("csv", "json", "parquet", "latex", "markdown")


def _written(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say where its table goes, and how."""
    command = click.option(
        "--format", "form", type=click.Choice(_FORMATS), help="Format.  [default: by suffix; csv]"
    )(command)
    return click.option("--out", type=PATH, help="File to write.  [default: standard output]")(command)


def _of_records(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command its records, subset and seed."""
    return SOURCES(SUBSET(SEED_OPTION(command)))


_LABELS = click.option(
    "--labels", type=PATH, help="Closed file of task labels; what is made with it is not public."
)


@click.group()
def export() -> None:
    """Write a table of a result: CSV, JSON and Parquet for programs, LaTeX and Markdown for papers."""


@export.command("board")
@_of_records
@_written
def board_command(
    records: Sequence[Path], subset: str, seed: int, out: Path | None, form: str | None
) -> None:
    """Write the board of RECORDS, a line a row."""
    from medgauge_lib.export.tables import board_table

    _write(lambda: board_table(_board(records, subset, seed)[1]), out, form)


@export.command("pairs")
@_of_records
@_written
def pairs_command(
    records: Sequence[Path], subset: str, seed: int, out: Path | None, form: str | None
) -> None:
    """Write the comparison of every two rows of RECORDS, a line a pair."""
    from medgauge_lib.export.tables import pairs_table

    _write(lambda: pairs_table(_board(records, subset, seed)[1]), out, form)


@export.command("dimensions")
@_of_records
@_LABELS
@_written
def dimensions_command(
    records: Sequence[Path], subset: str, seed: int, labels: Path | None, out: Path | None, form: str | None
) -> None:
    """Write M1 to M10 of RECORDS, a line a row and figure."""
    from medgauge_lib.dimensions import dimensions
    from medgauge_lib.export.tables import dimensions_table

    _write(lambda: dimensions_table(*_labelled(dimensions, records, subset, seed, labels)), out, form)


@export.command("difficulty")
@_of_records
@_LABELS
@_written
def difficulty_command(
    records: Sequence[Path], subset: str, seed: int, labels: Path | None, out: Path | None, form: str | None
) -> None:
    """Write the figures of RECORDS by class of difficulty, a line a row and class."""
    from medgauge_lib.difficulty import difficulty
    from medgauge_lib.export.tables import difficulty_table

    _write(lambda: difficulty_table(*_labelled(difficulty, records, subset, seed, labels)), out, form)


@export.command("failures")
@SOURCES
@_written
def failures_command(records: Sequence[Path], out: Path | None, form: str | None) -> None:
    """Write the failed runs of RECORDS by recorded reason, a line a row and reason; all subsets together."""
    from medgauge_lib.export.tables import failures_table
    from medgauge_lib.failures import failures
    from medgauge_lib.intervals import SEED

    _write(lambda: failures_table(failures(*_board(records, "holdout", SEED))), out, form)


@export.command("figure")
@click.argument("report_dir", type=PATH)
@click.argument("figure", metavar="ID")
@_written
def figure_command(report_dir: Path, figure: str, out: Path | None, form: str | None) -> None:
    """Write the data behind figure ID of the report in REPORT_DIR, as it was built."""
    from medgauge_lib.export.tables import figure_table
    from medgauge_lib.report.reproduce import built_figure

    def made() -> Exported:
        shown, about = built_figure(report_dir, figure)
        return figure_table(shown.table, about)

    _write(made, out, form)


def _board(records: Sequence[Path], subset: str, seed: int) -> tuple[RecordSet, Board]:
    from medgauge_lib.board import board
    from medgauge_lib.records import read_records

    held = read_records(one_or_many(records))
    return held, board(held, subset, seed=seed)


def _labelled(
    measure: Callable[..., Any], records: Sequence[Path], subset: str, seed: int, labels: Path | None
) -> tuple[Any, Board]:
    """Measure what labels add to, and give it with its board."""
    from medgauge_lib.labels import read_labels

    held, found = _board(records, subset, seed)
    if labels is None:
        return measure(held, found, None, publish="public"), found
    return measure(held, found, read_labels(labels, held), publish="internal"), found


def _write(made: Callable[[], Exported], out: Path | None, form: str | None) -> None:
    """Find out where to and how before any work is spent, then make the table and write it."""
    from medgauge_lib.export.formats import format_of
    from medgauge_lib.files import write_file

    wanted = format_of(out, form)
    if out is not None and out.exists() and not out.is_file():
        raise InputError("is no regular file", "name a file, or leave --out out to print", file=out)
    if out is not None:
        require_apart(out)
    if out is None and wanted == "parquet" and sys.stdout.isatty():
        raise InputError("Parquet is not for reading on a terminal", "name a file with --out")
    content = made().to_bytes(wanted)
    if out is None:
        click.echo(content, nl=False)
        return
    write_file(out.resolve(), content)
    click.echo(f"{out}: {wanted}")
