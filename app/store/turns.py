"""Threads that do tasks in turns: at most SLOTS compute at a time, those somebody looks at first, and no one holds up another.

A task that has computed for SLICE seconds gives way to those that wait: first those somebody looks at, of these one whose owner
has no other at work, of these the one that has had the least time. So small tasks are done while long ones go on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from parsers.profiler.progress import Cancelled

SLOTS = 2
"""Tasks that compute at the same time. Python computes one at a time; another may wait for the disk."""
SLICE = 0.2
"""Seconds after which a task gives way."""
RECENT = 5.0
"""Seconds after a page asked for a task during which somebody looks at it."""
MOST_THREADS = 24
"""Tasks that have begun; further ones wait until one of them ends."""


@dataclass(slots=True, eq=False)
class Turn:
    """A task among others.

    asked is when a page last asked for it, used the seconds it has computed, since the time its turn began (None: it has none).
    """

    owner: Hashable
    work: Callable[[], None]
    asked: float = field(default_factory=time.monotonic)
    used: float = 0.0
    since: float | None = None
    begun: bool = False
    aside: bool = False
    cancelled: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def is_wanted(self) -> bool:
        """Whether somebody looks at it."""
        return time.monotonic() - self.asked < RECENT


class Turns:
    """Does tasks. Any thread may add them; `give_way` and `aside` are called by the tasks themselves."""

    def __init__(self, name: str) -> None:
        """name is that of the threads."""
        self._name = name
        self._turns: list[Turn] = []
        self._threads: list[threading.Thread] = []
        self._wake = threading.Condition()
        self._stopping = False

    def add(self, turn: Turn) -> None:
        """Have a task done."""
        with self._wake:
            if self._stopping:
                turn.cancelled = True
                turn.ended.set()
                return
            self._turns.append(turn)
            self._choose()

    def cancel(self, turn: Turn) -> bool:
        """Cancel a task; return whether it had not begun, so that it has ended now."""
        with self._wake:
            turn.cancelled = True
            if not turn.begun and turn in self._turns:
                self._turns.remove(turn)
                turn.ended.set()
                return True
            self._wake.notify_all()
            return False

    def give_way(self, turn: Turn) -> None:
        """Let others compute if they wait and this one has had its time. Raises Cancelled if it was cancelled."""
        if turn.cancelled:
            raise Cancelled
        if turn.since is None or time.monotonic() - turn.since < SLICE:
            return
        with self._wake:
            self._leave(turn)
            self._choose()
            self._wait(turn)

    @contextmanager
    def aside(self, turn: Turn) -> Iterator[None]:
        """Let others compute while this one waits for something."""
        with self._wake:
            self._leave(turn)
            turn.aside = True
            self._choose()
        try:
            yield
        finally:
            with self._wake:
                turn.aside = False
                self._choose()
                self._wait(turn)

    def stop(self) -> None:
        """Cancel all tasks and wait for them."""
        with self._wake:
            self._stopping = True
            for turn in list(self._turns):
                turn.cancelled = True
                if not turn.begun:
                    self._turns.remove(turn)
                    turn.ended.set()
            self._wake.notify_all()
        for thread in list(self._threads):
            thread.join(timeout=10)

    # With the lock -------------------------------------------------------------------------------------------------

    def _leave(self, turn: Turn) -> None:
        """End the turn of a task."""
        if turn.since is not None:
            turn.used += time.monotonic() - turn.since
            turn.since = None

    def _choose(self) -> None:
        """Give free slots to the tasks that come first."""
        while True:
            computing = [turn for turn in self._turns if turn.since is not None]
            if len(computing) >= SLOTS:
                return
            full = sum(turn.begun for turn in self._turns) >= MOST_THREADS
            waiting = [turn for turn in self._turns if turn.since is None and not turn.aside and (turn.begun or not full)]
            if not waiting:
                return
            owners = [turn.owner for turn in computing]
            first = min(waiting, key=lambda turn: (not turn.is_wanted, owners.count(turn.owner), turn.used, -turn.asked))
            first.since = time.monotonic()
            if first.begun:
                self._wake.notify_all()
                continue
            first.begun = True
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            self._threads.append(threading.Thread(target=self._do, args=(first,), name=self._name, daemon=True))
            self._threads[-1].start()

    def _wait(self, turn: Turn) -> None:
        """Wait for the turn of a task. Raises Cancelled if it was cancelled."""
        while turn.since is None and not (turn.cancelled or self._stopping):
            self._wake.wait(1.0)  # who is looked at changes with time
            self._choose()
        if turn.cancelled or self._stopping:
            raise Cancelled

    def _do(self, turn: Turn) -> None:
        try:
            turn.work()
        finally:
            with self._wake:
                self._leave(turn)
                self._turns.remove(turn)
                turn.ended.set()
                self._choose()
