"""Large files: read in columns, equal to protobuf, also when damaged, and truly in columns."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import pytest

from parsers.events import columns as columns_module
from parsers.events import event_reading as reading_module
from parsers.events.checksums import byte_table, length_crcs, small_length_crcs, unmask_columns
from parsers.events.mindspore import MINDSPORE
from parsers.events.tensorboard import TENSORBOARD
from parsers.events.walk import walk
from parsers.recording import EventWriter, Histogram, Value
from parsers.recording.wire import mask
from tests.amounts import long_after
from tests.parsers.events.event_reference import event as decoded
from tests.parsers.events.event_reference import points, points_of, read_points, records, stored_crc

READER = {"mindspore": MINDSPORE, "tensorboard": TENSORBOARD}


def write(path: Path, layout: str, *, seed: int, tensor_scalars: bool = False, count: int = 3000) -> bytes:
    """Tags that come and go, of equal and of other lengths, out of order; steps around every change of width; odd values."""
    chance = random.Random(seed)
    tags = [f"{'x' * (i % 5)}tag{i:02}" for i in range(20)] + ["损失", "<b>"]
    odd = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e-42]
    step = chance.choice([0, 100, 16000, 2_097_000, -500, 2**62])
    with EventWriter(str(path), layout, tensor_scalars=tensor_scalars, wall_time=1e9) as writer:
        for number in range(count):
            step += chance.choice([0, 1, 1, 1, 1, 2]) if chance.random() < 0.99 else -50
            chosen = chance.sample(tags, 3) if chance.random() < 0.3 else tags[:4]
            values: dict[str, Value] = {tag: chance.choice(odd) if chance.random() < 0.1 else chance.random() for tag in chosen}
            if chance.random() < 0.01:
                values["w"] = Histogram([chance.random() for _ in range(20)])
            writer.add(step, values, wall_time=1e9 + number * 0.37)
    return path.read_bytes()


@pytest.mark.parametrize(("layout", "tensor_scalars"), [("mindspore", False), ("tensorboard", False), ("tensorboard", True)])
@pytest.mark.parametrize("seed", long_after(1, range(4)))
def test_equal_to_protobuf(tmp_path: Path, layout: str, tensor_scalars: bool, seed: int) -> None:
    content = write(tmp_path / "file", layout, seed=seed, tensor_scalars=tensor_scalars)
    batch = READER[layout].read(str(tmp_path / "file"))
    if tensor_scalars:  # only the first event of a tag says that it is for scalars
        expected = [
            (offset, value.tag, struct.unpack("<f", struct.pack("<f", value.tensor.float_val[0])))
            for offset, data in records(content)
            for value in decoded(layout, data).summary.value
            if value.HasField("tensor")
        ]
        assert len(read_points(batch)) == len(expected)
        assert {(point[0], point[1]) for point in read_points(batch)} == {(offset, tag) for offset, tag, _ in expected}
    else:
        assert sorted(read_points(batch)) == sorted(points(layout, content))
    assert not batch.problems


@pytest.mark.long
@pytest.mark.parametrize("layout", ["mindspore", "tensorboard"])
def test_flips_anywhere_in_a_large_file(tmp_path: Path, layout: str) -> None:
    content = write(tmp_path / "file", layout, seed=9, count=4000)
    chance = random.Random(layout)
    frames = list(records(content))
    hit = sorted(chance.sample(range(len(frames) - 1), 300))
    damaged = bytearray(content)
    for number in hit:
        offset, data = frames[number]
        damaged[offset + chance.randrange(16 + len(data))] ^= 1 << chance.randrange(8)
    (tmp_path / "file").write_bytes(damaged)
    batch = READER[layout].read(str(tmp_path / "file"))
    expected = [
        point
        for number, (offset, data) in enumerate(frames)
        if number not in hit
        for point in points_of(layout, offset, decoded(layout, data))
    ]
    got = read_points(batch)
    assert not set(expected) - set(got)
    assert not set(got) - set(points(layout, content))
    for number in hit:
        offset, data = frames[number]
        assert any(p.offset < offset + 16 + len(data) and p.offset + p.length > offset for p in batch.problems)


@pytest.mark.long
@pytest.mark.parametrize("layout", ["mindspore", "tensorboard"])
def test_hardly_any_record_is_read_alone(tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with EventWriter(str(tmp_path / "file"), layout) as writer:
        for step in range(30_000):
            writer.add(step, {"loss": step / 7, "accuracy": -step, "lr": 0.1})
    walked = 0

    def counted(*arguments: Any, **named: Any) -> object:
        nonlocal walked
        walked += 1
        return walk(*arguments, **named)

    monkeypatch.setattr(reading_module, "walk", counted)
    monkeypatch.setattr(columns_module, "walk", counted)
    batch = READER[layout].read(str(tmp_path / "file"))
    assert sum(block.value.size for block in batch.scalars) == 90_000
    assert walked < 400


def test_tables_give_the_crc_of_any_message() -> None:
    chance = np.random.default_rng(0)
    for length in (1, 7, 64, 300):
        message = chance.integers(0, 256, length, dtype=np.uint8)
        crc = google_crc32c.value(bytes(length))
        for at, byte in enumerate(message.tolist()):
            crc ^= int(byte_table(length - 1 - at)[byte])
        assert crc == google_crc32c.value(message.tobytes())


def test_stored_crcs() -> None:
    assert google_crc32c.value(b"123456789") == 0xE3069283
    lengths = np.array([0, 1, 255, 256, 65535, 65536, 1 << 24, (1 << 31) - 1])
    assert length_crcs(lengths).tolist() == [stored_crc(struct.pack("<Q", length)) for length in lengths.tolist()]
    assert small_length_crcs()[[0, 77, 65536]].tolist() == [stored_crc(struct.pack("<Q", n)) for n in (0, 77, 65536)]
    crcs = np.array([0, 1, 0xFFFFFFFF, 0xDEADBEEF], np.uint32)
    stored = np.array([mask(crc) for crc in crcs.tolist()], np.uint32)
    assert unmask_columns(stored).tolist() == crcs.tolist()
