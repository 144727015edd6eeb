"""Operators of a Kineto trace: their time on the host, and of what they launched on the device.

The time on the host is that of torch's key_averages (torch/autograd/profiler_util.py): own time is without the operators,
annotations and calls of the runtime directly within. Frames of Python count as nothing here, which differs from torch for
operators that call Python. Time on the device is that of what calls within an operator launched; of what was launched before
the recording, or without an operator, there are rows too, so that own times on the device add up to all of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.profile_frames import OPERATORS, SHAPE_TIMES
from parsers.profiler.frame_parts import changed, constant, frame_of, joined
from parsers.profiler.kineto.around import levels
from parsers.profiler.kineto.events import ANNOTATION, OPERATOR
from parsers.profiler.kineto.recording import KinetoRecording
from parsers.profiler.kineto.texts import coded, listed, shapes

BEFORE = "launched before the recording"
"""The name of the row of kernels of which no launch was recorded."""
_HOST = "HOST_CPU"
_STEP = re.compile(r"(?<=^ProfilerStep)#\d+$")
"""The number of a step, without which all steps are of one type."""


def device_times(recording: KinetoRecording) -> tuple[Ints, Ints]:
    """Return the time on the device of each row of the host, ns: of what it launched itself, and with all within it."""
    host, device = recording.host, recording.device
    own, total = np.zeros(len(host), np.int64), np.zeros(len(host), np.int64)
    known = device.owner >= 0
    np.add.at(own, device.owner[known], device.duration[known])
    by = np.where(device.call >= 0, device.call, device.owner)[known]
    np.add.at(total, by, device.duration[known])
    for rows in reversed(levels(host.around)):
        np.add.at(total, host.around[rows], total[rows])
    return own, total


def operators(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return OPERATORS: a row for each name with its shapes and types, the longest first; stack is that with most own time."""
    host, trace = recording.host, recording.trace
    own, total = device_times(recording)
    owns = np.zeros(len(host), np.bool_)
    owns[recording.device.owner[recording.device.owner >= 0]] = True
    rows = np.flatnonzero((host.class_ == OPERATOR) | (host.class_ == ANNOTATION) | owns)
    arguments = recording.arguments_of(host.slice[rows], OPERATOR, ANNOTATION)
    group, first = _grouped(host.name[rows], arguments["shapes"], arguments["types"])
    duration = host.duration[rows]
    count = np.bincount(group, minlength=len(first)).astype(np.float64)
    least, most = np.full(len(first), np.iinfo(np.int64).max), np.zeros(len(first), np.int64)
    np.minimum.at(least, group, duration)
    np.maximum.at(most, group, duration)
    summed = {
        name: _sums(values[rows], group, len(first)).astype(np.float64)
        for name, values in (
            ("total_ns", host.duration), ("self_ns", host.own), ("device_ns", total), ("device_self_ns", own),
        )
    }  # fmt: skip
    name = coded(host.name[rows][first], trace.names)
    columns: dict[str, Any] = {
        "name": name, "full_name": name, "type": changed(name, lambda text: _STEP.sub("", text)),
        "core": constant(_HOST, len(first)), "count": count, **summed,
        "mean_ns": summed["total_ns"] / count if len(first) else count, "min_ns": least.astype(np.float64),
        "max_ns": most.astype(np.float64),
        "input_shapes": coded(arguments["shapes"][first], recording.texts("shapes"), shapes),
        "input_types": coded(arguments["types"][first], recording.texts("types"), lambda text: listed(text, ";")),
        "stack": _stacks(recording.stacks.texts, recording.stacks.code[rows], group, len(first), host.own[rows]),
    }  # fmt: skip
    if not len(recording.device):
        columns["device_ns"] = columns["device_self_ns"] = np.full(len(first), np.nan)
    frame = frame_of(OPERATORS, len(first), columns, file)
    frame = joined(OPERATORS, [frame, _before(recording, file)])
    return frame.sort_values(["total_ns", "device_ns"], ascending=False, kind="stable", ignore_index=True)


def _before(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return a row of OPERATORS for what ran on the device although nothing recorded launched it; none for nothing."""
    device = recording.device
    left = device.duration[device.owner < 0]
    time = np.array([float(left.sum())] * bool(len(left)))
    rows = len(time)
    columns = {
        **{name: constant(BEFORE, rows) for name in ("name", "full_name", "type")}, "core": constant(_HOST, rows),
        "count": np.full(rows, float(len(left))), "total_ns": np.zeros(rows), "self_ns": np.zeros(rows),
        "device_ns": time, "device_self_ns": time,
    }  # fmt: skip
    return frame_of(OPERATORS, rows, columns, file)


def _grouped(*keys: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the group of each row, by keys that are not negative, and the first row of each group."""
    key = np.zeros(len(keys[0]), np.int64)
    for one in keys:
        key *= int(one.max(initial=0)) + 1
        key += one
        key = pd.factorize(key)[0].astype(np.int64, copy=False)
    first = np.zeros(int(key.max(initial=-1)) + 1, np.int64)
    first[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    return key, first


def _sums(values: Ints, group: Ints, groups: int) -> Ints:
    found = np.zeros(groups, np.int64)
    np.add.at(found, group, values)
    return found


def _stacks(texts: Sequence[str], code: Ints, group: Ints, groups: int, own: Ints) -> pd.Categorical:
    """Return for each group the stack of the calls that took most time themselves."""
    chosen = np.zeros(groups, np.int64)
    if not code.any():
        return coded(chosen, texts)
    place, pairs = pd.factorize(group * len(texts) + code)
    weight = _sums(own + 1, place, len(pairs))
    order = np.lexsort((pairs, weight))  # the last one written has most
    chosen[pairs[order] // len(texts)] = pairs[order] % len(texts)
    return coded(chosen, texts)


def shape_times(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return SHAPE_TIMES: executions of the operators whose shapes are not the same in all steps, in the order of time."""
    host, trace = recording.host, recording.trace
    rows = np.flatnonzero(host.class_ == OPERATOR)
    arguments = recording.arguments_of(host.slice[rows], OPERATOR, ANNOTATION)
    step = recording.steps.at(host.start[rows])
    kept = (step >= 0) & (arguments["shapes"] > 0)
    rows, step, shape, types = rows[kept], step[kept], arguments["shapes"][kept], arguments["types"][kept]
    changing = _changing(host.name[rows], step, shape.astype(np.int64))
    chosen = np.flatnonzero(np.isin(host.name[rows], changing))
    chosen = chosen[np.argsort(host.start[rows[chosen]], kind="stable")]
    name = coded(host.name[rows[chosen]], trace.names)
    columns: dict[str, Any] = {
        "step": recording.steps.number[step[chosen]], "name": name, "type": name, "core": constant(_HOST, len(chosen)),
        "duration_ns": host.duration[rows[chosen]], "input_shapes": coded(shape[chosen], recording.texts("shapes"), shapes),
        "input_types": coded(types[chosen], recording.texts("types"), lambda text: listed(text, ";")),
    }  # fmt: skip
    return frame_of(SHAPE_TIMES, len(chosen), columns, file)


def _changing(name: NDArray[Any], step: Ints, shape: Ints) -> Ints:
    """Return the names whose sets of shapes differ between steps in which they ran: some shape is not in all of these."""
    name, width, steps_ = name.astype(np.int64), int(shape.max(initial=0)) + 1, int(step.max(initial=0)) + 1
    pair, pairs = pd.factorize(name * width + shape)
    names = pairs // width
    of_pair = np.bincount(np.unique(pair * steps_ + step) // steps_, minlength=len(pairs))
    ran, of_name = np.unique(np.unique(name * steps_ + step) // steps_, return_counts=True)
    return np.unique(names[of_pair < of_name[np.searchsorted(ran, names)]])
