"""Event files to damage, and what a reader reports of them."""

from __future__ import annotations

import struct
from pathlib import Path

import google_crc32c

from parsers.events.mindspore import MINDSPORE
from parsers.events.tensorboard import TENSORBOARD
from parsers.model import KINDS, Batch
from parsers.recording import EventWriter, Histogram, Image, Tensor, Text, Value

READER = {"mindspore": MINDSPORE, "tensorboard": TENSORBOARD, "tensors": TENSORBOARD}
LAYOUTS = tuple(READER)


def write(path: Path, layout: str, steps: int, *, payloads: bool = False, tags: int = 1) -> bytes:
    writer = EventWriter(str(path), layout.replace("tensors", "tensorboard"), wall_time=1e9, tensor_scalars=layout == "tensors")
    with writer:
        for step in range(steps):
            values: dict[str, Value] = {f"loss{i}": 1 / (step + i + 1) for i in range(tags)}
            if payloads and step % 5 == 0:
                values |= {"w": Histogram([1.0, 2.0, step]), "t": Tensor([[1.0, step]]), "i": Image(b"png", 1, 1)}
                if layout != "mindspore":
                    values["note"] = Text("a text")
            writer.add(step, values, wall_time=1e9 + step)
    return path.read_bytes()


def reports(batch: Batch) -> set[str]:
    for problem in batch.problems:
        assert problem.kind in KINDS
        assert problem.text.endswith(".")
    return {problem.kind for problem in batch.problems}


def header(length: int) -> bytes:
    packed = struct.pack("<Q", length)
    crc = google_crc32c.value(packed)
    return packed + struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


