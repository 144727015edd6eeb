"""What histograms say in numbers, over steps: smallest, mean and largest value, how many values, how many not finite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layouts.figures.curves import WRONG
from layouts.figures.histograms import Look, Recorded, panel_facts, places_axis
from layouts.payload import drawn, numbers

Floats = NDArray[np.float64]
Dict = dict[str, Any]

_KINDS = (("nan", "solid"), ("pos_inf", "dash"), ("neg_inf", "dot"))
_VALUES, _COUNTS = [0.36, 1.0], [0.0, 0.26]


def over_steps(runs: Sequence[Recorded], look: Look) -> Dict:
    """Above: mean, and thinner the smallest and largest value. Below: the number of values, in red those not finite."""
    data: list[Dict] = []
    facts = []
    for run in runs:
        order = np.argsort(run.x, kind="stable")
        values = [run.values[at] for at in order]
        x = numbers(run.x[order])
        for name, width in (("min", 0.75), ("max", 0.75), ("mean", 1.5)):
            column = np.array([getattr(value, name) if value.finite > 0 else np.nan for value in values], np.float64)
            data.append(_line(x, column, run.colour, width, "solid", "y"))
        data.append(_line(x, np.array([value.total for value in values], np.float64), run.colour, 1.0, "solid", "y2"))
        for name, dash in _KINDS:
            counts = np.array([getattr(value, name) for value in values], np.float64)
            if counts.any():
                data.append(_line(x, counts, WRONG, 1.25, dash, "y2"))
        facts.append(panel_facts(run, order) | {"xaxis": "x", "yaxis": "y"})
    return {"data": data, "layout": _layout(runs, look, facts)}


def _line(x: Dict, y: Floats, colour: str, width: float, dash: str, yaxis: str) -> Dict:
    line: Dict = {"color": colour, "width": width}
    if dash != "solid":
        line["dash"] = dash
    mode = "lines" if len(y) > 1 else "markers"
    return {
        "type": "scatter", "mode": mode, "x": x, "y": drawn(y), "yaxis": yaxis, "hoverinfo": "skip", "line": line,
        "marker": {"color": colour, "size": 5},
    }  # fmt: skip


def _layout(runs: Sequence[Recorded], look: Look, facts: list[Dict]) -> Dict:
    places = [run.x for run in runs if run.x.size]
    low = min((float(x.min()) for x in places), default=0.0)
    high = max((float(x.max()) for x in places), default=1.0)
    pad = (high - low) * 0.01 or (1000.0 if look.axis == "absolute" else 0.5)
    plain: Dict = {"zeroline": False, "ticks": ""}
    return {
        "margin": {"l": 54, "r": 14, "t": 8, "b": 38 if look.axis == "absolute" else 26, "pad": 0},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "showlegend": False, "hovermode": False,
        "font": {"size": 11}, "dragmode": "zoom", "uirevision": look.key,
        "xaxis": plain | {"nticks": 6, "anchor": "y2"} | places_axis(look, np.array([low - pad, high + pad])),
        "yaxis": plain | {"domain": _VALUES, "nticks": 5, "tickformat": ".4~g", "zeroline": True},
        "yaxis2": plain | {"domain": _COUNTS, "nticks": 3, "tickformat": "~s", "rangemode": "tozero"},
        "meta": {"view": "numbers", "axis": look.axis, "panels": facts},
    }  # fmt: skip
