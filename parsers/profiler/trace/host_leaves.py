"""Which slice of a host thread ran at each moment: the innermost one, as a thread runs one call at a time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.running import Running

_ROWS = 4_096
"""Slices of a track that are looked at together, going back in time."""
Leaf = tuple[int, int, int]
"""Start and end (ns) of a stretch of time, and the row of the slice that ran in it; -1 for none."""


class HostLeaves:
    """Finds the innermost slices of the threads of a trace, going back in time."""

    def __init__(self, trace: Trace, running: Running) -> None:
        self._trace, self._running = trace, running
        self._windows: dict[tuple[int, ...], tuple[int, int, list[Leaf]]] = {}

    def before(self, tracks: Sequence[int], time: int) -> Leaf:
        """Return what a thread (the tracks that show it) did up to a time: a stretch that ends there.

        A stretch in which no slice ran reaches back to the end of the one before it; to 0 ns if there is none.
        """
        key = tuple(tracks)
        low, high, leaves = self._windows.get(key, (0, -1, []))
        if not low < time <= high:
            low, high, leaves = self._windows[key] = self._window(key, time)
        place = _place(leaves, time)
        if place < 0:
            return min(low, time - 1), time, -1
        start, end, row = leaves[place]
        return (start, time, row) if end >= time else (end, time, -1)

    def _window(self, tracks: tuple[int, ...], time: int) -> tuple[int, int, list[Leaf]]:
        """Return the stretches of some time before `time`, in order: from when, until when, and they themselves."""
        slices, rows, low = self._trace.slices, [], 0
        for track in tracks:
            of = self._trace.tracks[track]
            last = of.first + int(np.searchsorted(slices.start[of.first : of.last], time))
            first = max(of.first, last - _ROWS)
            if first > of.first:
                low = max(low, int(slices.start[first]))
            rows.append(np.arange(first, last))
        within = np.concatenate(rows) if rows else np.empty(0, np.int64)
        around = [self._running.at(track, low) for track in tracks] if low else []
        every = np.unique(np.concatenate([within[slices.start[within] >= low], *around])) if len(within) else within
        every = every[slices.duration[every] > 0]
        order = np.lexsort((-slices.duration[every], slices.start[every]))
        every = every[order]
        start = slices.start[every]
        spans = list(zip(start.tolist(), (start + slices.duration[every]).tolist(), every.tolist(), strict=True))
        return low, time, _leaves(spans, low, time)


def _place(leaves: list[Leaf], time: int) -> int:
    """Return the place of the last stretch that starts before a time; -1 for none."""
    return bisect_left(leaves, time, key=lambda one: one[0]) - 1


def _leaves(spans: Sequence[Leaf], low: int, high: int) -> list[Leaf]:
    """Return for each moment the slice that began last of those that run; spans are in order of start, longest first."""
    found: list[Leaf] = []
    stack: list[Leaf] = []
    at = low

    def upto(time: int) -> None:
        nonlocal at
        while stack and at < time:
            _, end, row = stack[-1]
            stop = min(end, time)
            if stop > at:
                found.append((at, stop, row))
                at = stop
            if end > time:
                return
            stack.pop()

    for span in spans:
        upto(min(span[0], high))
        at = max(at, min(span[0], high))
        stack.append(span)
    upto(high)
    return found
