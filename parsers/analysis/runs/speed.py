"""How long a run took and how fast its steps are, from the wall times of recorded values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from parsers.model import Floats, Ints

INTERVALS = 100
"""Speed is measured over this many newest intervals."""
UNUSUAL = 5.0
"""An interval with this many times the median time per step is a pause; one with this many times the median steps is a jump."""
PAUSE = 60.0
"""Minimum length in seconds of a pause of the whole run."""
_LATEST = 253_402_300_800.0  # the year 10,000, beyond datetime's range


class StepsAndTimes(Protocol):
    """Steps and wall times in the order of writing, which scalars and large values have in common."""

    @property
    def step(self) -> Ints:
        """Step of each value."""
        ...

    @property
    def wall_time(self) -> Floats:
        """Seconds since 1970 of each value."""
        ...


@dataclass(frozen=True, slots=True)
class Speed:
    """Mean time per step in seconds, the number of intervals it was measured over, and the first and last step of these."""

    seconds: float
    intervals: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class RunSpan:
    """Seconds from the first to the last value of a run, and the seconds of that spent in pauses."""

    seconds: float
    paused: float


def span(every: Iterable[StepsAndTimes], longest: StepsAndTimes) -> RunSpan | None:
    """Return the time from the first to the last value, and the pauses of the longest tag; None if no time is known.

    Wall times need not ascend: MindSpore takes them in several threads, and clocks are set back.
    """
    times = {id(one.wall_time): one.wall_time for one in every}
    ends = [end for wall in times.values() if (known := wall[_plausible(wall)]).size for end in (known.min(), known.max())]
    if not ends:
        return None
    passed = np.diff(longest.wall_time[_plausible(longest.wall_time)])
    forward = passed[passed > 0]
    least = max(PAUSE, UNUSUAL * float(np.median(forward))) if forward.size else PAUSE
    return RunSpan(float(max(ends) - min(ends)), float(forward[forward > least].sum()))


def speed(recorded: StepsAndTimes) -> Speed | None:
    """Return the mean time per step over the newest intervals, without pauses and jumps; None if no time passed.

    Only intervals in which the step grew count. The median would not do: many writers record whole seconds, so it would be 0 or
    a whole second.
    """
    steps = np.diff(recorded.step[-INTERVALS - 1 :].astype(np.float64))
    wall = recorded.wall_time[-INTERVALS - 1 :]
    known = _plausible(wall)
    with np.errstate(invalid="ignore", over="ignore"):
        seconds = np.diff(wall)
    usable = (steps > 0) & known[1:] & known[:-1]
    usable[usable] = seconds[usable] >= 0
    place = np.flatnonzero(usable)
    steps, seconds = steps[usable], seconds[usable]
    if not (seconds > 0).any():
        return None
    each = seconds / steps
    kept = (each <= UNUSUAL * float(np.median(each[each > 0]))) & (steps <= UNUSUAL * float(np.median(steps)))
    grown = float(steps[kept].sum())
    mean = float(seconds[kept].sum()) / grown if grown else 0.0
    if not mean > 0:
        return None
    covered, recent = place[kept], recorded.step[-INTERVALS - 1 :]
    return Speed(mean, covered.size, int(recent[covered].min()), int(recent[covered + 1].max()))


def run_speed(recorded: Mapping[str, StepsAndTimes], main: str = "") -> tuple[str, Speed] | None:
    """Return the speed of a run and the tag that tells it: the longest, else the main one; None if neither does.

    An evaluation writes once an epoch, so its intervals contain its own time: the longer of the two comes first.
    """
    longest = max(recorded, key=lambda tag: recorded[tag].step.size, default="")
    judged = sorted({longest, main} & recorded.keys(), key=lambda tag: (-recorded[tag].step.size, tag != main))
    return next(((tag, known) for tag in judged if (known := speed(recorded[tag])) is not None), None)


def _plausible(wall: Floats) -> NDArray[np.bool_]:
    """Return which wall times are plausible; 0 stands for a time that was not recorded."""
    return (wall > 0) & (wall < _LATEST)
