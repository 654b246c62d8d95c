"""Cost per success against pass^3, one currency and price table at a time."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import pandas as pd

from medgauge_lib.charts import display, rows, theme
from medgauge_lib.results import Absent, as_float

if TYPE_CHECKING:
    from medgauge_lib.board import Board, Row

LOG_FROM = 20
"""Ratio of the highest to the lowest cost from which a logarithmic axis is used."""

_WIDTH, _HEIGHT = 620, 360
_PADDING = 24
"""Room in pixels at either end of a logarithmic axis."""
_ROOM = 1.05
"""End of the other axis as a multiple of the highest cost."""

_SIDES: dict[str, tuple[Literal["left", "right"], int, int]] = {
    "upper right": ("left", 7, -7),
    "upper left": ("right", -7, -7),
    "lower right": ("left", 7, 13),
    "lower left": ("right", -7, 13),
}
"""Sides of a point where its label may stand: alignment and distance in pixels, the first is tried first."""


def cost(board: Board) -> rows.Layers | alt.Chart:
    """Chart of what a success costs against how reliably tasks are passed.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    Altair chart
        One point a row with an amount, with the exact interval of pass^3; one view, over those rows of
        `cost_frame` that are drawn, so that it can be layered, filtered and faceted. Amounts of another
        currency or price table than the most common one cannot be compared and are left out; `cost_caption`
        names them.
    """
    frame = cost_frame(board)
    priced = frame[frame["drawn"]]
    if priced.empty:
        why = sorted(set(frame["shown_cost"]))
        words = f"no row has a cost per success: {why[0] if len(why) == 1 else 'the caption says why'}"
        return rows.words_only(words, "Cost chart: no row has a cost per success.")
    labelled = _labelled(priced)
    return alt.layer(
        *_layers(labelled),
        data=labelled,
        width=_WIDTH,
        height=_HEIGHT,
        description=_alternative(board, priced),
    )


def cost_frame(board: Board) -> pd.DataFrame:
    """Data of `cost`, one line a row in board order; ``drawn`` says which rows the chart shows.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    DataFrame
    """
    price = _common_price(board)
    frame = pd.DataFrame(
        {
            "harness": [row.harness for row in board.rows],
            "cost": [as_float(row.cost_per_success) for row in board.rows],
            "currency": [row.currency for row in board.rows],
            "price_table": [row.price_table for row in board.rows],
            "pass_pow_3": [float(row.pass_pow_3) for row in board.rows],
            **rows.bounds(row.pass_pow_3 for row in board.rows),
            "shown_cost": [display.cost(row) for row in board.rows],
            "shown": [display.estimate(row.pass_pow_3) for row in board.rows],
            "drawn": [_is_priced(row) and _price(row) == price for row in board.rows],
        }
    )
    return rows.row_frame(board).join(frame)


def cost_caption(board: Board) -> str:
    """How to read `cost`, with the rows that it cannot show and why.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    str
    """
    frame = cost_frame(board)
    left_out = frame[~frame["drawn"]]
    read = (
        "Up and to the left is better: more tasks passed in all three runs, each success cheaper. Cost per "
        "success is a mean over the tasks that the row itself passes at least once. Lines are exact 95 % "
        "intervals of pass^3. Names stand at points that no other row beats on both counts, ranks at the "
        "others, each where it covers nothing."
    )
    if left_out.empty:
        return read
    reasons = Counter(_reason(line) for line in left_out.to_dict("records"))
    listed = "; ".join(f"{reason}: {_subjects(left_out, reason)}" for reason in sorted(reasons))
    return f"{read} Not drawn — {listed}."


def _subjects(frame: pd.DataFrame, reason: str) -> str:
    subjects = [line["subject"] for line in frame.to_dict("records") if _reason(line) == reason]
    return display.listed(subjects) if len(subjects) <= 6 else display.count(len(subjects), "row")


def _reason(line: Mapping[Hashable, Any]) -> str:
    if pd.isna(line["cost"]):
        return str(line["shown_cost"])
    return f"amounts in {line['currency']}, price table {display.text(str(line['price_table']))}"


def _is_priced(row: Row) -> bool:
    """Whether there is a cost; one of exactly 0 is a cost too."""
    return not isinstance(row.cost_per_success, Absent)


def _price(row: Row) -> tuple[str, str]:
    return (row.currency or "", row.price_table or "")


def _common_price(board: Board) -> tuple[str, str] | None:
    """Currency and price table of most rows; of equally common ones the first in the alphabet."""
    prices = Counter(_price(row) for row in board.rows if _is_priced(row))
    return min(prices, key=lambda price: (-prices[price], price), default=None)


def _layers(priced: pd.DataFrame) -> list[alt.Chart]:
    low, high = priced["cost"].min(), priced["cost"].max()
    log = _is_log(low, high)
    currency = priced["currency"].iloc[0]
    x = alt.X(
        "cost:Q",
        title=f"cost per success, {currency}{' (logarithmic)' if log else ''}",
        scale=alt.Scale(type="log", nice=False, padding=_PADDING)
        if log
        else alt.Scale(domain=[0, high * _ROOM or 1], nice=False),
        axis=alt.Axis(format="~g", grid=False, values=_ticks(low, high))
        if log
        else alt.Axis(grid=False, tickCount=6),
    )
    y = alt.Y("pass_pow_3:Q", title="pass^3", scale=alt.Scale(domain=[0, 1]), axis=rows.PERCENT_AXIS)
    base = alt.Chart().encode(
        tooltip=[
            alt.Tooltip("subject:N"),
            alt.Tooltip("rank:N"),
            alt.Tooltip("shown:N", title="pass^3"),
            alt.Tooltip("shown_cost:N", title="cost per success"),
        ]
    )
    spread = base.mark_rule(strokeWidth=1.2, color=theme.GAP, aria=False).encode(
        x=x, y=alt.Y("low:Q", scale=alt.Scale(domain=[0, 1])), y2=alt.Y2("high:Q")
    )
    point = base.mark_point(size=60, filled=True, color=theme.VALUE, opacity=1).encode(x=x, y=y)
    text = alt.Chart().encode(x=x, y=y, text=alt.Text("label:N"))
    labels = [
        text.mark_text(align=align, dx=dx, dy=dy, color=theme.INK, aria=False).transform_filter(
            alt.datum.side == side
        )
        for side, (align, dx, dy) in _SIDES.items()
        if side in set(priced["side"])
    ]
    return [spread, point, *labels]


def _labelled(priced: pd.DataFrame) -> pd.DataFrame:
    """Drawn rows with the label of their point and its side, such that no label covers another or a point.

    Points that no other beats choose first: their name, or where it has no room their rank. A point whose
    label has no room on any side has none.
    """
    spots = _spots(priced)
    best = _unbeaten(priced)
    taken = [(x - 5, x + 5, y - 5, y + 5) for x, y in spots]
    labels, sides = [""] * len(spots), [""] * len(spots)
    for k in sorted(range(len(spots)), key=lambda k: not best[k]):
        words = [priced["name"].iloc[k]] * best[k] + [priced["rank"].iloc[k]]
        for label, side in itertools.product(words, _SIDES):
            box = _box(*spots[k], rows.name_width(label), side)
            if box[0] >= 0 and box[3] <= _HEIGHT and not any(_meet(box, other) for other in taken):
                labels[k], sides[k] = label, side
                taken.append(box)
                break
    return priced.assign(label=labels, side=sides)


def _spots(priced: pd.DataFrame) -> list[tuple[float, float]]:
    """Where each point is drawn, in pixels from the upper left."""
    low, high = float(priced["cost"].min()), float(priced["cost"].max())

    def across(cost: float) -> float:
        if _is_log(low, high):
            return _PADDING + (_WIDTH - 2 * _PADDING) * math.log(cost / low) / math.log(high / low)
        return _WIDTH * cost / (high * _ROOM or 1)

    return [
        (across(cost), _HEIGHT * (1 - passed))
        for cost, passed in zip(priced["cost"], priced["pass_pow_3"], strict=True)
    ]


_Box = tuple[float, float, float, float]


def _box(x: float, y: float, width: float, side: str) -> _Box:
    """Left, right, top and bottom of a label of this width, in pixels."""
    align, dx, dy = _SIDES[side]
    left = x + dx if align == "left" else x + dx - width
    return left, left + width, y + dy - 8, y + dy + 4


def _meet(one: _Box, other: _Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _is_log(low: float, high: float) -> bool:
    return low > 0 and high / low >= LOG_FROM


def _ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten between two costs."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    return [digit * 10.0**power for power in powers for digit in (1, 2, 5)]


def _unbeaten(priced: pd.DataFrame) -> list[bool]:
    """Whether no other row is at least as cheap and at least as reliable, and better in one of the two."""
    points = list(zip(priced["cost"], priced["pass_pow_3"], strict=True))
    return [
        not any(c <= cost and p >= passed and (c, p) != (cost, passed) for c, p in points)
        for cost, passed in points
    ]


def _alternative(board: Board, priced: pd.DataFrame) -> str:
    by_cost = priced.sort_values("cost", kind="stable").to_dict("records")
    cheapest, dearest = by_cost[0], by_cost[-1]
    return (
        f"Cost per success against pass^3 for {len(priced)} of {display.count(len(board.rows), 'row')}. "
        f"Cheapest: {cheapest['subject']} at {cheapest['shown_cost']} with {cheapest['shown']}. "
        f"Dearest: {dearest['subject']} at {dearest['shown_cost']} with {dearest['shown']}."
    )
