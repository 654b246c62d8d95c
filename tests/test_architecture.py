"""The rooms of the library stand in one order, and imports keep to it (docs/architecture.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "medgauge_lib"
ROWS = re.findall(
    r"^\| `(\w+)` \| .* \| ?(.*?) ?\|$", (ROOT / "docs/architecture.md").read_text("utf-8"), re.MULTILINE
)
ORDER = [room for room, _ in ROWS]
ALONE = {name: room for room, names in ROWS for name in re.findall(r"\w+", names)}
MODULES = sorted(LIBRARY.rglob("*.py"))


def dotted(file: Path) -> str:
    """Return the name under which a file is imported."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


NAMES = {dotted(file) for file in MODULES}


def imports(file: Path) -> Iterator[str]:
    """Yield the modules that a file imports, also inside functions and for types alone."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}: write imports in full"
            inner = (f"{node.module}.{name.name}" for name in node.names)
            yield from (name if name in NAMES else str(node.module) for name in inner)


def room(name: str) -> str:
    """Return the room of a module of the library; the library itself has none."""
    return [*name.split("."), ""][1]


def test_every_room_is_in_the_table_once() -> None:
    """The page names every module and folder of the library, each in one place."""
    there = {path.stem for path in LIBRARY.glob("*.py")} | {
        path.name for path in LIBRARY.iterdir() if any(path.glob("*.py"))
    }
    assert sorted(ORDER) == sorted(there - {"__init__"})


@pytest.mark.parametrize("name", ORDER)
def test_a_room_imports_from_rooms_before_it(name: str) -> None:
    """No import points to a room that stands later in the order, nor to the library as a whole."""
    before = {*ORDER[: ORDER.index(name) + 1]}
    wrong = [
        f"{dotted(file)} imports {used}"
        for file in MODULES
        if room(dotted(file)) == name
        for used in imports(file)
        if used.split(".")[0] == "medgauge_lib" and room(used) not in before
    ]
    assert wrong == []


def test_modules_of_a_room_import_each_other_in_no_circle() -> None:
    """There is an order of all modules in which each imports from earlier ones only."""
    graph = {dotted(file): {name for name in imports(file) if name in NAMES} for file in MODULES}
    order = list(TopologicalSorter(graph).static_order())
    assert len(order) == len(MODULES)


def test_libraries_stay_in_their_rooms() -> None:
    """What one room alone knows no other imports, and that room does import it."""
    found = {(used.split(".")[0], room(dotted(file))) for file in MODULES for used in imports(file)}
    assert {pair for pair in found if pair[0] in ALONE} == set(ALONE.items())
