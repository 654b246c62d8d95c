"""The demo set: every field of the schema, the structure a board can have, and the same bytes everywhere."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

import by_definition
import pytest
import yaml

from medgauge_lib import demo
from medgauge_lib.board import Board, board
from medgauge_lib.checks import check
from medgauge_lib.demo import plan
from medgauge_lib.demo.published import draft
from medgauge_lib.errors import InputError
from medgauge_lib.estimators import SUBJECT_SIDE, VETO_CATEGORIES
from medgauge_lib.records import RecordSet, read_records
from medgauge_lib.schema import schema

PARAMS = sorted((Path(__file__).parents[1] / "params").glob("demo-*.yaml"))
WARD, LAB = "bm-demo-ward/1.1.0", "bm-demo-lab/0.1.0"

FROZEN = "4e9e231100bc774e0ece7c313893973d6d0294087ce8aaac8e6165d67919d005"
"""SHA-256 over names and bytes of all files, recorded from this generator; it changes only on purpose."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo set as written."""
    target = tmp_path_factory.mktemp("written") / "demo"
    demo.write(target)
    return target


@pytest.fixture(scope="module")
def documents(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Records of each board, in ascending order of id."""
    return {
        f"{benchmark}/{version}": [
            json.loads(path.read_text("utf-8")) for path in sorted((folder / benchmark / version).iterdir())
        ]
        for benchmark, version in demo.benchmarks()
    }


@pytest.fixture(scope="module")
def ward(folder: Path) -> RecordSet:
    """The board that shows most."""
    return read_records(folder / WARD)


@pytest.fixture(scope="module")
def ward_board(ward: RecordSet) -> Board:
    """Its holdout subset, compared."""
    return board(ward)


def everything(documents: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Records of all boards."""
    return [record for records in documents.values() for record in records]


def runs_of(record: dict[str, Any], void: set[tuple[str, str]] = frozenset()) -> Iterator[dict[str, Any]]:
    """Runs of a record whose task version is not void."""
    for task in record["run_outcomes"]:
        if (task["task_key"], task["task_version"]) not in void:
            yield from task["runs"]


def void_of(documents: dict[str, list[dict[str, Any]]], name: str) -> set[tuple[str, str]]:
    """Void task versions of one board, by definition."""
    return by_definition.void_tasks([record for record in documents[name] if record["verified_by_site"]])


def digest(folder: Path) -> str:
    """SHA-256 over names and bytes of all files of a folder."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            total.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def occurring(part: dict[str, Any], value: Any, place: str, found: set[str]) -> None:
    """Collect what a value uses of a schema: fields by definition, enum values, both booleans, types."""
    if "$ref" in part:
        name = part["$ref"].removeprefix("#/$defs/")
        occurring(schema()["$defs"][name], value, name, found)
        return
    for option in part.get("oneOf", ()):
        if _fits(option, value):
            found.add(f"{place} {_kind(option)}")
            occurring(option, value, place, found)
    if "enum" in part or part.get("type") == "boolean":
        found.add(f"{place} = {json.dumps(value)}")
    if isinstance(value, dict) and part.get("type") == "object":
        known = part.get("properties", {})
        for name, inner in value.items():
            found.add(f"{place}/{name if name in known or 'propertyNames' in part else '*'}")
            below = known.get(name, part.get("additionalProperties"))
            occurring(below, inner, f"{place}/{name if name in known else '*'}", found)
    if isinstance(value, list):
        for item in value:
            found.add(f"{place}[]")
            occurring(part["items"], item, f"{place}[]", found)


def demanded(part: dict[str, Any], place: str) -> Iterator[str]:
    """All that a schema allows, in the words of `occurring`."""
    if "$ref" in part:
        return
    for option in part.get("oneOf", ()):
        yield f"{place} {_kind(option)}"
        yield from demanded(option, place)
    if "const" not in part:
        values = [True, False] if part.get("type") == "boolean" else part.get("enum", ())
        yield from (f"{place} = {json.dumps(value)}" for value in values)
    for name, inner in part.get("properties", {}).items():
        yield f"{place}/{name}"
        yield from demanded(inner, f"{place}/{name}")
    if isinstance(part.get("additionalProperties"), dict):
        names = _resolved(part["propertyNames"])["enum"] if "propertyNames" in part else ("*",)
        yield from (f"{place}/{name}" for name in names)
        yield from demanded(part["additionalProperties"], f"{place}/*")
    if "items" in part:
        yield f"{place}[]"
        yield from demanded(part["items"], f"{place}[]")


def _resolved(part: dict[str, Any]) -> dict[str, Any]:
    return schema()["$defs"][part["$ref"].removeprefix("#/$defs/")] if "$ref" in part else part


def _fits(option: dict[str, Any], value: Any) -> bool:
    if "const" in option:
        return bool(value == option["const"])
    types = {"null": type(None), "object": dict, "number": (int, float)}
    return isinstance(value, types[option["type"]])


def _kind(option: dict[str, Any]) -> str:
    return f"is {json.dumps(option['const']) if 'const' in option else option['type']}"


def test_every_field_and_value_of_the_schema_occurs(documents: dict[str, list[dict[str, Any]]]) -> None:
    """Each property, each alternative, each enumerated value and both booleans stand in some record."""
    wanted = set(demanded(schema(), ""))
    for name, part in schema()["$defs"].items():
        wanted |= set(demanded(part, name))
    found: set[str] = set()
    for record in everything(documents):
        occurring(schema(), record, "", found)
    assert len(wanted) > 250
    assert sorted(wanted - found) == []


def test_every_board_is_clean(folder: Path) -> None:
    """The demo keeps every rule; only things worth knowing are noted."""
    for benchmark, version in demo.benchmarks():
        findings = check(read_records(folder / benchmark / version))
        assert [finding for finding in findings if finding.severity != "note"] == []


def test_everything_says_that_it_is_synthetic(documents: dict[str, list[dict[str, Any]]]) -> None:
    """Each record says so in organisation and note, and names no model but the demo's own."""
    for record in everything(documents):
        assert record["submitted_by"]["org"] == "Synthetic demonstration data (no real subject)"
        assert "no real" in record["verification_note"]
        assert record["model"].startswith("demo-model-")
        assert record["harness"].startswith("hx-demo-")
        assert record["benchmark"].startswith("bm-demo-")


def test_sizes(documents: dict[str, list[dict[str, Any]]]) -> None:
    """Boards have the sizes of real ones: subjects by live tasks of each subset."""
    sizes = {
        name: (len(records), [score["n"] for score in records[0]["scores"]["by_subset"].values()])
        for name, records in documents.items()
    }
    assert sizes == {WARD: (14, [12, 60, 6]), "bm-demo-ward/1.0.0": (8, [40]), LAB: (5, [20])}
    assert [list(records[0]["scores"]["by_subset"]) for records in documents.values()] == [
        ["dev", "holdout", "calib"],
        ["holdout"],
        ["holdout"],
    ]


def test_groups_overlap(ward_board: Board) -> None:
    """Three to six groups, and some row stands in more than one."""
    assert 3 <= len(ward_board.groups) <= 6
    assert any(len(row.letters) > 1 for row in ward_board.rows)


def test_a_board_that_cannot_tell_its_rows_apart(folder: Path) -> None:
    """Twenty tasks and five rows give one group, although pass^3 reaches from 11 to 17 tasks."""
    lab = board(read_records(folder / LAB))
    assert len(lab.groups) == 1
    assert {row.pass_pow_3.n_successes for row in lab.rows} == {11, 12, 16, 17}


def test_equal_scores_with_equal_and_with_different_letters(ward_board: Board) -> None:
    """Equal pass^3 occurs among rows of the same letters and among rows of different letters."""
    by_score: dict[Fraction, list[tuple[str, ...]]] = {}
    for row in ward_board.rows:
        by_score.setdefault(row.pass_pow_3.value, []).append(row.letters)
    tied = [letters for letters in by_score.values() if len(letters) > 1]
    assert any(len(set(letters)) == 1 for letters in tied)
    assert any(len(set(letters)) > 1 for letters in tied)


def test_cost_moves_a_row_above_one_with_a_higher_score(ward_board: Board) -> None:
    """Inside one class a cheaper row with a lower pass^3 comes first."""
    neighbours = list(zip(ward_board.rows, ward_board.rows[1:], strict=False))
    moved = [(a, b) for a, b in neighbours if a.pass_pow_3.value < b.pass_pow_3.value]
    assert moved
    for above, below in moved:
        assert above.letters == below.letters
        assert above.cost_per_success < below.cost_per_success


def test_amounts_that_cannot_be_compared_are_noted(ward_board: Board) -> None:
    """A class with two currencies keeps the order of pass^3, and the board says so."""
    (note,) = ward_board.notes
    assert "EUR" in note
    assert "USD" in note
    classes = [list(rows) for _, rows in groupby(ward_board.rows, key=lambda row: row.letters)]
    assert any({row.currency for row in rows} >= {"EUR", "USD"} for rows in classes)


def test_a_passed_exam_an_all_pass_and_an_all_fail_row(ward_board: Board) -> None:
    """One row passes all 60 tasks and may claim 0.05^(1/60); another passes no run, so has no cost."""
    first, last = ward_board.rows[0], ward_board.rows[-1]
    assert first.exam.outcome == "passed"
    assert first.exam.claimable_lower_bound == pytest.approx(0.05 ** (1 / 60))
    assert float(first.task_pass_rate) == 1
    assert float(last.task_pass_rate) == 0
    assert last.currency == "EUR"
    assert str(last.cost_per_success) == "no task with a passing run"


def test_rows_differ_in_stability_and_in_the_order_of_the_continuous_score(ward_board: Board) -> None:
    """Instability reaches from 0 to beyond 0.4, and the continuous score orders rows in another way."""
    instability = [float(row.instability) for row in ward_board.rows]
    assert min(instability) == 0
    assert max(instability) > 0.4
    rates = [row.task_pass_rate.value for row in ward_board.rows]
    by_rate = sorted(range(len(rates)), key=lambda k: rates[k])
    scores = [ward_board.rows[k].continuous_score.value for k in by_rate]
    assert scores != sorted(scores)


def test_subjects_that_read_alike_are_told_apart(ward: RecordSet) -> None:
    """One model in two harnesses, two efforts and two snapshots give labels of their own."""
    subjects = ward.subjects
    assert subjects["label"].is_unique
    per_model = subjects.groupby("model")
    assert (per_model["harness"].nunique() > 1).any()
    assert (per_model["reasoning_effort"].nunique() > 1).any()
    alike = subjects.groupby(["model", "harness"])["model_snapshot"].nunique()
    assert (alike > 1).any()


def test_community_records_stand_apart(
    ward: RecordSet, ward_board: Board, documents: dict[str, list[dict[str, Any]]]
) -> None:
    """Two records are not verified, one amid the ids and one with fewer tasks; neither has letters."""
    community = ward.subjects.index[~ward.subjects["verified"]].tolist()
    assert len(community) == 2
    assert 0 < community[0] < len(ward.subjects) - 2
    assert {row.id for row in ward_board.unranked} == set(ward.subjects["id"][community])
    lengths = Counter(len(documents[WARD][k]["run_outcomes"]) for k in community)
    assert lengths == {
        len(documents[WARD][0]["run_outcomes"]): 1,
        len(documents[WARD][0]["run_outcomes"]) - 4: 1,
    }
    assert all("board" not in documents[WARD][k] for k in community)


def test_void_task_versions_of_each_kind(ward: RecordSet) -> None:
    """Two are shown by a run, one is only listed, every ranked record lists all; both attributions occur."""
    void = ward.void
    assert sorted(map(len, void["shown_by"])) == [0, 1, 1]
    assert set(void["attribution"]) == {"task", "environment"}
    assert {len(listed) for listed in void["listed_by"]} == {int(ward.subjects["verified"].sum())}


def test_a_draft_may_leave_a_void_task_to_scoring() -> None:
    """One of the void task versions is shown by a run alone before the set is scored."""
    (unlisted,) = [(void, task) for void, task in plan.WARD_1_1.void_tasks() if not void.listed]
    drafts = [draft(plan.WARD_1_1, subject) for subject in plan.WARD_1_1.subjects if subject.verified]
    listed = {entry["task_key"] for record in drafts for entry in record["voided_tasks"]}
    assert unlisted[1].key not in listed
    assert unlisted[1].key in {key for key, _ in by_definition.void_tasks(drafts)}


def test_every_veto_and_error_occurs_in_holdout_runs_that_count(ward_board: Board) -> None:
    """The board's own rows show each veto category and each attribution on the subject's side."""
    assert {name for row in ward_board.rows for name in row.tallies.vetoes} == set(VETO_CATEGORIES)
    assert {name for row in ward_board.rows for name in row.tallies.errors} == set(SUBJECT_SIDE)


def test_a_run_that_did_all_and_still_fails(ward: RecordSet) -> None:
    """An error fails a run whose checkpoints all passed, and its s stays 1 (decision 1)."""
    runs = ward.runs
    complete = runs["checkpoints_passed"] == runs["checkpoints_total"]
    failed = runs[complete & runs["error_kind"].notna() & (runs["veto_categories"].map(len) == 0)]
    assert len(failed) > 0
    assert not failed["passed"].any()
    assert (failed["s"] == 1).all()


def test_one_record_has_no_dimensions(documents: dict[str, list[dict[str, Any]]]) -> None:
    """A record without dimensions stands beside records with all six blocks."""
    carried = [set(record["scores"].get("dimensions", ())) for record in documents[WARD]]
    assert set() in carried
    assert max(map(len, carried)) == 6


def test_failure_counts_add_up_to_the_failed_runs(documents: dict[str, list[dict[str, Any]]]) -> None:
    """Reasons are counted over all live runs of the record that fail."""
    for name, records in documents.items():
        void = void_of(documents, name)
        for record in records:
            failed = sum(not run["pass"] for run in runs_of(record, void))
            assert sum(record["failure_attribution"].values()) == failed


def test_veto_hits_add_up_to_the_categories(documents: dict[str, list[dict[str, Any]]]) -> None:
    """Constraints of both lists together are hit as often as the categories over all live runs."""
    for name, records in documents.items():
        void = void_of(documents, name)
        for record in records:
            hits = Counter(record["scores"]["veto_hits"]) + Counter(record["scores"]["assertion_veto_hits"])
            assert hits.total() == sum(len(run["veto_categories"]) for run in runs_of(record, void))


def test_strata_add_up(folder: Path, documents: dict[str, list[dict[str, Any]]]) -> None:
    """Strata are those of the labels; their n and passing runs add up to the subset's."""
    for name, records in documents.items():
        for record in records:
            for score in record["scores"]["by_subset"].values():
                strata = score["by_difficulty_class"].values()
                assert sum(stratum["n"] for stratum in strata) == score["n"]
                for rate, per_task in (("task_pass_rate", 3), ("pass_pow_3", 1)):
                    whole = sum(round(stratum["n"] * stratum[rate] * per_task) for stratum in strata)
                    assert whole == round(score["n"] * score[rate] * per_task)
        labels = json.loads((folder / f"{name}.labels.json").read_text("utf-8"))
        record = records[0]
        void = void_of(documents, name)
        classes = Counter(
            str(label["difficulty"] if isinstance(label, dict) else label)
            for task in by_definition.tasks_of(record, "holdout", void)
            if (label := labels.get(task["task_key"])) is not None
        )
        published = record["scores"]["by_subset"]["holdout"]["by_difficulty_class"]
        missing = 1 if name == LAB else 0
        assert sum(stratum["n"] - classes[key] for key, stratum in published.items()) == missing


def test_labels_have_both_forms_and_a_class_of_one_task(
    folder: Path, documents: dict[str, list[dict[str, Any]]]
) -> None:
    """Classes 1 to 4 occur, some tasks have further labels, and one class holds a single task."""
    labels = json.loads((folder / f"{WARD}.labels.json").read_text("utf-8"))
    keys = {task["task_key"] for record in documents[WARD] for task in record["run_outcomes"]}
    assert set(labels) == keys
    assert {type(label) for label in labels.values()} == {int, dict}
    assert {label if isinstance(label, int) else label["difficulty"] for label in labels.values()} == {
        1,
        2,
        3,
        4,
    }
    holdout = documents[WARD][0]["scores"]["by_subset"]["holdout"]["by_difficulty_class"]
    assert [stratum["n"] for stratum in holdout.values()] == [21, 20, 18, 1]


def test_harder_classes_are_passed_less(documents: dict[str, list[dict[str, Any]]]) -> None:
    """For the rows as a whole the task pass rate falls from class to class."""
    rates = [
        sum(
            record["scores"]["by_subset"]["holdout"]["by_difficulty_class"][key]["task_pass_rate"]
            for record in documents[WARD]
        )
        for key in "123"
    ]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 1.5 * rates[2]


def test_closed_figures_agree_among_themselves(documents: dict[str, list[dict[str, Any]]]) -> None:
    """F1 follows from precision and recall, absolute from signed values, rates of M10 from its counts."""
    for record in everything(documents):
        dimensions = record["scores"].get("dimensions", {})
        if "m7_quality_control" in dimensions:
            block = dimensions["m7_quality_control"]
            p, r = (Fraction(str(block[name])) for name in ("defect_precision", "defect_recall"))
            assert block["defect_f1"] == float(2 * p * r / (p + r))
        if "m9_auditability" in dimensions:
            delta = dimensions["m9_auditability"]["env_delta"]
            assert delta["absolute"] == abs(delta["signed"])
        if "m10_robustness" in dimensions:
            block = dimensions["m10_robustness"]
            b, c, n = block["mcnemar"]["b"], block["mcnemar"]["c"], block["n_pairs"]
            assert block["mcnemar"]["p_value"] == float(by_definition.mcnemar_p(b, c))
            assert block["robustness_gap"] == {"signed": (b - c) / n, "absolute": abs(b - c) / n}
            assert block["flip_rate"] == (b + c) / n
        for ratio in ("action_ratio", "amount_ratio"):
            if ratio in dimensions.get("m3_efficiency", {}):
                block = dimensions["m3_efficiency"][ratio]
                assert 0 < block["q1"] <= block["median"] <= block["q3"]


def test_bytes_are_the_recorded_ones(folder: Path) -> None:
    """The set is the frozen one; a change of the generator must be meant."""
    assert digest(folder) == FROZEN


@pytest.mark.parametrize(
    "setting",
    [
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1"},
    ],
    ids=["one", "other"],
)
def test_bytes_depend_on_nothing_around(tmp_path: Path, setting: dict[str, str]) -> None:
    """Hash seed, time zone, locale, threads and folder change no byte."""
    program = "import sys; from medgauge_lib import demo; demo.write(sys.argv[1])"
    environment = {**os.environ, **setting}
    subprocess.run([sys.executable, "-c", program, tmp_path / "demo"], check=True, env=environment)
    assert digest(tmp_path / "demo") == FROZEN


def test_writing_again_changes_nothing(tmp_path: Path) -> None:
    """An unchanged set is left as it stands, a changed one is made whole, and nothing is left beside it."""
    paths = demo.write(tmp_path / "demo")
    before = [path.stat().st_mtime_ns for path in paths]
    assert demo.write(tmp_path / "demo") == paths
    assert [path.stat().st_mtime_ns for path in paths] == before
    paths[5].write_bytes(b"{}")
    paths[6].unlink()
    demo.write(tmp_path / "demo")
    assert digest(tmp_path / "demo") == FROZEN
    assert [entry.name for entry in tmp_path.iterdir()] == ["demo"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    """A folder without entries is taken, and parents that lack are made."""
    (tmp_path / "empty").mkdir()
    demo.write(tmp_path / "empty")
    demo.write(tmp_path / "a" / "b")
    assert digest(tmp_path / "empty") == digest(tmp_path / "a" / "b") == FROZEN


@pytest.mark.parametrize("name", ["notes.txt", "bm-demo-ward/1.1.0/mine.json", ".hidden"])
def test_a_folder_with_something_else_is_refused(tmp_path: Path, name: str) -> None:
    """A file that is no part of a demo set is named and kept, in a foreign folder and in a demo set."""
    target = tmp_path / "demo"
    for prepared in (lambda: None, lambda: demo.write(target)):
        prepared()
        mine = target / name
        mine.parent.mkdir(parents=True, exist_ok=True)
        mine.write_text("mine", encoding="utf-8")
        before = digest(target)
        with pytest.raises(InputError, match="no part of a demo set") as refused:
            demo.write(target)
        assert repr(name) in str(refused.value)
        assert str(refused.value).count("\n") == 1
        assert digest(target) == before
        mine.unlink()


def test_a_linked_folder_inside_is_refused(tmp_path: Path) -> None:
    """A link to a folder of somebody else is something else too."""
    demo.write(tmp_path / "demo")
    (tmp_path / "mine").mkdir()
    (tmp_path / "demo" / "link").symlink_to(tmp_path / "mine")
    (tmp_path / "demo" / demo.MARKER).write_bytes(b"")
    with pytest.raises(InputError, match="no part of a demo set"):
        demo.write(tmp_path / "demo")
    (tmp_path / "demo" / demo.MARKER).write_bytes(demo.STATEMENT)
    with pytest.raises(InputError, match="the folder holds 'link'"):
        demo.write(tmp_path / "demo")


def test_the_set_of_another_version_is_replaced(tmp_path: Path) -> None:
    """Files that an earlier version listed as its own go; a file it did not list is kept and named."""
    demo.write(tmp_path / "demo")
    marker, old = tmp_path / "demo" / demo.MARKER, tmp_path / "demo/bm-demo-ward/1.1.0/res-of-old.json"
    old.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"res-of-old\.json.* no part of a demo set"):
        demo.write(tmp_path / "demo")
    marker.write_bytes(marker.read_bytes() + b"bm-demo-ward/1.1.0/res-of-old.json\n")
    demo.write(tmp_path / "demo")
    assert digest(tmp_path / "demo") == FROZEN


def test_records_without_the_marker_are_not_taken_for_a_demo_set(tmp_path: Path) -> None:
    """Even files of the right names are kept where the folder does not say that it is synthetic."""
    demo.write(tmp_path / "demo")
    (tmp_path / "demo" / demo.MARKER).unlink()
    with pytest.raises(InputError, match="no part of a demo set"):
        demo.write(tmp_path / "demo")


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    """A path that is a file, or leads through one, is named."""
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="is a file, where a folder is expected"):
        demo.write(tmp_path / "file")
    with pytest.raises(InputError, match=r"cannot be written: (not a directory|file exists)"):
        demo.write(tmp_path / "file" / "demo")


def test_record_set_is_what_the_files_say(folder: Path) -> None:
    """The set made in memory equals the one read from written files."""
    for benchmark, version in demo.benchmarks():
        made, read = demo.record_set(benchmark, version), read_records(folder / benchmark / version)
        assert made.subjects.equals(read.subjects)
        assert made.runs.equals(read.runs)


def test_an_unknown_board_names_the_known_ones() -> None:
    """A caller's mistake names the argument, the rule and the value."""
    with pytest.raises(
        ValueError, match=r"must be one of .*'1\.1\.0'.* but got \('bm-demo-ward', '1\.10\.0'\)"
    ):
        demo.record_set("bm-demo-ward", "1.10.0")


def test_each_board_has_a_params_file(folder: Path) -> None:
    """Each params file of the demo names a board, its folder and its labels where `write` puts them."""
    named = set()
    for path in PARAMS:
        params = yaml.safe_load(path.read_text("utf-8"))
        if params.get("system") == "findings":
            continue
        place = f"{params['benchmark']}/{params['benchmark_version']}"
        assert params["records"] == f"../demo/{place}"
        assert params["labels"] == f"../demo/{place}.labels.json"
        assert (folder / place).is_dir()
        assert "synthetic" in params["title"]
        named.add((params["benchmark"], params["benchmark_version"]))
    assert named == set(demo.benchmarks())
