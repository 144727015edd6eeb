"""Which format a file is of, from its first bytes: the version in its first record and what the next one holds."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from parsers.events.checksums import masked
from parsers.events.records import FOOTER, HEADER
from parsers.events.walk import VERSION
from parsers.events.wire import DELIMITED, WireError, skip, span, varint

_u64, _u32 = Struct("<Q").unpack_from, Struct("<I").unpack_from


class Opening(NamedTuple):
    """The version a file states (b"": none), and key and first bytes of what its first record after that holds (None: not
    to be seen)."""

    version: bytes
    content: tuple[int, bytes] | None


def opening(head: bytes) -> Opening | None:
    """How a file begins; None if its first record is damaged."""
    length = _length(head, 0)
    if length is None:
        return None
    message, end = head[HEADER : HEADER + length], HEADER + length
    if len(head) >= end + FOOTER and masked(message) != _u32(head, end)[0]:
        return None
    first = _content(message)
    if first is None or first[0] != VERSION:
        return Opening(b"", first)
    second = end + FOOTER
    beyond = _length(head, second)
    content = None if beyond is None else _content(head[second + HEADER : second + HEADER + beyond])
    return Opening(first[1], content)


def keys(message: bytes) -> set[int]:
    """The keys of the fields of a message of which only the beginning may be there."""
    found, pos = set(), 0
    try:
        while pos < len(message):
            key, pos = varint(message, pos)
            found.add(key)
            pos = skip(message, pos, len(message), key)
    except (WireError, IndexError):
        pass  # the rest lies beyond the bytes at hand
    return found


def _length(head: bytes, at: int) -> int | None:
    header = head[at : at + HEADER]
    if len(header) < HEADER or masked(header[:8]) != _u32(header, 8)[0]:
        return None
    length: int = _u64(header)[0]
    return length


def _content(message: bytes) -> tuple[int, bytes] | None:
    """Key and bytes of the first delimited field of a message, as far as they are there."""
    pos = 0
    try:
        while pos < len(message):
            key, pos = varint(message, pos)
            if key & 7 == DELIMITED:
                start, stop = span(message, pos, 1 << 62)
                return key, message[start:stop]
            pos = skip(message, pos, len(message), key)
    except (WireError, IndexError):
        pass  # the message is cut, or none at all
    return None
