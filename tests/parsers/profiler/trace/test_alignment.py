"""Shifts between ranks, on made traces and on the two ranks of a real job."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler.trace import alignment, sources
from parsers.profiler.trace.alignment import ClockShift
from parsers.profiler.trace.columns import Trace, Track
from tests.writers.traces import Row, trace

STREAM, GROUP, HOST = (
    Track("d", "Stream 2", "1", "2", "device_stream", (0, 0)), Track("d", "Group", "1", "3", "communication", (0, 1)),
    Track("h", "Thread 7", "2", "7", "python", (0, 2)),
)  # fmt: skip


def rank(ends: list[tuple[str, int]], lengths: list[int]) -> Trace:
    rows: list[Row] = [(end - length, length, name) for (name, end), length in zip(ends, lengths, strict=True)]
    return trace([(STREAM, [(5, 5, "a")]), (GROUP, rows), (HOST, [(0, 3, "f")])])


def test_no_collectives() -> None:
    assert alignment.shift(trace({}), trace({})) is None
    assert alignment.shift(rank([("hcom_allReduce_1", 100)], [50]), rank([("hcom_send_x", 100)], [50])) is None
    assert alignment.collectives(trace({})) == []
    assert alignment.shifted(trace({}), 5).slices.start.tolist() == []


@given(st.integers(-400, 400), st.lists(st.integers(1, 80), min_size=1, max_size=9), st.integers(0, 3))
def test_a_known_shift_is_found_from_ends_whoever_came_late(ns: int, lengths: list[int], noise: int) -> None:
    ends = [("hcom_allReduce_1" if number % 2 else "AllGather", 1000 + 100 * number) for number in range(len(lengths))]
    other = [(name, end - ns + (number % 3 - 1) * noise) for number, (name, end) in enumerate(ends)]
    found = alignment.shift(rank(ends, lengths), rank(other, lengths[::-1]))
    assert found is not None
    assert abs(found.ns - ns) <= noise
    assert found.spread_ns <= 2 * noise
    assert found.collectives == len(lengths)


def test_only_devices_are_moved() -> None:
    made = rank([("AllReduce", 100)], [50])
    moved = alignment.shifted(made, 40)
    assert (moved.slices.start.tolist(), moved.origin_ns) == ([45, 90, 0], 0)
    early = alignment.shifted(made, -20)
    assert (early.slices.start.tolist(), early.origin_ns) == ([0, 45, 15], -15)
    assert np.array_equal(alignment.shifted(early, 20).slices.start + alignment.shifted(early, 20).origin_ns, made.slices.start)


def test_who_came_last() -> None:
    ends = [("AllReduce", 100), ("AllReduce", 300)]
    ranks = [rank(ends, [50, 90]), rank(ends, [30, 95]), rank([("other", 9)], [1])]
    first, second = alignment.collectives(ranks[0])
    assert (first.number, second.number) == (0, 1)
    assert alignment.last_to_come(ranks, 0, first.row) == (1, 20)
    assert alignment.last_to_come(ranks, 0, second.row) == (0, 5)
    assert alignment.last_to_come(ranks[:1], 0, first.row) is None
    assert alignment.last_to_come(ranks, 0, 0) is None


def test_clocks_of_different_zero() -> None:
    made = rank([("AllReduce", 100)], [50])
    assert alignment.shift(made, replace(made, clock="epoch")) is None
    assert alignment.shift(made, made) == ClockShift(0, 0, 1)


def test_the_ranks_of_a_real_job(real_data: Path) -> None:
    folder = real_data / "profiler_new" / "torch_npu_text_level2"
    zero, one = (
        sources.read(str(folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")) for rank in (0, 1)
    )
    found = alignment.shift(zero, one)
    assert found is not None
    # the ends of the four collectives differ by -78.9, -77.5, -80.1 and -77.5 us, as computed from the files with Decimal
    assert (found.collectives, round(found.ns / 1000, 1)) == (4, 78.2)
    assert found.spread_ns < 2000
    aligned = [zero, alignment.shifted(one, found.ns)]
    longest = max(alignment.collectives(zero), key=lambda each: each.end - each.start)
    late = alignment.last_to_come(aligned, 0, longest.row)
    assert late is not None
    # rank 1 begins the first one 2,440 us after rank 0 by their own clocks, 78 us more when they are aligned
    assert (late[0], round(late[1] / 1000)) == (1, 2518)
    before, after = alignment.backwards(one), alignment.backwards(alignment.shifted(one, found.ns))
    assert 0 < len(after) < len(before)
