"""Reads dynamic_shape_info_<r>.json of MindSpore before 2.3: executions by step, with the shapes of their inputs.

On GPU {"operator": {step: [{step, op_side, op_type, op_name, dur (us), shape_info: [shape, ...]}]}, "kernel": {step: [{step,
op_name, op_full_name, dur, block_dim, grid_dim}]}}. On Ascend {type: [{name: {op_exe_time: [ms, ...], op_shape: [op_info,
...]}}], "op_type": ...}: MindSpore copies the times from output_timeline_data and the op_info from framework_raw without its
quotation marks, and keeps the operators that ran as often as most of them, which it takes for the number of steps. So the n-th
time is that of step n. Sums per type are ignored: they follow from the executions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from parsers.errors import FormatError
from parsers.profile_frames import KERNELS, SHAPE_TIMES
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, categorical, frame_of, numbered
from parsers.profiler.json_files import read_json
from parsers.profiler.lines import Complaints
from parsers.profiler.tables import NONE
from parsers.schema import Schema

_CORES = {"operator": "GPU", "kernel": "GPU_KERNEL"}
_SUMS = "op_type"
"""The key of the sums in files of Ascend."""
_NS = {"us": 1_000, "ms": 1_000_000}
_LARGEST = 2.0**53
_TEXTS = ("name", "type", "core", "input_shapes", "input_types", "blocks", "grid")
_PORT = re.compile(r"input_(\d{1,9})\s*:\s*\{([^{}]*)\}")
_SHAPE = re.compile(r"\bshape\s*:\s*(?:\[([-\d,\s]*)\]|([-\d][-\d,\s]*|))")
_TYPE = re.compile(r"\bdata_type\s*:\s*(\w+)")


def executions(source: ProfileInput) -> FramePart:
    """Executions of operators and kernels as rows of KERNELS, in file order; the file has no start times."""
    return _part(source, KERNELS, ("name", "type", "core", "input_shapes", "input_types"))


def shape_times(source: ProfileInput) -> FramePart:
    """Executions of operators and kernels with what they ran on, in file order."""
    return _part(source, SHAPE_TIMES, _TEXTS)


def _part(source: ProfileInput, schema: Schema, texts: Sequence[str]) -> FramePart:
    complaints = Complaints(source.path)
    rows = list(_rows(source, complaints))
    made: dict[str, Any] = {name: categorical([row.get(name, "") for row in rows]) for name in texts}
    made |= {name: np.array([row[name] for row in rows], np.int64) for name in ("step", "duration_ns")}
    return FramePart(frame_of(schema, len(rows), made, source.name), complaints.all())


def _rows(source: ProfileInput, complaints: Complaints) -> Iterator[dict[str, Any]]:
    try:
        found = read_json(source.path)
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}).", "unreadable")
        return
    except FormatError as error:
        complaints.add(f"Nothing is taken from the file: {error}.")
        return
    if not isinstance(found, dict) or not {*_CORES, _SUMS} & set(found):
        complaints.add("Expected operator and kernel, as GPU has them, or op_type, as Ascend has it; nothing is taken from it.")
    elif set(_CORES) & set(found):
        yield from _of_gpu(found, complaints)
    else:
        yield from _of_ascend(found, complaints)


# GPU ----------------------------------------------------------------------------------------------------------------


def _of_gpu(found: dict[str, Any], complaints: Complaints) -> Iterator[dict[str, Any]]:
    for kind, core in _CORES.items():
        steps = found.get(kind, {})
        if not isinstance(steps, dict):
            complaints.add(f"{kind}: expected an object of steps, found {type(steps).__name__}.")
            continue
        for step, listed in steps.items():
            for number, entry in enumerate(listed if isinstance(listed, list) else ()):
                row = _row(entry, core, step)
                if row is None:
                    complaints.add(f"{kind}.{str(step)[:20]}[{number}]: expected op_name and dur; it was skipped.")
                else:
                    yield row


def _row(entry: Any, core: str, step: str) -> dict[str, Any] | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("op_name"), str):
        return None
    duration = _nanoseconds(entry.get("dur"), "us")
    if duration is None:
        return None
    shapes = entry.get("shape_info", [])
    texts = [str(shape).strip("[]").replace(" ", "") for shape in shapes] if isinstance(shapes, list) else []
    name = entry["op_name"]
    whole = entry.get("op_full_name")
    kernel = core == "GPU_KERNEL"
    return {
        "step": int(step) if step.isascii() and step.isdigit() and len(step) < 19 else NONE,
        "name": f"{whole}/{name}" if kernel and isinstance(whole, str) and whole else name,
        "type": name if kernel else str(entry.get("op_type", "")),
        "core": "HOST_CPU" if not kernel and str(entry.get("op_side")).lower() == "cpu" else core,
        "duration_ns": duration, "input_shapes": ";".join(texts),
        "blocks": _dimensions(entry.get("block_dim")), "grid": _dimensions(entry.get("grid_dim")),
    }  # fmt: skip


def _dimensions(value: Any) -> str:
    return value.replace(" ", "")[:60] if isinstance(value, str) else ""


def _nanoseconds(value: Any, unit: str) -> int | None:
    """Return a time in ns, to the nearest; None if it is no finite number or beyond exact ones."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or not abs(value) < _LARGEST:
        return None
    return round(value * _NS[unit])


# Ascend -------------------------------------------------------------------------------------------------------------


def _of_ascend(found: dict[str, Any], complaints: Complaints) -> Iterator[dict[str, Any]]:
    for kind, listed in found.items():
        if kind == _SUMS:
            continue
        for number, entry in enumerate(listed if isinstance(listed, list) else (None,)):
            place = f"{str(kind)[:60]}[{number}]"
            if not isinstance(entry, dict):
                complaints.add(f"{place}: expected an object of operators, found {type(entry).__name__}.")
                continue
            for name, told in entry.items():
                yield from _of_operator(f"{place}.{name[:60]}", kind, name, told, complaints)


def _of_operator(place: str, kind: str, name: str, told: Any, complaints: Complaints) -> Iterator[dict[str, Any]]:
    times = told.get("op_exe_time") if isinstance(told, dict) else None
    if not isinstance(times, list):
        complaints.add(f"{place}: expected a list op_exe_time; the operator was skipped.")
        return
    described = told.get("op_shape")
    shapes = described if isinstance(described, list) else []
    if len(shapes) != len(times):
        complaints.add(f"{place}: expected {len(times):,} texts in op_shape, found {len(shapes):,}; others are unknown.")
    known: dict[str, tuple[str, str]] = {}
    for place_of, value in enumerate(times):
        duration = _nanoseconds(value, "ms")
        if duration is None:
            complaints.add(f"{place}.op_exe_time[{place_of}]: expected a number; it was skipped.")
            continue
        text = shapes[place_of] if place_of < len(shapes) and isinstance(shapes[place_of], str) else ""
        if text not in known:
            known[text] = inputs_of(text)
        dimensions, types = known[text]
        yield {
            "step": place_of + 1, "name": name, "type": kind, "core": "AI_CORE", "duration_ns": duration,
            "input_shapes": dimensions, "input_types": types,
        }  # fmt: skip


def inputs_of(text: str) -> tuple[str, str]:
    """Return shapes and types of the inputs in an op_info without quotation marks; "" for unknown.

    >>> inputs_of("{input_0: {format: NCHW, data_type: NUMBER_TYPE_FLOAT32, shape: 2,3}, input_1: {shape: [4]}}")
    ('2,3;4', 'FLOAT32;')
    """
    ports = sorted((int(number), inside) for number, inside in _PORT.findall(text))
    shapes = [_shape(inside) for _, inside in ports]
    types = [(match[1].removeprefix("NUMBER_TYPE_") if (match := _TYPE.search(inside)) else "") for _, inside in ports]
    return ";".join(shapes) if any(shapes) else "", ";".join(types) if any(types) else ""


def _shape(inside: str) -> str:
    match = _SHAPE.search(inside)
    return (match[1] or match[2] or "").replace(" ", "").strip(",") if match else ""


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_DYNAMIC_SHAPE_FILE = ProfileFileKind("dynamic_shape", numbered("dynamic_shape_info", "json"))
EXECUTIONS = FrameReader(
    KERNELS, _DYNAMIC_SHAPE_FILE, executions, unless=("gpu_executions", "gpu_activities", "output_timeline")
)
SHAPES = FrameReader(SHAPE_TIMES, _DYNAMIC_SHAPE_FILE, shape_times)
