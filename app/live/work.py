"""Work on what live training has sent: one thread does it, as nothing is read from files and most takes milliseconds."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from app.live.dump import LiveDump
from layouts.dumps import DumpView, DumpWork
from layouts.work import WorkResult
from parsers.errors import MindscopeError
from parsers.model import Ints
from parsers.profiler.progress import Cancelled

log = logging.getLogger(__name__)

PATIENCE = 0.15
"""Seconds a caller waits, so that small work is returned with the first answer."""
MOST_KEPT = 50


@dataclass(slots=True)
class _Task:
    """Work that is waiting, being done, or done; also the `layouts.dumps.Report` that it calls."""

    dump: LiveDump
    work: DumpWork
    done: int = 0
    total: int = 0
    found: Any = None
    cancelled: bool = False
    future: Future[Any] = field(default_factory=Future)

    def measure(self, rows: Ints, *, computed: bool = False, of: DumpView | None = None) -> None:
        """Compute statistics, or ask training for them."""
        (self.dump if of is None else of).measured(rows, computed=computed)
        self(0, 0)

    def __call__(self, done: int, total: int, result: Any = None) -> None:
        """Tell how far the work is."""
        if self.cancelled:
            raise Cancelled
        self.done, self.total = done, total
        if result is not None:
            self.found = result


class LiveWork:
    """Work by session and name; only the result for the latest mark is kept."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[tuple[str, DumpWork], _Task] = OrderedDict()
        self._lock = threading.Lock()
        self._stopped = False
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="mindscope-live-work")

    def result(self, key: str, dump: LiveDump, work: DumpWork, *, again: bool = False) -> WorkResult:
        """Return the result of work, or its progress."""
        with self._lock:
            if self._stopped:
                return WorkResult("cancelled", mark=dump.mark)
            task = self._tasks.pop((key, work), None)
            old = task is not None and task.dump.mark != dump.mark and task.future.done()
            if task is None or old or (again and task.cancelled):
                task = _Task(dump, work)
                task.future = self._pool.submit(work.job, dump, task)
            self._tasks[key, work] = task
            while len(self._tasks) > MOST_KEPT:
                self._tasks.popitem(last=False)[1].cancelled = True
        wait([task.future], PATIENCE)
        return _result(task)

    def cancel(self, key: str, work: DumpWork) -> None:
        """Stop work."""
        with self._lock:
            task = self._tasks.get((key, work))
            if task is not None:
                task.cancelled = True

    def stop(self) -> None:
        """Stop all work."""
        with self._lock:
            self._stopped = True
            for task in self._tasks.values():
                task.cancelled = True
        self._pool.shutdown(cancel_futures=True)


def _result(task: _Task) -> WorkResult:
    mark = task.dump.mark
    if not task.future.done():
        return WorkResult("working", task.found, task.done, task.total, mark=mark)
    if task.future.cancelled():
        return WorkResult("cancelled", mark=mark)
    error = task.future.exception()
    if error is None:
        return WorkResult("ready", task.future.result(), task.done, task.total, mark=mark)
    if isinstance(error, Cancelled):
        return WorkResult("cancelled", mark=mark)
    if not isinstance(error, (MindscopeError, OSError)):
        log.error("work on %s failed", task.dump.mark, exc_info=error)
        return WorkResult("failed", text=f"{type(error).__name__}: {error}", mark=mark)
    return WorkResult("failed", text=str(error), mark=mark)
