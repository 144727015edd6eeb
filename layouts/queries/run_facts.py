"""A run in numbers: steps, points, duration, speed and size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from layouts import format as fmt
from layouts.i18n import both
from layouts.sources import RunRow, RunSource, ValueSource

NEEDS = ("scalar", "histogram", "image", "tensor", "landscape", "text", "graph", "dataset_graph", "lineage")
"""Kinds of data of which a run on the overview has one."""
LARGE = ("histogram", "image", "tensor", "text")
"""Kinds of large values that are recorded while training; landscapes are computed afterwards."""
INTERVALS = 100
"""Speed is that of so many newest intervals."""
UNUSUAL = 5.0
"""An interval that took so many times the usual time per step is a pause, one of so many times the usual steps a jump."""
PAUSE = 60.0
"""Seconds below which an interval is no pause of the whole run."""
_LATEST = 253_402_300_800.0  # the year 10,000, from which no calendar counts on


class Recorded(Protocol):
    """What scalars and large values have in common: steps and times in the order they were written."""

    @property
    def step(self) -> NDArray[np.int64]:
        """Step of each value."""
        ...

    @property
    def wall_time(self) -> NDArray[np.float64]:
        """Seconds since 1970 of each value."""
        ...


Tagged: TypeAlias = tuple[str, Recorded]


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds per step over so many intervals of a tag."""

    seconds: float
    intervals: int


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds from the first to the last value of a run, and how many of them passed in pauses."""

    seconds: float
    paused: float


def facts(source: ValueSource, run: str, row: RunRow) -> list[dict[str, Any]]:
    """Steps, points, duration, speed and size of a run; what is not known is left out."""
    own = source.member(run) or row
    scalars: list[Tagged] = [(tag, series) for tag in source.tags(run)
                             if (series := source.series(run, tag)) is not None and series.step.size]  # fmt: skip
    large: list[Tagged] = [(tag, items) for kind in LARGE for tag in source.tags(run, kind)
                           if (items := source.payload_series(run, kind, tag)) is not None and len(items)]  # fmt: skip
    longest = max(scalars or large, key=lambda one: one[1].step.size, default=None)
    found: list[dict[str, Any]] = []
    if longest is not None:
        found.append(_steps(longest[1]))
    if scalars:
        points = sum(series.step.size for _, series in scalars)
        found.append({"name": "points", "text": fmt.count(points), "tip": both("overview.points_tip")})
    taken = span([one for _, one in (*scalars, *large)], longest[1]) if longest else None
    if taken is not None and taken.seconds > 0:
        found.append(_duration(taken))
    main = main_tag(source, run, row)
    judged = [one for one in scalars if one[0] == main] + ([longest] if longest else [])
    measured = next(((tag, known) for tag, one in judged if (known := speed(one)) is not None), None)
    if measured is not None:
        found.append(_speed(*measured))
    found.append({"name": "size", "text": fmt.size(own.size)})
    return found


def main_tag(source: RunSource, run: str, row: RunRow) -> str:
    """The scalar a run is judged by: that of its row, or else its first; "" where it has none."""
    tags = source.tags(run)
    return row.main_tag if row.main_tag in tags else next(iter(tags), "")


def span(every: Iterable[Recorded], longest: Recorded) -> Span | None:
    """From the earliest to the latest time of any value, and the pauses of the longest tag; None where no time is known.

    Times need not be in the order of the values: MindSpore stamps them in several threads, and clocks are set back.
    """
    times = {id(one.wall_time): one.wall_time for one in every}
    ends = [end for wall in times.values() if (known := wall[_plausible(wall)]).size for end in (known.min(), known.max())]
    if not ends:
        return None
    passed = np.diff(longest.wall_time[_plausible(longest.wall_time)])
    forward = passed[passed > 0]
    least = max(PAUSE, UNUSUAL * float(np.median(forward))) if forward.size else PAUSE
    return Span(float(max(ends) - min(ends)), float(forward[forward > least].sum()))


def speed(recorded: Recorded) -> Speed | None:
    """Time per step over the newest intervals in which the step grew, without pauses and jumps; None where no time passed.

    Times of whole seconds, which many writers have, would make the median of the intervals a whole second or none at all.
    """
    steps = np.diff(recorded.step[-INTERVALS - 1 :].astype(np.float64))
    wall = recorded.wall_time[-INTERVALS - 1 :]
    known = _plausible(wall)
    with np.errstate(invalid="ignore", over="ignore"):
        seconds = np.diff(wall)
    usable = (steps > 0) & known[1:] & known[:-1]
    usable[usable] = seconds[usable] >= 0
    steps, seconds = steps[usable], seconds[usable]
    if not (seconds > 0).any():
        return None
    each = seconds / steps
    kept = (each <= UNUSUAL * float(np.median(each[each > 0]))) & (steps <= UNUSUAL * float(np.median(steps)))
    grown = float(steps[kept].sum())
    mean = float(seconds[kept].sum()) / grown if grown else 0.0
    return Speed(mean, int(np.count_nonzero(kept))) if mean > 0 else None


def _plausible(wall: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which times may be those of a value; 0 stands for a time that was not recorded."""
    return (wall > 0) & (wall < _LATEST)


def _steps(longest: Recorded) -> dict[str, Any]:
    """The highest step, and how many were recorded where that is not every one."""
    step = longest.step
    rising = bool((step[1:] > step[:-1]).all())
    known, first, highest = step.size if rising else len(np.unique(step)), int(step.min()), int(step.max())
    numbers = {"n": fmt.count(known), "first": fmt.count(first), "newest": fmt.count(int(step[-1]))}
    fact: dict[str, Any] = {"name": "steps", "text": fmt.count(highest), "tip": both("overview.steps_tip", **numbers)}
    if known == highest - first + 1:
        return fact
    return fact | {"key": "overview.steps_value", "values": {"recorded": fmt.count(known)}}


def _duration(taken: Span) -> dict[str, Any]:
    fact: dict[str, Any] = {"name": "duration", "text": fmt.duration(taken.seconds), "tip": both("overview.duration_tip")}
    if taken.paused == 0:
        return fact
    return fact | {"key": "overview.duration_value", "values": {"paused": fmt.duration(taken.paused)},
                   "tip": both("overview.paused_tip")}  # fmt: skip


def _speed(tag: str, measured: Speed) -> dict[str, Any]:
    tip = both("overview.speed_tip", n=fmt.count(measured.intervals), tag=tag, each=fmt.duration(measured.seconds))
    return {"name": "speed", "text": fmt.number(1.0 / measured.seconds, 3), "key": "overview.speed_value", "tip": tip}
