"""The fields of many protobuf messages at once, as columns.

All messages are walked side by side: one step reads the next field of each of them. Short and alike messages, as an explainer
writes them by the hundred thousand, take some tens of steps; of few long ones the rest is walked one by one.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.events.wire import DELIMITED, FIXED32, FIXED64, VARINT, WireError, span, varint
from parsers.model import Ints

Bytes = NDArray[np.uint8]
_FEW = 64
"""Messages from which on walking them together is slower than one by one."""
_LONGEST_VARINT = 10
MOST_FIELDS = 100_000
"""Fields of a message of which there are few, from which on the rest of it is left out as damaged."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of messages, ordered by message, and as they stand in it.

    row is the number of the message, number that of the field, kind its wire type. For a varint `first` is its value (as
    int64), else `first` and `end` are where its bytes begin and end. damaged are the messages that could be read in part only.
    """

    row: Ints
    number: Ints
    kind: Ints
    first: Ints
    end: Ints
    damaged: NDArray[np.bool_]

    def where(self, number: int, kind: int) -> tuple[Ints, Ints, Ints]:
        """Return (row, first, end) of the fields with this number and wire type."""
        at = np.flatnonzero((self.number == number) & (self.kind == kind))
        return self.row[at], self.first[at], self.end[at]

    def last(self, number: int, kind: int) -> tuple[Ints, Ints, Ints]:
        """Return (row, first, end) of the last field with this number and wire type of each message: that counts."""
        row, first, end = self.where(number, kind)
        last = np.append(np.diff(row) != 0, np.ones(min(1, len(row)), bool))
        return row[last], first[last], end[last]


def fields(data: Bytes, start: Ints, end: Ints) -> Fields:
    """Read the fields of the messages between these positions of data."""
    found = _FoundRows()
    damaged = np.zeros(len(start), np.bool_)
    position = start.astype(np.int64)
    rows = np.flatnonzero(position < end)
    while len(rows) > _FEW:
        rows = _step(data, rows, position, end, damaged, found)
    for row in rows.tolist():
        damaged[row] |= not _walk(data, row, int(position[row]), int(end[row]), found)
    return found.ordered(damaged)


class _FoundRows:
    """Collects fields as they are found."""

    def __init__(self) -> None:
        self._parts: list[tuple[Ints, Ints, Ints, Ints, Ints]] = []
        self.single = array("q")  # five numbers of each field in turn: a tuple of them takes six times the memory

    def add(self, row: Ints, number: Ints, kind: int, first: Ints, end: Ints) -> None:
        """Add one field of each of some messages."""
        self._parts.append((row, number, np.full(len(row), kind, np.int64), first, end))

    def ordered(self, damaged: NDArray[np.bool_]) -> Fields:
        """Return all fields in the order of their messages."""
        parts = list(self._parts)
        if self.single:
            row, number, kind, first, end = np.frombuffer(self.single, np.int64).reshape(-1, 5).T
            parts.append((row, number, kind, first, end))
        empty = np.empty(0, np.int64)
        parts.append((empty, empty, empty, empty, empty))
        columns: list[Ints] = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        row, number, kind, first, end = (column[order] for column in columns)
        return Fields(row, number, kind, first, end, damaged)


def _step(data: Bytes, rows: Ints, position: Ints, end: Ints, damaged: NDArray[np.bool_], found: _FoundRows) -> Ints:
    """Read the next field of these messages; return those that have more."""
    limit = end[rows]
    key, at, ok = _varints(data, position[rows], limit)
    number, kind = key >> 3, key & 7
    after = np.full(len(rows), -1, np.int64)
    first, stop = at.copy(), at.copy()
    of_kind = kind == VARINT
    if of_kind.any():
        first[of_kind], after[of_kind], fine = _varints(data, at[of_kind], limit[of_kind])
        ok[of_kind] &= fine
        stop[of_kind] = after[of_kind]
    for wire, size in ((FIXED64, 8), (FIXED32, 4)):
        of_kind = kind == wire
        after[of_kind] = stop[of_kind] = at[of_kind] + size
    of_kind = kind == DELIMITED
    if of_kind.any():
        length, begin, fine = _varints(data, at[of_kind], limit[of_kind])
        fine &= (length >= 0) & (length <= limit[of_kind] - begin)
        ok[of_kind] &= fine
        first[of_kind] = begin
        stop[of_kind] = after[of_kind] = begin + np.where(fine, length, 0)
    ok &= (number > 0) & (key >> 32 == 0) & (after >= 0) & (after <= limit)
    damaged[rows[~ok]] = True
    for wire in (VARINT, FIXED64, DELIMITED, FIXED32):
        here = ok & (kind == wire)
        if here.any():
            found.add(rows[here], number[here], wire, first[here], stop[here])
    position[rows] = after
    more: Ints = rows[ok & (after < limit)]
    return more


def _varints(data: Bytes, position: Ints, limit: Ints) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Return the varints at these positions, the positions after them, and whether each ends before its limit."""
    inside = position < limit
    byte = data[np.where(inside, position, 0)]  # most numbers have one byte, so the first one is read of all at once
    value = np.where(inside, byte & np.uint8(0x7F), np.uint8(0)).astype(np.uint64)
    at = position + inside
    ended = byte < 0x80
    ok = inside & ended
    left = np.flatnonzero(inside & ~ended)
    for byte_number in range(1, _LONGEST_VARINT):
        left = left[at[left] < limit[left]]
        if not len(left):
            break
        byte = data[at[left]]
        value[left] |= (byte & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * byte_number)
        at[left] += 1
        ok[left[byte < 0x80]] = True
        left = left[byte >= 0x80]
    return value.view(np.int64), at, ok


def _walk(data: Bytes, row: int, position: int, end: int, found: _FoundRows) -> bool:
    """Read the fields of one message from a position on; return whether that is possible to its end."""
    view = data.data
    most = len(found.single) + 5 * MOST_FIELDS
    try:
        while position < end:
            if len(found.single) >= most:
                return False
            key, at = varint(view, position)
            number, kind = key >> 3, key & 7
            if kind == VARINT:
                first, stop = varint(view, at)
            elif kind == DELIMITED:
                first, stop = span(view, at, end)
            elif kind in (FIXED32, FIXED64):
                first, stop = at, at + (4 if kind == FIXED32 else 8)
            else:
                return False
            if stop > end or not number or key >> 32:
                return False
            found.single.extend((row, number, kind, first - (1 << 64) if first >= 1 << 63 else first, stop))
            position = stop
    except (WireError, IndexError):
        return False
    return True


def floats(data: Bytes, first: Ints) -> NDArray[np.float32]:
    """Return the little-endian float32 numbers at these positions."""
    raw = data[first[:, None] + np.arange(4)] if len(first) else np.empty((0, 4), np.uint8)
    found: NDArray[np.float32] = np.ascontiguousarray(raw).view("<f4")[:, 0]
    return found


def texts(data: Bytes, first: Ints, end: Ints) -> list[str]:
    """Return the texts between these positions; bytes that are no UTF-8 are replaced."""
    raw = data.tobytes()
    return [raw[a:b].decode("utf-8", "replace") for a, b in zip(first.tolist(), end.tolist(), strict=True)]


def distinct(ascending: Ints) -> Ints:
    """Return the different values of an ascending array, in a 30th of the time of np.unique."""
    found: Ints = ascending[np.append(np.ones(min(1, len(ascending)), bool), ascending[1:] != ascending[:-1])]
    return found


class GrowingColumn:
    """Values that grow in place. Parts of columns that are kept until all are there would leave holes in memory."""

    def __init__(self, dtype: type, *width: int) -> None:
        """width is the shape of one value; none for numbers."""
        self._values: NDArray[Any] = np.empty((1024, *width), dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, values: NDArray[Any]) -> None:
        """Add values after those that are there."""
        size = self._size + len(values)
        if size > len(self._values):
            grown = np.empty((size + size // 2, *self._values.shape[1:]), self._values.dtype)
            grown[: self._size] = self._values[: self._size]
            self._values = grown
        self._values[self._size : size] = values
        self._size = size

    def whole(self) -> NDArray[Any]:
        """Return all values."""
        return self._values[: self._size]
