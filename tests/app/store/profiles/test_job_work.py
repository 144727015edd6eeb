"""Work on a job is done in the background: it tells how far it is, is stopped, resumed, and its result is kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from app.store.store import Store
from layouts.kit.work import Report
from layouts.profiles.source import JobWork
from tests.waiting import when

HEAD = "Step ID,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    folder = tmp_path / "runs/one/host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    (folder / "kernel_details.csv").write_text(HEAD + "1,Default/net/op/k,Mul,AI_CORE,1000.000\t,2.0\n")
    made = Store([tmp_path / "runs"], interval=0, index_directory=str(tmp_path / "index")).start()
    assert made.wait(30)
    yield made
    made.stop()


def test_work_is_told_stopped_resumed_and_kept(store: Store) -> None:
    (row,) = store.profiles.rows("one")
    of = ("one", row.session, row.rank)
    go, begun = threading.Event(), []

    def job(report: Report) -> int:
        begun.append(1)
        for step in range(1, 1_000_000):
            report(step, 7)
            if go.wait(0.002):
                return 42
        raise AssertionError

    work = JobWork("count", 3, job)
    ask = partial(store.profiles.work, *of, work)
    going = when(ask, lambda found: found.state == "working" and found.done > 0)
    assert going.total == 7
    store.profiles.cancel_work(*of, work)
    when(ask, lambda found: found.state == "cancelled")
    assert len(begun) == 1
    go.set()
    assert when(partial(ask, again=True), lambda found: found.state == "ready").result == 42
    assert ask().result == 42
    assert len(begun) == 2
    assert store.profiles.work("none", row.session, row.rank, work).state == "missing"
