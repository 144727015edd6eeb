"""Runs read ahead by an engine: what a server then finds, what is read again, what is refused."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.engines import Here
from app.store.runs import run_tasks
from app.store.runs.index import Index
from app.store.runs.packs import Snapshots
from app.store.runs.run_tasks import Ahead, RunTask, read_ahead
from app.store.store import Store
from parsers import Problem, discover, open_run
from parsers.model import Source
from parsers.recording import EventWriter
from parsers.snapshot import dump, key_of, load
from tests.recorded import RECORDED


def writer_in(folder: Path) -> EventWriter:
    folder.mkdir(parents=True, exist_ok=True)
    name = f"events.out.events.summary.{1_700_000_000 + len(list(folder.iterdir()))}.0.vm_MS"
    return EventWriter(str(folder / name), "mindspore")


class Counting(Here):
    """Counts what it does; answers may be changed."""

    def __init__(self, change: Any = lambda task, data: data) -> None:
        self.read: list[str] = []
        self._change = change

    def run(self, tasks: Sequence[Any], told: Any, is_cancelled: Any) -> Iterator[Any]:
        for task, answer in super().run(tasks, told, is_cancelled):
            self.read.append(task.source.path)
            yield task, self._change(task, answer)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for number in range(12):
        with writer_in(tmp_path / "runs" / f"run{number}") as writer:
            for step in range(20):
                writer.add(step, {"loss": number + step / 7})
    return tmp_path / "runs"


def ahead_of(base: Path, index: Path, engine: Here) -> tuple[Ahead, list[Problem]]:
    snapshots, ahead = Snapshots(Index(str(index))), Ahead()
    sizes: list[int] = []
    runs = discover(base)
    problems = list(read_ahead(runs, snapshots, engine, sizes.append, lambda: False, ahead))
    assert sum(sizes) == sum(file.size for run in runs for file in run.files)
    snapshots.close()
    return ahead, problems


def test_a_run_whose_files_did_not_grow_is_known_whatever_lies_beside_them(base: Path, tmp_path: Path) -> None:
    (base / "run0" / "profiler").mkdir()
    (base / "run0" / "profiler" / "memory_block.csv").write_text("Name,Size(KB)\n")
    (base / "run1" / "config.json").write_text('{"lr": 0.1}')
    assert ahead_of(base, tmp_path / "index", Counting()) == (Ahead(read=12), [])
    assert ahead_of(base, tmp_path / "index", Counting()) == (Ahead(known=12), [])


def test_a_server_finds_all_of_it(base: Path, tmp_path: Path) -> None:
    engine = Counting()
    assert ahead_of(base, tmp_path / "index", engine) == (Ahead(read=12), [])
    assert sorted(engine.read) == sorted(str(base / f"run{number}") for number in range(12))
    store = Store([base], interval=0, index_directory=str(tmp_path / "index")).start()
    assert store.wait(30)
    for number in range(12):
        found = store.curves.series(f"run{number}", "loss")
        assert found is not None
        np.testing.assert_array_equal(found.value, np.float32(number + np.arange(20) / 7))
    store.stop()


def test_known_runs_are_not_read_again_and_grown_ones_only_further(base: Path, tmp_path: Path) -> None:
    ahead_of(base, tmp_path / "index", Here())
    with writer_in(base / "run3") as writer:
        writer.add(1, {"later": 1.0})
    with writer_in(base / "new") as writer:
        writer.add(1, {"loss": 1.0})
    engine = Counting()
    assert ahead_of(base, tmp_path / "index", engine) == (Ahead(known=11, grown=1, read=1), [])
    assert engine.read == [str(base / "new")]
    assert ahead_of(base, tmp_path / "index", Counting())[0] == Ahead(known=13)


def test_a_killed_program_keeps_what_it_had_written(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tasks, "PIECE", 1)
    snapshots = Snapshots(Index(str(tmp_path / "index")))
    run = read_ahead(discover(base), snapshots, Stops(7), lambda _: None, lambda: False, Ahead())
    with pytest.raises(KeyboardInterrupt):
        list(run)  # the index is not closed, as if the program was killed
    engine = Counting()
    assert ahead_of(base, tmp_path / "index", engine)[0] == Ahead(known=7, read=5)


class Stops(Here):
    def __init__(self, after: int) -> None:
        self._after = after

    def run(self, tasks: Sequence[Any], told: Any, is_cancelled: Any) -> Iterator[Any]:
        for number, answer in enumerate(super().run(tasks, told, is_cancelled)):
            if number == self._after:
                raise KeyboardInterrupt
            yield answer


def test_an_answer_that_is_no_snapshot_of_the_run_is_refused(base: Path, tmp_path: Path) -> None:
    other = RunTask(0, discover(base)[0], 0).do()

    def changed(task: RunTask, data: bytes) -> bytes:
        name = Path(task.source.path).name
        return {"run1": data[:-9], "run2": b"nonsense", "run4": other}.get(name, data)

    ahead, problems = ahead_of(base, tmp_path / "index", Counting(changed))
    bad = {Path(problem.path).name for problem in problems}
    assert bad == {"run1", "run2", "run4"} - {Path(discover(base)[0].path).name}
    assert ahead == Ahead(read=12 - len(bad))
    assert all("a server will read it" in problem.text for problem in problems)


def test_devices_of_another_machine_become_those_of_this_one(base: Path) -> None:
    source = discover(base)[0]
    run = open_run(source)
    states = list(run.states.values())
    for state in states:
        assert state.cursor is not None
        state.cursor = replace(state.cursor, device=99)
    elsewhere = b"".join(dump(states) or ())
    found = load(b"".join(run_tasks.checked(source, elsewhere)))
    assert [state.cursor.device for state in found if state.cursor] == [file.device for file in source.files]


def test_runs_of_every_kind_are_as_a_server_reads_them(tmp_path: Path) -> None:
    shutil.copytree(RECORDED, tmp_path / "runs")
    ahead, problems = ahead_of(tmp_path / "runs", tmp_path / "index", Here())
    assert problems == []
    assert ahead.read == len(discover(tmp_path / "runs"))
    snapshots = Snapshots(Index(str(tmp_path / "index")))
    for source in discover(tmp_path / "runs"):
        known = snapshots.load(key_of(source.real_path))
        assert known is not None
        assert sum(state.records for state in known) == sum(state.records for state in open_run(source).states.values())
    snapshots.close()


def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"run_\xff")
    with writer_in(folder) as writer:
        writer.add(1, {"loss": 1.0})
    source: Source = discover(tmp_path)[0]
    assert RunTask(0, source, 0).do() == b"", "such a path is not kept in the index"
    assert ahead_of(tmp_path, tmp_path / "index", Here())[0] == Ahead(read=1, not_kept=1)
