"""Rows of the index: the same as after reading, without reading; gone with the least change of what they were made of."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.store.lineage.source import StoredLineage
from app.store.runs import kept_rows
from app.store.runs.entries import RunEntry
from app.store.runs.following import RunFollower
from app.store.runs.index import Index
from app.store.runs.kept_rows import MOST_RECORDS, NAME, KeptRows, is_plain, mark_of
from app.store.runs.packs import Snapshots
from parsers import discover, open_run
from parsers.headers import Format
from parsers.runs import Run
from tests.recorded import RECORDED

PLAIN = ("several_files", "long_history", "many_tags", "lenet_adam_lr0.01_b64", "lenet_sink_mode")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in (*PLAIN, "ranks", "nan_inf"):
        shutil.copytree(RECORDED / name, tmp_path / "runs" / name)
    return tmp_path / "runs"


@contextmanager
def following(base: Path, index: Path | None) -> Iterator[RunFollower]:
    follower = RunFollower([base], (), 0, str(index) if index else None)
    follower.start()
    try:
        assert follower.wait(60)
        yield follower
    finally:
        follower.stop()
        follower.join()


@pytest.fixture
def index(base: Path, tmp_path: Path) -> Path:
    """An index that has seen all runs, their large values verified."""
    with following(base, tmp_path / "index") as first:
        for entry in first.entries.values():
            while entry.run.verify():
                pass
            first.checked(entry)
        first.refresh()
        end = threading.Event()
        while any(entry.verified[0] < entry.verified[1] for entry in first.entries.values()):
            end.wait(0.01)
    return tmp_path / "index"


def asleep(follower: RunFollower) -> set[str]:
    return {entry.key for entry in follower.entries.values() if entry.awake is None}


def test_rows_are_those_of_reading_and_no_run_is_restored(base: Path, index: Path) -> None:
    with following(base, None) as read, following(base, index) as again:
        assert [replace(row, version=0) for row in again.rows] == [replace(row, version=0) for row in read.rows]
        assert asleep(again) >= {"several_files", "long_history", "many_tags", "nan_inf"}
        for key in read.entries:
            one, other = again.entries[key], read.entries[key]
            assert (one.counts, one.verified, one.loaded, one.due) == (other.counts, other.verified, True, False)


def test_a_run_is_there_once_it_is_asked_for(base: Path, index: Path) -> None:
    with following(base, index) as again:
        entry = again.entries["long_history"]
        row = entry.row
        assert entry.awake is None
        assert entry.run.scalars.equals(open_run(base / "long_history").scalars)
        assert entry.awake is entry.run
        assert (entry.version, entry.row) == (row.version, row), "nothing that pages show has changed"


def test_threads_that_ask_at_once_get_the_same_run(base: Path, index: Path) -> None:
    with following(base, index) as again:
        entry, found = again.entries["many_tags"], list[Run]()
        together = threading.Barrier(8)

        def ask() -> None:
            together.wait()
            found.append(entry.run)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8
        assert len(set(map(id, found))) == 1
        assert found[0].tags() == open_run(base / "many_tags").tags()


def _grow(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data + data[-200:])


def _touch(file: Path) -> None:
    os.utime(file, (1, file.stat().st_mtime + 1))


def _replace(file: Path) -> None:
    status, other = file.stat(), file.with_name("other")
    other.write_bytes(file.read_bytes())
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(file)


def _add(file: Path) -> None:
    shutil.copy(file, file.with_name(file.name.replace("summary.1", "summary.2")))


def _add_settings(file: Path) -> None:
    file.with_name("config.yaml").write_text("lr: 0.1\n")


@pytest.mark.parametrize("change", [_grow, _touch, _replace, _add, _add_settings])
def test_a_changed_run_is_read(base: Path, index: Path, change: Callable[[Path], None]) -> None:
    change(next(file for file in sorted((base / "long_history").iterdir()) if "summary" in file.name))
    with following(base, index) as again, following(base, None) as read:
        assert "long_history" not in asleep(again)
        assert "several_files" in asleep(again)
        found, wanted = ([replace(row, version=0) for row in one.rows] for one in (again, read))
        if change is _replace:  # only whoever knew the file before can tell
            assert [row.problems for row in found if row.key == "long_history"] == [1]
            found = [replace(row, problems=0) if row.key == "long_history" else row for row in found]
        assert found == wanted


def test_what_the_index_has_lost_is_read_from_the_files(base: Path, index: Path) -> None:
    opened = Index(str(index))
    for key in opened.keys():  # noqa: SIM118 - no mapping
        if not key.startswith(NAME):
            opened.delete(key)
    opened.close()
    with following(base, index) as again:
        assert "several_files" in asleep(again)
        for key in ("several_files", "long_history"):
            assert again.entries[key].run.scalars.equals(open_run(base / key).scalars)


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:30] + b"\xff" + data[31:], lambda _: b""])
def test_damaged_rows_cost_a_restoration_and_no_more(
    base: Path, index: Path, damage: Callable[[bytes], bytes]
) -> None:
    opened = Index(str(index))
    for key in [key for key in opened.keys() if key.startswith(NAME)]:  # noqa: SIM118 - no mapping
        data = opened.read(key)
        assert data
        assert opened.write(key, [damage(data)])
    opened.close()
    with following(base, index) as again, following(base, None) as read:
        assert not asleep(again)
        assert [replace(row, version=0) for row in again.rows] == [replace(row, version=0) for row in read.rows]


def test_rows_of_another_version_are_unknown(base: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rows, "FORMAT", Format("rows", b"MSRW\0\0\0", kept_rows.FORMAT.version + 1))
    with following(base, index) as again:
        assert not asleep(again)


def test_damage_settings_and_ranks_beside_are_never_left_to_a_row(base: Path, tmp_path: Path) -> None:
    file = next(file for file in sorted((base / "several_files").iterdir()) if "summary" in file.name)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    _add_settings(base / "long_history" / "anything")
    for _ in range(2):
        with following(base, tmp_path / "fresh") as again:
            assert again.entries["several_files"].counts[0] > 0
            assert not {"several_files", "long_history"} & asleep(again)
    job = next(source for source in discover(base) if source.name == "ranks")
    assert not is_plain(job)
    assert all(map(is_plain, job.ranks))


def test_many_records_of_rows_become_one_without_those_of_forgotten_runs(base: Path, tmp_path: Path) -> None:
    index = Index(str(tmp_path / "joined"))
    snapshots = Snapshots(index)
    rows = KeptRows(index, snapshots)
    with following(base, None) as read:
        entry = read.entries["several_files"]
        assert snapshots.save("known", list(entry.run.states.values()), together=False)
        for number in range(MOST_RECORDS + 1):
            rows.keep("known" if number == 3 else f"gone{number}", entry.source, entry.run, entry.row)
            rows.write(force=True)
        assert len([key for key in index.keys() if key.startswith(NAME)]) == 1  # noqa: SIM118 - no mapping
        again = KeptRows(index, snapshots)
        found = again.find("known", entry.source)
        assert found is not None
        assert replace(found.row(entry.key, entry.source), version=entry.row.version) == entry.row
        assert again.find("gone1", entry.source) is None
        moved = replace(entry.source, files=tuple(replace(file, inode=file.inode + 1) for file in entry.source.files))
        assert again.find("known", moved) is None
        assert mark_of(moved) != mark_of(entry.source)
    index.close()


def test_a_row_that_does_not_fit_its_run_is_corrected(base: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[RunEntry] = []
    monkeypatch.setattr(RunFollower, "_woken", lambda _, entry: told.append(entry))
    with following(base, index) as again:
        entry = again.entries["several_files"]
        entry.row = replace(entry.row, version=entry.row.version + 1)
        assert entry.run
        assert told == [entry]


def test_lineage_asks_only_for_runs_that_have_settings(base: Path, index: Path) -> None:
    with following(base, index) as again:
        before = asleep(again)
        rows = StoredLineage(again).rows()
        assert {row.run for row in rows} >= {"lenet_adam_lr0.01_b64", "lenet_sink_mode"}
        assert asleep(again) >= before & {"many_tags", "nan_inf"}
