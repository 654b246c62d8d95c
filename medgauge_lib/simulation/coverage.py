"""How often an interval holds the true value it is for.

The true value is the mean over the population that tasks are drawn from: for resampled intervals the mean of
the task rate, for Clopper–Pearson the mean of its cube, which is the true pass^3. Each replication draws new
tasks and new runs. A data set without an interval is counted as undefined, neither covered nor missed, and
coverage is the share among those with one. The exact coverage of Clopper–Pearson is a finite sum.

References
----------
.. [1] Brown, Cai & DasGupta (2001), Statistical Science 16:101-133, section 2 (coverage by enumeration).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from medgauge_lib.intervals import SEED, clopper_pearson
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.parallel import Workers
from medgauge_lib.results import Interval
from medgauge_lib.simulation.blocks import Block, Replications
from medgauge_lib.simulation.montecarlo import Mean, Share, columns
from medgauge_lib.simulation.power import binomial
from medgauge_lib.simulation.resampling import METHODS, MICRO, bounds
from medgauge_lib.simulation.study import ASSUMPTIONS, Design, Study
from medgauge_lib.simulation.worlds import Rates, agreeing, draw_passes

if TYPE_CHECKING:
    from medgauge_lib.progress import Progress

STUDY = "coverage"

EXACT = "clopper_pearson"

TASKS = (10, 20, 50, 100)
MEANS = (0.1, 0.5, 0.8, 0.95)
AGREEMENT = 0.5
"""Correlation of two runs of a task where none is given: tasks are mostly passed always or never."""


@dataclass(frozen=True)
class Sample:
    """What is drawn: so many tasks of one population.

    Attributes
    ----------
    n_tasks : int
        At least 1.
    rates : Rates
        Of the population.
    """

    n_tasks: int
    rates: Rates


@dataclass(frozen=True)
class Coverage:
    """Coverage of one kind of interval in one setting.

    Attributes
    ----------
    sample : Sample
        What was drawn.
    quantity : str
        ``task_pass_rate`` or ``pass_pow_3``.
    method : str
        Kind of interval.
    true : Fraction
        The value it is for.
    covered : Share
        Of the data sets with an interval, those whose interval holds the true value.
    too_low, too_high : int
        Intervals that lie below the true value, and above it.
    undefined : Share
        Of all data sets, those without an interval.
    width : Mean
        Of the intervals.
    exact : float or None
        The same coverage by enumeration, for Clopper–Pearson.
    """

    sample: Sample
    quantity: str
    method: str
    true: Fraction
    covered: Share
    too_low: int
    too_high: int
    undefined: Share
    width: Mean
    exact: float | None = None

    def record(self) -> dict[str, Any]:
        """Names and values of the columns of a table."""
        return {
            "n_tasks": self.sample.n_tasks,
            "mean": self.sample.rates.mean,
            "spread": self.sample.rates.spread,
            "quantity": self.quantity,
            "method": self.method,
            "true": float(self.true),
            "n_replications": self.undefined.n,
            **columns("coverage", self.covered),
            "exact": self.exact,
            "too_low": self.too_low,
            "too_high": self.too_high,
            **columns("undefined", self.undefined),
            **columns("width", self.width),
        }


def coverage_block(block: Block[Sample]) -> dict[Any, int]:
    """Hold the intervals of every data set of a block against the true value."""
    sample = block.setting
    passes = draw_passes(block.stream(), (sample.rates,), n_tasks=sample.n_tasks, n_sets=block.size)[:, :, 0]
    truth = sample.rates.power(1)
    tally: dict[Any, int] = {}
    for method, found in bounds(passes.T, N_RUNS, seed=block.seed).items():
        widths = found.widths()
        tally |= {(method, name): count for name, count in found.coverage(truth).items()}
        tally |= {(method, "width"): int(widths.sum()), (method, "squares"): int((widths**2).sum())}
    n_passed, times = np.unique((passes == N_RUNS).sum(axis=1), return_counts=True)
    return tally | {(EXACT, x): count for x, count in zip(n_passed.tolist(), times.tolist(), strict=True)}


@lru_cache(maxsize=64)
def exact_intervals(n_tasks: int) -> tuple[Interval, ...]:
    """Clopper–Pearson intervals of 0..n successes."""
    return tuple(clopper_pearson(x, n_tasks) for x in range(n_tasks + 1))


def exact_coverage(n_tasks: int, probability: float) -> float:
    """Coverage of Clopper–Pearson by enumeration over the number of successes [1]_.

    Parameters
    ----------
    n_tasks : int
        At least 1.
    probability : float
        Of success, in [0, 1].

    Returns
    -------
    float

    Examples
    --------
    >>> exact_coverage(1, 0.5), exact_coverage(2, 0.9)  # 2 of 2 gives [0.158, 1], and 1 of 2 [0.013, 0.987]
    (1.0, 0.99)
    """
    intervals = exact_intervals(n_tasks)
    holds = np.array([one.low <= probability <= one.high for one in intervals])
    return float(binomial(n_tasks, probability)[holds].sum())


def _lines(found: Replications[Sample]) -> list[Coverage]:
    return [*(_resampled(found, method) for method in METHODS), _exact(found)]


def _resampled(found: Replications[Sample], method: str) -> Coverage:
    counts = {
        name: found.tally[method, name]
        for name in ("covered", "too_low", "too_high", "undefined", "width", "squares")
    }
    n_defined = found.n - counts["undefined"]
    return Coverage(
        sample=found.setting,
        quantity="task_pass_rate",
        method=method,
        true=found.setting.rates.power(1),
        covered=Share(counts["covered"], n_defined),
        too_low=counts["too_low"],
        too_high=counts["too_high"],
        undefined=Share(counts["undefined"], found.n),
        width=Mean(counts["width"], counts["squares"], n_defined, MICRO),
    )


def _exact(found: Replications[Sample]) -> Coverage:
    n_tasks, true = found.setting.n_tasks, found.setting.rates.power(N_RUNS)
    intervals = exact_intervals(n_tasks)
    times = [found.tally[EXACT, x] for x in range(n_tasks + 1)]
    widths = [round((one.high - one.low) * MICRO) for one in intervals]
    too_low = sum(count for count, one in zip(times, intervals, strict=True) if one.high < true)
    too_high = sum(count for count, one in zip(times, intervals, strict=True) if one.low > true)
    return Coverage(
        sample=found.setting,
        quantity="pass_pow_3",
        method=EXACT,
        true=true,
        covered=Share(found.n - too_low - too_high, found.n),
        too_low=too_low,
        too_high=too_high,
        undefined=Share(0, found.n),
        width=Mean(
            sum(count * width for count, width in zip(times, widths, strict=True)),
            sum(count * width**2 for count, width in zip(times, widths, strict=True)),
            found.n,
            MICRO,
        ),
        exact=exact_coverage(n_tasks, float(true)),
    )


_DESIGN = Design(
    STUDY,
    coverage_block,
    _lines,
    (
        *ASSUMPTIONS,
        "All data sets share the 10,000 resamples of the seed, as the rows of a board do.",
        "A data set whose tasks all have the same value has no resampled interval, and is counted apart.",
    ),
)


def coverage(
    samples: Sequence[Sample] | None = None,
    *,
    n_replications: int = 2_000,
    seed: int = SEED,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Study[Coverage]:
    """Coverage of BCa by three tie rules, of the percentile interval, and of Clopper–Pearson.

    Parameters
    ----------
    samples : sequence of Sample, optional
        Settings; where not given, `TASKS` by `MEANS` with an agreement of runs of 0.5.
    n_replications : int
        Data sets of each setting, at least 1.
    seed : int
        0 ≤ seed < 2^64; also of the resamples, which all data sets share as the rows of a board do.
    workers : Workers, optional
        Who does the work; the result is the same whoever does.
    progress : Progress, optional
        Told of each block of replications that ends.

    Returns
    -------
    Study of Coverage
        Five lines a setting, one a kind of interval.

    Examples
    --------
    >>> study = coverage([Sample(10, Rates(0.5, 0.2))], n_replications=100)
    >>> [line.method for line in study.lines]
    ['bca_half', 'bca_strict', 'bca_uncorrected', 'percentile', 'clopper_pearson']
    """
    if samples is None:
        samples = [Sample(n, agreeing(mean, AGREEMENT)) for n, mean in product(TASKS, MEANS)]
    return _DESIGN.run(samples, n_replications, seed=seed, workers=workers, progress=progress)
