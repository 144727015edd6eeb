"""Speed and duration of a run from the wall times of its values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from parsers import Series
from parsers.analysis.runs.speed import RunSpan, span, speed
from tests.sources import series as made


def test_speed_leaves_restarts_and_pauses_out_and_counts_only_the_newest_intervals() -> None:
    step = np.array([*range(400), 390, 395, 400], np.int64)
    wall = np.concatenate((np.arange(299) * 50.0, 299 * 50.0 + np.arange(101) * 0.5, 2e5 + np.arange(3) * 2.5))
    found = speed(made(1)._replace(step=step, wall_time=wall + 1.7e9))
    assert found is not None
    assert found.seconds == pytest.approx(0.5)
    assert found.intervals == 99
    still = made(50)._replace(wall_time=np.full(50, 1.7e9))
    assert speed(still) is None
    assert speed(made(1)) is None
    assert speed(made(3)._replace(wall_time=np.array([np.nan, np.inf, -np.inf]))) is None


def spaced(seconds: Sequence[float], steps: Sequence[int] = ()) -> Series:
    """Make a series from the intervals between its values, in seconds and in steps."""
    step = np.cumsum([0, *(steps or [1] * len(seconds))])
    return made(len(step))._replace(step=step, wall_time=1.7e9 + np.cumsum([0.0, *seconds]))


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        pytest.param(spaced([0.5] * 9 + [3600.0] + [0.5] * 9), 0.5, id="a pause"),
        pytest.param(spaced(([0.5] * 9 + [30.0]) * 5), 0.5, id="an evaluation after every epoch"),
        pytest.param(spaced([0.5] * 20, [10] * 19 + [5000]), 0.05, id="resumed from a later step"),
        pytest.param(spaced([0, 0, 1] * 30), 1 / 3, id="whole seconds, several steps in each"),
        pytest.param(spaced([0, 1, 1] * 30), 2 / 3, id="whole seconds, some with two steps"),
        pytest.param(spaced([0.5] * 10 + [-7200.0] + [0.5] * 10), 0.5, id="a clock set back"),
        pytest.param(spaced([1.0] * 10, [1, 0] * 5), 1.0, id="steps recorded twice"),
    ],
)
def test_speed_of_a_training_that(given: Series, seconds: float) -> None:
    found = speed(given)
    assert found is not None
    assert found.seconds == pytest.approx(seconds, rel=0.04)


def test_times_that_are_none_count_for_nothing() -> None:
    wall = np.array([0.0, 1.7e9, np.nan, np.inf, -5.0, 1e300, 1.7e9 + 30, 1.7e9 + 60])
    series = made(8)._replace(wall_time=wall)
    assert span([series], series) == RunSpan(60.0, 0.0)
    found = speed(series)
    assert found is not None
    assert (found.seconds, found.intervals) == (30.0, 1)
    unknown = made(3)._replace(wall_time=np.zeros(3))
    assert span([unknown], unknown) is None


def test_the_span_is_that_of_the_times_and_not_of_the_order_they_were_written_in() -> None:
    late = made(4)._replace(wall_time=1.7e9 + np.array([5.0, 0.0, 9.0, 7.0]))
    assert span([made(1)._replace(wall_time=np.array([1.7e9 + 3])), late], late) == RunSpan(9.0, 0.0)


def test_the_speed_tells_the_steps_it_covers() -> None:
    step = np.concatenate((np.arange(0, 500), [480], np.arange(481, 900)))
    wall = 1.7e9 + np.cumsum(np.where(np.arange(step.size) == 890, 1000.0, 2.0))  # a pause before one of the last steps
    found = speed(made(1)._replace(step=step, wall_time=wall))
    assert found is not None
    assert (found.first, found.last, found.intervals) == (799, 899, 99)


def test_pauses_of_a_run_are_told_apart() -> None:
    run = spaced([10.0] * 20 + [86_400.0] + [10.0] * 20 + [45.0, 10.0])
    assert span([run], run) == RunSpan(86_855.0, 86_400.0)
