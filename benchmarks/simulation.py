"""Simulated intervals against the same loop on SciPy, one data set after another."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import stats

from benchmarks.ratios import Ratio, in_turn
from medgauge_lib import intervals
from medgauge_lib.intervals import RESAMPLES, SEED
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.parallel import Workers
from medgauge_lib.simulation.blocks import Stream
from medgauge_lib.simulation.coverage import Sample, coverage
from medgauge_lib.simulation.worlds import agreeing, draw_passes

N_SETS, FEW = 1_000, 20


def ratios() -> Iterator[Ratio]:
    """Compare a study of coverage, five kinds of interval a data set, with SciPy's one kind a data set."""
    for n_tasks in (20, 50, 100):
        sample = Sample(n_tasks, agreeing(0.8, 0.5))
        drawn = draw_passes(Stream(SEED, "bench", sample, 0), (sample.rates,), n_tasks=n_tasks, n_sets=FEW)
        ours, scipy = in_turn(partial(_study, sample), partial(_loop, drawn[:, :, 0]), repeats=7)
        name = f"coverage, {N_SETS:,} data sets of {n_tasks} tasks, against a loop on SciPy (every 50th)"
        yield Ratio(name, ours, scipy * N_SETS / FEW, at_least=20)


def _study(sample: Sample) -> None:
    """Draw, resample, and hold every kind of interval against the truth, in this process."""
    intervals._cached_counts.cache_clear()
    coverage([sample], n_replications=N_SETS, workers=Workers(jobs=1))


def _loop(passes: np.ndarray) -> int:
    """BCa intervals of data sets that are drawn already, by SciPy."""
    covered = 0
    for one in passes:
        if (one == one[0]).all():
            continue
        found = stats.bootstrap((one / N_RUNS,), np.mean, n_resamples=RESAMPLES, method="BCa", rng=1)
        covered += found.confidence_interval.low <= 0.8 <= found.confidence_interval.high
    return covered
