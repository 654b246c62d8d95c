"""What the runs say about each published figure, in the shape of a record's blocks.

One computation for both sides: `audit` holds published figures against it, `score` writes it. Values are
exact and nothing is rounded: a fraction, a count, a word, a `Bound`. A figure that does not exist is `Absent`
with its reason; one that exists but that these runs do not decide is `Undecided`, and stays as published.

References
----------
.. [1] Methodology 0.1.0, "The ten dimensions", "Groups and order" and decisions 4, 7, 10, 11 and 12.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from medgauge_lib.board import RECORD_ORDER, board_date, grouped
from medgauge_lib.checks import require_usable
from medgauge_lib.estimators import (
    AMOUNT_NOT_APPLICABLE,
    NO_SUCCESS,
    NOT_AVAILABLE,
    QUANTITIES,
    SUBJECT_SIDE,
    VETO_CATEGORIES,
    Exam,
    Quantity,
    Tallies,
    Values,
    cost_per_success,
    exams,
    tallies,
    values,
)
from medgauge_lib.intervals import DECIMALS as BCA_DECIMALS
from medgauge_lib.intervals import bca, estimate, resampled_sums
from medgauge_lib.labels import CLASSES, Labels
from medgauge_lib.letters import letters
from medgauge_lib.outcomes import N_RUNS, SUBSETS, Outcomes, live_runs, usable_outcomes
from medgauge_lib.pairs import MAX_DISCORDANT, mcnemar_p
from medgauge_lib.progress import steps
from medgauge_lib.records import INITIATIVE, Published, RecordSet
from medgauge_lib.results import Absent, Interval, as_written
from medgauge_lib.usage import NO_RUN, median, tokens, total

MAX_LETTERS = 26
"""Groups that a record's board block has letters for, ``a`` to ``z``."""

DECIMALS = 12
"""Decimals of a bound that passes through a beta quantile or a power; libraries differ beyond them."""

NO_TASK = Absent("no task of this subset is left")


class Bound(NamedTuple):
    """A bound that is no rational number.

    Attributes
    ----------
    value : float
        The bound.
    decimals : int
        Decimals that every program agrees on.
    """

    value: float
    decimals: int


class Undecided(NamedTuple):
    """A figure that exists, but that these runs do not decide.

    Attributes
    ----------
    reason : str
        Why they do not, in words that `check` shows.
    """

    reason: str


Value = Fraction | int | str | tuple[str, ...] | Bound | Absent | Undecided
Tree = dict[str, Any]
"""Blocks of a record, nested as there, each figure a `Value`."""

Seeds = Callable[[str, str, Quantity], int | None]
"""Record id, subset and quantity to the seed of that BCa interval; None where it is not asked for."""

NOT_ASKED = Undecided("the interval is not published, or by another rule")


@dataclass(frozen=True)
class Scored:
    """What the runs of one record say about one subset.

    Attributes
    ----------
    block : Tree
        Figures in the order of a record's block.
    cost_per_success : Fraction or Absent
        Of this subset.
    passing : DataFrame
        Its passing runs.
    """

    block: Tree
    cost_per_success: Fraction | Absent
    passing: pd.DataFrame


def recomputed(
    records: RecordSet,
    *,
    seeds: Seeds,
    as_of: str | None = None,
    labels: Labels | None = None,
    without: Collection[str] = (),
) -> dict[str, Tree]:
    """Compute every figure of every record that runs decide.

    Parameters
    ----------
    records : RecordSet
        One benchmark version.
    seeds : callable
        Seed of each BCa interval.
    as_of : str, optional
        Date of the board; the latest creation date among the records where not given.
    labels : Labels, optional
        Labels of the closed side; with them strata are recomputed too, without them they are left out.
    without : collection of str, optional
        Community records to leave out, since their runs cannot be trusted.

    Returns
    -------
    dict of str to Tree
        Record id to ``scores``, ``board`` and ``cost``, in ascending order of id. ``board`` is an `Absent`
        for a record that is no row of the board.

    Raises
    ------
    InputError
        If the runs break a rule without which figures mean nothing, a record was created after `as_of`, or
        rows fall into more groups than can be shown.
    ValueError
        If `as_of` is no date.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> records = demo.record_set("bm-demo-lab", "0.1.0")
    >>> made = recomputed(records, seeds=lambda *_: None)["res-2026-05-20-aster-round"]
    >>> made["scores"]["by_subset"]["holdout"]["n"], made["board"]["letters"]
    (20, ('a',))
    """
    ids = [record for record in records.published if record not in without]
    require_usable(records, ids)
    live = live_runs(records)
    live = live[live["id"].isin(ids)]
    by_subset = {subset: _scored(records, live, subset, seeds, labels) for subset in SUBSETS}
    blocks = _of_the_board(records, by_subset["holdout"], as_of)
    runs_of = dict(iter(live.groupby("id", sort=False)))
    applicable = dict(zip(records.subjects["id"], records.subjects["amount_applicable"], strict=True))
    return {
        record: {
            "scores": _scores(
                {subset: found[record] for subset, found in by_subset.items() if record in found},
                runs_of.get(record, live.iloc[:0]),
                published,
            ),
            "board": blocks.get(record, Absent("the record is no row of the board")),
            "cost": _cost(runs_of.get(record, live.iloc[:0]), applicable=bool(applicable[record])),
        }
        for record, published in steps(records.published.items(), unit="record")
        if record in ids
    }


def _scored(
    records: RecordSet, live: pd.DataFrame, subset: str, seeds: Seeds, labels: Labels | None
) -> dict[str, Scored]:
    """Figures of one subset of usable runs: rows of the board together, community records one at a time."""
    subjects = records.subjects.set_index("id")
    ids = sorted(set(live.loc[live["subset"] == subset, "id"]))
    ranked = [record for record in ids if subjects["verified"][record]]
    alone = [[record] for record in ids if not subjects["verified"][record]]
    found: dict[str, Scored] = {}
    for rows in filter(None, [ranked, *alone]):
        taken = usable_outcomes(records, subset, tuple(rows))
        figures = {quantity: values(taken, quantity) for quantity in QUANTITIES}
        means = {quantity: value.means() for quantity, value in figures.items()}
        intervals = {
            quantity: _intervals(value, [seeds(row, subset, quantity) for row in taken.rows])
            for quantity, value in figures.items()
        }
        errors = Counter(zip(taken.runs["id"], taken.runs["error_attribution"], strict=True))
        costs = cost_per_success(taken, applicable=dict(subjects["amount_applicable"]))
        passing = dict(iter(taken.runs[taken.runs["passed"]].groupby("id", sort=False)))
        strata = _strata(taken, figures, labels) if labels is not None else []
        for k, (row, exam, tally) in enumerate(zip(taken.rows, exams(taken), tallies(taken), strict=True)):
            counts = {name: errors[row, name] for name in (*SUBJECT_SIDE, *INITIATIVE)}
            block = (
                _counts(taken, exam, tally)
                | _means({quantity: mean[k] for quantity, mean in means.items()})
                | {f"{quantity}_ci": intervals[quantity][k] for quantity in RECORD_ORDER}
                | _tallied(counts, tally)
                | ({"by_difficulty_class": strata[k]} if labels is not None else {})
            )
            found[row] = Scored(block, costs[k], passing.get(row, taken.runs.iloc[:0]))
    return found


def _counts(taken: Outcomes, exam: Exam, tally: Tallies) -> Tree:
    bound = exam.claimable_lower_bound
    return {
        "n": taken.n_tasks,
        "n_runs": tally.n_runs,
        "exam": {
            "outcome": exam.outcome,
            "n_tasks": exam.n_tasks,
            "claimable_lower_bound": bound if isinstance(bound, Absent) else Bound(bound, DECIMALS),
        },
    }


def _means(mean: Mapping[Quantity, Fraction]) -> Tree:
    return {
        "pass_at_3": mean["pass_at_3"],
        "pass_pow_3": mean["pass_pow_3"],
        "instability": mean["pass_at_3"] - mean["pass_pow_3"],
        "task_pass_rate": mean["task_pass_rate"],
        "continuous_score": mean["continuous_score"],
    }


def _tallied(errors: Mapping[str, int], tally: Tallies) -> Tree:
    return {
        "errors": dict(errors),
        "error_rate_subject": tally.error_rate,
        "veto_rate": tally.veto_rate,
        "veto_by_category": {category: tally.vetoes.get(category, 0) for category in VETO_CATEGORIES},
        "any_veto": tally.n_vetoed > 0,
    }


def _intervals(value: Values, seeds: Sequence[int | None]) -> list[Tree | Absent | Undecided]:
    """Interval of every row; rows with the same seed share its resamples."""
    if value.binary:
        return [_interval(found.interval) for found in estimate(value)]
    made: list[Tree | Absent | Undecided] = [NOT_ASKED] * len(seeds)
    for seed in sorted({seed for seed in seeds if seed is not None}):
        columns = [k for k, asked in enumerate(seeds) if asked == seed]
        rows = tuple(value.rows[k] for k in columns)
        part = Values(value.quantity, rows, value.x[:, columns], value.denominator)
        sums = resampled_sums(part.x, seed=seed)
        for k, x, row in zip(columns, part.x.T, sums, strict=True):
            found = bca(x, row, part.denominator, seed=seed)
            made[k] = _interval(found if isinstance(found, Absent) else _with_halves(found, row, part))
    return made


def _with_halves(interval: Interval, sums: np.ndarray[Any, Any], part: Values) -> Interval:
    """Return an interval with those bounds as they were before rounding that are exact halves.

    Such a bound may be rounded either way. Both resampled sums around its place are the half itself.
    """
    scale = part.n_tasks * part.denominator
    largest = int(sums.max())

    def unrounded(bound: float) -> float:
        for side in (-1, 1):
            half = as_written(bound) + Fraction(side, 2 * 10**BCA_DECIMALS)
            place = half * scale
            if place.denominator == 1 and 0 <= place <= largest and (sums == int(place)).sum() > 1:
                return float(half)
        return bound

    return replace(interval, low=unrounded(interval.low), high=unrounded(interval.high))


def _interval(interval: Interval | Absent) -> Tree | Absent:
    """Return an interval in the names of a record; one that does not exist is absent (decision 7)."""
    if isinstance(interval, Absent):
        return interval
    decimals = DECIMALS if interval.seed is None else BCA_DECIMALS
    made: Tree = {"method": interval.method, "level": as_written(interval.level)}
    if interval.seed is not None and interval.resamples is not None and interval.quantile_rule is not None:
        made |= {
            "resamples": interval.resamples,
            "seed": interval.seed,
            "quantile_rule": interval.quantile_rule,
        }
    made |= {"lower": Bound(interval.low, decimals), "upper": Bound(interval.high, decimals)}
    if interval.one_sided_low is not None:
        made["one_sided_lower"] = Bound(interval.one_sided_low, decimals)
    return made


def _strata(taken: Outcomes, figures: Mapping[Quantity, Values], labels: Labels) -> list[Tree | Undecided]:
    """Means by class of difficulty of every row, where each task has its label."""
    of = [labels.of(task) for task in taken.tasks]
    if None in of:
        missing = Undecided(f"{of.count(None)} of {taken.n_tasks} tasks carry no label")
        return [missing] * taken.n_rows
    made: list[Tree | Undecided] = [{} for _ in taken.rows]
    for number in CLASSES:
        chosen = np.flatnonzero([label == number for label in of])
        for block, stratum in zip(made, _stratum(figures, chosen), strict=True):
            if isinstance(block, dict):
                block[str(number)] = stratum
    return made


def _stratum(figures: Mapping[Quantity, Values], chosen: np.ndarray[Any, Any]) -> Iterator[Tree]:
    """Figures of one class, row by row."""
    rates: tuple[Quantity, ...] = ("task_pass_rate", "pass_pow_3")
    means: dict[Quantity, Iterable[Fraction | Absent]] = {
        rate: Values(rate, whole.rows, whole.x[chosen], whole.denominator).means()
        if len(chosen)
        else [Absent("no task of this class")] * len(whole.rows)
        for rate, whole in ((rate, figures[rate]) for rate in rates)
    }
    for pair in zip(*means.values(), strict=True):
        yield {"n": len(chosen), **dict(zip(rates, pair, strict=True))}


def _of_the_board(
    records: RecordSet, holdout: Mapping[str, Scored], as_of: str | None
) -> dict[str, Tree | Undecided]:
    """Return the board block of every row; without a row that holds a task that counts there is no board."""
    date = board_date(records, as_of)
    subjects = records.subjects
    verified = subjects.loc[subjects["verified"], "id"]
    if not set(verified) & set(holdout):
        return {record: Undecided("no holdout task of the record counts") for record in verified}
    rows = tuple(verified)
    _, groups = grouped(usable_outcomes(records, "holdout", rows))
    carried = letters(rows, groups)
    too_many = Absent(f"the board has {len(groups)} groups, but a record has letters for a to z only")
    return {
        row: {
            "letters": carried[row] if len(groups) <= MAX_LETTERS else too_many,
            "comparison": "paired_holm",
            "key": "pass_pow_3",
            "secondary_key": "cost_per_success",
            "as_of": date,
            "n_rows": len(rows),
        }
        for row in rows
    }


def _scores(scored: Mapping[str, Scored], runs: pd.DataFrame, published: Published) -> Tree:
    return {
        "n_tasks_total": len(runs) // N_RUNS,
        "by_subset": {subset: found.block for subset, found in scored.items()},
        "dimensions": {
            "m3_efficiency": _efficiency(scored.get("holdout")),
            "m10_robustness": _robustness(published),
        },
    }


def _efficiency(holdout: Scored | None) -> Tree:
    """M3 over holdout runs: medians over passing ones, and cost per success (decision 11)."""
    names = ("cost_per_success", "median_tool_calls", "median_tokens", "median_wall_clock_sec")
    if holdout is None:
        return dict.fromkeys(names, Undecided("no holdout task of the record counts"))
    passing = holdout.passing
    columns = (passing["tool_calls"], tokens(passing), passing["wall_clock_sec"])
    cost = holdout.cost_per_success
    return {
        "cost_per_success": NOT_AVAILABLE if cost == NO_SUCCESS else _decided(cost, AMOUNT_NOT_APPLICABLE),
        **{name: _decided(median(column), NO_RUN) for name, column in zip(names[1:], columns, strict=True)},
    }


def _decided(found: Fraction | Absent, none: Fraction | Absent) -> Fraction | Absent | Undecided:
    """Tell a figure that does not exist from one that some run lacks the field for."""
    if isinstance(found, Fraction) or found == none:
        return found
    return Undecided(found.reason)


def _robustness(published: Published) -> Tree:
    """M10: its p follows from the published b and c."""
    counts = published["scores"].get("dimensions", {}).get("m10_robustness", {}).get("mcnemar")
    if counts is None:
        return {}
    b, c = int(counts["b"]), int(counts["c"])
    too_many = Undecided(f"b + c is {b + c}, and an exact p is computed up to {MAX_DISCORDANT}")
    return {"mcnemar": {"p_value": mcnemar_p(b, c) if b + c <= MAX_DISCORDANT else too_many}}


def _cost(runs: pd.DataFrame, *, applicable: bool) -> Tree:
    """Totals and medians over all live runs of the record, whatever the subset (decision 11)."""
    counts: Tree = {name: _count(total(runs[name])) for name in ("tokens_in", "tokens_out")}
    return counts | {
        "wall_time_sec": _decided(total(runs["wall_clock_sec"]), NO_RUN),
        "amount": _decided(total(runs["amount"]), NO_RUN) if applicable else AMOUNT_NOT_APPLICABLE,
        "median_steps": _decided(median(runs["actions"]), NO_RUN),
        "median_tool_calls": _decided(median(runs["tool_calls"]), NO_RUN),
        "median_tokens": _decided(median(tokens(runs)), NO_RUN),
    }


def _count(found: Fraction | Absent) -> int | Absent | Undecided:
    decided = _decided(found, NO_RUN)
    return int(decided) if isinstance(decided, Fraction) else decided
