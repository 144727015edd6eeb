"""The figures of the page: a radar of the metrics, and bars by label."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from parsers.analysis.explanations.explainer_scores import ScoreTable
from parsers.model import Floats, Ints

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import MOST_NAMED, described, joined, listed, named
from layouts.kit.figures.typed_arrays import numbers
from layouts.kit.i18n import LANGUAGES, Text, both
from layouts.kit.names import NameSet
from layouts.kit.plot_cards import LAYOUT, hover_label, plain
from layouts.kit.theme import FIRST, HUES, PALETTE

FEWEST = 3
"""Metrics that a radar needs."""
MOST_LABELS = 30
"""Labels that have bars; the CSV has all."""
RINGS = 4
GRID, TEXT = "#76818f", "#76818f"
_ROW_PX = 15
_ORDER = (*FIRST, *(hue for hue in range(HUES) if hue not in FIRST))


def colour(place: int) -> str:
    """Return the colour of the explainer or metric at a place: the five hues that differ most come first."""
    shades = PALETTE[_ORDER[place % HUES]]
    return shades[place // HUES % len(shades)]


def scale(values: Floats) -> tuple[float, float]:
    """Return what the centre and the outer ring of the radar stand for: 0 and 1, or more if scores lie beyond."""
    known = values[np.isfinite(values)]
    low = min(0.0, float(known.min())) if len(known) else 0.0
    high = max(1.0, float(known.max())) if len(known) else 1.0
    return (math.floor(low * 10) / 10 if low < 0 else 0.0), (math.ceil(high * 10) / 10 if high > 1 else 1.0)


def radar(scores: ScoreTable, every: Sequence[str], *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return a radar, drawn on plain axes; None for fewer than three metrics or no explainer. Missing scores are at 0.

    every are all explainers of the run, so that each keeps its colour when others are hidden.
    """
    size = len(scores.metrics)
    if size < FEWEST or not scores.explainers:
        return None
    low, high = scale(scores.values)
    angle = math.pi / 2 - 2 * math.pi * np.arange(size + 1) / size
    across, up = np.cos(angle), np.sin(angle)
    rings = np.linspace(low, high, RINGS + 1)[1:]
    ring_x = np.concatenate([np.append(across * (one - low) / (high - low), np.nan) for one in rings])
    ring_y = np.concatenate([np.append(up * (one - low) / (high - low), np.nan) for one in rings])
    spokes = np.stack([np.zeros(size), across[:-1], np.full(size, np.nan)], axis=1).ravel()
    spokes_y = np.stack([np.zeros(size), up[:-1], np.full(size, np.nan)], axis=1).ravel()
    traces: list[dict[str, Any]] = [{
        "type": "scatter", "mode": "lines", "x": numbers(np.concatenate([ring_x, spokes])), "hoverinfo": "skip",
        "y": numbers(np.concatenate([ring_y, spokes_y])), "line": {"color": GRID, "width": 1}, "opacity": 0.35,
        "showlegend": False, "meta": {"role": "grid"},
    }]  # fmt: skip
    which = LANGUAGES.index(language)
    for name, values in zip(scores.explainers, scores.values, strict=True):
        hue = colour(every.index(name))
        known = np.isfinite(values)
        reach = (np.append(np.where(known, values, 0.0), values[0] if known[0] else 0.0) - low) / (high - low)
        marks = ["circle" if one else "circle-open" for one in [*known.tolist(), bool(known[0])]]
        texts = [_hover(name, metric, float(value), which) for metric, value in zip(scores.metrics, values, strict=True)]
        traces.append({
            "type": "scatter", "mode": "lines+markers", "name": plain(name), "x": numbers(across * reach),
            "y": numbers(up * reach), "hoverinfo": "text", "hovertext": [*texts, texts[0]],
            "line": {"color": hue, "width": 1.5}, "marker": {"size": 6, "color": hue, "symbol": marks},
            "meta": {"role": "explainer"},
        })  # fmt: skip
    labels = [
        {
            "x": 1.08 * float(across[place]), "y": (1.18 if up[place] > 0.9 else 1.1) * float(up[place]),
            "text": plain(metric), "showarrow": False,
            "xanchor": "center" if abs(across[place]) < 0.3 else "left" if across[place] > 0 else "right",
            "font": {"size": 11},
        }
        for place, metric in enumerate(scores.metrics)
    ]  # fmt: skip
    ticks = [
        {"x": 0.02, "y": float((one - low) / (high - low)), "text": f"{one:g}", "showarrow": False, "xanchor": "left",
         "yanchor": "bottom", "font": {"size": 9, "color": TEXT}}
        for one in rings
    ]  # fmt: skip
    hidden = {"visible": False, "zeroline": False, "showgrid": False, "fixedrange": True}
    layout = LAYOUT | {
        "hoverlabel": hover_label(dark=dark), "showlegend": True, "dragmode": False, "annotations": [*labels, *ticks],
        "margin": {"l": 8, "r": 8, "t": 8, "b": 32, "pad": 0},
        "legend": {"orientation": "h", "x": 0.5, "xanchor": "center", "y": 0, "yanchor": "top", "font": {"size": 11}},
        "xaxis": hidden | {"range": [-1.75, 1.75]}, "yaxis": hidden | {"range": [-1.18, 1.28], "scaleanchor": "x"},
        "meta": {"low": low, "high": high},
    }  # fmt: skip
    said = [_said(name, values, scores.metrics) for name, values in zip(scores.explainers, scores.values, strict=True)]
    return described({"data": traces, "layout": layout}, both("scores.radar"), listed(said))


def _said(name: str, values: Floats, metrics: Sequence[str]) -> Text:
    """Return the scores of an explainer as words, for those who do not see the figure."""
    missing = both("scores.unscored")
    parts = [
        named(metric, fmt.number(float(value)) if math.isfinite(value) else missing)
        for metric, value in zip(metrics, values, strict=True)
    ]
    return named(name, joined(parts))


def _hover(name: str, metric: str, value: float, which: int) -> str:
    text = fmt.number(value) if math.isfinite(value) else both("scores.unscored")[which]
    return f"<b>{plain(name)}</b><br>{plain(metric)}: {text}"


# Bars by label ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScoreBars:
    """Scores with shape (series, labels), NaN for none: of explainers by one metric, or of metrics by one explainer."""

    series: tuple[str, ...]
    colours: tuple[int, ...]
    labels: tuple[str, ...]
    values: Floats


def chosen_labels(values: Floats, order: str, most: int = MOST_LABELS) -> Ints:
    """Return the positions of the labels to show, of scores with shape (series, labels), in their order.

    order: "label" as they are, "worst" the lowest score of any series first, "spread" the largest difference between series
    first; labels without a score come last.
    """
    count = values.shape[1]
    if order == "label" or not count or not values.shape[0]:
        return np.arange(count)[:most]
    some = ~np.isnan(values).all(axis=0)
    low, high = np.full(count, np.nan), np.full(count, np.nan)
    low[some], high[some] = np.nanmin(values[:, some], axis=0), np.nanmax(values[:, some], axis=0)
    found: Ints = np.argsort(low if order == "worst" else -(high - low), kind="stable")[:most]
    return found


def bars(found: ScoreBars, *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return horizontal bars, a group for each label with the first at the top; None if there is no score."""
    if not found.labels or np.isnan(found.values).all():
        return None
    which = LANGUAGES.index(language)
    place = np.arange(len(found.labels), dtype=np.float64)
    width = 0.8 / len(found.series)
    traces: list[dict[str, Any]] = []
    for at, name in enumerate(found.series):
        values = found.values[at]
        texts = [_hover(name, label, float(value), which) for label, value in zip(found.labels, values, strict=True)]
        known = np.isfinite(values)
        traces.append({
            "type": "bar", "orientation": "h", "name": plain(name), "y": numbers(place - 0.4 + width * (at + 0.5)),
            "width": width * 0.92, "x": numbers(np.where(known, values, 0.0)), "hoverinfo": "text", "hovertext": texts,
            "text": ["" if one else both("scores.unscored")[which] for one in known], "textposition": "outside",
            "textfont": {"size": 9, "color": TEXT}, "marker": {"color": colour(found.colours[at])}, "meta": {"role": "bar"},
        })  # fmt: skip
    low, high = scale(found.values)
    together = NameSet(found.labels)
    names = [together.short(one, 28) for one in found.labels]
    layout = LAYOUT | {
        "hoverlabel": hover_label(dark=dark), "showlegend": len(found.series) > 1, "barmode": "overlay", "bargap": 0,
        "margin": {"l": 16 + round(6.4 * max(map(_width, names))), "r": 18, "t": 8, "b": 28, "pad": 4},
        "legend": {
            "orientation": "h", "x": 0, "yref": "container", "y": 1, "yanchor": "top", "traceorder": "normal",
            "font": {"size": 11},
        },
        "xaxis": {"range": [low - (0.02 if low else 0.0), high * 1.06], "zeroline": True, "nticks": 6, "fixedrange": True},
        "yaxis": {"range": [len(names) - 0.5, -0.5], "tickmode": "array", "tickvals": numbers(place),
                  "ticktext": list(map(plain, names)), "showgrid": False, "zeroline": False, "fixedrange": True},
        "meta": {"height": 58 + len(names) * max(22, _ROW_PX * len(found.series) + 8)},
    }  # fmt: skip
    said = [_said(name, found.values[at][:MOST_NAMED], found.labels[:MOST_NAMED]) for at, name in enumerate(found.series)]
    shown = both("scores.first_said", n=fmt.count(min(MOST_NAMED, len(found.labels))), total=fmt.count(len(found.labels)))
    return described({"data": traces, "layout": layout}, both("scores.labels"), shown, listed(said))


def _width(name: str) -> int:
    """Return the width of a name in Latin letters: Chinese characters are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in name)


def series_of(
    side: str, one: str, explainers: Sequence[str], metrics: Sequence[str], values: Floats, every: Sequence[str]
) -> tuple[str, ScoreBars]:
    """Return what is chosen (the first if it is unknown), and its scores: of explainers or metrics, with all labels unnamed.

    values have shape (explainers, metrics, labels). Metrics without any score by label are left out. every are all explainers
    of the run, whose places choose the colours.
    """
    scored = [place for place in range(len(metrics)) if not np.isnan(values[:, place]).all()]
    if side == "metric":
        names = [metrics[place] for place in scored]
        chosen = one if one in names else names[0] if names else ""
        part = values[:, metrics.index(chosen)] if chosen else np.zeros((0, values.shape[2]))
        names = list(explainers) if chosen else []
        return chosen, ScoreBars(tuple(names), tuple(every.index(name) for name in names), (), part)
    chosen = one if one in explainers else explainers[0] if explainers else ""
    part = values[explainers.index(chosen)][scored] if chosen else np.zeros((0, values.shape[2]))
    return chosen, ScoreBars(tuple(metrics[place] for place in scored), tuple(scored), (), part)
