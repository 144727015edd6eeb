"""Reduces a long curve to what a view of it shows, by the ends of its blocks: exactly what `reduce_points` returns, at the cost
of what is shown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.curves.blocks import BLOCK, CurveBlocks, ranges
from parsers.analysis.curves.heights import Heights
from parsers.analysis.curves.places import Places
from parsers.analysis.curves.reduction import (
    PER_COLUMN,
    VISITS,
    NonFinite,
    Reduced,
    Window,
    columns_of,
    edges_of,
    non_finite_runs,
    runs_at,
    survivors,
)
from parsers.analysis.curves.segments import merged
from parsers.model import Floats, Ints

# Fewer points than this per group are looked at one by one.
_BY_POINT = 2 * BLOCK
# More places than this where x falls are not bisected one by one.
_MOST_FALLS = 64
_NONE: Ints = np.empty(0, np.int64)


def bad_runs(x: Places, value: Floats, blocks: CurveBlocks, *, columns: int, window: Window | None = None) -> NonFinite:
    """Return every non-finite point inside the window as runs, see `non_finite_runs`, which returns the same."""
    at = blocks.bad()
    falls = x.falls()
    low, high = window or x.ends
    if window is None:
        inside = x.size
    elif falls.size > _MOST_FALLS:
        return non_finite_runs(np.asarray(x), value, columns=columns, window=window)
    else:
        starts, stops = np.append(0, falls), np.append(falls, x.size)
        first = x.reaching(starts, stops, lambda place: place >= low)
        inside = int((x.reaching(starts, stops, lambda place: place > high) - first).sum())
    return runs_at(at, x[at], value[at], columns=columns, window=(low, high), exact=inside <= PER_COLUMN * columns)


class _ViewPart(NamedTuple):
    """The finite points of a window and their neighbours: ranges [first, stop) that begin and end with a finite point.

    inside: how many of them the window holds. rising: whether x rises from each finite point of the curve to the next.
    """

    first: Ints
    stop: Ints
    inside: int
    rising: bool


def reduce_view(
    x: Places, *heights: Heights, columns: int, window: Window | None = None, axis: Window | None = None, breaks: Ints = _NONE
) -> Reduced | None:
    """Select the points that a plot of one or more curves needs. `reduce_points` selects the same for each of them.

    The curves have the same x and the same values that are not finite: one curve, smoothed and as recorded. None if the blocks
    are of no help, because x falls too often.
    """
    y = heights[0]
    falls = x.falls()
    if falls.size > _MOST_FALLS:
        return None
    blocks = y.recorded
    starts, stops = np.append(0, falls), np.append(falls, x.size)
    rising = not falls.size
    if not rising:
        after, before = blocks.after(falls), blocks.before(falls - 1)
        there = (after < x.size) & (before >= 0)
        if not bool((x[after[there]] < x[before[there]]).any()):
            return None  # only points that are not drawn go back
    part = _part(x, blocks, window, starts, stops, rising)
    if not part.first.size:
        return Reduced(_NONE, True, True, part.inside)
    if part.inside <= PER_COLUMN * columns:
        return Reduced(_finite(blocks, part), True, True, part.inside)
    if window is None:
        ends = x[np.array([part.first[0], part.stop[-1] - 1])] if rising else _ends(x, y, part)
        window = (float(ends[0]), float(ends[1]))
    axis = axis or window
    groups = _rising_groups(x, blocks, axis, columns, part) if rising else _groups(x, blocks, axis, columns, part, falls)
    if groups is None:
        return None
    begun = blocks.after(breaks)
    # Every part is a group of its own, so that a break in what is left out interrupts nothing more.
    first = merged(groups, begun[_within(begun, part)], part.first)
    stop = np.append(first[1:], part.stop[-1])
    # A group ends where its part does.
    stop = np.minimum(stop, part.stop[np.searchsorted(part.first, first, "right") - 1])
    kept = [_survivors(y, first, stop) for y in heights]
    return Reduced(kept[0] if len(kept) == 1 else merged(*kept), False, True, part.inside)


def _part(x: Places, blocks: CurveBlocks, window: Window | None, starts: Ints, stops: Ints, rising: bool) -> _ViewPart:
    size = x.size
    every = blocks.after(np.zeros(1, np.int64))
    if int(every[0]) == size:
        return _ViewPart(_NONE, _NONE, 0, rising)
    last = blocks.before(np.array([size - 1]))
    if window is None:
        inside = int(blocks.finite(np.zeros(1, np.int64), np.array([size]))[0])
        return _ViewPart(every, last + 1, inside, rising)
    low = x.reaching(starts, stops, lambda at: at >= window[0])
    high = x.reaching(starts, stops, lambda at: at > window[1])
    high = np.maximum(low, high)
    count = blocks.finite(low, high)
    inside = int(count.sum())
    if rising:
        # Also if the window holds no point, so that a line crosses it.
        first = np.where(low > 0, blocks.before(np.maximum(low - 1, 0)), -1)
        first = np.maximum(first, every)
        # The point after the window, or the last one.
        stop = np.minimum(blocks.after(high), last) + 1
        return _ViewPart(first, stop, inside, rising)
    low, high = low[count > 0], high[count > 0]
    first, end = blocks.after(low), blocks.before(high - 1)
    first = np.where(first > 0, blocks.before(np.maximum(first - 1, 0)), -1)
    first = np.maximum(first, every)
    end = np.minimum(blocks.after(np.minimum(end + 1, size)), last)
    # Parts that overlap are one.
    fresh = np.ones(first.size, bool)
    fresh[1:] = end[:-1] < first[1:]
    at = np.flatnonzero(fresh)
    return _ViewPart(first[at], end[np.append(at[1:] - 1, first.size - 1)] + 1 if at.size else _NONE, inside, rising)


def _finite(blocks: CurveBlocks, part: _ViewPart) -> Ints:
    """Return the finite points of a part."""
    found = ranges(part.first, part.stop)
    if blocks.whole:
        return found
    run = np.searchsorted(blocks.first, found, "right") - 1
    return found[(run < 0) | (found >= blocks.stop[run])]


def _ends(x: Places, y: Heights, part: _ViewPart) -> tuple[float, float]:
    """Return the least and greatest x of the finite points, where x falls."""
    at = _finite(y.recorded, part)
    placed = x[at]
    return float(placed.min()), float(placed.max())


def _rising_groups(x: Places, blocks: CurveBlocks, window: Window, columns: int, part: _ViewPart) -> Ints:
    """Return the first finite point of each pixel column, if x rises."""
    edges = edges_of(window, columns)
    first, stop = np.broadcast_to(part.first, edges.shape), np.broadcast_to(part.stop, edges.shape)
    found = x.reaching(first, stop, lambda at: at >= edges)
    return blocks.after(found[found < part.stop[0]])


def _groups(x: Places, blocks: CurveBlocks, window: Window, columns: int, part: _ViewPart, falls: Ints) -> Ints | None:
    """Return the finite points that are in another pixel column than the finite point before; None if they are too many to be
    drawn as a line.
    """
    # Ranges in which x rises, within the parts.
    cut = merged(part.first, falls[_within(falls, part)])
    stop = np.minimum(np.append(cut[1:], part.stop[-1]), part.stop[np.searchsorted(part.first, cut, "right") - 1])
    lowest = columns_of(x[cut], window, columns).astype(np.int64)
    highest = columns_of(x[stop - 1], window, columns).astype(np.int64)
    # The columns that each range enters after its first one.
    entered = ranges(lowest + 1, highest + 1)
    which = np.repeat(np.arange(cut.size), highest - lowest)
    found = x.reaching(cut[which], stop[which], lambda at: columns_of(at, window, columns) >= entered)
    at = merged(blocks.after(found), blocks.after(cut))
    at = at[_within(at, part)]
    before = _before(blocks, at, part)
    at, before = at[before >= 0], before[before >= 0]
    changed = columns_of(x[at], window, columns) != columns_of(x[before], window, columns)
    groups: Ints = at[changed]
    return None if groups.size > VISITS * columns else groups


def _within(at: Ints, part: _ViewPart) -> NDArray[np.bool_]:
    """Return which indices lie in one of the parts."""
    place = np.searchsorted(part.first, at, "right") - 1
    found: NDArray[np.bool_] = (place >= 0) & (at < part.stop[np.maximum(place, 0)])
    return found


def _before(blocks: CurveBlocks, at: Ints, part: _ViewPart) -> Ints:
    """Return the finite point of the parts before each of them, -1 for the first one."""
    place = np.searchsorted(part.first, at, "right") - 1
    begins = at == part.first[place]
    earlier = np.where(place > 0, part.stop[np.maximum(place - 1, 0)] - 1, -1)
    return np.where(begins, earlier, blocks.before(np.maximum(at - 1, 0)))


def _survivors(y: Heights, first: Ints, stop: Ints) -> Ints:
    """Return the first, last, lowest and highest finite point of each group [first, stop), which begins with a finite one."""
    if int((stop - first).sum()) <= _BY_POINT * first.size:
        return _by_point(y, first, stop)
    blocks = y.blocks
    last = blocks.before(stop - 1)
    edges = merged(first // BLOCK, (stop - 1) // BLOCK)
    rows = y.rows(edges).reshape(-1)
    finite = None if blocks.whole else np.isfinite(rows)
    low, high = (
        _lowest(blocks, first, stop, edges, rows if finite is None else np.where(finite, rows, sign * np.inf), sign)
        for sign in (1.0, -1.0)
    )
    number = merged(low.number, high.number)
    values = y.rows(number).reshape(-1)
    return merged(first, last, low.found(number, values), high.found(number, values))


def _by_point(y: Heights, first: Ints, stop: Ints) -> Ints:
    begin, end = int(first[0]), int(stop[-1])
    if first.size == 1 or bool((first[1:] == stop[:-1]).all()):
        at, value, start = None, y.between(begin, end), first - begin
    else:
        at = ranges(first, stop)
        value, start = y.at(at), np.cumsum(stop - first) - (stop - first)
    if y.recorded.whole:
        found = survivors(value, start)
    else:
        finite = np.flatnonzero(np.isfinite(value))
        found = finite[survivors(value[finite], np.searchsorted(finite, start))]
    return found + begin if at is None else at[found]


class _Lowest(NamedTuple):
    """The lowest value of each group, the block in which it is first found, and the range of this block to look at."""

    value: Floats
    number: Ints
    begin: Ints
    end: Ints

    def found(self, number: Ints, values: Floats) -> Ints:
        """Return the index of each, given the values of some blocks one after the other."""
        offset = np.searchsorted(number, self.number) * BLOCK
        return _first_equal(values, offset + self.begin, offset + self.end, self.value) + self.number * BLOCK - offset


def _lowest(blocks: CurveBlocks, first: Ints, stop: Ints, edges: Ints, rows: Floats, sign: float) -> _Lowest:
    """Return the lowest points of groups [first, stop); the highest ones if sign is -1.

    edges are the blocks in which groups begin or end, rows the values of these blocks, infinite where they are not finite.
    """
    best = np.minimum if sign > 0.0 else np.maximum
    ends = blocks.low if sign > 0.0 else blocks.high
    none = sign * np.inf
    head, tail = first // BLOCK, (stop - 1) // BLOCK
    head_at, tail_at = np.searchsorted(edges, head) * BLOCK, np.searchsorted(edges, tail) * BLOCK
    in_head = _reduced(best, rows, head_at + first - head * BLOCK, head_at + np.minimum(stop - head * BLOCK, BLOCK), none)
    in_tail = _reduced(best, rows, tail_at, np.where(tail > head, tail_at + stop - tail * BLOCK, tail_at), none)
    between = _reduced(best, ends, np.minimum(head + 1, tail), tail, none)
    lowest = best(best(in_head, in_tail), between)
    # The first point that is as low: at the head, in a block between, at the tail.
    number, begin, end = head.copy(), first - head * BLOCK, np.minimum(stop - head * BLOCK, BLOCK)
    later = np.flatnonzero(in_head != lowest)
    number[later], begin[later], end[later] = tail[later], 0, (stop - tail * BLOCK)[later]
    middle = later[between[later] == lowest[later]]
    number[middle], end[middle] = _first_equal(ends, head[middle] + 1, tail[middle], lowest[middle]), BLOCK
    return _Lowest(lowest, number, begin, end)


def _reduced(best: np.ufunc, values: Floats, first: Ints, stop: Ints, none: float) -> Floats:
    """Return the best value of each range [first, stop), none for an empty one. Ranges ascend and do not overlap."""
    found = np.full(first.size, none)
    there = np.flatnonzero(stop > first)
    if there.size:
        pairs = np.stack((first[there], stop[there]), axis=1).reshape(-1)
        # reduceat takes no index after the last value; it goes on to the end anyway.
        pairs = pairs[:-1] if pairs[-1] == values.size else pairs
        found[there] = best.reduceat(values, pairs)[::2]
    return found


def _first_equal(values: Floats, first: Ints, stop: Ints, wanted: Floats) -> Ints:
    """Return the first index of each range [first, stop) whose value is the wanted one. Every range has one."""
    at = ranges(first, stop)
    hits = np.flatnonzero(values[at] == np.repeat(wanted, stop - first))
    begin = np.cumsum(stop - first) - (stop - first)
    found: Ints = at[hits[np.searchsorted(hits, begin)]]
    return found
