"""Paired comparison of every two rows on the same tasks, adjusted by Holm over all pairs of the board.

The difference is always row a minus row b, in [-1, 1]; a is the row with the higher mean where rows come
ranked. p-values are exact rationals: a resampled p cannot go below 1/(flips + 1), which Holm over 703 pairs
turns into more than 0.05.

References
----------
.. [1] McNemar (1947), Psychometrika 12:153-157; exact form: two-sided binomial test of b against c.
.. [2] Fisher (1935), "The design of experiments", section 21 (sign flips of paired differences).
.. [3] Holm (1979), Scandinavian Journal of Statistics 6:65-70.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, combinations
from typing import Any

import numpy.typing as npt
import pandas as pd

from medgauge_lib.estimators import Quantity, Values
from medgauge_lib.intervals import SEED, bca, resampled_sums
from medgauge_lib.progress import steps
from medgauge_lib.results import LEVEL, Absent, Interval, Tabular, as_float

FAMILY_ALPHA = Fraction(1, 20)
"""Adjusted p at or below which two rows are shown to differ."""

MAX_DISCORDANT = 4_000
"""Discordant pairs up to which M10's exact p is computed; a record may publish any number of them."""

MAX_BITS = 2**24
"""Bits that hold all counts of the exact sign-flip test in one number; beyond them it halves the tasks."""

MAX_SUMS = 2**20
"""Distinct sums that the exact sign-flip test keeps of each half of the tasks before it gives up."""


@dataclass(frozen=True)
class Pair:
    """Comparison of two rows.

    Attributes
    ----------
    a, b : str
        Record ids.
    b_count, c_count : int
        Tasks on which a is ahead, and on which b is ahead.
    difference : Fraction
        Mean of a minus mean of b.
    interval : Interval or Absent
        BCa interval of the paired difference.
    p, holm : Fraction or Absent
        Exact two-sided p, and the p adjusted over all pairs.
    differs : bool
        Whether the adjusted p is at most 0.05.
    """

    a: str
    b: str
    b_count: int
    c_count: int
    difference: Fraction
    interval: Interval | Absent
    p: Fraction | Absent
    holm: Fraction | Absent
    differs: bool

    def turned(self) -> Pair:
        """The same comparison seen from the other row: b minus a."""
        return replace(
            self,
            a=self.b,
            b=self.a,
            b_count=self.c_count,
            c_count=self.b_count,
            difference=-self.difference,
            interval=self.interval if isinstance(self.interval, Absent) else _mirrored(self.interval),
        )


@dataclass(frozen=True, repr=False)
class Pairs(Tabular):
    """Comparison of every two rows in one quantity.

    Attributes
    ----------
    quantity : str
        What was compared.
    method : str
        The exact test, ``exact McNemar`` or ``exact sign-flip``.
    pairs : tuple of Pair
        All pairs in the order of the rows.
    """

    quantity: Quantity
    method: str
    pairs: tuple[Pair, ...] = field(repr=False)

    @property
    def differing(self) -> frozenset[frozenset[str]]:
        """The pairs shown to differ."""
        return frozenset(frozenset((pair.a, pair.b)) for pair in self.pairs if pair.differs)

    def seen_from(self, record: str) -> Pairs:
        """Pairs of one row with every other, as that row minus the other, in the order of the rows.

        Parameters
        ----------
        record : str
            Record id.

        Returns
        -------
        Pairs
            p-values stay adjusted over all pairs of the board.

        Raises
        ------
        KeyError
            If no pair holds the row.

        Examples
        --------
        >>> from medgauge_lib import board, demo
        >>> found = board(demo.record_set("bm-demo-lab", "0.1.0"))
        >>> last = found.order[-1]
        >>> {pair.a == last for pair in found.pairs.seen_from(last).pairs}
        {True}
        """
        own = tuple(
            pair if pair.a == record else pair.turned() for pair in self.pairs if record in (pair.a, pair.b)
        )
        if not own:
            raise KeyError(f"{record!r} is in no pair")
        return replace(self, pairs=own)

    def to_frame(self) -> pd.DataFrame:
        """One line a pair; fractions as floats, what is absent missing, with the reason beside it."""
        kinds = {
            "a": "str", "b": "str", "b_count": "int64", "c_count": "int64", "difference": "float64",
            "low": "float64", "high": "float64", "interval_reason": "str",
            "p": "float64", "holm": "float64", "p_reason": "str", "differs": "bool",
        }  # fmt: skip
        return pd.DataFrame([_line(pair) for pair in self.pairs], columns=list(kinds)).astype(kinds)


def _line(pair: Pair) -> dict[str, Any]:
    """A pair as one line of a table."""
    bounds = pair.interval
    return {
        "a": pair.a,
        "b": pair.b,
        "b_count": pair.b_count,
        "c_count": pair.c_count,
        "difference": float(pair.difference),
        "low": None if isinstance(bounds, Absent) else bounds.low,
        "high": None if isinstance(bounds, Absent) else bounds.high,
        "interval_reason": bounds.reason if isinstance(bounds, Absent) else "",
        "p": as_float(pair.p),
        "holm": as_float(pair.holm),
        "p_reason": pair.p.reason if isinstance(pair.p, Absent) else "",
        "differs": pair.differs,
    }


def _mirrored(interval: Interval) -> Interval:
    """Interval of the negated differences: half ties and type 7 quantiles are the same from both ends."""
    bias, acceleration = interval.bias, interval.acceleration
    return replace(
        interval,
        low=-interval.high,
        high=-interval.low,
        bias=None if bias is None else -bias,
        acceleration=None if acceleration is None else -acceleration,
    )


def compare(
    values: Values, *, ranked: Sequence[str] | None = None, seed: int = SEED, level: float = LEVEL
) -> Pairs:
    """Compare every two rows by their paired difference over the same tasks.

    Parameters
    ----------
    values : Values
        One quantity of every row. For pass^3 this is the comparison that makes groups; for task pass rate
        and continuous score it is a view of sensitivity.
    ranked : sequence of str, optional
        Rows in the order to take them; by default that of `values`.
    seed : int
        Seed of the resamples, 0 ≤ seed < 2^64.
    level : float
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    Pairs

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1, 0]] * 6 + [[1, 1]])
    >>> pair = compare(Values("pass_pow_3", ("r", "s"), x, 1)).pairs[0]
    >>> pair.b_count, pair.c_count, pair.p, pair.differs
    (6, 0, Fraction(1, 32), True)
    """
    order = values.rows if ranked is None else tuple(ranked)
    column = {row: values.rows.index(row) for row in order}
    sums = resampled_sums(values.x, seed=seed)
    found = []
    for a, b in steps(list(combinations(order, 2)), unit="pair"):
        i, j = column[a], column[b]
        d = values.x[:, i] - values.x[:, j]
        interval = bca(d, sums[i] - sums[j], values.denominator, seed=seed, level=level)
        found.append((a, b, d, interval))
    p_values = [sign_flip_p(d) for _, _, d, _ in steps(found, unit="pair")]
    adjusted = holm(p_values)
    return Pairs(
        quantity=values.quantity,
        method="exact McNemar" if values.binary else "exact sign-flip",
        pairs=tuple(
            Pair(
                a=a,
                b=b,
                b_count=int((d > 0).sum()),
                c_count=int((d < 0).sum()),
                difference=Fraction(sum(map(int, d)), values.n_tasks * values.denominator),
                interval=interval,
                p=p,
                holm=q,
                differs=not isinstance(q, Absent) and q <= FAMILY_ALPHA,
            )
            for (a, b, d, interval), p, q in zip(found, p_values, adjusted, strict=True)
        ),
    )


@lru_cache(maxsize=4096)
def mcnemar_p(b: int, c: int) -> Fraction:
    """Exact two-sided McNemar p: min(1, 2 P[X ≤ min(b, c)]), X ~ Binomial(b + c, ½) [1]_.

    Parameters
    ----------
    b, c : int
        Discordant tasks one way and the other.

    Returns
    -------
    Fraction
        In (0, 1]; 1 without discordant tasks.

    Examples
    --------
    >>> mcnemar_p(5, 1)
    Fraction(7, 32)
    """
    if b < 0 or c < 0:
        raise ValueError(f"b and c are counts, but got {b} and {c}")
    n = b + c
    tail = sum(math.comb(n, k) for k in range(min(b, c) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**n))


def sign_flip_p(differences: npt.NDArray[Any]) -> Fraction | Absent:
    """Exact two-sided sign-flip p of integer differences [2]_: the share of flips at least as far out.

    Parameters
    ----------
    differences : integer array, shape (n_tasks,)
        Paired differences over one denominator; zeros do not matter.

    Returns
    -------
    Fraction or Absent
        In (0, 1]. Absent when the flips have more distinct sums than can be counted exactly.

    Examples
    --------
    >>> import numpy as np
    >>> sign_flip_p(np.array([2, 1, 1]))  # +++ and --- reach a sum of 4 or more
    Fraction(1, 4)
    """
    sizes = [abs(int(d)) for d in differences if d]
    total = abs(sum(map(int, differences)))
    if not sizes:
        return Fraction(1)
    if set(sizes) == {sizes[0]}:
        behind = (len(sizes) - total // sizes[0]) // 2
        return mcnemar_p(behind, len(sizes) - behind)
    step = math.gcd(*sizes)
    return _flip_tail(tuple(sorted(size // step for size in sizes)), total // step)


@lru_cache(maxsize=4096)
def _flip_tail(sizes: tuple[int, ...], total: int) -> Fraction | Absent:
    """P[|Σ ± size| ≥ total], by convolution where sums are few and by meeting in the middle otherwise.

    Σ ± size ≥ total exactly when the positive ones add up to half of (Σ size + total) or more.
    """
    if not total:
        return Fraction(1)
    need = -(-(sum(sizes) + total) // 2)
    if sum(sizes) * (len(sizes) + 1) <= MAX_BITS:
        tail = _tail_by_convolution(sizes, need)
    else:
        halves = _halves(sizes)
        if halves is None:
            return Absent(f"the sign flips have more than {MAX_SUMS} distinct sums in one half of the tasks")
        tail = _tail_by_meeting(*halves, need)
    return min(Fraction(1), Fraction(2 * tail, 2 ** len(sizes)))


def _tail_by_convolution(sizes: Sequence[int], need: int) -> int:
    """Subsets with a sum of at least `need`: Π (1 + y^size), its coefficients packed into one integer.

    Their complements have a sum of at most Σ size − `need`, so nothing beyond that place has to be kept.
    The coefficients add up to 2^n, so n + 1 bits hold each of them and every sum of them; in a base B, the
    digits of a number add up to its remainder by B − 1 where that sum stays below B − 1.
    """
    slot = len(sizes) + 1
    kept = (1 << slot * (sum(sizes) - need + 1)) - 1
    packed = 1
    for size in sizes:
        packed += (packed << (slot * size)) & kept
    return packed % ((1 << slot) - 1)


def _halves(sizes: Iterable[int]) -> tuple[Counter[int], Counter[int]] | None:
    """Split the sizes in two and count the subset sums of each half; equal sizes go together."""
    first: Counter[int] = Counter({0: 1})
    second: Counter[int] = Counter({0: 1})
    for size, times in sorted(Counter(sizes).items(), key=lambda item: (-item[1], item[0])):
        smaller = first if len(first) <= len(second) else second
        if len(smaller) * (times + 1) > MAX_SUMS:
            return None
        grown: Counter[int] = Counter()
        for k in range(times + 1):
            ways = math.comb(times, k)
            for value, count in smaller.items():
                grown[value + k * size] += count * ways
        if smaller is first:
            first = grown
        else:
            second = grown
    return first, second


def _tail_by_meeting(first: Counter[int], second: Counter[int], need: int) -> int:
    """Subsets of both halves with a sum of at least `need`."""
    keys = sorted(second)
    behind = [0, *accumulate(second[key] for key in keys)]
    everything = behind[-1]
    return sum(
        count * (everything - behind[bisect_left(keys, need - value)]) for value, count in first.items()
    )


def holm(p_values: Sequence[Fraction | Absent]) -> tuple[Fraction | Absent, ...]:
    """Holm's adjusted p-values, exact [3]_.

    Parameters
    ----------
    p_values : sequence of Fraction or Absent
        One a pair. A pair without a p-value still counts in the size of the family.

    Returns
    -------
    tuple of Fraction or Absent
        In the order given; adjusted p_(i) is the maximum over j ≤ i of min(1, (m − j + 1) p_(j)).

    Examples
    --------
    >>> holm([Fraction(1, 50), Fraction(1, 100), Fraction(1, 2)])
    (Fraction(1, 25), Fraction(3, 100), Fraction(1, 2))
    """
    m = len(p_values)
    present = [(p, k) for k, p in enumerate(p_values) if not isinstance(p, Absent)]
    adjusted: list[Fraction | Absent] = list(p_values)
    largest = Fraction(0)
    for j, (p, k) in enumerate(sorted(present)):
        largest = max(largest, min(Fraction(1), (m - j) * p))
        adjusted[k] = largest
    return tuple(adjusted)


@dataclass(frozen=True)
class Resolution:
    """What a board of this size can tell apart at all.

    Attributes
    ----------
    n_rows, n_pairs, n_tasks : int
        The board's size.
    n_discordant : int
        Fewest tasks, all won by the same row, whose exact p survives Holm's first step among all pairs:
        always enough, and what at least one pair must reach before any is shown to differ.
    """

    n_rows: int
    n_pairs: int
    n_tasks: int
    n_discordant: int

    @property
    def possible(self) -> bool:
        """Whether the board has that many tasks."""
        return self.n_discordant <= self.n_tasks


def resolution(n_rows: int, n_tasks: int) -> Resolution | Absent:
    """Smallest one-sided difference that a board can show: 2 · 2^(−k) · m ≤ 0.05.

    Parameters
    ----------
    n_rows, n_tasks : int
        Rows and tasks, each at least 1.

    Returns
    -------
    Resolution or Absent
        Absent for a single row.

    Examples
    --------
    >>> resolution(38, 127).n_discordant  # 703 pairs
    15
    """
    n_pairs = math.comb(n_rows, 2)
    if not n_pairs:
        return Absent("one row has nothing to be compared with")
    k = 1
    while n_pairs * mcnemar_p(k, 0) > FAMILY_ALPHA:
        k += 1
    return Resolution(n_rows, n_pairs, n_tasks, k)
