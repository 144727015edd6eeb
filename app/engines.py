"""Engines do tasks: little in the thread that asks, much in several processes.

A task reads the files of one rank of a job (`RankTask`) or measures tensors of a dump (`app.store.dumps.tensor_tasks`). An
engine gives back the bytes that each task makes, as the answers come. Tasks are pure, so one that was lost with its process is
simply done again. Processes are sent pieces: tasks of 8 to 16 MiB together, or a single larger one. A further engine has to
satisfy `Engine` and nothing else.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from app.programs import command, environment
from app.tasks import ANSWER, DONE, FAILED, LENGTH, PROGRESS, READY, RETIRED, TaskMessage
from parsers.model import Problem
from parsers.profiler.progress import Cancelled, watched

if TYPE_CHECKING:
    from parsers.profiler.sessions import ProfileFile

log = logging.getLogger(__name__)

PIECE = 8 << 20
"""Bytes of input from which a piece is not filled further."""
MUCH = 32 << 20
"""Bytes of input from which processes are worth their start, which takes as long as reading 40 MB."""
MOST_PROCESSES = 4
AHEAD = 256 << 20
"""Bytes of input that are read beyond the first rank without an answer, so that answers that wait for it do not pile up."""
SHORT_TASK = 128 << 10
"""Bytes of input of tasks whose answers may wait for those of the next ones."""
AT_A_TIME = 2
"""Pieces that a process has: one that it reads, and the next."""
LOOK = 0.1
"""Seconds between two looks whether the caller has cancelled."""
TRIES = 2
"""How often a task may kill the process that reads it."""
MOST_FAILED_STARTS = 3
"""Processes that end before they are ready, after which no more are started."""
_END = -1


class AnyTask(Protocol):
    """Something to read."""

    @property
    def number(self) -> int:
        """Its place among all."""
        ...

    @property
    def size(self) -> int:
        """Bytes of input."""
        ...

    @property
    def paths(self) -> Sequence[str]:
        """The files that it reads, for messages."""
        ...

    def do(self) -> bytes:
        """Do it in this process."""
        ...

    def asked(self) -> tuple[int, Any]:
        """Return (bytes of its files, what its program needs to do it, encodable as MessagePack)."""
        ...

    def lost(self, why: str) -> Problem:
        """Return the problem that it was not done."""
        ...


T = TypeVar("T", bound=AnyTask)


@dataclass(frozen=True, slots=True)
class RankTask:
    """The files of one rank, and which frames to read from them (names in `ranks.FRAMES`).

    number is its place among all, size the bytes of input that this is expected to take.
    """

    number: int
    files: tuple[ProfileFile, ...]
    what: tuple[str, ...]
    size: int

    @property
    def paths(self) -> Sequence[str]:
        """See `AnyTask`."""
        return [file.path for file in self.files]

    def do(self) -> bytes:
        """Return the columns of the rank (`parsers.profiler.ranks.columns_of`)."""
        from parsers.profiler.ranks import columns_of  # the readers of profiles, which other tasks do without

        return columns_of(self.files, self.what)

    def asked(self) -> tuple[int, Any]:
        """See `AnyTask`; `engine_process.RankFiles` is what is sent."""
        files = [(os.fsencode(one.path), one.name, one.kind, one.rank, one.size, one.mtime_ns) for one in self.files]
        return sum(one.size for one in self.files), (files, self.what)

    def lost(self, why: str) -> Problem:
        """Return the problem that the rank was not read."""
        path = max(self.files, key=lambda file: file.size).path if self.files else ""
        text = f"Reading the files of this rank failed ({why}); what is in them is not shown, other ranks are."
        return Problem(path, 0, 0, "unreadable", text)


Told = Callable[[int], None]
"""Called with the bytes read since the last call, in the thread that takes the answers."""


class Engine(Protocol):
    """Does tasks."""

    def run(self, tasks: Sequence[T], told: Told, is_cancelled: Callable[[], bool]) -> Iterator[tuple[T, bytes | Problem]]:
        """Yield each task once, in any order, with what it made, or with the problem that kept it from being done.

        The sizes passed to `told` add up to the size of all tasks. Cancelled is raised soon after is_cancelled() returns True.
        Closing the iterator stops all work. Reading ahead of the caller is bounded.
        """

    def close(self) -> None:
        """End what the engine has started. It may be used again."""


class Here:
    """Does task after task in the thread that asks."""

    def run(self, tasks: Sequence[T], told: Told, is_cancelled: Callable[[], bool]) -> Iterator[tuple[T, bytes | Problem]]:
        """See `Engine`."""
        for task in tasks:
            yield task, _read_here(task, told, is_cancelled)

    def close(self) -> None:
        """Nothing was started."""


def _read_here(task: AnyTask, told: Told, is_cancelled: Callable[[], bool]) -> bytes | Problem:
    counted = _TaskProgress(task.size, told)

    def watch(size: int) -> None:
        if is_cancelled():
            raise Cancelled
        counted.add(size)

    watch(0)
    try:
        with watched(watch):
            found: bytes | Problem = task.do()
    except Exception as error:  # a bug that one rank or tensor triggers is reported for it alone; all others are still read
        log.exception("reading %s failed", list(task.paths))
        found = task.lost(f"{type(error).__name__}: {error}")
    counted.end()
    return found


@dataclass(slots=True)
class _TaskProgress:
    """Tells the bytes of a task: never more than its size, and all of them at its end."""

    left: int
    told: Told

    def add(self, size: int) -> None:
        size = min(size, self.left)
        self.left -= size
        if size:
            self.told(size)

    def end(self) -> None:
        self.add(self.left)


@dataclass(slots=True)
class TaskPiece:
    """Tasks that a process gets together; begin is the number of bytes of all tasks before. alone: never beside another.

    at_once: each task is answered before the next one begins, so that it is known which one kills a process.
    """

    tasks: tuple[AnyTask, ...]
    begin: int
    alone: bool = False
    at_once: bool = False

    def is_at_once(self, task: AnyTask) -> bool:
        """Whether a task of this piece is answered at once (`TaskMessage`)."""
        return self.alone or self.at_once or task.size > SHORT_TASK


def pieces(tasks: Iterable[AnyTask]) -> Iterator[TaskPiece]:
    """Yield tasks in their order, in pieces of PIECE to twice as many bytes; a larger task is alone in its piece."""
    held: list[AnyTask] = []
    begin = size = 0
    for task in tasks:
        if held and size + task.size > 2 * PIECE:
            yield TaskPiece(tuple(held), begin)
            held, begin, size = [], begin + size, 0
        held.append(task)
        size += task.size
        if size >= PIECE:
            yield TaskPiece(tuple(held), begin)
            held, begin, size = [], begin + size, 0
    if held:
        yield TaskPiece(tuple(held), begin)


# Processes -------------------------------------------------------------------------------------------------------------------


class _RunWork:
    """What is left to do of a run."""

    def __init__(self, tasks: Sequence[AnyTask], told: Told) -> None:
        self.waiting = deque(pieces(tasks))
        self.open = {task.number: task for task in tasks}
        self.size = sum(task.size for task in tasks)
        self.failed_starts = 0
        self.begun = 0.0  # when a process was ready for it; 0 while there is none
        self._counted = {task.number: _TaskProgress(task.size, told) for task in tasks}
        self._begins: dict[int, int] = {}
        self._deaths: dict[int, int] = {}
        begin = 0
        for task in tasks:
            self._begins[task.number] = begin
            begin += task.size

    @property
    def is_ahead(self) -> bool:
        """Whether the next piece is too far beyond the first task without an answer."""
        return self.waiting[0].begin - self._begins[next(iter(self.open))] >= AHEAD

    def count(self, number: int, size: int) -> None:
        """Tell bytes of a task that was read in part."""
        self._counted[number].add(size)

    def finish(self, number: int) -> AnyTask:
        """Note that a task has its answer, and return it."""
        self._counted[number].end()
        return self.open.pop(number)

    def again(self, held: Sequence[TaskPiece], *, blame: bool) -> AnyTask | None:
        """Have the pieces of a process that ended done again; return the task that killed it if that is to be given up.

        blame: the process was killed by one of these tasks. If that is known to be the first one, this one is done alone;
        otherwise all are done again, each answered at once.
        """
        first = held[0].tasks[0]
        unknown = blame and not held[0].is_at_once(first)
        blame = blame and not unknown
        tries = self._deaths[first.number] = self._deaths.get(first.number, 0) + blame
        left = [replace(piece, at_once=piece.at_once or unknown) for piece in held]
        if blame:
            left[0] = replace(held[0], tasks=held[0].tasks[1:], begin=held[0].begin + first.size)
        self.waiting.extendleft(piece for piece in reversed(left) if piece.tasks)
        if tries >= TRIES:
            return first
        if blame:
            self.waiting.appendleft(TaskPiece((first,), self._begins[first.number], alone=True))
        return None


class Processes:
    """Does tasks in up to MOST_PROCESSES processes, which are started when needed and end when they have had nothing to do.

    A process that dies loses the tasks that it has not answered, which are done again. The one that kills is done alone once it
    is known, and given up if it kills again. Used by one thread.
    """

    def __init__(self, most: int = 0, *, program: str = "app.engine_process", patience: float = 0.0) -> None:
        """most: how many processes; 0 for as many as there are processors. program: the module they run, for these tasks.

        patience: seconds that one process has worked before others are started, for tasks of which a start takes the time of
        many.
        """
        self._most = most or min(MOST_PROCESSES, _processors())
        self._program, self._patience = program, patience
        self._worked = 0.0
        self._processes: list[_Process] = []
        self._answers: queue.SimpleQueue[_Answer] = queue.SimpleQueue()

    @property
    def running(self) -> list[int]:
        """The ids of the processes."""
        return [process.id for process in self._processes]

    def run(self, tasks: Sequence[T], told: Told, is_cancelled: Callable[[], bool]) -> Iterator[tuple[T, bytes | Problem]]:
        """See `Engine`."""
        self._end([process for process in self._processes if process.held])  # of a run that was dropped half-way
        run, by_number = _RunWork(tasks, told), {task.number: task for task in tasks}
        if any(process.is_ready for process in self._processes):
            run.begun = time.monotonic()
        try:
            while run.open:
                if is_cancelled():
                    raise Cancelled
                if not self._give(run):
                    log.warning("no process can be started; reading without")
                    for number in list(run.open):
                        yield by_number[number], _read_here(by_number[number], told, is_cancelled)
                    return
                with contextlib.suppress(queue.Empty):
                    found = self._take(run, self._answers.get(timeout=LOOK))
                    if found is not None:
                        yield by_number[found[0]], found[1]
        finally:
            self._worked += time.monotonic() - run.begun if run.begun else 0.0
            self._end([process for process in self._processes if process.held])

    def close(self) -> None:
        """End all processes."""
        self._end(list(self._processes))

    def _end(self, processes: Iterable[_Process]) -> None:
        for process in processes:
            self._processes.remove(process)
            process.kill()
        if not self._processes:
            self._worked = 0.0

    def _give(self, run: _RunWork) -> bool:
        """Give waiting pieces to processes; False if there is no process and none can be started."""
        while run.waiting and not run.is_ahead:
            process = self._free(run)
            if process is None:
                return bool(self._processes)
            process.give(run.waiting.popleft())
        return True

    def _free(self, run: _RunWork) -> _Process | None:
        """Return the process that takes the next piece: an idle one, a new one, or one that has a single piece."""
        least = min(self._processes, key=lambda process: len(process.held), default=None)
        if least is not None and not least.held:
            return least
        if len(self._processes) < self._wanted(run) and run.failed_starts < MOST_FAILED_STARTS:
            try:
                self._processes.append(_Process(self._program, self._answers))
            except OSError as error:
                log.warning("a process that reads files cannot be started: %s", error)
                run.failed_starts = MOST_FAILED_STARTS
            else:
                return self._processes[-1]
        if least is None or run.waiting[0].alone or least.is_alone or len(least.held) >= AT_A_TIME:
            return None
        return least

    def _wanted(self, run: _RunWork) -> int:
        """Return the number of processes that are worth their start."""
        worked = self._worked + (time.monotonic() - run.begun if run.begun else 0.0)
        return min(self._most, 1 + run.size // MUCH) if worked >= self._patience else 1

    def _take(self, run: _RunWork, answer: _Answer) -> tuple[int, bytes | Problem] | None:
        """Return (number of a task, what it made) if that is the answer."""
        process = answer.process
        if process not in self._processes:
            return None
        if answer.kind == PROGRESS:
            run.count(answer.number, answer.size)
        elif answer.kind == DONE:
            process.answered(answer.number)
            run.finish(answer.number)
            return answer.number, answer.data
        elif answer.kind == FAILED:
            process.answered(answer.number)
            task = run.finish(answer.number)
            return answer.number, task.lost(answer.data.decode("utf-8", "replace"))
        elif answer.kind == READY:
            process.is_ready = True
            run.begun = run.begun or time.monotonic()
        else:
            return self._ended(run, process)
        return None

    def _ended(self, run: _RunWork, process: _Process) -> tuple[int, Problem] | None:
        """Give the tasks of a process that ended to others."""
        self._end([process])
        run.begun = run.begun if any(other.is_ready for other in self._processes) else 0.0
        run.failed_starts += not process.is_ready
        if not process.held:
            return None
        killed = process.is_ready and process.code != RETIRED
        first = process.held[0].tasks[0]
        if killed:
            log.warning("a process ended (%s) while it read %s", process.ending, list(first.paths))
        given_up = run.again(process.held, blame=killed)
        if given_up is None:
            return None
        run.finish(given_up.number)
        return given_up.number, given_up.lost(f"it ended {TRIES} processes: {process.ending}")


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a process said: a kind of `app.tasks`, or _END; number of the task; bytes read; what it made, or an error."""

    process: _Process
    kind: int
    number: int = 0
    size: int = 0
    data: bytes = b""


class _Process:
    """A process, and the thread that receives its answers. held are the pieces without their answers, as they were given."""

    def __init__(self, program: str, answers: queue.SimpleQueue[_Answer]) -> None:
        """OSError if it cannot be started."""
        # One thread: what numpy would start for linear algebra is never used, and takes time and address space.
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            command(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=-1,
            env=environment() | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        self.held: list[TaskPiece] = []
        self.is_ready = False
        self._answers = answers
        # It ends with the process whose answers it reads: no work for `app.background`.
        threading.Thread(target=self._listen, name="mindscope-engine", daemon=True).start()

    @property
    def id(self) -> int:
        """Its id in the system."""
        return self._process.pid

    @property
    def is_alone(self) -> bool:
        """Whether it has a piece that shall be alone."""
        return any(piece.alone for piece in self.held)

    @property
    def code(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.poll()

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        code = self.code or 0
        return f"exit code {code}" if code >= 0 else f"signal {-code}"

    def give(self, piece: TaskPiece) -> None:
        """Send a piece."""
        self.held.append(piece)
        data = msgspec.msgpack.encode([message_of(task, at_once=piece.is_at_once(task)) for task in piece.tasks])
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended, which its thread will say
            self._process.stdin.write(LENGTH.pack(len(data)) + data)
            self._process.stdin.flush()

    def answered(self, number: int) -> None:
        """Note that the first task held, which has this number, has its answer."""
        piece = self.held[0]
        assert piece.tasks[0].number == number
        if len(piece.tasks) == 1:
            del self.held[0]
        else:
            piece.begin += piece.tasks[0].size
            piece.tasks = piece.tasks[1:]

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # it waits for a disk that does not answer
            self._process.wait(1.0)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # what it did not take in
            self._process.stdin.close()

    def _listen(self) -> None:
        source = self._process.stdout
        assert source is not None
        with source:
            while len(head := source.read(ANSWER.size)) == ANSWER.size:
                kind, number, size = ANSWER.unpack(head)
                data = source.read(size) if kind in (DONE, FAILED) else b""
                if kind in (DONE, FAILED) and len(data) < size:
                    break
                self._answers.put(_Answer(self, kind, number, size, data))
        self._process.wait()
        self._answers.put(_Answer(self, _END))


def message_of(task: AnyTask, *, at_once: bool = True) -> TaskMessage:
    """Return a task as programs and workers take it."""
    size, body = task.asked()
    return TaskMessage(task.number, size, msgspec.Raw(msgspec.msgpack.encode(body)), at_once)


def _processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ByAmount:
    """Does little here and much in processes."""

    def __init__(self, *, much: int = MUCH, processes: Engine | None = None) -> None:
        self._much = much
        self._here: Engine = Here()
        self._processes: Engine = processes or Processes()

    def run(self, tasks: Sequence[T], told: Told, is_cancelled: Callable[[], bool]) -> Iterator[tuple[T, bytes | Problem]]:
        """See `Engine`."""
        size = sum(task.size for task in tasks)
        return (self._processes if size >= self._much else self._here).run(tasks, told, is_cancelled)

    def close(self) -> None:
        """End the processes."""
        self._here.close()
        self._processes.close()
