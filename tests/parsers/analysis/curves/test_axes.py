"""Relative time and the join by step."""

from __future__ import annotations

import numpy as np

from parsers.analysis import join_by_step, relative_time


def test_relative_time_counts_from_the_earliest_wall_time_of_the_run() -> None:
    wall = np.array([105.0, 103.0, 110.0])
    assert relative_time(wall, 100.0)[0].tolist() == [5.0, 3.0, 10.0]
    assert relative_time(wall, None)[0].tolist() == [2.0, 0.0, 7.0]
    assert relative_time(wall, 104.0)[0].tolist() == [2.0, 0.0, 7.0]
    assert relative_time(np.empty(0), None)[0].size == 0
    assert relative_time(np.array([np.nan, 3.0]), None)[1] == 3.0


def test_join_takes_the_value_written_last_and_leaves_holes() -> None:
    step, other = np.array([1, 2, 3, 4]), np.array([3, 1, 3, 9])
    joined = join_by_step(step, other, np.array([0.3, 0.1, 0.33, 0.9]))
    np.testing.assert_array_equal(joined, [0.1, np.nan, 0.33, np.nan])


def test_join_of_equal_steps_is_row_by_row_through_repeats_and_restarts() -> None:
    step = np.array([1, 2, 2, 1, 2])
    value = np.array([10.0, 20.0, 21.0, 11.0, 22.0])
    assert join_by_step(step, step.copy(), value).tolist() == value.tolist()


def test_join_with_nothing() -> None:
    assert np.isnan(join_by_step(np.array([1, 2]), np.empty(0, np.int64), np.empty(0))).all()
