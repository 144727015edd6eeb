"""Figures of the page: bad values of one iteration by operator, and the norm of one tensor over the iterations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from parsers.analysis.dumps.first_cause import NON_FINITE
from parsers.deferred import pandas as pd

from layouts.curves.smoothed_lines import WRONG
from layouts.dumps.causes import counted
from layouts.dumps.first_cause.work import BadOperators, Norms
from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import MOST_NAMED, described, described_by, in_both, joined, listed, marked, named
from layouts.kit.figures.typed_arrays import drawn, numbers
from layouts.kit.i18n import LANGUAGES, both
from layouts.kit.plot_cards import LAYOUT, hover_label, plain

MOST_BARS = 1_500
"""Bars that are drawn; of more operators the worst of each of as many places is."""
MOST_TICKS = 8
"""Iterations from the first to the last of which each has a tick, which a phone has room for; else as the width allows."""
NORM, USUAL, LOSS = "#236db4", "#76818f", "#c6871a"


def spread(found: BadOperators, first: str, *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return a bar for each operator with bad values: at its place in the order of execution, as high as their share.

    Of norms that left their history the bars are as high as the decades between both. first is the name of the first cause.
    customdata are rows of the frame of tensors. None if there is nothing to draw.
    """
    frame = found.frame
    if frame.empty:
        return None
    finite = found.kind != NON_FINITE
    place = frame["place"].to_numpy()
    value = decades(found) if finite else 100.0 * shares(frame)
    known = ~np.isnan(value)
    height = np.where(known, value, 0.0 if finite else 100.0)
    chosen = _worst(place, height, found.operators)
    names = ("x_order", "y_decades" if finite else "y_share", "operator_n")
    x_title, y_title, word = (both(f"first_cause.{name}")[LANGUAGES.index(language)] for name in names)
    rows = frame.iloc[chosen]
    what = [said(row, found, int(at))[LANGUAGES.index(language)] for at, row in zip(chosen, _records(rows), strict=True)]
    texts = [_hover(row, told, word, language) for row, told in zip(_records(rows), what, strict=True)]
    is_first = (rows["name"] == first).to_numpy() & (rows["hops"] <= 0).to_numpy()
    trace = {
        "type": "bar", "x": numbers((place[chosen] + 1).astype(np.float64)), "y": drawn(height[chosen]),
        "width": [max(0.8, found.operators / 300)] * len(chosen),
        "marker": {
            "color": WRONG, "line": {"width": 0},
            "opacity": [1.0 if one else 0.55 if sure else 0.25 for one, sure in zip(is_first, known[chosen], strict=True)],
        },
        "hovertext": texts, "hoverinfo": "text", "customdata": rows["row"].tolist(), "meta": {"role": "spread"},
    }  # fmt: skip
    most = max(1.0, float(height.max()))
    layout = LAYOUT | {
        "hoverlabel": hover_label(dark=dark), "bargap": 0,
        "xaxis": {"range": [0.4, max(found.operators, 12) + 0.6], "showgrid": False, "zeroline": False,
                  "title": {"text": x_title, "standoff": 6}},
        "yaxis": {"range": [0, 1.05 * most if finite else 105], "ticksuffix": "" if finite else " %", "nticks": 5,
                  "fixedrange": True, "zeroline": True, "title": {"text": y_title, "standoff": 6}},
        "meta": {"operators": found.operators, "bad": len(frame), "drawn": len(chosen)},
    }  # fmt: skip
    told = [
        named(str(row["name"]), said(row, found, int(at)))
        for at, row in zip(chosen[:MOST_NAMED], _records(rows.head(MOST_NAMED)), strict=True)
    ]
    head = both("first_cause.said_spread", n=fmt.count(len(frame)), operators=fmt.count(found.operators))
    return described({"data": [trace], "layout": layout}, head, listed(told, len(frame)))


def _records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    found: list[dict[Any, Any]] = frame.to_dict("records")
    return found


def decades(found: BadOperators) -> np.ndarray:
    """Return how many decades each norm is from its history, at most 20; NaN for unknown."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found_decades: np.ndarray = np.minimum(np.abs(np.log10(found.norm / found.usual)), 20.0)
    return found_decades


def said(row: Mapping[Any, Any], found: BadOperators, place: int) -> tuple[str, str]:
    """Return what is bad of the operator at a position of the frame, in both languages."""
    if found.kind == NON_FINITE:
        return counted(row)
    norm, usual = (fmt.number(float(values[place])) for values in (found.norm, found.usual))
    return both(f"first_cause.{found.kind}_norm", measured=norm, usual=usual)


def shares(frame: pd.DataFrame) -> np.ndarray:
    """Return which part of the values of each operator is bad; NaN for unknown."""
    bad, count = frame["nan"] + frame["inf"], frame["count"]
    known = (frame["nan"] >= 0) & (frame["inf"] >= 0) & (count > 0)
    return np.where(known, bad / count.where(count > 0, 1), np.nan)


def _worst(place: np.ndarray, height: np.ndarray, operators: int) -> np.ndarray:
    """Return which rows are drawn: all, or the worst one of each of MOST_BARS places."""
    if len(place) <= MOST_BARS:
        return np.arange(len(place))
    bins = place * MOST_BARS // max(operators, 1)
    order = np.lexsort((place, -height, bins))
    first = np.append(True, np.diff(bins[order]) != 0)
    return np.sort(order[first])


def _hover(row: dict[Any, Any], what: str, word: str, language: str) -> str:
    lines = [f"<b>{plain(str(row['name']))}</b>", word.format(n=fmt.count(row["place"] + 1)), what]
    if row["hops"] >= 0:
        lines.append(both("first_cause.hops_n", n=fmt.count(row["hops"]))[LANGUAGES.index(language)])
    return "<br>".join(lines)


def norms(found: Norms, loss: tuple[str, dict[int, float]], *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return the norm by iteration on a logarithmic axis, its history, where it left it, NaN and Inf, and the loss if known."""
    which = LANGUAGES.index(language)
    x = found.iteration.astype(np.float64)
    positive = found.norm[np.isfinite(found.norm) & (found.norm > 0)]
    if not len(x):
        return None
    low, high = (float(positive.min()), float(positive.max())) if len(positive) else (1.0, 1.0)
    floor = low / 10.0
    height = np.where(np.isfinite(found.norm), np.maximum(found.norm, floor), np.nan)
    words = {name: both(f"first_cause.{name}")[which] for name in ("x_iteration", "y_norm", "usual", "exploding", "vanishing")}
    left = np.flatnonzero(found.sign != 0)
    bad = np.flatnonzero(found.bad != 0)
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter", "mode": "lines", "x": numbers(x), "y": drawn(found.usual), "hoverinfo": "skip",
            "line": {"color": USUAL, "width": 1.5, "dash": "dot"}, "meta": {"role": "usual"},
        },
        {
            "type": "scatter", "mode": "lines+markers" if len(x) <= 200 else "lines", "x": numbers(x), "y": numbers(height),
            "line": {"color": NORM, "width": 1.5}, "marker": {"size": 5, "color": NORM}, "hoverinfo": "text",
            "hovertext": [_norm_said(found, place, words, which) for place in range(len(x))], "meta": {"role": "norm"},
        },
        {
            "type": "scatter", "mode": "markers", "x": numbers(x[left]), "y": numbers(height[left]), "hoverinfo": "skip",
            "marker": {"size": 11, "color": WRONG, "symbol": "circle-open", "line": {"width": 2}}, "meta": {"role": "left"},
        },
        {
            "type": "scatter", "mode": "markers", "x": numbers(x[bad]), "hoverinfo": "text",
            "y": numbers(np.where(np.isfinite(height[bad]), height[bad], high)),
            "hovertext": [_norm_said(found, place, words, which) for place in bad.tolist()],
            "marker": {"size": 8, "color": WRONG, "symbol": "x"}, "meta": {"role": "bad"},
        },
    ]  # fmt: skip
    exponent = np.log10([floor if np.any(found.norm == 0) else low, high])
    room = max(0.3, 0.06 * (exponent[1] - exponent[0]))
    layout = LAYOUT | {
        "hoverlabel": hover_label(dark=dark),
        "xaxis": {"title": {"text": words["x_iteration"], "standoff": 6}, "zeroline": False, "showgrid": False,
                  **({"dtick": 1} if x.max() - x.min() <= MOST_TICKS else {})},
        "yaxis": {"type": "log", "range": [float(exponent[0] - room), float(exponent[1] + room)], "nticks": 6,
                  "exponentformat": "power", "title": {"text": words["y_norm"], "standoff": 6}, "fixedrange": True},
        "meta": {"name": found.name, "iterations": len(x)},
    }  # fmt: skip
    steps = [step for step in sorted(loss[1]) if x.min() <= step <= x.max()]
    if steps:
        values = np.array([loss[1][step] for step in steps])
        traces.append({
            "type": "scatter", "mode": "lines", "x": numbers(np.array(steps, np.float64)), "y": drawn(values), "yaxis": "y2",
            "line": {"color": LOSS, "width": 1.5}, "hoverinfo": "text", "meta": {"role": "loss"},
            "hovertext": [f"{plain(loss[0])}<br>{fmt.number(value)}" for value in values.tolist()],
        })  # fmt: skip
        layout["yaxis2"] = {"overlaying": "y", "side": "right", "showgrid": False, "zeroline": False, "nticks": 5,
                            "tickmode": "auto", "fixedrange": True,
                            "title": {"text": plain(loss[0]), "standoff": 6}}  # fmt: skip
        layout["margin"] = LAYOUT["margin"] | {"r": 64}
    figure = {"data": traces, "layout": layout}
    names = {role: both(f"first_cause.{key}") for role, key in (("norm", "y_norm"), ("usual", "usual"))} | {"loss": loss[0]}
    title = joined([both("first_cause.norms"), in_both(found.name)])
    marks = [(both("first_cause.said_left"), left.size), (both("first_cause.said_bad"), bad.size)]
    return described_by(figure, title, names, more=marked(marks))


def _norm_said(found: Norms, place: int, words: dict[str, str], which: int) -> str:
    lines = [
        f"{words['x_iteration']} {fmt.count(int(found.iteration[place]))}",
        f"{words['y_norm']} <b>{fmt.number(float(found.norm[place]))}</b>",
    ]
    if np.isfinite(found.usual[place]):
        lines.append(f"{words['usual']} {fmt.number(float(found.usual[place]))}")
    if found.sign[place]:
        lines.append(words["exploding" if found.sign[place] > 0 else "vanishing"])
    if found.bad[place]:
        bad = int(found.bad[place])
        lines.append("NaN / Inf" if bad < 0 else both("first_cause.bad_n", n=fmt.count(bad))[which])
    return "<br>".join(lines)
