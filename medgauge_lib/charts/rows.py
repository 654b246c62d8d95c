"""Rows of a board as the rows of a chart: their place from the top, and names that fit beside it.

Layered and joined charts fall back to alphabetical order, silently, when their sorts disagree. Here the
vertical position is the place itself, a number, and names are text drawn at it: nothing is sorted by a
chart, and no name of a record becomes part of an expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd

from medgauge_lib.charts import display, theme

if TYPE_CHECKING:
    from collections.abc import Iterable

    from medgauge_lib.board import Board, Row
    from medgauge_lib.results import Estimate

Layers = alt.LayerChart | alt.FacetChart
"""What Altair says that layers of one view become."""

PERCENT_AXIS = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], labelExpr="format(datum.value * 100, 'd') + ' %'")
"""Axis of a share; the expression is ours and reads nothing but the tick."""

NAME_LENGTH = 52
"""Columns of a name in a chart."""

_RANK_WIDTH = 28
_CHARACTER = 5.6
"""Mean width of a character of a name, in pixels at the size names are drawn."""
_CAPITAL = 8.0
_WIDEST = 11.2


def names(board: Board) -> tuple[str, ...]:
    """Name of every row, the harness left out where all rows have the same.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    tuple of str, length n_rows
        In board order, on one line each, not cut.
    """
    full = tuple(display.text(row.label) for row in board.rows)
    if len({row.harness for row in board.rows}) > 1 or len(board.rows) == 1:
        return full
    short = tuple(display.text(_without_harness(row)) for row in board.rows)
    return short if len(set(short)) == len(short) else full


def _without_harness(row: Row) -> str:
    start = f"{row.model} · {row.harness}"
    return row.model + row.label.removeprefix(start) if row.label.startswith(start) else row.label


def row_frame(board: Board) -> pd.DataFrame:
    """Place, name and rank of every row.

    Returns
    -------
    DataFrame
        Columns ``place`` (1 at the top), ``id``, ``subject`` (in full), ``name`` (cut) and ``rank``.
    """
    return pd.DataFrame(
        {
            "place": range(1, len(board.rows) + 1),
            "id": board.order,
            "subject": [display.text(row.label) for row in board.rows],
            "name": [display.text(name, NAME_LENGTH) for name in names(board)],
            "rank": [display.rank(row) for row in board.rows],
        }
    )


def bounds(figures: Iterable[Estimate]) -> dict[str, list[float | None]]:
    """Columns ``low`` and ``high`` of the figures' intervals; None where there is none."""
    intervals = [figure.interval for figure in figures]
    return {
        "low": [interval.low if interval else None for interval in intervals],
        "high": [interval.high if interval else None for interval in intervals],
    }


def step(n_rows: int) -> int:
    """Height of a row in pixels: airy on a small board, still legible on a large one."""
    return 24 if n_rows <= 20 else 18 if n_rows <= 50 else 14


def height(n_rows: int) -> int:
    """Height of a chart of so many rows."""
    return step(n_rows) * n_rows


def place(field: str = "place", *, n_rows: int, **options: Any) -> alt.Y:
    """Vertical position of a row: its place, the first at the top."""
    scale = alt.Scale(domain=[0.5, n_rows + 0.5], reverse=True, nice=False, zero=False)
    return alt.Y(f"{field}:Q", scale=scale, axis=None, **options)


def bands(frame: pd.DataFrame) -> alt.Chart:
    """A pale band behind every other row, to lead the eye."""
    n_rows = len(frame)
    striped = pd.DataFrame({"place": range(1, n_rows + 1, 2)}).pipe(with_edges)
    return band_marks(alt.Chart(striped), n_rows)


def with_edges(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with columns ``top`` and ``bottom``, where the row at a place begins and ends."""
    return frame.assign(top=frame["place"] - 0.5, bottom=frame["place"] + 0.5)


def band_marks(chart: alt.Chart, n_rows: int) -> alt.Chart:
    """Bands behind the rows of a chart, from edge to edge."""
    drawn: alt.Chart = chart.mark_rect(color=theme.INK, opacity=0.05, aria=False).encode(
        y=place("top", n_rows=n_rows), y2=alt.Y2("bottom:Q")
    )
    return drawn


def name_width(name: str) -> float:
    """Room that a name needs at most, in pixels at the size names are drawn.

    Examples
    --------
    >>> [round(name_width(name)) for name in ("model", "MODEL", "模型")]
    [30, 43, 22]
    """
    return sum(map(_advance, name))


def _advance(char: str) -> float:
    if char in "MW@%" or display.columns(char) > 1:
        return _WIDEST
    return _CAPITAL if char.isupper() or char in "mw&" else _CHARACTER


def name_column(frame: pd.DataFrame) -> Layers:
    """Ranks and names of the rows as a column of text, to stand left of a chart with the same rows."""
    n_rows = len(frame)
    width = _RANK_WIDTH + 18 + max(map(name_width, frame["name"]))
    tooltip = [alt.Tooltip("subject:N"), alt.Tooltip("rank:N")]
    base = alt.Chart(frame).encode(y=place(n_rows=n_rows), tooltip=tooltip)
    rank = base.mark_text(align="right", color=theme.MUTED, aria=False).encode(
        x=alt.XValue(_RANK_WIDTH), text=alt.Text("rank:N")
    )
    name = base.mark_text(align="right", color=theme.INK, aria=False).encode(
        x=alt.XValue(width - 6), text=alt.Text("name:N")
    )
    return alt.layer(bands(frame), rank, name, width=width, height=height(n_rows))


def words_only(words: str, description: str) -> alt.Chart:
    """A line of words in the place of a chart that would have nothing to show."""
    said: alt.Chart = (
        alt.Chart(pd.DataFrame({"words": [words]}), width=400, height=60, description=description)
        .mark_text(color=theme.MUTED, fontSize=12)
        .encode(text=alt.Text("words:N"))
    )
    return said
