"""Large values whose CRC is checked after reading: every damaged record is found, whatever the slices, and none is made up."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from parsers import PayloadError, open_run
from parsers.discovery import source_of
from parsers.events.mindspore import MINDSPORE
from parsers.recording import EventWriter, Tensor, Value
from parsers.runs import Run
from parsers.snapshot import dump, load
from tests.parsers.events.event_reference import read_points, records

NAME = "events.out.events.summary.1700000000.0.host_MS"
STEPS = 12


def write(directory: Path, damaged: tuple[int, ...] = (), name: str = NAME) -> tuple[Path, list[tuple[int, int]]]:
    """Write tensors of 80,000 bytes and a scalar per step, with a flipped byte in some. Offset and bytes of each step."""
    path = directory / name
    with EventWriter(str(path), "mindspore") as writer:
        for step in range(STEPS):
            writer.add(step, {"w": Tensor(np.full(20_000, step, np.float32)), "v": Tensor([1.0, step]), "loss": step})
    data = bytearray(path.read_bytes())
    places = [(offset, 16 + len(content)) for offset, content in records(bytes(data))][1:]
    for step in damaged:
        data[places[step][0] + 5_000 + step] ^= 0x10
    path.write_bytes(data)
    return path, places


@pytest.mark.parametrize("limit", [None, 1, 100_000, 1 << 30])
def test_every_damaged_record_is_found_and_no_other(tmp_path: Path, limit: int | None) -> None:
    _, places = write(tmp_path, (3, 4, 9))
    write(tmp_path, name=NAME.replace("1700000000", "1700000001"))
    run = open_run(tmp_path)
    assert not run.problems
    assert (run.unverified, run.large) == (4 * STEPS, 4 * STEPS)
    slices = 1
    while run.verify(limit=limit):
        slices += 1
    assert slices >= {None: 1, 1: 2 * STEPS, 100_000: STEPS, 1 << 30: 1}[limit]
    assert (run.unverified, run.large) == (0, 4 * STEPS)
    found = [(problem.kind, problem.offset, problem.length) for problem in run.problems]
    assert found == [("bad_data", places[3][0], places[3][1] + places[4][1]), ("bad_data", *places[9])]
    assert [p.offset for p in MINDSPORE.verify(str(tmp_path / NAME))] == [places[3][0], places[9][0]]
    losses = [step for step in range(STEPS) if step not in (3, 4, 9)] + list(range(STEPS))
    assert run.series("loss").value.tolist() == losses, "a scalar of a damaged record may be wrong"
    for step in range(STEPS):
        if step in (3, 4, 9):
            with pytest.raises(PayloadError, match="damaged"):
                run.tensor("w", step)
        else:
            assert run.tensor("w", step).data[0] == step


def test_what_was_checked_is_in_the_index(tmp_path: Path) -> None:
    _, places = write(tmp_path, (5,))
    run = open_run(tmp_path)
    run.verify()
    states = load(b"".join(bytes(part) for part in dump(list(run.states.values())) or []))
    again = Run(source_of(tmp_path))
    again.restore(states)
    assert (again.unverified, again.large) == (0, 2 * STEPS)
    assert [(problem.kind, problem.offset) for problem in again.problems] == [("bad_data", places[5][0])]
    with pytest.raises(PayloadError, match="damaged"):
        again.tensor("w", 5)


def test_a_record_of_many_megabytes_is_checked_in_slices(tmp_path: Path, lengths_read: list[int]) -> None:
    with EventWriter(str(tmp_path / NAME), "mindspore") as writer:
        writer.add(1, {"w": Tensor(np.ones(5_000_000, np.float32))})
    run = open_run(tmp_path)
    lengths_read.clear()
    slices = 0
    while run.verify(limit=2 << 20):
        slices += 1
        assert sum(lengths_read) < 5 << 20
        lengths_read.clear()
    assert slices >= 9
    assert run.unverified == 0
    assert not run.problems


def test_what_is_appended_and_what_is_replaced_is_checked_too(tmp_path: Path) -> None:
    path, places = write(tmp_path, (2, 8))
    whole = path.read_bytes()
    path.write_bytes(whole[: places[6][0]])
    run = open_run(tmp_path)
    assert not run.verify()
    assert [problem.offset for problem in run.problems] == [places[2][0]]
    path.write_bytes(whole)
    run.refresh()
    assert run.unverified == 2 * (STEPS - 6)
    assert not run.verify()
    assert [problem.offset for problem in run.problems] == [places[2][0], places[8][0]]
    path.unlink()
    write(tmp_path)
    run.refresh()
    assert not run.verify()
    assert [problem.kind for problem in run.problems] == ["replaced"]
    assert run.unverified == 0


def test_a_file_that_cannot_be_read_is_left_out_until_it_is_read_again(tmp_path: Path) -> None:
    path, _ = write(tmp_path, (2,))
    run = open_run(tmp_path)
    path.rename(tmp_path / "elsewhere")
    assert not run.verify()
    assert run.unverified == 2 * STEPS
    os.truncate(tmp_path / "elsewhere", 100)
    (tmp_path / "elsewhere").rename(path)
    assert not run.verify()
    assert not run.problems


def test_scalars_of_a_large_record_without_large_values_are_checked_when_read(tmp_path: Path) -> None:
    values: dict[str, Value] = {f"layer_{i}/gradient": float(i) for i in range(4_000)}
    with EventWriter(str(tmp_path / NAME), "mindspore") as writer:
        for step in range(3):
            writer.add(step, values)
    data = bytearray((tmp_path / NAME).read_bytes())
    places = [offset for offset, content in records(bytes(data)) if len(content) > 1 << 16]
    assert len(places) == 3
    data[places[1] + 50_000] ^= 1
    (tmp_path / NAME).write_bytes(data)
    batch = MINDSPORE.read(str(tmp_path / NAME))
    assert [(problem.kind, problem.offset) for problem in batch.problems] == [("bad_data", places[1])]
    assert {point[2] for point in read_points(batch)} == {0, 2}
