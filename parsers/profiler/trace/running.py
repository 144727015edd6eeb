"""Which slices of a track run at a moment, and which parts of a range any of them covers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace.columns import Slices, Trace

BLOCK = 1024


def latest_ends(slices: Slices) -> NDArray[np.int64]:
    """The latest end (ns) of each `BLOCK` rows, whatever track they are on; a slice of 0 ns runs for 1 ns."""
    found = np.empty(-(-len(slices) // BLOCK), np.int64)
    # a piece at a time, as the columns may be larger than the memory
    for first in range(0, len(slices), BLOCK * BLOCK):
        part = slice(first, first + BLOCK * BLOCK)
        ends = slices.start[part] + np.maximum(slices.duration[part], 1)
        blocks = np.maximum.reduceat(ends, np.arange(0, len(ends), BLOCK))
        found[first // BLOCK : first // BLOCK + len(blocks)] = blocks
    return found


class Running:
    """Finds what runs at a moment among millions of slices, looking only at blocks of rows that end after it."""

    def __init__(self, trace: Trace, ends: NDArray[np.int64] | None = None) -> None:
        """`ends` is what `latest_ends` found, where it is stored."""
        self._trace = trace
        self._ends = latest_ends(trace.slices) if ends is None else ends

    def at(self, track: int, time: int) -> NDArray[np.int64]:
        """Rows of a track that run at a time (ns): they start at it or before, and end after it. Outermost first."""
        slices, of = self._trace.slices, self._trace.tracks[track]
        last = of.first + int(np.searchsorted(slices.start[of.first : of.last], time, "right"))
        if last == of.first:
            return np.zeros(0, np.int64)
        block = of.first // BLOCK
        found = [np.zeros(0, np.int64)]
        for number in (np.flatnonzero(self._ends[block : -(-last // BLOCK)] > time) + block).tolist():
            rows = slice(max(number * BLOCK, of.first), min((number + 1) * BLOCK, last))
            runs = slices.start[rows] + np.maximum(slices.duration[rows], 1) > time
            found.append(np.flatnonzero(runs) + rows.start)
        return np.concatenate(found)

    def inside(self, track: int, t0: int, t1: int) -> tuple[int, int]:
        """The range of rows of a track that start from `t0` to before `t1`."""
        of = self._trace.tracks[track]
        low, high = np.searchsorted(self._trace.slices.start[of.first : of.last], [t0, max(t0, t1)])
        return of.first + int(low), of.first + int(high)


def covered(start: NDArray[np.int64], end: NDArray[np.int64]) -> int:
    """ns that lie in any of the intervals, which are in order of start."""
    if not len(start):
        return 0
    before = np.empty(len(end), np.int64)
    before[0] = start[0]
    np.maximum.accumulate(end[:-1], out=before[1:])
    return int(np.maximum(end - np.maximum(start, before), 0).sum())


def holes(start: NDArray[np.int64], end: NDArray[np.int64], t0: int, t1: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where none of the intervals runs between two times: start and end (ns) of each hole.

    Intervals are in order of start; those of 0 ns divide no hole.
    """
    long = end > start
    start, end = start[long], end[long]
    reach = np.maximum.accumulate(np.concatenate([[t0], end]))
    begins = np.concatenate([start, [t1]])
    reach, begins = np.clip(reach, t0, t1), np.clip(begins, t0, t1)
    free = begins > reach
    return reach[free], begins[free]
