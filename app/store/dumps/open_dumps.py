"""The dumps of runs: listed and worked on in the background, followed while they are written.

A dump is listed when a page asks for it. While pages are open it is looked at again: its directories are compared, and only
if one changed it is listed anew, as another `RunDump`, so the rows of the one before stay valid for those who still use it.
Results of work are kept in memory up to a limit, statistics of tensors in the index (`app.store.dumps.measuring`).
"""

from __future__ import annotations

import itertools
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.background import HELD, PATIENCE, Background, Task
from app.store.dumps.measuring import Measuring
from layouts.dumps.open_dump import DumpView, DumpWork, OpenDump
from layouts.kit.work import WorkResult
from parsers.dumps.access import RunDump
from parsers.model import Ints, Problem, Source

MEMORY_BYTES = 256 << 20
"""Memory limit for results. The most recent one, and those asked for within HELD seconds, stay whatever their size."""
MOST_KEPT = 500
"""Results that are kept; those not asked for longest are dropped."""
MOST_DUMPS = 4
"""Listed dumps that are kept, except those asked for within HELD seconds: one of 100,000 files takes 50 MB."""
FOLLOWED = 3600.0
"""Seconds after a dump was last asked for, during which it is followed."""
LOOK_SHARE = 0.05
"""Share of the time that listing a growing dump may take."""
UNDISTURBED = 60.0
"""Seconds that work on a dump may take before a change of the dump begins it anew."""
RETRY = 10.0
"""Seconds after which a dump that could not be listed is listed again."""
Found = Callable[[str, Sequence[Problem], bool], None]
"""Called with a run, the problems of its dump, and whether its rows changed."""


def _tell_nobody(_run: str, _problems: Sequence[Problem], _changed: bool) -> None:
    """See Found."""


class _DumpWorkReport:
    """Reports the progress of a task, and has tensors measured for it (`layouts.dumps.open_dump.DumpReport`)."""

    def __init__(self, task: Task, dump: DumpView, measuring: Measuring) -> None:
        self._task, self._dump, self._measuring = task, dump, measuring
        self._told = False
        self._here = 0  # bytes that this thread has measured: many small amounts are much

    def measure(self, rows: Ints, *, computed: bool = False, of: DumpView | None = None) -> None:
        """See `layouts.dumps.open_dump.DumpReport`."""
        dump = self._dump if of is None else of
        rows = np.asarray(rows, np.int64)
        if not isinstance(dump, RunDump):
            dump.measured(rows, computed=computed)
            return
        if not len(dump.unmeasured(rows, computed=computed)):
            return
        with self._task.aside():
            missing, size = self._measuring.missing(dump, rows, computed=computed)
        if not len(missing):
            return
        if self._measuring.is_little(self._here + size):
            self._here += size
            dump.measured(missing, computed=computed, progress=self._progress)
            self._measuring.touch(dump)
            return
        with self._task.aside():
            self._measuring.measure(dump, missing, size, self._progressed, lambda: self._task.is_wanted)

    def _progress(self, done: int, total: int) -> bool:
        """Take the progress of measuring in this thread; Cancelled if it was cancelled."""
        self._task.give_way()
        return self._progressed(done, total)

    def _progressed(self, done: int, total: int) -> bool:
        """Take the progress of measuring, unless the work tells its own."""
        if not self._told:
            self._task.done, self._task.total = done, total
        return not self._task.cancelled

    def __call__(self, done: int, total: int, result: Any = None) -> None:
        """See `layouts.dumps.open_dump.DumpReport`."""
        self._told = True
        self._task(done, total, result)


@dataclass(slots=True)
class _HeldDump:
    """The dump of a run: dump is the one that pages have, None until it is listed; mark changes whenever rows do.

    coming is listed instead of it. problems are those that were told last, failures how many tensors could not be read then.
    asked is when a page last asked for it, looked when it was last looked at, cost how long that took in seconds.
    """

    run: str
    coming: RunDump
    dump: RunDump | None = None
    mark: str = ""
    listing: Task | None = None
    problems: tuple[Problem, ...] = ()
    failures: int = 0
    asked: float = field(default_factory=time.monotonic)
    looked: float = 0.0
    cost: float = 0.0


class Dumps:
    """The dumps of a store. Any thread may use it."""

    def __init__(
        self,
        index_directory: str | None = None,
        *,
        interval: float = 3.0,
        memory: int = MEMORY_BYTES,
        measuring: Measuring | None = None,
        on_found: Found = _tell_nobody,
    ) -> None:
        """interval: seconds between two looks at a dump, 0 for none. on_found is called by the threads that work."""
        self._background = Background("mindscope-dumps", memory=memory, most=MOST_KEPT)
        self._measuring = measuring or Measuring(index_directory)
        self._interval, self._on_found = interval, on_found
        self._held: dict[str, _HeldDump] = {}
        self._lock = threading.Lock()
        self._telling = threading.Lock()
        self._base, self._marks = secrets.token_hex(4), itertools.count(1)

    def open(self, run: str, sources: Sequence[Source]) -> OpenDump:
        """Return the dump in the directories of the ranks of a run."""
        held = self._hold(run, sources)
        if held is None:
            return OpenDump("missing")
        if held.dump is None:
            self._list(held)
            listing = held.listing
            if listing is not None:
                listing.ended.wait(PATIENCE)
        if held.dump is not None:
            return OpenDump("ready", held.dump, held.mark)
        listing = held.listing
        return OpenDump("failed", text=listing.text) if listing and listing.state == "failed" else OpenDump("reading")

    def result(self, run: str, sources: Sequence[Source], work: DumpWork, *, again: bool = False) -> WorkResult:
        """Return the result of work, or its progress."""
        opened = self.open(run, sources)
        if opened.dump is None:
            return WorkResult("waiting" if opened.state == "reading" else opened.state, text=opened.text)
        return self.work_on(run, opened.dump, opened.mark, work, again=again)

    def work_on(self, run: str, dump: DumpView, mark: str, work: DumpWork, *, again: bool = False) -> WorkResult:
        """Return the result of work on a dump with this mark, or its progress."""
        def do(task: Task) -> Any:
            try:
                return work.job(dump, _DumpWorkReport(task, dump, self._measuring))
            finally:
                held = self._held.get(run)
                if held is not None and held.dump is dump:
                    self._tell(held)

        task = self._background.result(run, (run, work.name, work.key), mark, do, again=again)
        return WorkResult(task.state, task.result, task.done, task.total, task.text, mark)

    def cancel(self, run: str, work: DumpWork) -> None:
        """Stop work."""
        self._background.cancel((run, work.name, work.key))

    def problems(self, run: str) -> tuple[Problem, ...]:
        """Return the damage found so far in the dump of a run."""
        held = self._held.get(run)
        return held.problems if held is not None else ()

    def look(self) -> None:
        """Look in the background whether dumps have changed that are on screen or were lately. Costs nothing here."""
        now = time.monotonic()
        with self._lock:
            every = list(self._held.values()) if self._interval else []
        busy = self._background.at_work(UNDISTURBED)
        for held in every:
            if held.dump is None or now - held.asked > FOLLOWED:
                continue
            due = now - held.looked > max(self._interval, held.cost / LOOK_SHARE) and held.run not in busy
            if due or held.dump.failures != held.failures:
                self._list(held)

    def stop(self) -> None:
        """Stop all work, keep the statistics, and wait for both."""
        self._background.cancel_all()
        self._measuring.stop()
        self._background.stop()

    # Dumps -----------------------------------------------------------------------------------------------------------

    def _hold(self, run: str, sources: Sequence[Source]) -> _HeldDump | None:
        """Return what is held of the dump of a run; of new directories a new one."""
        directories = tuple(path for source in sources for path in source.dump_dirs)
        with self._lock:
            if not directories:
                self._held.pop(run, None)
                return None
            held = self._held.pop(run, None)
            base = os.path.commonpath([source.path for source in sources])
            if held is None or held.coming.base != base:
                held = _HeldDump(run, RunDump(base, directories))
            elif held.coming.directories != directories:
                held.coming, held.looked = held.coming.successor(directories), 0.0
            held.asked = time.monotonic()
            self._held[run] = held
            old = [one for one in self._held.values() if held.asked - one.asked > HELD]
            for one in old[: max(len(self._held) - MOST_DUMPS, 0)]:
                del self._held[one.run]
            return held

    def _list(self, held: _HeldDump) -> None:
        """Have a dump listed, or looked at if it is, unless that is going on."""
        with self._lock:
            listing = held.listing
            failed_lately = listing is not None and listing.state == "failed" and time.monotonic() - held.looked < RETRY
            if listing is not None and (not listing.ended.is_set() or failed_lately):
                listing.asked = held.asked
                return
            held.looked = time.monotonic()
            held.listing = self._background.begin(held.run, lambda _task: self._look(held))

    def _look(self, held: _HeldDump) -> None:
        """List a dump that has not been listed, or has changed since."""
        begun = time.thread_time()
        if held.dump is held.coming and not held.coming.stale():
            self._tell(held)
            return
        fresh = held.coming.successor() if held.dump is held.coming else held.coming
        fresh.tensors  # noqa: B018 - lists it
        before = held.dump
        if before is not None and before.directories == fresh.directories and before.confirm(fresh):
            held.cost = time.thread_time() - begun
            self._tell(held)
            return
        if before is not None:
            self._measuring.succeed(before, fresh)
        with self._lock:
            held.coming = held.dump = fresh
            held.mark = f"{self._base}.{next(self._marks):x}"
        self._background.forget(held.run)
        held.cost = time.thread_time() - begun
        self._tell(held, changed=before is not None)

    def _tell(self, held: _HeldDump, *, changed: bool = False) -> None:
        """Tell what is new: problems, or changed rows."""
        with self._telling:
            held.failures = held.dump.failures if held.dump is not None else 0
            problems = held.dump.problems if held.dump is not None else ()
            if changed or problems != held.problems:
                held.problems = problems
                self._on_found(held.run, problems, changed)
