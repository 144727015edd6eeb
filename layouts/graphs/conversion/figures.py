"""The chart of differences in the order of execution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from parsers.analysis.graphs.conversion import value_table
from parsers.analysis.graphs.network import Bools
from parsers.graphs.conversion import ConversionReport
from parsers.model import Floats, Ints

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described, entry
from layouts.kit.figures.typed_arrays import numbers
from layouts.kit.i18n import LANGUAGES, both
from layouts.kit.plot_cards import LAYOUT, hover_label, plain

MOST_POINTS = 2_000
"""Maximum points drawn: of more, the largest of each stretch, and the first ones beyond tolerance."""
LINE = ("#2f5fd0", "#86a9ff")
WRONG = ("#c3262b", "#ff8080")


def drawn_rows(largest: Floats, beyond: Bools, most: int = MOST_POINTS) -> Ints:
    """Return the rows to draw, in order: those with a difference above 0 that is finite, reduced to at most 2 × most."""
    valued = np.isfinite(largest) & (largest > 0)
    rows: Ints = np.flatnonzero(valued)
    if len(rows) <= most:
        return rows
    parts = np.array_split(rows, most)
    kept = [int(part[np.argmax(largest[part])]) for part in parts]
    return np.union1d(np.array(kept, np.int64), rows[beyond[rows]][:most])


def differences(report: ConversionReport, *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return the largest absolute difference of each value in the order of execution; None if there is none to draw."""
    table = value_table(report)
    largest, beyond = table["largest"].to_numpy(), table["beyond"].to_numpy()
    rows = drawn_rows(largest, beyond)
    if not len(rows):
        return None
    at = LANGUAGES.index(language)
    names, operators = table["value"].to_numpy(object), table["operator"].to_numpy(object)
    texts = [
        f"<b>{plain(names[row][:200])}</b><br>{plain(operators[row][:80])} · {row + 1:,}<br>"
        f"{both('conversion.largest')[at]}: {fmt.number(float(largest[row]))}"
        f"{'<br>' + both('conversion.beyond')[at] if beyond[row] else ''}"
        for row in rows.tolist()
    ]  # fmt: skip
    colours = [WRONG[dark] if one else LINE[dark] for one in beyond[rows].tolist()]
    symbols = ["x" if one else "circle" for one in beyond[rows].tolist()]
    few = len(rows) <= 300
    trace = {
        "type": "scatter", "mode": "lines+markers", "hoverinfo": "text",
        "x": numbers((rows + 1).astype(np.float64)), "y": numbers(largest[rows].astype(np.float64)),
        "hovertext": texts, "line": {"color": LINE[dark], "width": 1.5}, "meta": {"role": "difference"},
        "marker": {"size": 6 if few else 4, "color": colours, "symbol": symbols},
    }  # fmt: skip
    exponents = np.log10(largest[rows])
    low, high = float(exponents.min()), float(exponents.max())
    room = max(0.15, 0.08 * (high - low))
    axis: dict[str, Any] = {"zeroline": False, "automargin": True}
    titles = [
        {"font": {"size": 11}, "standoff": 8, "text": both(f"conversion.{key}")[at]}
        for key in ("axis_order", "legend.difference")
    ]
    upwards = {"type": "log", "range": [low - room, high + room], "exponentformat": "e", "nticks": 6}
    if high - low > 1:
        upwards["dtick"] = max(1, math.ceil((high - low) / 5))
    layout = LAYOUT | {
        "hoverlabel": hover_label(dark=dark),
        "xaxis": axis | {"title": titles[0], "range": [0.5, len(table) + 0.5], "nticks": 8, "tickformat": ",d"},
        "yaxis": axis | upwards | {"title": titles[1]},
    }
    said = entry(both("conversion.legend.difference"), largest[rows])
    wrong = both("conversion.painted.difference", n=fmt.count(len(table)), beyond=fmt.count(int(beyond.sum())))
    return described({"data": [trace], "layout": layout}, both("conversion.differences"), said, wrong)


def notes(report: ConversionReport) -> list[tuple[str, str]]:
    """Return (text key, number) of what the chart leaves out."""
    largest, beyond = report.values["largest"].to_numpy(), report.values["beyond"].to_numpy()
    zeros, some = int((largest == 0).sum()), int((np.isfinite(largest) & (largest > 0)).sum())
    found = [("conversion.zeros", fmt.count(zeros))] if zeros else []
    return [*found, ("conversion.reduced", fmt.count(some))] if some > len(drawn_rows(largest, beyond)) else found
