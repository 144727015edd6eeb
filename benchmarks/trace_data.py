"""Traces of a million and of ten million events: a trace_view.json in the shape of one that torch_npu wrote at level 2,
and columns of many lanes. The real file has 46 % slices, 42 % counters and 12 % ends of arrows, 222 bytes an event."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace import lanes
from parsers.profiler.trace.columns import COMPLETE, CounterValues, Flows, Slices, Trace, Track

ORIGIN_NS = 1_736_412_474_607_917_240
HOST, CANN, DEVICE, HCCL, OVERLAP, MEMORY = 3178231, 3254508768, 3254508960, 3254509024, 3254509280, 3254509152
STEP_NS = 480_000_000
_AT = "@@"
"""Stands for a time in the text of a step, whatever else is in it."""


def trace_view(path: Path, events: int, *, seed: int = 1) -> None:
    """Write a trace_view.json of about `events` events, step by step."""
    texts = [_step(random.Random(f"{seed}/{number}"), number) for number in range(4)]
    with path.open("w", encoding="utf-8") as file:
        file.write("[" + ", ".join(json.dumps(event) for event in _metadata()))
        written, number = 0, 0
        while written < events:
            pieces, times = texts[number % len(texts)]
            shift = ORIGIN_NS + number * STEP_NS
            stamps = [f"{(shift + ns) // 1000}.{(shift + ns) % 1000:03d}" for ns in times]
            name = pieces[0].replace('ProfilerStep#0"', f'ProfilerStep#{number}"')
            file.write(", " + name + "".join(part for pair in zip(stamps, pieces[1:], strict=True) for part in pair))
            written += len(times)
            number += 1
        file.write("]")


def _metadata() -> Iterator[dict[str, object]]:
    processes = {
        HOST: "Python",
        CANN: "CANN",
        DEVICE: "Ascend Hardware",
        HCCL: "HCCL",
        OVERLAP: "Overlap Analysis",
        MEMORY: "Memory",
    }
    for order, (pid, name) in enumerate(processes.items()):
        yield {"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": name}}
        yield {"name": "process_sort_index", "pid": pid, "tid": 0, "ph": "M", "args": {"sort_index": order}}
    for pid, tid, name in [
        *((pid, tid, f"Thread {tid}") for pid in (HOST, CANN) for tid in (HOST, HOST + 1, HOST + 2)),
        *((DEVICE, stream, f"Stream {stream}") for stream in (2, 3, 4)),
        (HCCL, 0, "Group 0 Communication"), *((HCCL, plane + 1, f"Plane {plane}") for plane in range(8)),
        *((OVERLAP, tid, name) for tid, name in enumerate(("Computing", "Communication", "Free"))),
    ]:  # fmt: skip
        yield {"name": "thread_name", "pid": pid, "tid": tid, "ph": "M", "args": {"name": name}}


def _step(rng: random.Random, step: int) -> tuple[list[str], list[int]]:
    """The text of a step between its times, and the times in ns since its start."""
    events: list[tuple[int, dict[str, object]]] = []
    events.append((1000, _slice("ProfilerStep#0", HOST, HOST, STEP_NS - 200_000, cat="user_annotation", args={})))
    now, device = 50_000, 2_000_000
    for call in range(430):
        module, length = rng.randrange(900), rng.randrange(200_000, 900_000)
        correlation = step * 1000 + call
        stack = [
            f"torch/nn/modules/module{module}.py({rng.randrange(2000)}): forward",
            f"layer{module}/attention",
            "aten::linear",
        ]
        begin, end = now, now + length
        for name in stack:
            lines = ";\r\n".join(
                f"/home/user/project/models/layer{module}.py({line}): forward" for line in range(100, 900, 100)
            )
            shapes = {
                "Call stack": lines,
                "Sequence number": -1,
                "Input Dims": "32,128,768;\r\n768,768;\r\n",
                "Input type": "float;\r\nfloat;\r\n",
            }
            events.append((begin, _slice(name, HOST, HOST, end - begin, cat="cpu_op", args=shapes)))
            begin, end = begin + 7_130, end - 4_010
        pairs = (("async_task_queue", HOST, HOST + 1, 30_000), ("async_npu", HOST, 2, device - begin))
        for cat, pid, tid, after in pairs if call % 4 == 0 else ():
            arrow = {"name": cat, "id": correlation, "cat": cat, "bp": "e"}
            events.append((begin, arrow | {"ph": "s", "pid": HOST, "tid": HOST}))
            events.append((begin + after, arrow | {"ph": "f", "pid": DEVICE if cat == "async_npu" else pid, "tid": tid}))
        launch = begin + 30_000
        item = {"Mode": "ACL_OP", "level": "acl", "item_id": "0", "connection_id": correlation, "Thread Id": HOST + 1}
        dequeue = _slice(f"Dequeue@aclnn{module}", HOST, HOST + 1, 90_000, cat="dequeue", args={"correlation_id": correlation})
        events.append((launch, dequeue))
        events.append((launch + 2_000, _slice(f"AscendCL@aclnn{module}", CANN, HOST + 1, 80_000, args=item)))
        events.append((launch + 9_000, _slice("Node@launch", CANN, HOST + 1, 40_000, args=item | {"level": "node"})))
        arrow = {"name": "HostToDevice", "id": f"{correlation << 33}", "cat": "HostToDevice", "bp": "e"}
        events.append((launch + 9_000, arrow | {"ph": "s", "pid": CANN, "tid": HOST + 1}))
        events.append((device, arrow | {"ph": "f", "pid": DEVICE, "tid": 2}))
        length = rng.randrange(40_000, 800_000)
        task = {
            "Model Id": 4294967295,
            "Task Type": "AI_CORE",
            "Physic Stream Id": 2,
            "Task Id": call,
            "connection_id": correlation,
        }
        events.append((device, _slice(f"aclnnLinear{module}_MatMulV3", DEVICE, 2, length, args=task)))
        events.append((device, _slice("Computing", OVERLAP, 0, length, args=None)))
        events.append((device + length, _slice("Free", OVERLAP, 2, 900, args=None)))
        if call % 10 == 0:
            for plane in range(8):
                notify = {"notify_id": str(4294967356 + plane), "duration estimated(us)": 0.6002072538860104, "stream id": 4}
                events.append((device + plane * 300, _slice("Notify_Wait", HCCL, plane + 1, length, args=notify)))
            name = f"hcom_allReduce__271_{call}_1"
            events.append((device, _slice(name, HCCL, 0, length, args={"data_type": "FP32", "count": 4097000})))
        device += length + 900
        now += length + rng.randrange(10_000, 200_000)
        series = rng.choice(["QoS OTHERS", "read_bandwidth", "APP/HBM", "HBM 0/Read", "write_ost"])
        for value in range(9):
            counter = {"name": series, "ph": "C", "pid": MEMORY, "tid": 0, "args": {"KB": float(rng.randrange(10**6)) + value}}
            events.append((now + value * 1000, counter))
    parts = json.dumps([event | {"ts": _AT} for _, event in events]).removeprefix("[").removesuffix("]").split(_AT)
    return parts, [ns for ns, _ in events]


def _slice(name: str, pid: int, tid: int, duration: int, *, args: object, cat: str | None = None) -> dict[str, object]:
    event: dict[str, object] = {"name": name, "pid": pid, "tid": tid, "dur": duration / 1000}
    if cat is not None:
        event["cat"] = cat
    if args is not None:
        event["args"] = args
    return event | {"ph": "X"}


def columns(count: int, *, tracks: int = 50, names: int = 5000, span_ns: int = 100_000_000_000, seed: int = 1) -> Trace:
    """A trace of about `count` slices, three lanes a track: calls of any length, four calls within each, and one in those.

    Arrows lead from every tenth call of a track to the next track.
    """
    rng = np.random.default_rng(seed)
    calls = count // (9 * tracks)
    size = 9 * calls
    track = np.repeat(np.arange(tracks, dtype=np.int32), size)
    start, duration = np.empty(tracks * size, np.int64), np.empty(tracks * size, np.int64)
    for index in range(tracks):
        rows = slice(index * size, (index + 1) * size)
        start[rows], duration[rows] = _calls(rng, calls, span_ns)
    depth, own = lanes.assign(track, start, duration)
    name = rng.integers(0, names, len(start)).astype(np.int32)
    none = np.zeros(len(start), np.int32)
    made = tuple(
        Track("process", f"stream {index}", "1", str(index), "device_stream", (0, index), index * size, (index + 1) * size)
        for index in range(tracks)
    )
    source = np.arange(0, (tracks - 1) * size, 90)
    flows = Flows(source, source + size, np.zeros(len(source), np.int32))
    slices = Slices(
        track, start, duration, name, none, np.full(len(start), COMPLETE, np.uint8), np.arange(len(start)), depth, own
    )
    empty = np.zeros(0, np.int32)
    texts: Sequence[str] = [f"aclnnMatMul_{index}_Layer{index * 7919 % names}" for index in range(names)]
    counters = CounterValues(empty, empty, np.zeros(0, np.int64), np.zeros(0))
    return Trace("made", ORIGIN_NS, "epoch", made, texts, ("",), (), ("HostToDevice",), slices, flows, counters)


def _calls(rng: np.random.Generator, calls: int, span_ns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Calls in order, of which the lengths differ by a thousand times; nine slices each."""
    lengths = rng.lognormal(0, 1.5, 2 * calls)
    edges = np.concatenate([[0], np.cumsum(lengths)]) * (span_ns / lengths.sum())
    outer = np.rint(edges).astype(np.int64)
    begin, length = outer[0:-1:2], np.maximum(outer[1::2] - outer[0:-1:2], 100)
    start, duration = np.empty((calls, 9), np.int64), np.empty((calls, 9), np.int64)
    start[:, 0], duration[:, 0] = begin, length
    for child in range(4):
        start[:, 1 + 2 * child] = begin + length * (2 * child) // 9 + 1
        duration[:, 1 + 2 * child] = length * (3 + child % 2) // 20
        start[:, 2 + 2 * child] = start[:, 1 + 2 * child] + 1
        duration[:, 2 + 2 * child] = duration[:, 1 + 2 * child] // 2
    order = np.argsort(start.ravel(), kind="stable")
    return start.ravel()[order], duration.ravel()[order]
