"""The probability of a label per layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described, listed, named
from layouts.kit.i18n import LANGUAGES, both
from layouts.kit.plot_cards import LAYOUT, hover_label

LINE, CHOSEN = "#236db4", "#c6871a"
LEAST_HEIGHT = 0.05
"""The axis spans at least this much probability, so that roundings do not look like changes."""


def curve(
    recorded: float | None, layers: Sequence[tuple[int, float | None]], layer: int, *, language: str, dark: bool
) -> dict[str, Any]:
    """Return the figure: probabilities of the whole picture and of each layer (number, probability), one of them chosen."""
    which = LANGUAGES.index(language)
    names = [both("counterfactual.recorded")[which]] + [both("counterfactual.layer", n=number)[which] for number, _ in layers]
    values = [recorded, *(probability for _, probability in layers)]
    known = [value for value in values if value is not None]
    numbers = [-1, *(number for number, _ in layers)]
    told = zip(names, map(fmt.exact, values), strict=True)
    texts = [both("counterfactual.hover", layer=name, value=value)[which] for name, value in told]
    trace = {
        "type": "scatter", "mode": "lines+markers", "x": list(range(len(values))), "y": values, "customdata": numbers,
        "hoverinfo": "text", "hovertext": texts, "line": {"color": LINE, "width": 1.5}, "connectgaps": False,
        "marker": {
            "size": [11 if number == layer else 8 for number in numbers], "color": LINE, "opacity": 1,
            "symbol": ["square" if number < 0 else "circle" for number in numbers],
            "line": {"color": CHOSEN, "width": [3 if number == layer else 0 for number in numbers]},
        },
        "meta": {"role": "curve"},
    }  # fmt: skip
    layout = LAYOUT | {
        "hoverlabel": hover_label(dark=dark), "dragmode": False,
        "xaxis": {"range": [-0.25, len(values) - 0.75], "tickmode": "array", "tickvals": list(range(len(values))),
                  "ticktext": names, "showgrid": False, "zeroline": False, "fixedrange": True, "automargin": True},
        "yaxis": {"range": list(span(known)), "zeroline": False, "nticks": 5, "fixedrange": True,
                  "title": {"text": both("counterfactual.probability")[which], "standoff": 6}},
    }  # fmt: skip
    labels = [both("counterfactual.recorded"), *(both("counterfactual.layer", n=number) for number, _ in layers)]
    said = [named(label, fmt.number(value)) for label, value in zip(labels, values, strict=True) if value is not None]
    return described({"data": [trace], "layout": layout}, both("counterfactual.curve"), listed(said))


def span(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis: around all values, at least LEAST_HEIGHT high, and not far beyond 0 and 1."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    missing = max(0.0, LEAST_HEIGHT - (high - low))
    room = 0.08 * max(high - low, LEAST_HEIGHT)
    low, high = low - missing / 2 - room, high + missing / 2 + room
    if high > 1.0 + room:
        low, high = low - (high - 1.0 - room), 1.0 + room
    if low < -room:
        low, high = -room, high - low - room
    return low, high
