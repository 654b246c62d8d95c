"""Telling how work goes, with the time left: a bar on a terminal, plain lines elsewhere, on standard error.

A command that is over within two seconds tells nothing. Nothing here reaches standard output or a file, since
times differ from run to run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Any, TypeVar, cast

T = TypeVar("T")

QUIET_SECONDS = 2.0
"""What takes no longer is not told of, and plain lines are at least this far apart."""

PATIENCE_SECONDS = 30.0
"""Plain lines come a tenth of the work apart, or this long where a tenth takes longer."""


@dataclass
class _Screen:
    """Where progress is told: by one loop at a time, and since when."""

    last: float
    taken: bool = False


_SCREEN: ContextVar[_Screen | None] = ContextVar("where progress is told", default=None)


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
        self._unit, self._total, self._ended, self._tenths = unit, total, 0, 0
        self._began, self._screen = monotonic(), _SCREEN.get() or _Screen(monotonic())
        self._bar: Any = None
        if enabled and total and sys.stderr.isatty():
            from tqdm import tqdm

            wait = max(0.0, self._screen.last + QUIET_SECONDS - self._began)
            self._bar = tqdm(total=total, unit=f" {unit}", file=sys.stderr, leave=False, delay=wait)

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
            Which one. Without a terminal a step with a name has a line of its own; the others have a line now
            and then.
        """
        self._ended += 1
        if self._bar is not None:
            if text:
                self._bar.set_description(text, refresh=False)
            self._bar.update(1)
        elif self._enabled and text:
            now = monotonic()
            late = now - self._began > QUIET_SECONDS and self._ended < self._total
            _print(f"{text} ({self._ended} of {self._total}{self._left(now) if late else ''})")
        elif self._enabled:
            self._tell_time()

    def _left(self, now: float) -> str:
        """Say how long the rest will take, where it goes on as it went, unless it is over at once."""
        from tqdm import tqdm

        left = (now - self._began) / self._ended * (self._total - self._ended)
        return f", about {tqdm.format_interval(left)} left" if left >= 1 else ""

    def _tell_time(self) -> None:
        """Print how far it is and what is left, where it is time for a line."""
        now = monotonic()
        silent = now - self._screen.last
        tenths = self._ended * 10 // self._total
        due = tenths > self._tenths or silent > PATIENCE_SECONDS
        if silent < QUIET_SECONDS or not due:
            return
        left = self._left(now)
        if left:
            self._tenths, self._screen.last = tenths, now
            _print(f"{self._unit} {self._ended} of {self._total}{left}")

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


@contextmanager
def shown() -> Iterator[None]:
    """Have the steps of everything inside told of; the command line does so, the library by itself does not.

    Examples
    --------
    >>> with shown():
    ...     list(steps("ab", unit="letter"))
    ['a', 'b']
    """
    token = _SCREEN.set(_Screen(monotonic()))
    try:
        yield
    finally:
        _SCREEN.reset(token)


def is_shown() -> bool:
    """Say whether steps are told of here.

    Examples
    --------
    >>> is_shown()
    False
    """
    return _SCREEN.get() is not None


def steps(items: Iterable[T], *, unit: str, total: int | None = None) -> Iterator[T]:
    """Give the items one by one; where progress is `shown`, tell of each once the next is asked for.

    Parameters
    ----------
    items : iterable
        What is gone through. Steps within a step are not told of.
    unit : str
        What an item is, in the singular.
    total : int, optional
        How many there are, where they have no length.

    Yields
    ------
    object
        Each item.

    Examples
    --------
    >>> list(steps("ab", unit="letter"))
    ['a', 'b']
    """
    screen = _SCREEN.get()
    if screen is None or screen.taken:
        yield from items
        return
    screen.taken = True
    try:
        with Progress(len(cast("Sized", items)) if total is None else total, unit=unit) as told:
            for item in items:
                yield item
                told.ended()
    finally:
        screen.taken = False


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
