"""Failures: why runs failed, who or what an error is attributed to, and which gates were hit.

Reasons are what the verifier recorded, over all live runs of a record whatever their subset; beside them
stand the failed runs counted from the runs, with the difference. Errors and vetoes are counted from runs,
each subset on its own. Constraints are as published, over all live runs. Nothing is added over rows.

References
----------
.. [1] Methodology 0.1.0, "Hard gates", "Errors", "Failures" and decisions 10 and 11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import pandas as pd

from medgauge_lib.board import Board
from medgauge_lib.checks import agrees
from medgauge_lib.estimators import SUBJECT_SIDE, VETO_CATEGORIES
from medgauge_lib.outcomes import SUBSETS, live_runs
from medgauge_lib.records import INITIATIVE, RecordSet, is_verified
from medgauge_lib.results import Absent, Tabular, as_float

REASONS = (
    "missed",
    "overreported",
    "fabricated_evidence",
    "format",
    "step_limit",
    "input_modified",
    "corrected_value",
    "followed_injection",
    "other",
)
"""Reasons of a failed run, in the order of the methodology."""

KINDS = ("empty_response", "timeout", "network", "server", "output_error", "forbidden_action", "other")
"""Kinds of an error, in the order of the record."""

ATTRIBUTIONS = (*SUBJECT_SIDE, *INITIATIVE)
"""Attributions of an error: the subject's side, then the initiative's."""

NO_FAILED_RUN = Absent("no failed run")
NO_REASONS = Absent("the record does not carry it")


@dataclass(frozen=True)
class Reason:
    """Failed runs of one reason, as published.

    Attributes
    ----------
    name : str
        One of `REASONS`.
    n_runs : int
        Runs with that reason; one that the record does not name has none.
    share : Fraction or Absent
        Of the failed runs counted from the runs; above 1 where more are attributed than failed.
    """

    name: str
    n_runs: int
    share: Fraction | Absent


@dataclass(frozen=True)
class SubsetCounts:
    """Errors and vetoes of one subset, recomputed from its live runs.

    Attributes
    ----------
    subset : str
        Subsets are never pooled.
    n_runs, n_failed : int
        Live runs, and those of them that failed.
    errors : mapping of (attribution, kind) to int
        Runs that ended in an error; those that occur. An initiative-side error remains only in a community
        record, which cannot make a task void.
    vetoes : mapping of str to int
        Runs that hit each gate, by category; those that occur. A run may hit several.
    n_vetoed : int
        Runs that hit any gate.
    remarks : tuple of str
        Where the record publishes other figures.
    """

    subset: str
    n_runs: int
    n_failed: int
    errors: Mapping[tuple[str, str], int]
    vetoes: Mapping[str, int]
    n_vetoed: int
    remarks: tuple[str, ...] = ()

    @property
    def n_subject_errors(self) -> int:
        """Runs with an error on the subject's side."""
        return sum(n for (source, _), n in self.errors.items() if source in SUBJECT_SIDE)

    @property
    def error_rate_subject(self) -> Fraction:
        """Share of runs with a subject-side error, in [0, 1]; lower is better."""
        return Fraction(self.n_subject_errors, self.n_runs)


@dataclass(frozen=True)
class Constraint:
    """Hits of one constraint, as published over all live runs of the record.

    Attributes
    ----------
    name : str
        The constraint in the record's words: untrusted text.
    source : {"gate", "grading reference"}
        ``veto_hits`` or ``assertion_veto_hits``.
    hits : int
        Times it was hit.
    """

    name: str
    source: Literal["gate", "grading reference"]
    hits: int


@dataclass(frozen=True)
class RowFailures:
    """Failures of one record.

    Attributes
    ----------
    id, label : str
        The row.
    ranked : bool
        Whether the board ranks it.
    n_runs, n_failed : int
        Live runs of all subsets, and those of them that failed, counted from the runs.
    reasons : tuple of Reason, or Absent
        Every reason, in the order of `REASONS`; absent where the record carries no ``failure_attribution``,
        which says nothing about its failed runs.
    subsets : tuple of SubsetCounts
        One a subset that the record has live runs of.
    constraints : tuple of Constraint
        Gates, then grading references, each in byte order of the name.
    """

    id: str
    label: str
    ranked: bool
    n_runs: int
    n_failed: int
    reasons: tuple[Reason, ...] | Absent
    subsets: tuple[SubsetCounts, ...]
    constraints: tuple[Constraint, ...]

    @property
    def n_attributed(self) -> int | Absent:
        """Failed runs that carry a recorded reason; absent where the record carries no reasons."""
        if isinstance(self.reasons, Absent):
            return self.reasons
        return sum(reason.n_runs for reason in self.reasons)

    @property
    def difference(self) -> int | Absent:
        """Failed runs with a reason less failed runs: negative where reasons are missing; 0 in good order."""
        told = self.n_attributed
        return told if isinstance(told, Absent) else told - self.n_failed

    @property
    def any_veto(self) -> bool:
        """Whether a live run of any subset hit a gate: such a row is marked on every page."""
        return any(subset.n_vetoed for subset in self.subsets)

    def subset(self, name: str) -> SubsetCounts | Absent:
        """Counts of one subset."""
        for found in self.subsets:
            if found.subset == name:
                return found
        return Absent(f"no live run of subset {name}")


@dataclass(frozen=True, repr=False)
class Failures(Tabular):
    """Failures of every record of a benchmark version.

    Attributes
    ----------
    benchmark, benchmark_version : str
        What was run.
    rows : tuple of RowFailures
        In board order, then the community records in ascending id.
    """

    benchmark: str
    benchmark_version: str
    rows: tuple[RowFailures, ...]

    def row(self, record: str) -> RowFailures:
        """Failures of a record id."""
        for row in self.rows:
            if row.id == record:
                return row
        raise KeyError(f"{record!r} is no record of this set")

    def to_frame(self) -> pd.DataFrame:
        """One line a row: failed runs, those with a reason, the difference, and why there is none."""
        lines = [
            {
                "id": row.id,
                "label": row.label,
                "ranked": row.ranked,
                "n_runs": row.n_runs,
                "n_failed": row.n_failed,
                "n_attributed": _count(row.n_attributed),
                "difference": _count(row.difference),
                "any_veto": row.any_veto,
                "absence": str(row.reasons) if isinstance(row.reasons, Absent) else "",
            }
            for row in self.rows
        ]
        return pd.DataFrame(lines).astype({"n_attributed": "Int64", "difference": "Int64"})

    def reasons_frame(self) -> pd.DataFrame:
        """One line a row and reason: runs, share of the failed runs, and why either is missing."""
        lines = [(row.id, row.label, *told, "as published") for row in self.rows for told in _told(row)]
        columns = ["id", "label", "reason", "n_runs", "share", "absence", "provenance"]
        return pd.DataFrame(lines, columns=columns).astype({"n_runs": "Int64", "share": "float64"})

    def subsets_frame(self) -> pd.DataFrame:
        """One line a row and subset: runs, failed runs, subject-side errors and their rate, vetoed runs."""
        lines = [
            {
                **_place(row, found),
                "n_runs": found.n_runs,
                "n_failed": found.n_failed,
                "n_subject_errors": found.n_subject_errors,
                "error_rate_subject": float(found.error_rate_subject),
                "n_vetoed": found.n_vetoed,
                "provenance": "recomputed",
                "remark": "; ".join(found.remarks),
            }
            for row in self.rows
            for found in row.subsets
        ]
        return pd.DataFrame(lines)

    def errors_frame(self) -> pd.DataFrame:
        """One line a row, subset, attribution and kind that occur."""
        lines = [
            (*_place(row, found).values(), source, kind, n, "recomputed")
            for row in self.rows
            for found in row.subsets
            for (source, kind), n in found.errors.items()
        ]
        columns = ["id", "label", "subset", "error_attribution", "error_kind", "n_runs", "provenance"]
        return pd.DataFrame(lines, columns=columns)

    def vetoes_frame(self) -> pd.DataFrame:
        """One line a row, subset and category: runs that hit the gate, 0 where none did."""
        lines = [
            (*_place(row, found).values(), category, found.vetoes.get(category, 0), "recomputed")
            for row in self.rows
            for found in row.subsets
            for category in VETO_CATEGORIES
        ]
        return pd.DataFrame(lines, columns=["id", "label", "subset", "category", "n_runs", "provenance"])

    def constraints_frame(self) -> pd.DataFrame:
        """One line a row and constraint that the record counts."""
        lines = [
            (row.id, row.label, found.name, found.source, found.hits, "as published")
            for row in self.rows
            for found in row.constraints
        ]
        return pd.DataFrame(lines, columns=["id", "label", "constraint", "source", "hits", "provenance"])


def failures(records: RecordSet, board: Board) -> Failures:
    """Count the failures of every record: reasons, errors, vetoes.

    Parameters
    ----------
    records : RecordSet
        The records the board was computed from.
    board : Board
        Gives the order of the rows. Its subset does not matter here: reasons are over all live runs, and
        errors and vetoes are given for each subset.

    Returns
    -------
    Failures

    Examples
    --------
    >>> from medgauge_lib import demo
    >>> from medgauge_lib.board import board
    >>> records = demo.record_set("bm-demo-ward", "1.0.0")
    >>> first = failures(records, board(records)).rows[0]
    >>> first.n_attributed - first.n_failed == first.difference
    True
    """
    runs = dict(iter(live_runs(records).groupby("id", sort=False)))
    labels = dict(zip(records.subjects["id"], records.subjects["label"], strict=True))
    apart = records.subjects.loc[~records.subjects["verified"], "id"]
    return Failures(
        records.benchmark,
        records.benchmark_version,
        tuple(
            _row(records.published[record], labels[record], runs.get(record, records.runs.iloc[:0]))
            for record in (*board.order, *apart)
        ),
    )


def _row(published: Mapping[str, Any], label: str, runs: pd.DataFrame) -> RowFailures:
    failed = int((~runs["passed"]).sum())
    scores = published["scores"]
    found = [(subset, runs[runs["subset"] == subset]) for subset in SUBSETS]
    return RowFailures(
        id=published["id"],
        label=label,
        ranked=is_verified(published),
        n_runs=len(runs),
        n_failed=failed,
        reasons=_reasons(published.get("failure_attribution"), failed),
        subsets=tuple(
            _subset(subset, part, scores["by_subset"].get(subset, {})) for subset, part in found if len(part)
        ),
        constraints=(
            *(Constraint(name, "gate", int(n)) for name, n in sorted(scores["veto_hits"].items())),
            *(
                Constraint(name, "grading reference", int(n))
                for name, n in sorted(scores.get("assertion_veto_hits", {}).items())
            ),
        ),
    )


def _reasons(recorded: Mapping[str, Any] | None, failed: int) -> tuple[Reason, ...] | Absent:
    """Return every reason of the record's block, or that the record carries no block."""
    if recorded is None:
        return NO_REASONS
    counts = {name: int(recorded.get(name, 0)) for name in REASONS}
    return tuple(
        Reason(name, n, Fraction(n, failed) if failed else NO_FAILED_RUN) for name, n in counts.items()
    )


def _subset(subset: str, runs: pd.DataFrame, published: Mapping[str, Any]) -> SubsetCounts:
    pairs = list(zip(runs["error_attribution"], runs["error_kind"], strict=True))
    hits = [category for categories in runs["veto_categories"] for category in categories]
    counts = SubsetCounts(
        subset=subset,
        n_runs=len(runs),
        n_failed=int((~runs["passed"]).sum()),
        errors={
            pair: pairs.count(pair)
            for pair in ((source, kind) for source in ATTRIBUTIONS for kind in KINDS)
            if pair in pairs
        },
        vetoes={category: hits.count(category) for category in VETO_CATEGORIES if category in hits},
        n_vetoed=sum(map(bool, runs["veto_categories"])),
    )
    return replace(counts, remarks=tuple(_remarks(counts, published)))


def _remarks(counts: SubsetCounts, published: Mapping[str, Any]) -> Iterator[str]:
    """Say where the record publishes other counts or another rate than its runs give."""
    if not published:
        return
    sources = dict.fromkeys(ATTRIBUTIONS, 0)
    for (source, _), n in counts.errors.items():
        sources[source] += n
    for source, n in sources.items():
        stated = published["errors"].get(source, 0)
        if stated != n:
            yield f"the record publishes {stated} errors of {source}; its runs give {n}"
    for category in VETO_CATEGORIES if "veto_by_category" in published else ():
        stated, n = published["veto_by_category"].get(category, 0), counts.vetoes.get(category, 0)
        if stated != n:
            yield f"the record publishes {stated} vetoes of {category}; its runs give {n}"
    rate = published.get("error_rate_subject")
    if rate is not None and not agrees(rate, counts.error_rate_subject):
        yield (
            f"the record publishes a subject-side error rate of {rate!r}; "
            f"its runs give {float(counts.error_rate_subject)!r}"
        )


def _place(row: RowFailures, found: SubsetCounts) -> dict[str, str]:
    return {"id": row.id, "label": row.label, "subset": found.subset}


def _told(row: RowFailures) -> Iterator[tuple[str, int | None, float | None, str]]:
    """Name, runs, share and absence of every reason of a row."""
    if isinstance(row.reasons, Absent):
        yield from ((name, None, None, str(row.reasons)) for name in REASONS)
        return
    for reason in row.reasons:
        missing = isinstance(reason.share, Absent)
        yield reason.name, reason.n_runs, as_float(reason.share), str(reason.share) if missing else ""


def _count(n: int | Absent) -> int | None:
    return None if isinstance(n, Absent) else n
