"""Holes and damage at the end of a file: reading keeps to its limits and says what is missing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from parsers.events.mindspore import MINDSPORE
from parsers.files import RegularFile
from parsers.model import Batch, Cursor
from tests.parsers.events.damaged_files import header, reports, write
from tests.parsers.events.event_reference import read_points


@contextmanager
def bytes_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The number of bytes of every read of a file."""
    read: list[int] = []
    fill = RegularFile.fill

    def counting(self: RegularFile, into: memoryview, offset: int) -> int:
        read.append(fill(self, into, offset))
        return read[-1]

    with monkeypatch.context() as patched:
        patched.setattr(RegularFile, "fill", counting)
        yield read


def with_a_hole(path: Path, size: int) -> bytes:
    content = write(path, "mindspore", 50)
    with path.open("r+b") as file:
        file.seek(len(content) + size)
        file.write(content)
    return content


@pytest.mark.skipif(not hasattr(os, "SEEK_DATA"), reason="this system does not know holes")
def test_a_hole_is_skipped_without_reading_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = with_a_hole(tmp_path / "file", 10 << 30)
    with bytes_read(monkeypatch) as read:
        batch = MINDSPORE.read(str(tmp_path / "file"))
    assert sum(read) < 4 << 20
    assert len(read_points(batch)) == 100
    (problem,) = batch.problems
    assert (problem.kind, problem.offset, problem.length) == ("bad_length", len(content), 10 << 30)


@pytest.mark.parametrize("fill", ["zeros", "random", "int64"])
def test_the_search_after_damage_keeps_to_the_limit_and_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fill: str
) -> None:
    limit, size = 1 << 20, 12 << 20
    monkeypatch.delattr(os, "SEEK_DATA", raising=False)
    rng = np.random.default_rng(0)
    gap = {"zeros": bytes(size), "random": rng.bytes(size), "int64": rng.integers(1, 200, size // 8).tobytes()}[fill]
    content = write(tmp_path / "file", "mindspore", 50)
    (tmp_path / "file").write_bytes(content + gap + content)
    cursor: Cursor | None = None
    batches: list[Batch] = []
    searches: list[int] = []
    while not batches or batches[-1].more:
        with bytes_read(monkeypatch) as read:
            batches.append(MINDSPORE.read(str(tmp_path / "file"), cursor, limit))
        assert sum(read) <= limit + (2 << 20)
        cursor = batches[-1].cursor
        searches += [cursor.search.at] if cursor.search else []
    assert len(batches) >= size // (limit + (2 << 20))
    assert searches == sorted(set(searches))
    assert len(searches) > 2
    assert len(read_points(*batches)) == 100
    found = [(problem.kind, problem.offset, problem.length) for batch in batches for problem in batch.problems]
    assert found == [("bad_length", len(content), size)]
    assert sum(batch.bytes_read for batch in batches) == 2 * len(content) + size


def test_the_search_for_the_end_of_a_false_claim_keeps_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit, size = 1 << 20, 6 << 20
    monkeypatch.delattr(os, "SEEK_DATA", raising=False)
    content = write(tmp_path / "file", "mindspore", 50)
    (tmp_path / "file").write_bytes(content + header(1 << 30) + bytes(size) + content)
    cursor: Cursor | None = None
    batches: list[Batch] = []
    while not batches or batches[-1].more:
        with bytes_read(monkeypatch) as read:
            batches.append(MINDSPORE.read(str(tmp_path / "file"), cursor, limit))
        assert sum(read) <= limit + (2 << 20)
        assert len(batches) < 20
        cursor = batches[-1].cursor
    assert len(batches) > 2
    assert len(read_points(*batches)) == 100
    found = [(problem.kind, problem.offset, problem.length) for batch in batches for problem in batch.problems]
    assert found == [("bad_length", len(content), size + 12)]


def test_a_file_that_ends_in_damage_reports_nothing_more_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    content = write(path, "mindspore", 50)
    path.write_bytes(content + bytes(5000))
    first = MINDSPORE.read(str(path))
    assert reports(first) == {"bad_length"}
    assert first.tail is None
    os.utime(path)
    again = MINDSPORE.read(str(path), first.cursor)
    assert (list(again.problems), again.tail) == ([], None)
    path.write_bytes(content + bytes(5000) + content)
    rest = MINDSPORE.read(str(path), again.cursor)
    assert len(read_points(first, again, rest)) == 100
    assert sum(problem.length for batch in (first, rest) for problem in batch.problems) == 5000
