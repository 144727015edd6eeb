"""Scales for an axis of values that span decades or crowd together: symmetric logarithm, and quantiles of all values.

A scale has edges of bins and the places at which they are drawn: a value between two edges lies between their places. Bins are
even in places, so that each of them gets the same room.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsers.analysis.values.histograms import BINS, beyond, even_edges, pooled, quantiles
from parsers.model import Floats
from parsers.payloads.values import HistogramValue

LINEAR, SYMLOG, QUANTILE = "linear", "symlog", "quantile"
SCALES = (LINEAR, SYMLOG, QUANTILE)
_MOST_TICKS = 9
_SHARES = 30
"""Bins of a quantile scale: with more, few values would be stripes."""


@dataclass(frozen=True, slots=True)
class ValueScale:
    """Edges of bins (ascending values), the places where they are drawn, and values to write at the axis, the best first.

    A quantile scale has several edges at a value that many are equal to; the last of these bins holds them.
    """

    kind: str
    edges: Floats
    places: Floats
    ticks: Floats

    def place(self, values: Floats) -> Floats:
        """Return where values are drawn; NaN for those outside of the edges."""
        if self.kind == LINEAR:
            return values
        found: Floats = np.interp(values, self.edges, self.places, left=np.nan, right=np.nan)
        return found


def linear(edges: Floats) -> ValueScale:
    """Return the scale on which values are their own places."""
    return ValueScale(LINEAR, edges, edges, np.zeros(0))


def scaled(kind: str, values: Sequence[HistogramValue], low: float, high: float, bins: int = BINS) -> ValueScale:
    """Return a scale of a kind from one value to a higher one.

    Symmetric logarithm: sign(v) log10(1 + |v| / c), where c is the power of ten below the first quartile of |v|, so that it is
    linear around 0. Quantiles: the place of a value is the share of values below it in percent, with the same weight for each
    histogram.
    """
    if kind == SYMLOG:
        return _symlog(_nearest(values), low, high, bins)
    if kind == QUANTILE:
        return _quantile(values, low, high, min(bins, _SHARES))
    return linear(even_edges(low, high, bins))


def _symlog(near: float, low: float, high: float, bins: int) -> ValueScale:
    ends = _bent(even_edges(low, high, 1), near)
    places = np.linspace(ends[0], ends[1], bins + 1)
    edges = np.sign(places) * near * np.expm1(np.abs(places) * math.log(10.0))
    edges[0], edges[-1] = even_edges(low, high, 1)
    return ValueScale(SYMLOG, np.maximum.accumulate(edges), places, _decades(near, float(edges[0]), float(edges[-1])))


def _bent(values: Floats, near: float) -> Floats:
    bent: Floats = np.sign(values) * np.log1p(np.abs(values) / near) / math.log(10.0)
    return bent


def _nearest(values: Sequence[HistogramValue]) -> float:
    """Return the power of ten below the first quartile of the absolute values; 1 if all are 0."""
    everything = pooled(values)
    left, right = everything.left, everything.left + everything.width
    crossing = (left < 0) & (right > 0)
    least = np.where(crossing, 0.0, np.minimum(np.abs(left), np.abs(right)))
    most = np.maximum(np.abs(left), np.abs(right))
    held = most > 0
    if not held.any():
        return 1.0
    away = HistogramValue(least[held], (most - least)[held], everything.count[held], math.nan, math.nan, math.nan, 0)
    quartile = float(quantiles(away, [0.25])[0])
    smallest = max(quartile, float(most.max()) * 1e-12, 1e-300)
    return float(10.0 ** math.floor(math.log10(smallest)))


def _decades(near: float, low: float, high: float) -> Floats:
    """Return 0 and powers of ten between the limits, as many as fit."""
    largest = max(abs(low), abs(high))
    if not largest > near:
        return np.array([value for value in (0.0, high, low) if low <= value <= high])
    count = math.ceil(math.log10(largest / near)) + 1
    sides = (low < 0) + (high > 0)
    stride = max(1, math.ceil(count * sides / (_MOST_TICKS - 1)))
    powers = [near * 10.0**number for number in range(0, count, stride)]
    every = [0.0, *(end for power in reversed(powers) for end in (power, -power))]
    return np.array([value for value in every if low <= value <= high])


def _quantile(values: Sequence[HistogramValue], low: float, high: float, bins: int) -> ValueScale:
    everything = pooled(values)
    total = float(everything.count.sum())
    if not total:
        return linear(even_edges(low, high, bins))
    below, above = beyond([everything], low, high)[0] / total
    fractions = np.linspace(below, 1.0 - above, bins + 1)
    edges = np.clip(quantiles(everything, fractions), low, high)
    edges[0], edges[-1] = low, high
    ticks = edges[(np.array([0.0, 1.0, 0.5, 0.25, 0.75]) * bins).round().astype(int)]
    return ValueScale(QUANTILE, np.maximum.accumulate(edges), fractions * 100.0, ticks)
