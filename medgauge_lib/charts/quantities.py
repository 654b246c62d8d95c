"""The four quantities with their intervals, side by side in board order."""

from __future__ import annotations

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
    names = rows.row_frame(board)
    frame = quantities_frame(board)
    panels = [_panel(frame[frame["quantity"] == name], names, name) for name in QUANTITY_NAMES.values()]
    return alt.hconcat(rows.name_column(names), *panels, spacing=14, description=_alternative(frame))


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


def _panel(frame: pd.DataFrame, names: pd.DataFrame, quantity: str) -> rows.Layers:
    n_rows = len(names)
    scale = alt.Scale(domain=[0, 1])
    tooltip = [
        alt.Tooltip("subject:N"),
        alt.Tooltip("shown:N", title=quantity),
        alt.Tooltip("shown_interval:N", title="95 % interval"),
    ]
    y = rows.place(n_rows=n_rows)
    known = alt.Chart(frame[frame["low"].notna()]).encode(y=y, tooltip=tooltip)
    size = rows.step(n_rows) * 0.38
    spread = known.mark_rule(strokeWidth=1.8, color=theme.VALUE, aria=False).encode(
        x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q")
    )
    ends = [
        known.mark_tick(thickness=1.8, size=size, color=theme.VALUE, opacity=1, aria=False).encode(
            x=alt.X(f"{end}:Q", scale=scale)
        )
        for end in ("low", "high")
    ]
    point = (
        alt.Chart(frame)
        .mark_point(size=54, filled=True, color=theme.VALUE, opacity=1)
        .encode(
            x=alt.X(
                "value:Q",
                scale=scale,
                axis=alt.Axis(values=[0, 0.5, 1], labelExpr=rows.PERCENT_AXIS.labelExpr),
                title=None,
            ),
            y=y,
            tooltip=tooltip,
        )
    )
    layers = [rows.bands(names), spread, *ends, point, *_not_estimable(frame, y, scale, tooltip)]
    return alt.layer(*layers, width=165, height=rows.height(n_rows), title=quantity)


def _not_estimable(
    frame: pd.DataFrame, y: alt.Y, scale: alt.Scale, tooltip: list[alt.Tooltip]
) -> list[alt.Chart]:
    """Words beside points without an interval, on the side with room."""
    missing = frame[frame["low"].isna()].assign(words="interval not estimable")
    low, high = missing[missing["value"] <= 0.5], missing[missing["value"] > 0.5]
    drawn = [
        alt.Chart(low).mark_text(align="left", dx=8, color=theme.MUTED, fontStyle="italic", aria=False),
        alt.Chart(high).mark_text(align="right", dx=-8, color=theme.MUTED, fontStyle="italic", aria=False),
    ]
    return [
        chart.encode(x=alt.X("value:Q", scale=scale), y=y, text=alt.Text("words:N"), tooltip=tooltip)
        for chart, part in zip(drawn, (low, high), strict=True)
        if not part.empty
    ]


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
