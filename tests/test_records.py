"""Reading records: what good files become, and in which words bad ones are refused."""

from __future__ import annotations

import copy
import gc
import hashlib
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from beside import boards
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from medgauge_lib.errors import InputError
from medgauge_lib.records import RecordSet, read_records, row_labels
from tests.make_records import community, record, run, task, write

A, B, C = (f"res-2026-01-01-{letter}" for letter in "abc")
PASSES, FAILS = [(1, 1)] * 3, [(0, 1)] * 3


def refusal(source: Any) -> InputError:
    """Return the error with which a source is refused, after holding it to two printable lines."""
    with pytest.raises(InputError) as caught:
        read_records(source)
    lines = str(caught.value).split("\n")
    assert len(lines) <= 2
    assert all(line.isprintable() for line in lines)
    return caught.value


# What good files become


USAGE = {
    "actions": 4,
    "tool_calls": 3,
    "tokens_in": 20,
    "tokens_out": 10,
    "wall_clock_sec": 1.5,
    "amount": 0.25,
}


def test_a_record_becomes_one_subject(tmp_path):
    """Each column of the table of subjects reads the field it is named after."""
    runs = {7: [(1, 2, USAGE)] * 3}
    records = read_records(write(tmp_path, record(A, runs, run_conditions={"reasoning_effort": "high"})))
    assert (records.benchmark, records.benchmark_version) == ("bm-made", "1.0.0")
    assert records.subjects.to_dict("records") == [
        {
            "id": A,
            "label": "2026-01-01-a · hx-made 1.0.0",
            "model": "2026-01-01-a",
            "model_snapshot": "snapshot-1",
            "harness": "hx-made",
            "harness_version": "1.0.0",
            "reasoning_effort": "high",
            "verified": True,
            "organisation": "Synthetic test data",
            "amount_applicable": True,
            "currency": "EUR",
            "price_table_version": "synthetic-1",
            "created_at": "2026-01-01T00:00:00Z",
            "file": f"{A}.json",
            "sha256": hashlib.sha256((tmp_path / f"{A}.json").read_bytes()).hexdigest(),
        }
    ]


def test_a_record_becomes_its_runs(tmp_path):
    """Each column of the table of runs reads the field it is named after; a run may lack its usage."""
    failed = {"error": ("agent", "timeout"), "veto_categories": ["unsafe_advice", "altered_input"]}
    made = record(A, {7: [(1, 2, USAGE), (2, 2), (0, 2, failed)]})
    records = read_records(write(tmp_path, made))
    first, _, third = records.runs.to_dict("records")
    assert first == USAGE | {
        "id": A,
        "task_key": "tk-000000000007",
        "task_version": "1.0.0",
        "subset": "holdout",
        "run": 1,
        "passed": False,
        "checkpoints_passed": 1,
        "checkpoints_total": 2,
        "s": 0.5,
        "veto_categories": (),
        "error_attribution": None,
        "error_kind": None,
        "task_index": 0,
        "run_index": 0,
    }
    assert third["veto_categories"] == ("unsafe_advice", "altered_input")
    assert (third["error_attribution"], third["error_kind"]) == ("agent", "timeout")
    assert records.runs[list(USAGE)].isna().sum().to_dict() == dict.fromkeys(USAGE, 2)


def test_published_blocks_stay_as_they_came(tmp_path):
    """Everything but the runs is kept untouched, in the order of the file."""
    made = record(A)
    records = read_records(write(tmp_path, made))
    del made["run_outcomes"]
    assert records.published[A] == made
    assert list(records.published[A]) == list(made)
    assert records.paths[A] == tmp_path / f"{A}.json"


def test_rows_ascend_by_id_task_and_run(tmp_path):
    """Rows have their order whatever that of files, tasks and runs; only the places in the file tell it."""
    tasks = [task(key, PASSES) for key in (3, 1, 2)]
    tasks[1]["runs"].reverse()
    write(tmp_path, record(B, tasks))
    os.rename(tmp_path / f"{B}.json", tmp_path / "0.json")
    records = read_records(write(tmp_path, record(A, {1: PASSES, 2: PASSES, 3: PASSES})))
    assert list(records.subjects["id"]) == [A, B]
    order = records.runs[["id", "task_key", "run"]]
    assert order.equals(order.sort_values(["id", "task_key", "run"], ignore_index=True))
    last = records.runs[records.runs["id"] == B]
    assert list(last["task_index"]) == [1, 1, 1, 2, 2, 2, 0, 0, 0]
    assert list(last["run_index"]) == [2, 1, 0, 0, 1, 2, 0, 1, 2]


@given(st.randoms(use_true_random=False))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_of_files_given_changes_nothing(tmp_path, shuffler):
    """Files may be given in any order."""
    folder = write(tmp_path, record(A), record(B), community(C))
    files = sorted(folder.glob("*.json"))
    shuffler.shuffle(files)
    same(read_records(files), read_records(folder))


def same(left: RecordSet, right: RecordSet) -> None:
    """Hold two record sets to the same tables and blocks."""
    assert left.subjects.equals(right.subjects)
    assert left.runs.equals(right.runs)
    assert left.published == right.published


def test_a_whole_number_with_a_point_is_an_integer(tmp_path):
    """By JSON Schema 1.0 is an integer; it is read as one, and does not round the integers beside it."""
    made = record(A, {1: [(1, 1, {"tokens_in": 2**53 + 1}), (1, 1, {"tokens_in": 5.0}), (1, 1)]})
    made["run_outcomes"][0]["runs"][1] |= {"run": 2.0, "checkpoints_passed": 1.0, "checkpoints_total": 1.0}
    runs = read_records(write(tmp_path, made)).runs
    assert list(runs["checkpoints_passed"]) == [1, 1, 1]
    assert list(runs["run"]) == [1, 2, 3]
    assert runs["checkpoints_passed"].dtype == runs["checkpoints_total"].dtype == "int64"
    assert list(runs["tokens_in"][:2]) == [2**53 + 1, 5]
    assert runs["tokens_in"].isna()[2]


def test_hidden_files_labels_and_other_files_are_no_records(tmp_path):
    """A folder's records are its visible *.json files, those of task labels left out."""
    write(tmp_path, record(A))
    for name in (".hidden.json", "1.0.0.labels.json", "notes.txt", "record.json.bak"):
        (tmp_path / name).write_text("no record")
    (tmp_path / "older").mkdir()
    assert list(read_records(tmp_path).subjects["id"]) == [A]


def test_one_file_or_several_can_be_given(tmp_path):
    """A file alone, a list and an iterator are read like a folder."""
    file = write(tmp_path, record(A)) / f"{A}.json"
    for source in (file, str(file), [file], iter([str(file)])):
        same(read_records(source), read_records(tmp_path))


@pytest.mark.parametrize(
    ("flags", "verified"),
    [
        ({"verified_by_site": True}, True),
        ({"verified_by_site": False}, False),
        ({"verified_by_site": True, "verification_state": "community_unverified"}, False),
        ({"verified_by_site": False, "verification_state": "site_verified"}, False),
    ],
)
def test_a_record_is_verified_only_where_nothing_says_otherwise(tmp_path, flags, verified):
    """Both fields have to say that the site verified the record, where the second is there."""
    made = record(A)
    del made["verification_state"]
    assert read_records(write(tmp_path, made | flags)).subjects["verified"].tolist() == [verified]


# Labels


def row(row_id: str, **changes: Any) -> dict[str, Any]:
    """Return a record of model m-1, so that labels need something more."""
    return record(row_id, model="m-1", **changes)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([{}], ["m-1 · hx-made 1.0.0"]),
        ([{}, {"harness_version": "1.0.1"}], ["m-1 · hx-made 1.0.0", "m-1 · hx-made 1.0.1"]),
        (
            [
                {"run_conditions": {"reasoning_effort": "high"}},
                {"run_conditions": {"reasoning_effort": "low"}},
            ],
            ["m-1 · hx-made 1.0.0 (effort high)", "m-1 · hx-made 1.0.0 (effort low)"],
        ),
        (
            [{}, {"run_conditions": {"reasoning_effort": "low"}}],
            ["m-1 · hx-made 1.0.0", "m-1 · hx-made 1.0.0 (effort low)"],
        ),
        (
            [{"model_snapshot": "may"}, {"model_snapshot": "june"}],
            ["m-1 · hx-made 1.0.0 (may)", "m-1 · hx-made 1.0.0 (june)"],
        ),
        (
            [{"run_conditions": {"max_steps": 50}}, {"run_conditions": {"max_steps": 100}}],
            ["m-1 · hx-made 1.0.0 (max_steps 50)", "m-1 · hx-made 1.0.0 (max_steps 100)"],
        ),
        (
            [
                {"run_conditions": {"tools": ["a", "b"], "temperature": 0}},
                {"run_conditions": {"temperature": 0}},
            ],
            ["m-1 · hx-made 1.0.0 (tools a, b)", "m-1 · hx-made 1.0.0"],
        ),
        (
            [
                {"run_conditions": {"reasoning_effort": "low"}},
                {"run_conditions": {"reasoning_effort": "high"}, "model_snapshot": "may"},
                {"run_conditions": {"reasoning_effort": "high"}, "model_snapshot": "june"},
            ],
            [
                "m-1 · hx-made 1.0.0 (effort low)",
                "m-1 · hx-made 1.0.0 (effort high, may)",
                "m-1 · hx-made 1.0.0 (effort high, june)",
            ],
        ),
        ([{"row_id": A}, {"row_id": B}], [f"m-1 · hx-made 1.0.0 ({A})", f"m-1 · hx-made 1.0.0 ({B})"]),
        (
            [{}, {"verified_by_site": False}],
            ["m-1 · hx-made 1.0.0", "m-1 · hx-made 1.0.0 (not verified)"],
        ),
    ],
)
def test_labels_say_what_sets_rows_apart(changes, expected):
    """A label has model, harness and versions, and where rows read alike what differs (decision 2)."""
    rows = [row(**({"row_id": A} | changed)) for changed in changes]
    assert row_labels(rows) == expected
    assert row_labels(rows[::-1]) == expected[::-1]


@pytest.mark.parametrize(
    "efforts_and_snapshots",
    [
        [("low, x", "z"), ("low", "x"), ("low", "y")],
        [("low", "x"), ("low", "x"), (f"low, {A}0", "x")],
    ],
)
def test_labels_differ_even_where_texts_imitate_each_other(efforts_and_snapshots):
    """A text of a record that looks like the end of another row's label does not make two rows read alike."""
    rows = [
        row(f"{A}{n}", run_conditions={"reasoning_effort": effort}, model_snapshot=snapshot)
        for n, (effort, snapshot) in enumerate(efforts_and_snapshots)
    ]
    assert len(set(row_labels(rows))) == len(rows)


def test_labels_are_printable():
    """A line break or a control sign of a record does not reach a label."""
    assert row_labels([record(A, model="m\n\x1b[31m\u202e1")]) == ["m\\n\\x1b[31m\\u202e1 · hx-made 1.0.0"]


@given(
    st.lists(
        st.tuples(*[st.sampled_from(["", "a", "a · hx-made 1.0.0", "a, b", "b"])] * 3), min_size=1, max_size=6
    )
)
def test_labels_are_distinct_and_follow_their_row(texts):
    """Whatever models, snapshots and efforts are called, labels are distinct; row order changes none."""
    rows = [
        record(
            f"{A}{index}",
            model=model or "m",
            model_snapshot=snapshot or "s",
            run_conditions={"reasoning_effort": e},
        )
        for index, (model, snapshot, e) in enumerate(texts)
    ]
    made = row_labels(rows)
    assert len(set(made)) == len(made)
    assert row_labels(rows[::-1]) == made[::-1]


# Void task versions


def test_void_versions_are_listed_or_shown(tmp_path):
    """A verified record's list or initiative-side error makes a version void; a community record's not."""
    shown = [(1, 1), (0, 1, {"error": ("environment", "network")}), (1, 1)]
    listed = [
        {"task_key": f"tk-00000000000{key}", "task_version": "1.0.0", "attribution": "task"} for key in (4, 1)
    ]
    rows = [
        record(A, {1: PASSES, 2: PASSES, 3: PASSES}, voided_tasks=listed),
        record(B, {1: PASSES, 2: shown, 3: PASSES}, voided_tasks=listed),
        community(C, {1: PASSES, 2: PASSES, 3: [(0, 1, {"error": ("task", "other")})] * 3}),
    ]
    void = read_records(write(tmp_path, *rows)).void
    assert void.to_dict("records") == [
        {
            "task_key": "tk-000000000001",
            "task_version": "1.0.0",
            "attribution": "task",
            "listed_by": (A, B),
            "shown_by": (),
        },
        {
            "task_key": "tk-000000000002",
            "task_version": "1.0.0",
            "attribution": "environment",
            "listed_by": (),
            "shown_by": (B,),
        },
        {
            "task_key": "tk-000000000004",
            "task_version": "1.0.0",
            "attribution": "task",
            "listed_by": (A, B),
            "shown_by": (),
        },
    ]


def test_no_void_versions_is_an_empty_table(tmp_path):
    """Where nothing is void the table has its columns and no row."""
    void = read_records(write(tmp_path, record(A))).void
    assert list(void.columns) == ["task_key", "task_version", "attribution", "listed_by", "shown_by"]
    assert void.empty


def test_void_versions_may_be_missing_from_a_record(tmp_path):
    """Task sets are compared with void versions aside."""
    listed = [{"task_key": "tk-000000000002", "task_version": "1.0.0", "attribution": "task"}]
    folder = write(tmp_path, record(A, {1: PASSES}, voided_tasks=listed), record(B, {1: PASSES, 2: FAILS}))
    assert len(read_records(folder).subjects) == 2


def test_a_community_record_may_hold_other_tasks(tmp_path):
    """A record the site did not verify is listed apart and exempt from the rule of the same tasks."""
    folder = write(tmp_path, record(B, {1: PASSES}), community(A, {2: PASSES}), community(C, {3: PASSES}))
    assert len(read_records(folder).subjects) == 3


def test_a_community_record_may_repeat_a_subject(tmp_path):
    """Someone else's run of the same subject is no second row of the board."""
    records = read_records(write(tmp_path, record(A, model="m-1"), community(B, model="m-1")))
    assert list(records.subjects["label"]) == ["m-1 · hx-made 1.0.0", "m-1 · hx-made 1.0.0 (not verified)"]


def test_the_order_of_tools_makes_no_other_subject(tmp_path):
    """The same tools in another order are the same run conditions."""
    conditions = [{"tools": ["search", "shell"]}, {"tools": ["shell", "search"]}]
    first, second = (
        record(row_id, model="m-1", run_conditions=made)
        for row_id, made in zip((A, B), conditions, strict=True)
    )
    with pytest.raises(InputError, match="is the same subject under the same run conditions"):
        read_records(write(tmp_path / "both", first, second))
    assert row_labels([first, second | {"run_conditions": first["run_conditions"]}]) == row_labels(
        [first, second]
    )


# Bad files

GOOD = json.dumps(record(A)).encode()
BAD_BYTES: dict[str, tuple[bytes, str, str]] = {
    "empty": (b"", "is empty", "a record is one JSON object"),
    "blank": (b" \r\n\t", "is empty", "a record is one JSON object"),
    "no JSON": (
        b"id: res-1\n",
        "is not JSON: expected value, at line 1 column 1",
        "one JSON object in UTF-8",
    ),
    "cut off": (GOOD[:200], "is cut off, at line 1 column 200", "write the whole file anew"),
    "cut off in a sign": ('{"model": "é'.encode()[:-1], "is cut off, at line 1", "write the whole file anew"),
    "two documents": (GOOD + GOOD, "is not JSON: trailing characters, at line 1", "one JSON object"),
    "trailing comma": (b'{"id": 1,}', "is not JSON: trailing comma", "one JSON object"),
    "single quotes": (b"{'id': 1}", "is not JSON: key must be a string", "one JSON object"),
    "UTF-8 mark": (b"\xef\xbb\xbf" + GOOD, "starts with a UTF-8 byte order mark", "save it as UTF-8 without"),
    "UTF-16": (GOOD.decode().encode("utf-16"), "starts with a UTF-16 byte order mark", "save it as UTF-8"),
    "UTF-16 big": (
        b"\xfe\xff" + GOOD.decode().encode("utf-16-be"),
        "starts with a UTF-16 byte order",
        "UTF-8",
    ),
    "UTF-32": (GOOD.decode().encode("utf-32"), "starts with a UTF-32 byte order mark", "save it as UTF-8"),
    "UTF-16 without mark": (GOOD.decode().encode("utf-16-le"), "is not JSON", "in UTF-8"),
    "Latin-1": (
        GOOD.replace(b"Synthetic", b"Synth\xe9tic"),
        "is not UTF-8, at line 1 column",
        "save it as UTF-8",
    ),
    "encoded surrogate": (b'{"id": "\xed\xa0\x80"}', "is not UTF-8, at line 1 column", "save it as UTF-8"),
    "half a pair": (
        b'{"id": "\\ud800"}',
        "has half a surrogate pair as \\u escape",
        "write the character itself",
    ),
    "other half": (
        b'{"id": "\\udc00"}',
        "has half a surrogate pair as \\u escape",
        "write the character itself",
    ),
    "NaN": (
        b'{\n"s": NaN}',
        "has NaN, which is no JSON number, at line 2 column 6",
        "write a number, or leave the field out",
    ),
    "Infinity": (
        b'{"s": Infinity}',
        "has Infinity, which is no JSON number, at line 1 column 7",
        "leave the field out",
    ),
    "minus Infinity": (
        b'{"s": -Infinity}',
        "has -Infinity, which is no JSON number, at line 1",
        "leave the field out",
    ),
    "key twice": (
        b'{"id": 1, "id": 2}',
        "has the key 'id' twice in one object, at line 1",
        "keep one of the two",
    ),
    "key twice inside": (
        GOOD.replace(b'"run": 1,', b'"run": 1, "run": 1,', 1),
        "has the key 'run' twice in one object",
        "keep one of the two",
    ),
    "thousands of digits": (
        b'{"s": ' + b"9" * 5000 + b"}",
        "has a number with too many digits",
        "fits 64 bits",
    ),
    "huge exponent": (
        GOOD.replace(b'"s": 1.0', b'"s": 1e999', 1),
        "/s: a number beyond 64-bit",
        "from 0 to 1",
    ),
    "nested": (b"[" * 100_000, "is nested too deeply, at line 1 column", "about ten levels"),
    "nested and closed": (b'{"a":' * 500 + b"1" + b"}" * 500, "is nested too deeply", "about ten levels"),
    "raw line break": (
        b'{"id": "a\nb"}',
        "has a control character inside a text, at line 2",
        "an escape such as \\n",
    ),
    "null": (b"null", "null has the wrong type", "should be an object"),
    "array": (b"[]", "an array has the wrong type", "should be an object"),
    "number": (b"1e999", "a number beyond 64-bit floating point is too large", "should be an object"),
}


@pytest.mark.parametrize(("data", "wrong", "remedy"), BAD_BYTES.values(), ids=BAD_BYTES)
def test_bad_bytes_are_refused_in_two_lines(tmp_path, data, wrong, remedy):
    """A file that is no JSON record is refused with path, place, what is wrong and what would be right."""
    file = tmp_path / "bad.json"
    file.write_bytes(data)
    error = refusal(tmp_path)
    assert error.file == str(file)
    assert wrong in str(error)
    assert remedy in error.remedy


def test_a_fault_of_the_schema_names_file_place_and_the_number_of_others(tmp_path):
    """What the schema finds is told with file and pointer, and how many faults follow."""
    made = record(A, {1: [(1, 1), (1, 1, {"actions": "4"}), (1, 1, {"actions": -1})]})
    error = refusal(write(tmp_path, made))
    assert str(error) == (
        f"{tmp_path}/{A}.json: /run_outcomes/0/runs/1/actions: "
        "'4' has the wrong type (and 1 more in this file)\n"
        "  should be an integer from 0 to 9223372036854775807"
    )


def test_hostile_text_does_not_break_a_message(tmp_path):
    """A text with line breaks and terminal codes is quoted, cut and kept on its line."""
    error = refusal(write(tmp_path, record(A, run_mode="x\n\x1b[2J" + "y" * 10_000)))
    assert "'x\\n\\x1b[2J" in error.wrong
    assert len(str(error)) < 400


def test_the_first_bad_file_in_order_is_named(tmp_path):
    """Of several bad files the first by name is told."""
    for name in ("b.json", "a.json", "c.json"):
        (tmp_path / name).write_bytes(b"{")
    assert refusal(tmp_path).file == str(tmp_path / "a.json")


# Bad places


def test_an_empty_folder_is_refused(tmp_path):
    """A folder without a record is told so."""
    (tmp_path / "1.0.0.labels.json").write_text("{}")
    error = refusal(tmp_path)
    assert (
        str(error)
        == f"{tmp_path}: the folder holds no record (*.json)\n  put one JSON file a record directly into it"
    )


def test_a_folder_above_the_records_is_told_where_they_are(tmp_path):
    """Three folders up, as imports and demo sets lie, the first folder of records is named, no closed one."""
    folder = tmp_path / "records" / "bm-a" / "1.0.0"
    folder.mkdir(parents=True)
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "import.json").write_text("{}")
    (folder.parent / "1.0.0.labels.json").write_text("{}")
    (folder / "a.json").write_text('{"run_outcomes": []}')
    assert str(refusal(tmp_path)).endswith(f"(*.json)\n  give a folder that does, such as {folder}")


def test_no_file_is_refused():
    """An empty list of files is told so."""
    assert "no record file was given" in str(refusal([]))


@pytest.mark.parametrize("name", ["missing", "missing.json", "there.json/inside"])
def test_a_missing_path_is_refused(tmp_path, name):
    """A path at which nothing is names itself."""
    (tmp_path / "there.json").write_bytes(GOOD)
    error = refusal(tmp_path / name)
    assert error.file == str(tmp_path / name)
    assert error.wrong == "there is no such file or folder"


def test_a_folder_named_like_a_record_is_refused(tmp_path):
    """A folder whose name ends in .json is told to be one."""
    (write(tmp_path, record(A)) / "b.json").mkdir()
    error = refusal(tmp_path)
    assert error.file == str(tmp_path / "b.json")
    assert error.wrong == "is a folder, where a record file is expected"


def test_a_folder_among_files_is_refused(tmp_path):
    """Several sources are files, not folders."""
    folder = write(tmp_path, record(A))
    assert refusal([folder]).wrong == "is a folder, where a record file is expected"


def test_a_link_to_nowhere_is_refused(tmp_path):
    """A dangling link names itself."""
    (tmp_path / "a.json").symlink_to(tmp_path / "gone.json")
    error = refusal(tmp_path)
    assert (error.file, error.wrong) == (str(tmp_path / "a.json"), "there is no such file or folder")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    """A named pipe would block for ever and is not opened."""
    os.mkfifo(tmp_path / "a.json")
    assert refusal(tmp_path).wrong == "is not a regular file"


@pytest.mark.parametrize(
    ("raised", "wrong"),
    [
        (PermissionError(13, "Permission denied"), "may not be read"),
        (OSError(5, "Input/output error"), "cannot be read: Input/output error"),
        (
            OSError(40, "Too many levels of symbolic links"),
            "cannot be read: Too many levels of symbolic links",
        ),
    ],
)
@pytest.mark.parametrize("opened", ["file", "folder"])
def test_what_the_system_does_not_let_read_is_refused(tmp_path, monkeypatch, raised, wrong, opened):
    """No read permission and other troubles of the system become one refusal."""
    write(tmp_path, record(A))

    def refuse(*_: object) -> None:
        raise raised

    if opened == "file":
        monkeypatch.setattr(Path, "read_bytes", refuse)
    else:
        monkeypatch.setattr(os, "listdir", refuse)
    error = refusal(tmp_path)
    assert error.wrong == wrong
    assert error.file == str(tmp_path / f"{A}.json" if opened == "file" else tmp_path)


def test_a_loop_of_links_is_refused(tmp_path):
    """A link to itself is told, not followed."""
    (tmp_path / "a.json").symlink_to(tmp_path / "a.json")
    assert "cannot be read" in refusal(tmp_path).wrong


@pytest.mark.parametrize("name", [b"a\nb.json", b"a\xff.json", "a\u202e.json".encode()])
def test_a_file_name_that_does_not_print_is_refused(tmp_path, name):
    """A file name that would break a message or an output is refused first."""
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))).write_bytes(GOOD)
    assert "cannot be printed" in refusal(tmp_path).wrong


def test_a_name_with_a_zero_sign_is_refused():
    """A path no system can hold is refused like any other."""
    assert "cannot be printed" in refusal(["a\0b.json"]).wrong
    assert "cannot be printed" in refusal("a\0b").wrong
    assert "cannot be printed" in refusal("a\0b/c.json").wrong


def test_a_folder_name_that_does_not_print_is_escaped(tmp_path):
    """A folder may have any name; messages show it on their line."""
    folder = write(tmp_path / "a\nb", record(A))
    assert len(read_records(folder).subjects) == 1
    (folder / "b.json").write_bytes(b"")
    assert refusal(folder).file == f"{tmp_path}/a\\nb/b.json"


# Records that do not make one board


@pytest.mark.parametrize(
    ("field", "here", "there"), [("benchmark", "bm-b", "bm-made"), ("benchmark_version", "1.10.0", "1.0.0")]
)
def test_mixed_boards_are_refused(tmp_path, field, here, there):
    """Records of two benchmarks or versions are never put together; both files are named."""
    error = refusal(write(tmp_path, record(A), record(B, **{field: here})))
    assert error.file == str(tmp_path / f"{B}.json")
    assert error.pointer == f"/{field}"
    assert error.wrong == f"is {here}, but {A}.json is {there}"
    assert "folder of their own" in error.remedy


def test_an_id_twice_is_refused(tmp_path):
    """Two records of one id name both files."""
    write(tmp_path, record(A))
    (tmp_path / "z.json").write_text(json.dumps(record(A, model="m-2")))
    error = refusal(tmp_path)
    assert (error.file, error.pointer) == (str(tmp_path / "z.json"), "/id")
    assert error.wrong == f"{A} is also the id of {A}.json"


def test_a_file_given_twice_is_refused(tmp_path):
    """The same file twice is an id twice."""
    file = write(tmp_path, record(A)) / f"{A}.json"
    assert refusal([file, file]).pointer == "/id"


def test_a_subject_twice_under_the_same_conditions_is_refused(tmp_path):
    """Two verified records of one subject under the same run conditions name both files (decision 2)."""
    conditions = {"tools": ["a", "b"], "temperature": 1}
    made = [record(i, model="m-1", run_conditions=conditions) for i in (A, B)]
    made[1]["run_conditions"] = dict(reversed(made[1]["run_conditions"].items())) | {"temperature": 1.0}
    error = refusal(write(tmp_path, *made))
    assert (error.file, error.pointer) == (str(tmp_path / f"{B}.json"), "/run_conditions")
    assert f"the same run conditions as {A}.json: 'm-1' in hx-made 1.0.0" in error.wrong


@pytest.mark.parametrize(
    "changes",
    [{"model_snapshot": "june"}, {"harness_version": "1.0.1"}, {"run_conditions": {"max_steps": 51}}],
)
def test_a_subject_under_other_conditions_is_another_row(tmp_path, changes):
    """What sets a subject or its conditions apart makes it a row of its own."""
    conditions = {"run_conditions": {"max_steps": 50}}
    folder = write(
        tmp_path, record(A, model="m-1", **conditions), record(B, model="m-1", **(conditions | changes))
    )
    assert len(read_records(folder).subjects) == 2


@pytest.mark.parametrize(
    ("tasks", "wrong"),
    [
        ([task(1, PASSES)], "1 only there (first tk-000000000002 1.0.0 holdout)"),
        ([task(k, PASSES) for k in (1, 2, 3)], "1 only here (first tk-000000000003 1.0.0 holdout)"),
        (
            [task(1, PASSES), task(2, PASSES, version="1.1.0")],
            "1 only here (first tk-000000000002 1.1.0 holdout), "
            "1 only there (first tk-000000000002 1.0.0 holdout)",
        ),
        (
            [task(1, PASSES), task(2, PASSES, subset="dev")],
            "1 only here (first tk-000000000002 1.0.0 dev), "
            "1 only there (first tk-000000000002 1.0.0 holdout)",
        ),
        (
            [task(k, PASSES) for k in (1, 2, 6, 5, 4, 3)],
            "4 only here (first tk-000000000003 1.0.0 holdout; tk-000000000004 1.0.0 holdout; "
            "tk-000000000005 1.0.0 holdout)",
        ),
    ],
)
def test_unequal_task_sets_are_refused(tmp_path, tasks, wrong):
    """Other tasks, versions or subsets are refused with the first that differ and both files (decision 3)."""
    error = refusal(write(tmp_path, record(A, {1: PASSES, 2: PASSES}), record(B, tasks)))
    assert (error.file, error.pointer) == (str(tmp_path / f"{B}.json"), "/run_outcomes")
    assert error.wrong == f"does not hold the same tasks as {A}.json: {wrong}"


@pytest.mark.parametrize("source", [3, None, 1.5])
def test_a_source_of_another_kind_is_a_callers_mistake(source):
    """What is neither a path nor files is a TypeError that names the argument."""
    with pytest.raises(TypeError, match="source must be a path or files"):
        read_records(source)


# Whatever comes in

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**30), max_value=10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["m-1", "1.0.0", "holdout", "tk-000000000001", "2026-01-01", 10**400]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def places(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value of a document."""
    steps = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    return [path, *(deeper for step, inner in steps for deeper in places(inner, (*path, step)))]


def changed(document: Any, path: tuple[Any, ...], act: Callable[[Any, Any], None]) -> Any:
    """Return a copy of the document on whose value at `path` something was done."""
    document = {"": copy.deepcopy(document)}
    holder = document
    for step in ("", *path)[:-1]:
        holder = holder[step]
    act(holder, ("", *path)[-1])
    return document.get("")


FULL = record(
    A,
    [
        task(1, [(1, 2, {"actions": 1, "amount": 0.5, "error": ("agent", "other")})] * 3),
        task(2, PASSES, subset="dev"),
    ],
    voided_tasks=[{"task_key": "tk-000000000002", "task_version": "1.0.0", "attribution": "task"}],
    scores={"dimensions": {"m3_efficiency": {"action_definition": "a step", "cost_per_success": 1.5}}},
)
PLACES = places(FULL)


def read_or_refuse(folder: Path, data: bytes) -> None:
    """Read a file with these bytes; any error but a refusal of two lines is a failure."""
    (folder / "a.json").write_bytes(data)
    try:
        told = read_records(folder).runs["id"].iloc[0]
    except InputError as error:
        told = str(error)
    assert len(told.split("\n")) <= 2
    assert told.replace("\n", "").isprintable()
    assert len(told) < 2_000


@given(st.sampled_from(PLACES), VALUES)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_anywhere_is_read_or_refused(tmp_path, path, value):
    """Whatever value stands in the place of another, nothing but a refusal comes out."""
    made = changed(FULL, path, lambda holder, step: holder.__setitem__(step, value))
    read_or_refuse(tmp_path, json.dumps(made).encode())


@given(st.sampled_from(PLACES), st.text(max_size=12), VALUES)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_field_missing_or_added_is_read_or_refused(tmp_path, path, name, value):
    """Whatever field is taken out or put in, nothing but a refusal comes out."""
    read_or_refuse(
        tmp_path, json.dumps(changed(FULL, path, lambda holder, step: holder.__delitem__(step))).encode()
    )

    def add(holder: Any, step: Any) -> None:
        if isinstance(holder[step], dict):
            holder[step][name] = value
        elif isinstance(holder[step], list):
            holder[step].append(value)

    read_or_refuse(tmp_path, json.dumps(changed(FULL, path, add)).encode())


@given(
    st.integers(0, 2**32 - 1),
    st.binary(min_size=1, max_size=6),
    st.sampled_from(["cut", "replace", "insert", "drop"]),
)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_anywhere_are_read_or_refused(tmp_path, seed, noise, act):
    """Whatever bytes are cut off, replaced, put in or dropped, nothing but a refusal comes out."""
    data = json.dumps(FULL).encode()
    at = random.Random(seed).randrange(len(data))
    rest = {
        "cut": b"",
        "replace": noise + data[at + len(noise) :],
        "insert": noise + data[at:],
        "drop": data[at + 1 :],
    }
    read_or_refuse(tmp_path, data[:at] + rest[act])


@given(st.binary(max_size=64))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_file_is_read_or_refused(tmp_path, data):
    """A file of any bytes is refused, not crashed on."""
    read_or_refuse(tmp_path, data)


@pytest.mark.parametrize("collects", [True, False])
def test_the_collector_of_garbage_is_left_as_it_was(tmp_path, collects):
    """Reading keeps it still only while it reads, also where a file is refused."""
    (tmp_path / "a.json").write_text("{")
    if not collects:
        gc.disable()
    try:
        with pytest.raises(InputError):
            read_records(tmp_path)
        assert gc.isenabled() is collects
    finally:
        gc.enable()


# Real records


@pytest.mark.parametrize("folder", boards())
def test_real_records_read_as_their_files_say(folder):
    """Every run of the real boards stands in the table as the standard library reads it from the file."""
    records = read_records(folder)
    told = [
        (made["id"], outcome["task_key"], one["run"], one["pass"], one["checkpoints_passed"], one["s"])
        for made in (json.loads(file.read_text()) for file in folder.glob("*.json"))
        for outcome in made["run_outcomes"]
        for one in outcome["runs"]
    ]
    columns = ["id", "task_key", "run", "passed", "checkpoints_passed", "s"]
    assert list(records.runs[columns].itertuples(index=False, name=None)) == sorted(told)
    assert len(set(records.subjects["label"])) == len(records.subjects)
    assert records.void.empty


def test_made_runs_pass_by_definition():
    """The builder of test records passes a run exactly where the method does."""
    assert run(1, 2, 2)["pass"] is True
    assert run(1, 1, 2)["pass"] is False
    assert run(1, 2, 2, {"veto_categories": ["unsafe_advice"]})["pass"] is False
    assert run(1, 2, 2, {"error": ("agent", "timeout")})["pass"] is False
