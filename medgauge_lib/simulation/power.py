"""Power of the paired comparison by number of tasks: how often two rows that differ are shown to.

A task is discordant when one row alone passes all three runs. Tasks are independent draws, so the numbers of
tasks that either row wins alone are multinomial, and power is a finite sum over them: the exact value stands
beside the simulated one, which goes the long way over tasks and runs.

References
----------
.. [1] Miettinen (1968), Biometrics 24:339-352 (power of the matched-pairs test, unconditional).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

from medgauge_lib.intervals import SEED
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.pairs import FAMILY_ALPHA
from medgauge_lib.parallel import Workers
from medgauge_lib.results import as_written
from medgauge_lib.simulation.blocks import Block, Replications
from medgauge_lib.simulation.montecarlo import Share, columns
from medgauge_lib.simulation.rejection import critical_counts
from medgauge_lib.simulation.study import ASSUMPTIONS, Design, Study
from medgauge_lib.simulation.worlds import Rates, discordant, draw_passes

if TYPE_CHECKING:
    from medgauge_lib.progress import Progress

STUDY = "power"

MAX_TASKS = 2_000
"""Tasks up to which power is computed."""

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Contest:
    """Two rows compared once.

    Attributes
    ----------
    a, b : Rates
        Of the two rows.
    n_tasks : int
        In 1..2,000.
    alpha : Fraction
        What the exact p of the pair must not exceed: 0.05 for two rows; 0.05 / m for the first step of Holm
        among m pairs, which at least one pair of a board must pass before any is shown to differ.
    correlation : float
        Rank correlation of their rates over tasks, in [0, 1].
    """

    a: Rates
    b: Rates
    n_tasks: int
    alpha: Fraction = FAMILY_ALPHA
    correlation: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.n_tasks <= MAX_TASKS:
            raise ValueError(f"n_tasks must lie in 1..{MAX_TASKS:,}, but got {self.n_tasks}")
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must lie strictly between 0 and 1, but got {self.alpha}")


@dataclass(frozen=True)
class Power:
    """How often a contest ends with the rows shown to differ.

    Attributes
    ----------
    contest : Contest
        What was simulated.
    pass_pow_3 : tuple of Fraction
        True pass^3 of the two rows.
    shown : Share
        Replications whose exact p is at most alpha, whichever row is ahead.
    exact : float
        The same probability by enumeration.
    """

    contest: Contest
    pass_pow_3: tuple[Fraction, Fraction]
    shown: Share
    exact: float

    def record(self) -> dict[str, Any]:
        """Names and values of the columns of a table."""
        a, b = self.contest.a, self.contest.b
        return {
            "n_tasks": self.contest.n_tasks,
            "alpha": float(self.contest.alpha),
            "mean_a": a.mean,
            "spread_a": a.spread,
            "mean_b": b.mean,
            "spread_b": b.spread,
            "correlation": self.contest.correlation,
            "pass_pow_3_a": float(self.pass_pow_3[0]),
            "pass_pow_3_b": float(self.pass_pow_3[1]),
            "n_replications": self.shown.n,
            **columns("power", self.shown),
            "exact": self.exact,
        }


def contest_block(block: Block[Contest]) -> dict[str, int]:
    """Count the data sets of a block whose exact p is at most alpha."""
    contest = block.setting
    passed = draw_passes(
        block.stream(),
        (contest.a, contest.b),
        n_tasks=contest.n_tasks,
        n_sets=block.size,
        correlation=contest.correlation,
    )
    ahead = passed == N_RUNS
    b = (ahead[:, :, 0] & ~ahead[:, :, 1]).sum(axis=1)
    c = (ahead[:, :, 1] & ~ahead[:, :, 0]).sum(axis=1)
    critical = critical_counts(contest.n_tasks, contest.alpha)
    return {"shown": int((np.minimum(b, c) <= critical[b + c]).sum())}


def exact_power(contest: Contest) -> float:
    """Power by enumeration: over the number m of discordant tasks, and who wins them [1]_.

    Parameters
    ----------
    contest : Contest
        The two rows and the test.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> sure, even = Rates(1.0, 0.0), Rates(0.5, 0.0)
    >>> round(exact_power(Contest(sure, even, 6)), 6), round((7 / 8) ** 6, 6)  # all six tasks must be won
    (0.448795, 0.448795)
    """
    return float(_exact(contest, (contest.n_tasks,))[0])


def exact_powers(contest: Contest) -> _Floats:
    """`exact_power` of a contest on 1, 2, … tasks up to its own number.

    Parameters
    ----------
    contest : Contest
        The two rows, the test and the largest number of tasks.

    Returns
    -------
    array of float, shape (n_tasks,)
        In [0, 1].

    Examples
    --------
    >>> sure, never = Rates(1.0, 0.0), Rates(0.0, 0.0)
    >>> exact_powers(Contest(sure, never, 7)).tolist()  # six tasks, all one way
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    """
    return _exact(contest, range(1, contest.n_tasks + 1))


def _exact(contest: Contest, numbers: Sequence[int]) -> _Floats:
    """Power on so many tasks each: what m discordant tasks give is the same however many tasks there are."""
    for_a, for_b = discordant(contest.a, contest.b, correlation=contest.correlation)
    either = for_a + for_b
    if not either:
        return np.zeros(len(numbers))
    critical = critical_counts(contest.n_tasks, contest.alpha)
    m = np.flatnonzero(critical >= 0)
    share, shown = for_a / either, np.zeros(contest.n_tasks + 1)
    shown[m] = bdtr(critical[m], m, float(share)) + bdtr(critical[m], m, float(1 - share))
    # A sum that is rounded once does not depend on the order of its terms, which differs between machines.
    found = [math.fsum(binomial(n, float(either)) * shown[: n + 1]) for n in numbers]
    return np.minimum(found, 1.0)


def binomial(n: int, p: float) -> _Floats:
    """Probabilities of 0..n successes, as differences of the distribution function."""
    return np.diff(bdtr(np.arange(n + 1), n, p), prepend=0.0)


def first_step(n_rows: int) -> Fraction:
    """Alpha of Holm's first step on a board: 0.05 / m, m its number of pairs.

    Parameters
    ----------
    n_rows : int
        At least 2.

    Returns
    -------
    Fraction

    Examples
    --------
    >>> first_step(38)
    Fraction(1, 14060)
    """
    if n_rows < 2:
        raise ValueError(f"n_rows must be at least 2, but got {n_rows}")
    return FAMILY_ALPHA / math.comb(n_rows, 2)


def _lines(found: Replications[Contest]) -> list[Power]:
    contest = found.setting
    truth = contest.a.power(N_RUNS), contest.b.power(N_RUNS)
    return [Power(contest, truth, Share(found.tally["shown"], found.n), exact_power(contest))]


_DESIGN = Design(STUDY, contest_block, _lines, ASSUMPTIONS)


def power(
    a: Rates,
    b: Rates,
    *,
    n_tasks: int | Sequence[int],
    alpha: Fraction | float | Sequence[Fraction | float] = FAMILY_ALPHA,
    correlation: float = 0.0,
    n_replications: int = 2_000,
    seed: int = SEED,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Study[Power]:
    """Power of the exact McNemar test on pass^3 for two rows, by number of tasks.

    Parameters
    ----------
    a, b : Rates
        Rates of the two rows: `Rates` for a given task pass rate, `reaching` for a given pass^3.
    n_tasks : int or sequence of int
        Each in 1..2,000.
    alpha : Fraction or float, or sequence of them
        Per comparison, in (0, 1): `first_step` of m pairs for the first step of Holm among them.
    correlation : float
        Rank correlation of the rates of the two rows over tasks, in [0, 1].
    n_replications, seed, workers, progress
        As in `coverage`.

    Returns
    -------
    Study of Power
        One line an alpha and number of tasks.

    Examples
    --------
    >>> found = power(Rates(1.0, 0.0), Rates(0.5, 0.0), n_tasks=6, n_replications=250).lines[0]
    >>> interval = found.shown.interval
    >>> interval.low <= found.exact <= interval.high
    True
    """
    numbers = (n_tasks,) if isinstance(n_tasks, int) else tuple(n_tasks)
    levels = (alpha,) if isinstance(alpha, (Fraction, float)) else tuple(alpha)
    settings = [Contest(a, b, n, as_written(level), correlation) for level, n in product(levels, numbers)]
    return _DESIGN.run(settings, n_replications, seed=seed, workers=workers, progress=progress)
