"""Scalar series to a line chart: smoothed line over raw shadow, marks at non-finite values, what satisfies a threshold in red.

Every point counts: a curve is smoothed whole and then reduced to what the plot's pixel columns can show
(`parsers.analysis.reduce_points`). The figure is a plain dict for plotly.js. It has no colour of a theme: assets/scalars.css
colours text and grid, and what the page says about the figure is in `layout.meta`.

Hidden axes: y2 is the second value axis of a synthesis, y3 runs from 0 to 1 over the height and carries the marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parsers import Series
from parsers.analysis import Reduced, Threshold, merged, non_finite_runs, reduce_points, restarts, smooth

from layouts.figures.ticks import time_ticks
from layouts.payload import drawn, numbers, spaced, typed, whole_numbers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Trace = dict[str, Any]

# Readable on the cards of both themes, and used for nothing but what is wrong.
WRONG = "#e5484d"
WIDTH = 1.5
SHADOW = 0.2
# A mark is this many pixels wide, so marks need no finer columns.
_MARK_COLUMNS = 8
# More red points than this touch each other anyway.
_MANY = 500
# Around the first non-finite point a jump shows so many points to either side.
_AROUND = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One series of a chart.

    x has one entry per point, in the unit of the axis, NaN where the point has no place on it. started is the wall time in
    seconds that relative times count from. axis is 1 (left) or 2 (right), stroke a plotly dash style.
    """

    run: str
    tag: str
    label: str
    colour: str
    series: Series
    x: Floats
    started: float
    axis: int = 1
    stroke: str = "solid"


@dataclass(frozen=True, slots=True)
class View:
    """What of the plane is on screen: low and high of x and y, None for as much as there is."""

    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """How a chart is drawn. axis: "step", "relative" (seconds), "absolute" (milliseconds of local time) or "tag"."""

    axis: str = "step"
    weight: float = 0.0
    log: bool = False
    threshold: Threshold | None = None
    view: View = View()
    columns: int = 1000


class Curve(NamedTuple):
    """A line prepared for the screen: shown (smoothed and cut to what the axis can show), what of it is kept, and counts."""

    line: Line
    shown: Floats
    kept: Reduced
    gaps: Ints
    hidden: int
    unplaced: int


def figure(lines: Sequence[Line], look: Look) -> dict[str, Any]:
    """The figure of one chart; `layout.meta` holds the facts that the card states about it."""
    curves = [_curve(line, look) for line in lines]
    data: list[Trace] = []
    if look.weight > 0.0:
        data += [_shadow(curve, look) for curve in curves]
    shadows = len(data)
    for number, curve in enumerate(curves):
        data.append(_main(curve, look, number if shadows else None))
    data += _single_points(curves)
    red, satisfied = _satisfying(curves, look)
    marks, facts = _marks(lines, look)
    data += red + marks
    facts |= {
        "points": sum(line.series.step.size for line in lines),
        "inside": sum(curve.kept.inside for curve in curves),
        "sent": sum(curve.kept.keep.size for curve in curves),
        "whole": all(curve.kept.whole for curve in curves),
        "hidden": sum(curve.hidden for curve in curves),
        "unplaced": sum(curve.unplaced for curve in curves),
        "satisfied": satisfied,
        "interval": look.threshold.interval if look.threshold else "",
        "axis": look.axis,
    }
    return {"data": data, "layout": _layout(lines, look, facts, marks=bool(marks))}


# Points -------------------------------------------------------------------------------------------------------------


def _curve(line: Line, look: Look) -> Curve:
    value, starts = line.series.value, restarts(line.series.step)
    shown = smooth(value, look.weight, starts) if look.weight > 0.0 else value
    raw, hidden = value, 0
    if look.log:
        hidden = int(np.count_nonzero(np.isfinite(value) & (value <= 0.0)))
        if hidden:
            raw = np.where(value > 0.0, value, np.nan)
        shown = np.where(shown > 0.0, shown, np.nan) if hidden else shown
    kept = reduce_points(line.x, shown, columns=look.columns, window=look.view.x, breaks=starts)
    if look.weight > 0.0:
        kept = _joined(kept, reduce_points(line.x, raw, columns=look.columns, window=look.view.x, breaks=starts))
    unplaced = int(np.count_nonzero(~np.isfinite(line.x)))
    return Curve(line, shown, kept, _gaps(line.x, shown, kept.keep, starts), hidden, unplaced)


def _joined(one: Reduced, other: Reduced) -> Reduced:
    if one.keep.size == other.keep.size and np.array_equal(one.keep, other.keep):
        return one
    return Reduced(
        merged(one.keep, other.keep), one.whole and other.whole, one.ordered and other.ordered,
        max(one.inside, other.inside),
    )  # fmt: skip


def _gaps(x: Floats, shown: Floats, keep: Ints, starts: Ints) -> Ints:
    """Places in keep before which the line is interrupted: by a restart, or by points that cannot be drawn."""
    drawable = np.isfinite(shown) & np.isfinite(x)
    breaks = starts
    if not drawable.all():
        breaks = merged(starts, np.flatnonzero(~drawable))
    if not breaks.size:
        return breaks
    places = merged(np.searchsorted(keep, breaks, "left"))
    return places[(places > 0) & (places < keep.size)]


def _single(curve: Curve) -> Ints:
    """Places in keep with a gap on either side, where a line has nothing to draw."""
    size = curve.kept.keep.size
    if not curve.kept.ordered:
        return np.empty(0, np.int64)
    cut = np.zeros(size + 1, bool)
    cut[[0, size]] = True
    cut[curve.gaps] = True
    return np.flatnonzero(cut[:-1] & cut[1:])


# Traces -------------------------------------------------------------------------------------------------------------


def _base(line: Line, mode: str) -> Trace:
    trace: Trace = {"type": "scatter", "mode": mode, "hoverinfo": "skip"}
    if line.axis == 2:
        trace["yaxis"] = "y2"
    return trace


def _with_gaps(array: Floats, gaps: Ints, fill: float | None) -> Floats:
    if not gaps.size:
        return array
    return np.insert(array, gaps, array[gaps] if fill is None else fill)


def _place(trace: Trace, x: Floats) -> None:
    even = spaced(x)
    if even is None:
        trace["x"] = numbers(x)
    else:
        trace["x0"], trace["dx"] = even


def _drawn_line(curve: Curve, values: Floats, *, exact: bool) -> Trace:
    line, keep = curve.line, curve.kept.keep
    trace = _base(line, "lines" if curve.kept.ordered else "markers")
    _place(trace, _with_gaps(line.x[keep], curve.gaps, None))
    heights = _with_gaps(values[keep], curve.gaps, np.nan)
    trace["y"] = numbers(heights) if exact else drawn(heights)
    if curve.kept.ordered:
        trace["line"] = {"color": line.colour, "width": WIDTH}
        if line.stroke != "solid":
            trace["line"]["dash"] = line.stroke
    else:
        trace["marker"] = {"color": line.colour, "size": 3}
    return trace


def _shadow(curve: Curve, look: Look) -> Trace:
    value = curve.line.series.value
    # A log axis leaves out what it cannot show by itself.
    trace = _drawn_line(curve, np.where(np.isfinite(value), value, np.nan) if look.log else value, exact=True)
    trace["opacity"] = SHADOW
    return trace


def _main(curve: Curve, look: Look, shadow: int | None) -> Trace:
    trace = _drawn_line(curve, curve.shown, exact=look.weight == 0.0)
    trace["meta"] = {"key": curve.line.run, "tag": curve.line.tag, "label": curve.line.label, "colour": curve.line.colour,
                     "started": curve.line.started, "raw": shadow, **_hover_columns(curve, look)}  # fmt: skip
    return trace


def _hover_columns(curve: Curve, look: Look) -> dict[str, Any]:
    """Step and seconds since the start of each drawn point, unless the axis shows them already."""
    series, keep = curve.line.series, curve.kept.keep
    columns: dict[str, Any] = {}
    if look.axis != "step":
        step = _with_gaps(series.step[keep].astype(np.float64), curve.gaps, None)
        even = spaced(step)
        columns["step"] = {"x0": even[0], "dx": even[1]} if even else whole_numbers(step)
    if look.axis not in ("relative", "absolute"):
        time = _with_gaps(series.wall_time[keep] - curve.line.started, curve.gaps, None)
        # Milliseconds are enough to read; float32 has them for 4 hours.
        fits = bool(np.abs(time[np.isfinite(time)]).max(initial=0.0) < 2**14)
        columns["time"] = typed(time.astype(np.float32)) if fits else typed(time)
    return columns


def _single_points(curves: Sequence[Curve]) -> list[Trace]:
    traces = []
    for curve in curves:
        single = curve.kept.keep[_single(curve)]
        if single.size:
            trace = _base(curve.line, "markers")
            trace |= {"x": numbers(curve.line.x[single]), "y": numbers(curve.shown[single])}
            trace["marker"] = {"color": curve.line.colour, "size": 4}
            traces.append(trace)
    return traces


# Threshold ----------------------------------------------------------------------------------------------------------


def _satisfying(curves: Sequence[Curve], look: Look) -> tuple[list[Trace], int]:
    """The points whose raw value satisfies the threshold, as red lines and red single points; and how many they are."""
    if look.threshold is None:
        return [], 0
    total, lines, points = 0, [], []
    for curve in curves:
        line = curve.line
        mask = look.threshold.satisfied(line.series.value) & np.isfinite(line.series.value) & np.isfinite(line.x)
        total += int(np.count_nonzero(mask))
        if look.log:
            mask &= line.series.value > 0.0
        red = np.flatnonzero(mask)
        if not red.size:
            continue
        kept = reduce_points(line.x[red], line.series.value[red], columns=look.columns, window=look.view.x)
        at = red[kept.keep]
        if look.weight > 0.0 or not curve.kept.ordered:
            points.append((line, at))
            continue
        # Neighbours are joined where every point between them satisfies the threshold too.
        count = np.cumsum(mask)
        joined = (count[at[1:]] - count[at[:-1]] == at[1:] - at[:-1]) & (line.series.step[at[1:]] >= line.series.step[at[:-1]])
        gaps = np.flatnonzero(~joined) + 1
        edge = np.ones(at.size + 1, bool)
        edge[1:-1] = ~joined
        alone = edge[:-1] & edge[1:]
        points.append((line, at[alone]))
        if not alone.all():
            lines.append((line, at, gaps))
    return _red_lines(lines) + _red_points(points), total


def _red_lines(parts: Sequence[tuple[Line, Ints, Ints]]) -> list[Trace]:
    traces = []
    for axis in (1, 2):
        mine = [part for part in parts if part[0].axis == axis]
        if mine:
            x = np.concatenate([np.append(_with_gaps(line.x[at], gaps, None), line.x[at[-1]]) for line, at, gaps in mine])
            y = np.concatenate([np.append(_with_gaps(line.series.value[at], gaps, np.nan), np.nan) for line, at, gaps in mine])
            trace = _base(mine[0][0], "lines")
            traces.append(trace | {"x": numbers(x), "y": numbers(y), "line": {"color": WRONG, "width": WIDTH + 0.5}})
    return traces


def _red_points(parts: Sequence[tuple[Line, Ints]]) -> list[Trace]:
    traces = []
    for axis in (1, 2):
        mine = [part for part in parts if part[0].axis == axis and part[1].size]
        if mine:
            x = np.concatenate([line.x[at] for line, at in mine])
            y = np.concatenate([line.series.value[at] for line, at in mine])
            trace = _base(mine[0][0], "markers")
            size = 4 if x.size < _MANY else 3
            traces.append(trace | {"x": numbers(x), "y": numbers(y), "marker": {"color": WRONG, "size": size}})
    return traces


# Non-finite values --------------------------------------------------------------------------------------------------


def _marks(lines: Sequence[Line], look: Look) -> tuple[list[Trace], dict[str, Any]]:
    """Bands and marks at the edge of the plot where values are not finite: NaN and -Inf below, +Inf above."""
    columns = max(1, look.columns // _MARK_COLUMNS)
    found: list[tuple[Line, Any]] = []
    totals = np.zeros(3, np.int64)
    first: tuple[float, Line, int] | None = None
    for line in lines:
        bad = np.flatnonzero(~np.isfinite(line.series.value))
        if not bad.size:
            continue
        value = line.series.value[bad]
        totals += [np.count_nonzero(np.isnan(value)), np.count_nonzero(value == np.inf), np.count_nonzero(value == -np.inf)]
        at = int(bad[0])
        if np.isfinite(line.x[at]) and (first is None or line.x[at] < first[0]):
            first = (float(line.x[at]), line, at)
        found.append((line, non_finite_runs(line.x, line.series.value, columns=columns, window=look.view.x)))
    facts = {"nan": int(totals[0]), "above": int(totals[1]), "below": int(totals[2]), "first": _first(first)}
    traces = [trace for kind, style in enumerate(_MARK_STYLES) for trace in _marks_of_kind(found, kind, *style)]
    return traces, facts


# Symbol and height on y3 of NaN, +Inf and -Inf.
_MARK_STYLES = (("x", 0.0), ("triangle-up", 1.0), ("triangle-down", 0.0))


def _marks_of_kind(found: Sequence[tuple[Line, Any]], kind: int, symbol: str, height: float) -> list[Trace]:
    runs = [(line, run, run.kind == kind) for line, run in found]
    low = np.concatenate([run.low[mine] for _, run, mine in runs] or [np.empty(0)])
    if not low.size:
        return []
    high = np.concatenate([run.high[mine] for _, run, mine in runs])
    count = np.concatenate([run.points[mine] for _, run, mine in runs])
    common: Trace = {"type": "scatter", "yaxis": "y3", "hoverinfo": "skip", "cliponaxis": False}
    traces: list[Trace] = []
    wide = high > low
    if wide.any():
        # Three entries per band: its ends, and a gap.
        x = np.stack((low[wide], high[wide], high[wide]), axis=1).ravel()
        y = np.tile([height, height, np.nan], int(np.count_nonzero(wide)))
        line = {"color": WRONG, "width": 4}
        traces.append(common | {"mode": "lines", "x": numbers(x), "y": numbers(y), "line": line, "opacity": 0.45})
    runs_of = [str(line.label) for line, _, mine in runs for _ in range(int(np.count_nonzero(mine)))]
    traces.append(
        common
        | {"mode": "markers", "x": numbers(low), "y": numbers(np.full(low.size, height)),
           "marker": {"color": WRONG, "size": 7, "symbol": symbol},
           "meta": {"mark": kind, "high": numbers(high), "count": whole_numbers(count), "runs": runs_of}}
    )  # fmt: skip
    return traces


def _first(first: tuple[float, Line, int] | None) -> dict[str, Any] | None:
    """Where a jump to the first non-finite value leads: a few points to either side of it."""
    if first is None:
        return None
    place, line, at = first
    near = line.x[max(0, at - _AROUND) : at + _AROUND + 1]
    near = near[np.isfinite(near)]
    low, high = float(near.min()), float(near.max())
    return {"x": place, "label": line.label, "step": int(line.series.step[at]), "low": low, "high": high}


# Layout -------------------------------------------------------------------------------------------------------------


def _layout(lines: Sequence[Line], look: Look, facts: dict[str, Any], *, marks: bool) -> dict[str, Any]:
    two = any(line.axis == 2 for line in lines)
    layout: dict[str, Any] = {
        "margin": {"l": 54, "r": 54 if two else 14, "t": 8, "b": 38 if look.axis == "absolute" else 26, "pad": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "hovermode": False,
        "font": {"size": 11},
        "xaxis": _x_axis(lines, look),
        "yaxis": _y_axis(look) | _y_range(look, blank=facts["inside"] == 0),
        "meta": facts,
        # The range is part of the state, so a figure states it; nothing the browser remembers may override it.
        "uirevision": None,
    }
    if two:
        layout["yaxis2"] = _y_axis(look) | {
            "overlaying": "y", "side": "right", "showgrid": False, "zeroline": False, "tickmode": "auto", "fixedrange": True,
        }  # fmt: skip
        # A box would mean different values on the two axes, so it selects along x alone.
        layout["yaxis"]["fixedrange"] = True
    if marks:
        layout["yaxis3"] = {"overlaying": "y", "range": [0, 1], "fixedrange": True, "visible": False}
    if look.threshold is not None:
        layout["shapes"] = [_bound(bound) for bound in look.threshold.bounds if bound > 0.0 or not look.log]
    return layout


def _x_axis(lines: Sequence[Line], look: Look) -> dict[str, Any]:
    axis: dict[str, Any] = {"nticks": 6, "zeroline": False, "showgrid": True, "ticks": "", "automargin": False}
    low, high = look.view.x or _padded(*_extent(lines))
    axis["range"] = [low, high]
    if look.axis == "absolute":
        return axis | {"type": "date"}
    if look.axis == "relative":
        return axis | {"type": "linear"} | time_ticks(low, high)
    return axis | {"type": "linear", "tickformat": "~s" if look.axis == "step" else ".4~g"}


def _extent(lines: Sequence[Line]) -> tuple[float, float]:
    finite = [line.x[np.isfinite(line.x)] for line in lines]
    finite = [x for x in finite if x.size]
    if not finite:
        return 0.0, 1.0
    return min(float(x.min()) for x in finite), max(float(x.max()) for x in finite)


def _padded(low: float, high: float) -> tuple[float, float]:
    pad = (high - low) * 0.01 or max(abs(low) * 1e-6, 0.5)
    return low - pad, high + pad


def _y_range(look: Look, *, blank: bool) -> dict[str, Any]:
    if look.view.y:
        return {"range": _range(look.view.y, log=look.log)}
    # Without a point in view the axis has nothing to say.
    return {"range": [0, 1], "showticklabels": False, "zeroline": False} if blank else {}


def _y_axis(look: Look) -> dict[str, Any]:
    axis: dict[str, Any] = {"nticks": 6, "zeroline": not look.log, "ticks": "", "tickformat": ".4~g"}
    return axis | ({"type": "log", "dtick": None} if look.log else {"type": "linear"})


def _range(view: tuple[float, float], *, log: bool) -> list[float]:
    if not log:
        return list(view)
    high = np.log10(view[1]) if view[1] > 0.0 else 0.0
    return [float(np.log10(view[0])) if view[0] > 0.0 else float(high) - 3.0, float(high)]


def _bound(bound: float) -> dict[str, Any]:
    line = {"color": WRONG, "width": 1, "dash": "dash"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": bound, "y1": bound, "line": line}
