"""Statistics of tensors, measured in processes and kept in the index.

One thread owns processes and index. Requests take turns of TURN bytes, those somebody looks at before all others, so a dump of
hundreds of gigabytes does not hold up another. Little is measured by the thread that asks. The index has one record a dump; a
statistic in it counts as long as size and time of its file are the same. This is no `app.background`, whose tasks wait for it:
the processes serve one thread, which also saves at times of its own.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field

from app.engines import MUCH, Engine, Processes
from app.store.dumps.tensor_tasks import TensorTask, TensorTasks
from app.store.runs.index import Index
from parsers.dump_frames import DUMP_COMPUTED
from parsers.dumps.access import RunDump
from parsers.errors import FormatError
from parsers.model import Ints, Problem
from parsers.profiler import snapshot
from parsers.profiler.progress import Cancelled

log = logging.getLogger(__name__)

TURN = 128 << 20
"""Bytes that a request has measured before another one's turn."""
VERSION = 3
"""Increment it whenever statistics are computed differently."""
PROGRAM = "app.tensor_process"
PATIENCE = 0.5
"""Seconds of work before a second process is started: that takes as long as measuring 700 MB."""
SETTLE_SECONDS = 2.0
"""Seconds after a statistic was computed until it is saved with those that follow."""
SAVE_SECONDS = 20.0
"""Seconds between two saves of one dump."""
SAVE_SHARE = 0.05
"""Share of the time that saving may take."""
RETRY_SECONDS = 60.0
"""Seconds after which what could not be saved is saved again."""
SMALL_BYTES = 4 << 20
"""Statistics of less input than this are not kept: measuring it takes as long."""
Progress = Callable[[int, int], bool]
"""Called with the bytes measured and the bytes of all; returns whether to go on."""


@dataclass(slots=True)
class _MeasureRequest:
    """Rows of a dump to be measured for a thread that waits for it. is_wanted: whether somebody looks at what needs it."""

    tasks: TensorTasks
    total: int
    progress: Progress
    is_wanted: Callable[[], bool]
    done: int = 0
    served: float = 0.0
    cancelled: bool = False
    failure: str = ""
    ended: threading.Event = field(default_factory=threading.Event)

    def told(self, size: int) -> None:
        """Count bytes."""
        self.done = min(self.done + size, self.total)

    def look(self) -> bool:
        """Return whether it is cancelled."""
        self.cancelled = self.cancelled or not self.progress(self.done, self.total)
        return self.cancelled


@dataclass(slots=True)
class _SavedStatistics:
    """What the index has of a dump: how many statistics, and when these may be saved again."""

    saved: int = 0
    due: float = 0.0


class Measuring:
    """Measures tensors for the dumps of a store. Any thread may use it."""

    def __init__(
        self, index_directory: str | None = None, *, much: int = MUCH, processes: Engine | None = None, small: int = SMALL_BYTES
    ) -> None:
        """much: bytes from which processes measure. small: bytes of input from which statistics are kept in the index."""
        self._index_directory = index_directory
        self._index: Index | None = None
        self._much, self._small = much, small
        self._processes: Engine = processes or Processes(program=PROGRAM, patience=PATIENCE)
        self._requests: list[_MeasureRequest] = []
        self._restoring: list[tuple[RunDump, threading.Event]] = []
        self._restored: weakref.WeakSet[RunDump] = weakref.WeakSet()
        self._unsaved: dict[RunDump, float] = {}
        self._records: weakref.WeakKeyDictionary[RunDump, _SavedStatistics] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._stopping = False

    def missing(self, dump: RunDump, rows: Ints, *, computed: bool = False) -> tuple[Ints, int]:
        """Return the rows whose values would have to be read, and their bytes. Waits for the index the first time."""
        missing = dump.unmeasured(rows, computed=computed)
        if len(missing) and self._restore(dump):
            missing = dump.unmeasured(rows, computed=computed)
        return missing, int(dump.sizes[missing].sum())

    def is_little(self, size: int) -> bool:
        """Return whether this is little enough to be measured in the calling thread, without processes."""
        return size < self._much

    def measure(self, dump: RunDump, rows: Ints, size: int, progress: Progress, is_wanted: Callable[[], bool]) -> None:
        """Have rows measured, which are this many bytes, and wait for that. Cancelled once progress returns False."""
        fresh = (row for row in rows.tolist() if not dump.is_measured(row))
        request = _MeasureRequest(TensorTasks(dump, fresh), size, progress, is_wanted)
        with self._lock:
            self._requests.append(request)
            self._start()
        while not request.ended.wait(0.1):
            if self._stopping or not progress(request.done, request.total):
                request.cancelled = True
                request.ended.wait(1.0)  # a process that hangs is killed by then
                break
        if request.failure:
            raise OSError(request.failure)
        if request.cancelled:
            raise Cancelled

    def touch(self, dump: RunDump) -> None:
        """Note that statistics were computed, which are to be kept."""
        if self._index_directory is not None:
            with self._lock:
                self._touch(dump)
                self._start()

    def _touch(self, dump: RunDump) -> None:
        record = self._records.setdefault(dump, _SavedStatistics())
        self._unsaved.setdefault(dump, max(record.due, time.monotonic() + SETTLE_SECONDS))

    def succeed(self, before: RunDump, dump: RunDump) -> None:
        """Note that a dump knows all statistics of the one before it."""
        with self._lock:
            if before in self._restored:
                self._restored.add(dump)
            self._records[dump] = self._records.get(before, _SavedStatistics())
            if self._unsaved.pop(before, None) is not None:
                self._touch(dump)

    def stop(self) -> None:
        """Stop measuring, save what was measured, and wait for both."""
        with self._lock:
            self._stopping = True
            for request in self._requests:
                request.cancelled = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _restore(self, dump: RunDump) -> bool:
        """Have the index read for a dump that was not yet; return whether that was done."""
        with self._lock:
            if self._index_directory is None or dump in self._restored or self._stopping:
                return False
            read = threading.Event()
            self._restoring.append((dump, read))
            self._start()
        read.wait(30)
        return True

    def _start(self) -> None:
        """Start the thread, or wake it; the lock is held."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="mindscope-tensors", daemon=True)
            self._thread.start()
        self._wake.notify_all()

    # The thread ----------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        if self._index_directory is not None:
            try:
                self._index = Index(self._index_directory)
            except OSError as error:
                log.warning("index: %s; continuing without it", error)
        while self._wait():
            restoring, self._restoring = self._restoring, []
            for dump, read in restoring:
                self._load(dump)
                read.set()
            request = self._next()
            if request is not None:
                self._serve(request)
            self._save_due()
        for request in self._requests:
            request.cancelled = True
            request.ended.set()
        for _, read in self._restoring:
            read.set()
        self._processes.close()
        for dump in list(self._unsaved):
            self._save(dump)
        if self._index is not None:
            self._index.close()

    def _wait(self) -> bool:
        """Wait until there is something to do; return whether to go on."""
        with self._wake:
            while not self._stopping and not self._requests and not self._restoring:
                due = min(self._unsaved.values(), default=None)
                pause = None if due is None else due - time.monotonic()
                if pause is not None and pause <= 0:
                    break
                self._wake.wait(pause)
            return not self._stopping

    def _next(self) -> _MeasureRequest | None:
        """Return the request whose turn it is: of those somebody looks at the one that waited longest, else of all."""
        with self._lock:
            return min(self._requests, key=lambda one: (not one.is_wanted(), one.served), default=None)

    def _serve(self, request: _MeasureRequest) -> None:
        """Give a request its turn."""
        try:
            tasks = [] if request.look() else request.tasks.take(TURN)
            if tasks:
                self._run(request, tasks)
            ended = not tasks
        except Cancelled:
            request.cancelled = ended = True
        except Exception as error:  # otherwise a bug that one dump triggers would end the thread that measures all of them
            log.exception("measuring %r failed", request.tasks.dump)
            request.failure, ended = f"{type(error).__name__}: {error}", True
        request.served = time.monotonic()
        if ended:
            with self._lock:
                self._requests.remove(request)
            request.ended.set()

    def _run(self, request: _MeasureRequest, tasks: list[TensorTask]) -> None:
        lost: list[TensorTask] = []
        for task, answer in self._processes.run(tasks, request.told, request.look):
            if not isinstance(answer, Problem):
                request.tasks.answer(task, answer)
            elif len(task.rows) > 1:
                lost += task.alone(len(lost))
            else:
                request.tasks.refuse(task, answer)
        self.touch(request.tasks.dump)
        # What ended a process with others is measured alone.
        for task, answer in self._processes.run(lost, lambda _: None, request.look) if lost else ():
            if isinstance(answer, Problem):
                request.tasks.refuse(task, answer)
            else:
                request.tasks.answer(task, answer)

    # The index -----------------------------------------------------------------------------------------------------

    def _load(self, dump: RunDump) -> None:
        with self._lock:
            self._restored.add(dump)
        data = self._index.read(_key(dump)) if self._index is not None else None
        if data is None or self._index is None:
            return
        try:
            kept, _ = snapshot.load(DUMP_COMPUTED, data)
            dump.restore(kept)
        except (FormatError, ValueError) as error:
            log.info("index: %s", error)
            self._index.delete(_key(dump))
        else:
            self._records.setdefault(dump, _SavedStatistics()).saved = dump.measured_count

    def _save_due(self) -> None:
        now = time.monotonic()
        for dump, due in list(self._unsaved.items()):
            if due <= now:
                self._save(dump)

    def _save(self, dump: RunDump) -> None:
        """Write the statistics of a dump, if there are more than the index has; what fails is tried again later."""
        begun = time.monotonic()
        with self._lock:
            self._unsaved.pop(dump, None)
            record = self._records.setdefault(dump, _SavedStatistics())
        count = dump.measured_count
        if self._index is None or count == record.saved or dump.measured_bytes < self._small:
            return
        parts = snapshot.dump(DUMP_COMPUTED, dump.computed, ())
        written = parts is None or self._index.write(_key(dump), parts)
        now = time.monotonic()
        record.due = now + max(SAVE_SECONDS, (now - begun) / SAVE_SHARE)
        if written:
            record.saved = count
        elif not self._stopping:
            record.due = now + RETRY_SECONDS
            with self._lock:
                self._unsaved[dump] = record.due


def _key(dump: RunDump) -> str:
    """Return the key of a dump in the index."""
    parts = (f"dump {VERSION} {snapshot.FORMAT.version}", dump.base, *dump.directories)
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()
