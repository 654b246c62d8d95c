"""A public report tells the label of no task that the records do not tell: by trying, exchange and search."""

from __future__ import annotations

import itertools
import json
import random
import re
from pathlib import Path

import nbformat
import pytest
from demo_pages import WARD, raw, raw_labels
from hypothesis import given, settings
from hypothesis import strategies as st
from make_records import record, task_key, write
from make_reports import project
from test_difficulty import PATTERNS, published_strata

from medgauge_lib import board, difficulty
from medgauge_lib.labels import Labels, read_labels
from medgauge_lib.records import read_records
from medgauge_lib.report.build import build
from medgauge_lib.report.manifest import SINGLE
from medgauge_lib.report.paper import PAPER

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
NONE = 0
"""Stands for a task that carries no label."""


def labels_of(classes):
    """Labels as they are read from a file, of tasks by number."""
    by_task = {task_key(task): {"difficulty": label} for task, label in classes.items() if label != NONE}
    return Labels(len(by_task), ("difficulty",), by_task)


def strata_of(passes, classes):
    """Strata of the tasks that carry a label."""
    return published_strata(passes, {task: label for task, label in classes.items() if label != NONE})


def told(records, found, classes):
    """Everything that the public results say which are made with labels, as text."""
    strata = difficulty(records, found, labels_of(classes), publish="public")
    frames = (strata.to_frame(), strata.counts_frame(), strata.distributions_frame(), strata.rises_frame())
    return "\n".join((*(frame.to_csv() for frame in frames), *strata.notes))


def fixed(assignments):
    """Tasks that carry the same label in every assignment."""
    return {
        task
        for task in assignments[0]
        if len(kinds := {one[task] for one in assignments}) == 1 and NONE not in kinds
    }


def attack(folder, boards, classes, publishing, kinds):
    """Tasks whose label follows from the records, and from the records with the public results.

    The attacker tries every assignment of labels: what records say must hold under it, and the results made
    with it must be those that are seen.
    """
    rows = []
    for place, passes in enumerate(boards):
        row = record(f"res-2026-01-01-{place}", {task: PATTERNS[n] for task, n in passes.items()})
        if place < publishing:
            row["scores"]["by_subset"]["holdout"]["by_difficulty_class"] = strata_of(passes, classes)
        rows.append(row)
    records = read_records(write(folder, *rows))
    found = board(records)

    def fits(one):
        return all(strata_of(passes, one) == strata_of(passes, classes) for passes in boards[:publishing])

    fitting = [
        one
        for assigned in itertools.product(kinds, repeat=len(classes))
        if fits(one := dict(zip(classes, assigned, strict=True)))
    ]
    seen = told(records, found, classes)
    matching = [one for one in fitting if told(records, found, one) == seen]
    return fixed(fitting), fixed(matching)


def case(seed, n_tasks, n_rows, kinds):
    """Draw passes of rows and labels of tasks."""
    draw = random.Random(seed)
    classes = {task: draw.choice(kinds) for task in range(1, n_tasks + 1)}
    return [{task: draw.choice((0, 1, 2, 3, 3)) for task in classes} for _ in range(n_rows)], classes


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(0, 1))
def test_results_tell_no_label_that_records_do_not(tmp_path_factory, seed, n_rows, publishing):
    """Where no row or one row publishes strata, whoever tries all labels learns none from the results."""
    kinds = (1, 2, 3) if seed % 2 else (NONE, 2, 3)
    boards, classes = case(seed, 4, n_rows, kinds)
    before, after = attack(tmp_path_factory.mktemp("a"), boards, classes, publishing, kinds)
    assert after == before


@pytest.mark.parametrize("publishing", [0, 1])
def test_a_label_that_is_let_slip_is_found(tmp_path, monkeypatch, publishing):
    """The attack finds labels once strata are shown as they are recomputed."""
    from medgauge_lib.difficulty import _Policy

    monkeypatch.setattr(_Policy, "open", lambda policy, tasks: True)
    boards = [{1: 3, 2: 3, 3: 0, 4: 1, 5: 2}, {1: 3, 2: 1, 3: 0, 4: 2, 5: 2}]
    before, after = attack(tmp_path, boards, {1: 1, 2: 2, 3: 2, 4: 1, 5: 2}, publishing, (1, 2))
    assert len(after) > len(before)


USE = re.compile(r"\blabels\b")
"""A notebook that only takes the parameter does not use it."""


def users():
    """Notebooks of the project whose code uses the labels beyond the cell of parameters."""
    found = {}
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        made = nbformat.read(path, as_version=4)
        cells = [cell for cell in made.cells if cell.cell_type == "code" and not cell.metadata.get("tags")]
        if any(USE.search(cell.source) for cell in cells):
            found[path.stem] = made
    return found


def one_row_publishes():
    """Demo records of which the first in order of ids alone publishes strata."""
    records = raw(*WARD)
    for one in records[1:]:
        for scores in one["scores"]["by_subset"].values():
            scores.pop("by_difficulty_class", None)
    return records


def exchanged(records, labels):
    """Labels with two tasks exchanged that the publishing record cannot tell apart and another record can."""
    passes = [
        {task["task_key"]: sum(run["pass"] for run in task["runs"]) for task in one["run_outcomes"]}
        for one in records
    ]
    holdout = {task["task_key"] for task in records[0]["run_outcomes"] if task["subset"] == "holdout"}
    for one, other in itertools.combinations(sorted(holdout & set(labels)), 2):
        alike = passes[0][one] == passes[0][other]
        if alike and labels[one] != labels[other] and any(row.get(one) != row.get(other) for row in passes):
            return labels | {one: labels[other], other: labels[one]}
    raise AssertionError("no two tasks can be exchanged")


def saved(file, labels):
    """Write labels and return their file."""
    file.write_text(json.dumps(labels), encoding="utf-8")
    return file


def written(folder, notebooks, labels):
    """Every file of a public report that is built with these labels, its record of times aside.

    Of the PDF it is the document that is printed: Chromium writes times of its own into what it makes of it.
    """
    file = project(
        folder,
        notebooks,
        records=one_row_publishes(),
        benchmark=WARD[0],
        benchmark_version=json.dumps(WARD[1]),
        labels="../closed.json",
    )
    saved(folder / "closed.json", labels)
    (made,) = build(
        [file],
        out=folder / "reports",
        notebooks=folder / "notebooks",
        single_file=True,
        pdf=True,
        progress=False,
    )
    return {
        path.relative_to(made.folder).as_posix(): path.read_bytes()
        for path in made.folder.rglob("*")
        if path.is_file() and path.name != "run.json"
    }


def test_a_report_is_the_same_under_labels_that_records_allow(tmp_path, monkeypatch):
    """Labels that agree with all that the records publish give every page, table and file byte for byte."""
    monkeypatch.setattr("medgauge_lib.report.plan.require_browser", lambda: "")
    monkeypatch.setattr("medgauge_lib.report.make.printed", str.encode)
    labels = raw_labels(*WARD)
    other = exchanged(one_row_publishes(), labels)
    assert {"difficulty", "dimensions", "integrity"} <= set(users())
    here, there = (written(tmp_path / name, users(), one) for name, one in (("a", labels), ("b", other)))
    assert len(here) > 30
    assert {SINGLE, PAPER} <= set(here)
    assert sorted(here) == sorted(there)
    assert [name for name in here if here[name] != there[name]] == []


def test_a_stratum_that_is_let_slip_is_not_the_same(tmp_path):
    """The exchange is one that strata which no record publishes would show, were they let slip."""
    records = read_records(write(tmp_path / "records", *one_row_publishes()))
    found, labels = board(records), raw_labels(*WARD)
    shown = {
        publish: [
            difficulty(records, found, read_labels(saved(tmp_path / name, one)), publish=publish).to_frame()
            for name, one in (("a.json", labels), ("b.json", exchanged(one_row_publishes(), labels)))
        ]
        for publish in ("public", "internal")
    }
    assert shown["public"][0].equals(shown["public"][1])
    assert not shown["internal"][0].equals(shown["internal"][1])
