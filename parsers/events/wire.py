"""The part of the protobuf wire format that an index of messages needs.

All functions work on anything that returns a byte for an index and bytes for a slice, so they serve a record in memory as
well as one of which only a few kilobytes are ever read.
"""

from __future__ import annotations

from typing import Protocol, overload

VARINT, FIXED64, DELIMITED, GROUP, END_GROUP, FIXED32 = range(6)
MAX_GROUP_DEPTH = 100
SIGN = 1 << 63


class ByteSource(Protocol):
    """Bytes by position; positions outside raise IndexError or give a short slice."""

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> bytes: ...


class Indexed(Protocol):
    """Bytes by position; positions outside raise IndexError."""

    def __getitem__(self, index: int, /) -> int: ...


class WireError(Exception):
    """The bytes are not a protobuf message."""


def varint(data: Indexed, pos: int) -> tuple[int, int]:
    """Read the unsigned 64-bit number at pos; return it and the position after it."""
    byte = data[pos]
    if byte < 0x80:
        return byte, pos + 1
    value = byte & 0x7F
    for shift in range(7, 70, 7):
        pos += 1
        byte = data[pos]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, pos + 1
    raise WireError("a number of more than ten bytes")


def signed(value: int) -> int:
    """Reinterpret an unsigned 64-bit number as int64."""
    return value - (SIGN << 1) if value & SIGN else value


def span(data: Indexed, pos: int, end: int) -> tuple[int, int]:
    """Return start and end of the length-delimited value whose length is at pos; it must end by `end`."""
    length, start = varint(data, pos)
    if length > end - start:
        raise WireError(f"a field of {length} bytes where {max(end - start, 0)} are left")
    return start, start + length


def skip(data: Indexed, pos: int, end: int, key: int) -> int:
    """Return the position after the value at pos of a field with this key."""
    open_groups: list[int] = []
    while True:
        field, kind = key >> 3, key & 7
        if field == 0 or key >> 32:
            raise WireError("a field number out of range")
        if kind == VARINT:
            pos = varint(data, pos)[1]
        elif kind == FIXED64:
            pos += 8
        elif kind == DELIMITED:
            pos = span(data, pos, end)[1]
        elif kind == FIXED32:
            pos += 4
        elif kind == GROUP and len(open_groups) < MAX_GROUP_DEPTH:
            open_groups.append(field)
        elif kind == END_GROUP and open_groups and open_groups[-1] == field:
            open_groups.pop()
        else:
            raise WireError(f"wire type {kind} where none can be")
        if pos > end:
            raise WireError("a field ends beyond its message")
        if not open_groups:
            return pos
        key, pos = varint(data, pos)
