"""A trace as pandas frames, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import Problem
from parsers.profiler.trace import sources
from parsers.profiler.trace.columns import Trace
from parsers.schema import Column, Schema

PHASES = ("complete", "instant", "async", "unfinished", "unstarted")
"""Names of the values of `Slices.phase`."""
SLICES = Schema(
    "slices",
    "Every slice of a trace, by track, start, and longest first; the row number is the number of the slice.",
    (
        Column("track", "int32", "", "row in tracks"),
        Column("depth", "int32", "", "lane within the track from 0 on; slices of one lane never overlap"),
        Column("start_ns", "int64", "ns", "begin, since the begin of the trace"),
        Column("duration_ns", "int64", "ns", "time it took; 0 for a moment"),
        Column("self_ns", "int64", "ns", "part of the duration during which no slice within it runs"),
        Column("name", "category", "", "what ran, as in the file"),
        Column("category", "category", "", "category (cat) as in the file; empty for none"),
        Column("phase", "category", "", "complete, instant, async, unfinished (no end in the file) or unstarted (no begin)"),
    ),
)
TRACKS = Schema(
    "tracks",
    "The threads, streams, queues and counters of a trace, in the order of processes and threads that the file asks for.",
    (
        Column("process", "str", "", "name of the process or device"),
        Column("thread", "str", "", "name of the thread, stream or counter"),
        Column("process_id", "str", "", "process (pid) as in the file"),
        Column("thread_id", "str", "", "thread (tid) as in the file; empty for counters"),
        Column("kind", "category", "", "what it shows: step, python, cann, device_stream, communication, counter, ..."),
        Column("process_order", "int64", "", "sort index of the process as in the file, 0 for none"),
        Column("thread_order", "int64", "", "sort index of the thread as in the file, 0 for none"),
        Column("slices", "int64", "", "number of slices"),
    ),
)
FLOWS = Schema(
    "flows",
    "The arrows of a trace: what launched what, and what waited for what.",
    (
        Column("source", "int64", "", "row in slices at which it begins"),
        Column("target", "int64", "", "row in slices to which it leads"),
        Column("kind", "category", "", "category (cat) as in the file: HostToDevice, async_npu, fwdbwd, ..."),
    ),
)
COUNTERS = Schema(
    "counters",
    "Every value of the counters of a trace, by track, series and time.",
    (
        Column("track", "int32", "", "row in tracks"),
        Column("series", "category", "", "name of the value as in the file, its unit included"),
        Column("time_ns", "int64", "ns", "since the begin of the trace"),
        Column("value", "float64", "", "the value, in the unit that the series names"),
    ),
)


class TraceFrames:
    """The frames of one trace: slices, tracks, flows, counters. Never write into them."""

    def __init__(self, trace: Trace) -> None:
        self.columns = trace

    def __repr__(self) -> str:
        counts = f"{len(self.columns.slices):,} slices on {len(self.columns.tracks):,} tracks"
        return f"TraceFrames({self.columns.path!r}, {counts}, {len(self.columns.flows):,} flows)"

    @property
    def origin_ns(self) -> int:
        """The time that all others count from, in ns of the source's clock: since 1970-01-01 UTC for the clock "epoch"."""
        return self.columns.origin_ns

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was dropped or corrected."""
        return self.columns.problems

    @cached_property
    def slices(self) -> pd.DataFrame:
        """Every slice (schema SLICES)."""
        found = self.columns.slices
        return SLICES.check(
            pd.DataFrame(
                {
                    "track": found.track, "depth": found.depth, "start_ns": found.start, "duration_ns": found.duration,
                    "self_ns": found.self, "name": _texts(found.name, self.columns.names),
                    "category": _texts(found.category, self.columns.categories),
                    "phase": _texts(found.phase, PHASES),
                },
                copy=False,
            )
        )  # fmt: skip

    @cached_property
    def tracks(self) -> pd.DataFrame:
        """Every track (schema TRACKS)."""
        found = self.columns.tracks
        texts = {
            name: pd.array([getattr(track, name) for track in found], dtype="str")
            for name in ("process", "thread", "process_id", "thread_id")
        }
        kinds = pd.Categorical(pd.array([track.kind for track in found], dtype="str"))
        numbers = {
            "process_order": np.array([track.order[0] for track in found], np.int64),
            "thread_order": np.array([track.order[1] for track in found], np.int64),
            "slices": np.array([track.last - track.first for track in found], np.int64),
        }
        return TRACKS.check(pd.DataFrame({**texts, "kind": kinds, **numbers}, copy=False))

    @cached_property
    def flows(self) -> pd.DataFrame:
        """Every arrow (schema FLOWS)."""
        found = self.columns.flows
        columns = {"source": found.source, "target": found.target, "kind": _texts(found.kind, self.columns.flow_kinds)}
        return FLOWS.check(pd.DataFrame(columns, copy=False))

    @cached_property
    def counters(self) -> pd.DataFrame:
        """Every value of the counters (schema COUNTERS)."""
        found = self.columns.counters
        series = _texts(found.series, self.columns.series)
        columns = {"track": found.track, "series": series, "time_ns": found.time, "value": found.value}
        return COUNTERS.check(pd.DataFrame(columns, copy=False))

    def window(self, t0_ns: int, t1_ns: int) -> pd.DataFrame:
        """Return the slices that run at any time from t0_ns to before t1_ns (since the begin of the trace), whole.

        The index of the frame is the number of each slice. A slice that ends at t0_ns is not among them, a moment at t0_ns is.
        """
        found = self.columns.slices
        ends = found.start + np.maximum(found.duration, 1)
        return self.slices[(found.start < t1_ns) & (ends > t0_ns)]

    def arguments(self, row: int) -> dict[str, Any]:
        """Return the arguments of a slice, read from the file; OSError or LookupError if the file is not what it was."""
        return sources.arguments(self.columns, row)


def _texts(codes: NDArray[Any], texts: Sequence[str]) -> pd.Categorical:
    """Return texts by their codes. Equal texts with different codes become one category."""
    known = pd.Index(list(dict.fromkeys(texts)), dtype="str")
    if len(known) != len(texts):
        codes = known.get_indexer(pd.Index(list(texts), dtype="str"))[codes]
    return pd.Categorical.from_codes(codes, categories=known)
