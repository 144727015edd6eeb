"""Profiles some steps of a training with the profiler of the framework that the program uses: torch or MindSpore."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Callable

from .errors import RecordingError


class ProfilePlan:
    """Profiles steps [first, first + steps); its files lie in `profiler` below the directory of the run.

    The profiler begins a step earlier, if there is one, and leaves it out: the first step that it sees takes longer.
    """

    def __init__(self, directory: str, first: int, steps: int, warn: Callable[[str, str], None]) -> None:
        """warn takes a tag and a sentence. RecordingError unless steps is at least 1."""
        if steps < 1:
            raise RecordingError(f"profile: expected at least 1 step, found {steps}")
        self._directory = os.path.join(directory, "profiler")
        self._first, self._end, self._warn = first, first + steps, warn
        self._profiler: Any | None = None
        self._done = False

    def begins(self, step: int) -> None:
        """A step begins."""
        if self._done or self._profiler is not None or not self._first - 1 <= step < self._end:
            return
        warmup = max(0, self._first - step)
        self._profiler = self._started({"wait": 0, "warmup": warmup, "active": self._end - step - warmup, "repeat": 1})
        self._done = self._profiler is None

    def ends(self, step: int) -> None:
        """A step ends."""
        if self._profiler is None:
            return
        self._profiler.step()  # after the last one this writes the profile
        if step + 1 >= self._end:
            self.stop()

    def stop(self) -> None:
        """End profiling, also before its last step."""
        profiler, self._profiler = self._profiler, None
        if profiler is not None:
            self._done = True
            profiler.stop()

    def _started(self, schedule: Mapping[str, int]) -> Any | None:
        """Start the profiler of the framework that has been imported; None, with a warning, if there is none."""
        if "torch" in sys.modules:
            return _start_torch(sys.modules["torch"], self._directory, schedule)
        if "mindspore" in sys.modules:
            return _start_mindspore(sys.modules["mindspore"], self._directory, schedule)
        self._warn("profile", "profile: expected torch or mindspore to be imported, found neither; nothing is profiled")
        return None


def _start_torch(torch: Any, directory: str, schedule: Mapping[str, int]) -> Any:
    kinds = torch.profiler
    profiler = kinds.profile(
        schedule=kinds.schedule(**schedule), on_trace_ready=kinds.tensorboard_trace_handler(directory), record_shapes=True,
        profile_memory=True, with_stack=True,
    )  # fmt: skip
    profiler.start()
    return profiler


def _start_mindspore(mindspore: Any, directory: str, schedule: Mapping[str, int]) -> Any:
    kinds = mindspore.profiler
    profiler = kinds.profile(
        schedule=kinds.schedule(**schedule), on_trace_ready=kinds.tensorboard_trace_handler(directory), profile_memory=True,
        start_profile=False,
    )  # fmt: skip
    profiler.start()
    return profiler
