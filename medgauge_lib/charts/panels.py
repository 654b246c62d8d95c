"""Rows of a board beside narrow panels: the tables that dimensions, difficulty and failures share.

A panel is a column: of each row its mark on an axis of the panel's own, and its value in words. Where there
is no value it says why and draws nothing. A filled circle is a figure recomputed from runs, a hollow diamond
one as published. Rows that the board does not rank stand apart under a heading; a heading may also part rows
that must not be compared.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from medgauge_lib.charts import display
from medgauge_lib.charts.cost import LOG_FROM
from medgauge_lib.charts.tables import Table, render
from medgauge_lib.results import Absent, Interval

if TYPE_CHECKING:
    import pandas as pd

    from medgauge_lib.board import Board
    from medgauge_lib.charts.figure import Provenance

NOT_RANKED = "Listed apart, not ranked: not verified by the site"

MARKS = "A filled circle is recomputed from the runs, a hollow diamond as published in the record."
"""What the two marks of a panel mean."""

Axis = Literal["share", "difference", "size", "number", "bar", "words"]

SIDE = 8
"""Room in pixels beside an axis, for a mark at its end."""

_PLOTS = (168, 120, 96, 72)
"""Widths of an axis in pixels."""

_BAR = 40

_BLOCK_WIDTH = 920
_CHARACTER = 7
_SMALL = 5.8
_TITLE_LENGTHS = {"bar": 12, "words": 14}
"""Characters of a line of a title; 23 in a panel with an axis."""


@dataclass(frozen=True)
class Line:
    """What a table says of a row before its panels.

    Attributes
    ----------
    id, label : str
        The row.
    veto : bool
        Whether to mark it, because one of its runs hit a hard gate.
    """

    id: str
    label: str
    veto: bool


Section = tuple[str, Sequence[Line]]
"""A heading, empty for none, and the rows below it."""


@dataclass(frozen=True)
class Cell:
    """One figure of one row.

    Attributes
    ----------
    words : str
        What is written.
    detail : str
        What is written small below: an interval, quartiles.
    said : str
        What a tooltip adds; empty for nothing.
    value, low, high, middle : float or None
        Where the mark stands, and what is drawn around it.
    published : bool
        Whether the figure is as published.
    absent : bool
        Whether there is no figure, and `words` say why.
    """

    words: str
    detail: str = ""
    said: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    middle: float | None = None
    published: bool = False
    absent: bool = False


@dataclass(frozen=True)
class Panel:
    """One figure of every row.

    Attributes
    ----------
    title : str
        What is shown.
    notes : sequence of str
        Which direction is better, and what else a reader must know.
    cells : mapping of str to Cell
        By row.
    axis : str
        ``share`` of 1; ``difference`` of shares around 0; ``size`` of a difference; ``number`` from 0, or
        logarithmic; ``bar``, from 0; ``words``, none.
    full : float or None
        What a bar over the whole width is; the largest value where not given.
    reference : float or None
        A value to draw as a line.
    quartiles : bool
        Whether `low`, `middle` and `high` are quartiles, and not an interval.
    """

    title: str
    notes: Sequence[str]
    cells: Mapping[str, Cell]
    axis: Axis = "share"
    full: float | None = None
    reference: float | None = None
    quartiles: bool = False

    @property
    def words(self) -> float:
        """About the width of what is written, in pixels."""
        return max(
            max(_CHARACTER * display.columns(cell.words), _SMALL * display.columns(cell.detail))
            for cell in self.cells.values()
        )


def ranked_first(board: Board, lines: Sequence[Line]) -> list[Section]:
    """Rows of the board without a heading, then the rows that it does not rank."""
    ranked = set(board.order)
    return [
        ("", [line for line in lines if line.id in ranked]),
        (NOT_RANKED, [line for line in lines if line.id not in ranked]),
    ]


def short(reason: str) -> str:
    """Why there is no value, in the few words that a cell has room for.

    Examples
    --------
    >>> short("not applicable: the record carries no m5_optimality"), short("no passing run")
    ('not applicable', 'no passing run')
    """
    return display.text(reason.split(":")[0], 28)


def uncertainty(interval: Interval | Absent) -> tuple[str, str]:
    """What is written small below an estimate, and what a tooltip adds, where an interval has a reason to be.

    Examples
    --------
    >>> uncertainty(Absent("all tasks have the same value"))
    ('not estimable', 'all tasks have the same value')
    """
    if not isinstance(interval, Absent):
        return display.interval(interval), ""
    kept_back = str(interval).startswith(("withheld", "needs"))
    return "no interval" if kept_back else "not estimable", str(interval)


def with_figures(panels: Sequence[Panel]) -> tuple[list[Panel], str]:
    """Panels in which some row has a figure, and words about the others to end a caption with."""
    kept = [panel for panel in panels if not all(cell.absent for cell in panel.cells.values())]
    bare = [panel for panel in panels if panel not in kept]
    if not bare:
        return kept, ""
    said = [
        f"{panel.title} ({', '.join(sorted({cell.words for cell in panel.cells.values()}))})"
        for panel in bare
    ]
    return kept, f" In no row there is a figure for {display.listed(said)}."


def panel_table(
    board: Board,
    sections: Sequence[Section],
    panels: Sequence[Panel],
    table: pd.DataFrame,
    *,
    id: str,  # noqa: A002
    title: str,
    caption: str,
    alt: str,
    provenance: Provenance = "recomputed",
) -> Table:
    """Make a table of panels, in as many blocks as the width of a page asks for.

    Parameters
    ----------
    board : Board
        Gives the ranks.
    sections : sequence of (str, sequence of Line)
        Rows from the top; a section without rows is left out.
    panels : sequence of Panel
        Columns from the left.
    table : DataFrame
        The data, not rounded.
    id, title, caption, alt, provenance
        As of a figure.

    Returns
    -------
    Table
        Every text of a record is escaped.
    """
    ranks = {row.id: display.rank(row) for row in board.rows}
    plot, blocks = _blocks(panels)
    html = render(
        "panels.html.j2",
        title=title,
        caption=caption,
        side=SIDE,
        sections=[
            {"heading": display.text(words, 160), "rows": [_head(line, ranks) for line in lines]}
            for words, lines in sections
            if lines
        ],
        blocks=[[_column(panel, plot) for panel in block] for block in blocks],
    )
    return Table(id, title, caption, alt, html, table, provenance)


def _head(line: Line, ranks: Mapping[str, str]) -> dict[str, Any]:
    model, _, rest = display.text(line.label).partition(" · ")
    return {
        "id": line.id,
        "rank": ranks.get(line.id, "–"),
        "model": model,
        "harness": rest,
        "veto": line.veto,
    }


def _blocks(panels: Sequence[Panel]) -> tuple[int, list[list[Panel]]]:
    """The widest axis with which panels take no more blocks than they must, and the blocks."""
    parted = [(plot, list(_parted(panels, plot))) for plot in _PLOTS]
    fewest = min(len(blocks) for _, blocks in parted)
    return next((plot, blocks) for plot, blocks in parted if len(blocks) == fewest)


def _parted(panels: Sequence[Panel], plot: int) -> Iterator[list[Panel]]:
    """Blocks of about equal width that fit the page."""
    widths = [_width(panel, plot) for panel in panels]
    share = sum(widths) / math.ceil(sum(widths) / _BLOCK_WIDTH)
    block: list[Panel] = []
    used = 0.0
    for panel, width in zip(panels, widths, strict=True):
        if block and (used + width > _BLOCK_WIDTH or used + width / 2 > share):
            yield block
            block, used = [], 0
        block.append(panel)
        used += width
    yield block


def _title(panel: Panel) -> list[str]:
    return textwrap.wrap(panel.title, _TITLE_LENGTHS.get(panel.axis, 23))


def _width(panel: Panel, plot: int) -> float:
    title = _CHARACTER * max(map(display.columns, _title(panel)))
    return 24 + max(
        title,
        panel.words + (panel.axis != "words") * ((_BAR if panel.axis == "bar" else plot) + 2 * SIDE + 8),
    )


def _column(panel: Panel, plot: int) -> dict[str, Any]:
    """A panel as the template draws it: positions in pixels from the left end of its axis."""
    low, high, log = _ends(panel)
    plot = {"bar": _BAR, "words": 0}.get(panel.axis, plot)

    def at(value: float | None) -> float | None:
        if value is None or panel.axis == "words":
            return None
        share = math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)
        return round(plot * share, 2)

    ticks = _ticks(panel, low, high, log=log)
    return {
        "title": _title(panel),
        "notes": list(panel.notes),
        "plot": plot,
        "bar": panel.axis == "bar",
        "quartiles": panel.quartiles,
        "reference": at(panel.reference),
        "ticks": [{"at": at(value), "words": words} for value, words in ticks],
        "cells": {
            row: {
                "words": cell.words,
                "detail": cell.detail,
                "said": cell.said,
                "absent": cell.absent,
                "published": cell.published,
                "value": cell.value,
                "at": at(cell.value),
                "low": at(cell.low),
                "high": at(cell.high),
                "middle": at(cell.middle),
            }
            for row, cell in panel.cells.items()
        },
    }


def _ends(panel: Panel) -> tuple[float, float, bool]:
    """Lower and upper end of an axis, and whether it is logarithmic."""
    numbers = [
        number
        for cell in panel.cells.values()
        for number in (cell.value, cell.low, cell.high, cell.middle)
        if number is not None
    ]
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    if panel.axis == "share":
        return min(0, low), max(1, high), False
    if panel.axis == "difference":
        most = max(0.1, math.ceil(max(-low, high) * 10) / 10)
        return -most, most, False
    if panel.axis == "size":
        return 0, max(0.1, math.ceil(high * 10) / 10), False
    if panel.axis == "number" and low > 0 and high / low >= LOG_FROM:
        return low / 1.1, high * 1.1, True
    return min(0, low), max(high, panel.reference or 0, panel.full or 0) or 1, False


def _ticks(panel: Panel, low: float, high: float, *, log: bool) -> list[tuple[float, str]]:
    if panel.axis in ("bar", "words"):
        return []
    if panel.axis == "share":
        return [(0, "0"), (0.5, "50"), (1, "100 %")]
    if panel.axis in ("difference", "size"):
        ends = (low, 0, high) if low else (0, high)
        return [(end, display.points(end, unit=False).removesuffix(".0")) for end in ends]
    if log:
        powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        return [(10.0**power, f"{10.0**power:g}") for power in powers]
    step = _round(high)
    return [(0, "0"), (step, _plain(step))]


def _round(high: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above a number."""
    power = 10.0 ** math.floor(math.log10(high))
    return max(digit * power for digit in (1, 2, 5) if digit * power <= high)


def _plain(number: float) -> str:
    """A round number as a tick shows it."""
    return f"{number / 1000:g}k" if number >= 1000 else f"{number:g}"
