"""Parses overflow records of Ascend devices, `Opdebug.Node_OpDebug.{task}.{stream}.{time}`: binary, or JSON after conversion.

The old form is 2,048 bytes with fixed places for DHA, L2 and AI Core; the new one begins with the magic number 0x5a5a5a5a.
A record names task and stream of the operator, which differ from those in its file name. Status 0 is no overflow.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAGIC = 0x5A5A5A5A
_UNITS = {0: "AIC", 1: "AIV", 2: "AICPU", 3: "SDMA"}
_OLD = (("DHA Atomic Add", 0, 512), ("L2 Atomic Add", 128, 768), ("AI Core", 256, 1040))
"""Unit, place of its record, place of its status."""
_MOST_ID = 1 << 32
"""Ids of tasks and streams are below this; a larger one is damage."""


@dataclass(frozen=True, slots=True)
class OverflowRecord:
    """One unit that overflowed: its name, task and stream of the operator (-1: the record has no id), status word."""

    unit: str
    task: int
    stream: int
    status: int


def parse_binary(data: bytes) -> list[OverflowRecord]:
    """Return the overflows in the bytes of a record; none for bytes of neither form."""
    if len(data) >= 4 and int.from_bytes(data[:4], "little") == MAGIC:
        return list(_new(data))
    found = []
    for unit, place, status_at in _OLD:
        if len(data) < max(place + 48, status_at + 8):
            continue
        _, stream, task, _, _, _ = struct.unpack_from("<6Q", data, place)
        (status,) = struct.unpack_from("<Q", data, status_at)
        if status and max(stream, task) < _MOST_ID:
            found.append(OverflowRecord(unit, task, stream, status & 0x7FFF_FFFF_FFFF_FFFF))
    return found


def _new(data: bytes) -> Iterator[OverflowRecord]:
    at = 8
    while at + 16 <= len(data):
        valid, kind, _, length = struct.unpack_from("<4I", data, at)
        at += 16
        if not valid or length > len(data) - at:
            return
        words = struct.unpack_from(f"<{length // 8}Q", data, at)
        at += length
        places = {0: 10, 1: 10, 2: 6, 3: len(words) - 1}
        status = places.get(kind, len(words) - 1)
        if len(words) > max(status, 2) and words[status]:
            task, stream = (one if one < _MOST_ID else -1 for one in (words[2], words[1]))
            yield OverflowRecord(_UNITS.get(kind, f"type {kind}"), task, stream, words[status] & 0x7FFF_FFFF_FFFF_FFFF)


def parse_json(content: Any) -> list[OverflowRecord]:
    """Return the overflows in a converted record; none for JSON of neither form."""
    if not isinstance(content, dict):
        return []
    listed = content.get("acc_list")
    if listed is not None:
        records = listed if isinstance(listed, list) else [listed]
        named = [(str(one.get("acc_type", "")), one.get("data")) for one in records if isinstance(one, dict)]
    else:
        named = [(unit, content.get(unit)) for unit, _, _ in _OLD]
    found = []
    for unit, data in named:
        if not isinstance(data, dict):
            continue
        task, stream, status = (_whole(data.get(name)) for name in ("task_id", "stream_id", "status"))
        if status:
            found.append(OverflowRecord(unit, task, stream, status))
    return found


def _whole(value: Any) -> int:
    if isinstance(value, list):
        return next((one for one in map(_whole, value) if one), 0)
    if isinstance(value, str):
        try:
            value = int(value, 0)
        except ValueError:
            return 0
    return int(value) if isinstance(value, int) and 0 <= value < 1 << 63 else 0
