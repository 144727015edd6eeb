"""Computes the duration of training steps from the wall times of a scalar, to compare with a profiler's measurement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.analysis.curves.segments import restarts
from parsers.model import Floats, Ints, Series

MOST_SESSIONS = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class StepTimes:
    """One row per two records of a scalar that follow each other: the mean time in ns of the steps after `first`, up to and
    with `last`. A run that starts again at an earlier step has the same steps several times, the newest behind."""

    first: Ints
    last: Ints
    mean_ns: Floats

    def __len__(self) -> int:
        return len(self.last)


def step_times(series: Series) -> StepTimes:
    """Times of steps from when a scalar was recorded. Between two sessions of a run, and where a clock stands still or goes
    back, there is no time; a record of time 0 has none. Of a step recorded twice in a row the first record counts."""
    session = np.zeros(series.step.size, np.int64)
    session[restarts(series.step)] = 1
    session = np.cumsum(session)
    known = np.isfinite(series.wall_time) & (series.wall_time > 0.0)
    step, wall, session = series.step[known], series.wall_time[known], session[known]
    fresh = np.ones(step.size, bool)
    fresh[1:] = (step[1:] != step[:-1]) | (session[1:] != session[:-1])
    step, wall, session = step[fresh], wall[fresh], session[fresh]
    took = np.diff(wall)
    good = (took > 0.0) & (session[1:] == session[:-1])
    mean = took[good] / np.diff(step)[good].astype(np.float64) * 1e9
    return StepTimes(step[:-1][good], step[1:][good], mean)


def times_at(times: StepTimes, step: Ints) -> Floats:
    """For each step the mean time, in ns, of the records around it, the newest where there are several; NaN where none are.

    Of a run that was started again many times the newest MOST_SESSIONS sessions count.
    """
    found = np.full(step.size, np.nan)
    if not len(times) or not step.size:
        return found
    # A session's stretches lie one behind the other, so that the first whose end is not before a step is the one it is in.
    session = np.append(0, np.flatnonzero(times.first[1:] < times.last[:-1]) + 1)[-MOST_SESSIONS:]
    for start, stop in zip(session.tolist(), [*session[1:].tolist(), len(times)], strict=True):
        first, last, mean = times.first[start:stop], times.last[start:stop], times.mean_ns[start:stop]
        at = np.minimum(np.searchsorted(last, step, "left"), last.size - 1)
        inside = (first[at] < step) & (step <= last[at])
        found[inside] = mean[at[inside]]
    return found
