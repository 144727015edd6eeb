"""What a window of a trace looks like: each slice at least a bucket long, and what the shorter ones come to in each bucket.

A bucket is 2**k ns, chosen by the caller to be no wider than a pixel. Nothing is left out and nothing is estimated: a view is
what counting every slice would give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace import lanes as numbering
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.pyramid import Pyramid, SliceCells, combine, shares
from parsers.profiler.trace.running import Running

_FAR = 1 << 61
"""ns before and after which nothing is; limits what a request can ask for."""
_WIDEST = 1 << 20
"""Buckets of a view."""
_LANES = 1 << 16
"""Lanes of a view: their numbers are packed into two bytes."""


@dataclass(frozen=True, slots=True)
class TraceView:
    """Slices of lanes in the buckets from `b0` to before `b0 + n`, each of 2**k ns since the origin of the trace."""

    k: int
    b0: int
    n: int
    row: NDArray[np.int64]
    """Slices of 2**k ns or more that run in the window, in order of (lane, start)."""
    lane: NDArray[np.int64]
    """Place of their lane in the lanes asked for."""
    start: NDArray[np.int64]
    """ns."""
    duration: NDArray[np.int64]
    """ns."""
    name: NDArray[np.int64]
    category: NDArray[np.int64]
    small_lane: NDArray[np.int64]
    """Buckets in which shorter slices run, in order of (lane, bucket): the place of the lane."""
    bucket: NDArray[np.int64]
    """Bucket, counted from b0."""
    count: NDArray[np.integer[Any]]
    """Number of shorter slices that start in the bucket; 0 where one only ends."""
    busy: NDArray[np.int64]
    """ns of the bucket during which shorter slices run."""
    longest: NDArray[np.integer[Any]]
    """Row of the longest slice that runs in the bucket, the first of several."""

    def packed(self) -> bytes:
        """The view in bytes, little-endian; each array is filled to a multiple of 4 bytes.

        u32 number of slices, u32 number of buckets, and the bytes of a bucket, of a count and of the lane of a bucket, a byte
        each, then 0; of the slices f32 x and f32 width (in buckets, x from b0), u32 name, u32 row, u16 lane, u8 category (mod
        256); of the buckets bucket, count (each of 1, 2 or 4 bytes, unsigned), u32 longest row, lane (of 1, 2 or 4 bytes), u8
        busy (255: all of it; 1 or more if anything runs). Slices are cut n buckets before and after the window, so that both
        ends are exact to a fraction of a pixel.
        """
        bucket, count, lane = map(_narrow, (self.bucket, self.count, self.small_lane))
        left = np.maximum(self.start - (self.b0 << self.k), -(self.n << self.k))
        right = np.minimum(self.start + self.duration - (self.b0 << self.k), (2 * self.n) << self.k)
        scale = 0.5**self.k
        busy = np.maximum(self.busy * (255 * scale) + 0.5, 1)
        arrays: tuple[tuple[str, NDArray[Any]], ...] = (
            ("<f4", left * scale), ("<f4", (right - left) * scale), ("<u4", self.name), ("<u4", self.row), ("<u2", self.lane),
            ("u1", self.category & 255), (bucket, self.bucket), (count, self.count), ("<u4", self.longest),
            (lane, self.small_lane), ("u1", busy),
        )  # fmt: skip
        sizes = [-(-len(array) * np.dtype(form).itemsize // 4) * 4 for form, array in arrays]
        data = bytearray(12 + sum(sizes))
        np.frombuffer(data, "<u4", 2)[:] = len(self.row), len(self.bucket)
        data[8:11] = (np.dtype(form).itemsize for form in (bucket, count, lane))
        at = 12
        for (form, array), size in zip(arrays, sizes, strict=True):
            np.frombuffer(data, form, len(array), at)[:] = array
            at += size
        return bytes(data)


def _narrow(values: NDArray[np.integer[Any]]) -> str:
    """Return the smallest unsigned type that holds these values."""
    most = int(values.max(initial=0))
    return "u1" if most < 1 << 8 else "<u2" if most < 1 << 16 else "<u4"


def joined(k: int, b0: int, n: int, views: Sequence[TraceView]) -> TraceView:
    """One view of several that have no lane in common."""
    names = [field for field in TraceView.__dataclass_fields__ if field not in ("k", "b0", "n")]
    empty = np.zeros(0, np.int64)
    return TraceView(k, b0, n, *(np.concatenate([empty, *(getattr(one, name) for one in views)]) for name in names))


def view(
    trace: Trace, pyramid: Pyramid | None, lanes: Sequence[int], k: int, b0: int, n: int, *, running: Running | None = None
) -> TraceView:
    """The view of lanes (numbered as by `lanes.numbering`) from bucket `b0` on, `n` buckets of 2**k ns.

    Lanes that are not there are empty. Without a pyramid, all slices of the tracks in the window are looked at; `running`
    saves a pass over all of them. Raises ValueError for k beyond 0..60, n beyond 0..2**20, a window farther than 2**61 ns
    from the origin, or more than 65,536 lanes.
    """
    if not (0 <= k <= 60 and 0 <= n <= _WIDEST and b0 << k >= -_FAR and (b0 + n) << k <= _FAR):
        raise ValueError(f"expected a window of up to 2**20 buckets within 2**61 ns; found k={k}, b0={b0}, n={n}")
    if len(lanes) > _LANES:
        raise ValueError(f"expected up to {_LANES} lanes; found {len(lanes)}")
    chosen = np.asarray(lanes, np.int64)
    t0, t1 = b0 << k, (b0 + n) << k
    if pyramid is None:
        place, row = _scan(trace, running or Running(trace), chosen, t0, t1)
        long = trace.slices.duration[row] >= 1 << k
        big, small = (place[long], row[long]), (place[~long], row[~long])
        cells = _small(trace, *small, k, b0, n)
    else:
        big = pyramid.slices(trace.slices.duration, chosen, np.full(len(chosen), k), 62, t0, t1)
        cells = _summed(trace, pyramid, chosen, k, b0, n)
    order = np.lexsort((big[1], big[0]))
    place, row = big[0][order], big[1][order]
    slices = trace.slices
    return TraceView(
        k, b0, n, row, place, slices.start[row], slices.duration[row], slices.name[row].astype(np.int64),
        slices.category[row].astype(np.int64), *divmod(cells.cell, max(n, 1)), cells.count, cells.busy, cells.row,
    )  # fmt: skip


def _small(trace: Trace, place: NDArray[np.int64], row: NDArray[np.int64], k: int, b0: int, n: int) -> SliceCells:
    """Slices shorter than a bucket in cells: place of the lane * n + bucket from b0."""
    return combine(*_cells(trace, place, row, k, b0, n))


def _cells(
    trace: Trace, place: NDArray[np.int64], row: NDArray[np.int64], k: int, b0: int, n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    duration = trace.slices.duration[row]
    bucket, busy, count, of, which = shares(trace.slices.start[row], duration, row, k)
    bucket -= b0
    seen = np.flatnonzero((bucket >= 0) & (bucket < n))
    which = which[seen]
    return place[which] * n + bucket[seen], busy[seen], count[seen], of[seen], duration[which]


def _summed(trace: Trace, pyramid: Pyramid, chosen: NDArray[np.int64], k: int, b0: int, n: int) -> SliceCells:
    """Slices shorter than a bucket, from the highest level that there is and the slices that it lacks."""
    t0, t1 = b0 << k, (b0 + n) << k
    levels = pyramid.levels(chosen, k)
    height = pyramid.height(levels)
    place, entry = pyramid.entries(np.where(height == k, levels, -1), t0, t1)
    ready = SliceCells(
        place * n + (pyramid.level_bucket[entry] - b0), pyramid.level_busy[entry], pyramid.level_count[entry],
        pyramid.level_row[entry],
    )  # fmt: skip
    lower = np.flatnonzero(height < k)
    place, entry = pyramid.entries(levels[lower], t0, t1)
    row = pyramid.level_row[entry].astype(np.int64)
    bucket = (pyramid.level_bucket[entry] >> (k - height[lower[place]])) - b0
    levelled = (
        lower[place] * n + bucket, pyramid.level_busy[entry], pyramid.level_count[entry].astype(np.int64), row,
        trace.slices.duration[row],
    )  # fmt: skip
    place, row = pyramid.slices(trace.slices.duration, chosen[lower], height[lower], k, t0, t1)
    rest = _cells(trace, lower[place], row, k, b0, n)
    made = combine(*[np.concatenate(pair) for pair in zip(levelled, rest, strict=True)])
    if not len(ready.cell) or not len(made.cell):
        return made if len(made.cell) else ready
    order = np.argsort(cell := np.concatenate([ready.cell, made.cell]), kind="stable")
    return SliceCells(
        cell[order], np.concatenate([ready.busy, made.busy])[order], np.concatenate([ready.count, made.count])[order],
        np.concatenate([ready.row, made.row])[order],
    )  # fmt: skip


def affordable(
    trace: Trace, running: Running, lanes: NDArray[np.int64], k: int, b0: int, n: int, most: int
) -> NDArray[np.bool_]:
    """Which lanes a view without a pyramid can be made of by looking at `most` slices; tracks with few in the window first."""
    numbers = numbering.numbering(trace)
    there = (lanes >= 0) & (lanes < numbers[-1])
    tracks = np.where(there, np.searchsorted(numbers, lanes, "right") - 1, -1)
    wanted = np.unique(tracks[there])
    sizes = np.array([-np.subtract(*running.inside(index, b0 << k, (b0 + n) << k)) for index in wanted.tolist()], np.int64)
    order = np.argsort(sizes, kind="stable")
    chosen = wanted[order[np.cumsum(sizes[order]) <= most]]
    drawn: NDArray[np.bool_] = np.isin(tracks, chosen) | ~there
    return drawn


def _scan(
    trace: Trace, running: Running, chosen: NDArray[np.int64], t0: int, t1: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Slices of lanes that run in a window, found by looking at all slices of their tracks in it."""
    numbers = numbering.numbering(trace)
    places, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    tracks = np.searchsorted(numbers, chosen, "right") - 1
    for index in np.unique(tracks[(chosen >= 0) & (chosen < numbers[-1])]).tolist():
        before = running.at(index, t0)
        first, last = running.inside(index, t0, t1)
        found = np.concatenate([before[before < first], np.arange(first, last)])
        lane = numbers[index] + trace.slices.depth[found]
        for place in np.flatnonzero(tracks == index).tolist():
            of_lane = found[lane == chosen[place]]
            rows.append(of_lane)
            places.append(np.full(len(of_lane), place))
    return np.concatenate(places), np.concatenate(rows)
