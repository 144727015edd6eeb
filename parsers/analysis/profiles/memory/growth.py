"""Whether the memory of a profile grows: over its steps, or over the sessions of a rank that is profiled again and again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from parsers.analysis.profiles.memory.leaks import Leak, leak
from parsers.analysis.profiles.memory.recording import MemoryRecording, minima_of_steps
from parsers.deferred import pandas as pd
from parsers.model import Ints

STEP_FRAMES = ("step_times", "steps", "kernels")
"""Frames that tell when steps ran, the best first."""


class MemoryGrowth(NamedTuple):
    """What `leak` says, over "steps" or "sessions", and the least bytes within each step (-1: unknown)."""

    leak: Leak
    over: str
    least: Ints


def growth(found: MemoryRecording, starts: Ints, ends: Ints, sessions: Ints | None = None) -> MemoryGrowth:
    """Return whether the memory of a component leaks over its steps [start, end) (ns), or over sessions if steps cannot tell.

    sessions are the least bytes of each session of the rank in order of time, nothing for fewer than a leak takes.
    """
    least = minima_of_steps(found, starts, ends)
    over_steps = leak(least)
    if over_steps.verdict == "cannot tell" and sessions is not None and len(sessions):
        return MemoryGrowth(leak(sessions), "sessions", least)
    return MemoryGrowth(over_steps, "steps", least)


def step_spans(frames: Mapping[str, pd.DataFrame | None]) -> pd.DataFrame:
    """Return name (step), begin and end (start_ns, end_ns) of each step in order of time; no rows where no frame tells.

    Takes those of STEP_FRAMES that there are: the first one that tells counts.
    """
    for name, read in (("step_times", _timed), ("steps", _traced), ("kernels", _run)):
        frame = frames.get(name)
        spans = None if frame is None else read(frame)
        if spans is not None and len(spans):
            return spans.sort_values("start_ns", kind="stable").reset_index(drop=True)
    return _spans([], [], [])


def _timed(times: pd.DataFrame) -> pd.DataFrame:
    return _spans(times["step"], times["start_ns"], times["end_ns"])


def _traced(steps: pd.DataFrame) -> pd.DataFrame:
    whole = (steps["kind"] == "step") & (steps["start_ns"] >= 0) & (steps["total_ns"] > 0.0) & (steps["step"] >= 0)
    rows = steps[whole.to_numpy()]
    return _spans(rows["step"], rows["start_ns"], rows["start_ns"] + rows["total_ns"].astype("int64"))


def _run(kernels: pd.DataFrame) -> pd.DataFrame:
    rows = kernels[(kernels["step"] >= 0) & (kernels["start_ns"] >= 0) & (kernels["duration_ns"] >= 0)]
    ran = rows.assign(end_ns=rows["start_ns"] + rows["duration_ns"]).groupby("step", sort=True)
    found = ran.agg(start_ns=("start_ns", "min"), end_ns=("end_ns", "max")).reset_index()
    return _spans(found["step"], found["start_ns"], found["end_ns"])


def _spans(step: object, start: object, end: object) -> pd.DataFrame:
    named = pd.Series(step, dtype="object").astype("str").to_numpy()
    times = [pd.Series(one, dtype="int64").to_numpy() for one in (start, end)]
    return pd.DataFrame({"step": named, "start_ns": times[0], "end_ns": times[1]})
