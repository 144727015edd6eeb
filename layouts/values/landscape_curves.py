"""Figures of lines of loss: the loss on the way between two networks, over the share alpha of the way."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from parsers.analysis.values.drawn_landscapes import drawable, loss_scale, missing_losses

from layouts.curves.smoothed_lines import Trace
from layouts.kit.figures.typed_arrays import numbers
from layouts.values.landscape_missing import missing_traces
from layouts.values.landscapes import ACCENT, HALO, LandscapeSheet, LandscapeStyle, axis_of_plane

_ROOM = 0.06
"""What the axis of the loss adds to the range on each side."""


def curves(sheets: Sequence[LandscapeSheet], look: LandscapeStyle) -> dict[str, Any]:
    """Return the figure of lines; its layout.meta is that of `landscapes.figure`. A trace of the role "line" has the losses."""
    shown = [replace(sheet, value=drawable(sheet.value)) for sheet in sheets]
    low, high, _ = loss_scale([sheet.value for sheet in shown])
    room = (high - low) * _ROOM
    data: list[Trace] = []
    for number, (sheet, whole) in enumerate(zip(shown, sheets, strict=True)):
        colour = ACCENT if len(shown) == 1 else sheet.colour
        traces = [*_missing(sheet, look, low - room, high + room), _line(sheet, look, colour), *_ends(whole, look, colour)]
        data += [trace | {"meta": trace["meta"] | {"sheet": number}} for trace in traces]
    meta = {
        "bad": [len(missing_losses(sheet.value, {}).x) for sheet in shown],
        "points": [[one.value.z.size, sheet.value.z.size] for one, sheet in zip(shown, sheets, strict=True)],
        "passed": [],
    }
    grid = "rgba(127,127,127,0.2)"
    layout = {
        "margin": {"l": 64, "r": 16, "t": 10, "b": 44}, "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False, "hovermode": "closest", "font": {"size": 11, "color": look.text},
        "hoverlabel": {"font": {"size": 12}},
        "xaxis": axis_of_plane("y") | {"title": {"text": look.words["alpha"], "font": {"color": look.muted}}, "nticks": 11},
        "yaxis": axis_of_plane("x") | {
            "title": {"text": look.words["loss"], "font": {"color": look.muted}}, "showgrid": True, "gridcolor": grid,
            "tickformat": ".4~g", "range": [low - room, high + room],
        },
        "uirevision": "".join(f"line{len(sheet.value.x)}" for sheet in shown), "meta": meta,
    }  # fmt: skip
    return {"data": data, "layout": layout}


def _line(sheet: LandscapeSheet, look: LandscapeStyle, colour: str) -> Trace:
    value = sheet.value
    return {
        "type": "scatter", "mode": "lines", "x": numbers(value.x), "y": numbers(value.z[0]), "showlegend": False,
        "name": html.escape(sheet.label, quote=False), "line": {"color": colour, "width": 2.5},
        "connectgaps": False, "meta": {"role": "line"},
        "hovertemplate": f"α %{{x:.4~g}}<br>{look.words['loss']} %{{y:.6~g}}<extra></extra>",
    }  # fmt: skip


def _ends(sheet: LandscapeSheet, look: LandscapeStyle, colour: str) -> list[Trace]:
    value = sheet.value
    unit = look.words["epoch" if value.unit == "epoch" else "step"]
    marks = (("start", 0, HALO, 12), ("end", -1, colour, 14)) if len(value.intervals) else ()
    known = np.isfinite(value.path_x) & np.isfinite(value.path_z)
    return [
        {
            "type": "scatter", "mode": "markers", "x": numbers(value.path_x[[at]]), "y": numbers(value.path_z[[at]]),
            "marker": {"size": size, "color": fill, "line": {"color": colour, "width": 2}, "opacity": 1},
            "showlegend": False, "meta": {"role": role},
            "hovertemplate": f"{look.words[role]}: {unit} {int(value.intervals[at])}<br>"
                             f"{look.words['loss']} {value.path_z[at]:.6g}<extra></extra>",
        }
        for role, at, fill, size in marks if known[at]
    ]  # fmt: skip


def _missing(sheet: LandscapeSheet, look: LandscapeStyle, low: float, high: float) -> list[Trace]:
    found = missing_losses(sheet.value, sheet.reasons)
    count = len(found.x)
    tall = replace(found, y=np.full(count, (low + high) / 2), bottom=np.full(count, low), top=np.full(count, high))
    return missing_traces(tall, word=look.words["missing"], colour=look.muted, ground=None)
