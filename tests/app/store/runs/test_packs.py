"""Snapshots of small runs share records: each comes back as it was saved last; damage costs a new reading, and no more."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.store.runs import packs
from app.store.runs.index import Index
from app.store.runs.packs import NAME, Snapshots
from parsers.file_states import FileState
from parsers.model import Cursor, ScalarBlock, SourceFile
from tests.amounts import some_or_every


def state(value: float, rows: int = 3) -> list[FileState]:
    column = np.full(rows, float(value))
    block = ScalarBlock(("loss",), np.arange(rows), column, np.arange(rows), column[None])
    file = SourceFile("/runs/a/f", "events", 9, 1e9, 1, 2, 3)
    return [FileState(file, "mindspore", Cursor(9, 2, 3, 9, 7), scalars={("loss",): [block]})]


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "index")


OPEN: list[Snapshots] = []


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def opened(place: str) -> Snapshots:
    OPEN.append(Snapshots(Index(place)))
    return OPEN[-1]


def values(snapshots: Snapshots, keys: list[str]) -> list[float | None]:
    found = [snapshots.load(key) for key in keys]
    snapshots.rest()
    return [None if one is None else float(one[0].block(("loss",)).value[0, -1]) for one in found]


def save(snapshots: Snapshots, keys: list[str], value: float) -> None:
    assert [snapshots.save(key, state(value), together=True) for key in keys] == [None] * len(keys)
    assert snapshots.flush()


def records(place: str) -> list[Path]:
    return sorted(Path(place).glob("*/*/*.val"))


def test_many_small_runs_are_one_record_and_come_back(place: str) -> None:
    keys = [f"k{number}" for number in range(40)]
    first = opened(place)
    for number, key in enumerate(keys):
        assert first.save(key, state(number), together=True) is None
    assert values(first, keys) == [None] * 40, "nothing is written yet"
    assert first.flush()
    assert values(first, keys) == list(range(40))
    first.rest()
    assert values(first, keys[:3]) == [0, 1, 2]
    first.close()
    assert len(records(place)) == 1
    assert values(opened(place), [*keys, "other"]) == [*range(40), None]


def test_few_and_large_runs_have_records_of_their_own(place: str) -> None:
    first = opened(place)
    save(first, ["a", "b"], 1.0)
    assert first.save("large", state(2.0, packs.SMALL // 8), together=True) is True
    first.close()
    assert len(records(place)) == 3
    assert values(opened(place), ["a", "b", "large"]) == [1.0, 1.0, 2.0]


def test_what_was_saved_last_counts(place: str) -> None:
    keys = [f"k{number}" for number in range(10)]
    for value in (1.0, 2.0):
        snapshots = opened(place)
        save(snapshots, keys, value)
        snapshots.close()
    snapshots = opened(place)
    assert len(records(place)) == 1, "the pack of which nothing counts any more is deleted"
    assert snapshots.save("k3", state(3.0), together=False) is True
    assert values(snapshots, ["k2", "k3"]) == [2.0, 3.0]
    assert snapshots.save("k3", state(4.0), together=True) is True, "it has a record of its own"
    assert snapshots.save("new", state(5.0), together=True) is None
    assert snapshots.save("new", state(6.0), together=False) is None, "the one that waits is replaced"
    assert snapshots.flush()
    snapshots.close()
    assert values(opened(place), ["k2", "k3", "new"]) == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("days", [-1, 1, -400])
def test_what_was_saved_last_counts_whatever_the_clock_says(place: str, days: int, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [f"k{number}" for number in range(10)]
    now = time.time_ns()
    for value, moment in ((1.0, now), (2.0, now + days * 86_400 * 10**9), (3.0, now)):
        monkeypatch.setattr(time, "time_ns", lambda moment=moment: moment)
        snapshots = opened(place)
        save(snapshots, keys, value)
        snapshots.close()
    assert values(opened(place), keys) == [3.0] * 10
    assert len(records(place)) == 1


def test_a_pack_is_full_by_bytes_or_by_time(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots = opened(place)
    snapshots.save("a", state(1.0), together=True)
    assert not snapshots.full
    monkeypatch.setattr(packs, "MOST_BYTES", 10)
    assert snapshots.full
    monkeypatch.undo()
    monkeypatch.setattr(packs, "MOST_SECONDS", 0.0)
    assert snapshots.full


@some_or_every
def test_damage_loses_runs_and_never_gives_wrong_ones(place: str, every: bool) -> None:
    keys = [f"k{number}" for number in range(20)]
    snapshots = opened(place)
    for number, key in enumerate(keys):
        snapshots.save(key, state(number), together=True)
    snapshots.flush()
    snapshots.close()
    (file,) = records(place)
    data = file.read_bytes()
    for at in range(0, len(data), 13 if every else 101):
        file.write_bytes(data[:at] + bytes((data[at] ^ 0x41,)) + data[at + 1 :])
        found = values(opened(place), keys)
        assert all(value in (None, number) for number, value in enumerate(found))
        assert records(place) == [file] or found == [None] * 20
        if not records(place):  # a damaged table: nothing of the pack counts
            snapshots = opened(place)
            for number, key in enumerate(keys):
                snapshots.save(key, state(number), together=True)
            snapshots.flush()
            snapshots.close()
            (file,) = records(place)
            data = file.read_bytes()
    for size in range(0, len(data), 29 if every else 211):
        file.write_bytes(data[:size])
        assert all(value in (None, number) for number, value in enumerate(values(opened(place), keys)))
        if not records(place):
            return


def test_a_pack_that_cannot_be_written_fails_as_one(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index(place)
    snapshots = Snapshots(index)
    OPEN.append(snapshots)
    keys = [f"k{number}" for number in range(10)]
    for key in keys:
        snapshots.save(key, state(1.0), together=True)
    monkeypatch.setattr(Index, "write", lambda *_: False)
    assert not snapshots.flush()
    assert values(snapshots, keys) == [None] * 10
    monkeypatch.undo()
    save(snapshots, keys, 2.0)
    assert values(snapshots, keys) == [2.0] * 10
    assert all(key.startswith(NAME) for key in index.keys())  # noqa: SIM118  a method of Index
