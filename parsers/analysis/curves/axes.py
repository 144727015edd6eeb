"""Alternative x axes of a scalar: time since the run started, or another scalar at the same step."""

from __future__ import annotations

import math

import numpy as np

from parsers.model import Floats, Ints


def relative_time(wall_time: Floats, started: float | None) -> tuple[Floats, float]:
    """Return (seconds since the run's earliest wall time, that wall time).

    started is the earliest wall time known of the whole run. The first event of a file need not be its earliest, so
    an earlier time in the series itself counts too.
    """
    finite = wall_time[np.isfinite(wall_time)]
    base = earliest(float(finite.min(initial=math.inf)), started)
    return wall_time - base, base


def earliest(wall_time: float, started: float | None) -> float:
    """Return the wall time that relative times count from, given the earliest finite one of a series (inf: there is none)."""
    times = [time for time in (wall_time, started) if time is not None and time < math.inf]
    return min(times, default=0.0)


def join_by_step(step: Ints, other_step: Ints, other_value: Floats) -> Floats:
    """Return the value of another series at each step, NaN if it has none.

    A step the other series recorded several times counts with the value written last, unless both series have
    the same steps throughout: then they are paired row by row.
    """
    if np.array_equal(step, other_step):
        return other_value
    joined = np.full(step.size, np.nan)
    if not other_step.size:
        return joined
    order = np.argsort(other_step, kind="stable")
    ordered = other_step[order]
    last = np.searchsorted(ordered, step, side="right") - 1
    found = (last >= 0) & (ordered[np.maximum(last, 0)] == step)
    joined[found] = other_value[order[last[found]]]
    return joined
