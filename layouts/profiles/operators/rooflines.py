"""The roofline: kernels of two sessions by operations per byte of main memory and operations per second."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from dash import html
from numpy.typing import NDArray
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import MOST_NAMED, described, listed, named
from layouts.kit.figures.typed_arrays import typed
from layouts.kit.i18n import both, t
from layouts.kit.plot_cards import LAYOUT, hover_label, plain
from layouts.kit.theme import PALETTE
from layouts.profiles.efficiency import Efficiency
from layouts.profiles.efficiency_cards import in_both, rate

MOST_POINTS = 5_000
"""Kernels drawn, those that took longest; the CSV file has all."""
MOST_TYPES = 8
"""Types with a colour of their own, those that took longest."""
_SMALLEST, _LARGEST = 6.0, 26.0
_GREY = "#8a93a0"


def roofline_card(found: Efficiency) -> list[Any]:
    """Which kernels are drawn, and what is missing for the rest, for a roof or for any at all."""
    if found.ask.against is None:
        return [html.P(t("efficiency.roofline_choose")), html.P(t("efficiency.roofline_needs"), className="ms-muted")]
    joined = found.roofline
    if joined is None:
        return [html.P(t("efficiency.roofline_other"))]
    numbers = {"ours": fmt.count(joined.only_operations), "theirs": fmt.count(joined.only_traffic)}
    if not len(joined.frame):
        counts = {"operations": joined.only_operations, "traffic": joined.only_traffic}
        lacking = [name for name, count in counts.items() if not count]
        if lacking:
            texts = [both(f"efficiency.lacks.{name}") for name in lacking]
            patterns, joints = both("efficiency.roofline_lacks"), both("efficiency.and")
            english, chinese = (patterns[at].format(what=joints[at].join(text[at] for text in texts)) for at in (0, 1))
            return [html.P(in_both(english, chinese)), html.P(t("efficiency.roofline_needs"), className="ms-muted")]
        return [html.P(t("efficiency.roofline_none", **numbers))]
    lines: list[Any] = [html.P(t("efficiency.roofline_said", n=fmt.count(len(joined.frame)), **numbers))]
    zero = len(joined.frame) - len(drawable(joined.frame))
    if zero:
        lines.append(html.P(t("efficiency.roofline_zero", n=fmt.count(zero))))
    if not found.peak.known:
        lines.append(html.P(t("efficiency.roofline_peak"), className="ms-muted"))
    if math.isnan(found.setting("bandwidth")):
        lines.append(html.P(t("efficiency.roofline_bandwidth"), className="ms-muted"))
    return lines


def drawable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the kernels that logarithmic axes can show."""
    return frame[(frame["per_byte"] > 0) & (frame["per_s"] > 0)]


def figure(found: Efficiency) -> dict[str, Any] | None:
    """Draw the roofline; None without kernels that both sessions have."""
    joined = found.roofline
    shown = drawable(joined.frame).head(MOST_POINTS) if joined is not None else None
    if joined is None or shown is None or not len(shown):
        return None
    types = shown["type"].astype("str")
    listed_types = list(dict.fromkeys(types))
    places = np.array([min(listed_types.index(name), MOST_TYPES) for name in types])
    x, time = shown["per_byte"].to_numpy(np.float64), shown["total_ns"].to_numpy(np.float64)
    size = _SMALLEST + (_LARGEST - _SMALLEST) * np.sqrt(time / max(float(time.max()), 1.0))
    points = [
        _points(shown[places == place], size[places == place], listed_types[place], place)
        for place in np.unique(places).tolist()
    ]
    peak, bandwidth = found.peak.matrix_per_s, found.setting("bandwidth")
    layout = LAYOUT | {
        "xaxis": {"type": "log", "dtick": 1}, "hoverlabel": hover_label(dark=found.ask.dark),
        "yaxis": {"type": "log", "dtick": 1, "exponentformat": "SI", "ticksuffix": "FLOPS"},
        "margin": {"l": 96, "r": 18, "t": 12, "b": 44}, "showlegend": True,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "itemsizing": "constant"},
        "meta": {"axes": ["efficiency.axis.intensity", "efficiency.axis.rate"]},
    }  # fmt: skip
    made = {"data": [*_roofs(float(x.min()), float(x.max()), peak, bandwidth), *points], "layout": layout}
    some = [
        named(str(row["name"]), f"{fmt.number(row['per_byte'])} /B, {rate(row['per_s'])}")
        for row in shown.head(MOST_NAMED).to_dict("records")
    ]
    roof = both("efficiency.said_roof", peak=rate(peak)) if found.peak.known else None
    return described(made, both("efficiency.said_roofline"), listed(some, len(shown)), roof)


def _points(rows: pd.DataFrame, size: NDArray[np.float64], name: str, place: int) -> dict[str, Any]:
    """Kernels of one type, or of all types beyond the first ones."""
    colour = PALETTE[place][0] if place < MOST_TYPES else _GREY
    return {
        "type": "scatter", "mode": "markers", "name": plain(name), "hoverinfo": "text",
        "meta": {"role": "kernels" if place < MOST_TYPES else "others"},
        "x": typed(rows["per_byte"].to_numpy(np.float64)), "y": typed(rows["per_s"].to_numpy(np.float64)),
        "hovertext": [_hover(row) for row in rows.to_dict("records")],
        "marker": {"size": typed(size), "opacity": 0.8, "line": {"width": 0}, "color": colour},
    }  # fmt: skip


def _roofs(low: float, high: float, peak: float, bandwidth: float) -> list[dict[str, Any]]:
    """The roof of computing at the peak, and the slope of main memory up to it; one that is not known is left out."""
    has_peak, has_slope = peak > 0, bandwidth > 0
    ridge = peak / bandwidth if has_peak and has_slope else math.nan
    left, right = low / 2, max(high, ridge if has_peak and has_slope else high) * 2
    look = {"width": 1.5, "color": _GREY}
    line = {"type": "scatter", "mode": "lines", "hoverinfo": "text", "showlegend": False, "line": look}
    found = []
    if has_slope:
        end = min(right, ridge) if has_peak else right
        start = min(left, end / 2)
        text = fmt.rate(bandwidth, "B")
        found.append(line | {"x": [start, end], "y": [bandwidth * start, bandwidth * end], "hovertext": text,
                             "meta": {"role": "slope"}})  # fmt: skip
    if has_peak:
        start = ridge if has_slope else left
        found.append(line | {"x": [start, max(right, 2 * start)], "y": [peak, peak], "hovertext": rate(peak),
                             "meta": {"role": "roof"}})  # fmt: skip
    return found


def _hover(row: dict[Any, Any]) -> str:
    lines = [
        plain(str(row["name"])), plain(f"{row['type']} · {row['input_shapes']}"),
        f"{rate(row['per_s'])} · {fmt.number(row['per_byte'])} FLOP/B",
        f"{fmt.duration(row['total_ns'] / 1e9)} · {fmt.count(row['count'])} ×",
    ]  # fmt: skip
    return "<br>".join(lines)
