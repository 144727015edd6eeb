"""A run in numbers: steps, points, duration, speed and size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from layouts.kit import units as fmt
from layouts.kit.i18n import both
from layouts.runs.rows import RunRow
from layouts.sources import RunSources, ValueSources

NEEDS = ("scalar", "histogram", "image", "tensor", "landscape", "text", "graph", "dataset_graph", "lineage")
"""Kinds of data; a run on the overview has at least one of them."""
LARGE = ("histogram", "image", "tensor", "text")
"""Kinds of large values recorded during training; landscapes are computed afterwards."""
INTERVALS = 100
"""Speed is measured over this many newest intervals."""
UNUSUAL = 5.0
"""An interval with this many times the median time per step is a pause; one with this many times the median steps is a jump."""
PAUSE = 60.0
"""Minimum length in seconds of a pause of the whole run."""
_LATEST = 253_402_300_800.0  # the year 10,000, beyond datetime's range


class RecordedSteps(Protocol):
    """Steps and wall times in the order of writing, which scalars and large values have in common."""

    @property
    def step(self) -> NDArray[np.int64]:
        """Step of each value."""
        ...

    @property
    def wall_time(self) -> NDArray[np.float64]:
        """Seconds since 1970 of each value."""
        ...


Tagged: TypeAlias = tuple[str, RecordedSteps]


@dataclass(frozen=True, slots=True)
class Speed:
    """Mean time per step in seconds, the number of intervals it was measured over, and the first and last step of these."""

    seconds: float
    intervals: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds from the first to the last value of a run, and the seconds of that spent in pauses."""

    seconds: float
    paused: float


def facts(source: ValueSources, run: str, row: RunRow) -> list[dict[str, Any]]:
    """Return steps, points, duration, speed and size of a run, without those that are unknown."""
    own = source.runs.member(run) or row
    scalars: list[Tagged] = [(tag, series) for tag in source.runs.tags(run)
                             if (series := source.curves.series(run, tag)) is not None and series.step.size]  # fmt: skip
    large: list[Tagged] = [(tag, items) for kind in LARGE for tag in source.runs.tags(run, kind)
                           if (items := source.values.series(run, kind, tag)) is not None and len(items)]  # fmt: skip
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


def main_tag(source: RunSources, run: str, row: RunRow) -> str:
    """Return the main scalar of a run: that of its row, or else its first one; "" if it has none."""
    tags = source.runs.tags(run)
    return row.main_tag if row.main_tag in tags else next(iter(tags), "")


def span(every: Iterable[RecordedSteps], longest: RecordedSteps) -> Span | None:
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
    return Span(float(max(ends) - min(ends)), float(forward[forward > least].sum()))


def speed(recorded: RecordedSteps) -> Speed | None:
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


def _plausible(wall: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which wall times are plausible; 0 stands for a time that was not recorded."""
    return (wall > 0) & (wall < _LATEST)


def _steps(longest: RecordedSteps) -> dict[str, Any]:
    """Return the highest step, and the number of recorded steps if some are missing."""
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
    covered = {"first": fmt.count(measured.first), "last": fmt.count(measured.last)}
    text = fmt.number(1.0 / measured.seconds, 3)
    return {"name": "speed", "text": text, "key": "overview.speed_value", "values": covered, "tip": tip}
