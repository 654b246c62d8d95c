"""The command line: a thin skin over the library, one module a command.

Exit codes everywhere: 0 clean, 1 findings or a difference, 2 input that cannot be used; 130
interrupted, 143 terminated. What a user can cause is one or two lines on standard error, never a traceback.
The drawing and notebook libraries are imported by the commands that need them, when they run.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from medgauge_lib._version import __version__
from medgauge_lib.cli.board import board_command
from medgauge_lib.cli.check import check_command
from medgauge_lib.cli.demo import demo_command
from medgauge_lib.cli.export import export
from medgauge_lib.cli.findings import findings
from medgauge_lib.cli.imports import import_command
from medgauge_lib.cli.plan import plan
from medgauge_lib.cli.report import report_command
from medgauge_lib.cli.reproduce import reproduce_command
from medgauge_lib.cli.score import score_command
from medgauge_lib.errors import InputError
from medgauge_lib.progress import shown

UNUSABLE = 2
"""Exit code for input that cannot be used."""

INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
"""Exit codes after Ctrl-C and after SIGTERM, as shells have them."""


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM unwind the command, so that it clears away what it has half written."""

    def leave(*_: object) -> None:
        raise SystemExit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set a handler
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Commands(click.Group):
    """Commands whose errors are one or two lines."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; say what is wrong with the input and leave with exit code 2.

        An interrupt leaves with 130 and a termination with 143, after whatever was half written is gone.
        """
        try:
            with _terminable(), shown():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("medgauge: interrupted", err=True)
            return ctx.exit(INTERRUPTED)
        except InputError as error:
            message = str(error)
        except BrokenPipeError:
            raise  # click ends quietly when a reader such as head closes the pipe
        except OSError as error:
            where = error.filename if isinstance(error.filename, str) else None
            message = str(InputError((error.strerror or str(error)).lower(), file=where))
        click.echo(f"medgauge: {message}", err=True)
        return ctx.exit(UNUSABLE)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="medgauge")
def main() -> None:
    """Turn the result records of one benchmark version into numbers and a report.

    Exit codes: 0 clean, 1 findings, 2 input that cannot be used.
    """


for _command in (
    board_command,
    check_command,
    score_command,
    demo_command,
    report_command,
    reproduce_command,
    export,
    findings,
    import_command,
    plan,
):
    main.add_command(_command)
