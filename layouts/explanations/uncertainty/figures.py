"""Figures of the page: the distribution of standard deviations, and these against the probabilities by outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.analysis.explanations.uncertainty import DeviationSpread, is_deviation, one_of_each_cell
from parsers.explanations.snapshot import OUTCOMES, UNKNOWN, Bools, Explanations
from parsers.model import Floats, Ints

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described, entry, listed, named
from layouts.kit.figures.typed_arrays import drawn, numbers
from layouts.kit.i18n import LANGUAGES, both
from layouts.kit.plot_cards import LAYOUT, hover_label, plain

BAR, BOUND = "#236db4", "#76818f"
LOOKS = (
    ("TP", "#1b8f63", "circle"), ("FN", "#8a5cc7", "triangle-down"), ("FP", "#d0780c", "x"), ("TN", "#76818f", "square-open"),
    ("", "#4a8fd0", "diamond-open"),
)  # fmt: skip
"""Outcome -> colour and shape of its points, in the order of `OUTCOMES`; the last one is of samples without a true label."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ALL = 3_000
"""Up to this many points are all drawn."""
COLUMNS, LINES = 160, 80
"""Spots of the picture, in each of which one point of an outcome is drawn."""


def spread_figure(
    found: DeviationSpread, chosen: tuple[float, float] | None, *, language: str, dark: bool
) -> dict[str, Any] | None:
    """Return a bar for each bin of deviations, those outside of the chosen interval faint; None if none is known."""
    if not len(found.count):
        return None
    which = LANGUAGES.index(language)
    edges, low, high = scaled(found.edges, found), found.edges[:-1], found.edges[1:]
    ends = zip(map(fmt.number, low.tolist()), map(fmt.number, high.tolist()), found.count.tolist(), strict=True)
    inside = np.ones(len(low), bool) if chosen is None else (high >= chosen[0]) & (low <= chosen[1])
    width = np.diff(edges)
    trace = {
        "type": "bar", "x": numbers(edges[:-1] + width / 2), "y": numbers(found.count.astype(np.float64)),
        "width": numbers(width if len(width) > 1 else np.full(1, max(0.1 * abs(float(low[0])), 1e-9))), "hoverinfo": "text",
        "hovertext": [both("uncertainty.bin", low=a, high=b, n=fmt.count(n))[which] for a, b, n in ends],
        "textposition": "none",
        "marker": {"color": BAR, "opacity": np.where(inside, 1.0, 0.25).tolist(), "line": {"width": 0}},
        "customdata": np.stack([low, high], axis=1).tolist(), "meta": {"role": "spread"},
    }  # fmt: skip
    layout = LAYOUT | {
        "hoverlabel": hover_label(dark=dark), "bargap": 0, "dragmode": "select", "selectdirection": "h",
        "xaxis": _sd_axis(found) | {"title": {"text": both("uncertainty.x_sd")[which], "standoff": 6}},
        "yaxis": {"rangemode": "tozero", "nticks": 5, "fixedrange": True, "zeroline": True,
                  "title": {"text": both("uncertainty.y_labels")[which], "standoff": 6}},
        "meta": {"logarithmic": found.logarithmic},
    }  # fmt: skip
    most = int(found.count.argmax())
    fullest = both("uncertainty.said_bin", low=fmt.number(float(low[most])), high=fmt.number(float(high[most])),
                   n=fmt.count(int(found.count[most])))  # fmt: skip
    whole = both("uncertainty.said_ends", n=fmt.count(int(found.count.sum())), low=fmt.number(float(low[0])),
                 high=fmt.number(float(high[-1])))  # fmt: skip
    return described(
        {"data": [trace], "layout": layout}, both("uncertainty.spread"), whole, named(both("uncertainty.said_most"), fullest)
    )


def scaled(sd: Floats, found: DeviationSpread) -> Floats:
    """Return deviations as the axes of both figures have them: their decimal logarithm if bins have equal ratios."""
    scaled: Floats = np.log10(sd) if found.logarithmic else sd
    return scaled


def _sd_axis(found: DeviationSpread) -> dict[str, Any]:
    axis: dict[str, Any] = {"zeroline": False, "fixedrange": True}
    if not found.logarithmic:
        return axis | {"rangemode": "tozero", "nticks": 8}
    low, high = np.log10(found.edges[0]), np.log10(found.edges[-1])
    room = 0.03 * (high - low)
    every = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    leading = (1,) if high - low > 3 else (1, 2, 5)
    ticks = [(decade + float(np.log10(one)), one, decade) for decade in every for one in leading]
    return axis | {
        "range": [float(low - room), float(high + room)], "tickmode": "array", "tickvals": [at for at, _, _ in ticks],
        "ticktext": [_power(one, decade, short=bool(low >= -4)) for _, one, decade in ticks],
    }  # fmt: skip


def _power(leading: int, decade: int, *, short: bool) -> str:
    if short or decade >= 0:
        return f"{leading * 10.0**decade:g}"
    power = f"10{str(decade).translate(_RAISED)}"
    return power if leading == 1 else f"{leading}·{power}"


@dataclass(frozen=True, slots=True)
class Points:
    """Rows of `predictions` that can be drawn, and of each group those that are: points of which each stands for count."""

    rows: Ints
    shown: Ints
    count: Ints


def points_of(found: Explanations, rows: Ints, groups: Ints, spread: DeviationSpread) -> Points:
    """Return which of these rows are drawn: one of each spot and group. Rows without a probability or a deviation are not."""
    predicted = found.predicted
    sd, probability = predicted.sd[rows], predicted.probability[rows]
    known = is_deviation(sd) & ~np.isnan(probability)
    if spread.logarithmic:
        known &= sd > 0.0
    rows, groups = rows[known], groups[known]
    y = scaled(predicted.sd[rows], spread)
    if len(rows) <= ALL:
        return Points(rows, rows, np.ones(len(rows), np.int64))
    first, count = one_of_each_cell(predicted.probability[rows], y, groups, COLUMNS, LINES)
    return Points(rows, rows[first], count)


def against_figure(
    found: Explanations, points: Points, groups: Ints, inside: Bools, spread: DeviationSpread, names: dict[int, str], *,
    language: str, dark: bool,
) -> dict[str, Any] | None:  # fmt: skip
    """Return a point for each label: its deviation over its probability, by outcome; None if there is none.

    groups are the outcomes of the points as an index of LOOKS, inside says which are chosen. customdata are sample ids.
    """
    if not len(points.shown):
        return None
    which = LANGUAGES.index(language)
    predicted = found.predicted
    traces: list[dict[str, Any]] = [] if spread.logarithmic else [_bound(which)]
    for group, (name, colour, shape) in enumerate(LOOKS):
        at = np.flatnonzero(groups == group)
        if not len(at):
            continue
        at = at[np.argsort(~inside[at], kind="stable")]  # the legend looks like the first point
        rows = points.shown[at]
        samples = found.samples["sample"].to_numpy()[predicted.place[rows]]
        columns = (predicted.label[rows], samples, predicted.probability[rows], predicted.sd[rows], points.count[at])
        texts = _texts(columns, names, which)
        traces.append({
            "type": "scatter", "mode": "markers", "name": name or both("uncertainty.no_truth")[which],
            "x": drawn(predicted.probability[rows]), "y": drawn(scaled(predicted.sd[rows], spread)),
            "customdata": samples.tolist(), "hoverinfo": "text", "hovertext": texts,
            "marker": {"color": colour, "symbol": shape, "size": 7, "opacity": np.where(inside[at], 0.85, 0.15).tolist(),
                       "line": {"width": 1.4, "color": colour} if "open" in shape else {"width": 0}},
            "meta": {"role": "points", "outcome": name},
        })  # fmt: skip
    layout = LAYOUT | {
        "hoverlabel": hover_label(dark=dark), "dragmode": "select", "showlegend": True, "clickmode": "event",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom", "itemclick": False,
                   "itemdoubleclick": False},
        "margin": LAYOUT["margin"] | {"t": 34},
        "xaxis": {"range": _ends(predicted.probability[points.shown]), "zeroline": False, "nticks": 8, "fixedrange": True,
                  "title": {"text": both("uncertainty.x_probability")[which], "standoff": 6}},
        "yaxis": _sd_axis(spread) | {"title": {"text": both("uncertainty.y_sd")[which], "standoff": 6}},
        "meta": {"logarithmic": spread.logarithmic},
    }  # fmt: skip
    drawn_groups = [(name or both("uncertainty.no_truth"), rows_of) for group, (name, _, _) in enumerate(LOOKS)
                    if len(rows_of := points.shown[groups == group])]  # fmt: skip
    said = [entry(name, predicted.sd[rows_of], ordered=False) for name, rows_of in drawn_groups]
    counts = named(both("uncertainty.said_points"), fmt.count(len(points.shown)))
    return described({"data": traces, "layout": layout}, both("uncertainty.against"), counts, listed(said))


def _bound(which: int) -> dict[str, Any]:
    x = np.linspace(0.0, 1.0, 201)
    return {
        "type": "scatter", "mode": "lines", "x": drawn(x), "y": drawn(np.sqrt(x * (1.0 - x))), "hoverinfo": "text",
        "hovertext": both("uncertainty.most_possible")[which], "line": {"color": BOUND, "width": 1, "dash": "dash"},
        "showlegend": False, "meta": {"role": "bound"},
    }  # fmt: skip


def _ends(values: Floats) -> list[float]:
    """Return the range of the axis of probabilities: around all of them, and not far beyond 0 and 1."""
    low, high = float(values.min()), float(values.max())
    room = max(0.03 * (high - low), 0.01)
    return [low - room, high + room]


def _texts(columns: Sequence[NDArray[Any]], names: dict[int, str], which: int) -> list[str]:
    """Return the tips of points; columns are their labels, samples, probabilities, deviations and counts."""
    form, more = both("uncertainty.point")[which], both("uncertainty.more_here")[which]
    return [
        form.format(sample=sample, label=plain(names.get(label, str(label))), p=fmt.number(p), sd=fmt.number(deviation))
        + (f"<br>{more.format(n=fmt.count(n - 1))}" if n > 1 else "")
        for label, sample, p, deviation, n in zip(*(one.tolist() for one in columns), strict=True)
    ]


def groups_of(found: Explanations, threshold: float) -> Ints:
    """Return the outcome of every row of `predictions` as an index of LOOKS: the last one for samples without a true label."""
    assert tuple(name for name, _, _ in LOOKS) == OUTCOMES
    codes = found.codes(threshold).astype(np.int64)
    codes[~found.has_truth[found.predicted.place]] = UNKNOWN
    return codes
