"""Shares of settings in results: fitted in the background in turns, while a page shows them, and cached."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.background import Background, Task
from layouts.lineage.source import Fitting
from parsers import LineageRow, lineage_frame
from parsers.analysis import REFITS, Shares, variance_shares
from parsers.caches import Cache
from parsers.deferred import pandas as pd
from parsers.profiler.progress import Cancelled

MOST_KEPT = 8
LEFT_SECONDS = 20.0
"""Fitting stops if no page has asked for the shares for this long."""
LEFT_TO_OTHERS_SECONDS = 3.0
"""The same while other shares are waiting."""
RENEW_SECONDS = 60.0
"""Shares over runs that grow are fitted again at most this often."""

Fit = Callable[["pd.DataFrame", str], Iterator[Shares]]


@dataclass(eq=False)
class _ShareFit:
    """Shares that are fitted to rows, or were; left: they were abandoned."""

    rows: tuple[LineageRow, ...]
    task: Task
    ended: float = 0.0
    left: bool = False

    @property
    def state(self) -> str:
        """The state as pages know it."""
        return "left" if self.left else _STATES[self.task.state]

    def outdated(self, rows: Sequence[LineageRow]) -> bool:
        """Return whether to start over: it was abandoned, or it is done and its rows have changed."""
        if self.state == "left":
            return True
        if self.state != "done" or time.monotonic() - self.ended < RENEW_SECONDS:
            return False
        return any(mine is not other for mine, other in zip(self.rows, rows, strict=True))


_STATES = {"waiting": "waiting", "working": "fitting", "ready": "done", "cancelled": "stopped", "failed": "failed"}


class Fittings:
    """Implements `layouts.lineage.source.LineageSource.fitting`. fit is `parsers.analysis.variance_shares`."""

    def __init__(self, fit: Fit = variance_shares) -> None:
        self._fit = fit
        self._lock = threading.Lock()
        self._fits: Cache[tuple[str, ...], _ShareFit] = Cache(MOST_KEPT)
        self._background = Background("mindscope-shares", slots=1, plain=())

    def fitting(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Fitting:
        """Return the progress of the shares of these rows; start to fit them if there are none."""
        key = (target, *(row.run for row in rows))
        with self._lock:
            fit = self._fits.get(key)
            if fit is None or fit.outdated(rows) or (act == "again" and fit.task.ended.is_set()):
                fit = self._begin(tuple(rows), target)
                for evicted in self._fits.put(key, fit):
                    self._background.cancel_task(evicted.task)
            fit.task.asked = time.monotonic()
            if act == "stop":
                self._background.cancel_task(fit.task)
            return Fitting(fit.state, REFITS, fit.task.result, fit.task.text)

    def stop(self) -> None:
        """Stop all fitting and wait for its end."""
        self._background.stop()

    def _begin(self, rows: tuple[LineageRow, ...], target: str) -> _ShareFit:
        def job(task: Task) -> Shares | None:
            latest: Shares | None = None
            try:
                for latest in self._fit(lineage_frame(rows), target):
                    task.result = latest
                    task.give_way()
                    if self._abandoned(task):
                        fit.left = True
                        raise Cancelled
                return latest
            finally:
                with self._background.lock:  # held below until fit is assigned, so a job that fails at once finds it
                    fit.ended = time.monotonic()

        with self._background.lock:
            fit = _ShareFit(rows, self._background.begin(tuple(row.run for row in rows), job))
        return fit

    def _abandoned(self, task: Task) -> bool:
        patience = LEFT_TO_OTHERS_SECONDS if self._background.waits else LEFT_SECONDS
        return time.monotonic() - task.asked > patience
