"""A range of a trace as Chrome trace JSON, which Perfetto and chrome://tracing open."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import orjson

from parsers.profiler.trace.columns import ASYNC, INSTANT, UNFINISHED, UNSTARTED, Trace
from parsers.profiler.trace.running import Running

_ROWS = 4096
_PHASES = {INSTANT: "i", ASYNC: "b", UNFINISHED: "B", UNSTARTED: "E"}


def chrome(trace: Trace, t0: int, t1: int, *, arguments: Callable[[int], Mapping[str, Any]] | None = None) -> Iterator[bytes]:
    """Pieces of a JSON file with all slices that run from `t0` to before `t1` (ns since the origin), whole, with their arrows.

    Times are in us with three decimals, since the origin of the trace, which the file names. Processes and threads are numbers,
    as Perfetto wants them. `arguments` gives those of a row; without it there are none.
    """
    processes: dict[tuple[str, str], int] = {}
    pids = [processes.setdefault((track.process, track.process_id), len(processes) + 1) for track in trace.tracks]
    origin = {"path": trace.path, "origin_ns": str(trace.origin_ns), "clock": trace.clock}
    yield b'{"displayTimeUnit":"ns","otherData":' + orjson.dumps(origin) + b',"traceEvents":[\n'
    yield b",\n".join(_metadata(trace, pids))
    running, slices = Running(trace), trace.slices
    chosen = np.zeros(len(slices), np.bool_)
    for index, track in enumerate(trace.tracks):
        if track.last == track.first or t1 <= t0:
            continue
        before = running.at(index, t0)
        first, last = running.inside(index, t0, t1)
        rows = np.concatenate([before[before < first], np.arange(first, last)])
        chosen[rows] = True
        for piece in range(0, len(rows), _ROWS):
            events = [
                event
                for row in rows[piece : piece + _ROWS].tolist()
                for event in _slice(trace, row, pids[index], index + 1, arguments)
            ]
            yield b",\n" + b",\n".join(events)
    arrows = np.flatnonzero(chosen[trace.flows.source] & chosen[trace.flows.target])
    for piece in range(0, len(arrows), _ROWS):
        yield b"".join(b",\n" + end for number in arrows[piece : piece + _ROWS].tolist() for end in _arrow(trace, number, pids))
    counters = np.flatnonzero((trace.counters.time >= t0) & (trace.counters.time < t1))
    for piece in range(0, len(counters), _ROWS):
        yield b"".join(b",\n" + _counter(trace, number, pids) for number in counters[piece : piece + _ROWS].tolist())
    yield b"\n]}\n"


def _metadata(trace: Trace, pids: list[int]) -> Iterator[bytes]:
    yield b'{"ph":"M","name":"mindscope_range","pid":0,"tid":0,"args":{}}'
    named: set[int] = set()
    for index, (track, pid) in enumerate(zip(trace.tracks, pids, strict=True), 1):
        if pid not in named:
            named.add(pid)
            yield _named("process_name", pid, 0, name=track.process)
            yield _named("process_sort_index", pid, 0, sort_index=track.order[0])
        yield _named("thread_name", pid, index, name=track.thread)
        yield _named("thread_sort_index", pid, index, sort_index=track.order[1])


def _named(what: str, pid: int, tid: int, **args: object) -> bytes:
    return _json({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": args})


def _slice(trace: Trace, row: int, pid: int, tid: int, arguments: Callable[[int], Mapping[str, Any]] | None) -> Iterator[bytes]:
    slices = trace.slices
    phase = int(slices.phase[row])
    event: dict[str, Any] = {"ph": _PHASES.get(phase, "X"), "name": trace.names[slices.name[row]], "pid": pid, "tid": tid}
    if category := trace.categories[slices.category[row]]:
        event["cat"] = category
    if arguments is not None:
        event["args"] = arguments(row)
    start, end = int(slices.start[row]), int(slices.start[row] + slices.duration[row])
    if phase == ASYNC:
        event |= {"cat": event.get("cat", "async"), "id": row}
        yield _timed(event, start)
        yield _timed({"ph": "e", "name": event["name"], "cat": event["cat"], "id": row, "pid": pid, "tid": tid}, end)
    elif phase == INSTANT:
        yield _timed(event | {"s": "t"}, start)
    elif phase in (UNFINISHED, UNSTARTED):
        yield _timed(event, start if phase == UNFINISHED else end)
    else:
        yield _timed(event, start, end - start)


def _arrow(trace: Trace, number: int, pids: list[int]) -> Iterator[bytes]:
    flows, slices = trace.flows, trace.slices
    kind = trace.flow_kinds[flows.kind[number]] or "flow"
    for phase, row in (("s", int(flows.source[number])), ("f", int(flows.target[number]))):
        track = int(slices.track[row])
        event = {"ph": phase, "bp": "e", "name": kind, "cat": kind, "id": number, "pid": pids[track], "tid": track + 1}
        yield _timed(event, int(slices.start[row]))


def _counter(trace: Trace, number: int, pids: list[int]) -> bytes:
    counters = trace.counters
    track = int(counters.track[number])
    value = float(counters.value[number])
    args = {trace.series[counters.series[number]]: value}
    return _timed({"ph": "C", "name": trace.tracks[track].thread, "pid": pids[track], "tid": track + 1, "args": args},
                  int(counters.time[number]))  # fmt: skip


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
