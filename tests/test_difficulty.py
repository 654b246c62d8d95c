"""Difficulty: strata by definition, what stays closed, and the attempt to infer a task's class."""

from __future__ import annotations

import itertools
import json
import random
from fractions import Fraction

import by_definition
import pytest
from beside import boards, labels_of
from hypothesis import given, settings
from hypothesis import strategies as st
from make_records import community, record, task_key, write

from medgauge_lib import demo
from medgauge_lib.board import board
from medgauge_lib.difficulty import (
    FEW_TASKS,
    FEWEST,
    NO_STRATUM,
    NO_TASK,
    TOLD,
    UNCOUNTED,
    WITHHELD,
    difficulty,
)
from medgauge_lib.labels import read_labels
from medgauge_lib.records import read_records
from medgauge_lib.results import Absent

PATTERNS = {n: [(1, 1)] * n + [(0, 1)] * (3 - n) for n in range(4)}


def published_strata(passes, classes):
    """Work out the strata that a record publishes, from passes and classes of its tasks."""
    strata = {}
    for number in sorted(set(classes.values())):
        of_class = [passes[task] for task in classes if classes[task] == number]
        n = len(of_class)
        strata[str(number)] = {
            "n": n,
            "task_pass_rate": float(Fraction(sum(of_class), 3 * n)),
            "pass_pow_3": float(Fraction(of_class.count(3), n)),
        }
    return strata


def made(folder, boards, classes, *, publish="public", strata=True, labels=None, seed=20260101):
    """Return difficulty of rows given as passes by task; classes are published and supplied alike."""
    rows = []
    for k, passes in enumerate(boards):
        row = record(f"res-2026-01-01-{k}", {task: PATTERNS[n] for task, n in passes.items()})
        if strata:
            row["scores"]["by_subset"]["holdout"]["by_difficulty_class"] = published_strata(passes, classes)
        rows.append(row)
    records = read_records(write(folder / "records", *rows))
    supplied = classes if labels is None else labels
    file = folder / "labels.json"
    file.write_text(json.dumps({task_key(task): label for task, label in supplied.items()}))
    return difficulty(records, board(records, seed=seed), read_labels(file), publish=publish)


def random_case(seed, n_tasks, n_rows, n_classes=3):
    """Draw passes of rows and classes of tasks."""
    draw = random.Random(seed)
    classes = {task: draw.randint(1, n_classes) for task in range(1, n_tasks + 1)}
    return [{task: draw.choice((0, 1, 2, 3, 3)) for task in classes} for _ in range(n_rows)], classes


def test_strata_by_definition(tmp_path):
    """Counts, rates and intervals of each class are those of the slow second implementation."""
    (passes, *_), classes = random_case(5, 24, 1)
    found = made(tmp_path, [passes], classes, publish="internal", seed=7)
    for stratum in found.rows[0].strata[:3]:
        of_class = [passes[task] for task in sorted(classes) if classes[task] == stratum.difficulty]
        n, successes = len(of_class), of_class.count(3)
        assert (stratum.n_tasks, stratum.pass_pow_3.n_successes) == (n, successes)
        low, high = by_definition.clopper_pearson(successes, n, 0.05)
        assert stratum.pass_pow_3.interval.low == pytest.approx(low, abs=1e-9)
        assert stratum.pass_pow_3.interval.high == pytest.approx(high, abs=1e-9)
        rates = [Fraction(passed, 3) for passed in of_class]
        assert stratum.task_pass_rate.value == by_definition.mean(rates)
        interval = stratum.task_pass_rate.interval
        words = by_definition.philox(7, by_definition.RESAMPLES * n)
        assert (interval.low, interval.high) == by_definition.bca(rates, words)
        assert (interval.seed, interval.method) == (7, "bca_task_bootstrap")


def test_without_labels_strata_are_as_published(tmp_path):
    """From n and rate come the count and its exact interval; a task pass rate has no interval then."""
    row = record(tasks=dict.fromkeys(range(1, 13), PATTERNS[3]))
    row["scores"]["by_subset"]["holdout"]["by_difficulty_class"] = {
        "1": {"n": 7, "task_pass_rate": 0.81, "pass_pow_3": 0.43},
        "2": {"n": 3, "pass_pow_3": 0.5},
        "4": {"n": 2},
    }
    records = read_records(write(tmp_path, row))
    found = difficulty(records, board(records))
    first, second, third, fourth = found.rows[0].strata
    assert (first.pass_pow_3.n_successes, first.pass_pow_3.value) == (3, Fraction(3, 7))
    assert first.pass_pow_3.interval.high == pytest.approx(by_definition.clopper_pearson(3, 7, 0.05)[1])
    assert first.task_pass_rate.value == Fraction(81, 100)
    assert first.task_pass_rate.interval == Absent("needs the labels of the tasks")
    assert second.pass_pow_3 == Absent("the published 0.5 of 3 tasks is no whole number of tasks")
    assert second.task_pass_rate == NO_STRATUM
    assert (third.n_tasks, third.pass_pow_3) == (0, NO_TASK)  # 7 + 3 + 2 are all tasks
    assert (fourth.n_tasks, fourth.pass_pow_3) == (2, NO_STRATUM)
    assert found.distributions == ()


@pytest.mark.parametrize(
    ("block", "fits"),
    [
        ({"n": 300, "pass_pow_3": 0.3}, "75 to 105"),
        ({"n": 300, "pass_pow_3": 0.33}, "98 to 100"),
        ({"n": 300, "pass_pow_3": 0.333}, None),
        ({"n": 300, "pass_pow_3": 0.3, "task_pass_rate": 0.4111111111111111}, None),
        ({"n": 300, "pass_pow_3": 0.0, "task_pass_rate": 0.05}, "0 to 1"),
        ({"n": 300, "pass_pow_3": 1.0, "task_pass_rate": 0.999}, None),
    ],
)
def test_rate_that_several_counts_give_stands_for_none(tmp_path, block, fits):
    """A rate that several counts round to stays as published, without count and interval and saying why."""
    row = record()
    plain = dict.fromkeys(("task_pass_rate", "pass_pow_3", "pass_at_3", "continuous_score"), 1)
    plain |= dict.fromkeys(("instability", "veto_rate", "error_rate_subject"), 0)
    row["scores"]["by_subset"]["holdout"] |= plain | {"by_difficulty_class": {"1": block}}
    records = read_records(write(tmp_path, row))
    found = difficulty(records, board(records))
    rate, frame = found.rows[0].strata[0].pass_pow_3, found.to_frame()
    if fits is None:
        assert rate.n_successes == round(300 * block["pass_pow_3"])
        assert rate.interval.method == "clopper_pearson"
        return
    assert (rate.value, rate.n_successes) == (Fraction(str(block["pass_pow_3"])), None)
    reason = f"no one count: the published {block['pass_pow_3']!r} fits {fits} of 300 tasks"
    assert rate.interval == Absent(reason)
    assert frame["n_successes"].isna().all()
    assert frame["pass_pow_3_reason"][0] == reason


def test_no_stratum_is_not_zero_tasks(tmp_path):
    """A record that publishes no strata has none, which is not the same as classes without tasks."""
    records = read_records(write(tmp_path, record()))
    found = difficulty(records, board(records))
    assert {stratum.n_tasks for stratum in found.rows[0].strata} == {NO_STRATUM}
    assert found.to_frame()["n_tasks"].isna().all()
    assert found.rows[0].monotone == Absent("fewer than two classes with a figure")


def test_rises_are_facts_about_neighbours(tmp_path):
    """Each neighbouring pair of classes where pass^3 rises is told with the difference; ties do not rise."""
    classes = dict.fromkeys((1, 2), 1) | dict.fromkeys((3, 4), 2) | dict.fromkeys((5, 6), 4)
    rising = dict.fromkeys((1, 3, 5, 6), 3) | {2: 0, 4: 0}
    falling = dict.fromkeys((1, 2, 3), 3) | {4: 0, 5: 0, 6: 0}
    found = made(tmp_path, [rising, falling], classes)
    assert [(r.easier, r.harder, r.difference) for r in found.row("res-2026-01-01-0").rises] == [
        (2, 4, Fraction(1, 2))
    ]
    assert (found.row("res-2026-01-01-0").monotone, found.row("res-2026-01-01-1").monotone) == (False, True)
    assert found.rises_frame()[["easier", "harder", "difference"]].values.tolist() == [[2, 4, 0.5]]


def singled_out(tasks):
    """Rows of which each passes one task alone: their strata tell the class of every task."""
    return [{task: 3 * (task == one) for task in tasks} for one in tasks]


def test_small_class_is_as_published_in_public(tmp_path):
    """In public a class of few tasks keeps its published figure, even where the records tell every class."""
    classes = dict.fromkeys(range(1, FEWEST + 1), 1) | {20: 4}
    passes = {k: k % 4 for k in range(1, FEWEST + 1)} | {20: 2}
    boards = [passes, *singled_out(passes)]
    public = made(tmp_path / "p", boards, classes)
    assert TOLD in public.notes
    first, *_, fourth = public.row("res-2026-01-01-0").strata
    assert (first.provenance, first.task_pass_rate.interval.method) == ("recomputed", "bca_task_bootstrap")
    assert (fourth.provenance, fourth.n_tasks) == ("as published", 1)
    assert fourth.task_pass_rate.interval == FEW_TASKS
    inside = made(tmp_path / "i", boards, classes, publish="internal").row("res-2026-01-01-0").strata[3]
    assert inside.provenance == "recomputed"
    assert inside.task_pass_rate.interval == Absent("one task has no bootstrap interval")


def test_published_strata_that_tell_no_class_are_shown_as_they_are(tmp_path):
    """Where classes do not follow from the records, a public stratum is the published one and no more."""
    boards, classes = random_case(3, 24, 2)
    public = made(tmp_path / "p", boards, classes)
    plain = made(tmp_path / "n", boards, classes, publish="internal")
    for stratum, recomputed in zip(public.rows[0].strata[:3], plain.rows[0].strata[:3], strict=True):
        assert stratum.provenance == "as published"
        assert stratum.task_pass_rate.interval == WITHHELD
        assert stratum.pass_pow_3 == recomputed.pass_pow_3
        assert recomputed.task_pass_rate.interval.method == "bca_task_bootstrap"
    assert TOLD not in public.notes
    # The record publishes how many tasks each class has, so their counts tell nothing more.
    assert public.distributions[0].counts == plain.distributions[0].counts


def test_disagreement_is_told_inside_and_withheld_outside(tmp_path):
    """Inside the recomputed stratum is shown with what was published; in public only that they differ."""
    passes = {k: k % 4 for k in range(1, 15)}
    classes = {k: 1 + k % 2 for k in passes}
    labels = {k: number for k, number in classes.items() if k != 3}
    inside = made(tmp_path / "i", [passes], classes, labels=labels, publish="internal")
    assert inside.notes == ("Tasks without a label: 1 of 14; they are in no class.",)
    stratum = inside.rows[0].strata[1]
    assert (stratum.provenance, stratum.n_tasks) == ("recomputed", 6)
    assert stratum.remark.startswith("the record publishes n 7, pass_pow_3 0.42857142857142855")
    public = made(tmp_path / "p", [passes], classes, labels=labels)
    outside = public.rows[0].strata[1]
    assert (outside.provenance, outside.n_tasks) == ("as published", 7)
    assert outside.remark == "labels and runs give other figures, which are withheld"
    assert public.notes == (UNCOUNTED,)


def test_counts_beside_some_published_classes_are_withheld(tmp_path):
    """Where records publish some classes only, a count would tell the class of the tasks left over."""
    passes = {1: 3, 2: 3, 3: 0, 4: 1, 5: 2}
    classes = {1: 1, 2: 1, 3: 4, 4: 4, 5: 4}
    row = record("res-2026-01-01-0", {task: PATTERNS[n] for task, n in passes.items()})
    strata = published_strata(passes, classes)
    row["scores"]["by_subset"]["holdout"]["by_difficulty_class"] = {"1": strata["1"]}
    records = read_records(write(tmp_path / "records", row))
    file = tmp_path / "labels.json"
    file.write_text(json.dumps({task_key(task): label for task, label in classes.items()}))
    found = difficulty(records, board(records), read_labels(file))
    assert found.notes[0] == UNCOUNTED
    (counts,) = found.distributions
    assert (counts.counts, counts.n_withheld, counts.n_unlabelled, counts.reason) == (
        (),
        5,
        0,
        WITHHELD.reason,
    )


def test_unpublished_strata_are_withheld_in_public(tmp_path):
    """Strata that no record publishes are withheld where tasks could be told apart by their outcomes."""
    boards, classes = random_case(1, 12, 3)
    found = made(tmp_path, boards, classes, strata=False)
    assert {stratum.n_tasks for row in found.rows for stratum in row.strata} == {WITHHELD}
    assert any("withheld" in note for note in found.notes)
    assert found.to_frame()[["n_tasks", "pass_pow_3", "task_pass_rate"]].isna().all(axis=None)


def test_strata_of_exchangeable_tasks_are_shown(tmp_path):
    """Strata are shown where each task has a double of another class, since then none is told apart."""
    passes = {1: 3, 2: 3, 3: 0, 4: 0}
    first, second, *_ = made(tmp_path, [passes], {1: 1, 2: 2, 3: 1, 4: 2}, strata=False).rows[0].strata
    assert (first.n_tasks, first.pass_pow_3.value, first.provenance) == (2, Fraction(1, 2), "recomputed")
    assert second.task_pass_rate.interval == WITHHELD


def consistent_classes(boards, numbers, shown):
    """Every assignment of classes that agrees with the shown strata of all rows, by trying all."""
    tasks = sorted(boards[0])
    fitting = []
    for assigned in itertools.product(numbers, repeat=len(tasks)):
        guess = dict(zip(tasks, assigned, strict=True))
        strata = [published_strata(passes, guess) for passes in boards]
        if all(strata[row].get(str(number)) == block for row, number, block in shown):
            fitting.append(guess)
    return fitting


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 2), st.integers(2, 3))
def test_no_class_can_be_inferred_from_unpublished_strata(tmp_path_factory, seed, n_rows, n_classes):
    """Whoever knows every run and tries all assignments finds no task's class from the figures shown."""
    draw = random.Random(seed)
    doubles = [{k: draw.choice((0, 3)) for k in range(1, 7)} for _ in range(n_rows)]
    classes = {k: draw.randint(1, n_classes) for k in range(1, 7)}
    found = made(tmp_path_factory.mktemp("d"), doubles, classes, strata=False)
    shown = []
    for row in found.rows:
        for stratum in row.strata[:n_classes]:
            block = {
                "n": stratum.n_tasks,
                "task_pass_rate": stratum.task_pass_rate and float(stratum.task_pass_rate),
                "pass_pow_3": stratum.pass_pow_3 and float(stratum.pass_pow_3),
            }
            if isinstance(stratum.n_tasks, int):
                shown.append((int(row.id[-1]), stratum.difficulty, block if stratum.n_tasks else None))
    fitting = consistent_classes(doubles, range(1, n_classes + 1), shown)
    assert classes in fitting
    assert all(len({guess[task] for guess in fitting}) > 1 for task in classes)


def test_one_class_for_all_tasks_is_withheld_unless_published(tmp_path):
    """A class that holds every task would be the label of each, in strata and in counts alike."""
    passes = {k: 3 * (k % 2) for k in range(1, 9)}
    classes = dict.fromkeys(passes, 3)
    closed = made(tmp_path / "c", [passes], classes, strata=False)
    assert closed.rows[0].strata[2].n_tasks == WITHHELD
    assert (closed.distributions[0].counts, closed.distributions[0].n_withheld) == ((), 8)
    published = made(tmp_path / "p", [passes], classes)
    assert published.rows[0].strata[2].n_tasks == 8
    assert published.distributions[0].counts == ((3, 8),)


def test_further_labels_are_counted_without_single_tasks(tmp_path):
    """A label that one task carries is not named in public; tasks without the label are counted."""
    passes = dict.fromkeys(range(1, 7), 3)
    wards = {1: "a", 2: "a", 3: "b"}
    labels = {k: {"difficulty": 1 + k % 2} | ({"ward": wards[k]} if k in wards else {}) for k in passes}
    classes = {k: 1 + k % 2 for k in passes}
    public = made(tmp_path / "p", [passes], classes, labels=labels).distributions[1]
    assert (public.family, public.counts, public.n_withheld, public.n_unlabelled) == (
        "ward",
        (("a", 2),),
        1,
        3,
    )
    assert public.reason == "labels of fewer than 2 tasks"
    inside = made(tmp_path / "i", [passes], classes, labels=labels, publish="internal").distributions[1]
    assert (inside.counts, inside.n_withheld) == ((("a", 2), ("b", 1)), 0)


def test_community_rows_have_strata_of_their_own_tasks(tmp_path):
    """An unranked row comes last and counts the tasks that it holds."""
    rows = [
        record("res-2026-01-01-a", dict.fromkeys((1, 2, 3), PATTERNS[3])),
        community("res-2026-01-01-0", dict.fromkeys((1, 3), PATTERNS[3])),
    ]
    records = read_records(write(tmp_path / "r", *rows))
    file = tmp_path / "labels.json"
    file.write_text(json.dumps({task_key(1): 1, task_key(2): 1, task_key(3): 2}))
    found = difficulty(records, board(records), read_labels(file), publish="internal")
    assert [row.id[-1] for row in found.rows] == ["a", "0"]
    assert [[s.n_tasks for s in row.strata] for row in found.rows] == [[2, 1, 0, 0], [1, 1, 0, 0]]


def test_publish_is_one_of_two(tmp_path):
    """Another word for publish is the caller's mistake and says so."""
    records = read_records(write(tmp_path, record()))
    with pytest.raises(ValueError, match="publish must be one of public, internal, but got 'open'"):
        difficulty(records, board(records), publish="open")


@pytest.mark.parametrize("folder", boards(labelled=True))
@pytest.mark.parametrize("publish", ["public", "internal"])
def test_real_strata_agree_with_the_published_ones(folder, publish):
    """From labels the strata of the real records come out as published, without a remark."""
    records = read_records(folder)
    found = difficulty(records, board(records), read_labels(labels_of(folder)), publish=publish)
    for row in found.rows:
        blocks = records.published[row.id]["scores"]["by_subset"]["holdout"]["by_difficulty_class"]
        for stratum in row.strata:
            block = blocks.get(str(stratum.difficulty), {"n": 0})
            assert (stratum.n_tasks, stratum.remark) == (block["n"], "")
            if block["n"]:
                assert float(stratum.pass_pow_3) == pytest.approx(block["pass_pow_3"], abs=1e-15)


def test_demo_strata_and_their_defects(tmp_path):
    """The demo has a class of one task, a rise, classes that records tell and do not tell, no task key."""
    demo.write(tmp_path / "demo")
    seen = dict.fromkeys(("single", "rises", "uncounted", "told"), 0)
    for name in demo.benchmarks():
        folder = tmp_path.joinpath("demo", *name)
        records = read_records(folder)
        labels = read_labels(folder.parent / f"{folder.name}.labels.json")
        for subset in sorted(set(records.runs["subset"])):
            found = difficulty(records, board(records, subset), labels)
            frame = found.to_frame()
            one = frame[frame["n_tasks"] == 1]
            assert (one["provenance"] == "as published").all()
            assert one["task_pass_rate_low"].isna().all()
            seen["single"] += len(one)
            seen["rises"] += len(found.rises_frame())
            seen["uncounted"] += UNCOUNTED in found.notes
            seen["told"] += TOLD in found.notes
            told = repr(found) + "".join(
                table.to_csv() for table in (frame, found.counts_frame(), found.distributions_frame())
            )
            assert not any(task in told for task in set(records.runs["task_key"]))
    assert all(seen.values()), seen
