"""Locates fields in messages without decoding them: a graph of 100,000 nodes has a million fields, few of which are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from parsers.events.wire import DELIMITED, VARINT, WireError, signed, skip, varint


def places(data: bytes, pos: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield key (number << 3 | wire type), start and end of the content of each field; WireError for invalid bytes."""
    while pos < end:
        key = data[pos]
        pos += 1
        if key > 127:
            key, pos = _varint(data, pos - 1)
        if key < 8:
            raise WireError("a field number out of range")
        kind = key & 7
        if kind == DELIMITED:
            if pos >= end:
                raise WireError("a field ends beyond its message")
            length = data[pos]
            start = pos + 1
            if length > 127:
                length, start = _varint(data, pos)
            pos = start + length
            if pos > end:
                raise WireError("a field ends beyond its message")
            yield key, start, pos
        elif kind == VARINT:
            start = pos
            pos = _varint(data, pos)[1]
            if pos > end:
                raise WireError("a number ends beyond its message")
            yield key, start, pos
        else:
            start = pos
            try:
                pos = skip(data, pos, end, key)
            except IndexError:
                raise WireError("a field ends beyond its message") from None
            yield key, start, pos


class WireField(NamedTuple):
    """A field of a message: key, start and end of its content."""

    key: int
    start: int
    stop: int


def intact(data: bytes, pos: int, end: int) -> Iterator[WireField]:
    """Yield the fields of a message up to the damage."""
    try:
        for key, start, stop in places(data, pos, end):
            yield WireField(key, start, stop)
    except WireError:
        return


def within(data: bytes, spans: Sequence[tuple[int, int]], word: str) -> Iterator[int]:
    """Return the indices of the spans whose bytes contain a word."""
    wanted = word.encode("utf-8", "surrogatepass")
    if data.find(wanted) >= 0:
        yield from (number for number, (start, stop) in enumerate(spans) if data.find(wanted, start, stop) >= 0)


def number(data: bytes, pos: int) -> int:
    """Return the signed number of a varint field."""
    return signed(varint(data, pos)[0])


def _varint(data: bytes, pos: int) -> tuple[int, int]:
    try:
        return varint(data, pos)
    except IndexError:
        raise WireError("a number ends beyond its message") from None


def text(data: bytes, start: int, stop: int) -> str:
    """The text between two places; bytes that are no UTF-8 become \\xNN."""
    return data[start:stop].decode("utf-8", "backslashreplace")
