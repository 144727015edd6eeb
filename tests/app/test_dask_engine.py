"""Reading on a Dask cluster: the columns that are read here, whatever becomes of workers; addresses that are refused."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import app
from app import dask_engine, dask_pieces
from app.dask_engine import Dask, DaskError, check_address
from app.engines import MUCH, PIECE, Here, message_of
from app.tasks import TaskMessage
from parsers.model import Problem
from parsers.profiler.progress import Cancelled
from parsers.profiler.ranks import FRAMES, columns_of
from tests.app.hostile_pieces import act
from tests.app.test_engines import answers, tasks_of

distributed = pytest.importorskip("distributed")
ROOT = Path(__file__).parents[2]


def made_cluster(workers: int) -> Any:
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
    )


@pytest.fixture(scope="module")
def started_cluster() -> Iterator[str]:
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)  # workers are started anew after the process that starts them
    with made_cluster(2) as made:
        yield made.scheduler_address
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture
def cluster(started_cluster: str) -> str:
    """The address of a cluster whose workers are back, if a test before has killed some."""
    with distributed.Client(started_cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)
    return started_cluster


class NotHere(Here):
    """Fails where everything is to be done on the cluster."""

    def run(self, tasks: Any, told: Any, is_cancelled: Any) -> Any:
        assert not list(tasks)
        return iter(())


@pytest.fixture
def engine(cluster: str) -> Iterator[Dask]:
    made = Dask(cluster, do=act, otherwise=NotHere())
    yield made
    made.close()


def test_workers_give_what_the_thread_gives(tmp_path: Path, engine: Dask) -> None:
    tasks = tasks_of(tmp_path, *["rank"] * 9, size=PIECE // 2)
    told: list[int] = []
    found = answers(engine, tasks, told.append)
    assert found == {task.number: columns_of(task.files, task.what) for task in tasks}
    assert sum(told) == sum(task.size for task in tasks)
    assert answers(engine, []) == {}


@pytest.mark.long
def test_a_rank_that_kills_its_workers_is_told_and_all_others_are_read(tmp_path: Path, engine: Dask) -> None:
    tasks = tasks_of(tmp_path, "rank", "rank", "kills", "rank", "raises", "rank")
    told: list[int] = []
    found = answers(engine, tasks, told.append)
    assert sorted(found) == list(range(6))
    killed, raised = found.pop(2), found.pop(4)
    assert isinstance(killed, Problem)
    assert "workers of the Dask cluster died" in killed.text
    assert killed.path == tasks[2].files[0].path
    assert isinstance(raised, Problem)
    assert "MemoryError: no room" in raised.text
    assert found == {number: columns_of(tasks[number].files, FRAMES) for number in found}
    assert sum(told) == sum(task.size for task in tasks)


@pytest.mark.long
def test_a_worker_killed_in_the_middle_loses_nothing(tmp_path: Path, engine: Dask) -> None:
    tasks = tasks_of(tmp_path, "rank", "once", "rank", "once", size=PIECE)
    assert answers(engine, tasks) == {task.number: columns_of(task.files, FRAMES) for task in tasks}


def test_cancelling_frees_the_workers(tmp_path: Path, cluster: str) -> None:
    engine = Dask(cluster, do=act, otherwise=NotHere())
    tasks = tasks_of(tmp_path, "rank", "slow", "slow", "slow", "slow", "slow", "slow", "slow", size=PIECE)
    cancelled = threading.Event()
    run = engine.run(tasks, lambda _: None, cancelled.is_set)
    next(run)
    cancelled.set()
    with pytest.raises(Cancelled):
        list(run)
    more = tasks_of(tmp_path / "more", "rank")
    begun = time.monotonic()
    assert answers(engine, more) == {0: columns_of(more[0].files, FRAMES)}
    assert time.monotonic() - begun < 30
    engine.close()


def test_files_that_a_worker_does_not_see_are_read_here(tmp_path: Path, cluster: str) -> None:
    tasks = tasks_of(tmp_path, "rank", "rank", "rank")
    wanted = {task.number: columns_of(task.files, FRAMES) for task in tasks}
    other = replace(tasks[1].files[0], size=tasks[1].files[0].size + 1)  # as a worker with an old copy would see it
    tasks[1] = replace(tasks[1], files=(other,))
    told: list[int] = []
    engine = Dask(cluster)
    assert answers(engine, tasks, told.append) == wanted
    assert sum(told) == sum(task.size for task in tasks)
    engine.close()


def test_a_worker_with_another_version_does_nothing(tmp_path: Path, cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = tasks_of(tmp_path, "rank", "rank")
    piece = msgspec.msgpack.encode([message_of(task) for task in tasks])
    given = msgspec.msgpack.decode(dask_pieces.do_piece(act, "0.0.1", piece), type=dask_pieces.Answers)
    assert [(number, kind) for number, kind, _ in given] == [(0, dask_pieces.UNDONE), (1, dask_pieces.UNDONE)]
    assert app.__version__.encode() in given[0][2]
    monkeypatch.setattr(app, "__version__", "0.0.1")
    engine = Dask(cluster)
    assert answers(engine, tasks) == {task.number: columns_of(task.files, FRAMES) for task in tasks}
    engine.close()


def not_a_piece(_do: object, _version: str, piece: bytes) -> object:
    numbers = [one.number for one in msgspec.msgpack.decode(piece, type=list[TaskMessage])]
    return [b"nonsense", msgspec.msgpack.encode([(99, 0, b"x")]), 7][numbers[0] % 3]


def test_answers_that_are_not_valid_are_made_here(tmp_path: Path, cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "do_piece", not_a_piece)
    tasks = tasks_of(tmp_path, "rank", "rank", "rank", size=2 * PIECE)
    engine = Dask(cluster)
    assert answers(engine, tasks) == {task.number: columns_of(task.files, FRAMES) for task in tasks}
    engine.close()


class Foreign:
    """An object of which the pickle needs a module that is not here."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return __import__, ("no_module_of_ours",)


class ForeignError(Exception):
    """An error of which the pickle needs a module that is not here."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return __import__, ("no_module_of_ours",)


def foreign_answer(_do: object, _version: str, piece: bytes) -> object:
    if msgspec.msgpack.decode(piece, type=list[TaskMessage])[0].number % 2:
        raise ForeignError
    return Foreign()


def test_pickles_that_are_not_ours_are_made_here(tmp_path: Path, cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "do_piece", foreign_answer)
    tasks = tasks_of(tmp_path, "rank", "rank", size=2 * PIECE)
    engine = Dask(cluster)
    assert answers(engine, tasks) == {task.number: columns_of(task.files, FRAMES) for task in tasks}
    monkeypatch.undo()
    assert answers(engine, tasks) == {task.number: columns_of(task.files, FRAMES) for task in tasks}
    engine.close()


@pytest.mark.long
def test_a_scheduler_that_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(dask_engine, "CONNECT_S", 1.0)
    tasks = tasks_of(tmp_path, "rank", "slow", "rank", "rank", "rank", "rank", size=MUCH)
    made = made_cluster(1)
    engine = Dask(made.scheduler_address, do=act)
    found = {}
    for task, answer in engine.run(tasks, lambda _: None, lambda: False):
        found[task.number] = answer
        made.close()
    assert found == {task.number: columns_of(task.files, FRAMES) for task in tasks}
    assert answers(engine, tasks[:1]) == {0: found[0]}
    engine.close()


def test_a_cluster_without_workers_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "NO_WORKERS_S", 1.0)
    tasks = tasks_of(tmp_path, "rank", "rank")
    with made_cluster(0) as made:
        engine = Dask(made.scheduler_address)
        assert engine.connect() == "0 workers with 0 threads"
        assert answers(engine, tasks) == {task.number: columns_of(task.files, FRAMES) for task in tasks}
        engine.close()


def test_a_scheduler_that_cannot_be_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "CONNECT_S", 0.5)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        engine = Dask(f"127.0.0.1:{held.getsockname()[1]}")
        with pytest.raises(DaskError, match="cannot be reached"):
            engine.connect()
        tasks = tasks_of(tmp_path, "rank")
        assert answers(engine, tasks) == {0: columns_of(tasks[0].files, FRAMES)}
    engine.close()


@pytest.mark.parametrize(
    "address", ["127.0.0.1:8786", "tcp://localhost:8786", "tls://192.0.2.1:8786", "wss://example.com:443", "tcp://[::1]:1"]
)
def test_addresses_that_are_accepted(address: str) -> None:
    assert check_address(address, trust=False).endswith(address)


@pytest.mark.parametrize(
    "address", ["tcp://192.0.2.1:8786", "192.0.2.1:8786", "ws://192.0.2.1:1", "tcp://0.0.0.0:8786", "tcp://no.such.invalid:1"]
)
def test_addresses_elsewhere_need_trust(address: str) -> None:
    with pytest.raises(DaskError, match="--dask-trust"):
        check_address(address, trust=False)
    assert check_address(address, trust=True).endswith(address)


@pytest.mark.parametrize("address", ["", "host", "tcp://", "tcp://a:b", "tcp://127.0.0.1", "tcp://[::1", ":8786", "a b:1x"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(DaskError, match="expected the address of a Dask scheduler"):
        check_address(address, trust=True)


@pytest.mark.long
def test_without_dask_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(DaskError, match=r"pip install 'mindscope\[dask\]'"):
        Dask("127.0.0.1:8786")
