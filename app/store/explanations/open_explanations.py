"""The explanations of runs: read and worked on in the background, and read again when their files have grown.

They are read when a page asks for them. What pages have stays valid while newer records are being read; then the mark changes.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from app.background import HELD, PATIENCE, Background, Task
from layouts.explanations.open_explanations import ExplanationWork, OpenExplanations
from layouts.kit.work import WorkResult
from parsers.explanations.access import RunExplanations
from parsers.explanations.snapshot import Explanations
from parsers.model import Problem

MOST_RUNS = 4
"""Runs whose explanations are kept, except those asked for within HELD seconds: 100,000 samples take about 200 MB."""
MEMORY_BYTES = 64 << 20
"""Memory limit for results of work. The most recent one, and those asked for within HELD seconds, stay whatever their size."""
MOST_RESULTS = 200
READ_SHARE = 0.1
"""Share of the time that reading growing files again may take."""
Found = Callable[[str, Sequence[Problem]], None]
"""Called with a run and the problems of its records."""


def _tell_nobody(_run: str, _problems: Sequence[Problem]) -> None:
    """See Found."""


@dataclass(slots=True)
class _HeldExplanations:
    """What is kept of one run. stamp is that of the records that were read, read when they were, cost the seconds it took."""

    of: RunExplanations
    stamp: object = None
    known: Explanations | None = None
    mark: str = ""
    reading: Task | None = None
    asked: float = field(default_factory=time.monotonic)
    read: float = 0.0
    cost: float = 0.0


class ExplainedRuns:
    """The explanations of a store. Any thread may use it."""

    def __init__(self, on_found: Found = _tell_nobody) -> None:
        """on_found is called by the threads that read."""
        self._background = Background("mindscope-explanations", memory=MEMORY_BYTES, most=MOST_RESULTS)
        self._on_found = on_found
        self._held: dict[str, _HeldExplanations] = {}
        self._lock = threading.Lock()
        self._base, self._marks = secrets.token_hex(4), itertools.count(1)

    def open(self, run: str, of: RunExplanations | None) -> OpenExplanations:
        """Return the explanations of a run; of reads them, None for a run without any."""
        if not of:
            with self._lock:
                self._held.pop(run, None)
            return OpenExplanations("missing")
        held = self._hold(run, of)
        self._follow(run, held)
        reading = held.reading
        if held.known is None and reading is not None:
            reading.ended.wait(PATIENCE)
        with self._lock:
            known, mark, is_behind = held.known, held.mark, held.stamp is not of.stamp
        if known is not None:
            return OpenExplanations("ready", known, mark, behind=is_behind)
        failed = reading is not None and reading.state == "failed"
        return OpenExplanations("failed", text=reading.text if reading else "") if failed else OpenExplanations("reading")

    def result(self, run: str, of: RunExplanations | None, work: ExplanationWork, *, again: bool = False) -> WorkResult:
        """Return the result of work, or its progress."""
        opened = self.open(run, of)
        if opened.explanations is None:
            return WorkResult("waiting" if opened.state == "reading" else opened.state, text=opened.text)
        known = opened.explanations

        job = partial(work.job, known)
        task = self._background.result(run, (run, work.name, work.key), opened.mark, job, again=again)
        return WorkResult(task.state, task.result, task.done, task.total, task.text, opened.mark)

    def cancel(self, run: str, work: ExplanationWork) -> None:
        """Stop work."""
        self._background.cancel((run, work.name, work.key))

    def stop(self) -> None:
        """Stop all work and wait for it."""
        self._background.stop()

    # Reading -----------------------------------------------------------------------------------------------------------

    def _hold(self, run: str, of: RunExplanations) -> _HeldExplanations:
        """Return what is held of a run; of another directory something new. Drop those not asked for longest."""
        with self._lock:
            held = self._held.pop(run, None)
            if held is None or held.of is not of:
                held = _HeldExplanations(of)
            held.asked = time.monotonic()
            self._held[run] = held
            old = [key for key, one in self._held.items() if held.asked - one.asked > HELD]
            for key in old[: max(len(self._held) - MOST_RUNS, 0)]:
                del self._held[key]
            return held

    def _follow(self, run: str, held: _HeldExplanations) -> None:
        """Have the records read, or read again if there are others, unless that is going on or was done just now."""
        with self._lock:
            reading = held.reading
            if reading is not None and not reading.ended.is_set():
                reading.asked = held.asked
                return
            if held.stamp is held.of.stamp or time.monotonic() - held.read < held.cost / READ_SHARE:
                return
            held.reading = self._background.begin(run, lambda _task: self._read(run, held))

    def _read(self, run: str, held: _HeldExplanations) -> None:
        begun, stamp = time.thread_time(), held.of.stamp
        known: Explanations | None = None
        try:
            found = held.of.snapshot()
            found.prepare()
            known = found
        finally:
            held.of.forget()
            with self._lock:  # together: otherwise `open` could call the previous snapshot up to date
                held.stamp, held.read, held.cost = stamp, time.monotonic(), time.thread_time() - begun
                if known is not None:
                    held.known, held.mark = known, f"{self._base}.{next(self._marks):x}"
        self._background.forget(run)
        self._on_found(run, found.problems)
