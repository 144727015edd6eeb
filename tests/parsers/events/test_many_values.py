"""Records of very many values, and files of very many tags: read as if each were read alone."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.events import walk as walking
from parsers.events.mindspore import MINDSPORE
from parsers.events.tensorboard import TENSORBOARD
from parsers.events.walk import EventMessage, beginning, walk
from parsers.events.wire import WireError
from parsers.model import RareBlock
from parsers.snapshot import dump, load
from tests.parsers.events.event_reference import framed, points, read_points
from tests.writers.worst_binaries import delimited

_VERSION = framed(b"\x09" + bytes(8) + delimited(3, b"brain.Event:2"))
FLOAT = b"\x15\0\0\xc0\x3f"
KINDS = (
    lambda tag: delimited(1, delimited(1, tag) + FLOAT),
    lambda tag: delimited(1, FLOAT + delimited(1, tag)),
    lambda tag: delimited(1, b""),
    lambda tag: delimited(1, delimited(1, tag)),
    lambda tag: delimited(1, delimited(1, tag) + delimited(4, delimited(4, b"png" * 20))),
    lambda tag: delimited(1, delimited(1, tag) + delimited(4, delimited(4, b"png" * 2000))),
    lambda tag: delimited(1, delimited(1, tag) + delimited(8, b"\x08\x02\x12\x00" + delimited(6, bytes(8)))),
    lambda tag: delimited(1, delimited(1, tag * 60) + FLOAT),
    lambda tag: delimited(1, delimited(1, b"\xff\xfe") + FLOAT),
    lambda tag: delimited(1, delimited(1, b"") + FLOAT),
    lambda tag: delimited(3, b"unknown"),
)


def message(seed: int, count: int) -> bytes:
    """Return an event of many values of all kinds, most of them alike."""
    chosen = random.Random(seed)
    kinds = [chosen.choice(KINDS[:3]) if chosen.random() < 0.9 else chosen.choice(KINDS) for _ in range(count)]
    values = b"".join(kind(b"t%d" % chosen.randrange(200)) for kind in kinds)
    return b"\x09" + bytes(8) + b"\x10\x05" + delimited(5, values)


def found(event: EventMessage) -> object:
    tags = event.many_tags + [scalar.tag for scalar in event.scalars]
    values = [*event.many_values, *(scalar.value for scalar in event.scalars)]
    return tags, values, event.payloads, event.complaints, event.step


@pytest.mark.parametrize("form", [TENSORBOARD.form, MINDSPORE.form], ids=["tensorboard", "mindspore"])
@pytest.mark.parametrize("count", [20, 400, 5000])
@pytest.mark.parametrize("seed", range(3))
def test_short_values_are_read_as_others_are(form, count: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = message(seed, count)
    quick = walk(data, len(data), form)
    cut = [beginning(data[:size], len(data), form) for size in range(0, len(data), len(data) // 20)]
    with monkeypatch.context() as slow:
        slow.setattr(walking, "MANY_BYTES", 1 << 40)
        slow.setattr(walking, "FEW", 1 << 40)
        plain = walk(data, len(data), form)
        assert [found(one) for one in cut] == [
            found(beginning(data[:size], len(data), form)) for size in range(0, len(data), len(data) // 20)
        ]  # fmt: skip
    assert found(quick) == found(plain)
    assert not plain.many_tags
    assert (quick.many_tags != []) == (len(plain.scalars) > walking.FEW + walking.AT_ONCE // 9) or quick.scalars == []
    if quick.scalars:
        assert (quick.scalars, quick.names, quick.tags) == (plain.scalars, plain.names, plain.tags)


def test_damage_between_short_values_is_found() -> None:
    data = message(1, 3000)
    chosen = random.Random(2)
    for _ in range(300):
        damaged = bytearray(data)
        damaged[chosen.randrange(11, len(data))] = chosen.randrange(256)
        try:
            walk(bytes(damaged), len(damaged), TENSORBOARD.form)
        except WireError:
            continue


@pytest.mark.parametrize("alike", [1, 3, 140])
def test_files_of_very_many_tags(tmp_path: Path, alike: int) -> None:
    """Some of them have further rows in records of other lengths, and one is damaged."""
    records = [_VERSION]
    for number in range(2000):
        for step in range(alike if number % 7 == 0 else 1):
            tag = b"t%d" % number
            value = delimited(1, delimited(1, tag) + b"\x15" + np.float32(number + step).tobytes())
            records.append(framed(b"\x09" + np.float64(number).tobytes() + b"\x10" + bytes([step % 100]) + delimited(5, value)))
    content = b"".join(records)
    path = tmp_path / "events.out.tfevents.1.host"
    path.write_bytes(content)
    batch = TENSORBOARD.read(str(path))
    assert sorted(read_points(batch)) == sorted(points("tensorboard", content))
    assert any(isinstance(block, RareBlock) for block in batch.scalars)
    run = open_run(tmp_path)
    frame = run.scalars
    assert frame["tag"].cat.categories.tolist() == list(run.tags("scalar"))
    assert set(run.tags("scalar")) == {f"t{number}" for number in range(2000)}
    for number in (0, 7, 8, 1999):
        rows = frame[frame["tag"] == f"t{number}"]
        series = run.series(f"t{number}")
        assert np.array_equal(rows["value"].to_numpy(), series.value)
        assert rows["order"].is_monotonic_increasing
    parts = dump(list(run.states.values()))
    assert parts is not None
    (restored,) = load(b"".join(parts))
    assert {tags: restored.block(tags).value.tolist() for tags in restored.scalars} == {
        tags: state.block(tags).value.tolist() for state in run.states.values() for tags in state.scalars
    }  # fmt: skip
    damaged = bytearray(content)
    damaged[content.index(b"t1234") + 8] ^= 1
    path.write_bytes(damaged)
    again = TENSORBOARD.read(str(path))
    assert [problem.kind for problem in again.problems] == ["bad_data"]
    assert len(read_points(again)) == len(read_points(batch)) - 1


def test_very_many_tags_that_grow(tmp_path: Path) -> None:
    """Tags of one row each, read in two parts with some of them in both, are those of the whole file."""
    records = [
        framed(b"\x09" + bytes(8) + b"\x10" + bytes([number % 100]) + delimited(5, KINDS[0](b"t%d" % (number % 900))))
        for number in range(1200)
    ]
    path = tmp_path / "grown" / "events.out.tfevents.1.host"
    path.parent.mkdir()
    path.write_bytes(b"".join([_VERSION, *records[:600]]))
    run = open_run(path.parent)
    assert len(run.scalars) == 600
    with path.open("ab") as file:
        file.write(b"".join(records[600:]))
    assert run.refresh()
    whole = tmp_path / "whole" / path.name
    whole.parent.mkdir()
    whole.write_bytes(path.read_bytes())
    expected = open_run(whole.parent)
    assert sorted(run.tags("scalar")) == sorted(expected.tags("scalar"))
    for tag in expected.tags("scalar"):
        assert all(map(np.array_equal, run.series(tag), expected.series(tag)))
    columns = ["tag", "order", "step", "value"]
    rows = [frame[columns].astype({"tag": str}).sort_values(columns) for frame in (run.scalars, expected.scalars)]
    assert rows[0].to_numpy().tolist() == rows[1].to_numpy().tolist()
    assert len(run.series("t7").step) == 2
    assert run.points == expected.points == 1200
    assert run.steps == expected.steps
