"""Critical paths of traces whose path is known, and their lengths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler.trace import critical, gaps
from parsers.profiler.trace.columns import Trace, Track
from parsers.profiler.trace.running import covered
from tests.amounts import long_after
from tests.writers.gap_traces import CAUSES, make
from tests.writers.traces import connected, trace, traces

HOST = Track("Python", "Thread 7", "2", "7", "python", (0, 0))
STREAM = Track("Ascend", "Stream 2", "1", "2", "device_stream", (1, 0))
OTHER = Track("Ascend", "Stream 3", "1", "3", "device_stream", (1, 1))
GROUP = Track("HCCL", "Group 0", "3", "0", "communication", (2, 0))


def parts(made: Trace, t0: int, t1: int) -> list[tuple[int, str, str]]:
    frame = critical.path(made, t0, t1)
    return list(zip((frame["duration_ns"] // 1000).tolist(), frame["kind"].tolist(), frame["name"].tolist(), strict=True))


def us(*rows: tuple[int, int, str]) -> list[tuple[int, int, str]]:
    return [(start * 1000, length * 1000, name) for start, length, name in rows]


def test_empty() -> None:
    assert critical.path(trace({}), 5, 5).empty
    assert critical.shares(critical.path(trace({}), 5, 5)) == {}
    assert parts(trace({}), 0, 10_000) == [(10, "unknown", "")]


def test_a_busy_stream_is_its_own_path() -> None:
    made = trace([(STREAM, us((0, 400, "a"), (400, 100, "b"))), (HOST, us((0, 10, "call"), (10, 10, "call")))])
    assert parts(made, 100_000, 450_000) == [(300, "computation", "a"), (50, "computation", "b")]


def test_host_then_synchronisation_then_host() -> None:
    # `item` waits for a; only then b is computed, called and launched
    made = trace(
        [
            (HOST, us((0, 100, "launch a"), (150, 260, "aten::item"), (410, 500, "loss.py(3): log"), (910, 40, "launch b"))),
            (STREAM, us((100, 300, "a"), (960, 40, "b"))),
        ],
        arrows=[((0, 0), (1, 0), "async"), ((0, 3), (1, 1), "async")],
    )
    frame = critical.path(made, 0, 1_000_000)
    assert parts(made, 0, 1_000_000) == [
        (100, "host", "launch a"), (300, "computation", "a"), (10, "synchronisation", "aten::item"),
        (500, "host", "loss.py(3): log"), (40, "host", "launch b"), (10, "launch", "launch b"), (40, "computation", "b"),
    ]  # fmt: skip
    assert critical.shares(frame)["host"] == pytest.approx(0.64)
    assert frame["row"].tolist()[3:5] == [2, 3]


def test_a_stream_that_waited_for_a_collective_and_that_for_another_stream() -> None:
    made = trace(
        [
            (STREAM, us((0, 100, "a"), (900, 100, "c"))), (OTHER, us((0, 300, "b"))),
            (GROUP, us((300, 598, "hcom_allReduce_1"))),
        ]
    )  # fmt: skip
    assert parts(made, 0, 1_000_000) == [
        (300, "computation", "b"), (598, "communication", "hcom_allReduce_1"), (2, "queue", "c"),
        (100, "computation", "c"),
    ]  # fmt: skip


@pytest.mark.parametrize(("launches", "waits"), [(1_100, True), (500, False)])
def test_a_call_waits_for_a_device_that_holds_no_more_launches(launches: int, waits: bool) -> None:
    # kernels take 100 us, launches 1 us: the last call lasts until a kernel has ended
    calls = [(number, 1, "cudaLaunchKernel") for number in range(launches)] + [(launches, 3_008 - launches, "cudaLaunchKernel")]
    kernels = [(2 + 100 * number, 100, f"k{number}") for number in range(launches + 1)]
    arrows = [((0, number), (1, number), "ac2g") for number in range(launches + 1)]
    made = trace([(HOST, us(*calls)), (STREAM, us(*kernels))], arrows=arrows)
    found = parts(made, 1_000_000, 3_008_000)
    through = ["synchronisation" if kind == "synchronisation" else name for _, kind, name in found[-2:]]
    assert (through == ["k29", "synchronisation"]) is waits
    assert (("host", "cudaLaunchKernel") in {(kind, name) for _, kind, name in found}) is not waits


@given(connected(), st.integers(-10, 400_000), st.integers(0, 500_000))
def test_whatever_leads_to_whatever(made: Trace, t0: int, length: int) -> None:
    frame = critical.path(made, t0, t0 + length)
    assert frame["duration_ns"].sum() == length
    assert (frame["duration_ns"] > 0).all()
    for index, track in enumerate(made.tracks):
        if track.kind == "device_stream":
            found = gaps.explain(made, index, t0, t0 + length, 1000)
            ends = found["start_ns"] + found["duration_ns"]
            assert (found["start_ns"].to_numpy()[1:] >= ends.to_numpy()[:-1]).all()
            rows = [row for row in range(track.first, track.last) if made.names[made.slices.name[row]] != "EVENT_WAIT"]
            start = [max(int(made.slices.start[row]), t0) for row in rows]
            stop = [min(int(made.slices.start[row] + made.slices.duration[row]), t0 + length) for row in rows]
            busy = covered(np.array(start, np.int64), np.maximum(stop, start)) if rows else 0
            assert found["duration_ns"].sum() == length - busy
            assert gaps.by_step(found, gaps.steps(made))["idle_ns"].sum() == length - busy


@given(traces(), st.integers(-10, 300), st.integers(0, 500))
def test_the_path_is_the_whole_range(made: Trace, t0: int, length: int) -> None:
    frame = critical.path(made, t0, t0 + length)
    ends = (frame["start_ns"] + frame["duration_ns"]).tolist()
    assert frame["start_ns"].tolist() == [t0, *ends[:-1]][: len(frame)]
    assert frame["duration_ns"].sum() == length


@pytest.mark.parametrize("cause", long_after(2, [cause for cause in CAUSES if cause != "unknown"]))
def test_what_makes_a_gap_is_on_the_path(cause: str) -> None:
    on = 0
    for seed in range(40):
        made = make(cause, seed)
        slices, device = made.trace.slices, next(one for one in made.trace.tracks if one.thread == "Stream 2")
        # what the host does after the last slice waits for nothing
        end = int(slices.start[device.last - 1] + slices.duration[device.last - 1])
        frame = critical.path(made.trace, 0, end)
        assert frame["duration_ns"].sum() == end
        # of calls within one another the innermost is named
        names = {"multiprocessing/queues.py(98): get"} if cause == "data" else {made.culprit}
        on += not names.isdisjoint(frame["name"])
    assert on >= 38
