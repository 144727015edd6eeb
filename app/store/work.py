"""Work on what runs hold: done in the background in turns, its results kept until what it was done on has changed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from app.store.sizes import size_of
from app.store.turns import Turn, Turns
from parsers.errors import MindscopeError
from parsers.profiler.progress import Cancelled

log = logging.getLogger(__name__)

PATIENCE = 0.15
"""Seconds a caller waits, so that small work is returned with the first answer."""
HELD = 30.0
"""Seconds after a result was asked for, during which it is kept whatever its size."""


@dataclass(slots=True)
class Task:
    """Work that is to be done, is being done, or has ended. mark is that of what it is done on; began is in monotonic seconds.

    state: "waiting", "working", "ready", "cancelled" or "failed" (text is the reason). It has done so much of total.
    """

    mark: str
    turn: Turn
    began: float = field(default_factory=time.monotonic)
    state: str = "waiting"
    result: Any = None
    size: int = 0
    done: int = 0
    total: int = 0
    text: str = ""

    @property
    def ended(self) -> threading.Event:
        """Set when it has ended."""
        return self.turn.ended


Job = Callable[[Task], Any]
"""Does the work of a task and returns the result; raises Cancelled, or an error of ours or of the system."""


class Report:
    """Tells a task how far its work is, and lets others compute."""

    def __init__(self, task: Task, turns: Turns) -> None:
        self.task, self.turns = task, turns

    def __call__(self, done: int, total: int, result: Any = None) -> None:
        """Say that so much of total is done, and what was found so far. Raises Cancelled if the work was cancelled."""
        self.turns.give_way(self.task.turn)
        self.task.done, self.task.total = done, total
        if result is not None:
            self.task.result = result


class Works:
    """Tasks of runs, by key, and their results. Any thread may use it."""

    def __init__(self, turns: Turns, *, memory: int, most: int) -> None:
        """Results are kept up to memory bytes and this many; the latest and those asked for within HELD seconds always are."""
        self.turns = turns
        self._memory, self._most = memory, most
        self._tasks: dict[tuple[str, Hashable], Task] = {}
        self._lock = threading.Lock()

    def begin(self, run: str, job: Job) -> Task:
        """Have work done whose result is not kept here."""
        task = self._task(run, "", job)
        self.turns.add(task.turn)
        return task

    def result(self, run: str, key: Hashable, mark: str, job: Job, *, again: bool = False) -> Task:
        """Return the work of this key on what has this mark, begun if it was not; again: also if it was cancelled or failed."""
        with self._lock:
            task = self._tasks.pop((run, key), None)
            if task is not None and (task.mark != mark or (again and task.state in ("cancelled", "failed"))):
                self.turns.cancel(task.turn)
                task = None
            made = task is None
            if task is None:
                task = self._task(run, mark, job)
            task.turn.asked = time.monotonic()
            self._tasks[run, key] = task
        if made:
            self.turns.add(task.turn)
        task.ended.wait(PATIENCE)
        return task

    def cancel(self, run: str, key: Hashable) -> None:
        """Stop work."""
        with self._lock:
            task = self._tasks.get((run, key))
        if task is not None and not task.ended.is_set() and self.turns.cancel(task.turn):
            task.state = "cancelled"

    def cancel_all(self) -> None:
        """Stop all work, and do not wait for it."""
        with self._lock:
            for task in self._tasks.values():
                task.turn.cancelled = True

    def forget(self, run: str) -> None:
        """Drop the results of a run, which has changed."""
        with self._lock:
            for key, task in list(self._tasks.items()):
                if key[0] == run and task.ended.is_set():
                    del self._tasks[key]

    def at_work(self, seconds: float) -> set[Hashable]:
        """Return the runs with work that somebody waits for and that began less than this long ago."""
        now = time.monotonic()
        with self._lock:
            tasks = list(self._tasks.values())
        return {
            task.turn.owner for task in tasks
            if not task.ended.is_set() and task.turn.is_wanted and now - task.began < seconds
        }  # fmt: skip

    def stop(self) -> None:
        """Stop all work and wait for it."""
        self.turns.stop()

    def _task(self, run: str, mark: str, job: Job) -> Task:
        """Return work as a task, which has not been added to the turns."""
        task = Task(mark, Turn(run, lambda: self._do(task, job)))
        return task

    def _do(self, task: Task, job: Job) -> None:
        task.state = "working"
        state, text = "failed", ""
        try:
            result = job(task)
            task.size = size_of(result)
            task.result, state = result, "ready"
        except Cancelled:
            state = "cancelled"
        except (MindscopeError, OSError) as error:
            text = str(error)
        except Exception as error:  # without this a page would wait forever after a bug that its files trigger
            log.exception("work on %r failed", task.turn.owner)
            text = f"{type(error).__name__}: {error}"
        task.text, task.state = text, state
        self._evict()

    def _evict(self) -> None:
        """Drop results that exceed the limits, those first that were not asked for longest."""
        now = time.monotonic()
        with self._lock:
            total, left = sum(task.size for task in self._tasks.values()), len(self._tasks)
            for key, task in list(self._tasks.items())[:-1]:
                if total <= self._memory and left <= self._most:
                    break
                if task.ended.is_set() and now - task.turn.asked > HELD:
                    del self._tasks[key]
                    total, left = total - task.size, left - 1
