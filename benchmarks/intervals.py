"""BCa intervals of a board of 38 rows and 127 tasks, against SciPy and against the bare linear algebra."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np
from scipy import stats

from benchmarks.ratios import Ratio, best, in_turn
from medgauge_lib import intervals
from medgauge_lib.estimators import Values
from medgauge_lib.intervals import RESAMPLES, SEED, bca, estimate, resampled_sums

N_ROWS, N_TASKS = 38, 127


def ratios() -> Iterator[Ratio]:
    """Compare the intervals of two quantities of every row, then those of every pair."""
    rates, scores = made = _values()
    data = np.concatenate([values.x / values.denominator for values in made], axis=1).T
    scipy = partial(stats.bootstrap, statistic=np.mean, n_resamples=RESAMPLES, method="BCa")

    def ours() -> None:
        intervals._cached_counts.cache_clear()
        for values in made:
            estimate(values)

    def in_one_call() -> None:
        scipy((data,), vectorized=True, axis=-1, rng=1)

    def row_by_row() -> None:
        for row in data:
            scipy((row,), rng=1)

    many = f"BCa, {N_ROWS} × {N_TASKS}, 2 quantities, against "
    yield Ratio(many + "SciPy in one vectorized call", *in_turn(ours, in_one_call, repeats=15), at_least=5)
    yield Ratio(many + "SciPy row by row", *in_turn(ours, row_by_row, repeats=5), at_least=20)
    bare = partial(_bare, np.concatenate([rates.x, scores.x], axis=1))
    yield Ratio(many + "counts and one product alone", *in_turn(ours, bare, repeats=50), at_most=1.5)
    yield _pairs(made)


def _values() -> tuple[Values, Values]:
    """Task pass rate and continuous score of rows of falling ability."""
    rng = np.random.default_rng(SEED)
    rows = tuple(f"r{k:02d}" for k in range(N_ROWS))
    chance = 1 / (1 + np.exp(rng.normal(size=(N_TASKS, 1)) - np.linspace(2, -2, N_ROWS)))
    totals = 3 * rng.integers(3, 13, N_TASKS)
    denominator = math.lcm(*map(int, totals))
    points = rng.binomial(totals[:, np.newaxis], chance)
    return (
        Values("task_pass_rate", rows, rng.binomial(3, chance), 3),
        Values("continuous_score", rows, points * (denominator // totals)[:, np.newaxis], denominator),
    )


def _bare(x: np.ndarray) -> np.ndarray:
    """Count the draws of every resample and multiply once, in the plainest NumPy; no interval comes of it."""
    words = np.random.Philox(key=SEED).random_raw(RESAMPLES * N_TASKS)
    drawn = ((words >> np.uint64(32)) * np.uint64(N_TASKS)) >> np.uint64(32)
    places = (
        drawn.astype(np.int64).reshape(RESAMPLES, N_TASKS) + N_TASKS * np.arange(RESAMPLES)[:, np.newaxis]
    )
    counts = np.bincount(places.ravel(), minlength=RESAMPLES * N_TASKS).reshape(RESAMPLES, N_TASKS)
    return counts.astype(np.float64) @ x.astype(np.float64)


def _pairs(made: tuple[Values, Values]) -> Ratio:
    """Time the paired intervals of both quantities; SciPy does every 37th of them, scaled."""
    pairs = list(combinations(range(N_ROWS), 2))
    few = pairs[::37]

    def ours() -> None:
        intervals._cached_counts.cache_clear()
        for values in made:
            sums = resampled_sums(values.x, seed=SEED)
            for a, b in pairs:
                bca(values.x[:, a] - values.x[:, b], sums[a] - sums[b], values.denominator, seed=SEED)

    def scipy() -> None:
        for values in made:
            for a, b in few:
                difference = (values.x[:, a] - values.x[:, b]) / values.denominator
                stats.bootstrap((difference,), np.mean, n_resamples=RESAMPLES, method="BCa", rng=1)

    scaled = best(scipy, repeats=2) * len(pairs) / len(few)
    name = f"BCa of differences, {len(pairs)} pairs, 2 quantities, against SciPy pair by pair (every 37th)"
    return Ratio(name, best(ours, repeats=3), scaled)
