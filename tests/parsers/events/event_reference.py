"""Event files read the slow, plain way: one record after the other, each decoded by protobuf."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import google_crc32c

from parsers.events.messages import message_class
from parsers.model import Batch
from parsers.names import NO_TAG

MINDSPORE = ("mindspore", "events")
"""The layout of MindSpore events, as the writer and as the registry call it."""
Point = tuple[int, str, int, bytes, bytes]
"""Order, tag, step, and wall time and value as bytes, so that NaN equals NaN."""


def stored_crc(data: bytes) -> int:
    crc = google_crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def framed(data: bytes) -> bytes:
    header = struct.pack("<Q", len(data))
    return header + struct.pack("<I", stored_crc(header)) + data + struct.pack("<I", stored_crc(data))


def records(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Offset and data of every record of an intact file."""
    offset = 0
    while offset + 16 <= len(content):
        (length,) = struct.unpack_from("<Q", content, offset)
        data = content[offset + 12 : offset + 12 + length]
        if len(data) < length or offset + 16 + length > len(content):
            return
        assert struct.unpack_from("<I", content, offset + 8)[0] == stored_crc(content[offset : offset + 8])
        assert struct.unpack_from("<I", content, offset + 12 + length)[0] == stored_crc(data)
        yield offset, data
        offset += 16 + length


def event(layout: str, data: bytes) -> Any:
    return message_class("mindspore.Event" if layout in MINDSPORE else "tensorflow.Event").FromString(data)


def points_of(layout: str, offset: int, message: Any) -> Iterator[Point]:
    field = "scalar_value" if layout in MINDSPORE else "simple_value"
    wall = struct.pack("<d", message.wall_time)
    for value in message.summary.value:
        if value.HasField(field):
            yield offset, value.tag or NO_TAG, message.step, wall, widened(getattr(value, field))
        elif layout == "tensorboard" and value.HasField("tensor") and value.metadata.plugin_data.plugin_name == "scalars":
            tensor = value.tensor
            number = struct.unpack("<f", tensor.tensor_content)[0] if tensor.tensor_content else tensor.float_val[0]
            yield offset, value.tag or NO_TAG, message.step, wall, widened(number)


def points(layout: str, content: bytes) -> list[Point]:
    """Every scalar of an intact file, by place."""
    return [point for offset, data in records(content) for point in points_of(layout, offset, event(layout, data))]


def widened(value: float) -> bytes:
    return b"nan" if value != value else struct.pack("<d", value)


def read_points(*batches: Batch) -> list[Point]:
    """Every scalar of some batches, by place."""
    found: list[Point] = []
    for batch in batches:
        for block in batch.scalars:
            assert block.value.shape == (len(block.tags), len(block.step))
            assert len(block.step) == len(block.wall_time) == len(block.order)
            assert (block.order[1:] >= block.order[:-1]).all()
            rows = list(zip(block.order.tolist(), block.step.tolist(), block.wall_time.tolist(), strict=True))
            for tag, values in zip(block.tags, block.value.tolist(), strict=True):
                for (order, step, wall), value in zip(rows, values, strict=True):
                    found.append((order, tag, step, struct.pack("<d", wall), widened(value)))
    return found


def read_payloads(*batches: Batch) -> list[tuple[Any, ...]]:
    """Every large value of some batches: kind, tag, plugin, step, order, offset, length."""
    found = []
    for batch in batches:
        for block in batch.payloads:
            columns = zip(block.step, block.order, block.offset, block.length, strict=True)
            found += [(block.kind, block.tag, block.plugin, *map(int, row)) for row in columns]
    return sorted(found)


__all__ = ["Point", "event", "framed", "points", "points_of", "read_payloads", "read_points", "records"]
