"""Several traces on one axis: tracks, lanes, slices and names of all are numbered one after the other.

Nothing is copied: each answer is put together from those of the traces, with times moved (`placing`). A single trace is the
simplest case, whose numbers and times are its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.profiler.trace import alignment, flames, ranges, search, views
from parsers.profiler.trace.columns import Track
from parsers.profiler.trace.opened import CounterCurve, OpenTrace, TraceStep
from parsers.profiler.trace.placing import Axis, TracePlacement, axis_of, common_step, comparable, places
from parsers.profiler.trace.views import TraceView

MOST_PARTS = 16
MOST_ROWS = 1 << 32
"""Slices of all traces: their numbers are packed into four bytes."""
MOST_SCANNED = 1 << 20
"""Slices of a trace without a pyramid that a view looks at."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,16}\b")
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RankPart:
    """One of the traces."""

    number: int
    opened: OpenTrace
    label: str
    place: TracePlacement
    track: int
    """Number of its first track; in the same way lane, row and name."""
    lane: int
    row: int
    name: int

    def shift(self, track: int) -> int:
        """ns to add to the times of one of its tracks."""
        device = self.opened.trace.tracks[track].kind in alignment.DEVICE
        return self.place.shift + (self.place.device if device else 0)

    def groups(self, tracks: Sequence[int] | None = None) -> list[tuple[int, list[int] | None]]:
        """(ns to add, tracks) for its tracks (all if None), which may be moved differently; None stands for all again."""
        if not self.place.device:
            return [(self.place.shift, None if tracks is None else list(tracks))]
        found: dict[int, list[int] | None] = {}
        for track in range(len(self.opened.trace.tracks)) if tracks is None else tracks:
            of = found.setdefault(self.shift(track), [])
            assert of is not None
            of.append(track)
        return list(found.items())


class Together:
    """Traces on one axis; the first is the one that the others are compared with."""

    def __init__(
        self, opened: Sequence[OpenTrace], labels: Sequence[str] = (), axis: Axis | None = None, *, step: str = "",
        devices: bool = False,
    ) -> None:  # fmt: skip
        """labels: what to call the traces. ValueError for none or too many of them, or clocks that cannot be compared."""
        if not 1 <= len(opened) <= MOST_PARTS:
            raise ValueError(f"expected from 1 to {MOST_PARTS} traces; found {len(opened)}")
        self.axis: Axis = axis or axis_of(opened)
        self.comparable = comparable(opened)
        self.at = (step or common_step(opened)) if self.axis == "step" else ""
        """The label of the step that is aligned; "" if none is."""
        found = places(opened, self.axis, step=step, devices=devices)
        if len(opened) == 1:
            found = [TracePlacement(0)]
        track = lane = row = name = 0
        parts = []
        for number, (one, place) in enumerate(zip(opened, found, strict=True)):
            label = labels[number] if labels else ""
            parts.append(RankPart(number, one, label, place, track, lane, row, name))
            track += len(one.trace.tracks)
            lane += int(one.first_lanes[-1])
            row += len(one.trace.slices)
            name += len(one.trace.names)
        if row > MOST_ROWS:
            raise ValueError(f"expected at most {MOST_ROWS:,} slices in all traces together; found {row:,}")
        self.parts = tuple(parts)
        self.tracks, self.lanes, self.rows, self.names = track, lane, row, name

    @cached_property
    def end(self) -> int:
        """ns at which the last of the traces ends."""
        return max(part.opened.end + part.place.shift + max(part.place.device, 0) for part in self.parts)

    @cached_property
    def extent(self) -> tuple[int, int]:
        """Start of the first and end of the last slice in ns."""
        spans = []
        for part in [part for part in self.parts if len(part.opened.trace.slices)] or self.parts:
            (first, last), place = part.opened.extent, part.place
            spans.append((first + place.shift + min(place.device, 0), last + place.shift + max(place.device, 0)))
        return min(first for first, _ in spans), max(last for _, last in spans)

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The categories of all traces, each once."""
        return tuple(dict.fromkeys(one for part in self.parts for one in part.opened.trace.categories))

    # Numbers --------------------------------------------------------------------------------------------------------

    def of_track(self, track: int) -> tuple[RankPart, int]:
        """The trace that a track belongs to, and its number there."""
        part = self._of(track, [part.track for part in self.parts])
        return part, track - part.track

    def of_row(self, row: int) -> tuple[RankPart, int]:
        """The trace that a slice belongs to, and its row there."""
        part = self._of(row, [part.row for part in self.parts])
        return part, row - part.row

    def listed(self) -> Iterator[tuple[RankPart, int, Track]]:
        """All tracks in order, as (trace, number there, track)."""
        for part in self.parts:
            for index, track in enumerate(part.opened.trace.tracks):
                yield part, index, track

    def chosen(self, tracks: Sequence[int] | None) -> list[tuple[RankPart, list[int] | None]]:
        """The traces that have some of the tracks, with the numbers there; all of them, with None, if None."""
        if tracks is None:
            return [(part, None) for part in self.parts]
        found: dict[int, tuple[RankPart, list[int]]] = {}
        for track in tracks:
            part, own = self.of_track(track)
            found.setdefault(part.number, (part, []))[1].append(own)
        return list(found.values())

    def _of(self, number: int, firsts: list[int]) -> RankPart:
        # of parts without any, the last one that begins there has it
        return self.parts[max(place for place, first in enumerate(firsts) if first <= number)]

    # Answers --------------------------------------------------------------------------------------------------------

    def pending(self, lanes: Sequence[int], k: int, b0: int, n: int) -> list[int]:
        """Lanes that cannot be drawn yet: their trace has no pyramid, and too many slices in the window to look at each."""
        wanted = np.asarray(lanes, np.int64)
        found: list[int] = []
        for part in self.parts:
            opened = part.opened
            own = wanted[(wanted >= part.lane) & (wanted < part.lane + int(opened.first_lanes[-1]))]
            if opened.pyramid is None and len(own):
                start = b0 - (part.place.shift >> k)
                drawn = views.affordable(opened.trace, opened.running(), own - part.lane, k, start, n, MOST_SCANNED)
                found += own[~drawn].tolist()
        return found

    def view(self, lanes: Sequence[int], k: int, b0: int, n: int, pending: Sequence[int] = ()) -> TraceView:
        """The view of lanes but those `pending`; see `views.view`.

        The buckets of a lane begin later than b0 << k says, by the shift of its track modulo 2**k ns.
        """
        wanted = np.asarray(lanes, np.int64)
        if len(pending):
            wanted = np.where(np.isin(wanted, np.asarray(pending)), -1, wanted)
        found = []
        for part in self.parts:
            count = int(part.opened.first_lanes[-1])
            own = np.flatnonzero((wanted >= part.lane) & (wanted < part.lane + count))
            of = wanted[own] - part.lane
            track = np.searchsorted(part.opened.first_lanes, of, "right") - 1
            for shift in sorted({part.shift(index) for index in np.unique(track).tolist()}):
                moved = np.array([part.shift(index) == shift for index in track.tolist()], np.bool_)
                opened = part.opened
                run = None if opened.pyramid is not None else opened.running()
                made = views.view(opened.trace, opened.pyramid, of[moved].tolist(), k, b0 - (shift >> k), n, running=run)
                found.append(self._moved(part, made, own[moved], shift, b0))
        return views.joined(k, b0, n, found)

    def _moved(self, part: RankPart, view: TraceView, place: Rows, shift: int, b0: int) -> TraceView:
        of = {name: index for index, name in enumerate(self.categories)}
        category = np.array([of[name] for name in part.opened.trace.categories], np.int64)
        return TraceView(
            view.k, b0, view.n, view.row + part.row, place[view.lane], view.start + shift, view.duration,
            view.name + part.name, category[view.category], place[view.small_lane], view.bucket, view.count, view.busy,
            view.longest.astype(np.int64) + part.row,
        )  # fmt: skip

    def statistics(self, t0: int, t1: int, tracks: Sequence[int] | None = None, clip: bool = True) -> pd.DataFrame:
        """RANGE_NAMES of a range; see `ranges.statistics`."""
        return ranges.joined([frame for part, own in self.chosen(tracks) for frame in _statistics(part, t0, t1, own, clip)])

    def difference(
        self, first: int, other: int, t0: int, t1: int, tracks: Sequence[int] | None = None, clip: bool = True
    ) -> pd.DataFrame:
        """RANGE_DIFFERENCES of two of the traces, each in the same range of the axis.

        Addresses in names ("<built-in method f of T object at 0x7f2a>") are not compared: they differ from process to process.
        """
        own = {part.number: of for part, of in self.chosen(tracks)}
        one, two = (
            ranges.joined([
                frame.assign(name=frame["name"].str.replace(_ADDRESS, "0x…", regex=True))
                for frame in (_statistics(self.parts[number], t0, t1, own[number], clip) if number in own else [])
            ])
            for number in (first, other)
        )  # fmt: skip
        return ranges.difference(one, two)

    def by_track(self, t0: int, t1: int, tracks: Sequence[int] | None = None) -> pd.DataFrame:
        """RANGE_TRACKS of a range; see `ranges.by_track`."""
        found = []
        for part, own in self.chosen(tracks):
            opened = part.opened
            for shift, of in part.groups(own):
                frame = ranges.by_track(opened.trace, t0 - shift, t1 - shift, of, pyramid=opened.pyramid)
                found.append(frame.assign(track=frame["track"] + part.track))
        frame = pd.concat(found, ignore_index=True) if found else ranges.RANGE_TRACKS.empty()
        return ranges.RANGE_TRACKS.check(frame.sort_values("track", kind="stable").reset_index(drop=True))

    def flame(self, t0: int, t1: int, tracks: Sequence[int] | None = None) -> pd.DataFrame:
        """FLAMES of a range, equal stacks of several traces as one; see `flames.flame`."""
        return flames.joined([
            flames.flame(part.opened.trace, t0 - shift, t1 - shift, of, pyramid=part.opened.pyramid)
            for part, own in self.chosen(tracks) for shift, of in part.groups(own)
        ])  # fmt: skip

    def find(
        self, names: Sequence[Rows], tracks: Sequence[int] | None = None, shortest_ns: int = 0, limit: int | None = None
    ) -> Rows:
        """Rows of the slices that have one of the names, given as indexes for each trace, as `search.rows` returns them."""
        rows, starts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for part, own in self.chosen(tracks):
            for shift, of in part.groups(own):
                found = search.rows(part.opened.trace, names[part.number], of, shortest_ns, limit)
                rows.append(found + part.row)
                starts.append(part.opened.trace.slices.start[found] + shift)
        row, start = np.concatenate(rows), np.concatenate(starts)
        return row[np.lexsort((row, start))][:limit]

    def starts(self, rows: Rows) -> Rows:
        """Start of slices in ns on the axis."""
        return self._taken(rows, "start") + self._shifts(rows)

    def durations(self, rows: Rows) -> Rows:
        """Duration of slices in ns."""
        return self._taken(rows, "duration")

    def tracks_of(self, rows: Rows) -> Rows:
        """Numbers of the tracks of slices."""
        return self._taken(rows, "track") + np.array([part.track for part in self.parts], np.int64)[self._part(rows)]

    def names_of(self, rows: Rows) -> Rows:
        """Numbers of the names of slices."""
        return self._taken(rows, "name") + np.array([part.name for part in self.parts], np.int64)[self._part(rows)]

    def _part(self, rows: Rows) -> Rows:
        return np.searchsorted(np.array([part.row for part in self.parts], np.int64), rows, "right").astype(np.int64) - 1

    def _taken(self, rows: Rows, column: str) -> Rows:
        found = np.zeros(len(rows), np.int64)
        of = self._part(rows)
        for place, part in enumerate(self.parts):
            found[of == place] = getattr(part.opened.trace.slices, column)[rows[of == place] - part.row]
        return found

    def _shifts(self, rows: Rows) -> Rows:
        shifts = np.array([part.shift(index) for part, index, _ in self.listed()] or [0], np.int64)
        found: Rows = shifts[self.tracks_of(rows)]
        return found

    def name_range(self, first: int, last: int) -> list[str]:
        """Names by number."""
        found: list[str] = []
        for part in self.parts:
            size = len(part.opened.trace.names)
            found += [part.opened.trace.names[index] for index in range(*_within(first - part.name, last - part.name, size))]
        return found

    def medians(self, first: int, last: int) -> list[float]:
        """Median durations in ns of the slices of names by number, each within its trace."""
        found: list[float] = []
        for part in self.parts:
            low, high = _within(first - part.name, last - part.name, len(part.opened.trace.names))
            if low < high:
                found += part.opened.medians()[low:high].tolist()
        return found

    def steps(self) -> list[TraceStep]:
        """The steps of the first trace."""
        first = self.parts[0]
        return [TraceStep(step.label, step.start + first.place.shift, step.duration) for step in first.opened.steps()]

    def busy(self, columns: int) -> tuple[str, NDArray[np.float32]]:
        """(what is counted, busy share 0..1 of each part of the axis): the mean of the traces with a device, if any has one."""
        found = []
        for part in self.parts:
            place = part.place
            found.append(part.opened.busy(columns, -place.shift, self.end - place.shift, place.device))
        counted = "device" if any(counted == "device" for counted, _ in found) else "any"
        shares = [share for of, share in found if of == counted]
        return counted, np.mean(shares, axis=0, dtype=np.float32)

    def curves(self, track: int, start: int, stop: int, columns: int) -> list[CounterCurve]:
        """The series of a counter track; see `OpenTrace.curves`."""
        part, own = self.of_track(track)
        shift = part.shift(own)
        found = part.opened.curves(own, start - shift, stop - shift, columns)
        return [one._replace(time=one.time + shift) for one in found]

    def same_collective(self, row: int) -> list[tuple[int, int, int]]:
        """(row, start, end) on the axis of a collective on each trace that has it, in their order; [] for any other slice."""
        part, own = self.of_row(row)
        track = int(part.opened.trace.slices.track[own])
        if len(self.parts) < 2 or part.opened.trace.tracks[track].kind != "communication":
            return []
        wanted = part.opened.collective(own)
        found = []
        for other in self.parts if wanted is not None else ():
            assert wanted is not None
            each = other.opened.collective((wanted.name, wanted.number))
            if each is not None:
                shift = other.shift(int(other.opened.trace.slices.track[each.row])) - other.opened.trace.origin_ns
                found.append((each.row + other.row, each.start + shift, each.end + shift))
        return found

    def last_to_come(self, row: int) -> tuple[RankPart, int] | None:
        """The trace that began a collective last, and how many ns after the first one; None for any other slice."""
        found = self.same_collective(row)
        if len(found) < 2:
            return None
        last = max(found, key=lambda one: one[1])
        return self.of_row(last[0])[0], last[1] - min(start for _, start, _ in found)


def _statistics(part: RankPart, t0: int, t1: int, tracks: list[int] | None, clip: bool) -> list[pd.DataFrame]:
    """RANGE_NAMES of one of the traces, by how far its tracks are moved."""
    opened, found = part.opened, []
    for shift, of in part.groups(tracks):
        frame = ranges.statistics(opened.trace, t0 - shift, t1 - shift, of, clip, pyramid=opened.pyramid)
        found.append(frame.assign(longest=frame["longest"] + part.row))
    return found


def _within(first: int, last: int, size: int) -> tuple[int, int]:
    """A range cut to 0..size."""
    low = min(max(first, 0), size)
    return low, max(low, min(max(last, 0), size))
