"""Failures as tables with bars: reasons beside the failed runs, errors and vetoes by subset, constraints.

A bar starts at 0 and is as long as its share of the figure's own whole, which the caption names. Counts that
do not add up are shown with their difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from medgauge_lib.charts import display
from medgauge_lib.charts.panels import Cell, Line, Panel, Section, panel_table, ranked_first
from medgauge_lib.charts.tables import Table, plain_table
from medgauge_lib.charts.words import Sentences
from medgauge_lib.estimators import VETO_CATEGORIES
from medgauge_lib.failures import ATTRIBUTIONS, KINDS, NO_REASONS, REASONS
from medgauge_lib.results import Absent

if TYPE_CHECKING:
    from medgauge_lib.board import Board
    from medgauge_lib.failures import Failures, RowFailures, SubsetCounts


def failure_sentences(found: Failures) -> Sentences:
    """How many rows have failed runs, in which the reasons do not add up to them, and which carry none.

    Parameters
    ----------
    found : Failures
        From `medgauge_lib.failures.failures`.

    Returns
    -------
    Sentences
    """
    rows = display.count(len(found.rows), "record")
    failing = sum(bool(row.n_failed) for row in found.rows)
    said = [f"{failing} of {rows} {'has' if failing == 1 else 'have'} failed runs."]
    bare = [display.text(row.label) for row in found.rows if isinstance(row.reasons, Absent)]
    off = [
        f"{display.text(row.label)} ({_difference(row.difference)})"
        for row in found.rows
        if isinstance(row.difference, int) and row.difference
    ]
    if off:
        said.append(f"Recorded reasons do not add up to the failed runs in {display.listed(off)}.")
    elif not bare:
        said.append("In each, the recorded reasons add up to the failed runs.")
    elif len(bare) < len(found.rows):
        said.append("Where reasons are recorded, they add up to the failed runs.")
    if bare:
        said.append(f"No reasons are known of {display.listed(bare)}: {NO_REASONS}.")
    return Sentences((" ".join(said),))


def reasons_table(found: Failures, board: Board) -> Table:
    """Failed runs by recorded reason, beside the failed runs counted from the runs.

    Parameters
    ----------
    found : Failures
    board : Board
        Its order and ranks.

    Returns
    -------
    Table
        Over all live runs of a record, whatever the subset.
    """
    frame = found.reasons_frame().merge(
        found.to_frame()[["id", "n_failed", "n_attributed", "difference"]], on="id"
    )
    return panel_table(
        board,
        _lines(found, board),
        _reason_panels(found),
        frame,
        id="failure-reasons",
        title="Failed runs by recorded reason",
        caption=(
            "Rows in board order, over all runs of a record. Reasons are as the verifier recorded them; "
            "failed runs are counted from the runs. Bars and shares of a reason are of the failed runs "
            "counted, so they do not add up to 100 % where reasons and failed runs differ: then the last "
            "column says by how much. A record that carries no reasons has a dash for each, not 0."
        ),
        alt=_reasons_alternative(found),
        provenance="mixed",
    )


def _reason_panels(found: Failures) -> list[Panel]:
    """Failed runs counted, then every reason, then what does not add up."""
    counted = {row.id: _share_cell(row.n_failed, row.n_runs) for row in found.rows}
    added = {row.id: _difference_cell(row) for row in found.rows}
    return [
        Panel("failed runs, counted", ["of all runs"], counted, "bar", full=1),
        *(
            Panel(
                reason.replace("_", " "),
                [],
                {row.id: _reason_cell(row, place) for row in found.rows},
                "bar",
                full=1,
            )
            for place, reason in enumerate(REASONS)
        ),
        Panel("reasons less failed runs", ["0 is in order"], added, "words"),
    ]


def _reason_cell(row: RowFailures, place: int) -> Cell:
    if isinstance(row.reasons, Absent):
        return Cell("–", said=str(row.reasons), absent=True)
    reason = row.reasons[place]
    if isinstance(reason.share, Absent):
        return Cell("–", said=str(reason.share), absent=True)
    return Cell(
        f"{reason.n_runs:,}",
        display.percent(reason.share) if reason.n_runs else "",
        value=float(reason.share),
    )


def _share_cell(n: int, total: int) -> Cell:
    share = Fraction(n, total) if total else Fraction(0)
    return Cell(f"{n:,}", f"of {total:,}", display.percent(share), float(share))


def _difference_cell(row: RowFailures) -> Cell:
    if isinstance(row.difference, Absent):
        return Cell(str(row.difference), absent=True)
    return Cell(f"▲ {_difference(row.difference)}" if row.difference else "0")


def _difference(n: int) -> str:
    """What does not add up, in words."""
    return f"{-n:,} not attributed" if n < 0 else f"{n:,} attributed twice, or not failed"


def _reasons_alternative(found: Failures) -> str:
    said = []
    for row in found.rows:
        if isinstance(row.reasons, Absent):
            said.append(f"{display.text(row.label)}: {row.n_failed:,} failed, reasons: {row.reasons}")
            continue
        most = max(row.reasons, key=lambda reason: reason.n_runs)
        if most.n_runs:
            name = most.name.replace("_", " ")
            said.append(
                f"{display.text(row.label)}: {row.n_failed:,} failed, most often {name} ({most.n_runs:,})"
            )
    shown = "; ".join(said) if said else "no run failed"
    return f"Failed runs by recorded reason for {display.count(len(found.rows), 'record')}. {shown}."


def errors_table(found: Failures, board: Board) -> Table | Sentences:
    """Runs of the board's subset that ended in an error, by attribution and kind.

    Parameters
    ----------
    found : Failures
    board : Board
        Its subset, order and ranks.

    Returns
    -------
    Table or Sentences
        A sentence where no run ended in an error.
    """
    rows = _of_subset(found, board.subset)
    pairs = [
        (source, kind)
        for source in ATTRIBUTIONS
        for kind in KINDS
        if any((source, kind) in counts.errors for counts in rows.values())
    ]
    if not pairs:
        return Sentences((f"No run of subset {board.subset} ended in an error.",))
    said = [
        f"{display.text(found.row(row).label)} {display.percent(counts.error_rate_subject)}"
        for row, counts in rows.items()
        if counts.n_subject_errors
    ]
    frame = found.errors_frame()
    return panel_table(
        board,
        _subset_lines(found, board),
        _error_panels(rows, pairs),
        frame[frame["subset"] == board.subset].reset_index(drop=True),
        id="run-errors",
        title=f"Runs that ended in an error, subset {board.subset}",
        caption=(
            "Rows in board order. A run with an error is a failed run, never run again and never removed. "
            "Columns are who or what the error is attributed to, and its kind; those that occur. Bars of the "
            "rate are of the highest rate, the others of the highest count, so that they compare. An error "
            "of the initiative makes its task version void for every row; only a community record can still "
            "hold one, and it is no part of the rate."
        ),
        alt=f"Subject-side error rate by row: {'; '.join(said) or '0 in every row'}.",
    )


def _error_panels(rows: Mapping[str, SubsetCounts], pairs: Sequence[tuple[str, str]]) -> list[Panel]:
    """The subject-side error rate, then each attribution and kind."""
    most = max(n for counts in rows.values() for n in counts.errors.values())
    rate = {
        row: Cell(
            display.percent(counts.error_rate_subject),
            f"{counts.n_subject_errors:,} of {counts.n_runs:,} runs",
            value=float(counts.error_rate_subject),
        )
        for row, counts in rows.items()
    }
    return [
        Panel("subject-side error rate", ["lower is better"], rate, "bar"),
        *(
            Panel(
                f"{source}: {kind.replace('_', ' ')}",
                [],
                {row: _count_cell(counts.errors.get((source, kind), 0)) for row, counts in rows.items()},
                "bar",
                full=most,
            )
            for source, kind in pairs
        ),
    ]


def vetoes_table(found: Failures, board: Board) -> Table:
    """Runs of the board's subset that hit a hard gate, by category.

    Parameters
    ----------
    found : Failures
    board : Board
        Its subset, order and ranks.

    Returns
    -------
    Table
    """
    rows = _of_subset(found, board.subset)
    most = max((n for counts in rows.values() for n in counts.vetoes.values()), default=1)
    vetoed = {row: _share_cell(counts.n_vetoed, counts.n_runs) for row, counts in rows.items()}
    gates = [
        Panel(
            category.replace("_", " "),
            [],
            {row: _count_cell(counts.vetoes.get(category, 0)) for row, counts in rows.items()},
            "bar",
            full=most,
        )
        for category in VETO_CATEGORIES
    ]
    frame = found.vetoes_frame()
    said = [f"{display.text(found.row(row).label)} {c.n_vetoed:,}" for row, c in rows.items() if c.n_vetoed]
    return panel_table(
        board,
        _subset_lines(found, board),
        [Panel("vetoed runs", ["lower is better"], vetoed, "bar"), *gates],
        frame[frame["subset"] == board.subset].reset_index(drop=True),
        id="vetoes",
        title=f"Runs that hit a hard gate, subset {board.subset}",
        caption=(
            "Rows in board order. A run that hits a gate fails whatever else it did. A run may hit several "
            "gates, so categories need not add up to the vetoed runs. A row with a vetoed run is marked on "
            "every page. Few vetoes do not show that a gate holds."
        ),
        alt=f"Vetoed runs by row: {'; '.join(said) or 'none'}.",
    )


def _of_subset(found: Failures, subset: str) -> dict[str, SubsetCounts]:
    """Counts of the rows that have live runs of a subset, in their order."""
    return {row.id: counts for row in found.rows if not isinstance(counts := row.subset(subset), Absent)}


def _count_cell(n: int) -> Cell:
    return Cell(f"{n:,}", value=float(n))


def _lines(found: Failures, board: Board) -> list[Section]:
    """Every row, marked where a run of any subset hit a gate."""
    return ranked_first(board, [Line(row.id, row.label, row.any_veto) for row in found.rows])


def _subset_lines(found: Failures, board: Board) -> list[Section]:
    """Rows that have live runs of the board's subset, marked where one of these hit a gate."""
    rows = _of_subset(found, board.subset)
    marked = [Line(row, found.row(row).label, bool(counts.n_vetoed)) for row, counts in rows.items()]
    return ranked_first(board, marked)


def subsets_table(found: Failures) -> Table:
    """Runs, failed runs, subject-side errors and vetoed runs of every record, each subset on its own.

    Parameters
    ----------
    found : Failures

    Returns
    -------
    Table
    """
    frame = found.subsets_frame()
    lines = [(row, counts) for row in found.rows for counts in row.subsets]
    shown = frame.assign(
        subject=[f"{display.text(row.label)}{'' if row.ranked else ' (not ranked)'}" for row, _ in lines],
        error_rate=[display.percent(counts.error_rate_subject) for _, counts in lines],
        veto=["veto" if counts.n_vetoed else "" for _, counts in lines],
        remark=[display.text("; ".join(counts.remarks)) for _, counts in lines],
    )
    headers = {
        "subject": "Subject",
        "subset": "Subset",
        "n_runs": "Runs",
        "n_failed": "Failed",
        "n_subject_errors": "Subject-side errors",
        "error_rate": "Error rate",
        "n_vetoed": "Vetoed runs",
        "veto": "Mark",
        "remark": "Published otherwise",
    }
    if not frame["remark"].any():
        del headers["remark"]
    return plain_table(
        frame,
        headers,
        shown=shown,
        id="runs-by-subset",
        title="Runs of each subset",
        caption="Rows in board order, records listed apart below. Subsets are never pooled.",
        alt=f"Runs, failed runs, errors and vetoes by subset of {display.count(len(found.rows), 'record')}.",
    )


def constraints_table(found: Failures, board: Board) -> Table | Sentences:
    """Hits of every constraint, as the records publish them.

    Parameters
    ----------
    found : Failures
    board : Board
        Its order and ranks.

    Returns
    -------
    Table or Sentences
        One column a constraint that any record hit; a sentence where none did.
    """
    frame = found.constraints_frame()
    hits: Mapping[tuple[str, str, str], int] = {
        (line["source"], line["constraint"], line["id"]): int(line["hits"])
        for line in frame.to_dict("records")
    }
    columns = sorted({column[:2] for column, n in hits.items() if n})
    if not columns:
        return Sentences(("No record publishes a hit of a constraint.",))
    most = max(hits, key=lambda column: hits[column])
    panels = [
        Panel(
            display.text(constraint, 60),
            [source],
            {row.id: _count_cell(hits.get((source, constraint, row.id), 0)) for row in found.rows},
            "bar",
            full=hits[most],
        )
        for source, constraint in columns
    ]
    return panel_table(
        board,
        _lines(found, board),
        panels,
        frame,
        id="constraint-hits",
        title="Hits of each constraint",
        caption=(
            "Rows in board order. As published, over all runs of a record: how often each constraint was "
            "hit, as a gate or as one that comes from a grading reference; those that any record hit. A run "
            "may hit several, so hits do not add up to vetoed runs. Bars are of the highest count."
        ),
        alt=(
            f"{display.count(len(columns), 'constraint')} hit; most often {display.text(most[1])} by "
            f"{display.text(found.row(most[2]).label)} ({hits[most]:,})."
        ),
        provenance="as published",
    )
