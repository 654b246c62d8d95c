"""Findings to tasks and tasks to aggregates, none of which hides what is missing.

Quality lies in 0 to 100 points; higher is better. The conditional mean is over scored tasks only and always
stands beside its counts; the mean exists only where every task has a score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from medgauge_lib.findings.gates import Failure
from medgauge_lib.findings.review import FindingScore
from medgauge_lib.findings.statistics import Statistic
from medgauge_lib.intervals import SEED, bca, resampled_sums
from medgauge_lib.results import Absent, Estimate, Interval, as_float

Status = Literal["missing", "invalid", "abstained", "pending_review", "unresolved", "scored"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""Statuses of a task, in the order of its way to a score."""


@dataclass(frozen=True)
class Quotation:
    """A quotation of a finding with the text around it, as text.

    Attributes
    ----------
    finding_id, doc_id, role : str
        Which finding quotes which document as what.
    before, quote, after : str
        The quotation and up to 120 code points on either side.
    """

    finding_id: str
    doc_id: str
    role: str
    before: str
    quote: str
    after: str


@dataclass(frozen=True)
class TaskQuality:
    """One task of the report.

    Attributes
    ----------
    task_id, source, kind : str
        The task.
    status : str
        One of `STATUSES`.
    quality : Fraction or Absent
        Mean over its findings, in points; absent unless the status is ``scored``.
    findings : tuple of FindingScore
        Of an accepted review.
    failures : tuple of Failure
        Gates that the submission failed.
    refusals : tuple of Failure
        Why a review was refused.
    notes : tuple of Failure
        What is odd but refuses nothing.
    claims : mapping
        Finding id to claim, for a valid submission.
    statistics : mapping
        Finding id to the recomputed statistics, for a valid submission.
    quotations : tuple of Quotation
        Evidence of a valid submission.
    abstention_reason : str
        The agent's words, empty unless it abstained.
    """

    task_id: str
    source: str
    kind: str
    status: Status
    quality: Fraction | Absent
    findings: tuple[FindingScore, ...] = ()
    failures: tuple[Failure, ...] = ()
    refusals: tuple[Failure, ...] = ()
    notes: tuple[Failure, ...] = ()
    claims: Mapping[str, str] = field(default_factory=dict)
    statistics: Mapping[str, Mapping[str, Statistic]] = field(default_factory=dict)
    quotations: tuple[Quotation, ...] = ()
    abstention_reason: str = ""


@dataclass(frozen=True)
class Summary:
    """Tasks taken together; every rate is over all of them.

    Attributes
    ----------
    tasks, scored_tasks, missing, invalid, pending : int
        Counts; `pending` are the tasks that wait for a review or are unresolved.
    abstention_rate, valid_submission_rate : Fraction
        Shares in [0, 1]; an abstention is a valid submission.
    quality_mean : Fraction or Absent
        In points; absent unless every task has a score.
    conditional_quality_mean : Estimate or Absent
        Over scored tasks only, with its BCa interval over them.
    """

    tasks: int
    scored_tasks: int
    missing: int
    invalid: int
    pending: int
    abstention_rate: Fraction
    valid_submission_rate: Fraction
    quality_mean: Fraction | Absent
    conditional_quality_mean: Estimate | Absent


def task_quality(findings: Sequence[FindingScore]) -> Fraction | Absent:
    """Return the mean over a task's findings; absent where one of them is unresolved.

    Examples
    --------
    >>> task_quality([FindingScore("f", "partial", True, None, {}, Fraction(40), "-")])
    Fraction(40, 1)
    """
    qualities = [finding.quality for finding in findings if isinstance(finding.quality, Fraction)]
    if len(qualities) < len(findings):
        return Absent(f"unresolved findings: {len(findings) - len(qualities)} of {len(findings)}")
    return sum(qualities, Fraction()) / len(qualities) if qualities else Absent("no finding")


def summary(tasks: Sequence[TaskQuality], *, seed: int = SEED) -> Summary:
    """Take tasks together.

    Parameters
    ----------
    tasks : sequence of TaskQuality
        At least one.
    seed : int
        Of the interval's resamples.

    Examples
    --------
    >>> tasks = [TaskQuality("a", "s", "k", "scored", Fraction(80)),
    ...     TaskQuality("b", "s", "k", "abstained", Absent("abstained"))]
    >>> both = summary(tasks)
    >>> both.scored_tasks, both.tasks, float(both.conditional_quality_mean), str(both.quality_mean)
    (1, 2, 80.0, '1 of 2 tasks have no score')
    """
    n = len(tasks)
    counts = Counter(task.status for task in tasks)
    scores = [task.quality for task in sorted(tasks, key=lambda task: task.task_id)]
    values = [value for value in scores if isinstance(value, Fraction)]
    mean = _mean(values, seed)
    return Summary(
        tasks=n,
        scored_tasks=len(values),
        missing=counts["missing"],
        invalid=counts["invalid"],
        pending=counts["pending_review"] + counts["unresolved"],
        abstention_rate=Fraction(counts["abstained"], n),
        valid_submission_rate=Fraction(n - counts["missing"] - counts["invalid"], n),
        quality_mean=mean.value
        if isinstance(mean, Estimate) and len(values) == n
        else Absent(f"{n - len(values)} of {n} tasks have no score"),
        conditional_quality_mean=mean,
    )


def _mean(values: Sequence[Fraction], seed: int) -> Estimate | Absent:
    """Return the mean over scored tasks with its BCa interval, on integers over a common denominator."""
    if not values:
        return Absent("no task has a score")
    denominator = math.lcm(*(value.denominator for value in values))
    numerators = [int(value * denominator) for value in values]
    x: npt.NDArray[Any] = np.array(numerators, dtype=np.int64 if max(numerators) < 2**53 else object)
    sums = resampled_sums(x[:, np.newaxis], seed=seed)[0]
    interval = bca(x, sums, denominator, seed=seed)
    return Estimate(sum(values, Fraction()) / len(values), len(values), interval)


def reason(value: object) -> str | None:
    """Return why a figure is absent, None where it is there.

    Examples
    --------
    >>> reason(Fraction(1)), reason(Absent("no review"))
    (None, 'no review')
    """
    return value.reason if isinstance(value, Absent) else None


def summary_document(value: Summary) -> dict[str, Any]:
    """Return a summary as JSON values.

    Parameters
    ----------
    value : Summary
        Of all tasks, a source or a kind.
    """
    mean = value.conditional_quality_mean
    interval = mean.interval if isinstance(mean, Estimate) else mean
    return {
        "tasks": value.tasks,
        "scored_tasks": value.scored_tasks,
        "missing": value.missing,
        "invalid": value.invalid,
        "pending": value.pending,
        "abstention_rate": float(value.abstention_rate),
        "valid_submission_rate": float(value.valid_submission_rate),
        "quality_mean": as_float(value.quality_mean),
        "quality_mean_reason": reason(value.quality_mean),
        "conditional_quality_mean": as_float(mean),
        "conditional_quality_mean_reason": reason(mean),
        "conditional_quality_interval": _interval_document(interval),
        "conditional_quality_interval_reason": reason(interval),
    }


def _interval_document(interval: Interval | Absent) -> dict[str, Any] | None:
    if isinstance(interval, Absent):
        return None
    names = ("low", "high", "level", "method", "seed", "resamples", "quantile_rule")
    return {**{name: getattr(interval, name) for name in names}, "over": "scored tasks only"}
