"""Labels of tasks: what the file may hold, what it is told to be wrong, and what never leaves."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from make_records import record, task_key, write

from medgauge_lib.errors import InputError
from medgauge_lib.labels import read_labels
from medgauge_lib.records import read_records

A, B, C = (task_key(k) for k in (1, 2, 3))


def written(folder, labels):
    """Return a file of labels."""
    path = folder / "1.0.0.labels.json"
    path.write_bytes(labels if isinstance(labels, bytes) else json.dumps(labels).encode())
    return path


def test_both_forms_are_read(tmp_path):
    """A class alone and an object with further labels may stand side by side."""
    labels = read_labels(
        written(tmp_path, {A: 2, B: {"difficulty": 4, "ward": "b", "acute": True, "beds": 3.5}})
    )
    assert (labels.n_tasks, labels.families) == (2, ("difficulty", "acute", "beds", "ward"))
    assert [labels.of(key) for key in (A, B, C)] == [2, 4, None]
    assert [labels.of(B, family) for family in labels.families] == [4, True, 3.5, "b"]
    assert labels.of(A, "ward") is None


def test_counts_are_over_the_tasks_asked_for(tmp_path):
    """Counts stand in the order of the labels and leave out tasks without one."""
    labels = read_labels(written(tmp_path, {A: 4, B: {"difficulty": 1, "ward": "b"}, C: 4}))
    assert list(labels.counts().items()) == [(1, 1), (4, 2)]
    assert labels.counts(tasks=(A, C, "tk-unknown")) == {4: 2}
    assert labels.counts("ward") == {"b": 1}
    with pytest.raises(ValueError, match="family must be one of difficulty, ward, but got 'wards'"):
        labels.counts("wards")


def test_representation_tells_no_label(tmp_path):
    """What a notebook prints of the labels names neither a task nor a label."""
    labels = read_labels(written(tmp_path, {A: 4, B: 1}))
    assert repr(labels) == str(labels) == "Labels(n_tasks=2, families=('difficulty',))"


def test_notes_count_what_does_not_meet(tmp_path):
    """Tasks without a label and labels without a task are told in numbers, never by key."""
    records = read_records(write(tmp_path / "r", record(tasks={1: [(1, 1)] * 3, 2: [(1, 1)] * 3})))
    labels = read_labels(written(tmp_path, {A: 1, C: 2}))
    notes = labels.notes(records, [A, B])
    assert notes == (
        "Tasks without a label: 1 of 2; they are in no class.",
        "Labels of tasks that no record holds: 1; they count nowhere.",
    )
    assert not any(key in note for key in (A, B, C) for note in notes)
    assert read_labels(written(tmp_path, {A: 1, B: 2})).notes(records, [A, B]) == ()
    assert labels.notes(records, [A])[0].startswith("Labels of tasks")


@pytest.mark.parametrize(
    ("labels", "pointer", "wrong"),
    [
        ({A: 5}, f"/{A}", "5 is no class"),
        ({A: 0}, f"/{A}", "0 is no class"),
        ({A: True}, f"/{A}", "true is no class"),
        ({A: 2.0}, f"/{A}", "2.0 is no class"),
        ({A: "2"}, f"/{A}", "'2' is no class"),
        ({A: None}, f"/{A}", "null is no class"),
        ({A: [2]}, f"/{A}", "an array is no class"),
        ({A: {"difficulty": 7}}, f"/{A}/difficulty", "7 is no class"),
        ({A: {}}, f"/{A}", "the class is missing"),
        ({A: {"Difficulty": 2}}, f"/{A}", "did you mean difficulty where 'Difficulty' stands"),
        ({A: {"dificulty": 2}}, f"/{A}", "did you mean difficulty where 'dificulty' stands"),
        ({A: {"difficulty": 2, "ward": None}}, f"/{A}/ward", "null is no label"),
        ({A: {"difficulty": 2, "ward": ["b"]}}, f"/{A}/ward", "an array is no label"),
        ({A: {"difficulty": 2, "ward": ""}}, f"/{A}/ward", "'' is no label"),
        ({A: {"difficulty": 2, "ward": "a\nb"}}, f"/{A}/ward", "is no label"),
        ({A: {"difficulty": 2, "": "b"}}, f"/{A}/", "is no name of a family"),
        ({A: {"difficulty": 1, "w": 1}, B: {"difficulty": 1, "w": True}}, f"/{B}/w", "true is true or false"),
        ({A: {"difficulty": 1, "w": 1}, B: {"difficulty": 1, "w": "x"}}, f"/{B}/w", "'x' is a text"),
        ({"task 1": 2}, "/task 1", "is no task key"),
        ({"TK-00000000000A": 2}, "/TK-00000000000A", "is no task key"),
        ([A], "", "an array, where labels are expected"),
        (2, "", "2, where labels are expected"),
        ({}, "", "an empty object"),
        (b"", "", "is empty"),
        (b"{", "", "is cut off, at line 1 column 1"),
        (b"\xef\xbb\xbf{}", "", "starts with a UTF-8 byte order mark"),
        (f'{{"{A}": 1, "{A}": 2}}'.encode(), "", f"has the key '{A}' twice in one object"),
        (f'{{"{A}": NaN}}'.encode(), "", "has NaN, which is no JSON number"),
        (f'{{"{A}": {{"difficulty": 1, "x": 1e999}}}}'.encode(), f"/{A}/x", "is no label"),
        (b'{"\xff": 1}', "", "is not UTF-8, at line 1 column"),
        (b"[" * 100_000, "", "is nested too deeply"),
    ],
)
def test_fault_is_named_in_two_lines(tmp_path, labels, pointer, wrong):
    """A fault names file, place, what is wrong and what would be right in at most two printable lines."""
    path = written(tmp_path, labels)
    with pytest.raises(InputError) as caught:
        read_labels(path)
    lines = str(caught.value).split("\n")
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
    assert str(path) in lines[0]
    assert wrong in str(caught.value)
    if pointer:
        assert caught.value.pointer == pointer


def test_labels_of_other_tasks_alone_are_refused(tmp_path):
    """Labels beside records that hold none of their tasks are those of something else, and are not used."""
    records = read_records(write(tmp_path / "r", record()))
    path = written(tmp_path, {B: 1, C: 2})
    assert read_labels(path).n_tasks == 2
    with pytest.raises(InputError, match=r"labels no task of bm-\S+ [0-9.]+\n  give the labels of that"):
        read_labels(path, records)
    assert read_labels(written(tmp_path, {A: 1, B: 2}), records).n_tasks == 2


@pytest.mark.parametrize("name", ["missing.json", "folder", "missing/x.json"])
def test_file_that_cannot_be_read_is_an_input_error(tmp_path, name):
    """A missing file or a folder in its place is said, not raised as an error of the system."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"no such file|is a folder"):
        read_labels(tmp_path / name)


@given(st.dictionaries(st.integers(0, 2**40), st.integers(1, 4), min_size=1))
def test_classes_come_back_as_written(tmp_path_factory, classes):
    """Every class is read as it was written, whatever the order, and counts add up to the tasks."""
    keys = {task_key(k): value for k, value in classes.items()}
    labels = read_labels(written(tmp_path_factory.mktemp("labels"), keys))
    assert {key: labels.of(key) for key in keys} == keys
    assert sum(labels.counts().values()) == labels.n_tasks == len(keys)
