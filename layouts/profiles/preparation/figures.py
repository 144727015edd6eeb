"""Figures of the data preparation page: plain lines over steps, samples or time, reduced to the resolution of a screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.analysis import reduce_points

from layouts.kit import units as fmt
from layouts.kit.figures.typed_arrays import numbers
from layouts.kit.theme import PALETTE

COLUMNS = 1_000
"""Number of pixel columns that curves are reduced to."""
COLOURS = tuple(hue[0] for hue in PALETTE)
EMPTY = "#c6871a"
"""Colour of empty queues: orange, because they are slow but not wrong."""
Floats = NDArray[np.float64]
_MARGIN = {"l": 60, "r": 12, "t": 8, "b": 28, "pad": 0}
_CLEAR = "rgba(0,0,0,0)"


@dataclass(frozen=True, slots=True)
class QueueCurve:
    """A curve: x, y (NaN for a gap) and colour. Its name is in the legend of the card, in both languages.

    marked: indices of marked points. stepped: a value holds until the next point. dash: a plotly dash style.
    """

    x: Floats
    y: Floats
    colour: str
    marked: NDArray[np.int64] | None = None
    stepped: bool = False
    dash: str = "solid"


SHARES = ":.1~%"
"""The d3 format of an axis of shares. At the pointer they are written by the kit, as this would round 0.9996 to 100 %."""


def figure(curves: Sequence[QueueCurve], *, form: str = "", suffix: str = "", whole: float | None = None) -> dict[str, Any]:
    """Draw curves over one axis. form: d3 format of values; suffix: their unit; whole: upper end of the y axis."""
    traces: list[dict[str, Any]] = []
    for curve in curves:
        rows = reduce_points(curve.x, curve.y, columns=COLUMNS).keep
        single = len(rows) == 1
        traces.append({
            "type": "scatter", "mode": "markers" if single else "lines",
            "x": numbers(curve.x[rows]), "y": numbers(curve.y[rows]),
            "line": {
                "color": curve.colour, "width": 1.5, "shape": "hv" if curve.stepped else "linear", "dash": curve.dash,
            },
            "marker": {"color": curve.colour, "size": 6}, "meta": {"role": curve.colour},
            **_hover(curve.y[rows], form, suffix),
        })  # fmt: skip
        if curve.marked is not None and curve.marked.size:
            marked = np.intersect1d(curve.marked, rows) if curve.marked.size > COLUMNS else curve.marked
            traces.append({
                "type": "scatter", "mode": "markers", "x": numbers(curve.x[marked]), "y": numbers(curve.y[marked]),
                "marker": {"color": EMPTY, "size": 6}, "hoverinfo": "skip", "meta": {"role": f"at {EMPTY}"},
            })  # fmt: skip
    return {
        "data": traces,
        "layout": {
            "margin": _MARGIN, "paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR, "hovermode": "x", "font": {"size": 11},
            "showlegend": False, "xaxis": {"nticks": 8, "zeroline": False},
            "yaxis": {"nticks": 6, "rangemode": "tozero", "tickformat": form.removeprefix(":"), "ticksuffix": suffix}
            | ({} if whole is None else {"range": [0, whole]}),
        },
    }  # fmt: skip


def _hover(values: Floats, form: str, suffix: str) -> dict[str, Any]:
    if form == SHARES:
        texts = [fmt.percent(value) for value in values.tolist()]
        return {"customdata": texts, "hovertemplate": "%{customdata}<extra></extra>"}
    return {"hovertemplate": f"%{{y{form}}}{suffix}<extra></extra>"}
