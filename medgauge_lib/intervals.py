"""Exact and BCa intervals, digit for digit as published under algorithm ``bca-1``.

The task is the unit of resampling. Resample indices depend on the seed and the number of tasks alone, so
every row and every quantity of a board uses the same resamples and paired differences come for free.
Ties are decided on integers; floating point enters only after every count is settled.

References
----------
.. [1] Efron & Tibshirani (1993), "An introduction to the bootstrap", chapter 14, equations 14.9 to 14.15.
.. [2] Hyndman & Fan (1996), The American Statistician 50:361-365, definition 7.
.. [3] Clopper & Pearson (1934), Biometrika 26:404-413.
.. [4] Salmon et al. (2011), "Parallel random numbers: as easy as 1, 2, 3" (Philox4x64-10).
.. [5] Floyd & Rivest (1975), "Expected time bounds for selection", Communications of the ACM 18:165-172.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from medgauge_lib.estimators import Values
from medgauge_lib.progress import steps
from medgauge_lib.results import ALPHA, LEVEL, Absent, Estimate, Interval

RESAMPLES = 10_000
"""Resamples of every BCa interval (methodology 0.1.0, "Intervals")."""

SEED = 20260101
"""Seed of a board where none is given."""

QUANTILE_RULE = "HF7; bca-1 (philox4x64-10 key=seed, hi32, half ties, 6 decimals)"
"""What a record states so that a third party recomputes its BCa intervals."""

DECIMALS = 6
"""Decimals a BCa bound is published with; absorbs last-digit differences of the normal functions."""

_BLOCK = 2**18
"""Entries of a block of the count matrix: 2 MiB as float64, so that a block is made inside the cache."""

_KEPT = 2**24
"""Entries up to which a count matrix is kept for the next quantity: 128 MiB as float64."""

_SAMPLED = 16
"""One of so many sums is sampled to find the quantiles."""

_MARGIN = 12
"""Sampled sums on either side of a quantile's place: three standard errors of it for a bound of 95 %."""

ONE_TASK = Absent("one task has no bootstrap interval")
ALL_EQUAL = Absent("all tasks have the same value")


def clopper_pearson(n_successes: int, n: int, *, level: float = LEVEL) -> Interval:
    """Exact binomial interval, with the one-sided lower bound at the same level [3]_.

    Parameters
    ----------
    n_successes, n : int
        Successes of n ≥ 1 trials; a trial here is a task.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Interval
        The lower bound is 0 with no success and the upper bound 1 with no failure.

    Examples
    --------
    >>> interval = clopper_pearson(0, 10)
    >>> interval.low, round(interval.high, 4)  # 1 - 0.025 ** 0.1
    (0.0, 0.3085)
    """
    from scipy.special import betaincinv  # loading it takes longer than most commands that need no interval

    if not 0 <= n_successes <= n or n < 1:
        raise ValueError(f"n_successes must lie in 0..n with n at least 1, but got {n_successes} of {n}")
    alpha = _alpha(level)

    def lower(tail: float) -> float:
        return float(betaincinv(n_successes, n - n_successes + 1, tail)) if n_successes else 0.0

    upper = float(betaincinv(n_successes + 1, n - n_successes, 1 - alpha / 2)) if n_successes < n else 1.0
    return Interval(lower(alpha / 2), upper, level, "clopper_pearson", one_sided_low=lower(alpha))


def _alpha(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, but got {level}; write 0.95 for 95 %")
    return ALPHA if level == LEVEL else 1 - level


def resample_indices(seed: int, n_tasks: int, *, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Tasks drawn in resamples `start` to `stop` − 1 (algorithm ``bca-1``, step 2).

    Draw j of resample b is task ((u >> 32) · n) >> 32 with u word b·n + j of the output of Philox4x64-10
    under key (seed, 0) [4]_.

    Parameters
    ----------
    seed : int
        0 ≤ seed < 2^64.
    n_tasks : int
        1 ≤ n < 2^32.
    start, stop : int
        Resamples to make, 0-based, stop excluded.

    Returns
    -------
    array of int, shape (stop − start, n_tasks)
        Each in 0..n_tasks − 1.

    Examples
    --------
    >>> resample_indices(20260101, 5, start=0, stop=1).tolist()
    [[3, 1, 1, 2, 3]]
    """
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed must lie in 0..2^64 - 1, but got {seed}")
    stream = np.random.Philox(key=seed)
    skipped = start * n_tasks
    stream.advance(skipped // 4)  # one step of the counter gives four words
    words = stream.random_raw(skipped % 4 + (stop - start) * n_tasks)[skipped % 4 :]
    words >>= np.uint64(32)
    words *= np.uint64(n_tasks)
    words >>= np.uint64(32)
    return words.view(np.int64).reshape(stop - start, n_tasks)


def _block_size(n_tasks: int) -> int:
    return max(1, min(RESAMPLES, _BLOCK // n_tasks))


def _count_blocks(seed: int, n_tasks: int) -> Iterator[npt.NDArray[np.float64]]:
    """How often each task is drawn in each resample, a block of resamples at a time."""
    size = _block_size(n_tasks)
    for start in range(0, RESAMPLES, size):
        stop = min(start + size, RESAMPLES)
        drawn = resample_indices(seed, n_tasks, start=start, stop=stop)
        drawn += n_tasks * np.arange(stop - start)[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=n_tasks * (stop - start))
        yield counts.reshape(stop - start, n_tasks).astype(np.float64)


@lru_cache(maxsize=2)
def _cached_counts(seed: int, n_tasks: int) -> tuple[npt.NDArray[np.float64], ...]:
    return tuple(_count_blocks(seed, n_tasks))


def resampled_sums(
    x: npt.NDArray[Any], *, seed: int, out: npt.NDArray[np.float64] | None = None
) -> npt.NDArray[Any]:
    """Sum of x over the tasks of every resample, exact (algorithm ``bca-1``, step 3).

    Parameters
    ----------
    x : array of non-negative integers, shape (n_tasks, n_rows)
        Numerators over one denominator.
    seed : int
        0 ≤ seed < 2^64.
    out : array of float64, shape (n_rows, 10,000), optional
        Where to put sums below 2^53: who asks often is spared the making of large arrays.

    Returns
    -------
    array, shape (n_rows, 10,000)
        Integers, held as float64 while every sum stays below 2^53 and as Python integers beyond.

    Examples
    --------
    >>> sums = resampled_sums(np.array([[0], [1], [1], [2], [1]]), seed=20260101)
    >>> float(sums[0, 0])  # tasks 3, 1, 1, 2, 3 of the example of `resample_indices`
    7.0
    """
    n_tasks = x.shape[0]
    if n_tasks * int(x.max(initial=0)) < 2**53:
        return _float_sums(x.astype(np.float64), seed, out)
    bits = 52 - n_tasks.bit_length()  # a resample sums n_tasks numbers of this many bits below 2^53
    mask = (1 << bits) - 1
    rest = x.astype(object)
    total: npt.NDArray[Any] = np.zeros((x.shape[1], RESAMPLES), dtype=object)
    shift = 0
    while rest.any():
        part = _float_sums((rest & mask).astype(np.float64), seed)
        total = total + (part.astype(np.int64).astype(object) << shift)
        rest, shift = rest >> bits, shift + bits
    return total


def _float_sums(
    x: npt.NDArray[np.float64], seed: int, out: npt.NDArray[np.float64] | None = None
) -> npt.NDArray[np.float64]:
    n_tasks = x.shape[0]
    keep = n_tasks * RESAMPLES <= _KEPT
    blocks = _cached_counts(seed, n_tasks) if keep else _count_blocks(seed, n_tasks)
    sums, start = np.empty((x.shape[1], RESAMPLES)) if out is None else out, 0
    for block in steps(blocks, unit="block of resamples", total=-(-RESAMPLES // _block_size(n_tasks))):
        stop = start + len(block)
        np.matmul(x.T, block.T, out=sums[:, start:stop])
        start = stop
    return sums


def bca(
    x: npt.NDArray[Any], sums: npt.NDArray[Any], denominator: int, *, seed: int, level: float = LEVEL
) -> Interval | Absent:
    """BCa interval of a mean over tasks, algorithm ``bca-1`` steps 4 to 9 [1]_, [2]_.

    Parameters
    ----------
    x : integer array, shape (n_tasks,)
        Numerators of one row, or of one paired difference.
    sums : array, shape (10,000,)
        Their sums over the resamples, exact, from `resampled_sums` with the same `seed`.
    denominator : int
        Common denominator of x.
    seed : int
        Stated in the result.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Interval or Absent
        Bounds rounded to 6 decimals. Absent with one task or with all values equal: such data says nothing
        about spread, and an interval of no width would look like certainty.

    Examples
    --------
    >>> x = np.array([0, 0, 1, 1, 3])
    >>> interval = bca(x, resampled_sums(x[:, None], seed=20260101)[0], 3, seed=20260101)
    >>> interval.low, interval.high
    (0.066667, 0.8)
    """
    alpha = _alpha(level)
    n = len(x)
    if n == 1:
        return ONE_TASK
    if (x == x[0]).all():
        return ALL_EQUAL
    total = int(x.sum())
    below, ties = int(np.count_nonzero(sums < total)), int(np.count_nonzero(sums == total))
    if not 0 < 2 * below + ties < 2 * RESAMPLES:
        return Absent("every resample lies on one side of the estimate")
    bias = float(bias_correction(2 * below + ties))
    skew = acceleration(x, total)
    low, high = map(float, adjusted(bias, skew, alpha))
    bounds = _quantiles(sums, (low, high), n * denominator)
    return Interval(
        *bounds,
        level,
        "bca_task_bootstrap",
        seed=seed,
        resamples=RESAMPLES,
        quantile_rule=QUANTILE_RULE,
        bias=bias,
        acceleration=skew,
    )


def bias_correction(half_resamples: Any) -> Any:
    """Bias z0 of algorithm ``bca-1``, step 4 [1]_.

    Parameters
    ----------
    half_resamples : int or array of int
        Twice the resamples below the estimate, and once those equal to it; in 1..19,999.

    Returns
    -------
    float or array of float
        0 where as many lie on either side.

    Examples
    --------
    >>> float(bias_correction(10_000))
    0.0
    """
    from scipy.special import ndtri  # loading it takes longer than most commands that need no interval

    return ndtri(half_resamples / (2 * RESAMPLES))


def acceleration(x: npt.NDArray[Any], total: int) -> float:
    """Acceleration of a mean, algorithm ``bca-1``, step 5: Σ d³ / (6 (Σ d²)^{3/2}) with d = x − mean [1]_.

    Times n both sums are integers, so no sum is rounded.

    Parameters
    ----------
    x : integer array, shape (n_tasks,)
        Not all equal.
    total : int
        Its sum.

    Returns
    -------
    float

    Examples
    --------
    >>> acceleration(np.array([0, 0, 3]), 3)  # d is -1, -1, 2: 6 / (6 · 6^1.5)
    0.06804138174397717
    """
    n = len(x)
    if n * int(abs(x).max()) ** 3 >= 2**63:
        x = x.astype(object)
    second, third = int((x * x).sum()), int((x * x * x).sum())
    squares = n * second - total**2  # Σ d² times n
    cubes = n * n * third - 3 * n * total * second + 2 * total**3  # Σ d³ times n²
    ratio = Fraction(cubes * cubes, 36 * n * squares**3)
    return math.sqrt(ratio) if cubes >= 0 else -math.sqrt(ratio)


def adjusted(bias: Any, skew: Any, alpha: float) -> tuple[Any, Any]:
    """Probabilities whose quantiles are the bounds, algorithm ``bca-1``, step 6 [1]_.

    Parameters
    ----------
    bias, skew : float or array of float
        z0 and acceleration.
    alpha : float
        One minus the two-sided level.

    Returns
    -------
    tuple of float or array of float
        Of the lower and the upper bound.

    Examples
    --------
    >>> [round(float(p), 6) for p in adjusted(0.0, 0.0, 0.05)]
    [0.025, 0.975]
    """
    from scipy.special import ndtr, ndtri

    z = float(ndtri(1 - alpha / 2))
    low, high = (ndtr(bias + (bias + side) / (1 - skew * (bias + side))) for side in (-z, z))
    return low, high


def _quantiles(sums: npt.NDArray[Any], probabilities: tuple[float, float], scale: int) -> tuple[float, float]:
    """Type 7 quantiles of sums / scale, rounded as published."""
    last = len(sums) - 1

    def bound(p: float) -> float:
        h = last * p
        floor = math.floor(h)
        first, following = (int(s) / scale for s in _neighbours(sums, floor))
        return round(first + (h - floor) * (following - first), DECIMALS)

    low, high = map(bound, probabilities)
    return low, high


def _neighbours(sums: npt.NDArray[Any], k: int) -> tuple[Any, Any]:
    """The sums at 0-based places k and k + 1 of their order, the last one standing in beyond the end.

    A sample of the sums says where the places lie; only the sums there are put in order [5]_. Were the
    sample's guess too narrow, all of them are.
    """
    following = min(k + 1, len(sums) - 1)
    sample = np.sort(sums[::_SAMPLED])
    guess = k // _SAMPLED
    low = sample[max(guess - _MARGIN, 0)]
    high = sample[min(guess + _MARGIN, len(sample) - 1)]
    below = int(np.count_nonzero(sums < low))
    near = sums[(sums >= low) & (sums <= high)]
    if not below <= k <= following < below + len(near):
        below, near = 0, sums
    near = np.partition(near, (k - below, following - below))
    return near[k - below], near[following - below]


def estimate(values: Values, *, seed: int = SEED, level: float = LEVEL) -> tuple[Estimate, ...]:
    """Value and interval of every row: exact where tasks are 0 or 1, BCa over tasks otherwise.

    Parameters
    ----------
    values : Values
        One quantity of every row.
    seed : int
        Seed of the resamples, 0 ≤ seed < 2^64.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    tuple of Estimate, length n_rows

    Examples
    --------
    >>> from medgauge_lib.estimators import Values
    >>> one = estimate(Values("pass_pow_3", ("r",), np.array([[1], [0]]), 1))[0]
    >>> one.n_successes, float(one), one.interval.method
    (1, 0.5, 'clopper_pearson')
    """
    n = values.n_tasks
    if values.binary:
        counts = [int(c) for c in values.x.sum(axis=0)]
        return tuple(Estimate(Fraction(c, n), n, clopper_pearson(c, n, level=level), c) for c in counts)
    sums = resampled_sums(values.x, seed=seed)
    return tuple(
        Estimate(mean, n, bca(values.x[:, r], sums[r], values.denominator, seed=seed, level=level))
        for r, mean in enumerate(values.means())
    )
