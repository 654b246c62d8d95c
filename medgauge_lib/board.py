"""The board of one benchmark version: rows in order, each with its figures, letters, exam and cost.

Order is pass^3, highest first; inside a run of neighbours with identical letters the cheaper row comes
first. There is no total over quantities, benchmarks or versions. Subsets are boards of their own.

References
----------
.. [1] Methodology 0.1.0, "Groups and order" and decisions 4, 5, 6, 10, 12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any

import pandas as pd

from medgauge_lib import letters as cld
from medgauge_lib.checks import require_usable, unusable
from medgauge_lib.errors import InputError, printable
from medgauge_lib.estimators import (
    NO_SUCCESS,
    NOT_AVAILABLE,
    QUANTITIES,
    SUBJECT_SIDE,
    VETO_CATEGORIES,
    Exam,
    Quantity,
    Tallies,
    cost_per_success,
    exams,
    tallies,
    values,
)
from medgauge_lib.intervals import QUANTILE_RULE, RESAMPLES, SEED, estimate
from medgauge_lib.outcomes import Outcomes, live_runs, outcomes, usable_outcomes
from medgauge_lib.pairs import Pair, Pairs, Resolution, compare, resolution
from medgauge_lib.records import RecordSet
from medgauge_lib.results import Absent, Estimate, Interval, Tabular, as_float
from medgauge_lib.schema import near

RECORD_ORDER: tuple[Quantity, ...] = ("pass_at_3", "pass_pow_3", "task_pass_rate", "continuous_score")
"""The four quantities in the order in which a result record writes them."""


@dataclass(frozen=True)
class Row:
    """One row of a board: a subject's figures on one subset.

    Attributes
    ----------
    id, label : str
        Record id, and the words that name the row.
    model, harness : str
        Parts of the label, each with its version.
    pass_pow_3, pass_at_3, task_pass_rate, continuous_score : Estimate
        The four quantities.
    cost_per_success : Fraction or Absent
        In `currency`, or why there is none.
    currency, price_table : str or None
        Of the amounts.
    exam : Exam
        Outcome and claimable bound.
    tallies : Tallies
        Errors and vetoes.
    rank : int or None
        1 + rows with a higher pass^3; equal pass^3, equal rank. None where rows are not ranked.
    tied : bool
        Whether another row has the same pass^3.
    letters : tuple of str
        Groups the row belongs to; empty where rows are not ranked.
    """

    id: str
    label: str
    model: str
    harness: str
    pass_pow_3: Estimate
    pass_at_3: Estimate
    task_pass_rate: Estimate
    continuous_score: Estimate
    cost_per_success: Fraction | Absent
    currency: str | None
    price_table: str | None
    exam: Exam
    tallies: Tallies
    rank: int | None = None
    tied: bool = False
    letters: tuple[str, ...] = ()

    @property
    def instability(self) -> Fraction:
        """pass@3 − pass^3: the share of tasks passed in some runs but not in all."""
        return self.pass_at_3.value - self.pass_pow_3.value


@dataclass(frozen=True, repr=False)
class Board(Tabular):
    """Rows of one subset of one benchmark version, in order, and how they were compared.

    Attributes
    ----------
    benchmark, benchmark_version, subset : str
        What the board is of.
    seed : int
        Seed of every resample.
    as_of : str
        Latest creation date among the records (decision 12 [1]_).
    rows : tuple of Row
        In board order.
    groups : tuple of tuple of str
        Record ids of each letter's group, in the order of the letters.
    pairs : Pairs
        Comparison of pass^3 that the groups come from.
    resolution : Resolution or Absent
        What the board can tell apart.
    unranked : tuple of Row
        Community records, listed apart in ascending id.
    void : DataFrame
        Void task versions: ``task_key, task_version, attribution, listed_by, shown_by``.
    notes : tuple of str
        What a reader must know about the order.
    outcomes : Outcomes
        The matrices behind the figures.
    """

    benchmark: str
    benchmark_version: str
    subset: str
    seed: int
    as_of: str
    rows: tuple[Row, ...]
    groups: tuple[tuple[str, ...], ...]
    pairs: Pairs
    resolution: Resolution | Absent
    unranked: tuple[Row, ...]
    void: pd.DataFrame = field(repr=False, compare=False)
    notes: tuple[str, ...]
    outcomes: Outcomes = field(repr=False)

    @property
    def order(self) -> tuple[str, ...]:
        """Record ids in board order."""
        return tuple(row.id for row in self.rows)

    @property
    def n_tasks(self) -> int:
        """Tasks of the subset, void ones out."""
        return self.outcomes.n_tasks

    @cached_property
    def vetoed(self) -> frozenset[str]:
        """Record ids of the rows, ranked or not, of which a run hit a hard gate."""
        return frozenset(row.id for row in (*self.rows, *self.unranked) if row.tallies.n_vetoed)

    def row(self, record: str) -> Row:
        """Row of a record id."""
        rows = {row.id: row for row in (*self.rows, *self.unranked)}
        if record not in rows:
            raise KeyError(f"{record!r} is no row of this board; {near(record, rows)}")
        return rows[record]

    def to_frame(self) -> pd.DataFrame:
        """One line a row in board order, unranked rows last; fractions as floats.

        An absent figure is missing, with the reason beside it; `claimable_lower_bound` is missing where the
        exam is not passed.
        """
        frame = pd.DataFrame([_line(row) for row in (*self.rows, *self.unranked)])
        bounds = [f"{quantity}_{end}" for quantity in QUANTITIES for end in ("low", "high")]
        floats = dict.fromkeys((*bounds, "cost_per_success", "claimable_lower_bound"), "float64")
        return frame.astype({"rank": "Int64", **floats})

    def against(self, record: str) -> pd.DataFrame:
        """How one row compares with every other, and why it is or is not shown to differ.

        Parameters
        ----------
        record : str
            Id of a ranked row.

        Returns
        -------
        DataFrame
            One line another row in board order: ``id, label, letters``, then the comparison as `record` minus
            the other row: ``b_count, c_count, difference, low, high, p, holm, differs``.

        Raises
        ------
        KeyError
            If it is no ranked row of this board.

        Examples
        --------
        >>> from medgauge_lib import demo
        >>> found = board(demo.record_set("bm-demo-ward", "1.0.0"))
        >>> first = found.against(found.order[0])
        >>> len(first), bool(first["differs"].iloc[-1])
        (7, True)
        """
        if record not in self.order:
            raise KeyError(f"{record!r} is no ranked row of this board; {near(record, self.order)}")
        others = [row for row in self.rows if row.id != record]
        named = pd.DataFrame(
            [(row.id, row.label, " ".join(row.letters)) for row in others], columns=["id", "label", "letters"]
        )
        if not others:
            return named.join(self.pairs.to_frame().drop(columns=["a", "b"]))
        seen = self.pairs.seen_from(record).to_frame().drop(columns="a").set_index("b")
        return named.join(seen, on="id")

    def to_json(self) -> dict[str, Any]:
        """Everything the board states, ready for JSON, in the names of a result record."""
        return {
            "benchmark": self.benchmark,
            "benchmark_version": self.benchmark_version,
            "subset": self.subset,
            "as_of": self.as_of,
            "seed": self.seed,
            "resamples": RESAMPLES,
            "quantile_rule": QUANTILE_RULE,
            "n_tasks": self.n_tasks,
            "n_rows": len(self.rows),
            "n_groups": len(self.groups),
            "order": list(self.order),
            "rows": {row.id: _row_json(row) for row in self.rows},
            "unranked": {row.id: _row_json(row) for row in self.unranked},
            "groups": {cld.letter(k): list(group) for k, group in enumerate(self.groups)},
            "comparison": f"{self.pairs.method}, Holm over all pairs",
            "pairs": [_pair_json(pair) for pair in self.pairs.pairs],
            "resolution": resolution_json(self.resolution),
            "void": [
                {name: list(v) if isinstance(v, tuple) else v for name, v in line.items()}
                for line in self.void.to_dict("records")
            ],
            "notes": list(self.notes),
        }


def board(
    records: RecordSet, subset: str = "holdout", *, seed: int = SEED, as_of: str | None = None
) -> Board:
    """Compute the board of one subset of a benchmark version.

    Parameters
    ----------
    records : RecordSet
        One benchmark version.
    subset : {"holdout", "dev", "calib"}
        Subsets are never pooled; the board proper is the holdout subset.
    seed : int
        Seed of the resamples, 0 ≤ seed < 2^64.
    as_of : str, optional
        Date of the board such as ``2026-01-31``, not before the latest creation date among the records,
        which it is where not given.

    Returns
    -------
    Board

    Raises
    ------
    InputError
        If no record is verified, no task is left, the runs break a rule without which figures mean
        nothing, or a record was created after `as_of`.
    ValueError
        If `as_of` is no date.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> first = board(demo.record_set("bm-demo-ward", "1.0.0")).rows[0]
    >>> first.rank, first.letters[0]
    (1, 'a')
    """
    taken = outcomes(records, subset)
    by_rank = sorted(_rows(records, taken, seed=seed), key=lambda row: (-row.pass_pow_3.value, row.id))
    compared, groups = grouped(taken, seed=seed)
    placed = _place(by_rank, cld.letters([row.id for row in by_rank], groups))
    ordered, notes = _by_cost(placed)
    apart, left_out = _unranked(records, subset, seed=seed)
    return Board(
        benchmark=records.benchmark,
        benchmark_version=records.benchmark_version,
        subset=subset,
        seed=seed,
        as_of=board_date(records, as_of),
        rows=tuple(ordered),
        groups=groups,
        pairs=compared,
        resolution=resolution(len(ordered), taken.n_tasks),
        unranked=tuple(apart),
        void=records.void,
        notes=(*notes, *left_out),
        outcomes=taken,
    )


def grouped(taken: Outcomes, *, seed: int = SEED) -> tuple[Pairs, tuple[tuple[str, ...], ...]]:
    """Compare every two rows by pass^3, and group those that are not shown to differ.

    Parameters
    ----------
    taken : Outcomes
        Rows over the same tasks.
    seed : int
        Seed of the resamples.

    Returns
    -------
    pairs : Pairs
        Rows in descending order of pass^3, then in ascending order of id.
    groups : tuple of tuple of str
        The maximal groups, the one with the first row first.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> pairs, groups = grouped(outcomes(demo.record_set("bm-demo-lab", "0.1.0")))
    >>> len(pairs.pairs), len(groups)
    (10, 1)
    """
    passed = values(taken, "pass_pow_3")
    means = dict(zip(taken.rows, passed.means(), strict=True))
    ranked = sorted(taken.rows, key=lambda row: (-means[row], row))
    compared = compare(passed, ranked=ranked, seed=seed)
    return compared, cld.groups(ranked, compared.differing)


def latest(records: RecordSet) -> str:
    """Latest creation date among the records, as they write it (decision 12 [1]_).

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> latest(demo.record_set("bm-demo-lab", "0.1.0"))
    '2026-05-24'
    """
    return str(max(records.subjects["created_at"].str[:10]))


def board_date(records: RecordSet, given: str | None = None) -> str:
    """Date of the board; a board cannot be older than one of its records.

    Parameters
    ----------
    records : RecordSet
        One benchmark version.
    given : str, optional
        The date to use; `latest` where not given.

    Returns
    -------
    str
        Such as ``2026-01-31``.

    Raises
    ------
    InputError
        If a record was created after the date given.
    ValueError
        If it is no date.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> board_date(demo.record_set("bm-demo-lab", "0.1.0"), "2026-06-01")
    '2026-06-01'
    """
    if given is None:
        return latest(records)
    try:
        known = date.fromisoformat(given).isoformat() == given
    except ValueError:
        known = False
    if not known:
        raise ValueError(f"as_of must be a date such as 2026-01-31, but got {given!r}")
    created = latest(records)
    if given < created:
        youngest = records.subjects.loc[records.subjects["created_at"].str[:10] == created, "id"].iloc[0]
        raise InputError(
            f"was created on {created}, after the board's date {given}",
            f"give {created} or a later date, or leave the record out",
            file=records.paths[youngest],
            pointer="/created_at",
        )
    return given


def _rows(records: RecordSet, taken: Outcomes, *, seed: int) -> list[Row]:
    """Figures of every row of the outcomes, without rank and letters, in ascending id."""
    subjects = records.subjects.set_index("id").loc[list(taken.rows)]
    applicable = dict(zip(taken.rows, map(bool, subjects["amount_applicable"]), strict=True))
    return [
        Row(
            id=record,
            label=subject["label"],
            model=printable(subject["model"]),
            harness=f"{subject['harness']} {subject['harness_version']}",
            pass_pow_3=all_passed,
            pass_at_3=any_passed,
            task_pass_rate=rate,
            continuous_score=score,
            cost_per_success=cost,
            currency=subject["currency"] if applicable[record] else None,
            price_table=subject["price_table_version"] if applicable[record] else None,
            exam=exam,
            tallies=tally,
        )
        for record, subject, all_passed, any_passed, rate, score, cost, exam, tally in zip(
            taken.rows,
            subjects.to_dict("records"),
            estimate(values(taken, "pass_pow_3"), seed=seed),
            estimate(values(taken, "pass_at_3"), seed=seed),
            estimate(values(taken, "task_pass_rate"), seed=seed),
            estimate(values(taken, "continuous_score"), seed=seed),
            cost_per_success(taken, applicable=applicable),
            exams(taken),
            tallies(taken),
            strict=True,
        )
    ]


def _unranked(records: RecordSet, subset: str, *, seed: int) -> tuple[list[Row], list[str]]:
    """Community records that hold tasks of the subset, each over its own tasks, and why one is left out."""
    apart = set(records.subjects.loc[~records.subjects["verified"], "id"])
    live = live_runs(records)
    broken = unusable(records) if apart else {}
    rows, notes = [], []
    for record in sorted(apart & set(live.loc[live["subset"] == subset, "id"])):
        try:
            require_usable(records, (record,), broken=broken)
            rows += _rows(records, usable_outcomes(records, subset, (record,)), seed=seed)
        except InputError as error:
            place = f"{records.paths[record].name}: {error.pointer}"
            notes.append(
                f"A community record is left out, since its runs break a rule: {place}: {error.wrong}."
            )
    return rows, notes


def _place(by_rank: Sequence[Row], letters: Mapping[str, tuple[str, ...]]) -> list[Row]:
    """Give rows their rank and letters; equal pass^3, equal rank (decision 5)."""
    scores = [row.pass_pow_3.value for row in by_rank]
    return [
        replace(
            row,
            rank=1 + scores.index(row.pass_pow_3.value),
            tied=scores.count(row.pass_pow_3.value) > 1,
            letters=letters[row.id],
        )
        for row in by_rank
    ]


def _by_cost(placed: Sequence[Row]) -> tuple[list[Row], tuple[str, ...]]:
    """Sort neighbours with identical letters by cost, in the places that rows with a cost hold."""
    ordered: list[Row] = []
    notes: list[str] = []
    for carried, neighbours in groupby(placed, key=lambda row: row.letters):
        rows = list(neighbours)
        places = [k for k, row in enumerate(rows) if isinstance(row.cost_per_success, Fraction)]
        prices = {(rows[k].currency, rows[k].price_table) for k in places}
        if len(prices) > 1:
            notes.append(
                f"Rows with letters {', '.join(carried)} stay in the order of pass^3: their amounts are in "
                + " and ".join(f"{currency} ({table})" for currency, table in sorted(prices, key=str))
                + ", which cannot be compared."
            )
        else:
            cheapest = sorted((rows[k] for k in places), key=_cost)
            for k, row in zip(places, cheapest, strict=True):
                rows[k] = row
        ordered.extend(rows)
    return ordered, tuple(notes)


def _cost(row: Row) -> Fraction:
    if isinstance(row.cost_per_success, Absent):
        raise ValueError(f"{row.id} has no cost per success: {row.cost_per_success}")
    return row.cost_per_success


def _line(row: Row) -> dict[str, Any]:
    """A row as one line of a table."""
    cost = row.cost_per_success
    line: dict[str, Any] = {
        "rank": row.rank,
        "id": row.id,
        "label": row.label,
        "letters": " ".join(row.letters),
        "n_tasks": row.pass_pow_3.n_tasks,
    }
    for quantity in QUANTITIES:
        figure: Estimate = getattr(row, quantity)
        line[quantity] = float(figure)
        line[f"{quantity}_low"] = figure.interval.low if figure.interval else None
        line[f"{quantity}_high"] = figure.interval.high if figure.interval else None
        line[f"{quantity}_reason"] = figure.interval.reason if isinstance(figure.interval, Absent) else ""
    return line | {
        "instability": float(row.instability),
        "cost_per_success": as_float(cost),
        "cost_per_success_reason": cost.reason if isinstance(cost, Absent) else "",
        "currency": row.currency,
        "error_rate": float(row.tallies.error_rate),
        **{f"errors_{source}": row.tallies.errors.get(source, 0) for source in SUBJECT_SIDE},
        "veto_rate": float(row.tallies.veto_rate),
        **{f"veto_{category}": row.tallies.vetoes.get(category, 0) for category in VETO_CATEGORIES},
        "exam": row.exam.outcome,
        "claimable_lower_bound": row.exam.claimable_lower_bound or None,
    }


def _row_json(row: Row) -> dict[str, Any]:
    """A row in the names of a result record, with what a record has no place for beside it."""
    cost = row.cost_per_success
    line: dict[str, Any] = {
        "id": row.id,
        "label": row.label,
        "rank": row.rank,
        "tied": row.tied,
        "letters": list(row.letters),
        "n": row.pass_pow_3.n_tasks,
        "n_runs": row.tallies.n_runs,
    }
    for quantity in RECORD_ORDER:
        figure: Estimate = getattr(row, quantity)
        line[quantity] = float(figure)
        line[f"{quantity}_ci"] = _interval_json(figure.interval)
        if isinstance(figure.interval, Absent):
            line[f"{quantity}_ci_absent"] = figure.interval.reason
    line |= {
        "instability": float(row.instability),
        "cost_per_success": as_float(cost),
        "currency": row.currency,
        "price_table_version": row.price_table,
        "exam": {"outcome": row.exam.outcome, "n_tasks": row.exam.n_tasks},
        "errors": dict(row.tallies.errors),
        "error_rate_subject": float(row.tallies.error_rate),
        "veto_by_category": dict(row.tallies.vetoes),
        "veto_rate": float(row.tallies.veto_rate),
        "any_veto": row.tallies.n_vetoed > 0,
    }
    if isinstance(cost, Absent):
        line["cost_per_success_absent"] = cost.reason
        if cost == NO_SUCCESS:
            line["cost_per_success"] = NOT_AVAILABLE
    if row.exam.claimable_lower_bound:
        line["exam"]["claimable_lower_bound"] = row.exam.claimable_lower_bound
    return line


def _interval_json(interval: Interval | Absent) -> dict[str, Any] | None:
    if isinstance(interval, Absent):
        return None
    bounds: dict[str, Any] = {
        "method": interval.method,
        "level": interval.level,
        "lower": interval.low,
        "upper": interval.high,
    }
    if interval.one_sided_low is not None:
        bounds["one_sided_lower"] = interval.one_sided_low
    if interval.bias is not None:
        bounds |= {"z0": interval.bias, "a": interval.acceleration}
    return bounds


def _pair_json(pair: Pair) -> dict[str, Any]:
    line: dict[str, Any] = {
        "a": pair.a,
        "b": pair.b,
        "b_count": pair.b_count,
        "c_count": pair.c_count,
        "difference": float(pair.difference),
        "difference_ci": _interval_json(pair.interval),
        "p": as_float(pair.p),
        "holm": as_float(pair.holm),
        "differs": pair.differs,
    }
    if isinstance(pair.interval, Absent):
        line["difference_ci_absent"] = pair.interval.reason
    return line


def resolution_json(found: Resolution | Absent) -> dict[str, Any]:
    """What a board can tell apart, ready for JSON."""
    if isinstance(found, Absent):
        return {"absent": found.reason}
    return {
        "n_pairs": found.n_pairs,
        "n_discordant": found.n_discordant,
        "possible": found.possible,
    }
