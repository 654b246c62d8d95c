"""Finding quality as tables: summaries, tasks, assessments, evidence, the judge, and what was refused.

All of them are one layout: headings, and below each its rows of cells. Every text is escaped by the template;
quotations keep their line breaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import pandas as pd

from medgauge_lib.charts import display
from medgauge_lib.charts.figure import Provenance
from medgauge_lib.charts.findings.words import LONGEST, NAMED, plain_words
from medgauge_lib.charts.tables import Table, render
from medgauge_lib.charts.words import Sentences
from medgauge_lib.findings.quality import STATEMENTS
from medgauge_lib.findings.review import WEIGHTS
from medgauge_lib.results import Absent, Estimate

if TYPE_CHECKING:
    from medgauge_lib.findings.aggregates import Quotation, Summary, TaskQuality
    from medgauge_lib.findings.quality import QualityReport
    from medgauge_lib.findings.review import FindingScore

QUOTATIONS = 500
"""Quotations that a page shows; the data hold them all."""

_AXIS, _SIDE = 100, 12


@dataclass(frozen=True)
class _Column:
    """A column: what heads it, and whether it heads rows, is numeric, or is drawn from 0 to 100 points."""

    title: str
    note: str = ""
    head: bool = False
    numeric: bool = False
    drawn: bool = False


@dataclass(frozen=True)
class _Passage:
    """A quotation with what stands around it, as text."""

    before: str
    quote: str
    after: str


@dataclass(frozen=True)
class _Cell:
    """A cell: its words, small words below, positions on the axis in pixels, or a passage."""

    words: str = ""
    detail: str = ""
    kind: str = ""
    value: float | None = None
    at: float | None = None
    low: float | None = None
    high: float | None = None
    passage: _Passage | None = None


_Section = tuple[str, Sequence[Sequence[_Cell]]]


def _left(words: str, detail: str = "") -> _Cell:
    return _Cell(words, detail, "mg-left")


def _prose(words: str) -> _Cell:
    return _Cell(display.text(words, LONGEST), kind="mg-left mg-wrap")


def _table(
    columns: Sequence[_Column],
    sections: Sequence[_Section],
    frame: pd.DataFrame,
    *,
    id: str,  # noqa: A002
    title: str,
    caption: str,
    alt: str,
    provenance: Provenance,
    compact: bool = False,
) -> Table:
    html = render(
        "findings.html.j2",
        compact=compact,
        title=title,
        caption=caption,
        columns=columns,
        sections=[{"heading": heading, "rows": lines} for heading, lines in sections],
        axis=_AXIS,
        side=_SIDE,
    )
    return Table(id, title, caption, alt, html, frame, provenance)


def judge_table(report: QualityReport) -> Table | Sentences:
    """The judge's configuration as it lies beside the reviews.

    Parameters
    ----------
    report : QualityReport
        From `medgauge_lib.findings.score_findings`.

    Returns
    -------
    Table or Sentences
        One line a setting; a sentence where there are no reviews.
    """
    if isinstance(report.judge, Absent):
        return Sentences((f"There is no configuration of a judge: {report.judge}.",))
    frame = report.judge_frame()
    lines = [
        [_Cell(display.text(line["setting"], 80)), _prose(line["value"])] for line in frame.to_dict("records")
    ]
    model = display.text(str(report.judge["model"]), 80)
    return _table(
        [_Column("Setting", head=True), _Column("Value")],
        [("", lines)],
        frame,
        id="judge",
        title="Configuration of the judge",
        caption=(
            "As recorded beside the reviews: the model, how much it reads at most (max_input_chars), how "
            "many documents of a task it audits (audit_documents), and the seed that draws them. "
            f"{STATEMENTS[0]}"
        ),
        alt=f"The judge is {model}, with {display.count(len(frame), 'recorded setting')}.",
        provenance="as recorded",
    )


def summaries_table(report: QualityReport) -> Table:
    """All tasks, then those of each source and of each kind: the conditional mean beside its counts.

    Parameters
    ----------
    report : QualityReport
        From `medgauge_lib.findings.score_findings`.

    Returns
    -------
    Table
        Sources and kinds in ascending order.
    """
    counts = ("Scored", "Tasks", "Missing", "Invalid", "Pending")
    columns = [
        _Column("Tasks taken together", head=True),
        _Column("Conditional quality mean", "scored tasks only; 95 % BCa interval", drawn=True),
        *(_Column(name, numeric=True) for name in counts),
        _Column("Abstention rate", "of all tasks", numeric=True),
        _Column("Valid submission rate", "of all tasks", numeric=True),
        _Column("Quality mean", "all tasks"),
    ]
    groups = [
        ("", {"All tasks": report.overall}),
        ("By source", report.by_source),
        ("By kind", report.by_kind),
    ]
    means = [
        f"{display.text(name, 60)} {_mean_words(group)}"
        for _, members in groups[:2]
        for name, group in members.items()
    ]
    return _table(
        columns,
        [
            (heading, [_summary_line(name, group) for name, group in members.items()])
            for heading, members in groups
        ],
        report.summary_frame(),
        id="summaries",
        title="Quality of all tasks, by source and by kind",
        caption=(
            "Points from 0 to 100, higher is better. The conditional mean and its interval are over scored "
            "tasks only and say nothing of the others; read them with the counts beside them. Pending tasks "
            "wait for a review or are unresolved. Each task counts once by source and once by kind."
        ),
        alt=f"Conditional quality means: {'; '.join(means[: NAMED + 1])}.",
        provenance="recomputed from reviews",
        compact=True,
    )


def _mean_words(group: Summary) -> str:
    mean = group.conditional_quality_mean
    shown = str(mean) if isinstance(mean, Absent) else display.score(mean.value)
    return f"{shown} over {group.scored_tasks:,} of {display.count(group.tasks, 'task')}"


def _summary_line(name: str, group: Summary) -> list[_Cell]:
    counts = (group.scored_tasks, group.tasks, group.missing, group.invalid, group.pending)
    whole = group.quality_mean
    return [
        _Cell(display.text(name, 80)),
        _mean_cell(group.conditional_quality_mean),
        *(_Cell(f"{count:,}") for count in counts),
        _Cell(display.percent(group.abstention_rate)),
        _Cell(display.percent(group.valid_submission_rate)),
        _Cell("absent", str(whole), "mg-left") if isinstance(whole, Absent) else _left(display.score(whole)),
    ]


def _mean_cell(mean: Estimate | Absent) -> _Cell:
    if isinstance(mean, Absent):
        return _Cell("absent", str(mean), "mg-left")
    bounds = mean.interval
    if isinstance(bounds, Absent):
        detail = f"interval {display.score_interval(bounds)}"
        return _drawn(mean.value, detail)
    return _drawn(mean.value, display.score_interval(bounds), bounds.low, bounds.high)


def _drawn(value: Fraction, detail: str = "", low: float | None = None, high: float | None = None) -> _Cell:
    return _Cell(
        display.score(value), detail, "mg-left", float(value), _at(float(value)), _at(low), _at(high)
    )


def _at(points: float | None) -> float | None:
    return None if points is None else round(points * _AXIS / 100, 2)


def tasks_table(report: QualityReport) -> Table:
    """Every task with its status, its quality or why it has none, and what the agent said when it abstained.

    Parameters
    ----------
    report : QualityReport
        From `medgauge_lib.findings.score_findings`.

    Returns
    -------
    Table
        One line a task, in ascending order of id.
    """
    columns = [
        _Column("Task", head=True),
        _Column("Source"),
        _Column("Kind"),
        _Column("Status"),
        _Column("Findings", numeric=True),
        _Column("Quality", "mean over the findings", drawn=True),
        _Column("Why there is no score"),
    ]
    scored = report.overall.scored_tasks
    return _table(
        columns,
        [("", [_task_line(task) for task in report.tasks])],
        report.to_frame(),
        id="tasks",
        title="Quality of each task",
        caption=(
            "Points from 0 to 100, higher is better. A task has a score only when its submission passed "
            "every gate and a review settled all its findings; otherwise the reason stands there. An "
            "abstention is valid and has no score: it is no verified absence of findings."
        ),
        alt=f"Status and quality of {display.count(len(report.tasks), 'task')}, {scored:,} of them scored.",
        provenance="recomputed from reviews",
        compact=True,
    )


def _task_line(task: TaskQuality) -> list[_Cell]:
    quality, said = task.quality, display.text(task.abstention_reason, LONGEST)
    why = f"{quality}: “{said}”" if said else str(quality)
    return [
        _Cell(display.text(task.task_id, 120)),
        _left(display.text(task.source, 60)),
        _left(plain_words(display.text(task.kind, 60))),
        _left(plain_words(task.status)),
        _Cell(f"{len(task.claims):,}"),
        _left("no score") if isinstance(quality, Absent) else _drawn(quality),
        _prose(why) if isinstance(quality, Absent) else _Cell(),
    ]


def assessments_table(report: QualityReport) -> Table | Sentences:
    """Every assessed finding: what the reviewer found, and the quality that follows from it.

    Parameters
    ----------
    report : QualityReport
        From `medgauge_lib.findings.score_findings`.

    Returns
    -------
    Table or Sentences
        One line a finding, by task; a sentence where no review was accepted.
    """
    frame = report.findings_frame()
    if frame.empty:
        return Sentences(("No finding was assessed: no review was accepted.",))
    columns = [
        _Column("Finding", head=True),
        _Column("Support"),
        *(_Column(plain_words(name).capitalize(), numeric=True) for name in WEIGHTS),
        _Column("Quality", drawn=True),
        _Column("Rationale of the reviewer"),
    ]
    sections = [
        (
            f"{display.text(task.task_id, 120)}, {plain_words(task.status)}",
            [_finding_line(finding, task.claims[finding.finding_id]) for finding in task.findings],
        )
        for task in report.tasks
        if task.findings
    ]
    return _table(
        columns,
        sections,
        frame,
        id="assessments",
        title="Findings and their assessments",
        caption=(
            "quality = support × (15 + 25 × statistical validity + 20 × evidence entailment + 30 × "
            "analytical depth + 10 × calibration); supported counts 1, partial ½, unsupported 0. A "
            "duplicate, or a finding that does not fulfil its task, is worth 0; uncertain support leaves the "
            "quality open. Dimensions lie in 0 to 1. The assessments are the reviewer's, the points are "
            "recomputed from them."
        ),
        alt=f"{display.count(len(frame), 'assessed finding')} of {display.count(len(sections), 'task')}.",
        provenance="recomputed from reviews",
        compact=True,
    )


def _finding_line(finding: FindingScore, claim: str) -> list[_Cell]:
    quality = finding.quality
    worthless = [] if finding.task_fulfilled else ["does not fulfil the task"]
    if finding.duplicate_of is not None:
        worthless.append(f"duplicate of {display.text(finding.duplicate_of, 40)}")
    return [
        _Cell(display.text(finding.finding_id, 80), display.text(claim, LONGEST)),
        _left(finding.support, "; ".join(worthless)),
        *(_Cell(display.number(finding.dimensions[name], 2)) for name in WEIGHTS),
        _left("open") if isinstance(quality, Absent) else _drawn(quality),
        _prose(finding.rationale),
    ]


def evidence_table(report: QualityReport) -> Table | Sentences:
    """Every quotation of a valid submission with the text around it.

    Parameters
    ----------
    report : QualityReport
        From `medgauge_lib.findings.score_findings`.

    Returns
    -------
    Table or Sentences
        By task and finding, the first `QUOTATIONS`; a sentence where no submission is valid.
    """
    frame = report.evidence_frame()
    if frame.empty:
        return Sentences(("There is no evidence to show: no submission with findings is valid.",))
    sections: list[tuple[str, list[list[_Cell]]]] = []
    room = QUOTATIONS
    for task in report.tasks:
        for finding_id, claim in task.claims.items():
            quoted = [one for one in task.quotations if one.finding_id == finding_id][: max(room, 0)]
            room -= len(quoted)
            if quoted:
                names = f"{display.text(task.task_id, 120)}, {display.text(finding_id, 80)}"
                heading = f"{names}: “{display.text(claim, LONGEST)}”"
                sections.append((heading, [_quotation_line(one) for one in quoted]))
    more = f" The data hold all {len(frame):,}." if len(frame) > QUOTATIONS else ""
    return _table(
        [_Column("Role", head=True), _Column("Document"), _Column("Quotation in its context")],
        sections,
        frame,
        id="evidence",
        title="Evidence",
        caption=(
            "What findings quote, marked, with up to 120 signs on either side. Every quotation was found in "
            "its document sign by sign. Signs that would turn the line around are shown as �; the data hold "
            f"the text as it is.{more}"
        ),
        alt=f"{display.count(len(frame), 'quotation')} for {display.count(len(sections), 'finding')}.",
        provenance="recomputed from corpora",
    )


def _quotation_line(one: Quotation) -> list[_Cell]:
    passage = _Passage(*(_lines(part) for part in (one.before, one.quote, one.after)))
    return [_Cell(one.role), _left(display.text(one.doc_id, 80)), _Cell(passage=passage)]


def _lines(words: str) -> str:
    """Text of a document: its line breaks kept, every other sign that breaks or turns a line shown as "�"."""
    return "\n".join(display.text(line) for line in words.replace("\r\n", "\n").split("\n"))


def remarks_table(report: QualityReport) -> Table | Sentences:
    """Failed gates, refused reviews, notes and files that belong to no task.

    Parameters
    ----------
    report : QualityReport
        From `medgauge_lib.findings.score_findings`.

    Returns
    -------
    Table or Sentences
        One line a remark; a sentence where there is none.
    """
    frame = report.remarks_frame()
    if frame.empty:
        return Sentences(("Every submission passed its gates, and no review was refused.",))
    names = ("Task", "Gate", "Found", "Right would be")
    lines = [
        [
            _Cell(display.text(line["task_id"], 120), display.text(line["finding_id"] or "whole file", 80)),
            _left(line["gate"], display.text(line["pointer"], 120)),
            *(_prose(line[name]) for name in ("found", "right")),
        ]
        for line in frame.to_dict("records")
    ]
    gates = Counter(frame["gate"])
    said = display.listed([f"{gates[gate]} {gate}" for gate in sorted(gates)])
    return _table(
        [_Column(name, head=name == "Task") for name in names],
        [("", lines)],
        frame,
        id="remarks",
        title="What was refused, and why",
        caption=(
            "A submission that fails a gate has no score. A review that is stale, or contradicts itself, is "
            "refused and its task waits for another. A note on the audit packet refuses nothing."
        ),
        alt=f"{display.count(len(frame), 'remark')}: {said}.",
        provenance="recomputed from corpora",
    )
