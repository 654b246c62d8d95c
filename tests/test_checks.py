"""The rules beyond the schema: each broken alone, and against a slow reading of the same rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from beside import boards
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from medgauge_lib.board import board
from medgauge_lib.checks import RULES, Finding, agrees, check, checked, decimals_of, require_usable, unusable
from medgauge_lib.errors import InputError
from medgauge_lib.records import read_records
from tests.make_records import community, record, task, task_key, write

A, B, C = (f"res-2026-01-01-{letter}" for letter in "abc")
PASSES = [(1, 1)] * 3
RUN = "/run_outcomes/0/runs"


def runs(**changes: Any) -> list[tuple[Any, ...]]:
    """Return three passing runs of two checkpoints, the second of them changed."""
    return [(2, 2), (2, 2, changes), (2, 2)]


def void(key: int, attribution: str = "task") -> dict[str, str]:
    """Return an entry of voided_tasks."""
    return {"task_key": task_key(key), "task_version": "1.0.0", "attribution": attribution}


BROKEN: dict[str, tuple[list[dict[str, Any]], Finding]] = {
    "run numbered twice": (
        [record(A, {1: runs(run=1)})],
        Finding("run.numbering", "unusable", A, RUN, "1, 1, 3", "1, 2, 3", "the runs are numbered 1, 1, 3"),
    ),
    "task twice": (
        [record(A, [task(1, PASSES), task(2, PASSES), task(1, PASSES)])],
        Finding(
            "task.once",
            "unusable",
            A,
            "/run_outcomes/2/task_key",
            task_key(1),
            "another task key",
            f"{task_key(1)} occurs twice in the record",
        ),
    ),
    "task twice in two versions": (
        [record(A, [task(1, PASSES, version="1.1.0"), task(1, PASSES)])],
        Finding(
            "task.once",
            "unusable",
            A,
            "/run_outcomes/1/task_key",
            task_key(1),
            "another task key",
            f"{task_key(1)} occurs twice in the record",
        ),
    ),
    "more passed than there are": (
        [record(A, {1: [(3, 2, {"s": 1, "pass": False}), (2, 2), (2, 2)]})],
        Finding(
            "run.checkpoints",
            "unusable",
            A,
            f"{RUN}/0/checkpoints_passed",
            3,
            "at most 2",
            "3 of 2 checkpoints passed",
        ),
    ),
    "totals differ in a task": (
        [record(A, {1: [(2, 2), (2, 2), (3, 3)]})],
        Finding(
            "task.total",
            "unusable",
            A,
            f"{RUN}/2/checkpoints_total",
            3,
            2,
            "the task has 3 checkpoints here and 2 in its first run",
        ),
    ),
    "totals differ between records": (
        [record(A, {1: [(2, 2)] * 3}), record(B, {1: [(3, 3)] * 3})],
        Finding(
            "task.total_across",
            "unusable",
            B,
            f"{RUN}/0/checkpoints_total",
            3,
            2,
            f"{task_key(1)} 1.0.0 has 3 checkpoints here, 2 in {A}.json",
        ),
    ),
    "a community record does not set the total": (
        [community(A, {1: [(3, 3)] * 3}), record(B, {1: [(2, 2)] * 3})],
        Finding(
            "task.total_across",
            "error",
            A,
            f"{RUN}/0/checkpoints_total",
            3,
            2,
            f"{task_key(1)} 1.0.0 has 3 checkpoints here, 2 in {B}.json",
        ),
    ),
    "failed with all passed": (
        [record(A, {1: runs(**{"pass": False})})],
        Finding(
            "run.pass",
            "unusable",
            A,
            f"{RUN}/1/pass",
            False,
            True,
            "pass is false, but all checkpoints passed",
        ),
    ),
    "passed with one missing": (
        [record(A, {1: [(1, 2, {"pass": True}), (2, 2), (2, 2)]})],
        Finding(
            "run.pass",
            "unusable",
            A,
            f"{RUN}/0/pass",
            True,
            False,
            "pass is true, but not all checkpoints passed",
        ),
    ),
    "passed with veto and error": (
        [record(A, {1: runs(veto_categories=["unsafe_advice"], error=("agent", "other"), **{"pass": True})})],
        Finding(
            "run.pass",
            "unusable",
            A,
            f"{RUN}/1/pass",
            True,
            False,
            "pass is true, but all checkpoints passed and a veto was hit and an error occurred",
        ),
    ),
    "share off": (
        [record(A, {1: [(1, 3, {"s": 0.34}), (3, 3), (3, 3)]})],
        Finding(
            "run.share", "error", A, f"{RUN}/0/s", 0.34, 1 / 3, "s is 0.34, but 1 of 3 checkpoints passed"
        ),
    ),
    "share off in its eighth digit": (
        [record(A, {1: [(1, 3, {"s": 0.33333334}), (3, 3), (3, 3)]})],
        Finding(
            "run.share",
            "error",
            A,
            f"{RUN}/0/s",
            0.33333334,
            1 / 3,
            "s is 0.33333334, but 1 of 3 checkpoints passed",
        ),
    ),
    "share on a veto": (
        [record(A, {1: runs(veto_categories=["unsafe_advice"], s=1)})],
        Finding("run.share", "error", A, f"{RUN}/1/s", 1.0, 0.0, "s is 1, but a veto was hit"),
    ),
    "share cut to 0": (
        [record(A, {1: [(1, 3, {"s": 0}), (1, 3), (1, 3)]})],
        Finding("run.share", "error", A, f"{RUN}/0/s", 0.0, 1 / 3, "s is 0, but 1 of 3 checkpoints passed"),
    ),
    "share cut to 0 by an error": (
        [record(A, {1: runs(error=("agent", "timeout"), s=0)})],
        Finding("run.share", "error", A, f"{RUN}/1/s", 0.0, 1.0, "s is 0, but 2 of 2 checkpoints passed"),
    ),
    "state without verification": (
        [record(A, verified_by_site=False)],
        Finding(
            "verification.agrees",
            "error",
            A,
            "/verification_state",
            "site_verified",
            "community_unverified",
            "verified_by_site is false, but verification_state is site_verified",
        ),
    ),
    "verification without state": (
        [record(A, verification_state="community_unverified")],
        Finding(
            "verification.agrees",
            "error",
            A,
            "/verification_state",
            "community_unverified",
            "site_verified",
            "verified_by_site is true, but verification_state is community_unverified",
        ),
    ),
    "window reversed": (
        [record(A, run_window={"from": "2026-02-01", "to": "2026-01-31"})],
        Finding(
            "window.order",
            "error",
            A,
            "/run_window/to",
            "2026-01-31",
            "2026-02-01 or later",
            "the run window ends on 2026-01-31, before it begins on 2026-02-01",
        ),
    ),
    "void listed twice": (
        [record(A, voided_tasks=[void(9), void(8), void(9)])],
        Finding(
            "void.once",
            "error",
            A,
            "/voided_tasks/2",
            f"{task_key(9)} 1.0.0",
            "listed once",
            f"{task_key(9)} 1.0.0 is listed twice",
        ),
    ),
    "void not listed everywhere": (
        [record(A), record(B, voided_tasks=[void(9)]), community(C)],
        Finding(
            "void.listed",
            "error",
            A,
            "/voided_tasks",
            "not listed",
            f"{task_key(9)} 1.0.0 listed, attributed to task",
            f"{task_key(9)} 1.0.0 is not listed as void, but {B}.json lists it",
        ),
    ),
    "void shown but not listed": (
        [
            record(A, {1: PASSES, 2: PASSES}),
            record(B, {1: PASSES, 2: [(1, 1), (0, 1, {"error": ("environment", "server")}), (1, 1)]}),
        ],
        Finding(
            "void.shown",
            "error",
            B,
            "/run_outcomes/1/runs/1/error",
            "not listed",
            f"{task_key(2)} 1.0.0 in voided_tasks of every record",
            f"no record lists {task_key(2)} 1.0.0 as void, but this run has an error of the environment",
        ),
    ),
    "void for two causes": (
        [record(A, voided_tasks=[void(9)]), record(B, voided_tasks=[void(8), void(9, "environment")])],
        Finding(
            "void.attribution",
            "error",
            B,
            "/voided_tasks/1/attribution",
            "environment",
            "task",
            f"{task_key(9)} 1.0.0 is void by environment here, by task in another record",
        ),
    ),
    "void in a community record": (
        [record(A), community(B, voided_tasks=[void(1)])],
        Finding(
            "void.apart",
            "note",
            B,
            "/voided_tasks",
            "void",
            "not void",
            f"{task_key(1)} 1.0.0 is void here, but in no record that the site verified",
        ),
    ),
    "void shown in a community record": (
        [record(A), community(B, {1: [(0, 1, {"error": ("task", "other")}), (1, 1), (1, 1)]})],
        Finding(
            "void.apart",
            "note",
            B,
            "/voided_tasks",
            "void",
            "not void",
            f"{task_key(1)} 1.0.0 is void here, but in no record that the site verified",
        ),
    ),
    "more linked than there are": (
        [
            record(
                A,
                closed_checkpoint_detail={
                    "stored_in": "closed",
                    "sha256": "sha256:" + "0" * 64,
                    "n_checkpoints": 3,
                    "n_reference_linked": 4,
                },
            )
        ],
        Finding(
            "detail.linked",
            "error",
            A,
            "/closed_checkpoint_detail/n_reference_linked",
            4,
            "at most 3",
            "4 of 3 checkpoints are linked to a grading reference",
        ),
    ),
    "an amount where none is applicable": (
        [record(A, {1: runs(amount=0.5)}) | {"cost": {"amount_applicable": False}}],
        Finding(
            "amount.not_applicable",
            "error",
            A,
            f"{RUN}/1/amount",
            0.5,
            "no amount",
            "the run has an amount of 0.5, but none is applicable",
        ),
    ),
    "an amount of many digits where none is applicable": (
        [record(A, {1: runs(amount=1234567.891)}) | {"cost": {"amount_applicable": False}}],
        Finding(
            "amount.not_applicable",
            "error",
            A,
            f"{RUN}/1/amount",
            1234567.891,
            "no amount",
            "the run has an amount of 1234567.891, but none is applicable",
        ),
    ),
    "an amount missing": (
        [record(A, {1: runs(amount=0.5)})],
        Finding(
            "amount.partial",
            "note",
            A,
            "/run_outcomes",
            2,
            0,
            "2 of 3 runs have no amount, so the cost is not recomputed from runs",
        ),
    ),
    "other tasks in a community record": (
        [record(A, {1: PASSES, 2: PASSES}), community(B, {1: PASSES})],
        Finding(
            "tasks.same",
            "note",
            B,
            "/run_outcomes",
            "1 tasks",
            f"the 2 tasks of {A}.json",
            f"does not hold the same tasks as {A}.json: 1 only there (first {task_key(2)} 1.0.0 holdout)",
        ),
    ),
    "another methodology": (
        [record(A, methodology_version="0.2.0")],
        Finding(
            "methodology.version",
            "note",
            A,
            "/methodology_version",
            "0.2.0",
            "0.1.0",
            "the record follows methodology 0.2.0, figures here follow 0.1.0",
        ),
    ),
}


@pytest.mark.parametrize(("rows", "expected"), BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_is_told_with_its_place(tmp_path, rows, expected):
    """A broken rule gives code, severity, file, exact place, published, expected and a sentence."""
    records = read_records(write(tmp_path, *rows))
    found = [finding for finding in check(records) if finding.code == expected.code]
    named = Finding(**(vars(expected) | {"file": f"{expected.file}.json"}))
    assert found[0] == named
    assert all(finding.message.isprintable() for finding in check(records))


@pytest.mark.parametrize(("rows", "expected"), BROKEN.values(), ids=BROKEN)
def test_the_place_of_a_finding_is_in_the_file(tmp_path, rows, expected):
    """The pointer of a finding leads to the value it speaks of, where the field is there at all."""
    folder = write(tmp_path, *rows)
    for finding in check(read_records(folder)):
        value = json.loads((folder / finding.file).read_text())
        for step in finding.pointer.split("/")[1:]:
            if step == "voided_tasks" and step not in value:
                break
            value = value[int(step)] if isinstance(value, list) else value[step]
        else:
            if isinstance(finding.published, bool | int | float):
                assert isinstance(value, list) or value == finding.published


def test_every_rule_is_broken_by_some_test():
    """No rule is without a record set that breaks it, and every code is told once."""
    codes = [rule.code for rule in RULES]
    assert sorted(codes) == sorted({expected.code for _, expected in BROKEN.values()})
    assert len(set(codes)) == len(codes)


def test_every_rule_has_a_sentence():
    """Each rule says in a sentence what is to be kept."""
    assert all(rule.sentence[0].isupper() and rule.sentence.endswith(".") for rule in RULES)


def test_clean_records_have_no_finding_and_every_rule_is_told(tmp_path):
    """A clean record set passes every rule, and the clean rules are told too."""
    tasks = {
        1: [(1, 3), (3, 3), (0, 3, {"error": ("agent", "timeout")})],
        2: runs(veto_categories=["unsafe_advice"]),
    }
    listed = [void(9), void(8, "environment")]
    rows = [record(i, tasks, voided_tasks=listed) for i in (A, B)]
    records = read_records(write(tmp_path, *rows, community(C, tasks, voided_tasks=listed)))
    assert check(records) == ()
    assert [(rule, found) for rule, found in checked(records)] == [(rule, ()) for rule in RULES]
    require_usable(records)


def test_findings_go_by_file_then_rule_then_place(tmp_path):
    """Findings stand in the order of files, of rules, and of places, as numbers are ordered."""
    bad = {key: [(1, 1, {"pass": False}), (1, 1), (1, 1, {"s": 0.5})] for key in range(12)}
    found = check(read_records(write(tmp_path, record(A, bad), record(B, bad))))
    assert [(finding.file[-6], finding.code, finding.pointer) for finding in found] == [
        (letter, code, f"/run_outcomes/{index}/runs/{run}/{field}")
        for letter in "ab"
        for code, run, field in (("run.pass", 0, "pass"), ("run.share", 2, "s"))
        for index in range(12)
    ]


def test_places_are_those_of_the_file_not_of_the_table(tmp_path):
    """Where tasks and runs are in disorder in the file, pointers count as the file does."""
    tasks = [task(2, PASSES), task(1, PASSES)]
    tasks[1]["runs"].reverse()
    tasks[1]["runs"][0]["pass"] = False
    (finding,) = check(read_records(write(tmp_path, record(A, tasks))))
    assert finding.pointer == "/run_outcomes/1/runs/0/pass"


@pytest.mark.parametrize(
    "change",
    [
        runs(run=1),
        [(3, 2, {"s": 1, "pass": False}), (2, 2), (2, 2)],
        [(2, 2), (3, 3), (2, 2)],
        runs(**{"pass": False}),
    ],
)
def test_a_void_task_version_makes_nothing_unusable(tmp_path, change):
    """What is wrong with a version that leaves every figure is an error, and the board can be made."""
    rows = [record(i, {1: PASSES, 2: change}, voided_tasks=[void(2)]) for i in (A, B)]
    records = read_records(write(tmp_path, *rows))
    assert {finding.severity for finding in check(records)} == {"error"}
    require_usable(records)


def test_require_usable_names_the_first_place_and_the_number_of_others(tmp_path):
    """Unusable records are refused in two lines: file, pointer, what is wrong, what is right."""
    bad = {1: runs(**{"pass": False}), 2: [(3, 2, {"s": 1, "pass": False}), (2, 2), (2, 2)]}
    records = read_records(write(tmp_path, record(B, bad), record(A, {1: runs(), 2: runs()})))
    with pytest.raises(InputError) as caught:
        require_usable(records)
    assert str(caught.value) == (
        f"{tmp_path}/{B}.json: /run_outcomes/1/runs/0/checkpoints_passed: "
        "3 of 2 checkpoints passed (and 1 more such findings)\n  should be at most 2"
    )


def test_require_usable_goes_by_file(tmp_path):
    """The first file by name is told, whichever rule it breaks."""
    rows = [record(A, {1: runs(**{"pass": False})}), record(B, {1: runs(run=1)})]
    with pytest.raises(InputError, match=f"{A}.json: .*/pass"):
        require_usable(read_records(write(tmp_path, *rows)))


def test_files_of_one_name_are_told_apart(tmp_path):
    """A broken community record spoils no verified one whose file has the same name in another folder."""
    good, bad = (tmp_path / name / "r.json" for name in ("good", "bad"))
    for path, row in ((good, record(A)), (bad, community(C, {1: runs(**{"pass": False})}))):
        path.parent.mkdir()
        path.write_text(json.dumps(row), encoding="utf-8")
    records = read_records([good, bad])
    require_usable(records, [A])
    assert board(records).order == (A,)
    assert list(unusable(records)) == [C]
    with pytest.raises(InputError, match=r"bad/r\.json: /run_outcomes/0/runs/1/pass"):
        require_usable(records)


def test_errors_and_notes_leave_records_usable(tmp_path):
    """Only unusable findings refuse a board."""
    rows = [rows for rows, expected in BROKEN.values() if expected.severity != "unusable"]
    for number, broken in enumerate(rows):
        require_usable(read_records(write(tmp_path / str(number), *broken)))


@pytest.mark.parametrize("both", [False, True])
def test_a_task_that_stands_twice_is_as_bad_in_either_order(tmp_path, both):
    """With one version void the figures mean nothing, whichever comes first; with both, none is used."""
    entries = [void(1), *([void(1) | {"task_version": "1.1.0"}] if both else [])]
    outcomes = [task(2, PASSES), task(1, PASSES), task(1, PASSES, version="1.1.0")]
    severities = {
        finding.severity
        for place, order in enumerate((outcomes, outcomes[::-1]))
        for finding in check(
            read_records(write(tmp_path / str(place), record(A, order, voided_tasks=entries)))
        )
        if finding.code == "task.once"
    }
    assert severities == {"error" if both else "unusable"}


# Published precision


@pytest.mark.parametrize(
    ("published", "exact", "expected"),
    [
        (0.33, Fraction(1, 3), True),
        (0.34, Fraction(1, 3), False),
        (0.3333, Fraction(1, 3), True),
        (1 / 3, Fraction(1, 3), True),
        (2 / 3, Fraction(2, 3), True),
        (0.66666666666666, Fraction(2, 3), False),
        (0.12, Fraction(1, 8), True),
        (0.13, Fraction(1, 8), True),
        (0.1, Fraction(1, 8), True),
        (0, Fraction(1, 2), True),
        (0.0, Fraction(1, 2), False),
        (1, Fraction(1, 1), True),
        (1e-7, Fraction(1, 10**7), True),
        (1e-7, Fraction(2, 10**7), False),
        (-0.5, Fraction(-1, 2), True),
    ],
)
def test_a_figure_agrees_at_its_published_precision(published, exact, expected):
    """The exact value, rounded to the decimals a figure was published with, equals it (decision 9)."""
    assert agrees(published, exact) is expected


@given(st.fractions(-2, 2, max_denominator=10**6), st.integers(0, 12))
def test_a_rounded_figure_agrees_and_a_step_away_does_not(exact, decimals):
    """Whatever the decimals, the rounded value agrees, and the value two steps away does not."""
    published = float(round(exact, decimals))
    assert agrees(published, exact, decimals=decimals)
    away = float(round(exact, decimals) + Fraction(2, 10**decimals))
    assert not agrees(away, exact, decimals=decimals)


def test_decimals_are_those_of_the_shortest_form():
    """A number shows the decimals of its shortest decimal form."""
    assert [decimals_of(number) for number in (0.1, 0.25, 12, 12.0, 1e-7, 1.5e-7, 1e22)] == [
        1,
        2,
        0,
        1,
        7,
        8,
        0,
    ]


def test_a_share_agrees_at_the_precision_of_its_record(tmp_path):
    """A share of 0.004 may be published as 0 beside shares of two decimals, a share of 0.04 may not."""
    rounded = [(1, 250, {"s": 0}), (249, 250, {"s": 1}), (83, 250, {"s": 0.33})]
    assert check(read_records(write(tmp_path / "a", record(A, {1: rounded})))) == ()
    cut = [(10, 250, {"s": 0}), (240, 250, {"s": 1}), (83, 250, {"s": 0.33})]
    places = [finding.pointer for finding in check(read_records(write(tmp_path / "b", record(A, {1: cut}))))]
    assert places == [f"{RUN}/0/s", f"{RUN}/1/s"]


# A second implementation, by the words of the rules


def slowly(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """Yield code, id and pointer of every broken rule about runs, task by task."""
    first_total: dict[tuple[str, str], int] = {}
    for row in sorted(rows, key=lambda row: (not row["verified_by_site"], row["id"])):
        ordered = sorted(enumerate(row["run_outcomes"]), key=lambda pair: (pair[1]["task_key"], pair[0]))
        seen = set()
        for index, outcome in ordered:
            place = f"/run_outcomes/{index}"
            if outcome["task_key"] in seen:
                yield "task.once", row["id"], f"{place}/task_key"
            seen.add(outcome["task_key"])
            in_order = sorted(
                range(3), key=lambda number, runs=outcome["runs"]: (runs[number]["run"], number)
            )
            if [outcome["runs"][number]["run"] for number in in_order] != [1, 2, 3]:
                yield "run.numbering", row["id"], f"{place}/runs"
            first = outcome["runs"][in_order[0]]["checkpoints_total"]
            version = (outcome["task_key"], outcome["task_version"])
            if first_total.setdefault(version, first) != first:
                yield "task.total_across", row["id"], f"{place}/runs/{in_order[0]}/checkpoints_total"
            for number, run in enumerate(outcome["runs"]):
                passed, total = run["checkpoints_passed"], run["checkpoints_total"]
                where = f"{place}/runs/{number}"
                if passed > total:
                    yield "run.checkpoints", row["id"], f"{where}/checkpoints_passed"
                if total != first:
                    yield "task.total", row["id"], f"{where}/checkpoints_total"
                if run["pass"] != (passed == total and not run["veto_categories"] and run["error"] is None):
                    yield "run.pass", row["id"], f"{where}/pass"
                if run["s"] != (0 if run["veto_categories"] else passed / total):
                    yield "run.share", row["id"], f"{where}/s"


SOME_RUN = st.fixed_dictionaries(
    {
        "run": st.sampled_from([1, 2, 3]),
        "pass": st.booleans(),
        "checkpoints_passed": st.integers(0, 3),
        "checkpoints_total": st.integers(1, 2),
        "s": st.sampled_from([0, 0.5, 1]),
        "veto_categories": st.sampled_from([[], [], ["unsafe_advice"]]),
        "error": st.sampled_from([None, None, {"attribution": "agent", "kind": "other"}]),
    }
)
SOME_TASKS = st.lists(st.lists(SOME_RUN, min_size=3, max_size=3), min_size=3, max_size=3)


@given(st.lists(SOME_TASKS, min_size=2, max_size=3), st.permutations([1, 2, 2]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_vectorised_rules_find_what_a_slow_reading_finds(tmp_path, several, keys):
    """On runs of any kind the tables give the findings that reading task by task gives."""
    rows = []
    for row_id, tasks in zip((A, B, C), several, strict=False):
        outcomes = [task(key, PASSES) | {"runs": runs} for key, runs in zip(keys, tasks, strict=True)]
        row = (community if row_id == A else record)(row_id)
        rows.append(row | {"run_outcomes": outcomes})
    folder = write(tmp_path, *rows)
    found = check(read_records([folder / f"{row['id']}.json" for row in rows]))
    told = [(finding.code, finding.file.removesuffix(".json"), finding.pointer) for finding in found]
    assert sorted(told) == sorted(slowly(rows))


@pytest.mark.parametrize("folder", boards())
def test_real_records_keep_every_rule(folder):
    """The real boards have no finding."""
    assert check(read_records(folder)) == ()
