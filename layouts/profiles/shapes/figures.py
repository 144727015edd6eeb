"""Figures of the dynamic shapes page: types by step, and the executions of one operator marked by their shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from parsers.analysis.profiles.shape_times import extremes, places_of

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described, entry, listed, named
from layouts.kit.figures.typed_arrays import numbers, whole_numbers
from layouts.kit.i18n import LANGUAGES, both
from layouts.kit.names import middle, shortened
from layouts.kit.plot_cards import LAYOUT, hover_label, plain
from layouts.kit.theme import PALETTE
from layouts.profiles.shape_request import ProfileShapeTables
from layouts.profiles.step_plots import unit_of

MOST_SHAPES = 9
"""Shapes with a colour and a symbol of their own; the others share one."""
MOST_STEPS, MOST_POINTS = 3_000, 4_000
"""Values of a line, and executions, that are drawn; of more, the extremes."""
FEW_STEPS = 12
MARKED = 150
"""Steps up to which a line has marks."""
GREY = "#8b95a1"
SYMBOLS: dict[str, str] = {
    "circle": "●", "square": "■", "diamond": "◆", "triangle-up": "▲", "cross": "✚", "x": "✖", "star": "★", "pentagon": "⬟",
    "hexagon": "⬢", "circle-open": "○",
}  # fmt: skip
"""Symbol of plotly -> the character for it in a table."""
_ORDER = tuple(SYMBOLS)
FADED = 0.2
_NAME = 32


def colour_of(place: int) -> str:
    """Return the colour of the n-th type or shape."""
    return PALETTE[place][0] if place < len(PALETTE) else GREY


def by_step(times: ProfileShapeTables) -> dict[str, Any] | None:
    """Draw the time of the chosen types by step; None without steps."""
    found, ask = times.by_step, times.ask
    if not len(found.steps) or not found.types:
        return None
    values = found.total_ns if ask.by == "total" else found.mean_ns
    scale, unit = unit_of(float(np.nanmax(values, initial=0.0)))
    steps = found.steps.astype(np.float64)
    traces = []
    for place, (name, line) in enumerate(zip(found.types, values, strict=True)):
        shown = np.arange(len(line))
        if len(line) > MOST_STEPS:
            shown = extremes(steps, np.nan_to_num(line), np.zeros(len(line), np.int64), MOST_STEPS // 2)
        many = len(shown) > MARKED
        traces.append({
            "type": "scatter", "mode": "lines" if many else "lines+markers", "name": plain(shortened(name, found.types, _NAME)),
            "x": whole_numbers(found.steps[shown]), "y": numbers(line[shown] / scale),
            "line": {"color": colour_of(place), "width": 1.6},
            "marker": {"color": colour_of(place), "symbol": _ORDER[place % len(_ORDER)], "size": 7},
            "hovertemplate": f"{plain(middle(name, 90))}<br>%{{x}}: %{{y:.4~g}} {unit}<extra></extra>",
        })  # fmt: skip
    layout = _layout(times, "shapes.step", f"shapes.{ask.by}_of", unit)
    layout["xaxis"] |= _ticks(found.steps)
    return described(
        {"data": traces, "layout": layout}, both("shapes.said_steps"),
        listed([
            entry(name, line / scale, lambda value: f"{fmt.number(value)} {unit}")
            for name, line in zip(found.types, values, strict=True)
        ]),
    )  # fmt: skip


def of_operator(times: ProfileShapeTables) -> dict[str, Any] | None:
    """Draw the executions of the chosen operator over the steps, with colour and symbol of their shape; None without any."""
    own, ask = times.own, times.ask
    if not len(own):
        return None
    x, turn, stepped = places_of(own)
    spent = own["duration_ns"].to_numpy(np.float64)
    group, shapes = groups_of(times)
    shown = np.flatnonzero(np.isfinite(x))
    total = len(shown)
    if total > MOST_POINTS:
        shown = shown[extremes(x[shown], spent[shown], group[shown], max(MOST_POINTS // (2 * len(shapes)), 20))]
    scale, unit = unit_of(float(spent[shown].max(initial=0.0)))
    steps = own["step"].to_numpy()
    at = LANGUAGES.index(ask.language)
    traces = []
    for place, name in enumerate(shapes):
        mine = shown[group[shown] == place]
        if not len(mine):
            continue
        key = "shapes.hover_step" if stepped else "shapes.hover_number"
        custom = [
            [both(key, step=step, n=fmt.count(number + 1))[at], plain(middle(shape or name[at], 120)), shape or "-"]
            for step, number, shape in zip(
                steps[mine].tolist(), turn[mine].tolist(), map(str, own["input_shapes"].array[mine]), strict=True
            )
        ]
        faded = ask.shape is not None and _shape_at(times, place) != ask.shape
        colour, symbol = look_of(times, place)
        traces.append({
            "type": "scatter", "mode": "markers", "x": numbers(x[mine]),
            "name": plain(shortened(name[at], [one[at] for one in shapes], _NAME)),
            "y": numbers(spent[mine] / scale), "customdata": custom,
            "marker": {"color": colour, "symbol": symbol, "size": 7, "opacity": FADED if faded else 0.85},
            "hovertemplate": f"%{{customdata[1]}}<br>%{{customdata[0]}}: %{{y:.4~g}} {unit}<extra></extra>",
        })  # fmt: skip
    layout = _layout(times, "shapes.step" if stepped else "shapes.number", "shapes.time", unit)
    layout["xaxis"] |= _ticks(np.unique(steps[steps >= 0])) if stepped else {}
    layout |= {
        "legend": {"x": 1.01, "y": 1, "xanchor": "left", "yanchor": "top"}, "margin": LAYOUT["margin"],
        "showlegend": len(traces) > 1,
    }
    layout["meta"] = {"drawn": len(shown), "total": total}
    said = [named(_title(str(row["input_shapes"])), _said(row)) for row in times.shapes.to_dict("records")]
    title = both("shapes.said_operator", name=middle(times.operator, 80))
    return described({"data": traces, "layout": layout}, title, listed(said))


def groups_of(times: ProfileShapeTables) -> tuple[Any, list[tuple[str, str]]]:
    """Return the group of each execution of the operator, and the names of the groups: the longest shapes, and the rest."""
    shapes = times.shapes["input_shapes"].tolist()
    first = {name: place for place, name in enumerate(shapes[:MOST_SHAPES])}
    texts = times.own["input_shapes"].array
    place_of = np.array([first.get(str(name), MOST_SHAPES) for name in (*texts.categories, "")], np.int64)
    names = [_title(name) for name in shapes[:MOST_SHAPES]]
    if len(shapes) > MOST_SHAPES:
        names.append(both("shapes.other", n=fmt.count(len(shapes) - MOST_SHAPES)))
    return place_of[texts.codes], names


def look_of(times: ProfileShapeTables, place: int) -> tuple[str, str]:
    """Return colour and symbol of the n-th shape of the operator."""
    if place >= MOST_SHAPES or not _shape_at(times, place):
        return GREY, "circle-open"
    return colour_of(place), _ORDER[place]


def _shape_at(times: ProfileShapeTables, place: int) -> str | None:
    return str(times.shapes["input_shapes"].iloc[place]) if place < MOST_SHAPES else None


def _title(shape: str) -> tuple[str, str]:
    return (shape, shape) if shape else both("shapes.unknown")


def _said(row: Any) -> tuple[str, str]:
    return both(
        "shapes.said_shape", n=fmt.count(int(row["count"])), mean=fmt.duration(row["mean_ns"] / 1e9),
        longest=fmt.duration(row["max_ns"] / 1e9),
    )  # fmt: skip


def _ticks(steps: Any) -> dict[str, Any]:
    """Return the ticks of an axis of steps: each of a few, else whole numbers."""
    if len(steps) > FEW_STEPS:
        return {"tickformat": "d"}
    return {"tickmode": "array", "tickvals": steps.tolist(), "ticktext": [str(step) for step in steps.tolist()]}


def _layout(times: ProfileShapeTables, x: str, y: str, unit: str) -> dict[str, Any]:
    at = LANGUAGES.index(times.ask.language)
    return LAYOUT | {
        "hoverlabel": hover_label(dark=times.ask.dark), "margin": LAYOUT["margin"] | {"t": 34}, "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.01, "xanchor": "left", "yanchor": "bottom"},
        "xaxis": {"zeroline": False, "title": {"text": both(x)[at], "standoff": 6}},
        "yaxis": {
            "zeroline": False, "nticks": 6, "title": {"text": both(y, unit=unit)[at], "standoff": 6},
            **({"type": "log"} if times.ask.scale == "log" else {"rangemode": "tozero"}),
        },
    }  # fmt: skip
