"""Reads dynamic_shape_info_<r>.json of GPU (MindSpore 2.0 to 2.2): every execution by step, with its shapes.

{"operator": {step: [{step, op_type, op_name, dur (us), shape_info: [shape, ...]}]}, "kernel": {step: [{step, op_name,
op_full_name, dur, block_dim, grid_dim}]}}. Its sums per type are ignored: they follow from the executions. The file of
the same name that Ascend writes ({"op_type": ...}) states no unit of time and is not read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from parsers.errors import FormatError
from parsers.frames import KERNELS
from parsers.profiler.json_files import read_json
from parsers.profiler.lines import Complaints
from parsers.profiler.parts import FrameReader, Part, ProfileFileKind, ProfileInput, categorical, frame_of, numbered
from parsers.profiler.tables import NONE

_CORES = {"operator": "GPU", "kernel": "GPU_KERNEL"}


def executions(source: ProfileInput) -> Part:
    """Executions of operators and kernels, in file order; the file has no start times."""
    complaints = Complaints(source.path)
    columns: dict[str, list[Any]] = {name: [] for name in ("step", "name", "type", "core", "duration_ns", "input_shapes")}
    for row in _rows(source, complaints):
        for name, value in row.items():
            columns[name].append(value)
    made: dict[str, Any] = {name: categorical(columns[name]) for name in ("name", "type", "core", "input_shapes")}
    made |= {name: np.array(columns[name], np.int64) for name in ("step", "duration_ns")}
    return Part(frame_of(KERNELS, len(columns["step"]), made, source.name), complaints.all())


def _rows(source: ProfileInput, complaints: Complaints) -> Iterator[dict[str, Any]]:
    try:
        found = read_json(source.path)
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}).", "unreadable")
        return
    except FormatError as error:
        complaints.add(f"Nothing is taken from the file: {error}.")
        return
    if not isinstance(found, dict) or not set(_CORES) & set(found):
        complaints.add("Expected executions under operator or kernel, as GPU has them; nothing is taken from the file.")
        return
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
    duration = entry.get("dur")
    if isinstance(duration, bool) or not isinstance(duration, (int, float)) or not math.isfinite(duration):
        return None
    if not abs(duration) < 2.0**53:
        return None
    shapes = entry.get("shape_info", [])
    texts = [str(shape).strip("[]").replace(" ", "") for shape in shapes] if isinstance(shapes, list) else []
    name = entry["op_name"]
    whole = entry.get("op_full_name")
    return {
        "step": int(step) if step.isascii() and step.isdigit() and len(step) < 19 else NONE,
        "name": f"{whole}/{name}" if core == "GPU_KERNEL" and isinstance(whole, str) and whole else name,
        "type": str(entry.get("op_type", "")) if core == "GPU" else name, "core": core,
        "duration_ns": round(duration * 1_000), "input_shapes": ";".join(texts),
    }  # fmt: skip


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_DYNAMIC_SHAPE_FILE = ProfileFileKind("dynamic_shape", numbered("dynamic_shape_info", "json"))
EXECUTIONS = FrameReader(KERNELS, _DYNAMIC_SHAPE_FILE, executions, unless=("gpu_executions", "gpu_activities"))
