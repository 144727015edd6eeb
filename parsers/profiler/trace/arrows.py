"""Arrows of a trace by the slice they begin at and by the one they lead to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.running import Running

_HOPS = 16
"""Threads that work is handed on to before it reaches a device; what says more goes round in a circle."""


class Arrows:
    """Finds the arrows of a slice among hundreds of thousands."""

    def __init__(self, trace: Trace, running: Running) -> None:
        self._trace, self._running = trace, running
        self._by_target = np.argsort(trace.flows.target, kind="stable")
        self._targets = trace.flows.target[self._by_target]
        self._threads: dict[str, list[int]] = {}
        for index, track in enumerate(trace.tracks):
            if track.kind in ("python", "cann", "host", "host_queue"):
                self._threads.setdefault(track.thread_id, []).append(index)

    def into(self, row: int) -> NDArray[np.int64]:
        """Rows of the slices from which arrows lead to a slice."""
        low, high = np.searchsorted(self._targets, [row, row + 1])
        return self._trace.flows.source[self._by_target[low:high]]

    def around(self, row: int) -> list[int]:
        """A slice and those it lies in, innermost first."""
        slices = self._trace.slices
        start, end = int(slices.start[row]), int(slices.start[row] + max(int(slices.duration[row]), 1))
        rows = self._running.at(int(slices.track[row]), start)
        within = slices.start[rows] + np.maximum(slices.duration[rows], 1) >= end
        found: list[int] = rows[within & (rows <= row)][::-1].tolist()
        return found

    def causes(self, row: int) -> list[int]:
        """What led to a slice: where the arrow to it begins, then where one to that or to what it lies in does, and so on.

        A thread that several processes of the file show (Python, CANN) is one. Of several arrows the one from the latest
        slice counts, since without that the work could not begin; if that leads no further, the earliest one goes on.
        """
        found: list[int] = []
        start = self._trace.slices.start
        first, at = self.into(row), row
        for _ in range(_HOPS):
            sources: NDArray[np.int64] = np.zeros(0, np.int64)
            for inner in self.context(at) if found else [at]:
                sources = self.into(inner)
                sources = sources[~np.isin(sources, [row, *found])]
                if len(sources):
                    break
            if not len(sources):
                break
            at = int(sources[np.argmax(start[sources])])
            found.append(at)
        if len(found) == 1 and len(first) > 1:
            found.append(int(first[np.argmin(start[first])]))
        return found

    def thread(self, track: int) -> list[int]:
        """The tracks of the host that show the thread of a track."""
        return self._threads.get(self._trace.tracks[track].thread_id, []) or [track]

    def context(self, row: int) -> list[int]:
        """A slice, those it lies in, and what the same thread runs at its start as other processes show it."""
        slices = self._trace.slices
        track = int(slices.track[row])
        same = self.thread(track)
        others = [self._running.at(other, int(slices.start[row]))[::-1].tolist() for other in same if other != track]
        return self.around(row) + [each for found in others for each in found]
