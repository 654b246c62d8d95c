"""Difficulty: strata by class with their intervals, what rises with difficulty, and how labels are spread.

Classes are ordered by the structure of the tasks and never averaged. What a public report keeps back is kept
back by the result; here it is said in words.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from medgauge_lib.charts import display
from medgauge_lib.charts.figure import Provenance
from medgauge_lib.charts.panels import (
    MARKS,
    Cell,
    Line,
    Panel,
    panel_table,
    ranked_first,
    short,
    uncertainty,
    with_figures,
)
from medgauge_lib.charts.tables import Table, plain_table, render
from medgauge_lib.charts.words import Sentences
from medgauge_lib.labels import CLASSES, DIFFICULTY
from medgauge_lib.results import Absent, Estimate

if TYPE_CHECKING:
    from medgauge_lib.board import Board
    from medgauge_lib.difficulty import Difficulty, Strata, Stratum

RISES = "↑"
"""Marks a class whose pass^3 is above that of the next easier class with a figure."""

_LABEL_BAR = 144
"""Length in pixels of the longest bar of a label."""

_TITLES = {"pass_pow_3": "pass^3", "task_pass_rate": "Task pass rate"}
_READ = {
    "pass_pow_3": (
        "Lines are exact 95 % intervals. ↑ marks a class whose pass^3 is above that of the next easier one: "
        "a fact about two figures, no test, and with few tasks often chance."
    ),
    "task_pass_rate": (
        "Lines are BCa 95 % intervals over the tasks of the class (seed {seed}), where the labels of tasks "
        "are given; a rate as published has none."
    ),
}


def difficulty_sentences(found: Difficulty) -> Sentences:
    """What a reader must know about the strata: where they come from, and what is withheld and why.

    Parameters
    ----------
    found : Difficulty
        From `medgauge_lib.difficulty.difficulty`.

    Returns
    -------
    Sentences
    """
    if found.publish == "internal":
        policy = "This report is internal: it shows every figure by class, and labels follow from it."
    else:
        policy = (
            "This report is public. Of classes it shows what the records publish; a figure that would tell "
            "more about the class of a single task is withheld, and its cell says so."
        )
    return Sentences((policy, *(display.text(note) for note in found.notes)))


def strata_table(
    found: Difficulty, board: Board, quantity: Literal["pass_pow_3", "task_pass_rate"]
) -> Table | Sentences:
    """One quantity by class, with its interval: rows in board order, a panel a class.

    Parameters
    ----------
    found : Difficulty
    board : Board
        The board they belong to.
    quantity : {"pass_pow_3", "task_pass_rate"}

    Returns
    -------
    Table or Sentences
        Where a row has no figure in a class, its cell says why. A sentence where no row has any.

    Raises
    ------
    ValueError
        If it is another quantity.
    """
    if quantity not in _READ:
        raise ValueError(f"quantity must be one of {', '.join(_READ)}, but got {quantity!r}")
    lines = [Line(row.id, row.label, row.id in board.vetoed) for row in found.rows]
    panels, bare = with_figures([_panel(found, quantity, place) for place in range(len(CLASSES))])
    if not panels:
        return Sentences((f"{_TITLES[quantity]} by class of difficulty: not applicable.{bare}",))
    frame = found.to_frame()
    own = [column for column in frame.columns if not column.startswith(_other(quantity))]
    return panel_table(
        board,
        ranked_first(board, lines),
        panels,
        frame[own],
        id=f"strata-{quantity.replace('_', '-')}",
        title=f"{_TITLES[quantity]} by class of difficulty",
        caption=(
            "Rows in board order; classes from the structure of the tasks, 1 the easiest, never averaged. "
            f"{_READ[quantity].format(seed=board.seed)} {MARKS}{bare}{_remarks(found)}"
        ),
        alt=_alternative(found, quantity),
        provenance=_provenance(found),
    )


def _other(quantity: str) -> str:
    return next(name for name in _READ if name != quantity)


def _provenance(found: Difficulty) -> Provenance:
    sources = {s.provenance for row in found.rows for s in row.strata if isinstance(s.pass_pow_3, Estimate)}
    return "mixed" if len(sources) > 1 else sources.pop() if sources else "as published"


def _remarks(found: Difficulty) -> str:
    n = sum(bool(stratum.remark) for row in found.rows for stratum in row.strata)
    if not n:
        return ""
    marked = display.count(n, "stratum", "strata")
    return f" {marked} marked *: the record publishes other figures, which the data name."


def _panel(found: Difficulty, quantity: str, place: int) -> Panel:
    counts = sorted({s.n_tasks for row in found.rows if isinstance((s := row.strata[place]).n_tasks, int)})
    tasks = (
        display.count(counts[0], "task")
        if len(counts) == 1
        else f"{counts[0]} to {counts[-1]} tasks"
        if counts
        else ""
    )
    return Panel(
        title=f"class {CLASSES[place]}",
        notes=[note for note in (tasks, "higher is better") if note],
        cells={row.id: _cell(row, row.strata[place], quantity) for row in found.rows},
    )


def _cell(row: Strata, stratum: Stratum, quantity: str) -> Cell:
    value: Estimate | Absent = getattr(stratum, quantity)
    if isinstance(value, Absent):
        return Cell(short(str(value)), said=str(value), absent=True)
    rises = quantity == "pass_pow_3" and any(rise.harder == stratum.difficulty for rise in row.rises)
    detail, why = uncertainty(value.interval)
    bounds = None if isinstance(value.interval, Absent) else value.interval
    counted = "" if value.n_successes is None else f"{value.n_successes} of {value.n_tasks} tasks"
    return Cell(
        f"{f'{RISES} ' if rises else ''}{display.percent(value.value)}{'*' if stratum.remark else ''}",
        detail,
        "; ".join(filter(None, (counted, why, display.text(stratum.remark)))),
        float(value),
        low=bounds.low if bounds else None,
        high=bounds.high if bounds else None,
        published=stratum.provenance == "as published",
    )


def _alternative(found: Difficulty, quantity: str) -> str:
    """How many rows have a figure in each class, and the range."""
    said = []
    for place, number in enumerate(CLASSES):
        values = [getattr(row.strata[place], quantity) for row in found.rows]
        known = [value.value for value in values if isinstance(value, Estimate)]
        within = f", from {display.percent(min(known))} to {display.percent(max(known))}" if known else ""
        said.append(f"class {number}: {display.count(len(known), 'row')}{within}")
    return f"{_TITLES[quantity]} by class for {display.count(len(found.rows), 'row')}: {'; '.join(said)}."


def rises_table(found: Difficulty) -> Table | Sentences:
    """Rows and neighbouring classes where the harder class has the higher pass^3.

    Parameters
    ----------
    found : Difficulty

    Returns
    -------
    Table or Sentences
        A sentence where pass^3 rises nowhere.
    """
    comparable = [row for row in found.rows if not isinstance(row.monotone, Absent)]
    rising = [row for row in comparable if row.rises]
    if not rising:
        if not comparable:
            return Sentences(("No row has figures of two classes, so nothing can rise.",))
        rows_ = display.count(len(comparable), "row")
        return Sentences((f"Of {rows_} with figures of two classes or more, pass^3 rises in none.",))
    frame, shown = _rises_frames(found)
    return plain_table(
        frame,
        {"subject": "Subject", "classes": "Classes", "rise": "Rise in pass^3", "tasks": "Tasks in the two"},
        shown=shown,
        id="difficulty-rises",
        title="Where a harder class has the higher pass^3",
        caption=(
            f"{len(rising)} of {display.count(len(comparable), 'row')} with figures of two classes or more. "
            "Results never change a task's class; a rise is a fact about two figures and no test. With few "
            "tasks in a class it is often chance."
        ),
        alt=f"pass^3 rises with difficulty in {len(rising)} of {display.count(len(comparable), 'row')}.",
        provenance=_provenance(found),
    )


def _rises_frames(found: Difficulty) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Data of `rises_table`, and the cells it shows."""
    rises = [(row, rise) for row in found.rows for rise in row.rises]
    n_tasks = [
        tuple(row.strata[number - 1].n_tasks for number in (rise.easier, rise.harder)) for row, rise in rises
    ]
    frame = found.rises_frame()
    frame["n_easier"], frame["n_harder"] = zip(*n_tasks, strict=True)
    shown = frame.assign(
        subject=[display.text(row.label) for row, _ in rises],
        classes=[f"{rise.easier} to {rise.harder}" for _, rise in rises],
        tasks=[f"{easier} and {harder}" for easier, harder in n_tasks],
        rise=[display.points(rise.difference) for _, rise in rises],
    )
    return frame, shown


def class_counts_table(found: Difficulty) -> Table | Sentences:
    """Tasks of each class, as the rows state them.

    Parameters
    ----------
    found : Difficulty

    Returns
    -------
    Table or Sentences
        A sentence where no row states any.
    """
    frame = found.counts_frame()
    if frame.empty:
        return Sentences(("No row says how many tasks are of which class.",))
    told = [f"class {line.difficulty}: {line.n_tasks}" for line in frame.itertuples()]
    sources = set(frame["provenance"])
    return plain_table(
        frame,
        {
            "difficulty": "Class",
            "n_tasks": "Tasks",
            "n_rows": "Rows that have so many",
            "provenance": "Where from",
        },
        id="class-counts",
        title="Tasks of each class",
        caption=(
            "Void task versions are out. A row listed apart may hold fewer tasks than the board; rows of the "
            "board that state different counts of one class disagree."
        ),
        alt=f"Tasks by class: {'; '.join(told)}.",
        provenance="mixed" if len(sources) > 1 else sources.pop(),
    )


def labels_table(found: Difficulty) -> Table | Sentences:
    """How many tasks of the board carry which label, family by family.

    Parameters
    ----------
    found : Difficulty

    Returns
    -------
    Table or Sentences
        A sentence where no labels are given.
    """
    frame = found.distributions_frame()
    if frame.empty:
        return Sentences(("No labels of tasks are given, so none are counted.",))
    reasons = sorted({one.reason for one in found.distributions if one.reason})
    withheld = f" Withheld: {'; '.join(reasons)}." if reasons else ""
    title = "Labels of the tasks"
    caption = (
        "Bars count the board's tasks by label, each family of labels on its own; a task may lack one. "
        f"Hollow bars are tasks that no label is shown for.{withheld}"
    )
    families = [
        (display.text(str(family), 160), [_label_line(str(family), line) for line in part.to_dict("records")])
        for family, part in frame.groupby("family", sort=False)
    ]
    said = [f"{family} {words}, {n}" for family, lines in families for words, n, _ in lines]
    html = render(
        "labels.html.j2",
        title=title,
        caption=caption,
        families=families,
        pixels=_LABEL_BAR / int(frame["n_tasks"].max()),
        width=_LABEL_BAR,
    )
    return Table("labels", title, caption, f"Tasks by label. {'; '.join(said)}.", html, frame, "counted")


def _label_line(family: str, line: dict[Hashable, Any]) -> tuple[str, int, bool]:
    """Words for a label, its tasks, and whether it is one."""
    known = line["kind"] == "label"
    label = str(line["value"] if known else line["kind"])
    words = f"class {label}" if known and family == DIFFICULTY else label
    return display.text(words), int(line["n_tasks"]), known
