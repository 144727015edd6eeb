"""Lanes of a track: which slices lie one above the other, and how long each of them runs itself.

A lane never holds two slices at one moment. Where slices nest, the lane is the depth: the number of slices around a slice.
Slices that begin within another one and end after it (Python's profiler and waiting device streams write such) are not cut
and not dropped: they get the lowest free lane above the innermost slice that contains them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.coverage import covers

_ROWS = 1 << 20
"""Tracks are worked on together until they have so many rows, which bounds the memory."""
_SPAN = 1 << 62
"""Times of tracks that are worked on together are laid one after the other, and the last must stay below this."""
_BLOCK = 64
"""Lanes whose earliest end is kept together, so that looking for a free one among 100,000 stays quick."""


def assign(
    track: NDArray[np.int32], start: NDArray[np.int64], duration: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The columns `depth` and `self` (ns) of `Slices`, for rows in its order: (track, start, longest first).

    A slice of 0 ns takes its lane for 1 ns. Within a slice is all that begins and ends in it, also what lies in another one
    that overlaps it. What several slices within one cover together is subtracted once, so that `self` is never negative.
    """
    depth, own = np.zeros(len(start), np.int32), duration.astype(np.int64)
    for rows, times in _together(track, start, duration):
        _assign(times, duration[rows], depth[rows], own[rows])
    return depth, own


def parents(
    track: NDArray[np.int32], start: NDArray[np.int64], duration: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The innermost slice around each slice (-1 for none), and the own time of each (ns); rows as for `assign`."""
    depth, own = np.zeros(len(start), np.int32), duration.astype(np.int64)
    around = np.full(len(start), -1, np.int32)
    for rows, times in _together(track, start, duration):
        found = _assign(times, duration[rows], depth[rows], own[rows])
        around[rows] = np.where(found < 0, -1, found + rows.start)
    return around, own


def _together(
    track: NDArray[np.int32], start: NDArray[np.int64], duration: NDArray[np.int64]
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Yield rows that are worked on together, and their times if each track began when the one before it ends."""
    if not len(start):
        return
    firsts = np.flatnonzero(np.diff(track, prepend=track[0] - 1))
    bounds = np.append(firsts, len(start))
    lowest = start[firsts]
    spans = np.maximum.reduceat(start + np.maximum(duration, 1), firsts) - lowest
    group = 0
    while group < len(firsts):
        last, laid = group, 0
        shifts = []
        while last < len(firsts) and (
            last == group or (bounds[last + 1] - bounds[group] <= _ROWS and laid + int(spans[last]) < _SPAN)
        ):
            shifts.append(laid)
            laid += int(spans[last])
            last += 1
        rows = slice(int(bounds[group]), int(bounds[last]))
        if last == group + 1:
            for piece in _pieces(start[rows], duration[rows], rows.start):
                yield piece, start[piece]
        else:
            shift = np.array(shifts, np.int64) - lowest[group:last]
            yield rows, start[rows] + np.repeat(shift, np.diff(bounds[group : last + 1]))
        group = last


def _pieces(start: NDArray[np.int64], duration: NDArray[np.int64], offset: int) -> Iterator[slice]:
    """Yield the rows of one track (from `offset` on) in pieces of about _ROWS, divided where nothing runs."""
    first, count = 0, len(start)
    while first < count:
        size = _ROWS
        while first + size < count:
            ends = np.maximum.accumulate(start[first : first + size] + np.maximum(duration[first : first + size], 1))
            free = np.flatnonzero(start[first + 1 : first + size + 1] >= ends)
            if len(free):
                size = int(free[-1]) + 1
                break
            size *= 2
        yield slice(offset + first, offset + min(first + size, count))
        first += size


def numbering(trace: Trace) -> NDArray[np.int64]:
    """Number of the first lane of each track, and of all lanes last; lanes are (track, depth) in order. Length: tracks + 1."""
    counts = np.zeros(len(trace.tracks) + 1, np.int64)
    for index, track in enumerate(trace.tracks):
        if track.last > track.first:
            counts[index + 1] = trace.slices.depth[track.first : track.last].max() + 1
    return np.cumsum(counts)


def _assign(
    start: NDArray[np.int64], duration: NDArray[np.int64], depth: NDArray[np.int32], own: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Set depth and own time of rows whose times are in one order; tracks follow one another without a common moment.

    Returns the row around each row, -1 for none.
    """
    count = len(start)
    end = start + np.maximum(duration, 1)
    running = np.arange(count) - np.searchsorted(np.sort(end), start, "right")
    depth[:] = running
    order = np.argsort(running.astype(np.uint16) if running.max() < 65536 else running, kind="stable")
    level = running[order]
    key = level * count + order
    above = np.searchsorted(key, key - count) - 1
    parent = order[above]
    inner = level > 0
    wrong = inner & ((above < 0) | (level[above] != level - 1) | (end[parent] < end[order]))
    wrong[1:] |= (level[1:] == level[:-1]) & (end[order[:-1]] > start[order[1:]])
    outermost = np.flatnonzero(running == 0)
    cluster = np.searchsorted(outermost, order[wrong], "right") - 1
    mixed = np.zeros(len(outermost), np.bool_)
    mixed[cluster] = True
    lasts = np.append(outermost[1:], count)
    if mixed.any():
        inner &= ~np.repeat(mixed, lasts - outermost)[order]
    np.subtract.at(own, parent[inner], duration[order[inner]])
    around = np.full(count, -1, np.int64)
    around[order[inner]] = parent[inner]
    for first, last in zip(outermost[mixed].tolist(), lasts[mixed].tolist(), strict=True):
        depth[first:last], own[first:last], inside = _pack(start[first:last].tolist(), duration[first:last].tolist())
        found = np.array(inside, np.int64)
        around[first:last] = np.where(found < 0, -1, found + first)
    return around


def _pack(starts: list[int], durations: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Depth, own time and the innermost row around each of slices of which some overlap without one containing the other."""
    depth, own, inside = [0] * len(starts), list(durations), [-1] * len(starts)
    free = _Lanes()
    around: list[tuple[int, int]] = []  # (end, row) of those that may contain the next, ends falling
    crossed: list[int] = []  # rows that another one crosses, which may be the innermost around what both contain
    covered = list(starts)
    for row, (start, duration) in enumerate(zip(starts, durations, strict=True)):
        end = start + (duration or 1)
        while around and around[-1][0] < end:
            before, other = around.pop()
            if before > start:
                crossed.append(other)
        lowest = 0
        if around:
            parent = inside[row] = around[-1][1]
            lowest = depth[parent] + 1
            if start + duration > covered[parent]:
                own[parent] -= start + duration - max(start, covered[parent])
                covered[parent] = start + duration
        depth[row] = free.take(lowest, start, end)
        around.append((end, row))
    for row, time in covers(crossed, np.array(starts, np.int64), np.array(durations, np.int64)).items():
        own[row] = durations[row] - time
    return depth, own, inside


class _Lanes:
    """Until when each lane is taken."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._earliest = np.empty(0, np.int64)

    def take(self, lowest: int, start: int, end: int) -> int:
        """The first lane from `lowest` on that is free at `start`; it is taken until `end`."""
        ends = self._ends
        lane = lowest
        stop = min(lowest + _BLOCK, len(ends))
        while lane < stop and ends[lane] > start:
            lane += 1
        if lane == lowest + _BLOCK and lane < len(ends):
            lane = self._far(lane, start)
        if lane == len(ends):
            ends.append(end)
        else:
            ends[lane] = end
        if len(ends) > _BLOCK:
            self._note(lane // _BLOCK)
        return lane

    def _far(self, lane: int, start: int) -> int:
        ends = self._ends
        while lane % _BLOCK and lane < len(ends):
            if ends[lane] <= start:
                return lane
            lane += 1
        free = np.flatnonzero(self._earliest[lane // _BLOCK :] <= start)[:1]
        if not len(free):
            return len(ends)
        lane = (lane // _BLOCK + int(free[0])) * _BLOCK
        while lane < len(ends) and ends[lane] > start:
            lane += 1
        return lane

    def _note(self, block: int) -> None:
        """Remember the earliest end of a block; blocks that are not there yet are never free."""
        blocks = -(-len(self._ends) // _BLOCK)
        if blocks > len(self._earliest):
            known = len(self._earliest)
            grown = np.full(max(2 * known, blocks, 16), np.iinfo(np.int64).max)
            grown[:known] = self._earliest
            if not known:
                for each in range(blocks):
                    grown[each] = min(self._ends[each * _BLOCK : (each + 1) * _BLOCK])
            self._earliest = grown
        self._earliest[block] = min(self._ends[block * _BLOCK : (block + 1) * _BLOCK])
