"""A run in numbers: steps, points, duration, speed and size."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypeAlias, TypedDict

import numpy as np
from parsers.analysis.lineage import results
from parsers.analysis.runs.speed import RunSpan, Speed, StepsAndTimes, run_speed, span

from layouts.kit import units as fmt
from layouts.kit.i18n import both
from layouts.runs.rows import RunRow
from layouts.sources import RunSources, ValueSources

NEEDS = ("scalar", "histogram", "image", "tensor", "landscape", "text", "graph", "dataset_graph", "lineage")
"""Kinds of data; a run on the overview has at least one of them."""
LARGE = ("histogram", "image", "tensor", "text")
"""Kinds of large values recorded during training; landscapes are computed afterwards."""
Tagged: TypeAlias = tuple[str, StepsAndTimes]


class RunFact(TypedDict):
    """A number in the head of a run."""

    name: str
    text: str
    tip: NotRequired[Annotated[tuple[str, str], "Texts"]]
    key: NotRequired[str]
    """Text that the number is part of, and its other values."""
    values: NotRequired[dict[str, str]]


def facts(source: ValueSources, run: str, row: RunRow) -> list[RunFact]:
    """Return steps, points, duration, speed and size of a run, without those that are unknown."""
    own = source.runs.member(run) or row
    scalars: list[Tagged] = [(tag, series) for tag in source.runs.tags(run)
                             if (series := source.curves.recorded(run, tag)) is not None and series.step.size]  # fmt: skip
    large: list[Tagged] = [(tag, items) for kind in LARGE for tag in source.runs.tags(run, kind)
                           if (items := source.values.series(run, kind, tag)) is not None and len(items)]  # fmt: skip
    longest = max(scalars or large, key=lambda one: one[1].step.size, default=None)
    found: list[RunFact] = []
    if longest is not None:
        found.append(_steps(longest[1]))
    if scalars:
        points = sum(series.step.size for _, series in scalars)
        found.append({"name": "points", "text": fmt.count(points), "tip": both("overview.points_tip")})
    taken = span([one for _, one in (*scalars, *large)], longest[1]) if longest else None
    if taken is not None and taken.seconds > 0:
        found.append(_duration(taken))
    measured = run_speed(dict(scalars or ([longest] if longest else [])), main_tag(source, run, row))
    if measured is not None:
        found.append(_speed(*measured))
    found.append({"name": "size", "text": fmt.size(own.size)})
    return found


def main_tag(source: RunSources, run: str, row: RunRow) -> str:
    """Return the main scalar of a run: that of its row, or else by the same order (`results.main_tag`); "" if it has none."""
    tags = source.runs.tags(run)
    return row.main_tag if row.main_tag in tags else results.main_tag(tags)


def _steps(longest: StepsAndTimes) -> RunFact:
    """Return the number of recorded steps, as the list of runs has it, and the highest one if some before it are missing."""
    step = longest.step
    rising = bool((step[1:] > step[:-1]).all())
    known, first, highest = step.size if rising else len(np.unique(step)), int(step.min()), int(step.max())
    ends = {"first": fmt.count(first), "highest": fmt.count(highest)}
    tip = both("overview.steps_tip", n=fmt.count(known), newest=fmt.count(int(step[-1])), **ends)
    fact: RunFact = {"name": "steps", "text": fmt.count(known), "tip": tip}
    if known == highest - first + 1:
        return fact
    return {**fact, "key": "overview.steps_value", "values": {"highest": fmt.count(highest)}}


def _duration(taken: RunSpan) -> RunFact:
    fact: RunFact = {"name": "duration", "text": fmt.duration(taken.seconds), "tip": both("overview.duration_tip")}
    if taken.paused == 0:
        return fact
    return {**fact, "key": "overview.duration_value", "values": {"paused": fmt.duration(taken.paused)},
            "tip": both("overview.paused_tip")}  # fmt: skip


def _speed(tag: str, measured: Speed) -> RunFact:
    tip = both("overview.speed_tip", n=fmt.count(measured.intervals), tag=tag, each=fmt.duration(measured.seconds))
    covered = {"first": fmt.count(measured.first), "last": fmt.count(measured.last)}
    text = fmt.number(1.0 / measured.seconds, 3)
    return {"name": "speed", "text": text, "key": "overview.speed_value", "values": covered, "tip": tip}
