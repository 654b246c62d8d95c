"""What a report of finding quality says in sentences: what has a score, what has none, and who judged."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from medgauge_lib.charts import display
from medgauge_lib.charts.words import Sentences
from medgauge_lib.findings.aggregates import STATUSES
from medgauge_lib.findings.quality import NO_REFERENCE, STATEMENTS
from medgauge_lib.results import Absent

if TYPE_CHECKING:
    from medgauge_lib.findings.aggregates import Summary
    from medgauge_lib.findings.quality import QualityReport

NAMED = 4
"""Things that a sentence names one by one."""

LONGEST = 400
"""Characters of a text of an agent or a judge in a cell or a sentence."""


def quality_sentences(report: QualityReport) -> Sentences:
    """How many tasks have a score, what the mean over them is, and why there is no other.

    Parameters
    ----------
    report : QualityReport
        From `medgauge_lib.findings.score_findings`.

    Returns
    -------
    Sentences
    """
    return Sentences((_counted(report), _means(report.overall), *_refused(report)))


def _counted(report: QualityReport) -> str:
    counts = Counter(task.status for task in report.tasks)
    others = [f"{counts[status]:,} {plain_words(status)}" for status in STATUSES if status != "scored"]
    tasks = display.count(report.overall.tasks, "task")
    scored = report.overall.scored_tasks
    verb = "has" if scored == 1 else "have"
    return f"{scored:,} of {tasks} {verb} a score. The others: {display.listed(others)}."


def plain_words(name: str) -> str:
    """A name of the contract, such as a status, as words."""
    return name.replace("_", " ")


def _means(overall: Summary) -> str:
    """The conditional mean beside its counts, and the mean over all tasks or why there is none."""
    rates = (
        f"Of all {display.count(overall.tasks, 'task')}, {display.percent(overall.abstention_rate)} were "
        f"abstained from and {display.percent(overall.valid_submission_rate)} have a valid submission, "
        "abstentions among them."
    )
    mean = overall.conditional_quality_mean
    if isinstance(mean, Absent):
        return f"There is no mean: {mean}. {rates}"
    bounds = mean.interval
    inside = (
        f"interval {display.score_interval(bounds)}"
        if isinstance(bounds, Absent)
        else f"95 % interval {display.score_interval(bounds)}, BCa over these tasks"
    )
    scored = "the one scored task" if mean.n_tasks == 1 else f"the {mean.n_tasks:,} scored tasks"
    first = (
        f"Over {scored} only, the conditional mean is {display.score(mean.value)} of 100 points ({inside})."
    )
    whole = (
        f"There is no quality mean: {overall.quality_mean}."
        if isinstance(overall.quality_mean, Absent)
        else f"Every task has a score, so this is the quality mean: {display.score(overall.quality_mean)}."
    )
    return f"{first} {whole} {rates}"


def _refused(report: QualityReport) -> tuple[str, ...]:
    refused = {task.task_id: task.refusals[0].gate for task in report.tasks if task.refusals}
    if not refused:
        return ()
    named = [f"{display.text(task, 80)} ({gate})" for task, gate in sorted(refused.items())[:NAMED]]
    more = [f"{len(refused) - NAMED:,} more"] if len(refused) > NAMED else []
    what = (
        "1 review was refused, and its task waits for another"
        if len(refused) == 1
        else f"{len(refused):,} reviews were refused, and their tasks wait for others"
    )
    return (f"{what}: {display.listed([*named, *more])}.",)


def judge_sentences(report: QualityReport) -> Sentences:
    """How findings were judged, and what that cannot tell.

    Parameters
    ----------
    report : QualityReport
        From `medgauge_lib.findings.score_findings`.

    Returns
    -------
    Sentences
    """
    method = report.reviewer_method
    how = (
        f"There is no reviewer method: {method}."
        if isinstance(method, Absent)
        else f"Reviewer method of every accepted review: {display.text(method, LONGEST)}."
    )
    return Sentences((how, " ".join(STATEMENTS), f"There is no reference coverage: {NO_REFERENCE}."))
