"""Red traces for points that satisfy a threshold. It is evaluated on raw values, even if the curve is smoothed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from parsers.analysis import Places, Threshold, reduce_points

from layouts.curves.smoothed_lines import WIDTH, WRONG, ChartLine, DrawnLine, Ints, LineStyle, Trace, trace_on, with_gaps
from layouts.kit.figures.typed_arrays import numbers

# More red points than this overlap anyway, so they are drawn smaller.
_MANY = 500


def threshold_of(line: ChartLine, look: LineStyle) -> Threshold | None:
    """Return the threshold of a line: its own, else that of the chart."""
    return line.threshold or look.threshold


class SatisfiedThreshold(TypedDict):
    """A threshold, the number of points that satisfy it, and the tags it applies to."""

    text: str
    interval: str
    satisfied: int
    tags: list[str]


def satisfying(curves: Sequence[DrawnLine], look: LineStyle) -> tuple[list[Trace], list[SatisfiedThreshold]]:
    """Return red lines and red single points for the points that satisfy the threshold of their line, and the facts.

    Facts: for each threshold its text, its interval, the number of points that satisfy it, and the tags it applies to.
    """
    facts: dict[Threshold, SatisfiedThreshold] = {}
    lines, points = [], []
    for curve in curves:
        line = curve.line
        threshold = threshold_of(line, look)
        if threshold is None:
            continue
        mask = threshold.satisfied(line.series.value)
        blocks = line.facts.blocks if line.facts is not None else None
        if blocks is None:
            mask &= np.isfinite(line.series.value)
        else:
            mask[blocks.bad()] = False
        if not isinstance(line.x, Places):
            mask &= np.isfinite(line.x)
        fact = facts.setdefault(
            threshold, {"text": threshold.text, "interval": threshold.interval, "satisfied": 0, "tags": []}
        )
        fact["satisfied"] += int(np.count_nonzero(mask))
        if line.tag not in fact["tags"]:
            fact["tags"].append(line.tag)
        if look.log:
            mask &= line.series.value > 0.0
        red = np.flatnonzero(mask)
        if not red.size:
            continue
        if isinstance(line.x, Places) and look.view.x is not None:
            red = _near(line.x, red, look.view.x)
        kept = reduce_points(line.x[red], line.series.value[red], columns=look.columns, window=look.view.x, axis=look.span)
        at = red[kept.keep]
        if look.weight > 0.0 or not curve.kept.ordered:
            points.append((line, at))
            continue
        # Connect neighbours only if every point between them satisfies the threshold too.
        joined = (np.diff(kept.keep) == np.diff(at)) & (line.series.step[at[1:]] >= line.series.step[at[:-1]])
        gaps = np.flatnonzero(~joined) + 1
        edge = np.ones(at.size + 1, bool)
        edge[1:-1] = ~joined
        alone = edge[:-1] & edge[1:]
        points.append((line, at[alone]))
        if not alone.all():
            lines.append((line, at, gaps))
    return _red_lines(lines) + _red_points(points), list(facts.values())


def _near(x: Places, red: Ints, window: tuple[float, float]) -> Ints:
    """Return the points of `red` in the window and the next ones beyond its ends; all of them where x falls."""
    if x.falls().size:
        return red
    first, stop = np.zeros(2, np.int64), np.full(2, x.size)
    low, high = x.reaching(first, stop, lambda place: place >= np.array([window[0], np.nextafter(window[1], np.inf)]))
    begin, end = np.searchsorted(red, [low, high])
    return red[max(begin - 1, 0) : end + 1]


def _red_lines(parts: Sequence[tuple[ChartLine, Ints, Ints]]) -> list[Trace]:
    traces = []
    for axis in (1, 2):
        mine = [part for part in parts if part[0].axis == axis]
        if mine:
            x = np.concatenate([np.append(with_gaps(line.x[at], gaps, None), line.x[at[-1]]) for line, at, gaps in mine])
            y = np.concatenate([np.append(with_gaps(line.series.value[at], gaps, np.nan), np.nan) for line, at, gaps in mine])
            trace = trace_on(mine[0][0], "lines")
            style = {"color": WRONG, "width": WIDTH + 0.5, "simplify": False}
            traces.append(trace | {"x": numbers(x), "y": numbers(y), "line": style})
    return traces


def _red_points(parts: Sequence[tuple[ChartLine, Ints]]) -> list[Trace]:
    traces = []
    for axis in (1, 2):
        mine = [part for part in parts if part[0].axis == axis and part[1].size]
        if mine:
            x = np.concatenate([line.x[at] for line, at in mine])
            y = np.concatenate([line.series.value[at] for line, at in mine])
            trace = trace_on(mine[0][0], "markers")
            size = 4 if x.size < _MANY else 3
            traces.append(trace | {"x": numbers(x), "y": numbers(y), "marker": {"color": WRONG, "size": size}})
    return traces
