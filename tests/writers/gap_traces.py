"""Traces of a training in which one gap has a known cause: a model of host, queue and device, apart from the rules for gaps.

The main thread calls operators, a second one takes them from a queue and launches them, and the device runs them in the order
of their launches. Every time has some noise, and other streams do other things meanwhile.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from parsers.profiler.trace.columns import Trace, Track
from tests.writers.traces import Row, trace

CAUSES = ("host", "synchronisation", "data", "stream", "communication", "unknown")


@dataclass
class Made:
    trace: Trace
    stream: int
    """Track of the device stream."""
    begin: int
    end: int
    """Of the gap, ns."""
    culprit: str
    """Name of what caused it."""


@dataclass
class _Recorder:
    rows: dict[str, list[Row]] = field(default_factory=dict)
    arrows: list[tuple[tuple[str, Row], tuple[str, Row], str]] = field(default_factory=list)

    def add(self, track: str, start: float, length: float, name: str) -> Row:
        row = (round(start), round(length), name)
        self.rows.setdefault(track, []).append(row)
        return row


def make(cause: str, seed: int) -> Made:
    """A trace of some sixty operators; one of them is late because of `cause`."""
    rng = random.Random(f"{cause}/{seed}")
    record = _Recorder()
    host, worker, device = 100_000.0, 100_000.0, 0.0
    late = rng.randrange(25, 45)
    skew = rng.uniform(-1500, 1500)
    begin = end = 0.0
    culprit = ""
    main: list[tuple[float, float, str]] = []
    noise = rng.random() < 0.5
    for number in range(60):
        ready = 0.0
        if number == late:
            begin = device
            if cause == "host":
                culprit = rng.choice(["train.py(88): log_metrics", "gc.collect", "json.dumps", "aten::cat"])
                length = max(device - host, 0) + rng.uniform(200_000, 5_000_000)
                main.append((host, length, culprit))
                host += length + 2000
            elif cause == "data":
                culprit = rng.choice(
                    ["enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "GetNext", "DatasetIterator.next"]
                )
                length = max(device - host, 0) + rng.uniform(300_000, 8_000_000)
                main.append((host, length, culprit))
                main.append((host + 1000, length - 3000, "multiprocessing/queues.py(98): get"))
                host += length + rng.uniform(1000, 40_000)
            elif cause == "synchronisation":
                culprit = rng.choice(
                    ["aten::item", "torch_npu/npu/utils.py(58): synchronize", "AscendCL@aclrtSynchronizeStream"]
                )
                until = max(device, host) + rng.uniform(4000, 15_000)
                main.append((host, until - host, culprit))
                host = until + rng.uniform(1000, 30_000)
                if rng.random() < 0.7:  # what the host does next finds the device empty
                    length = rng.uniform(20_000, 800_000)
                    main.append((host, length, "main.py(373): compute_loss"))
                    host += length
            elif cause == "stream":
                culprit = "aclnnAdd_AddAiCore_Add"
                ready = device + rng.uniform(100_000, 2_000_000)
                at = device - rng.uniform(50_000, 400_000)
                while at < ready - 1000:
                    length = min(rng.uniform(60_000, 900_000), ready - 1000 - at)
                    record.add("Stream 3", at, length, culprit)
                    at += length + rng.uniform(0, 2000)
                ready = max(ready, at - 2000)
            elif cause == "communication":
                culprit = "hcom_allReduce__271_0_1"
                ready = device + rng.uniform(100_000, 9_000_000)
                first = device - rng.uniform(10_000, 300_000)
                record.add("Group 0 Communication", first, ready - 500 - first, culprit)
                at = first
                for name in ("Notify_Wait", "Memcpy", "Reduce_Inline"):
                    length = (ready - 500 - first) * rng.uniform(0.1, 0.33)
                    record.add("Plane 0", at, length, name)
                    at += length
            elif cause == "unknown":
                ready = device + rng.uniform(100_000, 1_000_000)
        length = rng.uniform(15_000, 40_000)
        call = (host, length, rng.choice(["aten::mm", "aten::add_", "aten::layer_norm"]))
        main.append(call)
        main.append((host - 500, length + 1000, "nn/modules/module.py(1520): _call_impl"))
        host += length + rng.uniform(1000, 10_000)
        worker = max(worker, call[0] + length * 0.7)
        dequeue = record.add("worker", worker, 30_000, "Dequeue@aclnnMatmul")
        launch = record.add("cann", worker + 3000, 20_000, "Node@launch")
        record.arrows.append((("main", _row(call)), ("worker", dequeue), "async_task_queue"))
        worker += 31_000
        start = max(device + rng.uniform(300, 2500), launch[0] + launch[1] + rng.uniform(1000, 8000) + skew, ready)
        if number == late:
            end = start
            if ready and rng.random() < 0.5:
                record.add("Stream 2", device + 200, start - device - 400, rng.choice(["EVENT_WAIT", "Notify_Wait"]))
        length = rng.uniform(80_000, 300_000)
        kernel = record.add("Stream 2", start, length, rng.choice(["MatMulV3", "LayerNormV4", "Cast"]))
        record.arrows.append((("cann", launch), ("Stream 2", kernel), "HostToDevice"))
        record.arrows.append((("main", _row(call)), ("Stream 2", kernel), "async_npu"))
        if noise and number % 7 == 0:
            record.add("Stream 4", start + rng.uniform(-50_000, 50_000), rng.uniform(5000, 30_000), "MEMCPY_ASYNC")
        device = record.rows["Stream 2"][-1][0] + length
    for start, length, name in main:
        record.add("main", start, length, name)
    record.add("main", 0, host + 1_000_000, "ProfilerStep#1")
    return _assembled(record, round(begin), round(end), culprit)


def _row(call: tuple[float, float, str]) -> Row:
    return round(call[0]), round(call[1]), call[2]


def _assembled(record: _Recorder, begin: int, end: int, culprit: str) -> Made:
    known = (
        ("main", Track("Python", "Thread 7", "7", "7", "python", (0, 0))),
        ("worker", Track("Python", "Thread 8", "7", "8", "python", (0, 1))),
        ("cann", Track("CANN", "Thread 8", "9", "8", "cann", (1, 0))),
        *((f"Stream {n}", Track("Ascend Hardware", f"Stream {n}", "10", str(n), "device_stream", (2, n))) for n in (2, 3, 4)),
        ("Group 0 Communication", Track("HCCL", "Group 0 Communication", "11", "0", "communication", (3, 0))),
        ("Plane 0", Track("HCCL", "Plane 0", "11", "1", "communication", (3, 1))),
    )
    tracks = [(track, sorted(record.rows.get(name, []), key=lambda row: (row[0], -row[1]))) for name, track in known]
    places = {
        name: {row: number for number, row in enumerate(rows)} for (name, _), (_, rows) in zip(known, tracks, strict=True)
    }
    arrows = [
        ((_index(known, a), places[a][one]), (_index(known, b), places[b][other]), kind)
        for (a, one), (b, other), kind in record.arrows
    ]
    made = trace(tracks, arrows=arrows)
    return Made(made, next(index for index, (name, _) in enumerate(known) if name == "Stream 2"), begin, end, culprit)


def _index(known: tuple[tuple[str, Track], ...], name: str) -> int:
    return next(index for index, (of, _) in enumerate(known) if of == name)
