"""Steps of a Kineto trace: when the host began and ended them, and what the device did of each.

A step on the device lasts from the end of the one before, or its begin on the host, to the end of the last thing launched in
it, or its end on the host (the rule of torch's TensorBoard plugin), so that no moment counts twice although the host runs
ahead. The first one begins once what was launched before it has ended. Its parts are those of what was launched in it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.profiles.busy import covered
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
    communication, copies = communicates(recording), device.class_ != KERNEL
    rows = [
        _parts(int(begins[place]), int(ends[place]), device.start[own], device.end[own], communication[own], copies[own])
        for place, own in enumerate(rows_by_step(of_step, len(number)))
    ]
    columns: dict[str, Any] = dict(zip(PARTS, np.array(rows, np.float64).reshape(-1, len(PARTS)).T, strict=True))
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


def _parts(t0: int, t1: int, start: Ints, end: Ints, communicates_: NDArray[np.bool_], copies: NDArray[np.bool_]) -> list[int]:
    """Return PARTS of a step: lengths of unions of what was launched in it, within its window."""
    start, end = np.clip(start, t0, t1), np.clip(end, t0, t1)
    works = ~communicates_ & ~copies
    computing, communication = covered(start[works], end[works]), covered(start[communicates_], end[communicates_])
    kernels = works | communicates_
    both, busy = covered(start[kernels], end[kernels]), covered(start, end)
    exposed = both - computing
    return [computing, exposed, communication - exposed, communication, t1 - t0 - both, busy - both]


def _kinds(number: Ints, of_step: Ints) -> list[str]:
    """Return the kind of each step: the last one is cut if much fewer things were launched in it than in the one before."""
    launches = np.bincount(of_step[of_step >= 0], minlength=len(number))
    kinds = ["step"] * len(number)
    if len(number) > 1 and launches[-1] < CUT * launches[-2]:
        kinds[-1] = "cut"
    return kinds


def rows_by_step(of_step: Ints, steps_: int) -> list[Ints]:
    """Return the rows of each step, in their order; `of_step` has the place of the step of each row, -1 for none."""
    order = np.argsort(of_step, kind="stable")
    bounds = np.searchsorted(of_step[order], np.arange(steps_ + 1)).tolist()
    return [order[first:last] for first, last in pairwise(bounds)]


def _fetching(recording: KinetoRecording, start: Ints, end: Ints) -> NDArray[np.float64]:
    """Return the time of each step on the host that fetching data takes; NaN if nothing in the trace fetches any."""
    host, rows = recording.host, recording.fetches
    if not len(rows):
        return np.full(len(start), np.nan)
    rows = rows[np.argsort(host.start[rows], kind="stable")]
    begins, ends = host.start[rows], host.end[rows]
    firsts = np.searchsorted(np.maximum.accumulate(ends), start, "right").tolist()
    lasts = np.searchsorted(begins, end).tolist()
    return np.array([
        covered(np.clip(begins[first:last], t0, t1), np.clip(ends[first:last], t0, t1))
        for first, last, t0, t1 in zip(firsts, lasts, start.tolist(), end.tolist(), strict=True)
    ], np.float64)  # fmt: skip


def _devices(recording: KinetoRecording, of_step: Ints, steps_: int) -> Ints:
    """Return the device of each step, the one with most of what was launched in it; NONE for none."""
    number = recording.device_arguments["device"]
    found = np.full(steps_, NONE, np.int64)
    for place, rows in enumerate(rows_by_step(of_step, steps_)):
        own = number[rows]
        own = own[own >= 0]
        if len(own):
            found[place] = np.bincount(own).argmax() if own.max() < 1 << 16 else own[0]
    return found

