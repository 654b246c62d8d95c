"""The benchmarks: that their figures point the right way, and that what they measure on is sound."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from medgauge_lib.board import board
from medgauge_lib.records import read_records

ROOT = Path(__file__).parents[1]


@pytest.fixture
def module(monkeypatch):
    """Import modules of the benchmarks, whose package sets an environment variable for its process."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", os.environ.get("OPENBLAS_NUM_THREADS", "1"))
    monkeypatch.syspath_prepend(ROOT)
    return lambda name: importlib.import_module(f"benchmarks.{name}")


@pytest.mark.parametrize(
    ("target", "value", "met"),
    [({"at_least": 5}, 4, False), ({"at_least": 4}, 4, True), ({"at_most": 0.25}, 0.25, True), ({}, 4, None)],
)
def test_ratio_follows_its_target(module, target, value, met):
    """A lower target counts how often the other side takes ours, an upper one the reverse."""
    ratio = module("ratios").Ratio("reading", 2, 8, **target)
    assert ratio.value == value
    assert ratio.met is met


def test_sides_are_timed_in_turn(module):
    """Rounds alternate, after one that is not counted."""
    calls = []
    first, second = module("ratios").in_turn(lambda: calls.append("a"), lambda: calls.append("b"), repeats=2)
    assert "".join(calls) == "ababab"
    assert min(first, second) >= 0


def test_made_records_are_records(module, tmp_path):
    """A made set is read, has the rows and tasks asked for, and orders them by how able they were made."""
    records = read_records(module("made").write_set(tmp_path / "set", n_rows=3, n_tasks=40))
    found = board(records)
    assert found.n_tasks == 40
    assert found.order == ("res-2026-01-01-row-0000", "res-2026-01-01-row-0001", "res-2026-01-01-row-0002")


def test_made_records_are_the_same_every_time(module, tmp_path):
    """Two made sets have the same bytes."""
    write_set = module("made").write_set
    one, other = (write_set(tmp_path / name, n_rows=2, n_tasks=5) for name in ("one", "other"))
    assert [path.read_bytes() for path in sorted(one.iterdir())] == [
        path.read_bytes() for path in sorted(other.iterdir())
    ]


def test_empty_notebook_imports_the_same(module, tmp_path):
    """An empty notebook imports what the kernel of the other one held at its end, and does nothing else."""
    parameters = nbformat.v4.new_code_cell("seed = 1", metadata={"tags": ["parameters"]})
    cells = [
        nbformat.v4.new_markdown_cell("# Title"),
        parameters,
        nbformat.v4.new_code_cell("import colorsys\ndef late():\n    import sndhdr_of_nobody"),
        nbformat.v4.new_code_cell("import xml.dom.minidom\nprint(seed)"),
    ]
    (tmp_path / "made").mkdir()
    file = tmp_path / "one.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), file)
    report = module("report")
    asked = SimpleNamespace(values=lambda: {"seed": 7}, folder=tmp_path)
    (names,) = report._imported(asked, [file], tmp_path / "made").values()
    assert {"colorsys", "xml.dom", "xml.dom.minidom"} <= set(names)
    assert not {"sys", "sndhdr_of_nobody"} & set(names)
    empty = report._imports_alone(report.read_notebook(file), names)
    assert [cell.source for cell in empty.cells][:2] == ["# Empty", "seed = 1"]
    loaded = {}
    exec(empty.cells[2].source, loaded)
    assert loaded["name"] == names[-1]
