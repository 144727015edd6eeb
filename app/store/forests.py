"""Random forests that explain results: fitted one at a time in one thread while a page shows them, and cached."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from layouts.sources import Growth
from parsers import LineageRow, lineage_frame
from parsers.analysis import REFITS, Forest, available, forests
from parsers.deferred import pandas as pd

log = logging.getLogger(__name__)

MOST_KEPT = 8
LEFT_SECONDS = 20.0
"""Fitting stops if no page has asked for the forest for this long."""
LEFT_TO_OTHERS_SECONDS = 3.0
"""The same while another forest is waiting."""
RENEW_SECONDS = 60.0
"""A forest over runs that grow is fitted again at most this often."""

Grow = Callable[["pd.DataFrame", str], Iterator[Forest]]


@dataclass(eq=False)
class _Job:
    rows: tuple[LineageRow, ...]
    target: str
    state: str = "waiting"
    forest: Forest | None = None
    text: str = ""
    stopping: bool = False
    ended: float = 0.0
    asked: float = field(default_factory=time.monotonic)

    def outdated(self, rows: Sequence[LineageRow]) -> bool:
        """Return whether to start over: the job was abandoned, or it is done and its rows have changed."""
        if self.state == "left":
            return True
        if self.state != "done" or time.monotonic() - self.ended < RENEW_SECONDS:
            return False
        return any(mine is not other for mine, other in zip(self.rows, rows, strict=True))


class Forests:
    """Implements `layouts.sources.LineageSource.growth`. grow is `parsers.analysis.forests`."""

    def __init__(self, grow: Grow = forests, *, installed: Callable[[], bool] = available) -> None:
        self._grow = grow
        self._installed = installed
        self._lock = threading.Lock()
        self._jobs: dict[tuple[str, ...], _Job] = {}
        self._thread: threading.Thread | None = None

    def growth(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Growth:
        """Return the progress of the forest of these rows; start fitting it if there is none."""
        if not self._installed():
            return Growth("missing")
        key = (target, *(row.run for row in rows))
        with self._lock:
            job = self._jobs.pop(key, None)
            if job is None or job.outdated(rows) or (act == "again" and job.state not in ("waiting", "growing")):
                job = _Job(tuple(rows), target)
            self._jobs[key] = job  # reinserted, so that the newest request is last
            job.asked = time.monotonic()
            if act == "stop":
                self._cancel(job)
            self._evict()
            if self._thread is None and job.state == "waiting":
                self._thread = threading.Thread(target=self._work, name="mindscope-forests", daemon=True)
                self._thread.start()
            return Growth(job.state, REFITS, job.forest, job.text)

    def stop(self) -> None:
        """Stop all fitting."""
        with self._lock:
            for job in self._jobs.values():
                self._cancel(job)

    def _cancel(self, job: _Job) -> None:
        job.stopping = True
        if job.state == "waiting":
            job.state = "stopped"

    def _evict(self) -> None:
        for key in list(self._jobs)[: max(0, len(self._jobs) - MOST_KEPT)]:
            self._cancel(self._jobs.pop(key))

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                state = self._run(job)
            except Exception as error:  # scikit-learn names no errors for odd data; without this the page would wait forever
                log.exception("fitting a forest for %s failed", job.target)
                state, job.text = "failed", f"{type(error).__name__}: {error}"
            job.ended = time.monotonic()
            job.state = state

    def _next(self) -> _Job | None:
        """Return the waiting job requested last, which is the one on screen; the thread ends if there is none."""
        with self._lock:
            waiting = [job for job in self._jobs.values() if job.state == "waiting"]
            if not waiting:
                self._thread = None
                return None
            job = max(waiting, key=lambda one: one.asked)
            job.state = "growing"
            return job

    def _run(self, job: _Job) -> str:
        for forest in self._grow(lineage_frame(job.rows), job.target):
            job.forest = forest
            if job.stopping:
                return "stopped"
            if self._abandoned(job):
                return "left"
        return "done"

    def _abandoned(self, job: _Job) -> bool:
        with self._lock:
            others_wait = any(other.state == "waiting" for other in self._jobs.values())
        return time.monotonic() - job.asked > (LEFT_TO_OTHERS_SECONDS if others_wait else LEFT_SECONDS)
