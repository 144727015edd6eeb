"""The reliability diagram: how often a label is true, by how probable the network took it to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from parsers.analysis.explanations.calibration import Calibration
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described, listed, named
from layouts.kit.figures.typed_arrays import numbers
from layouts.kit.i18n import LANGUAGES, Text, both
from layouts.kit.plot_cards import LAYOUT, hover_label

ACCURACY, GAP, IDEAL = "#236db4", "#c6871a", "#76818f"


def reliability(found: Calibration, *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return a figure of the bins that hold something; None if none does.

    Above: the share of true labels with its 95 % interval over the mean probability of each bin, and the line on which both are
    equal. Below: how many probabilities each bin holds.
    """
    bins = found.bins[found.bins["count"] > 0]
    if bins.empty:
        return None
    which = LANGUAGES.index(language)
    words = {name: both(f"confusion.{name}")[which] for name in ("x_confidence", "y_accuracy", "y_count")}
    confidence, accuracy = bins["confidence"].to_numpy(), bins["accuracy"].to_numpy()
    texts = [_hover(row, which) for row in bins.to_dict("records")]
    low = 0.0 if found.everything else 0.5
    gap_x = np.repeat(confidence, 3)
    gap_y = np.stack([accuracy, confidence, np.full(len(bins), np.nan)], axis=1).ravel()
    above, below = bins["accuracy_high"].to_numpy() - accuracy, accuracy - bins["accuracy_low"].to_numpy()
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter", "mode": "lines", "x": [low, 1.0], "y": [low, 1.0], "hoverinfo": "skip",
            "line": {"color": IDEAL, "width": 1, "dash": "dash"}, "meta": {"role": "ideal"},
        },
        {
            "type": "scatter", "mode": "lines", "x": numbers(gap_x), "y": numbers(gap_y), "hoverinfo": "skip",
            "line": {"color": GAP, "width": 5}, "opacity": 0.5, "meta": {"role": "gap"},
        },
        {
            "type": "scatter", "mode": "lines+markers", "x": numbers(confidence), "y": numbers(accuracy), "hoverinfo": "text",
            "hovertext": texts, "line": {"color": ACCURACY, "width": 1.5}, "marker": {"size": 7, "color": ACCURACY},
            "error_y": {"type": "data", "symmetric": False, "array": numbers(above), "arrayminus": numbers(below),
                        "thickness": 1, "width": 3, "color": ACCURACY},
            "meta": {"role": "accuracy"},
        },
        {
            "type": "bar", "x": numbers(((bins["low"] + bins["high"]) / 2).to_numpy()),
            "width": numbers((0.94 * (bins["high"] - bins["low"])).to_numpy()),
            "y": numbers(bins["count"].to_numpy(np.float64)), "yaxis": "y2", "hoverinfo": "text", "hovertext": texts,
            "textposition": "none", "marker": {"color": ACCURACY, "opacity": 0.55}, "meta": {"role": "count"},
        },
    ]  # fmt: skip
    layout = LAYOUT | {
        "hoverlabel": hover_label(dark=dark), "bargap": 0,
        "xaxis": {"range": [low - 0.02, 1.02], "zeroline": False, "showgrid": False, "anchor": "y2", "nticks": 11,
                  "title": {"text": words["x_confidence"], "standoff": 6}},
        "yaxis": {"range": [-0.03, 1.05], "domain": [0.3, 1.0], "zeroline": False, "nticks": 6, "fixedrange": True,
                  "title": {"text": words["y_accuracy"], "standoff": 6}},
        "yaxis2": {"domain": [0.0, 0.22], "nticks": 3, "zeroline": False, "fixedrange": True, "anchor": "x",
                   "rangemode": "tozero", "title": {"text": words["y_count"], "standoff": 6}},
        "meta": {"error": found.error, "counted": found.counted},
    }  # fmt: skip
    values = {"error": fmt.percent(found.error), "greatest": fmt.percent(found.greatest), "n": fmt.count(found.counted)}
    said = both("confusion.error", **values)
    return described({"data": traces, "layout": layout}, both("confusion.reliability"), said, listed(map(_said, _rows(bins))))


def _rows(bins: pd.DataFrame) -> Iterator[dict[Any, Any]]:
    """Yield the bins, the fullest first."""
    yield from bins.sort_values("count", ascending=False, kind="stable").to_dict("records")


def _said(row: dict[Any, Any]) -> Text:
    """Return a bin as words, for those who do not see the figure."""
    shares = {name: fmt.percent(row[name]) for name in ("confidence", "accuracy")}
    values = {**shares, "n": fmt.count(int(row["count"]))}
    return named(_interval(row), both("confusion.said_bin", **values))


def _interval(row: dict[Any, Any]) -> str:
    return f"{'[' if row['low'] == 0 else '('}{row['low']:g}, {row['high']:g}]"


def _hover(row: dict[Any, Any], which: int) -> str:
    lines = [
        f"<b>{_interval(row)}</b>",
        both("confusion.bin_count", n=fmt.count(int(row["count"])))[which],
        both("confusion.bin_confidence", value=fmt.percent(row["confidence"]))[which],
        both(
            "confusion.bin_accuracy", value=fmt.percent(row["accuracy"]), low=fmt.percent(row["accuracy_low"]),
            high=fmt.percent(row["accuracy_high"]),
        )[which],
    ]  # fmt: skip
    return "<br>".join(lines)
