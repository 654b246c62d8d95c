"""Two makings of one figure, held against each other: the rows that differ, and by how much.

Nothing is rounded and nothing is tolerated: figures are equal to the byte of their canonical JSON or they
differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from medgauge_lib.charts.display import text
from medgauge_lib.report.hashes import sorted_json
from medgauge_lib.report.shown import Shown

LINES = 5
"""How many differences of one figure are printed; JSON holds them all."""

_LENGTH = 60


@dataclass(frozen=True)
class Cell:
    """One value that differs.

    Attributes
    ----------
    column : str
        Name of the column.
    published, made : Any
        The value in the report, and the value made now.
    """

    column: str
    published: Any
    made: Any

    @property
    def by(self) -> str | None:
        """The value made now less the one in the report, exact in decimals; None where one is no number."""
        numbers = [value for value in (self.published, self.made) if _is_number(value)]
        if len(numbers) < 2:
            return None
        before, now = (Decimal(repr(number)) for number in numbers)
        return f"{now - before:+}"

    def __str__(self) -> str:
        by = "" if self.by is None else f" ({self.by})"
        return f"{text(self.column, _LENGTH)} {_shown(self.published)} → {_shown(self.made)}{by}"


@dataclass(frozen=True)
class Difference:
    """One row that differs, or one place of a spec.

    Attributes
    ----------
    kind : str
        ``changed``, ``added`` (only made now), ``removed`` (only in the report), ``columns``, ``spec``,
        ``markup``, or ``missing`` where the notebook shows no such figure any more.
    row : str
        What tells the row apart, or the JSON pointer of a place in the spec.
    cells : tuple of Cell
        The values that differ.
    """

    kind: Literal["changed", "added", "removed", "columns", "spec", "markup", "missing"]
    row: str = ""
    cells: tuple[Cell, ...] = ()

    def __str__(self) -> str:
        row = text(self.row, _LENGTH)
        match self.kind:
            case "changed":
                return f"row {row}: " + ", ".join(map(str, self.cells))
            case "added" | "removed":
                return f"row {row}: {'only made now' if self.kind == 'added' else 'only in the report'}"
            case "columns":
                return "columns: " + ", ".join(map(str, self.cells))
            case "spec":
                return f"spec: {row}: " + ", ".join(map(str, self.cells))
            case "markup":
                return "the markup of its table differs"
            case _:
                return "its notebook shows no such figure"

    def to_json(self) -> dict[str, Any]:
        """Give the difference as plain values.

        Returns
        -------
        dict
            ``kind, row, cells``; a cell has ``column, published, made, by``.
        """
        cells = [
            {"column": cell.column, "published": cell.published, "made": cell.made, "by": cell.by}
            for cell in self.cells
        ]
        return {"kind": self.kind, "row": self.row, "cells": cells}


def differences(published: Shown, made: Shown | None) -> tuple[Difference, ...]:
    """Find where a figure made now differs from the one in the report.

    Parameters
    ----------
    published : Shown
        The figure in the report.
    made : Shown or None
        The figure made now; None where there is none.

    Returns
    -------
    tuple of Difference
        Rows first, in the order of the report, then columns, spec and markup; empty where nothing differs.

    Examples
    --------
    >>> def shown(value):
    ...     table = {"columns": ["row", "rate"], "rows": [["a", 0.5], ["b", value]]}
    ...     return Shown("f", "F", "summary", table, None, "")
    >>> print(*differences(shown(0.25), shown(0.35)))
    row b: rate 0.25 → 0.35 (+0.10)
    """
    if made is None:
        return (Difference("missing"),)
    found = list(_rows(published.table, made.table))
    if (before := published.spec) != (now := made.spec):
        places = list(_places(before, now))
        # The data of a chart are rows, told above; where they differ the spec that holds them does as well.
        outside = [place for place in places if not place.row.startswith(("/data", "/datasets"))]
        found += outside if found else places
    if published.html != made.html:
        found.append(Difference("markup"))
    return tuple(found)


def _rows(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    """Hold two tables against each other, row by row."""
    columns = [name for name in before["columns"] if name in now["columns"]]
    old, new = _named(before), _named(now)
    keys = _keys(columns, old, new)
    old_rows, new_rows = _by_key(old, keys), _by_key(new, keys)
    for key, row in old_rows.items():
        if key not in new_rows:
            yield Difference("removed", key)
            continue
        pairs = [(name, row.get(name), new_rows[key].get(name)) for name in columns]
        cells = tuple(Cell(*values) for values in pairs if not _same(*values[1:]))
        if cells:
            yield Difference("changed", key, cells)
    for key in new_rows:
        if key not in old_rows:
            yield Difference("added", key)
    if before["columns"] != now["columns"]:
        names = (", ".join(map(str, table["columns"])) for table in (before, now))
        yield Difference("columns", "", (Cell("names", *names),))
    if set(old_rows) == set(new_rows) and list(old_rows) != list(new_rows):
        both = list(zip(old_rows, new_rows, strict=True))
        place = next(place for place, (was, is_now) in enumerate(both) if was != is_now)
        yield Difference("changed", str(place + 1), (Cell("order", *both[place]),))


def _named(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(table["columns"], row, strict=False)) for row in table["rows"]]


def _keys(columns: Sequence[str], old: list[dict[str, Any]], new: list[dict[str, Any]]) -> tuple[str, ...]:
    """Find the first columns of words that tell every row apart; none where there are no such columns."""
    words = [name for name in columns if all(isinstance(row.get(name), str) for row in (*old, *new))]
    for count in range(1, len(words) + 1):
        keys = tuple(words[:count])
        if all(len({tuple(row[name] for name in keys) for row in rows}) == len(rows) for rows in (old, new)):
            return keys
    return ()


def _by_key(rows: list[dict[str, Any]], keys: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Give each row its name: its words, or its number from 1 where no words tell rows apart."""
    if not keys:
        return {str(number): row for number, row in enumerate(rows, 1)}
    return {" / ".join(row[name] for name in keys): row for row in rows}


def _places(before: Any, now: Any, pointer: str = "") -> Iterator[Difference]:
    """Find the places at which two JSON values differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now}):
            inside = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            yield from _places(before.get(key), now.get(key), inside)
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, pair in enumerate(zip(before, now, strict=True)):
            yield from _places(*pair, f"{pointer}/{number}")
    elif not _same(before, now):
        yield Difference("spec", pointer, (Cell("value", before, now),))


def _same(before: Any, now: Any) -> bool:
    """Tell whether two values are the same JSON; 1 and 1.0 are not, nor are 1 and true."""
    return sorted_json(before) == sorted_json(now)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    """Show one value on one line."""
    if isinstance(value, str):
        return f"“{text(value, _LENGTH)}”"
    return text(json.dumps(value, ensure_ascii=False), _LENGTH)
