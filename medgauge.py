"""The command ``medgauge`` from its first moment; the library itself is `medgauge_lib`.

Loading the library takes most of a second. Ctrl-C in that second ends the command in one line as it does
later, which is why nothing of the library is imported here until that is seen to.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

__all__ = ["main"]


def _interrupted(*_: object) -> None:
    # Nothing is begun yet, so there is nothing to unwind; an exception raised inside an import may be lost.
    os.write(2, b"medgauge: interrupted\n")
    os._exit(128 + signal.SIGINT)


def _require_output() -> None:
    """Leave where standard output is closed, since what is printed would be lost with an exit code of 0."""
    if sys.stderr is None:  # closed too: what is said there is said to nobody
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stderr.write("medgauge: standard output is closed\n  send it to a file, a pipe or /dev/null\n")
        sys.exit(2)


def _require_docstrings() -> None:
    """Leave where Python drops docstrings: Altair makes its own of others and does not load without."""
    if sys.flags.optimize > 1:
        sys.stderr.write("medgauge: Python leaves docstrings out\n  run it without -OO or PYTHONOPTIMIZE\n")
        sys.exit(2)


def main() -> None:
    """Load the library and run the command line on the arguments of this process."""
    _require_output()
    _require_docstrings()
    before = signal.signal(signal.SIGINT, _interrupted)
    from medgauge_lib.cli import main as command

    signal.signal(signal.SIGINT, before)
    command()


if __name__ == "__main__":
    main()
