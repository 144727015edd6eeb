"""Profiling some steps, with stand-ins for the modules of torch and MindSpore: their profilers are called as documented."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from parsers.recording import Recorder, RecordingWarning


class Profiler:
    """Notes the calls of a profiler of torch or MindSpore."""

    def __init__(self, calls: list[str], **options: Any) -> None:
        self.calls, self.options = calls, options
        schedule = options["schedule"]
        assert (schedule.pop("wait"), schedule.pop("repeat")) == (0, 1)
        calls.append(f"profile in {Path(options['on_trace_ready']).name}: {schedule['warmup']} + {schedule['active']}")

    def start(self) -> None:
        self.calls.append("start")

    def step(self) -> None:
        self.calls.append("step")

    def stop(self) -> None:
        self.calls.append("stop")


def framework(calls: list[str]) -> SimpleNamespace:
    return SimpleNamespace(
        profiler=SimpleNamespace(
            profile=lambda **options: Profiler(calls, **options), tensorboard_trace_handler=lambda directory: directory,
            schedule=dict,
        )
    )


@pytest.mark.parametrize("name", ["torch", "mindspore"])
def test_the_profiler_of_the_framework_runs_for_the_chosen_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    calls: list[str] = []
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setitem(sys.modules, name, framework(calls))  # type: ignore[arg-type]
    with Recorder(str(tmp_path)) as run:
        run.profile(first=3, steps=2)
        calls.extend(str(step) for step in run.steps(range(8)))
    begun = ["profile in profiler: 1 + 2", "start"]
    assert calls == ["0", "1", *begun, "2", "step", "3", "step", "4", "step", "stop", "5", "6", "7"]


def test_a_profile_ends_with_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setitem(sys.modules, "torch", framework(calls))  # type: ignore[arg-type]
    with Recorder(str(tmp_path)) as run:
        run.profile(first=0, steps=50)
        list(run.steps(range(2)))
    assert calls == ["profile in profiler: 0 + 50", "start", "step", "step", "stop"]


def test_without_a_framework_there_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "mindspore"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with Recorder(str(tmp_path)) as run:
        run.profile(first=0, steps=1)
        with pytest.warns(RecordingWarning, match="expected torch or mindspore to be imported"):
            assert list(run.steps(range(2))) == [0, 1]
