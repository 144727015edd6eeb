"""Checks a whole file: everything reading checks, and also the data CRC of large records and their messages."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterator
from struct import Struct

import google_crc32c
from google.protobuf.message import DecodeError

from parsers.events.damage import describe
from parsers.events.event_reading import read_events
from parsers.events.messages import message_class
from parsers.events.records import FOOTER, FRAME, HEADER, Damage, Large, Records, RecordWindow
from parsers.events.walk import MessageLayout
from parsers.files import RegularFile
from parsers.model import Problem
from parsers.recording.wire import mask

_u32 = Struct("<I").unpack_from


def verify_events(path: str, form: MessageLayout, message: str) -> list[Problem]:
    """Return all problems of an event file; message names the message of each record."""
    batch = read_events(path, form)
    problems = [*batch.problems, *([batch.tail] if batch.tail else [])]
    covered = sorted((problem.offset, problem.offset + problem.length) for problem in problems)
    try:
        with RegularFile(path) as file:
            further = [damage for damage in _undecodable(file, message) if not _within(damage.offset, covered)]
    except OSError:
        return problems  # reading has reported it
    return problems + describe(path, further)


def _within(offset: int, covered: list[tuple[int, int]]) -> bool:
    at = bisect_right(covered, (offset, sys.maxsize)) - 1
    return at >= 0 and offset < covered[at][1]


def _undecodable(file: RegularFile, message: str) -> Iterator[Damage]:
    """Yield large records with a wrong data CRC, and records that cannot be decoded as this message."""
    for piece in Records(file, 0):
        if isinstance(piece, RecordWindow):
            data = piece.data.data
            for start, length in zip(piece.start.tolist(), piece.length.tolist(), strict=True):
                content = bytes(data[start : start + length])
                yield from _check(content, _u32(data, start + length)[0], piece.base + start - HEADER, message)
        elif isinstance(piece, Large):
            content = file.read(piece.offset + HEADER, piece.length + FOOTER)
            if len(content) < piece.length + FOOTER:
                return  # the file was cut meanwhile
            yield from _check(content[:-FOOTER], _u32(content, piece.length)[0], piece.offset, message)


def _check(content: bytes, stored: int, offset: int, message: str) -> Iterator[Damage]:
    if mask(google_crc32c.value(content)) != stored:
        yield Damage(offset, FRAME + len(content), "bad_data", "")
        return
    if not content:
        return
    try:
        event = message_class(message).FromString(content)
    except DecodeError as error:
        yield Damage(offset, FRAME + len(content), "bad_message", str(error))
        return
    if missing := event.FindInitializationErrors():
        yield Damage(offset, FRAME + len(content), "bad_message", f"missing {', '.join(missing)}")
