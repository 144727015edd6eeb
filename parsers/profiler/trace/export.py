"""A range of a trace as Chrome trace JSON, which Perfetto and chrome://tracing open."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import orjson

from parsers.profiler.trace.columns import ASYNC, INSTANT, UNFINISHED, UNSTARTED, Trace
from parsers.profiler.trace.running import Running

_ROWS = 4096
_PHASES = {INSTANT: "i", ASYNC: "b", UNFINISHED: "B", UNSTARTED: "E"}


class TracePart(NamedTuple):
    """One of several traces to export."""

    trace: Trace
    label: str = ""
    """What its processes are called besides, "" for nothing."""
    shifts: Sequence[int] = ()
    """ns to add to the times of each of its tracks; nothing if empty."""
    arguments: Callable[[int], Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The numbers that the processes of a trace and its first arrow have in the file, and what is added to its times (ns)."""

    pids: list[int]
    label: str
    shifts: Sequence[int]
    first: int = 0


def chrome(trace: Trace, t0: int, t1: int, *, arguments: Callable[[int], Mapping[str, Any]] | None = None) -> Iterator[bytes]:
    """Pieces of a JSON file with all slices that run from `t0` to before `t1` (ns since the origin), whole, with their arrows.

    Times are in us with three decimals, since the origin of the trace, which the file names. Processes and threads are numbers,
    as Perfetto wants them. `arguments` gives those of a row; without it there are none.
    """
    return together([TracePart(trace, arguments=arguments)], t0, t1)


def together(parts: Sequence[TracePart], t0: int, t1: int) -> Iterator[bytes]:
    """The same for several traces on one axis, of which `t0` and `t1` are times (ns)."""
    origins = [
        {"path": part.trace.path, "origin_ns": str(part.trace.origin_ns), "clock": part.trace.clock}
        | ({"label": part.label, "shifts_ns": sorted(set(part.shifts))} if part.label else {})
        for part in parts
    ]
    about = origins[0] if len(parts) == 1 else {"traces": origins}
    yield b'{"displayTimeUnit":"ns","otherData":' + orjson.dumps(about) + b',"traceEvents":[\n'
    yield b'{"ph":"M","name":"mindscope_range","pid":0,"tid":0,"args":{}}'
    processes = arrows = 0
    for part in parts:
        known: dict[tuple[str, str], int] = {}
        tracks = part.trace.tracks
        pids = [processes + known.setdefault((one.process, one.process_id), len(known) + 1) for one in tracks]
        numbers = _Numbers(pids, part.label, part.shifts or [0] * len(tracks), arrows)
        yield from _events(part.trace, numbers, t0, t1, part.arguments)
        processes, arrows = processes + len(known), arrows + max(len(part.trace.flows), len(part.trace.slices))
    yield b"\n]}\n"


def _events(
    trace: Trace, numbers: _Numbers, t0: int, t1: int, arguments: Callable[[int], Mapping[str, Any]] | None
) -> Iterator[bytes]:
    """The events of a trace, each after a comma."""
    yield b"".join(b",\n" + event for event in _metadata(trace, numbers))
    running, slices = Running(trace), trace.slices
    chosen = np.zeros(len(slices), np.bool_)
    for index, track in enumerate(trace.tracks):
        if track.last == track.first or t1 <= t0:
            continue
        shift = numbers.shifts[index]
        before = running.at(index, t0 - shift)
        first, last = running.inside(index, t0 - shift, t1 - shift)
        rows = np.concatenate([before[before < first], np.arange(first, last)])
        chosen[rows] = True
        for piece in range(0, len(rows), _ROWS):
            events = [
                event
                for row in rows[piece : piece + _ROWS].tolist()
                for event in _slice(trace, row, numbers, arguments)
            ]
            yield b",\n" + b",\n".join(events)
    arrows = np.flatnonzero(chosen[trace.flows.source] & chosen[trace.flows.target])
    for piece in range(0, len(arrows), _ROWS):
        ends = (end for number in arrows[piece : piece + _ROWS].tolist() for end in _arrow(trace, number, numbers))
        yield b"".join(b",\n" + end for end in ends)
    shifts = np.array([*numbers.shifts, 0], np.int64)
    time = trace.counters.time + shifts[trace.counters.track]
    counters = np.flatnonzero((time >= t0) & (time < t1))
    for piece in range(0, len(counters), _ROWS):
        yield b"".join(b",\n" + _counter(trace, number, numbers) for number in counters[piece : piece + _ROWS].tolist())


def _metadata(trace: Trace, numbers: _Numbers) -> Iterator[bytes]:
    named: set[int] = set()
    for index, (track, pid) in enumerate(zip(trace.tracks, numbers.pids, strict=True), 1):
        if pid not in named:
            named.add(pid)
            yield _named("process_name", pid, 0, name=" · ".join(filter(None, (numbers.label, track.process))))
            yield _named("process_sort_index", pid, 0, sort_index=track.order[0])
        yield _named("thread_name", pid, index, name=track.thread)
        yield _named("thread_sort_index", pid, index, sort_index=track.order[1])


def _named(what: str, pid: int, tid: int, **args: object) -> bytes:
    return _json({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": args})


def _slice(
    trace: Trace, row: int, numbers: _Numbers, arguments: Callable[[int], Mapping[str, Any]] | None
) -> Iterator[bytes]:
    slices = trace.slices
    track = int(slices.track[row])
    pid, tid = numbers.pids[track], track + 1
    phase = int(slices.phase[row])
    event: dict[str, Any] = {"ph": _PHASES.get(phase, "X"), "name": trace.names[slices.name[row]], "pid": pid, "tid": tid}
    if category := trace.categories[slices.category[row]]:
        event["cat"] = category
    if arguments is not None:
        event["args"] = arguments(row)
    start = int(slices.start[row]) + numbers.shifts[track]
    end = start + int(slices.duration[row])
    if phase == ASYNC:
        number = row + numbers.first
        event |= {"cat": event.get("cat", "async"), "id": number}
        yield _timed(event, start)
        yield _timed({"ph": "e", "name": event["name"], "cat": event["cat"], "id": number, "pid": pid, "tid": tid}, end)
    elif phase == INSTANT:
        yield _timed(event | {"s": "t"}, start)
    elif phase in (UNFINISHED, UNSTARTED):
        yield _timed(event, start if phase == UNFINISHED else end)
    else:
        yield _timed(event, start, end - start)


def _arrow(trace: Trace, number: int, numbers: _Numbers) -> Iterator[bytes]:
    flows, slices = trace.flows, trace.slices
    kind = trace.flow_kinds[flows.kind[number]] or "flow"
    for phase, row in (("s", int(flows.source[number])), ("f", int(flows.target[number]))):
        track = int(slices.track[row])
        event = {
            "ph": phase, "bp": "e", "name": kind, "cat": kind, "id": number + numbers.first, "pid": numbers.pids[track],
            "tid": track + 1,
        }  # fmt: skip
        yield _timed(event, int(slices.start[row]) + numbers.shifts[track])


def _counter(trace: Trace, number: int, numbers: _Numbers) -> bytes:
    counters = trace.counters
    track = int(counters.track[number])
    value = float(counters.value[number])
    args = {trace.series[counters.series[number]]: value}
    event = {"ph": "C", "name": trace.tracks[track].thread, "pid": numbers.pids[track], "tid": track + 1, "args": args}
    return _timed(event, int(counters.time[number]) + numbers.shifts[track])


def _timed(event: Mapping[str, Any], start: int, duration: int | None = None) -> bytes:
    """The event with its times as decimals of us: a float64 would not hold years in ns."""
    times = b'{"ts":%d.%03d,' % divmod(start, 1000)
    if duration is not None:
        times += b'"dur":%d.%03d,' % divmod(duration, 1000)
    return times + _json(event)[1:]


def _json(event: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(event, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError):  # half a pair of surrogates, whole numbers beyond 64 bits
        return json.dumps(event, default=str).encode()
