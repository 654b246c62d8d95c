"""The command ``medgauge demo``."""

from __future__ import annotations

from pathlib import Path

import click

from medgauge_lib.cli.options import PATH


@click.command("demo")
@click.argument("folder", type=PATH)
def demo_command(folder: Path) -> None:
    """Write the synthetic demo record set into FOLDER; the same bytes every time."""
    from medgauge_lib import demo

    files = demo.write(folder)
    click.echo(f"{len(files)} files of the synthetic demo set in {folder}")
