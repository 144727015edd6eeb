"""Distributions are those of numpy.histogram, for values of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from parsers.recording.histograms import distribution
from tests.amounts import examples

ARRAYS = st_numpy.arrays(
    st.sampled_from([np.float16, np.float32, np.float64, np.int8, np.int64, np.uint16, np.bool_]), st.integers(0, 300)
)


@settings(max_examples=examples(400), deadline=None)
@given(values=ARRAYS, buckets=st.integers(1, 90))
def test_counts_and_edges_are_those_of_numpy(values: np.ndarray, buckets: int) -> None:
    real = values.astype(np.float64)
    finite = real[np.isfinite(real)]
    found = distribution(values, buckets)
    assert (found.finite, found.nan) == (len(finite), int(np.isnan(real).sum()))
    assert (found.above, found.below) == (int(np.isposinf(real).sum()), int(np.isneginf(real).sum()))
    if not len(finite):
        assert not len(found.counts)
        return
    assert (found.low, found.high) == (finite.min(), finite.max())
    assert found.counts.sum() == len(finite)
    try:
        with np.errstate(all="ignore"):
            counts, edges = np.histogram(finite, buckets)
    except ValueError:  # no room for so many buckets
        assert len(found.counts) == 1
        return
    if np.isfinite(edges).all() and np.isfinite(finite.max() - finite.min()):
        assert np.array_equal(found.edges, edges)
        assert np.array_equal(found.counts, counts)


@pytest.mark.parametrize("count", [0, 1, 1 << 14, (1 << 14) + 1, 100_000])
def test_large_arrays_are_counted_in_blocks(count: int) -> None:
    values = np.round(np.random.default_rng(count).normal(size=count), 1)
    found = distribution(values)
    assert found.counts.sum() == count
    if count:
        assert np.array_equal(found.counts, np.histogram(values, len(found.counts))[0])
        assert found.total == pytest.approx(values.sum())
        assert found.squares == pytest.approx((values**2).sum())
