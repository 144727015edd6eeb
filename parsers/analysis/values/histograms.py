"""Histograms over steps: resampled to common bins, as quantiles, thinned. The total count is preserved.

A bucket's values are assumed to be spread evenly over its width; those of a zero-width bucket lie at one point.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsers.model import Floats, Ints
from parsers.payloads.values import HistogramValue

BINS = 90
SQUEEZED = 4.0
"""If the limits of all histograms are this many times wider than those of nearly all, the usual ones get too little room."""
_RARE = 20
"""One histogram in this many, and always one, may be an outlier at each end."""
_FEW = 8
_CELLS = 128
_EXTREME = 0.001
"""The share of values at each end that may be extreme."""
LARGEST, EPSILON = float(np.finfo(np.float64).max), float(np.finfo(np.float64).eps)


def common_edges(values: Sequence[HistogramValue], bins: int = BINS) -> Floats:
    """Return the edges of `bins` even bins that hold every bucket of all histograms; around 0 if there are none."""
    lows, highs = _extents(values)
    return even_edges(float(lows.min()), float(highs.max()), bins) if lows.size else even_edges(0.0, 0.0, bins)


def usual_limits(values: Sequence[HistogramValue]) -> tuple[float, float] | None:
    """Return limits that hold nearly all values, if the few others would squeeze these into a corner; else None.

    First histograms as a whole are left out: of the lowest and of the highest ends one in 20 may be an outlier, which is one
    that is farther from the others than these reach. Of those that stay, a value is extreme if it is farther from the middle
    998 of 1,000 values than these reach, all histograms having the same weight.
    """
    of_steps = _usual_steps(values)
    if of_steps is not None:
        low, high = of_steps
        values = [value for value in values if len(value.left) and value.left.min() >= low and _right(value) <= high]
    return _usual_values(values) or of_steps


def _usual_values(values: Sequence[HistogramValue]) -> tuple[float, float] | None:
    if _spread_out(values):
        return None
    everything = pooled(values)
    if not len(everything.left):
        return None
    low, high = (float(end) for end in quantiles(everything, (_EXTREME, 1.0 - _EXTREME)))
    first, last = float(everything.left.min()), _right(everything)
    reach = (high / 2 - low / 2) * 2
    if not 0 < reach < LARGEST / (SQUEEZED + 2):
        return None
    low, high = max(first, low - reach), min(last, high + reach)
    return (low, high) if last / 2 - first / 2 > SQUEEZED * (high / 2 - low / 2) else None


@np.errstate(over="ignore", invalid="ignore")
def _spread_out(values: Sequence[HistogramValue]) -> bool:
    """Return whether the values that are not extreme take so much room that no other limits come into question.

    This counts whole buckets in coarse cells, which takes a tenth of the time of `pooled`.
    """
    held = [value for value in values if len(value.left)]
    if not held:
        return True
    left = np.concatenate([value.left for value in held])
    width = np.concatenate([value.width for value in held])
    count = np.concatenate([value.count / max(float(value.count.sum()), 1e-300) for value in held])
    low, high = float(left.min()), float(np.minimum(left + width, LARGEST).max())
    if not 0 < high - low < LARGEST:
        return False
    cell = ((left - low + width / 2) * (_CELLS / (high - low))).clip(0, _CELLS - 1).astype(np.int64)
    upto = np.cumsum(np.bincount(cell, count, _CELLS))
    first, last = np.searchsorted(upto, (_EXTREME * upto[-1], (1 - _EXTREME) * upto[-1]))
    return bool((last - first - 1) * (SQUEEZED * 3) >= _CELLS)


@np.errstate(over="ignore")
def _right(value: HistogramValue) -> float:
    return float(np.minimum(value.left + value.width, LARGEST).max())


@np.errstate(over="ignore")
def pooled(values: Sequence[HistogramValue]) -> HistogramValue:
    """Return all histograms as one whose buckets do not overlap, each with the same weight; only its buckets are set.

    Between two limits of buckets the density is the sum of those that reach over it, in extended precision.
    """
    held = [value for value in values if value.count.sum() > 0]
    nothing, nan = np.zeros(0), float("nan")
    left = np.concatenate([nothing, *(value.left for value in held)])
    width = np.concatenate([nothing, *(value.width for value in held)])
    count = np.concatenate([nothing, *(value.count / value.count.sum() for value in held)])
    wide = width > 0
    ends = np.concatenate([left[wide], np.minimum(left[wide] + width[wide], LARGEST)])
    slope = (count[wide] / width[wide]).astype(np.longdouble)
    order = np.argsort(ends, kind="stable")
    ends, density = ends[order], np.cumsum(np.concatenate([slope, -slope])[order])
    reach = np.diff(ends)
    part = np.maximum(density[:-1] * reach, 0.0).astype(np.float64)
    kept = (reach > 0) & (part > 0) & np.isfinite(part)
    return HistogramValue(
        np.concatenate([ends[:-1][kept], left[~wide]]), np.concatenate([reach[kept], width[~wide]]),
        np.concatenate([part[kept], count[~wide]]), nan, nan, nan, len(held),
    )  # fmt: skip


def _usual_steps(values: Sequence[HistogramValue]) -> tuple[float, float] | None:
    lows, highs = _extents(values)
    if lows.size < _FEW:
        return None
    rare = max(1, lows.size // _RARE)
    low, high = float(np.sort(lows)[rare]), float(np.sort(highs)[-1 - rare])
    reach = (high / 2 - low / 2) * 2
    if not 0 < reach < LARGEST / (SQUEEZED + 2):
        return None
    low, high = float(lows[lows >= low - reach].min()), float(highs[highs <= high + reach].max())
    squeezed = highs.max() / 2 - lows.min() / 2 > SQUEEZED * (high / 2 - low / 2)
    return (low, high) if squeezed else None


def _extents(values: Sequence[HistogramValue]) -> tuple[Floats, Floats]:
    """Return the lowest and the highest end of each histogram that has buckets."""
    held = [value for value in values if len(value.left)]
    lows = np.array([value.left.min() for value in held], np.float64)
    return lows, np.array([(value.left + value.width).max() for value in held], np.float64)


def even_edges(low: float, high: float, bins: int = BINS) -> Floats:
    """Return edges of even bins between two finite limits; limits too close to separate are widened."""
    largest = max(abs(low), abs(high))
    if high / 2 - low / 2 <= bins * largest * EPSILON:
        room = max(0.5, largest * 1e-6)  # half of a large number would be rounded away
        low, high = max(low - room, -LARGEST), min(high + room, LARGEST)
    edges = np.linspace(low / 2, high / 2, bins + 1) * 2  # the difference of the limits may be beyond float64
    edges[0], edges[-1] = low, high
    return edges


def resample(values: Sequence[HistogramValue], edges: ArrayLike) -> Floats:
    """Resample histograms to the bins between the edges: counts of shape (len(values), len(edges) - 1).

    With edges that hold all buckets, such as `common_edges`, a row's sum is the histogram's count. What lies outside is left
    out. Bins contain their left edge, the last one its right edge too.
    """
    limits = np.asarray(edges, np.float64)
    counts = np.zeros((len(values), len(limits) - 1))
    for row, value in zip(counts, values, strict=True):
        row += _resampled(value, limits)
    return counts


@np.errstate(over="ignore")  # a limit as far as float64 goes is beyond the bucket all the same
def _resampled(value: HistogramValue, edges: Floats) -> Floats:
    wide = value.width > 0
    left, width, count = value.left[wide], value.width[wide], value.count[wide]
    held = count > 0
    left, width, count = left[held], width[held], count[held]
    points, weights = value.left[~wide], value.count[~wide]
    below = np.clip((edges[:, None] - left) / width, 0.0, 1.0)
    below[edges[:, None] >= left + width] = 1.0
    counts: Floats = np.diff(below, axis=0) @ count
    inside = (points >= edges[0]) & (points <= edges[-1])
    bins = np.minimum(np.searchsorted(edges, points[inside], side="right") - 1, len(counts) - 1)
    return counts + np.bincount(bins, weights[inside], len(counts))


@np.errstate(over="ignore")
def beyond(values: Sequence[HistogramValue], low: float, high: float) -> Floats:
    """Return the number of values of each histogram below and above two limits, shape (len(values), 2).

    Together with the counts of `resample` between the limits they add up to the histogram's count.
    """
    counts = np.zeros((len(values), 2))
    for row, value in zip(counts, values, strict=True):
        left, right, count = value.left, value.left + value.width, value.count
        wide = value.width > 0
        share = np.where(wide, np.clip((low - left) / np.where(wide, value.width, 1.0), 0.0, 1.0), left < low)
        row[0] = (np.where(wide & (right <= low), 1.0, share) * count).sum()
        share = np.where(wide, np.clip((right - high) / np.where(wide, value.width, 1.0), 0.0, 1.0), left > high)
        row[1] = (np.where(wide & (left >= high), 1.0, share) * count).sum()
    return counts


def quantiles(value: HistogramValue, fractions: ArrayLike) -> Floats:
    """Return the values below which these fractions (0 to 1) of the finite values lie; NaN if there are none."""
    wanted = np.asarray(fractions, np.float64)
    order = np.argsort(value.left, kind="stable")
    order = order[value.count[order] > 0]
    if not len(order):
        return np.full(wanted.shape, np.nan)
    left, width, count = value.left[order], value.width[order], value.count[order]
    upto = np.cumsum(count)
    target = wanted * upto[-1]
    at = np.minimum(np.searchsorted(upto, target), len(upto) - 1)
    share = np.clip((target - (upto[at] - count[at])) / count[at], 0.0, 1.0)
    found: Floats = left[at] + share * width[at]
    return found.clip(value.min, value.max) if value.min <= value.max else found


def bands(values: Sequence[HistogramValue], fractions: ArrayLike) -> Floats:
    """Return quantiles of each histogram, shape (len(values), len(fractions)); a row of NaN without finite values."""
    wanted = np.asarray(fractions, np.float64)
    rows: NDArray[np.float64] = np.array([quantiles(value, wanted) for value in values])
    return rows.reshape(len(values), len(wanted))


def thinned(count: int, most: int) -> Ints:
    """Return at most `most` (2 or more) evenly spread indices below `count`, including the first and the last."""
    if count <= most:
        return np.arange(count)
    return np.round(np.linspace(0, count - 1, most)).astype(np.int64)
