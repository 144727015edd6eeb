"""Builds a Trace from what a reader has found: sorts slices into tracks, assigns lanes, and binds flows to slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace import lanes
from parsers.profiler.trace.columns import UNFINISHED, Clock, CounterValues, Flows, Slices, Trace, Track

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
EPOCH = 10**18
"""ns after 1970 (2001): a clock that shows more counts from 1970."""
RECENT = 10**9
"""ns: a clock whose first time is earlier counts from the begin of the recording."""
_MANY_TRACKS = 2000


@dataclass(slots=True)
class FoundSlices:
    """Slices in any order, as the columns of Slices; start in ns of the source's clock. They are emptied when used."""

    track: Ints
    start: Longs
    duration: Longs
    name: Ints
    category: Ints
    phase: NDArray[np.uint8]
    event: Longs


@dataclass(slots=True)
class FoundFlows:
    """Ends of flows in any order; time in ns of the source's clock.

    key: those of one flow have the same; role: BEGINS, STEP or ENDS; next: it binds to the slice that begins next, not to the
    one around it; kind: index into flow_kinds.
    """

    track: Ints
    time: Longs
    key: Longs
    role: NDArray[np.uint8]
    next: NDArray[np.bool_]
    kind: Ints


@dataclass(slots=True)
class FoundCounters:
    """Values of counters in any order; time in ns of the source's clock."""

    track: Ints
    series: Ints
    time: Longs
    value: NDArray[np.float64]


BEGINS, STEP, ENDS = range(3)


@dataclass(slots=True)
class FoundOperators:
    """All that is in a source. Numbers of tracks are places in `tracks`."""

    path: str
    tracks: Sequence[Track]
    names: Sequence[str]
    categories: Sequence[str]
    series: Sequence[str]
    flow_kinds: Sequence[str]
    slices: FoundSlices
    flows: FoundFlows
    counters: FoundCounters
    shift: int = 0
    """ns to add to all times, to get those of the clock."""
    clock: Clock | None = None


@dataclass(frozen=True, slots=True)
class Unbound:
    """Ends of flows for which there is nothing at the other end, or no slice."""

    unpaired: int
    without_slice: int


def build(found: FoundOperators, *, plain: bool = False) -> tuple[Trace, Unbound]:
    """Build the trace; `found` is emptied, to save memory. Tracks without slices and counters are left out.

    plain: without lanes and own times, so all slices are in lane 0.
    """
    slices, counters, flows = found.slices, found.counters, found.flows
    times = [times for times in (slices.start, counters.time) if len(times)]
    origin = min((int(each.min()) for each in times), default=0)
    rank, tracks = _order(found)
    slices.track, counters.track = rank[slices.track], rank[counters.track]
    slices.start -= origin
    order = _sorted(slices.track, slices.start, slices.duration, len(tracks))
    made = _taken(slices, order, plain=plain)
    del order
    counts = np.bincount(made.track, minlength=len(tracks)) if len(made) else np.zeros(len(tracks), np.int64)
    lasts = np.cumsum(counts)
    placed = tuple(
        Track(one.process, one.thread, one.process_id, one.thread_id, one.kind, one.order, int(last - count), int(last))
        for one, last, count in zip(tracks, lasts.tolist(), counts.tolist(), strict=True)
    )
    arrows, unbound = _bound(flows, rank, made, placed, origin)
    counters.time -= origin
    values = _taken_counters(counters)
    clock = found.clock or clock_of(origin + found.shift)
    trace = Trace(
        found.path, origin + found.shift, clock, placed, found.names, tuple(found.categories), tuple(found.series),
        tuple(found.flow_kinds), made, arrows, values,
    )  # fmt: skip
    return trace, unbound


def clock_of(origin_ns: int) -> Clock:
    """Return what a clock counts from, by its earliest time."""
    return "epoch" if origin_ns >= EPOCH else "relative" if origin_ns < RECENT else "boot"


def extend(slices: FoundSlices, counters: FoundCounters) -> None:
    """Let slices without an end last to the end of the trace."""
    end = max(int((slices.start + slices.duration).max()), int(counters.time.max(initial=0)))
    unfinished = slices.phase == UNFINISHED
    slices.duration[unfinished] = end - slices.start[unfinished]


def _order(found: FoundOperators) -> tuple[Ints, list[Track]]:
    """Return the new number of each track (by order in the file, then appearance), and the tracks in use in that order."""
    used = np.zeros(len(found.tracks), np.bool_)
    used[found.slices.track] = True
    used[found.counters.track] = True
    first: dict[str, int] = {}
    for place, track in enumerate(found.tracks):
        first.setdefault(track.process_id, place)
    places = sorted(
        np.flatnonzero(used).tolist(),
        key=lambda place: (
            found.tracks[place].order[0], first[found.tracks[place].process_id], found.tracks[place].order[1], place,
        ),
    )  # fmt: skip
    rank = np.full(len(found.tracks), -1, np.int32)
    rank[places] = np.arange(len(places))
    return rank, [found.tracks[place] for place in places]


def _sorted(track: Ints, start: Longs, duration: Longs, tracks: int) -> Longs:
    """Return the order of Slices: by track, start, longest first; what is equal stays in order of appearance."""
    if tracks > _MANY_TRACKS:
        return np.lexsort((-duration, start, track))
    order = np.argsort(track.astype(np.int16), kind="stable")
    lasts = np.cumsum(np.bincount(track, minlength=tracks)).tolist() if len(track) else []
    first = 0
    for last in lasts:
        rows = order[first:last]
        begins = start[rows]
        steps = np.diff(begins)
        if len(steps) and steps.min() <= 0:
            if steps.min() < 0:
                rows = rows[np.argsort(begins, kind="stable")]
                begins = start[rows]
            same = np.flatnonzero(begins[1:] == begins[:-1])
            if len(same):
                # Only rows with equal starts need their durations compared.
                tied = np.union1d(same, same + 1)
                ties = rows[tied]
                rows[tied] = ties[np.lexsort((-duration[ties], start[ties]))]
            order[first:last] = rows
        first = last
    return order


def _taken(slices: FoundSlices, order: Longs, *, plain: bool) -> Slices:
    """Return the slices in order. Each column is dropped as soon as its sorted copy is there."""
    track, slices.track = slices.track[order], np.empty(0, np.int32)
    start, slices.start = slices.start[order], np.empty(0, np.int64)
    duration, slices.duration = slices.duration[order], np.empty(0, np.int64)
    name, slices.name = slices.name[order], np.empty(0, np.int32)
    category, slices.category = slices.category[order], np.empty(0, np.int32)
    phase, slices.phase = slices.phase[order], np.empty(0, np.uint8)
    event, slices.event = slices.event[order], np.empty(0, np.int64)
    if plain:
        return Slices(track, start, duration, name, category, phase, event, np.broadcast_to(np.int32(0), len(track)), duration)
    depth, own = lanes.assign(track, start, duration)
    return Slices(track, start, duration, name, category, phase, event, depth, own)


def _taken_counters(counters: FoundCounters) -> CounterValues:
    """Return the values of counters in order; each column is dropped as soon as its sorted copy is there."""
    by = np.lexsort((counters.time, counters.series, counters.track))
    track, counters.track = counters.track[by], np.empty(0, np.int32)
    series, counters.series = counters.series[by], np.empty(0, np.int32)
    time, counters.time = counters.time[by], np.empty(0, np.int64)
    value, counters.value = counters.value[by], np.empty(0, np.float64)
    return CounterValues(track, series, time, value)


def _bound(
    flows: FoundFlows, rank: Ints, slices: Slices, tracks: Sequence[Track], origin: int
) -> tuple[Flows, Unbound]:
    """Pair the ends of flows, and bind them to slices."""
    count = len(flows.time)
    if not count:
        none = np.empty(0, np.int64)
        return Flows(none, none.copy(), np.empty(0, np.int32)), Unbound(0, 0)
    begin, end = _pairs(flows.key, flows.role, flows.time)
    track = rank[flows.track]
    rows = innermost(slices, tracks, track, flows.time - origin)
    for place in np.flatnonzero(flows.next & (flows.role != BEGINS) & (track >= 0)).tolist():
        one = tracks[track[place]]
        row = one.first + int(np.searchsorted(slices.start[one.first : one.last], flows.time[place] - origin))
        rows[place] = row if row < one.last else -1
    paired = np.zeros(count, np.bool_)
    paired[begin] = paired[end] = True
    source, target = rows[begin], rows[end]
    there = (source >= 0) & (target >= 0)
    kind = flows.kind[begin]
    source, target, kind = source[there], target[there], kind[there]
    order = np.lexsort((target, source))
    unbound = Unbound(int(np.count_nonzero(~paired)), int(np.count_nonzero(~there)))
    return Flows(source[order], target[order], kind[order]), unbound


def _pairs(key: Longs, role: NDArray[np.uint8], time: Longs) -> tuple[Longs, Longs]:
    """Return the ends that belong together.

    If a flow begins once, it leads to all its ends; if it ends as often as it begins, in order of time; otherwise from the
    latest begin before each end, or the first one. A flow with steps leads from one to the next.
    """
    order = np.lexsort((role, time, key))
    sorted_key = key[order]
    firsts = np.flatnonzero(np.diff(sorted_key, prepend=sorted_key[0] - 1))
    group = np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, len(order))))
    roles = role[order]
    begins = np.bincount(group[roles == BEGINS], minlength=len(firsts))
    steps = np.bincount(group[roles == STEP], minlength=len(firsts))
    ends = np.bincount(group[roles == ENDS], minlength=len(firsts))
    plain = steps == 0
    once = plain & (begins == 1)
    equal = plain & (begins > 1) & (begins == ends)
    of_begin, of_end = order[roles == BEGINS], order[roles == ENDS]
    begin_group, end_group = group[roles == BEGINS], group[roles == ENDS]
    sources: list[Longs] = []
    targets: list[Longs] = []
    single = np.full(len(firsts), -1, np.int64)
    single[begin_group] = of_begin
    chosen = once[end_group]
    sources.append(single[end_group[chosen]])
    targets.append(of_end[chosen])
    sources.append(of_begin[equal[begin_group]])
    targets.append(of_end[equal[end_group]])
    for each in np.flatnonzero(~(once | equal) & (begins + steps > 0) & (steps + ends > 0)).tolist():
        last = firsts[each + 1] if each + 1 < len(firsts) else len(order)
        members = order[firsts[each] : last]
        if steps[each]:
            sources.append(members[:-1])
            targets.append(members[1:])
            continue
        starts, stops = members[role[members] == BEGINS], members[role[members] == ENDS]
        place = np.maximum(np.searchsorted(time[starts], time[stops], side="right") - 1, 0)
        sources.append(starts[place])
        targets.append(stops)
    return np.concatenate(sources), np.concatenate(targets)


def innermost(slices: Slices, tracks: Sequence[Track], track: Ints, time: Longs) -> Longs:
    """Return the row of the innermost slice around each time on its track; -1 where there is none."""
    found = np.full(len(time), -1, np.int64)
    order = np.argsort(track, kind="stable")
    bounds = np.searchsorted(track[order], np.arange(len(tracks) + 1))
    for number in np.flatnonzero(np.diff(bounds)).tolist():
        one, asked = tracks[number], order[bounds[number] : bounds[number + 1]]
        if one.last == one.first:
            continue
        depth = slices.depth[one.first : one.last]
        rows = one.first + np.argsort(depth, kind="stable")
        lasts = np.cumsum(np.bincount(depth)).tolist()
        when, best = time[asked], np.full(len(asked), -1, np.int64)
        first = 0
        for last in lasts:
            lane = rows[first:last]
            first = last
            if not len(lane):
                continue
            place = np.searchsorted(slices.start[lane], when, side="right") - 1
            row = lane[np.maximum(place, 0)]
            around = (place >= 0) & (slices.start[row] + slices.duration[row] >= when)
            best = np.where(around & (row > best), row, best)
        found[asked] = best
    return found
