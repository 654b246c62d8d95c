"""Tables people read: the board, rows listed apart, sensitivity, inputs of the BCa intervals.

Every string of a record is escaped by the template; nothing here becomes markup, style or address.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import jinja2
import pandas as pd
from markupsafe import Markup, escape

from medgauge_lib.charts import display, theme
from medgauge_lib.charts.figure import FIGURE, TABLE, Provenance, metadata, table_json
from medgauge_lib.charts.words import Sentences, leader_words
from medgauge_lib.estimators import NO_SUCCESS, QUANTITIES, VETO_CATEGORIES
from medgauge_lib.letters import letter
from medgauge_lib.results import Absent, Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medgauge_lib.board import Board, Row
    from medgauge_lib.pairs import Pairs

QUANTITY_NAMES = {
    "pass_pow_3": "pass^3",
    "pass_at_3": "pass@3",
    "task_pass_rate": "task pass rate",
    "continuous_score": "continuous score",
}
"""What a report calls the four quantities."""


@dataclass(frozen=True)
class Table:
    """A table ready to be shown and exported.

    Attributes
    ----------
    id, title, caption, alt : str
        Slug, heading, how to read it, and what it shows in words.
    html : str
        The table as markup, every text of a record escaped.
    table : DataFrame
        Its data, not rounded.
    provenance : Provenance
        Whether the numbers come from runs or from what a record publishes.
    """

    id: str
    title: str
    caption: str
    alt: str
    html: str = field(repr=False)
    table: pd.DataFrame = field(repr=False, compare=False)
    provenance: Provenance = "recomputed"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {
            "text/html": self.html,
            TABLE: table_json(self.table),
            FIGURE: metadata(
                id=self.id,
                title=self.title,
                caption=self.caption,
                alt=self.alt,
                provenance=self.provenance,
            ),
            "text/plain": self.alt,
        }


@lru_cache
def templates(package: str, folder: str = "templates") -> jinja2.Environment:
    """Return the templates of a room: everything is escaped, a missing name is an error.

    Parameters
    ----------
    package : str
        The room.
    folder : str
        Where its templates lie in it.

    Returns
    -------
    jinja2.Environment

    Examples
    --------
    >>> templates("medgauge_lib.charts").from_string("{{ said }}").render(said="<b>")
    '&lt;b&gt;'
    """
    made = jinja2.Environment(
        loader=jinja2.PackageLoader(package, folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["breakable"] = _breakable
    return made


def _breakable(value: object) -> object:
    """Let a long name break into lines behind each of its underscores."""
    if isinstance(value, str) and "_" in value:
        return Markup(str(escape(value)).replace("_", "_<wbr>"))
    return value


def render(template: str, **content: Any) -> str:
    """Fill a template of this room; what a record wrote is escaped."""
    return templates("medgauge_lib.charts").get_template(template).render(theme=theme, **content)


def board_table(board: Board) -> Table:
    """The board as a table: rank, groups as bars, the quantities, cost, errors, vetoes and the exam.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    Table
        Rows in board order. A bar runs down each group: rows on one bar are not shown to differ.
    """
    frame = board.to_frame()
    apart = board.subset != "holdout"
    title = f"Board of {display.text(board.benchmark)} {display.text(board.benchmark_version)}"
    title += f", subset {board.subset}" if apart else ""
    caption = (
        f"{display.count(len(board.rows), 'row')}, {display.count(board.n_tasks, 'task')} of subset "
        f"{board.subset}, three runs each. Rows are in order of pass^3, highest first; neighbours in exactly "
        "the same groups are in order of cost per success. Rows on one bar are not shown to differ; the "
        "bars that stand out hold the highest pass^3. In the drawing, filled is pass^3 with its interval, "
        "hollow is pass@3. "
        "Intervals are 95 %, exact for pass^3 and pass@3 and BCa over tasks for the other two; there is none "
        "where all tasks have the same value."
    )
    return _subject_table(
        f"board-{board.subset}" if apart else "board",
        title,
        caption,
        leader_words(board),
        board.rows,
        frame[frame["rank"].notna()],
        board.groups,
    )


def community_table(board: Board, *, id: str = "community") -> Table | Sentences:  # noqa: A002
    """Rows that the site has not verified: listed apart, not ranked, not compared.

    Parameters
    ----------
    board : Board
        Any board.
    id : str
        Id of the figure, where a report shows it on two pages.

    Returns
    -------
    Table or Sentences
        Rows in ascending id; a sentence where every record is verified.
    """
    if not board.unranked:
        return Sentences(("Every record of this board is verified by the site.",))
    frame = board.to_frame()
    unranked = frame[frame["rank"].isna()].drop(columns=["rank", "letters"])
    caption = (
        "Records that the site has not verified. They have no rank, belong to no group, and are counted over "
        "the tasks that they hold, in ascending order of their id."
    )
    said = f"{display.count(len(board.unranked), 'record')} not verified by the site, listed without rank."
    return _subject_table(id, "Community records", caption, said, board.unranked, unranked, ())


def _subject_table(
    id: str,  # noqa: A002
    title: str,
    caption: str,
    alt: str,
    rows: Sequence[Row],
    frame: pd.DataFrame,
    groups: Sequence[Sequence[str]],
) -> Table:
    vetoes = [name for name in VETO_CATEGORIES if any(name in row.tallies.vetoes for row in rows)]
    best = {row.id for row in rows if row.rank == 1}
    html = render(
        "subjects.html.j2",
        title=title,
        caption=caption,
        ranked=bool(groups),
        groups=[
            {"letter": letter(k), "members": frozenset(group), "leads": bool(best & set(group))}
            for k, group in enumerate(groups)
        ],
        vetoes=[name.replace("_", " ") for name in vetoes],
        rows=[_cells(row, vetoes) for row in rows],
    )
    return Table(id, title, caption, alt, html, frame)


def _cells(row: Row, vetoes: Sequence[str]) -> dict[str, Any]:
    """What the template shows of a row, as text and as positions from 0 to 1."""
    tally, exam = row.tallies, row.exam
    start = f"{row.model} · {row.harness}"
    extra = row.label.removeprefix(start).strip() if row.label.startswith(start) else ""
    return {
        "id": row.id,
        "rank": display.rank(row),
        "model": display.text(row.model),
        "extra": display.text(extra),
        "harness": display.text(row.harness),
        "letters": row.letters,
        "n_tasks": f"{row.pass_pow_3.n_tasks:,}",
        "figures": {name: _figure(row, name) for name in QUANTITIES},
        "at": _positions(row),
        "instability": display.points(row.instability, unit=False).lstrip("+"),
        "cost": "not available" if row.cost_per_success == NO_SUCCESS else display.cost(row),
        "cost_in_full": display.cost(row),
        "has_cost": not isinstance(row.cost_per_success, Absent),
        "error_rate": display.percent(tally.error_rate, unit=False),
        "vetoed": f"{tally.n_vetoed:,}",
        "has_veto": tally.n_vetoed > 0,
        "vetoes": [f"{tally.vetoes.get(name, 0):,}" for name in vetoes],
        "exam": "passed" if exam.passed else "not passed",
        "bound": display.bound(exam.claimable_lower_bound) if exam.passed else "",
    }


def _figure(row: Row, quantity: str) -> dict[str, str]:
    figure: Estimate = getattr(row, quantity)
    bounds = figure.interval
    return {
        "value": display.percent(figure.value, unit=False),
        "interval": display.interval(bounds, unit=False),
        "absent": display.absent(bounds) if isinstance(bounds, Absent) else "",
    }


def _positions(row: Row) -> dict[str, float]:
    """Where pass^3, its interval and pass@3 stand on a line from 0 to 1."""
    bounds = row.pass_pow_3.interval
    value = float(row.pass_pow_3)
    low, high = (value, value) if isinstance(bounds, Absent) else (bounds.low, bounds.high)
    return {"value": value, "low": low, "high": high, "at_3": float(row.pass_at_3)}


def sensitivity_table(board: Board, views: Sequence[Pairs]) -> Table:
    """How many pairs of rows would be shown to differ in each quantity, by its own exact test.

    Parameters
    ----------
    board : Board
        Its groups come from pass^3 alone.
    views : sequence of Pairs
        Comparisons of other quantities of the same rows.

    Returns
    -------
    Table
        One line a quantity: pairs shown to differ, and how that agrees with pass^3.
    """
    frame = _sensitivity_frame(board, views)
    said = "; ".join(
        f"{line['quantity']}: {line['n_differ']:,} of {display.count(line['n_pairs'], 'pair')}"
        for line in frame.to_dict("records")
    )
    headers = {
        "quantity": "Quantity",
        "test": "Test",
        "n_pairs": "Pairs",
        "n_differ": "Shown to differ",
        "also_in_pass_pow_3": "also in pass^3",
        "only_here": "only here",
        "only_in_pass_pow_3": "only in pass^3",
    }
    return plain_table(
        frame,
        headers,
        id="sensitivity",
        title="Would another quantity tell more rows apart?",
        caption=(
            "Pairs of rows with a Holm-adjusted p of at most 0.05, by quantity. Only pass^3 makes groups; "
            "the others show how far that choice matters."
        ),
        alt=f"Pairs shown to differ. {said}.",
    )


def _sensitivity_frame(board: Board, views: Sequence[Pairs]) -> pd.DataFrame:
    base = board.pairs.differing
    return pd.DataFrame(
        [
            {
                "quantity": QUANTITY_NAMES[pairs.quantity],
                "test": pairs.method,
                "n_pairs": len(pairs.pairs),
                "n_differ": len(pairs.differing),
                "also_in_pass_pow_3": len(pairs.differing & base),
                "only_here": len(pairs.differing - base),
                "only_in_pass_pow_3": len(base - pairs.differing),
            }
            for pairs in (board.pairs, *views)
        ]
    )


def bca_table(board: Board) -> Table:
    """Inputs of the BCa intervals: bias z0 and acceleration a of each row.

    Parameters
    ----------
    board : Board
        Any board.

    Returns
    -------
    Table
        One line a row and quantity; where there is no interval, the reason.
    """
    headers = {"subject": "Subject", "quantity": "Quantity", "z0": "z0", "a": "a", "shown": "Interval"}
    frame = _bca_frame(board)
    shown = frame.assign(
        shown=[
            display.interval(getattr(row, quantity).interval)
            for row in board.rows
            for quantity in ("task_pass_rate", "continuous_score")
        ],
        z0=[display.number(v, 4) if pd.notna(v) else "" for v in frame["z0"]],
        a=[display.number(v, 4) if pd.notna(v) else "" for v in frame["a"]],
    )
    missing = int(frame["z0"].isna().sum())
    return plain_table(
        frame,
        headers,
        shown=shown,
        id="bca",
        title="Inputs of the BCa intervals",
        caption=(
            "z0 corrects for bias: 0 where as many resamples lie below the estimate as above it. a corrects "
            "for a spread that changes with the value: 0 where tasks lie evenly around the mean. With both 0 "
            f"the interval would be the plain percentile one. Seed {board.seed}."
        ),
        alt=(
            f"Bias and acceleration of {display.count(len(frame), 'BCa interval')}; {missing} not estimable."
        ),
    )


def _bca_frame(board: Board) -> pd.DataFrame:
    lines = []
    for row in board.rows:
        for quantity in ("task_pass_rate", "continuous_score"):
            bounds = getattr(row, quantity).interval
            here = not isinstance(bounds, Absent)
            lines.append(
                {
                    "subject": row.label,
                    "quantity": QUANTITY_NAMES[quantity],
                    "z0": bounds.bias if here else None,
                    "a": bounds.acceleration if here else None,
                    "low": bounds.low if here else None,
                    "high": bounds.high if here else None,
                    "note": "" if here else display.absent(bounds),
                }
            )
    return pd.DataFrame(lines)


def plain_table(
    frame: pd.DataFrame,
    headers: dict[str, str],
    *,
    id: str,  # noqa: A002
    title: str,
    caption: str,
    alt: str,
    shown: pd.DataFrame | None = None,
    provenance: Provenance = "recomputed",
) -> Table:
    """A table of texts and counts without drawings.

    Parameters
    ----------
    frame : DataFrame
        The data, not rounded.
    headers : dict of str
        Columns to show, in order, and what to call them.
    id, title, caption, alt : str
        As of a figure.
    shown : DataFrame, optional
        The cells to show where they are not those of `frame`: texts, already formatted.
    provenance : str
        As of a figure.

    Returns
    -------
    Table
    """
    cells = frame if shown is None else shown
    html = render(
        "plain.html.j2",
        title=title,
        caption=caption,
        headers=list(headers.values()),
        numeric=[pd.api.types.is_numeric_dtype(frame[name]) if name in frame else False for name in headers],
        rows=[
            [
                f"{cell:,}" if isinstance(cell, int) else display.text(str(cell))
                for cell in (line[name] for name in headers)
            ]
            for line in cells.to_dict("records")
        ],
    )
    return Table(id, title, caption, alt, html, frame, provenance)
