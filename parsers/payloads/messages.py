"""Parses messages without protobuf: fields in order, repeated numbers as arrays over the message's bytes.

Numbers may be packed, single, or both, as protobuf allows; a packed field of fixed width becomes an array without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from parsers.errors import FormatError
from parsers.events.wire import DELIMITED, VARINT, WireError, signed, skip, span, varint
from parsers.model import Ints

CHUNK = 1 << 20
MOST_FIELDS = 1_100_000
"""Maximum number of fields: each costs a hundred times its bytes in memory and time."""
Segments = list[memoryview]


def fields(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield key (number << 3 | wire type) and content of each field; FormatError for more than MOST_FIELDS."""
    pos, end, left = 0, len(data), MOST_FIELDS
    while pos < end:
        left -= 1
        if left < 0:
            raise FormatError(f"expected at most {MOST_FIELDS:,} fields in a message, found more")
        key, pos = varint(data, pos)
        if key & 7 == DELIMITED and key > DELIMITED:
            start, pos = span(data, pos, end)
        else:
            start, pos = pos, skip(data, pos, end, key)
        yield key, data[start:pos]


def whole(content: memoryview) -> int:
    """Return the signed number in a varint field."""
    return signed(varint(content, 0)[0])


def fixed(segments: Segments, dtype: str) -> NDArray[np.generic]:
    """Return all numbers of a repeated field of fixed width; a view of the bytes if they are contiguous."""
    content = segments[0] if len(segments) == 1 else memoryview(b"".join(segments))
    width = np.dtype(dtype).itemsize
    if len(content) % width:
        raise FormatError(f"expected numbers of {width} bytes, found {len(content):,} bytes")
    return np.frombuffer(content, dtype)


def varints(segments: Segments, dtype: str) -> NDArray[np.generic]:
    """Return all numbers of a repeated varint field, truncated to the dtype's width as protobuf does."""
    content = segments[0] if len(segments) == 1 else memoryview(b"".join(segments))
    octets = np.frombuffer(content, np.uint8)
    if not len(octets):
        return np.empty(0, dtype)
    if octets[-1] > 127:
        raise WireError("a number ends beyond its field")
    last = octets < 128
    if last.all():
        return octets.astype(dtype)
    values = np.empty(int(np.count_nonzero(last)), dtype)
    begin = done = 0
    while begin < len(octets):
        ends = np.flatnonzero(last[begin : begin + CHUNK]) + begin
        if not len(ends):
            raise WireError("a number of more than ten bytes")
        piece = varint_at(octets, np.append(begin, ends[:-1] + 1), ends)
        values[done : done + len(ends)] = piece.astype(dtype)
        begin, done = int(ends[-1]) + 1, done + len(ends)
    return values


def varint_at(octets: NDArray[np.uint8], starts: Ints, ends: Ints) -> NDArray[np.uint64]:
    """Decode the varints with these first and last bytes."""
    lengths = ends - starts + 1
    longest = int(lengths.max())
    if longest > 10:
        raise WireError("a number of more than ten bytes")
    values = (octets[starts] & 127).astype(np.uint64)
    for place in range(1, longest):
        longer = np.flatnonzero(lengths > place)
        values[longer] |= (octets[starts[longer] + place] & 127).astype(np.uint64) << np.uint64(7 * place)
    return values


def collect(data: memoryview, single: Mapping[int, int], many: Mapping[int, int]) -> dict[int, Segments]:
    """The contents of known fields by number: those of single fields, and of repeated numbers, which may be packed too.

    Both say which wire type a number has; one of another type is another field, and passed over.
    """
    found: dict[int, Segments] = {}
    for key, content in fields(data):
        number, kind = key >> 3, key & 7
        if kind == single.get(number) or (number in many and kind in (many[number], DELIMITED)):
            found.setdefault(number, []).append(content)
    return found


def repeated(content: dict[int, Segments], number: int, dtype: str, kind: int) -> NDArray[np.generic]:
    """The numbers of one repeated field among collected segments."""
    segments = content.get(number, [])
    if not segments:
        return np.empty(0, dtype)
    return varints(segments, dtype) if kind == VARINT else fixed(segments, dtype)
