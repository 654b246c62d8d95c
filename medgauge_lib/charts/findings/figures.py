"""Finding quality drawn: where scored tasks lie beside what has no score, and effects within strata."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

from medgauge_lib.charts import display, rows, theme
from medgauge_lib.charts.figure import Figure, figure
from medgauge_lib.charts.findings.words import NAMED, plain_words
from medgauge_lib.charts.words import Sentences
from medgauge_lib.findings.aggregates import STATUSES
from medgauge_lib.results import as_written

if TYPE_CHECKING:
    from medgauge_lib.findings.quality import QualityReport

EFFECTS = 40
"""Rows that the chart of effects draws; the data hold them all."""

_STEP = 10
"""Percentage points that the ends of the axis of effects are multiples of."""

_APART = 0.2
"""Parts of a row between its effects, so that equal ones stay in sight."""

_SIGNED = "(datum.value > 0 ? '+' : datum.value < 0 ? '\u2212' : '') + abs(datum.value)"
_NAME_LENGTH = 60

_EFFECT_MARKS = {
    "crude": ("crude, all known documents", "circle", theme.GROUP),
    "standardized": ("standardized over strata", "diamond", theme.VALUE),
    "without_largest": ("without the largest stratum", "triangle-up", theme.MUTED),
}


def distribution_figure(report: QualityReport) -> Figure:
    """How scored tasks spread over the points, and beside it how many tasks have which status.

    Parameters
    ----------
    report : QualityReport
        From `medgauge_lib.findings.score_findings`.

    Returns
    -------
    Figure
    """
    counts = Counter(task.status for task in report.tasks)
    statuses = pd.DataFrame(
        {
            "place": range(1, len(STATUSES) + 1),
            "status": [plain_words(status) for status in STATUSES],
            "tasks": [counts[status] for status in STATUSES],
        }
    )
    spread = report.distribution_frame()
    summary = report.overall
    said = "; ".join(f"{line.tasks} {line.status}" for line in statuses.itertuples())
    full = [line for line in spread.to_dict("records") if line["tasks"]]
    bins = "; ".join(f"{line['low']} to {line['high']}: {line['tasks']}" for line in full) or "none"
    chart = alt.hconcat(
        _spread(spread, summary.scored_tasks),
        _statuses(statuses),
        spacing=120,
        bounds="flush",
        description=f"Scored tasks by points: {bins}. Tasks by status: {said}.",
    )
    table = pd.concat(
        [
            spread.assign(panel="scored tasks by points", status=None),
            statuses.assign(panel="all tasks by status", low=None, high=None),
        ]
    )[["panel", "low", "high", "status", "tasks"]]
    return figure(
        chart,
        id="distribution",
        title="Where scored tasks lie, and what has no score",
        caption=(
            f"Left: {display.count(summary.scored_tasks, 'scored task')}, in steps of ten points; 100 is in "
            f"the last step. Right: all {display.count(summary.tasks, 'task')} by status, so that what has "
            "no score stays in view."
        ),
        table=table.astype(object),
        provenance="recomputed from reviews",
    )


def _spread(frame: pd.DataFrame, scored: int) -> rows.Layers:
    most = max(4, int(frame["tasks"].max()))
    x = alt.X(
        "low:Q",
        title="quality of a task, points",
        scale=alt.Scale(domain=[0, 100], nice=False),
        axis=alt.Axis(values=list(range(0, 101, 20)), grid=False),
    )
    y = alt.Y(
        "tasks:Q",
        title="scored tasks",
        scale=alt.Scale(domain=[0, most]),
        axis=alt.Axis(tickMinStep=1, format="d"),
    )
    tooltip = [alt.Tooltip(f"{name}:Q") for name in ("low", "high", "tasks")]
    bars = (
        alt.Chart(frame)
        .mark_rect(color=theme.VALUE, stroke=theme.PAGE)
        .encode(x=x, x2=alt.X2("high:Q"), y=y, y2=alt.datum(0), tooltip=tooltip)
    )
    layers = [bars]
    if not scored:
        none = pd.DataFrame({"low": [50], "tasks": [most / 2], "words": ["no task has a score"]})
        words = alt.Chart(none).mark_text(color=theme.MUTED, fontStyle="italic")
        layers.append(words.encode(x=x, y=y, text=alt.Text("words:N")))
    return alt.layer(*layers, width=380, height=200, title="scored tasks only")


def _statuses(frame: pd.DataFrame) -> rows.Layers:
    n_rows, most = len(frame), max(1, int(frame["tasks"].max()))
    x = alt.X("tasks:Q", title=None, axis=None, scale=alt.Scale(domain=[0, most * 1.2], nice=False))
    frame = frame.assign(top=frame["place"] - 0.3, bottom=frame["place"] + 0.3)
    tooltip = [alt.Tooltip("status:N"), alt.Tooltip("tasks:Q")]
    base = alt.Chart(frame).encode(y=rows.place(n_rows=n_rows), tooltip=tooltip)
    bars = (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=x,
            x2=alt.datum(0),
            y=rows.place("top", n_rows=n_rows),
            y2=alt.Y2("bottom:Q"),
            tooltip=tooltip,
            color=alt.condition(
                alt.FieldEqualPredicate(field="status", equal="scored"),
                alt.value(theme.VALUE),
                alt.value(theme.GROUP_REST),
            ),
        )
    )
    numbers = base.mark_text(align="left", dx=6, color=theme.INK, aria=False).encode(
        x=x, text=alt.Text("tasks:Q")
    )
    names = base.mark_text(align="right", color=theme.INK, aria=False, dx=-8).encode(
        x=alt.XValue(0), text=alt.Text("status:N")
    )
    return alt.layer(names, bars, numbers, width=240, height=200, title="all tasks by status")


def effects_figure(report: QualityReport) -> Figure | Sentences:
    """How effects hold up within strata: crude, standardized, and without the largest stratum, side by side.

    Parameters
    ----------
    report : QualityReport
        From `medgauge_lib.findings.score_findings`.

    Returns
    -------
    Figure or Sentences
        Reversals first, then the largest changes; a sentence where no effect can be standardized.
    """
    frame = report.effects_frame()
    drawn = _effect_rows(frame)
    if drawn.empty:
        return Sentences(("No effect can be standardized: no finding has an eligible stratum on any axis.",))
    return figure(
        _effects_chart(drawn),
        id="effects",
        title="Effects, crude and within strata",
        caption=(
            "One row a valid finding and axis. An effect is the second arm minus the first, in percentage "
            "points. The wide bar runs from the lowest to the highest effect of a stratum. Where crude and "
            "standardized effect have opposite signs, a reversal, the crude one comes from which documents "
            "lie in which stratum, or from documents outside the eligible strata, which only it counts. "
            "Reversals stand first, then the largest differences between the two. "
            f"{_not_drawn(frame, drawn)}"
        ),
        table=frame,
        provenance="recomputed from corpora",
    )


def _effect_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows to draw, with their place, name and words."""
    known = frame[frame["standardized"].notna() & frame["crude"].notna()]
    change = (known["crude"] - known["standardized"]).abs().astype(float)
    known = known.assign(change=change, reversal=known["reversal"].astype(bool))
    known = known.sort_values(["reversal", "change"], ascending=False, kind="stable").head(EFFECTS)
    parts = known[["task_id", "finding_id", "axis"]].to_numpy().tolist()
    names = [f"{task} · {finding} · {plain_words(axis)}" for task, finding, axis in parts]
    return known.assign(
        place=range(1, len(known) + 1),
        name=[display.text(name, _NAME_LENGTH) for name in names],
        full=[display.text(name) for name in names],
        mark=["reversal" if reversal else "" for reversal in known["reversal"]],
        **{
            f"{effect}_shown": [_points(value) for value in known[effect]]
            for effect in (*_EFFECT_MARKS, "lowest", "highest")
        },
    ).reset_index(drop=True)


def _points(value: float | None) -> str:
    return "none" if pd.isna(value) else display.points(as_written(value) / 100)


def _not_drawn(frame: pd.DataFrame, drawn: pd.DataFrame) -> str:
    unknown = int((frame["standardized"].isna() | frame["crude"].isna()).sum())
    more = len(frame) - unknown - len(drawn)
    reasons = [f"{display.count(unknown, 'row')} without an eligible stratum"] if unknown else []
    reasons += [f"{more:,} with smaller differences"] if more else []
    return f"Not drawn, but in the data: {display.listed(reasons)}." if reasons else ""


def _effects_chart(drawn: pd.DataFrame) -> alt.HConcatChart:
    n_rows = len(drawn)
    values = drawn[["crude", "standardized", "without_largest", "lowest", "highest"]].astype(float)
    ends = (min(0.0, float(values.min().min())), max(0.0, float(values.max().max())))
    domain = [_STEP * math.floor(ends[0] / _STEP - 0.25), _STEP * math.ceil(ends[1] / _STEP + 0.25)]
    axis = alt.Axis(tickCount=6, labelExpr=_SIGNED, gridOpacity=0.5)
    scale = alt.Scale(domain=domain, nice=False)
    x = alt.X("crude:Q", title="effect, percentage points", scale=scale, axis=axis)
    y = rows.place(n_rows=n_rows)
    tooltip = [alt.Tooltip("full:N", title="finding and axis")]
    tooltip += [
        alt.Tooltip(f"{name}_shown:N", title=plain_words(name))
        for name in (*_EFFECT_MARKS, "lowest", "highest")
    ]
    base = alt.Chart(drawn.drop(columns=["change", "covered"])).encode(y=y, tooltip=tooltip)
    zero = alt.Chart(pd.DataFrame({"crude": [0]})).mark_rule(color=theme.MUTED, aria=False).encode(x=x)
    spread = base.mark_rule(color=theme.GAP, strokeWidth=7, aria=False).encode(
        x=alt.X("lowest:Q", scale=scale), x2=alt.X2("highest:Q")
    )
    panel = alt.layer(
        rows.bands(drawn),
        zero,
        spread,
        _effect_points(drawn, x, y, tooltip),
        width=400,
        height=rows.height(n_rows),
    )
    return alt.hconcat(_effect_names(drawn), panel, spacing=8, description=_effects_alternative(drawn))


def _effect_points(drawn: pd.DataFrame, x: alt.X, y: alt.Y, tooltip: list[alt.Tooltip]) -> alt.Chart:
    """The three effects of a row, told apart by shape and colour."""
    keep = ["place", "full", *(f"{name}_shown" for name in (*_EFFECT_MARKS, "lowest", "highest"))]
    long = pd.concat(
        [
            drawn[keep].assign(
                crude=drawn[name].astype(float), effect=words, place=drawn["place"] + (k - 1) * _APART
            )
            for k, (name, (words, _, _)) in enumerate(_EFFECT_MARKS.items())
        ]
    )
    words, shapes, colours = (list(part) for part in zip(*_EFFECT_MARKS.values(), strict=True))
    legend = alt.Legend(title=None, orient="top", symbolSize=90, labelLimit=260)
    points: alt.Chart = (
        alt.Chart(long[long["crude"].notna()])
        .mark_point(size=55, filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            tooltip=tooltip,
            shape=alt.Shape("effect:N", scale=alt.Scale(domain=words, range=shapes), legend=legend),
            color=alt.Color("effect:N", scale=alt.Scale(domain=words, range=colours), legend=legend),
        )
    )
    return points


def _effect_names(drawn: pd.DataFrame) -> rows.Layers:
    """Names of the rows as a column of text, and the word that marks a reversal."""
    n_rows = len(drawn)
    width = 70 + max(map(rows.name_width, drawn["name"]))
    frame = drawn[["place", "name", "full", "mark"]]
    base = alt.Chart(frame).encode(y=rows.place(n_rows=n_rows), tooltip=[alt.Tooltip("full:N")])
    mark = base.mark_text(align="left", color=theme.GROUP, fontWeight="bold", aria=False)
    name = base.mark_text(align="right", color=theme.INK, aria=False)
    return alt.layer(
        rows.bands(drawn),
        mark.encode(x=alt.XValue(4), text=alt.Text("mark:N")),
        name.encode(x=alt.XValue(width - 6), text=alt.Text("name:N")),
        width=width,
        height=rows.height(n_rows),
    )


def _effects_alternative(drawn: pd.DataFrame) -> str:
    reversals = drawn[drawn["reversal"]]
    said = [
        f"{line.full}: crude {line.crude_shown}, standardized {line.standardized_shown}, without the largest "
        f"stratum {line.without_largest_shown}"
        for line in reversals.head(NAMED).itertuples()
    ]
    found = f"{display.count(len(reversals), 'reversal')} of sign. {'; '.join(said)}".strip(". ")
    return f"Effects of {display.count(len(drawn), 'finding and axis', 'findings and axes')}. {found}."
