"""Steps of a Kineto trace: when the host began and ended them, and what the device did of each.

A step on the device lasts from the end of the one before, or its begin on the host, to the end of the last thing launched in
it, or its end on the host (the rule of torch's TensorBoard plugin), so that no moment counts twice although the host runs
ahead. The first one begins once what was launched before it has ended. Its parts are those of what was launched in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.profile_frames import STEP_TIMES, STEPS
from parsers.profiler.frame_parts import categorical, frame_of
from parsers.profiler.kineto.events import KERNEL
from parsers.profiler.kineto.kernels import communicates
from parsers.profiler.kineto.recording import DeviceRows, KinetoRecording
from parsers.profiler.tables import NONE

CUT = 0.8
"""A last step with less than this part of the launches of the one before is one whose recording was cut off."""
PARTS = ("computing_ns", "exposed_ns", "overlapped_ns", "communication_ns", "free_ns", "copies_ns")


def step_times(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return STEP_TIMES: the steps as the host marked them."""
    steps, origin = recording.steps, recording.trace.origin_ns
    columns = {"step": steps.number, "start_ns": steps.start + origin, "end_ns": steps.end + origin}
    return frame_of(STEP_TIMES, len(steps.number), columns, file)


def steps(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return STEPS: a row for each step, one with number -1 where none was marked; none for a trace without work."""
    device, marked = recording.device, recording.steps
    number, of_step = marked.number, recording.step_of_device
    start, end = marked.start, marked.end
    if not len(number):
        if not len(device) and not len(recording.host):
            return STEPS.empty()
        number, of_step = np.array([NONE]), np.zeros(len(device), np.int64)
        start, end = _extent(recording)
    begins, ends = _windows(start, end, of_step, device)
    columns: dict[str, Any] = _parts(recording, begins, ends, of_step)
    if not len(device):
        columns = {}
    columns |= {
        "step": number, "kind": categorical(_kinds(number, of_step)), "start_ns": begins + recording.trace.origin_ns,
        "total_ns": (ends - begins).astype(np.float64), "fetching_ns": _fetching(recording, start, end),
        "device": _devices(recording, of_step, len(number)),
    }  # fmt: skip
    return frame_of(STEPS, len(number), columns, file)


def _extent(recording: KinetoRecording) -> tuple[Ints, Ints]:
    """Return begin and end of what was recorded on host and device."""
    parts = [rows for rows in (recording.host, recording.device) if len(rows)]
    first, last = min(int(rows.start.min()) for rows in parts), max(int(rows.end.max()) for rows in parts)
    return np.array([first]), np.array([last])


def _windows(start: Ints, end: Ints, of_step: Ints, device: DeviceRows) -> tuple[Ints, Ints]:
    last = end.copy()
    known = of_step >= 0
    np.maximum.at(last, of_step[known], device.end[known])
    last = np.maximum.accumulate(last)
    first = start.copy()
    first[0] = _first_begin(int(start[0]), of_step, device)
    first[1:] = np.maximum(start[1:], last[:-1])
    return first, np.maximum(last, first)


def _first_begin(start: int, of_step: Ints, device: DeviceRows) -> int:
    """Return when the first step begins: the host may have been ahead, and the device busy with kernels from before.

    Copies do not count: those of the step may run beside these kernels.
    """
    kernel = device.class_ == KERNEL
    own = device.start[kernel & (of_step == 0)]
    first = int(own.min()) if len(own) else start
    before = device.end[kernel & (of_step < 0) & (device.start < first)]
    return max(start, min(int(before.max()), first)) if len(before) else start


def _parts(recording: KinetoRecording, begins: Ints, ends: Ints, of_step: Ints) -> dict[str, NDArray[np.float64]]:
    """Return PARTS by step: lengths of unions of what was launched in it, within its window."""
    device = recording.device
    rows = np.flatnonzero(of_step >= 0)
    step = of_step[rows]
    start, end = (np.clip(times[rows], begins[step], ends[step]) for times in (device.start, device.end))
    communicates_, copies = communicates(recording)[rows], (device.class_ != KERNEL)[rows]
    every = np.ones(len(rows), np.bool_)
    computing, communication, both, busy = (
        _covered_by_step(step[chosen], start[chosen], end[chosen], len(begins))
        for chosen in (~communicates_ & ~copies, communicates_, communicates_ | ~copies, every)
    )
    exposed = both - computing
    found = computing, exposed, communication - exposed, communication, ends - begins - both, busy - both
    return {name: values.astype(np.float64) for name, values in zip(PARTS, found, strict=True)}


def _covered_by_step(step: Ints, start: Ints, end: Ints, steps_: int) -> Ints:
    """Return the length of the union of the intervals of each step, which lie in windows that follow one another."""
    order = np.lexsort((start, step))
    step, start, end = step[order], start[order], end[order]
    last = np.maximum.accumulate(end) if len(end) else end
    new = np.maximum(last - np.maximum(start, np.append(start[:1], last[:-1])), 0)
    return _sums(step, new, steps_)


def _sums(group: Ints, values: Ints, groups: int) -> Ints:
    found = np.zeros(groups, np.int64)
    np.add.at(found, group, values)
    return found


def _kinds(number: Ints, of_step: Ints) -> list[str]:
    """Return the kind of each step: the last one is cut if much fewer things were launched in it than in the one before."""
    launches = np.bincount(of_step[of_step >= 0], minlength=len(number))
    kinds = ["step"] * len(number)
    if len(number) > 1 and launches[-1] < CUT * launches[-2]:
        kinds[-1] = "cut"
    return kinds


def _fetching(recording: KinetoRecording, start: Ints, end: Ints) -> NDArray[np.float64]:
    """Return the time of each step on the host that fetching data takes; NaN if nothing in the trace fetches any."""
    host, rows = recording.host, recording.fetches
    if not len(rows):
        return np.full(len(start), np.nan)
    first = np.searchsorted(end, host.start[rows], "right")
    last = np.maximum(np.searchsorted(start, host.end[rows]), first)
    rows, step = np.repeat(rows, last - first), _ranges(first, last)
    begins, ends = (np.clip(times[rows], start[step], end[step]) for times in (host.start, host.end))
    return _covered_by_step(step, begins, ends, len(start)).astype(np.float64)


def _ranges(first: Ints, last: Ints) -> Ints:
    """Return the numbers from each first to before each last, one range after the other."""
    lengths = last - first
    found: Ints = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths - first, lengths)
    return found


def _devices(recording: KinetoRecording, of_step: Ints, steps_: int) -> Ints:
    """Return the device of each step, the one with most of what was launched in it; NONE for none."""
    number = recording.device_arguments["device"]
    known = (of_step >= 0) & (number >= 0)
    pairs, counts = np.unique(np.column_stack((of_step[known], number[known])), axis=0, return_counts=True)
    order = np.lexsort((-pairs[:, 1], counts))  # the last one written has most
    found = np.full(steps_, NONE, np.int64)
    found[pairs[order, 0]] = pairs[order, 1]
    return found
