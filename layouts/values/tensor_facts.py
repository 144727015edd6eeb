"""Facts about a tensor: its shape and dtype, the part shown, statistics and distribution."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from parsers import HistogramValue
from parsers.analysis import Statistics, Tensor, distribution, statistics
from parsers.errors import FormatError

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described, marked
from layouts.kit.figures.typed_arrays import numbers
from layouts.kit.i18n import Text, both
from layouts.sources import RunSources, ValueSources
from layouts.values.tensor_asks import FoundTensor, ShownTensor, TensorRequest, boxes, chosen, find

_SEE_THROUGH = {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)"}
NOTHING: dict[str, Any] = {
    "data": [], "layout": {**_SEE_THROUGH, "xaxis": {"visible": False}, "yaxis": {"visible": False}},
}  # fmt: skip
"""Placeholder figure."""


def about(source: ValueSources, ask: TensorRequest) -> dict[str, Any]:
    """Return everything but values and statistics.

    problem is the reason if the tensor cannot be shown, refused the reason if the dimension boxes are invalid.
    """
    try:
        shown = find(source, ask)
    except FormatError as error:
        return {"problem": str(error)}
    value = shown.value
    facts = {
        "problem": "", "place": value.place, "step": value.step, "dtype": value.value.dtype, **_kept(value),
        "minus": _kept(shown.minus) | {"step": shown.minus.step} if shown.minus else None,
    }  # fmt: skip
    return facts | part_facts(shown.tensor, ask.dims)


def part_facts(tensor: Tensor, dims: str) -> dict[str, Any]:
    """Return shape, dtype (`kept`) and the part that the dimension boxes select; refused is the reason if they are invalid."""
    facts = {
        "refused": "", "shape": list(tensor.shape), "kept": tensor.dtype.name, "boxes": boxes(dims, tensor.shape), "free": [],
    }  # fmt: skip
    try:
        picked = chosen(dims, tensor)
    except FormatError as error:
        return facts | {"refused": str(error)}
    free = zip(picked.free, picked.ranges, strict=True)
    facts["fixed"] = [0 if isinstance(part, slice) else part for part in picked.index]
    facts["free"] = [{"dim": number, "start": indices.start, "count": len(indices)} for number, indices in free]
    return facts


def _kept(found: FoundTensor) -> dict[str, str]:
    """Return the precision of the stored values; of the path of a .npy file only its name."""
    value = found.value
    return {"stored": value.stored_as, "twin": os.path.basename(value.twin), "note": value.problem}


def summary(source: ValueSources, ask: TensorRequest, *, figure: bool = False) -> dict[str, Any]:
    """Return statistics of the whole tensor as texts, the largest finite magnitude, and a figure of the distribution."""
    try:
        shown = find(source, ask)
    except FormatError as error:
        return {"problem": str(error)}
    found = statistics(shown.tensor)
    largest = max(abs(found.min), abs(found.max))
    facts = {"problem": "", "texts": _texts(found), "bad": found.nan + found.pos_inf + found.neg_inf,
             "largest": largest if np.isfinite(largest) else 0.0}  # fmt: skip
    if figure:
        facts["figure"] = bars(shown.tensor, _colour(source, shown))
    return facts


def _texts(found: Statistics) -> dict[str, list[str]]:
    """Return name -> [rounded text, exact text]."""
    reals = {name: [fmt.number(value), fmt.exact(value)]
             for name, value in (("min", found.min), ("max", found.max), ("mean", found.mean), ("std", found.std))}  # fmt: skip
    counts = {"count": found.count, "zeros": found.zeros, "nan": found.nan, "pos_inf": found.pos_inf, "neg_inf": found.neg_inf}
    return reals | {name: [fmt.count(value), str(value)] for name, value in counts.items()}


def _colour(source: RunSources, shown: ShownTensor) -> str:
    run = shown.value.named.run
    return source.runs.colours().get(run, "#3880c9")


def bars(tensor: Tensor, colour: str) -> dict[str, Any]:
    """Return a histogram of the finite values. assets/kit/elements.css sets the colours of text and grid."""
    found = distribution(tensor)
    axis = {"automargin": True, "fixedrange": False, "ticks": "", "title": {"text": ""}}
    trace = {
        "type": "bar", "x": numbers(found.left + found.width / 2), "y": numbers(found.count), "width": numbers(found.width),
        "customdata": [[fmt.number(low), fmt.number(low + wide), fmt.percent(count / max(found.total, 1))]
                       for low, wide, count in zip(found.left, found.width, found.count, strict=True)],
        "hovertemplate": "%{customdata[0]} … %{customdata[1]}<br><b>%{y:,}</b> · %{customdata[2]}<extra></extra>",
        "marker": {"color": colour, "line": {"width": 0}},
    }  # fmt: skip
    layout = {
        "margin": {"l": 48, "r": 12, "t": 8, "b": 28}, "bargap": 0.04, "showlegend": False,
        **_SEE_THROUGH, "font": {"size": 11},
        "xaxis": {**axis, "zeroline": True, "showgrid": False}, "yaxis": {**axis, "rangemode": "tozero", "tickformat": "~s"},
    }  # fmt: skip
    return described({"data": [trace], "layout": layout}, *_said(found))


def _said(found: HistogramValue) -> tuple[Text | None, ...]:
    """Return the sentences about a distribution: its ends, and the fullest bin."""
    title = both("alternative.values", n=fmt.count(int(found.finite)))
    if not len(found.count):
        return (title,)
    most = int(found.count.argmax())
    low, high = float(found.left[most]), float(found.left[most] + found.width[most])
    ends = both("alternative.bins", low=fmt.number(found.min), high=fmt.number(found.max))
    fullest = both("alternative.fullest", n=fmt.count(int(found.count[most])), low=fmt.number(low), high=fmt.number(high))
    return title, ends, fullest, marked([("NaN", found.nan), ("+Inf", found.pos_inf), ("-Inf", found.neg_inf)])
