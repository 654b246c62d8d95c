"""What a passed exam may claim, by its number of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

from medgauge_lib.charts import display, rows, theme
from medgauge_lib.estimators import exam_bound
from medgauge_lib.planning import THRESHOLDS, tasks_for_bound

if TYPE_CHECKING:
    from medgauge_lib.board import Board

_TOOLTIP = [alt.Tooltip("n_tasks:Q", title="tasks"), alt.Tooltip("shown:N", title="claimable bound")]
_LONGEST = 400
_HEIGHT = 300


def exam(board: Board) -> rows.Layers:
    """Chart of the claimable bound of a passed exam against its number of tasks.

    Parameters
    ----------
    board : Board
        Any board; its number of tasks is marked.

    Returns
    -------
    Altair chart
        The bound as a curve over a logarithmic axis, illustrative thresholds as points, this board's number
        of tasks as a line.
    """
    passed = [display.text(row.label) for row in board.rows if row.exam.passed]
    outcome = f" Passed by {display.listed(passed)}." if passed else " No row passed it."
    return _chart(exam_frame(board), _alternative(board.n_tasks, "of this board", outcome))


def planned_exam(n_tasks: int) -> rows.Layers:
    """Chart of the claimable bound against the number of tasks, for an exam that is planned.

    Parameters
    ----------
    n_tasks : int
        Its tasks, at least 1; they are marked.

    Returns
    -------
    Altair chart
        As `exam`.
    """
    return _chart(planned_exam_frame(n_tasks), _alternative(n_tasks, "planned"))


def _chart(frame: pd.DataFrame, alternative: str) -> rows.Layers:
    last = int(frame["n_tasks"].max())
    x = alt.X(
        "n_tasks:Q",
        title="tasks of the exam, all passed in all three runs (logarithmic)",
        scale=alt.Scale(type="log", domain=[1, last], nice=False),
        axis=alt.Axis(values=[n for n in (1, 3, 10, 30, 100, 300, 1000, 3000) if n <= last], format="d"),
    )
    y = alt.Y(
        "bound:Q", title="claimable 95 % lower bound", scale=alt.Scale(domain=[0, 1]), axis=rows.PERCENT_AXIS
    )
    parts = dict(iter(frame.groupby("kind")))
    curve = (
        alt.Chart(parts["curve"])
        .mark_line(interpolate="monotone", color=theme.VALUE, strokeWidth=2, aria=False)
        .encode(x=x, y=y)
    )
    here = parts["planned" if "planned" in parts else "this board"]
    layers = [curve, *_thresholds(parts["threshold"], x, y), *_here(here, x, y)]
    return alt.layer(*layers, width=560, height=_HEIGHT, description=alternative)


def _thresholds(frame: pd.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Hollow points with their words above the curve."""
    base = alt.Chart(frame).encode(x=x, y=y)
    return [
        base.mark_point(
            size=60, filled=True, fill=theme.PAGE, stroke=theme.VALUE, strokeWidth=1.5, opacity=1
        ).encode(tooltip=_TOOLTIP),
        base.mark_text(align="right", baseline="bottom", dx=-6, dy=-5, color=theme.MUTED, aria=False).encode(
            text=alt.Text("words:N")
        ),
    ]


def _here(frame: pd.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """The number of tasks that counts here: a line up to the curve, and words on the side with room."""
    base = alt.Chart(frame).encode(x=x)
    left = int(frame["n_tasks"].iloc[0]) > 30
    return [
        base.mark_rule(color=theme.GROUP, strokeDash=[5, 3], strokeWidth=1.5).encode(y=y, y2=alt.datum(0)),
        base.mark_point(size=80, filled=True, color=theme.GROUP, opacity=1, shape="diamond").encode(
            y=y, tooltip=_TOOLTIP
        ),
        base.mark_text(
            align="right" if left else "left", dx=-7 if left else 7, color=theme.GROUP, aria=False
        ).encode(y=alt.YValue(_HEIGHT - 14), text=alt.Text("words:N")),
    ]


def exam_frame(board: Board) -> pd.DataFrame:
    """Data of `exam`: ``kind`` (curve, threshold, this board), ``n_tasks``, ``bound`` and words.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    DataFrame
    """
    return _frame(board.n_tasks, "this board")


def planned_exam_frame(n_tasks: int) -> pd.DataFrame:
    """Data of `planned_exam`: ``kind`` (curve, threshold, planned), ``n_tasks``, ``bound`` and words.

    Parameters
    ----------
    n_tasks : int
        At least 1.

    Returns
    -------
    DataFrame
    """
    return _frame(n_tasks, "planned")


def _frame(n: int, kind: str) -> pd.DataFrame:
    last = max(_LONGEST, round(n * 1.3))
    drawn = sorted({*range(1, 61), *(round(60 * (last / 60) ** (k / 60)) for k in range(61))})
    lines = [("curve", k, "") for k in drawn]
    demanded = [(bound, tasks_for_bound(bound)) for bound in THRESHOLDS]
    lines += [("threshold", k, f"{k} tasks: {display.percent(bound)}") for bound, k in demanded]
    claim = display.bound(exam_bound(n))
    lines.append((kind, n, f"{kind}: {display.count(n, 'task')}, a pass would claim {claim}"))
    frame = pd.DataFrame(lines, columns=["kind", "n_tasks", "words"])
    bounds = [exam_bound(k) for k in frame["n_tasks"]]
    return frame.assign(bound=bounds, shown=[display.bound(value) for value in bounds])


def _alternative(n_tasks: int, which: str, outcome: str = "") -> str:
    demanded = [f"{display.percent(bound)} needs {tasks_for_bound(bound)} tasks" for bound in THRESHOLDS]
    return (
        "Claimable lower bound of a passed exam against its number of tasks: it rises with every task. With "
        f"the {display.count(n_tasks, 'task')} {which} a pass would claim at least "
        f"{display.bound(exam_bound(n_tasks))}.{outcome} As an illustration, {display.listed(demanded)}."
    )
