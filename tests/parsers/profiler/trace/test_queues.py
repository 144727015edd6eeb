"""Launch queues beside the streams of a timeline, against counting by hand and against the card *Launch delay*."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from parsers.analysis.profiles.launches import launch_figures
from parsers.profiler.kineto import kernels
from parsers.profiler.kineto.recording import read as read_recording
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.queues import NAME, SERIES
from parsers.profiler.trace.sources import TraceFiles, read_all
from tests.amounts import some_or_every

SMALL_BYTES = 130_000


def opened(path: Path) -> Trace:
    return read_all(TraceFiles(path.name, (str(path),)))


def queues(trace: Trace) -> dict[str, list[tuple[int, float]]]:
    counters = trace.counters
    found: dict[str, list[tuple[int, float]]] = {}
    for track, series, time, value in zip(
        counters.track.tolist(), counters.series.tolist(), counters.time.tolist(), counters.value.tolist(), strict=True
    ):
        if trace.series[series] == SERIES:
            found.setdefault(trace.tracks[track].thread, []).append((time, value))
    return found


def written(path: Path, launches: list[tuple[int, int, int]], kind: str = "ac2g") -> Trace:
    """Write launches as (stream, begin of the call, begin on the device) in microseconds."""
    events: list[dict[str, object]] = []
    for number, (stream, call, start) in enumerate(launches):
        events += [
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": call, "dur": 1,
             "args": {"correlation": number}},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": stream, "ts": start, "dur": 5,
             "args": {"correlation": number, "stream": stream, "device": 0}},
            {"ph": "s", "id": number, "pid": 1, "tid": 1, "ts": call, "cat": kind, "name": kind},
            {"ph": "f", "id": number, "pid": 0, "tid": stream, "ts": start, "cat": kind, "name": kind, "bp": "e"},
        ]  # fmt: skip
    events += [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": stream, "args": {"name": f"stream {stream}"}}
        for stream in sorted({stream for stream, _, _ in launches})
    ]
    events.append({"ph": "C", "name": "memory", "pid": 1, "tid": 1, "ts": 3, "args": {"bytes": 7}})
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}))
    return opened(path)


@pytest.mark.parametrize("kind", ["ac2g", "async_cpu_to_gpu"])
def test_a_queue_grows_with_calls_and_shrinks_with_kernels(tmp_path: Path, kind: str) -> None:
    trace = written(tmp_path / "trace.json", [(7, 0, 10), (7, 2, 20), (9, 4, 30), (7, 6, 40)], kind)
    found = queues(trace)
    assert found["stream 7: launch queue"] == [(0, 1), (2000, 2), (6000, 3), (10000, 2), (20000, 1), (40000, 0)]
    assert found["stream 9: launch queue"] == [(4000, 1), (30000, 0)]


def test_each_queue_lies_behind_its_stream_and_nothing_else_moves(tmp_path: Path) -> None:
    trace = written(tmp_path / "trace.json", [(7, 0, 10), (9, 4, 30)])
    names = [track.thread for track in trace.tracks]
    for stream in ("stream 7", "stream 9"):
        assert names.index(f"{stream}: {NAME}") == names.index(stream) + 1
    for number, track in enumerate(trace.tracks):
        assert set(trace.slices.track[track.first : track.last].tolist()) <= {number}
    assert (np.diff(trace.slices.track) >= 0).all()
    own = trace.tracks[int(trace.counters.track[trace.counters.value == 7][0])]
    assert own.thread == "memory"
    order = np.lexsort((trace.counters.time, trace.counters.series, trace.counters.track))
    assert order.tolist() == list(range(len(order)))


def test_arrows_of_gradients_are_no_launches(tmp_path: Path) -> None:
    assert queues(written(tmp_path / "trace.json", [(7, 0, 10)], "fwdbwd")) == {}


@some_or_every
def test_the_longest_queue_is_that_of_the_card(real_data: Path, every: bool) -> None:
    """Without `every` of small files."""
    compared = 0
    for path in sorted((real_data / "accelerators" / "kineto").rglob("*.json*")):
        if not every and path.stat().st_size > SMALL_BYTES:
            continue
        found = queues(opened(path))
        if not found or path.name.startswith("graph_"):  # kernels of a graph have no arrow of their own
            continue
        figures = launch_figures(kernels.kernels(read_recording(str(path)), "file"))
        assert figures is not None
        longest = sorted(one.longest_queue for one in figures.streams if one.longest_queue)
        assert sorted(int(max(value for _, value in one)) for one in found.values()) == longest, path.name
        compared += len(longest)
    assert compared > (20 if every else 4)
