"""Difficulty: figures by structural class 1 to 4, and how many tasks carry which label.

Classes are ordered by the structure of the tasks and never averaged; whether a harder class has the higher
figure is told as a fact. With the closed labels a stratum is recomputed from runs, with intervals; without
them it is what the record publishes. Under ``public`` a stratum is recomputed where the records already tell
every class, since then it tells nothing new, or where every task could change places with a task of another
class that has the same outcomes in every row, since then no label follows from any figure. Otherwise figures
of classes are those that the records publish, and nothing more.

References
----------
.. [1] Methodology 0.1.0, "The ten dimensions" (M4), "Intervals" and "Recomputation", decision 9.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from medgauge_lib.board import Board, Row
from medgauge_lib.checks import agrees, decimals_of
from medgauge_lib.estimators import Values, values
from medgauge_lib.inference import PublishedStratum, tells_every_class
from medgauge_lib.intervals import clopper_pearson, estimate
from medgauge_lib.labels import CLASSES, DIFFICULTY, Label, Labels, Publish
from medgauge_lib.outcomes import N_RUNS, Outcomes, outcomes
from medgauge_lib.records import RecordSet
from medgauge_lib.results import Absent, Estimate, Tabular, as_float, as_written
from medgauge_lib.schema import near

Provenance = Literal["recomputed", "as published"]

FEWEST = 5
"""Tasks that a class must have for its recomputed figures to be public."""

UNROUNDED = 15
"""Significant digits from which a number is a double as a program wrote it."""

FEWEST_IN_CELL = 2
"""Tasks that must share a label for their count to be public."""

NO_STRATUM = Absent("not applicable: the record publishes no such stratum")
NO_TASK = Absent("no task of this class")
WITHHELD = Absent("withheld: it would tell more about single tasks than the records do")
NO_LABELS = Absent("needs the labels of the tasks")
FEW_TASKS = Absent(f"withheld: fewer than {FEWEST} tasks")

TOLD = (
    "The strata that these records publish already tell the class of every task to anyone who solves for it "
    "from the public runs. Whoever wants classes closed must publish strata of fewer rows."
)
UNCOUNTED = (
    "How many tasks carry which label, or none, is withheld: these records publish strata of some classes, "
    "and counts would tell the class of tasks that are left over."
)
UNPUBLISHED = (
    "Strata that a record does not publish are withheld: labels of single tasks would follow from them."
)

_RATES = ("pass_pow_3", "task_pass_rate")


@dataclass(frozen=True)
class Stratum:
    """Figures of one row over the tasks of one class.

    Attributes
    ----------
    difficulty : int
        Class, 1 to 4.
    n_tasks : int or Absent
        Tasks of the class that count for the row.
    pass_pow_3 : Estimate or Absent
        With its exact interval, where one count alone stands behind it.
    task_pass_rate : Estimate or Absent
        With its BCa interval where labels are given.
    provenance : str
        ``recomputed`` from runs and labels, or ``as published``.
    remark : str
        Where the record publishes something else than is recomputed; empty otherwise.
    """

    difficulty: int
    n_tasks: int | Absent
    pass_pow_3: Estimate | Absent
    task_pass_rate: Estimate | Absent
    provenance: Provenance
    remark: str = ""


@dataclass(frozen=True)
class Rise:
    """Two neighbouring classes of which the harder one has the higher pass^3.

    Attributes
    ----------
    easier, harder : int
        Classes; neighbours among those with a figure.
    difference : Fraction
        pass^3 of the harder less that of the easier, in (0, 1]. It is no test of anything.
    """

    easier: int
    harder: int
    difference: Fraction


@dataclass(frozen=True)
class Strata:
    """Strata of one row, classes 1 to 4.

    Attributes
    ----------
    id, label : str
        The row.
    strata : tuple of Stratum, length 4
        The easiest class first.
    """

    id: str
    label: str
    strata: tuple[Stratum, ...]

    @property
    def rises(self) -> tuple[Rise, ...]:
        """Neighbouring classes where pass^3 rises although the class is harder; empty where none does."""
        known = [
            (s.difficulty, s.pass_pow_3.value) for s in self.strata if isinstance(s.pass_pow_3, Estimate)
        ]
        pairs = pairwise(known)
        return tuple(Rise(a, b, high - low) for (a, low), (b, high) in pairs if high > low)

    @property
    def monotone(self) -> bool | Absent:
        """Whether no harder class has the higher pass^3; absent with fewer than two classes to compare."""
        known = sum(isinstance(stratum.pass_pow_3, Estimate) for stratum in self.strata)
        return not self.rises if known > 1 else Absent("fewer than two classes with a figure")


@dataclass(frozen=True)
class Distribution:
    """How many tasks of the board carry which label of one family.

    Attributes
    ----------
    family : str
        Name of the family.
    counts : tuple of (label, int)
        Labels ascending, with the tasks that carry each.
    n_withheld : int
        Tasks whose label is counted nowhere, because too few share it.
    n_unlabelled : int
        Tasks that carry no label of the family.
    reason : str
        Why tasks are withheld; empty where none is.
    """

    family: str
    counts: tuple[tuple[Label, int], ...]
    n_withheld: int
    n_unlabelled: int
    reason: str = ""


@dataclass(frozen=True, repr=False)
class Difficulty(Tabular):
    """Strata of every row of a board, and the tasks behind them. No task key is in it.

    Attributes
    ----------
    benchmark, benchmark_version, subset : str
        What the strata are of; subsets are never pooled.
    publish : str
        ``public`` or ``internal``.
    rows : tuple of Strata
        In board order, unranked rows last.
    distributions : tuple of Distribution
        Of each family of labels over the tasks of the board, ``difficulty`` first; empty without labels.
    notes : tuple of str
        What a reader must know, a sentence each.
    """

    benchmark: str
    benchmark_version: str
    subset: str
    publish: Publish
    rows: tuple[Strata, ...]
    distributions: tuple[Distribution, ...]
    notes: tuple[str, ...]

    def row(self, record: str) -> Strata:
        """Strata of a record id."""
        for row in self.rows:
            if row.id == record:
                return row
        raise KeyError(f"{record!r} is no row of this board; {near(record, [row.id for row in self.rows])}")

    def to_frame(self) -> pd.DataFrame:
        """One line a row and class; absent figures missing, with the reason beside them."""
        lines = [_line(row, stratum) for row in self.rows for stratum in row.strata]
        return pd.DataFrame(lines).astype({"n_tasks": "Int64", "n_successes": "Int64"})

    def counts_frame(self) -> pd.DataFrame:
        """One line a class with the tasks that the rows state for it, and how many rows state so."""
        stated = [
            (stratum.difficulty, stratum.n_tasks, stratum.provenance)
            for row in self.rows
            for stratum in row.strata
            if isinstance(stratum.n_tasks, int)
        ]
        lines = [(*case, stated.count(case)) for case in sorted(set(stated))]
        return pd.DataFrame(lines, columns=["difficulty", "n_tasks", "provenance", "n_rows"])

    def distributions_frame(self) -> pd.DataFrame:
        """One line a family and label, then its tasks withheld and without a label."""
        lines = [
            (found.family, kind, label, n, reason)
            for found in self.distributions
            for kind, label, n, reason in (
                *(("label", str(label), n, "") for label, n in found.counts),
                ("withheld", None, found.n_withheld, found.reason),
                ("without a label", None, found.n_unlabelled, ""),
            )
            if n
        ]
        return pd.DataFrame(lines, columns=["family", "kind", "value", "n_tasks", "reason"])

    def rises_frame(self) -> pd.DataFrame:
        """One line a row and pair of neighbouring classes where pass^3 rises."""
        lines = [
            (row.id, row.label, rise.easier, rise.harder, float(rise.difference))
            for row in self.rows
            for rise in row.rises
        ]
        return pd.DataFrame(lines, columns=["id", "label", "easier", "harder", "difference"])


def difficulty(
    records: RecordSet, board: Board, labels: Labels | None = None, *, publish: Publish = "public"
) -> Difficulty:
    """Figures by class of difficulty, for every row of a board.

    Parameters
    ----------
    records : RecordSet
        The records the board was computed from.
    board : Board
        Gives the subset, the rows and their order, and the seed.
    labels : Labels, optional
        Labels of the closed side. Without them strata are as published.
    publish : {"public", "internal"}
        ``public`` keeps back whatever would tell more about single tasks than the records do.

    Returns
    -------
    Difficulty

    Raises
    ------
    ValueError
        If `publish` is neither.

    Notes
    -----
    A published pass^3 is a count over n. Where no count gives the rate at its precision, the figure is absent
    with that reason; where several do, it stands as published, without a count and an exact interval.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> from medgauge_lib.board import board
    >>> records = demo.record_set("bm-demo-ward", "1.0.0")
    >>> first = difficulty(records, board(records)).rows[0].strata[0]
    >>> first.n_tasks, first.provenance, first.pass_pow_3.interval.method
    (14, 'as published', 'clopper_pearson')
    """
    if publish not in get_args(Publish):
        raise ValueError(f"publish must be one of {', '.join(get_args(Publish))}, but got {publish!r}")
    taken = list(_outcomes(records, board))
    policy = _policy(records, board, labels, publish, [found for _, found in taken])
    rows = tuple(
        Strata(row.id, row.label, _strata(records, board, row, found, labels, policy)) for row, found in taken
    )
    return Difficulty(
        benchmark=board.benchmark,
        benchmark_version=board.benchmark_version,
        subset=board.subset,
        publish=publish,
        rows=rows,
        distributions=_distributions(labels, board.outcomes.tasks, policy) if labels else (),
        notes=_notes(records, board, rows, labels, policy),
    )


class _Policy(NamedTuple):
    """What may be shown.

    ``inside``: everything. ``told``: of these tasks everything, since the records tell their classes.
    ``exchangeable``: what no exchange of tasks with their doubles would change. ``sizes``: whether the
    records publish how many tasks each class has. ``counts``: whether counts of labels can be held against
    nothing.
    """

    inside: bool
    told: frozenset[str] = frozenset()
    exchangeable: bool = False
    sizes: bool = False
    counts: bool = False

    def open(self, tasks: Collection[str]) -> bool:
        """Whether recomputed figures of the classes of these tasks may be shown as they are."""
        return self.inside or self.told.issuperset(tasks)


def _policy(
    records: RecordSet, board: Board, labels: Labels | None, publish: Publish, taken: Sequence[Outcomes]
) -> _Policy:
    if labels is None or publish == "internal":
        return _Policy(publish == "internal", sizes=True, counts=True)
    tasks = board.outcomes.tasks
    classes = {task: int(label) for task in tasks if (label := labels.of(task)) is not None}
    strata = [stratum for row in board.rows for stratum in _stated(records, board, row.id)]
    told = tells_every_class(board.outcomes, strata, classes, of=CLASSES)
    exchangeable = _exchangeable(labels, taken)
    blocks = [_blocks(records, board.subset, row.id)[0] for row in (*board.rows, *board.unranked)]
    counted = labels.counts(DIFFICULTY, tasks)
    sizes = told or any(
        sum(counted.values()) == len(tasks) and {int(c): b["n"] for c, b in row.items() if b["n"]} == counted
        for row in blocks[: len(board.rows)]
    )
    return _Policy(
        inside=False,
        told=frozenset(tasks) if told else frozenset(),
        exchangeable=exchangeable,
        sizes=sizes,
        counts=sizes or exchangeable or not any(blocks),
    )


def _stated(records: RecordSet, board: Board, record: str) -> Iterator[PublishedStratum]:
    """What one row publishes of its classes, as sums over tasks."""
    blocks, precision = _blocks(records, board.subset, record)
    for number, block in blocks.items():
        n = int(block["n"])
        successes, passes = (
            _counts(block[name], n * runs, precision) if n and name in block else None
            for name, runs in zip(_RATES, (1, N_RUNS), strict=True)
        )
        yield PublishedStratum(board.outcomes.rows.index(record), int(number), n, successes, passes)


def _outcomes(records: RecordSet, board: Board) -> Iterator[tuple[Row, Outcomes]]:
    """Rows in board order, each with matrices that hold it; community rows have their own tasks."""
    for row in board.rows:
        yield row, board.outcomes
    for row in board.unranked:
        yield row, outcomes(records, board.subset, rows=(row.id,))


def _exchangeable(labels: Labels, taken: Iterable[Outcomes]) -> bool:
    """Whether each task has a double: the same outcomes in every row, and not the same class, or none.

    Exchanging a task with its double changes no figure of any row or class, so no figure tells its class.
    Tasks without a class need doubles too: else that figures are withheld could tell who has one.
    """
    patterns: dict[str, list[object]] = {}
    distinct = list({found.rows: found for found in taken}.values())
    for place, found in enumerate(distinct):
        for task, passes in zip(found.tasks, found.passes.tolist(), strict=True):
            patterns.setdefault(task, [None] * len(distinct))[place] = tuple(passes)
    classes: dict[tuple[object, ...], set[Label | None]] = {}
    for task, pattern in patterns.items():
        classes.setdefault(tuple(pattern), set()).add(labels.of(task))
    return all(len(found) > 1 for found in classes.values())


def _strata(
    records: RecordSet, board: Board, row: Row, taken: Outcomes, labels: Labels | None, policy: _Policy
) -> tuple[Stratum, ...]:
    """Strata of one row, from labels where they may be, else as published."""
    blocks, precision = _blocks(records, board.subset, row.id)
    if sum(block["n"] for block in blocks.values()) == taken.n_tasks:
        # Classes that add up to all tasks say of each other class that it has none.
        blocks = {str(number): {"n": 0} for number in CLASSES} | blocks
    made = []
    for number in CLASSES:
        block = blocks.get(str(number))
        stated = _published(number, block, precision)
        if labels is not None:
            chosen = [k for k, task in enumerate(taken.tasks) if labels.of(task) == number]
            found = _recomputed(number, taken, row.id, chosen, seed=board.seed)
            stated = _shown(found, stated, block, policy, open_=policy.open(taken.tasks))
        made.append(stated)
    return tuple(made)


def _blocks(records: RecordSet, subset: str, record: str) -> tuple[dict[str, Any], _Precision]:
    """Strata that a record publishes of one subset, by class, and how it writes their rates."""
    scores = records.published[record]["scores"]["by_subset"].get(subset, {})
    blocks = dict(scores.get("by_difficulty_class", {}))
    return blocks, _precision(blocks, scores)


class _Precision(NamedTuple):
    """How a record writes the rates of its strata.

    ``unrounded``: one of them has so many digits that no publisher rounded it, so each is the nearest double.
    ``finest``: most decimals of a figure of the subset; a 0 or 1 shows none of its own.
    """

    unrounded: bool
    finest: int


def _precision(blocks: Mapping[str, Any], scores: Mapping[str, Any]) -> _Precision:
    rates = [block[name] for block in blocks.values() for name in _RATES if name in block]
    beside = [number for number in scores.values() if isinstance(number, float)]
    return _Precision(
        any(len(Decimal(repr(rate)).normalize().as_tuple().digits) >= UNROUNDED for rate in rates),
        max((decimals_of(rate) for rate in (*rates, *beside)), default=0),
    )


def _published(number: int, block: Mapping[str, Any] | None, precision: _Precision) -> Stratum:
    """Return a stratum as the record publishes it, with the exact interval of its pass^3."""
    if block is None:
        return Stratum(number, NO_STRATUM, NO_STRATUM, NO_STRATUM, "as published")
    n = int(block["n"])
    if not n:
        return Stratum(number, 0, NO_TASK, NO_TASK, "as published")
    rate = block.get("task_pass_rate")
    mean = NO_STRATUM if rate is None else Estimate(as_written(rate), n, NO_LABELS)
    return Stratum(number, n, _counted(block.get("pass_pow_3"), n, precision), mean, "as published")


def _counted(rate: float | None, n: int, precision: _Precision) -> Estimate | Absent:
    """Return a published share of n tasks with the count it stands for, where it stands for one alone."""
    if rate is None:
        return NO_STRATUM
    written = as_written(rate)
    nearest = round(written * n)
    low, high = _counts(rate, n, precision)
    if rate != nearest / n and not agrees(rate, Fraction(nearest, n)):
        return Absent(f"the published {rate!r} of {n} tasks is no whole number of tasks")
    if low < high:
        several = Absent(f"no one count: the published {rate!r} fits {low:,} to {high:,} of {n:,} tasks")
        return Estimate(written, n, several)
    return Estimate(Fraction(nearest, n), n, clopper_pearson(nearest, n), nearest)


def _counts(rate: float, n: int, precision: _Precision) -> tuple[int, int]:
    """Least and most of n that a published rate stands for; the nearest count where none gives it."""
    written = as_written(rate)
    nearest = round(written * n)
    if precision.unrounded and rate == nearest / n:
        return nearest, nearest
    decimals = precision.finest if rate in (0, 1) else decimals_of(rate)
    slack = Fraction(n, 2 * 10**decimals)
    low, high = math.ceil(written * n - slack), math.floor(written * n + slack)
    return min(nearest, max(0, low)), max(nearest, min(n, high))


def _recomputed(number: int, taken: Outcomes, record: str, chosen: list[int], *, seed: int) -> Stratum:
    """Return a stratum from runs and labels; tasks stay in ascending byte order of their keys."""
    if not chosen:
        return Stratum(number, 0, NO_TASK, NO_TASK, "recomputed")
    column = taken.rows.index(record)

    def over(quantity: Literal["pass_pow_3", "task_pass_rate"]) -> Estimate:
        whole = values(taken, quantity)
        part = Values(quantity, (record,), whole.x[np.ix_(chosen, [column])], whole.denominator)
        return estimate(part, seed=seed)[0]

    return Stratum(number, len(chosen), over("pass_pow_3"), over("task_pass_rate"), "recomputed")


def _shown(
    found: Stratum, stated: Stratum, block: Mapping[str, Any] | None, policy: _Policy, *, open_: bool
) -> Stratum:
    """Return the recomputed stratum as far as it may be shown, else the published one."""
    different = _different(found, block)
    if policy.inside:
        return replace(found, remark=different)
    if open_:
        small = block is not None and not different and block["n"] < FEWEST
        return _without_interval(stated, FEW_TASKS) if small else replace(found, remark=different)
    if policy.exchangeable:
        return replace(_without_interval(found, WITHHELD), remark=different)
    if block is None:
        return Stratum(found.difficulty, WITHHELD, WITHHELD, WITHHELD, "recomputed")
    remark = "labels and runs give other figures, which are withheld" if different else ""
    return replace(_without_interval(stated, WITHHELD), remark=remark)


def _different(found: Stratum, block: Mapping[str, Any] | None) -> str:
    """Return in words where a published stratum does not agree with the recomputed one."""
    if block is None:
        return ""
    published, recomputed = [], []
    if block["n"] != found.n_tasks:
        published.append(f"n {block['n']}")
        recomputed.append(f"n {found.n_tasks}")
    for name in _RATES:
        figure: Estimate | Absent = getattr(found, name)
        if name in block and isinstance(figure, Estimate) and not agrees(block[name], figure.value):
            published.append(f"{name} {block[name]!r}")
            recomputed.append(f"{name} {float(figure)!r}")
    if not published:
        return ""
    return f"the record publishes {', '.join(published)}; labels and runs give {', '.join(recomputed)}"


def _without_interval(stratum: Stratum, why: Absent) -> Stratum:
    rate = stratum.task_pass_rate
    return replace(
        stratum, task_pass_rate=replace(rate, interval=why) if isinstance(rate, Estimate) else rate
    )


def _distributions(labels: Labels, tasks: tuple[str, ...], policy: _Policy) -> tuple[Distribution, ...]:
    """Count the labels of the board's tasks, without cells that would tell a single task's label."""
    made = []
    for family in labels.families:
        counts = labels.counts(family, tasks)
        unlabelled = len(tasks) - sum(counts.values())
        shown, reason = counts, ""
        if not policy.counts:
            # Where the records publish some classes, a count can tell the class of the tasks left over.
            shown, reason, counts, unlabelled = {}, WITHHELD.reason, {"": len(tasks)}, 0
        elif not (policy.inside or (family == DIFFICULTY and policy.sizes)):
            shown, reason = _cells(counts, len(tasks))
        withheld = sum(counts.values()) - sum(shown.values())
        made.append(Distribution(family, tuple(shown.items()), withheld, unlabelled, reason))
    return tuple(made)


def _cells(counts: Mapping[Label, int], n_tasks: int) -> tuple[dict[Label, int], str]:
    """Return the counts that tell no single task's label, and why the others are left out."""
    if n_tasks in counts.values():
        return {}, "all tasks carry the same label, so its count would be the label of each"
    shown = {label: n for label, n in counts.items() if n >= FEWEST_IN_CELL}
    return shown, "" if len(shown) == len(counts) else f"labels of fewer than {FEWEST_IN_CELL} tasks"


def _notes(
    records: RecordSet, board: Board, rows: tuple[Strata, ...], labels: Labels | None, policy: _Policy
) -> tuple[str, ...]:
    if labels is None:
        return ("No labels of tasks are given: strata are as published, task pass rates without interval.",)
    notes = labels.notes(records, board.outcomes.tasks) if policy.counts else (UNCOUNTED,)
    withheld = any(stratum.n_tasks == WITHHELD for row in rows for stratum in row.strata)
    return (*notes, *([TOLD] if policy.told else []), *([UNPUBLISHED] if withheld else []))


def _line(row: Strata, stratum: Stratum) -> dict[str, Any]:
    """A stratum as one line of a table."""
    line: dict[str, Any] = {
        "id": row.id,
        "label": row.label,
        "difficulty": stratum.difficulty,
        "n_tasks": None if isinstance(stratum.n_tasks, Absent) else stratum.n_tasks,
        "n_successes": stratum.pass_pow_3.n_successes if isinstance(stratum.pass_pow_3, Estimate) else None,
    }
    for name in _RATES:
        figure: Estimate | Absent = getattr(stratum, name)
        interval = figure if isinstance(figure, Absent) else figure.interval
        line[name] = as_float(figure)
        line[f"{name}_low"] = None if isinstance(interval, Absent) else interval.low
        line[f"{name}_high"] = None if isinstance(interval, Absent) else interval.high
        line[f"{name}_reason"] = interval.reason if isinstance(interval, Absent) else ""
    return line | {"provenance": stratum.provenance, "remark": stratum.remark}
