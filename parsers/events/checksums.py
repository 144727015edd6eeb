"""CRC32C as event files use it: of a byte string, of every possible length field, and of many similar records at once.

The last rests on the CRC being linear: crc(a XOR b) = crc(a) XOR crc(b) XOR crc(0) for equal lengths. The CRC of a record is
therefore the CRC of its template, in which the variable bytes are zero, XOR one table entry per variable byte.
"""

from __future__ import annotations

from functools import cache, lru_cache

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from parsers.recording.wire import MASK_DELTA

Words = NDArray[np.uint32]
SMALL = 1 << 16
"""Bytes up to which a record's data CRC is checked when the file is loaded."""


def unmask_columns(stored: Words) -> Words:
    """Unmask stored CRCs."""
    rotated = stored - np.uint32(MASK_DELTA)
    return (rotated >> np.uint32(17)) | (rotated << np.uint32(15))


@lru_cache(maxsize=1024)
def byte_table(distance: int) -> Words:
    """Table by byte value: the XOR difference to the CRC when that byte, followed by `distance` bytes, replaces a zero."""
    tail = bytes(distance)
    zero = google_crc32c.value(b"\0" + tail)
    table = np.zeros(1, np.uint32)
    for bit in range(8):
        table = np.concatenate((table, table ^ np.uint32(google_crc32c.value(bytes((1 << bit,)) + tail) ^ zero)))
    table.flags.writeable = False
    return table


@cache
def length_tables() -> tuple[Words, ...]:
    """Tables for the four low bytes of a length; the CRC of length 0 is XORed into the first."""
    first, *rest = (byte_table(7 - i) for i in range(4))
    return (first ^ np.uint32(google_crc32c.value(bytes(8))), *rest)


def length_crcs(lengths: NDArray[np.int64]) -> Words:
    """The stored CRC of each length; lengths are below 2**32."""
    low, second, third, fourth = length_tables()
    crc: Words = low[lengths & 255] ^ second[lengths >> 8 & 255] ^ third[lengths >> 16 & 255] ^ fourth[lengths >> 24 & 255]
    return ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(MASK_DELTA)


@cache
def small_length_crcs() -> Words:
    """The stored CRCs of the lengths 0 to SMALL, by length."""
    return length_crcs(np.arange(SMALL + 1))
