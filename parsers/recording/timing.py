"""How long each step of a training waits for data, and how long it takes."""

from __future__ import annotations

import time
from typing import Callable


class StepTimer:
    """Measures steps of a loop: call `waits`, `begins` for each, and `ends` after the last."""

    def __init__(self, record: Callable[[int, float, float, float], None], step: int) -> None:
        """record gets the step, the wall time of its end, the seconds waited for data and those of the whole step."""
        self._record, self._step = record, step
        self._waiting_since = self._began = -1.0

    def waits(self) -> None:
        """The loop asks for data: the step before it, if there was one, is over."""
        now = time.perf_counter()
        if self._began >= 0:
            self._record(self._step, time.time(), self._began - self._waiting_since, now - self._waiting_since)
            self._step += 1
        self._waiting_since, self._began = now, -1.0

    def begins(self) -> None:
        """Data have come."""
        self._began = time.perf_counter()

    def ends(self) -> None:
        """The loop is over."""
        self.waits()
