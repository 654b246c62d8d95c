"""Overlap of two intervals is not a comparison: the case of 13 tasks and a difference of 0.09.

Two rows whose mean continuous scores differ are drawn, each row's BCa interval is made, and it is counted how
often the two intervals overlap, so that grouping by overlap would merge the rows. Beside it: how often the
BCa interval of the paired difference holds 0, and how often the true difference. The score of a task is drawn
as a whole, from a Beta distribution on a grid of sixtieths, which is a task's mean over three runs of 20
checkpoints.

References
----------
.. [1] Schenker & Gentleman (2001), The American Statistician 55:182-186.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from medgauge_lib.intervals import SEED
from medgauge_lib.parallel import Workers
from medgauge_lib.results import Absent
from medgauge_lib.simulation.blocks import Block, Replications
from medgauge_lib.simulation.montecarlo import Share, columns
from medgauge_lib.simulation.resampling import bounds
from medgauge_lib.simulation.study import ASSUMPTIONS, Design, Study
from medgauge_lib.simulation.worlds import LEVELS, UNIT, Rates, draw_levels

if TYPE_CHECKING:
    from medgauge_lib.progress import Progress

STUDY = "overlap"

GRID = 60
"""Denominator of a task's score."""

TASKS = 13
DIFFERENCE = 0.09
LEADER = 0.75
"""Mean score of the row ahead where none is given."""
SPREADS = (0.05, 0.08, 0.11, 0.13, 0.15, 0.2, 0.25)
CORRELATIONS = (0.0, 0.4, 0.8)

_METHOD = ("bca_half",)


@dataclass(frozen=True)
class Duel:
    """Two rows that differ in their continuous score.

    Attributes
    ----------
    ahead, behind : Rates
        Scores of tasks of the two rows.
    n_tasks : int
        At least 2.
    correlation : float
        Rank correlation of their scores over tasks, in [0, 1].
    """

    ahead: Rates
    behind: Rates
    n_tasks: int = TASKS
    correlation: float = 0.0

    @property
    def difference(self) -> Fraction:
        """True difference of the mean scores, on the grid."""
        return _mean(self.ahead) - _mean(self.behind)


def _scores(rates: Rates) -> npt.NDArray[np.int64]:
    """Levels of a score in sixtieths, to the nearest."""
    return (rates.levels * GRID + UNIT // 2) // UNIT


def _mean(rates: Rates) -> Fraction:
    return Fraction(int(_scores(rates).sum()), LEVELS * GRID)


@dataclass(frozen=True)
class Overlap:
    """How often two rows that differ are not told apart.

    Attributes
    ----------
    duel : Duel
        The two rows.
    merged : Share
        Data sets whose two intervals overlap, among those where both rows have one.
    paired : Share
        Data sets whose interval of the paired difference holds 0, among those with one.
    covered : Share
        Data sets whose interval of the paired difference holds the true difference: its coverage.
    """

    duel: Duel
    merged: Share
    paired: Share
    covered: Share

    def record(self) -> dict[str, Any]:
        """Names and values of the columns of a table."""
        return {
            "n_tasks": self.duel.n_tasks,
            "mean_ahead": self.duel.ahead.mean,
            "difference": float(self.duel.difference),
            "spread": self.duel.ahead.spread,
            "correlation": self.duel.correlation,
            "n_replications": self.merged.n,
            **columns("merged", self.merged),
            **columns("paired", self.paired),
            **columns("covered", self.covered),
        }


def overlap_block(block: Block[Duel]) -> dict[str, int]:
    """Count the data sets whose intervals overlap, and whose paired interval holds 0 or the truth."""
    duel = block.setting
    levels = draw_levels(
        block.stream(), n_tasks=duel.n_tasks, n_rows=2, n_sets=block.size, correlation=duel.correlation
    )
    scores = [_scores(row)[levels[:, :, k]].T for k, row in enumerate((duel.ahead, duel.behind))]
    # A constant moves an interval of the mean and changes nothing else; no value may be negative.
    shifted = [*scores, scores[0] - scores[1] + GRID]
    ahead, behind, paired = (bounds(x, GRID, seed=block.seed, methods=_METHOD)["bca_half"] for x in shifted)
    both = ahead.defined & behind.defined
    overlapping = both & (ahead.low <= behind.high) & (behind.low <= ahead.high)
    return {
        "both": int(both.sum()),
        "merged": int(overlapping.sum()),
        "compared": int(paired.defined.sum()),
        "held": paired.coverage(Fraction(1))["covered"],
        "covered": paired.coverage(1 + duel.difference)["covered"],
    }


def _lines(found: Replications[Duel]) -> list[Overlap]:
    tally = found.tally
    merged = Share(tally["merged"], tally["both"])
    held, covered = (Share(tally[name], tally["compared"]) for name in ("held", "covered"))
    return [Overlap(found.setting, merged, held, covered)]


_DESIGN = Design(
    STUDY,
    overlap_block,
    _lines,
    (
        ASSUMPTIONS[0],
        "A task's continuous score, its mean over three runs, follows a Beta distribution over tasks.",
        "Both rows have the same spread between tasks, and their means differ by the stated difference.",
    ),
)


def overlap(
    duels: Sequence[Duel] | None = None,
    *,
    n_replications: int = 2_000,
    seed: int = SEED,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Study[Overlap]:
    """How often overlap of intervals merges two rows that differ, by the spread between tasks.

    Parameters
    ----------
    duels : sequence of Duel, optional
        Settings; where not given, 13 tasks and a difference of 0.09 over `SPREADS` and `CORRELATIONS`.
    n_replications, seed, workers, progress
        As in `coverage`.

    Returns
    -------
    Study of Overlap
        One line a setting.

    Examples
    --------
    >>> apart = Duel(Rates(0.9, 0.05), Rates(0.5, 0.05))
    >>> float(overlap([apart], n_replications=50).lines[0].merged)
    0.0
    """
    if duels is None:
        duels = [
            Duel(Rates(LEADER, spread), Rates(LEADER - DIFFERENCE, spread), correlation=correlation)
            for correlation, spread in product(CORRELATIONS, SPREADS)
        ]
    return _DESIGN.run(duels, n_replications, seed=seed, workers=workers, progress=progress)


def spread_at(study: Study[Overlap], share: float, *, correlation: float = 0.0) -> float | Absent:
    """Spread between tasks at which overlap merges the rows in a given share of the time.

    Parameters
    ----------
    study : Study of Overlap
        Over several spreads.
    share : float
        In (0, 1).
    correlation : float
        Which of the study's correlations.

    Returns
    -------
    float or Absent
        Between the first two neighbouring spreads whose shares lie on either side, on the straight line
        between them.

    Examples
    --------
    >>> from medgauge_lib.simulation.montecarlo import Share
    >>> merged = {0.1: 5, 0.2: 10}  # of ten boards
    >>> lines = tuple(
    ...     Overlap(Duel(Rates(0.7, spread), Rates(0.6, spread)), Share(count, 10), *[Share(9, 10)] * 2)
    ...     for spread, count in merged.items()
    ... )
    >>> round(spread_at(Study("overlap", (), 1, 10, 10, lines), 0.75), 9)
    0.15
    """
    lines = sorted(
        (line for line in study.lines if line.duel.correlation == correlation and line.merged.n),
        key=lambda line: line.duel.ahead.spread,
    )
    for low, high in pairwise(lines):
        first, following = float(low.merged), float(high.merged)
        if min(first, following) <= share <= max(first, following) and first != following:
            part = (share - first) / (following - first)
            return low.duel.ahead.spread + part * (high.duel.ahead.spread - low.duel.ahead.spread)
    return Absent("no two neighbouring spreads of the study lie on either side")
