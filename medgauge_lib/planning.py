"""Planning a benchmark: how many tasks a claim, a comparison or a difference needs.

What can be computed is computed: numbers of tasks for a bound with rationals, power by enumeration under the
assumptions of `medgauge_lib.simulation.worlds`. Simulation goes the long way, over tasks and runs, and is
reported with its Monte Carlo error beside the exact power. A plan holds as far as its assumptions do; none of
its figures is a result of a benchmark.

References
----------
.. [1] Clopper & Pearson (1934), Biometrika 26:404-413; with no failure the one-sided bound is 0.05^(1/n).
.. [2] Miettinen (1968), Biometrics 24:339-352 (power of the matched-pairs test, unconditional).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from medgauge_lib.estimators import exam_bound
from medgauge_lib.intervals import SEED
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.pairs import FAMILY_ALPHA
from medgauge_lib.parallel import Workers
from medgauge_lib.results import ALPHA, LEVEL, Absent, Tabular, as_float, as_written
from medgauge_lib.simulation.power import MAX_TASKS, Contest, Power, exact_power, exact_powers
from medgauge_lib.simulation.power import power as simulated
from medgauge_lib.simulation.study import Study
from medgauge_lib.simulation.worlds import Rates

if TYPE_CHECKING:
    from medgauge_lib.progress import Progress

THRESHOLDS = (Fraction(4, 5), Fraction(9, 10), Fraction(19, 20), Fraction(99, 100))
"""Bounds of the published illustration (methodology 0.1.0, "The exam and its bound")."""

NUMBERS = (10, 14, 20, 29, 40, 59, 80, 100, 150, 200, 299, 400, 500, 1000)
"""Numbers of tasks of the table of bounds."""

LARGEST_BOUND = Fraction(9999, 10_000)
"""A higher bound would need more than 29,956 tasks."""

NO_BOUND_WITH_FAILURES = (
    "The bound is claimed only where every task is passed in all three runs: methodology 0.1.0 makes no "
    "claim for an exam in which some task may fail."
)
"""What a reader might look for in the table of bounds."""

POWER = Fraction(4, 5)
"""Power that is usually planned for."""

_STEPS = 30
"""Halvings of the mean rate, after which a difference is known to one in a billion."""


def around(n_tasks: int) -> tuple[int, ...]:
    """Numbers of tasks worth a look beside the one that is planned: its quarters, up to twice as many.

    Examples
    --------
    >>> around(100)
    (25, 50, 75, 100, 125, 150, 175, 200)
    """
    return tuple(sorted({min(max(1, n_tasks * k // 4), MAX_TASKS) for k in range(1, 9)}))


def tasks_for_bound(bound: Fraction | float) -> int:
    """Fewest tasks whose passed exam may claim a bound: the smallest n with 0.05^(1/n) ≥ bound [1]_.

    Parameters
    ----------
    bound : Fraction or float
        In (0, 0.9999]; a double stands for the decimal number it is written as.

    Returns
    -------
    int
        Decided on integers: 0.05^(1/n) ≥ p/q exactly when 20 p^n ≤ q^n.

    Examples
    --------
    >>> [tasks_for_bound(bound) for bound in (0.80, 0.90, 0.95, 0.99)]
    [14, 29, 59, 299]
    """
    exact = as_written(bound)
    if not 0 < exact <= LARGEST_BOUND:
        raise ValueError(f"bound must be above 0 and at most {float(LARGEST_BOUND)}, but got {bound}")
    n = max(1, math.floor(math.log(ALPHA) / math.log(exact)) - 1)  # at most one too high or low
    while not _claims(n, exact):
        n += 1
    while n > 1 and _claims(n - 1, exact):
        n -= 1
    return n


def _claims(n_tasks: int, bound: Fraction) -> bool:
    """Whether 0.05^(1/n) ≥ bound."""
    return bool(bound.numerator**n_tasks <= as_written(ALPHA) * bound.denominator**n_tasks)


@dataclass(frozen=True, repr=False)
class ExamPlan(Tabular):
    """What exams of several sizes may claim.

    Attributes
    ----------
    thresholds : tuple of (Fraction, int)
        Bounds asked for, each with the fewest tasks that allow it.
    bounds : tuple of (int, float)
        Numbers of tasks, each with the bound that a passed exam may claim.
    level : float
        Confidence level of the one-sided bound.
    """

    thresholds: tuple[tuple[Fraction, int], ...]
    bounds: tuple[tuple[int, float], ...]
    level: float = LEVEL

    def to_frame(self) -> pd.DataFrame:
        """One line a bound ``asked`` for, then one a number of tasks, where that is missing."""
        lines = [(float(asked), n, exam_bound(n)) for asked, n in self.thresholds]
        lines += [(math.nan, n, bound) for n, bound in self.bounds]
        return pd.DataFrame(lines, columns=["asked", "n_tasks", "bound"])


def exam_plan(bounds: Sequence[Fraction | float] = THRESHOLDS, n_tasks: Sequence[int] = NUMBERS) -> ExamPlan:
    """Tasks needed for a claimable bound, and the bound that numbers of tasks allow.

    Parameters
    ----------
    bounds : sequence of Fraction or float
        Bounds asked for, each in (0, 0.9999].
    n_tasks : sequence of int
        Numbers of tasks, each at least 1.

    Returns
    -------
    ExamPlan

    Examples
    --------
    >>> exam_plan([0.95], [13]).to_frame().round(6)
       asked  n_tasks     bound
    0   0.95       59  0.950492
    1    NaN       13  0.794183
    """
    return ExamPlan(
        tuple((as_written(bound), tasks_for_bound(bound)) for bound in bounds),
        tuple((n, exam_bound(n)) for n in n_tasks),
    )


@dataclass(frozen=True, repr=False)
class PowerPlan(Tabular):
    """How often two rows are shown to differ, by number of tasks.

    Attributes
    ----------
    contest : Contest
        The two rows and the test, on the largest number of tasks that was asked about.
    power : Fraction
        The power that is wanted.
    needed : int or Absent
        Fewest tasks from which on there is that power.
    curve : tuple of float
        Exact power on 1, 2, … tasks.
    study : Study of Power
        Exact and simulated power on every number of tasks asked about, and on `needed`.
    needed_alone : int or Absent
        `needed` at 0.05: of Holm's last step, or of two rows alone.
    """

    contest: Contest
    power: Fraction
    needed: int | Absent
    curve: tuple[float, ...] = field(repr=False)
    study: Study[Power]
    needed_alone: int | Absent

    @property
    def difference(self) -> Fraction:
        """True difference of the two rows in pass^3."""
        return self.contest.a.power(N_RUNS) - self.contest.b.power(N_RUNS)

    def to_frame(self) -> pd.DataFrame:
        """One line a number of tasks; ``needed`` marks the fewest that reach the power wanted."""
        frame = self.study.to_frame()
        return frame.assign(power_wanted=float(self.power), needed=frame["n_tasks"] == self.needed)


def power_plan(
    a: Rates,
    b: Rates,
    n_tasks: Sequence[int],
    *,
    power: Fraction | float = POWER,
    alpha: Fraction = FAMILY_ALPHA,
    correlation: float = 0.0,
    n_replications: int = 2_000,
    seed: int = SEED,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> PowerPlan:
    """Power for two rows on several numbers of tasks, and the tasks that a power needs.

    Parameters
    ----------
    a, b : Rates
        Rates of the two rows: `Rates` for a task pass rate, `simulation.reaching` for a pass^3.
    n_tasks : sequence of int
        Each in 1..2,000.
    power : Fraction or float
        The power that is wanted, in (0, 1).
    alpha : Fraction
        Per comparison, in (0, 1); see `simulation.first_step`.
    correlation : float
        Rank correlation of the rates of the two rows over tasks, in [0, 1].
    n_replications : int
        Simulated boards for each number of tasks, at least 1.
    seed, workers, progress
        As in `simulation.power`.

    Returns
    -------
    PowerPlan

    Examples
    --------
    >>> plan = power_plan(Rates(1.0, 0.0), Rates(0.5, 0.0), [6], n_replications=250)
    >>> plan.needed, round(plan.curve[5], 4)  # (7/8)^6 on six tasks
    (8, 0.4488)
    """
    widest = Contest(a, b, max(n_tasks), alpha, correlation)
    needed = tasks_needed(widest, power=power)
    numbers = sorted({*n_tasks, *([] if isinstance(needed, Absent) else [needed])})
    last = min(MAX_TASKS, round(1.25 * numbers[-1]) + 10)
    study = simulated(
        a,
        b,
        n_tasks=numbers,
        alpha=alpha,
        correlation=correlation,
        n_replications=n_replications,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    curve = exact_powers(replace(widest, n_tasks=last))
    alone = tasks_needed(replace(widest, alpha=FAMILY_ALPHA), power=power)
    return PowerPlan(widest, as_written(power), needed, tuple(curve.tolist()), study, alone)


def tasks_needed(contest: Contest, *, power: Fraction | float = POWER) -> int | Absent:
    """Fewest tasks from which on two rows are shown to differ with a given power [2]_.

    Parameters
    ----------
    contest : Contest
        The two rows and the test; its own number of tasks does not matter.
    power : Fraction or float
        In (0, 1).

    Returns
    -------
    int or Absent
        Every larger number, up to 2,000, has the power too: the exact test moves in steps, so power may fall
        by a hair where a task is added. Absent where 2,000 tasks are too few.

    Examples
    --------
    >>> tasks_needed(Contest(Rates(1.0, 0.0), Rates(0.5, 0.0), 1))  # six tasks give (7/8)^6 = 0.45
    8
    """
    _require_power(power)
    last = 64
    while last < MAX_TASKS and exact_power(replace(contest, n_tasks=last // 2)) < power:
        last = min(2 * last, MAX_TASKS)
    short = np.flatnonzero(exact_powers(replace(contest, n_tasks=last)) < float(power))
    if len(short) and short[-1] == last - 1:
        return Absent(f"even {MAX_TASKS:,} tasks have less power")
    return int(short[-1]) + 2 if len(short) else 1


@dataclass(frozen=True)
class Detectable:
    """Minimum detectable difference on one number of tasks.

    Attributes
    ----------
    b : Rates
        Rates of the row behind.
    a : Rates or Absent
        Least rates of a row ahead, with the same spread, that is shown to differ with the power wanted.
        Absent where no row ahead with this spread has it, and where equal rows have it: the power wanted is
        then below the size of the test.
    n_tasks : int
        Tasks.
    """

    b: Rates
    a: Rates | Absent
    n_tasks: int

    @property
    def difference(self) -> Fraction | Absent:
        """Least difference in pass^3 that is shown with the power wanted."""
        return self.a if isinstance(self.a, Absent) else self.a.power(N_RUNS) - self.b.power(N_RUNS)


@dataclass(frozen=True, repr=False)
class DifferencePlan(Tabular):
    """Minimum detectable differences by number of tasks.

    Attributes
    ----------
    power : Fraction
        The power that is wanted.
    alpha : Fraction
        Per comparison.
    correlation : float
        Rank correlation of the rates of the two rows over tasks.
    lines : tuple of Detectable
        In the order of the numbers of tasks.
    """

    power: Fraction
    alpha: Fraction
    correlation: float
    lines: tuple[Detectable, ...]

    def to_frame(self) -> pd.DataFrame:
        """One line a number of tasks; an absent difference is missing, with the reason beside it."""
        return pd.DataFrame(
            [
                {
                    "n_tasks": line.n_tasks,
                    "alpha": float(self.alpha),
                    "power_wanted": float(self.power),
                    "spread": line.b.spread,
                    "correlation": self.correlation,
                    "pass_pow_3_b": float(line.b.power(N_RUNS)),
                    "pass_pow_3_a": None if isinstance(line.a, Absent) else float(line.a.power(N_RUNS)),
                    "difference": as_float(line.difference),
                    "difference_reason": str(line.a) if isinstance(line.a, Absent) else "",
                }
                for line in self.lines
            ]
        ).astype({"pass_pow_3_a": "float64", "difference": "float64"})


def difference_plan(
    b: Rates,
    n_tasks: Sequence[int],
    *,
    power: Fraction | float = POWER,
    alpha: Fraction = FAMILY_ALPHA,
    correlation: float = 0.0,
) -> DifferencePlan:
    """Least differences in pass^3 that several numbers of tasks show with a given power.

    Parameters
    ----------
    b : Rates
        Rates of the row behind; the row ahead has the same spread.
    n_tasks : sequence of int
        Each in 1..2,000.
    power : Fraction or float
        In (0, 1).
    alpha : Fraction
        Per comparison, in (0, 1); see `simulation.first_step`.
    correlation : float
        Rank correlation of the rates of the two rows over tasks, in [0, 1].

    Returns
    -------
    DifferencePlan
        By exact power, halving the mean rate of the row ahead; there is no Monte Carlo error in it.

    Examples
    --------
    >>> difference_plan(Rates(0.5, 0.0), [100]).to_frame()["difference"].round(3).tolist()
    [0.17]
    """
    _require_power(power)
    lines = tuple(
        Detectable(b, _least(Contest(b, b, n, alpha, correlation), float(power)), n) for n in n_tasks
    )
    return DifferencePlan(as_written(power), alpha, correlation, lines)


def _least(contest: Contest, power: float) -> Rates | Absent:
    """Least rates of a row ahead with the power, to one in a billion of the mean."""
    b = contest.b

    def reached(mean: float) -> bool:
        return exact_power(replace(contest, a=Rates(mean, b.spread))) >= power

    if reached(b.mean):
        return Absent("the power wanted is no more than that to show two equal rows to differ")
    # The highest mean that still allows the spread.
    low, high = b.mean, (1 + math.sqrt(1 - 4 * b.spread**2)) / 2 - (1e-9 if b.spread else 0)
    if high <= low or not reached(high):
        return Absent("no row ahead with this spread has the power")
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return Rates(high, b.spread)


def _require_power(power: Fraction | float) -> None:
    if not 0 < power < 1:
        raise ValueError(f"power must lie strictly between 0 and 1, but got {power}; write 0.8 for 80 %")
