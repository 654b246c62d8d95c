"""Results → the words and numbers people read: the only place that rounds.

Proportions are shown in percent with one decimal, differences in percentage points ("pp") with their sign.
A half is rounded away from zero, decided on the exact number; a float stands for the shortest decimal that
reads back as it, which is the number a record writes. An interval is rounded outward and a claimable bound
downward: what is shown never claims more than the number. A share that is neither 0 nor 1 never looks
like 0 or 1, and a p-value never looks like 0. An absent figure is shown as its reason.

References
----------
.. [1] Methodology 0.1.0, decision 8 (rounding on display).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from medgauge_lib.estimators import AMOUNT_NOT_APPLICABLE
from medgauge_lib.pairs import FAMILY_ALPHA
from medgauge_lib.results import Absent, Estimate, Interval, as_written

if TYPE_CHECKING:
    from medgauge_lib.board import Row

MINUS = "\u2212"
NBSP = "\u00a0"
"""Keeps a number and its unit on one line."""

Number = Fraction | float | int

Toward = Literal["nearest", "down", "up"]
"""Which way a number is rounded: a bound never toward more than it claims."""


def _fixed(units: int, decimals: int) -> str:
    """Write units of the last decimal; `units` is not negative."""
    whole, part = divmod(units, 10**decimals)
    return f"{whole:,}.{part:0{decimals}d}" if decimals else f"{whole:,}"


def _half_up(value: Fraction) -> int:
    """Nearest integer, a half away from zero."""
    nearest = math.floor(abs(value) + Fraction(1, 2))
    return nearest if value >= 0 else -nearest


_ROUND: dict[Toward, Callable[[Fraction], int]] = {"nearest": _half_up, "down": math.floor, "up": math.ceil}


def _signed(units: int, decimals: int, *, plus: bool) -> str:
    sign = MINUS if units < 0 else "+" if plus and units > 0 else ""
    return sign + _fixed(abs(units), decimals)


def number(value: Number, decimals: int = 0) -> str:
    """A plain number with a fixed count of decimals and a proper minus sign.

    Examples
    --------
    >>> number(-1.2345, 3), number(12345)
    ('−1.235', '12,345')
    """
    return _signed(_half_up(as_written(value) * 10**decimals), decimals, plus=False)


def decimal(value: Number, toward: Toward = "nearest") -> str:
    """A number of unknown unit: four decimals, more where it has fewer than three digits, or looks like 1.

    Parameters
    ----------
    value : Fraction, float or int
        A number from a table.
    toward : {"nearest", "down", "up"}
        Lower bounds are rounded down and upper bounds up.

    Examples
    --------
    >>> decimal(1 / 3), decimal(0.000123456), decimal(0.99999), decimal(0.12341, "up"), decimal(12)
    ('0.3333', '0.000123', '0.99999', '0.1235', '12')
    """
    exact, decimals = as_written(value), 4
    if isinstance(value, int):
        return number(value)
    while decimals < 12 and (
        0 < abs(exact) * 10**decimals < 100 or (exact < 1 and _half_up(exact * 10**decimals) == 10**decimals)
    ):
        decimals += 1
    return _signed(_ROUND[toward](exact * 10**decimals), decimals, plus=False)


def in_unit(value: Number, unit: str) -> str:
    """A figure of a dimension in its unit; one that is not 0 does not look like 0.

    Parameters
    ----------
    value : Fraction, float or int
        The figure.
    unit : str
        ``fraction``, ``difference``, ``ratio``, ``score``, ``seconds``, ``p``, ``count``, ``tokens``, or a
        currency.

    Examples
    --------
    >>> in_unit(Fraction(3, 2), "ratio"), in_unit(12, "count"), in_unit(0.04, "count")
    ('1.50', '12', '0.04')
    """
    match unit:
        case "fraction":
            return percent(value)
        case "difference":
            return points(value)
        case "ratio":
            return _visible(value, 2)
        case "score":
            return _visible(value, 3)
        case "seconds":
            return f"{_visible(value, 1)}{NBSP}s"
        case "p":
            return p_value(Fraction(value))
        case "count" | "tokens":
            return _visible(value, 0 if value == int(value) else 1)
        case currency:
            return money(value, currency)


def _visible(value: Number, decimals: int) -> str:
    """A number with so many decimals, or with more where these would show it as 0."""
    exact = as_written(value)
    while exact and decimals < 12 and not _half_up(exact * 10**decimals):
        decimals += 1
    return number(exact, decimals)


def percent(share: Number | Absent, *, unit: bool = True) -> str:
    r"""A share in percent with one decimal.

    Parameters
    ----------
    share : Fraction, float, int or Absent
        In [0, 1].
    unit : bool
        Whether to write the percent sign; leave it out where a column header has it.

    Examples
    --------
    >>> percent(Fraction(1, 3), unit=False), percent(1), percent(Fraction(1, 9999), unit=False)
    ('33.3', '100.0\xa0%', '<\xa00.1')
    """
    if isinstance(share, Absent):
        return absent(share)
    value = as_written(share)
    units = _half_up(value * 1000)
    if units == 0 and value:
        text = f"<{NBSP}0.1"
    elif units == 1000 and value < 1:
        text = f">{NBSP}99.9"
    else:
        text = _fixed(units, 1)
    return f"{text}{NBSP}%" if unit else text


def points(difference: Number | Absent, *, unit: bool = True, toward: Toward = "nearest") -> str:
    """A difference of two shares, or a bound of one, in percentage points with its sign.

    Examples
    --------
    >>> points(Fraction(-1, 8), unit=False), points(Fraction(1, 3), unit=False)
    ('−12.5', '+33.3')
    """
    if isinstance(difference, Absent):
        return absent(difference)
    text = _signed(_ROUND[toward](as_written(difference) * 1000), 1, plus=True)
    return f"{text}{NBSP}pp" if unit else text


def interval(bounds: Interval | Absent, *, difference: bool = False, unit: bool = True) -> str:
    r"""An interval, rounded outward.

    Parameters
    ----------
    bounds : Interval or Absent
        Of a share, or of a difference of shares.
    difference : bool
        Whether to write percentage points with signs.
    unit : bool
        Whether to write the unit.

    Examples
    --------
    >>> interval(Interval(0.2951, 0.5119, 0.95, "clopper_pearson"), unit=False)
    '29.5\xa0to\xa051.2'
    """
    if isinstance(bounds, Absent):
        return absent(bounds)
    return between(bounds.low, bounds.high, difference=difference, unit=unit)


def between(low: Number, high: Number, *, difference: bool = False, unit: bool = True) -> str:
    r"""Two bounds as `interval` writes them, rounded outward.

    Examples
    --------
    >>> between(-0.0312, 0.1001, difference=True)
    '−3.2\xa0to\xa0+10.1\xa0pp'
    """
    units = math.floor(as_written(low) * 1000), math.ceil(as_written(high) * 1000)
    text = f"{NBSP}to{NBSP}".join(_signed(end, 1, plus=difference) for end in units)
    if not unit:
        return text
    return f"{text}{NBSP}pp" if difference else f"{text}{NBSP}%"


def score(quality: Number) -> str:
    r"""A quality of 0 to 100 points with one decimal.

    Examples
    --------
    >>> score(Fraction(167, 4)), score(100), score(Fraction(1, 99))
    ('41.8', '100.0', '<\xa00.1')
    """
    return percent(as_written(quality) / 100, unit=False)


def score_interval(bounds: Interval | Absent) -> str:
    r"""An interval of a quality in points, rounded outward.

    Examples
    --------
    >>> score_interval(Interval(31.96, 75.59, 0.95, "bca-1"))
    '31.9\xa0to\xa075.6'
    """
    if isinstance(bounds, Absent):
        return absent(bounds)
    low, high = math.floor(as_written(bounds.low) * 10), math.ceil(as_written(bounds.high) * 10)
    return f"{_fixed(low, 1)}{NBSP}to{NBSP}{_fixed(high, 1)}"


def estimate(figure: Estimate | Absent) -> str:
    """A share with its interval.

    Examples
    --------
    >>> estimate(Estimate(Fraction(1, 2), 2, Absent("all tasks have the same value"))).replace(NBSP, " ")
    '50.0 % (interval not estimable: all tasks have the same value)'
    """
    if isinstance(figure, Absent):
        return absent(figure)
    inside = interval(figure.interval)
    return f"{percent(figure.value)} ({inside if figure.interval else f'interval {inside}'})"


def bound(claim: Number | Absent, *, unit: bool = True, asked: Number = 0) -> str:
    """A claimable lower bound, rounded down, with more decimals where one would show it below what was asked.

    Examples
    --------
    >>> bound(0.95049, unit=False), bound(0.9999, unit=False), bound(0.99991, unit=False, asked=0.9999)
    ('95.0', '99.9', '99.99')
    """
    if isinstance(claim, Absent):
        return str(claim)
    exact, wanted, decimals = as_written(claim), as_written(asked), 1
    while Fraction(shown := math.floor(exact * 10 ** (decimals + 2)), 10 ** (decimals + 2)) < wanted <= exact:
        decimals += 1
    text = _fixed(shown, decimals)
    return f"{text}{NBSP}%" if unit else text


def p_value(p: Fraction | Absent) -> str:
    r"""A p-value with three decimals, or more where three would put it on the wrong side of 0.05.

    Examples
    --------
    >>> p_value(Fraction(1, 32)), p_value(Fraction(1, 2**20)), p_value(Fraction(504, 10_000))
    ('0.031', '<\xa00.001', '0.0504')
    """
    if isinstance(p, Absent):
        return absent(p)
    if p < Fraction(1, 1000):
        return f"<{NBSP}0.001"
    if Fraction(999, 1000) < p < 1:
        return f">{NBSP}0.999"
    decimals = 3
    while (shown := Fraction(_half_up(p * 10**decimals), 10**decimals)) <= FAMILY_ALPHA < p:
        decimals += 1
    return _fixed(int(shown * 10**decimals), decimals)


def money(amount: Number, currency: str) -> str:
    r"""An amount with its currency: cents, or three significant digits below 1.

    Examples
    --------
    >>> money(Fraction(7, 2), "EUR"), money(Fraction(1, 300), "EUR")
    ('EUR\xa03.50', 'EUR\xa00.00333')
    """
    value = as_written(amount)
    decimals = 2
    while 0 < abs(value) * 10**decimals < 100 and decimals < 12:
        decimals += 1
    if abs(value) < 1:
        decimals = max(decimals, 3) if value else decimals
    return f"{currency}{NBSP}{number(value, decimals)}"


def cost(row: Row) -> str:
    """Cost per success of a row with its currency, or why there is none; never 0 for want of a success."""
    if isinstance(row.cost_per_success, Absent):
        why = row.cost_per_success
        return str(why) if why == AMOUNT_NOT_APPLICABLE else f"not available: {why}"
    return money(row.cost_per_success, row.currency or "")


def absent(figure: Absent) -> str:
    """The words for a figure that does not exist.

    Examples
    --------
    >>> absent(AMOUNT_NOT_APPLICABLE), absent(Absent("one task has no bootstrap interval"))
    ('amount not applicable', 'not estimable: one task has no bootstrap interval')
    """
    return str(figure) if figure == AMOUNT_NOT_APPLICABLE else f"not estimable: {figure}"


def rank(row: Row) -> str:
    """Rank of a row, with a mark where another row has the same pass^3; a dash where rows are not ranked."""
    if row.rank is None:
        return "–"
    return f"{row.rank}=" if row.tied else str(row.rank)


def count(n: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    Examples
    --------
    >>> count(1, "task"), count(2000, "task"), count(0, "category", "categories")
    ('1 task', '2,000 tasks', '0 categories')
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def listed(words: list[str]) -> str:
    """Words joined as in a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def text(words: str, length: int | None = None) -> str:
    r"""A string of a record on one line: marks that would break or turn the line around become "�".

    Parameters
    ----------
    words : str
        Untrusted text; escaping is left to whoever writes markup.
    length : int, optional
        Widest result, in `columns`; the middle is cut out, marked by "…", since names often differ at their
        end.

    Examples
    --------
    >>> text("two\nlines"), text("a-long-name-v2", 9)
    ('two�lines', 'a-long…v2')
    """
    line = "".join("\ufffd" if _breaks(char) else char for char in words)
    if length is None or columns(line) <= length:
        return line
    tail = (length - 1) // 3
    head, end = _start(line, length - 1 - tail), _start(line[::-1], tail)[::-1]
    return f"{head.rstrip()}…{end.lstrip()}"


def _start(line: str, width: int) -> str:
    """The longest start of a line that is no wider."""
    fitting = (k for k, wide in enumerate(accumulate(map(columns, line)), 1) if wide <= width)
    return line[: max(fitting, default=0)]


def columns(line: str) -> int:
    """How wide a line is, in characters of the Latin alphabet: an ideograph takes the room of two.

    Parameters
    ----------
    line : str
        Text without breaks.

    Returns
    -------
    int
        Columns of the line where all characters are half as wide as an ideograph [1]_.

    References
    ----------
    .. [1] Unicode Standard Annex 11, East Asian Width.

    Examples
    --------
    >>> columns("model"), columns("模型")
    (5, 4)
    """
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


def _breaks(char: str) -> bool:
    return char in _BIDI or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}
