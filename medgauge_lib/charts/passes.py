"""Passing runs of every task and row: a heat map, or shares where there are too many cells to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from medgauge_lib.charts import display, rows, theme
from medgauge_lib.outcomes import N_RUNS

if TYPE_CHECKING:
    from medgauge_lib.board import Board

MAX_CELLS = 6_000
"""Cells of a heat map; beyond it a row's tasks are counted by their number of passing runs."""

_WIDTH = 720


def passes(board: Board) -> alt.HConcatChart:
    """Chart of how many of its three runs each row passes on each task.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    Altair chart
        Rows in board order. Up to 6,000 cells: one cell a task, tasks passed most often first, then in the
        order of their key. Beyond: the share of each row's tasks with none to three passing runs.
    """
    names = rows.row_frame(board)
    if board.n_tasks * len(board.rows) <= MAX_CELLS:
        panel = _cells(_cell_frame(board), names, board.n_tasks)
    else:
        panel = _shares(_share_frame(board), names)
    return alt.hconcat(rows.name_column(names), panel, spacing=6, description=_alternative(board))


def passes_frame(board: Board) -> pd.DataFrame:
    """Data of `passes`: tasks down in the order drawn, rows across in board order, passing runs as cells.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    DataFrame
    """
    outcomes = board.outcomes
    column = {record: r for r, record in enumerate(outcomes.rows)}
    order = _task_order(board)
    table = {"task": [outcomes.tasks[t] for t in order]}
    for row in board.rows:
        table[row.label] = outcomes.passes[order, column[row.id]].tolist()
    return pd.DataFrame(table)


def passes_caption(board: Board) -> str:
    """How to read `passes`, whichever form it takes.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    str
    """
    if board.n_tasks * len(board.rows) <= MAX_CELLS:
        return (
            "One column a task, under its opaque key; tasks that all rows together pass most often stand "
            "left. The legend tells how many of the three runs passed; the middle shades are the tasks that "
            "a row passes only sometimes."
        )
    return (
        f"{display.count(board.n_tasks, 'task')} of {display.count(len(board.rows), 'row')} are too many "
        "cells to see: each bar shows the share of a row's tasks by how many of the three runs passed. The "
        "table behind the figure has every cell."
    )


def _task_order(board: Board) -> list[int]:
    totals = board.outcomes.passes.sum(axis=1)
    return sorted(range(board.n_tasks), key=lambda t: (-int(totals[t]), board.outcomes.tasks[t]))


def _cell_frame(board: Board) -> pd.DataFrame:
    outcomes, order = board.outcomes, _task_order(board)
    column = {record: r for r, record in enumerate(outcomes.rows)}
    ranked = outcomes.passes[np.ix_(order, [column[record] for record in board.order])]
    n_tasks, n_rows = ranked.shape
    return pd.DataFrame(
        {
            "place": np.tile(np.arange(1, n_rows + 1), n_tasks),
            "column": np.repeat(np.arange(1, n_tasks + 1), n_rows),
            "task": np.repeat([outcomes.tasks[t] for t in order], n_rows),
            "passes": ranked.ravel(),
        }
    )


def _share_frame(board: Board) -> pd.DataFrame:
    outcomes = board.outcomes
    column = {record: r for r, record in enumerate(outcomes.rows)}
    lines = []
    for k, row in enumerate(board.rows, 1):
        counts = np.bincount(outcomes.passes[:, column[row.id]], minlength=N_RUNS + 1)
        start = 0
        for n in range(N_RUNS, -1, -1):
            stop = start + int(counts[n])
            lines.append((k, n, start / board.n_tasks, stop / board.n_tasks, int(counts[n])))
            start = stop
    return pd.DataFrame(lines, columns=["place", "passes", "start", "stop", "n_tasks"])


def _colour() -> alt.Color:
    return alt.Color(
        "passes:O",
        title="passing runs",
        scale=alt.Scale(domain=list(range(N_RUNS + 1)), range=list(theme.STEPS)),
        legend=alt.Legend(
            orient="top",
            symbolType="square",
            symbolStrokeWidth=0,
            direction="horizontal",
            labelExpr=f"datum.label + ' of {N_RUNS}'",
        ),
    )


def _place(n_rows: int) -> alt.Y:
    """Bands that line up with the names beside them; the domain is written out, so nothing is sorted."""
    bands = alt.Scale(domain=list(range(1, n_rows + 1)), paddingInner=0.1, paddingOuter=0.05)
    return alt.Y("place:O", scale=bands, axis=None)


def _cells(frame: pd.DataFrame, names: pd.DataFrame, n_tasks: int) -> alt.Chart:
    n_rows = len(names)
    cell = max(3, min(rows.step(n_rows), _WIDTH // n_tasks))
    tasks = alt.Scale(domain=list(range(1, n_tasks + 1)), padding=0)
    title = f"{display.count(n_tasks, 'task')}, most often passed first"
    drawn: alt.Chart = (
        alt.Chart(frame, width=cell * n_tasks, height=rows.height(n_rows))
        .mark_rect(aria=False, strokeWidth=0)
        .encode(
            x=alt.X("column:O", scale=tasks, axis=alt.Axis(labels=False, ticks=False, title=title)),
            y=_place(n_rows),
            color=_colour(),
            tooltip=[alt.Tooltip("task:N"), alt.Tooltip("passes:O", title=f"passing runs of {N_RUNS}")],
        )
    )
    return drawn


def _shares(frame: pd.DataFrame, names: pd.DataFrame) -> alt.Chart:
    n_rows = len(names)
    drawn: alt.Chart = (
        alt.Chart(frame, width=560, height=rows.height(n_rows))
        .mark_bar(aria=False, strokeWidth=0)
        .encode(
            x=alt.X(
                "start:Q", scale=alt.Scale(domain=[0, 1]), axis=rows.PERCENT_AXIS, title="share of tasks"
            ),
            x2=alt.X2("stop:Q"),
            y=_place(n_rows),
            color=_colour(),
            tooltip=[
                alt.Tooltip("passes:O", title=f"passing runs of {N_RUNS}"),
                alt.Tooltip("n_tasks:Q", title="tasks"),
            ],
        )
    )
    return drawn


def _alternative(board: Board) -> str:
    totals = board.outcomes.passes.sum(axis=1)
    most = N_RUNS * board.outcomes.n_rows
    every, none = int((totals == most).sum()), int((totals == 0).sum())
    return (
        f"Passing runs of {display.count(len(board.rows), 'row')} on {display.count(board.n_tasks, 'task')}. "
        f"{display.count(every, 'task')} passed in every run of every row, {display.count(none, 'task')} in "
        "none."
    )
