"""The figure of device memory over time: exact extremes in every pixel column, steps, capacity, and a second profile."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from parsers.analysis.profiles.memory import BytesOverTime, extremes
from parsers.analysis.profiles.memory.recording import MemoryRecording
from parsers.model import Floats, Ints

from layouts.kit import units as fmt
from layouts.kit.figures.typed_arrays import drawn, typed
from layouts.profiles.memory import memory_texts
from layouts.profiles.memory.spans import StepSpan

COLOURS: Mapping[str, str] = {
    "allocated": "#236db4", "reserved": "#c6871a", "active": "#2b9c78", "process": "#866850", "with_allocated": "#895dd6",
    "with_reserved": "#c765aa", "least": "#217f7b", "capacity": "#7b8490",
}  # fmt: skip
MOST_MARKS = 200
"""Maximum number of steps whose borders are drawn; of more, evenly spaced ones are."""
_ROOM = 14
"""Steps with a number above them, at most."""
_FILL = "rgba(35,109,180,0.13)"
_LINE = "rgba(123,132,144,0.5)"
_CLEAR = "rgba(0,0,0,0)"


@dataclass(frozen=True, slots=True)
class MemoryWindow:
    """What is drawn: the window as offsets from the origin, None for all; columns of pixels; capacity in bytes, 0 for none."""

    words: Mapping[str, str]
    window: tuple[int, int] | None = None
    columns: int = 1_000
    capacity: int = 0
    dark: bool = False


@dataclass(frozen=True, slots=True)
class _Scale:
    """Offsets and bytes on the axes: the origin, ns of the unit of x, bytes of the unit of y."""

    origin: int
    time: int
    size: float

    def x(self, times: Ints, origin: int | None = None) -> Floats:
        moved: Floats = (times - (self.origin if origin is None else origin)) / self.time
        return moved

    def y(self, sizes: Ints) -> Floats:
        made: Floats = sizes / self.size
        return made


def figure(
    recording: MemoryRecording, view: MemoryWindow, spans: Sequence[StepSpan] = (), minima: Ints | None = None,
    against: tuple[MemoryRecording, int] | None = None,
) -> dict[str, Any]:
    """Draw the measures of a component.

    spans are the steps, minima the least memory within each (bytes, -1 for unknown). against is another recording and its
    moment that lies at the origin of this one.
    """  # fmt: skip
    whole = max(recording.end - recording.origin, 1)
    low, high = view.window or (0, whole)
    if against is not None and view.window is None:
        high = max(high, against[0].end - against[1])
    begin, stop = recording.origin + low, recording.origin + high
    top = _largest(recording, against, view.capacity)
    unit, scale = memory_texts.time_unit(high - low, recording.clock)
    size_scale, size_unit = fmt.size_unit(top)
    on = _Scale(recording.origin, scale, size_scale)
    traces: list[dict[str, Any]] = []
    ends: dict[str, tuple[Ints, Ints]] = {}
    reduced = False
    for name, series, moved in _curves(recording, against):
        first, last = begin + moved, stop + moved
        found = extremes(series, first, last, view.columns)
        ends[name] = found.low, found.high
        times, values, fewer = _path(series, first, last, view.columns, found)
        reduced |= fewer
        traces.append(_line(name, on.x(times, on.origin + moved), on.y(values), stepped=not fewer))
    edges = np.array([begin + (high - low) * column // view.columns for column in range(view.columns)], np.int64)
    if minima is not None:
        traces += _least(spans, minima, on, begin, stop)
    traces.append(_hover(recording, on.x(edges), ends, on, view.words, size_scale))
    known = [int(value.max()) for _, value in ends.values() if len(value)]
    most = max([*known, view.capacity if view.capacity and _near(view.capacity, known) else 0], default=1) / size_scale
    layout: dict[str, Any] = {
        "margin": {"l": 66, "r": 16, "t": 22, "b": 30, "pad": 0}, "paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR,
        "showlegend": False, "hovermode": "x", "hoverdistance": -1, "font": {"size": 11}, "dragmode": "zoom",
        "uirevision": None,
        "hoverlabel": {
            "align": "left", "bgcolor": "#22262b" if view.dark else "#ffffff",
            "bordercolor": "#464e58" if view.dark else "#c3c9d1", "font": {"size": 12}, "namelength": 0,
        },
        "xaxis": {
            "range": [low / scale, high / scale], "ticksuffix": f" {unit}" if unit else "", "showgrid": False,
            "zeroline": False, "nticks": 8, "ticks": "outside", "ticklen": 4, "tickcolor": _CLEAR, "exponentformat": "none",
            "separatethousands": True,
        },
        "yaxis": {
            "range": [0, max(most, 1e-9) * 1.06], "ticksuffix": f" {size_unit}", "nticks": 6, "fixedrange": True,
            "zeroline": True,
        },
        "meta": {
            "scale": scale, "window": [low, high], "whole": [0, whole], "zoomed": view.window is not None, "reduced": reduced,
            "column": max((high - low) // view.columns, 1), "names": list(ends), "capacity": bool(view.capacity),
            "least": minima is not None,
        },
    }  # fmt: skip
    shapes, notes = _steps(spans, on, begin, stop, view.words)
    if view.capacity:
        line, note = _capacity(view.capacity, size_scale, most, view.words)
        shapes, notes = [*shapes, *line], [*notes, note]
    return {"data": traces, "layout": layout | {"shapes": shapes, "annotations": notes}}


def _curves(recording: MemoryRecording, against: tuple[MemoryRecording, int] | None) -> list[tuple[str, BytesOverTime, int]]:
    """Return (name, series, what its clock is ahead) of each curve, the ones below first."""
    found = [("process", recording.process, 0)] if len(recording.process.time) else []
    found += [(name, recording.measures[name], 0) for name in ("reserved", "active", "allocated") if name in recording.measures]
    if against is not None:
        other, at = against
        moved = at - recording.origin
        found += [(f"with_{name}", other.measures[name], moved) for name in ("reserved", "allocated") if name in other.measures]
    return found


def _largest(recording: MemoryRecording, against: tuple[MemoryRecording, int] | None, capacity: int) -> int:
    values = [series.value for _, series, _ in _curves(recording, against) if len(series.value)]
    return max([int(one.max()) for one in values] + ([capacity] if capacity else []), default=1)


def _near(capacity: int, known: Sequence[int]) -> bool:
    """Return whether the line of the capacity is on the axis: far above the curves it would make them flat."""
    return capacity < 4 * max(known, default=0)


def _path(series: BytesOverTime, first: int, last: int, columns: int, found: Any) -> tuple[Ints, Ints, bool]:
    """Return times and bytes of a line, and whether it is the extremes of columns in place of the records themselves."""
    begin, end = np.searchsorted(series.time, first, side="right"), np.searchsorted(series.time, last, side="right")
    if end - begin <= 2 * columns:
        times, values = series.time[begin:end], series.value[begin:end]
        if begin:
            times, values = np.append(first, times), np.append(series.value[begin - 1], values)
        if len(times):
            times, values = np.append(times, last), np.append(values, values[-1])
        return times, values, False
    there = found.low >= 0
    values = np.append(np.column_stack((found.low, found.high, found.last))[there].ravel(), found.last[-1])
    times = np.append(np.repeat(found.edge[there], 3), last)
    # Of points at the same height the first and the last are enough.
    inner = (values[1:-1] == values[:-2]) & (values[1:-1] == values[2:])
    kept = np.concatenate(([True], ~inner, [True]))[: len(values)]
    return times[kept], values[kept], True


def _line(name: str, x: Floats, y: Floats, *, stepped: bool) -> dict[str, Any]:
    line: dict[str, Any] = {"color": COLOURS[name], "width": 1.5, "shape": "hv" if stepped else "linear", "simplify": False}
    trace: dict[str, Any] = {
        "type": "scatter", "mode": "lines", "x": drawn(x), "y": drawn(y), "line": line, "hoverinfo": "skip",
        "meta": {"role": name},
    }  # fmt: skip
    if name == "allocated":
        trace |= {"fill": "tozeroy", "fillcolor": _FILL}
    elif name in ("active", "process") or name.startswith("with_"):
        line["dash"] = "dot" if name != "with_allocated" else "solid"
        line["width"] = 1.5 if name.startswith("with_") else 1.2
    return trace


def _least(spans: Sequence[StepSpan], minima: Ints, on: _Scale, begin: int, stop: int) -> list[dict[str, Any]]:
    """Return a bar over each step at the least memory within it."""
    there = [(span, least) for span, least in zip(spans, minima.tolist(), strict=True)
             if least >= 0 and span.end > begin and span.start < stop]  # fmt: skip
    if not there:
        return []
    times = np.array([time for span, _ in there for time in (span.start, span.end, span.end)], np.int64)
    values = np.array([value for _, least in there for value in (least, least, -1)], np.float64) / on.size
    values[2::3] = np.nan
    return [{
        "type": "scatter", "mode": "lines", "x": typed(on.x(times)), "y": typed(values), "hoverinfo": "skip",
        "line": {"color": COLOURS["least"], "width": 3}, "connectgaps": False, "meta": {"role": "least"},
    }]  # fmt: skip


def _hover(
    recording: MemoryRecording, x: Floats, ends: Mapping[str, tuple[Ints, Ints]], on: _Scale, words: Mapping[str, str],
    size_scale: float,
) -> dict[str, Any]:
    """Return an invisible point in each pixel column, whose label has the extremes of all curves in it."""
    known: dict[int, str] = {}

    def text(value: int) -> str:
        if value not in known:
            known[value] = fmt.size(value)
        return known[value]

    listed = [(name, *(one.tolist() for one in pair)) for name, pair in reversed(list(ends.items()))]
    texts = []
    for at, place in enumerate(x.tolist()):
        lines = [f"<b>{memory_texts.offset(round(place * on.time), recording.clock)}</b>"]
        for name, low, high in listed:
            least, most = low[at], high[at]
            if most < 0:
                continue
            shown = text(most) if least in (most, -1) else f"{text(least)} – {text(most)}"
            shown += f"  ({memory_texts.exact(most)})"
            lines.append(f'<span style="color:{COLOURS[name]}">■</span> {html.escape(words[name])} {shown}')
        texts.append("<br>".join(lines))
    main = next((ends[name][1] for name in ("allocated", "reserved", "process") if name in ends), np.zeros(len(x), np.int64))
    return {
        "type": "scatter", "mode": "markers", "x": typed(x), "y": drawn(np.maximum(main, 0) / size_scale), "hovertext": texts,
        "hoverinfo": "text", "marker": {"size": 1, "opacity": 0}, "meta": {"role": "hover"},
    }  # fmt: skip


def _steps(
    spans: Sequence[StepSpan], on: _Scale, begin: int, stop: int, words: Mapping[str, str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the borders of the steps in the window, and the numbers of some of them."""
    there = [span for span in spans if span.end > begin and span.start < stop]
    shown = there[:: -(-len(there) // MOST_MARKS)] if there else []
    borders = sorted({time for span in shown for time in (span.start, span.end) if begin <= time <= stop})
    places = on.x(np.array(borders, np.int64)).tolist() if borders else []
    shapes = [
        {"type": "line", "xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "layer": "below",
         "line": {"color": _LINE, "width": 1, "dash": "dot"}}
        for x in places
    ]  # fmt: skip
    few = there[:: -(-len(there) // _ROOM)] if there else []
    notes = [
        {
            "x": ((max(span.start, begin) + min(span.end, stop)) / 2 - on.origin) / on.time, "y": 1, "xref": "x",
            "yref": "paper", "yanchor": "bottom", "xanchor": "center", "showarrow": False, "font": {"size": 11},
            "text": f"{words['step']} {html.escape(span.name)}" if len(few) < 8 else html.escape(span.name),
        }
        for span in few
    ]  # fmt: skip
    return shapes, notes


def _capacity(
    capacity: int, size_scale: float, most: float, words: Mapping[str, str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the line of the capacity, if it is on the axis, and what it is; beyond the axis an arrow says so."""
    y = capacity / size_scale
    inside = y <= most * 1.06
    line = {"type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": y, "y1": y,
            "line": {"color": COLOURS["capacity"], "width": 1.5, "dash": "dash"}}  # fmt: skip
    note = {
        "x": 0, "xref": "paper", "xanchor": "left", "xshift": 4, "y": y if inside else 1, "yref": "y" if inside else "paper",
        "yanchor": "bottom" if inside else "top", "showarrow": False, "font": {"size": 11},
        "text": f"{words['capacity']} {fmt.size(capacity)}{'' if inside else ' ↑'}",
    }  # fmt: skip
    return ([line] if inside else []), note
