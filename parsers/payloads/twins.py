"""Finds the .npy files that MindSpore writes beside a summary when it exports tensors: the same values in full precision."""

from __future__ import annotations

import math
import os
import re
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from parsers.files import RegularFile
from parsers.payloads.values import TensorValue

LONGEST_HEADER = 4096
# The header numpy writes for an array of numbers. numpy's own reader accepts more, and fails in more ways.
_HEADER = re.compile(
    rb"\x93NUMPY[\x01-\x03]\x00(?:..|....)\{'descr': '(?P<dtype>[<>|][biufc][0-9]{1,2})', "
    rb"'fortran_order': (?P<by_column>True|False), 'shape': \((?P<shape>[0-9, ]{0,800})\), \} *\n?",
    re.DOTALL,
)


def with_twin(value: TensorValue, path: str, tag: str, step: int) -> TensorValue:
    """Return the tensor with the values of its exported file, if there is one and it agrees with the event file."""
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
    """Yield the export folders of a run, the one with the time in the event file's name first."""
    try:
        names = [name for name in os.listdir(folder) if name.startswith("export_")]
    except OSError:
        return []
    event_file = os.path.basename(path)
    return sorted(names, key=lambda name: (name.removeprefix("export_") not in event_file, name))


def _same(array: NDArray[np.generic], value: TensorValue) -> bool:
    """Return whether the array equals the event file's values, which may have fewer digits."""
    if array.shape != value.shape or array.dtype.name != value.dtype:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array_equal(array.astype(value.data.dtype), value.data, equal_nan=value.data.dtype.kind == "f")


def _load(path: str) -> NDArray[np.generic] | None:
    """Read the array in a .npy file; None for anything else. Nothing is executed, and no more than its size is allocated."""
    try:
        with RegularFile(path) as file:
            head = file.read(0, LONGEST_HEADER)
            begin = _data_begins(head)
            header = _HEADER.fullmatch(head[:begin])
            if header is None:
                return None
            dtype = np.dtype(header["dtype"].decode())
            shape = tuple(int(size) for size in header["shape"].replace(b" ", b"").split(b",") if size)
            if math.prod(shape) * dtype.itemsize != file.size - begin:
                return None
            content = file.read(begin, file.size - begin)
            return np.frombuffer(content, dtype).reshape(shape, order="F" if header["by_column"] == b"True" else "C")
    except (OSError, ValueError, TypeError):  # no such file, or no such dtype
        return None


def _data_begins(head: bytes) -> int:
    """Return the end of the header, whose length is a number of 2 or 4 bytes."""
    width = 2 if head[6:7] == b"\x01" else 4
    return 8 + width + int.from_bytes(head[8 : 8 + width], "little")
