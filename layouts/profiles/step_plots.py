"""Figures of a profile's steps: stacked bars per step and a line per part over the steps.

Steps are placed side by side in the order of the file, regardless of their numbers; ticks and hover labels have the numbers.
If there are more steps than bars fit, a bar is the mean of neighbours, and the strongest outlier in it is marked.
`meta` of a trace has its "role", `layout.meta` how much is shown. Nothing here has a theme colour except the hover labels,
which CSS cannot style.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.analysis import Breakdown, Outliers, outliers, reduce_points, shares

from layouts.curves.smoothed_lines import WRONG, Trace
from layouts.kit import units as fmt
from layouts.kit.figures.panels import axis, layout_key, titles
from layouts.kit.figures.typed_arrays import drawn, numbers, whole_numbers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Computing has a hue, communication a warm one, and waiting is grey.
COLOURS: Mapping[str, str] = {
    "interval": "#76818f", "forward_backward": "#236db4", "forward": "#236db4", "tail": "#2b9c78", "other": "#866850",
    "preparing": "#a3acb8", "computing": "#236db4", "overlapped": "#2b9c78", "exposed": "#c6871a", "free": "#76818f",
}  # fmt: skip
_OUT = "#7f8996"
"""Steps beyond the axis that are not judged, so they may or may not be outliers."""
_SHORT = "#895dd6"
"""Outliers that are short, which is not wrong."""
MEASURES = ("time", "share")
BAR = 4
"""Pixels for a bar and its gap."""
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_FAR = 3.0
"""Steps longer than this many times the longest usual step are drawn at the edge of the plot."""


@dataclass(frozen=True, slots=True)
class StepStyle:
    """How steps are drawn.

    measure is one of MEASURES; columns the plot's width in pixels; window the first and last place (counted from 0) on screen,
    None for all; step the number of the selected step. words are names of parts and the words step, steps, whole, mean, usual,
    unknown, stream and more, in the reader's language.
    """

    words: Mapping[str, str]
    measure: str = "time"
    columns: int = 1000
    window: tuple[int, int] | None = None
    step: int | None = None
    dark: bool = False


@dataclass(slots=True)
class _Bins:
    """Neighbouring steps drawn as one bar: first and one past the last place of each, their middle, the mean times
    (bars, parts), and the number of steps in the mean."""

    first: Ints
    stop: Ints
    middle: Floats
    mean_ns: Floats
    count: Ints
    size: int = field(default=1)


def unit_of(largest_ns: float) -> tuple[float, str]:
    """Return (ns per unit, unit) suitable for times up to the largest."""
    return next((pair for pair in _UNITS if largest_ns >= pair[0]), _UNITS[-1])


def bars(breakdown: Breakdown, look: StepStyle) -> dict[str, Any]:
    """Return stacked bars of one step or several neighbours each, with marks for outliers and unsound steps."""
    low, high = _window(breakdown, look)
    bins = _binned(breakdown, low, high, max(10, look.columns // BAR))
    out = outliers(breakdown)
    usual = breakdown.judged.copy()
    usual[out.row] = False
    top_ns = _top(breakdown.whole_ns[low : high + 1], breakdown.whole_ns[usual])
    scale, unit = (0.01, "%") if look.measure == "share" else unit_of(top_ns)
    whole = bins.mean_ns.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        height = np.where(whole[:, None] > 0.0, bins.mean_ns / whole[:, None], 0.0) if look.measure == "share" else bins.mean_ns
    traces: list[Trace] = [
        {
            "type": "bar", "x": numbers(bins.middle), "y": drawn(height[:, number] / scale), "width": _width(bins),
            "marker": {"color": COLOURS[part], "line": {"width": 0}}, "hoverinfo": "skip", "meta": {"role": part},
        }
        for number, part in enumerate(breakdown.parts)
    ]  # fmt: skip
    top = 100.0 if look.measure == "share" else top_ns / scale
    traces += _marks(breakdown, out, look, (low, high), top, 0.0 if look.measure == "share" else scale, bins)
    traces.append(_hover(breakdown, bins, look, np.minimum(height.sum(axis=1) / scale, top)))
    steps = high - low + 1
    layout = bare_layout(look) | {
        "barmode": "stack", "bargap": 0,
        "xaxis": _x_axis(breakdown, low, high),
        "yaxis": {"range": [0, top * 1.08], "ticksuffix": f" {unit}", "nticks": 6, "fixedrange": True, "zeroline": True},
        "meta": {
            "steps": steps, "total": len(breakdown), "bin": bins.size, "unit": unit, "window": [low, high],
            "outliers": int(np.count_nonzero((out.row >= low) & (out.row <= high))),
            "unsound": int(np.count_nonzero(~breakdown.sound[low : high + 1])),
            "beyond": int(np.count_nonzero(breakdown.whole_ns[low : high + 1] > top_ns)) if look.measure == "time" else 0,
        },
    }  # fmt: skip
    layout["shapes"] = _picked(breakdown, look, low, high, bins)
    return {"data": traces, "layout": layout}


def _window(breakdown: Breakdown, look: StepStyle) -> tuple[int, int]:
    last = max(len(breakdown) - 1, 0)
    if look.window is None:
        return 0, last
    low, high = sorted(min(max(place, 0), last) for place in look.window)
    return low, high


def _top(shown: Ints, usual: Ints) -> float:
    """Return the longest time on the axis: that of all steps, unless a few are so long that the others would be unreadable."""
    largest = float(shown.max(initial=0))
    normal = float(usual.max(initial=0))
    return (normal * 1.2 if 0.0 < normal * _FAR < largest else largest) or 1.0


def _binned(breakdown: Breakdown, low: int, high: int, most: int) -> _Bins:
    steps = high - low + 1 if len(breakdown) else 0
    size = max(1, math.ceil(steps / most))
    first = np.arange(low, low + steps, size, dtype=np.int64)
    stop = np.minimum(first + size, low + steps)
    sound = breakdown.sound[low : low + steps]
    times = breakdown.time_ns[low : low + steps].astype(np.float64)
    if size == 1:
        return _Bins(first, stop, first.astype(np.float64), times, sound.astype(np.int64))
    if not steps:
        return _Bins(first, stop, first.astype(np.float64), times, first)
    count = np.add.reduceat(sound.astype(np.int64), first - low)
    sums = np.add.reduceat(times * sound[:, None], first - low, axis=0)
    mean = sums / np.maximum(count, 1)[:, None]
    return _Bins(first, stop, (first + stop - 1) / 2.0, mean, count, size)


def _width(bins: _Bins) -> dict[str, str]:
    span = (bins.stop - bins.first).astype(np.float64)
    return numbers(span * (0.86 if bins.first.size < 120 else 1.0))


def _marks(
    breakdown: Breakdown, out: Outliers, look: StepStyle, window: tuple[int, int], top: float, scale: float, bins: _Bins
) -> list[Trace]:
    """Return marks for the strongest outlier of each bar and for unsound steps. scale 0: all marks are at the top."""
    inside = (out.row >= window[0]) & (out.row <= window[1])
    traces = []
    for long in (True, False):
        chosen = np.flatnonzero(inside & ((out.score > 0.0) == long))
        if not chosen.size:
            continue
        bar = (out.row[chosen] - window[0]) // bins.size
        order = np.lexsort((-np.abs(out.score[chosen]), bar))
        kept = order[np.append(True, np.diff(bar[order]) > 0)]
        more = np.bincount(bar)[bar[kept]] - 1
        chosen, bar = chosen[kept], bar[kept]
        rows = out.row[chosen]
        height = np.minimum(breakdown.whole_ns[rows] / scale, top) if scale else np.full(rows.size, top)
        texts = [_outlier_text(breakdown, out, int(at), int(left), look) for at, left in zip(chosen, more, strict=True)]
        traces.append({
            "type": "scatter", "mode": "markers", "x": numbers(rows.astype(np.float64)), "y": drawn(height * 1.025),
            "marker": {"symbol": "triangle-down" if long else "triangle-up", "size": 8, "color": WRONG if long else _SHORT},
            "hoverinfo": "text", "hovertext": texts, "cliponaxis": False,
            "customdata": breakdown.step[rows].tolist(),
            "meta": {"role": "long" if long else "short", "places": whole_numbers(rows)},
        })  # fmt: skip
    # Steps that are not judged, such as the first one, may also exceed the axis.
    shown = breakdown.whole_ns[window[0] : window[1] + 1]
    beyond = np.setdiff1d(np.flatnonzero(shown > top * scale * (1.0 + 1e-9)) + window[0], out.row) if scale else out.row[:0]
    if beyond.size:
        beyond = beyond[np.append(True, np.diff((beyond - window[0]) // bins.size) > 0)]
        texts = [f"<b>{_step_text(breakdown, int(at), look)}: {_long(breakdown, int(at))}</b>" for at in beyond]
        traces.append({
            "type": "scatter", "mode": "markers", "x": numbers(beyond.astype(np.float64)),
            "y": drawn(np.full(beyond.size, top * 1.025)), "hoverinfo": "text", "hovertext": texts, "cliponaxis": False,
            "marker": {"symbol": "triangle-up", "size": 8, "color": _OUT}, "customdata": breakdown.step[beyond].tolist(),
            "meta": {"role": "beyond", "places": whole_numbers(beyond)},
        })  # fmt: skip
    unsound = np.flatnonzero(~breakdown.sound[window[0] : window[1] + 1]) + window[0]
    if unsound.size:
        first = unsound[np.append(True, np.diff((unsound - window[0]) // bins.size) > 0)]
        traces.append({
            "type": "scatter", "mode": "markers", "x": numbers(first.astype(np.float64)), "y": drawn(np.zeros(first.size)),
            "marker": {"symbol": "x", "size": 7, "color": WRONG}, "hoverinfo": "text", "cliponaxis": False,
            "hovertext": [f"{_step_text(breakdown, int(place), look)}: {look.words['unknown']}" for place in first],
            "meta": {"role": "unsound", "places": whole_numbers(first)},
        })  # fmt: skip
    return traces


def _long(breakdown: Breakdown, place: int) -> str:
    return fmt.duration(float(breakdown.whole_ns[place]) / 1e9)


def _step_text(breakdown: Breakdown, place: int, look: StepStyle) -> str:
    number = int(breakdown.step[place])
    return f"{look.words['step']} {fmt.count(number)}" if number >= 0 else f"{look.words['step']} #{fmt.count(place + 1)}"


def _outlier_text(breakdown: Breakdown, out: Outliers, at: int, more: int, look: StepStyle) -> str:
    row = int(out.row[at])
    whole = float(breakdown.whole_ns[row])
    part = look.words[out.part[at]]
    lines = [
        f"<b>{_step_text(breakdown, row, look)}: {fmt.duration(whole / 1e9)}</b>",
        f"{look.words['usual']} {fmt.duration(out.median_ns / 1e9)}",
        f"{part} {fmt.duration(float(out.change_ns[at]) / 1e9, signed=True)}",
    ]
    if more:
        lines.append(look.words["more"].format(n=fmt.count(more)))
    return "<br>".join(lines)


def _hover(breakdown: Breakdown, bins: _Bins, look: StepStyle, height: Floats) -> Trace:
    """Return an invisible point on each bar whose hover label has the bar's numbers."""
    texts = []
    for at, (first, stop) in enumerate(zip(bins.first.tolist(), bins.stop.tolist(), strict=True)):
        whole = float(bins.mean_ns[at].sum())
        head = _step_text(breakdown, first, look)
        if stop - first > 1:
            head = f"{look.words['steps'].format(first=_number(breakdown, first), last=_number(breakdown, stop - 1))}"
            head += f" · {look.words['mean']}"
        lines = [f"<b>{head}</b>", f"{look.words['whole']} {fmt.duration(whole / 1e9)}"]
        for number in range(len(breakdown.parts) - 1, -1, -1):
            part, time = breakdown.parts[number], float(bins.mean_ns[at, number])
            share = fmt.percent(time / whole) if whole > 0.0 else ""
            dot = f'<span style="color:{COLOURS[part]}">■</span>'
            lines.append(f"{dot} {look.words[part]} {fmt.duration(time / 1e9)}  {share}")
        texts.append("<br>".join(lines))
    return {
        "type": "scatter", "mode": "markers", "x": numbers(bins.middle), "y": drawn(height), "hovertext": texts,
        "hoverinfo": "text", "marker": {"size": 1, "opacity": 0},
        "customdata": breakdown.step[(bins.first + bins.stop - 1) // 2].tolist(),
        "meta": {"role": "hover", "first": whole_numbers(bins.first), "stop": whole_numbers(bins.stop)},
    }  # fmt: skip


def _number(breakdown: Breakdown, place: int) -> str:
    number = int(breakdown.step[place])
    return fmt.count(number) if number >= 0 else f"#{fmt.count(place + 1)}"


def _picked(breakdown: Breakdown, look: StepStyle, low: int, high: int, bins: _Bins) -> list[dict[str, Any]]:
    place = breakdown.place(look.step) if look.step is not None else None
    if place is None or not low <= place <= high:
        return []
    at = (place - low) // bins.size
    return [{
        "type": "rect", "xref": "x", "yref": "paper", "x0": float(bins.first[at]) - 0.5, "x1": float(bins.stop[at]) - 0.5,
        "y0": 0, "y1": 1, "line": {"width": 0}, "fillcolor": "rgba(47,95,208,0.16)", "layer": "below",
    }]  # fmt: skip


def _x_axis(breakdown: Breakdown, low: int, high: int) -> dict[str, Any]:
    """Return the axis of places, with the numbers of steps as ticks."""
    span = high - low
    distance = max(1, _nice(span / 8.0))
    known = len(breakdown) > 0
    # Put ticks at round numbers if steps are numbered consecutively.
    offset = int(breakdown.step[low]) if known and int(breakdown.step[low]) >= 0 else 0
    first = low + (-offset) % distance if span >= distance else low
    places = list(range(first, high + 1, distance)) if known else []
    return {
        "range": [low - 0.6, high + 0.6], "tickmode": "array", "tickvals": places,
        "ticktext": [_number(breakdown, place) for place in places], "showgrid": False, "zeroline": False, "ticks": "",
    }  # fmt: skip


def _nice(span: float) -> int:
    if span <= 1.0:
        return 1
    power = 10 ** math.floor(math.log10(span))
    return int(next(step * power for step in (1, 2, 5, 10) if step * power >= span))


def bare_layout(look: StepStyle) -> dict[str, Any]:
    """Return the common layout of all figures about steps."""
    return {
        "margin": {"l": 64, "r": 14, "t": 12, "b": 28, "pad": 0}, "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)", "showlegend": False, "hovermode": "x", "font": {"size": 11}, "dragmode": "zoom",
        "hoverlabel": {
            "align": "left", "bgcolor": "#22262b" if look.dark else "#ffffff",
            "bordercolor": "#464e58" if look.dark else "#c3c9d1", "font": {"size": 12}, "namelength": 0,
        },
        "uirevision": None,
    }  # fmt: skip


# Trends ----------------------------------------------------------------------------------------------------------------


def trends(breakdown: Breakdown, look: StepStyle) -> dict[str, Any]:
    """Return a panel per part, one below the other: its time or share in every step, reduced to the plot's pixels."""
    low, high = _window(breakdown, look)
    chosen = slice(low, high + 1)
    values = shares(breakdown)[chosen] * 100.0 if look.measure == "share" else breakdown.time_ns[chosen].astype(np.float64)
    values = np.where(breakdown.sound[chosen, None], values, np.nan)
    if "interval" in breakdown.parts:
        # The interval of a legacy trace's first step is unknown, not 0.
        values[~breakdown.judged[chosen], breakdown.parts.index("interval")] = np.nan
    names = list(breakdown.parts)
    if look.measure == "time":
        values, names = np.column_stack((values, values.sum(axis=1))), [*names, "whole"]
    place = np.arange(low, low + len(values), dtype=np.float64)
    numbered = breakdown.step[chosen]
    named = np.where(numbered >= 0, numbered, place + 1.0)
    domains = _rows(len(names))
    layout = bare_layout(look)
    traces: list[Trace] = []
    sent = 0
    for number, name in enumerate(names):
        scale, unit = (1.0, "%") if look.measure == "share" else unit_of(_largest(values[:, number]))
        y = values[:, number] / scale
        keep = reduce_points(place, y, columns=look.columns).keep
        gaps = _gaps(keep, y)
        sent += keep.size
        colour = COLOURS.get(name, "#5b6572")
        hover = f"{look.words['step']} %{{customdata:,d}}<br>{look.words[name]} %{{y:.4~g}} {unit}<extra></extra>"
        traces.append({
            "type": "scatter", "mode": "lines+markers" if keep.size < 60 else "lines", "marker": {"size": 4, "color": colour},
            "x": numbers(np.insert(place[keep], gaps, np.nan)), "y": numbers(np.insert(y[keep], gaps, np.nan)),
            "customdata": numbers(np.insert(named[keep], gaps, np.nan)), "hovertemplate": hover,
            "xaxis": axis("x", number), "yaxis": axis("y", number), "line": {"color": colour, "width": 1.5},
            "meta": {"role": name},
        })  # fmt: skip
        x_axis = _x_axis(breakdown, low, high) | {"anchor": axis("y", number)}
        if number:
            x_axis["matches"] = "x"
        layout[layout_key("x", number)] = x_axis | {"showticklabels": number == len(names) - 1}
        layout[layout_key("y", number)] = {
            "domain": domains[number], "anchor": axis("x", number), "ticksuffix": f" {unit}", "nticks": 3, "fixedrange": True,
            "zeroline": True, "rangemode": "tozero",
        }  # fmt: skip
    labels = [(look.words[name], COLOURS.get(name, "#5b6572")) for name in names]
    heads = titles(labels, [([0.0, 1.0], domain) for domain in domains], look.columns)
    layout["annotations"] = [head | {"xshift": 8, "yshift": -2} for head in heads]
    layout["meta"] = {"panels": len(names), "window": [low, high], "sent": int(sent), "total": len(values)}
    layout["margin"] = layout["margin"] | {"t": 22}
    layout["hovermode"] = "closest"
    return {"data": traces, "layout": layout}


def _largest(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else 0.0


def _rows(count: int) -> list[list[float]]:
    """Return the domains of panels from the top down."""
    height = 1.0 / max(count, 1)
    return [[max(0.0, 1.0 - (number + 1) * height), 1.0 - number * height - 0.24 * height] for number in range(count)]


def _gaps(keep: Ints, y: Floats) -> Ints:
    """Return the places in keep before which the line is interrupted by steps without a value."""
    unknown = np.cumsum(~np.isfinite(y))[keep]
    return np.flatnonzero(unknown[1:] != unknown[:-1]) + 1
