"""The difference and the cosine of all outputs in the order of execution."""

from __future__ import annotations

from typing import Any

import numpy as np
from parsers.deferred import pandas as pd

from layouts.curves.smoothed_lines import WRONG
from layouts.dumps.two_dumps.difference_texts import quantity
from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import MOST_NAMED, described, listed, marked, named
from layouts.kit.figures.typed_arrays import numbers
from layouts.kit.i18n import LANGUAGES, both
from layouts.kit.plot_cards import LAYOUT, hover_label, plain

MOST_POINTS = 3_000
"""Points that are drawn; of more outputs the one that differs most of each of as many places is."""
SAME, COSINE, LIMIT = "#236db4", "#2b9c78", "#76818f"
FLOOR = 1e-12
"""Height of tensors that are the same, unless others differ by less."""


def curve(differences: pd.DataFrame, tolerance: float, *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return a figure of outputs and parameters; None if none was compared.

    Differences are on a logarithmic axis: what is the same lies at the bottom, NaN or Inf in one dump only at the top as a
    cross. customdata are positions in the frame. Cosines are drawn above if values were compared.
    """
    rows = np.flatnonzero((differences["io"] != "input").to_numpy() & differences["difference"].notna().to_numpy())
    if not len(rows):
        return None
    value = differences["difference"].to_numpy()[rows]
    keep = reduced(value)
    rows, value, place = rows[keep], value[keep], (keep + 1).astype(np.float64)
    finite = value[np.isfinite(value) & (value > 0)]
    floor = min(FLOOR, float(finite.min()) / 10.0) if len(finite) else FLOOR
    top = max(10.0, 10.0 * float(finite.max())) if len(finite) else 10.0
    height = np.clip(np.where(np.isinf(value), top, np.maximum(value, floor)), floor, top)
    beyond = value > tolerance
    which = LANGUAGES.index(language)
    words = {name: both(f"two_dumps.{name}")[which] for name in ("x_order", "y_difference", "y_cosine", "infinite")}
    cosine = differences["cosine"].to_numpy()[rows]
    shown = bool(np.isfinite(cosine).any())
    records = differences.iloc[rows].to_dict("records")
    texts = [_hover(row, words["infinite"], which) for row in records]
    mode = "lines+markers" if len(rows) <= 300 else "lines"
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter", "mode": mode, "x": numbers(place), "y": numbers(height), "hoverinfo": "text",
            "hovertext": texts, "line": {"color": SAME, "width": 1.5}, "marker": {"size": 5, "color": SAME},
            "customdata": rows.tolist(), "meta": {"role": "difference"},
        },
        {
            "type": "scatter", "mode": "markers", "x": numbers(place[beyond]), "y": numbers(height[beyond]),
            "hoverinfo": "text", "hovertext": [text for text, one in zip(texts, beyond, strict=True) if one],
            "customdata": rows[beyond].tolist(), "meta": {"role": "beyond"},
            "marker": {"size": 7, "color": WRONG, "symbol": ["x" if one == np.inf else "circle" for one in value[beyond]]},
        },
    ]  # fmt: skip
    layout = LAYOUT | {
        "hoverlabel": hover_label(dark=dark),
        "xaxis": {"range": [0.4, max(float(place[-1]), 12.0) + 0.6], "showgrid": False, "zeroline": False,
                  "anchor": "y", "title": {"text": words["x_order"], "standoff": 6}},
        "yaxis": {"type": "log", "range": [float(np.log10(floor)) - 0.5, float(np.log10(top)) + 0.5], "nticks": 6,
                  "exponentformat": "power", "domain": [0.0, 0.62] if shown else [0.0, 1.0], "fixedrange": True,
                  "title": {"text": words["y_difference"], "standoff": 6}},
        "meta": {"outputs": len(keep), "beyond": int(np.count_nonzero(beyond)), "cosine": shown},
    }  # fmt: skip
    if tolerance > floor:
        line = {"color": LIMIT, "width": 1, "dash": "dash"}
        layout["shapes"] = [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": tolerance, "y1": tolerance, "line": line}]
    if shown:
        traces.append({
            "type": "scatter", "mode": mode, "x": numbers(place), "y": numbers(cosine), "yaxis": "y2", "hoverinfo": "text",
            "hovertext": texts, "line": {"color": COSINE, "width": 1.5}, "marker": {"size": 5, "color": COSINE},
            "customdata": rows.tolist(), "meta": {"role": "cosine"},
        })  # fmt: skip
        low = min(0.98, float(np.nanmin(cosine)))
        layout["yaxis2"] = {"domain": [0.7, 1.0], "range": [low - 0.06 * (1 - low), 1 + 0.06 * (1 - low)], "nticks": 4,
                            "zeroline": False, "fixedrange": True, "anchor": "x",
                            "title": {"text": words["y_cosine"], "standoff": 6}}  # fmt: skip
    return described(
        {"data": traces, "layout": layout}, both("two_dumps.curve"), both("two_dumps.said_outputs", n=fmt.count(len(keep))),
        listed(_furthest(differences.iloc[rows], value)), marked([(both("two_dumps.said_beyond"), int(beyond.sum()))]),
    )  # fmt: skip


def _furthest(frame: pd.DataFrame, value: np.ndarray) -> list[tuple[str, str]]:
    """Return the outputs that differ most, the furthest first."""
    places = np.argsort(-value, kind="stable")[:MOST_NAMED]
    names = (f"{frame['name'].iloc[at]} {frame['io'].iloc[at]}.{frame['slot'].iloc[at]}" for at in places)
    return [
        named(name, both("two_dumps.infinite") if np.isinf(value[at]) else quantity(float(value[at])))
        for name, at in zip(names, places, strict=True)
    ]


def reduced(value: np.ndarray) -> np.ndarray:
    """Return which values are drawn: all, or the greatest of each of MOST_POINTS places."""
    if len(value) <= MOST_POINTS:
        return np.arange(len(value))
    bins = np.arange(len(value)) * MOST_POINTS // len(value)
    order = np.lexsort((np.arange(len(value)), -value, bins))
    first = np.append(True, np.diff(bins[order]) != 0)
    found: np.ndarray = np.sort(order[first])
    return found


def _hover(row: dict[Any, Any], infinite: str, which: int) -> str:
    lines = [f"<b>{plain(str(row['name']))}</b> {row['io']}.{row['slot']}"]
    difference = infinite if row["difference"] == np.inf else quantity(row["difference"])
    lines.append(f"{both('two_dumps.difference')[which]} {difference}")
    if np.isfinite(row["cosine"]):
        lines.append(f"{both('two_dumps.cosine')[which]} {cosine_text(row['cosine'])}")
    if np.isfinite(row["max_absolute"]):
        lines.append(f"{both('two_dumps.max_absolute')[which]} {fmt.number(row['max_absolute'])}")
    return "<br>".join(lines)


def cosine_text(value: float) -> str:
    """Return a cosine with as many digits as tell it from 1."""
    return "–" if np.isnan(value) else f"{value:.8f}".rstrip("0").rstrip(".")
