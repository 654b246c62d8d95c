"""Matrices: void task versions leave every row together, order of files and tasks means nothing."""

from __future__ import annotations

import random

import by_definition
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from make_records import record, task, write

from medgauge_lib.errors import InputError
from medgauge_lib.outcomes import outcomes
from medgauge_lib.records import read_records

PASS, FAIL = [(1, 1)] * 3, [(0, 1)] * 3
VOID = [{"task_key": "tk-000000000002", "task_version": "1.0.0", "attribution": "task"}]


def taken(folder, *rows, subset="holdout"):
    """Outcomes of records written to a folder."""
    return outcomes(read_records(write(folder, *rows)), subset)


def test_a_listed_void_task_leaves_every_row(tmp_path):
    """A task version that one record lists as void is out of both rows."""
    tasks = {1: PASS, 2: PASS, 3: FAIL}
    found = taken(
        tmp_path,
        record("res-2026-01-01-a", tasks, voided_tasks=VOID),
        record("res-2026-01-01-b", tasks, model="other"),
    )
    assert found.tasks == ("tk-000000000001", "tk-000000000003")
    assert found.passes.tolist() == [[3, 3], [0, 0]]


@pytest.mark.parametrize("source", ["task", "environment"])
def test_an_initiative_side_error_makes_a_task_void_without_any_list(tmp_path, source):
    """One run with an error of the initiative takes the task version out of every row."""
    broken = {1: PASS, 2: [(1, 1), (0, 1, {"error": (source, "other")}), (1, 1)], 3: FAIL}
    found = taken(
        tmp_path,
        record("res-2026-01-01-a", broken),
        record("res-2026-01-01-b", {1: PASS, 2: PASS, 3: FAIL}, model="other"),
    )
    assert found.tasks == ("tk-000000000001", "tk-000000000003")


@pytest.mark.parametrize("source", ["model", "agent", "harness", "application", "provider"])
def test_a_subject_side_error_is_a_failed_run_and_stays(tmp_path, source):
    """An error of the subject fails the run; nothing is removed."""
    found = taken(tmp_path, record(tasks={1: [(1, 1, {"error": (source, "timeout")}), (1, 1), (1, 1)]}))
    assert found.passes.tolist() == [[2]]
    assert found.points.tolist() == [[3]]


def test_another_version_of_a_void_task_counts(tmp_path):
    """Void is a version of a task, not the task."""
    rows = record(tasks=[task(2, PASS, version="1.0.1")], voided_tasks=VOID)
    assert taken(tmp_path, rows).tasks == ("tk-000000000002",)


def test_subsets_are_never_pooled(tmp_path):
    """Each subset holds its own tasks only."""
    tasks = [task(1, PASS), task(2, FAIL, subset="dev"), task(3, PASS, subset="calib")]
    folder = write(tmp_path, record(tasks=tasks))
    records = read_records(folder)
    assert [outcomes(records, name).tasks for name in ("holdout", "dev", "calib")] == [
        ("tk-000000000001",),
        ("tk-000000000002",),
        ("tk-000000000003",),
    ]


def test_community_records_are_not_rows(tmp_path):
    """Only records that the site verified are rows; a community record is taken when asked for."""
    rows = (
        record("res-2026-01-01-a", {1: PASS}),
        record(
            "res-2026-01-01-b", {1: FAIL}, model="other", verified_by_site=False,
            verification_state="community_unverified",
        ),
    )  # fmt: skip
    records = read_records(write(tmp_path, *rows))
    assert outcomes(records).rows == ("res-2026-01-01-a",)
    assert outcomes(records, rows=["res-2026-01-01-b"]).rows == ("res-2026-01-01-b",)


def test_a_community_record_cannot_void_a_task(tmp_path):
    """An unverified record's list or error takes nothing out of the board."""
    theirs = {1: PASS, 2: [(0, 1, {"error": ("task", "other")}), (1, 1), (1, 1)]}
    community = record(
        "res-2026-01-01-b", theirs, model="other", verified_by_site=False,
        verification_state="community_unverified", voided_tasks=VOID,
    )  # fmt: skip
    found = taken(tmp_path, record("res-2026-01-01-a", {1: PASS, 2: PASS}), community)
    assert found.n_tasks == 2


@pytest.mark.parametrize(
    ("change", "subset", "message"),
    [
        ({}, "dev", "no task of subset dev\n  the records hold: holdout"),
        ({"voided_tasks": VOID}, "holdout", "every task version of subset holdout is void"),
        (
            {"verified_by_site": False, "verification_state": "community_unverified"},
            "holdout",
            "none of the records is verified by the site",
        ),
    ],
)
def test_nothing_left_to_count_is_an_error(tmp_path, change, subset, message):
    """No task or no row: an InputError that says what there is."""
    with pytest.raises(InputError, match=message):
        taken(tmp_path, record(tasks={2: PASS}, **change), subset=subset)


def test_unknown_subset_and_rows_are_refused(tmp_path):
    """A misspelt subset or row is a ValueError that names it."""
    records = read_records(write(tmp_path, record()))
    with pytest.raises(ValueError, match="subset must be one of dev, holdout, calib, but got 'test'"):
        outcomes(records, "test")
    with pytest.raises(ValueError, match="rows must name records of this set, but got \\['x'\\]"):
        outcomes(records, rows=["x"])


runs = st.lists(
    st.tuples(st.integers(0, 2), st.just(2), st.sampled_from([{}, {"veto_categories": ["unsafe_advice"]}])),
    min_size=3,
    max_size=3,
)


@given(st.lists(st.tuples(runs, runs), min_size=1, max_size=4), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_matrices_equal_plain_counting_in_any_order(tmp_path_factory, drawn, seed):
    """Passes and points are those of plain loops, whatever order tasks and runs have in the files."""
    shuffle = random.Random(seed).shuffle
    raws = []
    for name, column in (("a", 0), ("b", 1)):
        tasks = [task(k, pair[column]) for k, pair in enumerate(drawn)]
        shuffle(tasks)
        for one in tasks:
            shuffle(one["runs"])
        raws.append(record(f"res-2026-01-01-{name}", tasks, model=name))
    found = taken(tmp_path_factory.mktemp("set"), *raws)
    for column, raw in enumerate(raws):
        ordered = by_definition.tasks_of(raw, "holdout", set())
        assert found.tasks == tuple(one["task_key"] for one in ordered)
        for row, one in enumerate(ordered):
            assert found.passes[row, column] == sum(run["pass"] for run in one["runs"])
            shares = by_definition.task_value(one, "continuous_score")
            assert shares == pytest.approx(found.points[row, column] / 6)


def test_table_of_outcomes_has_a_line_a_task_and_row(tmp_path):
    """The tidy table repeats the matrices."""
    frame = taken(tmp_path, record(tasks={1: PASS, 2: FAIL})).to_frame()
    assert frame.to_dict("list") == {
        "task_key": ["tk-000000000001", "tk-000000000002"],
        "id": ["res-2026-01-01-a"] * 2,
        "passes": [3, 0],
        "points": [3, 0],
        "checkpoints": [3, 3],
    }
