"""Telling how work goes, with the time left: a bar on a terminal, plain lines elsewhere, on standard error.

Work that is over within two seconds is not told of. Nothing here reaches standard output or a file, since
times differ from run to run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from time import monotonic
from types import TracebackType
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

QUIET_SECONDS = 2.0
"""What takes no longer is not told of."""

_LINES = 10
"""Most plain lines that tell of steps without a name, one a tenth of the work."""


class Progress:
    """Tells of steps as they end.

    Parameters
    ----------
    total : int
        How many steps will end.
    unit : str
        What a step is, in the singular.
    enabled : bool
        False tells nothing.

    Examples
    --------
    >>> with Progress(3, unit="task", enabled=False) as told:
    ...     for _ in range(3):
    ...         told.ended()
    """

    def __init__(self, total: int, *, unit: str, enabled: bool = True) -> None:
        self._enabled = enabled
        self._unit, self._total, self._ended = unit, total, 0
        self._began, self._lines = monotonic(), 0
        self._bar: Any = None
        if enabled and total and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, unit=unit, file=sys.stderr, leave=False, delay=QUIET_SECONDS)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def ended(self, text: str = "") -> None:
        """Count one step that ended.

        Parameters
        ----------
        text : str
            Which one. Without a terminal a step with a name has a line of its own; of the others a line tells
            each tenth.
        """
        self._ended += 1
        if self._bar is not None:
            if text:
                self._bar.set_description(text, refresh=False)
            self._bar.update(1)
        elif self._enabled and text:
            _print(f"{text} ({self._ended} of {self._total})")
        elif self._enabled:
            self._tell_tenth()

    def _tell_tenth(self) -> None:
        """Print a line where a tenth of the work has ended since the last one."""
        past = monotonic() - self._began
        tenth = self._ended * _LINES // self._total
        if past < QUIET_SECONDS or tenth <= self._lines or self._ended == self._total:
            return
        from tqdm import tqdm

        self._lines = tenth
        left = tqdm.format_interval(past / self._ended * (self._total - self._ended))
        _print(f"{self._unit} {self._ended} of {self._total}, about {left} left")

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
            _print(text)


class Telling(Protocol):
    """What a function of the library takes to tell of its steps: an iterable goes in, the same comes out."""

    def __call__(self, steps: Iterable[T], /, *, unit: str) -> Iterator[T]:
        """Give the steps one by one; each has ended when the next is asked for."""


def quietly(steps: Iterable[T], /, *, unit: str) -> Iterator[T]:
    """Give the steps and tell nothing: what the library does unless asked.

    Parameters
    ----------
    steps : iterable
        What is gone through.
    unit : str
        What a step is, in the singular.

    Yields
    ------
    object
        Each step.

    Examples
    --------
    >>> list(quietly("ab", unit="letter"))
    ['a', 'b']
    """
    yield from steps


def telling(steps: Iterable[T], /, *, unit: str) -> Iterator[T]:
    """Give the steps and tell of them on standard error: what the command line does.

    Parameters
    ----------
    steps : iterable
        What is gone through; it has a length.
    unit : str
        What a step is, in the singular.

    Yields
    ------
    object
        Each step.

    Examples
    --------
    >>> list(telling("ab", unit="letter"))
    ['a', 'b']
    """
    held = steps if isinstance(steps, Sized) else list(steps)
    with Progress(len(held), unit=unit) as told:
        for step in held:
            yield step
            told.ended()


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
