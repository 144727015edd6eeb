"""Work in the background: who comes first, how far it is, its results, and its end.

At most `slots` tasks compute at a time. First come those somebody looks at, of these one whose owner has no other at work, then
the one that has had the least time. A task that has computed for SLICE seconds gives way to others whenever it reports, so
small tasks are done while long ones go on. A large task begins only while another slot is left for small ones, and owners take
turns, so that nobody's work holds up everybody else's. Small tasks come before larger ones unless these have waited for AGED
seconds. A task that computes for OVERTIME seconds without giving way, and a large one that began LONG seconds ago, no longer
keep others from beginning, up to MOST_OVERTIME of them: a slow file is no reason to wait for minutes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from app.store.sizes import size_of
from parsers.errors import MindscopeError
from parsers.profiler.progress import Cancelled

log = logging.getLogger(__name__)

SLOTS = 2
"""Tasks that compute at the same time. Python computes one at a time; another may wait for the disk."""
SLICE = 0.2
"""Seconds after which a task gives way."""
RECENT = 5.0
"""Seconds after a page asked for a task during which somebody looks at it."""
MOST_THREADS = 24
"""Tasks that have begun; further ones wait until one of them ends."""
PATIENCE = 0.15
"""Seconds a caller waits, so that small work is returned with the first answer."""
HELD = 30.0
"""Seconds after a result was asked for, during which it is kept whatever its size."""
AGED = 10.0
"""Seconds after which a task has waited so long that smaller ones no longer come before it."""
OVERTIME = 2.0
"""Seconds of computing without giving way, after which a task takes no slot."""
LONG = 10.0
"""Seconds after which a large task that has begun leaves its place to another."""
MOST_OVERTIME = 2
"""Tasks beside the slots, and large ones beside their number, that compute while others take long."""
LARGE_BYTES = 64 << 20
"""Tasks that read at least this many bytes are large."""
JOIN_SECONDS = 10.0
"""Seconds that `Background.stop` waits for threads whose work was cancelled."""


@dataclass(slots=True, eq=False)
class Task:
    """Work that waits, is being done, or has ended. Times are those of the clock of the background.

    state: "waiting", "working", "ready", "cancelled" or "failed" (text is the reason); `done` of `total` is done. lane: tasks
    of one lane are never done at the same time. size: bytes it has to read, 0 for little. asked is when a page last asked for
    it, used the seconds it has computed, since the time its turn began (None: it has none). about says what it reads, and of
    which run.
    """

    background: Background
    owner: Hashable
    job: Callable[[Task], Any]
    mark: str = ""
    lane: Hashable = None
    size: int = 0
    kept: bool = True
    about: tuple[str, str] = ("", "")
    state: str = "waiting"
    result: Any = None
    cost: int = 0
    done: int = 0
    total: int = 0
    text: str = ""
    added: float = 0.0
    asked: float = 0.0
    used: float = 0.0
    since: float | None = None
    begun: bool = False
    begun_at: float = 0.0
    is_aside: bool = False
    cancelled: bool = False
    ended: threading.Event = field(default_factory=threading.Event)
    on_cancel: Callable[[], None] | None = None
    after: Callable[[], None] | None = None
    """Called once it has ended, when nobody waits for it any more, before others of its lane begin."""

    def __call__(self, done: int, total: int, result: Any = None) -> None:
        """Report progress and what was found so far, and let others compute. Raises Cancelled if the task was cancelled."""
        self.give_way()
        self.done, self.total = done, total
        if result is not None:
            self.result = result

    @property
    def is_wanted(self) -> bool:
        """Whether somebody looks at it."""
        return self.background.clock() - self.asked < RECENT

    def check(self) -> None:
        """Raise Cancelled if the task was cancelled."""
        if self.cancelled:
            raise Cancelled

    def give_way(self) -> None:
        """Let others compute if they wait and this one has had its time. Raises Cancelled if it was cancelled.

        Call it without holding a lock that another task may need.
        """
        self.check()
        self.background.give_way(self)

    def aside(self) -> Any:
        """Let others compute while this one waits for something, within the returned context."""
        return self.background.aside(self)

    def when_cancelled(self, stop: Callable[[], None]) -> None:
        """Have this called when the task is cancelled, at once if it was: it ends what the task waits for."""
        with self.background.lock:
            self.on_cancel = stop
            if self.cancelled:
                stop()


Job = Callable[[Task], Any]
"""Does the work of a task and returns the result; raises Cancelled, or an error."""


class Background:
    """Does tasks of one kind and keeps their results by key. Any thread may use it."""

    def __init__(
        self, name: str, *, slots: int = SLOTS, memory: int | None = None, most: int | None = None,
        plain: tuple[type[Exception], ...] = (MindscopeError, OSError), large: int = LARGE_BYTES,
        clock: Callable[[], float] = time.monotonic, threads: bool = True,
    ) -> None:  # fmt: skip
        """name is that of the threads. Without threads, tasks are done by `step`, and nobody waits.

        At most this many results are kept, up to memory bytes; the latest and those asked for within HELD seconds always are.
        plain are the errors whose text says enough; of others the type is named, too, and they are logged.
        """
        self.name, self.slots, self.clock = name, slots, clock
        self._memory, self._most, self._plain, self._large = memory, most, plain, large
        self._has_threads = threads
        self._queue: list[Task] = []
        self._tasks: dict[Hashable, Task] = {}
        self._served: dict[Hashable, float] = {}
        self._threads: list[threading.Thread] = []
        self.lock = threading.RLock()
        self._wake = threading.Condition(self.lock)
        self._stopping = False

    # For those who want work done --------------------------------------------------------------------------------------

    def begin(self, owner: Hashable, job: Job, *, lane: Hashable = None, size: int = 0) -> Task:
        """Have work done whose result is not kept here."""
        task = self._task(owner, job, lane=lane, size=size)
        with self.lock:
            self._add(task)
        return task

    def result(
        self, owner: Hashable, key: Hashable, mark: str, job: Job, *, again: bool = False, lane: Hashable = None, size: int = 0,
        kept: bool = True, overtaken: bool = True, about: tuple[str, str] = ("", ""),
    ) -> Task:  # fmt: skip
        """Return the work of this key on what has this mark, begun if it was not; again: also if it was cancelled or failed.

        kept=False: the result is not kept here. overtaken=False: work that goes on is finished even if the mark has changed.
        """
        with self.lock:
            task = self._tasks.pop(key, None)
            if task is not None:
                changed = task.mark != mark and (overtaken or task.ended.is_set())
                if changed or (again and task.ended.is_set() and task.state in ("cancelled", "failed")):
                    self._cancel(task)
                    task = None
            if task is None:
                task = self._task(owner, job, mark=mark, lane=lane, size=size, kept=kept)
                task.about = about
                self._add(task)
            task.asked = self.clock()
            self._tasks[key] = task
            self._choose()  # others may have taken so long that they no longer take a slot
        if self._has_threads:
            task.ended.wait(PATIENCE)
        return task

    def find(self, key: Hashable) -> Task | None:
        """Return the work of this key, None if there is none. This does not count as asking for it."""
        with self.lock:
            return self._tasks.get(key)

    def cancel(self, key: Hashable) -> None:
        """Stop the work of this key."""
        with self.lock:
            task = self._tasks.get(key)
            if task is not None:
                self._cancel(task)

    def cancel_task(self, task: Task) -> None:
        """Stop a task."""
        with self.lock:
            self._cancel(task)

    def cancel_all(self) -> None:
        """Stop all work, and do not wait for it."""
        with self.lock:
            for task in list(self._queue):
                self._cancel(task)

    def forget(self, owner: Hashable) -> None:
        """Drop the results of an owner, which has changed."""
        with self.lock:
            for key, task in list(self._tasks.items()):
                if task.owner == owner and task.ended.is_set():
                    del self._tasks[key]

    def at_work(self, seconds: float) -> set[Hashable]:
        """Return the owners of work kept here that somebody waits for and that was added less than this long ago."""
        now = self.clock()
        with self.lock:
            tasks = list(self._tasks.values())
        return {task.owner for task in tasks if not task.ended.is_set() and task.is_wanted and now - task.added < seconds}

    def ahead(self, task: Task) -> Task | None:
        """Return the work that a task waits for: that of its lane, or else the one that began first; None if there is none."""
        with self.lock:
            others = [one for one in self._queue if one is not task and one.begun and not one.ended.is_set()]
            same = [one for one in others if task.lane is not None and one.lane == task.lane]
            return min(same or others, key=lambda one: one.begun_at, default=None)

    @property
    def is_busy(self) -> bool:
        """Whether there is work that has not ended."""
        with self.lock:
            return bool(self._queue)

    @property
    def waits(self) -> bool:
        """Whether there is work that waits for its turn."""
        with self.lock:
            return any(task.since is None and not task.is_aside for task in self._queue)

    def stop(self, *, finish: bool = False) -> None:
        """Cancel all work, or finish it, and wait for its end."""
        while finish and self.is_busy:
            with self.lock:
                tasks = list(self._queue)
            for task in tasks:
                task.ended.wait()
        with self.lock:
            self._stopping = True
            for task in list(self._queue):
                self._cancel(task)
            self._wake.notify_all()
        end = time.monotonic() + JOIN_SECONDS
        for thread in list(self._threads):
            thread.join(max(0.0, end - time.monotonic()))

    def step(self) -> bool:
        """Do the task that comes first, in this thread; return whether there was one. Only without threads."""
        with self.lock:
            task = self._first()
            if task is None:
                return False
            self._take(task)
            task.begun, task.begun_at = True, self.clock()
        self._do(task)
        return True

    # For tasks -----------------------------------------------------------------------------------------------------------

    def give_way(self, task: Task) -> None:
        """See `Task.give_way`."""
        if not self._has_threads or task.since is None or self.clock() - task.since < SLICE:
            return
        with self.lock:
            self._leave(task)
            self._choose()
            self._wait(task)

    @contextmanager
    def aside(self, task: Task) -> Iterator[None]:
        """See `Task.aside`."""
        with self.lock:
            self._leave(task)
            task.is_aside = True
            self._choose()
        try:
            yield
        finally:
            with self.lock:
                task.is_aside = False
                self._choose()
                self._wait(task)

    # With the lock -------------------------------------------------------------------------------------------------------

    def _task(
        self, owner: Hashable, job: Job, *, mark: str = "", lane: Hashable = None, size: int = 0, kept: bool = True
    ) -> Task:
        now = self.clock()
        return Task(self, owner, job, mark, lane, size, kept, added=now, asked=now)

    def _add(self, task: Task) -> None:
        if self._stopping:
            task.cancelled, task.state = True, "cancelled"
            task.ended.set()
            return
        self._queue.append(task)
        self._choose()

    def _cancel(self, task: Task) -> None:
        if task.ended.is_set():
            return
        task.cancelled = True
        if not task.begun:
            self._queue.remove(task)
            task.state = "cancelled"
            task.ended.set()
        elif task.on_cancel is not None:
            task.on_cancel()
        self._wake.notify_all()

    def _take(self, task: Task) -> None:
        """Give a slot to a task."""
        task.since = self._served[task.owner] = self.clock()

    def _leave(self, task: Task) -> None:
        """End the turn of a task."""
        if task.since is not None:
            task.used += self.clock() - task.since
            task.since = None

    def _first(self) -> Task | None:
        """Return the task that comes first, None if none may compute now."""
        now = self.clock()
        computing = [task for task in self._queue if task.since is not None]
        late = sum(now - task.since > OVERTIME for task in computing if task.since is not None)
        if len(computing) - min(late, MOST_OVERTIME) >= self.slots:
            return None
        begun = [task for task in self._queue if task.begun]
        lanes = {task.lane for task in begun} - {None}
        heavy = [task for task in begun if task.size >= self._large]
        large = len(heavy) - min(sum(now - task.begun_at > LONG for task in heavy), MOST_OVERTIME)
        full, most_large = len(begun) >= MOST_THREADS, max(self.slots - 1, 1)

        def may_begin(task: Task) -> bool:
            return not full and task.lane not in lanes and (task.size < self._large or large < most_large)

        waiting = [
            task for task in self._queue
            if task.since is None and not task.is_aside and not task.ended.is_set() and (task.begun or may_begin(task))
        ]  # fmt: skip
        owners = [task.owner for task in computing]
        return min(waiting, default=None, key=lambda task: (
            not task.is_wanted, owners.count(task.owner), task.used,
            0 if now - task.added > AGED else (64 * task.size // self._large).bit_length(),
            self._served.get(task.owner, float("-inf")), -task.asked,
        ))  # fmt: skip

    def _choose(self) -> None:
        """Give free slots to the tasks that come first."""
        while self._has_threads and (task := self._first()) is not None:
            self._take(task)
            if task.begun:
                self._wake.notify_all()
                continue
            task.begun, task.begun_at = True, self.clock()
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            self._threads.append(threading.Thread(target=self._do, args=(task,), name=self.name, daemon=True))
            self._threads[-1].start()

    def _wait(self, task: Task) -> None:
        """Wait for the turn of a task. Raises Cancelled if it was cancelled."""
        while self._has_threads and task.since is None and not (task.cancelled or self._stopping):
            self._wake.wait(1.0)  # who is looked at changes with time
            self._choose()
        if task.cancelled or self._stopping:
            raise Cancelled

    def _remove(self, task: Task) -> None:
        """Free the slot and the lane of a task that has ended."""
        self._leave(task)
        self._queue.remove(task)
        if all(one.owner != task.owner for one in self._queue):
            self._served.pop(task.owner, None)
        self._choose()

    def _evict(self) -> None:
        """Drop results that exceed the limits, those first that were not asked for longest."""
        now = self.clock()
        total, left = sum(task.cost for task in self._tasks.values()), len(self._tasks)
        for key, task in list(self._tasks.items())[:-1]:
            if (self._memory is None or total <= self._memory) and (self._most is None or left <= self._most):
                break
            if task.ended.is_set() and now - task.asked > HELD:
                del self._tasks[key]
                total, left = total - task.cost, left - 1

    # The threads ---------------------------------------------------------------------------------------------------------

    def _do(self, task: Task) -> None:
        task.state = "working"
        state, text, result, cost = "failed", "", None, 0
        try:
            task.check()
            result = task.job(task)
            cost = size_of(result) if task.kept and self._memory is not None else 0
            state = "ready"
        except Cancelled:
            state = "cancelled"
        except self._plain as error:
            text = str(error)
        except Exception as error:  # without this a page would wait forever after a bug that its files trigger
            log.exception("work on %r failed", task.owner)
            text = f"{type(error).__name__}: {error}"
        with self.lock:
            if state == "ready" and task.kept:
                task.result, task.cost = result, cost
            task.text, task.state = text, state
            if state == "ready" and not task.kept:
                self._tasks = {key: one for key, one in self._tasks.items() if one is not task}
            self._evict()
            task.ended.set()
            if task.after is None:
                self._remove(task)
                return
        try:
            task.after()
        except Exception:  # the result is already published; a bug in the follow-up must not end the thread of other tasks
            log.exception("the follow-up of work on %r failed", task.owner)
        finally:
            with self.lock:
                self._remove(task)
