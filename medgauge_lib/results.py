"""The values every room hands on: estimates with the interval and the counts they came from.

Proportions are fractions in [0, 1], never percent. A quantity that does not exist is an `Absent` with its
reason, never 0 and never NaN. Exact values stay `fractions.Fraction`; a float is made where one is shown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, SupportsFloat

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95
"""Confidence level of every two-sided interval and every one-sided bound of methodology 0.1.0."""

ALPHA = 0.05
"""Its complement, written out because ``1 - 0.95`` is not the double nearest to 0.05."""


def as_written(number: Fraction | float) -> Fraction:
    """Return the number that a record writes: a double stands for the shortest decimal that reads back as it.

    Parameters
    ----------
    number : Fraction, float or int
        A finite number; what is exact already stays as it is.

    Returns
    -------
    Fraction

    Examples
    --------
    >>> as_written(0.1), Fraction(0.1) == Fraction(1, 10)
    (Fraction(1, 10), False)
    """
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


class Tabular(ABC):
    """A result that is a table, and shows itself as one in a notebook and on a terminal.

    Examples
    --------
    >>> from medgauge_lib import board, demo
    >>> board(demo.record_set("bm-demo-lab", "0.1.0"))  # doctest: +ELLIPSIS
    Board
       rank ...
    """

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Return the result as a tidy table."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}\n{self.to_frame()!r}"

    def _repr_html_(self) -> str:
        return self.to_frame().to_html(max_rows=60, max_cols=20, show_dimensions=True)


@dataclass(frozen=True)
class Absent:
    """A figure that does not exist, and why; it is false in a condition.

    Numbers that can be 0 are told apart with `isinstance`, since 0 is false too.

    Attributes
    ----------
    reason : str
        Why there is none, in words that a report shows.

    Examples
    --------
    >>> cost = Absent("no amount recorded")
    >>> bool(cost), str(cost)
    (False, 'no amount recorded')
    """

    reason: str

    def __bool__(self) -> Literal[False]:
        return False

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Interval:
    """Bounds of one quantity and how they were made.

    Attributes
    ----------
    low, high : float
        Two-sided bounds, in the unit of the quantity (a fraction, or a difference of fractions).
    level : float
        Two-sided confidence level in (0, 1).
    method : str
        ``clopper_pearson`` or ``bca_task_bootstrap``, the names a result record uses.
    one_sided_low : float or None
        Lower bound of the one-sided interval at the same level; only exact intervals have one.
    seed, resamples, quantile_rule : int, int, str or None
        What a third party needs to draw the same resamples; None where nothing was resampled.
    bias, acceleration : float or None
        The z0 and a of the BCa interval.
    """

    low: float
    high: float
    level: float
    method: str
    one_sided_low: float | None = None
    seed: int | None = None
    resamples: int | None = None
    quantile_rule: str | None = None
    bias: float | None = None
    acceleration: float | None = None


def as_float(figure: SupportsFloat | Absent | None) -> float | None:
    """Return an exact figure as the nearest double, None where there is none.

    Examples
    --------
    >>> as_float(Fraction(167, 2)), as_float(Absent("no review"))
    (83.5, None)
    """
    return None if figure is None or isinstance(figure, Absent) else float(figure)


@dataclass(frozen=True)
class Estimate:
    """One figure of one row, with the counts behind it.

    Attributes
    ----------
    value : Fraction
        The exact value; ``float(estimate)`` is the nearest double.
    n_tasks : int
        Tasks it was computed over, void ones out.
    interval : Interval or Absent
        Its interval, or why there is none.
    n_successes : int or None
        Tasks counted as successes where the quantity is 0 or 1 per task.

    Examples
    --------
    >>> float(Estimate(Fraction(1, 4), 8, Absent("not asked for"), 2))
    0.25
    """

    value: Fraction
    n_tasks: int
    interval: Interval | Absent
    n_successes: int | None = None

    def __float__(self) -> float:
        return float(self.value)
