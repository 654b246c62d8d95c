"""The command line: a thin skin over the library, one module a command.

Exit codes everywhere: 0 clean, 1 findings or a difference, 2 input that cannot be used; 130 interrupted, 141
where the reader of a pipe ended early, 143 terminated. What a user can cause is one or two lines on standard
error, never a traceback.
The drawing and notebook libraries are imported by the commands that need them, when they run.
"""

from __future__ import annotations

import errno
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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

NAME = "medgauge"

UNUSABLE = 2
"""Exit code for input that cannot be used."""

INTERRUPTED, PIPE_CLOSED, TERMINATED = (
    128 + number for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)
)
"""Exit codes after Ctrl-C, where the reader of a pipe ended early, and after SIGTERM, as shells have them."""


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


@contextmanager
def _ending_well() -> Iterator[None]:
    """Say in one or two lines why a command cannot go on, and end it with the exit code for that."""
    try:
        yield
        return
    except KeyboardInterrupt as stop:
        # Who keeps what was finished says so.
        code, said = INTERRUPTED, ": ".join(("interrupted", *map(str, stop.args)))
    except click.exceptions.NoArgsIsHelpError:
        raise  # click shows the help
    except click.UsageError as error:
        code, said = UNUSABLE, _usage(error)
    except InputError as error:
        code, said = UNUSABLE, str(error)
    except BrokenPipeError:
        code, said = PIPE_CLOSED, ""
    except OSError as error:
        # Whoever writes a file names it.
        unnamed = "standard output" if error.errno == errno.ENOSPC else None
        where = error.filename if isinstance(error.filename, str) else unnamed
        code, said = UNUSABLE, str(InputError((error.strerror or str(error)).lower(), file=where))
    _let_go_of_output()
    if said:
        click.echo(f"medgauge: {said}", err=True)
    raise click.exceptions.Exit(code)


def _usage(error: click.UsageError) -> str:
    """Say what is wrong with a call, and which help tells what is right."""
    command = error.ctx.command_path if error.ctx else NAME
    return str(InputError(" ".join(error.format_message().split()), f"{command} --help shows what is right"))


def _let_go_of_output() -> None:
    """Close a standard output that takes nothing more; Python would try again, and complain, at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            sys.stdout.close()


class Commands(click.Group):
    """Commands whose errors are one or two lines."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the words before the command; however the program was started, its name is the same."""
        with _ending_well():
            return super().make_context(NAME, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; say what is wrong with the input and leave with exit code 2.

        An interrupt leaves with 130, a termination with 143, and a reader that closed its pipe with 141,
        after whatever was half written is gone.
        """
        with _ending_well(), _terminable(), shown():
            return super().invoke(ctx)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name=NAME)
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
