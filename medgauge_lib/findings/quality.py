"""The report of finding quality: submissions checked, reviews bound and scored, everything a page shows.

A submission that fails a gate has no score; a review that is refused is named, and its task waits for
another. Every figure that does not exist says why.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import pandas as pd

from medgauge_lib.errors import InputError
from medgauge_lib.findings.aggregates import (
    Quotation,
    Status,
    Summary,
    TaskQuality,
    reason,
    summary,
    summary_document,
    task_quality,
)
from medgauge_lib.findings.contract import (
    JUDGE_CONFIG,
    SCORING_VERSION,
    Benchmark,
    canonical_json,
    read_benchmark,
    read_json,
    require,
)
from medgauge_lib.findings.corpus import Corpus
from medgauge_lib.findings.gates import Failure
from medgauge_lib.findings.packet import STATEMENT, draw
from medgauge_lib.findings.review import WEIGHTS, review_failures, score_review
from medgauge_lib.findings.statistics import Checked, Statistic, check_task, stray_failures
from medgauge_lib.intervals import SEED
from medgauge_lib.progress import steps
from medgauge_lib.results import Absent, Tabular, as_float
from medgauge_lib.schema import quoted

STATEMENTS = (
    "Scores given by a model carry evaluator error.",
    STATEMENT,
    "The conditional mean and its interval are over scored tasks only.",
    "An abstention is valid and has no score; it is no verified absence of findings.",
)
"""What stands beside every score."""

NO_REFERENCE = Absent("there are no fixed conclusions to cover")

_CONTEXT = 120
_BIN = 10


@dataclass(frozen=True, repr=False)
class QualityReport(Tabular):
    """Everything a report of finding quality shows.

    Attributes
    ----------
    benchmark_version, tasks_sha256, reference_sha256 : str
        What was scored.
    reviewer_method : str or Absent
        The one method of all reviews.
    judge : mapping or Absent
        The judge's configuration as it came.
    tasks : tuple of TaskQuality
        In ascending order of id.
    overall : Summary
        Over all tasks.
    by_source, by_kind : mapping
        Name to `Summary`, ascending.
    strays : tuple of Failure
        Files that belong to no task.
    """

    benchmark_version: str
    tasks_sha256: str
    reference_sha256: str
    reviewer_method: str | Absent
    judge: Mapping[str, Any] | Absent
    tasks: tuple[TaskQuality, ...]
    overall: Summary
    by_source: Mapping[str, Summary]
    by_kind: Mapping[str, Summary]
    strays: tuple[Failure, ...]

    @property
    def remarks(self) -> tuple[Failure, ...]:
        """Failed gates, refused reviews, notes and stray files, in the order of the tasks."""
        of_tasks = [(*task.failures, *task.refusals, *task.notes) for task in self.tasks]
        return (*(remark for remarks in of_tasks for remark in remarks), *self.strays)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a task: ``task_id, source, kind, status, quality, reason, findings``.

        `quality` is in points and None where there is none, for the reason beside it.
        """
        return pd.DataFrame(
            {
                "task_id": [task.task_id for task in self.tasks],
                "source": [task.source for task in self.tasks],
                "kind": [task.kind for task in self.tasks],
                "status": [task.status for task in self.tasks],
                "quality": pd.Series([as_float(task.quality) for task in self.tasks], dtype=object),
                "reason": [str(reason(task.quality) or "") for task in self.tasks],
                "findings": [len(task.claims) for task in self.tasks],
            }
        )

    def findings_frame(self) -> pd.DataFrame:
        """Return one row an assessed finding: task, claim, judgements, dimensions and quality."""
        rows = [
            {
                "task_id": task.task_id,
                "finding_id": finding.finding_id,
                "claim": task.claims[finding.finding_id],
                "support": finding.support,
                "task_fulfilled": finding.task_fulfilled,
                "duplicate_of": finding.duplicate_of,
                **{name: float(value) for name, value in finding.dimensions.items()},
                "quality": as_float(finding.quality),
                "rationale": finding.rationale,
            }
            for task in self.tasks
            for finding in task.findings
        ]
        columns = ["task_id", "finding_id", "claim", "support", "task_fulfilled", "duplicate_of"]
        return pd.DataFrame(rows, columns=[*columns, *WEIGHTS, "quality", "rationale"], dtype=object)

    def evidence_frame(self) -> pd.DataFrame:
        """Return one row a quotation: ``task_id, finding_id, doc_id, role, before, quote, after``."""
        names = ["finding_id", "doc_id", "role", "before", "quote", "after"]
        rows = [
            (task.task_id, *(getattr(quotation, name) for name in names))
            for task in self.tasks
            for quotation in task.quotations
        ]
        return pd.DataFrame(rows, columns=["task_id", *names])

    def effects_frame(self) -> pd.DataFrame:
        """Return one row a valid finding and axis: how its effect holds up, in percentage points.

        ``task_id, finding_id, axis``, then ``crude`` (all known documents), ``covered`` (those in eligible
        strata), ``standardized, lowest, highest`` (over these strata) and ``without_largest``; None where an
        effect does not exist. ``reversal`` says whether crude and standardized effect have opposite signs.
        """
        rows = [
            (task.task_id, finding_id, axis, *map(as_float, effects), _opposite(effects[0], effects[2]))
            for task in self.tasks
            for finding_id, statistics in task.statistics.items()
            for axis in _axes(statistics)
            for effects in [_effects(statistics, axis)]
        ]
        names = ["crude", "covered", "standardized", "lowest", "highest", "without_largest", "reversal"]
        return pd.DataFrame(rows, columns=["task_id", "finding_id", "axis", *names], dtype=object)

    def judge_frame(self) -> pd.DataFrame:
        """Return the judge's configuration: ``setting, value``, ascending; empty without reviews."""
        judge = {} if isinstance(self.judge, Absent) else self.judge
        values = [
            value if isinstance(value, str) else canonical_json(value).decode() for value in judge.values()
        ]
        frame = pd.DataFrame({"setting": list(judge), "value": values}, dtype=object)
        return frame.sort_values("setting", ignore_index=True)

    def summary_frame(self) -> pd.DataFrame:
        """Return one row a summary: ``by`` (all, source, kind), ``name``, and the fields of `Summary`."""
        groups = [("all", "all tasks", self.overall)]
        groups += [("source", name, value) for name, value in self.by_source.items()]
        groups += [("kind", name, value) for name, value in self.by_kind.items()]
        rows = [{"by": by, "name": name, **summary_document(value)} for by, name, value in groups]
        return pd.DataFrame(rows, dtype=object)

    def distribution_frame(self) -> pd.DataFrame:
        """Return how many scored tasks lie in each ten points: ``low, high, tasks``; 100 is in the last."""
        values = [task.quality for task in self.tasks if isinstance(task.quality, Fraction)]
        counts = Counter(min(int(value // _BIN), 100 // _BIN - 1) for value in values)
        lows = range(0, 100, _BIN)
        return pd.DataFrame(
            {
                "low": list(lows),
                "high": [low + _BIN for low in lows],
                "tasks": [counts[low // _BIN] for low in lows],
            }
        )

    def remarks_frame(self) -> pd.DataFrame:
        """Return one row a remark: ``task_id, finding_id, gate, pointer, found, right``."""
        names = ["task_id", "finding_id", "gate", "pointer", "found", "right"]
        rows = [[getattr(remark, name) for name in names] for remark in self.remarks]
        return pd.DataFrame(rows, columns=names)

    def to_document(self) -> dict[str, Any]:
        """Return the report as JSON values; an absent figure is null, with its reason beside it."""
        return {
            "scoring_version": SCORING_VERSION,
            "benchmark_version": self.benchmark_version,
            "tasks_sha256": self.tasks_sha256,
            "reference_sha256": self.reference_sha256,
            "reference_coverage": None,
            "reference_coverage_reason": NO_REFERENCE.reason,
            "reviewer_method": None if isinstance(self.reviewer_method, Absent) else self.reviewer_method,
            "judge": None if isinstance(self.judge, Absent) else dict(self.judge),
            "statements": list(STATEMENTS),
            **summary_document(self.overall),
            "by_source": {name: summary_document(value) for name, value in self.by_source.items()},
            "by_kind": {name: summary_document(value) for name, value in self.by_kind.items()},
            "task_scores": [_task_document(task) for task in self.tasks],
            "strays": [vars(stray) for stray in self.strays],
        }


def _axes(statistics: Mapping[str, Statistic]) -> list[str]:
    pattern = re.compile("robustness_(.+)_strata_n")
    found = (pattern.fullmatch(name) for name in statistics)
    return [match[1] for match in found if match and not match[1].endswith("_eligible")]


def _effects(statistics: Mapping[str, Statistic], axis: str) -> list[Fraction | None]:
    crude = "delta_known_pp" if "delta_known_pp" in statistics else "conditional_difference_pp"
    names = ("covered_crude", "standardized", "min_stratum", "max_stratum", "drop_largest")
    effects = [statistics[crude], *(statistics[f"robustness_{axis}_{name}_delta_pp"] for name in names)]
    return [None if effect is None else Fraction(effect) for effect in effects]


def _opposite(one: Fraction | None, other: Fraction | None) -> bool:
    return one is not None and other is not None and one * other < 0


def _task_document(task: TaskQuality) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "source": task.source,
        "kind": task.kind,
        "status": task.status,
        "quality": as_float(task.quality),
        "quality_reason": reason(task.quality),
        "abstention_reason": task.abstention_reason,
        "findings": [
            {
                "finding_id": finding.finding_id,
                "support": finding.support,
                "task_fulfilled": finding.task_fulfilled,
                "duplicate_of": finding.duplicate_of,
                **{name: float(value) for name, value in finding.dimensions.items()},
                "rationale": finding.rationale,
                "quality": as_float(finding.quality),
                "quality_reason": reason(finding.quality),
            }
            for finding in task.findings
        ],
        "failures": [vars(failure) for failure in task.failures],
        "refused_review": [vars(failure) for failure in task.refusals],
        "notes": [vars(note) for note in task.notes],
    }


def score_findings(
    data: str | os.PathLike[str],
    submissions: str | os.PathLike[str],
    reviews: str | os.PathLike[str],
    *,
    seed: int = SEED,
) -> QualityReport:
    """Check every submission, bind every review, and score: the one call a report needs.

    Parameters
    ----------
    data : path
        Folder with ``tasks.json``, ``release.json`` and the corpora.
    submissions, reviews : path
        Folders with one file a task; beside the reviews the judge's configuration.
    seed : int
        Of the resamples of the intervals.

    Returns
    -------
    QualityReport
        Every task has a status. Submissions that fail a gate and reviews that are refused have no score, and
        the reasons are kept.

    Raises
    ------
    InputError
        Where the data cannot be used, reviews lack the judge's configuration, or reviews of different
        methods would be mixed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from medgauge_lib.findings.demo import write_demo
    >>> with TemporaryDirectory() as place:
    ...     demo = write_demo(Path(place))
    ...     report = score_findings(demo.data, demo.submissions, demo.reviews)
    >>> report.overall.scored_tasks, report.overall.tasks
    (8, 15)
    """
    benchmark = read_benchmark(data)
    reference = benchmark.reference_sha256()
    folder, review_folder = Path(submissions), Path(reviews)
    strays = (
        *stray_failures(benchmark, folder, "submission"),
        *stray_failures(benchmark, review_folder, "review"),
    )
    judge = _judge(review_folder, benchmark)
    methods: dict[str, Path] = {}
    tasks = []
    for task in steps(benchmark.tasks, unit="task"):
        path = review_folder / f"{task.task_id}.json"
        scored, method = _score_task(check_task(benchmark, task, folder), path, judge, reference)
        tasks.append(scored)
        if method is not None:
            methods.setdefault(method, path)
    return QualityReport(
        benchmark_version=str(benchmark.version),
        tasks_sha256=benchmark.tasks_sha256,
        reference_sha256=reference,
        reviewer_method=_one_method(methods),
        judge=judge,
        tasks=tuple(tasks),
        overall=summary(tasks, seed=seed),
        by_source=_summaries(tasks, "source", seed),
        by_kind=_summaries(tasks, "kind", seed),
        strays=strays,
    )


def _summaries(tasks: Sequence[TaskQuality], axis: str, seed: int) -> dict[str, Summary]:
    names = sorted({getattr(task, axis) for task in tasks})
    return {
        name: summary([task for task in tasks if getattr(task, axis) == name], seed=seed) for name in names
    }


def _judge(reviews: Path, benchmark: Benchmark) -> Mapping[str, Any] | Absent:
    path = reviews / JUDGE_CONFIG
    if path.exists():
        config: Mapping[str, Any] = read_json(path).value
        require(config, "judge_config", path)
        return config
    if any((reviews / f"{task.task_id}.json").exists() for task in benchmark.tasks):
        raise InputError(
            "the judge's configuration is missing",
            "put model, max_input_chars, audit_documents and audit_seed there",
            file=path,
        )
    return Absent("there are no reviews")


def _one_method(methods: Mapping[str, Path]) -> str | Absent:
    if len(methods) > 1:
        (first, one), (second, other) = sorted(methods.items())[:2]
        raise InputError(
            f"its reviewer method is {quoted(second)}, but {one.name} has {quoted(first)}",
            "score reviews of different methods apart; they are never mixed",
            file=other,
            pointer="/reviewer_method",
        )
    return next(iter(methods), Absent("no review was accepted"))


def _score_task(
    checked: Checked, path: Path, judge: Mapping[str, Any] | Absent, reference_sha256: str
) -> tuple[TaskQuality, str | None]:
    """Return a task's quality, and the reviewer method of an accepted review."""
    if checked.status != "valid" or checked.corpus is None:
        return _unscored(checked, path), None
    review, refusals = _read_review(path, checked, reference_sha256)
    findings = () if review is None else score_review(review, checked.submission)
    status: Status = "pending_review"
    quality: Fraction | Absent = Absent("its review was refused" if refusals else "it waits for a review")
    notes: tuple[Failure, ...] = ()
    if review is not None:
        quality = task_quality(findings)
        status = "scored" if isinstance(quality, Fraction) else "unresolved"
        notes = _audit_notes(review, checked, judge)
    submitted = checked.submission["findings"]
    scored = TaskQuality(
        task_id=checked.task.task_id,
        source=checked.task.source,
        kind=checked.task.kind,
        status=status,
        quality=quality,
        findings=findings,
        refusals=refusals,
        notes=notes,
        claims={finding["finding_id"]: finding["claim"] for finding in submitted},
        statistics=checked.statistics,
        quotations=_quotations(submitted, checked.corpus),
    )
    return scored, None if review is None else review["reviewer_method"]


def _unscored(checked: Checked, path: Path) -> TaskQuality:
    reasons = {
        "missing": "there is no submission",
        "invalid": "the submission failed a gate",
        "abstained": "the agent abstained",
    }
    task = checked.task
    notes: tuple[Failure, ...] = ()
    if path.exists():
        found = f"a review, though {reasons[checked.status]}"
        notes = (Failure(task.task_id, "", "review", "", found, "no review"),)
    return TaskQuality(
        task.task_id,
        task.source,
        task.kind,
        cast(Status, checked.status),
        Absent(reasons[checked.status]),
        failures=checked.failures,
        notes=notes,
        abstention_reason=checked.submission["abstention_reason"] if checked.status == "abstained" else "",
    )


def _read_review(
    path: Path, checked: Checked, reference_sha256: str
) -> tuple[Mapping[str, Any] | None, tuple[Failure, ...]]:
    """Return an accepted review, or why it was refused; neither where there is none."""
    if not path.exists() and not path.is_symlink():
        return None, ()
    try:
        review: Mapping[str, Any] = read_json(path).value
    except InputError as error:
        return None, (
            Failure(checked.task.task_id, "", "review", "", f"a file that {error.wrong}", error.remedy),
        )
    refusals = review_failures(review, checked, reference_sha256)
    return (None, refusals) if refusals else (review, ())


def _audit_notes(
    review: Mapping[str, Any], checked: Checked, judge: Mapping[str, Any] | Absent
) -> tuple[Failure, ...]:
    """Return a note where the documents that were reviewed are not the packet that the seed fixes."""
    if isinstance(judge, Absent) or checked.corpus is None:
        return ()
    reviewed = review["semantic_audit"]["document_ids"]
    try:
        packet = draw(
            checked.submission,
            checked.task,
            checked.corpus,
            seed=judge["audit_seed"],
            documents=int(judge["audit_documents"]),
        )
        drawn = list(packet.document_ids)
    except InputError:
        drawn = []
    if reviewed == drawn:
        return ()
    strange = len(set(reviewed).symmetric_difference(drawn))
    found = f"{len(reviewed)} documents, {strange} of them not as drawn" if strange else "another order"
    right = f"the packet of {len(drawn)} documents that the judge's audit_seed and audit_documents give"
    return (Failure(checked.task.task_id, "", "audit packet", "/semantic_audit/document_ids", found, right),)


def _quotations(findings: Sequence[Mapping[str, Any]], corpus: Corpus) -> tuple[Quotation, ...]:
    quotations = []
    for finding in findings:
        for span in finding["evidence"]:
            text = corpus.documents[corpus.index[span["doc_id"]]]["text"]
            before = text[max(0, span["start"] - _CONTEXT) : span["start"]]
            after = text[span["end"] : span["end"] + _CONTEXT]
            quotations.append(
                Quotation(finding["finding_id"], span["doc_id"], span["role"], before, span["quote"], after)
            )
    return tuple(quotations)
