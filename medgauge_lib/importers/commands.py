"""The command ``medgauge import``; thin, one library call."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from medgauge_lib.importers import FORMATS
from medgauge_lib.importers.facts import FACTS, read_given

if TYPE_CHECKING:
    from medgauge_lib.importers.importing import Summary


def _facts(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command one option for each fact."""
    for name, words in reversed(list(FACTS.items())):
        command = click.option(f"--{name.replace('_', '-')}", name, metavar="TEXT", help=f"{words}.")(command)
    return command


@click.command("import")
@click.argument("kind", metavar="FORMAT", type=click.Choice(list(FORMATS)))
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to write, new or empty.")
@click.option(
    "--mapping", type=click.Path(path_type=Path), help="YAML file: record, subjects, columns, errors, prices."
)
@click.option(
    "--format", "shape", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="How to print the summary.",
)  # fmt: skip
@_facts
def import_command(
    kind: str, source: Path, out: Path, mapping: Path | None, shape: str, **facts: str | None
) -> None:
    """Make result records of the runs in SOURCE, which another program wrote.

    FORMAT is table, inspect, mcpmark, tau-bench or terminal-bench. Records come to lie under OUT/records;
    task names and what else must not be published under OUT/closed.
    """
    from medgauge_lib.importers.importing import import_runs

    summary = import_runs(kind, source, out, given=read_given(mapping, facts))
    if shape == "json":
        sys.stdout.flush()
        sys.stdout.buffer.write(
            orjson.dumps(summary.to_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )
    else:
        click.echo(summary_text(summary, out))


def summary_text(summary: Summary, out: Path) -> str:
    """Lay a summary out for a terminal.

    Parameters
    ----------
    summary : Summary
    out : Path
        The folder that was written.

    Returns
    -------
    str
    """
    lines = [
        f"{out / board['records']}: {board['n_records']} records, {board['n_tasks']} tasks, "
        f"{board['n_runs']} runs"
        + (
            f"; the first three runs of each task, {board['runs_left_out']} later ones left out"
            if board["runs_left_out"]
            else ""
        )
        for board in summary.boards
    ]
    for name in ("mapped", "dropped", "assumed"):
        lines += [f"{name}:", *(f"  {sentence}" for sentence in getattr(summary, name) or ("nothing",))]
    return "\n".join([*lines, f"closed, not to be published: {out / 'closed'}"])
