"""The ten dimensions of every row, each figure with where it comes from.

A figure is recomputed wherever the runs decide it, otherwise it is as published. One that a record does not
carry is absent with its reason, never 0. Dimensions stand side by side and are never averaged or added up.
Action counts follow each harness version's own definition of an action and are compared only within one.

References
----------
.. [1] Methodology 0.1.0, "The ten dimensions" and decisions 7, 9, 10 and 11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import pandas as pd

from medgauge_lib.board import Board, Row
from medgauge_lib.checks import agrees
from medgauge_lib.difficulty import Provenance, Strata, difficulty
from medgauge_lib.estimators import AMOUNT_NOT_APPLICABLE, NO_SUCCESS, NOT_AVAILABLE, VETO_CATEGORIES
from medgauge_lib.labels import Labels, Publish
from medgauge_lib.outcomes import outcomes
from medgauge_lib.pairs import MAX_DISCORDANT, mcnemar_p
from medgauge_lib.records import RecordSet
from medgauge_lib.results import Absent, Estimate, Interval, Tabular
from medgauge_lib.schema import near
from medgauge_lib.usage import median, tokens

Better = Literal["higher", "lower", "neither"]

NAMES = {
    "M1": "effectiveness",
    "M2": "reliability",
    "M3": "efficiency",
    "M4": "difficulty",
    "M5": "optimality",
    "M6": "clinical compliance",
    "M7": "quality control",
    "M8": "exploration",
    "M9": "auditability",
    "M10": "robustness",
}
"""Codes and names of the dimensions, in their order."""

NO_INTERVAL = Absent("no interval is published for it")

NO_PASSING_RUN = Absent("no passing run")
STATED_NOT_AVAILABLE = Absent("not available, as the record publishes it")

_BLOCKS = {
    "M3": "m3_efficiency",
    "M5": "m5_optimality",
    "M7": "m7_quality_control",
    "M8": "m8_exploration",
    "M9": "m9_auditability",
    "M10": "m10_robustness",
}


@dataclass(frozen=True)
class DimensionFigure:
    """One figure of one row on one dimension.

    Attributes
    ----------
    dimension : str
        ``M1`` to ``M10``.
    name : str
        In the words of a result record.
    part : str
        Which of several figures of that name: a quartile, a category, a class; empty where there is one.
    value : Fraction, int, float, str or Absent
        Exact where recomputed. A text only for the harness's definition of an action.
    unit : str
        ``fraction``, ``difference``, ``ratio``, ``count``, ``tokens``, ``seconds``, ``p``, ``text``, or a
        currency.
    better : {"higher", "lower", "neither"}
        Which direction is better.
    provenance : {"recomputed", "as published"}
        Recomputed from runs (and labels, or b and c), or as the record publishes it.
    interval : Interval or Absent
        Its interval, or why there is none.
    counts : mapping of str to int
        Counts behind the value where they are known: ``n_tasks``, ``n_successes``, ``n_runs`` and others.
    harness : str or None
        Harness and version, for figures that are comparable only within one.
    remark : str
        Where the record publishes another figure than its runs give; empty otherwise.
    """

    dimension: str
    name: str
    part: str
    value: Fraction | int | float | str | Absent
    unit: str
    better: Better
    provenance: Provenance
    interval: Interval | Absent = NO_INTERVAL
    counts: Mapping[str, int] = field(default_factory=dict)
    harness: str | None = None
    remark: str = ""


@dataclass(frozen=True)
class RowDimensions:
    """All figures of one row.

    Attributes
    ----------
    id, label : str
        The row.
    harness : str
        Harness with its version.
    ranked : bool
        Whether the board ranks it.
    figures : tuple of DimensionFigure
        By dimension; every row has the same ones in the same order.
    """

    id: str
    label: str
    harness: str
    ranked: bool
    figures: tuple[DimensionFigure, ...]

    def dimension(self, code: str) -> tuple[DimensionFigure, ...]:
        """Figures of one dimension, ``M1`` to ``M10``."""
        if code not in NAMES:
            raise ValueError(f"code must be one of {', '.join(NAMES)}, but got {code!r}")
        return tuple(figure for figure in self.figures if figure.dimension == code)

    def figure(self, name: str, part: str = "") -> DimensionFigure:
        """One figure by its name and part."""
        for figure in self.figures:
            if (figure.name, figure.part) == (name, part):
                return figure
        raise KeyError(f"{name!r}, {part!r} is no figure of a dimension")


@dataclass(frozen=True, repr=False)
class Dimensions(Tabular):
    """The ten dimensions of every row of a board.

    Attributes
    ----------
    benchmark, benchmark_version, subset : str
        What they are of.
    rows : tuple of RowDimensions
        In board order, unranked rows last.
    """

    benchmark: str
    benchmark_version: str
    subset: str
    rows: tuple[RowDimensions, ...]

    def row(self, record: str) -> RowDimensions:
        """Figures of a record id."""
        for row in self.rows:
            if row.id == record:
                return row
        raise KeyError(f"{record!r} is no row of this board; {near(record, [row.id for row in self.rows])}")

    def by_harness(self) -> dict[str, tuple[RowDimensions, ...]]:
        """Rows of each harness version, in board order: only these share a definition of an action."""
        harnesses = sorted({row.harness for row in self.rows})
        return {name: tuple(row for row in self.rows if row.harness == name) for name in harnesses}

    def to_frame(self, code: str | None = None) -> pd.DataFrame:
        """One line a row and figure; absent values missing, with the reason beside them.

        Parameters
        ----------
        code : str, optional
            The dimension to give the figures of, ``M1`` to ``M10``; all of them where not given.

        Returns
        -------
        DataFrame

        Raises
        ------
        ValueError
            If there is no such dimension.
        """
        lines = [
            _line(row, figure)
            for row in self.rows
            for figure in (row.figures if code is None else row.dimension(code))
        ]
        # A dimension may have no number, or no text; the columns are then of the same kind all the same.
        kinds = dict.fromkeys(("value", "low", "high"), "float64") | dict.fromkeys(("text", "harness"), "str")
        return pd.DataFrame(lines, columns=_COLUMNS).astype(kinds)


def dimensions(
    records: RecordSet, board: Board, labels: Labels | None = None, *, publish: Publish = "public"
) -> Dimensions:
    """Figures of every row on M1 to M10.

    Parameters
    ----------
    records : RecordSet
        The records the board was computed from.
    board : Board
        Gives the subset, the rows and their order.
    labels : Labels, optional
        Labels of the closed side, from which M4 is recomputed.
    publish : {"public", "internal"}
        What M4 may show; see `difficulty.difficulty`.

    Returns
    -------
    Dimensions

    Notes
    -----
    M1, M2, M4 and M6 are of the board's subset, and so are M3's medians and cost per success. What else the
    record publishes under ``scores.dimensions`` is over its holdout runs: on a board of another subset it is
    absent, unless the record has no holdout run. A median needs the field on every passing run.

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> from medgauge_lib.board import board
    >>> records = demo.record_set("bm-demo-lab", "0.1.0")
    >>> first = dimensions(records, board(records)).rows[0]
    >>> first.figure("pass_pow_3").provenance, first.figure("brier").provenance
    ('recomputed', 'as published')
    """
    strata = difficulty(records, board, labels, publish=publish)
    defects = sorted(
        {
            defect
            for row in (*board.rows, *board.unranked)
            for defect in _published(records, row.id).get("M7", {}).get("by_defect_class_recall", {})
        }
    )
    return Dimensions(
        benchmark=board.benchmark,
        benchmark_version=board.benchmark_version,
        subset=board.subset,
        rows=tuple(
            RowDimensions(
                id=row.id,
                label=row.label,
                harness=row.harness,
                ranked=row.rank is not None,
                figures=tuple(_figures(records, board, row, strata.row(row.id), tuple(defects))),
            )
            for row in (*board.rows, *board.unranked)
        ),
    )


def _published(records: RecordSet, record: str) -> dict[str, Mapping[str, Any]]:
    """Blocks of ``scores.dimensions`` by code of the dimension."""
    blocks = records.published[record]["scores"].get("dimensions", {})
    return {code: blocks[name] for code, name in _BLOCKS.items() if name in blocks}


def _figures(
    records: RecordSet, board: Board, row: Row, strata: Strata, defects: tuple[str, ...]
) -> Iterator[DimensionFigure]:
    """All figures of one row, by dimension."""
    scores = records.published[row.id]["scores"]["by_subset"].get(board.subset, {})
    source = _Source(records, board.subset, row)
    yield from _effectiveness(row, scores)
    yield from _reliability(row, scores)
    yield from _efficiency(records, board, row, source)
    yield from _difficulty(strata)
    yield from _as_published("M5", source)
    yield from _compliance(row, scores)
    yield from _as_published("M7", source)
    for defect in defects:
        yield source.figure("M7", "by_defect_class_recall", defect, "fraction", "higher")
    yield from _as_published("M8", source)
    yield from _as_published("M9", source)
    yield from _robustness(source)


class _Source:
    """Published figures of one row under ``scores.dimensions``."""

    def __init__(self, records: RecordSet, subset: str, row: Row) -> None:
        runs = records.runs
        self.has_holdout = bool(((runs["id"] == row.id) & (runs["subset"] == "holdout")).any())
        self.fits = subset == "holdout" or not self.has_holdout
        self.subset = subset
        self.blocks = _published(records, row.id)
        self.row = row

    def value(self, code: str, name: str, part: str = "") -> Any:
        """Return a published value, or why there is none."""
        block = self.blocks.get(code)
        if block is None:
            return Absent(f"not applicable: the record carries no {_BLOCKS[code]}")
        if not self.fits:
            return Absent(f"not applicable: published over the holdout runs, not over {self.subset}")
        found = block.get(name)
        if part and found is not None:
            found = found.get(part)
        return Absent("not applicable: the record does not carry it") if found is None else found

    def counts(self, code: str) -> dict[str, int]:
        """Counts that a block publishes beside its figures."""
        block = self.blocks.get(code, {}) if self.fits else {}
        return {name: int(value) for name, value in block.items() if name.startswith("n_")}

    def figure(self, code: str, name: str, part: str, unit: str, better: Better) -> DimensionFigure:
        """Return a figure as published."""
        return DimensionFigure(
            dimension=code,
            name=name,
            part=part,
            value=self.value(code, name, part),
            unit=unit,
            better=better,
            provenance="as published",
            counts=self.counts(code),
            harness=self.row.harness if name in HARNESS_BOUND else None,
        )


HARNESS_BOUND = ("action_definition", "action_ratio", "redundancy_rate")
"""Figures that are compared only within one harness version."""

PUBLISHED: tuple[tuple[str, str, tuple[str, ...], str, Better], ...] = (
    ("M3", "action_definition", ("",), "text", "neither"),
    ("M3", "action_ratio", ("geometric_mean", "median", "q1", "q3"), "ratio", "lower"),
    ("M3", "amount_ratio", ("geometric_mean", "median", "q1", "q3"), "ratio", "lower"),
    ("M5", "redundancy_rate", ("",), "fraction", "lower"),
    ("M5", "order_violations", ("",), "count", "lower"),
    ("M5", "tool_deviations", ("",), "count", "lower"),
    ("M7", "defect_recall", ("",), "fraction", "higher"),
    ("M7", "defect_precision", ("",), "fraction", "higher"),
    ("M7", "defect_f1", ("",), "fraction", "higher"),
    ("M7", "defect_f1_task_equal", ("",), "fraction", "higher"),
    ("M7", "self_check_rate", ("",), "fraction", "higher"),
    ("M7", "traceability_rate", ("",), "fraction", "higher"),
    ("M7", "evidence_error_rate", ("",), "fraction", "lower"),
    ("M8", "appropriate_abstention_rate", ("",), "fraction", "higher"),
    ("M8", "over_abstention_rate", ("",), "fraction", "lower"),
    ("M8", "overreach_rate", ("",), "fraction", "lower"),
    ("M8", "brier", ("",), "score", "lower"),
    ("M9", "regrade_agreement", ("",), "fraction", "higher"),
    ("M9", "trajectory_completeness", ("",), "fraction", "higher"),
    ("M9", "env_delta", ("signed", "absolute"), "difference", "neither"),
    ("M10", "robustness_gap", ("signed", "absolute"), "difference", "neither"),
    ("M10", "flip_rate", ("",), "fraction", "lower"),
    ("M10", "mcnemar", ("b", "c"), "count", "neither"),
)
"""Figures that only the record decides: dimension, name, parts, unit, which direction is better."""


def _as_published(code: str, source: _Source) -> Iterator[DimensionFigure]:
    for dimension, name, parts, unit, better in PUBLISHED:
        if dimension == code:
            for part in parts:
                # Of a signed difference and its size, the size says how far off it is.
                yield source.figure(code, name, part, unit, "lower" if part == "absolute" else better)


def _from_runs(
    figure: tuple[str, str, str],
    exact: Fraction | int,
    unit: str,
    better: Better,
    published: Any,
    *,
    by: str = "its runs give",
    **more: Any,
) -> DimensionFigure:
    """Return a recomputed figure, with a remark where a published one does not agree."""
    remark = ""
    if isinstance(published, int | float) and not agrees(published, Fraction(exact)):
        shown = exact if isinstance(exact, int) else float(exact)
        remark = f"the record publishes {published!r}; {by} {shown!r}"
    return DimensionFigure(*figure, exact, unit, better, "recomputed", remark=remark, **more)


def _estimated(dimension: str, name: str, found: Estimate, scores: Mapping[str, Any]) -> DimensionFigure:
    counts = {"n_tasks": found.n_tasks}
    if found.n_successes is not None:
        counts["n_successes"] = found.n_successes
    return _from_runs(
        (dimension, name, ""),
        found.value,
        "fraction",
        "higher",
        scores.get(name),
        interval=found.interval,
        counts=counts,
    )


def _effectiveness(row: Row, scores: Mapping[str, Any]) -> Iterator[DimensionFigure]:
    yield _estimated("M1", "task_pass_rate", row.task_pass_rate, scores)
    yield _estimated("M1", "continuous_score", row.continuous_score, scores)


def _reliability(row: Row, scores: Mapping[str, Any]) -> Iterator[DimensionFigure]:
    yield _estimated("M2", "pass_at_3", row.pass_at_3, scores)
    yield _estimated("M2", "pass_pow_3", row.pass_pow_3, scores)
    yield _from_runs(
        ("M2", "instability", ""),
        row.instability,
        "fraction",
        "lower",
        scores.get("instability"),
        counts={"n_tasks": row.pass_pow_3.n_tasks},
    )


def _efficiency(records: RecordSet, board: Board, row: Row, source: _Source) -> Iterator[DimensionFigure]:
    yield from _as_published("M3", source)
    taken = board.outcomes if row.rank is not None else outcomes(records, board.subset, rows=(row.id,))
    passing = taken.runs[(taken.runs["id"] == row.id) & taken.runs["passed"]]
    columns: tuple[tuple[str, pd.Series[Any], str], ...] = (
        ("median_tool_calls", passing["tool_calls"], "count"),
        ("median_tokens", tokens(passing), "tokens"),
        ("median_wall_clock_sec", passing["wall_clock_sec"], "seconds"),
    )
    for name, column, unit in columns:
        found = NO_PASSING_RUN if passing.empty else median(column)
        counts = {"n_runs": len(passing)}
        yield _or_published(("M3", name, ""), found, unit, source, counts)
    n_with_success = int((taken.passes[:, taken.rows.index(row.id)] > 0).sum())
    yield _or_published(
        ("M3", "cost_per_success", ""),
        row.cost_per_success,
        row.currency or "amount",
        source,
        {"n_tasks": n_with_success},
    )


def _or_published(
    figure: tuple[str, str, str],
    found: Fraction | Absent,
    unit: str,
    source: _Source,
    counts: Mapping[str, int],
) -> DimensionFigure:
    """Return a figure of M3 from runs; as published where they do not decide it; else why there is none."""
    code, name, _ = figure
    published = source.value(code, name)
    if not source.has_holdout and isinstance(published, int | float):
        return DimensionFigure(*figure, published, unit, "lower", "as published")  # decision 11
    if not source.has_holdout and published == NOT_AVAILABLE:
        return DimensionFigure(*figure, STATED_NOT_AVAILABLE, unit, "lower", "as published")  # decision 11
    if isinstance(found, Fraction):
        made = _from_runs(figure, found, unit, "lower", published, counts=counts)
        if published == NOT_AVAILABLE:
            remark = f"the record publishes {NOT_AVAILABLE}; its runs give {float(found)!r}"
            return replace(made, remark=remark)
        return made
    decided = found in (AMOUNT_NOT_APPLICABLE, NO_SUCCESS, NO_PASSING_RUN)
    if decided or not isinstance(published, int | float):
        remark = ""
        if decided and isinstance(published, int | float):
            remark = f"the record publishes {published!r}; by its runs: {found.reason}"
        reason = found if decided else Absent(f"not applicable: {found.reason}")
        return DimensionFigure(*figure, reason, unit, "lower", "recomputed", counts=counts, remark=remark)
    return DimensionFigure(*figure, published, unit, "lower", "as published")


def _difficulty(strata: Strata) -> Iterator[DimensionFigure]:
    for stratum in strata.strata:
        for name in ("task_pass_rate", "pass_pow_3"):
            found: Estimate | Absent = getattr(stratum, name)
            n_tasks = stratum.n_tasks
            counts = {} if isinstance(n_tasks, Absent) else {"n_tasks": n_tasks}
            if isinstance(found, Estimate) and found.n_successes is not None:
                counts["n_successes"] = found.n_successes
            yield DimensionFigure(
                dimension="M4",
                name=name,
                part=f"class {stratum.difficulty}",
                value=found if isinstance(found, Absent) else found.value,
                unit="fraction",
                better="higher",
                provenance=stratum.provenance,
                interval=found if isinstance(found, Absent) else found.interval,
                counts=counts,
                remark=stratum.remark,
            )


def _compliance(row: Row, scores: Mapping[str, Any]) -> Iterator[DimensionFigure]:
    tally = row.tallies
    yield _from_runs(
        ("M6", "veto_rate", ""),
        tally.veto_rate,
        "fraction",
        "lower",
        scores.get("veto_rate"),
        counts={"n_runs": tally.n_runs, "n_vetoed": tally.n_vetoed},
    )
    published = scores.get("veto_by_category")
    for category in VETO_CATEGORIES:
        yield _from_runs(
            ("M6", "veto_by_category", category),
            tally.vetoes.get(category, 0),
            "count",
            "lower",
            None if published is None else published.get(category, 0),
            counts={"n_runs": tally.n_runs},
        )
    rate = scores.get("compliance_rate", Absent("not applicable: the record does not carry it"))
    yield DimensionFigure("M6", "compliance_rate", "", rate, "fraction", "higher", "as published")


def _robustness(source: _Source) -> Iterator[DimensionFigure]:
    yield from _as_published("M10", source)
    stated = source.value("M10", "mcnemar")
    figure = ("M10", "mcnemar", "p_value")
    if isinstance(stated, Absent):
        yield DimensionFigure(*figure, stated, "p", "neither", "recomputed")
    elif stated["b"] + stated["c"] > MAX_DISCORDANT:
        yield source.figure(*figure, "p", "neither")
    else:
        counts = {"b": int(stated["b"]), "c": int(stated["c"])} | source.counts("M10")
        p_value = mcnemar_p(counts["b"], counts["c"])
        published = stated["p_value"]
        yield _from_runs(figure, p_value, "p", "neither", published, by="b and c give", counts=counts)
    for bound in ("lower", "upper"):
        yield source.figure("M10", "paired_bootstrap", bound, "difference", "neither")


_COLUMNS = (
    *("id", "label", "ranked", "dimension", "dimension_name", "figure", "part"),
    *("value", "text", "low", "high"),
    *("unit", "better", "provenance", "reason", "counts", "harness", "remark"),
)


def _line(row: RowDimensions, figure: DimensionFigure) -> tuple[Any, ...]:
    """A figure as one line of a table."""
    value, interval = figure.value, figure.interval
    counts = ", ".join(f"{name} {n}" for name, n in figure.counts.items())
    return (
        *(row.id, row.label, row.ranked),
        *(figure.dimension, NAMES[figure.dimension], figure.name, figure.part),
        None if isinstance(value, Absent | str) else float(value),
        value if isinstance(value, str) else None,
        *((None, None) if isinstance(interval, Absent) else (interval.low, interval.high)),
        *(figure.unit, figure.better, figure.provenance),
        value.reason if isinstance(value, Absent) else "",
        *(counts, figure.harness, figure.remark),
    )
