"""Intervals of many simulated data sets at once, to the digit those of `medgauge_lib.intervals`.

All data sets of a block have the same number of tasks and so share the resamples, as the rows of a board do:
their resampled sums are one matrix product. Simulated values have small denominators, so the sums of a data
set take few values; counting them gives ranks, ties and order statistics without sorting anything.

Bounds are integers, in millionths: that is what a published bound is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from medgauge_lib.intervals import (
    DECIMALS,
    RESAMPLES,
    acceleration,
    adjusted,
    bias_correction,
    resampled_sums,
)
from medgauge_lib.results import ALPHA

MICRO = 10**DECIMALS
"""Denominator of a bound."""

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]

_CHUNK = 2**18
"""Resampled sums of a chunk of data sets: 2 MiB as float64, so that they are counted inside the cache."""

TIE_RULES: Mapping[str, Callable[[_Ints, _Ints], _Ints]] = {
    "bca_half": lambda below, ties: 2 * below + ties,
    "bca_strict": lambda below, ties: 2 * below,
    "bca_uncorrected": lambda below, ties: np.full_like(below, RESAMPLES),
}
"""Tie rules of the bias z0 = Φ⁻¹(half resamples / 20,000), by the name of the interval.

``bca_half`` counts a resample equal to the estimate as half below it: algorithm ``bca-1``. ``bca_strict``
counts it as not below. ``bca_uncorrected`` counts nothing: z0 is 0, and only the acceleration moves the
bounds.
"""

METHODS = (*TIE_RULES, "percentile")
"""The resampled intervals that are compared."""


@dataclass(frozen=True)
class Bounds:
    """Intervals of many data sets by one method.

    Attributes
    ----------
    low, high : array of int, shape (n_sets,)
        In millionths; 0 where undefined.
    defined : array of bool, shape (n_sets,)
        Whether there is an interval.
    """

    low: _Ints
    high: _Ints
    defined: npt.NDArray[np.bool_]

    def coverage(self, truth: Fraction) -> dict[str, int]:
        """Count the intervals that hold a value, lie below it, lie above it, or do not exist.

        Parameters
        ----------
        truth : Fraction
            The true value.

        Returns
        -------
        dict
            ``covered``, ``too_low``, ``too_high`` and ``undefined``, which add up to n_sets.
        """
        scaled = truth * MICRO
        too_low = self.defined & (self.high < -(-scaled.numerator // scaled.denominator))
        too_high = self.defined & (self.low > scaled.numerator // scaled.denominator)
        counts = {
            "too_low": int(too_low.sum()),
            "too_high": int(too_high.sum()),
            "undefined": int((~self.defined).sum()),
        }
        return {"covered": len(self.low) - sum(counts.values()), **counts}

    def widths(self) -> _Ints:
        """Width of every interval that there is, in millionths."""
        return (self.high - self.low)[self.defined]


def bounds(x: _Ints, denominator: int, *, seed: int, methods: tuple[str, ...] = METHODS) -> dict[str, Bounds]:
    """Intervals of the mean of every data set.

    Parameters
    ----------
    x : integer array, shape (n_tasks, n_sets)
        Numerators, not negative.
    denominator : int
        Common to all.
    seed : int
        Of the resamples, 0 ≤ seed < 2^64.
    methods : tuple of str
        Some of `METHODS`.

    Returns
    -------
    dict of str to Bounds
        By method. A data set of one task or with all values equal has no interval by any of them; nor has a
        BCa interval a data set whose resamples, as its tie rule counts them, all lie on one side.

    Examples
    --------
    >>> found = bounds(np.array([[0, 2], [0, 2], [1, 2], [1, 2], [3, 2]]), 3, seed=20260101)["bca_half"]
    >>> found.low[0], found.high[0], found.defined.tolist()  # the example of `medgauge_lib.intervals.bca`
    (np.int64(66667), np.int64(800000), [True, False])
    """
    n_tasks, n_sets = x.shape
    spread = (x != x[0]).any(axis=0)
    totals = x.sum(axis=0)
    skew = np.array([acceleration(x[:, k], int(totals[k])) if spread[k] else 0.0 for k in range(n_sets)])
    parts: dict[str, list[Bounds]] = {method: [] for method in methods}
    for chosen, counted in _counted(x, seed):
        for method in methods:
            parts[method].append(
                _bounds(counted, method, totals[chosen], skew[chosen], spread[chosen], n_tasks * denominator)
            )
    return {method: _joined(found) for method, found in parts.items()}


def _joined(parts: list[Bounds]) -> Bounds:
    return Bounds(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("low", "high", "defined"))
    )


class _Counted:
    """Resampled sums of some data sets, counted by value; the sums are overwritten."""

    def __init__(self, sums: _Ints, largest: int) -> None:
        self.width = largest + 1
        sums += (
            self.width * np.arange(len(sums))[:, np.newaxis]
        )  # the places of set i come after those of i − 1
        # Every data set has as many sums, so one running total serves all: set i begins at i · RESAMPLES.
        self.upto = np.cumsum(np.bincount(sums.ravel(), minlength=self.width * len(sums)))
        self.sets = np.arange(len(sums))

    def not_above(self, value: _Ints) -> _Ints:
        """Sums of each data set that are at most `value`, which is at least −1."""
        inside = self.sets * self.width + np.maximum(value, 0)
        return np.where(value < 0, 0, self.upto[inside] - self.sets * RESAMPLES)

    def at(self, place: _Ints) -> _Floats:
        """The sum at a 0-based place of the order of each data set."""
        found = np.searchsorted(self.upto, self.sets * RESAMPLES + place, side="right")
        return (found - self.sets * self.width).astype(np.float64)


def _counted(x: _Ints, seed: int) -> Iterator[tuple[slice, _Counted]]:
    """Count the resampled sums, a chunk of data sets at a time."""
    largest = x.shape[0] * int(x.max(initial=0))
    size = max(1, _CHUNK // RESAMPLES)
    # Used again for every chunk: pages that are new cost more than the sums themselves.
    room = np.empty((size, RESAMPLES))
    places = np.empty((size, RESAMPLES), dtype=np.int64)
    for start in range(0, x.shape[1], size):
        chosen = slice(start, start + size)
        part = x[:, chosen]
        sums = resampled_sums(part, seed=seed, out=room[: part.shape[1]])
        whole = places[: part.shape[1]]
        whole[:] = sums
        yield chosen, _Counted(whole, largest)


def _bounds(
    counted: _Counted, method: str, totals: _Ints, skew: _Floats, spread: npt.NDArray[np.bool_], scale: int
) -> Bounds:
    if method == "percentile":
        defined = spread
        probabilities: tuple[Any, Any] = (ALPHA / 2, 1 - ALPHA / 2)
    else:
        below = counted.not_above(totals - 1)
        half_resamples = TIE_RULES[method](below, counted.not_above(totals) - below)
        defined = spread & (half_resamples > 0) & (half_resamples < 2 * RESAMPLES)
        bias = bias_correction(np.where(defined, half_resamples, RESAMPLES))
        probabilities = adjusted(bias, skew, ALPHA)
    low, high = (_quantile(counted, np.broadcast_to(p, totals.shape), scale) for p in probabilities)
    return Bounds(np.where(defined, low, 0), np.where(defined, high, 0), defined)


def _quantile(counted: _Counted, p: _Floats, scale: int) -> _Ints:
    """Type 7 quantile of each data set, in millionths."""
    h = (RESAMPLES - 1) * p
    floor = np.floor(h)
    place = floor.astype(np.int64)
    first = counted.at(place) / scale
    following = counted.at(np.minimum(place + 1, RESAMPLES - 1)) / scale
    values = (first + (h - floor) * (following - first)).tolist()
    # NumPy's rounding is not that of the published bounds: it multiplies first.
    return np.array([round(round(value, DECIMALS) * MICRO) for value in values], dtype=np.int64)
