"""What live runs used: tokens, times and amounts, as exact medians and totals.

Live runs are those whose task version is not void. Numbers are taken as the decimals that the record writes,
so that a sum does not depend on its order. A figure is absent where one of its runs does not carry the field:
the other runs do not decide it.

References
----------
.. [1] Methodology 0.1.0, decisions 10 and 11.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

import pandas as pd

from medgauge_lib.results import Absent, as_written

NO_RUN = Absent("no run it could be over")

_EXACT = Context(prec=2000, traps=[Inexact])


def tokens(runs: pd.DataFrame) -> pd.Series[Any]:
    """Tokens of each run, in + out, as Python integers so that no sum overflows (decision 11 [1]_).

    Parameters
    ----------
    runs : DataFrame
        With ``tokens_in`` and ``tokens_out``, NA where not recorded.

    Returns
    -------
    Series
        One value a run; NA where one of the two is not recorded.

    Examples
    --------
    >>> tokens(pd.DataFrame({"tokens_in": [9, 1], "tokens_out": [1, None]}, dtype="Int64")).tolist()
    [10, <NA>]
    """
    return runs["tokens_in"].astype(object) + runs["tokens_out"].astype(object)


def median(column: pd.Series[Any]) -> Fraction | Absent:
    """Exact median; of an even count the mean of the middle two (decision 11 [1]_).

    Parameters
    ----------
    column : Series
        One number a run, NA where not recorded.

    Returns
    -------
    Fraction or Absent
        Absent without runs, or where one of them does not carry the field.

    Examples
    --------
    >>> median(pd.Series([1, 4, 2, 9]))
    Fraction(3, 1)
    """
    lacking = _lacking(column)
    if lacking is not None:
        return lacking
    ordered = sorted(column.tolist())
    last = len(ordered) - 1
    middle = (as_written(ordered[k]) for k in (last // 2, len(ordered) // 2))
    return sum(middle, Fraction(0)) / 2


def total(column: pd.Series[Any]) -> Fraction | Absent:
    """Exact sum.

    Parameters
    ----------
    column : Series
        One number a run, NA where not recorded.

    Returns
    -------
    Fraction or Absent
        Absent without runs, or where one of them does not carry the field.

    Examples
    --------
    >>> total(pd.Series([0.1, 0.2])), total(pd.Series([1, None], dtype="Int64")).reason
    (Fraction(3, 10), 'not recorded on 1 of 2 runs')
    """
    lacking = _lacking(column)
    if lacking is not None:
        return lacking
    return exact_sum(column.tolist())


def exact_sum(numbers: Iterable[float]) -> Fraction:
    """Sum of doubles as the shortest decimals that read back as them, which is how a record writes them.

    Parameters
    ----------
    numbers : iterable of int or float
        Finite numbers.

    Returns
    -------
    Fraction
        0 of no numbers.

    Examples
    --------
    >>> exact_sum([0.1, 0.2, 1])
    Fraction(13, 10)
    """
    added = Decimal(0)
    for number in numbers:
        added = _EXACT.add(added, Decimal(repr(number)))
    return Fraction(added)


def _lacking(column: pd.Series[Any]) -> Absent | None:
    """Why the runs do not decide the figure, None where they do."""
    if column.empty:
        return NO_RUN
    missing = int(column.isna().sum())
    return Absent(f"not recorded on {missing} of {len(column)} runs") if missing else None
