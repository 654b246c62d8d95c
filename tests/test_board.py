"""The board: vectors of an independent program, order and the cost rule, properties under reordering."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from fractions import Fraction

import by_definition
import orjson
import pytest
from beside import RECORDS, SHARED, needs_shared
from hypothesis import given, settings
from hypothesis import strategies as st
from make_records import record, write

from medgauge_lib.board import board
from medgauge_lib.estimators import QUANTITIES
from medgauge_lib.records import read_records
from medgauge_lib.results import Absent

VECTORS = sorted((SHARED / "vectors").glob("*.json")) or [SHARED]
PASS, FAIL = [(1, 1)] * 3, [(0, 1)] * 3


@needs_shared
@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
def test_board_agrees_with_an_independent_program(vector, tmp_path):
    """Every figure, pair, letter and place equals that of the expected results, by their own comparison."""
    expected = json.loads(vector.read_bytes())
    (folder,) = (path for path in (RECORDS / vector.name.split(".")[0]).iterdir() if path.is_dir())
    found = board(read_records(folder), expected["subset"], seed=expected["seed"])
    out = tmp_path / "board.json"
    out.write_bytes(orjson.dumps(found.to_json()))
    tool = SHARED / "tools/compare_board.py"
    done = subprocess.run([sys.executable, tool, out, vector], capture_output=True, text=True, check=False)
    assert "all agree" in done.stdout, done.stdout


def raw_set(seed, n_rows=5, n_tasks=9):
    """Random records, with amounts, one void task and a task's checkpoints fixed over rows."""
    draw = random.Random(seed)
    totals = [draw.choice((1, 2, 3, 7)) for _ in range(n_tasks)]
    void = [{"task_key": f"tk-{n_tasks - 1:012x}", "task_version": "1.0.0", "attribution": "environment"}]
    rows = []
    for k in range(n_rows):
        skill = draw.random()
        tasks = {t: [_run(draw, skill, total) for _ in range(3)] for t, total in enumerate(totals)}
        rows.append(
            record(
                f"res-2026-01-01-{k}",
                tasks,
                model=f"m{k}",
                cost={"amount_applicable": True, "amount": 1, "currency": "EUR", "price_table_version": "p"},
                voided_tasks=void,
            )
        )
    return rows


def _run(draw, skill, total):
    passed = total if draw.random() < skill else draw.randrange(total)
    return passed, total, {"amount": draw.randrange(9) / 10}


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_board_equals_its_definition(tmp_path_factory, seed):
    """Values, p, Holm, groups, cost and order are those of a second implementation by plain loops."""
    raws = raw_set(seed)
    found = board(read_records(write(tmp_path_factory.mktemp("set"), *raws)), seed=seed)
    void = by_definition.void_tasks(raws)
    tasks = {raw["id"]: by_definition.tasks_of(raw, "holdout", void) for raw in raws}
    for row in found.rows:
        for quantity in QUANTITIES:
            expected = by_definition.mean([by_definition.task_value(t, quantity) for t in tasks[row.id]])
            assert getattr(row, quantity).value == expected
    p_values = []
    for pair in found.pairs.pairs:
        ahead = [
            by_definition.task_value(one, "pass_pow_3") - by_definition.task_value(other, "pass_pow_3")
            for one, other in zip(tasks[pair.a], tasks[pair.b], strict=True)
        ]
        assert (pair.b_count, pair.c_count) == (ahead.count(1), ahead.count(-1))
        p_values.append(by_definition.mcnemar_p(ahead.count(1), ahead.count(-1)))
    assert [pair.p for pair in found.pairs.pairs] == p_values
    assert [pair.holm for pair in found.pairs.pairs] == by_definition.holm(p_values)
    apart = {frozenset((pair.a, pair.b)) for pair in found.pairs.pairs if pair.holm <= Fraction(1, 20)}
    assert set(map(frozenset, found.groups)) == by_definition.maximal_groups(list(found.order), apart)
    assert list(found.order) == by_definition.order(
        [raw["id"] for raw in raws],
        {row.id: row.pass_pow_3.value for row in found.rows},
        {row.id: row.letters for row in found.rows},
        {raw["id"]: by_definition.cost_per_success(tasks[raw["id"]]) for raw in raws},
    )


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_order_of_files_tasks_and_runs_changes_nothing(tmp_path_factory, seed):
    """The same records with files renamed and everything shuffled give the same board to the last digit."""
    raws = raw_set(seed)
    plain = board(read_records(write(tmp_path_factory.mktemp("set"), *raws)), seed=seed)
    shuffle = random.Random(seed).shuffle
    shuffled = json.loads(json.dumps(raws))
    for raw in shuffled:
        shuffle(raw["run_outcomes"])
        for task in raw["run_outcomes"]:
            shuffle(task["runs"])
    folder = tmp_path_factory.mktemp("shuffled")
    for k, raw in enumerate(shuffled):
        (folder / f"{len(shuffled) - k}.json").write_bytes(orjson.dumps(raw))
    assert board(read_records(folder), seed=seed).to_json() == plain.to_json()


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_relabelling_subjects_moves_figures_with_them(tmp_path_factory, seed):
    """Exchanging the outcomes of two subjects exchanges their figures and nothing else."""
    raws = raw_set(seed)
    plain = board(read_records(write(tmp_path_factory.mktemp("set"), *raws)), seed=seed)
    swapped = json.loads(json.dumps(raws))
    swapped[0]["run_outcomes"], swapped[1]["run_outcomes"] = raws[1]["run_outcomes"], raws[0]["run_outcomes"]
    turned = board(read_records(write(tmp_path_factory.mktemp("swap"), *swapped)), seed=seed)
    first, second = raws[0]["id"], raws[1]["id"]
    other = {first: second, second: first}
    for row in plain.rows:
        mirror = turned.row(other.get(row.id, row.id))
        assert [getattr(mirror, q) for q in QUANTITIES] == [getattr(row, q) for q in QUANTITIES]
        assert mirror.rank == row.rank
    assert {frozenset(group) for group in turned.groups} == {
        frozenset(other.get(row, row) for row in group) for group in plain.groups
    }


def priced(name, tasks, amount, *, currency="EUR", table="p1"):
    """A record whose every run costs the same, or one without amounts."""
    tasks = {
        k: [(*run, {} if amount is None else {"amount": amount}) for run in runs] for k, runs in tasks.items()
    }
    cost = {"amount_applicable": False}
    if amount is not None:
        cost = {"amount_applicable": True, "amount": 1, "currency": currency, "price_table_version": table}
    return record(f"res-2026-01-01-{name}", tasks, model=name, cost=cost)


def places(folder, *rows):
    """Last part of each id in board order, and the board."""
    found = board(read_records(write(folder, *rows)))
    return "".join(name[-1] for name in found.order), found


BEST, GOOD = {1: PASS, 2: PASS}, {1: PASS, 2: FAIL}


def test_the_cheaper_row_of_a_class_comes_first(tmp_path):
    """All rows share their letters: cost decides, the row without an amount keeps its place."""
    order, found = places(
        tmp_path, priced("a", BEST, 3), priced("b", BEST, None), priced("c", GOOD, 1), priced("d", GOOD, 2)
    )
    assert order == "cbda"
    assert [row.rank for row in found.rows] == [3, 1, 3, 1]
    assert all(row.tied for row in found.rows)


def test_equal_scores_stand_in_the_order_of_their_ids(tmp_path):
    """Without amounts, rows of equal pass^3 share a rank and stand by id in byte order."""
    order, found = places(tmp_path, *(priced(name, GOOD, None) for name in "cab"))
    assert order == "abc"
    assert [(row.rank, row.tied) for row in found.rows] == [(1, True)] * 3


@pytest.mark.parametrize("other", [{"currency": "USD"}, {"table": "p2"}])
def test_amounts_that_cannot_be_compared_order_nothing(tmp_path, other):
    """Two currencies or price tables in one class: the order stays pass^3, with a note that says so."""
    order, found = places(tmp_path, priced("a", BEST, 3), priced("b", GOOD, 1, **other))
    assert order == "ab"
    (note,) = found.notes
    assert note.startswith("Rows with letters a stay in the order of pass^3: their amounts are in EUR (p1)")


def test_cost_never_moves_a_row_past_one_with_other_letters(tmp_path):
    """Rows shown to differ keep the order of pass^3 whatever they cost."""
    tasks = range(8)
    order, found = places(
        tmp_path, priced("a", dict.fromkeys(tasks, PASS), 9), priced("b", dict.fromkeys(tasks, FAIL), 1)
    )
    assert order == "ab"
    assert [row.letters for row in found.rows] == [("a",), ("b",)]


def test_a_row_without_any_success_has_no_cost_and_keeps_its_place(tmp_path):
    """Amounts but no success: not available, and the row is not sorted by cost."""
    order, found = places(tmp_path, priced("a", {1: FAIL}, 9), priced("b", {1: FAIL}, 1))
    assert order == "ab"
    assert found.rows[0].cost_per_success == Absent("no task with a passing run")
    line = found.to_json()["rows"]["res-2026-01-01-a"]
    assert (line["cost_per_success"], line["cost_per_success_absent"]) == (
        "not_available",
        "no task with a passing run",
    )


def test_free_runs_cost_nothing_which_is_not_absent(tmp_path):
    """A cost of exactly 0 is a number in the table, in JSON and in the order."""
    order, found = places(tmp_path, priced("a", {1: PASS}, 1), priced("b", {1: PASS}, 0))
    assert order == "ba"
    assert found.to_frame()["cost_per_success"].tolist() == [0.0, 1.0]
    assert found.to_json()["rows"]["res-2026-01-01-b"]["cost_per_success"] == 0.0


def test_one_row_is_a_board(tmp_path):
    """A single row has letter a, no pair and no resolution; its BCa intervals say why they are absent."""
    found = board(read_records(write(tmp_path, record(tasks={1: PASS}))))
    assert found.rows[0].letters == ("a",)
    assert found.pairs.pairs == ()
    assert found.to_json()["resolution"] == {"absent": "one row has nothing to be compared with"}
    line = found.to_json()["rows"][found.order[0]]
    assert line["task_pass_rate_ci"] is None
    assert line["task_pass_rate_ci_absent"] == "one task has no bootstrap interval"
    assert list(found.pairs.to_frame().columns)[:3] == ["a", "b", "b_count"]


def test_community_records_are_listed_apart_without_rank(tmp_path):
    """A community record has its figures over its own tasks, no rank, no letters, and orders nothing."""
    community = record(
        "res-2026-01-01-z", {1: PASS, 7: PASS}, model="z", verified_by_site=False,
        verification_state="community_unverified",
    )  # fmt: skip
    found = board(read_records(write(tmp_path, record(tasks={1: FAIL}), community)))
    assert found.order == ("res-2026-01-01-a",)
    (apart,) = found.unranked
    assert (apart.id, apart.rank, apart.letters, apart.pass_pow_3.n_tasks) == (community["id"], None, (), 2)
    assert list(found.to_frame()["id"]) == ["res-2026-01-01-a", "res-2026-01-01-z"]


@pytest.mark.parametrize("spoilt", ["pass", "void"])
def test_a_community_record_spoils_no_board(tmp_path, spoilt):
    """Broken runs, or no live task, leave a community record out of the listing, never the board unmade."""
    void = [{"task_key": "tk-000000000007", "task_version": "1.0.0", "attribution": "task"}]
    community = record(
        "res-2026-01-01-z", {7: PASS}, model="z", verified_by_site=False,
        verification_state="community_unverified",
    )  # fmt: skip
    if spoilt == "pass":
        community["run_outcomes"][0]["runs"][1]["pass"] = False
    verified = record(tasks={1: PASS}, voided_tasks=void if spoilt == "void" else [])
    found = board(read_records(write(tmp_path, verified, community)))
    assert found.order == (verified["id"],)
    assert found.unranked == ()
    assert len(found.notes) == (spoilt == "pass")
    assert all("res-2026-01-01-z.json: /run_outcomes/0/runs/1/pass" in note for note in found.notes)


def test_board_is_as_of_its_latest_record(tmp_path):
    """The date of a board is the latest date among its records, never today's."""
    rows = (
        record("res-2026-01-01-a", {1: PASS}, created_at="2026-01-03T00:00:00Z"),
        record("res-2026-01-01-b", {1: PASS}, model="b", created_at="2026-02-01T23:59:59Z"),
    )
    assert board(read_records(write(tmp_path, *rows))).as_of == "2026-02-01"


def test_unknown_row_is_a_key_error_that_names_it(tmp_path):
    """Asking for a row that is not on the board names the id."""
    found = board(read_records(write(tmp_path, record())))
    with pytest.raises(KeyError, match="'res-x' is no row of this board; "):
        found.row("res-x")
