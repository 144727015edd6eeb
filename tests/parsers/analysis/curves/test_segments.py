"""Superseded points and their stretches, against sessions written by hand and a slow definition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import Series
from parsers.analysis.curves.segments import superseded


def written(steps: Sequence[int]) -> Series:
    """A series whose values are the places at which they were written."""
    step = np.array(steps, np.int64)
    return Series(step, step * 1.0, np.arange(step.size) * 1.0, np.zeros(step.size, np.int32), np.arange(step.size))


def stretches(steps: Sequence[int]) -> list[list[int]]:
    """Steps of the stretches of superseded points."""
    points, begins = superseded(written(steps))
    return [part.tolist() for part in np.split(points.step, begins) if part.size]


@pytest.mark.parametrize(("steps", "wanted"), [
    ([], []),
    ([0, 1, 2], []),
    ([3, 3, 3], []),
    ([0, 1, 2, 1, 2, 3], [[1, 2]]),
    # Two restarts far from each other, and two of which the second goes on where the first ended.
    ([0, 1, 2, 1, 2, 3, 4, 5, 6, 5, 6, 7], [[1, 2], [5, 6]]),
    ([0, 1, 2, 1, 2, 3, 4, 3, 4, 5], [[1, 2], [3, 4]]),
    # The first restart is superseded, too.
    ([0, 1, 2, 3, 2, 3, 4, 1, 2], [[1, 2, 3], [2, 3, 4]]),
    # The last step of each epoch is recorded twice.
    ([0, 1, 2, 2, 3, 4, 4, 5], [[2], [4]]),
    # Every step is.
    ([0, 0, 1, 1, 2, 2], [[0, 1, 2]]),
])  # fmt: skip
def test_stretches_of_sessions(steps: list[int], wanted: list[list[int]]) -> None:
    assert stretches(steps) == wanted


@given(st.lists(st.integers(0, 8), max_size=24))
def test_points_of_a_stretch_are_neighbours_of_one_session(steps: list[int]) -> None:
    points, begins = superseded(written(steps))
    places = points.value.astype(int).tolist()
    lost = {place for place, step in enumerate(steps) if any(later <= step for later in steps[place + 1 :])}
    if len(set(steps)) == 1:
        lost = set()
    assert set(places) == lost
    once = {step for place, step in enumerate(steps) if place not in lost}
    for at, (first, second) in enumerate(pairwise(places), 1):
        restarted = any(steps[place] < steps[place - 1] for place in range(first + 1, second + 1))
        between = any(steps[first] < step < steps[second] for step in once)
        assert (at in begins.tolist()) == (restarted or between)
