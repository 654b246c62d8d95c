"""The ten dimensions as panels: rows in board order, each value with its mark of where it comes from.

Every dimension is a figure of its own and none is averaged with another. Figures that follow a harness
version's own definition of an action stand apart, with rows under their harness version.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from medgauge_lib.charts import display
from medgauge_lib.charts.figure import Provenance
from medgauge_lib.charts.panels import (
    MARKS,
    NOT_RANKED,
    Axis,
    Cell,
    Line,
    Panel,
    Section,
    panel_table,
    ranked_first,
    short,
    uncertainty,
    with_figures,
)
from medgauge_lib.charts.tables import Table
from medgauge_lib.charts.words import Sentences
from medgauge_lib.dimensions import HARNESS_BOUND, NAMES, NO_INTERVAL
from medgauge_lib.results import Absent

if TYPE_CHECKING:
    from medgauge_lib.board import Board
    from medgauge_lib.dimensions import DimensionFigure, Dimensions, RowDimensions

DEFECTS = "by_defect_class_recall"

_WORDS = {
    "pass_at_3": "pass@3",
    "pass_pow_3": "pass^3",
    "brier": "Brier score",
    "defect_f1": "defect F1",
    "defect_f1_task_equal": "defect F1, task-equal",
    "amount_ratio": "amount ÷ reference",
    "action_ratio": "actions ÷ reference",
    "median_wall_clock_sec": "median wall clock",
    "mcnemar": "exact McNemar",
    "env_delta": "environment delta",
    DEFECTS: "",
}
_AXES: dict[str, Axis] = {"fraction": "share", "difference": "difference"}

_WITHIN = "Compare rows under one heading only: each harness version defines an action in its own way."

_READ = {
    "M1": (
        "Task pass rate: mean over tasks of the share of passing runs. Continuous score: mean share of "
        "checkpoints passed, 0 for a run that hit a veto; it orders nothing and is not compared across "
        "benchmarks. Lines are BCa 95 % intervals over tasks; that two of them overlap says nothing about a "
        "pair of rows."
    ),
    "M2": (
        "pass@3: tasks passed in at least one of three runs. pass^3: tasks passed in all three. Instability "
        "is what lies between. Lines are exact 95 % intervals; that two of them overlap says nothing about a "
        "pair of rows."
    ),
    "M3": (
        "Medians and the ratio are over passing runs only, so a row that passes little is judged on its easy "
        "tasks: read them beside cost per success, which also counts the failed runs of tasks with a passing "
        "one, and no run of the other tasks. The amount ratio is to the reference solution, per task: mark, "
        "geometric mean; tick, median; wide bar, quartiles over tasks (not an interval); dashed line, the "
        "reference itself."
    ),
    "M4": (
        "Classes come from the structure of the tasks, 1 the easiest, and are never averaged. Lines are "
        "95 % intervals, exact for pass^3; the fewer tasks in a class, the longer. Counts of tasks and what "
        "rises with difficulty are on the page on difficulty."
    ),
    "M5": (
        "On passing runs. Order violations and tool deviations are as the record counts them; the redundancy "
        "rate follows each harness's own definition of an action and stands apart."
    ),
    "M6": (
        "Veto rate: share of runs that hit a hard gate, whatever else they did. A run may hit several gates. "
        "Compliance rate: compliance checkpoints passed of all of them. No figure here enters the order."
    ),
    "M7": (
        "How well a row finds the defects that were put into its material, and leaves evidence. Pooled "
        "figures weigh every defect alike, task-equal ones every task."
    ),
    "M8": (
        "Appropriate abstention: of the points that cannot be decided. Over-abstention: of those that can. "
        "Overreach: going beyond the order given. The Brier score exists where confidence was recorded: 0 is "
        "best."
    ),
    "M9": (
        "Regrade agreement must be 100 %: less means that grading the same run twice gave two results. "
        "The environment delta is the difference between two environments; its sign says which way, its size "
        "how far: near 0 is better."
    ),
    "M10": (
        "Original tasks against their variants. The gap's sign says which way, its size how far: near 0 is "
        "better. Flip rate: pairs whose outcome changes. b and c count the pairs in which only one of the "
        "two passes in all three runs; p is recomputed from them. The record does not say what the paired "
        "bootstrap is an interval of, so it stands by itself."
    ),
    "M3 actions": (
        f"{_WITHIN} Actions of passing runs divided by the reference solution's, per task: mark, geometric "
        "mean; tick, median; wide bar, quartiles over tasks (not an interval); dashed line, the reference "
        "itself. Cost per success beside it also counts the failed runs of tasks with a passing one."
    ),
    "M5 redundancy": f"{_WITHIN} Share of the actions of passing runs that were redundant.",
    "M7 defects": (
        "Share of the defects of each class that were found. Classes are the records' own. Where a class has "
        "few defects its recall is unsure; the record does not tell how many there are."
    ),
}
"""How to read each view."""

_TITLES = {
    "M1": "task pass rate and continuous score",
    "M2": "pass@3, pass^3 and instability",
    "M3": "what passing runs take, and cost per success",
    "M4": "pass^3 and task pass rate by class of difficulty",
    "M5": "order violations and tool deviations",
    "M6": "vetoes and compliance",
    "M7": "defects found, self-check and traceability",
    "M8": "abstention, overreach and confidence",
    "M9": "regrading, trajectories and environments",
    "M10": "originals against variants",
    "M3 actions": "actions within one harness version",
    "M5 redundancy": "redundancy within one harness version",
    "M7 defects": "recall by class of defect",
}

_PARTS = {
    "M3 actions": ("m3-actions", ("action_ratio",)),
    "M5 redundancy": ("m5-redundancy", ("redundancy_rate",)),
    "M7 defects": ("m7-defect-classes", (DEFECTS,)),
}
"""Views of a part of a dimension: id, and the figures of that part."""

VIEWS = (*NAMES, *_PARTS)
"""What can be drawn: each dimension with the figures that compare over all rows, and what stands apart."""


@dataclass(frozen=True)
class _Key:
    """What one panel shows of a row: a figure's name, the part at the mark, and the parts around it."""

    name: str
    part: str = ""
    around: Mapping[str, str] = field(default_factory=dict)

    def values(self, row: RowDimensions) -> tuple[DimensionFigure, ...]:
        """The figures of a row behind the panel, the one at the mark first."""
        parts = dict.fromkeys((self.part, *self.around.values()))
        return tuple(row.figure(self.name, part) for part in parts)


def dimension_table(found: Dimensions, board: Board, view: str) -> Table | Sentences:
    """One dimension, or a part of it that stands apart, as a panel a figure.

    Parameters
    ----------
    found : Dimensions
        From `medgauge_lib.dimensions.dimensions`.
    board : Board
        The board they belong to: its order, ranks and vetoes.
    view : str
        One of `VIEWS`. ``M3 actions`` and ``M5 redundancy`` hold what follows a harness version's own
        definition of an action, with rows under their harness version.

    Returns
    -------
    Table or Sentences
        Where a row has no figure, its cell says why. A sentence where no row has any.

    Raises
    ------
    ValueError
        If there is no such view.
    """
    keys, title = _keys(found, view), _title(view)
    shown = [value for row in found.rows for key in keys for value in key.values(row)]
    here = [value for value in shown if not isinstance(value.value, Absent)]
    if not any(value.name != "cost_per_success" or view == "M3" for value in here):
        reasons = sorted({str(value.value) for value in shown if isinstance(value.value, Absent)})
        said = "; ".join(reasons) or "not applicable: no record carries it"
        return Sentences((f"{title} — {said}.",))
    panels, bare = with_figures([panel for key in keys for panel in _panels(found, board, key)])
    return panel_table(
        board,
        _sections(found, board, view),
        panels,
        dimension_frame(found, view),
        id=_id(view),
        title=title,
        caption=f"Rows in board order. {_READ[view]} {MARKS}{bare}{_remarks(here)}",
        alt=_alternative(found, title, panels),
        provenance=_provenance(here),
    )


def dimension_frame(found: Dimensions, view: str) -> pd.DataFrame:
    """Data of `dimension_table`, one line a row and figure, not rounded; of an absent value the reason.

    Parameters
    ----------
    found : Dimensions
    view : str
        One of the views of `dimension_table`.

    Returns
    -------
    DataFrame
    """
    keys = _keys(found, view)
    shown = {key.name for key in keys} | ({"action_definition"} if view == "M3 actions" else set())
    frame = found.to_frame(view.split()[0])
    return frame[frame["figure"].isin(shown)].drop(columns="dimension_name").reset_index(drop=True)


_BY_HARNESS = ("M3 actions", "M5 redundancy")


def _title(view: str) -> str:
    return f"{view.split()[0]}: {_TITLES[view]}"


def _id(view: str) -> str:
    return _PARTS[view][0] if view in _PARTS else f"{view} {NAMES[view]}".lower().replace(" ", "-")


def _keys(found: Dimensions, view: str) -> list[_Key]:
    """Panels of a view, in the order of a row's figures; cost per success is beside M3 wherever it stands."""
    if view not in VIEWS:
        raise ValueError(f"view must be one of {', '.join(VIEWS)}, but got {view!r}")
    names = _PARTS[view][1] if view in _PARTS else ()
    keys: dict[tuple[str, str], _Key] = {}
    for value in found.rows[0].dimension(view.split()[0]):
        apart = value.name in (*HARNESS_BOUND, DEFECTS)
        beside_it = view == "M3 actions" and value.name == "cost_per_success"
        if value.name in names or beside_it or (not names and not apart):
            key = _key(value)
            keys.setdefault((key.name, key.part), key)
    ordered = list(keys.values())
    # All classes of one quantity stand beside each other.
    return sorted(ordered, key=lambda key: key.name) if view == "M4" else ordered


def _key(value: DimensionFigure) -> _Key:
    match value.name:
        case "action_ratio" | "amount_ratio":
            return _Key(value.name, "geometric_mean", {"middle": "median", "low": "q1", "high": "q3"})
        case "paired_bootstrap":
            return _Key(value.name, "lower", {"low": "lower", "high": "upper"})
        case "mcnemar":
            return _Key(value.name, "p_value", {"b": "b", "c": "c"})
        case _:
            return _Key(value.name, value.part)


def _sections(found: Dimensions, board: Board, view: str) -> list[Section]:
    """Rows in board order, or under their harness version where only those of one compare."""
    lines = {row.id: Line(row.id, row.label, row.id in board.vetoed) for row in found.rows}
    if view not in _BY_HARNESS:
        return ranked_first(board, list(lines.values()))
    sections: list[Section] = []
    for harness, rows in found.by_harness().items():
        texts = dict.fromkeys(
            str(text) for row in rows if isinstance(text := row.figure("action_definition").value, str)
        )
        said = f" — an action: {' / '.join(texts)}" if texts else ""
        sections.append((f"{harness}{said}", [lines[row.id] for row in rows if row.ranked]))
        apart = [lines[row.id] for row in rows if not row.ranked]
        sections.append((f"{harness} — {NOT_RANKED.lower()}", apart))
    return sections


def _panels(found: Dimensions, board: Board, key: _Key) -> Iterator[Panel]:
    """One panel a figure; of cost per success one a currency and price table, which alone compare."""
    if key.name != "cost_per_success":
        yield _panel(found, key)
        return
    prices = {row.id: _price(board, row) for row in found.rows}
    known: list[tuple[str, str] | None] = [*sorted({price for price in prices.values() if price})]
    for price in known or [None]:
        elsewhere = {record for record, its in prices.items() if its not in (None, price)}
        yield _panel(found, key, price=price, elsewhere=elsewhere)


def _price(board: Board, row: RowDimensions) -> tuple[str, str] | None:
    """Currency and price table of a row's cost per success; None where it has none."""
    value = row.figure("cost_per_success")
    if isinstance(value.value, Absent):
        return None
    return value.unit, board.row(row.id).price_table or ""


def _panel(
    found: Dimensions,
    key: _Key,
    *,
    price: tuple[str, str] | None = None,
    elsewhere: Collection[str] = (),
) -> Panel:
    first = key.values(found.rows[0])[0]
    ratio = first.unit == "ratio"
    return Panel(
        title=_heading(key, price),
        notes=_notes(first, price),
        cells={
            row.id: _ELSEWHERE if row.id in elsewhere else _cell(key, key.values(row)) for row in found.rows
        },
        axis=_axis(key, first),
        reference=1 if ratio else 0 if first.unit == "difference" else None,
        quartiles=ratio,
    )


def _heading(key: _Key, price: tuple[str, str] | None) -> str:
    """What a panel shows, in words."""
    name = _WORDS.get(key.name, key.name.replace("_", " "))
    if price is not None:
        return f"{name}, {price[0]}"
    if key.around:
        return f"{name}: b, c, p" if key.name == "mcnemar" else name
    part = {"absolute": "size", "signed": "with sign"}.get(key.part, key.part)
    if key.name == "veto_by_category":
        return f"runs: {part.replace('_', ' ')}"
    return ", ".join(filter(None, (name, display.text(part, 40))))


def _notes(value: DimensionFigure, price: tuple[str, str] | None) -> list[str]:
    """Which direction is better, and by which prices."""
    better = {"higher": "higher is better", "lower": "lower is better"}.get(value.better, "")
    prices = f"prices {display.text(price[1], 24)}" if price and price[1] else ""
    return [note for note in (better, prices) if note]


def _axis(key: _Key, value: DimensionFigure) -> Axis:
    if key.name == "mcnemar":
        return "words"
    return "size" if key.part == "absolute" else _AXES.get(value.unit, "number")


_ELSEWHERE = Cell(
    "other prices", said="in another currency or by another price table: not on this axis", absent=True
)
"""Of a row whose cost stands in another panel."""


def _cell(key: _Key, values: Sequence[DimensionFigure]) -> Cell:
    """A row of a panel: where its mark stands, and its words."""
    first, parts = values[0], {value.part: value for value in values}
    if isinstance(first.value, Absent):
        return Cell(short(str(first.value)), said=str(first.value), absent=True)
    star, said = ("*", display.text(first.remark)) if first.remark else ("", "")
    if key.name == "mcnemar":
        return Cell(f"{_number(parts['b'])}, {_number(parts['c'])}, {_number(first)}{star}", said=said)
    low, middle, high = (_float(parts[key.around[end]]) if end in key.around else None for end in _AROUND)
    detail = ""
    if key.name == "paired_bootstrap" and low is not None and high is not None:
        return Cell(display.between(low, high, difference=True), low=low, high=high, published=True)
    if low is not None and high is not None:
        detail = f"{_number(parts[key.around['low']])} to {_number(parts[key.around['high']])}"
    elif first.interval != NO_INTERVAL:
        detail, why = uncertainty(first.interval)
        said = "; ".join(filter(None, (said, why)))
        if not isinstance(first.interval, Absent):
            low, high = first.interval.low, first.interval.high
    words = _number(first).lstrip("+") if key.part == "absolute" else _number(first)
    return Cell(
        f"{words}{star}",
        detail,
        said,
        _float(first),
        low=low,
        middle=middle,
        high=high,
        published=first.provenance == "as published",
    )


_AROUND = ("low", "middle", "high")


def _float(value: DimensionFigure) -> float | None:
    return None if isinstance(value.value, Absent | str) else float(value.value)


def _number(value: DimensionFigure) -> str:
    """A value in its unit."""
    number = value.value
    if isinstance(number, Absent | str):
        return short(str(number))
    return display.in_unit(number, value.unit)


def _remarks(values: Sequence[DimensionFigure]) -> str:
    """How many figures have another value in their record."""
    n = sum(bool(value.remark) for value in values)
    if not n:
        return ""
    return (
        f" {display.count(n, 'figure')} marked * {'is' if n == 1 else 'are'} published with another value: "
        "the remark in the data says which."
    )


def _provenance(values: Sequence[DimensionFigure]) -> Provenance:
    sources = {value.provenance for value in values}
    return "mixed" if len(sources) > 1 else sources.pop()


def _alternative(found: Dimensions, title: str, panels: Sequence[Panel]) -> str:
    """The lowest and highest row of each panel, and how many rows have no figure."""
    subjects = {row.id: display.text(row.label) for row in found.rows}
    said = [f"{panel.title}: {_range(panel, subjects)}" for panel in panels]
    return f"{title}, {display.count(len(subjects), 'row')} in board order. {'; '.join(said)}."


def _range(panel: Panel, subjects: Mapping[str, str]) -> str:
    missing = sum(cell.absent for cell in panel.cells.values())
    without = f", {missing} without a figure" if missing else ""
    known = [(cell.value, row) for row, cell in panel.cells.items() if cell.value is not None]
    if not known:
        return f"{display.count(len(panel.cells) - missing, 'row')} with a figure{without}"
    (low, lowest), (high, highest) = min(known), max(known)
    words = {row: cell.words for row, cell in panel.cells.items()}
    if low == high:
        return f"{words[lowest]} in {display.count(len(known), 'row')}{without}"
    return f"from {words[lowest]} ({subjects[lowest]}) to {words[highest]} ({subjects[highest]}){without}"
