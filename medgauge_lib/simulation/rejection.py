"""What the exact McNemar test and Holm's procedure reject in many data sets at once, decided on integers.

A table of all p-values that a number of tasks allows is made once; a data set then only looks them up.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from medgauge_lib.pairs import FAMILY_ALPHA

_Ints = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]


def pair_counts(passed: _Bools) -> tuple[_Ints, _Ints]:
    """Tasks that either row of every pair wins alone.

    Parameters
    ----------
    passed : array of bool, shape (n_sets, n_tasks, n_rows)
        Tasks with pass^3.

    Returns
    -------
    tuple of array of int, shape (n_sets, n_pairs)
        b and c; pairs in the order of `numpy.triu_indices`.

    Examples
    --------
    >>> b, c = pair_counts(np.array([[[True, False], [True, False], [False, True]]]))
    >>> b.tolist(), c.tolist()
    ([[2]], [[1]])
    """
    i, j = np.triu_indices(passed.shape[2], 1)
    ones = passed.astype(np.float64)
    both = np.matmul(ones.transpose(0, 2, 1), ones)[:, i, j].astype(np.int64)
    wins = passed.sum(axis=1)
    return wins[:, i] - both, wins[:, j] - both


@lru_cache(maxsize=256)
def critical_counts(n_tasks: int, alpha: Fraction) -> _Ints:
    """Most tasks of m discordant ones that the lagging row may win where the exact p is at most alpha.

    Parameters
    ----------
    n_tasks : int
        At least 1.
    alpha : Fraction
        In (0, 1).

    Returns
    -------
    array of int, shape (n_tasks + 1,)
        By m; −1 where even winning all of them is not enough.

    Examples
    --------
    >>> critical_counts(9, Fraction(1, 20)).tolist()  # 2 · (1/2)^6 = 1/32, and 2 · (1 + 9) / 2^9 = 5/128
    [-1, -1, -1, -1, -1, -1, 0, 0, 0, 1]
    """
    counts = [-1]
    k, tail = 0, 1  # the next candidate, and Σ_{j ≤ k} C(m, j)
    for m in range(1, n_tasks + 1):
        tail = 2 * tail - math.comb(m - 1, k)  # Pascal's rule, summed
        if 2 * tail * alpha.denominator <= alpha.numerator * 2**m:
            k += 1  # one more task to the leader never allows the other two more
            tail += math.comb(m, k)
        counts.append(k - 1)
    return np.array(counts)


def _tails(n_tasks: int) -> list[list[int]]:
    """Σ_{j ≤ k} C(m, j) for every m ≤ n_tasks and k ≤ m / 2: the numerator of the exact p is twice that."""
    rows = [[1]]
    for m in range(1, n_tasks + 1):
        before = rows[-1]
        row = [1, *(before[k] + before[k - 1] for k in range(1, len(before)))]  # Pascal's rule, summed
        if m % 2 == 0:
            row.append((2**m + math.comb(m, m // 2)) // 2)  # half of everything, and half of the middle
        rows.append(row)
    return rows


def step_down(values: _Ints, holds: Callable[[_Ints], _Bools]) -> _Bools:
    """What a step-down procedure rejects: values in ascending order, up to the first that does not hold.

    Parameters
    ----------
    values : array of int, shape (n_sets, n_pairs)
        Of every data set; a small one speaks for a difference.
    holds : callable
        Ordered values to whether each is small enough for its place.

    Returns
    -------
    array of bool, shape (n_sets, n_pairs)

    Examples
    --------
    >>> step_down(np.array([[5, 1, 3]]), lambda ordered: ordered < [2, 4, 5]).tolist()
    [[False, True, True]]
    """
    ordered = np.sort(values, axis=1)
    n_rejected = np.logical_and.accumulate(holds(ordered), axis=1).sum(axis=1)
    last = np.take_along_axis(ordered, np.maximum(n_rejected - 1, 0)[:, np.newaxis], axis=1)
    rejected: _Bools = (values <= last) & (n_rejected > 0)[:, np.newaxis]
    return rejected


class McNemar:
    """Exact two-sided McNemar p-values of a number of tasks as ranks: 0 for the smallest p.

    Parameters
    ----------
    n_tasks : int
        At least 1.

    Examples
    --------
    >>> test = McNemar(6)
    >>> differs = test.ranks(np.array([6, 5, 3]), np.array([0, 1, 3])) < test.limit(Fraction(1, 20))
    >>> differs.tolist()  # p is 1/32, 7/32 and 1
    [True, False, False]
    """

    def __init__(self, n_tasks: int) -> None:
        if n_tasks < 1:
            raise ValueError(f"n_tasks must be at least 1, but got {n_tasks}")
        self.n_tasks = n_tasks
        # p · 2^(n-1), an integer for every m: the tail times 2^(n-m).
        scaled = [[tail << (n_tasks - m) for tail in row] for m, row in enumerate(_tails(n_tasks))]
        self._values = sorted({value for row in scaled for value in row})
        place = {value: k for k, value in enumerate(self._values)}
        self._ranks = np.zeros((n_tasks + 1, n_tasks // 2 + 1), dtype=np.int64)
        for m, row in enumerate(scaled):
            self._ranks[m, : len(row)] = [place[value] for value in row]

    def ranks(self, b: _Ints, c: _Ints) -> _Ints:
        """Rank of the p-value of every data set with b and c discordant tasks; equal p, equal rank."""
        found: _Ints = self._ranks[b + c, np.minimum(b, c)]
        return found

    @property
    def p_values(self) -> npt.NDArray[np.float64]:
        """The p-values in the order of their ranks, as floats."""
        return np.minimum(1.0, [value / 2 ** (self.n_tasks - 1) for value in self._values])

    def limit(self, alpha: Fraction) -> int:
        """First rank whose p is above `alpha`: what lies below it is rejected."""
        return bisect_right(self._values, alpha * 2 ** (self.n_tasks - 1))

    def holm(self, ranks: _Ints) -> _Bools:
        """What Holm's procedure rejects at a family-wise level of 0.05.

        Parameters
        ----------
        ranks : array of int, shape (n_sets, n_pairs)
            Of the p-values of every data set.

        Returns
        -------
        array of bool, shape (n_sets, n_pairs)
        """
        n_pairs = ranks.shape[1]
        limits = np.array([self.limit(FAMILY_ALPHA / left) for left in range(n_pairs, 0, -1)])
        return step_down(ranks, lambda ordered: ordered < limits)


@lru_cache(maxsize=16)
def mcnemar(n_tasks: int) -> McNemar:
    """The table of a number of tasks, made once."""
    return McNemar(n_tasks)
