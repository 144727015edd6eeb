"""Figures of loss landscapes: isolines, filled contours or a surface, and the path of training.

Several landscapes are shown side by side on one scale of loss, or overlaid in the colours of their runs. `meta` of a trace has
its "role" and the number of its landscape ("sheet"), which assets/values/landscape/ uses to animate and save. The path has the
accent colour in a white halo, which is readable on every colour map and on the cards of both themes.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers import LandscapeValue
from parsers.analysis.values.drawn_landscapes import drawable, loss_scale, missing_losses, pending

from layouts.curves.smoothed_lines import Trace
from layouts.kit.figures.typed_arrays import numbers, whole_numbers
from layouts.kit.names import shortened
from layouts.values.landscape_missing import missing_traces

Floats = NDArray[np.float64]

VIEWS = ("filled", "isolines", "surface")
# Perceptually even. The diverging one is blue below and ochre above, because red is reserved for what is wrong.
SCALES = {
    "viridis": ("#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"),
    "cividis": ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"),
    "diverging": ("#1f4f9c", "#7fa6d6", "#f7f7f5", "#e0a95c", "#8a4b08"),
}
_LINE_MIDDLE = "#9a9a96"
"""The middle colour of diverging isolines, which must be visible on the cards of both themes."""
CONTOURS = (5, 80)
ACCENT, HALO = "#2f5fd0", "#ffffff"
_GAP = 0.06
_SCALE_GAP = 0.11
"""Between landscapes side by side, the second with room for a scale of colours."""
_LETTERS = 78
"""Of all names over landscapes side by side, in a window of 1280 px."""
_LIFT = 0.012
"""The path is drawn above the surface by this fraction of the loss range, so that it does not sink into it."""


@dataclass(frozen=True, slots=True)
class LandscapeSheet:
    """One landscape of a figure, with label and colour of its run."""

    label: str
    colour: str
    value: LandscapeValue
    reasons: Mapping[tuple[float, float], str] = field(default_factory=dict)
    """Of places without a loss, by (x, y), where known."""


@dataclass(frozen=True, slots=True)
class LandscapeStyle:
    """How landscapes are drawn. contours is the number of lines, opacity that of fills and surfaces. own_scale: landscapes side
    by side have a scale of colours each, not one together.

    words are "loss", "step", "epoch", "start", "end", "convergence", "missing" and "alpha" in the reader's language. dark and
    the theme colours text and muted are for the parts that CSS cannot style.
    """

    words: dict[str, str]
    view: str = "filled"
    scale: str = "viridis"
    contours: int = 20
    opacity: float = 1.0
    overlaid: bool = False
    own_scale: bool = False
    dark: bool = False
    text: str = "#1b2027"
    muted: str = "#5b6572"


@dataclass(frozen=True, slots=True)
class _Levels:
    """The scale of loss of landscapes that share one: its ends, the loss at the middle colour, the contour step."""

    low: float
    high: float
    middle: float
    step: float

    @property
    def ticks(self) -> str:
        """A number format in which neighbouring ticks differ."""
        decimals = 1 - math.floor(math.log10((self.high - self.low) / 5))
        return f".{decimals}~f" if 0 <= decimals <= 8 and abs(self.high) < 1e6 else ".4~g"

    @property
    def contours(self) -> dict[str, float]:
        """plotly's contours: exactly as many lines as asked for, strictly between the ends."""
        return {"start": self.low + self.step, "end": self.high - self.step * 0.999, "size": self.step}


def figure(sheets: Sequence[LandscapeSheet], look: LandscapeStyle) -> dict[str, Any]:
    """Return the figure of a few landscapes, without points that a plot cannot show (`drawable`).

    In layout.meta, "bad" has the number of non-finite losses of each landscape, "points" and "passed" the [drawn, recorded]
    numbers of points of each grid and of each path.
    """
    recorded = sheets
    sheets = [replace(sheet, value=drawable(sheet.value)) for sheet in recorded]
    apart = look.own_scale and not look.overlaid and len(sheets) > 1
    scales = [_levels([sheet] if apart else sheets, look) for sheet in sheets]
    data: list[Trace] = []
    for number, (sheet, levels) in enumerate(zip(sheets, scales, strict=True)):
        ground = _surface(sheet, look, levels) if look.view == "surface" else _contour(sheet, look, levels)
        traces = [ground, *_missing(sheet, look, levels), *_path(sheet, look, levels), *_convergence(sheet, look, levels)]
        place = _place(0 if look.overlaid else number, look)
        data += [trace | place | {"meta": trace["meta"] | {"sheet": number}} for trace in traces]
    grounds = [trace for trace in data if trace["meta"]["role"] == "ground"]
    for trace, (_, end) in zip(grounds, _domains(sheets, look), strict=False):
        if apart:
            trace["colorbar"] = trace["colorbar"] | {"x": end, "xanchor": "left", "title": {"text": ""}}
        elif trace is not grounds[-1]:
            trace["showscale"] = False
    pairs = [(sheet.value, one.value) for sheet, one in zip(sheets, recorded, strict=True)]
    meta = {
        "bad": [int(np.count_nonzero(~np.isfinite(whole.z) & ~pending(whole))) for _, whole in pairs],
        "points": [[drawn.z.size, whole.z.size] for drawn, whole in pairs],
        "passed": [[len(drawn.intervals), len(whole.intervals)] for drawn, whole in pairs],
    }
    return {"data": data, "layout": _layout(sheets, look, scales) | {"meta": meta}}


def _levels(sheets: Sequence[LandscapeSheet], look: LandscapeStyle) -> _Levels:
    low, high, middle = loss_scale([sheet.value for sheet in sheets])
    return _Levels(low, high, middle, (high - low) / (look.contours + 1))


def _place(panel: int, look: LandscapeStyle) -> Trace:
    suffix = str(panel + 1) if panel else ""
    if look.view == "surface":
        return {"scene": f"scene{suffix}"}
    return {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}


# Ground ---------------------------------------------------------------------------------------------------------------


def _ground(sheet: LandscapeSheet, look: LandscapeStyle, levels: _Levels) -> Trace:
    value = sheet.value
    trace: Trace = {
        "x": numbers(value.x), "y": numbers(value.y), "z": numbers(value.z),
        "name": html.escape(sheet.label, quote=False),
        "hovertemplate": f"{look.words['loss']} %{{z:.6~g}}<br>x %{{x:.4~g}}<br>y %{{y:.4~g}}<extra></extra>",
        "meta": {"role": "ground"},
    }  # fmt: skip
    if look.overlaid:
        return trace | {"showscale": False, "colorscale": [[0, sheet.colour], [1, sheet.colour]]}
    return trace | {
        "colorscale": _colours(look, levels),
        "colorbar": {"title": {"text": look.words["loss"]}, "thickness": 10, "len": 0.9, "outlinewidth": 0, "ticks": "",
                     "xpad": 8, "tickformat": levels.ticks, "tickfont": {"color": look.muted}},
    }  # fmt: skip


def _colours(look: LandscapeStyle, levels: _Levels) -> list[list[Any]]:
    """Return the stops of a scale.

    Isolines leave out the end that is invisible on the card. The middle of the diverging scale is the loss at which training
    ended.
    """
    stops = list(SCALES[look.scale])
    lines = look.view == "isolines"
    if look.scale != "diverging":
        if lines:
            stops = stops[3:] if look.dark else stops[:-1]
        return [[place / (len(stops) - 1), colour] for place, colour in enumerate(stops)]
    if lines:
        stops[len(stops) // 2] = _LINE_MIDDLE
    middle = min(0.98, max(0.02, (levels.middle - levels.low) / (levels.high - levels.low)))
    places = (0.0, middle / 2, middle, (1 + middle) / 2, 1.0)
    return [[place, colour] for place, colour in zip(places, stops, strict=True)]


def _contour(sheet: LandscapeSheet, look: LandscapeStyle, levels: _Levels) -> Trace:
    filled = look.view == "filled" and not look.overlaid
    coloring = "none" if look.overlaid else "fill" if filled else "lines"
    line: dict[str, Any] = {"width": 0.5, "color": "rgba(255,255,255,0.35)"} if filled else {"width": 1.5}
    if look.overlaid:
        line["color"] = sheet.colour
    contours = {"coloring": coloring, "showlabels": not filled, **levels.contours}
    if not filled:
        contours |= {"labelfont": {"size": 10, "color": look.muted}, "labelformat": levels.ticks}
    return _ground(sheet, look, levels) | {
        "type": "contour", "zmin": levels.low, "zmax": levels.high, "autocontour": False, "contours": contours,
        "line": line, "opacity": look.opacity if filled else 1.0, "hoverongaps": False,
    }  # fmt: skip


def _surface(sheet: LandscapeSheet, look: LandscapeStyle, levels: _Levels) -> Trace:
    lines = {"show": True, "color": "rgba(255,255,255,0.45)", "width": 1, "highlight": False, **levels.contours}
    return _ground(sheet, look, levels) | {
        "type": "surface", "cmin": levels.low, "cmax": levels.high, "opacity": look.opacity,
        "contours": {"z": lines, "x": {"highlight": False}, "y": {"highlight": False}},
        "lighting": {"ambient": 0.75, "diffuse": 0.5, "specular": 0.08, "roughness": 0.9},
    }  # fmt: skip


def _missing(sheet: LandscapeSheet, look: LandscapeStyle, levels: _Levels) -> list[Trace]:
    ground = levels.low if look.view == "surface" else None
    found = missing_losses(sheet.value, sheet.reasons)
    return missing_traces(found, word=look.words["missing"], colour=look.muted, ground=ground)


# Path -----------------------------------------------------------------------------------------------------------------


def _path(sheet: LandscapeSheet, look: LandscapeStyle, levels: _Levels) -> list[Trace]:
    value = sheet.value
    if not len(value.intervals):
        return []
    x, y, z, at = value.path_x, value.path_y, value.path_z, value.intervals
    colour = sheet.colour if look.overlaid else ACCENT
    unit = look.words["epoch" if value.unit == "epoch" else "step"]
    hover = {
        "customdata": numbers(z), "text": whole_numbers(at),
        "hovertemplate": f"{unit} %{{text}}<br>{look.words['loss']} %{{customdata:.6~g}}<extra></extra>",
    }  # fmt: skip
    solid = look.view == "surface"
    halo = _points(x, y, z, look, levels, 0.6) | {
        "mode": "lines", "line": {"color": HALO, "width": 11 if solid else 6}, "hoverinfo": "skip", "meta": {"role": "halo"},
    }  # fmt: skip
    path = _points(x, y, z, look, levels, 1.0) | hover | {
        "mode": "lines+markers", "line": {"color": colour, "width": 6 if solid else 2.5},
        "marker": {"color": colour, "size": 4 if solid else 6, "line": {"color": HALO, "width": 1}}, "meta": {"role": "path"},
    }  # fmt: skip
    ends = [_end("start", slice(0, 1), HALO, colour, 12), _end("end", slice(-1, None), colour, HALO, 18)]
    marks = [
        _points(x[part], y[part], z[part], look, levels, 1.2)
        | {"mode": "markers", "marker": marker | ({"size": 7} if solid else {}), "meta": {"role": role},
           "hovertemplate": f"{look.words[role]}: {unit} {int(at[part][0])}<br>"
                            f"{look.words['loss']} {z[part][0]:.6g}<extra></extra>"}
        for role, part, marker in ends
    ]  # fmt: skip
    return [halo, path, *marks]


def _end(role: str, part: slice, fill: str, edge: str, size: int) -> tuple[str, slice, Trace]:
    return role, part, {"symbol": "circle", "size": size, "color": fill, "line": {"color": edge, "width": 2}, "opacity": 1}


def _convergence(sheet: LandscapeSheet, look: LandscapeStyle, levels: _Levels) -> list[Trace]:
    if sheet.value.convergence is None or not np.isfinite(sheet.value.convergence).all():
        return []
    x, y, z = (np.array([part]) for part in sheet.value.convergence)
    colour = sheet.colour if look.overlaid else ACCENT
    hover = f"{look.words['convergence']}<br>{look.words['loss']} {z[0]:.6g}<extra></extra>"
    trace = _points(x, y, z, look, levels, 2.0) | {"hovertemplate": hover, "meta": {"role": "convergence"}}
    if look.view == "surface":  # 3D traces have no star marker, but they have text
        font = {"size": 32, "color": colour}
        return [trace | {"mode": "text", "text": ["★"], "textfont": font, "textposition": "middle center"}]
    # Training often ends at this point: a white star is visible within the filled circle too.
    marker = {"symbol": "star", "size": 13, "color": HALO, "line": {"color": colour, "width": 1.5}, "opacity": 1}
    return [trace | {"mode": "markers", "marker": marker}]


def _points(x: Floats, y: Floats, z: Floats, look: LandscapeStyle, levels: _Levels, height: float) -> Trace:
    """Return points on the plane or, over a surface, `height` lifts above it."""
    flat: Trace = {"x": numbers(x), "y": numbers(y), "showlegend": False}
    if look.view != "surface":
        return flat | {"type": "scatter"}
    return flat | {"type": "scatter3d", "z": numbers(z + height * _LIFT * (levels.high - levels.low))}


# Layout ---------------------------------------------------------------------------------------------------------------


def _domains(sheets: Sequence[LandscapeSheet], look: LandscapeStyle) -> list[list[float]]:
    """Return the ends of each panel across the figure, of which the whole is 1; there is room for a scale beside each."""
    panels = 1 if look.overlaid else max(1, len(sheets))
    if look.own_scale and panels > 1:
        return [[panel / panels, (panel + 1) / panels - _SCALE_GAP] for panel in range(panels)]
    begins = [panel * (1 + _GAP) / panels for panel in range(panels)]
    return [[low, low + (1 + _GAP) / panels - _GAP] for low in begins]


def _layout(sheets: Sequence[LandscapeSheet], look: LandscapeStyle, scales: Sequence[_Levels]) -> dict[str, Any]:
    domains = _domains(sheets, look)
    panels = len(domains)
    solid = look.view == "surface"
    layout: dict[str, Any] = {
        "margin": {"l": 0 if solid else 60, "r": 84 if solid else 10, "t": 28 if panels > 1 else 10, "b": 0 if solid else 30},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "showlegend": False, "hovermode": "closest",
        "font": {"size": 11, "color": look.text}, "hoverlabel": {"font": {"size": 12}}, "annotations": [],
        "uirevision": "".join(f"{look.view}{len(sheet.value.x)}" for sheet in sheets),
    }  # fmt: skip
    for panel, domain in enumerate(domains):
        suffix = str(panel + 1) if panel else ""
        if solid:
            layout[f"scene{suffix}"] = _scene(domain, look, scales[panel] if scales else _levels(sheets, look), panels)
        else:
            within = sheets if look.overlaid else sheets[panel : panel + 1]
            across = _clipped([axis for sheet in within for axis in (sheet.value.x, sheet.value.path_x)])
            up = _clipped([axis for sheet in within for axis in (sheet.value.y, sheet.value.path_y)])
            layout[f"xaxis{suffix}"] = axis_of_plane(f"y{suffix}") | across | {"domain": domain}
            layout[f"yaxis{suffix}"] = axis_of_plane(f"x{suffix}") | up
        if panels > 1:
            layout["annotations"].append(_heading(sheets[panel].label, [sheet.label for sheet in sheets], sum(domain) / 2))
    return layout


def _clipped(axes: Sequence[Floats]) -> dict[str, Any]:
    """Keep the range of an axis to grids and paths: plotly would give hatched cells room around them."""
    ends = [end for axis in axes if len(axis) for end in (float(axis.min()), float(axis.max()))]
    return {"autorangeoptions": {"clipmin": min(ends), "clipmax": max(ends)}} if ends else {}


def axis_of_plane(anchor: str) -> dict[str, Any]:
    """Return an axis of a plane beside another axis."""
    return {"anchor": anchor, "zeroline": False, "showgrid": False, "ticks": "", "nticks": 6, "tickformat": ".3~g"}


def _scene(domain: list[float], look: LandscapeStyle, levels: _Levels, panels: int) -> dict[str, Any]:
    grid = "#3a4048" if look.dark else "#d5d8dd"
    axis = {
        "color": look.muted, "gridcolor": grid, "zerolinecolor": grid,
        "showbackground": False, "tickformat": ".3~g", "nticks": 5, "tickfont": {"size": 10}, "showspikes": False,
    }  # fmt: skip
    away = 1 + 0.45 * (panels - 1)  # a narrow scene needs distance
    pad = (levels.high - levels.low) * 0.03
    titled = {name: axis | {"title": {"text": name}} for name in ("x", "y")}
    return {
        "domain": {"x": domain, "y": [0, 1]},
        "xaxis": titled["x"], "yaxis": titled["y"],
        "zaxis": axis | {"title": {"text": look.words["loss"]}, "tickformat": levels.ticks,
                         "range": [levels.low - pad, levels.high + pad]},
        "aspectmode": "manual", "aspectratio": {"x": 1.1, "y": 1.1, "z": 0.65},
        "camera": {"eye": {"x": 1.0 * away, "y": -1.4 * away, "z": 1.35 * away}, "center": {"x": 0, "y": 0, "z": -0.12}},
    }  # fmt: skip


def _heading(label: str, labels: Sequence[str], x: float) -> dict[str, Any]:
    shown = shortened(label, labels, min(48, _LETTERS // len(labels)))
    return {
        "text": html.escape(shown, quote=False), "x": x, "xref": "paper", "xanchor": "center", "y": 1, "yref": "paper",
        "yanchor": "bottom", "yshift": 4, "showarrow": False, "font": {"size": 12},
    }  # fmt: skip
