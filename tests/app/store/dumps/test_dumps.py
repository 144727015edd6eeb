"""Dumps of a store: listed and worked on in the background, followed while they grow, and their damage shown with the runs."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.store.dumps import open_dumps as module
from app.store.sizes import size_of
from app.store.store import Store
from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork, OpenDump
from layouts.kit.work import WorkResult
from parsers.errors import FormatError
from tests.app.store.dumps.dump_stores import ALL, WAIT, Opener, done, measured, opened
from tests.waiting import until
from tests.writers.dumps import BEGIN_US, file_name, npy, write_dump


def test_a_run_without_a_dump_has_none(opener: Opener, tmp_path: Path) -> None:
    (tmp_path / "runs/one").mkdir(parents=True)
    (tmp_path / "runs/one/x.summary.1.host").write_bytes(b"")
    store = opener()
    assert store.dumps.open("one") == OpenDump("missing")
    assert store.dumps.work("one", ALL).state == "missing"
    assert store.dumps.open("nobody") == OpenDump("missing")
    store.dumps.cancel("one", ALL)


def test_a_dump_is_listed_and_worked_on(opener: Opener, runs: Path) -> None:
    store = opener()
    rows = {row.key: row for row in store.runs.rows()}
    assert [rows[key].tags.get("dump") for key in ("a", "b")] == [1, 1]
    found = opened(store, "b")
    assert found.state == "ready"
    assert found.dump is not None
    result = done(store, "b", ALL)
    assert (result.state, result.mark) == ("ready", found.mark)
    bad = [path for path in (runs / "b").rglob("*.npy") if not np.isfinite(np.load(path)).all()]
    assert (result.result["non_finite"] == 1).sum() == len(bad) > 0
    assert opened(store, "b").mark == found.mark
    assert opened(store, "a").mark != found.mark


def test_ranks_of_a_job_are_one_dump(opener: Opener, tmp_path: Path) -> None:
    for rank in range(2):
        write_dump(tmp_path / "runs/job", iterations=2, rank=rank, seed=rank)
    store = opener()
    (row,) = store.runs.rows()
    dump = opened(store, row.key).dump
    assert dump is not None
    assert dump.ranks == (0, 1)


def test_a_rank_that_appears_later_joins(opener: Opener, tmp_path: Path) -> None:
    write_dump(tmp_path / "runs/job", iterations=2)
    store = opener(interval=0.1)
    (row,) = store.runs.rows()
    first = opened(store, row.key)
    write_dump(tmp_path / "runs/job", iterations=2, rank=1, seed=1)

    def joined() -> bool:
        store.runs.status()
        (row,) = store.runs.rows()
        found = store.dumps.open(row.key)
        return found.dump is not None and found.dump.ranks == (0, 1) and found.mark != first.mark

    until(joined)


def test_a_run_that_begins_to_dump_says_so(opener: Opener, tmp_path: Path) -> None:
    folder = tmp_path / "runs/job"
    folder.mkdir(parents=True)
    (folder / "x.summary.1.host").write_bytes(b"")
    store = opener(interval=0.1)
    assert not store.runs.rows()[0].tags.get("dump")
    write_dump(folder, iterations=1)
    until(lambda: any(row.tags.get("dump") for row in store.runs.rows()))


def test_work_is_done_once_and_shows_what_it_has_found(opener: Opener, runs: Path) -> None:
    store, go_on, calls = opener(), threading.Event(), []

    def job(dump: DumpView, report: DumpReport) -> list[int]:
        calls.append(1)
        report(1, 2, [1])
        go_on.wait(WAIT)
        report(2, 2, [1, 2])
        return [1, 2, 3]

    work = DumpWork("slow", ("a", 1), job)
    opened(store, "a")
    until(lambda: store.dumps.work("a", work).result)
    assert store.dumps.work("a", work) == WorkResult("working", [1], 1, 2, "", opened(store, "a").mark)
    go_on.set()
    assert done(store, "a", work).result == [1, 2, 3]
    assert done(store, "a", DumpWork("slow", ("a", 1), measured)).result == [1, 2, 3]  # the same work
    assert calls == [1]
    assert len(done(store, "a", DumpWork("slow", ("a", 2), measured)).result)


def test_work_of_one_run_does_not_hold_up_another(opener: Opener, runs: Path) -> None:
    store, end = opener(), threading.Event()

    def endless(dump: DumpView, report: DumpReport) -> None:
        while not end.wait(0.005):
            report(0, 0)

    for number in range(5):
        opened(store, "a")
        store.dumps.work("a", DumpWork("endless", number, endless))
    assert done(store, "b", ALL).state == "ready"
    assert store.dumps.work("a", DumpWork("endless", 0, endless)).state in ("working", "waiting")
    end.set()


def test_work_is_cancelled_and_begun_again(opener: Opener, runs: Path) -> None:
    store, begun = opener(), []

    def job(dump: DumpView, report: DumpReport) -> str:
        begun.append(1)
        while len(begun) == 1:
            time.sleep(0.005)
            report(1, 2)
        return "done"

    work = DumpWork("slow", None, job)
    opened(store, "a")
    until(lambda: store.dumps.work("a", work).state == "working")
    store.dumps.cancel("a", work)
    assert done(store, "a", work).state == "cancelled"
    assert store.dumps.work("a", work).state == "cancelled"
    until(lambda: store.dumps.work("a", work, again=True).state == "ready")
    assert len(begun) == 2


@pytest.mark.parametrize(("error", "text"), [
    (FormatError("expected a limit, found none"), "expected a limit, found none"),
    (RuntimeError("no"), "RuntimeError: no"), (PermissionError(13, "denied", "/x"), "denied"),
])  # fmt: skip
def test_an_error_is_told_and_costs_no_other_work(opener: Opener, runs: Path, error: Exception, text: str) -> None:
    store = opener()

    def job(dump: DumpView, report: DumpReport) -> None:
        raise error

    found = done(store, "a", DumpWork("fails", None, job))
    assert found.state == "failed"
    assert text in found.text
    assert done(store, "a", ALL).state == "ready"


def test_results_are_bounded_by_their_bytes(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.background.HELD", 0.0)
    store = Store([runs], interval=0).start()
    assert store.wait(WAIT)
    dumps = module.Dumps(interval=0, memory=10_000_000)
    sources = [entry.source for entry in store.follower.members("a")]
    works = [DumpWork("array", number, lambda dump, report: np.zeros(500_000)) for number in range(6)]
    for work in works:
        until(lambda work=work: dumps.result("a", sources, work).state == "ready")
    assert list(dumps._background._tasks) == [("a", "array", 4), ("a", "array", 5)]
    large = DumpWork("large", 0, lambda dump, report: np.zeros(5_000_000))
    until(lambda: dumps.result("a", sources, large).state == "ready")
    assert dumps.result("a", sources, large).result is not None  # the last one is kept whatever its size
    dumps.stop()
    store.stop()


def test_listed_dumps_are_bounded(tmp_path: Path, opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HELD", 0.0)
    for number in range(module.MOST_DUMPS + 2):
        write_dump(tmp_path / f"runs/run{number}", iterations=1)
    store = opener()
    for number in range(module.MOST_DUMPS + 2):
        assert opened(store, f"run{number}").state == "ready"
    assert len(store.dumps.held._held) <= module.MOST_DUMPS + 1
    assert opened(store, "run0").state == "ready"


def test_sizes_of_results() -> None:
    array = np.zeros(1000)
    frame = pd.DataFrame({"a": array, "b": pd.Categorical(["x"] * 1000)})
    assert size_of(array) == 8000
    assert size_of(frame) == 8000 + 1000 + 80
    assert size_of({"a": [frame, (array,)]}) > 17_000
    assert size_of(WorkResult("ready", array)) > 8000
    deep: list[Any] = []
    deep.append(deep)
    assert size_of(deep) < 2000


# Following -------------------------------------------------------------------------------------------------------------


def test_an_unchanged_dump_is_not_listed_again(opener: Opener, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in [*runs.rglob("*"), runs / "a"]:
        os.utime(path, (1.7e9, 1.7e9), follow_symlinks=False)
    store = opener(interval=0.05)
    first = opened(store, "a")
    listed: list[object] = []
    monkeypatch.setattr("parsers.dumps.kernel.list_rank", lambda *args: listed.append(args))
    looked = store.dumps.held._held["a"].looked
    until(lambda: store.runs.status() and store.dumps.held._held["a"].looked > looked)
    assert listed == []
    assert (opened(store, "a").mark, opened(store, "a").dump) == (first.mark, first.dump)


def test_a_dump_that_grows_is_followed(opener: Opener, runs: Path) -> None:
    store = opener(interval=0.1)
    first = opened(store, "a")
    assert first.dump is not None
    before, count = done(store, "a", ALL), len(first.dump.tensors)
    version = store.runs.status().version
    folder = runs / "a/rank_0/Net/0/3"
    folder.mkdir()
    path = folder / file_name("Add", "Default/a-op0", BEGIN_US + 10**9, "output", 0, "float32")
    whole = npy(np.arange(3, dtype=np.float32))
    path.write_bytes(whole[:-4])
    until(lambda: store.runs.status().version != version and opened(store, "a").mark != first.mark)
    now = opened(store, "a")
    assert now.dump is not None
    assert (len(now.dump.tensors), len(first.dump.tensors)) == (count + 1, count)  # rows of the one before stay valid
    result = done(store, "a", ALL)
    assert (len(before.result), len(result.result), result.mark) == (count, count + 1, now.mark)
    assert "may still be written" in until(lambda: store.runs.problems("a"))[0][1].text
    until(lambda: store.runs.rows()[[row.key for row in store.runs.rows()].index("a")].problems == 1)
    path.write_bytes(whole)
    until(lambda: (store.runs.status(), opened(store, "a").mark != now.mark)[1])
    assert done(store, "a", ALL).result["max"].iat[count] == 2.0
    until(lambda: (store.runs.status(), not store.runs.problems("a"))[1])


def test_statistics_known_before_a_change_are_not_computed_again(
    opener: Opener, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opener(interval=0.1)
    first, result = opened(store, "a"), done(store, "a", ALL)
    read: list[str] = []
    from parsers.dumps import access

    measure = access.measure
    monkeypatch.setattr(access, "measure", lambda place, *more: (read.append(place.path), measure(place, *more))[1])
    new = runs / "a/rank_0/Net/0/2" / file_name("Add", "Default/z-op0", BEGIN_US + 10**9, "output", 0, "float32")
    new.write_bytes(npy(np.ones(3, np.float32)))
    until(lambda: (store.runs.status(), opened(store, "a").mark != first.mark)[1])
    again = done(store, "a", ALL)
    assert len(again.result) == len(result.result) + 1
    assert read == [str(new)]


def test_the_thread_that_scans_does_not_list_dumps(opener: Opener, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from parsers.dumps import kernel

    threads: set[str] = set()
    listed = kernel.list_rank
    monkeypatch.setattr(kernel, "list_rank", lambda *args: (threads.add(threading.current_thread().name), listed(*args))[1])
    store = opener(interval=0.1)
    first = opened(store, "a")
    write_dump(runs / "a", iterations=1, rank=1)
    until(lambda: (store.runs.status(), opened(store, "a").mark != first.mark)[1])
    assert threads == {"mindscope-dumps"}


def test_a_dump_that_disappears(opener: Opener, runs: Path) -> None:
    store = opener(interval=0.1)
    opened(store, "a")
    done(store, "b", ALL)
    shutil.rmtree(runs / "a")
    until(lambda: store.dumps.open("a").state == "missing")
    assert done(store, "b", ALL).state == "ready"


def test_statistics_are_found_in_the_index(opener: Opener, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opener(index=True)
    store.dumps.held._measuring._small = 0
    first = done(store, "a", ALL)
    store.stop()
    again = opener(index=True)
    from parsers.dumps import access

    monkeypatch.setattr(access, "measure", lambda place, *_more: pytest.fail(f"{place.path} is read again"))
    assert done(again, "a", ALL).result.equals(first.result)
