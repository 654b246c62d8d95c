"""How simulated runs arise: tasks are drawn, each as hard as it is, and every row runs each task three times.

A task has a rate for every row: the probability that one of the row's runs passes. Over tasks the rates of a
row follow a Beta distribution with a given mean and standard deviation, the *spread between tasks*, held as
1,024 equally likely levels so that every true value is known exactly. Given its rate, a task's runs are
independent of each other and of other tasks. Rows are correlated through the difficulty of the task: for two
rows a task is equally hard, that is at the same level of either, with probability `correlation`, which is
then the rank correlation of their rates; otherwise its levels are independent.

No person or program of the world learns, tires or is changed between runs, tasks are drawn without end from
one population, and no run is void. Real boards differ in each of these.

References
----------
.. [1] Nelsen (2006), "An introduction to copulas", exercise 2.4 (mixture of the independent and the
   comonotone copula; its Spearman correlation is the mixing probability, example 5.7).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from medgauge_lib.outcomes import N_RUNS

if TYPE_CHECKING:
    from medgauge_lib.simulation.blocks import Stream

LEVELS = 1024
"""Equally likely rates that stand for a Beta distribution; a power of two, so that 10 bits choose one."""

UNIT = 2**32
"""Denominator of a simulated rate: a run passes when a 32-bit word is below its numerator."""

LEAST_SPREAD = 1e-4
"""Smallest spread but 0, a hundredth of a percentage point: quantiles of narrower Beta distributions take
seconds to hours to compute, or have no value."""

_Ints = npt.NDArray[np.int64]


def require_share(name: str, value: float) -> None:
    """Require an argument to lie in [0, 1]."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in 0..1, but got {value}; write 0.95 for 95 %")


def require_size(n_rows: int, n_tasks: int) -> None:
    """Require a board to have something to compare."""
    if n_rows < 2 or n_tasks < 1:
        raise ValueError(f"n_rows must be at least 2 and n_tasks at least 1, but got {n_rows} and {n_tasks}")


@dataclass(frozen=True)
class Rates:
    """Rates of tasks: a Beta distribution with this mean and standard deviation, on `LEVELS` levels.

    Attributes
    ----------
    mean : float
        In [0, 1].
    spread : float
        Standard deviation between tasks; from 0.0001 to below sqrt(mean (1 − mean)), and 0 where all tasks
        are alike.

    Examples
    --------
    >>> alike = Rates(0.5, 0.0)
    >>> alike.power(1), alike.power(3)
    (Fraction(1, 2), Fraction(1, 8))
    """

    mean: float
    spread: float

    def __post_init__(self) -> None:
        require_share("mean", self.mean)
        largest = math.sqrt(self.mean * (1 - self.mean))
        if self.spread != 0 and not LEAST_SPREAD <= self.spread < largest:
            raise ValueError(
                f"spread must be 0, or at least {LEAST_SPREAD} and below sqrt(mean (1 - mean)) = "
                f"{largest:.4g} for a mean of {self.mean}, but got {self.spread}"
            )
        _levels(self.mean, self.spread)  # refuses what has no quantiles

    @property
    def levels(self) -> _Ints:
        """Numerators of the levels over 2^32, ascending, shape (1024,)."""
        return _levels(self.mean, self.spread)

    def power(self, k: int) -> Fraction:
        """Probability that k runs of a task all pass, over tasks: the mean of rate^k, exact.

        Parameters
        ----------
        k : int
            At least 1; 1 gives the true task pass rate, 3 the true pass^3.

        Returns
        -------
        Fraction
        """
        return Fraction(sum(level**k for level in self.levels.tolist()), LEVELS * UNIT**k)


@lru_cache(maxsize=256)
def _levels(mean: float, spread: float) -> _Ints:
    """Quantiles of the Beta distribution at the middles of 1,024 equal parts, as integers over 2^32."""
    if not spread:
        return np.full(LEVELS, round(mean * UNIT))
    both = mean * (1 - mean) / spread**2 - 1  # a + b of the Beta distribution
    middles = (np.arange(LEVELS) + 0.5) / LEVELS
    quantiles = betaincinv(mean * both, (1 - mean) * both, middles)
    if not np.isfinite(quantiles).all():
        raise ValueError(
            f"a mean of {mean} and a spread of {spread} have no finite quantiles; "
            "choose a spread further from its limits"
        )
    return np.rint(quantiles * UNIT).astype(np.int64)


def agreeing(mean: float, agreement: float) -> Rates:
    """Rates with a given correlation between two runs of the same task.

    Parameters
    ----------
    mean : float
        In [0, 1].
    agreement : float
        Intraclass correlation of runs: spread² / (mean (1 − mean)), in [0, 1).

    Returns
    -------
    Rates

    Examples
    --------
    >>> agreeing(0.5, 0.25).spread
    0.25
    """
    require_share("agreement", agreement)
    return Rates(mean, math.sqrt(agreement * mean * (1 - mean)))


def reaching(pass_pow_3: float, spread: float) -> Rates:
    """Rates with a given pass^3.

    Parameters
    ----------
    pass_pow_3 : float
        In [0, 1].
    spread : float
        Standard deviation of the rate between tasks: 0, or from 0.0001 to below 0.5.

    Returns
    -------
    Rates
        Their ``power(3)`` is `pass_pow_3` to within 1e-6.

    Raises
    ------
    ValueError
        Where no mean allows both: with some spread, pass^3 cannot be close to 0 or 1.

    Examples
    --------
    >>> round(reaching(0.125, 0.0).mean, 6)
    0.5
    """
    require_share("pass_pow_3", pass_pow_3)
    if not spread:
        return Rates(pass_pow_3 ** (1 / N_RUNS), 0.0)
    if not LEAST_SPREAD <= spread < 0.5:
        raise ValueError(f"spread must be 0, or at least {LEAST_SPREAD} and below 0.5, but got {spread}")
    edge = (1 - math.sqrt(1 - 4 * spread**2)) / 2  # the least mean that allows the spread
    low, high = math.nextafter(edge + 1e-9, 1), 1 - edge - 1e-9
    reached = [float(Rates(mean, spread).power(N_RUNS)) for mean in (low, high)]
    if not reached[0] <= pass_pow_3 <= reached[1]:
        raise ValueError(
            f"pass_pow_3 must lie in {reached[0]:.3g}..{reached[1]:.3g} for a spread of {spread}, "
            f"but got {pass_pow_3}; lower the spread"
        )
    while high - low > 1e-8:
        middle = (low + high) / 2
        if float(Rates(middle, spread).power(N_RUNS)) < pass_pow_3:
            low = middle
        else:
            high = middle
    return Rates((low + high) / 2, spread)


def sharing(correlation: float) -> int:
    """Numerator over 2^32 of the probability that a row takes the task's own level.

    Two rows take it both with probability `correlation`; so each does with its root.
    """
    require_share("correlation", correlation)
    return round(math.sqrt(correlation) * UNIT)


def draw_levels(stream: Stream, *, n_tasks: int, n_rows: int, n_sets: int, correlation: float) -> _Ints:
    """Levels of tasks, 0 the hardest.

    Parameters
    ----------
    stream : Stream
        Where the words come from.
    n_tasks, n_rows, n_sets : int
        Size of a data set, and how many of them.
    correlation : float
        Rank correlation of any two rows, in [0, 1].

    Returns
    -------
    array of int, shape (n_sets, n_tasks, n_rows)
        In 0..1,023, each as likely.
    """
    shape = (n_sets, n_tasks, n_rows)
    own = stream.words(*shape) >> 22
    if not correlation:
        return own
    common = stream.words(n_sets, n_tasks, 1) >> 22
    return np.where(stream.words(*shape) < sharing(correlation), common, own)


def draw_passes(
    stream: Stream, rows: tuple[Rates, ...], *, n_tasks: int, n_sets: int, correlation: float = 0.0
) -> _Ints:
    """Passing runs of every task of simulated data sets.

    Parameters
    ----------
    stream : Stream
        Where the words come from.
    rows : tuple of Rates
        One a row.
    n_tasks, n_sets : int
        Tasks of a data set, and data sets.
    correlation : float
        Rank correlation of the rates of any two rows, in [0, 1].

    Returns
    -------
    array of int, shape (n_sets, n_tasks, n_rows)
        In 0..3.

    Examples
    --------
    >>> from medgauge_lib.simulation.blocks import Stream
    >>> draw_passes(Stream(1, "x", None, 0), (Rates(1.0, 0.0), Rates(0.0, 0.0)), n_tasks=2, n_sets=1).tolist()
    [[[3, 0], [3, 0]]]
    """
    levels = draw_levels(stream, n_tasks=n_tasks, n_rows=len(rows), n_sets=n_sets, correlation=correlation)
    rates = np.stack([row.levels for row in rows])[np.arange(len(rows)), levels]
    passes = np.zeros(levels.shape, dtype=np.int64)
    for _ in range(N_RUNS):
        passes += stream.words(*levels.shape) < rates
    return passes


def discordant(a: Rates, b: Rates, *, correlation: float) -> tuple[Fraction, Fraction]:
    """Probability that a task has pass^3 for a alone, and for b alone, exact.

    Parameters
    ----------
    a, b : Rates
        Of the two rows.
    correlation : float
        Rank correlation of their rates, in [0, 1].

    Returns
    -------
    tuple of Fraction

    Examples
    --------
    >>> discordant(Rates(1.0, 0.0), Rates(0.5, 0.0), correlation=0.0)
    (Fraction(7, 8), Fraction(0, 1))
    """
    together = Fraction(sharing(correlation), UNIT) ** 2
    of_a, of_b = a.power(N_RUNS), b.power(N_RUNS)
    cubes = UNIT**N_RUNS
    both = Fraction(
        sum(x**N_RUNS * y**N_RUNS for x, y in zip(a.levels.tolist(), b.levels.tolist(), strict=True)),
        LEVELS * cubes * cubes,
    )
    joint = together * both + (1 - together) * of_a * of_b
    return of_a - joint, of_b - joint
