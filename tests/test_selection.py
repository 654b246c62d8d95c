"""Order statistics of the resampled sums: found near their place, always those of the sorted sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medgauge_lib.intervals import _neighbours


def assert_sorted_order(sums: np.ndarray, k: int) -> None:
    """Hold the two found sums against those of a full sort."""
    ordered = np.sort(sums)
    assert _neighbours(sums, k) == (ordered[k], ordered[min(k + 1, len(sums) - 1)])


@given(st.integers(0, 2**32), st.integers(1, 400), st.integers(0, 9_999), st.sampled_from([float, object]))
@settings(max_examples=60, deadline=None)
def test_neighbours_are_those_of_the_sorted_sums(seed, spread, k, dtype):
    """At any place, with few or many ties, in doubles or Python integers, the sorted order decides."""
    sums = np.random.default_rng(seed).integers(0, spread, 10_000).astype(dtype)
    assert_sorted_order(sums, k)


@pytest.mark.parametrize("k", [0, 249, 4_999, 9_750, 9_999])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_sample_that_misleads_changes_nothing(k, sign):
    """Where every sampled sum lies beyond all others, the places are still those of the sorted sums."""
    sums = np.random.default_rng(1).permutation(10_000).astype(float)
    sums[::16] += sign * 20_000
    assert_sorted_order(sums, k)
