"""The block form of the smoothing against the loop that defines it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.analysis import restarts, smooth
from tests.amounts import examples


def loop(values: list[float], weight: float, starts: set[int]) -> list[float]:
    shown, last, n = [], 0.0, 0
    for i, v in enumerate(values):
        if i in starts:
            last, n = 0.0, 0
        if not math.isfinite(v):
            shown.append(v)
            continue
        last, n = weight * last + (1 - weight) * v, n + 1
        shown.append(last / (1 - weight**n) if weight else v)
    return shown


def check(values: np.ndarray, weight: float, starts: np.ndarray) -> None:
    got = smooth(values, weight, starts)
    want = np.array(loop(values.tolist(), weight, set(starts.tolist())))
    finite = np.isfinite(values)
    np.testing.assert_array_equal(got[~finite], values[~finite])
    scale = np.abs(values[finite]).max(initial=0.0)
    assert np.abs(got[finite] - want[finite]).max(initial=0.0) <= 2e-15 * scale


@pytest.mark.parametrize("weight", [0.1, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("size", [0, 1, 2, 31, 32, 33, 1023, 1024, 1025, 40_000])
def test_equals_the_loop_at_block_borders(weight: float, size: int) -> None:
    values = np.random.default_rng(size).normal(3.0, 1.0, size)
    check(values, weight, np.empty(0, np.int64))


def test_positive_values_within_a_few_ulp_of_the_loop() -> None:
    values = np.random.default_rng(0).uniform(1.0, 2.0, 100_000)
    want = np.array(loop(values.tolist(), 0.6, set()))
    assert np.abs(smooth(values, 0.6, np.empty(0, np.int64)) / want - 1).max() <= 4.5e-16


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.one_of(st.floats(-1e6, 1e6), st.sampled_from([math.nan, math.inf, -math.inf])), max_size=300),
    st.sampled_from([0.0, 0.05, 0.6, 0.97, 0.99]),
    st.sets(st.integers(1, 299), max_size=20),
)
def test_equals_the_loop_with_gaps_and_restarts(values: list[float], weight: float, starts: set[int]) -> None:
    check(np.array(values, np.float64), weight, np.array(sorted(s for s in starts if s < len(values)), np.int64))


def test_many_short_sessions() -> None:
    values = np.random.default_rng(1).normal(size=5000)
    check(values, 0.8, np.arange(3, 5000, 3))


def test_never_reaches_across_a_restart() -> None:
    step = np.array([1, 2, 3, 2, 3, 3, 4])
    starts = restarts(step)
    assert starts.tolist() == [3]
    values = np.array([1e9, 1e9, 1e9, 1.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(smooth(values, 0.9, starts)[3:], 1.0)


def test_a_constant_stays_constant() -> None:
    np.testing.assert_allclose(smooth(np.full(1000, 0.1), 0.99, np.empty(0, np.int64)), 0.1, rtol=1e-14)


@pytest.mark.parametrize("weight", [-0.1, 1.0, math.nan])
def test_refuses_other_weights(weight: float) -> None:
    with pytest.raises(ValueError, match="weight"):
        smooth(np.ones(3), weight, np.empty(0, np.int64))


def test_huge_and_tiny_values_do_not_leak() -> None:
    values = np.array([1.0, 1e308, 1e-308, 1.0] * 20)
    check(values, 0.6, np.empty(0, np.int64))
