"""What a report rests on: rules and findings, published against recomputed, void tasks, conditions, inputs.

Everything here is read off results; what records cannot show is said to be so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import pandas as pd

from medgauge_lib.audit import PREFIX, Audit, Outcome
from medgauge_lib.charts import display
from medgauge_lib.charts.panels import Cell, Line, Panel, panel_table, ranked_first
from medgauge_lib.charts.tables import Table, plain_table, render
from medgauge_lib.charts.words import Notice, Sentences
from medgauge_lib.checks import findings_frame
from medgauge_lib.outcomes import N_RUNS

if TYPE_CHECKING:
    from medgauge_lib.board import Board
    from medgauge_lib.checks import Finding, Rule
    from medgauge_lib.labels import Publish
    from medgauge_lib.records import RecordSet

Checked = Sequence[tuple["Rule", tuple["Finding", ...]]]
"""Rules with their findings, of `checks.checked`, of an `Audit`, or of both one after the other."""

SHOWN = 200
"""Findings that a page shows; the data hold them all."""

MANY = 3
"""Records that are still named one by one."""

_OUTCOMES: dict[Outcome, tuple[str, str]] = {
    "agrees": ("agrees", "equal at the published precision"),
    "differs": ("differs", "0 is in order"),
    "undecided": ("undecided", "a run lacks the field"),
    "not implemented": ("other rule", "an interval by a rule not implemented here"),
    "closed": ("closed", "only the closed side can recompute it"),
}


def integrity_sentences(checked: Checked, found: Audit) -> Sentences:
    """What a reader should know first: rules kept and broken, figures that agree and differ.

    Parameters
    ----------
    checked : sequence of (Rule, findings)
        Every rule, those of the audit included.
    found : Audit
        From `medgauge_lib.audit.audit`.

    Returns
    -------
    Sentences
    """
    findings = [finding for _, those in checked for finding in those]
    broken = sum(bool(those) for _, those in checked)
    files = len({finding.file for finding in findings})
    if findings:
        first = (
            f"{broken} of {display.count(len(checked), 'rule')} {'has' if broken == 1 else 'have'} findings: "
            f"{_by_severity(findings)} in {display.count(files, 'file')}."
        )
    else:
        first = f"All {len(checked)} rules are kept: no finding in any file."
    counts = found.counts()
    whole = sum(counts.values())
    parts = [f"{counts['agrees']:,} agree with what the runs give at their published precision"]
    parts.append(f"{counts['differs']:,} differ" if counts["differs"] else "none differs")
    if counts["undecided"]:
        parts.append(f"{counts['undecided']:,} cannot be decided, since a run lacks the field")
    if counts["not_implemented"]:
        parts.append(f"{counts['not_implemented']:,} are intervals by a rule that is not implemented here")
    parts.append(f"{counts['closed']:,} only the closed side can recompute")
    return Sentences((first, f"Of {whole:,} published figures {'; '.join(parts)}."))


def _by_severity(findings: Sequence[Finding]) -> str:
    """How many findings there are of each severity, in words."""
    counts = Counter(finding.severity for finding in findings)
    return display.listed([display.count(n, severity) for severity, n in sorted(counts.items())])


def integrity_notice(records: RecordSet, findings: Sequence[Finding], audited: Audit) -> Notice | Sentences:
    """Whether the records publish what their runs give, for the top of a report.

    Parameters
    ----------
    records : RecordSet
    findings : sequence of Finding
        Of the checks.
    audited : Audit
        Of the same records.

    Returns
    -------
    Notice or Sentences
        A notice where a rule is broken or a published figure differs; a finding that is a note makes none.
    """
    wrong = [finding for finding in (*findings, *audited.findings) if finding.severity != "note"]
    if not wrong:
        return Sentences(
            ("No rule is broken, and every published figure that the runs decide is what they give.",)
        )
    files = {finding.file for finding in wrong}
    subjects = records.subjects
    labels = [display.text(label) for label in subjects.loc[subjects["file"].isin(files), "label"]]
    named = display.listed(labels) if len(labels) <= MANY else display.count(len(labels), "record")
    figures = audited.counts()["differs"]
    parts = [f"{display.count(figures, 'published figure')} that the runs do not give"] if figures else []
    if figures < len(wrong):
        parts.append(f"{display.count(len(wrong) - figures, 'break', 'breaks')} of the rules for records")
    return Notice(
        (
            f"▲ These records have {' and '.join(parts)}: {named}.",
            "This report shows the recomputed figure wherever there is one, and says what is as published.",
        ),
        page="integrity",
    )


def checks_table(checked: Checked) -> Table:
    """Every rule with its outcome: those with findings first, then in the order of the rules.

    Parameters
    ----------
    checked : sequence of (Rule, findings)

    Returns
    -------
    Table
    """
    ordered = sorted(checked, key=lambda pair: not pair[1])
    frame = pd.DataFrame(
        [
            (rule.code, rule.sentence, rule.severity, len(those), len({finding.file for finding in those}))
            for rule, those in ordered
        ],
        columns=["rule", "sentence", "severity", "n_findings", "n_files"],
    )
    broken = [rule.code for rule, those in ordered if those]
    lines = [(rule.code, rule.sentence, rule.severity, _outcome(rule, those)) for rule, those in ordered]
    return _prose_table(
        frame,
        {"Rule": "text", "What it says": "prose", "A break is": "text", "Outcome": "text"},
        lines,
        id="checks",
        title="Every rule and its outcome",
        caption=(
            "Rules with findings come first, marked ▲, or • where they are no more than notes. Unusable: "
            "figures could not be trusted, and there is no report. Error: a rule is broken, or a published "
            "figure is not what the runs give. Note: worth knowing. A break may be milder in a record "
            "that is listed apart, since it decides nothing for the board."
        ),
        alt=f"{display.count(len(lines), 'rule')}; findings under {display.listed(broken) or 'none'}.",
    )


def _outcome(rule: Rule, findings: Sequence[Finding]) -> str:
    """How many findings in how many files; where all are milder than a break of the rule, what they are."""
    if not findings:
        return "kept"
    files = display.count(len({finding.file for finding in findings}), "file")
    severities = {finding.severity for finding in findings}
    mark = "•" if severities == {"note"} else "▲"
    if rule.severity in severities:
        return f"{mark} {display.count(len(findings), 'finding')} in {files}"
    counted = Counter(finding.severity for finding in findings)
    told = display.listed([display.count(n, severity) for severity, n in sorted(counted.items())])
    return f"{mark} {told} in {files}, of records listed apart"


def findings_table(checked: Checked) -> Table | Sentences:
    """Every finding with its place, what is published, and what would be expected.

    Parameters
    ----------
    checked : sequence of (Rule, findings)

    Returns
    -------
    Table or Sentences
        A sentence where there is none.
    """
    findings = sorted((one for _, those in checked for one in those), key=lambda one: one.file)
    if not findings:
        return Sentences(("No rule is broken, so there is no finding to list.",))
    frame = findings_frame(findings)
    for name in ("published", "expected"):
        frame[name] = list(map(_json, frame[name]))
    cut = f" The first {SHOWN} of {len(findings):,} are shown; the data hold them all." * (
        len(findings) > SHOWN
    )
    return _prose_table(
        frame,
        {"File": "prose", "Place": "prose", "What was found": "prose", "Rule": "text", "Severity": "text"},
        [(one.file, one.pointer, one.message, one.code, one.severity) for one in findings[:SHOWN]],
        id="findings",
        title="Findings",
        caption=f"By file. A place is a JSON pointer into the file.{cut}",
        alt=f"{display.count(len(findings), 'finding')}: {_by_severity(findings)}.",
    )


def _json(value: Any) -> str:
    """What a record says, or would have to say, as JSON writes it."""
    return display.text(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str))


def audit_table(found: Audit, records: RecordSet, board: Board) -> Table:
    """Published figures of every record by what came of recomputing them.

    Parameters
    ----------
    found : Audit
    records : RecordSet
        The records it is of.
    board : Board
        Its order, ranks and vetoes.

    Returns
    -------
    Table
    """
    subjects = records.subjects
    labels = dict(zip(subjects["id"], subjects["label"], strict=True))
    ids = [*board.order, *subjects.loc[~subjects["verified"], "id"]]
    counts = Counter((one.id, one.outcome) for one in found.figures)
    most = max(counts.values(), default=1)
    panels = [
        Panel(
            name,
            [note],
            {row: _counted(counts[row, outcome], alarm=outcome == "differs") for row in ids},
            "bar",
            full=most,
        )
        for outcome, (name, note) in _OUTCOMES.items()
    ]
    differing = [display.text(labels[row]) for row in ids if counts[row, "differs"]]
    return panel_table(
        board,
        ranked_first(board, [Line(row, labels[row], row in board.vetoed) for row in ids]),
        panels,
        pd.DataFrame(
            [(row, labels[row], *(counts[row, outcome] for outcome in _OUTCOMES)) for row in ids],
            columns=["id", "label", *(outcome.replace(" ", "_") for outcome in _OUTCOMES)],
        ),
        id="published-by-record",
        title="Published against recomputed, by record",
        caption=(
            "Rows in board order. Counts of published figures of a record: of its scores, board block, cost, "
            "failure reasons. Bars are of the largest count. Agreeing means equal at the precision the "
            "record publishes; each figure that differs is among the findings, with both values."
        ),
        alt=(
            f"Published figures of {display.count(len(ids), 'record')}; figures differ in "
            f"{display.listed(differing) or 'no record'}."
        ),
        provenance="mixed",
    )


def _counted(n: int, *, alarm: bool) -> Cell:
    return Cell(f"▲ {n:,}" if alarm and n else f"{n:,}", value=float(n))


def audit_figures_table(found: Audit) -> Table:
    """Published figures by name: how many agree, and how many do not.

    Parameters
    ----------
    found : Audit

    Returns
    -------
    Table
        Figures that runs, or other published figures, decide.
    """
    counts = Counter((one.code, one.outcome) for one in found.figures if one.code)
    codes = list(dict.fromkeys(one.code for one in found.figures if one.code))
    shown = [outcome for outcome in get_args(Outcome) if outcome != "closed"]
    frame = pd.DataFrame(
        [(code.removeprefix(PREFIX), *(counts[code, outcome] for outcome in shown)) for code in codes],
        columns=["figure", *(outcome.replace(" ", "_") for outcome in shown)],
    )
    frame.insert(1, "n_published", frame.drop(columns="figure").sum(axis=1).astype(int))
    headers = {"figure": "Figure", "n_published": "Published"} | {
        outcome.replace(" ", "_"): _OUTCOMES[outcome][0].capitalize() for outcome in shown
    }
    differing = [line.figure for line in frame.itertuples() if line.differs]
    return plain_table(
        frame,
        headers,
        id="published-by-figure",
        title="Published against recomputed, by figure",
        caption="The names are those of a result record. Over all records and subsets.",
        alt=(
            f"{display.count(len(frame), 'figure')} recomputed over all records; differing: "
            f"{display.listed([str(name) for name in differing]) or 'none'}."
        ),
        provenance="mixed",
    )


def closed_table(found: Audit) -> Table | Sentences:
    """Published figures that only the closed side can recompute, by the reason.

    Parameters
    ----------
    found : Audit

    Returns
    -------
    Table or Sentences
        A sentence where there is none.
    """
    reasons = found.closed()
    if not reasons:
        return Sentences(("Every published figure can be recomputed from the records.",))
    frame = pd.DataFrame(list(reasons.items()), columns=["reason", "n_figures"])
    return plain_table(
        frame,
        {"reason": "Why the records do not decide it", "n_figures": "Figures"},
        id="closed-figures",
        title="What only the closed side can recompute",
        caption="A reader has to take these figures as they are published; nothing here confirms them.",
        alt=f"{sum(reasons.values()):,} published figures for {display.count(len(reasons), 'reason')}.",
        provenance="as published",
    )


def void_table(board: Board, records: RecordSet) -> Table | Sentences:
    """Void task versions of every subset, with the attribution and the records that say so.

    Parameters
    ----------
    board : Board
    records : RecordSet
        The records the board was computed from.

    Returns
    -------
    Table or Sentences
        A sentence where no task version is void.
    """
    if board.void.empty:
        return Sentences(("No task version of this benchmark version is void.",))
    frame, n_records = _void_frame(board, records), len(records.subjects)
    lines = [
        (*cells, _named(listed.split(), n_records), _named(shown.split(), n_records))
        for *cells, listed, shown in frame.itertuples(index=False)
    ]
    by_source = sorted(Counter(frame["attribution"]).items())
    return _prose_table(
        frame,
        {
            "Task": "text",
            "Version": "text",
            "Subset": "text",
            "Attributed to": "text",
            "Listed by": "prose",
            "Shown by an error of": "prose",
        },
        lines,
        id="void",
        title="Void task versions",
        caption=(
            "An error on the initiative's side makes a version of a task void for every subject: its results "
            "are out of every figure of every row. A version is void where a record lists it, or where a run "
            "has such an error. Task keys are opaque."
        ),
        alt=(
            f"{display.count(len(frame), 'void task version')}: "
            f"{', '.join(f'{n} by {source}' for source, n in by_source)}."
        ),
    )


def _void_frame(board: Board, records: RecordSet) -> pd.DataFrame:
    """Void task versions with their subset; ids of records joined by spaces."""
    runs = records.runs.drop_duplicates(["task_key", "task_version"])
    keys = zip(runs["task_key"], runs["task_version"], strict=True)
    subset_of = dict(zip(keys, runs["subset"], strict=True))
    return pd.DataFrame(
        [
            (
                line["task_key"],
                line["task_version"],
                subset_of.get((line["task_key"], line["task_version"]), ""),
                line["attribution"],
                " ".join(line["listed_by"]),
                " ".join(line["shown_by"]),
            )
            for line in board.void.to_dict("records")
        ],
        columns=["task_key", "task_version", "subset", "attribution", "listed_by", "shown_by"],
    )


def _named(ids: Sequence[str], n_records: int) -> str:
    if not ids:
        return "no record"
    return ", ".join(ids) if len(ids) <= MANY else f"{len(ids)} of {display.count(n_records, 'record')}"


def conditions_table(board: Board, records: RecordSet) -> Table:
    """The conditions under which the bound of a passed exam holds, as facts of this board where they are.

    Parameters
    ----------
    board : Board
    records : RecordSet
        The records the board was computed from.

    Returns
    -------
    Table
    """
    lines = [
        ("One trial is one task", _trial_words(board), "fact"),
        ("Every row takes the same tasks", _same_words(board), "fact"),
        ("No run is repeated after the fact", _rerun_words(board), "fact, as far as records show"),
        (
            "No task is removed after the fact",
            _removal_words(board, records),
            "fact, as far as records show",
        ),
        (
            "Tasks are built to the initiative's specification and screened by difficulty, not sampled from "
            "practice",
            "Records cannot show it. The bound is about tasks of this kind, not about practice.",
            "stated",
        ),
        ("Outcome of the exam", _exam_words(board), "fact"),
    ]
    return _prose_table(
        pd.DataFrame(lines, columns=["condition", "on_this_board", "kind"]),
        {"Condition": "prose", "On this board": "prose", "What it is": "text"},
        lines,
        id="exam-conditions",
        title="Conditions of the exam bound",
        caption=(
            "The claimable bound of a passed exam is a 95 % lower bound for the probability that a task of "
            "this kind is passed three times in a row, under these conditions. It is not about a single run, "
            "and no capability level is issued."
        ),
        alt=f"Conditions of the exam bound on {display.count(board.n_tasks, 'task')}. {_exam_words(board)}",
    )


def _trial_words(board: Board) -> str:
    return (
        f"{display.count(board.n_tasks, 'task')}, {N_RUNS} runs each: the runs of a task are one trial, "
        "which passes when all of them pass."
    )


def _same_words(board: Board) -> str:
    tasks = display.count(board.n_tasks, "task")
    return (
        f"Yes: {display.count(len(board.rows), 'row')}, each on the same {tasks} of subset {board.subset}. "
        "Records that hold other tasks are refused."
    )


def _rerun_words(board: Board) -> str:
    return (
        f"Each row holds exactly {N_RUNS} runs of each task, numbered 1 to {N_RUNS}: "
        f"{len(board.outcomes.runs):,} runs. No re-run is visible; a run that was never recorded, no record "
        "shows."
    )


def _removal_words(board: Board, records: RecordSet) -> str:
    runs = records.runs
    here = set(runs.loc[runs["subset"] == board.subset, "task_key"])
    n = int(board.void["task_key"].isin(here).sum())
    verb = "is" if n == 1 else "are"
    void = (
        f"{display.count(n, 'task version')} of subset {board.subset} {verb} void, for every row alike, and "
        "listed on this page. No row leaves another task out;"
        if n
        else f"No task version of subset {board.subset} is void, and no row leaves a task out;"
    )
    return f"{void} a task that was taken out of every record, no record shows."


def _exam_words(board: Board) -> str:
    passed = [row for row in board.rows if row.exam.passed]
    if not passed:
        return "No row passes every task in all three runs with no veto, so no bound is claimed."
    named = display.listed([display.text(row.label) for row in passed[:MANY]])
    more = f" and {len(passed) - MANY} more" if len(passed) > MANY else ""
    return (
        f"Passed by {named}{more}: at least {display.bound(passed[0].exam.claimable_lower_bound)} may be "
        f"claimed on {display.count(board.n_tasks, 'task')}."
    )


def inputs_table(records: RecordSet, *, labels: bool, publish: Publish) -> Table:
    """Every record with the SHA-256 of its file.

    Parameters
    ----------
    records : RecordSet
    labels : bool
        Whether a file of task labels is an input too.
    publish : {"public", "internal"}
        A public report has no hash of the labels.

    Returns
    -------
    Table
    """
    frame = records.subjects[["file", "sha256", "id", "label", "created_at", "verified"]]
    headers = {
        "file": "File",
        "label": "Subject",
        "created_at": "Created",
        "site": "By the site",
        "sha256": "SHA-256",
    }
    shown = frame.assign(
        site=["verified" if one else "not verified: listed apart" for one in frame["verified"]]
    )
    return plain_table(
        frame,
        headers,
        shown=shown,
        id="inputs",
        title="Inputs",
        caption=(
            "The files this report was computed from, in ascending order of their id. The same files, "
            "parameters and seed give the same figures anywhere."
            f"{_labels_words(labels=labels, publish=publish)}"
        ),
        alt=f"{display.count(len(frame), 'record')} with the SHA-256 of each file.",
        provenance="as published",
    )


def _labels_words(*, labels: bool, publish: str) -> str:
    if not labels:
        return " No labels of tasks were used."
    if publish == "internal":
        return " The SHA-256 of the labels of the tasks stands in the manifest of the report."
    return (
        " The labels of the tasks are closed. Not even their SHA-256 is shown: from the hash of a short file "
        "the labels could be guessed."
    )


def no_subset(subset: str) -> Sentences:
    """What stands in place of a board that the records have no task for.

    Parameters
    ----------
    subset : str
        ``holdout``, ``dev`` or ``calib``.

    Returns
    -------
    Sentences
    """
    return Sentences((f"The ranked records hold no task of subset {subset}.",))


def _prose_table(
    frame: pd.DataFrame,
    columns: dict[str, Literal["prose", "text"]],
    lines: Sequence[Sequence[Any]],
    *,
    id: str,  # noqa: A002
    title: str,
    caption: str,
    alt: str,
) -> Table:
    """Make a table of sentences, whose cells may take several lines."""
    html = render(
        "prose.html.j2",
        title=title,
        caption=caption,
        columns=[{"head": head, "kind": kind} for head, kind in columns.items()],
        rows=[[display.text(str(cell)) for cell in line] for line in lines],
    )
    return Table(id, title, caption, alt, html, frame)
