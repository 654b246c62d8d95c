"""Paired comparison: exact p-values, Holm and the board's resolution."""

from __future__ import annotations

import math
from fractions import Fraction

import by_definition
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from medgauge_lib import pairs as module
from medgauge_lib.estimators import Values
from medgauge_lib.pairs import compare, holm, mcnemar_p, resolution, sign_flip_p
from medgauge_lib.results import Absent

small = st.lists(st.integers(-3, 3), min_size=1, max_size=9)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_statsmodels(b, c):
    """The exact p is that of statsmodels' exact McNemar test."""
    expected = mcnemar([[3, b], [c, 5]], exact=True).pvalue
    assert float(mcnemar_p(b, c)) == pytest.approx(expected, rel=1e-12)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_equals_its_definition(b, c):
    """The exact p is twice the smaller binomial tail, cut at 1."""
    assert mcnemar_p(b, c) == by_definition.mcnemar_p(b, c)


@given(small)
def test_sign_flip_equals_enumeration(differences):
    """The p by convolution is the share of all 2^n flips at least as far out."""
    expected = by_definition.sign_flip_p([Fraction(d) for d in differences])
    assert sign_flip_p(np.array(differences)) == expected


@given(small, st.integers(1, 10**18))
def test_sign_flip_by_meeting_in_the_middle_equals_enumeration(differences, factor):
    """Sums too many to tabulate are met in the middle, with the same p."""
    scaled = [d * factor + (d > 0) for d in differences]
    expected = by_definition.sign_flip_p([Fraction(d) for d in scaled])
    assert sign_flip_p(np.array(scaled, dtype=object)) == expected


def test_both_ways_of_counting_flips_agree(monkeypatch):
    """Convolution and meeting in the middle count the same flips on a size that uses either."""
    differences = np.array([3, -1, 2, 2, -3, 1, 1, 2, 3, 3, -1, 2, 1, 3, -2, 2, 3, 1] * 2)
    by_convolution = sign_flip_p(differences)
    module._flip_tail.cache_clear()
    monkeypatch.setattr(module, "MAX_BITS", 0)
    monkeypatch.setattr(module, "MAX_SUMS", 1)
    assert isinstance(sign_flip_p(differences), Absent)
    module._flip_tail.cache_clear()
    monkeypatch.setattr(module, "MAX_SUMS", 64 * 60)
    assert sign_flip_p(differences) == by_convolution
    module._flip_tail.cache_clear()


@given(st.integers(0, 30), st.integers(0, 30))
def test_sign_flip_of_binary_differences_is_mcnemar(b, c):
    """On differences of -1, 0 and 1 the sign-flip test is the exact McNemar test."""
    assert sign_flip_p(np.array([1] * b + [-1] * c + [0])) == mcnemar_p(b, c)


def test_too_many_sums_are_absent_with_the_reason():
    """Differences whose flips have too many distinct sums give no p, and say so."""
    powers = np.array([2**k for k in range(60)], dtype=object)
    found = sign_flip_p(powers)
    assert isinstance(found, Absent)
    assert "more than 1048576 distinct sums" in found.reason


@pytest.mark.parametrize("n_pairs", [1, 3, 45, 703])  # statsmodels collects garbage at every call
def test_holm_equals_statsmodels(n_pairs):
    """Adjusted p-values of families with small, large and tied ones are those of statsmodels."""
    powers = np.random.default_rng(n_pairs).integers(0, 16, n_pairs)
    p_values = [Fraction(1, 2 ** int(k)) for k in powers]
    expected = multipletests([float(p) for p in p_values], method="holm")[1]
    assert [float(q) for q in holm(p_values)] == pytest.approx(expected.tolist(), rel=1e-12)


@given(st.lists(st.fractions(0, 1, max_denominator=9), min_size=1, max_size=12))
def test_holm_equals_its_definition_and_is_monotone(p_values):
    """Adjusted p-values follow the formula, never fall below p and never reverse an order."""
    adjusted = holm(p_values)
    assert list(adjusted) == by_definition.holm(p_values)
    assert all(q >= p for p, q in zip(p_values, adjusted, strict=True))
    ordered = [q for _, q in sorted(zip(p_values, adjusted, strict=True))]
    assert ordered == sorted(ordered)


def test_holm_counts_pairs_without_a_p_value():
    """A pair whose p cannot be computed stays in the family and keeps its reason."""
    missing = Absent("too many sums")
    assert holm([Fraction(1, 100), missing]) == (Fraction(1, 50), missing)


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(2, 30))
@settings(max_examples=40, deadline=None)
def test_swapping_two_rows_mirrors_their_comparison(seed, n_rows, n_tasks):
    """Turned round, a pair has the same p, swapped counts and the opposite difference."""
    x = np.random.default_rng(seed).integers(0, 2, (n_tasks, n_rows))
    names = tuple(f"r{k}" for k in range(n_rows))
    values = Values("pass_pow_3", names, x, 1)
    forward = {frozenset((p.a, p.b)): p for p in compare(values).pairs}
    for back in compare(values, ranked=names[::-1]).pairs:
        pair = forward[frozenset((back.a, back.b))]
        assert (back.p, back.holm, back.differs) == (pair.p, pair.holm, pair.differs)
        assert (back.b_count, back.c_count) == (pair.c_count, pair.b_count)
        assert back.difference == -pair.difference


def test_interval_of_a_difference_is_that_of_the_task_differences():
    """The paired interval is the BCa interval over tasks of the difference itself."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 4, (12, 2))
    pair = compare(Values("task_pass_rate", ("r", "s"), x, 3)).pairs[0]
    words = np.random.Philox(key=20260101).random_raw(10_000 * 12).tolist()
    expected = by_definition.bca([Fraction(int(a - b), 3) for a, b in x], words)
    assert (pair.interval.low, pair.interval.high) == expected


def test_identical_rows_are_not_shown_to_differ():
    """Rows with the same outcomes: p is 1, no interval, not shown to differ."""
    pair = compare(Values("pass_pow_3", ("r", "s"), np.array([[1, 1], [0, 0]]), 1)).pairs[0]
    assert pair.p == 1
    assert not pair.differs
    assert isinstance(pair.interval, Absent)


@pytest.mark.parametrize(("n_rows", "n_discordant"), [(2, 6), (13, 12), (38, 15)])
def test_resolution_is_the_smallest_number_that_survives_holm(n_rows, n_discordant):
    """38 rows need 15 tasks all one way (published); one fewer does not survive."""
    found = resolution(n_rows, 127)
    assert found.n_discordant == n_discordant
    family = math.comb(n_rows, 2)
    assert family * by_definition.mcnemar_p(n_discordant, 0) <= Fraction(1, 20)
    assert family * by_definition.mcnemar_p(n_discordant - 1, 0) > Fraction(1, 20)


def test_resolution_says_when_a_board_is_too_short():
    """A board with fewer tasks than that cannot tell any two rows apart; one row has no resolution."""
    assert not resolution(38, 14).possible
    assert resolution(38, 15).possible
    assert isinstance(resolution(1, 20), Absent)
