"""Kernels, copies and fills of a Kineto trace, and which of them communicate."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.profiles.launches import LAUNCH_BEGIN, LAUNCH_END
from parsers.deferred import pandas as pd
from parsers.profile_frames import KERNELS
from parsers.profiler.frame_parts import categorical, changed, constant, frame_of
from parsers.profiler.kineto.events import KERNEL, OPERATOR
from parsers.profiler.kineto.recording import KinetoRecording
from parsers.profiler.kineto.texts import coded, listed
from parsers.profiler.tables import NONE

_CORES = ("GPU_KERNEL", "COMMUNICATION", "COPY")
_KERNEL = re.compile(
    r"nccl|rccl|msccl|oneccl|multimem_(?:all|reduce)|cross_device_reduce|(?:one|two)_shot_all_?reduce|deep_ep", re.IGNORECASE
)
_OPERATOR = re.compile(r"record_param_comms|c10d::|symm_mem::|_C_custom_ar::|nccl:")
_TEXTS = {"grid": "grid", "block": "block"}
_NUMBERS = {
    "registers": "registers per thread", "shared": "shared memory (B)", "blocks": "blocks per SM", "warps": "warps per SM",
    "occupancy": "est. achieved occupancy (%)", "bandwidth": "memory bandwidth (GB/s)",
}  # fmt: skip


def communicates(recording: KinetoRecording) -> NDArray[np.bool_]:
    """Return which rows of the device communicate, by their own name or that of the operator that launched them.

    Kernels of collectives need not be of a library for them: torch's symmetric memory and engines for inference have their own.
    """
    device, names = recording.device, recording.trace.names
    by_name = _codes_of(device.name, names, _KERNEL)
    host = recording.host
    owner = np.maximum(device.owner, 0)
    by_operator = np.zeros(len(device), np.bool_)
    if len(host):
        of_name = _codes_of(host.name, names, _OPERATOR) & (host.class_ == OPERATOR)
        by_operator = of_name[owner] & (device.owner >= 0)
    found: NDArray[np.bool_] = (device.class_ == KERNEL) & (by_name | by_operator)
    return found


def _codes_of(codes: NDArray[Any], names: Any, pattern: re.Pattern[str]) -> NDArray[np.bool_]:
    chosen = [code for code in np.unique(codes).tolist() if pattern.search(names[code]) is not None]
    return np.isin(codes, chosen)


def kernels(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return KERNELS: what the devices ran, in the order of time, with what the file has of it under pmu/."""
    device, arguments, trace = recording.device, recording.device_arguments, recording.trace
    if not len(device):
        return _counted(recording, file)
    core = np.where(device.class_ == KERNEL, communicates(recording).astype(np.int8), 2)
    name = coded(device.name, trace.names)
    columns: dict[str, Any] = {
        "step": _numbers_of_steps(recording), "name": name, "type": changed(name, kernel_type),
        "core": pd.Categorical.from_codes(core, categories=pd.Index(list(_CORES), dtype="str")),
        "start_ns": device.start + trace.origin_ns, "duration_ns": device.duration, "wait_ns": _waits(recording),
        "device": _from_track(arguments["device"], device.track, recording, "process_id"),
        "stream": _from_track(arguments["stream"], device.track, recording, "thread_id"),
        "task": arguments["correlation"], "model": np.where(arguments["graph"] > 0, arguments["graph"], NONE),
    }  # fmt: skip
    for key, title in _TEXTS.items():
        if arguments[key].any():
            columns[f"pmu/{title}"] = coded(arguments[key], recording.texts(key), lambda text: listed(text, ","))
    for key, title in _NUMBERS.items():
        if not np.isnan(arguments[key]).all():
            columns[f"pmu/{title}"] = arguments[key]
    if (arguments["bytes"] != NONE).any():
        columns["pmu/bytes (B)"] = np.where(arguments["bytes"] == NONE, np.nan, arguments["bytes"].astype(np.float64))
    call, host = device.call, recording.host
    if (call >= 0).any():
        for title, time in ((LAUNCH_BEGIN, host.start), (LAUNCH_END, host.end)):
            columns[title] = np.where(call >= 0, time[call] + trace.origin_ns, NONE)
    return frame_of(KERNELS, len(device), columns, file)


def kernel_type(name: str) -> str:
    """Return the function of a kernel without its result, templates and arguments; of a copy its direction."""
    plain = name.replace("(anonymous namespace)::", "")
    depth, kept = 0, []
    for character in plain if "<" in plain else ():
        if character == "<":
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    short = ("".join(kept) if "<" in plain else plain).split("(", 1)[0].strip()
    if "<" in plain or "::" in short or short.startswith("void "):
        short = short.rsplit(" ", 1)[-1]
    return short or name


def _numbers_of_steps(recording: KinetoRecording) -> NDArray[np.int64]:
    place = recording.step_of_device
    number = np.append(recording.steps.number, NONE)
    found: NDArray[np.int64] = number[place]
    return found


def _waits(recording: KinetoRecording) -> NDArray[np.float64]:
    """Return the time between the end of what ran before on the stream and each begin; NaN for the first."""
    device = recording.device
    order = np.lexsort((device.start, device.track))
    waits = np.full(len(device), np.nan)
    track, start, end = device.track[order], device.start[order], device.end[order]
    for rows in np.split(np.arange(len(order)), np.flatnonzero(np.diff(track)) + 1):
        if len(rows) > 1:
            before = np.maximum.accumulate(end[rows])[:-1]
            waits[order[rows[1:]]] = np.maximum(start[rows[1:]] - before, 0)
    return waits


def _from_track(known: NDArray[np.int64], track: NDArray[np.int64], recording: KinetoRecording, name: str) -> NDArray[np.int64]:
    """Return numbers of devices or streams: as in the arguments, else those of the process or thread that the slice is on."""
    numbers = []
    for one in recording.trace.tracks:
        text = str(getattr(one, name)).split(" ")[-1]
        numbers.append(int(text) if text.isdecimal() and len(text) < 19 else NONE)
    return np.where(known >= 0, known, np.array([*numbers, NONE], np.int64)[track])


def _counted(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return KERNELS of ranges with counters, which CUPTI writes in place of kernels."""
    rows, values = recording.counters
    slices, trace = recording.trace.slices, recording.trace
    name = coded(slices.name[rows], trace.names)
    columns: dict[str, Any] = {
        "name": name, "type": changed(name, kernel_type), "core": constant(_CORES[0], len(rows)),
        "start_ns": slices.start[rows] + trace.origin_ns, "duration_ns": slices.duration[rows],
        "device": _from_track(np.full(len(rows), NONE), slices.track[rows].astype(np.int64), recording, "process_id"),
    }  # fmt: skip
    for title in dict.fromkeys(title for one in values for title in one):
        cells = [one.get(title) for one in values]
        if all(isinstance(cell, int | float | None) for cell in cells):
            columns[f"pmu/{title}"] = np.array([np.nan if cell is None else float(cell) for cell in cells], np.float64)
        else:
            columns[f"pmu/{title}"] = categorical(["" if cell is None else str(cell) for cell in cells])
    return frame_of(KERNELS, len(rows), columns, file)
