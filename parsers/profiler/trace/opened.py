"""A trace that is open: its columns, its pyramid, and what is computed from them once and kept.

Everything here may be called by several threads at a time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from parsers.caches import Cache
from parsers.profiler.trace import alignment, gaps
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.lanes import numbering
from parsers.profiler.trace.pyramid import Pyramid
from parsers.profiler.trace.running import Running
from parsers.profiler.trace.search import TraceNames

MOST_STEPS = 20_000
"""Maximum number of steps listed."""
_DERIVED = frozenset({"step", "scope", "overlap"})
"""Kinds of tracks that say of others what they do."""
_NUMBER = re.compile(r"(\d+)\D*$")


class TraceStep(NamedTuple):
    """A training step: its number as the trace has it ("" for none), and start and duration in ns."""

    label: str
    start: int
    duration: int


class CounterCurve(NamedTuple):
    """A counter in pixel columns: first time (ns) in each, lowest, highest and last value."""

    series: str
    time: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    last: NDArray[np.float64]


class OpenTrace:
    """A trace with its pyramid, which may come later."""

    def __init__(self, trace: Trace, pyramid: Pyramid | None = None) -> None:
        self.trace, self.pyramid = trace, pyramid
        self._kept: Cache[Any, Any] = Cache()  # bounded by the tracks and columns of the trace; it goes with the trace
        self._lock = threading.Lock()
        self._shifts: WeakKeyDictionary[OpenTrace, alignment.ClockShift | None] = WeakKeyDictionary()

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return what `compute` returns, computed once for this key; others wait for it only if they ask for the same."""
        return self._kept.made(key, compute)

    @cached_property
    def first_lanes(self) -> NDArray[np.int64]:
        """Number of the first lane of each track, and of all lanes last."""
        return numbering(self.trace)

    @cached_property
    def end(self) -> int:
        """Length of the trace in ns."""
        return self.trace.end

    @cached_property
    def extent(self) -> tuple[int, int]:
        """Start of the first and end of the last slice in ns; (0, end) without slices."""
        slices = self.trace.slices
        if not len(slices):
            return 0, self.end
        return int(slices.start.min()), int((slices.start + slices.duration).max())

    def steps(self) -> list[TraceStep]:
        """Return the steps in order of time, at most MOST_STEPS."""
        return list(self.once("steps", lambda: _steps(self.trace)))

    def names(self) -> TraceNames:
        """Return the names, ready to be searched."""
        kept: TraceNames = self.once("names", lambda: TraceNames(self.trace.names))
        return kept

    def gaps(self) -> gaps.Gaps:
        """Return what explains gaps."""
        names = self.names()
        kept: gaps.Gaps = self.once("gaps", lambda: gaps.Gaps(self.trace, self.pyramid, names))
        return kept

    def running(self) -> Running:
        """Return what finds the slices that run at a moment."""
        if self.pyramid is not None:
            return Running(self.trace, self.pyramid.latest_ends)
        kept: Running = self.once("ends", lambda: Running(self.trace))
        return kept

    def step_named(self, label: str) -> TraceStep | None:
        """Return the first step with a label; None if there is none."""
        kept: dict[str, TraceStep] = self.once("labels", lambda: {step.label: step for step in reversed(self.steps())})
        return kept.get(label)

    def collectives(self) -> list[alignment.Collective]:
        """Return the collectives in order of time."""
        kept: list[alignment.Collective] = self.once("collectives", lambda: alignment.collectives(self.trace))
        return kept

    def collective(self, of: int | tuple[str, int]) -> alignment.Collective | None:
        """Return the collective at a row, or with a name and a number; None if there is none."""
        kept: dict[int | tuple[str, int], alignment.Collective] = self.once("collective", lambda: {
            key: each for each in self.collectives() for key in (each.row, (each.name, each.number))
        })  # fmt: skip
        return kept.get(of)

    def shift(self, reference: OpenTrace) -> alignment.ClockShift | None:
        """Return how far the device is behind that of another trace; None if nothing says it. See `alignment.shift`."""
        if self.trace.clock != reference.trace.clock:
            return None
        with self._lock:
            if reference in self._shifts:
                return self._shifts[reference]
        found = alignment.between(reference.collectives(), self.collectives())
        with self._lock:
            self._shifts[reference] = found
        return found

    def busy(
        self, columns: int, start: int = 0, stop: int | None = None, device: int = 0
    ) -> tuple[str, NDArray[np.float32]]:
        """Return (what is counted, busy share 0..1 of each of `columns` equal parts from `start` to `stop`, its end if None).

        Counted is the time in which any device stream runs anything, its times moved by `device` (ns); without one, in which
        any track does that is not made from others: "device" or "any".
        """
        stop = self.end if stop is None else stop
        counted, begins, lengths = self.once("running", lambda: _running(self.trace))
        if counted == "device":
            start, stop = start - device, stop - device
        edges = np.linspace(start, max(stop, start + 1), columns + 1)
        return counted, _shares(begins, lengths, edges)

    def medians(self) -> NDArray[np.float64]:
        """Return the median duration in ns of the slices of each name; 0 for names without a slice."""
        kept: NDArray[np.float64] = self.once("medians", lambda: _medians(self.trace))
        return kept

    def curves(self, track: int, start: int, stop: int, columns: int) -> list[CounterCurve]:
        """Return the series of a counter track from `start` to `stop` (ns), at most `columns` rows each.

        The first row of a series is the value that holds at `start`, if it was set before.
        """
        rows = self._counter_rows[track : track + 2]
        return _curves(self.trace, slice(int(rows[0]), int(rows[1])), start, stop, columns)

    def counted(self, track: int) -> list[str]:
        """Return the names of the series of a track."""
        counters = self.trace.counters
        rows = slice(*map(int, self._counter_rows[track : track + 2]))
        return [self.trace.series[index] for index in np.unique(counters.series[rows]).tolist()]

    @cached_property
    def _counter_rows(self) -> NDArray[np.int64]:
        return np.searchsorted(self.trace.counters.track, np.arange(len(self.trace.tracks) + 1))


def _steps(trace: Trace) -> list[TraceStep]:
    found = gaps.steps(trace)[:MOST_STEPS]
    numbers = [_NUMBER.search(name) for name, _, _ in found]
    return [
        TraceStep(number[1] if number else "", start, end - start) for number,
        (_, start, end) in zip(numbers, found, strict=True)
    ]


def _running(trace: Trace) -> tuple[str, NDArray[np.int64], NDArray[np.int64]]:
    """Return what is counted, and start and end (ns) of each stretch of time in which any of it runs."""
    streams = [track for track in trace.tracks if track.kind == "device_stream" and track.last > track.first]
    counted = streams or [track for track in trace.tracks if track.last > track.first and track.kind not in _DERIVED]
    starts, stops = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for track in counted:
        rows = slice(track.first, track.last)
        outer = trace.slices.depth[rows] == 0
        starts.append(trace.slices.start[rows][outer])
        stops.append(starts[-1] + trace.slices.duration[rows][outer])
    return "device" if streams else "any", *stretches(np.concatenate(starts), np.concatenate(stops))


def stretches(start: NDArray[np.int64], stop: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return start and end of what intervals cover together, in order and without overlap."""
    if not len(start):
        return start, stop
    order = np.argsort(start, kind="stable")
    start, stop = start[order], stop[order]
    reach = np.maximum.accumulate(stop)
    fresh = np.flatnonzero(np.append(True, start[1:] > reach[:-1]))
    return start[fresh], reach[np.append(fresh[1:] - 1, len(start) - 1)]


def shares(start: NDArray[np.int64], stop: NDArray[np.int64], edges: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the share 0..1 of each part between two edges that is covered by any of the intervals."""
    return _shares(*stretches(start, stop), edges)


def _shares(begins: NDArray[np.int64], ends: NDArray[np.int64], edges: NDArray[np.float64]) -> NDArray[np.float32]:
    if not len(begins):
        return np.zeros(len(edges) - 1, np.float32)
    lengths = np.append(0, np.cumsum(ends - begins))
    # Covered time before an edge: all intervals that end before it, and what the one around it has of it.
    inside = np.searchsorted(begins, edges, "right") - 1
    known = np.maximum(inside, 0)
    before = np.where(inside < 0, 0.0, lengths[known] + np.clip(edges - begins[known], 0, ends[known] - begins[known]))
    return (np.diff(before) / np.diff(edges)).astype(np.float32)


def _medians(trace: Trace) -> NDArray[np.float64]:
    found = np.zeros(len(trace.names))
    if not len(trace.slices):
        return found
    name = np.asarray(trace.slices.name)
    duration = np.asarray(trace.slices.duration)
    order = np.lexsort((duration, name))
    counts = np.bincount(name, minlength=len(found))
    first = np.append(0, np.cumsum(counts)[:-1])
    having = counts > 0
    low = duration[order[(first + (counts - 1) // 2)[having]]]
    high = duration[order[(first + counts // 2)[having]]]
    found[having] = (low + high) / 2
    return found


def _curves(trace: Trace, rows: slice, start: int, stop: int, columns: int) -> list[CounterCurve]:
    counters = trace.counters
    kinds = counters.series[rows]
    found = []
    for kind in np.unique(kinds).tolist():
        first, last = (rows.start + int(np.searchsorted(kinds, kind, side)) for side in ("left", "right"))
        time = counters.time[first:last]
        # From the first value at `start`, or else the last one before it.
        low = max(min(int(np.searchsorted(time, start)), int(np.searchsorted(time, start, "right")) - 1), 0)
        high = int(np.searchsorted(time, stop, "right"))
        time, value = np.asarray(time[low:high]), np.asarray(counters.value[first + low : first + high])
        if not len(time):
            continue
        column = np.clip((time - start) * columns // max(stop - start, 1), 0, columns)
        firsts = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
        lasts = np.append(firsts[1:], len(time)) - 1
        found.append(CounterCurve(
            trace.series[kind], time[firsts], np.fmin.reduceat(value, firsts), np.fmax.reduceat(value, firsts), value[lasts]
        ))  # fmt: skip
    return found
