"""The one drawing of a simulation study: points with their Monte Carlo error over a numeric axis.

Series are told apart by shape and by place as well as by colour: points of different series stand a little
beside one another, and thin lines join the points of one. A bar is the exact 95 % interval of a share, and
two standard errors to either side of any other figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from medgauge_lib.charts import display, rows, theme
from medgauge_lib.results import Absent, Interval
from medgauge_lib.simulation.montecarlo import Mean, Ratio, Share

LOOKS = (
    (theme.VALUE, "circle"),
    (theme.GROUP, "diamond"),
    (theme.STEPS[2], "square"),
    (theme.MUTED, "triangle-up"),
)
"""Colour and shape of the series, in their order; no chart has more."""

LINES = ("value", "low", "high", "error", "shown", "shown_error")
"""Columns that `measured` gives."""


def measured(figure: Share | Mean | Ratio, *, ratio: bool = False) -> dict[str, Any]:
    """Columns of a simulated figure: its value, the ends of its bar, its standard error, and both in words.

    Parameters
    ----------
    figure : Share, Mean or Ratio
        What was simulated; a share or mean share in [0, 1], or a ratio.
    ratio : bool
        Whether to write a plain number instead of percent.

    Returns
    -------
    dict
        By `LINES`; missing values where the figure is absent.
    """
    value, error = figure.value, figure.standard_error
    if isinstance(value, Absent):
        return dict.fromkeys(LINES[:4]) | {"shown": display.absent(value), "shown_error": ""}
    bounds = figure.interval if isinstance(figure, Share) else None
    if isinstance(bounds, Interval):
        low, high = bounds.low, bounds.high
    else:
        half = 0.0 if isinstance(error, Absent) else 2 * error
        low, high = float(value) - half, float(value) + half
    return {
        "value": float(value),
        "low": low,
        "high": high,
        "error": None if isinstance(error, Absent) else error,
        "shown": display.number(value, 2) if ratio else display.percent(value),
        "shown_error": error_words(figure, ratio=ratio),
    }


def error_words(figure: Share | Mean | Ratio, *, ratio: bool = False) -> str:
    """Monte Carlo standard error in words, rounded up; where it is 0, what says more than "± 0".

    Examples
    --------
    >>> error_words(Share(50, 100)).replace(display.NBSP, " ")
    '± 5.0 pp'
    >>> error_words(Share(0, 100)).replace(display.NBSP, " ")
    '95 % interval 0.0 to 3.7 %'
    """
    error = figure.standard_error
    if isinstance(error, Absent):
        return display.absent(error)
    if not error:
        if isinstance(figure, Share):
            return f"95{display.NBSP}% interval {display.interval(figure.interval)}"
        n = figure.above.n if isinstance(figure, Ratio) else figure.n
        return f"the same in all {display.count(n, 'replication')}"
    shown = display.decimal(error, "up") if ratio else display.points(error, toward="up").lstrip("+")
    return f"±{display.NBSP}{shown}"


def agreement(pairs: Iterable[tuple[Share, float | None]]) -> str:
    """How many intervals of simulated shares hold the exact value, in a sentence.

    Examples
    --------
    >>> agreement([(Share(1, 2), 0.5), (Share(0, 50), 0.5)])
    '1 of 2 intervals holds the exact value; of 95 % intervals one in twenty misses it by chance alone.'
    """
    inside = [
        share.interval.low <= exact <= share.interval.high
        for share, exact in pairs
        if exact is not None and isinstance(share.interval, Interval)
    ]
    held, hold = sum(inside), "holds" if sum(inside) == 1 else "hold"
    return (
        f"{held} of {display.count(len(inside), 'interval')} {hold} the exact value; of 95 % intervals "
        "one in twenty misses it by chance alone."
    )


def known(value: float | None) -> dict[str, Any]:
    """Columns of an exact figure, in the shape of `measured`: it has no Monte Carlo error.

    Parameters
    ----------
    value : float or None
        In [0, 1].

    Returns
    -------
    dict
        By `LINES`.
    """
    shown = "" if value is None else display.percent(value)
    return dict(zip(LINES, (value, value, value, None, shown, "none, it is exact"), strict=True))


@dataclass(frozen=True)
class Axes:
    """Axes of a panel.

    Attributes
    ----------
    x : str
        Column of the horizontal axis, positive.
    x_title, y_title : str
        Words of the axes.
    low, high : float
        Ends of the vertical axis.
    ticks : tuple of float
        Places to write on the horizontal axis.
    log : bool
        Whether the horizontal axis is logarithmic.
    percent : bool
        Whether the vertical axis is in percent.
    decimals : int
        Of a place on the horizontal axis, in words.
    level : float or None
        Height of a dashed line to hold the points against.
    """

    x: str
    x_title: str
    y_title: str
    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False
    percent: bool = True
    decimals: int = 0
    level: float | None = None


def panel(
    frame: pd.DataFrame,
    names: Sequence[str],
    axes: Axes,
    *,
    title: str,
    width: int = 220,
    height: int = 240,
    extra: Mapping[str, str] | None = None,
) -> rows.Layers:
    """One panel: bars of error, thin lines, and a point a setting and series.

    Parameters
    ----------
    frame : DataFrame
        Columns ``series``, that of the horizontal axis, and those of `measured`.
    names : sequence of str
        The series in their order.
    axes : Axes
        Their range and words.
    title : str
        Of the panel.
    width, height : int
        In pixels.
    extra : mapping of str to str, optional
        Column to its words: further lines of the tooltip.

    Returns
    -------
    Altair chart
    """
    drawn = _beside(frame[frame["value"].notna()], names, axes)
    domain = list(names)
    colour = alt.Color(
        "series:N",
        scale=alt.Scale(domain=domain, range=[look[0] for look in LOOKS[: len(names)]]),
        legend=alt.Legend(title=None, orient="top", columns=2, symbolOpacity=1, labelLimit=420),
    )
    shape = alt.Shape(
        "series:N", scale=alt.Scale(domain=domain, range=[look[1] for look in LOOKS[: len(names)]])
    )
    x, y = _scales(drawn, axes)
    tooltip = [
        alt.Tooltip("series:N"),
        alt.Tooltip(f"{axes.x}:Q", title=axes.x_title),
        alt.Tooltip("shown:N", title=axes.y_title),
        alt.Tooltip("shown_error:N", title="Monte Carlo error"),
        *(alt.Tooltip(f"{column}:N", title=words) for column, words in (extra or {}).items()),
    ]
    base = alt.Chart(drawn).encode(x=x, color=colour, tooltip=tooltip)
    line = base.mark_line(strokeWidth=1, opacity=0.55, aria=False).encode(y=y, detail=alt.Detail("series:N"))
    bar = base.mark_rule(strokeWidth=1.8, aria=False).encode(
        y=alt.Y("drawn_low:Q", scale=_height(axes)), y2=alt.Y2("drawn_high:Q")
    )
    point = base.mark_point(size=52, filled=True, opacity=1).encode(y=y, shape=shape)
    return alt.layer(*_level(axes), line, bar, point, width=width, height=height, title=title)


def _beside(frame: pd.DataFrame, names: Sequence[str], axes: Axes) -> pd.DataFrame:
    """Places of the points, moved a little apart by series, and bars cut at the ends of the axis."""
    order = {name: k - (len(names) - 1) / 2 for k, name in enumerate(names)}
    steps = frame["series"].map(order).astype(float)
    at = frame[axes.x].astype(float)
    apart = 0.012 * (max(axes.ticks) - min(axes.ticks))
    return frame.assign(
        at=at * 1.05**steps if axes.log else at + apart * steps,
        drawn_low=frame["low"].clip(lower=axes.low),
        drawn_high=frame["high"].clip(upper=axes.high),
    )


def _scales(frame: pd.DataFrame, axes: Axes) -> tuple[alt.X, alt.Y]:
    first, last = min(*axes.ticks, frame["at"].min()), max(*axes.ticks, frame["at"].max())
    room = 0.05 * (last - first)
    domain = [first / 1.1, last * 1.1] if axes.log else [first - room, last + room]
    x = alt.X(
        "at:Q",
        title=axes.x_title,
        scale=alt.Scale(type="log", domain=domain) if axes.log else alt.Scale(domain=domain, zero=False),
        axis=alt.Axis(values=list(axes.ticks), grid=False, format="~r"),
    )
    if axes.percent:
        span = axes.high - axes.low
        step = 0.2 if span > 0.5 else 0.1 if span > 0.25 else 0.05
        ticks = [k * step for k in range(round(axes.low / step), round(axes.high / step) + 1)]
        shown = alt.Axis(values=ticks, labelExpr=rows.PERCENT_AXIS.labelExpr)
    else:
        shown = alt.Axis()
    y = alt.Y("value:Q", title=axes.y_title, scale=_height(axes), axis=shown)
    return x, y


def _height(axes: Axes) -> alt.Scale:
    """Vertical scale of every layer: one that lacked it would draw the axis down to 0."""
    return alt.Scale(domain=[axes.low, axes.high], nice=False, zero=False)


def _level(axes: Axes) -> list[alt.Chart]:
    """A dashed line to hold the points against."""
    if axes.level is None:
        return []
    data = pd.DataFrame({"level": [axes.level]})
    rule = alt.Chart(data).mark_rule(color=theme.INK, strokeDash=[5, 3], strokeWidth=1, aria=False)
    return [rule.encode(y=alt.Y("level:Q", scale=_height(axes)))]
