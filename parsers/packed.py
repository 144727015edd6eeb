"""Columns of the index in fewer bytes, equal to the last bit when they are unpacked.

Steps, wall times and offsets mostly grow by little. A column of 64-bit numbers is therefore stored as its first number, the
lowest difference between neighbours (both int64 LE), and per further number by how much the difference exceeds the lowest one,
in 0, 1, 2 or 4 bytes; in 8 bytes per number where that is not enough. Wall times are taken as integers of the same bits.
Arithmetic is modulo 2**64, so no number is out of range.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.model import Ints

RAW = 8
WIDTHS = (0, 1, 2, 4)
_BEGIN = struct.Struct("<qq")
_TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def pack(column: NDArray[Any]) -> tuple[int, bytes]:
    """Return the bytes per number (RAW: as they are) and the stored bytes of a column of int64 or float64."""
    numbers: Ints = column.view(np.int64)
    if len(numbers) < 2:
        return RAW, numbers.tobytes()
    differences = numbers[1:] - numbers[:-1]
    lowest, highest = int(differences.min()), int(differences.max())
    width = next((width for width in WIDTHS if highest - lowest < 1 << 8 * width), RAW)
    if width == RAW:
        return RAW, numbers.tobytes()
    begin = _BEGIN.pack(int(numbers[0]), lowest)
    return width, begin + ((differences - lowest).astype(_TYPES[width]).tobytes() if width else b"")


def packed_bytes(width: int, count: int) -> int:
    """Return how many bytes `pack` stores for a column of this many numbers."""
    return count * RAW if width == RAW else _BEGIN.size + (count - 1) * width


def unpack(data: NDArray[np.uint8], width: int, count: int) -> Ints:
    """Return the numbers of a packed column; data are its `packed_bytes`."""
    if width == RAW:
        return data.view(np.int64).copy()
    first, lowest = _BEGIN.unpack(data[: _BEGIN.size].tobytes())
    numbers = np.full(count, lowest, np.int64)
    numbers[0] = first
    if width:
        numbers[1:] += data[_BEGIN.size :].view(_TYPES[width])
    return np.cumsum(numbers, out=numbers)
