"""Statistics of ranges against a count of every nanosecond."""

from __future__ import annotations

import tempfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler.trace import pyramid, ranges
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.running import Running, covered, holes, latest_ends
from tests.writers.traces import trace, traces

RANGE = st.tuples(st.integers(-20, 450), st.integers(-20, 450))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "_ROWS", 7)
    monkeypatch.setattr("parsers.profiler.trace.running.BLOCK", 8)


def counted(made: Trace, t0: int, t1: int, tracks: list[int], *, clip: bool) -> dict[str, tuple[int, int, int, int, int]]:
    """Count, total, self, max and longest row by name."""
    found: dict[str, tuple[int, int, int, int, int]] = {}
    slices = made.slices
    for track in tracks:
        rows = range(made.tracks[track].first, made.tracks[track].last)
        start = {row: int(slices.start[row]) for row in rows}
        end = {row: start[row] + int(slices.duration[row]) for row in rows}
        taken = {row: max(end[row], start[row] + 1) for row in rows}
        for row in rows:
            if not (start[row] < t1 and taken[row] > t0 and t0 < t1):
                continue
            inside = [other for other in rows if other > row and taken[other] <= taken[row] and start[other] >= start[row]]
            within = set(range(start[row], end[row])) & set(range(t0, t1))
            children = {ns for other in inside for ns in range(start[other], end[other])}
            cut = start[row] < t0 or end[row] > t1
            total, own = (
                (len(within), len(within - children)) if clip and cut else (end[row] - start[row], int(slices.self[row]))
            )
            count, all_, self_, longest, first = found.get(made.names[slices.name[row]], (0, 0, 0, -1, -1))
            if total > longest or (total == longest and row < first):
                longest, first = total, row
            found[made.names[slices.name[row]]] = (count + 1, all_ + total, self_ + own, longest, first)
    return found


@given(made=traces(), at=RANGE, clip=st.booleans(), gathered=st.booleans(), kept=st.sets(st.integers(0, 3)))
def test_by_name_against_brute_force(made: Trace, at: tuple[int, int], clip: bool, gathered: bool, kept: set[int]) -> None:
    tracks = sorted(track for track in kept if track < len(made.tracks))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "_PIECES", 0 if gathered else 4096)
        pyramid.build(made, folder)
        for levels in (None, pyramid.open(folder)):
            frame = ranges.statistics(made, *at, tracks, clip, pyramid=levels)
            columns = ["count", "total_ns", "self_ns", "max_ns", "longest"]
            found = {row[0]: row[1:] for row in frame[["name", *columns]].itertuples(index=False, name=None)}
            assert found == counted(made, *at, tracks, clip=clip)
    assert np.allclose(frame["mean_ns"], frame["total_ns"] / frame["count"])
    assert frame["self_ns"].is_monotonic_decreasing
    if frame["self_ns"].sum():
        assert frame["share"].sum() == pytest.approx(1)


@given(made=traces(), at=RANGE)
def test_by_track_against_brute_force(made: Trace, at: tuple[int, int]) -> None:
    t0, t1 = at
    frame = ranges.by_track(made, t0, t1)
    assert frame["track"].tolist() == list(range(len(made.tracks)))
    for row in frame.itertuples():
        track = made.tracks[row.track]
        runs = {
            ns
            for start, duration in zip(made.slices.start.tolist()[track.first : track.last],
                                       made.slices.duration.tolist()[track.first : track.last], strict=True)
            for ns in range(start, start + duration)
        }  # fmt: skip
        free = [ns not in runs for ns in range(t0, t1)]
        lengths = [len(part) for part in "".join(".x"[one] for one in free).split(".") if part]
        assert row.busy_ns == len(free) - sum(free)
        assert row.gaps == len(lengths)
        assert row.longest_gap_ns == max(lengths, default=0)


@given(made=traces(), time=st.integers(-5, 820))
def test_running_against_brute_force(made: Trace, time: int) -> None:
    running = Running(made)
    for index, track in enumerate(made.tracks):
        rows = range(track.first, track.last)
        start, duration = made.slices.start, made.slices.duration
        expected = [row for row in rows if start[row] <= time < start[row] + max(duration[row], 1)]
        assert running.at(index, time).tolist() == expected


def test_empty() -> None:
    made = trace({})
    assert ranges.statistics(made, 0, 10).empty
    assert ranges.by_track(made, 0, 10).empty
    assert len(latest_ends(made.slices)) == 0
    assert covered(np.zeros(0, np.int64), np.zeros(0, np.int64)) == 0
    begins, ends = holes(np.zeros(0, np.int64), np.zeros(0, np.int64), 3, 9)
    assert (begins.tolist(), ends.tolist()) == ([3], [9])


def test_sums_beyond_the_whole_numbers_of_a_float() -> None:
    year = 365 * 86_400 * 10**9
    made = trace({"a": [(0, year, "x"), (year, 1, "x")]})
    assert ranges.statistics(made, 0, 2 * year)["total_ns"].tolist() == [year + 1]


@given(first=traces(), other=traces())
def test_difference(first: Trace, other: Trace) -> None:
    frames = [ranges.statistics(made, 0, 300) for made in (first, other)]
    found = ranges.difference(*frames)
    before, after = (dict(zip(frame["name"], frame["self_ns"], strict=True)) for frame in frames)
    assert dict(zip(found["name"], found["difference_ns"], strict=True)) == {
        name: after.get(name, 0) - before.get(name, 0) for name in {**before, **after}
    }
    assert found["difference_ns"].abs().is_monotonic_decreasing
    assert found["count"].sum() == frames[0]["count"].sum()
    assert found["other_total_ns"].sum() == frames[1]["total_ns"].sum()


def test_difference_beyond_the_whole_numbers_of_a_float() -> None:
    year = 365 * 86_400 * 10**9
    made = [trace({"a": [(0, year + more, "x")], "b": [(0, 5, name)]}) for more, name in ((0, "y"), (1, "z"))]
    found = ranges.difference(*(ranges.statistics(each, 0, 2 * year) for each in made))
    assert dict(zip(found["name"], found["difference_ns"], strict=True)) == {"x": 1, "y": -5, "z": 5}


def test_calls_at_both_edges() -> None:
    made = trace({"a": [(0, 100, "main"), (5, 20, "f"), (40, 5, "f"), (85, 10, "f"), (86, 2, "g")]})
    clipped = ranges.statistics(made, 10, 90)
    assert clipped[["name", "count", "total_ns", "self_ns"]].values.tolist() == [
        ["main", 1, 80, 80 - 15 - 5 - 5], ["f", 3, 25, 23], ["g", 1, 2, 2],
    ]  # fmt: skip
    whole = ranges.statistics(made, 10, 90, clip=False)
    assert whole[["name", "count", "total_ns", "self_ns"]].values.tolist() == [
        ["main", 1, 100, 65], ["f", 3, 35, 33], ["g", 1, 2, 2],
    ]  # fmt: skip
