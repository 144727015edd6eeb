"""Lanes and own times against a count of every nanosecond."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given

from parsers.profiler.trace import lanes
from parsers.profiler.trace.columns import Trace
from tests.writers.traces import trace, traces


def assigned(*rows: tuple[int, int]) -> list[tuple[int, int]]:
    columns = trace({"t": [(start, duration, "x") for start, duration in rows]}).slices
    return list(zip(columns.depth.tolist(), columns.self.tolist(), strict=True))


def test_no_slices() -> None:
    depth, own = lanes.assign(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert (depth.dtype, own.dtype, len(depth), len(own)) == (np.int32, np.int64, 0, 0)
    assert lanes.numbering(trace({})).tolist() == [0]


def test_nested_slices_lie_at_their_depth() -> None:
    assert assigned((0, 100), (10, 20), (15, 5), (40, 50), (90, 10)) == [(0, 20), (1, 15), (2, 5), (1, 50), (1, 10)]


def test_a_slice_that_ends_after_the_one_it_began_in_gets_a_free_lane() -> None:
    # ProfilerStep#50 begins within another call and ends long after it; its children lie above it, in no lane twice
    assert assigned((0, 10), (5, 95), (12, 20), (40, 60)) == [(0, 10), (1, 15), (2, 20), (2, 60)]


def test_children_that_overlap_are_counted_once() -> None:
    assert assigned((0, 100), (10, 40), (30, 40)) == [(0, 40), (1, 40), (2, 40)]


def test_what_lies_in_two_slices_that_overlap_is_own_time_of_neither() -> None:
    assert assigned((0, 100), (50, 70), (60, 10)) == [(0, 90), (1, 60), (2, 10)]


def test_slices_of_no_length_take_a_lane_of_their_own() -> None:
    assert assigned((5, 10), (5, 0), (5, 0), (15, 0)) == [(0, 10), (1, 0), (2, 0), (0, 0)]


def test_times_of_a_hundred_thousand_tracks_and_of_years() -> None:
    year = 365 * 86_400 * 10**9
    track = np.repeat(np.arange(1000, dtype=np.int32), 3)
    start = np.tile(np.array([0, 1, 200 * year], np.int64), 1000)
    duration = np.tile(np.array([100 * year, 10, 5], np.int64), 1000)
    depth, own = lanes.assign(track, start, duration)
    assert depth.tolist() == [0, 1, 0] * 1000
    assert own.tolist() == [100 * year - 10, 10, 5] * 1000


@pytest.mark.parametrize("count", [60, 500, 20_000])
def test_many_slices_at_once(count: int) -> None:
    # each begins before and ends after the one before it ends: as many lanes as slices, and the first is free again at last
    starts, duration = np.arange(count), np.full(count, count)
    starts = np.append(starts, count + 10)
    depth, own = lanes.assign(np.zeros(count + 1, np.int32), starts, np.append(duration, 2 * count))
    assert depth.tolist() == [*range(count), 0]
    assert own.tolist() == [count] * count + [2 * count]


@given(traces())
def test_a_long_track_is_worked_on_in_pieces_that_change_nothing(made: Trace) -> None:
    slices = made.slices
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lanes, "_ROWS", 2)
        depth, own = lanes.assign(slices.track, slices.start, slices.duration)
        assert (depth.tolist(), own.tolist()) == (slices.depth.tolist(), slices.self.tolist())
        inside = lanes.parents(slices.track, slices.start, slices.duration)[0].tolist()
    assert inside == lanes.parents(slices.track, slices.start, slices.duration)[0].tolist()
    for track in made.tracks:
        rows = slice(track.first, track.last)
        own = lanes.parents(slices.track[rows], slices.start[rows], slices.duration[rows])[0]
        assert inside[rows] == [one + track.first if one >= 0 else -1 for one in own.tolist()]


@given(traces())
def test_against_brute_force(made: Trace) -> None:
    numbers = lanes.numbering(made)
    for index, track in enumerate(made.tracks):
        rows = range(track.first, track.last)
        start = made.slices.start.tolist()
        end = [a + max(d, 1) for a, d in zip(start, made.slices.duration.tolist(), strict=True)]
        depth = made.slices.depth.tolist()
        assert numbers[index + 1] - numbers[index] == max((depth[row] + 1 for row in rows), default=0)
        for row in rows:
            around = [other for other in range(track.first, row) if end[other] >= end[row] and end[other] > start[row]]
            lowest = depth[around[-1]] + 1 if around else 0
            taken = {depth[other] for other in range(track.first, row) if end[other] > start[row]}
            assert depth[row] == next(lane for lane in itertools.count(lowest) if lane not in taken)
        for row in rows:
            inside = [other for other in range(row + 1, track.last) if start[other] >= start[row] and end[other] <= end[row]]
            covered = {ns for other in inside for ns in range(start[other], start[other] + made.slices.duration[other])}
            assert made.slices.self[row] == made.slices.duration[row] - len(covered)
