"""The four quantities with their intervals, side by side in board order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

from medgauge_lib.charts import display, rows, theme
from medgauge_lib.charts.tables import QUANTITY_NAMES
from medgauge_lib.estimators import QUANTITIES
from medgauge_lib.results import Absent

if TYPE_CHECKING:
    from medgauge_lib.board import Board


def quantities(board: Board) -> alt.HConcatChart:
    """Chart of pass^3, pass@3, task pass rate and continuous score, each with its 95 % interval.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    Altair chart
        Rows in board order, one panel a quantity. A point without a line has no interval, and says so.
    """
    names, frame = rows.row_frame(board), quantities_frame(board)
    panels = _panels(frame, len(names))
    return alt.hconcat(rows.name_column(names), panels, spacing=14, description=_alternative(frame))


def quantities_frame(board: Board) -> pd.DataFrame:
    """Data of `quantities`, one line a row and quantity, not rounded.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    DataFrame
    """
    lines = []
    for k, row in enumerate(board.rows, 1):
        for quantity in QUANTITIES:
            figure = getattr(row, quantity)
            bounds = figure.interval
            here = not isinstance(bounds, Absent)
            lines.append(
                {
                    "place": k,
                    "subject": display.text(row.label),
                    "quantity": QUANTITY_NAMES[quantity],
                    "value": float(figure),
                    "low": bounds.low if here else None,
                    "high": bounds.high if here else None,
                    "method": bounds.method if here else None,
                    "shown": display.percent(figure.value),
                    "shown_interval": display.interval(bounds),
                }
            )
    return pd.DataFrame(lines)


def _panels(frame: pd.DataFrame, n_rows: int) -> alt.FacetChart:
    """One panel a quantity: bands, intervals, points, and words where there is no interval."""
    bare = alt.Chart()  # each panel gives its own rows
    base = bare.encode(
        y=rows.place(n_rows=n_rows),
        tooltip=[
            alt.Tooltip("subject:N"),
            alt.Tooltip("quantity:N"),
            alt.Tooltip("shown:N", title="value"),
            alt.Tooltip("shown_interval:N", title="95 % interval"),
        ],
    )
    scale = alt.Scale(domain=[0, 1])
    spread = base.mark_rule(strokeWidth=1.8, color=theme.VALUE, aria=False).encode(
        x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q")
    )
    size = rows.step(n_rows) * 0.38
    ends = [
        base.mark_tick(thickness=1.8, size=size, color=theme.VALUE, opacity=1, aria=False).encode(
            x=alt.X(f"{end}:Q", scale=scale)
        )
        for end in ("low", "high")
    ]
    axis = alt.Axis(values=[0, 0.5, 1], labelExpr=rows.PERCENT_AXIS.labelExpr)
    point = base.mark_point(size=54, filled=True, color=theme.VALUE, opacity=1).encode(
        x=alt.X("value:Q", scale=scale, axis=axis, title=None)
    )
    # A band belongs to a place and to no subject, or a page would highlight it with its row.
    places = bare.transform_filter("datum.place % 2 == 1").transform_aggregate(groupby=["top", "bottom"])
    bands = rows.band_marks(places, n_rows)
    layers = [bands, spread, *ends, point, *_not_estimable(base, scale)]
    panel = alt.layer(*layers, data=rows.with_edges(frame), width=165, height=rows.height(n_rows))
    column = alt.Column("quantity:N", sort=list(QUANTITY_NAMES.values()), title=None)
    return panel.facet(column=column, spacing=14)


def _not_estimable(base: alt.Chart, scale: alt.Scale) -> Iterator[alt.Chart]:
    """Words beside points without an interval, on the side with room."""
    said = base.encode(x=alt.X("value:Q", scale=scale), text=alt.TextValue("interval not estimable"))
    for absent, align, dx in (
        ("!isValid(datum.low) && datum.value <= 0.5", alt.Align("left"), 8),
        ("!isValid(datum.low) && datum.value > 0.5", alt.Align("right"), -8),
    ):
        yield said.transform_filter(absent).mark_text(
            align=align, dx=dx, color=theme.MUTED, fontStyle="italic", aria=False
        )


def _alternative(frame: pd.DataFrame) -> str:
    said = []
    for name in QUANTITY_NAMES.values():
        part = frame[frame["quantity"] == name]
        by_value = part.sort_values("value", kind="stable").to_dict("records")
        low, high = by_value[0], by_value[-1]
        said.append(f"{name} from {low['shown']} ({low['subject']}) to {high['shown']} ({high['subject']})")
    missing = int(frame["low"].isna().sum())
    n_rows = int(frame["place"].max())
    absent = f" {display.count(missing, 'interval')} not estimable." if missing else ""
    return (
        f"The four quantities with 95 % intervals for {display.count(n_rows, 'row')} in board order: "
        f"{'; '.join(said)}.{absent}"
    )
