"""Plans: tasks for a bound, power, detectable differences, held against definitions and enumeration."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner
from dask_cluster import cluster
from hypothesis import given, settings
from hypothesis import strategies as st

from medgauge_lib.charts import plans
from medgauge_lib.charts.figure import figure
from medgauge_lib.cli import main
from medgauge_lib.export.tables import difference_plan_table, exam_plan_table, power_plan_table
from medgauge_lib.pairs import mcnemar_p, resolution
from medgauge_lib.parallel import Workers
from medgauge_lib.planning import (
    difference_plan,
    exam_plan,
    power_plan,
    tasks_for_bound,
    tasks_needed,
)
from medgauge_lib.progress import Progress
from medgauge_lib.results import Absent
from medgauge_lib.simulation import Contest, Rates, exact_power, first_step, reaching
from medgauge_lib.simulation.power import exact_powers

HERE = Workers(jobs=1)


@pytest.mark.parametrize(("bound", "n_tasks"), [(0.80, 14), (0.90, 29), (0.95, 59), (0.99, 299)])
def test_tasks_of_the_published_thresholds(bound, n_tasks):
    """Methodology 0.1.0, "The exam and its bound"."""
    assert tasks_for_bound(bound) == n_tasks


def test_bounds_of_the_published_examples():
    """0.05^(1/59) = 0.950492… and 0.05^(1/13) = 0.794183…, printed to six decimals."""
    bounds = dict(exam_plan([], [59, 13]).bounds)
    assert (f"{bounds[59]:.6f}", f"{bounds[13]:.6f}") == ("0.950492", "0.794183")


def test_tasks_for_a_bound_are_the_fewest_by_definition():
    """For every bound in thousandths, multiplying it until it falls to 0.05 counts the tasks."""
    bounds = [Fraction(k, 1000) for k in range(1, 1000)] + [Fraction(9995, 10_000), Fraction(1, 20)]
    for bound in bounds:
        n, product_of_all = 1, bound
        while product_of_all > Fraction(1, 20):
            n, product_of_all = n + 1, product_of_all * bound
        assert tasks_for_bound(bound) == n


@given(st.integers(2, 2000))
def test_one_more_task_never_claims_less(n_tasks):
    """The bound of n tasks needs n tasks, and no fewer: tasks and bound are inverse to each other."""
    found = exam_plan([], [n_tasks - 1, n_tasks]).bounds
    assert found[0][1] < found[1][1]
    between = Fraction((found[0][1] + found[1][1]) / 2)
    assert between > Fraction(9999, 10_000) or tasks_for_bound(between) == n_tasks


@pytest.mark.parametrize("bound", [0, -0.5, 1, 0.99995, Fraction(3, 2)])
def test_a_bound_out_of_range_is_refused(bound):
    """No number of tasks gives a bound of 1, and below 0 there is none."""
    with pytest.raises(ValueError, match=r"bound must be above 0 and at most 0\.9999, but got"):
        tasks_for_bound(bound)


def by_enumeration(a, b, n_tasks, alpha):
    """Power over every outcome of every task: a alone, b alone, or neither; a's and b's runs independent."""
    pass_a, pass_b = a**3, b**3
    chance = {1: pass_a * (1 - pass_b), -1: pass_b * (1 - pass_a)}
    chance[0] = 1 - chance[1] - chance[-1]
    total = Fraction(0)
    for outcome in product((1, -1, 0), repeat=n_tasks):
        if mcnemar_p(outcome.count(1), outcome.count(-1)) <= alpha:
            total += np.prod([chance[one] for one in outcome], initial=Fraction(1))
    return total


@pytest.mark.parametrize("alpha", [Fraction(1, 20), Fraction(1, 3), first_step(3)])
@pytest.mark.parametrize(("a", "b"), [(Fraction(3, 4), Fraction(1, 2)), (Fraction(7, 8), Fraction(1, 4))])
def test_power_is_that_of_every_outcome(a, b, alpha):
    """Without spread between tasks, power is the chance of all outcomes with a small p, one by one."""
    rates = Rates(float(a), 0.0), Rates(float(b), 0.0)
    for n_tasks in (6, 8):
        expected = by_enumeration(a, b, n_tasks, alpha)
        assert exact_power(Contest(*rates, n_tasks, alpha)) == pytest.approx(float(expected), abs=1e-12)


def by_levels(contest):
    """Power from the levels of both rows, by definition: discordance, then every b and c with a small p."""
    a, b = (row.levels / 2**32 for row in (contest.a, contest.b))
    independent = np.mean(a**3) * np.mean(1 - b**3), np.mean(1 - a**3) * np.mean(b**3)
    together = np.mean(a**3 * (1 - b**3)), np.mean((1 - a**3) * b**3)
    r, n = contest.correlation, contest.n_tasks
    up, down = (r * t + (1 - r) * i for t, i in zip(together, independent, strict=True))
    power = np.zeros((n + 1, n + 1))
    power[0, 0] = 1.0
    for _ in range(n):  # one task at a time
        grown = power * (1 - up - down)
        grown[1:, :] += power[:-1, :] * up
        grown[:, 1:] += power[:, :-1] * down
        power = grown
    small = [(x, y) for x in range(n + 1) for y in range(n + 1 - x) if mcnemar_p(x, y) <= contest.alpha]
    return sum(power[x, y] for x, y in small)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 1.0])
def test_power_with_spread_is_that_of_the_levels(correlation):
    """With spread and correlation, power is what adding one task at a time gives."""
    contest = Contest(reaching(0.8, 0.3), reaching(0.5, 0.25), 40, first_step(4), correlation)
    found = exact_powers(contest)
    assert found[-1] == exact_power(contest)
    for n_tasks in (12, 25, 40):
        one = Contest(contest.a, contest.b, n_tasks, contest.alpha, correlation)
        assert found[n_tasks - 1] == pytest.approx(by_levels(one), abs=1e-7)


@pytest.mark.parametrize(
    ("a", "b", "power"),
    [(0.95, 0.4, 0.8), (0.9, 0.5, 0.9), (0.99, 0.1, 0.9), (0.98, 0.02, 0.93), (0.8, 0.6, 0.5)],
)
def test_tasks_needed_are_the_fewest_from_which_on_power_holds(a, b, power):
    """One task fewer has less power, and no larger number has less, even where power falls by steps."""
    contest = Contest(Rates(a ** (1 / 3), 0.0), Rates(b ** (1 / 3), 0.0), 1)
    needed = tasks_needed(contest, power=power)
    each = [exact_power(Contest(contest.a, contest.b, n)) for n in range(1, 400)]
    assert all(found >= power for found in each[needed - 1 :])
    assert each[needed - 2] < power


def test_power_falls_by_steps_somewhere():
    """The fewest tasks are not simply the first with the power, as one more task can lower it by a hair."""
    found = exact_powers(Contest(Rates(0.51 ** (1 / 3), 0.0), Rates(0.5105 ** (1 / 3), 0.0), 80))
    assert -1e-4 < np.diff(found).min() < -1e-9


def test_equal_rows_need_more_tasks_than_there_are():
    """Without a difference no number of tasks gives the power, and the reason is said."""
    same = reaching(0.6, 0.3)
    needed = tasks_needed(Contest(same, same, 1))
    assert needed == Absent("even 2,000 tasks have less power")


@pytest.mark.parametrize("power", [0, 1, 80])
def test_a_power_out_of_range_is_refused(power):
    """80 is no share."""
    with pytest.raises(ValueError, match="power must lie strictly between 0 and 1, but got"):
        difference_plan(Rates(0.5, 0.0), [10], power=power)


def test_a_detectable_difference_is_the_least_with_the_power():
    """At the difference found the power is there, and a millionth of the rate below it is not."""
    b = reaching(0.5, 0.3)
    for line in difference_plan(b, [60, 150], correlation=0.5, alpha=first_step(5)).lines:
        at, below = (
            exact_power(Contest(Rates(mean, 0.3), b, line.n_tasks, first_step(5), 0.5))
            for mean in (line.a.mean, line.a.mean - 1e-6)
        )
        assert below < 0.8 <= at
        assert line.difference == line.a.power(3) - b.power(3) > 0


@settings(max_examples=10, deadline=None)
@given(
    st.floats(0.1, 0.8),
    st.sampled_from([0.0, 0.2, 0.3]),
    st.floats(0, 1),
    st.integers(20, 150),
    st.integers(2, 30),
)
def test_plans_move_the_right_way(behind, spread, correlation, n_tasks, n_rows):
    """More tasks or a lower power never ask for a wider gap; more rows never for a narrower one."""
    try:
        b = reaching(behind, spread)
    except ValueError:
        return
    alpha = first_step(n_rows)

    def least(n=n_tasks, level=alpha, power=0.8):
        plan = difference_plan(b, [n], power=power, alpha=level, correlation=correlation)
        found = plan.lines[0].difference
        return float("inf") if isinstance(found, Absent) else float(found)

    assert least(2 * n_tasks) <= least() + 1e-6
    assert least(level=first_step(n_rows + 1)) >= least() - 1e-6
    assert least(power=0.9) >= least() - 1e-6


def test_a_power_below_the_size_of_the_test_has_no_least_difference():
    """Where equal rows have the power too the least difference is absent, with that reason, and never 0."""
    equal = Rates(0.5, 0.0)
    size = exact_power(Contest(equal, equal, 100))
    low, high = (difference_plan(equal, [100], power=size * k).lines[0] for k in (0.99, 1.01))
    reason = "the power wanted is no more than that to show two equal rows to differ"
    assert low.difference == Absent(reason)
    assert high.difference > 0
    found = plans.difference_figure(difference_plan(equal, [5, 100], power=size * 0.99))
    assert str(found) == (
        "On none of these numbers of tasks is there a least difference: no row ahead with this spread has "
        f"the power and {reason}."
    )
    some = plans.difference_figure(difference_plan(equal, [5, 100])).caption
    assert some.endswith("have no point: no row ahead with this spread has the power.")
    assert plans.difference_figure(difference_plan(equal, [100])).caption.endswith(
        "no Monte Carlo error in it."
    )


def test_a_plan_says_between_which_steps_of_holm_power_lies():
    """Beside the tasks at Holm's first step stand those at 0.05; two rows alone have one step."""
    a, b = reaching(0.75, 0.3), reaching(0.6, 0.3)
    several, alone = (
        power_plan(a, b, [100], alpha=first_step(n), correlation=0.5, n_replications=20) for n in (8, 2)
    )
    assert several.needed > several.needed_alone == alone.needed == alone.needed_alone
    said = " ".join(plans.plan_words(several))
    assert f"Holm's last step, it needs {alone.needed} tasks." in said
    assert "Holm's last step" not in " ".join(plans.plan_words(alone))
    assert "of 95 % intervals one in twenty misses it by chance" in str(plans.plan_sentences(several))


def test_no_difference_may_be_enough():
    """Five tasks never show two rows to differ, and the plan says so instead of a number."""
    plan = difference_plan(Rates(0.5, 0.0), [5, 100])
    assert plan.lines[0].difference == Absent("no row ahead with this spread has the power")
    frame = plan.to_frame()
    assert frame["difference"].isna().tolist() == [True, False]
    assert frame["difference_reason"].tolist() == ["no row ahead with this spread has the power", ""]


@pytest.fixture(scope="module")
def plan():
    """Two rows of a board of five, one clearly ahead."""
    return power_plan(
        reaching(0.85, 0.25), reaching(0.55, 0.3), [30, 60], alpha=first_step(5), correlation=0.5,
        n_replications=1000, workers=HERE,
    )  # fmt: skip


def test_simulation_agrees_with_enumeration(plan):
    """Simulated power lies within four Monte Carlo errors of the exact one, on every number of tasks."""
    assert [line.contest.n_tasks for line in plan.study.lines] == sorted({30, 60, plan.needed})
    for line in plan.study.lines:
        assert abs(float(line.shown) - line.exact) <= 4 * line.shown.standard_error
        assert line.exact == plan.curve[line.contest.n_tasks - 1]


def test_a_plan_is_a_table(plan):
    """One line a number of tasks, the Monte Carlo error beside the simulated power, the needed one marked."""
    frame = plan.to_frame()
    assert frame.loc[frame["needed"], "n_tasks"].tolist() == [plan.needed]
    assert {"n_tasks", "alpha", "power", "power_se", "power_low", "power_high", "exact"} <= set(frame)
    table = power_plan_table(plan)
    assert json.loads(table.to_bytes("json"))["about"]["replications"] == 1000
    assert "fewest with the power wanted" in table.to_bytes("markdown").decode()
    for other in (
        exam_plan_table(exam_plan()),
        difference_plan_table(difference_plan(Rates(0.5, 0), [9, 99])),
    ):
        assert len(other.worded) == len(other.frame)


def test_the_same_plan_whoever_does_the_work(plan):
    """Two workers give the figures of one, to the digit."""
    again = power_plan(
        reaching(0.85, 0.25), reaching(0.55, 0.3), [30, 60], alpha=first_step(5), correlation=0.5,
        n_replications=1000, workers=Workers(jobs=2),
    )  # fmt: skip
    assert again == plan


def test_charts_of_plans_draw_what_their_tables_hold(plan):
    """Each chart has its words, a mark for every simulated point, and the planned numbers."""
    found = figure(
        plans.power_chart(plan),
        id="power",
        title="Power",
        caption="How to read it.",
        table=plans.power_frame(plan),
    )
    assert f"A power of 80.0\u00a0% needs {plan.needed} tasks." in found.alt
    frame = plans.power_frame(plan)
    assert (frame["kind"] == "simulated").sum() == len(plan.study.lines)
    assert frame.loc[frame["kind"] == "exact", "power"].tolist()[0] == plan.curve[0]
    differences = difference_plan(reaching(0.5, 0.3), [10, 50, 100], alpha=first_step(5))
    assert plans.difference_frame(differences)["n_tasks"].tolist() == [50, 100]
    chart = plans.difference_chart(differences)
    assert figure(chart, id="d", title="D", caption="C", table=plans.difference_frame(differences)).n_marks
    steps = plans.resolution_frame(38, 127).set_index("n_rows")
    assert (steps.loc[38, "n_pairs"], steps.loc[38, "n_discordant"]) == (703, 15)
    assert {n: int(need) for n, need in steps["n_discordant"].items()} == {
        n: resolution(n, 127).n_discordant
        for n in range(2, 61)
        if n in (2, 38, 60) or resolution(n, 127).n_discordant > resolution(n - 1, 127).n_discordant
    }
    chart = plans.resolution_chart(38, 127)
    assert (
        "With 38 rows it is 15 tasks of the 127 planned."
        in figure(chart, id="r", title="R", caption="C", table=plans.resolution_frame(38, 127)).alt
    )


def run(*arguments):
    """Run ``medgauge plan`` in this process."""
    return CliRunner().invoke(main, ["plan", *map(str, arguments)], catch_exceptions=False)


PAIR = ("power", "--a", 0.8, "--b", 0.5, "--tasks", 9)
POWER = ("power", "--a", 0.85, "--b", 0.55, "--tasks", 60, "--rows", 5, "--jobs", 1, "--replications", 500)
ON_CLUSTER = (*(part for part in POWER if part not in ("--jobs", 1)), "--dask")


def test_plan_bound_prints_the_published_table():
    """The thresholds stand with their tasks, and it is said that nothing is claimed where a task fails."""
    done = run("bound")
    assert done.exit_code == 0
    for line in ("0.8 14 80.7 %", "0.9 29 90.1 %", "0.95 59 95.0 %", "0.99 299 99.0 %"):
        assert line in [" ".join(found.split()) for found in done.stdout.splitlines()]
    assert "makes no claim for an exam in which some task may fail" in done.stdout
    fine = run("bound", "--bound", 0.9999).stdout.splitlines()[1].split()
    assert fine == ["0.9999", "29,956", "99.99", "%"]  # ln 0.05 / ln 0.9999 = 29,955.8
    asked = json.loads(run("bound", "--bound", 0.97, "--tasks", 13, "--format", "json").stdout)["rows"]
    assert [(line["asked"], line["n_tasks"]) for line in asked] == [(0.97, 99), (None, 13)]


def test_plan_resolution_says_what_a_board_shows():
    """38 rows need 15 tasks, all one way; a board with fewer cannot show anything; one row has no pair."""
    assert (
        "With 38 rows (703 pairs) 15 tasks that all go one way"
        in run("resolution", "--rows", 38, "--tasks", 127).stdout
    )
    assert "it cannot show any two rows to differ" in run("resolution", "--rows", 38, "--tasks", 14).stdout
    found = json.loads(run("resolution", "--rows", 38, "--tasks", 14, "--format", "json").stdout)
    assert found == {"n_rows": 38, "n_tasks": 14, "n_pairs": 703, "n_discordant": 15, "possible": False}
    assert "nothing to be compared with" in run("resolution", "--rows", 1, "--tasks", 9).stdout


def test_plan_power_is_the_librarys_plan():
    """The command prints the table of the library's plan, in text and for programs, with every assumption."""
    found = power_plan(
        reaching(0.85, 0.3), reaching(0.55, 0.3), [60], alpha=first_step(5), correlation=0.5,
        n_replications=500, workers=HERE,
    )  # fmt: skip
    done = run(*POWER)
    assert done.exit_code == 0
    assert all(sentence in done.stdout for sentence in found.study.assumptions)
    for form in ("json", "csv", "markdown", "latex"):
        assert run(*POWER, "--format", form).stdout_bytes == power_plan_table(found).to_bytes(form)


def test_plan_difference_is_the_librarys_plan():
    """The command prints the least differences of the library's plan."""
    b = reaching(0.55, 0.3)
    found = difference_plan(b, [60, 120], power=0.9, alpha=first_step(5), correlation=0.5)
    done = run(
        "difference",
        "--b",
        0.55,
        "--tasks",
        60,
        "--tasks",
        120,
        "--power",
        0.9,
        "--rows",
        5,
        "--format",
        "csv",
    )
    assert done.stdout_bytes == difference_plan_table(found).to_bytes("csv")


def test_a_cluster_gives_the_same_plan(tmp_path):
    """Two workers of a Dask cluster print what one process prints; an address without a scheduler is said."""
    with cluster(tmp_path, 2) as dask:
        done = run(*ON_CLUSTER, dask.address)
    assert (done.exit_code, done.stdout) == (0, run(*POWER).stdout)
    done = run(*ON_CLUSTER, dask.address)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "no Dask scheduler answers" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bound", "--bound", 1), "1.0 is not in the range 0<x<=0.9999"),
        (("bound", "--bound", "nan"), "'--bound': nan is not in the range 0<x<=0.9999"),
        ((*PAIR, "--power", "nan"), "'--power': nan is not in the range 0<x<1"),
        ((*PAIR, "--correlation", "nan"), "'--correlation': nan is not in the range 0<=x<=1"),
        ((*PAIR, "--spread", "nan"), "'--spread': nan is not in the range 0<=x<0.5"),
        ((*PAIR, "--a", "nan"), "'--a': nan is not in the range 0<=x<=1"),
        ((*PAIR, "--a", 0.4, "--b", 0.5), "row a is to be ahead, but --a is 0.4 and --b 0.5\n  swap the two"),
        (("bound", "--tasks", 0), "0 is not in the range"),
        (("resolution", "--rows", 0, "--tasks", 9), "0 is not in the range"),
        ((*PAIR, "--a", 85), "85.0 is not in the range 0<=x<=1"),
        ((*PAIR, "--tasks", 2001), "2001 is not in the range 1<=x<=2000"),
        ((*PAIR, "--power", 1), "1.0 is not in the range 0<x<1"),
        ((*PAIR, "--spread", 1e-9), "spread must be 0, or at least 0.0001 and below 0.5, but got 1e-09"),
        ((*PAIR, "--spread", 1e-300), "spread must be 0, or at least 0.0001 and below 0.5, but got 1e-300"),
        ((*PAIR, "--spread", 0.5), "0.5 is not in the range 0<=x<0.5"),
        ((*PAIR, "--a", 0.999), "for a spread of 0.3, but got 0.999\n  lower the spread"),
        ((*PAIR, "--jobs", 1, "--dask", "x:1"), "leave it out where dask is given"),
        (("difference", "--b", 0.001, "--tasks", 9), "for a spread of 0.3, but got 0.001"),
        (("difference", "--b", 0.5), "Missing option '--tasks'"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_said_with_their_range(arguments, message):
    """Each bad argument is named with what would be right, without a traceback."""
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert (done.stdout, done.stderr.count("\n") <= 2) == ("", True)


def test_an_interrupted_plan_shows_what_ended(monkeypatch):
    """Ctrl-C keeps the replications that ended: they are shown with their number; exit code 130."""

    def interrupt(self, text=""):
        self._ended += 1
        if self._ended == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "ended", interrupt)
    done = run(*POWER[:-1], 2000)
    assert done.exit_code == 130
    assert "simulated boards of the 2,000 asked for gave" in done.stdout
    assert "of 2,000 replications" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_plan_ends_cleanly_at_ctrl_c():
    """A real interrupt of the command ends it with what it has, one line, and no process left."""
    command = [sys.executable, "-m", "medgauge", "plan", *map(str, POWER[:-1]), "400000"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        try:
            first = running.stderr.readline()
            os.kill(running.pid, signal.SIGINT)
            out, err = running.communicate(timeout=60)
        finally:
            running.kill()
    assert "left" in first
    assert running.returncode == 130, err
    assert "of the 400,000 asked for" in out
    assert "Traceback" not in err
