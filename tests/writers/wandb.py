"""Writes .wandb files: messages with protobuf's own encoding, in blocks as LevelDB's logs have them."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

HEADER = b":W&B\xe1\xbe\x00"
BLOCK = 32768


def field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def history(values: Mapping[str, Any], *, number: int = 2) -> bytes:
    """A Record with a row of the history, or with the settings of a run's config (5)."""
    items = (field(1, field(2, name.encode()) + field(16, json.dumps(value).encode())) for name, value in values.items())
    return _varint(1 << 3) + _varint(7) + field(number, b"".join(items))


def wandb_file(records: Iterable[bytes]) -> bytes:
    """The file that holds these records."""
    out = bytearray(HEADER)
    for record in records:
        left, begun = record, False
        while True:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += b"\0" * room
                continue
            part, left = left[: room - 7], left[room - 7 :]
            kind = (3 if left else 4) if begun else (2 if left else 1)
            out += struct.pack("<IHB", zlib.crc32(bytes((kind,)) + part), len(part), kind) + part
            begun = True
            if not left:
                break
    return bytes(out)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
