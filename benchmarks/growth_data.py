"""Files of any size in MindSpore's layout: one run of many points, one run of many gigabytes of tensors.

The records of one length are assembled as one matrix, so 50 million points take seconds, not minutes.
"""

from __future__ import annotations

import os
from pathlib import Path

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from benchmarks.many_data import BEGUN, LONG_AGO, NAMES, VERSIONS
from parsers.recording import EventWriter, Tensor
from parsers.recording.wire import delimited, float64, mask, record, varint

BLOCK = 100_000
TENSOR_SIDE = 1024
"""Tensors are squares of this many float32: 4 MiB each."""
Bytes = NDArray[np.uint8]


def points(run: Path, tags: int, steps: int) -> None:
    """Write one run of `tags` curves of `steps` points."""
    run.mkdir(parents=True)
    names = [b"loss", *(b"metric/%02d" % number for number in range(1, tags))]
    random = np.random.default_rng(0)
    with (run / NAMES["ms"].format(BEGUN)).open("wb") as file:
        file.write(record(float64(1, BEGUN) + delimited(3, VERSIONS["ms"])))
        first = 1
        while first <= steps:
            width = len(varint(first))
            last = min(steps, first + BLOCK - 1, 128**width - 1)
            file.write(_records(np.arange(first, last + 1), width, names, random).tobytes())
            first = last + 1
    _settle(run)


def _records(step: NDArray[np.int64], width: int, names: list[bytes], random: np.random.Generator) -> Bytes:
    """Return the records of these steps, whose numbers take `width` bytes, as a matrix with one in each row."""
    cells = [delimited(1, delimited(1, name) + b"\x1d" + bytes(4)) for name in names]
    head = 9 + 1 + width
    data = b"\x09" + bytes(8) + b"\x10" + bytes(width) + delimited(5, b"".join(cells))
    rows = np.tile(np.frombuffer(record(data), np.uint8), (step.size, 1))
    body = rows[:, 12:-4]
    body[:, 1:9] = (BEGUN + step * 0.25).astype("<f8")[:, None].view(np.uint8)
    for place in range(width):
        body[:, 10 + place] = (step >> 7 * place & 127) | (128 if place < width - 1 else 0)
    values = random.uniform(0.1, 4, (step.size, len(names))).astype("<f4")
    end = body.shape[1] - sum(map(len, cells))
    if end <= head:
        raise RuntimeError("the cells do not follow the step")
    for column, cell in enumerate(cells):
        end += len(cell)
        body[:, end - 4 : end] = values[:, column, None].view(np.uint8)
    rows[:, -4:] = np.array([mask(google_crc32c.value(row.tobytes())) for row in body], "<u4")[:, None].view(np.uint8)
    return rows


def tensors(run: Path, gigabytes: float) -> None:
    """Write one run of tensors of 4 MiB, 1,000 of them per tag, with a loss at each step."""
    run.mkdir(parents=True)
    content = Tensor(np.random.default_rng(0).standard_normal((TENSOR_SIDE, TENSOR_SIDE)).astype(np.float32))
    with EventWriter(str(run / NAMES["ms"].format(BEGUN)), layout="mindspore") as writer:
        for number in range(max(1, round(gigabytes * 1e9 / (4 * TENSOR_SIDE**2)))):
            writer.add(number + 1, {"loss": 1 / (number + 1), f"weight/{number // 1000}": content}, wall_time=BEGUN + number)
    _settle(run)


def _settle(run: Path) -> None:
    """Let files and directories be old, so that nothing waits for them to grow."""
    for path in (*run.iterdir(), run, run.parent):
        os.utime(path, (LONG_AGO, LONG_AGO))
