"""The critical path of a range: the chain of slices without any of which it would have been shorter.

The path is followed backwards from what ends last. A slice of a device could not begin before the one before it on its stream
had ended, before a slice of another stream for which it waited (one that ended at most 20 us before), or before the end of its
launch and the usual delay of launches; the latest of these is the next on the path. Recorded waits, and other steps in which it
was otherwise, rule candidates out (`launches`). On the host the path goes back through the slices that ran, the innermost at
each moment, to a call that waited for the device, another thread that the thread waited for, or the thread that handed it its
work. What no rule explains is unknown.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from parsers.deferred import pandas as pd
from parsers.profiler.trace.columns import Kind as TrackKind
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.gaps import Gaps
from parsers.profiler.trace.host_leaves import HostLeaves
from parsers.profiler.trace.launches import NEAR, Launches
from parsers.profiler.trace.pyramid import Pyramid
from parsers.schema import Column, Schema

Kind = Literal["computation", "communication", "queue", "launch", "host", "synchronisation", "unknown"]
KINDS: tuple[Kind, ...] = ("computation", "communication", "queue", "launch", "host", "synchronisation", "unknown")
"""queue is the time from a slice of a device to the one that had to wait for it; launch that from a call to what it led to."""

CRITICAL = Schema(
    "critical",
    "The critical path of a range of a trace, in order of time; the durations add up to the range.",
    (
        Column("start_ns", "int64", "ns", "since the origin of the trace"),
        Column("duration_ns", "int64", "ns", "time on the path"),
        Column("kind", "category", "", "computation, communication, queue, launch, host, synchronisation or unknown"),
        Column("track", "int64", "", "index into Trace.tracks; -1 for none"),
        Column("row", "int64", "", "row of the slice; of the one that waited in a queue; -1 for none"),
        Column("name", "str", "", "its name; empty for none"),
    ),
)
_MOST = 100_000
"""Slices of a path; what comes before them is unknown."""
_LOOK = 256
_LOOKED = 8
"""Waits before a slice whose arrows are looked at."""
_RETURNED, _OF_CALL, _LATEST = 20_000, 0.05, 500_000
"""ns from the end of what a call waited for to its own end; a share of long calls, and the most: threads wake up late."""
_HANDED = 20_000
"""ns that it takes to hand work to another thread."""
_LEAST_WAIT = 20_000
"""ns from which on a call of the host may have waited for another thread."""
_CALLS = frozenset({"python", "cann", "host", "host_queue"})
_DEVICE = frozenset({"device_stream", "communication"})
Thread = tuple[int, ...]
"""The tracks that show a thread of the host; () for none."""
Next = tuple[int, Thread]
"""What the path goes on with: a slice of a device, or (with -1) a thread."""


def path(trace: Trace, t0: int, t1: int, *, pyramid: Pyramid | None = None) -> pd.DataFrame:
    """CRITICAL of a range (ns since the origin), such as a step.

    What no rule explains is unknown.
    """
    walk = _Walk(trace, Gaps(trace, pyramid), t0, t1)
    walk.run()
    rows = [
        (start, end - start, kind, -1 if row < 0 else int(trace.slices.track[row]), row,
         trace.names[trace.slices.name[row]] if row >= 0 else "")
        for start, end, kind, row in reversed(walk.found)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(CRITICAL.names))
    frame["kind"] = pd.Categorical(frame["kind"], categories=list(KINDS))
    return CRITICAL.check(
        frame.astype({column.name: column.dtype for column in CRITICAL.columns if column.dtype != "category"})
    )


def shares(path: pd.DataFrame) -> dict[str, float]:
    """The part of a path that each kind takes; empty for a path of no length."""
    total = int(path["duration_ns"].sum())
    sums = path.groupby("kind", observed=True)["duration_ns"].sum()
    return {str(kind): int(ns) / total for kind, ns in sums.items()} if total else {}


class _Walk:
    """Goes back from `t1` to `t0`; `at` is the time after which all has been explained."""

    def __init__(self, trace: Trace, gaps: Gaps, t0: int, t1: int) -> None:
        self._trace, self._gaps = trace, gaps
        self._t0, self._at = t0, max(t0, t1)
        self._launches = Launches(trace, gaps, t0, max(t0, t1))
        self._leaves = HostLeaves(trace, gaps.running)
        self._threads = self._host_threads()
        self._callers: dict[tuple[int, ...], tuple[int, ...]] = {}
        self.found: list[tuple[int, int, Kind, int]] = []

    def run(self) -> None:
        row, thread = self._last()
        for _ in range(_MOST):
            if self._at <= self._t0 or (row < 0 and not thread):
                break
            row, thread = self._from_device(row) if row >= 0 else self._from_host(thread)
        self._take(self._t0, "unknown", -1)

    def _take(self, start: int, kind: Kind, row: int) -> None:
        """Explain the time back to `start`."""
        start = max(start, self._t0)
        if start < self._at:
            self.found.append((start, self._at, kind, row))
            self._at = start

    def _host_threads(self) -> list[tuple[int, ...]]:
        """Return the tracks of each thread of the host, those with the most slices first."""
        tracks = self._trace.tracks
        found = {tuple(sorted(self._gaps.arrows.thread(one))) for one in self._gaps.host if tracks[one].kind in _CALLS}
        return sorted(found, key=lambda own: -sum(tracks[one].last - tracks[one].first for one in own))

    def _last(self) -> Next:
        """Return what the path ends with: what ends last up to `at`, or a device that runs then, or else the host."""
        device = self._last_of_devices(self._at, cut=True)
        ends = self._end(device) if device >= 0 else self._t0
        best: tuple[tuple[int, bool, bool], Thread] = (min(ends, self._at), ends == self._at, True), ()
        for thread in self._threads:
            start, end, leaf = self._leaves.before(thread, self._at)
            if leaf >= 0:
                best = max(best, ((end, self._end(leaf) == self._at, False), thread))
            elif start > self._t0:
                best = max(best, ((start, False, False), thread))
        return (device, ()) if not best[1] else (-1, best[1])

    # On the device ------------------------------------------------------------------------------------------------------

    def _from_device(self, row: int) -> Next:
        """A slice of a device that ends at `at`, or last before it; returns what it had to wait for.

        Of a task of a collective the collective counts: its tasks wait for other ranks.
        """
        row = self._gaps.outermost(int(self._trace.slices.track[row]), row)
        slices, start = self._trace.slices, int(self._trace.slices.start[row])
        self._take(self._end(row), "unknown", row)
        self._take(start, "communication" if self._kind(row) == "communication" else "computation", row)
        launch, ended = self._launched(row), self._candidates(row)
        waited = self._launches.waited_for(row, ended, launch if self._launches.launched(row, launch) else -1)
        waited = waited if waited >= 0 else launch
        if waited >= 0 and waited not in ended:
            self._take(self._end(waited), "launch", waited)
            return -1, self._thread(waited)
        before = waited if waited >= 0 else self._last_of(int(slices.track[row]), start)
        queued = waited >= 0 and start - self._end(before) <= NEAR
        self._take(self._end(before), "queue" if queued else "unknown", row)
        return before, ()

    def _candidates(self, row: int) -> list[int]:
        """Return the slice before on the stream, and those of other streams for which it may have waited."""
        start, track = int(self._trace.slices.start[row]), int(self._trace.slices.track[row])
        others = [one for one in self._gaps.device if one != track] if self._launches.may_wait(row) else []
        found = [(one, self._last_of(one, start)) for one in (track, *others)]
        ended = [self._gaps.outermost(one, last) for one, last in found if last >= 0]
        return [one for one in ended if self._end(one) <= start and not self._launches.contradicted(row, one)]

    def _launched(self, row: int) -> int:
        """Return the call of the host that launched a slice, or the wait before it that shows the arrow; -1 for unknown."""
        call = self._launches.of(row)
        if call >= 0:
            return call
        track, start = int(self._trace.slices.track[row]), int(self._trace.slices.start[row])
        before = self._last_of(track, start)
        waits = self._gaps.waits(track, self._end(before) if before >= 0 else self._t0, start).tolist()[:_LOOKED]
        for one in (row, *waits):
            causes = [each for each in self._gaps.arrows.causes(one) if self._kind(each) not in _DEVICE]
            if causes and self._end(causes[0]) <= start:
                return causes[0]
        return -1

    # On the host --------------------------------------------------------------------------------------------------------

    def _from_host(self, thread: Thread) -> Next:
        """What a thread of the host did up to `at`; returns what it had to wait for, or the thread itself, to go on."""
        start, _, leaf = self._leaves.before(thread, self._at)
        if leaf < 0:
            return self._idle(thread, start)
        device = self._awaited(leaf)
        if device >= 0:
            self._take(self._end(device), "synchronisation", leaf)
            return device, ()
        other = self._worker(thread, start)
        if other is not None:
            self._callers[other[1]] = thread
            self._take(other[0], "launch", leaf)
            return -1, other[1]
        begun = int(self._trace.slices.start[leaf]) == start
        self._take(start, "host", leaf)
        return self._handed(thread, leaf) if begun else (-1, thread)

    def _awaited(self, leaf: int) -> int:
        """Return the slice of a device for which a call waited that ends at `at`; -1 if it is no such call.

        Calls that synchronise wait, and long ones that launch while the device has as many launches as it holds.
        """
        slices = self._trace.slices
        long = int(slices.duration[leaf]) >= _LEAST_WAIT and self._launches.full(leaf)
        if not (long or self._gaps.synchronising[slices.name[leaf]]):
            return -1
        device = self._last_of_devices(self._at)
        if device >= 0 and int(slices.start[leaf]) < self._end(device) >= self._at - _returned(int(slices.duration[leaf])):
            return device
        return -1

    def _worker(self, thread: Thread, start: int) -> tuple[int, Thread] | None:
        """Return the thread for which another one waited in a stretch from `start` to `at`, and when it ended; None for none.

        It began within the stretch and ended shortly before the end of it.
        """
        if self._at - start < _LEAST_WAIT:
            return None
        for other in self._threads:
            if other == thread:
                continue
            begin, end, leaf = self._leaves.before(other, self._at)
            ended = begin if leaf < 0 else end
            if ended > start and self._at - ended <= _returned(self._at - start) and (leaf < 0 or ended < self._at):
                return ended, other
        return None

    def _handed(self, thread: Thread, row: int) -> Next:
        """At the begin of a call: go on with the thread, or with the one that handed it this call while it did nothing."""
        slices = self._trace.slices
        start, _, leaf = self._leaves.before(thread, self._at)
        if leaf >= 0:
            return -1, thread
        sources = self._gaps.arrows.into(row)
        kinds = [self._kind(one) in _CALLS for one in sources.tolist()]
        sources = sources[np.array(kinds, np.bool_)] if len(sources) else sources
        ends = slices.start[sources] + slices.duration[sources]
        sources = sources[(ends <= self._at) & (ends >= start)] if len(sources) else sources
        if len(sources):
            source = int(sources[np.argmax(slices.start[sources] + slices.duration[sources])])
            self._take(self._end(source), "launch", row)
            return -1, self._thread(source)
        return self._idle(thread, start)

    def _idle(self, thread: Thread, start: int) -> Next:
        """A thread that did nothing from `start` to `at` was given work by the thread that waited for it, or that ran then."""
        caller = self._callers.pop(thread, None)
        others = [caller] if caller is not None else [one for one in self._threads if one != thread]
        for other in others:
            begin, _, leaf = self._leaves.before(other, self._at)
            if leaf >= 0 and begin > start and self._at - begin <= _HANDED:
                self._take(begin, "launch", leaf)
            if leaf >= 0:
                return -1, other
        self._take(start, "unknown", -1)
        return (-1, thread) if start > self._t0 else (-1, ())

    # Looking up ---------------------------------------------------------------------------------------------------------

    def _thread(self, row: int) -> Thread:
        return tuple(sorted(self._gaps.arrows.thread(int(self._trace.slices.track[row]))))

    def _last_of_devices(self, time: int, *, cut: bool = False) -> int:
        """The slice of any device that ends last up to a time, or runs then if `cut`."""
        found = [self._last_of(track, time, cut=cut) for track in self._gaps.device]
        return max((row for row in found if row >= 0), key=lambda row: (min(self._end(row), time), row), default=-1)

    def _last_of(self, track: int, time: int, *, cut: bool = False) -> int:
        """The slice of a track that ends last up to a time, and does more than wait; if `cut`, one that runs then counts."""
        slices, of = self._trace.slices, self._trace.tracks[track]
        high = of.first + int(np.searchsorted(slices.start[of.first : of.last], time))
        while high > of.first:
            rows = np.arange(max(of.first, high - _LOOK), high)
            ends = slices.start[rows] + slices.duration[rows]
            fit = (slices.duration[rows] > 0) & ~self._gaps.waiting[slices.name[rows]] & ((ends <= time) | cut)
            if fit.any():
                rows, ends = rows[fit], np.minimum(ends[fit], time)
                return int(rows[len(rows) - 1 - np.argmax(ends[::-1])])
            high = int(rows[0])
        return -1

    def _kind(self, row: int) -> TrackKind:
        return self._trace.tracks[int(self._trace.slices.track[row])].kind

    def _end(self, row: int) -> int:
        return int(self._trace.slices.start[row] + self._trace.slices.duration[row]) if row >= 0 else self._t0


def _returned(length: int) -> int:
    """Return how long before its end what a call of this length (ns) waited for may have ended."""
    return max(_RETURNED, min(int(_OF_CALL * length), _LATEST))
