"""Simulated figures, each with its Monte Carlo error: how far it may be off because replications are finite.

All counts and sums are integers, so a figure does not depend on the order in which its parts were added. The
error says nothing about whether the assumed world is like the real one.

References
----------
.. [1] Morris, White & Crowther (2019), Statistics in Medicine 38:2074-2102, table 6 (Monte Carlo errors).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from medgauge_lib.intervals import clopper_pearson
from medgauge_lib.results import Absent, Interval, as_float

NOTHING = Absent("no replication gives this figure")
ONE = Absent("one replication has no Monte Carlo error")


@dataclass(frozen=True)
class Share:
    """A simulated probability: in how many of the replications something happened.

    Attributes
    ----------
    count, n : int
        Replications in which it happened, and all of them.

    Examples
    --------
    >>> share = Share(2, 8)
    >>> float(share), round(share.standard_error, 4)  # sqrt(1/4 · 3/4 / 8)
    (0.25, 0.1531)
    """

    count: int
    n: int

    @property
    def value(self) -> Fraction | Absent:
        """The share of replications."""
        return Fraction(self.count, self.n) if self.n else NOTHING

    @property
    def standard_error(self) -> float | Absent:
        """Its Monte Carlo standard error, sqrt(p (1 − p) / n) [1]_; 0 where it always or never happened."""
        return math.sqrt(self.count * (self.n - self.count) / self.n**3) if self.n else NOTHING

    @property
    def interval(self) -> Interval | Absent:
        """The probability's exact 95 % interval, of some width even where it always or never happened."""
        return clopper_pearson(self.count, self.n) if self.n else NOTHING

    def __float__(self) -> float:
        return self.count / self.n


@dataclass(frozen=True)
class Mean:
    """A simulated expectation, from exact sums of integers over one denominator.

    Attributes
    ----------
    total, squares : int
        Sum of the numerators over the replications, and of their squares.
    n : int
        Replications.
    denominator : int
        Of every numerator.

    Examples
    --------
    >>> mean = Mean(total=6, squares=14, n=3, denominator=2)  # 1/2, 1 and 3/2
    >>> float(mean), round(mean.standard_error, 4)  # 1/2 / sqrt(3)
    (1.0, 0.2887)
    """

    total: int
    squares: int
    n: int
    denominator: int = 1

    @property
    def value(self) -> Fraction | Absent:
        """The mean over the replications."""
        return Fraction(self.total, self.n * self.denominator) if self.n else NOTHING

    @property
    def standard_error(self) -> float | Absent:
        """Its Monte Carlo standard error, s / sqrt(n) [1]_."""
        if self.n < 2:
            return ONE if self.n else NOTHING
        spread = self.n * self.squares - self.total**2
        return math.sqrt(Fraction(spread, self.n**2 * (self.n - 1))) / self.denominator

    def __float__(self) -> float:
        return self.total / (self.n * self.denominator)


@dataclass(frozen=True)
class Ratio:
    """A ratio of two simulated expectations over the same replications.

    Attributes
    ----------
    above, below : Mean
        Numerator and denominator, with the same `n` and denominator.
    products : int
        Sum over the replications of the products of their numerators.

    Examples
    --------
    >>> ratio = Ratio(Mean(6, 14, 3), Mean(3, 3, 3), products=6)  # 1, 2, 3 against 1, 1, 1
    >>> float(ratio), round(ratio.standard_error, 4)
    (2.0, 0.5774)
    """

    above: Mean
    below: Mean
    products: int

    @property
    def value(self) -> Fraction | Absent:
        """The ratio of the means."""
        return Fraction(self.above.total, self.below.total) if self.below.total else NOTHING

    @property
    def standard_error(self) -> float | Absent:
        """Its Monte Carlo standard error by the delta method: that of a − r b, divided by the mean of b."""
        if isinstance(self.value, Absent):
            return self.value
        if self.above.n < 2:
            return ONE
        r = self.value
        squares = self.above.squares - 2 * r * self.products + r * r * self.below.squares
        n = self.above.n
        return math.sqrt(squares / (n * (n - 1))) / (self.below.total / n)

    def __float__(self) -> float:
        return self.above.total / self.below.total


def columns(name: str, figure: Share | Mean | Ratio) -> dict[str, float | None]:
    """Columns of a table for one figure: its value, its Monte Carlo error, and the interval of a share.

    Parameters
    ----------
    name : str
        Of the column of the value; the others are called after it.
    figure : Share, Mean or Ratio
        What is simulated.

    Returns
    -------
    dict
        ``name``, ``name_se``, and for a share ``name_low`` and ``name_high``; None where there is none.

    Examples
    --------
    >>> list(columns("covered", Share(1, 2)))
    ['covered', 'covered_se', 'covered_low', 'covered_high']
    """
    value, error = figure.value, figure.standard_error
    found = {
        name: as_float(value),
        f"{name}_se": None if isinstance(error, Absent) else error,
    }
    if isinstance(figure, Share):
        bounds = figure.interval
        found[f"{name}_low"] = bounds.low if bounds else None
        found[f"{name}_high"] = bounds.high if bounds else None
    return found
