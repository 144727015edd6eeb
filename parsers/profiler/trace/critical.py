"""The critical path of a range: the chain of slices without any of which it would have been shorter.

The path is followed backwards from the slice of a device that ends last. A slice of a device could not begin before the one
before it on its stream had ended, before its launch, or before what it waited for on another stream; whichever came last is the
next on the path. On the host the path follows the thread that launched, through queues to the thread that called, and back to
the last call that waited for the device: there it goes on with what that call waited for.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.profiler.trace.columns import Kind as TrackKind
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.gaps import Gaps
from parsers.profiler.trace.pyramid import Pyramid
from parsers.schema import Column, Schema

Kind = Literal["computation", "communication", "launch", "host", "synchronisation", "waiting"]
KINDS: tuple[Kind, ...] = ("computation", "communication", "launch", "host", "synchronisation", "waiting")

CRITICAL = Schema(
    "critical",
    "The critical path of a range of a trace, in order of time; the durations add up to the range.",
    (
        Column("start_ns", "int64", "ns", "since the origin of the trace"),
        Column("duration_ns", "int64", "ns", "time on the path"),
        Column("kind", "category", "", "computation, communication, launch, host, synchronisation or waiting"),
        Column("track", "int64", "", "index into Trace.tracks; -1 for none"),
        Column("row", "int64", "", "row of the slice; of what comes next where it waits; -1 for none"),
        Column("name", "str", "", "its name; empty for none"),
    ),
)
_MOST = 100_000
"""Slices of a path; what comes before them is waiting."""
_LOOK = 256
_NEAR = 10_000
"""ns between two slices of a stream of which the second one waited for the first only."""


def path(trace: Trace, t0: int, t1: int, *, pyramid: Pyramid | None = None) -> pd.DataFrame:
    """CRITICAL of a range (ns since the origin), such as a step.

    Before the first and after the last slice on the path the time is waiting.
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
        self._waits: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self.found: list[tuple[int, int, Kind, int]] = []

    def run(self) -> None:
        row = self._last_of_devices(self._at, cut=True)
        for _ in range(_MOST):
            if row < 0 or self._at <= self._t0:
                break
            row = self._from_device(row) if self._kind(row) in ("device_stream", "communication") else self._from_host(row)
        self._take(self._t0, "waiting", -1)

    def _take(self, start: int, kind: Kind, row: int) -> None:
        """Explain the time back to `start`."""
        start = max(start, self._t0)
        if start < self._at:
            self.found.append((start, self._at, kind, row))
            self._at = start

    def _from_device(self, row: int) -> int:
        """A slice of a device that ends at `at`, or last before it; returns what it had to wait for, -1 for nothing."""
        gaps, track, start = self._gaps, int(self._trace.slices.track[row]), int(self._trace.slices.start[row])
        self._take(self._end(row), "waiting", row)
        self._take(start, "communication" if self._kind(row) == "communication" else "computation", row)
        before = self._last(track, start)
        ready = self._end(before) if before >= 0 else self._t0
        if start <= ready + _NEAR:
            return before
        part = gaps.parts(track, ready, start, row)[-1]
        if part.cause in ("stream", "communication"):
            return part.call if int(self._trace.slices.start[part.call]) < start else before
        if part.cause == "unknown":
            return before
        launches = [cause for cause in gaps.arrows.causes(row) if self._kind(cause) not in ("device_stream", "communication")]
        return launches[0] if launches else before

    def _from_host(self, row: int) -> int:
        """A call of the host that led to what is on the path; returns what it had to wait for, -1 for nothing."""
        slices, gaps, track = self._trace.slices, self._gaps, int(self._trace.slices.track[row])
        self._take(self._end(row), "launch", row)
        context = gaps.arrows.context(row)
        sources = np.concatenate([gaps.arrows.into(each) for each in context])
        sources = sources[slices.start[sources] < slices.start[row]]
        if len(sources):
            source = int(sources[np.argmax(slices.start[sources])])
            begun = min(int(slices.start[each]) for each in context)
            self._take(begun, "launch", row)
            before = max((self._last(each, begun) for each in gaps.arrows.thread(track)), key=self._end, default=-1)
            return before if before >= 0 and self._end(before) > min(self._end(source), begun) else source
        waited, device = self._synchronisation(track)
        over = self._t0 if waited < 0 else min(self._end(waited), self._at)
        if over < self._at:
            self._take(over, "host", gaps.busiest(track, over, self._at, row))
        if device >= 0:
            self._take(self._end(device), "synchronisation", waited)
        return device

    def _synchronisation(self, track: int) -> tuple[int, int]:
        """The last call of a thread before `at` that waited for a device, and what it waited for; (-1, -1) for none."""
        if track not in self._waits:
            slices = self._trace.slices
            parts = [self._trace.tracks[each] for each in self._gaps.arrows.thread(track)]
            rows = np.concatenate([np.arange(part.first, part.last) for part in parts])
            rows = rows[self._gaps.synchronising[slices.name[rows]]]
            ends = slices.start[rows] + slices.duration[rows]
            order = np.argsort(ends, kind="stable")
            self._waits[track] = rows[order], ends[order]
        rows, ends = self._waits[track]
        for row in rows[: np.searchsorted(ends, self._at, "right")][::-1].tolist():
            end = self._end(row)
            if end <= self._t0:
                break
            device = self._last_of_devices(end)
            if device >= 0 and self._end(device) > int(self._trace.slices.start[row]):
                return row, device
        return -1, -1

    def _last_of_devices(self, time: int, *, cut: bool = False) -> int:
        """The slice of any device that ends last up to a time, or runs then if `cut`."""
        found = [self._last(track, time, cut=cut) for track in self._gaps.device]
        return max((row for row in found if row >= 0), key=lambda row: (min(self._end(row), time), row), default=-1)

    def _last(self, track: int, time: int, *, cut: bool = False) -> int:
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
