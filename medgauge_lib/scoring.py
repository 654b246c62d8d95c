"""From runs to published records: every figure, interval and letter that the runs decide is computed here.

What runs cannot decide (strata, compliance, closed-side dimensions, reasons of failures) stays as it came, in
value and key order. Figures that are exact rationals are written as the nearest double. A bound that passes
through a beta quantile or a power is written with 12 decimals, a BCa bound with 6: the last digits of such
functions differ between libraries, and a record must have the same bytes everywhere.

References
----------
.. [1] Methodology 0.1.0, "The ten dimensions" and decisions 4, 7, 10, 11 and 12.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import orjson
import pandas as pd

from medgauge_lib.board import Board, board
from medgauge_lib.checks import require_usable
from medgauge_lib.errors import InputError
from medgauge_lib.estimators import (
    AMOUNT_NOT_APPLICABLE,
    NO_SUCCESS,
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
from medgauge_lib.intervals import SEED, estimate
from medgauge_lib.outcomes import SUBSETS, live_runs, outcomes
from medgauge_lib.pairs import mcnemar_p
from medgauge_lib.records import INITIATIVE, RecordSet
from medgauge_lib.results import Absent, Estimate, Interval

MAX_LETTERS = 26
"""Groups that a record's board block has letters for, ``a`` to ``z``."""

DECIMALS = 12
"""Decimals of a bound that passes through a beta quantile or a power."""

_CLOSED = ("compliance_rate", "by_difficulty_class")
_EXACT = Context(prec=2000, traps=[Inexact])


class _Scored(NamedTuple):
    """What the runs of one record say about one subset."""

    estimates: dict[Quantity, Estimate]
    exam: Exam
    errors: Mapping[str, int]
    tallies: Tallies
    cost_per_success: Fraction | Absent


def score(records: RecordSet, *, seed: int = SEED) -> dict[str, dict[str, Any]]:
    """Compute every published figure that the runs decide, and put it into copies of the records.

    Void task versions are out of everything, in the records of the board and in community records alike. A
    figure over runs of which one does not carry what is needed stays as it came, since the runs cannot
    decide it. Every ranked record lists every void task version of the board. Community records carry no
    board block.

    Parameters
    ----------
    records : RecordSet
        One benchmark version, read from files that are still there.
    seed : int
        Seed of every BCa interval, 0 ≤ seed < 2^64; it is stated beside each.

    Returns
    -------
    dict of str to dict
        Record id to the complete record, in ascending order of id.

    Raises
    ------
    InputError
        If the runs break a rule without which figures mean nothing, if no task of a record is left, if the
        board has more than 26 groups, or if a file changed since it was read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from medgauge_lib import demo
    >>> from medgauge_lib.records import read_records
    >>> with TemporaryDirectory() as folder:
    ...     _ = demo.write(folder + "/demo")
    ...     scored = score(read_records(folder + "/demo/bm-demo-lab/0.1.0"))
    >>> scored["res-2026-05-20-aster-round"]["scores"]["by_subset"]["holdout"]["n"]
    20
    """
    require_usable(records)
    live = live_runs(records)
    by_subset = {
        subset: _scored(records, subset, sorted(set(live.loc[live["subset"] == subset, "id"])), seed)
        for subset in SUBSETS
    }
    blocks = _of_the_board(records, _compared(records, by_subset["holdout"], seed))
    runs_of = dict(iter(live.groupby("id", sort=False)))
    made = {}
    for record in records.published:
        if record not in runs_of:
            raise InputError(
                "every task version of the record is void",
                "there is nothing left to publish; run the corrected tasks",
                file=records.paths[record],
                pointer="/run_outcomes",
            )
        scored = {subset: rows[record] for subset, rows in by_subset.items() if record in rows}
        made[record] = _complete(_document(records, record), scored, runs_of[record], blocks.get(record, {}))
    return made


def _scored(records: RecordSet, subset: str, ids: Iterable[str], seed: int) -> dict[str, _Scored]:
    """Figures of one subset: rows of the board together, community records one at a time."""
    subjects = records.subjects.set_index("id")
    ranked = [record for record in ids if subjects["verified"][record]]
    alone = [[record] for record in ids if not subjects["verified"][record]]
    found = {}
    for rows in filter(None, [ranked, *alone]):
        taken = outcomes(records, subset, rows=rows)
        figures = {quantity: estimate(values(taken, quantity), seed=seed) for quantity in QUANTITIES}
        costs = cost_per_success(taken, applicable=dict(subjects["amount_applicable"]))
        errors = taken.runs.groupby("id")["error_attribution"].value_counts()
        for k, (record, exam, tally) in enumerate(zip(taken.rows, exams(taken), tallies(taken), strict=True)):
            estimates = {quantity: figure[k] for quantity, figure in figures.items()}
            counts = {source: int(errors.get((record, source), 0)) for source in (*SUBJECT_SIDE, *INITIATIVE)}
            found[record] = _Scored(estimates, exam, counts, tally, costs[k])
    return found


def _compared(records: RecordSet, holdout: Mapping[str, _Scored], seed: int) -> Board | None:
    """Return the board of the set, None where no verified record holds a task that counts."""
    subjects = records.subjects
    if not set(subjects.loc[subjects["verified"], "id"]) & set(holdout):
        return None
    compared = board(records, seed=seed)
    if len(compared.groups) > MAX_LETTERS:
        raise InputError(
            f"the board has {len(compared.groups)} groups, but a record has letters for a to z only",
            "score fewer records together; the board itself goes on with aa",
        )
    return compared


def _of_the_board(records: RecordSet, compared: Board | None) -> dict[str, dict[str, Any]]:
    """Return the blocks that every ranked record owes to the others: void task versions, and its letters."""
    subjects = records.subjects
    void = records.void[["task_key", "task_version", "attribution"]].to_dict("records")
    blocks: dict[str, dict[str, Any]] = {
        record: {"voided_tasks": void} if void else {} for record in subjects.loc[subjects["verified"], "id"]
    }
    if compared is None:
        return blocks
    for row in compared.rows:
        blocks[row.id]["board"] = {
            "letters": list(row.letters),
            "comparison": "paired_holm",
            "key": "pass_pow_3",
            "secondary_key": "cost_per_success",
            "as_of": compared.as_of,
            "n_rows": len(compared.rows),
        }
    return blocks


def _document(records: RecordSet, record: str) -> dict[str, Any]:
    """Return a record with its runs, in the key order of its file."""
    path = records.paths[record]
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read any more: {error.strerror}", "read the records anew", file=path
        ) from None
    read = records.subjects.loc[records.subjects["id"] == record, "sha256"].item()
    if hashlib.sha256(data).hexdigest() != read:
        raise InputError("changed since it was read", "read the records anew", file=path)
    document: dict[str, Any] = orjson.loads(data)
    return document


def _complete(
    document: Mapping[str, Any],
    scored: Mapping[str, _Scored],
    runs: pd.DataFrame,
    blocks: Mapping[str, Any],
) -> dict[str, Any]:
    """Put the figures into a copy of the record; a block that is new goes where a reader looks for it."""
    made: dict[str, Any] = {}
    for name, value in document.items():
        if name == "scores":
            made[name] = _scores(value, scored, runs)
        elif name == "cost":
            made[name] = _cost(value, runs)
        elif name in blocks:
            made[name] = value if name == "voided_tasks" and _same(value, blocks[name]) else blocks[name]
        elif name != "board":
            made[name] = value
        follower = _FOLLOWERS.get(name, "")
        if follower in blocks and follower not in document:
            made[follower] = blocks[follower]
    return made


_FOLLOWERS = {"scores": "board", "cost": "voided_tasks"}


def _same(one: Iterable[Mapping[str, Any]], other: Iterable[Mapping[str, Any]]) -> bool:
    """Whether two lists of void task versions say the same, in whatever order."""
    first, second = (sorted(tuple(sorted(void.items())) for void in voids) for voids in (one, other))
    return first == second


def _scores(old: Mapping[str, Any], scored: Mapping[str, _Scored], runs: pd.DataFrame) -> dict[str, Any]:
    made = dict(old) | {
        "n_tasks_total": len(runs) // 3,
        "by_subset": {
            subset: _subset(rows, old["by_subset"].get(subset, {})) for subset, rows in scored.items()
        },
    }
    if "dimensions" in old:
        dimensions = dict(old["dimensions"])
        if "m3_efficiency" in dimensions and "holdout" in scored:
            dimensions["m3_efficiency"] = _efficiency(dimensions["m3_efficiency"], scored["holdout"], runs)
        if "mcnemar" in dimensions.get("m10_robustness", {}):
            counts = dimensions["m10_robustness"]["mcnemar"]
            p_value = float(mcnemar_p(int(counts["b"]), int(counts["c"])))
            dimensions["m10_robustness"] = dimensions["m10_robustness"] | {
                "mcnemar": counts | {"p_value": p_value}
            }
        made["dimensions"] = dimensions
    return made


def _subset(scored: _Scored, old: Mapping[str, Any]) -> dict[str, Any]:
    """Return one subset's scores; what the closed side counted is kept."""
    figures, tally = scored.estimates, scored.tallies
    at_3, pow_3 = figures["pass_at_3"], figures["pass_pow_3"]
    return (
        {"n": at_3.n_tasks, "n_runs": tally.n_runs, "exam": _exam(scored.exam)}
        | {"pass_at_3": float(at_3), "pass_pow_3": float(pow_3)}
        | {"instability": float(at_3.value - pow_3.value)}
        | {name: float(figures[name]) for name in ("task_pass_rate", "continuous_score")}
        | _intervals(figures)
        | {
            "errors": scored.errors,
            "error_rate_subject": float(tally.error_rate),
            "veto_rate": float(tally.veto_rate),
            "veto_by_category": {category: tally.vetoes.get(category, 0) for category in VETO_CATEGORIES},
            "any_veto": tally.n_vetoed > 0,
        }
        | {name: old[name] for name in _CLOSED if name in old}
    )


def _intervals(figures: Mapping[Quantity, Estimate]) -> dict[str, Any]:
    """Return the intervals that exist; one that does not is absent, never of no width (decision 7)."""
    names: tuple[Quantity, ...] = ("pass_at_3", "pass_pow_3", "task_pass_rate", "continuous_score")
    pairs = ((name, figures[name].interval) for name in names)
    return {f"{name}_ci": _interval(found) for name, found in pairs if isinstance(found, Interval)}


def _exam(exam: Exam) -> dict[str, Any]:
    made: dict[str, Any] = {"outcome": exam.outcome, "n_tasks": exam.n_tasks}
    if not isinstance(exam.claimable_lower_bound, Absent):
        made["claimable_lower_bound"] = round(exam.claimable_lower_bound, DECIMALS)
    return made


def _interval(interval: Interval) -> dict[str, Any]:
    made: dict[str, Any] = {"method": interval.method, "level": interval.level}
    if interval.seed is not None:
        made |= {
            "resamples": interval.resamples,
            "seed": interval.seed,
            "quantile_rule": interval.quantile_rule,
        }
    made |= {"lower": round(interval.low, DECIMALS), "upper": round(interval.high, DECIMALS)}
    if interval.one_sided_low is not None:
        made["one_sided_lower"] = round(interval.one_sided_low, DECIMALS)
    return made


def _efficiency(old: Mapping[str, Any], scored: _Scored, runs: pd.DataFrame) -> dict[str, Any]:
    """M3 with its medians over passing holdout runs and its cost per success (decision 11)."""
    cost = scored.cost_per_success
    passing = runs[(runs["subset"] == "holdout") & runs["passed"]]
    made = dict(old)
    if isinstance(cost, Fraction):
        made["cost_per_success"] = float(cost)
    elif cost == NO_SUCCESS:
        made["cost_per_success"] = "not_available"
    elif cost == AMOUNT_NOT_APPLICABLE:
        made.pop("cost_per_success", None)
    columns = {
        "median_tool_calls": passing["tool_calls"],
        "median_tokens": _tokens(passing),
        "median_wall_clock_sec": passing["wall_clock_sec"],
    }
    if passing.empty:
        return {name: value for name, value in made.items() if name not in columns}
    return made | _medians(columns)


def _cost(old: Mapping[str, Any], runs: pd.DataFrame) -> dict[str, Any]:
    """Totals and medians over all live runs of the record, whatever the subset (decision 11)."""
    totals = {name: runs[name] for name in ("tokens_in", "tokens_out")}
    made = dict(old)
    made |= {name: int(_total(column)) for name, column in totals.items() if _complete_in(column)}
    if _complete_in(runs["wall_clock_sec"]):
        made["wall_time_sec"] = float(_total(runs["wall_clock_sec"]))
    if old["amount_applicable"] and _complete_in(runs["amount"]):
        made["amount"] = float(_total(runs["amount"]))
    columns = {
        "median_steps": runs["actions"],
        "median_tool_calls": runs["tool_calls"],
        "median_tokens": _tokens(runs),
    }
    return made | _medians(columns)


def _tokens(runs: pd.DataFrame) -> pd.Series[Any]:
    """Tokens of a run are in + out, as Python integers so that no sum overflows."""
    return runs["tokens_in"].astype(object) + runs["tokens_out"].astype(object)


def _complete_in(column: pd.Series[Any]) -> bool:
    """Whether the runs decide a figure: each of them carries the field."""
    return bool(column.notna().all())


def _total(column: pd.Series[Any]) -> Decimal:
    """Exact sum of numbers as the record writes them, the shortest decimals that read back as them."""
    total = Decimal(0)
    for value in column.tolist():
        total = _EXACT.add(total, Decimal(repr(value)))
    return total


def _medians(columns: Mapping[str, pd.Series[Any]]) -> dict[str, float]:
    """Medians of the columns that every run carries; of an even count, the mean of the middle two."""
    return {name: _median(column) for name, column in columns.items() if _complete_in(column)}


def _median(column: pd.Series[Any]) -> float:
    ordered = sorted(column.tolist())
    middle = (Fraction(repr(ordered[k])) for k in ((len(ordered) - 1) // 2, len(ordered) // 2))
    return float(sum(middle, Fraction(0)) / 2)


def canonical(record: Mapping[str, Any]) -> bytes:
    r"""Return a record as the bytes of its file: UTF-8, no white space, keys in their order, a final newline.

    Parameters
    ----------
    record : mapping
        A complete record.

    Returns
    -------
    bytes

    Examples
    --------
    >>> canonical({"n": 1, "rate": 0.5})
    b'{"n":1,"rate":0.5}\n'
    """
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def write(records: Mapping[str, Mapping[str, Any]], folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write each record to ``<id>.json`` in a folder, each file whole or not at all.

    Parameters
    ----------
    records : mapping of str to mapping
        Record id to record, from `score`.
    folder : path
        Made where missing; it may hold files of these names, which are replaced, and nothing else.

    Returns
    -------
    tuple of Path
        The files, in the order of `records`.

    Raises
    ------
    InputError
        If the folder holds something else, or cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write({"res-2026-01-01-a": {}}, folder)]
    ['res-2026-01-01-a.json']
    """
    target = Path(folder)
    paths = tuple(target / f"{record}.json" for record in records)
    try:
        target.mkdir(parents=True, exist_ok=True)
        others = sorted({entry.name for entry in target.iterdir()} - {path.name for path in paths})
        if others:
            raise InputError(
                f"the folder holds {others[0]!r}, which is none of the records written",
                "give a folder that is new or empty",
                file=target,
            )
        for path, record in zip(paths, records.values(), strict=True):
            _replace(path, canonical(record))
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or type(error).__name__}",
            "give a folder that can be made and written to",
            file=target,
        ) from None
    return paths


def _replace(path: Path, data: bytes) -> None:
    """Put a whole file in the place of the old one."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as new:
        try:
            new.write(data)
            new.flush()
            Path(new.name).chmod(0o644)
            Path(new.name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(new.name).unlink()
            raise
