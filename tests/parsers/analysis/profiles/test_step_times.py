"""Times of steps from wall times: against plain loops."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import Series
from parsers.analysis import step_times, times_at
from tests.amounts import examples


def series(points: list[tuple[int, float]]) -> Series:
    step = np.array([point[0] for point in points], np.int64)
    wall = np.array([point[1] for point in points], np.float64)
    return Series(step, wall, wall, np.zeros(len(points), np.int32), np.arange(len(points)))


def test_the_mean_between_two_records() -> None:
    found = step_times(series([(10, 100.0), (20, 105.0), (21, 105.25), (31, 106.25)]))
    assert found.first.tolist() == [10, 20, 21]
    assert found.last.tolist() == [20, 21, 31]
    np.testing.assert_allclose(found.mean_ns, [5e8, 2.5e8, 1e8])
    at = times_at(found, np.array([31, 10, 11, 20, 21, 32], np.int64))
    np.testing.assert_allclose(at, [1e8, np.nan, 5e8, 5e8, 2.5e8, np.nan])


def test_restarts_repeated_steps_and_bad_clocks_have_no_time() -> None:
    first = [(0, 0.0), (1, 10.0), (2, 11.0), (2, 15.0), (3, 16.0)]
    again = [(2, 100.0), (3, 102.0), (4, 101.0), (5, math.nan), (6, 107.0)]
    found = step_times(series(first + again))
    assert list(zip(found.first.tolist(), found.last.tolist(), (found.mean_ns / 1e9).round(6).tolist(), strict=True)) == [
        (1, 2, 1.0), (2, 3, 5.0), (2, 3, 2.0), (4, 6, 3.0),
    ]  # fmt: skip
    # step 3 was trained twice: the newest counts
    np.testing.assert_allclose(times_at(found, np.array([2, 3, 5], np.int64)), [1e9, 2e9, 3e9])
    assert len(step_times(series([]))) == len(step_times(series([(1, 1.0)]))) == 0
    assert np.isnan(times_at(step_times(series([])), np.array([1], np.int64))).all()


def test_a_scalar_that_starts_again_at_every_record() -> None:
    found = step_times(series([(at % 2, 1.0 + at) for at in range(400_000)]))
    assert len(found) == 200_000
    np.testing.assert_allclose(times_at(found, np.array([0, 1, 2], np.int64)), [np.nan, 1e9, np.nan])


points = st.lists(
    st.tuples(st.integers(0, 20), st.floats(0, 1e6) | st.sampled_from([math.nan, math.inf])), max_size=25
)  # fmt: skip


@given(points, st.lists(st.integers(-1, 22), max_size=10))
@settings(max_examples=examples(200), deadline=None)
def test_joined_like_a_loop_would(given_points: list[tuple[int, float]], asked: list[int]) -> None:
    found = step_times(series(given_points))
    assert (found.mean_ns > 0).all()
    assert (found.first < found.last).all()
    stretches = list(zip(found.first.tolist(), found.last.tolist(), found.mean_ns.tolist(), strict=True))
    expected = [next((mean for first, last, mean in reversed(stretches) if first < step <= last), math.nan) for step in asked]
    np.testing.assert_array_equal(times_at(found, np.array(asked, np.int64)), expected)
