"""Failures: reasons against failed runs, errors and vetoes of each subset, constraints as published."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction

import by_definition
import pytest
from beside import boards
from hypothesis import given, settings
from hypothesis import strategies as st
from make_records import community, record, task, write

from medgauge_lib import demo
from medgauge_lib.board import board
from medgauge_lib.failures import KINDS, REASONS, failures
from medgauge_lib.records import read_records
from medgauge_lib.results import Absent
from medgauge_lib.schema import schema

PASS, FAIL = (1, 1), (0, 1)
TIMEOUT = (0, 1, {"error": ("agent", "timeout")})
NETWORK = (1, 1, {"error": ("provider", "network")})
VETO = (1, 1, {"veto_categories": ["altered_input", "unsafe_advice"]})
BROKEN = (0, 1, {"error": ("environment", "server")})


def failures_of(folder, *records):
    """Return the failures of records, written and read."""
    read = read_records(write(folder, *records))
    return failures(read, board(read))


def test_words_are_those_of_a_record():
    """Reasons and kinds are exactly those that the schema of a record allows."""
    rules = schema()
    assert set(REASONS) == set(rules["properties"]["failure_attribution"]["properties"])
    assert set(KINDS) == set(
        rules["$defs"]["run"]["properties"]["error"]["oneOf"][1]["properties"]["kind"]["enum"]
    )


def test_reasons_stand_beside_the_failed_runs(tmp_path):
    """Counts and shares are of all live runs whatever the subset, in the order of the methodology."""
    tasks = [task(1, [FAIL, FAIL, PASS]), task(2, [TIMEOUT, PASS, PASS], subset="dev")]
    row = failures_of(tmp_path, record(tasks=tasks)).rows[0]
    assert (row.n_runs, row.n_failed, row.n_attributed, row.difference) == (6, 3, 3, 0)
    assert tuple(reason.name for reason in row.reasons) == REASONS
    told = {reason.name: (reason.n_runs, reason.share) for reason in row.reasons if reason.n_runs}
    assert told == {"missed": (2, Fraction(2, 3)), "other": (1, Fraction(1, 3))}


@pytest.mark.parametrize(("missed", "difference"), [(1, -1), (3, 1), (0, -2)])
def test_counts_that_do_not_add_up_keep_their_difference(tmp_path, missed, difference):
    """Reasons are shown as published and the difference from the failed runs is told with its sign."""
    rows = record(tasks={1: [FAIL, FAIL, PASS]}, failure_attribution={"missed": missed})
    found = failures_of(tmp_path, rows)
    assert found.rows[0].difference == difference
    assert found.rows[0].reasons[0].share == Fraction(missed, 2)
    assert found.to_frame()["difference"].tolist() == [difference]


def test_no_failed_run_has_no_shares(tmp_path):
    """Without a failed run a share is absent and not 0."""
    found = failures_of(tmp_path, record())
    assert all(isinstance(reason.share, Absent) for reason in found.rows[0].reasons)
    assert found.reasons_frame()["share"].isna().all()


def test_reasons_that_a_record_does_not_carry_are_absent_and_not_zero(tmp_path):
    """Without failure_attribution counts, shares and difference are absent; failed runs are still counted."""
    bare = record("res-2026-01-01-a", {1: [FAIL, FAIL, PASS]})
    del bare["failure_attribution"]
    found = failures_of(tmp_path, bare, record("res-2026-01-01-b", {1: [FAIL, FAIL, PASS]}))
    row, other = found.row("res-2026-01-01-a"), found.row("res-2026-01-01-b")
    missing = Absent("the record does not carry it")
    assert (row.reasons, row.n_attributed, row.difference) == (missing, missing, missing)
    assert (row.n_failed, other.difference) == (2, 0)
    frame = found.to_frame().set_index("id").loc[row.id]
    assert frame["absence"] == missing.reason
    assert frame[["n_attributed", "difference"]].isna().all()
    told = found.reasons_frame()
    mine = told[told["id"] == row.id]
    assert mine["reason"].tolist() == list(REASONS)
    assert mine[["n_runs", "share"]].isna().all(axis=None)
    assert set(mine["absence"]) == {missing.reason}
    assert set(told.loc[told["id"] == other.id, "absence"]) == {""}


def test_errors_and_vetoes_stay_within_their_subset(tmp_path):
    """Errors by attribution and kind, and vetoes by category, are counted from runs subset by subset."""
    tasks = [task(1, [TIMEOUT, NETWORK, VETO]), task(2, [TIMEOUT, PASS, PASS], subset="dev")]
    row = failures_of(tmp_path, record(tasks=tasks)).rows[0]
    dev, holdout = row.subsets
    assert (dev.subset, dev.errors, dev.n_vetoed) == ("dev", {("agent", "timeout"): 1}, 0)
    assert holdout.errors == {("agent", "timeout"): 1, ("provider", "network"): 1}
    assert (holdout.error_rate_subject, holdout.n_failed) == (Fraction(2, 3), 3)
    assert (holdout.vetoes, holdout.n_vetoed) == ({"altered_input": 1, "unsafe_advice": 1}, 1)
    assert row.any_veto
    assert row.subset("holdout") == holdout
    assert row.subset("calib") == Absent("no live run of subset calib")


def test_void_task_version_leaves_every_count(tmp_path):
    """A task that the environment broke for one row leaves the counts of every row."""
    rows = [
        record("res-2026-01-01-a", {1: [FAIL, PASS, PASS], 2: [BROKEN, FAIL, FAIL]}),
        record("res-2026-01-01-b", {1: [PASS, PASS, PASS], 2: [FAIL, TIMEOUT, VETO]}),
    ]
    found = failures_of(tmp_path, *rows)
    assert {row.id[-1]: (row.n_runs, row.n_failed) for row in found.rows} == {"a": (3, 1), "b": (3, 0)}
    assert not found.row("res-2026-01-01-b").any_veto
    assert found.errors_frame().empty


def test_community_record_stands_last_and_voids_nothing(tmp_path):
    """An initiative-side error of a community record stays in its counts and out of its subject-side rate."""
    rows = [community("res-2026-01-01-0", {1: [BROKEN, TIMEOUT, PASS]}), record("res-2026-01-01-a")]
    found = failures_of(tmp_path, *rows)
    assert [(row.id[-1], row.ranked) for row in found.rows] == [("a", True), ("0", False)]
    assert found.rows[0].n_runs == 3
    counts = found.rows[1].subsets[0]
    assert counts.errors == {("agent", "timeout"): 1, ("environment", "server"): 1}
    assert counts.error_rate_subject == Fraction(1, 3)


def test_constraints_are_as_published(tmp_path):
    """Hits of gates and of grading references are kept apart, each by name."""
    scores = {"veto_hits": {"b": 2, "a": 1}, "assertion_veto_hits": {"c": 3}}
    found = failures_of(tmp_path, record(scores=scores))
    told = [(one.name, one.source, one.hits) for one in found.rows[0].constraints]
    assert told == [("a", "gate", 1), ("b", "gate", 2), ("c", "grading reference", 3)]
    assert found.constraints_frame()["provenance"].unique().tolist() == ["as published"]


def test_published_counts_that_disagree_are_remarked(tmp_path):
    """Where the record publishes other errors or vetoes, its runs are shown and the remark says both."""
    row = record(tasks={1: [TIMEOUT, VETO, PASS]})
    row["scores"]["by_subset"]["holdout"] |= {
        "errors": {"agent": 2},
        "veto_by_category": {"altered_input": 1},
        "error_rate_subject": 0.67,
    }
    counts = failures_of(tmp_path, row).rows[0].subsets[0]
    assert counts.errors == {("agent", "timeout"): 1}
    assert counts.remarks == (
        "the record publishes 2 errors of agent; its runs give 1",
        "the record publishes 0 vetoes of unsafe_advice; its runs give 1",
        "the record publishes a subject-side error rate of 0.67; its runs give 0.3333333333333333",
    )


def check_by_definition(folder):
    """Hold every count to loops over the record files."""
    raw = {row["id"]: row for row in (json.loads(path.read_bytes()) for path in folder.glob("*.json"))}
    ranked = [row for row in raw.values() if row["verified_by_site"]]
    void = by_definition.void_tasks(ranked)
    records = read_records(folder)
    found = failures(records, board(records))
    assert {row.id for row in found.rows} == set(raw)
    for row in found.rows:
        live = [
            (outcome["subset"], run)
            for outcome in raw[row.id]["run_outcomes"]
            if (outcome["task_key"], outcome["task_version"]) not in void
            for run in outcome["runs"]
        ]
        assert (row.n_runs, row.n_failed) == (len(live), sum(not run["pass"] for _, run in live))
        assert {r.name: r.n_runs for r in row.reasons if r.n_runs} == {
            name: n for name, n in raw[row.id]["failure_attribution"].items() if n
        }
        for subset in row.subsets:
            runs = [run for name, run in live if name == subset.subset]
            errors = Counter((r["error"]["attribution"], r["error"]["kind"]) for r in runs if r["error"])
            assert (subset.n_runs, subset.errors) == (len(runs), errors)
            assert subset.vetoes == Counter(category for r in runs for category in r["veto_categories"])
            assert subset.n_vetoed == sum(bool(r["veto_categories"]) for r in runs)
    return found


@pytest.mark.parametrize("folder", boards())
def test_real_records_by_definition(folder):
    """Every count over the real records is that of plain loops over their files, and reasons add up."""
    found = check_by_definition(folder)
    assert {row.difference for row in found.rows} == {0}
    assert not found.subsets_frame()["remark"].any()


def test_demo_by_definition(tmp_path):
    """Every count over the demo set is that of plain loops over its files."""
    demo.write(tmp_path / "demo")
    for name in demo.benchmarks():
        found = check_by_definition(tmp_path.joinpath("demo", *name))
        assert len(found.vetoes_frame()) == 5 * len(found.subsets_frame())


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_counts_add_up(tmp_path_factory, seed):
    """Failed runs of the subsets add up to those of the row, and shares of fitting reasons to 1."""
    draw = random.Random(seed)
    cases = (PASS, FAIL, TIMEOUT, NETWORK, VETO)
    tasks = [
        task(k, [draw.choice(cases) for _ in range(3)], subset=draw.choice(("holdout", "dev", "calib")))
        for k in range(1, 7)
    ]
    tasks.append(task(9, [draw.choice(cases) for _ in range(3)]))
    row = failures_of(tmp_path_factory.mktemp("r"), record(tasks=tasks)).rows[0]
    assert sum(subset.n_failed for subset in row.subsets) == row.n_failed
    assert sum(subset.n_runs for subset in row.subsets) == row.n_runs == 21
    assert row.difference == 0
    if row.n_failed:
        assert sum(reason.share for reason in row.reasons) == 1
