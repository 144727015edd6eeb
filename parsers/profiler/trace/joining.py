"""Joins the traces of several files of one recording, such as the iterations that msprof writes one file each for, into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.model import Problem
from parsers.profiler.trace import lanes
from parsers.profiler.trace.columns import CounterValues, Flows, Slices, Trace, Track

MOST_FILES = 1 << 20
_BITS = 63
"""Bits of `Slices.event` without its sign. The upper ones, as many as the files need, are the place of a file in `Trace.files`;
those below the place of the event in its file: a byte offset and a number (`events`), or a table and a row id (`databases`)."""


def joined(path: str, traces: Sequence[Trace]) -> Trace:
    """One trace of several; path is what to call it.

    Tracks of the same process and thread (number and name) are one, in order of the first file that has them. Times stay those
    of the clock of the first one. Left out, and named by a problem, are a file that counts from another zero, those after the
    first MOST_FILES, and a file so long that the place of an event in it does not fit into `Slices.event` beside the file's.
    """
    taken, left_out = _fitting(traces)
    problems = [*(problem for one in traces for problem in one.problems), *left_out]
    width = _width(len(taken))
    origin = min((one.origin_ns for one in taken if _size(one)), default=0)
    tracks: dict[tuple[str, str, str, str], int] = {}
    firsts: list[Track] = []
    names: dict[str, int] = {}
    categories: dict[str, int] = {}
    series: dict[str, int] = {}
    kinds: dict[str, int] = {}
    of_slices: list[list[NDArray[Any]]] = []
    of_flows: list[list[NDArray[Any]]] = []
    of_counters: list[list[NDArray[Any]]] = []
    row = 0
    for place, one in enumerate(taken):
        numbers = []
        for each in one.tracks:
            key = (each.process_id, each.thread_id, each.process, each.thread)
            if key not in tracks:
                tracks[key] = len(firsts)
                firsts.append(each)
            numbers.append(tracks[key])
        track_of = np.array(numbers, np.int32)
        slices, later = one.slices, one.origin_ns - origin
        of_slices.append([
            track_of[slices.track], slices.start + later, slices.duration, _codes(names, one.names)[slices.name],
            _codes(categories, one.categories)[slices.category], slices.phase, slices.event + (place << width),
        ])  # fmt: skip
        flows, counters = one.flows, one.counters
        of_flows.append([flows.source + row, flows.target + row, _codes(kinds, one.flow_kinds)[flows.kind]])
        of_counters.append([
            track_of[counters.track], _codes(series, one.series)[counters.series], counters.time + later, counters.value,
        ])  # fmt: skip
        row += len(slices)
    rank, ordered = _order(firsts)
    track, start, duration, name, category, phase, event = (np.concatenate(parts) for parts in zip(*of_slices, strict=True))
    track = rank[track]
    order = np.lexsort((event, -duration, start, track))
    track, start, duration = track[order], start[order], duration[order]
    depth, own = lanes.assign(track, start, duration)
    slices = Slices(track, start, duration, name[order], category[order], phase[order], event[order], depth, own)
    lasts = np.searchsorted(track, np.arange(len(ordered)), "right").tolist()
    placed = tuple(
        replace(one, first=first, last=last) for one, first, last in zip(ordered, [0, *lasts], lasts, strict=False)
    )
    place_of = np.empty(len(order), np.int64)
    place_of[order] = np.arange(len(order))
    return Trace(
        path, origin, traces[0].clock, placed, list(names), tuple(categories), tuple(series), tuple(kinds), slices,
        _flows(of_flows, place_of), _counters(of_counters, rank), tuple(problems), tuple(one.path for one in taken),
    )  # fmt: skip


def of_file(trace: Trace, row: int) -> tuple[str, int]:
    """The file of a slice, and the place of its event in this file."""
    event = int(trace.slices.event[row])
    if not trace.files:
        return trace.path, event
    width = _width(len(trace.files))
    return trace.files[event >> width], event & ((1 << width) - 1)


def _width(files: int) -> int:
    """Bits of `Slices.event` for the place of an event in one of some files."""
    return _BITS - max(files - 1, 0).bit_length()


def _fitting(traces: Sequence[Trace]) -> tuple[list[Trace], list[Problem]]:
    """The traces that can be joined, and what is said of the others."""
    taken: list[Trace] = []
    problems: list[Problem] = []
    width = _width(min(len(traces), MOST_FILES))
    for one in traces:
        if one.clock != traces[0].clock and _size(one):
            text = f"Expected times of the clock of {traces[0].path}, found those of another one."
        elif len(taken) == MOST_FILES:
            text = f"Expected at most {MOST_FILES:,} files of one recording, found more; this one is not shown."
        elif int(one.slices.event.max(initial=0)) >> width:
            text = f"Expected places of events below 2^{width} in each of {len(traces):,} files, found more; it is not shown."
        else:
            taken.append(one)
            continue
        problems.append(Problem(one.path, 0, 0, "bad_trace", text))
    return taken, problems


def _size(trace: Trace) -> int:
    return len(trace.slices) + len(trace.counters)


def _codes(known: dict[str, int], texts: Sequence[str]) -> NDArray[np.int32]:
    return np.array([known.setdefault(text, len(known)) for text in texts], np.int32)


def _order(tracks: Sequence[Track]) -> tuple[NDArray[np.int32], list[Track]]:
    """The new number of each track, and the tracks in that order: by the sort index of processes and threads, as in a file."""
    first: dict[str, int] = {}
    for place, track in enumerate(tracks):
        first.setdefault(track.process_id, place)
    places = sorted(
        range(len(tracks)),
        key=lambda place: (tracks[place].order[0], first[tracks[place].process_id], tracks[place].order[1], place),
    )
    rank = np.empty(len(tracks), np.int32)
    rank[places] = np.arange(len(places))
    return rank, [tracks[place] for place in places]


def _flows(parts: list[list[NDArray[Any]]], place: NDArray[np.int64]) -> Flows:
    source, target, kind = (np.concatenate(each) for each in zip(*parts, strict=True))
    source, target = place[source], place[target]
    order = np.lexsort((target, source))
    return Flows(source[order], target[order], kind[order])


def _counters(parts: list[list[NDArray[Any]]], rank: NDArray[np.int32]) -> CounterValues:
    track, series, time, value = (np.concatenate(each) for each in zip(*parts, strict=True))
    track = rank[track]
    order = np.lexsort((time, series, track))
    return CounterValues(track[order], series[order], time[order], value[order])
