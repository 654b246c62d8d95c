"""Exact against resampled p-values under Holm: random sign flips have a floor that many pairs cannot pass.

A resampled p is (1 + flips at least as far out) / (1 + flips), so it is never below 1 / (1 + flips). Holm
multiplies the smallest of m p-values by m: with 10,000 flips nothing is ever shown to differ on a board of
more than 500 pairs, however different its rows are. Made boards here have rows that fall evenly from best
to worst. The exact p is the probability that a random flip is at least as far out, and flips are independent;
so their number is drawn as what it is, binomial.

References
----------
.. [1] Phipson & Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9:39 (p is never 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

from medgauge_lib.intervals import RESAMPLES, SEED
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.pairs import FAMILY_ALPHA
from medgauge_lib.parallel import Workers
from medgauge_lib.simulation.blocks import Block, Replications
from medgauge_lib.simulation.montecarlo import Mean, Share, columns
from medgauge_lib.simulation.rejection import mcnemar, pair_counts, step_down
from medgauge_lib.simulation.study import ASSUMPTIONS, Design, Study
from medgauge_lib.simulation.worlds import UNIT, Rates, draw_passes, require_size

if TYPE_CHECKING:
    from medgauge_lib.progress import Progress

STUDY = "flips"

FLIPS = RESAMPLES
"""Random flips of a pair."""

ROWS = (5, 10, 20, 32, 33, 38)
TASKS = 127
BEST, WORST = 0.95, 0.35
SPREAD = 0.2

_MOST = FLIPS // 20 + 1
_SURELY_MORE = 0.1
"""A p from which on 500 flips of 10,000 or fewer at least as far out have a chance below 10^-70."""

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ladder:
    """A made board whose rows fall evenly from best to worst.

    Attributes
    ----------
    n_rows, n_tasks : int
        At least 2 rows, at least 1 task.
    best, worst : float
        Mean rate of the first and of the last row.
    spread : float
        Between tasks, of every row.
    correlation : float
        Rank correlation of the rates of any two rows over tasks.
    """

    n_rows: int
    n_tasks: int = TASKS
    best: float = BEST
    worst: float = WORST
    spread: float = SPREAD
    correlation: float = 0.5

    def __post_init__(self) -> None:
        require_size(self.n_rows, self.n_tasks)

    @property
    def n_pairs(self) -> int:
        """Pairs of rows, m."""
        return comb(self.n_rows, 2)

    @property
    def rows(self) -> tuple[Rates, ...]:
        """Rates of every row."""
        step = (self.best - self.worst) / (self.n_rows - 1)
        return tuple(Rates(self.best - k * step, self.spread) for k in range(self.n_rows))


@dataclass(frozen=True)
class Flips:
    """Pairs shown to differ by exact and by resampled p-values.

    Attributes
    ----------
    ladder : Ladder
        The boards.
    floor : Fraction
        Smallest adjusted p that random flips allow the first pair: m / (1 + flips).
    exact, resampled : Mean
        Share of all pairs shown to differ.
    silent : Share
        Boards on which resampled p-values show no pair to differ.
    """

    ladder: Ladder
    floor: Fraction
    exact: Mean
    resampled: Mean
    silent: Share

    @property
    def possible(self) -> bool:
        """Whether random flips can show any pair to differ at all."""
        return self.floor <= FAMILY_ALPHA

    def record(self) -> dict[str, Any]:
        """Names and values of the columns of a table."""
        return {
            "n_rows": self.ladder.n_rows,
            "n_pairs": self.ladder.n_pairs,
            "n_tasks": self.ladder.n_tasks,
            "n_replications": self.silent.n,
            "floor": float(self.floor),
            "possible": self.possible,
            **columns("exact", self.exact),
            **columns("resampled", self.resampled),
            **columns("silent", self.silent),
        }


def flips_block(block: Block[Ladder]) -> dict[str, int]:
    """Count the pairs that either kind of p-value shows to differ on the boards of a block."""
    ladder, stream = block.setting, block.stream()
    passed = (
        draw_passes(
            stream,
            ladder.rows,
            n_tasks=ladder.n_tasks,
            n_sets=block.size,
            correlation=ladder.correlation,
        )
        == N_RUNS
    )
    test = mcnemar(ladder.n_tasks)
    ranks = test.ranks(*pair_counts(passed))
    exact = test.holm(ranks).sum(axis=1)
    far = far_flips(ranks, stream.words(*ranks.shape), n_tasks=ladder.n_tasks)
    resampled = holm_on_flips(far).sum(axis=1)
    return {
        "exact": int(exact.sum()),
        "exact_squares": int((exact**2).sum()),
        "resampled": int(resampled.sum()),
        "resampled_squares": int((resampled**2).sum()),
        "silent": int((resampled == 0).sum()),
    }


def far_flips(ranks: _Ints, words: _Ints, *, n_tasks: int) -> _Ints:
    """Number of 10,000 random flips at least as far out as the data, a binomial draw for each pair.

    Parameters
    ----------
    ranks : array of int
        Of the exact p-values, from `McNemar.ranks`.
    words : array of int
        As many random integers in 0..2^32 − 1.
    n_tasks : int
        Of the data.

    Returns
    -------
    array of int
        In 0..501. With more than 500 no pair is shown to differ, whatever its place in Holm's order; such
        draws stand as 501.
    """
    uniform = (words + 0.5) / UNIT
    found = np.searchsorted(_distributions(n_tasks), (uniform + 2 * ranks).ravel())
    return found.reshape(ranks.shape) - _MOST * ranks


@lru_cache(maxsize=4)
def _distributions(n_tasks: int) -> npt.NDArray[np.float64]:
    """P[far ≤ 0], …, P[far ≤ 500] for every p-value, those of rank r moved to 2r..2r + 1: one sorted list."""
    p = mcnemar(n_tasks).p_values
    low = p < _SURELY_MORE
    cumulative = np.zeros((len(p), _MOST))
    cumulative[low] = bdtr(np.arange(_MOST), FLIPS, p[low, np.newaxis])
    moved: npt.NDArray[np.float64] = np.minimum(cumulative, 1.0) + 2.0 * np.arange(len(p))[:, np.newaxis]
    return moved.ravel()


def holm_on_flips(far: _Ints) -> npt.NDArray[np.bool_]:
    """What Holm rejects at 0.05 where p is (1 + far) / (1 + flips), decided on integers.

    Parameters
    ----------
    far : array of int, shape (n_sets, n_pairs)
        Flips at least as far out.

    Returns
    -------
    array of bool, shape (n_sets, n_pairs)

    Examples
    --------
    >>> holm_on_flips(np.array([[0, 249, 250]])).tolist()  # 250 · 2 = 500 ≤ 0.05 · 10,001 and 251 ≤ 500
    [[True, True, True]]
    """
    left = np.arange(far.shape[1], 0, -1)
    most = FAMILY_ALPHA.numerator * (1 + FLIPS)
    return step_down(far, lambda ordered: (1 + ordered) * left * FAMILY_ALPHA.denominator <= most)


def _lines(found: Replications[Ladder]) -> list[Flips]:
    ladder, tally = found.setting, found.tally
    exact, resampled = (
        Mean(tally[name], tally[f"{name}_squares"], found.n, ladder.n_pairs)
        for name in ("exact", "resampled")
    )
    floor = Fraction(ladder.n_pairs, 1 + FLIPS)
    return [Flips(ladder, floor, exact, resampled, Share(tally["silent"], found.n))]


_DESIGN = Design(
    STUDY,
    flips_block,
    _lines,
    (
        *ASSUMPTIONS,
        "Mean rates fall evenly from the first row to the last; any two rows have the stated correlation.",
        "Random flips of a pair are independent of each other and of those of other pairs.",
    ),
)


def flips(
    ladders: Sequence[Ladder] | None = None,
    *,
    n_replications: int = 200,
    seed: int = SEED,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Study[Flips]:
    """How many pairs of a board exact and resampled p-values show to differ, by number of rows.

    Parameters
    ----------
    ladders : sequence of Ladder, optional
        Settings; where not given, 127 tasks and `ROWS`.
    n_replications, seed, workers, progress
        As in `coverage`.

    Returns
    -------
    Study of Flips
        One line a setting.

    Examples
    --------
    >>> line = flips([Ladder(38)], n_replications=5).lines[0]
    >>> line.floor, line.possible, float(line.resampled)
    (Fraction(703, 10001), False, 0.0)
    """
    if ladders is None:
        ladders = [Ladder(n_rows) for n_rows in ROWS]
    return _DESIGN.run(ladders, n_replications, seed=seed, workers=workers, progress=progress)
