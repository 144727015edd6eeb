"""Figures of the operators page: types as a pie or bars, and the changes between two profiles as a waterfall."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import MOST_NAMED, described, listed, named
from layouts.kit.figures.typed_arrays import typed
from layouts.kit.i18n import Text, both
from layouts.kit.names import NameSet
from layouts.kit.theme import PALETTE
from layouts.profiles.operators.variants import measure

MOST = 20
"""Maximum number of types drawn; the others share one more part."""
OTHER = "Other"
MOST_LETTERS = 44
"""Maximum letters of a name in the text of a figure, more where names could not be told apart."""
_CLEAR = "rgba(0,0,0,0)"
_SHADES = [shade[0] for shade in PALETTE] + [shade[1] for shade in PALETTE]
_GREY = "#8a93a0"
_MORE, _LESS, _WHOLE = "#d25908", "#2b9c78", "#7b8490"


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of the pie: a type, or all the others under the name "". types: how many types it stands for."""

    name: str
    value: float
    share: float
    types: int = 1


def slices(types: pd.DataFrame, by: str) -> list[Slice]:
    """Return the MOST longest types and the others together, by time (of the host: self time) or by its mean per execution.

    A type that ran on several cores counts once. As in MindInsight, shares are fractions of the sum of the plotted values, so
    by mean time they are not fractions of the step time.
    """
    column = measure(types)
    total = types.groupby("type", observed=True, sort=False)[column].sum()
    if by == "mean":
        count = types.groupby("type", observed=True, sort=False)["count"].sum()
        mean = types.groupby("type", observed=True, sort=False)["mean_ns"].mean()
        with np.errstate(divide="ignore", invalid="ignore"):
            total = (total / count).where(count > 0, mean)
    values = total[np.isfinite(total) & (total > 0)].sort_values(ascending=False, kind="stable")
    whole = math.fsum(values)
    shown = [Slice(str(name), float(value), float(value) / whole) for name, value in values.iloc[:MOST].items()]
    rest = values.iloc[MOST:]
    if len(rest):
        value = math.fsum(rest)
        shown.append(Slice("", value, value / whole, len(rest)))
    return shown


def _named(name: str) -> str:
    return html.escape(name or OTHER, quote=False)


def _short(names: Iterable[str]) -> dict[str, str]:
    """Return names as the text of a figure has room for them, no two alike; hover labels have them whole."""
    every = NameSet(filter(None, names))
    return {name: _named(every.short(name, MOST_LETTERS)) for name in every.all} | {"": _named("")}


def _label(part: Slice) -> str:
    return f"{fmt.percent(part.share)} · {fmt.duration(part.value / 1e9)}"


def pie(parts: Sequence[Slice]) -> dict[str, Any]:
    """Draw the parts as a ring, each with percent and time in the legend."""
    short = _short(part.name for part in parts)
    names = [f"{place + 1}. {short[part.name]}" for place, part in enumerate(parts)]
    trace = {
        "type": "pie", "labels": [f"{name}  {_label(part)}" for name, part in zip(names, parts, strict=True)],
        "values": typed(np.array([part.value for part in parts], np.float64)), "sort": False, "direction": "clockwise",
        "hole": 0.5, "textinfo": "none",
        "text": [f"{_named(part.name)}<br>{_label(part)}" for part in parts], "hoverinfo": "text",
        "customdata": [part.name for part in parts],
        "marker": {"colors": [*_SHADES[: len(parts)]] if len(parts) <= MOST else [*_SHADES, _GREY], "line": {"width": 0}},
        "domain": {"x": [0.0, 0.46]},
    }  # fmt: skip
    legend = {"x": 0.5, "y": 0.5, "yanchor": "middle", "font": {"size": 11}, "itemclick": False, "itemdoubleclick": False}
    figure = {"data": [trace], "layout": _layout(legend=legend, showlegend=True, margin={"l": 8, "r": 8, "t": 8, "b": 8})}
    return described(figure, both("operators.said_types"), _said(parts))


def _said(parts: Sequence[Slice]) -> Text:
    whole = sum(part.types for part in parts)
    some = [named(part.name or both("operators.said_others"), _label(part)) for part in parts[:MOST_NAMED]]
    return listed(some, whole)


def bar(parts: Sequence[Slice]) -> dict[str, Any]:
    """Draw the parts as bars, the longest on top, each with percent and time after it. Without parts there are no axes."""
    if not parts:
        return {"data": [{"type": "bar"}], "layout": _layout(xaxis={"visible": False}, yaxis={"visible": False})}
    unit, scale = unit_of([part.value for part in parts])
    turned, short = list(reversed(parts)), _short(part.name for part in parts)
    trace = {
        "type": "bar", "orientation": "h", "x": typed(np.array([part.value / scale for part in turned], np.float64)),
        "y": [short[part.name] for part in turned], "text": [_label(part) for part in turned], "textposition": "outside",
        "hovertext": [f"{_named(part.name)}<br>{_label(part)}" for part in turned], "hoverinfo": "text", "cliponaxis": False,
        "customdata": [part.name for part in turned], "textfont": {"size": 11},
        "marker": {"color": [_SHADES[0] if part.name else _GREY for part in turned]},
    }  # fmt: skip
    longest = max((part.value for part in parts), default=scale)
    axis = {"title": {"text": unit}, "nticks": 5, "range": [0, 1.3 * longest / scale]}
    names = {"type": "category", "automargin": True, "tickfont": {"size": 11}, "fixedrange": True}
    gap = 1.0 - min(0.75, 0.08 * len(parts))
    layout = _layout(xaxis=axis, yaxis=names, bargap=gap, margin={"l": 8, "r": 24, "t": 4, "b": 36})
    return described({"data": [trace], "layout": layout}, both("operators.said_types"), _said(parts))


def waterfall(changes: Sequence[tuple[str, float]], before: float, after: float, names: tuple[str, str]) -> dict[str, Any]:
    """Draw the way from the total time of one profile to that of another, in ns. changes: (type, difference), "" for others."""
    unit, scale = unit_of([before, after])
    labels = [_named(names[0]), *(_named(name) for name, _ in changes), _named(names[1])]
    short = _short(name for name, _ in changes)
    shown = [labels[0], *(short[name] for name, _ in changes), labels[-1]]
    level = before
    base, size, colour = [0.0], [before], [_WHOLE]
    for _, change in changes:
        base.append(min(level, level + change))
        size.append(abs(change))
        colour.append(_MORE if change > 0 else _LESS)
        level += change
    durations = [fmt.duration(before / 1e9), *(_signed(change) for _, change in changes), fmt.duration(after / 1e9)]
    ends = np.array([*base, 0.0]) + np.array([*size, after])
    trace = {
        "type": "bar", "orientation": "h", "y": list(range(len(labels))), "x": typed(np.array([*size, after]) / scale),
        "base": typed(np.array([*base, 0.0]) / scale), "text": durations, "textposition": "outside", "cliponaxis": False,
        "hovertext": [f"{label}<br>{one}" for label, one in zip(labels, durations, strict=True)], "hoverinfo": "text",
        "marker": {"color": [*colour, _WHOLE]}, "textfont": {"size": 11}, "constraintext": "none",
        "customdata": ["", *(name for name, _ in changes), ""],
    }  # fmt: skip
    up = {
        "tickvals": list(range(len(labels))), "ticktext": shown, "automargin": True, "fixedrange": True,
        "range": [len(labels) - 0.5, -0.5], "tickfont": {"size": 11}, "showgrid": False,
    }  # fmt: skip
    axis = {"title": {"text": unit}, "nticks": 5, "range": [0, 1.15 * float(ends.max(initial=scale)) / scale]}
    layout = _layout(xaxis=axis, yaxis=up, bargap=0.25, margin={"l": 8, "r": 24, "t": 4, "b": 36})
    ends = listed([named(names[0], durations[0]), named(names[1], durations[-1])])
    largest = sorted(changes, key=lambda change: -abs(change[1]))[:MOST_NAMED]
    some = [named(name or both("operators.said_others"), _signed(change)) for name, change in largest]
    return described({"data": [trace], "layout": layout}, both("operators.said_changes"), ends, listed(some, len(changes)))


def _signed(change: float) -> str:
    return fmt.duration(change / 1e9, signed=True)


def unit_of(values: Sequence[float]) -> tuple[str, float]:
    """Return (a readable unit for these times in ns, the unit's length in ns)."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return next(((unit, scale) for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)) if largest >= 10 * scale), ("µs", 1e3))


def _layout(**more: Any) -> dict[str, Any]:
    return {"paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR, "font": {"size": 12}, "hovermode": "closest", **more}
