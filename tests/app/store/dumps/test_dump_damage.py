"""Damage of dumps is told with the run, and everything intact is shown."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layouts.dumps.open_dump import DumpWork
from tests.app.store.dumps.dump_stores import ALL, Opener, done, opened
from tests.waiting import until
from tests.writers.dumps import BEGIN_US, file_name, npy


def a_file(base: Path, iteration: int = 1) -> Path:
    found = min((base / f"rank_0/Net/0/{iteration}").glob("Tanh.*.output.*"))
    found.chmod(0o600)
    return found


def cut(base: Path) -> None:
    path = a_file(base)
    path.write_bytes(path.read_bytes()[:-7])


def wrong_header(base: Path) -> None:
    path = a_file(base)
    path.write_bytes(path.read_bytes().replace(b"'descr'", b"'dscr_'"))


def wrong_shape(base: Path) -> None:
    path = a_file(base)
    path.write_bytes(path.read_bytes() + bytes(8))


def objects(base: Path) -> None:
    np.save(a_file(base), np.array([{"a": 1}, None], object), allow_pickle=True)


def no_graph(base: Path) -> None:
    shutil.rmtree(base / "rank_0/graphs")


def other_graph(base: Path) -> None:
    (graph,) = (base / "rank_0/graphs").glob("*.pb")
    graph.write_bytes(graph.read_bytes().replace(b"-op", b"-of"))


def no_order(base: Path) -> None:
    shutil.rmtree(base / "rank_0/execution_order")


HEAD = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,L2Norm Value"
ROW = "Add,Default_new-op{},0,0,{},output,0,12,float32,\"(3,)\",{},1,2"


def cut_table(base: Path) -> None:
    rows = [ROW.format(number, BEGIN_US + number, number) for number in range(3)]
    (base / "rank_0/Net/0/1/statistic.csv").write_text("\n".join([HEAD, *rows])[:-30])


def nan_cells(base: Path) -> None:
    rows = [ROW.format(0, BEGIN_US, "nan"), ROW.format(1, BEGIN_US + 1, "word")]
    (base / "rank_0/Net/0/1/statistic.csv").write_text("\n".join([HEAD, *rows]) + "\n")


def two_dumps(base: Path) -> None:
    for path in sorted((base / "rank_0/Net/0/1").iterdir()):
        later = path.name.replace(f".0.0.{BEGIN_US // 10**9}", f".0.0.{BEGIN_US // 10**9 + 5}")
        path.with_name(later).write_bytes(path.read_bytes())


def still_written(base: Path) -> None:
    path = a_file(base)
    path.write_bytes(path.read_bytes()[:130])


@pytest.mark.parametrize(("harm", "text", "lost"), [
    (cut, "truncated", 1), (wrong_header, "wrong header", 1), (wrong_shape, "does not match the bytes", 1),
    (objects, "never unpickled", 1), (no_graph, "Expected the graph", 0), (other_graph, "that of another network", 0),
    (no_order, "Expected the order", 0), (cut_table, "skipped", 0), (nan_cells, "skipped", 0),
    (two_dumps, "dumps of two runs", 0), (still_written, "may still be written", 1),
])  # fmt: skip
def test_damage_is_a_problem_of_the_run_and_everything_intact_is_shown(
    opener: Opener, runs: Path, harm: Callable[[Path], None], text: str, lost: int
) -> None:
    store = opener()
    whole = len(done(store, "a", ALL).result)
    store.stop()
    harm(runs / "a")
    store = opener()
    result = done(store, "a", ALL)
    assert result.state == "ready"
    assert len(result.result) >= whole
    assert ((result.result["source"] == "") & (result.result["dtype"] != "")).sum() == lost
    problems = until(lambda: store.runs.problems("a"))
    assert any(text in problem.text for _, problem in problems), problems
    assert {key for key, _ in store.runs.problems()} == {"a/rank_0"} or {key for key, _ in store.runs.problems()} == {"a"}
    damage = sum(not problem.is_note for _, problem in problems)
    until(lambda: {row.key: row.counts for row in store.runs.rows()} == {"a": (damage, len(problems) - damage), "b": (0, 0)})
    assert store.runs.status().problems == damage
    cause = done(store, "b", DumpWork("cause", None, lambda dump, report: len(dump.tensors)))
    assert cause.result == whole


def test_scalars_and_empty_tensors_are_no_damage(opener: Opener, runs: Path) -> None:
    folder = runs / "a/rank_0/Net/0/1"
    for number, values in enumerate((np.float32(2.5), np.empty((0, 3), np.float32))):
        name = file_name("Add", f"Default/new{number}-op0", BEGIN_US + 10**9 + number, "output", 0, "float32")
        (folder / name).write_bytes(npy(np.asarray(values)))
    store = opener()
    found = done(store, "a", ALL).result
    scalar, empty = (found[found["name"].astype(str).str.contains(f"new{number}")].iloc[0] for number in range(2))
    assert (scalar["max"], scalar["count"], scalar["shape"]) == (2.5, 1, "[]")
    assert (empty["count"], empty["shape"]) == (0, "0x3")
    texts = [problem.text for _, problem in store.runs.problems("a")]
    assert not any("tensor" in text.lower() and "not shown" in text for text in texts)


def test_a_file_of_another_user_is_a_problem_until_it_can_be_read(
    opener: Opener, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(a_file(runs / "a"))
    opened_file = os.open

    def refuse(name: Any, *more: int, **named: Any) -> int:
        if name == path:
            raise PermissionError(13, "Permission denied", name)
        return opened_file(name, *more, **named)

    store = opener(interval=0.1)
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        result = done(store, "a", ALL)
        assert (result.result["source"] == "").sum() == 1
        ((_, problem),) = until(lambda: store.runs.problems("a"))
        assert (problem.path, problem.kind, "0400" in problem.text) == (path, "unreadable", True)
    mark = result.mark
    os.utime(path)
    until(lambda: (store.runs.status(), opened(store, "a").mark != mark)[1])
    assert (done(store, "a", ALL).result["source"] == "").sum() == 0
    until(lambda: not store.runs.problems("a"))


def test_many_damaged_tensors_are_a_few_problems(opener: Opener, runs: Path) -> None:
    for path in (runs / "a").rglob("*.npy"):
        for copy in range(4):
            path.with_name(path.name.replace("-op0", f"-op{copy + 7}")).write_bytes(b"nothing")
    store = opener()
    done(store, "a", ALL)
    until(lambda: len(store.runs.problems("a")) == 400)
    problems = store.runs.problems("a")
    assert "further tensors" in problems[-1][1].text


def test_a_tensor_that_a_page_reads_is_told_too(opener: Opener, runs: Path) -> None:
    path = a_file(runs / "a")
    path.write_bytes(b"nothing")
    store = opener(interval=0.1)
    dump = opened(store, "a").dump
    assert dump is not None
    row = int(np.flatnonzero(dump.tensors["file"].astype(str).str.endswith(path.name))[0])
    with pytest.raises(ValueError, match="npy"):
        dump.tensor(row)
    until(lambda: (store.runs.status(), store.runs.problems("a"))[1])
