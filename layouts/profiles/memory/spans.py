"""When each step ran, by the clock of the memory files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from parsers.analysis.profiles.memory import STEP_FRAMES, BytesOverTime, step_spans
from parsers.deferred import pandas as pd
from parsers.model import Ints

from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources


class StepSpan(NamedTuple):
    """A step from start to end (ns)."""

    name: str
    start: int
    end: int


def spans_of(source: ProfileSources, choice: ProfileChoice) -> tuple[list[StepSpan], str]:
    """Return the steps in order of time, and the state of reading them (see ProfileFrame)."""
    frames: dict[str, pd.DataFrame | None] = {}
    for name in STEP_FRAMES:
        found = source.profiles.frame(choice.run, choice.session, choice.rank, name)
        if found.state in ("reading", "waiting"):
            return [], found.state
        frames[name] = found.frame
        spans = step_spans(frames)
        if len(spans):
            return [StepSpan(*row) for row in zip(*(spans[column].tolist() for column in spans), strict=True)], "ready"
    return [], "missing"


def times(spans: Sequence[StepSpan]) -> tuple[Ints, Ints]:
    """Return the begins and the ends of steps (ns)."""
    starts, ends = (np.array([span[place] for span in spans], np.int64) for place in (1, 2))
    return starts, ends


def step_at(spans: Sequence[StepSpan], time: int) -> StepSpan | None:
    """Return the step under way at a moment, the later one if two overlap."""
    return next((span for span in reversed(spans) if span.start <= time < span.end), None)


def least_moments(spans: Sequence[StepSpan], series: BytesOverTime, least: Ints) -> tuple[int, int] | None:
    """Return when memory was least within the first and within the last step that the curve covers; None without two steps."""
    covered = np.flatnonzero(least >= 0)
    if len(covered) < 2:
        return None
    found = []
    for step in (int(covered[0]), int(covered[-1])):
        first, last = np.searchsorted(series.time, (spans[step].start, spans[step].end), side="left")
        inside = np.flatnonzero(series.value[first:last] == least[step])
        found.append(int(series.time[first + inside[0]]) if len(inside) else spans[step].start)
    return found[0], found[1]
