"""The store: finds, reads in the order of what is on screen, follows, and starts again from the index."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from app.store.runs.following import RunFollower, seconds_between
from app.store.runs.index import PlainDisk
from app.store.store import Store
from parsers import Run, discover, open_run
from parsers.discovery.scanner import Scanner
from parsers.files import RegularFile
from parsers.recording import EventWriter
from tests.recorded import RECORDED
from tests.waiting import until


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A writable copy of two real runs and a job."""
    for name in ("several_files", "long_history", "ranks"):
        shutil.copytree(RECORDED / name, tmp_path / "runs" / name)
    return tmp_path / "runs"


@pytest.fixture
def store(base: Path) -> Iterator[Store]:
    made = Store([base], interval=0.05).start()
    assert made.wait(20)
    yield made
    made.stop()


def test_every_run_is_a_row_newest_first(store: Store, base: Path) -> None:
    rows = {row.key: row for row in store.runs.rows()}
    assert set(rows) == {"several_files", "long_history", "ranks"}
    assert rows["ranks"].members == ("ranks/rank_2", "ranks/rank_3")
    assert [row.updated for row in store.runs.rows()] == sorted((row.updated for row in store.runs.rows()), reverse=True)
    for name in ("several_files", "long_history"):
        run = open_run(base / name)
        row = rows[name]
        assert row.points == len(run.scalars)
        assert row.steps == run.scalars_view().frame.groupby("tag", observed=True)["step"].nunique().max()
        assert row.tags["scalar"] == len(run.tags("scalar"))
        assert row.main_tag == {"several_files": "loss", "long_history": "eval/accuracy"}[name]
        assert row.main_value == run.series(row.main_tag).value[-1]
        assert row.size == sum(file.stat().st_size for file in (base / name).iterdir())
    status = store.runs.status()
    assert (status.total, status.loaded, status.problems) == (3, 3, 0)


def test_series_are_those_of_the_run(store: Store, base: Path) -> None:
    found, wanted = store.curves.recorded("long_history", "loss"), open_run(base / "long_history").series("loss")
    assert found is not None
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))
    kept = open_run(base / "long_history").scalars_view().frame.query("tag == 'loss'")
    shown = store.curves.series("long_history", "loss")
    assert shown is not None
    assert shown.step.tolist() == kept["step"].tolist()
    assert shown.value.tolist() == kept["value"].tolist()
    assert store.curves.series("long_history", "no such tag") is None
    assert store.curves.series("../long_history", "loss") is None
    assert store.runs.tags("no such run") == ()
    assert store.runs.version("no such run") == 0


def test_an_idle_store_changes_nothing(store: Store) -> None:
    version = store.runs.status().version
    read_at = store.runs.status().read_at
    until(lambda: store.runs.status().read_at != read_at)
    assert store.runs.status().version == version


def test_new_points_runs_and_losses_appear(store: Store, base: Path) -> None:
    path = max((base / "several_files").glob("*_MS"))
    data = path.read_bytes()
    before, version = len(store.curves.series("several_files", "loss").step), store.runs.version("several_files")  # type: ignore[union-attr]
    other = store.runs.version("long_history")
    path.write_bytes(data + data[-200:])  # an append, whatever is in it
    until(lambda: store.runs.version("several_files") != version)
    assert len(store.curves.series("several_files", "loss").step) >= before  # type: ignore[union-attr]
    assert store.runs.version("long_history") == other

    shutil.copytree(RECORDED / "nan_inf", base / "fresh")
    until(lambda: bool(store.runs.tags("fresh")))
    shutil.rmtree(base / "fresh")
    until(lambda: "fresh" not in [row.key for row in store.runs.rows()])


@pytest.mark.parametrize("begun", [False, True], ids=["before", "after"])
def test_a_function_is_called_once_when_all_runs_are_read(base: Path, begun: bool) -> None:
    store = Store([base], interval=0.05)
    called: list[tuple[str, ...]] = []
    note = threading.Event()

    def read() -> None:
        called.append(tuple(row.state for row in store.follower.rows))
        note.set()

    if begun:
        assert store.start().wait(20)
    store.when_read(read)
    store.start()
    try:
        assert note.wait(20)
        (base / "new").mkdir()
        shutil.copy(next((base / "several_files").iterdir()), base / "new")
        until(lambda: "new" in {row.key for row in store.runs.rows()})
        assert [len(states) for states in called] == [3]
        assert not {"waiting", "loading"}.intersection(called[0])
    finally:
        store.stop()


def test_a_base_that_is_not_there_is_a_problem_until_it_is(tmp_path: Path) -> None:
    store = Store([tmp_path / "later"], interval=0.05).start()
    try:
        until(lambda: store.runs.status().problems == 1)
        assert "later" in store.runs.problems()[0][1].text
        shutil.copytree(RECORDED / "several_files", tmp_path / "later" / "run")
        until(lambda: bool(store.runs.tags("run")))
        assert store.runs.status().problems == 0
    finally:
        store.stop()


def test_a_base_that_goes_is_missing_until_it_is_back(base: Path) -> None:
    store = Store([base], interval=0.05).start()
    try:
        assert store.wait(20)
        assert store.runs.status().health == "ok"
        version = store.runs.status().version
        base.rename(base.parent / "elsewhere")
        until(lambda: store.runs.status().health == "missing")
        assert store.runs.status().version > version
        base.mkdir()
        version = store.runs.status().version
        until(lambda: store.runs.status().health == "ok")
        assert store.runs.status().version > version, "there is a problem less, though still no run"
    finally:
        store.stop()


def test_a_store_whose_thread_hangs_is_stale(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a network file system that does not answer."""
    store = Store([base], interval=0.1).start()
    hang = threading.Event()
    try:
        assert store.wait(20)
        assert store.runs.status().health == "ok"
        scan = Scanner.scan
        monkeypatch.setattr(Scanner, "scan", lambda self: hang.wait(20) and scan(self))
        until(lambda: store.runs.status().health == "stale")
        assert store.runs.status().age > 0.5
        hang.set()
        until(lambda: store.runs.status().health == "ok")
    finally:
        hang.set()
        store.stop()


def test_a_first_scan_that_never_ends_is_stale(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hang = threading.Event()
    monkeypatch.setattr(Scanner, "scan", lambda _: hang.wait(20) and [])
    store = Store([base], interval=0.05).start()
    try:
        until(lambda: store.runs.status().health == "stale")
        assert store.runs.status().read_at is None
    finally:
        hang.set()
        store.stop()


def test_several_directories_have_the_names_that_their_runs_begin_with(base: Path) -> None:
    store = Store([base / "long_history", base / "ranks"], names={str(base / "ranks"): "job"}, interval=0.05).start()
    try:
        assert store.wait(20)
        assert store.runs.status().names == ("long_history", "job")
        assert {row.key.split("/")[0] for row in store.runs.rows()} == {"long_history", "job"}
    finally:
        store.stop()
    assert Store([base]).runs.status().names == ()


def test_a_store_that_looks_once_is_never_stale(base: Path) -> None:
    store = Store([base], interval=0).start()
    try:
        assert store.wait(20)
        time.sleep(0.1)
        assert store.runs.status().health == "ok"
    finally:
        store.stop()


def test_damage_is_counted_where_it_is(base: Path) -> None:
    path = base / "long_history" / next(iter(os.listdir(base / "long_history")))
    data = bytearray(path.read_bytes())
    data[20_000] ^= 0xFF
    path.write_bytes(bytes(data))
    store = Store([base]).start()
    try:
        assert store.wait(20)
        assert {row.key: row.problems > 0 for row in store.runs.rows()}["long_history"]
        assert {key for key, _ in store.runs.problems()} == {"long_history"}
        assert store.runs.problems("several_files") == []
        assert len(store.curves.recorded("long_history", "loss").step) > 6000  # type: ignore[union-attr]
    finally:
        store.stop()


def test_a_file_cut_within_a_record_is_a_problem_until_the_rest_arrives(store: Store, base: Path) -> None:
    (path,) = (base / "long_history").glob("*_MS")
    whole = path.read_bytes()

    def problems() -> list[str]:
        (row,) = [row for row in store.runs.rows() if row.key == "long_history"]
        found = [problem.kind for _, problem in store.runs.problems("long_history")]
        return found if row.problems == len(found) else ["the row says something else"]

    os.truncate(path, 300_007)
    until(lambda: problems() == ["replaced"])  # it was cut while it was followed
    old = time.time() - 301
    os.utime(path, (old, old))
    until(lambda: problems() == ["replaced", "truncated"])
    with path.open("ab") as file:
        file.write(whole[300_007:])
    until(lambda: problems() == ["replaced"])
    found, wanted = store.curves.recorded("long_history", "loss"), open_run(RECORDED / "long_history").series("loss")
    assert found is not None
    assert wanted is not None
    assert len(found.step) == len(wanted.step)


def test_a_file_that_has_stopped_growing_becomes_a_problem_without_a_change_on_disk(
    store: Store, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parsers.file_states.IDLE_SECONDS", 1.0)
    (path,) = (base / "long_history").glob("*_MS")
    os.truncate(path, 300_007)
    until(lambda: [problem.kind for _, problem in store.runs.problems("long_history")] == ["replaced"])
    until(lambda: store.runs.status().problems == 2)


def test_runs_of_one_slice_do_not_wait_for_a_long_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The long run is on screen; the others are read between its slices."""
    monkeypatch.setattr("app.store.runs.following.SLICE_BYTES", 20_000)
    names = ["a_long", "b", "c"]
    for name, recorded in zip(names, ("long_history", "several_files", "several_files"), strict=True):
        shutil.copytree(RECORDED / recorded, tmp_path / name)
    follower = RunFollower([tmp_path], (), 0, None)
    follower.want(["a_long"])
    follower._scan()
    order = []
    while (entry := follower._next_due()) is not None:
        order.append(entry.key)
        follower._try(entry)
    assert order[0] == "a_long"
    assert {"b", "c"} <= set(order[:5])
    assert order.count("a_long") >= 4


def test_a_file_without_bytes_is_a_training_that_just_began(base: Path) -> None:
    begun = base / "just_begun" / "events.out.events.summary.1700000000.host_MS"
    begun.parent.mkdir()
    begun.touch()
    made = Store([base], interval=0.05).start()
    try:
        assert made.wait(20)
        row = next(row for row in made.runs.rows() if row.key == "just_begun")
        assert (row.state, row.problems) == ("empty", 1)
        assert made.runs.status().loaded == made.runs.status().total
        begun.write_bytes(b"no event at all")
        until(lambda: next(row for row in made.runs.rows() if row.key == "just_begun").state == "unreadable")
    finally:
        made.stop()


def test_what_is_on_screen_is_read_first(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    gate = threading.Event()
    original = RunFollower._read

    def watched(self: RunFollower, entry: object) -> None:
        if not order:
            gate.wait(10)
        order.append(entry.key)  # type: ignore[attr-defined]
        original(self, entry)  # type: ignore[arg-type]

    monkeypatch.setattr(RunFollower, "_read", watched)
    store = Store([base]).start()
    try:
        until(lambda: len(store.runs.rows()) == 3)
        oldest = store.runs.rows()[-1].members[0]
        store.runs.want([oldest])
        gate.set()
        assert store.wait(20)
        assert oldest in order[:2], "the first may have been chosen before it was wanted"
    finally:
        gate.set()
        store.stop()


def test_several_bases_and_given_sources(base: Path, tmp_path: Path) -> None:
    shutil.copytree(RECORDED / "nan_inf", tmp_path / "other" / "nan_inf")
    store = Store([base, tmp_path / "other"], sources=discover(RECORDED / "many_tags")).start()
    try:
        assert store.wait(20)
        keys = {row.key for row in store.runs.rows()}
        assert {"runs/long_history", "other/nan_inf", "runs/ranks"} <= keys
        assert len(keys) == 5
        assert all(store.runs.tags(member) for row in store.runs.rows() for member in row.members)
    finally:
        store.stop()


def test_a_second_start_reads_only_new_bytes(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = str(tmp_path / "index")

    def start() -> Store:
        store = Store([base], index_directory=index).start()
        assert store.wait(20)
        store.stop()
        return store

    first = start()
    path = max((base / "several_files").glob("*_MS"))
    data = path.read_bytes()
    read: list[str] = []
    original = os.open
    monkeypatch.setattr(os, "open", lambda name, *rest, **more: read.append(str(name)) or original(name, *rest, **more))
    second = start()
    assert not [name for name in read if "summary." in os.path.basename(name)], "an unchanged file is not even opened"
    for row in first.runs.rows():
        for member in row.members:
            for tag in first.runs.tags(member):
                a, b = first.curves.series(member, tag), second.curves.series(member, tag)
                assert a is not None
                assert b is not None
                assert all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b, strict=True))
    one, two = first.runs.rows(), second.runs.rows()
    assert one == two or [row.points for row in one] == [row.points for row in two]
    path.write_bytes(data + data[:0] + (RECORDED / "nan_inf").joinpath(os.listdir(RECORDED / "nan_inf")[0]).read_bytes()[:4000])
    third = start()
    assert len(third.runs.tags("several_files")) > len(first.runs.tags("several_files"))


def test_an_idle_store_with_a_truncated_file_hardly_works(base: Path) -> None:
    path = next(iter((base / "long_history").iterdir()))
    path.write_bytes(path.read_bytes()[:-7])
    store = Store([base], interval=0.1).start()
    try:
        assert store.wait(20)
        begun = time.thread_time_ns(), time.process_time()
        time.sleep(1.0)
        assert time.process_time() - begun[1] < 0.15, "ten looks a second, thirty times as many as by default"
    finally:
        store.stop()


def test_nothing_is_written_below_the_base(base: Path, tmp_path: Path) -> None:
    def listing() -> dict[str, tuple[int, int]]:
        return {str(p): (p.stat().st_size, p.stat().st_mtime_ns) for p in sorted(base.rglob("*"))}

    before = listing()
    store = Store([base], index_directory=str(tmp_path / "index")).start()
    store.wait(20)
    store.stop()
    assert listing() == before


def test_one_run_that_cannot_be_read_stops_no_other(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = Run.refresh

    def faulty(self: Run, *args: object, **options: object) -> bool:
        if self.name == "long_history":
            raise KeyError("broken")
        return original(self, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Run, "refresh", faulty)
    store = Store([base], interval=0.05).start()
    try:
        assert store.wait(20)
        rows = {row.key: row for row in store.runs.rows()}
        assert rows["several_files"].points > 0
        assert (rows["long_history"].state, rows["long_history"].problems) == ("unreadable", 1)
        assert "broken" in store.runs.problems("long_history")[0][1].text
    finally:
        store.stop()


def test_a_look_that_fails_is_told_and_done_again(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store([base], interval=0.05)
    with monkeypatch.context() as broken:
        broken.setattr("parsers.discovery.scanner.Scanner.scan", lambda self: 1 / 0)
        store.start()
        until(lambda: "ZeroDivisionError" in store.runs.status().failed)
    try:
        assert store.wait(20)
        until(lambda: store.runs.status().failed == "")
        assert len(store.runs.rows()) == 3
    finally:
        store.stop()


def test_names_that_are_no_text_can_be_sent(base: Path) -> None:
    os.rename(os.fsencode(base / "long_history"), os.path.join(os.fsencode(base), b"b\xff"))
    (base / "several_files" / "broken.summary.1.h_MS").write_bytes(b"")
    os.rename(os.fsencode(base / "several_files"), os.path.join(os.fsencode(base), b"c\xff"))
    store = Store([base]).start()
    try:
        assert store.wait(20)
        orjson.dumps([asdict(row) for row in store.runs.rows()])
        orjson.dumps([asdict(problem) for _, problem in store.runs.problems()])
        assert store.runs.status().loaded == 3
    finally:
        store.stop()


def test_runs_that_come_and_go_while_pages_ask(base: Path) -> None:
    store = Store([base])
    everything = {source.name: source for source in discover(base)}
    faults: list[Exception] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            try:
                store.runs.problems()
                store.runs.verified()
                store.runs.status()
            except Exception as error:
                faults.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    for number in range(300):
        store.follower._take(everything if number % 2 else {}, ())
    done.set()
    asking.join()
    assert faults == []


def test_given_sources_are_followed_too(base: Path) -> None:
    path = max((base / "several_files").glob("*_MS"))
    data = path.read_bytes()
    path.write_bytes(data[:5000])
    store = Store(sources=discover(base), interval=0.05).start()
    try:
        assert store.wait(20)
        before = sum(row.points for row in store.runs.rows())
        path.write_bytes(data)
        until(lambda: sum(row.points for row in store.runs.rows()) > before)
    finally:
        store.stop()


def test_collected_checkpoints_are_a_kind_of_a_run_as_soon_as_they_are_there(store: Store, base: Path) -> None:
    def kinds() -> dict[str, int]:
        return dict(next(row for row in store.runs.rows() if row.key == "several_files").tags)

    assert "checkpoints" not in kinds()
    (base / "several_files" / "ckpt_dir").mkdir()
    (base / "several_files" / "ckpt_dir" / "train_metadata.json").write_text("{}")
    until(lambda: kinds().get("checkpoints") == 1)
    assert kinds()["scalar"] == 4
    shutil.rmtree(base / "several_files" / "ckpt_dir")
    until(lambda: "checkpoints" not in kinds())


@pytest.mark.parametrize("interval", [0.5, 3.0, 60.0])
def test_a_page_sees_what_is_new_within_one_interval(interval: float) -> None:
    assert seconds_between(interval, asked=interval) <= interval / 2
    assert seconds_between(interval, asked=10 * interval) == interval
    assert seconds_between(interval, asked=float("inf")) == interval


def test_a_look_comes_before_the_interval_is_over_while_somebody_asks(tmp_path, monkeypatch) -> None:
    looks: list[float] = []
    store = Store([tmp_path], interval=4.0)
    look = store.follower._scan
    monkeypatch.setattr(store.follower, "_scan", lambda: (looks.append(time.monotonic()), look())[1])
    store.runs.status()
    store.start()
    try:
        until(lambda: len(looks) == 2, 20)
    finally:
        store.stop()
    assert 1.99 <= looks[1] - looks[0] < 3.9, "after half of it, whatever else the machine does"


def test_what_a_full_disk_did_not_take_is_saved_later(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.store.runs.keeping.INDEX_SECONDS", 0.05)
    full, write = True, PlainDisk._write

    def writing(self: PlainDisk, *arguments: Any) -> Any:
        if full:
            raise OSError(28, "No space left on device")
        return write(self, *arguments)

    monkeypatch.setattr(PlainDisk, "_write", writing)
    store = Store([base], interval=0.05, index_directory=str(tmp_path / "index")).start()
    try:
        assert store.wait(20)
        assert not list((tmp_path / "index").glob("*/*/*.val"))
        full = False
        until(lambda: len(list((tmp_path / "index").glob("*/*/*.val"))) >= 4)
        assert store.runs.status().health == "ok"
    finally:
        store.stop()


@pytest.mark.parametrize("stay_inside", [False, True])
def test_a_file_that_becomes_a_link_out_of_the_base_after_it_was_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stay_inside: bool
) -> None:
    monkeypatch.setitem(os.environ, "_MINDSCOPE_BELOW", "")
    name = "events.out.tfevents.1700000000.h"
    for place in ("base", "outside"):
        (tmp_path / place).mkdir()
        with EventWriter(str(tmp_path / place / name), "tensorboard") as writer:
            writer.add(1, {place: 0.5})
    store = Store([tmp_path / "base"], stay_inside=stay_inside)
    (tmp_path / "base" / name).unlink()
    (tmp_path / "base" / name).symlink_to(tmp_path / "outside" / name)
    if stay_inside:
        with pytest.raises(OSError, match="a link leads out of the directory of runs"):
            RegularFile(str(tmp_path / "base" / name))
    else:
        with RegularFile(str(tmp_path / "base" / name)) as file:
            assert file.size
    store.stop()
