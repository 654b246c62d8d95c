"""The command ``medgauge`` from its first moment; the library itself is `medgauge_lib`.

Loading the library takes most of a second. Ctrl-C in that second ends the command in one line as it does
later, which is why nothing of the library is imported here until that is seen to.
"""

from __future__ import annotations

import os
import signal

__all__ = ["main"]


def _interrupted(*_: object) -> None:
    # Nothing is begun yet, so there is nothing to unwind; an exception raised inside an import may be lost.
    os.write(2, b"medgauge: interrupted\n")
    os._exit(128 + signal.SIGINT)


def main() -> None:
    """Load the library and run the command line on the arguments of this process."""
    before = signal.signal(signal.SIGINT, _interrupted)
    from medgauge_lib.cli import main as command

    signal.signal(signal.SIGINT, before)
    command()


if __name__ == "__main__":
    main()
