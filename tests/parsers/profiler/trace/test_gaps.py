"""Causes of gaps against traces in which they are known, and idle time against a count of every nanosecond."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler.trace import gaps, sources
from parsers.profiler.trace.columns import Trace, Track
from tests.amounts import some_or_every
from tests.writers.gap_traces import CAUSES, make
from tests.writers.traces import trace, traces


@some_or_every
@pytest.mark.parametrize("cause", CAUSES)
def test_injected_gaps(cause: str, every: bool) -> None:
    right = named = 0
    seeds = 100 if every else 20
    for seed in range(seeds):
        made = make(cause, seed)
        found = gaps.explain(made.trace, made.stream, 0, made.trace.end)
        part = found[(found["start_ns"] < made.end) & (found["start_ns"] + found["duration_ns"] > made.begin)]
        right += part.groupby("cause", observed=True)["duration_ns"].sum().idxmax() == cause
        named += made.culprit in part["name"].tolist()
    assert right >= 0.95 * seeds
    assert named >= 0.95 * seeds


@given(made=traces(), t0=st.integers(-10, 300), length=st.integers(0, 400), threshold=st.integers(0, 60))
def test_parts_are_the_idle_time(made: Trace, t0: int, length: int, threshold: int) -> None:
    for index, track in enumerate(made.tracks):
        runs = {
            ns
            for row in range(track.first, track.last)
            for ns in range(made.slices.start[row], made.slices.start[row] + made.slices.duration[row])
        }
        idle = [ns for ns in range(t0, t0 + length) if ns not in runs]
        found = gaps.explain(made, index, t0, t0 + length, threshold)
        parts = [range(start, start + of) for start, of in zip(found["start_ns"], found["duration_ns"], strict=True)]
        assert [ns for part in parts for ns in part] == idle
        sums = gaps.by_step(found, [("1", t0 + 10, t0 + 50), ("2", t0 + 45, t0 + 300)])
        assert sums["idle_ns"].sum() == len(idle)
        first = [ns for ns in idle if t0 + 10 <= ns < t0 + 50]
        assert sums[sums["step"] == "1"]["idle_ns"].sum() == len(first)


def test_a_gap_of_two_causes() -> None:
    # launched late, and then the collective was not over
    device, group = (
        Track("d", "Stream 2", "1", "2", "device_stream", (0, 0)),
        Track("d", "Group", "1", "3", "communication", (0, 1)),
    )
    host = Track("h", "Thread 7", "2", "7", "python", (0, 2))
    made = trace(
        [
            (device, [(0, 100_000, "a"), (600_000, 50_000, "b"), (700_000, 10, "c")]),
            (group, [(50_000, 545_000, "hcom_allReduce_1")]),
            (host, [(0, 300_000, "main.py(3): train"), (10_000, 280_000, "logging"), (290_000, 10_000, "launch")]),
        ],
        arrows=[((2, 2), (0, 1), "HostToDevice")],
    )
    found = gaps.explain(made, 0, 0, 700_010, 60_000)
    assert found["cause"].tolist() == ["host", "communication", "short"]
    assert found["duration_ns"].tolist() == [200_000, 300_000, 50_000]
    assert found["name"].tolist() == ["logging", "hcom_allReduce_1", ""]
    assert found["stack"].tolist()[0] == "main.py(3): train\nlogging"
    assert found["gap"].tolist() == [0, 0, 1]
    assert [made.names[made.slices.name[row]] for row in found["next"]] == ["b", "b", "c"]


def test_the_stack_goes_on_in_another_process_of_the_thread() -> None:
    device = Track("d", "Stream 2", "1", "2", "device_stream", (0, 0))
    python, cann = Track("Python", "Thread 7", "2", "7", "python", (0, 1)), Track("CANN", "Thread 7", "3", "7", "cann", (0, 2))
    made = trace(
        [
            (device, [(0, 100_000, "a"), (300_000, 10_000, "b")]),
            (python, [(0, 300_000, "main.py(373): train"), (5000, 150_000, "torch/_tensor.py(9): item"),
                      (6000, 149_000, "aten::item"), (200_000, 50_000, "aten::mm")]),
            (cann, [(7000, 140_000, "AscendCL@aclrtSynchronizeStream")]),
        ],
        arrows=[((1, 3), (0, 1), "async_npu")],
    )  # fmt: skip
    found = gaps.explain(made, 0, 0, 310_000)
    assert found[["cause", "name"]].values.tolist() == [["synchronisation", "aten::item"]]
    assert gaps.site(found["stack"][0]) == "main.py(373): train"
    of_cann = gaps.Gaps(made).described(len(made.slices) - 1)
    assert of_cann[1].split("\n") == [
        "main.py(373): train", "torch/_tensor.py(9): item", "aten::item", "AscendCL@aclrtSynchronizeStream",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stack", "line"),
    [
        ("", ""), ("aten::item", ""), ("torch/nn/modules/module.py(1520): _call_impl", ""),
        ("<string>(1): <module>\nmy/train.py(3): step\n/usr/lib/python3.9/threading.py(9): run\nfoo", "my/train.py(3): step"),
        ("main.py(1): a\nmain.py(2): b\nnn.Module: Conv2d_0", "main.py(2): b"),
    ],
)  # fmt: skip
def test_site(stack: str, line: str) -> None:
    assert gaps.site(stack) == line


def test_steps() -> None:
    step = Track("p", "Steps", "1", "9", "step", (0, 0))
    made = trace(
        [(step, [(50, 40, "1"), (0, 50, "0")]), (Track("p", "t", "1", "1", "python", (0, 1)), [(0, 10, "ProfilerStep#7")])]
    )
    assert gaps.steps(made) == [("ProfilerStep#7", 0, 10), ("0", 0, 50), ("1", 50, 90)]


def test_a_stream_without_slices() -> None:
    made = trace({"a": [], "b": [(5, 10, "x")]})
    found = gaps.explain(made, 0, 0, 15, 1)
    assert found[["start_ns", "duration_ns", "cause", "next"]].values.tolist() == [[0, 15, "unknown", -1]]
    assert gaps.explain(made, 0, 15, 15).empty
    assert gaps.by_step(gaps.explain(made, 0, 15, 15), []).empty
    assert gaps.steps(made) == []


def test_arrows_in_a_circle() -> None:
    host = Track("h", "Thread 7", "2", "7", "python", (0, 2))
    device = Track("d", "Stream 2", "1", "2", "device_stream", (0, 0))
    made = trace(
        [(device, [(0, 10, "a"), (100_000, 10, "b")]), (host, [(50_000, 10, "x"), (60_000, 10, "y")])],
        arrows=[((1, 0), (0, 1), "f"), ((1, 1), (1, 0), "f"), ((1, 0), (1, 1), "f"), ((0, 1), (0, 1), "f")],
    )
    assert gaps.explain(made, 0, 0, 100_010)["cause"].tolist()[0] == "host"


def test_a_real_trace(real_data: Path) -> None:
    path = real_data / "profiler_new/torch_npu_text_level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
    made = sources.read(str(path))
    (step,) = gaps.steps(made)
    stream = next(index for index, track in enumerate(made.tracks) if track.thread == "Stream 2")
    found = gaps.explain(made, stream, *step[1:])
    sums = gaps.by_step(found, [step])
    of = made.tracks[stream]
    busy = sum(
        min(start + duration, step[2]) - max(start, step[1])
        for start, duration, name in zip(made.slices.start[of.first : of.last].tolist(),
                                         made.slices.duration[of.first : of.last].tolist(),
                                         made.slices.name[of.first : of.last].tolist(), strict=True)
        if start < step[2] and start + duration > step[1] and not gaps.WAITING.search(made.names[name])
    )  # fmt: skip
    assert sums["idle_ns"].sum() == step[2] - step[1] - busy  # slices of this stream do not overlap
    longest = found.loc[found["duration_ns"].idxmax()]
    assert (longest["cause"], longest["name"]) == ("communication", "hcom_allReduce__271_0_1")
    waited = found[found["cause"] == "synchronisation"].sort_values("duration_ns").iloc[-1]
    assert gaps.site(waited["stack"]) == "main.py(375): train"
    assert waited["duration_ns"] > 3_000_000


@pytest.mark.parametrize(("fetching", "cause"), [(80_000, "host"), (120_000, "data")])
def test_fetching_counts_from_half_of_the_wait_on(fetching: int, cause: str) -> None:
    device = Track("d", "Stream 2", "1", "2", "device_stream", (0, 0))
    host = Track("h", "Thread 7", "2", "7", "python", (0, 1))
    made = trace(
        [
            (device, [(0, 100_000, "a"), (310_000, 10_000, "b")]),
            (host, [(100_000, fetching, "GetNext"), (100_000 + fetching, 200_000 - fetching, "f"), (300_000, 5000, "launch")]),
        ],
        arrows=[((1, 2), (0, 1), "async_npu")],
    )
    assert gaps.explain(made, 0, 0, 320_000)["cause"].tolist() == [cause]
