"""Two ways of doing one thing, timed in turn within one run, and the table that compares them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Work = Callable[[], object]


@dataclass(frozen=True)
class Ratio:
    """One comparison.

    Attributes
    ----------
    name : str
        What is done, and what it is compared with.
    ours, other : float
        What each side took, in `unit`.
    at_least, at_most : float or None
        Target: the other side takes at least so many times ours, or ours at most so many times the other's.
        With neither, the ratio is for reading alone.
    unit : str
        ``s``, or ``MiB`` where memory is held against a limit.
    """

    name: str
    ours: float
    other: float
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "s"

    @property
    def value(self) -> float:
        """How many times ours the other side takes, or the reverse where the target is an upper one."""
        return self.ours / self.other if self.at_most is not None else self.other / self.ours

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.at_most is not None:
            return self.value <= self.at_most
        return None if self.at_least is None else self.value >= self.at_least


def in_turn(ours: Work, other: Work, *, repeats: int) -> tuple[float, float]:
    """Best time of each side over `repeats` rounds of A B, after one round that is not counted.

    Rounds alternate so that whatever else the machine does falls on both sides; the best of several is what
    the work itself takes.
    """
    ours()
    other()
    rounds = [(_seconds(ours), _seconds(other)) for _ in range(repeats)]
    return min(first for first, _ in rounds), min(second for _, second in rounds)


def best(work: Work, *, repeats: int) -> float:
    """Best time of one piece of work."""
    return min(_seconds(work) for _ in range(repeats))


def _seconds(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def print_ratios(ratios: Sequence[Ratio]) -> None:
    """Print one line a comparison: name, both sides, ratio, target, and whether it is met."""
    lines = [("", "ours", "other", "ratio", "target", "met")]
    for ratio in ratios:
        target = (
            f"≤ {ratio.at_most:g}"
            if ratio.at_most is not None
            else (f"≥ {ratio.at_least:g}" if ratio.at_least is not None else "")
        )
        met = {True: "yes", False: "NO", None: ""}[ratio.met]
        sides = (f"{side:.3g} {ratio.unit}" for side in (ratio.ours, ratio.other))
        lines.append((ratio.name, *sides, f"{ratio.value:.2f}", target, met))
    print_table(lines)


def print_table(lines: Sequence[Sequence[str]]) -> None:
    """Print lines of texts as aligned columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *rest in lines:
        cells = (text.rjust(width) for text, width in zip(rest, widths[1:], strict=True))
        print(name.ljust(widths[0]), *cells, sep="  ")
