"""Forest of pass^3 and pass@3 in board order, with the groups as bars beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

from medgauge_lib.charts import display, rows, theme
from medgauge_lib.charts.words import leader_words
from medgauge_lib.letters import letter

if TYPE_CHECKING:
    from medgauge_lib.board import Board

_KEY = "● pass^3 with its exact 95 % interval  ·  ○ pass@3  ·  wide bar between: instability"


def forest(board: Board) -> alt.HConcatChart:
    """Chart of how sure each row's pass^3 is, and of which rows are not shown to differ.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    Altair chart
        Rows in board order. Left: pass^3 with its exact interval, pass@3 as a hollow mark. Right: one
        column a group; rows that a bar of one column covers are not shown to differ.
    """
    frame = forest_frame(board)
    panels = [rows.name_column(frame), _forest_panel(frame)]
    if board.groups:
        panels.append(_group_panel(board, frame))
    return alt.hconcat(*panels, spacing=6, description=_alternative(board))


def forest_frame(board: Board) -> pd.DataFrame:
    """Data of `forest`, one line a row in board order, not rounded.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    DataFrame
    """
    figures = pd.DataFrame(
        {
            "pass_pow_3": [float(row.pass_pow_3) for row in board.rows],
            **rows.bounds(row.pass_pow_3 for row in board.rows),
            "pass_at_3": [float(row.pass_at_3) for row in board.rows],
            "instability": [float(row.instability) for row in board.rows],
            "n_tasks": [row.pass_pow_3.n_tasks for row in board.rows],
            "letters": [" ".join(row.letters) for row in board.rows],
            "shown": [display.estimate(row.pass_pow_3) for row in board.rows],
            "shown_at_3": [display.percent(row.pass_at_3.value) for row in board.rows],
            "shown_gap": [display.points(row.instability) for row in board.rows],
        }
    )
    return rows.row_frame(board).join(figures)


def _forest_panel(frame: pd.DataFrame) -> rows.Layers:
    n_rows = len(frame)
    share = alt.Scale(domain=[0, 1])
    base = alt.Chart(frame).encode(
        y=rows.place(n_rows=n_rows),
        tooltip=[
            alt.Tooltip("subject:N"),
            alt.Tooltip("rank:N"),
            alt.Tooltip("shown:N", title="pass^3"),
            alt.Tooltip("shown_at_3:N", title="pass@3"),
            alt.Tooltip("shown_gap:N", title="instability"),
            alt.Tooltip("letters:N", title="groups"),
        ],
    )
    thick = max(6, rows.step(n_rows) * 0.42)
    gap = base.mark_rule(strokeWidth=thick, color=theme.GAP, aria=False).encode(
        x=alt.X("pass_pow_3:Q", scale=share), x2=alt.X2("pass_at_3:Q")
    )
    spread = base.mark_rule(strokeWidth=1.8, color=theme.VALUE, aria=False).encode(
        x=alt.X("low:Q", scale=share), x2=alt.X2("high:Q")
    )
    ends = [
        base.mark_tick(thickness=1.8, size=thick * 0.9, color=theme.VALUE, opacity=1, aria=False).encode(
            x=alt.X(f"{end}:Q", scale=share)
        )
        for end in ("low", "high")
    ]
    at_3 = base.mark_point(
        size=46, filled=True, fill=theme.PAGE, stroke=theme.VALUE, strokeWidth=1.5, opacity=1
    ).encode(x=alt.X("pass_at_3:Q", scale=share))
    pow_3 = base.mark_point(size=64, filled=True, color=theme.VALUE, opacity=1).encode(
        x=alt.X("pass_pow_3:Q", scale=share, axis=rows.PERCENT_AXIS, title="share of tasks passed")
    )
    return alt.layer(
        *(rows.bands(frame), gap, spread, *ends, at_3, pow_3),
        width=400,
        height=rows.height(n_rows),
        title=_KEY,
    )


def group_frame(board: Board) -> pd.DataFrame:
    """Bars of `forest`: ``group``, ``top`` and ``bottom`` place of each unbroken stretch of its rows.

    A group's rows need not be neighbours, since cost moves rows and groups overlap; then it has several.
    """
    place_of = {record: k for k, record in enumerate(board.order, 1)}
    best = {row.id for row in board.rows if row.rank == 1}
    bars = []
    for k, group in enumerate(board.groups):
        places = sorted(place_of[record] for record in group)
        starts = [p for p in places if p - 1 not in places]
        stops = [p for p in places if p + 1 not in places]
        for top, bottom in zip(starts, stops, strict=True):
            bars.append((k, letter(k), top, bottom, len(group), bool(best & set(group))))
    return pd.DataFrame(bars, columns=["column", "group", "top", "bottom", "n_rows", "leads"])


def _group_panel(board: Board, frame: pd.DataFrame) -> rows.Layers:
    n_rows, bars = len(frame), group_frame(board)
    bars = bars.assign(upper=bars["top"] - 0.4, lower=bars["bottom"] + 0.4)
    n_groups = len(board.groups)
    column = 18 if n_groups <= 20 else 13
    x = alt.X(
        "column:Q",
        scale=alt.Scale(domain=[-0.5, n_groups - 0.5], nice=False, zero=False),
        axis=None,
    )
    width = column * n_groups
    span = bars.groupby(["column", "group"], as_index=False).agg(
        upper=("upper", "min"), lower=("lower", "max"), n_rows=("n_rows", "first"), leads=("leads", "first")
    )
    colour = alt.Color(
        "leads:N", scale=alt.Scale(domain=[True, False], range=[theme.GROUP, theme.GROUP_REST]), legend=None
    )
    tooltip = [alt.Tooltip("group:N"), alt.Tooltip("n_rows:Q", title="rows in the group")]
    y = rows.place("upper", n_rows=n_rows)
    thread = (
        alt.Chart(span)
        .mark_rule(strokeWidth=1.2, aria=False)
        .encode(x=x, y=y, y2=alt.Y2("lower:Q"), color=colour, tooltip=tooltip)
    )
    bar = (
        alt.Chart(bars)
        .mark_bar(size=column * 0.5, cornerRadius=3)
        .encode(x=x, y=y, y2=alt.Y2("lower:Q"), color=colour, tooltip=tooltip)
    )
    head = (
        alt.Chart(span)
        .mark_text(fontSize=11 if n_groups <= 20 else 9, color=theme.INK, baseline="bottom", aria=False)
        .encode(x=x, y=alt.YValue(-3), text=alt.Text("group:N"), tooltip=tooltip)
    )
    return alt.layer(
        *(rows.bands(frame), thread, bar, head),
        width=width,
        height=rows.height(n_rows),
        title=alt.Title(["rows on one bar are", "not shown to differ"], offset=18),
    )


def _alternative(board: Board) -> str:
    lowest = min(board.rows, key=lambda row: (row.pass_pow_3.value, row.id))
    return (
        f"Forest chart of pass^3 for {display.count(len(board.rows), 'row')} on "
        f"{display.count(board.n_tasks, 'task')}, in board order. {leader_words(board)} "
        f"The lowest is {display.text(lowest.label)} with {display.estimate(lowest.pass_pow_3)}. "
        f"{display.count(len(board.groups), 'group')} of rows not shown to differ."
    )
