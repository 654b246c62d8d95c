"""Docstrings say what the code has: parameters by name and order, attributes, results, examples."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import medgauge_lib

LIBRARY = Path(medgauge_lib.__file__).parent
SECTION = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)
ROOMS = ["medgauge_lib"] + [
    found.name for found in pkgutil.walk_packages(medgauge_lib.__path__, "medgauge_lib.") if found.ispkg
]
NAMED = {"self", "cls"}


def sections(doc: str | None) -> dict[str, str]:
    """Sections of a docstring in the style of numpydoc."""
    parts = SECTION.split(inspect.cleandoc(doc or ""))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def names(section: str) -> list[str]:
    """Names that a section describes, in its order."""
    lines = (line for line in section.splitlines() if line[:1].strip())
    return [name.strip().lstrip("*") for line in lines for name in line.partition(" : ")[0].split(",")]


def exported() -> dict[str, object]:
    """Everything that a room exports by name, without the errors and constants."""
    found = {}
    for name in ROOMS:
        room = importlib.import_module(name)
        for one in getattr(room, "__all__", ()):
            value = getattr(room, one)
            if inspect.isfunction(value) or inspect.isclass(value):
                found[f"{value.__module__}.{one}"] = value
    return found


EXPORTED = exported()
FUNCTIONS = {name: value for name, value in EXPORTED.items() if inspect.isfunction(value)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_room_exports_says_what_it_takes_and_gives(name: str) -> None:
    """An exported function describes its parameters and its result."""
    signature = inspect.signature(FUNCTIONS[name])
    told = sections(FUNCTIONS[name].__doc__)
    assert bool(signature.parameters) == ("Parameters" in told)
    if signature.return_annotation != "None":
        assert {"Returns", "Yields"} & set(told)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if ".charts." not in name])
def test_what_a_room_exports_shows_an_example(name: str) -> None:
    """An exported function has an example, which the doctests run; of a chart the notebooks are one."""
    assert ">>> " in sections(FUNCTIONS[name].__doc__)["Examples"]


def definitions(file: Path) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Public functions, classes and methods of a module."""
    waiting: list[ast.AST] = [ast.parse(file.read_text("utf-8"))]
    while waiting:
        for node in getattr(waiting.pop(), "body", ()):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                yield node
                if isinstance(node, ast.ClassDef):
                    waiting.append(node)


def arguments(function: ast.FunctionDef) -> list[str]:
    """Names of the arguments of a function, in order."""
    of = function.args
    stars = ([of.vararg] if of.vararg else []), ([of.kwarg] if of.kwarg else [])
    found = [*of.posonlyargs, *of.args, *stars[0], *of.kwonlyargs, *stars[1]]
    return [one.arg for one in found if one.arg not in NAMED]


def fields(node: ast.ClassDef) -> list[str]:
    """Public fields of a dataclass or a named tuple, in order."""
    kinds = [ast.unparse(one) for one in (*node.decorator_list, *node.bases)]
    if not any(kind.startswith(("dataclass", "NamedTuple")) for kind in kinds):
        return []
    return [
        one.target.id
        for one in node.body
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and not one.target.id.startswith("_")
        and not ast.unparse(one.annotation).startswith("ClassVar")
    ]


@pytest.mark.parametrize(
    "file", sorted(LIBRARY.rglob("*.py")), ids=lambda file: file.relative_to(LIBRARY).as_posix()
)
def test_docstrings_name_what_there_is(file: Path) -> None:
    """Where parameters are described they are those of the signature; fields are all described, in order."""
    wrong = []
    for node in definitions(file):
        told = sections(ast.get_docstring(node))
        if isinstance(node, ast.FunctionDef) and "Parameters" in told:
            if names(told["Parameters"]) != arguments(node):
                wrong.append((node.name, names(told["Parameters"]), arguments(node)))
        elif isinstance(node, ast.ClassDef) and (has := fields(node)):
            described = names(told.get("Attributes", told.get("Parameters", "")))
            # What is inherited may be described again, in front.
            if described[len(described) - len(has) :] != has:
                wrong.append((node.name, described, has))
    assert wrong == []
