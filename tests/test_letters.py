"""Compact letter display: published examples, definition and properties on random graphs."""

from __future__ import annotations

from itertools import combinations

import by_definition
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medgauge_lib import letters as module
from medgauge_lib.errors import InputError
from medgauge_lib.letters import groups, letter, letters


@st.composite
def graphs(draw, max_rows=9):
    """Rows and a random set of pairs that differ."""
    rows = tuple(f"r-{k}" for k in range(draw(st.integers(1, max_rows))))
    pairs = list(map(frozenset, combinations(rows, 2)))
    return rows, set(draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else set()


@given(graphs())
def test_groups_are_the_maximal_sets(graph):
    """Groups are the maximal sets of rows of which no two differ, by trying every subset."""
    rows, apart = graph
    assert set(map(frozenset, groups(rows, apart))) == by_definition.maximal_groups(list(rows), apart)


@given(graphs(max_rows=14))
@settings(deadline=None)
def test_sharing_a_letter_means_not_shown_to_differ(graph):
    """Two rows share a letter exactly when they are not shown to differ."""
    rows, apart = graph
    carried = letters(rows, groups(rows, apart))
    for pair in combinations(rows, 2):
        assert bool(set(carried[pair[0]]) & set(carried[pair[1]])) == (frozenset(pair) not in apart)


@given(graphs())
def test_same_letters_mean_differing_from_the_same_rows(graph):
    """Letters of two rows are identical exactly when they differ from the same rows."""
    rows, apart = graph
    carried = letters(rows, groups(rows, apart))
    foes = {row: {other for other in rows if frozenset((row, other)) in apart} for row in rows}
    for one, other in combinations(rows, 2):
        assert (carried[one] == carried[other]) == (foes[one] == foes[other])


@given(graphs(), st.randoms(use_true_random=False))
def test_renaming_rows_changes_no_group(graph, random):
    """New names in the same ranks give the same groups under the new names."""
    rows, apart = graph
    names = [f"n{k}" for k in range(len(rows))]
    random.shuffle(names)
    renamed = dict(zip(rows, names, strict=True))
    expected = tuple(tuple(renamed[row] for row in group) for group in groups(rows, apart))
    assert groups(tuple(names), {frozenset(map(renamed.get, pair)) for pair in apart}) == expected


def test_letters_follow_rank():
    """Group a holds the highest row, and ties between groups go to the next member."""
    rows = ("p", "q", "r", "s")
    assert groups(rows, {frozenset("qr"), frozenset("ps")}) == (
        ("p", "q"),
        ("p", "r"),
        ("q", "s"),
        ("r", "s"),
    )


def test_groups_a_heuristic_gets_wrong():
    """Five groups of which only A, B and C, D differ: four letters, as the measured peers get wrong."""
    rows = ("A", "B", "C", "D", "E")
    carried = letters(rows, groups(rows, {frozenset("AB"), frozenset("CD")}))
    assert carried == {
        "A": ("a", "b"),
        "B": ("c", "d"),
        "C": ("a", "c"),
        "D": ("b", "d"),
        "E": ("a", "b", "c", "d"),
    }


@pytest.mark.parametrize(
    ("k", "text"), [(0, "a"), (25, "z"), (26, "aa"), (51, "az"), (52, "ba"), (701, "zz"), (702, "aaa")]
)
def test_letters_go_on_after_z(k, text):
    """After z come aa, ab and on."""
    assert letter(k) == text


def test_letters_are_distinct_and_need_no_limit():
    """A thousand groups have a thousand letters, all of them letters."""
    names = [letter(k) for k in range(1000)]
    assert len(set(names)) == 1000
    assert all(name.isascii() and name.isalpha() and name.islower() for name in names)


def test_too_many_groups_are_refused(monkeypatch):
    """A graph with more groups than can be shown is an error that says what to do."""
    monkeypatch.setattr(module, "MAX_GROUPS", 3)
    rows = ("A", "B", "C", "D")
    with pytest.raises(InputError, match="more than 3 groups\n  compare fewer rows"):
        groups(rows, {frozenset("AB"), frozenset("CD")})


def test_letters_that_contradict_the_comparison_never_come_out(monkeypatch):
    """Were the cliques wrong, the check before printing would name the pair."""
    monkeypatch.setattr("networkx.find_cliques", lambda graph: [["A", "B", "C"]])
    with pytest.raises(RuntimeError, match="letters contradict the comparison of A and B"):
        groups(("A", "B", "C"), {frozenset("AB")})
