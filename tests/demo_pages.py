"""Demo records as dictionaries, with or without a change, and tables of markup as cells."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from medgauge_lib import demo
from medgauge_lib.records import RecordSet, read_records

WARD = ("bm-demo-ward", "1.1.0")
LAB = ("bm-demo-lab", "0.1.0")


@lru_cache
def _files() -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        root = Path(folder) / "demo"
        demo.write(root)
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.json"))}


def raw(benchmark: str, version: str) -> list[dict[str, Any]]:
    """Records of one demo board as their files have them, by id."""
    found = [
        json.loads(data) for name, data in _files().items() if name.startswith(f"{benchmark}/{version}/")
    ]
    return sorted(found, key=lambda record: record["id"])


def raw_labels(benchmark: str, version: str) -> dict[str, Any]:
    """Labels of one demo board as their file has them."""
    return json.loads(_files()[f"{benchmark}/{version}.labels.json"])


def labels_file(folder: Path, benchmark: str, version: str) -> Path:
    """Write the labels of one demo board."""
    file = folder / f"{version}.labels.json"
    file.write_text(json.dumps(raw_labels(benchmark, version)), encoding="utf-8")
    return file


def changed(
    folder: Path, benchmark: str, version: str, change: Callable[[dict[str, dict[str, Any]]], None]
) -> RecordSet:
    """Write a demo board with a change, given the records by id, and read it."""
    records = {record["id"]: record for record in raw(benchmark, version)}
    change(records)
    folder.mkdir()
    for name, record in records.items():
        (folder / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    return read_records(folder)


@dataclass
class Cell:
    """One cell of a table: its text, what is drawn in it, and its attributes."""

    tag: str
    attributes: dict[str, str]
    texts: list[str] = field(default_factory=list)
    shapes: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Text of the cell, drawings aside."""
        return " ".join("".join(self.texts).replace("\u00a0", " ").split())

    def drawn(self, tag: str, name: str) -> list[dict[str, float | str]]:
        """Shapes of one kind and class."""
        return [
            attributes
            for shape, attributes in self.shapes
            if shape == tag and name in attributes.get("class", "").split()
        ]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[Cell]]] = []
        self.tags: set[str] = set()
        self._cell: Cell | None = None
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self._cell = Cell(tag, attributes)
            self.tables[-1][-1].append(self._cell)
        elif tag == "svg":
            self._hidden += 1
        elif self._cell and self._hidden:
            self._cell.shapes.append((tag, attributes))
        elif self._cell and tag != "wbr":
            self._cell.texts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "svg":
            self._hidden -= 1
        elif tag in ("td", "th"):
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell and not self._hidden:
            self._cell.texts.append(data)


def tables(html: str) -> list[list[list[Cell]]]:
    """Tables of a figure as rows of cells, headings of columns first."""
    reader = _Reader()
    reader.feed(html)
    return reader.tables


def tags(html: str) -> set[str]:
    """Every element that markup holds."""
    reader = _Reader()
    reader.feed(html)
    return reader.tags


def column(html: str, title: str) -> dict[str, Cell]:
    """Cells of one column by the text of their row's heading, over all tables of a figure."""
    for table in tables(html):
        heads = [cell.text for cell in table[0]]
        place = next((k for k, head in enumerate(heads) if head.startswith(title)), None)
        if place is not None:
            return {row[1].text: row[place] for row in table[1:] if len(row) == len(heads)}
    raise KeyError(title)
