"""An engine that does pieces on an existing Dask cluster (`mindscope start --dask ADDRESS`, extra `dask`).

Dask unpickles what comes from its scheduler, so whoever can write to that scheduler can run code here. Without trust only
addresses of this machine and those that are checked by certificates (``tls://``) are accepted.

A piece is 8 to 16 MiB of input: a task of Dask takes 2.4 ms of processor time, as long as reading 0.2 MB. Answers are given
on as they come, so that they are in the index before a worker can be lost with them. What no worker can do is done here.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import queue
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec

import app
from app.dask_pieces import DONE, UNDONE, Answers, Do, do_piece, read_rank
from app.engines import AHEAD, LOOK, AnyTask, Engine, Here, T, TaskPiece, Told, message_of, pieces
from parsers.model import Problem
from parsers.profiler.progress import Cancelled

log = logging.getLogger(__name__)

CONNECT_S = 10.0
"""Seconds for which connecting is tried."""
RETRY_S = 60.0
"""Seconds until connecting is tried again."""
NO_WORKERS_S = 20.0
"""Seconds without a single worker after which what is left is done here."""
CLOSE_S = 2.0
AT_A_TIME = 2
"""Pieces that are sent for each thread of the cluster: one that it reads, and the next."""
TRIES = 2
"""How often a task may be among those with which workers died."""
_CHECKED = ("tls", "wss")
_GONE = (OSError, RuntimeError, ValueError)
"""What Dask's client raises when its scheduler or its event loop is gone."""


class DaskError(Exception):
    """A cluster cannot be used; the message says why, and what to do."""


def check_address(address: str, *, trust: bool) -> str:
    """Return the address of a scheduler, with its scheme; DaskError if it must not be connected to."""
    whole = address if "://" in address else f"tcp://{address}"
    try:
        parts = urlsplit(whole)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise DaskError(f"expected the address of a Dask scheduler such as tcp://127.0.0.1:8786, found {address!r}")
    if not trust and parts.scheme not in _CHECKED and not is_of_this_machine(host):
        text = "Dask unpickles what comes from its scheduler, so whoever can write to it can run code here"
        raise DaskError(f"{text}: expected a tls:// address or one of this machine, or --dask-trust, found {address!r}")
    return whole


def is_of_this_machine(host: str) -> bool:
    """Return whether all addresses of a host are of this machine: whether a socket can be bound to each."""
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return False
    return bool(found) and all(_is_ours(str(one)) for one in found)


def _is_ours(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    if address.is_loopback:
        return True
    if address.is_unspecified:
        return False
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((text, 0))
        except OSError:
            return False
    return True


@dataclass(slots=True)
class _ClusterRun:
    """What is left to do of a run. sent are the pieces on the cluster, by future."""

    tasks: dict[int, AnyTask]
    told: Told
    waiting: deque[TaskPiece]
    sent: dict[Any, TaskPiece] = field(default_factory=dict)
    ended: queue.SimpleQueue[Any] = field(default_factory=queue.SimpleQueue)
    deaths: dict[int, int] = field(default_factory=dict)
    here: deque[int] = field(default_factory=deque)
    begins: dict[int, int] = field(default_factory=dict)

    @property
    def may_send(self) -> bool:
        """Whether the next piece may be sent now: it is not far ahead, and neither it nor one that is sent is to be alone."""
        piece = self.waiting[0]
        if self.sent and (piece.alone or any(one.alone for one in self.sent.values())):
            return False
        return not self.sent or piece.begin - self.begins[next(iter(self.tasks))] < AHEAD

    def finish(self, number: int) -> AnyTask:
        """Note that a task has its answer, and return it."""
        task = self.tasks.pop(number)
        if task.size:
            self.told(task.size)
        return task


class Dask:
    """Does tasks on a Dask cluster. Where there is none, another engine does them. Used by one thread."""

    def __init__(self, address: str, *, trust: bool = False, do: Do = read_rank, otherwise: Engine | None = None) -> None:
        """DaskError if the address must not be used, or Dask is not installed. do: does a task on a worker."""
        try:
            import distributed
        except ImportError:
            raise DaskError("reading on a cluster needs Dask: pip install 'mindscope[dask]'") from None
        self._distributed = distributed
        self.address = check_address(address, trust=trust)
        self._do = do
        self._otherwise = otherwise or Here()
        self._client: Any = None
        self._next_try = 0.0

    def connect(self) -> str:
        """Connect to the scheduler; return its numbers of workers and threads. DaskError if it does not answer."""
        if self._client is None or self._client.status != "running":
            self._disconnect()
            try:
                self._client = self._distributed.Client(
                    self.address, timeout=CONNECT_S, set_as_default=False, name="mindscope"
                )  # fmt: skip
            except (OSError, ValueError, TypeError) as error:
                reason = " ".join(str(error).split())[:200] or type(error).__name__
                raise DaskError(f"the Dask scheduler at {self.address} cannot be reached ({reason})") from None
        info = self._client.scheduler_info(n_workers=0)
        found = self._client.get_versions()["scheduler"]["packages"].get("distributed")
        ours = self._distributed.__version__
        if found != ours:
            log.warning("the Dask scheduler at %s has distributed %s, here it is %s", self.address, found, ours)
        return f"{info.get('n_workers', 0):,} workers with {info.get('total_threads', 0):,} threads"

    def run(self, tasks: Sequence[T], told: Told, is_cancelled: Callable[[], bool]) -> Iterator[tuple[T, bytes | Problem]]:
        """See `Engine`."""
        if not tasks or not self._is_connected():
            yield from self._otherwise.run(tasks, told, is_cancelled)
            return
        by_number = {task.number: task for task in tasks}
        run = _ClusterRun(dict(by_number), told, deque(pieces(tasks)))
        begin = 0
        for task in tasks:
            run.begins[task.number] = begin
            begin += task.size
        try:
            for number, answer in self._answers(run, is_cancelled):
                yield by_number[number], answer
        finally:
            with contextlib.suppress(*_GONE):  # and with the scheduler what was to be cancelled
                self._client.cancel(list(run.sent), force=True)
        if run.tasks:
            left = [task for task in tasks if task.number in run.tasks]
            log.warning("%d tasks are done here, not on the Dask cluster at %s", len(left), self.address)
            yield from self._otherwise.run(left, told, is_cancelled)

    def close(self) -> None:
        """Disconnect."""
        self._disconnect()
        self._otherwise.close()

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(*_GONE):
                client.close(timeout=CLOSE_S)

    def _is_connected(self) -> bool:
        if self._client is not None and self._client.status == "running":
            return True
        if time.monotonic() < self._next_try:
            return False
        try:
            self.connect()
        except DaskError as error:
            log.warning("%s; reading here", error)
            self._next_try = time.monotonic() + RETRY_S
            return False
        return True

    def _answers(self, run: _ClusterRun, is_cancelled: Callable[[], bool]) -> Iterator[tuple[int, bytes | Problem]]:
        """Yield answers of the cluster until there are no more; what it did not answer is left in run.tasks."""
        threads, looked, alive = self._threads(), time.monotonic(), time.monotonic()
        while run.tasks:
            if is_cancelled():
                raise Cancelled
            while run.waiting and len(run.sent) < AT_A_TIME * max(1, threads) and run.may_send:
                self._send(run, run.waiting.popleft())
            if not run.sent and not run.waiting:
                return
            try:
                future = run.ended.get(timeout=LOOK)
            except queue.Empty:
                if time.monotonic() - looked >= 1.0:
                    threads, looked = self._threads(), time.monotonic()
                    alive = looked if threads > 0 else alive
                if threads < 0 or time.monotonic() - alive >= NO_WORKERS_S:
                    log.warning("the Dask cluster at %s has %s", self.address, "gone" if threads < 0 else "no workers")
                    return
                continue
            alive = time.monotonic()
            piece = run.sent.pop(future, None)
            if piece is None:
                continue
            error = _error_of(future)
            if future.status == "finished":
                yield from self._taken(run, piece, future)
            elif isinstance(error, self._distributed.KilledWorker):
                yield from self._killed(run, piece)
            else:
                log.warning("a piece could not be done on the Dask cluster at %s: %s", self.address, error or future.status)
                run.here.extend(task.number for task in piece.tasks)
            future.release()
            yield from self._done_here(run, is_cancelled)

    def _threads(self) -> int:
        """Return the number of threads of all workers; -1 if the scheduler does not answer."""
        try:
            info = self._client.scheduler_info(n_workers=0)
        except _GONE as error:
            log.warning("the Dask scheduler at %s does not answer: %s", self.address, error)
            return -1
        return int(info.get("total_threads", 0)) if self._client.status == "running" else -1

    def _send(self, run: _ClusterRun, piece: TaskPiece) -> None:
        data = msgspec.msgpack.encode([message_of(task) for task in piece.tasks])
        future = self._client.submit(do_piece, self._do, app.__version__, data, pure=False)
        run.sent[future] = piece
        future.add_done_callback(run.ended.put)

    def _taken(self, run: _ClusterRun, piece: TaskPiece, future: Any) -> Iterator[tuple[int, bytes | Problem]]:
        """Yield the answers of a piece; tasks without a valid one are done here."""
        left = {task.number for task in piece.tasks}
        try:
            answers = msgspec.msgpack.decode(future.result(CONNECT_S), type=Answers)
        except Exception as error:  # noqa: BLE001  unpickling an answer of a faulty worker may raise anything; the work is then done here
            log.warning("an answer of the Dask cluster at %s is not valid: %s", self.address, error)
            answers = []
        for number, kind, data in answers:
            if number not in left:
                continue
            left.discard(number)
            if kind == UNDONE:
                log.info("%s; it is read here", data.decode("utf-8", "replace"))
                run.here.append(number)
            else:
                task = run.finish(number)
                yield number, data if kind == DONE else task.lost(data.decode("utf-8", "replace"))
        run.here.extend(sorted(left))

    def _killed(self, run: _ClusterRun, piece: TaskPiece) -> Iterator[tuple[int, Problem]]:
        """Send the tasks of a piece with which workers died again, each alone; give up those that died alone."""
        again = []
        for task in piece.tasks:
            deaths = run.deaths[task.number] = run.deaths.get(task.number, 0) + 1
            if piece.alone and deaths >= TRIES:
                run.finish(task.number)
                yield task.number, task.lost("workers of the Dask cluster died when they read it")
            else:
                again.append(TaskPiece((task,), run.begins[task.number], alone=True))
        run.waiting.extend(again)

    def _done_here(self, run: _ClusterRun, is_cancelled: Callable[[], bool]) -> Iterator[tuple[int, bytes | Problem]]:
        """Do here what workers left undone."""
        numbers = [run.here.popleft() for _ in range(len(run.here))]
        for task, answer in self._otherwise.run([run.tasks[number] for number in numbers], run.told, is_cancelled):
            del run.tasks[task.number]
            yield task.number, answer


def _error_of(future: Any) -> BaseException | None:
    """Return the error of a piece, None if it has none; that of unpickling it where its pickle is not ours."""
    if future.status != "error":
        return None
    try:
        found: BaseException | None = future.exception(CONNECT_S)
    except Exception as error:  # noqa: BLE001  unpickling the error may fail in any way, which is then the error of this piece
        return error
    return found
