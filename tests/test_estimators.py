"""Exact estimators: the τ-bench table, definitions, the exam's bound, cost per success."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations

import by_definition
import numpy as np
import pytest
from beside import SHARED, needs_shared
from hypothesis import given
from hypothesis import strategies as st
from make_records import record, write

from medgauge_lib.estimators import (
    QUANTITIES,
    cost_per_success,
    exam_bound,
    exams,
    pass_at_k,
    pass_pow_k,
    tallies,
    values,
)
from medgauge_lib.outcomes import outcomes
from medgauge_lib.records import read_records
from medgauge_lib.results import Absent

TAU_BENCH = SHARED / "data/raw/tau-bench/gpt-4o-airline.json"


@needs_shared
def test_pass_pow_k_gives_the_published_tau_bench_table():
    """Airline, gpt-4o, 50 tasks × 4 trials: 0.420, 0.273, 0.220, 0.200 (Yao et al. 2024, printed to 3 dp)."""
    passed: Counter[int] = Counter()
    trials: Counter[int] = Counter()
    for run in json.loads(TAU_BENCH.read_bytes()):
        trials[run["task_id"]] += 1
        passed[run["task_id"]] += run["reward"] == 1
    means = [
        sum(pass_pow_k(passed[task], n, k) for task, n in trials.items()) / len(trials) for k in (1, 2, 3, 4)
    ]
    assert [round(float(mean), 3) for mean in means] == [0.420, 0.273, 0.220, 0.200]


@given(st.integers(1, 8), st.data())
def test_pass_at_k_and_pass_pow_k_are_shares_of_all_draws(n, data):
    """Both equal the share of all k-subsets of the runs that hold a pass, or only passes."""
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(c, n, k) == Fraction(sum(any(draw) for draw in draws), len(draws))
    assert pass_pow_k(c, n, k) == Fraction(sum(all(draw) for draw in draws), len(draws))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, 3, 1), r"n_passed must lie in 0\.\.n_runs = 3, but got 4"),
        ((0, 2, 3), r"k must lie in 1\.\.n_runs = 2, but got 3; fewer runs give no estimate"),
    ],
)
def test_fewer_runs_than_k_are_refused(arguments, message):
    """Too few runs give no estimate, never 1 or 0."""
    for function in (pass_at_k, pass_pow_k):
        with pytest.raises(ValueError, match=message):
            function(*arguments)


MIXED = {
    1: [(2, 2), (2, 2), (2, 2)],
    2: [(1, 3), (3, 3), (0, 3)],
    3: [(5, 5, {"veto_categories": ["unsafe_advice"]}), (5, 5), (4, 5)],
    4: [(1, 1, {"error": ("model", "timeout")}), (0, 1), (1, 1)],
}


@pytest.fixture
def mixed(tmp_path):
    """One row whose four tasks hold passes, a veto and an error."""
    rows = record("res-2026-01-01-a", MIXED), record("res-2026-01-01-b", MIXED, model="other")
    return read_records(write(tmp_path, *rows)), rows[0]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_values_equal_their_definition(mixed, quantity):
    """Each task's value is the one read off its runs."""
    records, raw = mixed
    found = values(outcomes(records), quantity)
    expected = [by_definition.task_value(task, quantity) for task in raw["run_outcomes"]]
    assert [Fraction(int(v), found.denominator) for v in found.x[:, 0]] == expected
    assert found.means() == (by_definition.mean(expected),) * 2


def test_a_veto_scores_nothing_and_an_error_keeps_its_checkpoints(mixed):
    """The vetoed run counts 0 of 5; the run with an error fails, but its checkpoint counts."""
    taken = outcomes(mixed[0])
    assert taken.points[:, 0].tolist() == [6, 4, 9, 2]
    assert taken.passes[:, 0].tolist() == [3, 1, 1, 1]


def test_large_denominators_stay_exact(tmp_path):
    """Where the common denominator outgrows 64 bits, values are Python integers and means stay exact."""
    primes = [101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151]
    tasks = {k: [(1, p), (p - 1, p), (p, p)] for k, p in enumerate(primes)}
    found = values(outcomes(read_records(write(tmp_path, record(tasks=tasks)))), "continuous_score")
    assert found.x.dtype == object
    assert found.means()[0] == Fraction(2, 3)


def test_counts_that_three_runs_would_overflow_stay_exact(tmp_path):
    """A task of 2^62 checkpoints, all passed, and one of 7, none passed: exactly one half."""
    tasks = {1: [(2**62, 2**62)] * 3, 2: [(0, 7)] * 3}
    found = values(outcomes(read_records(write(tmp_path, record(tasks=tasks)))), "continuous_score")
    assert found.means()[0] == Fraction(1, 2)


def test_tallies_count_runs(mixed):
    """Errors by attribution, vetoes by category, shares over all runs."""
    tally = tallies(outcomes(mixed[0]))[0]
    assert tally.errors == {"model": 1}
    assert tally.vetoes == {"unsafe_advice": 1}
    assert (tally.error_rate, tally.veto_rate) == (Fraction(1, 12), Fraction(1, 12))


@pytest.mark.parametrize(("n", "tasks"), [(0.80, 14), (0.90, 29), (0.95, 59), (0.99, 299)])
def test_exam_bound_reaches_the_published_thresholds(n, tasks):
    """The number of tasks that a threshold demands is the published one, and one fewer is too few."""
    assert exam_bound(tasks) >= n > exam_bound(tasks - 1)


def test_exam_is_passed_only_without_any_failure(tmp_path):
    """Every task in all three runs: passed with its bound; one failed run: not passed, no bound."""
    every = {k: [(1, 1)] * 3 for k in range(13)}
    almost = every | {12: [(1, 1), (1, 1), (0, 1)]}
    rows = record("res-2026-01-01-a", every), record("res-2026-01-01-b", almost, model="other")
    passed, failed = exams(outcomes(read_records(write(tmp_path, *rows))))
    assert (passed.outcome, failed.outcome) == ("passed", "not_passed")
    assert passed.claimable_lower_bound == pytest.approx(0.05 ** (1 / 13), rel=1e-15)
    assert failed.claimable_lower_bound == Absent("exam not passed")


def costs(tmp_path, *amounts, passes=((1, 1, 1), (1, 0, 0), (0, 0, 0))):
    """Cost per success of a row with the given amounts, three a task."""
    tasks = {
        k: [
            (p, 1, {} if amounts[3 * k + j] is None else {"amount": amounts[3 * k + j]})
            for j, p in enumerate(row)
        ]
        for k, row in enumerate(passes)
    }
    total = sum(amount or 0 for amount in amounts)
    cost = {"amount_applicable": True, "amount": total, "currency": "EUR", "price_table_version": "p1"}
    raw = record(tasks=tasks, cost=cost)
    found = cost_per_success(outcomes(read_records(write(tmp_path, raw))), applicable={raw["id"]: True})
    return found[0], raw


def test_cost_per_success_is_the_mean_over_tasks_with_a_success(tmp_path):
    """(0.1+0.2+0.3)/3 and (1+1+1)/1 over two tasks; the task without success does not count."""
    found, raw = costs(tmp_path, 0.1, 0.2, 0.3, 1, 1, 1, 9, 9, 9)
    assert found == (Fraction(1, 5) + 3) / 2
    assert found == by_definition.cost_per_success(raw["run_outcomes"])


def test_amounts_count_as_the_decimals_they_are_written_as(tmp_path):
    """0.1 + 0.2 is 0.3 exactly, not the double next to it."""
    assert costs(tmp_path, 0.1, 0.2, 0, passes=((1, 0, 0),))[0] == Fraction(3, 10)


def test_cost_without_a_success_or_with_a_missing_amount_is_absent(tmp_path):
    """No success, or an amount that is missing: absent with the reason, never 0."""
    assert costs(tmp_path, 1, 1, 1, passes=((0, 0, 0),))[0] == Absent("no task with a passing run")
    assert costs(tmp_path, 1, None, 1, passes=((0, 0, 0),))[0] == Absent("no task with a passing run")
    found, _ = costs(tmp_path, 1, None, 1, passes=((1, 1, 0),))
    assert found == Absent("amount missing on 1 of 3 runs")


def test_row_without_amounts_says_so(mixed):
    """A row whose record has no amounts is 'amount not applicable'."""
    taken = outcomes(mixed[0])
    found = cost_per_success(taken, applicable=dict.fromkeys(taken.rows, False))
    assert set(map(str, found)) == {"amount not applicable"}


def test_values_refuse_an_unknown_quantity(mixed):
    """A misspelt quantity is a ValueError that lists the four."""
    with pytest.raises(ValueError, match="quantity must be one of pass_pow_3, pass_at_3"):
        values(outcomes(mixed[0]), "pass3")


def test_matrices_cannot_be_changed_by_a_caller(mixed):
    """The matrices are read-only, so that no chart can alter a figure."""
    with pytest.raises(ValueError, match="read-only"):
        outcomes(mixed[0]).passes[0, 0] = 3
    assert isinstance(outcomes(mixed[0]).passes, np.ndarray)
