"""Engines: the same columns here and in processes, whatever becomes of the processes; progress, cancelling, bounded memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app import engine_process, engines
from app.engines import AHEAD, MUCH, PIECE, ByAmount, Engine, Here, Processes, RankTask, pieces
from app.programs import command, environment
from parsers.model import Problem
from parsers.profiler import ranks
from parsers.profiler.columns import unpacked
from parsers.profiler.progress import Cancelled
from parsers.profiler.ranks import FRAMES, columns_of
from parsers.profiler.sessions import ProfileFile
from tests.writers.clusters import communication

HOSTILE = "tests.app.hostile_process"
WAIT = 60.0


def task_of(folder: Path, number: int, *, operations: int = 3, size: int = 0) -> RankTask:
    """Write a rank; size is what it is expected to take, 0 for what it has."""
    folder.mkdir(parents=True)
    path = folder / "communication.json"
    path.write_text(json.dumps(communication(np.random.default_rng(number), 2, operations, "1234567")))
    status = path.stat()
    file = ProfileFile(str(path), path.name, "communication", number, status.st_size, status.st_mtime_ns)
    return RankTask(number, (file,), FRAMES, size or file.size)


def tasks_of(folder: Path, *names: str, size: int = 0) -> list[RankTask]:
    return [task_of(folder / f"{name}_{number}", number, size=size) for number, name in enumerate(names)]


def answers(engine: Engine, tasks: list[RankTask], told: Callable[[int], None] = lambda _: None) -> dict[int, bytes | Problem]:
    found = {}
    for task, answer in engine.run(tasks, told, lambda: False):
        assert task.number not in found
        found[task.number] = answer
    return found


@pytest.fixture
def hostile() -> Iterator[Processes]:
    made = Processes(2, program=HOSTILE)
    yield made
    made.close()


def gone(process: int) -> bool:
    """Wait until a process is gone; it is no child of ours, or its parent has waited for it."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_nothing_to_do_starts_nothing() -> None:
    engine = Processes()
    assert answers(engine, []) == {} == answers(Here(), [])
    assert engine.running == []


def test_processes_give_what_the_thread_gives(tmp_path: Path) -> None:
    tasks = tasks_of(tmp_path, *["rank"] * 7)
    told: list[int] = []
    engine = Processes(2)
    found = answers(engine, tasks, told.append)
    engine.close()
    assert found == {task.number: columns_of(task.files, task.what) for task in tasks} == answers(Here(), tasks)
    assert sum(told) == sum(task.size for task in tasks)
    assert unpacked(found[3]).frames["collectives"].rows == 6  # type: ignore[arg-type]  # 2 steps of 3 operations


def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"rank_\xff")
    task = task_of(folder, 0)
    engine = Processes(1)
    found = answers(engine, [task])
    engine.close()
    assert found == {0: columns_of(task.files, task.what)}


def test_a_rank_that_kills_its_process_is_told_and_all_others_are_read(tmp_path: Path, hostile: Processes) -> None:
    tasks = tasks_of(tmp_path, "rank", "rank", "kills", "rank", "prints", "rank", "kills", "raises", "rank")
    told: list[int] = []
    found = answers(hostile, tasks, told.append)
    assert sorted(found) == list(range(9))
    for number, answer in found.items():
        if number in (2, 6):
            assert isinstance(answer, Problem)
            assert (answer.path, answer.kind) == (tasks[number].files[0].path, "unreadable")
            assert "signal 9" in answer.text
            assert "other ranks are" in answer.text
        elif number == 7:
            assert isinstance(answer, Problem)
            assert "MemoryError: no room" in answer.text
        else:
            assert answer == columns_of(tasks[number].files, FRAMES)
    assert sum(told) == sum(task.size for task in tasks)


def test_one_of_many_short_tasks_that_kills_is_found_by_two_more_deaths(tmp_path: Path) -> None:
    """Answers of short tasks are held, so which one it was is not known at first."""
    tasks = tasks_of(tmp_path, *["rank"] * 30, "kills", *["rank"] * 30)
    engine = Processes(1, program=HOSTILE)
    found = answers(engine, tasks)
    engine.close()
    assert [number for number, answer in found.items() if isinstance(answer, Problem)] == [30]
    assert sorted(found) == list(range(61))
    assert (tmp_path / "kills_30" / "seen").read_text() == "kills" * 3


@pytest.mark.long
def test_a_rank_that_kills_its_process_once_is_read(tmp_path: Path, hostile: Processes) -> None:
    tasks = tasks_of(tmp_path, "rank", "once", "once", "rank")
    assert answers(hostile, tasks) == {task.number: columns_of(task.files, FRAMES) for task in tasks}


@pytest.mark.long
def test_processes_killed_from_outside_cost_nothing_but_time(tmp_path: Path) -> None:
    engine = Processes(2)
    tasks = tasks_of(tmp_path, *["rank"] * 40, size=PIECE)
    found = {}
    killed = 0
    for task, answer in engine.run(tasks, lambda _: None, lambda: False):
        found[task.number] = answer
        if len(found) in (5, 20):
            os.kill(engine.running[0], signal.SIGKILL)
            killed += 1
    engine.close()
    assert killed == 2
    assert found == {task.number: columns_of(task.files, FRAMES) for task in tasks}


@pytest.mark.long
def test_processes_are_kept_for_the_next_run_and_end_when_closed(tmp_path: Path) -> None:
    engine = Processes(2)
    tasks = tasks_of(tmp_path, *["rank"] * 4, size=MUCH)
    answers(engine, tasks)
    first = engine.running
    assert len(first) == 2
    answers(engine, tasks)
    assert engine.running == first
    engine.close()
    assert engine.running == []
    assert all(map(gone, first))
    assert len(answers(engine, tasks)) == 4
    engine.close()


@pytest.mark.long
def test_a_process_that_ended_by_itself_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "PIECE", 1)
    program = tmp_path / "hasty.py"
    program.write_text("from app import engine_process, tasks\ntasks.MOST_READ = 2\nengine_process.main()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    engine = Processes(1, program="hasty")
    tasks = tasks_of(tmp_path / "runs", *["rank"] * 5)
    assert answers(engine, tasks) == {task.number: columns_of(task.files, FRAMES) for task in tasks}
    engine.close()


def test_without_processes_ranks_are_read_here(tmp_path: Path) -> None:
    engine = Processes(2, program="no.such.program")
    tasks = tasks_of(tmp_path, "rank", "rank", "rank")
    assert answers(engine, tasks) == {task.number: columns_of(task.files, FRAMES) for task in tasks}
    assert engine.running == []


def test_cancelling_ends_a_rank_that_hangs(tmp_path: Path, hostile: Processes) -> None:
    tasks = tasks_of(tmp_path, "hangs", "hangs", "hangs")

    def cancelled() -> bool:
        return (tmp_path / "hangs_0/seen").exists()

    processes: list[int] = []

    def look() -> bool:
        processes[:] = hostile.running
        return cancelled()

    with pytest.raises(Cancelled):
        list(hostile.run(tasks, lambda _: None, look))
    assert processes
    assert all(map(gone, processes))
    assert hostile.running == []


def test_cancelling_here_ends_within_a_rank(tmp_path: Path) -> None:
    tasks = tasks_of(tmp_path, "rank", "rank", "rank")
    taken: list[int] = []
    run = Here().run(tasks, lambda _: None, lambda: len(taken) == 2)
    with pytest.raises(Cancelled):
        taken.extend(task.number for task, _ in run)
    assert taken == [0, 1]


def test_an_abandoned_run_ends_its_processes(tmp_path: Path, hostile: Processes) -> None:
    tasks = tasks_of(tmp_path, "rank", "hangs", "hangs")
    run = hostile.run(tasks, lambda _: None, lambda: False)
    next(run)
    processes = hostile.running
    run.close()  # type: ignore[attr-defined]  # it is a generator
    assert hostile.running == []
    assert all(map(gone, processes))
    assert answers(hostile, tasks[:1]) == {0: columns_of(tasks[0].files, FRAMES)}


def test_progress_is_told_while_a_rank_is_read(tmp_path: Path, hostile: Processes) -> None:
    task = task_of(tmp_path / "slow_0", 0, size=1000)
    told: list[int] = []
    answers(hostile, [task], told.append)  # three times its size is read
    assert sum(told) == 1000
    task = task_of(tmp_path / "slow_1", 1)
    told.clear()
    answers(hostile, [replace(task, size=3 * task.size)], told.append)
    assert told[:2] == [task.size] * 2
    assert sum(told) == 3 * task.size


def test_a_slow_consumer_gets_little_in_advance(tmp_path: Path) -> None:
    """What a process was not given, it cannot answer: two pieces each."""
    engine = Processes(2)
    tasks = tasks_of(tmp_path, *["rank"] * 30, size=PIECE)
    run = engine.run(tasks, lambda _: None, lambda: False)
    next(run)
    time.sleep(1.0)
    assert engine._answers.qsize() <= 2 * engines.AT_A_TIME
    assert len(list(run)) == 29
    engine.close()


@pytest.mark.long
def test_a_rank_that_takes_long_does_not_let_the_others_pile_up(tmp_path: Path, hostile: Processes) -> None:
    tasks = tasks_of(tmp_path, "hangs", *["rank"] * 60, size=2 * PIECE)
    found: list[int] = []
    ends = [time.monotonic() + WAIT]
    run = hostile.run(tasks, lambda _: None, lambda: time.monotonic() > min(ends))

    def take() -> None:
        for task, _ in run:
            found.append(task.number)
            ends.append(time.monotonic() + 3.0)  # from the first answer on: a busy machine starts programs slowly

    with pytest.raises(Cancelled):
        take()
    assert 0 < len(found) <= AHEAD // (2 * PIECE)


def test_pieces_are_of_8_to_16_mib() -> None:
    def task(number: int, size: int) -> RankTask:
        return RankTask(number, (), (), size)

    mib = 1 << 20
    sizes = [1, 1, 1, 5, 7, 30, 2, 2, 20, 3, 14, 15, 15, 1]
    found = [
        [one.size // mib for one in piece.tasks] for piece in pieces(task(n, size * mib) for n, size in enumerate(sizes))
    ]
    assert found == [[1, 1, 1, 5], [7], [30], [2, 2], [20], [3], [14], [15], [15], [1]]
    assert [one for piece in found for one in piece] == sizes
    begins = [piece.begin // mib for piece in pieces(task(n, size * mib) for n, size in enumerate(sizes))]
    assert begins == [0, 8, 15, 45, 49, 69, 72, 86, 101, 116]


def test_others_are_started_once_one_process_has_worked_for_a_while(tmp_path: Path) -> None:
    patient = Processes(2, patience=600.0)
    tasks = tasks_of(tmp_path / "many", *["rank"] * 4, size=MUCH)
    for _ in range(2):
        assert answers(patient, tasks) == answers(Here(), tasks)
        assert len(patient.running) == 1
    patient.close()
    hasty = Processes(2, program=HOSTILE, patience=0.3)
    long = tasks_of(tmp_path / "long", *["slow"] * 6, size=MUCH)
    assert answers(hasty, long) == answers(Here(), long)
    assert len(hasty.running) == 2
    hasty.close()


def test_the_start_of_a_process_in_place_of_one_that_ended_is_no_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, start = [1.0], engines._Process.__init__

    def slow_start(*given: Any) -> None:
        start(*given)
        now[0] += 1000.0

    monkeypatch.setattr(engines.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(engines._Process, "__init__", slow_start)
    patient = Processes(2, patience=600.0)
    tasks = tasks_of(tmp_path / "many", *["rank"] * 4, size=MUCH)
    assert answers(patient, tasks) == answers(Here(), tasks)
    (before,) = patient.running
    os.kill(before, signal.SIGKILL)  # it ends between two runs, as one does that has had nothing to do for long
    assert answers(patient, tasks) == answers(Here(), tasks)
    (after,) = patient.running
    assert after != before
    patient.close()


def test_little_is_read_here_and_much_in_processes(tmp_path: Path) -> None:
    processes = Processes(2)
    engine = ByAmount(processes=processes)
    few = tasks_of(tmp_path / "few", "rank", "rank")
    assert len(answers(engine, few)) == 2
    assert processes.running == []
    many = tasks_of(tmp_path / "many", *["rank"] * 4, size=MUCH // 2)
    assert len(answers(engine, many)) == 4
    assert processes.running != []
    engine.close()
    assert processes.running == []


def test_a_bug_in_one_rank_is_told_here_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = tasks_of(tmp_path, "rank", "raises", "rank")

    def read(files: tuple[ProfileFile, ...], what: tuple[str, ...]) -> bytes:
        if "raises" in files[0].path:
            raise ValueError("no")
        return columns_of(files, what)

    monkeypatch.setattr(ranks, "columns_of", read)
    found = answers(Here(), tasks)
    assert isinstance(found[1], Problem)
    assert "ValueError: no" in found[1].text
    assert {found[0], found[2]} == {columns_of(tasks[0].files, FRAMES), columns_of(tasks[2].files, FRAMES)}


def test_processes_end_with_a_server_that_is_killed(tmp_path: Path) -> None:
    """Also one that would be busy for long."""
    task_of(tmp_path / "hangs_0", 0)
    code = f"""
import sys
from pathlib import Path
from app.engines import Processes, RankTask
from parsers.profiler.sessions import ProfileFile
engine = Processes(1, program={HOSTILE!r})
file = ProfileFile({str(tmp_path / "hangs_0/communication.json")!r}, "communication.json", "communication", 0, 10, 0)
def look():
    if Path({str(tmp_path / "hangs_0/seen")!r}).exists():
        print(*engine.running, flush=True)
    return False
list(engine.run([RankTask(0, (file,), ("collectives",), 10)], print, look))
"""
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment(), text=True)
    assert server.stdout is not None
    process = int(server.stdout.readline())
    os.kill(process, 0)
    server.kill()
    server.wait()
    server.stdout.close()
    assert gone(process)


def test_processes_import_little(tmp_path: Path) -> None:
    code = "import app.engine_process, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    found = {name.split(".")[0] for name in done.stdout.split()}
    assert {"parsers", "numpy", "app"} <= found
    assert found.isdisjoint({"dash", "plotly", "flask", "waitress", "layouts", "pandas", "diskcache"})
    assert command("app.engine_process")[-2:] == ["-m", engine_process.__name__]
