"""Records in rounds and records with missing values: equal to protobuf, whole, damaged and in pieces, and read many at once."""

from __future__ import annotations

import random
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers.events import columns as columns_module
from parsers.events import event_reading as reading_module
from parsers.events.mindspore import MINDSPORE
from parsers.events.tensorboard import TENSORBOARD
from parsers.events.walk import walk
from parsers.file_states import FileState
from parsers.joined_blocks import JoinedBlocks
from parsers.model import Batch, Rounds, SourceFile, TagBlock
from parsers.recording import EventWriter, Histogram, Value
from parsers.snapshot import dump, load
from tests.amounts import long_after
from tests.parsers.events.event_reference import event as decoded
from tests.parsers.events.event_reference import framed, points, points_of, read_points, records, widened

READER = {"mindspore": MINDSPORE, "tensorboard": TENSORBOARD}
TAGS = ["loss", "acc", "lr", "train/损失", "x" * 40, "grad", "a", "b"]
ODD = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e-42]


def write_rounds(path: Path, *, seed: int, count: int = 600, layout: str = "tensorboard") -> bytes:
    """Rounds of all tags, with steps around changes of width, odd values, and now and then a tag, step or histogram more."""
    chance = random.Random(seed)
    step = chance.choice([0, 90, 16_100, 2_097_000, -600])
    with EventWriter(str(path), layout, wall_time=1e9) as writer:
        for number in range(count):
            step += 1
            values: dict[str, Value] = {tag: chance.choice(ODD) if chance.random() < 0.05 else chance.random() for tag in TAGS}
            if chance.random() < 0.01:
                values[f"rare{chance.randrange(3)}"] = 1.0
            if chance.random() < 0.01:
                values["w"] = Histogram([chance.random() for _ in range(20)])
            writer.add(step, values, wall_time=1e9 + number * 0.37)
    return path.read_bytes()


def write_missing(path: Path, *, seed: int, count: int = 1500, layout: str = "mindspore") -> bytes:
    """Steps that miss a third of their values, in the order of TAGS, now and then with other fields between."""
    chance = random.Random(seed)
    step = chance.choice([0, 90, 16_100, 2_097_000, -600])
    with EventWriter(str(path), layout, wall_time=1e9) as writer:
        for number in range(count):
            step += 1
            values: dict[str, Value] = {tag: chance.choice([*ODD, 0.5]) for tag in TAGS if chance.random() < 0.67}
            if chance.random() < 0.01:
                values["w"] = Histogram([chance.random() for _ in range(20)])
            writer.add(step, values, wall_time=1e9 + number * 0.37)
    return path.read_bytes()


WRITERS = {"rounds": (write_rounds, "tensorboard"), "missing": (write_missing, "mindspore")}


def state_of(*batches: Batch) -> FileState:
    state = FileState(SourceFile("/x", "events", 1, 1.0, None, 0, 0))
    for batch in batches:
        state.add(batch)
    return state


def state_points(state: FileState) -> list[tuple[int, str, int, bytes, bytes]]:
    """Every scalar of a state, by place; rows of each block are in file order."""
    found = []
    for tags in list(state.scalars):
        block = state.block(tags)
        assert (block.order[1:] >= block.order[:-1]).all()
        for tag, values in zip(tags, block.value.tolist(), strict=True):
            rows = zip(block.order.tolist(), block.step.tolist(), block.wall_time.tolist(), values, strict=True)
            found += [(order, tag, step, struct.pack("<d", wall), widened(value)) for order, step, wall, value in rows]
    return sorted(found)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("seed", long_after(2, range(4)))
def test_equal_to_protobuf_whole_and_in_pieces(tmp_path: Path, kind: str, seed: int) -> None:
    write, layout = WRITERS[kind]
    content = write(tmp_path / "file", seed=seed)
    expected = sorted(points(layout, content))
    batch = READER[layout].read(str(tmp_path / "file"))
    assert sorted(read_points(batch)) == expected
    assert batch.records == len(list(records(content)))
    assert not batch.problems

    chance, batches = random.Random(seed), list[Batch]()
    with (tmp_path / "growing").open("wb", buffering=0) as growing:
        for begin, end in pairwise(sorted({0, *chance.choices(range(len(content)), k=6), len(content)})):
            growing.write(content[begin:end])
            batches.append(READER[layout].read(str(tmp_path / "growing"), batches[-1].cursor if batches else None))
    assert sorted(read_points(*batches)) == expected
    state = state_of(*batches)
    assert state_points(state) == expected
    parts = dump([state])
    assert parts is not None
    assert state_points(load(b"".join(parts))[0]) == expected


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("limit", long_after(1, [1, 3000, 70_000]))
def test_read_in_slices_equals_one_read(tmp_path: Path, kind: str, limit: int) -> None:
    write, layout = WRITERS[kind]
    content = write(tmp_path / "file", seed=5)
    batches = [READER[layout].read(str(tmp_path / "file"), None, limit)]
    while batches[-1].more:
        batches.append(READER[layout].read(str(tmp_path / "file"), batches[-1].cursor, limit))
        assert batches[-1].bytes_read > 0
    assert state_points(state_of(*batches)) == sorted(points(layout, content))
    assert sum(batch.bytes_read for batch in batches) == len(content)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("seed", range(3))
def test_every_flipped_bit_is_noticed_and_costs_its_record_only(tmp_path: Path, kind: str, seed: int) -> None:
    write, layout = WRITERS[kind]
    content = write(tmp_path / "file", seed=seed)
    chance = random.Random(seed)
    frames = list(records(content))
    hit = sorted(chance.sample(range(1, len(frames) - 1), 40))
    damaged = bytearray(content)
    for number in hit:
        offset, data = frames[number]
        damaged[offset + 12 + chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    (tmp_path / "file").write_bytes(damaged)
    batch = READER[layout].read(str(tmp_path / "file"))
    intact = [frame for number, frame in enumerate(frames) if number not in hit]
    expected = [point for offset, data in intact for point in points_of(layout, offset, decoded(layout, data))]
    assert sorted(read_points(batch)) == sorted(expected)
    assert sum(problem.kind == "bad_data" for problem in batch.problems) == len(batch.problems)
    for number in hit:
        assert any(p.offset <= frames[number][0] < p.offset + p.length for p in batch.problems)


@pytest.mark.long
@pytest.mark.parametrize("kind", WRITERS)
def test_hardly_any_record_is_read_alone(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = WRITERS[kind][1]
    chance = random.Random(1)
    for number in range(3):
        with EventWriter(str(tmp_path / f"file{number}"), layout) as writer:
            for step in range(1, 3000):
                writer.add(step, {tag: chance.random() for tag in TAGS if kind == "rounds" or chance.random() < 0.7})
    walked = 0

    def counted(*arguments: Any, **named: Any) -> object:
        nonlocal walked
        walked += 1
        return walk(*arguments, **named)

    monkeypatch.setattr(reading_module, "walk", counted)
    monkeypatch.setattr(columns_module, "walk", counted)
    for number, most in enumerate((300, 120, 120)):
        walked = 0
        READER[layout].read(str(tmp_path / f"file{number}"))
        assert walked <= most, number


@pytest.mark.long
def test_rounds_share_what_they_have_in_common(tmp_path: Path) -> None:
    write_rounds(tmp_path / "file", seed=1, count=1)
    with EventWriter(str(tmp_path / "long"), "tensorboard", wall_time=1e9) as writer:
        for step in range(20_000):
            writer.add(step, dict.fromkeys(TAGS, step / 7), wall_time=1e9 + step * 0.37)
    state = state_of(TENSORBOARD.read(str(tmp_path / "long")))
    blocks = [state.block((tag,)) for tag in TAGS]
    rounds = {id(block.rounds): block.rounds for block in blocks if isinstance(block, TagBlock)}
    assert len(rounds) == 1
    (shared,) = rounds.values()
    assert isinstance(shared, Rounds)
    points_in_it = len(TAGS) * 20_000
    parts = dump([state])
    assert parts is not None
    assert sum(map(len, parts)) <= 8 * points_in_it
    held = sum(column.nbytes for column in (shared.step, shared.begin, shared.within, shared.value))
    assert held + min(shared.wall_time.nbytes, 8 * 20_000) <= 16 * points_in_it


def test_tags_that_no_longer_share_steps_are_still_joined(tmp_path: Path) -> None:
    with EventWriter(str(tmp_path / "file"), "tensorboard", wall_time=1e9) as writer:
        for step in range(1, 200):
            writer.add(step, dict.fromkeys(TAGS, step / 7))
    first = TENSORBOARD.read(str(tmp_path / "file"))
    content = (tmp_path / "file").read_bytes()
    again = [data for _, data in records(content)][1 : 1 + 3 * len(TAGS) + 2]
    (tmp_path / "file").write_bytes(content + b"".join(framed(data) for data in again))
    second = TENSORBOARD.read(str(tmp_path / "file"), first.cursor)
    assert state_points(state_of(first, second)) == sorted(points("tensorboard", (tmp_path / "file").read_bytes()))


def test_a_read_that_ends_within_a_round_joins_each_tag_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file that is being written, the last round is incomplete: the tags of its other rounds have other steps."""
    path = tmp_path / "file"
    with EventWriter(str(path), "tensorboard", wall_time=1e9) as writer:
        for step in range(1, 400):
            writer.add(step, dict.fromkeys(TAGS, step / 7))
    content = path.read_bytes()
    ends = [0, *np.cumsum([len(framed(data)) for _, data in records(content)]).tolist()]
    batches: list[Batch] = []
    for end in (ends[1 + 100 * len(TAGS) + 3], ends[1 + 300 * len(TAGS) + 5]):
        path.write_bytes(content[:end])
        batches.append(TENSORBOARD.read(str(path), batches[-1].cursor if batches else None))
    state = state_of(*batches)
    joined = []
    original = JoinedBlocks.scalars
    counted = lambda self, parts, *more: joined.append(len(parts)) or original(self, parts, *more)  # noqa: E731
    monkeypatch.setattr(JoinedBlocks, "scalars", counted)
    blocks = {tag: state.block((tag,)) for tag in TAGS}
    assert len(joined) <= len(TAGS)
    assert {len(block.step) for block in blocks.values()} == {300, 301}
    assert state_points(state) == sorted(points("tensorboard", path.read_bytes()))


def test_a_tag_that_comes_twice_in_a_record_keeps_both_values(tmp_path: Path) -> None:
    """The second value stands after entries that the vocabulary has after it, so other readers read such records."""
    content = bytearray(write_missing(tmp_path / "file", seed=2))
    messages = (decoded("mindspore", data) for _, data in records(bytes(content)))
    message = next(message for message in messages if len(list(points_of("mindspore", 0, message))) > 3)
    message.summary.value.add().CopyFrom(message.summary.value[0])
    message.summary.value[-1].scalar_value = 42.0
    content += framed(message.SerializeToString())
    (tmp_path / "file").write_bytes(content)
    assert sorted(read_points(MINDSPORE.read(str(tmp_path / "file")))) == sorted(points("mindspore", bytes(content)))


@pytest.mark.parametrize("width", [0, 1, 2, 4, 8])
def test_packed_columns_are_what_they_were(width: int) -> None:
    from parsers.packed import pack, packed_bytes, unpack

    chance = np.random.default_rng(width)
    extremes = np.array([0, 1 << 62, -(1 << 63), (1 << 63) - 1, -1])
    steps = {0: np.full(999, -7), 8: chance.integers(-(1 << 63), 1 << 63, 999, np.int64)}
    column = np.cumsum(steps.get(width, chance.integers(-5, (1 << 8 * min(width, 4)) - 5, 999, np.int64)))
    for numbers in (column, extremes, column[:1], column[:0], chance.random(50).view(np.int64)):
        used, data = pack(numbers)
        assert len(data) == packed_bytes(used, len(numbers))
        np.testing.assert_array_equal(unpack(np.frombuffer(data, np.uint8), used, len(numbers)), numbers)
    assert pack(column)[0] == width
