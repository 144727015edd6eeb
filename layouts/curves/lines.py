"""Line charts of scalar series: smoothed lines over raw shadows, marks at non-finite values, thresholds in red.

All points count: a curve is smoothed first and then reduced to what the plot's pixel columns can show (`curves`). The figure is
a plain dict for plotly.js. It has no theme colours: assets/kit/elements.css colours text and grid. The facts that the page
states about the figure are in `layout.meta`.

Axes: y2 is the right value axis of a chart with several tags; y3 is hidden, runs from 0 to 1 and carries the marks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np
from parsers.analysis.curves.final_values import last_value

from layouts.curves.bands import Ends, bands, columns_of_group, ends_of
from layouts.curves.curve_alternatives import of_curves
from layouts.curves.last_values import shown_last
from layouts.curves.marks import BadValues, marks
from layouts.curves.smoothed_lines import (
    WIDTH,
    WRONG,
    ChartLine,
    DrawnLine,
    Floats,
    LineStyle,
    Trace,
    prepared,
    single,
    trace_on,
    with_gaps,
)
from layouts.curves.thresholds import SatisfiedThreshold, satisfying, threshold_of
from layouts.curves.value_ranges import ValueRange, arrows, axis_of, beyond, tick_format, value_range
from layouts.kit.figures.alternatives import described
from layouts.kit.figures.ticks import time_ticks
from layouts.kit.figures.typed_arrays import (
    EXACT,
    beyond_float64,
    drawn,
    durations,
    exact_integers,
    numbers,
    spaced,
    whole_numbers,
)

SHADOW = 0.2
SUPERSEDED = 0.5
MOST_TRACES = 10
"""Cards with more lines draw them on a canvas: plotly.js takes 4 ms for each trace."""


class ShownOutliers(TypedDict):
    """Whether outliers are shown, and how many values the axes leave out."""

    shown: bool
    beyond: int


class ChartFacts(BadValues):
    """What a chart says of itself in `layout.meta`; numbers of points and values."""

    points: int
    inside: int
    sent: int
    whole: bool
    """All points in view are drawn."""
    hidden: int
    unplaced: int
    superseded: int
    """Points that were written again after a restart."""
    thresholds: list[SatisfiedThreshold]
    axis: str
    outliers: ShownOutliers | None


def figure(
    lines: Sequence[ChartLine], look: LineStyle, members: Sequence[ChartLine] | None = None,
    superseded: Sequence[ChartLine] = (),
) -> dict[str, Any]:  # fmt: skip
    """Return the figure of one chart; `layout.meta` has the facts that the card states about it.

    members are the lines of single runs behind the lines of groups; points are counted and marked by them. superseded are lines
    of points that were written again after a restart (`parsers.analysis.curves.segments`), drawn thin and dotted.
    """
    extent = _extent([*lines, *superseded])
    look = replace(look, span=look.view.x or _padded(*extent))
    exact = look.axis == "step" and max(map(abs, extent)) < EXACT
    curves = [prepared(line, look) for line in lines]
    ends = [ends_of(curve) for curve in curves]
    old = [prepared(line, replace(look, weight=0.0)) for line in superseded]
    data: list[Trace] = [trace for curve in old for trace in _superseded(curve)]
    data += bands(curves, ends, look)
    if look.weight > 0.0:
        data += [_shadow(curve, look) for curve in curves]
    first = len(data) - len(curves)
    for number, curve in enumerate(curves):
        data.append(_main(curve, look, first + number if look.weight > 0.0 else None, ends[number], exact=exact))
    data += _single_points(curves)
    red, thresholds = satisfying(curves, look)
    members = lines if members is None else members
    edge, bad = marks(members, look)
    by_axis = _by_axis([*curves, *old])
    found = {axis: value_range(mine, look) for axis, mine in by_axis.items() if look.view.y is None or axis == 2}
    edge += [arrow for axis, one in found.items() if one and one.clipped for arrow in arrows(by_axis[axis], one, look)]
    data += red + edge
    facts: ChartFacts = {
        **bad,
        "points": sum(line.series.step.size for line in members),
        "inside": sum(curve.kept.inside for curve in curves) if members is lines else _inside(members, look),
        "sent": sum(curve.kept.keep.size for curve in curves),
        "whole": all(curve.kept.whole for curve in curves),
        "hidden": sum(curve.hidden for curve in curves),
        "unplaced": sum(line.unplaced for line in members),
        "superseded": sum(line.series.step.size for line in superseded),
        "thresholds": thresholds,
        "axis": look.axis,
        "outliers": _outliers(members, curves, found, look),
    }
    drawn_figure = {"data": data, "layout": _layout(lines, look, facts, found, marked=bool(edge))}
    return described(drawn_figure, *of_curves(lines, look, facts))


def _by_axis(curves: Sequence[DrawnLine]) -> dict[int, list[DrawnLine]]:
    return {axis: mine for axis in (1, 2) if (mine := [curve for curve in curves if curve.line.axis == axis])}


def _outliers(
    members: Sequence[ChartLine], curves: Sequence[DrawnLine], found: Mapping[int, ValueRange | None], look: LineStyle
) -> ShownOutliers | None:
    """Return how many values the axes leave out, and whether they are shown all the same; None if there are no outliers."""
    if not any(one and one.outliers for one in found.values()):
        return None
    left = [(axis, one) for axis, one in found.items() if one and one.clipped]
    number = sum(beyond([line for line in members if line.axis == axis], curves, one, look) for axis, one in left)
    return {"shown": look.outliers, "beyond": number}


def on_canvas(figure: dict[str, Any]) -> dict[str, Any]:
    """Return a figure of more than `MOST_TRACES` lines with its bands, shadows and lines in `canvas` instead of `data`.

    `canvas` followed by `data` are the traces of the figure. Only cards draw such figures, see assets/kit/cards/curves.js.
    """
    data = figure["data"]
    lines = [place for place, trace in enumerate(data) if "key" in trace.get("meta", {})]
    if len(lines) <= MOST_TRACES:
        return figure
    return figure | {"canvas": data[: lines[-1] + 1], "data": data[lines[-1] + 1 :]}


def _inside(members: Sequence[ChartLine], look: LineStyle) -> int:
    low, high = look.view.x or (-np.inf, np.inf)
    places = (np.asarray(line.x) for line in members)
    return sum(int(np.count_nonzero((x >= low) & (x <= high))) for x in places)


# Traces ---------------------------------------------------------------------------------------------------------------


def _place(trace: Trace, x: Floats) -> None:
    even = spaced(x)
    if even is None:
        trace["x"] = numbers(x)
    else:
        trace["x0"], trace["dx"] = even


def _drawn_line(curve: DrawnLine, values: Floats, *, exact: bool) -> Trace:
    line, keep = curve.line, curve.kept.keep
    trace = trace_on(line, "lines" if curve.kept.ordered else "markers")
    _place(trace, with_gaps(line.x[keep], curve.gaps, None))
    heights = with_gaps(values, curve.gaps, np.nan)
    trace["y"] = numbers(heights) if exact else drawn(heights)
    if curve.kept.ordered:
        # plotly would leave out corners once more, and with them extremes of pixel columns.
        trace["line"] = {"color": line.colour, "width": WIDTH, "simplify": False}
        if line.stroke != "solid":
            trace["line"]["dash"] = line.stroke
    else:
        trace["marker"] = {"color": line.colour, "size": 3}
    return trace


def _shadow(curve: DrawnLine, look: LineStyle) -> Trace:
    raw = curve.raw
    # On a log axis plotly would draw a line down to the floor for values that are not positive.
    trace = _drawn_line(curve, np.where(np.isfinite(raw) & (raw > 0), raw, np.nan) if look.log else raw, exact=True)
    trace["opacity"] = SHADOW
    return trace


def _superseded(curve: DrawnLine) -> list[Trace]:
    """Return the line of superseded points, and its points that stand alone."""
    faint: Trace = {"opacity": SUPERSEDED, "meta": {"superseded": curve.line.run}}
    alone = single(curve)
    traces = []
    if alone.size < curve.kept.keep.size:
        trace = _drawn_line(curve, curve.shown, exact=True)
        if curve.kept.ordered:
            trace["line"] |= {"width": 1, "dash": "dot"}
        traces.append(trace | faint)
    if alone.size:
        trace = trace_on(curve.line, "markers") | faint
        trace |= {"x": numbers(curve.line.x[curve.kept.keep[alone]]), "y": numbers(curve.shown[alone])}
        traces.append(trace | {"marker": {"color": curve.line.colour, "size": 3}})
    return traces


def _main(curve: DrawnLine, look: LineStyle, shadow: int | None, ends: Ends | None, *, exact: bool) -> Trace:
    trace = _drawn_line(curve, curve.shown, exact=look.weight == 0.0)
    line = curve.line
    named = {"key": line.run, "tag": line.tag, "label": line.label, "colour": line.colour, "started": line.started}
    if line.spread is None:
        last = shown_last(last_value(line.series)) if line.series.step.size else None
        trace["meta"] = named | {"raw": shadow, "last": last} | _hover_columns(curve, look, exact=exact)
    else:
        trace["meta"] = named | {"raw": None} | columns_of_group(curve, line.spread, ends)
    return trace


def _hover_columns(curve: DrawnLine, look: LineStyle, *, exact: bool) -> dict[str, Any]:
    """Return step and seconds since the start of each drawn point, unless the axis shows them already (exact: and exactly)."""
    series, keep = curve.line.series, curve.kept.keep
    columns: dict[str, Any] = {}
    if not exact and beyond_float64(series.step[keep]):
        columns["step"] = exact_integers(with_gaps(series.step[keep], curve.gaps, None))
    elif look.axis != "step":
        step = with_gaps(series.step[keep].astype(np.float64), curve.gaps, None)
        even = spaced(step)
        columns["step"] = {"x0": even[0], "dx": even[1]} if even else whole_numbers(step)
    if look.axis not in ("relative", "absolute"):
        columns["time"] = durations(with_gaps(series.wall_time[keep] - curve.line.started, curve.gaps, None))
    return columns


def _single_points(curves: Sequence[DrawnLine]) -> list[Trace]:
    traces = []
    for axis in (1, 2):
        found = [(curve, single(curve)) for curve in curves if curve.line.axis == axis]
        alone = [(curve, lone) for curve, lone in found if lone.size]
        if not alone:
            continue
        trace = trace_on(alone[0][0].line, "markers")
        trace["x"] = numbers(np.concatenate([curve.line.x[curve.kept.keep[lone]] for curve, lone in alone]))
        trace["y"] = numbers(np.concatenate([curve.shown[lone] for curve, lone in alone]))
        colours = [curve.line.colour for curve, lone in alone for _ in range(lone.size)]
        trace["marker"] = {"color": colours if len(alone) > 1 else colours[0], "size": 4}
        traces.append(trace)
    return traces


# Layout ---------------------------------------------------------------------------------------------------------------


def _layout(
    lines: Sequence[ChartLine], look: LineStyle, facts: ChartFacts, ranges: Mapping[int, ValueRange | None], *, marked: bool
) -> dict[str, Any]:
    two = any(line.axis == 2 for line in lines)
    layout: dict[str, Any] = {
        "margin": {"l": 54, "r": 54 if two else 14, "t": 8, "b": 38 if look.axis == "absolute" else 26, "pad": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "hovermode": False,
        "font": {"size": 11},
        "xaxis": _x_axis(lines, look, *(look.span or (0.0, 1.0))),
        "yaxis": _y_axis(look) | axis_of(ranges.get(1), look) | _y_range(look, blank=facts["sent"] == 0),
        "meta": facts,
        # The range is part of the state, so the figure sets it; nothing the browser remembers may override it.
        "uirevision": None,
    }
    if two:
        layout["yaxis2"] = _y_axis(look) | {
            "overlaying": "y", "side": "right", "showgrid": False, "zeroline": False, "tickmode": "auto", "fixedrange": True,
        } | axis_of(ranges.get(2), look)  # fmt: skip
        # A box would mean different values on the two axes, so it zooms x only.
        layout["yaxis"]["fixedrange"] = True
    if marked:
        layout["yaxis3"] = {"overlaying": "y", "range": [0, 1], "fixedrange": True, "visible": False}
    bounds = {
        (line.axis, bound)
        for line in lines if (threshold := threshold_of(line, look)) is not None
        for bound in threshold.bounds if bound > 0.0 or not look.log
    }  # fmt: skip
    if bounds:
        layout["shapes"] = [_bound(bound, axis) for axis, bound in sorted(bounds)]
    return layout


def _x_axis(lines: Sequence[ChartLine], look: LineStyle, low: float, high: float) -> dict[str, Any]:
    axis: dict[str, Any] = {"nticks": 6, "zeroline": False, "showgrid": True, "ticks": "", "automargin": False}
    axis["range"] = [low, high]
    axis["showticklabels"] = any(line.ends is not None for line in lines)
    if look.axis == "absolute":
        return axis | {"type": "date"}
    if look.axis == "relative":
        return axis | {"type": "linear"} | time_ticks(low, high)
    return axis | {"type": "linear", "tickformat": "~s" if look.axis == "step" else ".4~g"}


def _extent(lines: Sequence[ChartLine]) -> tuple[float, float]:
    ends = [found for line in lines if (found := line.ends) is not None]
    if not ends:
        return 0.0, 1.0
    return min(low for low, _ in ends), max(high for _, high in ends)


def _padded(low: float, high: float) -> tuple[float, float]:
    pad = (high - low) * 0.01 or max(abs(low) * 1e-6, 0.5)
    return low - pad, high + pad


def _y_range(look: LineStyle, *, blank: bool) -> dict[str, Any]:
    if look.view.y:
        ticks = {} if look.log else {"tickformat": tick_format(*look.view.y)}
        return {"range": _range(look.view.y, log=look.log)} | ticks
    # Without a point in view, tick labels would be meaningless.
    return {"range": [0, 1], "showticklabels": False, "zeroline": False} if blank else {}


def _y_axis(look: LineStyle) -> dict[str, Any]:
    # The margins have room for a label at either end; to find those that leave the plot, plotly would measure every label.
    axis: dict[str, Any] = {
        "nticks": 6, "zeroline": not look.log, "ticks": "", "tickformat": ".4~g", "ticklabeloverflow": "allow",
    }  # fmt: skip
    return axis | ({"type": "log", "dtick": None} if look.log else {"type": "linear"})


def _range(view: tuple[float, float], *, log: bool) -> list[float]:
    if not log:
        return list(view)
    high = np.log10(view[1]) if view[1] > 0.0 else 0.0
    return [float(np.log10(view[0])) if view[0] > 0.0 else float(high) - 3.0, float(high)]


def _bound(bound: float, axis: int) -> dict[str, Any]:
    """Return a line at a bound of a threshold: dashed for the left axis, dotted for the right one."""
    line = {"color": WRONG, "width": 1, "dash": "dash" if axis == 1 else "dot"}
    place = {"xref": "paper", "x0": 0, "x1": 1, "yref": "y" if axis == 1 else "y2", "y0": bound, "y1": bound}
    return {"type": "line", **place, "line": line}
