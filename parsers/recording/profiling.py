"""Profiles some steps of a training with the profiler of the framework that the program uses: torch or MindSpore."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable

from .errors import RecordingError


class ProfilePlan:
    """Profiles steps [first, first + steps); its files lie in `profiler` below the directory of the run."""

    def __init__(self, directory: str, first: int, steps: int, warn: Callable[[str, str], None]) -> None:
        """warn takes a tag and a sentence. RecordingError unless steps is at least 1."""
        if steps < 1:
            raise RecordingError(f"profile: expected at least 1 step, found {steps}")
        self._directory = os.path.join(directory, "profiler")
        self._first, self._steps, self._warn = first, steps, warn
        self._profiler: Any | None = None
        self._done = False

    def begins(self, step: int) -> None:
        """A step begins."""
        if self._done or self._profiler is not None or not self._first <= step < self._first + self._steps:
            return
        self._profiler = self._started()
        self._done = self._profiler is None

    def ends(self, step: int) -> None:
        """A step ends."""
        if self._profiler is None:
            return
        if step + 1 >= self._first + self._steps:
            self.stop()
        else:
            self._profiler.step()

    def stop(self) -> None:
        """End profiling, also before its last step."""
        profiler, self._profiler = self._profiler, None
        if profiler is not None:
            self._done = True
            profiler.stop()

    def _started(self) -> Any | None:
        """Start the profiler of the framework that has been imported; None, with a warning, if there is none."""
        if "torch" in sys.modules:
            return _start_torch(sys.modules["torch"], self._directory)
        if "mindspore" in sys.modules:
            return _start_mindspore(sys.modules["mindspore"], self._directory)
        self._warn("profile", "profile: expected torch or mindspore to be imported, found neither; nothing is profiled")
        return None


def _start_torch(torch: Any, directory: str) -> Any:
    written = torch.profiler.tensorboard_trace_handler(directory)
    profiler = torch.profiler.profile(on_trace_ready=written, record_shapes=True, profile_memory=True, with_stack=True)
    profiler.start()
    return profiler


def _start_mindspore(mindspore: Any, directory: str) -> Any:
    kinds = mindspore.profiler
    profiler = kinds.profile(on_trace_ready=kinds.tensorboard_trace_handler(directory), profile_memory=True)
    profiler.start()
    return profiler
