"""Clopper–Pearson and BCa: published values, words of the stream, SciPy, a second implementation."""

from __future__ import annotations

from fractions import Fraction

import by_definition
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from medgauge_lib import demo
from medgauge_lib.estimators import Values, values
from medgauge_lib.intervals import (
    RESAMPLES,
    bca,
    clopper_pearson,
    estimate,
    resample_indices,
    resampled_sums,
)
from medgauge_lib.outcomes import outcomes
from medgauge_lib.results import Absent

SEED = 20260101


def interval_of(x, denominator=1, *, seed=SEED, level=0.95):
    """BCa interval of one row of numerators."""
    x = np.asarray(x)
    return bca(x, resampled_sums(x[:, np.newaxis], seed=seed)[0], denominator, seed=seed, level=level)


def test_stream_begins_with_the_published_words():
    """The words of seed 20260101 are the three that the published algorithm states."""
    words = np.random.Philox(key=SEED).random_raw(3)
    assert [f"{int(word):016x}" for word in words] == [
        "b5f36cc41502e9dd",
        "542795e98c86e800",
        "4623e3e1d7a87753",
    ]


@pytest.mark.parametrize("seed", [0, 1, SEED, 2**64 - 1])
def test_stream_is_philox_by_its_round_function(seed):
    """The generator gives what ten rounds of Philox4x64 written out give."""
    assert np.random.Philox(key=seed).random_raw(41).tolist() == by_definition.philox(seed, 41)


@pytest.mark.parametrize(("n", "start"), [(1, 0), (3, 1), (5, 7), (127, 9_999), (80, 5_001)])
def test_resamples_can_be_made_from_any_place(n, start):
    """Resamples made from the middle of the stream are those of the stream read from its beginning."""
    whole = resample_indices(SEED, n, start=0, stop=start + 1)
    assert resample_indices(SEED, n, start=start, stop=start + 1).tolist() == [whole[start].tolist()]


@given(st.integers(0, 2**64 - 1), st.integers(1, 2000))
@settings(max_examples=50, deadline=None)
def test_indices_lie_in_range(seed, n):
    """Every drawn index names a task."""
    drawn = resample_indices(seed, n, start=0, stop=3)
    assert drawn.shape == (3, n)
    assert drawn.min() >= 0
    assert drawn.max() < n


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seed_outside_64_bits_is_refused(seed):
    """A seed that is no 64-bit word is a ValueError that names the range."""
    with pytest.raises(ValueError, match=r"seed must lie in 0\.\.2\^64 - 1, but got"):
        resample_indices(seed, 3, start=0, stop=1)


@pytest.mark.parametrize(
    ("x", "n", "low", "high"),
    [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0.0000, 0.1684), (1, 29, 0.0009, 0.1776)],
)
def test_clopper_pearson_matches_newcombe_1998(x, n, low, high):
    """Statistics in Medicine 17:857-872, Table I, method 5 (printed to 4 decimals)."""
    interval = clopper_pearson(x, n)
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


@pytest.mark.parametrize("n", [1, 2, 13, 59, 127])
def test_clopper_pearson_matches_tails_by_bisection(n):
    """For every count the bounds are where the binomial tails reach half of alpha."""
    for x in range(n + 1):
        interval = clopper_pearson(x, n)
        low, high = by_definition.clopper_pearson(x, n, 0.05)
        assert interval.low == pytest.approx(low, abs=1e-12)
        assert interval.high == pytest.approx(high, abs=1e-12)
        one_sided = by_definition.clopper_pearson(x, n, 0.10)[0]
        assert interval.one_sided_low == pytest.approx(one_sided, abs=1e-12)


@pytest.mark.parametrize(("n", "bound"), [(59, 0.950492), (13, 0.794183)])
def test_one_sided_bound_without_failure(n, bound):
    """With no failure the bound is 0.05^(1/n); the two values are the published ones, cut to 6 decimals."""
    value = clopper_pearson(n, n).one_sided_low
    assert bound <= value < bound + 1e-6
    assert value == pytest.approx(0.05 ** (1 / n), rel=1e-12)


@pytest.mark.parametrize(("x", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_impossible_counts_are_refused(x, n):
    """Counts that cannot occur are a ValueError that shows them."""
    with pytest.raises(ValueError, match=f"but got {x} of {n}"):
        clopper_pearson(x, n)


def test_level_given_in_percent_is_refused():
    """A level of 95 is answered with how to write 95 %."""
    with pytest.raises(ValueError, match=r"but got 95; write 0\.95 for 95 %"):
        clopper_pearson(1, 3, level=95)


@given(st.integers(1, 60), st.data(), st.floats(0.5, 0.99), st.floats(0.5, 0.99))
def test_raising_the_level_never_narrows_an_exact_interval(n, data, one, other):
    """A higher level contains the lower level's interval."""
    x = data.draw(st.integers(0, n))
    narrow, wide = (clopper_pearson(x, n, level=level) for level in sorted((one, other)))
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=25),
    st.floats(0.5, 0.99),
    st.floats(0.5, 0.99),
    st.integers(0, 3),
)
@settings(max_examples=60, deadline=None)
def test_raising_the_level_never_narrows_a_bca_interval(x, one, other, seed):
    """A higher level contains the lower level's interval, where there is one."""
    narrow, wide = (interval_of(x, 3, seed=seed, level=level) for level in sorted((one, other)))
    if isinstance(narrow, Absent):
        assert isinstance(wide, Absent)
    else:
        assert wide.low <= narrow.low <= narrow.high <= wide.high


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(0, 2**64 - 1))
@settings(max_examples=25, deadline=None)
def test_bca_equals_its_definition(x, seed):
    """Bounds equal those of plain loops over resamples, to the last published digit."""
    words = np.random.Philox(key=seed).random_raw(RESAMPLES * len(x)).tolist()
    expected = by_definition.bca([Fraction(value, 3) for value in x], words)
    found = interval_of(x, 3, seed=seed)
    assert (None if isinstance(found, Absent) else (found.low, found.high)) == expected


def test_bca_equals_scipy_given_the_same_resamples():
    """SciPy's BCa of a mean, fed the same resampled sums, gives the same bounds (integer-valued data)."""
    rng = np.random.default_rng(7)
    for n in (5, 23, 80, 127):
        x = rng.integers(0, 4, n)
        sums = resampled_sums(x[:, np.newaxis], seed=SEED)[0]

        def total(sample, axis=-1):
            return np.sum(sample, axis=axis)

        given_sums = stats.bootstrap((x.astype(float),), total, n_resamples=9, method="percentile")
        given_sums.bootstrap_distribution = sums.astype(float)
        reference = stats.bootstrap(
            (x.astype(float),),
            total,
            n_resamples=0,
            vectorized=True,
            method="BCa",
            bootstrap_result=given_sums,
        ).confidence_interval
        ours = interval_of(x, 3)
        assert ours.low == round(reference.low / (3 * n), 6)
        assert ours.high == round(reference.high / (3 * n), 6)


@pytest.mark.parametrize("n", [3, 40])
def test_numbers_beyond_doubles_stay_exact(n):
    """Sums above 2^53 are the integers that plain addition gives, and ties are decided on them."""
    big = [(1 << 80) + k % 3 for k in range(n)]
    sums = resampled_sums(np.array(big, dtype=object)[:, np.newaxis], seed=SEED)[0]
    drawn = resample_indices(SEED, n, start=0, stop=50)
    assert [int(s) for s in sums[:50]] == [sum(big[t] for t in row) for row in drawn]
    shifted = interval_of([value - (1 << 80) for value in big], 1)
    exact = interval_of(np.array(big, dtype=object), 1)
    assert exact.bias == shifted.bias
    assert exact.acceleration == shifted.acceleration


def test_scaling_every_value_changes_no_bound():
    """Numerators and denominator times one factor give the same interval, also beyond 2^53."""
    x = np.array([0, 1, 3, 3, 2, 0, 1], dtype=object)
    for factor in (10**30, 10**200):
        assert interval_of(x, 3) == interval_of(x * factor, 3 * factor)


@pytest.mark.parametrize("x", [[2], [0, 0, 0], [3, 3]])
def test_data_without_spread_has_no_interval(x):
    """One task, or all values equal: absent with its reason, never an interval of no width."""
    found = interval_of(x, 3)
    assert isinstance(found, Absent)
    assert found.reason in ("one task has no bootstrap interval", "all tasks have the same value")


def test_blocks_do_not_change_sums(monkeypatch):
    """The count matrix made in small blocks gives the sums of one block."""
    x = np.arange(30).reshape(10, 3)
    whole = resampled_sums(x, seed=3)
    monkeypatch.setattr("medgauge_lib.intervals._BLOCK", 999)
    assert (resampled_sums(x, seed=3) == whole).all()


def test_another_seed_moves_few_bounds_far():
    """With another seed many bounds hardly move, and some move by about a percentage point."""
    rates = values(outcomes(demo.record_set("bm-demo-ward", "1.0.0")), "task_pass_rate")
    bounds = np.array(
        [
            [(one.interval.low, one.interval.high) for one in estimate(rates, seed=seed)]
            for seed in range(1, 9)
        ]
    )
    moved = abs(bounds[1:] - bounds[0])
    assert np.median(moved) < 0.001
    assert 0.005 < moved.max() < 0.02


def test_binary_quantities_get_exact_intervals_and_others_bca():
    """The method follows the quantity: 0/1 tasks exactly, task means by bootstrap."""
    x = np.array([[1, 0], [0, 0], [1, 1]])
    exact = estimate(Values("pass_pow_3", ("r", "s"), x, 1))
    assert [e.interval.method for e in exact] == ["clopper_pearson"] * 2
    assert [e.n_successes for e in exact] == [2, 1]
    mean = estimate(Values("task_pass_rate", ("r", "s"), x, 3))
    assert [e.interval.method for e in mean] == ["bca_task_bootstrap"] * 2
    assert [e.value for e in mean] == [Fraction(2, 9), Fraction(1, 9)]
