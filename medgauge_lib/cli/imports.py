"""The command ``medgauge import``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from medgauge_lib.cli.options import PATH, as_json, format_option
from medgauge_lib.importers import FORMATS
from medgauge_lib.importers.facts import FACTS, read_given


def _facts(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command one option for each fact."""
    for name, words in reversed(list(FACTS.items())):
        command = click.option(f"--{name.replace('_', '-')}", name, metavar="TEXT", help=f"{words}.")(command)
    return command


@click.command("import")
@click.argument("kind", metavar="FORMAT", type=click.Choice(list(FORMATS)))
@click.argument("source", type=PATH)
@click.option("--out", required=True, type=PATH, help="Folder to write, new or empty.")
@click.option("--mapping", type=PATH, help="YAML file: record, subjects, columns, errors, prices.")
@format_option("the summary")
@_facts
def import_command(
    kind: str, source: Path, out: Path, mapping: Path | None, form: str, **facts: str | None
) -> None:
    """Make result records of the runs in SOURCE, which another program wrote.

    FORMAT is table, inspect, mcpmark, tau-bench or terminal-bench. Records come to lie under OUT/records;
    task names and what else must not be published under OUT/closed.
    """
    from medgauge_lib.cli.layout import summary_text
    from medgauge_lib.importers.importing import import_runs

    summary = import_runs(kind, source, out, given=read_given(mapping, facts))
    if form == "json":
        click.echo(as_json(summary.to_json()), nl=False)
    else:
        click.echo(summary_text(summary, out))
