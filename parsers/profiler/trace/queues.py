"""The launch queues of streams: how much was launched and had not begun, as counters beside the tracks of the streams.

Holistic Trace Analysis defines them (hta/analyzers/trace_counters.py): a queue grows when a call that launches begins, and
shrinks when what it launched begins on the device. Traces of CUDA, ROCm and others that Kineto wrote have an arrow from each
call to what it launched.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace.columns import CounterValues, Trace, Track

Longs = NDArray[np.int64]
ARROWS = frozenset({"ac2g", "async_cpu_to_gpu", "async_gpu", "async"})
"""Kinds of the arrows of launches, by the version of Kineto."""
NAME = "launch queue"
SERIES = "launched, not begun"


def queue_lengths(call: Longs, start: Longs) -> tuple[Longs, Longs]:
    """Return the times at which a queue changes, and its length from each on; at one time what grows it comes first.

    call and start are when each launching call began, and when what it launched did, in ns.
    """
    time = np.concatenate((call, start))
    change = np.concatenate((np.ones(len(call), np.int64), -np.ones(len(start), np.int64)))
    order = np.lexsort((-change, time))
    return time[order], np.cumsum(change[order])


def with_queues(trace: Trace) -> Trace:
    """Return a trace with a track for the launch queue of each stream behind that stream; the same if it tells of no launch."""
    call = _calls(trace)
    launched = np.flatnonzero(call >= 0)
    streams = np.unique(trace.slices.track[launched])
    if not len(streams):
        return trace
    # The tracks behind a stream move by one for each stream before them.
    moved = np.arange(len(trace.tracks)) + np.searchsorted(streams, np.arange(len(trace.tracks)))
    tracks: list[Track] = []
    found: list[tuple[int, Longs, Longs]] = []
    for number, track in enumerate(trace.tracks):
        tracks.append(track)
        if number in streams:
            rows = launched[trace.slices.track[launched] == number]
            time, length = queue_lengths(trace.slices.start[call[rows]], trace.slices.start[rows])
            last = np.append(np.diff(time) > 0, True)  # at one time the length after all changes is what a curve shows
            found.append((len(tracks), time[last], length[last]))
            tracks.append(_track(track))
    slices, place = trace.slices, moved.astype(np.int32)
    return replace(
        trace, tracks=tuple(tracks), series=(*trace.series, SERIES), slices=replace(slices, track=place[slices.track]),
        counters=_joined(trace, place, found),
    )  # fmt: skip


def _calls(trace: Trace) -> Longs:
    """Return the row of the call that launched each slice of a stream; -1 for unknown. Of several it is the latest."""
    slices, flows = trace.slices, trace.flows
    call = np.full(len(slices), -1, np.int64)
    kinds = np.array([kind in ARROWS for kind in trace.flow_kinds], np.bool_)
    if not kinds.any():
        return call
    stream = np.array([track.kind == "device_stream" for track in trace.tracks], np.bool_)
    chosen = kinds[flows.kind] & stream[slices.track[flows.target]] & ~stream[slices.track[flows.source]]
    source, target = flows.source[chosen], flows.target[chosen]
    order = np.argsort(slices.start[source], kind="stable")
    call[target[order]] = source[order]
    return call


def _track(stream: Track) -> Track:
    name, id_ = (f"{one}: {NAME}" for one in (stream.thread.strip(), stream.thread_id))
    return Track(
        stream.process, name, stream.process_id, id_, "counter", stream.order, stream.last, stream.last
    )


def _joined(trace: Trace, place: NDArray[np.int32], found: list[tuple[int, Longs, Longs]]) -> CounterValues:
    """Return the counters of the trace and the queues, ordered as `CounterValues`; place is the new number of each track."""
    own = trace.counters
    sizes = [len(time) for _, time, _ in found]
    track = np.concatenate([place[own.track], np.repeat([number for number, _, _ in found], sizes).astype(np.int32)])
    series = np.concatenate([own.series, np.full(sum(sizes), len(trace.series), np.int32)])
    time = np.concatenate([own.time, *(times for _, times, _ in found)])
    value = np.concatenate([own.value, *(lengths.astype(np.float64) for _, _, lengths in found)])
    order = np.argsort(track, kind="stable")
    return CounterValues(track[order], series[order], time[order], value[order])
