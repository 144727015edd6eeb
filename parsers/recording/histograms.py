"""Counts values into equal buckets, exactly as `numpy.histogram` does, in less time, and encodes them for both layouts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .values import CountedHistogram, array_of
from .wire import delimited, float64, number

_TENSORBOARD_BUCKETS = 30
_SAFE = 1e-6
"""A place within this share of a bucket from its edge is compared with the edge itself."""
_BLOCK = 1 << 14
"""Values that are counted at once: their intermediate results stay in the cache of a processor."""


class Distribution(NamedTuple):
    """Finite values in buckets, and what they are beside that.

    counts has shape (n,), edges (n + 1,); low and high are the least and greatest finite value, 0 without any.
    """

    counts: NDArray[np.int64]
    edges: NDArray[np.float64]
    low: float
    high: float
    total: float
    squares: float
    finite: int
    nan: int
    above: int
    below: int


def distribution(values: ArrayLike, buckets: int | None = None) -> Distribution:
    """Return the distribution of an array of any shape; buckets is by default the number that MindSpore takes."""
    flat = np.ravel(array_of(values))
    flat = flat.astype(np.float64, copy=False) if flat.dtype != np.float32 else flat
    nan = above = below = 0
    low, high = (flat.min(), flat.max()) if flat.size else (0.0, 0.0)
    if not (np.isfinite(low) and np.isfinite(high)):
        nan, above, below = (int(kind.sum()) for kind in (np.isnan(flat), np.isposinf(flat), np.isneginf(flat)))
        flat = flat[np.isfinite(flat)]
        low, high = (flat.min(), flat.max()) if flat.size else (0.0, 0.0)
    wanted = bin_count(flat.size) if buckets is None else buckets
    counts, edges = _counted(flat, float(low), float(high), wanted)
    with np.errstate(over="ignore"):
        total = float(flat.sum(dtype=np.float64))
        squares = float(np.square(flat, dtype=np.float64).sum()) if flat.size else 0.0
    return Distribution(counts, edges, float(low), float(high), total, squares, flat.size, nan, above, below)


def bin_count(count: int) -> int:
    """Return the number of buckets MindSpore gives a histogram of this many values."""
    for limit, bins in ((0, 1), (5, 2), (10, 3)):
        if count <= limit:
            return bins
    return count // 10 + 1 if count <= 880 else 90


def _counted(flat: NDArray[Any], low: float, high: float, buckets: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return counts and edges: no bucket for no values, one if float64 has no room for more between the limits."""
    if not flat.size:
        return np.empty(0, np.int64), np.empty(1)
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, buckets + 1)
    width = high - low
    if not np.isfinite(width) or np.any(edges[:-1] >= edges[1:]):
        return np.array([flat.size]), np.array([low, high])
    counts = np.zeros(buckets, np.int64)
    for begin in range(0, flat.size, _BLOCK):
        counts += _counts_of(flat[begin : begin + _BLOCK].astype(np.float64), edges, buckets / width)
    return counts, edges


def _counts_of(values: NDArray[np.float64], edges: NDArray[np.float64], scale: float) -> NDArray[np.int64]:
    """Count values between edges; scale is the number of buckets per unit."""
    buckets = len(edges) - 1
    places = values - edges[0]
    places *= scale
    index = places.astype(np.int32)
    places -= index
    places -= 0.5
    near = np.flatnonzero(np.abs(places, out=places) > 0.5 - _SAFE)
    if near.size:  # rounding may have moved these over an edge
        index[near] = np.minimum(np.searchsorted(edges, values[near], side="right") - 1, buckets - 1)
    return np.bincount(index, minlength=buckets)


def mindspore_histogram(values: ArrayLike) -> bytes:
    """Encode `Summary.Histogram` of MindSpore's summary.proto."""
    found = distribution(values)
    buckets = b"".join(
        delimited(1, float64(1, left) + float64(2, right - left) + number(3, count))
        for left, right, count in zip(found.edges[:-1].tolist(), found.edges[1:].tolist(), found.counts.tolist())
    )
    apart = number(2, found.nan) + number(3, found.above) + number(4, found.below)
    whole = found.finite + found.nan + found.above + found.below
    return buckets + apart + float64(5, found.high) + float64(6, found.low) + float64(7, found.total) + number(8, whole)


def mindspore_counted(histogram: CountedHistogram) -> bytes:
    """Encode counts as `Summary.Histogram` of MindSpore's summary.proto; the first bucket begins at the least value."""
    limits = np.asarray(histogram.limits, np.float64).tolist()
    counts = np.asarray(histogram.counts, np.float64).tolist()
    left = min([histogram.low, *limits[:1]])
    buckets = b""
    for right, count in zip(limits, counts):
        buckets += delimited(1, float64(1, left) + float64(2, right - left) + number(3, round(count)))
        left = right
    moments = float64(5, histogram.high) + float64(6, histogram.low) + float64(7, histogram.total)
    return buckets + moments + number(8, round(histogram.number))


def tensorboard_counted(histogram: CountedHistogram) -> bytes:
    """Encode counts as `HistogramProto` of TensorFlow's summary.proto."""
    moments = (histogram.low, histogram.high, histogram.number, histogram.total, histogram.squares)
    fields = b"".join(float64(place, float(value)) for place, value in enumerate(moments, 1))
    limits, counts = (np.asarray(part, "<f8").tobytes() for part in (histogram.limits, histogram.counts))
    return fields + delimited(6, limits) + delimited(7, counts)


def tensorboard_histogram(values: ArrayLike) -> bytes:
    """Encode `HistogramProto` of TensorFlow's summary.proto: limits are the right edges; NaN and Inf are left out."""
    found = distribution(values, _TENSORBOARD_BUCKETS)
    moments = (found.low, found.high, float(found.finite), found.total, found.squares)
    fields = b"".join(float64(place, value) for place, value in enumerate(moments, 1))
    return fields + delimited(6, found.edges[1:].astype("<f8").tobytes()) + delimited(7, found.counts.astype("<f8").tobytes())
