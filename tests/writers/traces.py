"""Traces made by hand, and at random, with the columns that readers of files make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from parsers.profiler.trace import lanes
from parsers.profiler.trace.columns import COMPLETE, CounterValues, Flows, Kind, Slices, Trace, Track

Row = tuple[int, int, str]
"""Start and duration in ns, and name."""


def trace(
    tracks: Mapping[str, Sequence[Row]] | Sequence[tuple[Track, Sequence[Row]]],
    *,
    arrows: Sequence[tuple[tuple[str | int, int], tuple[str | int, int], str]] = (),
    kinds: Mapping[str, Kind] | None = None,
) -> Trace:
    """A trace of tracks by their name of a thread.

    `arrows` leads from slice to slice, each named by track (thread or index) and number in the order of (start, longest first).
    """
    if isinstance(tracks, Mapping):
        tracks = [(track(name, (kinds or {}).get(name, "other")), rows) for name, rows in tracks.items()]
    made, rows = [], []
    for index, (which, of_track) in enumerate(tracks):
        ordered = sorted(enumerate(of_track), key=lambda row: (row[1][0], -row[1][1], row[0]))
        made.append(replace(which, first=len(rows), last=len(rows) + len(ordered)))
        rows += [(index, *row) for _, row in ordered]
    names = sorted({row[3] for row in rows})
    known = {name: index for index, name in enumerate(names)}
    track_of = np.array([row[0] for row in rows], np.int32)
    start = np.array([row[1] for row in rows], np.int64)
    duration = np.array([row[2] for row in rows], np.int64)
    depth, own = lanes.assign(track_of, start, duration)
    slices = Slices(
        track_of, start, duration, np.array([known[row[3]] for row in rows], np.int32), np.zeros(len(rows), np.int32),
        np.full(len(rows), COMPLETE, np.uint8), np.arange(len(rows)), depth, own,
    )  # fmt: skip
    firsts: dict[str | int, int] = {which.thread: which.first for which in made}
    firsts |= {index: which.first for index, which in enumerate(made)}
    arrow_kinds = sorted({kind for _, _, kind in arrows})
    ends = sorted((firsts[a] + i, firsts[b] + j, arrow_kinds.index(kind)) for (a, i), (b, j), kind in arrows)
    columns = np.array(ends, np.int64).reshape(-1, 3)
    flows = Flows(columns[:, 0], columns[:, 1], columns[:, 2].astype(np.int32))
    none = np.zeros(0, np.int32)
    return Trace(
        "made.json", 0, "relative", tuple(made), names, ("",), (), tuple(arrow_kinds), slices, flows,
        CounterValues(none, none, np.zeros(0, np.int64), np.zeros(0)),
    )  # fmt: skip


def track(name: str, kind: Kind = "other", process: str = "process") -> Track:
    """A track without slices."""
    return Track(process, name, process, name, kind, (0, 0))


@st.composite
def traces(draw: Any, *, most: int = 60, span: int = 400) -> Trace:
    """Traces of up to four tracks: nested, overlapping, empty, and with slices of no length."""
    names = st.sampled_from(["Add", "MatMul", "AllReduce", "wait", "步"])
    row = st.tuples(st.integers(0, span), st.one_of(st.integers(0, 8), st.integers(0, span)), names)
    rows = draw(st.lists(st.lists(row, max_size=most), max_size=4))
    return trace({f"t{index}": of_track for index, of_track in enumerate(rows)})


@st.composite
def connected(draw: Any) -> Trace:
    """Traces of a host and of devices with arrows from anything to anything, even backwards and to itself."""
    kinds: tuple[Kind, ...] = ("python", "cann", "host_queue", "device_stream", "device_stream", "communication", "step")
    names = st.sampled_from(["aten::item", "GetNext", "EVENT_WAIT", "hcom_allReduce_1", "MatMul", "main.py(3): f"])
    row = st.tuples(st.integers(0, 400_000), st.one_of(st.integers(0, 20_000), st.integers(0, 400_000)), names)
    tracks = [
        (Track("p", f"{kind} {index}", "1", draw(st.sampled_from("78")), kind, (0, index)), draw(st.lists(row, max_size=12)))
        for index, kind in enumerate(draw(st.lists(st.sampled_from(kinds), max_size=6)))
    ]
    slices = [(track, number) for track, (_, rows) in enumerate(tracks) for number in range(len(rows))]
    ends = st.tuples(st.sampled_from(slices), st.sampled_from(slices), st.sampled_from(["HostToDevice", "async_npu"]))
    return trace(tracks, arrows=draw(st.lists(ends, max_size=20)) if slices else [])
