"""Decodes loss landscapes computed by MindSpore's SummaryLandscape."""

from __future__ import annotations

import numpy as np

from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, VARINT
from parsers.model import Floats
from parsers.payloads.messages import collect, fields, varints, whole
from parsers.payloads.tensors import mindspore_tensor, real
from parsers.payloads.values import LandscapeValue

LANDSCAPE, PATH, METADATA, CONVERGENCE = (number << 3 | DELIMITED for number in (1, 2, 3, 4))
DECOMPOSITION, UNIT, STEP_PER_EPOCH = 1 << 3 | DELIMITED, 2 << 3 | DELIMITED, 3 << 3 | VARINT
INTERVALS, POINTS = 1, 2


def landscape(data: memoryview) -> LandscapeValue:
    """Decode MindSpore's LossLandscape."""
    parts = dict(fields(data))
    x, y, z = _point(parts.get(LANDSCAPE))
    if x.ndim != 1 or y.ndim != 1 or z.shape != (len(y), len(x)):
        raise FormatError(f"expected z of shape (len(y), len(x)), found x {x.shape}, y {y.shape}, z {z.shape}")
    problems = [] if z.size and np.isfinite(z).any() else ["It has no finite loss."]
    axes = [("x", x), ("y", y)] if len(y) != 1 else [("x", x)]  # one y is that of a line
    problems += [sentence for name, axis in axes if (sentence := _axis_problem(name, axis))]
    path = collect(parts.get(PATH, memoryview(b"")), {POINTS: DELIMITED}, {INTERVALS: VARINT})
    intervals = varints(path[INTERVALS], "<i4").astype(np.int64) if INTERVALS in path else np.empty(0, np.int64)
    path_x, path_y, path_z = (axis.ravel() for axis in _point(path[POINTS][-1] if POINTS in path else None))
    lengths = {len(path_x), len(path_y), len(path_z), len(intervals)}
    if len(lengths) > 1:
        problems.append(
            f"Its path is cut to {min(lengths)} points: expected one x, y and z per interval, found "
            f"{len(path_x)}, {len(path_y)}, {len(path_z)} for {len(intervals)}."
        )
        short = slice(min(lengths))
        path_x, path_y, path_z, intervals = path_x[short], path_y[short], path_z[short], intervals[short]
    decomposition, unit, step_per_epoch = _metadata(parts.get(METADATA, memoryview(b"")))
    ends = [axis.ravel() for axis in _point(parts.get(CONVERGENCE))]
    convergence = (float(ends[0][0]), float(ends[1][0]), float(ends[2][0])) if all(map(len, ends)) else None
    for axis in (x, y, z, path_x, path_y, path_z, intervals):
        axis.flags.writeable = False
    return LandscapeValue(
        x, y, z, intervals, path_x, path_y, path_z, decomposition, unit, step_per_epoch, convergence, " ".join(problems)
    )


def _axis_problem(name: str, axis: Floats) -> str:
    """Return a sentence about why an axis cannot be drawn in full, else ""."""
    usable = len(np.unique(axis[np.isfinite(axis)]))
    if usable < min(2, len(axis) + 1):
        return f"Its {name} has no two different values: there is no plane to draw."
    left_out = len(axis) - usable
    return f"Of its {name}, {left_out:,} values are not finite or duplicates; they are not drawn." if left_out else ""


def _point(data: memoryview | None) -> tuple[Floats, Floats, Floats]:
    axes = {key >> 3: content for key, content in fields(data) if key & 7 == DELIMITED} if data is not None else {}
    x, y, z = (
        real(mindspore_tensor(axes[number]).data) if number in axes else np.empty(0) for number in (1, 2, 3)
    )
    return x, y, z


def _metadata(data: memoryview) -> tuple[str, str, int]:
    parts = dict(fields(data))
    decomposition, unit = (bytes(parts.get(key, b"")).decode("utf-8", "backslashreplace") for key in (DECOMPOSITION, UNIT))
    return decomposition, unit, whole(parts[STEP_PER_EPOCH]) if STEP_PER_EPOCH in parts else 0
