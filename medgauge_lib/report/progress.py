"""Telling how a build goes: a bar on a terminal, plain lines elsewhere, on standard error."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


class Progress:
    """Tells of notebooks as they end.

    Parameters
    ----------
    total : int
        How many notebooks will end.
    enabled : bool
        False tells nothing.
    """

    def __init__(self, total: int, *, enabled: bool) -> None:
        self._enabled = enabled
        self._total, self._ended = total, 0
        self._bar: Any = None
        if enabled and total and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, unit="notebook", file=sys.stderr, leave=False)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def ended(self, text: str) -> None:
        """Count one notebook that ended.

        Parameters
        ----------
        text : str
            Which one.
        """
        self._ended += 1
        if self._bar is not None:
            self._bar.set_description(text, refresh=False)
            self._bar.update(1)
        elif self._enabled:
            print(f"{text} ({self._ended} of {self._total})", file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """Tell one thing.

        Parameters
        ----------
        text : str
            A line.
        """
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        elif self._enabled:
            print(text, file=sys.stderr, flush=True)
