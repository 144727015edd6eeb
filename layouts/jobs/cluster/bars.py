"""The bars of all ranks: the parts of their steps stacked, or one metric; neighbours are joined where more than fit."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from parsers.analysis.jobs.stragglers import Straggler
from parsers.model import Floats, Ints

from layouts.curves.smoothed_lines import WRONG, Trace
from layouts.jobs.cluster.metric_texts import is_time, scale_of, text_of, word
from layouts.jobs.cluster.rows import ClusterBars
from layouts.kit import units as fmt
from layouts.kit.figures.typed_arrays import drawn, numbers, whole_numbers
from layouts.kit.i18n import LANGUAGES, both
from layouts.kit.names import NameSet
from layouts.profiles.step_plots import COLOURS, StepStyle, bare_layout

BAR = 3
"""Pixels of a bar and its gap, if there are many."""
SINGLE = "#236db4"
BUBBLE = "#866850"
_TICKS = 24
_LABEL = 7
"""Pixels of a character of a tick."""


def part_name(part: str, language: str) -> str:
    """Return the name of a part of a step in a stacked bar."""
    return both(part_key(part))[LANGUAGES.index(language)]


def part_key(part: str) -> str:
    """Return the key of the name of a part."""
    return "cluster.part.bubble" if part == "bubble" else f"composition.part.{part}"


def is_stacked(metric: str) -> bool:
    """Return whether the bars of a metric are the parts of steps."""
    return is_time(metric) and metric not in ("lateness", "waited", "operators")


def colour_of(part: str) -> str:
    """Return the colour of a part of a step."""
    return BUBBLE if part == "bubble" else COLOURS[part]


def bars_figure(
    bars: ClusterBars, parts: Sequence[str], metric: str, *, language: str, columns: int, dark: bool,
    window: tuple[int, int] | None = None, picked: str = "", late: Mapping[str, Straggler] | None = None,
) -> dict[str, Any]:
    """Return bars from left to right. late marks ranks that others wait for, by their names.

    Times of a step stack its parts; other metrics are bars of one colour. window are the first and the last bar on screen.
    """
    low, high = _window(len(bars), window)
    size = max(1, math.ceil((high - low + 1) / max(10, columns // BAR)))
    first = np.arange(low, high + 1, size, dtype=np.int64)
    stop = np.minimum(first + size, high + 1)
    stacked = is_stacked(metric) and bool(bars.parts.any())
    table = bars.parts if stacked else bars.value[:, None]
    heights = _means(table, first, stop)
    whole = heights.sum(axis=1)
    scale, unit = scale_of(metric, float(np.nanmax(whole, initial=0.0)))
    middle = (first + stop - 1) / 2.0
    width = numbers((stop - first).astype(np.float64) * (0.86 if len(first) < 200 else 1.0))
    traces: list[Trace] = []
    for number, part in enumerate(parts if stacked else ("value",)):
        traces.append({
            "type": "bar", "x": numbers(middle), "y": drawn(np.nan_to_num(heights[:, number]) / scale), "width": width,
            "marker": {"color": colour_of(part) if stacked else SINGLE, "line": {"width": 0}}, "hoverinfo": "skip",
            "meta": {"role": part},
        })  # fmt: skip
    top = float(np.nanmax(whole, initial=0.0)) / scale or 1.0
    traces += _marks(bars, late or {}, low, high, size, top, language)
    traces.append(_hover(bars, first, stop, heights, parts if stacked else (), metric, np.nan_to_num(whole) / scale, language))
    layout = bare_layout(StepStyle({}, columns=columns, dark=dark)) | {
        "barmode": "stack", "bargap": 0, "xaxis": _x_axis(bars, low, high, columns, language),
        "yaxis": {"range": [0, top * 1.08], "ticksuffix": f" {unit}", "nticks": 6, "fixedrange": True, "zeroline": True},
        "shapes": _picked(bars, picked, low, size),
        "meta": {"bars": high - low + 1, "total": len(bars), "bin": size, "window": [low, high], "unit": unit,
                 "unknown": int(np.count_nonzero(~np.isfinite(bars.value)))},
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _window(total: int, window: tuple[int, int] | None) -> tuple[int, int]:
    last = max(total - 1, 0)
    if window is None:
        return 0, last
    low, high = sorted(min(max(place, 0), last) for place in window)
    return low, high


def _means(table: Floats, first: Ints, stop: Ints) -> Floats:
    """Return the mean of the known values of neighbouring bars; NaN where none is known."""
    if not len(table):
        return np.zeros((len(first), table.shape[1]))
    known = np.isfinite(table)
    sums = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(np.where(known, table, 0.0), axis=0)])
    counts = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(known, axis=0)])
    number = counts[stop] - counts[first]
    found: Floats = np.where(number > 0, (sums[stop] - sums[first]) / np.where(number > 0, number, 1.0), np.nan)
    return found


def name_of(bars: ClusterBars, place: int, language: str) -> str:
    """Return what to call a bar: rank 5, host node-3, stage 0, dp 0-7."""
    name = bars.names[place]
    if bars.kind == "group":
        return name
    if bars.kind == "host":
        return f"{word(language, 'word.host')} {name}" if name else word(language, "word.no_host")
    if bars.kind == "stage":
        return f"{word(language, 'word.stage')} {name}" if name != "-1" else word(language, "word.no_stage")
    return f"{word(language, 'word.rank')} {name}"


def _hover(
    bars: ClusterBars, first: Ints, stop: Ints, heights: Floats, parts: Sequence[str], metric: str, tops: Floats, language: str
) -> Trace:
    """Return an invisible point on each bar whose hover label has its numbers, and its place in the data of a press."""
    texts, best = [], []
    for at, (begin, end) in enumerate(zip(first.tolist(), stop.tolist(), strict=True)):
        own = bars.value[begin:end]
        most = begin + (int(np.nanargmax(own)) if bool(np.isfinite(own).any()) else 0)
        best.append(most)
        lines = [f"<b>{_head(bars, begin, end, language)}</b>"]
        value = text_of(metric, float(bars.value[most])) or word(language, "word.unknown")
        lines.append(f"{word(language, f'metric.{metric}')} {value}")
        if end - begin > 1:
            lines[1] = f"{word(language, 'word.most', rank=html.escape(bars.names[most]))}: {value}"
        if parts:
            lines.append(f"{word(language, 'word.whole')} {fmt.duration(float(np.nansum(heights[at])) / 1e9)}")
        for number in range(len(parts) - 1, -1, -1):
            time, whole = float(heights[at, number]), float(np.nansum(heights[at]))
            share = fmt.percent(time / whole) if whole > 0.0 else ""
            dot = f'<span style="color:{colour_of(parts[number])}">■</span>'
            lines.append(f"{dot} {part_name(parts[number], language)} {fmt.duration(time / 1e9)}  {share}")
        texts.append("<br>".join(lines))
    return {
        "type": "scatter", "mode": "markers", "x": numbers((first + stop - 1) / 2.0), "y": drawn(tops), "hovertext": texts,
        "hoverinfo": "text", "marker": {"size": 1, "opacity": 0}, "customdata": [bars.keys[place] for place in best],
        "meta": {"role": "hover", "first": whole_numbers(first), "stop": whole_numbers(stop)},
    }  # fmt: skip


def _head(bars: ClusterBars, begin: int, end: int, language: str) -> str:
    name = html.escape(name_of(bars, begin, language))
    if end - begin > 1:
        last = html.escape(name_of(bars, end - 1, language))
        joined = word(language, "word.from_to", first=name, last=last)
        return f"{joined} · {word(language, 'word.mean', n=fmt.count(end - begin))}"
    number = int(bars.members[begin])
    if bars.kind == "rank":
        return name
    key = "word.highest" if bars.kind == "stage" else "word.mean_ranks"
    return f"{name} · {word(language, key, n=fmt.count(number))}"


def _marks(
    bars: ClusterBars, late: Mapping[str, Straggler], low: int, high: int, size: int, top: float, language: str
) -> list[Trace]:
    """Return a mark above each rank that others wait for in most steps; of several in one bar the costliest."""
    if bars.kind != "rank" or not late:
        return []
    places: dict[int, Straggler] = {}
    at: dict[int, int] = {}
    for place, name in enumerate(bars.names):
        one = late.get(name)
        if one is None or not low <= place <= high:
            continue
        bar = (place - low) // size
        if bar not in places or one.lateness_ns > places[bar].lateness_ns:
            places[bar], at[bar] = one, place
    if not places:
        return []
    texts = [
        f"<b>{word(language, 'word.rank')} {one.rank}</b><br>"
        f"{word(language, 'word.waited_for', late=fmt.duration(one.lateness_ns / 1e9))}"
        for one in places.values()
    ]
    x = np.array([at[bar] for bar in places], np.float64)
    return [{
        "type": "scatter", "mode": "markers", "x": numbers(x), "y": drawn(np.full(len(x), top * 1.025)),
        "marker": {"symbol": "triangle-down", "size": 9, "color": WRONG}, "hoverinfo": "text", "hovertext": texts,
        "cliponaxis": False, "customdata": [str(one.rank) for one in places.values()], "meta": {"role": "late"},
    }]  # fmt: skip


def _x_axis(bars: ClusterBars, low: int, high: int, columns: int, language: str) -> dict[str, Any]:
    """Return the axis of places with names as ticks, as many as there is room for."""
    span = max(high - low + 1, 1)
    longest = max((len(name) for name in bars.names[low : high + 1 : max(1, span // 50)]), default=1)
    wide = min(longest, 18) * _LABEL + 14
    most = max(2, min(_TICKS, columns // wide))
    step = max(1, math.ceil(span / most))
    places = list(range(low, high + 1, step)) if len(bars) else []
    names = NameSet(bars.names[place] for place in places)
    texts = [html.escape(names.short(bars.names[place], 18), quote=False) or "?" for place in places]
    if bars.kind in ("rank", "stage"):
        texts[:1] = [f"{word(language, f'word.{bars.kind}')} {text}" for text in texts[:1]]
    return {
        "range": [low - 0.5, high + 0.5], "tickvals": places, "ticktext": texts, "showgrid": False, "zeroline": False,
        "tickangle": 0, "ticks": "", "ticklabelstandoff": 5, "minallowed": -0.5, "maxallowed": max(len(bars), 1) - 0.5,
    }  # fmt: skip


def _picked(bars: ClusterBars, picked: str, low: int, size: int) -> list[dict[str, Any]]:
    if not picked or picked not in bars.keys:
        return []
    bar = (bars.keys.index(picked) - low) // size
    begin = low + bar * size
    return [{
        "type": "rect", "xref": "x", "yref": "paper", "x0": begin - 0.5, "x1": begin + size - 0.5, "y0": 0, "y1": 1,
        "line": {"width": 0}, "fillcolor": "rgba(47,95,208,0.22)", "layer": "below",
    }]  # fmt: skip
