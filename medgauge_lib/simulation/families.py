"""Boards of many rows: how often rows that are alike are told apart, and rows that differ are not.

Three procedures are held against each other on the same simulated boards: the exact McNemar test of every
pair adjusted by Holm, which the method uses; the same test without adjustment; and overlap, which tells two
rows apart where their Clopper–Pearson intervals of pass^3 are disjoint. All three look at pass^3. The
family-wise error is the probability that at least one pair of rows with the same rates is told apart; where
no two rows are alike there is none. With two rows all three have exact values beside the simulated ones.

References
----------
.. [1] Holm (1979), Scandinavian Journal of Statistics 6:65-70.
.. [2] Schenker & Gentleman (2001), The American Statistician 55:182-186 (overlap of intervals is no test).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from medgauge_lib.intervals import SEED
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.pairs import FAMILY_ALPHA
from medgauge_lib.parallel import Workers
from medgauge_lib.simulation.blocks import Block, Replications
from medgauge_lib.simulation.coverage import exact_intervals
from medgauge_lib.simulation.montecarlo import Mean, Share, columns
from medgauge_lib.simulation.power import MAX_TASKS, Contest, binomial, exact_power
from medgauge_lib.simulation.rejection import mcnemar, pair_counts
from medgauge_lib.simulation.study import ASSUMPTIONS, Design, Study
from medgauge_lib.simulation.worlds import Rates, discordant, draw_passes, require_size

if TYPE_CHECKING:
    from medgauge_lib.progress import Progress

STUDY = "families"

PROCEDURES = ("holm", "unadjusted", "overlap")

ROWS = (2, 5, 10, 20, 38)
TASKS = (50, 127)
FIRST, REST = Rates(0.8, 0.25), Rates(0.6, 0.3)
"""Levels of rows where none are given: true pass^3 of 0.64 and 0.37."""

_Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Family:
    """A board of two levels: the first half of its rows has one population of rates, the rest another.

    Attributes
    ----------
    n_rows : int
        At least 2; where odd, the first level has one row more.
    n_tasks : int
        At least 1.
    first, rest : Rates
        Of the two levels; the same where every row is alike, the global null hypothesis.
    correlation : float
        Rank correlation of the rates of any two rows over tasks, in [0, 1].
    """

    n_rows: int
    n_tasks: int
    first: Rates
    rest: Rates
    correlation: float = 0.5

    def __post_init__(self) -> None:
        require_size(self.n_rows, self.n_tasks)

    @property
    def rows(self) -> tuple[Rates, ...]:
        """Rates of every row."""
        n_first = -(-self.n_rows // 2)
        return (self.first,) * n_first + (self.rest,) * (self.n_rows - n_first)

    @property
    def differing(self) -> _Bools:
        """Whether each pair really differs, in the order of `numpy.triu_indices`, shape (n_pairs,)."""
        rows = self.rows
        i, j = np.triu_indices(self.n_rows, 1)
        return np.array([rows[a] != rows[b] for a, b in zip(i, j, strict=True)])


@dataclass(frozen=True)
class Familywise:
    """What one procedure does on boards of one kind.

    Attributes
    ----------
    family : Family
        The boards.
    procedure : str
        ``holm``, ``unadjusted`` or ``overlap``.
    error : Share
        Boards on which at least one pair of rows with the same rates is told apart; of no board where no
        two rows are alike.
    found : Mean
        Share of the pairs that really differ which is told apart; of no board where none differs.
    n_replications : int
        Boards.
    exact : float or None
        With two rows, the probability that they are told apart, by enumeration: what `error` or `found`
        simulates.
    """

    family: Family
    procedure: str
    error: Share
    found: Mean
    n_replications: int
    exact: float | None = None

    def record(self) -> dict[str, Any]:
        """Names and values of the columns of a table."""
        family = self.family
        return {
            "n_rows": family.n_rows,
            "n_tasks": family.n_tasks,
            "hypothesis": "all rows alike" if family.first == family.rest else "two levels",
            "pass_pow_3_first": float(family.first.power(N_RUNS)),
            "pass_pow_3_rest": float(family.rest.power(N_RUNS)),
            "correlation": family.correlation,
            "procedure": self.procedure,
            "n_replications": self.n_replications,
            **columns("error", self.error),
            "error_reason": "no two rows are alike" if family.differing.all() else "",
            **columns("found", self.found),
            "found_reason": "" if family.differing.any() else "no two rows differ",
            "exact": self.exact,
        }


def family_block(block: Block[Family]) -> dict[Any, int]:
    """Let every procedure judge every board of a block."""
    family = block.setting
    passes = draw_passes(
        block.stream(),
        family.rows,
        n_tasks=family.n_tasks,
        n_sets=block.size,
        correlation=family.correlation,
    )
    differing = family.differing
    tally: dict[Any, int] = {}
    for procedure, apart in judged(passes == N_RUNS).items():
        found = apart[:, differing].sum(axis=1)
        tally[procedure, "error"] = int(apart[:, ~differing].any(axis=1).sum())
        tally[procedure, "found"] = int(found.sum())
        tally[procedure, "squares"] = int((found**2).sum())
    return tally


def judged(passed: _Bools) -> dict[str, _Bools]:
    """Which pairs each procedure tells apart.

    Parameters
    ----------
    passed : array of bool, shape (n_sets, n_tasks, n_rows)
        Tasks with pass^3.

    Returns
    -------
    dict of str to array of bool, shape (n_sets, n_pairs)
        By procedure; pairs in the order of `numpy.triu_indices`.

    Examples
    --------
    >>> board = np.array([[[True, False]] * 6 + [[True, True]]])
    >>> {name: apart.tolist() for name, apart in judged(board).items()}
    {'holm': [[True]], 'unadjusted': [[True]], 'overlap': [[True]]}
    """
    n_tasks, n_rows = passed.shape[1:]
    i, j = np.triu_indices(n_rows, 1)
    wins = passed.sum(axis=1)
    test = mcnemar(n_tasks)
    ranks = test.ranks(*pair_counts(passed))
    return {
        "holm": test.holm(ranks),
        "unadjusted": ranks < test.limit(FAMILY_ALPHA),
        "overlap": _disjoint(n_tasks)[wins[:, i], wins[:, j]],
    }


@lru_cache(maxsize=64)
def _disjoint(n_tasks: int) -> _Bools:
    """Whether the Clopper–Pearson intervals of x and y successes have no point in common."""
    low, high = (np.array([getattr(one, end) for one in exact_intervals(n_tasks)]) for end in ("low", "high"))
    above: _Bools = low[:, np.newaxis] > high
    return above | above.T


def told_apart(family: Family, procedure: str) -> float:
    """Probability that a procedure tells the two rows of a board apart, by enumeration.

    Parameters
    ----------
    family : Family
        Of two rows, on at most 2,000 tasks.
    procedure : str
        One of `PROCEDURES`; with a single pair Holm adjusts nothing.

    Returns
    -------
    float

    Examples
    --------
    >>> sure, even = Rates(1.0, 0.0), Rates(0.5, 0.0)
    >>> told_apart(Family(2, 1, sure, even), "overlap")  # one task gives intervals that always meet
    0.0
    """
    a, b = family.rows
    if procedure != "overlap":
        return exact_power(Contest(a, b, family.n_tasks, correlation=family.correlation))
    n, passed = family.n_tasks, a.power(N_RUNS)
    a_alone, b_alone = discordant(a, b, correlation=family.correlation)
    # Given the tasks x that a passes, those that b passes are of the x and of the n − x others.
    after_pass = float((passed - a_alone) / passed) if passed else 0.0
    after_failure = float(b_alone / (1 - passed)) if passed < 1 else 0.0
    disjoint, wins = _disjoint(n), binomial(n, float(passed))
    terms = []
    for x in range(n + 1):
        joint = np.outer(binomial(x, after_pass), binomial(n - x, after_failure))
        y = np.add.outer(np.arange(x + 1), np.arange(n - x + 1))
        terms.append(wins[x] * math.fsum(joint[disjoint[x, y]]))
    return math.fsum(terms)


def _lines(found: Replications[Family]) -> list[Familywise]:
    family = found.setting
    differing = family.differing
    n_differing = int(differing.sum())
    return [
        Familywise(
            family,
            procedure,
            Share(found.tally[procedure, "error"], 0 if differing.all() else found.n),
            Mean(
                found.tally[procedure, "found"],
                found.tally[procedure, "squares"],
                found.n if n_differing else 0,
                n_differing or 1,
            ),
            found.n,
            told_apart(family, procedure) if family.n_rows == 2 and family.n_tasks <= MAX_TASKS else None,
        )
        for procedure in PROCEDURES
    ]


_DESIGN = Design(
    STUDY,
    family_block,
    _lines,
    (
        *ASSUMPTIONS,
        "Any two rows find a task equally hard with the stated probability, their rank correlation.",
        "A board has one level of rows, or two: half of its rows each, the odd one on the first.",
    ),
)


def families(
    boards: Sequence[Family] | None = None,
    *,
    n_replications: int = 1_000,
    seed: int = SEED,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Study[Familywise]:
    """Family-wise error of Holm, unadjusted tests and overlap, and how many real differences each finds.

    Parameters
    ----------
    boards : sequence of Family, optional
        Settings; where not given, `ROWS` by `TASKS`, all rows alike and then on two levels.
    n_replications, seed, workers, progress
        As in `coverage`.

    Returns
    -------
    Study of Familywise
        Three lines a setting, one a procedure.

    Examples
    --------
    >>> alike = Rates(0.8, 0.2)
    >>> study = families([Family(4, 20, alike, alike)], n_replications=100)
    >>> study.lines[0].procedure, study.lines[0].error.n
    ('holm', 100)
    """
    if boards is None:
        boards = [
            Family(n_rows, n_tasks, FIRST, rest)
            for rest, n_tasks, n_rows in product((FIRST, REST), TASKS, ROWS)
        ]
    return _DESIGN.run(boards, n_replications, seed=seed, workers=workers, progress=progress)
