"""Whether published strata tell every class: the solver against trying every assignment."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from beside import boards, labels_of
from hypothesis import given, settings
from hypothesis import strategies as st

from medgauge_lib import board, inference
from medgauge_lib.difficulty import TOLD, difficulty
from medgauge_lib.inference import PublishedStratum, tells_every_class
from medgauge_lib.labels import read_labels
from medgauge_lib.outcomes import Outcomes
from medgauge_lib.records import read_records

OF = (1, 2)


def taken(passes):
    """Outcomes with these passing runs, tasks × rows."""
    passes = np.array(passes)
    tasks = tuple(f"tk-{task:012x}" for task in range(len(passes)))
    ones = np.ones(len(passes), dtype=np.int64)
    return Outcomes(
        "holdout", tasks, ("1.0.0",) * len(tasks), ("r",) * passes.shape[1], passes, passes, ones, None
    )


def sums(passes, classes, row, number):
    """n, tasks passed in all runs, and passing runs of one class in one row."""
    own = [line[row] for line, one in zip(passes, classes, strict=True) if one == number]
    return len(own), own.count(3), sum(own)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 6), st.integers(1, 3))
def test_the_solver_agrees_with_trying_every_assignment(data, n_tasks, n_rows):
    """Strata tell every class exactly when no other assignment of classes, or none, has the same sums."""
    passes = data.draw(
        st.lists(
            st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows), min_size=n_tasks, max_size=n_tasks
        )
    )
    classes = data.draw(st.lists(st.sampled_from((None, *OF)), min_size=n_tasks, max_size=n_tasks))
    asked = data.draw(st.sets(st.tuples(st.integers(0, n_rows - 1), st.sampled_from(OF))))
    loose = data.draw(st.integers(0, 1))
    strata, fits = [], []
    for row, number in sorted(asked):
        n, successes, runs = sums(passes, classes, row, number)
        strata.append(PublishedStratum(row, number, n, (successes, successes + loose), (runs, runs)))
    for tried in itertools.product((None, *OF), repeat=n_tasks):
        same = True
        for one in strata:
            n, successes, runs = sums(passes, tried, one.row, one.difficulty)
            same &= n == one.n_tasks and runs == one.passes[0]
            same &= one.successes[0] <= successes <= one.successes[1]
        fits.append(same)
    made = taken(passes)
    known = {task: one for task, one in zip(made.tasks, classes, strict=True) if one}
    assert tells_every_class(made, strata, known, of=OF) == (sum(fits) == 1 and bool(strata))


def test_classes_that_do_not_fit_are_not_told():
    """Labels that contradict what is published cannot be what the records tell."""
    strata = [PublishedStratum(0, 1, 1, (1, 1), (3, 3)), PublishedStratum(0, 2, 1, (0, 0), (0, 0))]
    made = taken([[3], [0]])
    assert tells_every_class(made, strata, dict(zip(made.tasks, (1, 2), strict=True)), of=OF)
    assert not tells_every_class(made, strata, dict(zip(made.tasks, (2, 1), strict=True)), of=OF)


@pytest.mark.parametrize("limit", ["MAX_TERMS", "MAX_NODES"])
def test_what_would_take_too_long_is_not_told(monkeypatch, limit):
    """Beyond a number of terms or nodes, a second assignment is taken to exist: nothing more is shown."""
    draw = np.random.default_rng(3)
    made = taken(draw.integers(0, 4, (40, 8)))
    classes = draw.integers(1, 3, 40)
    strata = [
        PublishedStratum(row, number, n, (successes, successes), (runs, runs))
        for row in range(8)
        for number in OF
        for n, successes, runs in [sums(made.passes.tolist(), classes.tolist(), row, number)]
    ]
    known = dict(zip(made.tasks, map(int, classes), strict=True))
    assert tells_every_class(made, strata, known, of=OF)
    monkeypatch.setattr(inference, limit, 0)
    assert not tells_every_class(made, strata, known, of=OF)


@pytest.mark.parametrize("folder", boards(labelled=True))
def test_strata_of_real_boards_tell_every_class(folder):
    """The strata that 38 real rows publish have one solution, and the page says so."""
    records = read_records(folder)
    found = difficulty(records, board(records), read_labels(labels_of(folder)))
    assert TOLD in found.notes
