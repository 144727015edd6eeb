"""Columns of the index in fewer bytes, equal to the last bit when they are unpacked.

Steps, wall times and offsets mostly grow by little. A column of 64-bit numbers is therefore stored as its first number, the
lowest difference between neighbours (both int64 LE), and per further number by how much the difference exceeds the lowest one,
in 0, 1, 2 or 4 bytes; in 8 bytes per number where that is not enough. Wall times are taken as integers of the same bits.
Arithmetic is modulo 2**64, so no number is out of range.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from parsers.model import Floats, Ints

RAW = 8
PIECE = 1 << 16
WIDTHS = (0, 1, 2, 4)
_BEGIN = struct.Struct("<qq")
_TYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def pack(column: Ints | Floats) -> tuple[int, bytes]:
    """Return the bytes per number (RAW: as they are) and the stored bytes of a column."""
    numbers: Ints = column.view(np.int64)
    if 1 < len(numbers) <= PIECE:
        return _packed(numbers)
    return pack_pieces(lambda: (numbers[at : at + PIECE] for at in range(0, len(numbers), PIECE)))


def pack_pieces(pieces: Callable[[], Iterable[Ints]]) -> tuple[int, bytes]:
    """Pack a column that is made piece by piece, twice: a whole one would take more memory than what is packed."""
    pieces = _once(pieces)
    spread = [(int(one.min()), int(one.max())) for one in map(np.diff, _overlapping(pieces())) if len(one)]
    lowest, highest = min((low for low, _ in spread), default=0), max((high for _, high in spread), default=0)
    width = _width(lowest, highest) if spread else RAW
    if width == RAW:
        return RAW, b"".join(piece.tobytes() for piece in pieces())
    begin = _BEGIN.pack(int(next(iter(pieces()))[0]), lowest)
    if not width:
        return width, begin
    kind = _TYPES[width]
    return width, begin + b"".join((np.diff(piece) - lowest).astype(kind).tobytes() for piece in _overlapping(pieces()))


def _packed(numbers: Ints) -> tuple[int, bytes]:
    """Pack a short column of two or more numbers, as are most: in half the time of pieces."""
    differences = numbers[1:] - numbers[:-1]
    lowest = int(differences.min())
    width = _width(lowest, int(differences.max()))
    if width == RAW:
        return RAW, numbers.tobytes()
    begin = _BEGIN.pack(int(numbers[0]), lowest)
    return width, begin + (differences - lowest).astype(_TYPES[width]).tobytes() if width else begin


def _width(lowest: int, highest: int) -> int:
    """Return the bytes of a difference, given the lowest and the highest one; RAW if these are too far apart."""
    return next((width for width in WIDTHS if highest - lowest < 1 << 8 * width), RAW)


def _once(pieces: Callable[[], Iterable[Ints]]) -> Callable[[], Iterable[Ints]]:
    """Return the pieces of a short column, so that they are made only once; of others the function itself."""
    found = list(islice(pieces(), 2))
    return pieces if len(found) > 1 else lambda: found


def _overlapping(pieces: Iterable[Ints]) -> Iterator[Ints]:
    """Yield each piece after the last number of the one before."""
    last: Ints | None = None
    for piece in pieces:
        yield piece if last is None else np.concatenate((last, piece))
        last = piece[-1:]


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
