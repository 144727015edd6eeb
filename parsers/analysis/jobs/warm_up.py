"""The first step of a job, if it is no step like the others: compiling, first allocations, waiting for others to start.

Means leave it out, as the averages do that MindSpore's profiler writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from parsers.deferred import pandas as pd
from parsers.model import Floats

FEWEST = 3
"""Steps from which on a first one may be left out."""
FACTOR = 2.0
"""Least length of such a step, as a multiple of the median of the others."""


@dataclass(frozen=True, slots=True)
class WarmUp:
    """A first step that is left out: its number and length, and the mean length of the others, over all ranks in ns."""

    step: int
    total_ns: float
    others_ns: float


def first_differs(lengths: Floats) -> bool:
    """Return whether the first of the lengths of steps, in their order, is that of a warm-up. NaN: unknown, no reason."""
    known = lengths[1:][np.isfinite(lengths[1:])]
    return len(known) >= FEWEST - 1 and bool(lengths[0] > FACTOR * np.median(known))


def warm_up(steps: pd.DataFrame | None) -> WarmUp | None:
    """Return the first step of a job (schema CLUSTER_STEPS) if it is to be left out of means."""
    if steps is None:
        return None
    rows = steps[(steps["kind"].astype("str") == "rank") & (steps["total_ns"] > 0.0) & (steps["step"] >= 0)]
    lengths = rows.groupby("step", sort=True)["total_ns"].mean()
    if len(lengths) < FEWEST or not first_differs(lengths.to_numpy(np.float64)):
        return None
    return WarmUp(int(str(lengths.index[0])), float(lengths.iloc[0]), float(lengths.iloc[1:].mean()))


def without_warm_up(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all other steps, of a step that a rank has twice the first row; the same frame if all count."""
    found = warm_up(steps)
    twice = steps.duplicated(["kind", "rank", "ranks", "step"]).to_numpy()
    left = steps[~twice] if twice.any() else steps
    return left if found is None else left[(left["step"] != found.step).to_numpy()]


def steady(frames: Mapping[str, pd.DataFrame | None]) -> Mapping[str, pd.DataFrame | None]:
    """Return the frames of a job by name with a `cluster_steps` without warm-up."""
    steps = frames.get("cluster_steps")
    return frames if steps is None else {**frames, "cluster_steps": without_warm_up(steps)}


class SteadyFrames(Mapping[str, "pd.DataFrame | None"]):
    """The frames of `steady`, each of which is looked at when it is asked for, and once."""

    def __init__(self, frames: Mapping[str, pd.DataFrame | None]) -> None:
        self._frames = frames
        self._held: dict[str, pd.DataFrame | None] = {}

    def __getitem__(self, name: str) -> pd.DataFrame | None:
        if name not in self._held:
            frame = self._frames[name]
            self._held[name] = frame if frame is None or name != "cluster_steps" else without_warm_up(frame)
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)
