"""Matrix of paired differences in pass^3, rows against rows in board order."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

from medgauge_lib.charts import display, rows, theme
from medgauge_lib.charts.words import apart_words
from medgauge_lib.results import Absent, as_float

if TYPE_CHECKING:
    from medgauge_lib.board import Board
    from medgauge_lib.pairs import Pair

STEPS = (
    (Fraction(-30, 100), "below −30"),
    (Fraction(-15, 100), "−30 to −15"),
    (Fraction(-5, 100), "−15 to −5"),
    (Fraction(5, 100), "−5 to +5"),
    (Fraction(15, 100), "+5 to +15"),
    (Fraction(30, 100), "+15 to +30"),
    (Fraction(1), "above +30"),
)
"""Upper end of each step of colour, and its words in percentage points."""

MAX_PAIRS = 6_000
"""Tiles of a matrix (110 rows); beyond it each row counts the rows it differs from."""

VERDICTS = ("shown to be behind it", "not shown to differ from it", "shown to be ahead of it")

_TOOLTIP = [
    alt.Tooltip("upper:N", title="a (upper row)"),
    alt.Tooltip("lower:N", title="b (lower row)"),
    alt.Tooltip("shown_difference:N", title="a − b"),
    alt.Tooltip("shown_interval:N", title="95 % interval (BCa)"),
    alt.Tooltip("b_count:Q", title="tasks only a passes"),
    alt.Tooltip("c_count:Q", title="tasks only b passes"),
    alt.Tooltip("shown_p:N", title="p"),
    alt.Tooltip("shown_holm:N", title="adjusted p"),
    alt.Tooltip("verdict:N", title="verdict"),
]


def differences(board: Board) -> rows.Layers | alt.HConcatChart | alt.Chart:
    """Chart of every pair of rows: how far apart they are and whether they are shown to differ.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    Altair chart
        One tile a pair, below the name of its upper row and left of that of its lower row. A full tile is a
        pair shown to differ, a small one is a pair not shown to differ; colour is the difference. Beyond
        6,000 pairs: for each row, how many rows are shown to be behind it, ahead of it, and neither. Words
        where there is one row.
    """
    names, frame = rows.row_frame(board), differences_frame(board)
    if frame.empty:
        return rows.words_only("one row: there is no pair to compare", _alternative(board))
    if len(frame) > MAX_PAIRS:
        counts = _counts(_count_frame(board), names)
        return alt.hconcat(rows.name_column(names), counts, spacing=6, description=_alternative(board))
    n_rows = len(names)
    cell = 22 if n_rows <= 20 else 15 if n_rows <= 50 else 10
    layers = [_tiles(frame, n_rows, cell), _diagonal(names, cell)]
    return alt.layer(*layers, width=cell * n_rows, height=cell * n_rows, description=_alternative(board))


def differences_caption(board: Board) -> str:
    """How to read `differences`, whichever form it takes.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    str
    """
    if not board.pairs.pairs:
        return "A pair takes two rows."
    table = (
        "The table behind the figure has the interval, both counts, p and adjusted p of every pair. The "
        "interval is of each pair alone: where it leaves out 0 and the adjusted p is above 0.05, the pair is "
        "not shown to differ."
    )
    if len(board.pairs.pairs) > MAX_PAIRS:
        return (
            f"{display.count(len(board.pairs.pairs), 'pair')} are too many tiles to see: each bar counts the "
            "other rows that are shown to be behind a row, not shown to differ from it, and shown to be "
            f"ahead of it. {table}"
        )
    return (
        "One tile a pair: below the name of the row that stands higher on the board, left of the name of the "
        "lower one. Colour is the difference, upper minus lower row, in percentage points. A full tile is a "
        "pair shown to differ (Holm-adjusted p of at most 0.05), a small tile a pair not shown to differ. "
        f"{table}"
    )


def differences_frame(board: Board) -> pd.DataFrame:
    """Data of `differences`, one line a pair: a is higher on the board, the difference is a minus b.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    DataFrame
    """
    place = {record: k for k, record in enumerate(board.order, 1)}
    name = {row.id: display.text(row.label) for row in board.rows}
    lines = [_line(pair, place, name) for pair in board.pairs.pairs]
    columns = [
        *("upper_place", "lower_place", "upper", "lower", "difference", "low", "high", "b_count", "c_count"),
        *("step", "p", "holm", "differs", "verdict"),
        *("shown_difference", "shown_interval", "shown_p", "shown_holm"),
    ]
    return pd.DataFrame(lines, columns=columns).sort_values(["upper_place", "lower_place"], ignore_index=True)


def _line(pair: Pair, place: dict[str, int], name: dict[str, str]) -> dict[str, object]:
    """A pair as the board has it: where cost put b above a, the pair is turned round."""
    pair = pair.turned() if place[pair.a] > place[pair.b] else pair
    bounds = pair.interval
    return {
        "upper_place": place[pair.a],
        "lower_place": place[pair.b],
        "upper": name[pair.a],
        "lower": name[pair.b],
        "difference": float(pair.difference),
        "low": None if isinstance(bounds, Absent) else bounds.low,
        "high": None if isinstance(bounds, Absent) else bounds.high,
        "b_count": pair.b_count,
        "c_count": pair.c_count,
        "p": as_float(pair.p),
        "step": next(words for end, words in STEPS if pair.difference <= end),
        "holm": as_float(pair.holm),
        "differs": pair.differs,
        "verdict": "shown to differ" if pair.differs else "not shown to differ",
        "shown_difference": display.points(pair.difference),
        "shown_interval": display.interval(bounds, difference=True),
        "shown_p": display.p_value(pair.p),
        "shown_holm": display.p_value(pair.holm),
    }


def _tiles(frame: pd.DataFrame, n_rows: int, cell: int) -> alt.Chart:
    x = alt.X("upper_place:Q", scale=alt.Scale(domain=[0.5, n_rows + 0.5], nice=False, zero=False), axis=None)
    drawn: alt.Chart = (
        alt.Chart(frame)
        .mark_square(opacity=1, aria=False)
        .encode(
            x=x,
            y=rows.place("lower_place", n_rows=n_rows),
            color=alt.Color(
                "step:N",
                title="upper row − lower row, pp",
                scale=alt.Scale(domain=[words for _, words in STEPS], range=list(theme.DIVERGING)),
                legend=alt.Legend(orient="top", symbolType="square", symbolSize=120),
            ),
            size=alt.Size(
                "verdict:O",
                title=None,
                scale=alt.Scale(
                    domain=["shown to differ", "not shown to differ"],
                    range=[(cell - 2) ** 2, (cell * 0.4) ** 2],
                ),
                legend=alt.Legend(
                    orient="top",
                    symbolType="square",
                    symbolFillColor=theme.MUTED,
                    symbolStrokeColor=theme.MUTED,
                ),
            ),
            tooltip=_TOOLTIP,
        )
    )
    return drawn


def _diagonal(names: pd.DataFrame, cell: int) -> alt.Chart:
    n_rows = len(names)
    drawn: alt.Chart = (
        alt.Chart(names)
        .mark_text(align="left", dx=-cell / 2 + 3, fontSize=min(11, cell - 1), color=theme.INK, aria=False)
        .encode(
            x=alt.X(
                "place:Q", scale=alt.Scale(domain=[0.5, n_rows + 0.5], nice=False, zero=False), axis=None
            ),
            y=rows.place(n_rows=n_rows),
            text=alt.Text("name:N"),
            tooltip=[alt.Tooltip("subject:N"), alt.Tooltip("rank:N")],
        )
    )
    return drawn


def _count_frame(board: Board) -> pd.DataFrame:
    """For every row, how many other rows are shown to be behind it, not shown to differ, and ahead of it."""
    counts = {row: [0, len(board.order) - 1, 0] for row in board.order}
    for pair in board.pairs.pairs:
        if pair.differs:
            ahead, behind = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
            for row, side in ((ahead, 0), (behind, 2)):
                counts[row][side] += 1
                counts[row][1] -= 1
    lines = []
    for place, row in enumerate(board.order, 1):
        start = 0
        for words, n in zip(VERDICTS, counts[row], strict=True):
            lines.append((place, words, start, start + n, n))
            start += n
    return pd.DataFrame(lines, columns=["place", "verdict", "start", "stop", "n_rows"])


def _counts(frame: pd.DataFrame, names: pd.DataFrame) -> alt.Chart:
    n_rows = len(names)
    shades = [theme.DIVERGING[-1], theme.DIVERGING[3], theme.DIVERGING[0]]
    drawn: alt.Chart = (
        alt.Chart(frame.assign(top=frame["place"] - 0.42, bottom=frame["place"] + 0.42))
        .mark_rect(aria=False, strokeWidth=0)
        .encode(
            x=alt.X("start:Q", scale=alt.Scale(domain=[0, n_rows - 1]), title="other rows"),
            x2=alt.X2("stop:Q"),
            y=rows.place("top", n_rows=n_rows),
            y2=alt.Y2("bottom:Q"),
            color=alt.Color(
                "verdict:N",
                title=None,
                scale=alt.Scale(domain=list(VERDICTS), range=shades),
                legend=alt.Legend(orient="top", symbolType="square", symbolStrokeWidth=0, labelLimit=0),
            ),
            tooltip=[alt.Tooltip("verdict:N"), alt.Tooltip("n_rows:Q", title="rows")],
        )
        .properties(width=560, height=rows.height(n_rows))
    )
    return drawn


def _alternative(board: Board) -> str:
    counted = len(board.pairs.pairs) > MAX_PAIRS
    what = (
        "For each row, how many other rows are shown to be behind it and ahead of it in pass^3."
        if counted
        else "Matrix of paired differences in pass^3, every row against every other."
    )
    return f"{what} {apart_words(board)}"
