"""A Chrome trace in the shape of a real one: steps and calls of a thread, kernels on a stream, arrows, a counter."""

from __future__ import annotations

import json
from typing import Any

STEPS = 3
STEP_NS = 1_000_000
SMALL = 200
"""Kernels of 20 ns in each step, one every 100 ns."""
FIRST_US = 1_700_000_000_000_000
THREAD, STREAM = {"pid": 1, "tid": 10}, {"pid": 2, "tid": 2}


def microseconds(ns: int) -> str:
    """A time as profilers write it: us since 1970 with three decimals."""
    return f"{FIRST_US + ns // 1000}.{ns % 1000:03d}"


def slices() -> list[dict[str, Any]]:
    """The slices, with start and duration in ns under `at` and `ns`."""
    found: list[dict[str, Any]] = []
    for step in range(STEPS):
        begin = step * STEP_NS
        found.append({**THREAD, "name": f"ProfilerStep#{step + 1}", "at": begin, "ns": STEP_NS, "args": {}})
        found.append({**THREAD, "name": "main.py(7): forward", "at": begin + 10_000, "ns": 400_000, "cat": "python_function",
                      "args": {"Call stack": "main.py(7): forward;\nmain.py(90): <module>"}})  # fmt: skip
        for call in range(2):
            at = begin + 20_000 + call * 150_000
            found.append({**THREAD, "name": "aten::addmm", "at": at, "ns": 60_001, "cat": "cpu_op",
                          "args": {"Input Dims": [[64, 32], [32, 10]], "Input type": ["float", "float"]}})  # fmt: skip
            found.append({**STREAM, "name": "MatMulV2", "at": at + 100_000, "ns": 50_000,
                          "args": {"Task Type": "AI_CORE", "connection_id": 2 * step + call}})  # fmt: skip
        found += [
            {**STREAM, "name": f"Cast{small % 3}", "at": begin + 500_000 + small * 100, "ns": 20, "args": {}}
            for small in range(SMALL)
        ]  # fmt: skip
    return found


def events() -> list[dict[str, Any]]:
    """All events as the file has them."""
    made: list[dict[str, Any]] = []
    for pid, name, order in ((1, "Python", 0), (2, "Ascend Hardware", 13), (3, "HBM", 17)):
        made.append({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}})
        made.append({"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": order}})
    made.append({"ph": "M", "name": "thread_name", **THREAD, "args": {"name": "Thread 10"}})
    made.append({"ph": "M", "name": "thread_name", **STREAM, "args": {"name": "Stream 2"}})
    for number, one in enumerate(slices()):
        event = {key: value for key, value in one.items() if key not in ("at", "ns")}
        made.append({"ph": "X", "ts": microseconds(one["at"]), "dur": one["ns"] / 1000, **event})
        if one["name"] == "aten::addmm":
            made.append({"ph": "s", "id": str(number), "cat": "async_npu", "name": "async_npu", **THREAD,
                         "ts": microseconds(one["at"] + 10)})  # fmt: skip
            made.append({"ph": "f", "bp": "e", "id": str(number), "cat": "async_npu", "name": "async_npu", **STREAM,
                         "ts": microseconds(one["at"] + 100_000)})  # fmt: skip
    counter = {"ph": "C", "name": "HBM 0/Read", "pid": 3, "tid": 0}
    samples = ((microseconds(number * 100_000), {"Read(MB/s)": number * 10.5}) for number in range(30))
    return [*made, *({**counter, "ts": ts, "args": args} for ts, args in samples)]


def text() -> str:
    """The file."""
    return json.dumps(events())
