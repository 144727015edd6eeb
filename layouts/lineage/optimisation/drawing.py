"""The figures of the page: the distribution of a result, and the result over one setting."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parsers import LineageRow, better
from parsers.analysis import Fit, best_region, fitted, shape
from parsers.analysis.lineage.settings import is_seed
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.figures.typed_arrays import numbers, typed
from layouts.kit.names import shortened
from layouts.lineage.parallel import brief, category_text, is_numeric

Floats = NDArray[np.float64]

MOST_CATEGORIES = 24
MOST_BINS = 40
_LARGEST = 1e300
_GREY = "#8b95a1"
_ACCENT = "#4e7fd6"
_GOLDEN = 0.6180339887498949
_SPREAD = 0.5
_DECADES = 100.0
"""Values that span at least this factor get a logarithmic axis."""


def distribution(values: Floats) -> dict[str, Any]:
    """Draw a histogram of finite numbers, with a rug plot of the numbers below."""
    values = values[np.abs(values) <= _LARGEST]
    if not len(values):
        return {"data": [], "layout": {}}
    edges = _edges(values)
    counts, _ = np.histogram(values, edges)
    bars = {
        "type": "bar", "x": typed((edges[:-1] + edges[1:]) / 2), "y": typed(counts.astype(np.int32)),
        "width": typed(np.diff(edges)), "marker": {"color": _ACCENT, "opacity": 0.75, "line": {"width": 0}},
        "text": [f"{fmt.number(float(low))} … {fmt.number(float(high))}" for low, high in pairwise(edges)],
        "textposition": "none", "hovertemplate": "%{text}<br>n = %{y}<extra></extra>",
    }  # fmt: skip
    rug = {
        "type": "scatter", "mode": "markers", "x": numbers(values), "y": typed(np.zeros(len(values), np.int8)), "yaxis": "y2",
        "marker": {"symbol": "line-ns-open", "size": 7, "color": _GREY, "opacity": 0.6}, "hoverinfo": "skip",
    }  # fmt: skip
    layout = {
        "margin": {"l": 36, "r": 12, "t": 6, "b": 24}, "showlegend": False, "bargap": 0, "barmode": "overlay",
        "xaxis": {"anchor": "y2", "showgrid": False, "zeroline": False, "nticks": 7},
        "yaxis": {"domain": [0.1, 1.0], "rangemode": "tozero", "dtick": math.ceil(counts.max() / 4), "zeroline": False},
        "yaxis2": {"domain": [0.0, 0.08], "visible": False, "fixedrange": True, "range": [-1, 1]},
    }  # fmt: skip
    return {"data": [bars, rug], "layout": layout}


def _edges(values: Floats) -> Floats:
    low, high = float(values.min()), float(values.max())
    middle, most = (low + high) / 2, max(abs(low), abs(high))
    if high - low <= most * 1e-12:
        half = most * 0.01 or 0.5
        return np.array([middle - half, middle + half])
    bins = min(MOST_BINS, max(5, math.ceil(2 * math.sqrt(len(values)))))
    return np.linspace(low, high, bins + 1)


# Over a setting ----------------------------------------------------------------------------------------------------


def over_setting(
    rows: Sequence[LineageRow], frame: pd.DataFrame, setting: str, target: str, colours: Mapping[str, str], *, log: bool | None
) -> dict[str, Any]:
    """Draw the result of each run over its value of a setting, with its trend and a 95 % band, or as boxes for categories.

    layout.meta: log (the axis is logarithmic), logs (it could be), runs and categories (how many are drawn), left (how many
    categories are left out), tried (lowest and highest value of the setting among the runs drawn, between which shape, slope
    and best hold; empty for categories), shape (`Direction.shape` on this axis), slope (change of the result per unit, or per
    decade on a logarithmic axis, where the trend is a straight line), best (where the trend is best and the ends of the region
    that may be as good, and -1, 0 or 1 for the lowest place, one between and the highest; none of a seed).
    """
    result = frame[target].to_numpy(np.float64, na_value=np.nan)
    if is_numeric(frame[setting]):
        return _numbers(rows, frame[setting], result, "" if is_seed(setting) else better(target), colours, log)
    return _categories(rows, frame[setting], result, np.abs(result) <= _LARGEST, colours)


class Direction(NamedTuple):
    """The shape of a result over a setting ("" where none is clear) and the values, as texts, between which it was judged."""

    shape: str
    tried: list[str]


def direction(column: pd.Series[Any], result: Floats) -> Direction:
    """Return the direction of a result over a setting, as `over_setting` draws it by default; `shape` is "" for categories."""
    if not is_numeric(column):
        return Direction("", [])
    values, places, log = _placed(column, result, None)
    x = np.log10(values[places]) if log else values[places]
    return Direction(shape(x, result[places], fitted(x, result[places])), _tried(values[places]))


def _tried(values: Floats) -> list[str]:
    """The lowest and the highest of the values as texts; none without values."""
    return [fmt.tick(float(values.min())), fmt.tick(float(values.max()))] if len(values) else []


def _placed(column: pd.Series[Any], result: Floats, log: bool | None) -> tuple[Floats, NDArray[np.intp], bool]:
    """(values of a setting, indices of the runs to draw, whether on a logarithmic axis: None for as the values demand)."""
    values = column.to_numpy(np.float64, na_value=np.nan)
    usable = (np.abs(result) <= _LARGEST) & (np.abs(values) <= _LARGEST)
    positive = bool(usable.any()) and bool((values[usable] > 0).all())
    if log is None:
        log = positive and float(values[usable].max()) / float(values[usable].min()) >= _DECADES
    return values, np.flatnonzero(usable), log and positive


def _numbers(
    rows: Sequence[LineageRow], column: pd.Series[Any], result: Floats, wanted: str, colours: Mapping[str, str],
    log: bool | None,
) -> dict[str, Any]:  # fmt: skip
    values, places, log = _placed(column, result, log)
    x, y = values[places], result[places]
    at = np.log10(x) if log else x
    fit = fitted(at, y)
    found = shape(at, y, fit)
    # A curve that contradicts the ranks follows a few runs, and is no trend.
    drawn = fit if fit is not None and (found or not fit.straight) else None
    points = _points(rows, places, x, y, [fmt.exact(value) for value in x.tolist()], colours)
    axis = {"type": "log" if log else "linear", "zeroline": False, "nticks": 7}
    if log:
        decades = float(at.max() - at.min())
        axis |= {"dtick": math.ceil(decades / 8), "exponentformat": "power", "tickangle": 0} if decades > 1 else {}
    meta = {"log": log, "logs": bool(len(x)) and bool((x > 0).all()), "runs": len(places), "categories": 0, "left": 0,
            "tried": _tried(x), "shape": found, "slope": "", "best": None}  # fmt: skip
    if drawn is not None:
        if drawn.straight:
            meta["slope"] = fmt.number(float((drawn.y[-1] - drawn.y[0]) / (drawn.x[-1] - drawn.x[0])))
        best = best_region(drawn, wanted) if wanted else None
        if best is not None:
            meta["best"] = [*(fmt.exact(float(f"{10.0**one if log else one:.2g}")) for one in best[:3]), best.end]
    return {"data": [*(_curve(drawn, log=log) if drawn is not None else []), points], "layout": _layout(axis, meta)}


def _curve(fit: Fit, *, log: bool) -> list[dict[str, Any]]:
    """Return the traces of a trend and its band."""
    x = 10.0**fit.x if log else fit.x
    common = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    band = {
        **common, "x": numbers(np.concatenate((x, x[::-1]))), "y": numbers(np.concatenate((fit.high, fit.low[::-1]))),
        "fill": "toself", "fillcolor": "rgba(139,149,161,0.18)", "line": {"width": 0}, "meta": {"role": "band"},
    }  # fmt: skip
    line = {**common, "x": numbers(x), "y": numbers(fit.y), "line": {"color": _GREY, "width": 2}, "meta": {"role": "trend"}}
    return [band, line]


def _categories(
    rows: Sequence[LineageRow], column: pd.Series[Any], result: Floats, usable: NDArray[np.bool_],
    colours: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    usable = usable & column.notna().to_numpy()
    texts = {int(place): category_text(column.iloc[place]) for place in np.flatnonzero(usable)}
    counts: dict[str, int] = {}
    for text in texts.values():
        counts[text] = counts.get(text, 0) + 1
    shown = sorted(sorted(counts, key=lambda text: -counts[text])[:MOST_CATEGORIES])
    index = {text: at for at, text in enumerate(shown)}
    places = np.array([place for place, text in texts.items() if text in index], np.int64)
    at = np.array([index[texts[int(place)]] for place in places], np.float64)
    jitter = ((_ordinals(at) * _GOLDEN + 0.5) % 1.0 - 0.5) * _SPREAD
    y = result[places]
    boxes = {
        "type": "box", "x": typed(at), "y": numbers(y), "boxpoints": False, "line": {"color": _GREY, "width": 1.5},
        "width": 0.7, "fillcolor": "rgba(139,149,161,0.12)", "hoverinfo": "skip", "meta": {"role": "boxes"},
    }  # fmt: skip
    names = [brief(texts[int(place)], 60) for place in places]
    axis = {
        "tickvals": list(range(len(shown))),
        "ticktext": [html.escape(shortened(text, shown, 18), quote=False) for text in shown],
        "range": [-0.6, len(shown) - 0.4], "showgrid": False, "zeroline": False,
    }  # fmt: skip
    meta = {"log": False, "logs": False, "runs": len(places), "categories": len(shown), "left": len(counts) - len(shown),
            "tried": [], "shape": "", "slope": "", "best": None}  # fmt: skip
    points = _points(rows, places, at + jitter, y, names, colours)
    return {"data": [boxes, points] if len(places) else [points], "layout": _layout(axis, meta)}


def _ordinals(at: Floats) -> Floats:
    """For each element, how many equal ones come before it."""
    found = np.empty(len(at))
    for value in np.unique(at):
        mine = at == value
        found[mine] = np.arange(np.count_nonzero(mine))
    return found


def _points(
    rows: Sequence[LineageRow], places: NDArray[np.int64], x: Floats, y: Floats, values: Sequence[str],
    colours: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    keys = [rows[int(place)].run for place in places]
    return {
        "type": "scatter", "mode": "markers", "x": numbers(x), "y": numbers(y), "meta": {"role": "runs"},
        "marker": {"size": 8 if len(keys) < 200 else 5, "color": [colours.get(key, _GREY) for key in keys], "opacity": 0.85},
        "customdata": keys,
        "text": [f"{html.escape(brief(key, 80), quote=False)}<br>{html.escape(value, quote=False)}"
                 for key, value in zip(keys, values, strict=True)],
        "hovertemplate": "%{text} → %{y}<extra></extra>",
    }  # fmt: skip


def _layout(axis: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    return {
        "margin": {"l": 56, "r": 16, "t": 8, "b": 40}, "showlegend": False, "hovermode": "closest", "meta": meta,
        "xaxis": {**axis, "automargin": True}, "yaxis": {"nticks": 6, "zeroline": False},
    }  # fmt: skip
