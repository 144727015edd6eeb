"""The .npy files that MindSpore writes beside a summary when tensors are exported: the same values in full precision."""

from __future__ import annotations

import io
import math
import os
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from parsers.events.files import EventFile
from parsers.payloads.values import TensorValue

LONGEST_HEADER = 4096


def with_twin(value: TensorValue, path: str, tag: str, step: int) -> TensorValue:
    """The tensor with the values of its exported file, if there is one and it holds what the event file does."""
    folder = os.path.dirname(path)
    name = f"{quote(tag, safe='')}_{step}.npy"
    for export in _exports(folder, path):
        twin = os.path.join(folder, export, "tensor", name)
        array = _load(twin)
        if array is not None and _same(array, value):
            array.flags.writeable = False
            return TensorValue(array, value.dtype, "", twin, value.problem)
    return value


def _exports(folder: str, path: str) -> list[str]:
    """The export folders of a run, the one with the time in the event file's name first."""
    try:
        names = [name for name in os.listdir(folder) if name.startswith("export_")]
    except OSError:
        return []
    event_file = os.path.basename(path)
    return sorted(names, key=lambda name: (name.removeprefix("export_") not in event_file, name))


def _same(array: NDArray[np.generic], value: TensorValue) -> bool:
    """Whether the array is what the event file has, which may have kept fewer digits of it."""
    if array.shape != value.shape or array.dtype.name != value.dtype:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array_equal(array.astype(value.data.dtype), value.data, equal_nan=value.data.dtype.kind == "f")


def _load(path: str) -> NDArray[np.generic] | None:
    """The array in a .npy file; None for anything else. Nothing in it is executed, nothing larger than it is allocated."""
    try:
        with EventFile(path) as file:
            head = io.BytesIO(file.read(0, LONGEST_HEADER))
            version = np.lib.format.read_magic(head)
            read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, by_column, dtype = read_header(head)
            size = math.prod(shape) * dtype.itemsize
            if dtype.hasobject or dtype.kind not in "biufc" or min(shape, default=0) < 0 or size != file.size - head.tell():
                return None
            content = file.read(head.tell(), size)
    except (OSError, ValueError, SyntaxError, TypeError):
        return None
    if len(content) != size:
        return None
    return np.frombuffer(content, dtype).reshape(shape, order="F" if by_column else "C")
