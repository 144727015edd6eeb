"""Runs for commands, written by the recorder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from parsers.recording import Recorder


def write_run(path: Path, curves: Mapping[str, Sequence[float]], *, first: int = 0, step_s: float = 0.25) -> Path:
    """Write curves with steps from first on, a step each step_s seconds."""
    with Recorder(str(path)) as recorder:
        append(recorder, curves, first=first, step_s=step_s)
    return path


def append(recorder: Recorder, curves: Mapping[str, Sequence[float]], *, first: int = 0, step_s: float = 0.25) -> None:
    """Write more steps of a run."""
    for place in range(max(map(len, curves.values()))):
        values = {tag: float(curve[place]) for tag, curve in curves.items() if place < len(curve)}
        recorder.log(first + place, values, wall_time=1.7e9 + (first + place) * step_s)
