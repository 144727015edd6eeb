"""The index keeps what it is given, runs nothing it finds, and is thrown away when damaged."""

from __future__ import annotations

import errno
import os
import pickle
import resource
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import diskcache
import numpy as np
import pytest

from app.store.runs.index import Index, PlainDisk, Rejected
from parsers import FormatError, Problem
from parsers.file_states import FileState
from parsers.model import Cursor, PayloadBlock, ScalarBlock, Search, SourceFile
from parsers.snapshot import dump, load

RAN = Path("ran-by-pickle")


class Bomb:
    """Unpickling this makes a file."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return (Path.touch, (RAN,))


def states(rows: int = 50) -> list[FileState]:
    step = np.arange(rows, dtype=np.int64)
    wall = step / 4 + 1.7e9
    value = np.stack([np.sqrt(step), np.full(rows, np.nan)])
    big = PayloadBlock("image", "in/put", step[:3], wall[:3], step[:3], step[:3] * 7, step[:3] + 1, step[:3] == 1, "images")
    return [
        FileState(
            SourceFile("/data/a b/损失.summary.1.h_MS", "events", 1234, 1e9, 1, 2, 3),
            "mindspore",
            Cursor(1200, 2, 3, 1234, 77, search=Search(1190, 1210, "detail", 1205)),
            (Problem("/data/x", 5, 6, "bad_data", "text"),),
            rows, 1200, 34, False, 1.7e9,
            {("loss", "acc"): [ScalarBlock(("loss", "acc"), step, wall, step * 20, value)]},
            {("image", "in/put"): [big]},
            Problem("/data/x", 1200, 34, "truncated", "text"),
        )
    ]  # fmt: skip


def equal(a: FileState, b: FileState) -> bool:
    plain = ("file", "reader", "cursor", "problems", "records", "bytes_read", "pending", "started", "tail")
    same = all(getattr(a, name) == getattr(b, name) for name in plain)
    for tags in a.scalars:
        x, y = a.block(tags), b.block(tags)
        columns = ("step", "wall_time", "order", "value")
        same &= all(np.array_equal(getattr(x, n), getattr(y, n), equal_nan=True) for n in columns)
    for key, blocks in a.payloads.items():
        for x, y in zip(blocks, b.payloads[key], strict=True):
            names = ("step", "wall_time", "order", "offset", "length", "verified")
            same &= all(np.array_equal(getattr(x, n), getattr(y, n)) for n in names) and x.plugin == y.plugin
    return same and a.scalars.keys() == b.scalars.keys() and a.payloads.keys() == b.payloads.keys()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    monkeypatch.chdir(tmp_path)
    made = Index(str(tmp_path / "index"))
    yield made
    made.close()


def test_a_snapshot_is_what_was_dumped() -> None:
    parts = dump(states())
    assert parts is not None
    assert equal(load(b"".join(parts))[0], states()[0])


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_a_damaged_snapshot_is_refused_whatever_byte_is_wrong(rows: int) -> None:
    data = b"".join(dump(states(max(rows, 3))) or [])
    for place in range(0, len(data), 7):
        broken = bytearray(data)
        broken[place] ^= 0x41
        try:
            found = load(bytes(broken))
        except FormatError:
            continue
        assert equal(found[0], states(max(rows, 3))[0])  # a padding byte: nothing depends on it
    for size in range(0, len(data), 11):
        with pytest.raises(FormatError):
            load(data[:size])


def test_a_path_that_is_no_text_is_not_kept() -> None:
    (state,) = states()
    state.file = SourceFile("/data/\udcff", "events", 1, 1.0, None, 1, 1)
    assert dump([state]) is None


def test_keeps_and_gives_back_also_to_a_later_process(index: Index) -> None:
    assert index.load("k") is None
    index.save("k", states())
    index.save("other", states(7))
    index.close()
    again = Index(index.directory)
    found = again.load("k")
    assert found is not None
    assert equal(found[0], states()[0])
    again.close()


def test_private(index: Index) -> None:
    assert os.stat(index.directory).st_mode & 0o777 == 0o700


def test_a_directory_others_could_write_to_is_emptied(index: Index) -> None:
    index.save("k", states())
    index.close()
    os.chmod(index.directory, 0o777)
    again = Index(index.directory)
    assert again.load("k") is None
    assert os.stat(index.directory).st_mode & 0o777 == 0o700
    again.close()


@pytest.mark.parametrize("column", ["key", "value", "file"])
def test_a_planted_pickle_is_not_run(index: Index, column: str) -> None:
    index.save("k", states())
    index.close()
    bomb = pickle.dumps(Bomb())
    with sqlite3.connect(os.path.join(index.directory, "cache.db")) as table:
        if column == "key":
            table.execute("UPDATE Cache SET key = ?, raw = 0", (bomb,))
        elif column == "value":
            table.execute("UPDATE Cache SET value = ?, mode = 4, filename = NULL", (bomb,))
        else:
            ((name,),) = table.execute("SELECT filename FROM Cache").fetchall()
            (Path(index.directory) / name).write_bytes(bomb)
            table.execute("UPDATE Cache SET mode = 4")
    again = Index(index.directory)
    assert again.load("k") is None
    again.save("k", states())
    assert again.load("k") is not None, "an index that was thrown away works again"
    again.close()
    assert not RAN.exists()


def test_the_bomb_is_one() -> None:
    pickle.loads(pickle.dumps(Bomb()))
    assert RAN.exists()
    RAN.unlink()


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "aa/bb/../../../outside", "cache.db", ""])
def test_no_file_outside_is_read_or_deleted(index: Index, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"".join(dump(states()) or []))
    index.save("k", states())
    index.close()
    with sqlite3.connect(os.path.join(index.directory, "cache.db")) as table:
        table.execute("UPDATE Cache SET filename = ?", (name,))
    again = Index(index.directory)
    assert again.load("k") is None
    again.save("k", states())
    again.close()
    assert outside.exists()


def test_a_link_is_not_followed(index: Index, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"".join(dump(states()) or []))
    index.save("k", states())
    (value,) = Path(index.directory).glob("*/*/*.val")
    value.unlink()
    value.symlink_to(outside)
    assert index.load("k") is None
    assert outside.exists()


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("ask", ["load", "delete", "save"])
def test_a_link_in_place_of_a_directory_is_not_followed(index: Index, tmp_path: Path, level: int, ask: str) -> None:
    """What lies there has the name that the table has, and is a whole snapshot: it is neither read, replaced nor deleted."""
    index.save("k", states())
    (value,) = Path(index.directory).glob("*/*/*.val")
    place = value.parents[1 - level]
    shutil.copytree(place, tmp_path / "outside")
    shutil.rmtree(place)
    place.symlink_to(tmp_path / "outside")
    before = {path: path.read_bytes() for path in (tmp_path / "outside").rglob("*.val")}
    assert len(before) == 1
    if ask == "load":
        assert index.load("k") is None
    elif ask == "delete":
        index.delete("k")
    else:
        index.save("k", states(7))
    assert {path: path.read_bytes() for path in (tmp_path / "outside").rglob("*.val")} == before
    index.save("k", states())
    assert index.load("k") is not None, "an index that was thrown away works again"


def test_an_index_that_is_a_link_is_not_used(tmp_path: Path) -> None:
    made = Index(str(tmp_path / "outside"))
    made.save("k", states())
    made.close()
    (tmp_path / "index").symlink_to(tmp_path / "outside")
    with pytest.raises(PermissionError, match="expected a directory"):
        Index(str(tmp_path / "index"))


def test_the_disk_takes_strings_and_streams_only(tmp_path: Path) -> None:
    disk = PlainDisk(str(tmp_path))
    for key in (b"k", 1, 1.5, ("k",), None):
        with pytest.raises(Rejected):
            disk.put(key)
    with pytest.raises(Rejected):
        disk.store({"a": 1}, read=False)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"no database"),
        lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(5000)),
        lambda path: path.write_bytes(path.read_bytes()[:3000]),
    ],
)
def test_a_damaged_database_is_thrown_away(index: Index, damage: Any) -> None:
    index.save("k", states())
    index.close()
    damage(Path(index.directory) / "cache.db")
    again = Index(index.directory)
    again.save("k", states())
    assert again.load("k") is not None
    again.close()


@pytest.mark.parametrize(
    "row", [("disk_min_file_size", "x"), ("size_limit", "x"), ("eviction_policy", "none such"), ("cull_limit", None)]
)
def test_damaged_settings_are_survived(index: Index, row: tuple[str, Any]) -> None:
    index.close()
    with sqlite3.connect(os.path.join(index.directory, "cache.db")) as table:
        table.execute("INSERT OR REPLACE INTO Settings VALUES (?, ?)", row)
    again = Index(index.directory)
    again.save("k", states())
    assert again.load("k") is not None
    again.close()


def test_a_locked_database_does_not_hang(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.store.runs.index.LOCK_SECONDS", 0.05)
    index.close()
    holder = sqlite3.connect(os.path.join(index.directory, "cache.db"), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        other = Index(index.directory)
        other.save("k", states())
        assert other.load("k") is None
        other.close()
    finally:
        holder.rollback()
        holder.close()
    assert os.path.exists(os.path.join(index.directory, "cache.db"))


def test_the_size_limit_holds(tmp_path: Path) -> None:
    small = Index(str(tmp_path / "small"), size_limit=150_000)
    for number in range(60):
        small.save(f"k{number}", states(100))
    size = sum(path.stat().st_size for path in Path(small.directory).glob("*/*/*.val"))
    assert size < 150_000
    assert small.load("k59") is not None
    small.close()


def stored_files(index: Index) -> set[Path]:
    return set(Path(index.directory).glob("*/*/*.val"))


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can grow beyond 20,000 bytes: writing fails as on a full disk, and leaves a part of the file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_keeps_what_the_index_holds(index: Index) -> None:
    assert index.save("k", states())
    files = stored_files(index)
    with full_disk():
        assert not index.save("big", states(5_000))
        assert not index.save("k", states(5_000))
        found = index.load("k")
        assert found is not None
        assert equal(found[0], states()[0])
    assert stored_files(index) == files, "no part of a file is left"
    assert index.save("big", states(5_000))
    assert index.load("k") is not None
    assert index.load("big") is not None


def test_a_full_database_keeps_what_the_index_holds(index: Index) -> None:
    assert index.save("k", states())
    pages = index._cache._sql("PRAGMA page_count").fetchone()[0]
    index._cache._sql(f"PRAGMA max_page_count = {pages}")
    saved = [number for number in range(500) if index.save(f"{number}" * 100, states(3))]
    assert len(saved) < 500
    assert len(stored_files(index)) == len(saved) + 1
    index._cache._sql("PRAGMA max_page_count = 1000000")
    assert index.save("more", states())
    for key in ("k", "more", f"{saved[0]}" * 100):
        assert index.load(key) is not None


@pytest.mark.parametrize("text", ["database or disk is full", "disk I/O error", "unable to open database file"])
def test_an_index_that_cannot_be_opened_on_a_full_disk_is_kept(
    index: Index, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    index.save("k", states())
    index.close()

    def fail(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError(text)

    with monkeypatch.context() as patched:
        patched.setattr(diskcache, "Cache", fail)
        other = Index(index.directory)
        assert other.load("k") is None
        assert not other.save("k", states(3)), "it is to be tried again"
    assert not other.save("k", states(3)), "the time for that has not come"
    other._retry_at = 0.0
    assert other.save("more", states(3))
    assert other.load("more") is not None
    other.close()
    assert other.save("k", states(3)), "there is nothing to try again"
    again = Index(index.directory)
    found = again.load("k")
    assert found is not None
    assert equal(found[0], states()[0])
    again.close()


def test_a_full_disk_is_said_once_until_there_was_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    index = Index(str(tmp_path))

    def full(*_: Any, **_more: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    for said in (1, 2):
        with monkeypatch.context() as moment:
            moment.setattr(PlainDisk, "store", full)
            assert [index.write(key, [b"x"]) for key in "abc"] == [False] * 3
        assert caplog.text.count("No space left on device") == said
        assert index.write("d", [b"x"])
    assert index.read("d") == b"x"
    index.close()
