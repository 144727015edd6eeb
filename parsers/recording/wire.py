"""Encodes the fields of protobuf messages, and the records of event files that hold them.

Field encodings are those of protobuf (Protocol Buffers, "Encoding"); the records are TensorFlow's TFRecord: the length, its
masked CRC32C, the message, its masked CRC32C.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct

import google_crc32c
import numpy as np
from numpy.typing import ArrayLike

_u32, _u64, _f64 = Struct("<I").pack, Struct("<Q").pack, Struct("<d").pack
MASK_DELTA = 0xA282EAD8
_SHORT = [bytes((value,)) for value in range(0x80)]


def mask(crc: int) -> int:
    """Mask a plain CRC32C as event files store it."""
    return (((crc >> 15) | (crc << 17)) + MASK_DELTA) & 0xFFFF_FFFF


def masked(data: bytes) -> int:
    """Return the CRC32C of data in the masked form in which event files store it."""
    return mask(google_crc32c.value(data))


def varint(value: int) -> bytes:
    """Encode a number as a varint; negative ones take ten bytes."""
    if 0 <= value < 0x4000:  # nearly all: lengths and steps
        return _SHORT[value] if value < 0x80 else bytes((value & 0x7F | 0x80, value >> 7))
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """A varint field."""
    return varint(field << 3) + varint(value)


def float32(field: int, value: float) -> bytes:
    """A float field; what is beyond float32 becomes Inf."""
    return varint(field << 3 | 5) + packed_float32(value)


def packed_float32(value: ArrayLike) -> bytes:
    """Numbers as little-endian float32; those beyond float32 become Inf."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(value).astype("<f4").tobytes()


def float64(field: int, value: float) -> bytes:
    """A double field."""
    return varint(field << 3 | 1) + _f64(value)


def delimited(field: int, value: bytes) -> bytes:
    """A string, bytes, packed or message field."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def text(field: int, value: str) -> bytes:
    """A string field; what UTF-8 cannot hold (lone surrogates) is escaped."""
    return delimited(field, value.encode("utf-8", "backslashreplace"))


def record(message: bytes) -> bytes:
    """One record of an event file."""
    crc = google_crc32c.value(message)
    return _opening(len(message)) + message + _u32((((crc >> 15) | (crc << 17)) + MASK_DELTA) & 0xFFFF_FFFF)


@lru_cache(maxsize=1024)
def _opening(size: int) -> bytes:
    """Return what precedes a message of so many bytes: its length and the checksum of that."""
    length = _u64(size)
    return length + _u32(masked(length))
