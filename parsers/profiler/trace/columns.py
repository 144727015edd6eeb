"""The columns of a trace: what every reader of traces makes, and what views, statistics and search are computed from.

Slices are rows in the order of (track, start, longest first, event), so that the rows of a track are one range and a slice
comes after the one that it lies in. Times are whole nanoseconds since `Trace.origin_ns`; none of them has ever been a float.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from parsers.model import Problem

Kind = Literal[
    "step", "scope", "python", "cann", "host", "host_queue", "device_stream", "communication", "overlap", "counter", "memory",
    "other",
]  # fmt: skip
"""What a track shows. `host` is a thread of a framework other than Python and CANN; `other` what no rule knows."""
Clock = Literal["epoch", "boot", "relative"]
"""Zero of the clock a source uses: 1970-01-01 UTC, the start of a machine, or the start of the recording."""

COMPLETE, INSTANT, ASYNC, UNFINISHED, UNSTARTED = range(5)
"""Values of `Slices.phase`: begin and end are known; a moment; an async pair; begin without end; end without begin."""


@dataclass(frozen=True, slots=True)
class Track:
    """A thread, stream or queue of a process, whose slices are the rows from `first` to before `last`."""

    process: str
    thread: str
    process_id: str
    thread_id: str
    kind: Kind
    order: tuple[int, int]
    """Sort index of the process and of the thread, as the file has them."""
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Slices:
    """One row for each slice; all arrays have the same length."""

    track: NDArray[np.int32]
    """Index into Trace.tracks."""
    start: NDArray[np.int64]
    """ns since Trace.origin_ns; not negative."""
    duration: NDArray[np.int64]
    """ns; not negative. 0 for instants and for what took less than the file can say."""
    name: NDArray[np.int32]
    """Index into Trace.names."""
    category: NDArray[np.int32]
    """Index into Trace.categories."""
    phase: NDArray[np.uint8]
    """COMPLETE, INSTANT, ASYNC, UNFINISHED or UNSTARTED."""
    event: NDArray[np.int64]
    """What finds the arguments: the place of the event in the file (see `events`), or of a row in a database; with several
    files also which one it is (see `joining.of_file`)."""
    depth: NDArray[np.int32]
    """Lane within the track from 0 on; slices of one lane never overlap."""
    self: NDArray[np.int64]
    """ns of the duration during which no slice within this one runs; not negative."""

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class Flows:
    """One row for each arrow between two slices, in order of the slice it begins at."""

    source: NDArray[np.int64]
    """Row of the slice an arrow begins at."""
    target: NDArray[np.int64]
    """Row of the slice it leads to."""
    kind: NDArray[np.int32]
    """Index into Trace.flow_kinds."""

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True)
class CounterValues:
    """One row for each value of a counter, in order of (track, series, time)."""

    track: NDArray[np.int32]
    """Index into Trace.tracks, of kind counter or memory."""
    series: NDArray[np.int32]
    """Index into Trace.series."""
    time: NDArray[np.int64]
    """ns since Trace.origin_ns."""
    value: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace of one source: a file, or a database."""

    path: str
    origin_ns: int
    """The earliest time, in ns of the source's own clock."""
    clock: Clock
    tracks: tuple[Track, ...]
    names: Sequence[str]
    categories: tuple[str, ...]
    series: tuple[str, ...]
    flow_kinds: tuple[str, ...]
    slices: Slices
    flows: Flows
    counters: CounterValues
    problems: tuple[Problem, ...] = field(default=())
    """What was dropped, with its number and first place, and what was corrected."""
    files: tuple[str, ...] = field(default=())
    """The files of a recording that has several (`joining`); empty for a single file."""

    @property
    def end(self) -> int:
        """ns since origin_ns at which the last slice ends or the last counter is set; 0 for an empty trace."""
        ends = self.slices.start + self.slices.duration
        return max(int(ends.max(initial=0)), int(self.counters.time.max(initial=0)))
