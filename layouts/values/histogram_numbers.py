"""Statistics of histograms over steps: minimum, mean and maximum, number of values, numbers of non-finite values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.analysis.values.value_scales import LINEAR

from layouts.curves.smoothed_lines import WRONG
from layouts.kit.figures.typed_arrays import drawn, numbers
from layouts.values.histogram_plots import (
    Bins,
    HistogramStyle,
    RunHistograms,
    bins_of,
    cell_edges,
    counts_axis,
    empty_spans,
    newest_of_equal,
    panel_facts,
    places_axis,
    ranges_of,
    values_axis,
)  # fmt: skip

Floats = NDArray[np.float64]
Dict = dict[str, Any]

_KINDS = (("nan", "NaN", "solid", "—"), ("pos_inf", "+Inf", "dash", "– –"), ("neg_inf", "-Inf", "dot", "···"))
STATISTICS = (("max", "#c6871a", "dot", 1.0), ("mean", "#217f7b", "solid", 1.75), ("min", "#236db4", "dash", 1.0))
"""Name, colour of a single run's line, dash of those of several runs (which have the colour of their run), width."""
_VALUES, _COUNTS = [0.36, 1.0], [0.0, 0.26]
_VALUES_OF_THREE, _COUNTS_OF_THREE, _WRONG_OF_THREE = [0.5, 1.0], [0.25, 0.41], [0.0, 0.16]


def over_steps(runs: Sequence[RunHistograms], look: HistogramStyle) -> Dict:
    """Return a figure with mean, minimum and maximum at the top, and numbers of values and non-finite values below.

    meta.statistics says how each of the three is drawn.
    """
    data: list[Dict] = []
    facts, shapes, kinds = [], [], []
    bins = bins_of(runs, look)
    alone = len(runs) == 1
    for run in runs:
        order = np.argsort(run.x, kind="stable")
        values = [run.values[at] for at in order]
        x = run.x[order]
        for name, colour, dash, width in STATISTICS:
            column = np.array([getattr(value, name) if value.finite > 0 else np.nan for value in values], np.float64)
            line = (colour, width, "solid") if alone else (run.colour, width, dash)
            data += _lines(x, bins.scale.place(column), *line, "y", run.run)
        data += _lines(x, np.array([value.total for value in values], np.float64), run.colour, 1.0, "solid", "y2", run.run)
        for name, word, dash, sign in _KINDS:
            counts = np.array([getattr(value, name) for value in values], np.float64)
            if counts.any():
                data += _lines(x, counts, WRONG, 1.25, dash, "y3", run.run)
                kinds.append(f"{word} {sign}")
        once = newest_of_equal(run.x)
        shapes += empty_spans(cell_edges(run.x[once], look.axis), run.empty[once], {"xaxis": "x", "yaxis": "y"})
        facts.append(panel_facts(run, order, bins) | {"xaxis": "x", "yaxis": "y"})
    layout = _layout(runs, look, bins, list(dict.fromkeys(kinds)))
    layout["shapes"] = shapes
    layout["meta"] = {
        "view": "numbers", "axis": look.axis, "panels": facts, "limits": bins.limits, "ranges": ranges_of(layout),
        "statistics": [[name, colour if alone else "", "solid" if alone else dash] for name, colour, dash, _ in STATISTICS],
    }  # fmt: skip
    return {"data": data, "layout": layout}


def _lines(x: Floats, y: Floats, colour: str, width: float, dash: str, yaxis: str, run: str) -> list[Dict]:
    """Return a line of a run, and dots for single points between gaps."""
    line: Dict = {"color": colour, "width": width}
    if dash != "solid":
        line["dash"] = dash
    plain: Dict = {"type": "scatter", "yaxis": yaxis, "hoverinfo": "skip", "meta": {"key": run}}
    traces = [plain | {"mode": "lines", "x": numbers(x), "y": drawn(y), "line": line}]
    there = np.concatenate(([False], np.isfinite(y), [False]))
    alone = there[1:-1] & ~there[:-2] & ~there[2:]
    if alone.any():
        dots = {"mode": "markers", "x": numbers(x[alone]), "y": drawn(y[alone]), "marker": {"color": colour, "size": 5}}
        traces.append(plain | dots)
    return traces


def _layout(runs: Sequence[RunHistograms], look: HistogramStyle, bins: Bins, kinds: Sequence[str]) -> Dict:
    places = [run.x for run in runs if run.x.size]
    low = min((float(x.min()) for x in places), default=0.0)
    high = max((float(x.max()) for x in places), default=1.0)
    pad = (high - low) * 0.01 or (1000.0 if look.axis == "absolute" else 0.5)
    across = np.array(look.zoom.places) if look.zoom.places else np.array([low - pad, high + pad])
    scaled = values_axis(bins.scale)
    if bins.limits == "all" and bins.scale.kind == LINEAR:
        del scaled["range"]
    largest = max((value.total for run in runs for value in run.values), default=0)
    bad = max((max(value.nan, value.pos_inf, value.neg_inf) for run in runs for value in run.values), default=0)
    plain: Dict = {"zeroline": False, "ticks": ""}
    upper, middle = (_VALUES_OF_THREE, _COUNTS_OF_THREE) if kinds else (_VALUES, _COUNTS)
    layout: Dict = {
        "margin": {"l": 54, "r": 14, "t": 8, "b": 38 if look.axis == "absolute" else 26, "pad": 0},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "showlegend": False, "hovermode": False,
        "font": {"size": 11}, "dragmode": "zoom", "uirevision": None,
        "xaxis": plain | {"nticks": 6, "anchor": "y3" if kinds else "y2"} | places_axis(look, across),
        "yaxis": plain | {"domain": upper, "nticks": 5, "zeroline": True} | scaled | (
            {"tickformat": ".4~g"} if bins.scale.kind == LINEAR else {}
        ),
        "yaxis2": plain | {"domain": middle, "nticks": 3} | counts_axis(largest),
        "annotations": [_caption("n", middle[1])],
    }  # fmt: skip
    if kinds:
        layout["yaxis3"] = plain | {"domain": _WRONG_OF_THREE, "nticks": 3} | counts_axis(bad)
        layout["annotations"].append(_caption("   ".join(kinds), _WRONG_OF_THREE[1]))
    return layout


def _caption(text: str, top: float) -> Dict:
    """Return the caption of a plot in symbols that need no translation."""
    return {
        "text": text, "xref": "paper", "yref": "paper", "x": 0, "y": top, "xanchor": "left", "yanchor": "bottom",
        "showarrow": False, "font": {"size": 10},
    }  # fmt: skip
