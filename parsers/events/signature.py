"""Recognises a format by the first bytes of a file: the version in its first record and the content of the next one."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from parsers.events.records import FOOTER, HEADER
from parsers.events.walk import VERSION
from parsers.events.wire import DELIMITED, WireError, skip, span, varint
from parsers.recording.wire import masked

_u64, _u32 = Struct("<Q").unpack_from, Struct("<I").unpack_from


class Opening(NamedTuple):
    """The version in a file (b"" for none), and key and first bytes of the content of the first record after it (None if
    they lie beyond the bytes given)."""

    version: bytes
    content: tuple[int, bytes] | None


@lru_cache(maxsize=4)
def opening(head: bytes) -> Opening | None:
    """Parse the beginning of a file; None if its first record is damaged."""
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
    """Return the keys of the fields of a message, which may be cut short."""
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
    """Return key and bytes of the first delimited field of a message, which may be cut short."""
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
