"""Live training beside runs, as the store shows it to pages: dumps, work on them, watchpoints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.commands.dump_checks import hits_in
from app.store.store import Store
from layouts.dumps.debugger import health
from layouts.dumps.live_sessions import Order
from layouts.dumps.open_dump import DumpWork
from layouts.dumps.watchpoints import SavedWatchpoint, WatchList
from layouts.kit.user_input import InvalidInput
from layouts.runs.notes import Stale
from parsers import open_run
from parsers.analysis.dumps.watchpoints import Watchpoint, recommended
from parsers.analysis.dumps.watchpoints.checking import check
from tests.app.live.conftest import Served
from tests.writers.dumps import write_network

OVERFLOW = WatchList((SavedWatchpoint("tensor_overflow"), SavedWatchpoint("tensor_all_zero", enabled=False)))


@pytest.fixture
def store(served: Served, tmp_path: Path) -> Iterator[Store]:
    found = Store([tmp_path], sessions=served.sessions).start()
    yield found
    found.stop()


def test_without_a_server_there_is_no_live_training(tmp_path: Path) -> None:
    found = Store([tmp_path])
    assert found.live.status().state == "off"
    assert found.dumps.open("live:1").state == "missing"
    assert found.dumps.work("live:1", DumpWork("x", 0, lambda dump, report: 1)).state == "missing"
    assert found.notes.notebook().watchpoints == {}
    ordering = lambda: found.live.order("live:1", Order("pause"))  # noqa: E731
    for call in (ordering, lambda: found.notes.save_watchpoints("live:1", WatchList(), "")):
        with pytest.raises(KeyError):
            call()


def test_a_session_is_a_dump(served: Served, store: Store) -> None:
    assert (store.live.status().state, store.live.status().port) == ("listening", served.port)
    training = served.training(steps=9, nan_at=3)
    served.reaches("waiting")
    opened = store.dumps.open("live:1")
    assert (opened.state, opened.mark) == ("ready", opened.dump.mark)
    assert store.dumps.open("live:1").dump is opened.dump
    assert store.dumps.open("live:2").state == "missing"

    def count(dump, report) -> int:
        report.measure(np.arange(5))
        report(1, 2, "partial")
        return len(dump.tensors)

    work = DumpWork("count", 1, count)
    found = store.dumps.work("live:1", work)
    served.until(lambda: store.dumps.work("live:1", work).state == "ready")
    assert store.dumps.work("live:1", work).result == len(opened.dump.tensors)
    assert found.mark.startswith("live:1.")
    bad = store.dumps.work("live:1", DumpWork("fails", 1, lambda dump, report: 1 // 0))
    assert (bad.state, bad.text.split(":")[0]) == ("failed", "ZeroDivisionError")
    store.dumps.cancel("live:1", work)

    # What is not known is not said to be fine; statistics of a small network are fetched, and then it is known.
    store.live.order("live:1", Order("continue", 4))
    served.reaches("waiting", step=4)

    def told() -> dict:
        return health.told(store.dumps.work("live:1", health.WORK))

    broken = {name for name, value in training.values.items() if not np.isfinite(value).all()}
    operators = len({one.name for one in training.net.operators} & broken)
    assert operators
    served.until(lambda: [many for _, step, many, _ in told()["bad"] if step == 4] == [operators])
    assert all(line.split()[1] != "0" for line in training.log if line.startswith("view")), "no values were fetched"


def test_watchpoints_of_a_session(served: Served, store: Store) -> None:
    training = served.training(steps=9, nan_at=3)
    served.reaches("waiting")
    assert store.notes.notebook().watchpoints == {}
    saved = store.notes.save_watchpoints("live:1", OVERFLOW, WatchList().version)
    assert store.notes.notebook().watchpoints == {"live:1": saved}
    with pytest.raises(Stale) as stale:
        store.notes.save_watchpoints("live:1", WatchList(), WatchList().version)
    assert stale.value.now == saved
    with pytest.raises(InvalidInput):
        store.notes.save_watchpoints("live:1", WatchList((SavedWatchpoint("none"),)), saved.version)
    with pytest.raises(ValueError, match="expression"):
        store.notes.save_watchpoints("live:1", WatchList((SavedWatchpoint("tensor_overflow", pattern="("),)), saved.version)
    overflow = Watchpoint("tensor_overflow")
    before = check(store.dumps.open("live:1").dump, [Watchpoint("weight_overflow"), overflow])
    assert set(before["why"]) == {"not sent yet"}
    assert before["watchpoint"].value_counts().to_dict() == {0: 6, 1: 45}
    assert not before["hit"].any()
    store.live.order("live:1", Order("continue", -1))
    served.reaches("waiting", step=4)
    assert [line for line in training.log if line.startswith("set")] == ["set 1 13 45"]
    found = check(store.dumps.open("live:1").dump, [Watchpoint("weight_overflow"), overflow])
    hits = found[found["hit"]]
    assert set(hits["watchpoint"]) == {1}
    assert set(hits["name"]) == {name for name, value in training.values.items() if np.isnan(value).any()}
    assert set(found.loc[~found["hit"], "why"]) == {"not sent yet", "sent after this step"}
    some = hits["row"].tolist()[:2]
    assert check(store.dumps.open("live:1").dump, [overflow], rows=some)["row"].tolist() == some
    assert store.notes.save_watchpoints("live:1", WatchList(), saved.version) == WatchList()
    assert store.notes.notebook().watchpoints == {}


def test_a_session_and_a_dump_of_the_same_values_have_the_same_hits(served: Served, store: Store, tmp_path: Path) -> None:
    training = served.training(steps=9, nan_at=3)
    served.reaches("waiting")
    store.notes.save_watchpoints("live:1", OVERFLOW, WatchList().version)
    store.live.order("live:1", Order("continue", -1))
    served.reaches("waiting", step=4)
    made = [replace(one, compute=lambda *_, value=training.values[one.name]: value) for one in training.net.operators]
    inputs = {"x": training.x, "y": training.y}
    write_network(tmp_path / "dumped", replace(training.net, operators=made), np.random.default_rng(0), lambda _: inputs, 1)
    dumped = open_run(tmp_path / "dumped").dump
    asked = [Watchpoint("tensor_overflow")]
    live, offline = check(store.dumps.open("live:1").dump, asked), check(dumped, asked)
    operators = {one.name for one in training.net.operators}
    hits = [set(found["name"][found["hit"]].astype(str)) & operators for found in (live, offline)]
    assert hits[0] == hits[1] != set()
    assert hits_in("dumped", dumped, None)[0] >= len(hits[0]), "check-dump"


def test_without_saved_watchpoints_the_recommended_ones_are_checked(served: Served, store: Store) -> None:
    training = served.training(steps=3)
    served.reaches("waiting")
    store.live.order("live:1", Order("continue"))
    served.reaches("waiting", step=1)
    sent = [line.split() for line in training.log if line.startswith("set")]
    assert 0 < len(sent) <= len(recommended())
    assert all(int(one[3]) > 0 for one in sent), "training would check all nodes"
    assert [one for one in sent if one[2] == "2"] == [], "operators that overflow are reported by Ascend only"
    store.live.order("live:1", Order("continue"))
    served.reaches("waiting", step=2)
    assert sum(line.startswith("set") for line in training.log) == len(sent)
