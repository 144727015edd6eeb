"""The bytes of one value: read from where the index says, checked, or refused with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct

import google_crc32c
import numpy as np

from parsers.errors import PayloadError
from parsers.events.checksums import SMALL
from parsers.events.records import FOOTER, HEADER
from parsers.files import CHUNK, RegularFile
from parsers.model import Cursor
from parsers.recording.wire import mask

_u64, _u32 = Struct("<Q").unpack_from, Struct("<I").unpack_from


@dataclass(frozen=True, slots=True)
class ValueLocation:
    """Where a value is: file, record (order), bytes of the value, and what the file was when it was indexed."""

    path: str
    order: int
    offset: int
    length: int
    cursor: Cursor | None
    verified: bool


def read(place: ValueLocation) -> memoryview:
    """The bytes of a value; PayloadError where the file is not what was indexed or the record is damaged.

    The CRC of the record is checked if that was never done, and always where the record is small.
    """
    try:
        with RegularFile(place.path) as file:
            return _read(file, place)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PayloadError(f"expected to read the file, found: {reason}", place.path, place.order) from error


def _read(file: RegularFile, place: ValueLocation) -> memoryview:
    if place.cursor is not None and not file.continues(place.cursor):
        raise _changed(place)
    header = file.read(place.order, HEADER)
    if len(header) < HEADER:
        raise _changed(place)
    size, begin, end = _u64(header)[0], place.order + HEADER, place.offset + place.length
    if not begin <= place.offset <= end <= begin + size <= file.size - FOOTER:
        raise _changed(place)
    # Numbers come last in a message, so they are aligned where its end is.
    padding = -place.length % 16
    buffer = np.empty(padding + place.length, np.uint8)[padding:].data
    if file.fill(buffer, place.offset) < place.length:
        raise _changed(place)
    if not place.verified or size <= SMALL:
        crc = _extended(0, file, begin, place.offset)
        for at in range(0, place.length, CHUNK):
            crc = google_crc32c.extend(crc, buffer[at : at + CHUNK].tobytes())
        crc = _extended(crc, file, end, begin + size)
        stored = file.read(begin + size, FOOTER)
        if len(stored) < FOOTER:
            raise _changed(place)
        if mask(crc) != _u32(stored)[0]:
            text = f"expected data with CRC {_u32(stored)[0]:08x}, found {mask(crc):08x}; the record is damaged"
            raise PayloadError(text, place.path, place.order)
    return buffer.toreadonly()


def _extended(crc: int, file: RegularFile, begin: int, end: int) -> int:
    while begin < end and (piece := file.read(begin, min(CHUNK, end - begin))):
        crc = google_crc32c.extend(crc, piece)
        begin += len(piece)
    return crc


def _changed(place: ValueLocation) -> PayloadError:
    text = f"expected {place.length:,} bytes at {place.offset:,}, found another file: it was cut or replaced since it was read"
    return PayloadError(text, place.path, place.order)
