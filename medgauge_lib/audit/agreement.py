"""Whether a published number is the exact one at the precision it was published with (decision 9).

A number agrees where it is at most half a unit of its last written digit from the exact one, or the nearest
double of it, or that double rounded. The decimals of a number are those of its text in the file;
most programs drop the zeros at the end, so a number may have more decimals than its text shows.

References
----------
.. [1] Methodology 0.1.0, decision 9.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from medgauge_lib.audit.recomputed import DECIMALS, Bound, Undecided
from medgauge_lib.checks import agrees, decimals_of
from medgauge_lib.results import Absent, as_written

Agreement = Literal["same", "rounded", "one off", "other digits", "differs"]
"""How a published number stands to the exact one.

``same``: it is what `written` gives, or the exact one rounded to no fewer decimals than that has.
``rounded``: its rounding at fewer decimals. ``one off``: its rounding at fewer decimals too, yet one unit off
in the last digit of `written`: a wrong last digit that became 0 looks like that.
``other digits``: a bound that agrees as far as programs do, to 12 decimals, and not beyond.
"""


def written(exact: Fraction | int | Bound) -> float | int:
    """Return a figure as a record carries it unrounded: a count, the nearest double, a bound's decimals.

    Examples
    --------
    >>> written(Fraction(2, 3)), written(Bound(0.79418312345678, 12)), written(3)
    (0.6666666666666666, 0.794183123457, 3)
    """
    if isinstance(exact, Bound):
        return round(exact.value, exact.decimals)
    return exact if isinstance(exact, int) else exact.numerator / exact.denominator


def plain(value: Any) -> Any:
    """Return a recomputed figure as JSON can carry it: fractions as the nearest double, no figure as None.

    Examples
    --------
    >>> plain(Fraction(1, 4)), plain(("a", "b")), plain(Absent("no task"))
    (0.25, ['a', 'b'], None)
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, Fraction | int | Bound):
        return written(value)
    if isinstance(value, Absent | Undecided):
        return None
    return list(value) if isinstance(value, tuple) else value


def agreement(published: float, exact: Fraction | int | Bound, *, decimals: int) -> Agreement:
    """Return how a published number stands to the exact one.

    Parameters
    ----------
    published : float or int
        The number of the record.
    exact : Fraction, int or Bound
        The recomputed figure.
    decimals : int
        Decimals it was published with.

    Returns
    -------
    Agreement

    Examples
    --------
    >>> share = Fraction(31, 100)
    >>> [agreement(p, share, decimals=d) for p, d in ((0.31, 2), (0.3, 2), (0.3, 1), (0.35, 2))]
    ['same', 'differs', 'one off', 'differs']
    >>> [agreement(p, Fraction(2, 3), decimals=16) for p in (0.6666666666666667, 0.6666666666666665)]
    ['same', 'differs']
    """
    canonical = written(exact)
    if published == canonical or (isinstance(exact, Bound) and published == exact.value):
        return "same"
    if isinstance(exact, int):
        return "differs"
    if isinstance(exact, Bound) and decimals > exact.decimals:
        near = abs(published - exact.value) * 10**exact.decimals <= 1
        return "other digits" if near and exact.decimals == DECIMALS else "differs"
    value = as_written(exact.value) if isinstance(exact, Bound) else exact
    # Programs round the double, not the fraction, which differs where a half lies between the two.
    if not any(agrees(published, one, decimals=decimals) for one in (value, Fraction(float(value)))):
        return "differs"
    finest = decimals_of(canonical)
    if agrees(published, value, decimals=max(decimals, finest)):
        return "same"
    unit = Fraction(1, 10**finest)
    return "one off" if abs(as_written(published) - as_written(canonical)) == unit else "rounded"
