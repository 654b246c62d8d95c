"""Boards, findings and summaries as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from medgauge_lib.charts import display
from medgauge_lib.charts.words import board_sentences, resolution_words
from medgauge_lib.export.tables import board_words

if TYPE_CHECKING:
    from pathlib import Path

    from medgauge_lib.audit import Audit, Outcome
    from medgauge_lib.board import Board, Row
    from medgauge_lib.checks import Finding, Rule
    from medgauge_lib.difficulty import Difficulty
    from medgauge_lib.importers.importing import ImportSummary
    from medgauge_lib.records import RecordSet


def strata_text(strata: Difficulty) -> str:
    """Lay the figures by class of difficulty out for a terminal.

    Parameters
    ----------
    strata : Difficulty

    Returns
    -------
    str
        A heading and a line for every row and class that has tasks.
    """
    lines = [
        {
            "subject": display.text(row.label, 60),
            "class": stratum.difficulty,
            "tasks": stratum.n_tasks,
            "pass^3": display.estimate(stratum.pass_pow_3),
            "pass rate": display.estimate(stratum.task_pass_rate),
        }
        for row in strata.rows
        for stratum in row.strata
        if stratum.n_tasks
    ]
    if not lines:
        return "By class of difficulty: no task of this board has a label."
    frame = pd.DataFrame(lines)
    left = {"subject": f"{{:<{frame['subject'].str.len().max()}}}".format}
    heading = "By class of difficulty; classes are ordered, never averaged:"
    return f"{heading}\n{frame.to_string(index=False, formatters=left)}".replace(display.NBSP, " ")


def board_text(found: Board) -> str:
    """Lay a board out for a terminal.

    Parameters
    ----------
    found : Board

    Returns
    -------
    str
        A heading, the rows in board order, unranked rows, and the notes a reader needs.
    """
    lines = [
        f"{found.benchmark} {found.benchmark_version}, subset {found.subset}: "
        f"{display.count(found.n_tasks, 'task')}, {display.count(len(found.rows), 'row')}, "
        f"as of {found.as_of}, seed {found.seed}",
        "",
        _columns(found.rows),
    ]
    if found.unranked:
        lines += ["", "Community records, not verified and not ranked:", _columns(found.unranked)]
    words = (*board_sentences(found).paragraphs, *resolution_words(found).paragraphs)
    return "\n".join([*lines, "", *words])


def _columns(rows: Sequence[Row]) -> str:
    frame = board_words(rows).assign(subject=[display.text(row.label, 60) for row in rows])
    left = {name: f"{{:<{frame[name].str.len().max()}}}".format for name in ("subject", "letters")}
    return str(frame.to_string(index=False, formatters=left)).replace(display.NBSP, " ")


def check_text(
    found: RecordSet, outcome: Sequence[tuple[Rule, Sequence[Finding]]], held: Audit | None
) -> str:
    """Lay the findings on a record set out for a terminal.

    Parameters
    ----------
    found : RecordSet
    outcome : sequence of (Rule, findings)
        Every rule that was checked, with what breaks it.
    held : Audit or None
        The published figures against the recomputed ones; None where the runs cannot be trusted.

    Returns
    -------
    str
        A line a finding, what could not be compared, and a summary in the last line.
    """
    lines = [
        f"{one.severity} {one.code} {one.file}: {one.pointer}: {one.message}"
        for _, findings in outcome
        for one in findings
    ]
    if held is not None:
        lines += _not_compared(held)
    lines.append(
        f"{display.count(len(found.subjects), 'record')} of {found.benchmark} {found.benchmark_version}, "
        f"{display.count(len(outcome), 'rule')}: {_totals(outcome)}; {_compared(held)}"
    )
    return "\n".join(lines).replace(display.NBSP, " ")


def _not_compared(held: Audit) -> list[str]:
    kinds: tuple[tuple[Outcome, str, str], ...] = (
        ("closed", "figure", "that only the closed side can recompute; JSON lists them"),
        ("undecided", "figure", "from fields that some runs do not carry; JSON lists them"),
        ("not implemented", "interval", "by a rule that is not implemented here"),
    )
    return [
        f"{display.count(n, noun)} {words}" for outcome, noun, words in kinds if (n := held.count(outcome))
    ]


def _compared(held: Audit | None) -> str:
    if held is None:
        return "published figures not compared, since the runs cannot be trusted"
    differ = held.count("differs")
    figures = display.count(held.count("agrees", "differs"), "published figure")
    return f"{figures} recomputed, " + (f"{differ} of them otherwise" if differ else "all as published")


def _totals(outcome: Sequence[tuple[Rule, Sequence[Finding]]]) -> str:
    found = [finding.severity for _, findings in outcome for finding in findings]
    n_notes = found.count("note")
    n_broken = len(found) - n_notes
    notes = f", {n_notes} note{'s' * (n_notes != 1)}" if n_notes else ""
    return (f"{n_broken} finding{'s' * (n_broken != 1)}" if n_broken else "all kept") + notes


def summary_text(summary: ImportSummary, out: Path) -> str:
    """Lay the summary of an import out for a terminal.

    Parameters
    ----------
    summary : ImportSummary
    out : Path
        The folder that was written.

    Returns
    -------
    str
    """
    lines = [
        f"{out / board['records']}: {display.count(board['n_records'], 'record')}, "
        f"{display.count(board['n_tasks'], 'task')}, {display.count(board['n_runs'], 'run')}"
        + (
            f"; the first three runs of each task, {board['runs_left_out']} later ones left out"
            if board["runs_left_out"]
            else ""
        )
        for board in summary.boards
    ]
    for name in ("mapped", "dropped", "assumed"):
        lines += [f"{name}:", *(f"  {sentence}" for sentence in getattr(summary, name) or ("nothing",))]
    return "\n".join([*lines, f"closed, not to be published: {out / 'closed'}"])
