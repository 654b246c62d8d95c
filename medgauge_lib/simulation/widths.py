"""Width of the continuous score's interval against that of the binary rate, over the pass rate.

A run passes when all its checkpoints pass, so that a board with few passing runs may still have scores in the
middle of the scale, where they vary most: at low pass rates the continuous score has the wider interval, and
elsewhere the narrower one. Here every checkpoint of a task passes independently, with the task's rate.

References
----------
.. [1] Methodology 0.1.0, "Intervals": no general claim is made that the continuous score is the more precise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from medgauge_lib.intervals import SEED
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.parallel import Workers
from medgauge_lib.simulation.blocks import Block, Replications, Stream
from medgauge_lib.simulation.coverage import exact_intervals
from medgauge_lib.simulation.montecarlo import Mean, Ratio, Share, columns
from medgauge_lib.simulation.resampling import MICRO, bounds
from medgauge_lib.simulation.study import ASSUMPTIONS, Design, Study
from medgauge_lib.simulation.worlds import Rates, agreeing, draw_levels

if TYPE_CHECKING:
    from medgauge_lib.progress import Progress

STUDY = "widths"

TASKS = 50
CHECKPOINTS = 8
MEANS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97)
AGREEMENT = 0.15
"""Correlation of two checkpoints of a task where none is given."""

AGAINST = ("task_pass_rate", "pass_pow_3")
"""The binary rates: BCa over tasks of the share of passing runs, and Clopper–Pearson of pass^3."""

_METHOD = ("bca_half",)


@dataclass(frozen=True)
class Checked:
    """Tasks with checkpoints.

    Attributes
    ----------
    rates : Rates
        Of checkpoints: the probability that one passes, over tasks.
    n_tasks, n_checkpoints : int
        Tasks of a data set, and checkpoints of a task; each at least 1.
    """

    rates: Rates
    n_tasks: int = TASKS
    n_checkpoints: int = CHECKPOINTS

    @property
    def pass_rate(self) -> Fraction:
        """True task pass rate: all checkpoints of a run pass."""
        return self.rates.power(self.n_checkpoints)


@dataclass(frozen=True)
class Widths:
    """Width of one interval as a multiple of another's.

    Attributes
    ----------
    checked : Checked
        What was drawn.
    against : str
        ``task_pass_rate`` or ``pass_pow_3``.
    ratio : Ratio
        Mean width of the continuous score's interval by that of the other, over data sets with both.
    undefined : Share
        Data sets that lack one of the two.
    """

    checked: Checked
    against: str
    ratio: Ratio
    undefined: Share

    def record(self) -> dict[str, Any]:
        """Names and values of the columns of a table."""
        return {
            "n_tasks": self.checked.n_tasks,
            "n_checkpoints": self.checked.n_checkpoints,
            "checkpoint_rate": self.checked.rates.mean,
            "spread": self.checked.rates.spread,
            "pass_rate": float(self.checked.pass_rate),
            "against": self.against,
            "n_replications": self.undefined.n,
            **columns("ratio", self.ratio),
            **columns("width_continuous", self.ratio.above),
            **columns("width_binary", self.ratio.below),
            **columns("undefined", self.undefined),
        }


def widths_block(block: Block[Checked]) -> dict[Any, int]:
    """Add up the widths of both kinds of interval over the data sets of a block."""
    checked = block.setting
    points, passes = _drawn(block.stream(), checked, block.size)
    denominator = N_RUNS * checked.n_checkpoints
    continuous = bounds(points.T, denominator, seed=block.seed, methods=_METHOD)["bca_half"]
    binary = bounds(passes.T, N_RUNS, seed=block.seed, methods=_METHOD)["bca_half"]
    intervals = exact_intervals(checked.n_tasks)
    exact = np.array([round((one.high - one.low) * MICRO) for one in intervals])
    others = {
        "task_pass_rate": (binary.high - binary.low, binary.defined),
        "pass_pow_3": (exact[(passes == N_RUNS).sum(axis=1)], np.ones(block.size, dtype=bool)),
    }
    tally: dict[Any, int] = {}
    for name, (width, defined) in others.items():
        both = defined & continuous.defined
        above, below = (continuous.high - continuous.low)[both], width[both]
        tally[name, "n"] = int(both.sum())
        for key, values in (("above", above), ("below", below)):
            tally[name, key] = int(values.sum())
            tally[name, f"{key}_squares"] = int((values**2).sum())
        tally[name, "products"] = int((above * below).sum())
    return tally


def _drawn(
    stream: Stream, checked: Checked, n_sets: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Checkpoints passed over the three runs of every task, and passing runs; shape (n_sets, n_tasks)."""
    levels = draw_levels(stream, n_tasks=checked.n_tasks, n_rows=1, n_sets=n_sets, correlation=0.0)
    rates = checked.rates.levels[levels]
    points = np.zeros((n_sets, checked.n_tasks), dtype=np.int64)
    passes = np.zeros_like(points)
    for _ in range(N_RUNS):
        passed = (stream.words(n_sets, checked.n_tasks, checked.n_checkpoints) < rates).sum(axis=2)
        points += passed
        passes += passed == checked.n_checkpoints
    return points, passes


def _lines(found: Replications[Checked]) -> list[Widths]:
    lines = []
    for name in AGAINST:
        n = found.tally[name, "n"]
        above, below = (
            Mean(found.tally[name, key], found.tally[name, f"{key}_squares"], n, MICRO)
            for key in ("above", "below")
        )
        ratio = Ratio(above, below, found.tally[name, "products"])
        lines.append(Widths(found.setting, name, ratio, Share(found.n - n, found.n)))
    return lines


_DESIGN = Design(
    STUDY,
    widths_block,
    _lines,
    (
        *ASSUMPTIONS,
        "Every task has the same number of checkpoints, which pass independently with the task's rate.",
        "A run passes when all its checkpoints do; there are no vetoes and no errors.",
    ),
)


def widths(
    settings: Sequence[Checked] | None = None,
    *,
    n_replications: int = 1_000,
    seed: int = SEED,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Study[Widths]:
    """Ratio of the widths of intervals of the continuous score and of the binary rates, by pass rate.

    Parameters
    ----------
    settings : sequence of Checked, optional
        Where not given, 50 tasks of 8 checkpoints over `MEANS` of the checkpoint rate.
    n_replications, seed, workers, progress
        As in `coverage`.

    Returns
    -------
    Study of Widths
        Two lines a setting, one a binary rate.

    Examples
    --------
    >>> study = widths([Checked(Rates(0.5, 0.2), n_tasks=10, n_checkpoints=1)], n_replications=20)
    >>> float(study.lines[0].ratio)  # with one checkpoint the score is the pass
    1.0
    """
    if settings is None:
        settings = [Checked(agreeing(mean, AGREEMENT)) for mean in MEANS]
    return _DESIGN.run(settings, n_replications, seed=seed, workers=workers, progress=progress)
