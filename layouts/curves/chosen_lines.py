"""Turn an ask into lines: series, their places on the axis, and their colours."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from parsers import Series
from parsers.analysis import (
    FEW,
    LONG,
    Places,
    SeriesFacts,
    as_step,
    earliest,
    join_by_step,
    local_milliseconds,
    relative_time,
    since,
    superseded,
)

from layouts.curves.comparing import Style, grouped
from layouts.curves.grouping import REST, CurveGrouping
from layouts.curves.scalar_asks import ChartRequest
from layouts.curves.smoothed_lines import ChartLine, LineStyle, VisibleRange
from layouts.kit.theme import PALETTE
from layouts.runs.chosen_runs import label_of, selected_runs
from layouts.runs.rows import RunRow
from layouts.sources import RunSources

_STROKES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

Found = Sequence[tuple[str, str, Series]]
"""(run, tag, series) of every line, the left axis before the right one."""


def runs_of(source: RunSources, ask: ChartRequest) -> list[str]:
    """Return the member runs on screen."""
    return selected_runs(ask.state, source, ("scalar",))


def visible_runs(source: RunSources, ask: ChartRequest) -> list[str]:
    """Return the member runs on screen that are not hidden."""
    return [run for run in runs_of(source, ask) if ask.by or run not in ask.hide]


def series_of(source: RunSources, ask: ChartRequest) -> Found:
    """Return every series with points that an ask names."""
    runs = visible_runs(source, ask)
    pairs = ((run, tag) for tag in dict.fromkeys((*ask.left, *ask.right)) for run in runs)
    found = ((run, tag, source.curves.series(run, tag)) for run, tag in pairs)
    return [(run, tag, series) for run, tag, series in found if series is not None and series.step.size]


def group_lines(source: RunSources, ask: ChartRequest, groups: CurveGrouping, tag: str) -> list[ChartLine]:
    """Return the lines of the groups for one tag of an ask, with all their points."""
    found = [one for one in series_of(source, ask) if one[1] == tag]
    with np.errstate(over="ignore", invalid="ignore"):
        style = style_of(ask, band_of(source, ask, groups))
        return grouped(list(lines_of(source, found, ask)), groups, look_of(ask), style, base_of(source, ask, groups))[0]


def band_of(source: RunSources, ask: ChartRequest, groups: CurveGrouping) -> str:
    """Return the band that is asked for; by default from lowest to highest if all groups have few runs, else the interval."""
    if ask.band:
        return ask.band
    sizes = Counter(groups.label.get(run, REST) for run in runs_of(source, ask))
    return "range" if max(sizes.values(), default=0) < FEW else "interval"


def style_of(ask: ChartRequest, band: str) -> Style:
    """Return how groups are drawn."""
    return Style(ask.line, band, bridge=ask.axis != "step")


def base_of(source: RunSources, ask: ChartRequest, groups: CurveGrouping | None) -> str | dict[str, ChartLine] | None:
    """Return the baseline of an ask: the label of a group, or the lines of a run by tag; None without a baseline."""
    kind, _, name = ask.base.partition(":")
    if kind == "run":
        tags = dict.fromkeys((*ask.left, *ask.right))
        mine = [(name, tag, one) for tag in tags if (one := source.curves.series(name, tag)) is not None and one.step.size]
        return {line.tag: line for line in lines_of(source, mine, ask)}
    return name if kind == "group" and groups else None


def lines_of(source: RunSources, found: Found, ask: ChartRequest) -> Iterator[ChartLine]:
    """Yield the lines of series, in the colours of their runs or tags."""
    rows = {member: row for row in source.runs.rows() for member in row.members}
    colour = _colours(source, found, ask)
    strokes = strokes_of(found, ask)
    for run, tag, series in found:
        row = rows.get(run)
        facts = SeriesFacts(series) if series.step.size >= LONG else None
        x, started = _x(source, run, series, facts, row.started if row else None, ask)
        yield ChartLine(
            run=run, tag=tag, label=label_of(run, row), colour=colour[run, tag], series=series, x=x, started=started,
            axis=2 if tag in ask.right else 1, stroke=strokes[tag], threshold=ask.thresholds.get(tag), facts=facts,
        )  # fmt: skip


def superseded_lines(source: RunSources, found: Found, ask: ChartRequest) -> list[ChartLine]:
    """Return lines of the points that were written again after a restart, in the colours of their runs or tags.

    Each is interrupted between the stretches of its points.
    """
    every = ((run, tag, source.curves.recorded(run, tag), series.step.size) for run, tag, series in found)
    old = [(run, tag, *superseded(one)) for run, tag, one, kept in every if one is not None and one.step.size > kept]
    lines = lines_of(source, [(run, tag, points) for run, tag, points, _ in old], ask)
    return [replace(line, breaks=stretches) for line, (*_, stretches) in zip(lines, old, strict=True)]


def row_of(source: RunSources, run: str) -> RunRow | None:
    """Return the row that has a member run, or None."""
    return next((row for row in source.runs.rows() if run in row.members), None)


def _x(
    source: RunSources, run: str, series: Series, facts: SeriesFacts | None, started: float | None, ask: ChartRequest
) -> tuple[NDArray[np.float64] | Places, float]:
    """Return (x of every point, the wall time that relative times count from)."""
    if facts is None:
        seconds, since_when = relative_time(series.wall_time, started)
    else:
        since_when = earliest(facts.earliest, started)
        places = _places(series, facts, since_when, ask)
        if places is not None and all(map(math.isfinite, places.ends)):  # a conversion may overflow
            return places, since_when
        seconds = series.wall_time - since_when if ask.axis == "relative" else series.wall_time
    if ask.axis == "relative":
        return seconds, since_when
    if ask.axis == "absolute":
        return (series.wall_time + ask.zone) * 1000.0, since_when
    if ask.axis == "tag":
        over = source.curves.series(run, ask.axis_tag)
        if over is None:
            return np.full(series.step.size, np.nan), since_when
        return join_by_step(series.step, over.step, over.value), since_when
    return series.step.astype(np.float64), since_when


def _places(series: Series, facts: SeriesFacts, started: float, ask: ChartRequest) -> Places | None:
    """Return x by bisection; None if that is not possible."""
    if ask.axis == "tag":
        return None
    rises = facts.steps if ask.axis == "step" else facts.times
    if rises is None:
        return None
    if ask.axis == "relative":
        return since(series.wall_time, started, rises)
    return as_step(series.step, rises) if ask.axis == "step" else local_milliseconds(series.wall_time, ask.zone, rises)


def _colours(source: RunSources, found: Found, ask: ChartRequest) -> dict[tuple[str, str], str]:
    """Colour lines by run; if one run shows several tags, colour them by tag."""
    runs = {run for run, _, _ in found}
    tags = [*ask.left, *ask.right]
    if len(runs) == 1 and len(tags) > 1:
        return {(run, tag): PALETTE[tags.index(tag) % len(PALETTE)][0] for run, tag, _ in found}
    of_run = source.runs.colours(ask.state.get("run", ()))
    return {(run, tag): of_run.get(run, PALETTE[0][0]) for run, tag, _ in found}


def strokes_of(found: Found, ask: ChartRequest) -> dict[str, str]:
    """Return the stroke of each tag. Strokes differ if several tags of several runs are shown, where colour means the run."""
    tags = list(dict.fromkeys([*ask.left, *ask.right]))
    several = len({run for run, _, _ in found}) > 1 and len(tags) > 1
    return {tag: _STROKES[number % len(_STROKES)] if several else "solid" for number, tag in enumerate(tags)}


def look_of(ask: ChartRequest) -> LineStyle:
    """Return axes, smoothing and view, in the units of the axes."""
    view = ask.view
    if ask.axis == "absolute" and view.x:
        view = VisibleRange(((view.x[0] + ask.zone) * 1000.0, (view.x[1] + ask.zone) * 1000.0), view.y)
    return LineStyle(ask.axis, ask.smooth, ask.log, ask.threshold, view, ask.columns, outliers=ask.outliers)
