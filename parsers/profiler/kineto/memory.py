"""Memory of a Kineto trace recorded with profile_memory: totals over time, and blocks from allocation to release.

Each `[memory]` event says an address, the bytes that were allocated or, negative, released, and in newer files the totals after
it (libtorch's profiler; torch/profiler/_memory_profiler.py). Where the file has no totals, they are added up from the first
event, at which what had been allocated before is unknown and counts as nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.profile_frames import MEMORY, OPERATOR_MEMORY
from parsers.profiler.frame_parts import categorical, frame_of
from parsers.profiler.kineto.recording import KinetoRecording
from parsers.profiler.kineto.texts import coded
from parsers.profiler.tables import NONE

_CPU = 0
_TYPES = {_CPU: "CPU", 1: "CUDA", 6: "HIP"}
"""c10/core/DeviceType.h."""


def memory(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return MEMORY: the totals of the allocator after each event, by kind of device."""
    columns, slices = recording.memory
    totals = _allocated(columns)
    return frame_of(
        MEMORY,
        len(slices),
        {
            "component": categorical([_component(one) for one in columns["device_type"].tolist()]),
            "device": columns["device_id"], "time_ns": recording.trace.slices.start[slices] + recording.trace.origin_ns,
            "allocated_bytes": totals, "reserved_bytes": _reserved(columns),
        },
        file,
    )  # fmt: skip


def _component(device_type: int) -> str:
    return _TYPES.get(device_type, f"device type {device_type}" if device_type >= 0 else "")


def _allocated(columns: dict[str, Any]) -> Ints:
    """Return the bytes allocated after each event: as the file says, else added up for each device."""
    totals: Ints = np.where(columns["allocated"] >= 0, columns["allocated"], NONE)
    key = columns["device_type"] * 4096 + columns["device_id"]
    for one in np.unique(key).tolist():
        rows = np.flatnonzero(key == one)
        if (totals[rows] < 0).all():
            totals[rows] = np.maximum(np.cumsum(columns["size"][rows]), 0)
    return totals


def _reserved(columns: dict[str, Any]) -> Ints:
    """Return the bytes reserved after each event; the CPU reserves nothing, and writers say 0 for what they do not know."""
    known = (columns["reserved"] > 0) & (columns["device_type"] != _CPU)
    return np.where(known, columns["reserved"], NONE)


def blocks(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return OPERATOR_MEMORY: a row for each allocation, and one for each release of what was allocated before."""
    columns, slices = recording.memory
    trace = recording.trace
    time = trace.slices.start[slices]
    allocation, release = _pairs(columns)
    at = np.where(allocation >= 0, allocation, release)
    known = allocation >= 0
    names, stack = _names(recording, np.where(known, _operators(recording, slices[at], time[at]), -1))
    size = columns["size"]
    made: dict[str, Any] = {
        "name": names, "stack": stack, "device": columns["device_id"][at],
        "component": categorical([_component(one) for one in columns["device_type"][at].tolist()]),
        "size_bytes": np.abs(size[at]), "address": columns["address"][at],
        "allocated_ns": np.where(known, time[at] + trace.origin_ns, NONE),
        "released_ns": np.where(release >= 0, time[np.maximum(release, 0)] + trace.origin_ns, NONE),
        "total_allocated_bytes": np.where(known, _allocated(columns)[at], NONE),
        "total_reserved_bytes": np.where(known, _reserved(columns)[at], NONE),
    }  # fmt: skip
    return frame_of(OPERATOR_MEMORY, len(at), made, file)


def _pairs(columns: dict[str, Any]) -> tuple[Ints, Ints]:
    """Return the events that allocate and release each block, -1 for none, in the order of the first of them."""
    running: dict[tuple[int, int, int], int] = {}
    found: list[list[int]] = []
    keys = zip(columns["device_type"].tolist(), columns["device_id"].tolist(), columns["address"].tolist(), strict=True)
    for row, (key, size) in enumerate(zip(keys, columns["size"].tolist(), strict=True)):
        if size > 0:
            running[key] = len(found)
            found.append([row, -1])
        elif size < 0:
            block = running.pop(key, None)
            if block is None:
                found.append([-1, row])
            else:
                found[block][1] = row
    made = np.array(found, np.int64).reshape(-1, 2)
    return made[:, 0], made[:, 1]


def _operators(recording: KinetoRecording, slices: Ints, time: Ints) -> Ints:
    """Return the row of the host of the operator or annotation that ran on the thread at each time; -1 for none."""
    host, owner = recording.host, recording.owner_of_host
    track = recording.trace.slices.track[slices].astype(np.int64)
    found = np.full(len(time), -1, np.int64)
    order = np.argsort(track, kind="stable")
    for asked in np.split(order, np.flatnonzero(np.diff(track[order])) + 1) if len(order) else ():
        one = int(track[asked[0]])
        first, last = np.searchsorted(host.track, (one, one + 1)).tolist()
        if first == last:
            continue
        place = np.searchsorted(host.start[first:last], time[asked], "right") - 1
        row = np.where(place >= 0, place + first, -1)
        while True:
            over = (row >= 0) & (host.end[row] < time[asked])
            if not over.any():
                break
            row = np.where(over, host.around[row], row)
        found[asked] = np.where(row >= 0, owner[row], -1)
    return found


def _names(recording: KinetoRecording, operator: Ints) -> tuple[pd.Categorical, pd.Categorical]:
    host = recording.host
    known = operator >= 0
    name, stack = np.full(len(operator), -1, np.int64), np.zeros(len(operator), np.int64)
    if known.any():
        name[known] = host.name[operator[known]]
        stack[known] = recording.stacks.code[operator[known]]
    return coded(name, recording.trace.names), coded(stack, recording.stacks.texts)
