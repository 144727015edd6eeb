"""Clocks of ranks: how far the devices of two traces are apart, found by collectives that both took part in.

A collective ends on all ranks at nearly the same moment; it begins when a rank arrives, which says who was late and nothing
about clocks. The shift is therefore the median difference of the ends, and it belongs to the tracks of the device: the host of
the same rank has a clock of its own. Nothing is shifted unless somebody asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace.columns import CounterValues, Trace

DEVICE = frozenset({"device_stream", "communication", "overlap"})
"""Kinds of tracks whose times come from the clock of the device."""
_COLLECTIVE = re.compile(r"(?i)^(hcom|hccl|nccl|lccl)|all_?reduce|all_?gather|reduce_?scatter|broadcast|all_?to_?all|barrier")
"""Send and receive are not among them: they end on one rank before the other."""


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective as one rank saw it; the same one has the same name and number on every rank."""

    name: str
    number: int
    """How many of this name came before it."""
    row: int
    start: int
    """ns since 1970 or whatever zero the clock of the source has."""
    end: int


@dataclass(frozen=True, slots=True)
class ClockShift:
    """How far a device is behind (or, negative, before) that of the reference."""

    ns: int
    """Median of reference end - own end: what must be added to the times of the device."""
    spread_ns: int
    """Largest distance of a collective from this median."""
    collectives: int
    """Number of collectives that both ranks have."""


def collectives(trace: Trace) -> list[Collective]:
    """Collectives of a trace in order of time: outermost slices of communication tracks that are named as such."""
    slices = trace.slices
    named = np.array([_COLLECTIVE.search(name) is not None for name in trace.names] or [False])
    parts = [
        np.arange(track.first, track.last)
        for track in trace.tracks
        if track.kind == "communication" and track.last > track.first
    ]
    rows = np.concatenate([np.zeros(0, np.int64), *parts])
    rows = rows[named[slices.name[rows]] & (slices.depth[rows] == 0)] if len(rows) else rows
    seen: dict[str, int] = {}
    found = []
    for row in rows[np.argsort(slices.start[rows], kind="stable")].tolist():
        name = trace.names[slices.name[row]]
        start = trace.origin_ns + int(slices.start[row])
        found.append(Collective(name, seen.setdefault(name, 0), row, start, start + int(slices.duration[row])))
        seen[name] += 1
    return found


def shift(reference: Trace, other: Trace) -> ClockShift | None:
    """How far the device of `other` must be moved; None if the two have no collective in common or clocks of different zero."""
    if reference.clock != other.clock:
        return None
    return between(collectives(reference), collectives(other))


def between(reference: Sequence[Collective], other: Sequence[Collective]) -> ClockShift | None:
    """How far the device that saw the `other` collectives must be moved; None if none of them is the same."""
    ends = {(each.name, each.number): each.end for each in reference}
    both = [ends[key] - each.end for each in other if (key := (each.name, each.number)) in ends]
    if not both:
        return None
    median = sorted(both)[len(both) // 2] if len(both) % 2 else sum(sorted(both)[len(both) // 2 - 1 : len(both) // 2 + 1]) // 2
    return ClockShift(median, max(abs(each - median) for each in both), len(both))


def shifted(trace: Trace, ns: int) -> Trace:
    """The trace with the tracks of its device moved by `ns`. Its origin moves too if a time would become negative."""
    slices, counters = trace.slices, trace.counters
    device = np.array([track.kind in DEVICE for track in trace.tracks] or [False])
    start = slices.start + np.where(device[slices.track], ns, 0) if len(slices) else slices.start
    earliest = min(int(start.min(initial=0)), 0)
    origin = trace.origin_ns + earliest
    moved = replace(slices, start=start - earliest)
    later = CounterValues(counters.track, counters.series, counters.time - earliest, counters.value)
    return replace(trace, origin_ns=origin, slices=moved, counters=later)


def last_to_come(traces: Sequence[Trace], of: int, row: int) -> tuple[int, int] | None:
    """Which of several ranks began a collective last (index into `traces`), and how many ns after the first of them.

    The collective is a slice of `traces[of]`, such as one that `gaps.explain` names. None if it is no collective, or if no
    other rank has it. Clocks are taken as they are: align the devices first.
    """
    known = [collectives(trace) for trace in traces]
    wanted = next(((each.name, each.number) for each in known[of] if each.row == row), None)
    starts = [(each.start, index) for index, found in enumerate(known) for each in found if (each.name, each.number) == wanted]
    if len(starts) < 2:
        return None
    return max(starts)[1], max(starts)[0] - min(starts)[0]


def backwards(trace: Trace) -> NDArray[np.int64]:
    """Arrows (rows of `flows`) that lead to a slice which starts before the one they begin at: what a wrong clock leaves."""
    start = trace.slices.start
    return np.flatnonzero(start[trace.flows.target] < start[trace.flows.source])
