"""Reviews to scores of findings.

Quality lies in 0 to 100 points; higher is better. It is exact: a number in a review stands for the decimal it
is written as. Reviews are input and often a model's: the scores carry evaluator error. A review that does
not belong to exactly this submission, corpus, task and scoring version is stale: refused, with what changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from medgauge_lib.findings.contract import faults
from medgauge_lib.findings.gates import Failure
from medgauge_lib.findings.packet import binding
from medgauge_lib.findings.statistics import Checked
from medgauge_lib.results import Absent, as_written
from medgauge_lib.schema import quoted

WEIGHTS = {
    "statistical_validity": 25,
    "evidence_entailment": 20,
    "analytical_depth": 30,
    "calibration": 10,
}
"""Points of each dimension; with `BASE` they make 100."""

BASE = 15
SUPPORT = {"supported": Fraction(1), "partial": Fraction(1, 2), "unsupported": Fraction(0), "uncertain": None}

UNCERTAIN = Absent("the reviewer is uncertain about its support")


@dataclass(frozen=True)
class FindingScore:
    """One assessed finding.

    Attributes
    ----------
    finding_id : str
        As submitted.
    support : str
        ``supported``, ``partial``, ``unsupported`` or ``uncertain``.
    task_fulfilled : bool
        Whether it answers the task.
    duplicate_of : str or None
        An earlier finding that it repeats.
    dimensions : mapping
        The four dimensions of `WEIGHTS`, each exact and in [0, 1].
    quality : Fraction or Absent
        Points in [0, 100].
    rationale : str
        The reviewer's words.
    """

    finding_id: str
    support: str
    task_fulfilled: bool
    duplicate_of: str | None
    dimensions: Mapping[str, Fraction]
    quality: Fraction | Absent
    rationale: str


def finding_quality(
    support: str,
    dimensions: Mapping[str, Fraction],
    *,
    task_fulfilled: bool = True,
    duplicate: bool = False,
) -> Fraction | Absent:
    """Return the quality of a finding: support × (15 + 25 S + 20 E + 30 D + 10 C).

    Parameters
    ----------
    support : str
        ``supported`` counts 1, ``partial`` ½, ``unsupported`` 0; ``uncertain`` leaves the quality open.
    dimensions : mapping
        S, E, D and C under the names of `WEIGHTS`, in [0, 1].
    task_fulfilled, duplicate : bool
        A finding that does not answer the task, or repeats another, is worth 0 whatever the rest says.

    Returns
    -------
    Fraction or Absent
        Points in [0, 100].

    References
    ----------
    The specification of finding quality, "Score".

    Examples
    --------
    >>> names = ("statistical_validity", "evidence_entailment", "analytical_depth", "calibration")
    >>> dimensions = dict(zip(names, map(Fraction, ("0.8", "0.9", "0.75", "0.8"))))
    >>> float(finding_quality("supported", dimensions)), float(finding_quality("partial", dimensions))
    (83.5, 41.75)
    >>> str(finding_quality("uncertain", dimensions))
    'the reviewer is uncertain about its support'
    """
    if duplicate or not task_fulfilled:
        return Fraction(0)
    factor = SUPPORT[support]
    if factor is None:
        return UNCERTAIN
    return factor * (BASE + sum(weight * dimensions[name] for name, weight in WEIGHTS.items()))


def review_failures(review: Any, checked: Checked, reference_sha256: str) -> tuple[Failure, ...]:
    """Return why a review is refused; empty for one that may be scored.

    Parameters
    ----------
    review : object
        The parsed file.
    checked : Checked
        The valid submission it should be about.
    reference_sha256 : str
        From `Benchmark.reference_sha256`.

    Returns
    -------
    tuple of Failure
        Under the gate ``review`` where the review contradicts its contract or the submission; under
        ``stale review`` where it was made for something else: each difference is named.
    """
    task_id = checked.task.task_id
    broken = faults(review, "review")
    if broken:
        return tuple(
            Failure(task_id, "", "review", fault.pointer, fault.found, fault.right) for fault in broken
        )
    names = {
        "task_id": "the task",
        "task_sha256": "the task's text",
        "corpus_sha256": "the corpus",
        "submission_sha256": "the submission",
        "reference_sha256": "the reference configuration",
        "scoring_version": "the scoring version",
    }
    stale = [
        Failure(
            task_id,
            "",
            "stale review",
            f"/{name}",
            f"{quoted(review[name])}: {names[name]} changed since, or the review is of another one",
            f"a review of {quoted(value)}",
        )
        for name, value in binding(checked, reference_sha256).items()
        if review[name] != value
    ]
    return tuple(stale) or tuple(_assessment_failures(review, checked))


def _assessment_failures(review: Mapping[str, Any], checked: Checked) -> Iterable[Failure]:
    task_id = checked.task.task_id
    submitted = [finding["finding_id"] for finding in checked.submission["findings"]]
    assessed: dict[str, int] = {}
    for place, assessment in enumerate(review["findings"]):
        name, pointer = assessment["finding_id"], f"/findings/{place}"
        if name not in submitted:
            yield Failure(task_id, name, "review", pointer, "no submitted finding", _one_of(submitted))
        elif name in assessed:
            found = f"a second assessment of it; the first is /findings/{assessed[name]}"
            yield Failure(task_id, name, "review", pointer, found, "one assessment of each finding")
        assessed.setdefault(name, place)
        original = assessment["duplicate_of"]
        if original is None or name not in submitted:
            continue
        earlier = submitted[: submitted.index(name)]
        if original not in earlier:
            found = f"duplicate_of {quoted(original)}, {_where(original, name, submitted)}"
            right = f"null or an earlier finding: {_one_of(earlier)}" if earlier else "null; it is the first"
            yield Failure(task_id, name, "review", f"{pointer}/duplicate_of", found, right)
    for name in submitted:
        if name not in assessed:
            yield Failure(task_id, name, "review", "/findings", "no assessment of it", "exactly one")


def _where(original: str, name: str, submitted: Sequence[str]) -> str:
    if original == name:
        return "the finding itself"
    return "a later finding" if original in submitted else "which was not submitted"


def _one_of(names: Sequence[str]) -> str:
    return "one of " + ", ".join(map(quoted, names))


def score_review(review: Mapping[str, Any], submission: Mapping[str, Any]) -> tuple[FindingScore, ...]:
    """Return the scores of an accepted review, in the order of the submission.

    Parameters
    ----------
    review, submission : mapping
        A review that `review_failures` found nothing against, and its submission.
    """
    assessments = {assessment["finding_id"]: assessment for assessment in review["findings"]}
    return tuple(_finding_score(assessments[finding["finding_id"]]) for finding in submission["findings"])


def _finding_score(assessment: Mapping[str, Any]) -> FindingScore:
    dimensions = {name: as_written(assessment[name]) for name in WEIGHTS}
    quality = finding_quality(
        assessment["support"],
        dimensions,
        task_fulfilled=assessment["task_fulfilled"],
        duplicate=assessment["duplicate_of"] is not None,
    )
    return FindingScore(
        assessment["finding_id"],
        assessment["support"],
        assessment["task_fulfilled"],
        assessment["duplicate_of"],
        dimensions,
        quality,
        assessment["rationale"],
    )
