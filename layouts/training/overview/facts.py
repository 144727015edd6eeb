"""Which run the overview shows, and its state in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from parsers import Series

from layouts import format as fmt
from layouts.i18n import both
from layouts.page import FrameSource, RunRow
from layouts.state import colours, selected_runs, text

LARGE = ("histogram", "image", "tensor", "text")
"""Kinds of large values that are recorded while training; landscapes are computed afterwards."""
INTERVALS = 100
"""Speed is that of so many newest intervals."""
_NAME = 100_000


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds per step, the median of so many intervals of a scalar."""

    seconds: float
    intervals: int


def run_of(source: FrameSource, state: Any) -> tuple[str, RunRow] | None:
    """The member run that a state puts on screen, and its row: `of`, or else the first chosen; None where none is chosen."""
    chosen = selected_runs(state, source)
    if not chosen:
        return None
    named = text(state, "of", limit=_NAME)
    run = named if named in chosen else chosen[0]
    return run, next(row for row in source.runs() if run in row.members)


def label_of(run: str, row: RunRow) -> str:
    """What a run is called: the name of its row, for a rank of a job its own key."""
    return row.name if len(row.members) == 1 else run


def head(source: FrameSource, run: str, row: RunRow) -> dict[str, Any]:
    """The head of the page: facts as {name, text}, key a text that the text goes into, tips in both languages."""
    return {
        "of": run,
        "label": label_of(run, row),
        "colour": colours(source).get(run, ""),
        "state": row.state,
        "started": row.started,
        "problems": fmt.count(len(source.problems(run))),
        "wrong": bool(source.problems(run)),
        "path": row.path,
        "real": row.real_path if row.real_path != row.path else "",
        "facts": facts(source, run, row),
    }


def facts(source: FrameSource, run: str, row: RunRow) -> list[dict[str, Any]]:
    """Steps, points, duration, speed and size of a run; what is not known is left out."""
    every = [series for tag in source.tags(run) if (series := source.series(run, tag)) is not None and series.step.size]
    longest = max(every, key=lambda series: series.step.size, default=None)
    found: list[dict[str, Any]] = []
    if longest is not None:
        found.append({"name": "steps", "text": fmt.count(len(np.unique(longest.step)))})
        points = sum(series.step.size for series in every)
        found.append({"name": "points", "text": fmt.count(points), "tip": both("overview.points_tip")})
    seconds = duration(source, run, every)
    if seconds is not None:
        found.append({"name": "duration", "text": fmt.duration(seconds), "tip": both("overview.duration_tip")})
    tag = main_tag(source, run, row)
    series = source.series(run, tag) if tag else None
    measured = speed(series) if series is not None else None
    if measured is not None:
        tip = both("overview.speed_tip", n=measured.intervals, tag=tag, each=fmt.duration(measured.seconds))
        shown = fmt.number(1.0 / measured.seconds, 3)
        found.append({"name": "speed", "text": shown, "key": "overview.speed_value", "tip": tip})
    found.append({"name": "size" if len(row.members) == 1 else "size_job", "text": fmt.size(row.size)})
    return found


def main_tag(source: FrameSource, run: str, row: RunRow) -> str:
    """The scalar a run is judged by: that of its row, or else its first; "" where it has none."""
    tags = source.tags(run)
    return row.main_tag if row.main_tag in tags else next(iter(tags), "")


def duration(source: FrameSource, run: str, every: Sequence[Series]) -> float | None:
    """Seconds from the first to the last value of any tag, each tag's being in the order they were written."""
    ends = [float(series.wall_time[end]) for series in every for end in (0, -1)]
    for kind in LARGE:
        for tag in source.tags(run, kind):
            items = source.items(run, kind, tag)
            if items is not None and len(items):
                ends += [float(items.wall_time[0]), float(items.wall_time[-1])]
    finite = [end for end in ends if np.isfinite(end)]
    return max(finite) - min(finite) if finite else None


def speed(series: Series) -> Speed | None:
    """Median time per step of the newest intervals in which the step grew; None where no time passed."""
    steps = np.diff(series.step[-INTERVALS - 1 :])
    with np.errstate(invalid="ignore", over="ignore"):
        seconds = np.diff(series.wall_time[-INTERVALS - 1 :])
        usable = (steps > 0) & (seconds >= 0) & np.isfinite(seconds)
        each = seconds[usable] / steps[usable]
    median = float(np.median(each)) if each.size else 0.0
    return Speed(median, int(each.size)) if median > 0 and np.isfinite(1.0 / median) else None
