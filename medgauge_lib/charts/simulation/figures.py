"""Simulation studies drawn: one figure a question, its Monte Carlo error at every point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd

from medgauge_lib.charts import display
from medgauge_lib.charts.figure import Figure, figure
from medgauge_lib.charts.simulation.series import Axes, agreement, known, measured, panel
from medgauge_lib.charts.tables import QUANTITY_NAMES
from medgauge_lib.pairs import FAMILY_ALPHA
from medgauge_lib.results import LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from medgauge_lib.simulation import Coverage, Familywise, Flips, Overlap, Power, Study, Widths

METHOD_NAMES = {
    "bca_half": "BCa, ties count half (bca-1)",
    "bca_strict": "BCa, ties count as not below",
    "bca_uncorrected": "BCa without bias correction",
    "percentile": "percentile",
    "clopper_pearson": "Clopper–Pearson",
}
PROCEDURE_NAMES = {
    "holm": "exact McNemar, Holm-adjusted",
    "unadjusted": "exact McNemar, not adjusted",
    "overlap": "intervals that do not overlap",
}
MERGED = 0.84
"""How often overlap merges the rows in the simulation that the method's authors report."""

_SHARE_BARS = "Bars are exact 95 % intervals of the probability that is simulated."
_MEAN_BARS = "Bars are two Monte Carlo standard errors to either side."
_WORLD = "The world is simulated: the figure shows what the method does, not what a benchmark is like."


def _figure(
    lines: list[dict[str, Any]],
    axes: Axes,
    said: str,
    *,
    width: int,
    caption: str,
    bars: str = _SHARE_BARS,
    extra: Mapping[str, str] | None = None,
    **words: Any,
) -> Figure:
    """Panels side by side in the order of the lines, what the bars are, and that the world is simulated."""
    frame = pd.DataFrame(lines)
    names = list(dict.fromkeys(frame["series"]))
    panels = [
        panel(part, names, axes, title=str(title), width=width, extra=extra)
        for title, part in frame.groupby("panel", sort=False)
    ]
    return figure(
        alt.hconcat(*panels, spacing=28, description=f"{said}: {_ends(frame, axes)}."),
        caption=f"{caption} {bars} {_WORLD}",
        provenance="simulated",
        **words,
    )


def _ends(frame: pd.DataFrame, axes: Axes) -> str:
    """The first and the last point of every series of every panel, in words."""
    said = []
    for (title, name), part in frame[frame["value"].notna()].groupby(["panel", "series"], sort=False):
        ordered = part.sort_values(axes.x, kind="stable").to_dict("records")
        ends = [f"{one['shown']} at {display.number(one[axes.x], axes.decimals)}" for one in ordered]
        between = f"{ends[0]} to {ends[-1]}" if len(ends) > 1 else ends[0]
        said.append(f"{title}, {name}: {between}")
    return "; ".join(said)


def _floor(lines: Sequence[Mapping[str, Any]]) -> float:
    """Lower end of an axis of coverage, in steps of five percentage points."""
    return min(0.85, int(min(line["low"] for line in lines if line["low"] is not None) * 20) / 20)


def _ticks(lines: Iterable[Mapping[str, Any]], x: str) -> tuple[float, ...]:
    return tuple(sorted({line[x] for line in lines}))


def _by_number(
    lines: list[dict[str, Any]], of: str, y_title: str, *, low: float = 0.0, level: float | None = None
) -> Axes:
    """Axes of a share over a number of tasks or rows, on a logarithmic scale."""
    x = f"n_{of}"
    ticks = _ticks(lines, x)
    return Axes(x, f"{of} (logarithmic)", y_title, low, 1.0, ticks=ticks, log=True, level=level)


def _coverage(lines: list[dict[str, Any]], description: str, **about: Any) -> Figure:
    """Draw shares of intervals that hold the truth over the number of tasks."""
    axes = _by_number(lines, "tasks", "coverage", low=_floor(lines), level=LEVEL)
    return _figure(lines, axes, description, width=170, **about)


def coverage_figure(study: Study[Coverage]) -> Figure:
    """Coverage of the resampled intervals by number of tasks, a panel a true rate.

    Parameters
    ----------
    study : Study of Coverage
        From `medgauge_lib.simulation.coverage`.

    Returns
    -------
    Figure
    """
    lines = [
        {
            "n_tasks": line.sample.n_tasks,
            "panel": f"mean rate {display.percent(line.sample.rates.mean)}",
            "series": METHOD_NAMES[line.method],
            **measured(line.covered),
            "without": display.percent(line.undefined.value),
        }
        for line in study.lines
        if line.exact is None
    ]
    return _coverage(
        lines,
        "Coverage of the true task pass rate, nominally 95 %, by number of tasks",
        extra={"without": "data sets without interval"},
        id="coverage",
        title="Coverage of resampled intervals of the task pass rate",
        caption=(
            "One panel a true rate, one point a kind of interval and number of tasks: the share of data sets "
            "whose interval holds the mean rate of the population, among those that have an interval. The "
            "dashed line is 95 %. Points of one setting stand a little beside one another. The vertical axis "
            "does not begin at 0."
        ),
        table=study.to_frame(),
    )


def undefined_figure(study: Study[Coverage]) -> Figure:
    """How often a data set has no resampled interval of the kind that the method uses.

    Parameters
    ----------
    study : Study of Coverage
        From `medgauge_lib.simulation.coverage`.

    Returns
    -------
    Figure
    """
    chosen = [line for line in study.lines if line.method == "bca_half"]
    lines = [
        {
            "n_tasks": line.sample.n_tasks,
            "panel": METHOD_NAMES[line.method],
            "series": f"mean rate {display.percent(line.sample.rates.mean)}",
            **measured(line.undefined),
        }
        for line in chosen
    ]
    axes = _by_number(lines, "tasks", "data sets without interval")
    table = pd.DataFrame([line.record() for line in chosen])
    return _figure(
        lines,
        axes,
        "Data sets without a BCa interval by number of tasks",
        width=420,
        id="undefined",
        title="How often there is no resampled interval",
        caption=(
            "Data sets in which all tasks have the same value have no resampled interval. They are counted "
            "here, and in no other figure of coverage."
        ),
        table=table.filter(regex="^(n_tasks|mean|spread|n_replications|undefined.*)$"),
    )


def exact_figure(study: Study[Coverage]) -> Figure:
    """Coverage of Clopper–Pearson, simulated beside exact.

    Parameters
    ----------
    study : Study of Coverage
        From `medgauge_lib.simulation.coverage`.

    Returns
    -------
    Figure
    """
    chosen = [line for line in study.lines if line.exact is not None]
    lines = [
        {
            "n_tasks": line.sample.n_tasks,
            "panel": f"true pass^3 {display.percent(line.true)}",
            "series": series,
            **values,
        }
        for line in chosen
        for series, values in (("simulated", measured(line.covered)), ("exact", known(line.exact)))
    ]
    return _coverage(
        lines,
        "Coverage of Clopper–Pearson for pass^3 by number of tasks",
        id="exact-coverage",
        title="Coverage of Clopper–Pearson for pass^3, simulated and exact",
        caption=(
            "The exact coverage is a sum over the possible numbers of passed tasks. "
            f"{agreement((line.covered, line.exact) for line in chosen)} Coverage is never below "
            "95 % and often well above, since a count is discrete."
        ),
        table=pd.DataFrame([line.record() for line in chosen]),
    )


def families_figure(study: Study[Familywise]) -> Figure:
    """Family-wise error by number of rows, a panel a number of tasks and a hypothesis.

    Parameters
    ----------
    study : Study of Familywise
        From `medgauge_lib.simulation.families`.

    Returns
    -------
    Figure
    """
    lines = [
        _family(line) | measured(line.error)
        for line in study.lines
        if not line.family.differing.all()  # where every pair differs nothing can be told apart wrongly
    ]
    axes = _by_number(lines, "rows", "family-wise error", level=float(FAMILY_ALPHA))
    return _figure(
        lines,
        axes,
        "Family-wise error by number of rows",
        width=180,
        id="family-wise-error",
        title="How often rows that are alike are told apart",
        caption=(
            "The share of boards on which at least one pair of rows with the same rates is told apart. The "
            "dashed line is 5 %. A board of two levels has half of its rows on each, and only pairs within a "
            "level are alike."
        ),
        table=study.to_frame(),
    )


def found_figure(study: Study[Familywise]) -> Figure:
    """Share of the real differences that each procedure finds, by number of rows.

    Parameters
    ----------
    study : Study of Familywise
        From `medgauge_lib.simulation.families`.

    Returns
    -------
    Figure
    """
    lines = [_family(line) | measured(line.found) for line in study.lines if line.family.differing.any()]
    axes = _by_number(lines, "rows", "real differences found")
    return _figure(
        lines,
        axes,
        "Share of the real differences found by number of rows",
        width=300,
        id="differences-found",
        title="How often rows that differ are told apart",
        caption=(
            "On boards of two levels, the mean share of the pairs that really differ which is told apart; "
            "the rest is falsely merged. Read it with the error above: what errs more also finds more."
        ),
        bars=_MEAN_BARS,
        table=study.to_frame(),
    )


def _family(line: Familywise) -> dict[str, Any]:
    family = line.family
    levels = "all rows alike" if family.first == family.rest else "two levels"
    return {
        "n_rows": family.n_rows,
        "panel": f"{levels}, {display.count(family.n_tasks, 'task')}",
        "series": PROCEDURE_NAMES[line.procedure],
    }


def overlap_figure(study: Study[Overlap]) -> Figure:
    """How often two rows that differ are not told apart, by spread between tasks.

    Parameters
    ----------
    study : Study of Overlap
        From `medgauge_lib.simulation.overlap`.

    Returns
    -------
    Figure
    """
    kinds = ("the two intervals overlap", "the paired interval holds 0")
    lines = [
        {
            "spread": line.duel.ahead.spread,
            "panel": kind,
            "series": f"rank correlation of the rows {display.number(line.duel.correlation, 1)}",
            **measured(share),
        }
        for line in study.lines
        for kind, share in zip(kinds, (line.merged, line.paired), strict=True)
    ]
    axes = Axes(
        *("spread", "standard deviation of a row's score between tasks", "not told apart", 0.0, 1.0),
        ticks=_ticks(lines, "spread"),
        decimals=2,
        level=MERGED,
    )
    first = study.lines[0].duel
    size = (
        f"{display.count(first.n_tasks, 'task')}, a true difference of {display.number(first.difference, 2)} "
        "in continuous score"
    )
    return _figure(
        lines,
        axes,
        f"{size}: share of data sets that do not tell the rows apart",
        width=340,
        id="overlap",
        title="Overlap of intervals merges rows that differ",
        caption=(
            f"{size.capitalize()}. Left: the share of data sets in which the BCa intervals of the two rows "
            "overlap, so that grouping by overlap would merge them. Right: on the same data, the BCa "
            "interval of the paired difference holds 0. The dashed line is 84 %, which the method's authors "
            "report for a simulation whose assumptions are not published with it."
        ),
        table=study.to_frame(),
    )


def widths_figure(study: Study[Widths]) -> Figure:
    """Width of the continuous score's interval by that of the binary rates, over the pass rate.

    Parameters
    ----------
    study : Study of Widths
        From `medgauge_lib.simulation.widths`.

    Returns
    -------
    Figure
    """
    lines = [
        {
            "pass_rate": 100 * float(line.checked.pass_rate),
            "panel": "continuous score against a binary rate",
            "series": f"against {QUANTITY_NAMES[line.against]}",
            **measured(line.ratio, ratio=True),
        }
        for line in study.lines
    ]
    highest = max(line["high"] for line in lines if line["high"] is not None)
    axes = Axes(
        *("pass_rate", "true task pass rate, %", "ratio of mean widths", 0.0, max(1.2, highest * 1.05)),
        ticks=(0, 20, 40, 60, 80, 100),
        percent=False,
        level=1.0,
    )
    first = study.lines[0].checked
    return _figure(
        lines,
        axes,
        "Ratio of interval widths by task pass rate in percent",
        width=460,
        id="widths",
        title="How wide the continuous score's interval is against a binary rate's",
        caption=(
            f"{display.count(first.n_tasks, 'task')} of {display.count(first.n_checkpoints, 'checkpoint')}. "
            "Below the dashed line the continuous score has the narrower interval, above it the wider. BCa "
            "for continuous score and task pass rate, Clopper–Pearson for pass^3. A narrow interval of one "
            "quantity says nothing of another: they measure different things."
        ),
        bars=_MEAN_BARS,
        table=study.to_frame(),
    )


def flips_figure(study: Study[Flips]) -> Figure:
    """Share of all pairs shown to differ by exact and by resampled p-values, by number of pairs.

    Parameters
    ----------
    study : Study of Flips
        From `medgauge_lib.simulation.flips`.

    Returns
    -------
    Figure
    """
    lines = [
        {
            "n_pairs": line.ladder.n_pairs,
            "panel": "pairs with a Holm-adjusted p of at most 0.05",
            "series": series,
            **measured(share),
            "floor": display.number(line.floor, 4),
        }
        for line in study.lines
        for series, share in (("exact p", line.exact), ("p from 10,000 random flips", line.resampled))
    ]
    axes = Axes(
        *("n_pairs", "pairs of the board", "pairs shown to differ", 0.0, 1.0),
        ticks=tuple(range(0, max(line["n_pairs"] for line in lines) + 1, 100)),
    )
    return _figure(
        lines,
        axes,
        "Pairs shown to differ by number of pairs",
        width=480,
        extra={"floor": "smallest adjusted p that flips allow"},
        id="resampled-p",
        title="Exact and resampled p-values under Holm",
        caption=(
            "Boards whose rows fall evenly from best to worst. Random flips cannot give a p below 1/10,001, "
            "and Holm multiplies the smallest by the number of pairs: beyond 500 pairs no pair is ever shown "
            "to differ."
        ),
        bars=_MEAN_BARS,
        table=study.to_frame(),
    )


def power_figure(study: Study[Power]) -> Figure:
    """Power by number of tasks, simulated beside exact, a panel an alpha.

    Parameters
    ----------
    study : Study of Power
        From `medgauge_lib.simulation.power`.

    Returns
    -------
    Figure
    """
    lines = [
        {
            "n_tasks": line.contest.n_tasks,
            "panel": f"p ≤ 0.05 / {display.count(round(FAMILY_ALPHA / line.contest.alpha), 'pair')}",
            "series": series,
            **values,
        }
        for line in study.lines
        for series, values in (("simulated", measured(line.shown)), ("exact", known(line.exact)))
    ]
    axes = _by_number(lines, "tasks", "power", level=0.8)
    truth = display.listed([display.percent(value) for value in study.lines[0].pass_pow_3])
    return _figure(
        lines,
        axes,
        f"Power for two rows with pass^3 of {truth} by number of tasks",
        width=250,
        id="power",
        title="How many tasks it takes to show a difference",
        caption=(
            f"Two rows with a true pass^3 of {truth}. One panel a number of pairs on the board: where no "
            "pair has a p of at most 0.05 divided by it, Holm shows none to differ. The dashed line is 80 %."
        ),
        table=study.to_frame(),
    )
