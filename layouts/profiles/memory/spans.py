"""When each step ran, by the clock of the memory files; and the least memory within each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from parsers.analysis.profiles.memory import Series, step_minima
from parsers.model import Ints

from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

FRAME = "step_times"


class Span(NamedTuple):
    """A step from start to end (ns)."""

    name: str
    start: int
    end: int


def spans_of(source: ProfileSources, choice: ProfileChoice) -> tuple[list[Span], str]:
    """Return the steps in order of time, and the state of reading them (see ProfileFrame)."""
    found = source.profiles.frame(choice.run, choice.session, choice.rank, FRAME)
    if found.frame is None:
        return [], found.state
    columns = (found.frame[name].tolist() for name in ("step", "start_ns", "end_ns"))
    return [Span(str(step), start, end) for step, start, end in zip(*columns, strict=True)], "ready"


def step_at(spans: Sequence[Span], time: int) -> Span | None:
    """Return the step under way at a moment, the later one if two overlap."""
    return next((span for span in reversed(spans) if span.start <= time < span.end), None)


def least_moments(spans: Sequence[Span], series: Series, least: Ints) -> tuple[int, int] | None:
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


def minima(spans: Sequence[Span], series: Series) -> Ints:
    """Return the least bytes within each step; -1 for steps that the curve does not cover from begin to end."""
    if not len(series.time):
        return np.full(len(spans), -1, np.int64)
    starts, ends = (np.array([span[place] for span in spans], np.int64) for place in (1, 2))
    found = step_minima(series, starts, ends)
    uncovered = (starts < series.time[0]) | (starts > series.time[-1])
    return np.where(uncovered, -1, found)
