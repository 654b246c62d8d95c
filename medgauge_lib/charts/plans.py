"""Plans as charts and sentences: what a board of some size could show, under stated assumptions.

No figure here is a result of a benchmark. Curves are exact; points are simulated, with their Monte Carlo
interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import altair as alt
import pandas as pd

from medgauge_lib.charts import display, rows, theme
from medgauge_lib.charts.figure import Figure, figure
from medgauge_lib.charts.simulation.series import agreement
from medgauge_lib.charts.tables import Table, plain_table
from medgauge_lib.charts.words import Sentences
from medgauge_lib.outcomes import N_RUNS
from medgauge_lib.pairs import FAMILY_ALPHA, resolution
from medgauge_lib.results import Absent

if TYPE_CHECKING:
    from fractions import Fraction

    from medgauge_lib.planning import DifferencePlan, ExamPlan, PowerPlan
    from medgauge_lib.simulation.power import Contest

_WIDTH, _HEIGHT = 560, 280
_POINTS = 120
_LEAST_ROWS = 60


def bounds_table(found: ExamPlan) -> Table:
    """Tasks that bounds need, and bounds that numbers of tasks allow, as a table of a report."""
    frame = found.to_frame()
    shown = pd.DataFrame(
        {
            "asked": [str(float(bound)) for bound, _ in found.thresholds] + [""] * len(found.bounds),
            "n_tasks": frame["n_tasks"].tolist(),
            "bound": [display.bound(bound) for bound in frame["bound"]],
        }
    )
    needs = [f"{float(bound)} needs {display.count(n, 'task')}" for bound, n in found.thresholds]
    return plain_table(
        frame,
        {"asked": "Bound asked for", "n_tasks": "Tasks, all passed", "bound": "Claimable 95 % lower bound"},
        shown=shown,
        id="planned-bounds",
        title="Tasks for a bound, and bounds by number of tasks",
        caption=(
            "The first lines have the fewest tasks for bounds that are asked for, decided on integers. "
            "The others have the bound that a passed exam of so many tasks may claim, rounded down."
        ),
        alt=f"A claimable lower bound of {display.listed(needs)}." if needs else "Bounds by number of tasks.",
        provenance="computed",
    )


def contest_words(contest: Contest) -> str:
    """Which two rows are compared, and how, in a sentence."""
    truth = " and ".join(display.percent(row.power(N_RUNS)) for row in (contest.a, contest.b))
    rates = " and ".join(display.percent(row.mean) for row in (contest.a, contest.b))
    spreads = " and ".join(str(row.spread) for row in (contest.a, contest.b))
    return (
        f"Two rows have a true pass^3 of {truth}: task pass rates of {rates}, spreads between tasks of "
        f"{spreads}, and a rank correlation over tasks of {contest.correlation}. They are shown to differ "
        f"where the exact McNemar p is at most {_level(contest)}."
    )


def _level(contest: Contest) -> str:
    return f"{contest.alpha.numerator}/{contest.alpha.denominator:,} = {display.decimal(contest.alpha)}"


def plan_words(found: PowerPlan) -> tuple[str, ...]:
    """What a plan of power says: the contest, the tasks needed, how many replications it rests on."""
    wanted = display.percent(found.power)
    if isinstance(found.needed, Absent):
        need = f"A power of {wanted} is out of reach: {found.needed}."
    else:
        need = f"A power of {wanted} needs {display.count(found.needed, 'task')}."
    if found.contest.alpha < FAMILY_ALPHA:
        alone = found.needed_alone
        need += " At 0.05, the level of two rows alone and of Holm's last step, "
        need += f"{alone}." if isinstance(alone, Absent) else f"it needs {display.count(alone, 'task')}."
    study = found.study
    asked = f" of the {study.asked:,} asked for" if not study.complete else ""
    return (
        contest_words(found.contest),
        need,
        f"Power is exact by enumeration; beside it stands what {study.n_replications:,} simulated "
        f"boards{asked} gave, with the Monte Carlo error.",
    )


def plan_sentences(found: PowerPlan) -> Sentences:
    """`plan_words`, how simulated and exact power agree, then every assumption."""
    agree = agreement((line.shown, line.exact) for line in found.study.lines)
    return Sentences((*plan_words(found), f"Here {agree}", " ".join(found.study.assumptions)))


def difference_words(found: DifferencePlan) -> tuple[str, ...]:
    """What minimum detectable differences are of."""
    b = found.lines[0].b
    return (
        f"The row behind has a true pass^3 of {display.percent(b.power(N_RUNS))} (task pass rate "
        f"{display.percent(b.mean)}). Both rows have a spread between tasks of {b.spread}, and a rank "
        f"correlation over tasks of {found.correlation}.",
        f"A difference counts as detectable where the exact power reaches {display.percent(found.power)} "
        f"at a p of at most {display.decimal(found.alpha)}; it is rounded up.",
    )


def power_chart(found: PowerPlan) -> rows.Layers:
    """Chart of power against the number of tasks.

    Parameters
    ----------
    found : PowerPlan
        Any plan.

    Returns
    -------
    Altair chart
        Exact power as a curve; simulated power as points with their 95 % Monte Carlo interval; the power
        wanted as a line, and the tasks it needs.
    """
    frame = power_frame(found)
    parts = dict(iter(frame.groupby("kind")))
    x = _tasks(frame)
    title = "chance to show the two rows to differ"
    y = alt.Y("power:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=rows.PERCENT_AXIS)
    points = alt.Chart(parts["simulated"]).encode(x=x, tooltip=_TOOLTIP)
    layers = [
        alt.Chart(parts["wanted"]).mark_rule(color=theme.MUTED, strokeDash=[5, 3], aria=False).encode(y=y),
        *_needed(found, x, y),
        _curve(parts["exact"], x, y),
        points.mark_rule(color=theme.VALUE, strokeWidth=1.8, aria=False).encode(
            y=alt.Y("low:Q"), y2=alt.Y2("high:Q")
        ),
        points.mark_point(
            size=60, filled=True, fill=theme.PAGE, stroke=theme.VALUE, strokeWidth=1.5, opacity=1
        ).encode(y=y),
    ]
    return alt.layer(*layers, width=_WIDTH, height=_HEIGHT, description=" ".join(plan_words(found)[:2]))


def power_frame(found: PowerPlan) -> pd.DataFrame:
    """Data of `power_chart`: ``kind`` (exact, simulated, wanted), tasks, power, its bounds and words."""
    last = len(found.curve)
    lines: list[tuple[str, int, float, float | None, float | None]] = [
        ("exact", n, found.curve[n - 1], None, None) for n in _thinned(last)
    ]
    for line in found.study.lines:
        bounds, value = line.shown.interval, line.shown.value
        if not isinstance(bounds, Absent) and not isinstance(value, Absent):
            lines.append(("simulated", line.contest.n_tasks, float(value), bounds.low, bounds.high))
    lines.append(("wanted", last, float(found.power), None, None))
    frame = pd.DataFrame(lines, columns=["kind", "n_tasks", "power", "low", "high"])
    return frame.assign(shown=[display.percent(power) for power in frame["power"]])


def _needed(found: PowerPlan, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The tasks that the power wanted needs: a line up to the curve, with its words."""
    if isinstance(found.needed, Absent):
        return []
    n = found.needed
    frame = pd.DataFrame(
        {"n_tasks": [n], "power": [found.curve[n - 1]], "words": [f"{display.count(n, 'task')} needed"]}
    )
    base = alt.Chart(frame).encode(x=x)
    left = n > len(found.curve) / 2
    return [
        base.mark_rule(color=theme.GROUP, strokeDash=[5, 3], strokeWidth=1.5, aria=False).encode(
            y=y, y2=alt.datum(0)
        ),
        base.mark_text(
            align="right" if left else "left", dx=-7 if left else 7, color=theme.GROUP, aria=False
        ).encode(y=alt.YValue(_HEIGHT - 14), text=alt.Text("words:N")),
    ]


def difference_figure(found: DifferencePlan) -> Figure | Sentences:
    """Least detectable differences as a figure of a report; a sentence where none is detectable."""
    reasons = dict.fromkeys(str(line.a) for line in found.lines if isinstance(line.a, Absent))
    why = " and ".join(reasons)
    if difference_frame(found).empty:
        return Sentences((f"On none of these numbers of tasks is there a least difference: {why}.",))
    without = f" Numbers of tasks without a least difference have no point: {why}." if why else ""
    return figure(
        difference_chart(found),
        id="planned-difference",
        title="Least detectable difference by number of tasks",
        caption=(
            f"{' '.join(difference_words(found))} By exact power, so there is no Monte Carlo error in it."
            f"{without}"
        ),
        table=found.to_frame(),
        provenance="computed",
    )


def difference_chart(found: DifferencePlan) -> rows.Layers:
    """Chart of the minimum detectable difference against the number of tasks.

    Parameters
    ----------
    found : DifferencePlan
        With at least one difference that exists.

    Returns
    -------
    Altair chart
        One point a number of tasks, joined by a line.
    """
    frame = difference_frame(found)
    top = math.ceil(10 * frame["difference"].max()) / 10
    x, y = (
        _tasks(frame),
        alt.Y(
            "difference:Q",
            title="least difference in pass^3, percentage points",
            scale=alt.Scale(domain=[0, top]),
            axis=alt.Axis(tickCount=6, labelExpr="format(datum.value * 100, 'd')"),
        ),
    )
    base = alt.Chart(frame).encode(x=x, y=y, tooltip=_TOOLTIP)
    layers = [_curve(frame, x, y), base.mark_point(size=50, filled=True, color=theme.VALUE, opacity=1)]
    told = [line for line in found.lines if not isinstance(line.difference, Absent)]
    some = [told[0], *([told[-1]] if len(told) > 1 else [])]
    said = " ".join(
        f"On {display.count(line.n_tasks, 'task')} it is {_up(line.difference)}." for line in some
    )
    words = f"Least difference in pass^3 that is shown, against the number of tasks: it falls. {said}"
    return alt.layer(*layers, width=_WIDTH, height=_HEIGHT, description=words)


def difference_frame(found: DifferencePlan) -> pd.DataFrame:
    """Data of `difference_chart`: tasks, difference and its words; what does not exist is left out."""
    lines = [
        (line.n_tasks, float(line.difference), _up(line.difference))
        for line in found.lines
        if not isinstance(line.difference, Absent)
    ]
    return pd.DataFrame(lines, columns=["n_tasks", "difference", "shown"])


def _up(difference: Fraction | Absent) -> str:
    return display.points(difference, toward="up").lstrip("+")


def resolution_chart(n_rows: int, n_tasks: int) -> rows.Layers:
    """Chart of the fewest one-sided discordant tasks that show a difference, against the number of rows.

    Parameters
    ----------
    n_rows : int
        Rows of the planned board, at least 2; they are marked.
    n_tasks : int
        Its tasks, drawn as a line where they are near.

    Returns
    -------
    Altair chart
    """
    frame = resolution_frame(n_rows, n_tasks)
    x = alt.X("n_rows:Q", title="rows of the board", scale=alt.Scale(domain=[2, int(frame["n_rows"].max())]))
    y = alt.Y(
        "n_discordant:Q",
        title="tasks, all one way",
        scale=alt.Scale(domain=[0, int(frame["n_discordant"].max()) + 1]),
    )
    here = frame[frame["n_rows"] == n_rows]
    side: Literal["left", "right"] = "left" if 2 * n_rows < frame["n_rows"].max() else "right"
    tooltip = [
        alt.Tooltip("n_rows:Q", title="rows"),
        alt.Tooltip("n_discordant:Q", title="tasks, all one way"),
    ]
    layers = [
        alt.Chart(frame)
        .mark_line(interpolate="step-after", color=theme.VALUE, strokeWidth=2, aria=False)
        .encode(x=x, y=y),
        alt.Chart(here)
        .mark_point(size=80, filled=True, color=theme.GROUP, opacity=1, shape="diamond")
        .encode(x=x, y=y, tooltip=tooltip),
        alt.Chart(here)
        .mark_text(align=side, dx=10 if side == "left" else -10, dy=14, color=theme.GROUP, aria=False)
        .encode(x=x, y=y, text=alt.Text("words:N")),
    ]
    need = int(here["n_discordant"].iloc[0])
    words = (
        "Fewest discordant tasks, all one way, that show two rows to differ, against the number of rows: it "
        f"grows by one whenever the pairs double. With {n_rows:,} rows it is "
        f"{display.count(need, 'task')} of the {n_tasks:,} planned."
    )
    return alt.layer(*layers, width=_WIDTH, height=200, description=words)


def resolution_frame(n_rows: int, n_tasks: int) -> pd.DataFrame:
    """Data of `resolution_chart`: rows, pairs, discordant tasks, their share of the tasks, and words.

    A line stands for each number of rows from which on another task is needed, for the planned one and the
    last; nothing changes in between.
    """
    last = max(_LEAST_ROWS, round(1.2 * n_rows))
    lines: list[tuple[int, int, int, float, str]] = []
    for n in range(2, last + 1):
        found = resolution(n, n_tasks)
        if isinstance(found, Absent):
            continue
        planned = f"planned: {display.count(n, 'row')}, {display.count(found.n_discordant, 'task')}"
        if n in (n_rows, last) or not lines or found.n_discordant != lines[-1][2]:
            share = found.n_discordant / n_tasks
            lines.append((n, found.n_pairs, found.n_discordant, share, planned if n == n_rows else ""))
    return pd.DataFrame(lines, columns=["n_rows", "n_pairs", "n_discordant", "share_of_tasks", "words"])


_TOOLTIP = [alt.Tooltip("n_tasks:Q", title="tasks"), alt.Tooltip("shown:N", title="value")]


def _curve(frame: pd.DataFrame, x: alt.X, y: alt.Y) -> alt.Chart:
    drawn: alt.Chart = (
        alt.Chart(frame).mark_line(color=theme.VALUE, strokeWidth=2, aria=False).encode(x=x, y=y)
    )
    return drawn


def _tasks(frame: pd.DataFrame) -> alt.X:
    last = int(frame["n_tasks"].max())
    scale = alt.Scale(domain=[0, last], nice=False)
    return alt.X("n_tasks:Q", title="tasks", scale=scale, axis=alt.Axis(tickCount=8, labelOverlap=True))


def _thinned(last: int) -> Sequence[int]:
    """Numbers of tasks to draw, the first and the last among them."""
    step = max(1, last // _POINTS)
    return sorted({*range(1, last + 1, step), last})
