"""Why a stream of a device did nothing: the gaps between its slices, and the cause of each part of them.

A device runs what the host has launched, when what it depends on has come. A gap ends with a slice; the arrows to this slice
say when it was launched and by which thread. Until the launch has ended the gap is the host's: because the host waited for the
device (a synchronisation was under way when the gap began), because it waited for data (calls that fetch data take at least
half of the time), or else because of what its thread ran. After the launch, the stream waited for what ended just before the
gap did, on another stream or in a collective. What no rule explains is unknown. Slices in which a stream itself only waits
(EVENT_WAIT, Notify_Wait) are parts of gaps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.profiler.trace import lanes
from parsers.profiler.trace.arrows import Arrows
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.pyramid import Pyramid
from parsers.profiler.trace.ranges import intervals
from parsers.profiler.trace.running import Running, covered, holes
from parsers.profiler.trace.search import TraceNames
from parsers.schema import Column, Schema

Cause = Literal["host", "synchronisation", "data", "stream", "communication", "short", "unknown"]
CAUSES: tuple[Cause, ...] = ("host", "synchronisation", "data", "stream", "communication", "short", "unknown")
"""`short` are gaps below the threshold, which nobody has looked into."""

GAPS = Schema(
    "gaps",
    "Parts of the gaps of a device stream, in order of time; each part has one cause.",
    (
        Column("gap", "int64", "", "number of the gap, counted from 0; a gap of several causes has several rows"),
        Column("start_ns", "int64", "ns", "start of the part since the origin of the trace"),
        Column("duration_ns", "int64", "ns", "length of the part"),
        Column("cause", "category", "", "host, synchronisation, data, stream, communication, short or unknown"),
        Column("call", "int64", "", "row of the slice that caused it: a call, or what was waited for; -1 if unknown"),
        Column("name", "str", "", "its name; empty if unknown"),
        Column("stack", "str", "", "names of the calls around it, outermost first, a line each; empty if unknown"),
        Column("next", "int64", "", "row of the slice that ends the gap; -1 if none follows"),
    ),
)
CAUSE_SUMS = Schema(
    "gap_causes",
    "What the gaps of a device stream come to, by step and cause; the sums of a step are its idle time.",
    (
        Column("step", "str", "", "name of the step; empty for what is in none"),
        Column("cause", "category", "", "as in gaps"),
        Column("idle_ns", "int64", "ns", "time of the step with this cause"),
        Column("call", "str", "", "name of the call with the most of it; empty if unknown"),
    ),
)

WAITING = re.compile(
    r"(?i)^(event|notify|stream)[ _]?wait|^wait[ _]?(event|notify)|_WAIT(_SQE)?$|^(event|stream|context|device) sync$"
)
SYNCHRONISING = re.compile(
    r"(?i)synchroni[sz]e|streamsync|aten::item\b|_local_scalar_dense|\bitem\b|\btolist\b|\basnumpy\b|aten::nonzero|"
    r"aclrtMemcpy$|aclrtMemcpyWith|\b(cuda|rt)Memcpy$|Memcpy ?(DtoH|D2H)"
)
FETCHING = re.compile(
    r"(?i)dataloader|_next_data|get_?next|__next__|datasetiterator|dataset/engine|data_?queue|collate|minddata"
)
_LINE = re.compile(r"[^<(]*\.py\([0-9]+\): ")
_LIBRARY = re.compile(
    r"(^|/)(site-packages|dist-packages|lib/python[0-9.]+|torch|torch_npu|torchvision|mindspore|numpy|multiprocessing|threading\.py|"
    r"contextlib\.py|runpy\.py|functools\.py)(/|\()"
)
_HOST = frozenset({"python", "cann", "host", "host_queue", "scope", "other"})
_DEVICE = frozenset({"device_stream", "communication"})
_STREAMS = 256
"""Streams and groups that a stream may have waited for: those with the most slices."""
_LOOK = 8
"""Waits in a gap whose arrows are looked at."""
_NEAR = 20_000
"""ns between an end and what it releases: what a device takes to begin, and clocks differ by."""


_LATENCY = 200_000
"""ns that a launch may take to reach an idle device (110,000 in torch_npu traces): a part of the gap that the launch caused."""


@dataclass(frozen=True, slots=True)
class GapPart:
    """A part of a gap, which has one cause, and the slice that is this cause (-1: none)."""

    start: int
    end: int
    cause: Cause
    call: int = -1


class Gaps:
    """Explains the gaps of the streams of one trace.

    `waiting` and `synchronising` say it of each name, `host` and `device` list the tracks that have slices.
    """

    def __init__(self, trace: Trace, pyramid: Pyramid | None = None, names: TraceNames | None = None) -> None:
        """A pyramid, and names made beforehand, save a pass over all slices and names."""
        self._trace = trace
        self.running = Running(trace, None if pyramid is None else pyramid.latest_ends)
        self.arrows = Arrows(trace, self.running)
        names = names or TraceNames(trace.names)
        self.waiting = self._named(names, WAITING)
        self.synchronising = self._named(names, SYNCHRONISING)
        self._fetching = self._named(names, FETCHING)
        self.host = [index for index, track in enumerate(trace.tracks) if track.kind in _HOST and track.last > track.first]
        streams = [index for index, track in enumerate(trace.tracks) if track.kind in _DEVICE and track.last > track.first]
        streams.sort(key=lambda index: trace.tracks[index].first - trace.tracks[index].last)
        self.device = sorted(streams[:_STREAMS])

    def explain(self, track: int, t0: int, t1: int, threshold_ns: int = 10_000) -> pd.DataFrame:
        """GAPS of a stream in a range; gaps shorter than the threshold are `short`. Together they are all of its idle time."""
        begins, ends, following = self._holes(track, t0, t1)
        rows: list[tuple[int, int, int, Cause, int, str, str, int]] = []
        for number, (begin, end, next_) in enumerate(zip(begins.tolist(), ends.tolist(), following.tolist(), strict=True)):
            parts = [GapPart(begin, end, "short")] if end - begin < threshold_ns else self.parts(track, begin, end, next_)
            for part in parts:
                name, stack = self.described(part.call)
                rows.append((number, part.start, part.end - part.start, part.cause, part.call, name, stack, next_))
        frame = pd.DataFrame(rows, columns=list(GAPS.names))
        frame["cause"] = pd.Categorical(frame["cause"], categories=list(CAUSES))
        return GAPS.check(frame.astype({column.name: column.dtype for column in GAPS.columns if column.dtype != "category"}))

    def threshold(self, track: int, t0: int, t1: int, most: int, least_ns: int) -> int:
        """The length (ns), at least `least_ns`, from which on a stream has at most `most` gaps in a range."""
        begins, ends, _ = self._holes(track, t0, t1)
        if len(begins) <= most:
            return least_ns
        return max(least_ns, int(np.partition(ends - begins, -most - 1)[-most - 1]) + 1)

    def _named(self, names: TraceNames, pattern: re.Pattern[str]) -> NDArray[np.bool_]:
        found = np.zeros(len(self._trace.names), np.bool_)
        found[names.matching(pattern)] = True
        return found

    def _holes(self, track: int, t0: int, t1: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Start and end of each gap, and the row of the slice that ends it (-1)."""
        of, slices = self._trace.tracks[track], self._trace.slices
        before = self.running.at(track, t0)
        first, last = self.running.inside(track, t0, t1)
        rows = np.concatenate([before[before < first], np.arange(first, last)])
        rows = rows[~self.waiting[slices.name[rows]] & (slices.duration[rows] > 0)]
        start = slices.start[rows]
        begins, ends = holes(start, start + slices.duration[rows], t0, t1)
        following = np.full(len(ends), -1, np.int64)
        place = np.searchsorted(start, ends)
        found = place < len(rows)
        following[found] = rows[place[found]]
        if len(ends) and not found[-1]:  # what ends the last gap starts after the range
            later = np.arange(last, min(last + 1024, of.last))
            busy = later[~self.waiting[slices.name[later]] & (slices.duration[later] > 0)]
            following[-1] = busy[0] if len(busy) else -1
        return begins, ends, following

    def parts(self, track: int, begin: int, end: int, next_: int) -> list[GapPart]:
        """The causes of a gap, in order of time."""
        slices = self._trace.slices
        waits = self.waits(track, begin, end)
        # HCCL shows no arrow to the tasks of a collective, but one to the wait that comes before them
        tasks = [row for row in [next_, *waits.tolist()[:_LOOK]] if row >= 0]
        causes = next((found for row in tasks if (found := self.arrows.causes(row))), [])
        host = [row for row in causes if self._trace.tracks[slices.track[row]].kind in _HOST]
        if not host:
            return self._awaited(track, begin, end)
        launched = int(slices.start[host[0]] + slices.duration[host[0]])
        if launched <= begin:
            return self._awaited(track, begin, end)
        upto = end if end - launched < _NEAR else launched
        parts = [self._late(begin, upto, min(int(slices.start[host[0]]), end), host)]
        if upto < end:
            rest = self._awaited(track, upto, end)
            if rest[0].cause == "unknown" and end - upto <= _LATENCY:
                rest = [replace(parts[0], start=upto, end=end)]
            parts += rest
        return _joined(parts)

    def waits(self, track: int, begin: int, end: int) -> NDArray[np.int64]:
        """Slices of a stream in which it waits, in a gap."""
        rows = np.concatenate([self.running.at(track, begin), np.arange(*self.running.inside(track, begin + 1, end))])
        waits: NDArray[np.int64] = rows[self.waiting[self._trace.slices.name[rows]]]
        return waits

    def _late(self, begin: int, end: int, launch: int, chain: Sequence[int]) -> GapPart:
        """Why the host launched late: `chain` are the calls that led to the launch, the launch first."""
        slices = self._trace.slices
        origin = int(slices.track[chain[-1]])
        thread = self._trace.tracks[origin].thread_id
        tracks = {int(slices.track[row]) for row in chain}
        tracks |= {index for index in self.host if self._trace.tracks[index].thread_id == thread}
        waited, fetched = -1, (0, -1)
        for track in sorted(tracks, key=lambda index: (index != origin, index)):
            running = self.running.at(track, begin)
            synchronising = running[self.synchronising[slices.name[running]]]
            if waited < 0 and len(synchronising):
                waited = int(synchronising[-1])
            rows = np.concatenate([running, np.arange(*self.running.inside(track, begin + 1, max(launch, begin)))])
            rows = rows[self._fetching[slices.name[rows]]]
            if len(rows):
                start = np.maximum(slices.start[rows], begin)
                stop = np.minimum(slices.start[rows] + slices.duration[rows], launch)
                fetched = max(fetched, (covered(start, np.maximum(stop, start)), int(rows[np.argmax(stop - start)])))
        if fetched[0] * 2 >= max(launch - begin, 1):
            return GapPart(begin, end, "data", fetched[1])
        if waited >= 0:
            return GapPart(begin, end, "synchronisation", waited)
        return GapPart(begin, end, "host", self.busiest(origin, begin, max(launch, begin + 1), chain[-1]))

    def busiest(self, track: int, begin: int, end: int, otherwise: int) -> int:
        """The call of a thread that itself took the most of a time; calls that it lies in do not count."""
        slices = self._trace.slices
        running = self.running.at(track, begin)
        rows = np.concatenate([running, np.arange(*self.running.inside(track, begin + 1, end))])
        if not len(rows):
            return otherwise
        start = np.maximum(slices.start[rows], begin)
        length = np.minimum(slices.start[rows] + slices.duration[rows], end) - start
        _, own = lanes.assign(np.zeros(len(rows), np.int32), start, length)
        return int(rows[np.argmax(own)]) if own.max() > 0 else otherwise

    def _awaited(self, track: int, begin: int, end: int) -> list[GapPart]:
        """What a stream waited for whose next slice had been launched: what ended last before it began, on another track."""
        slices, tracks = self._trace.slices, self._trace.tracks
        best: tuple[float, int, int] = (0.0, 0, -1)
        for other in self.device:
            if other == track:
                continue
            last = self._last_end(other, begin, end)
            if last < 0:
                continue
            start, stop, _ = intervals(self._trace, self.running, other, begin, end)
            share = covered(np.maximum(start, begin), np.minimum(stop, end)) / (end - begin)
            shared = tracks[other].kind == "communication"
            if share >= 0.5:
                best = max(best, (round(share, 2), shared, self.outermost(other, last)))
        if best[2] < 0:
            waits = self.waits(track, begin, end)
            waited = covered(slices.start[waits], slices.start[waits] + slices.duration[waits])
            collective = self._collective(begin, end)
            if collective >= 0 and 2 * waited >= end - begin:
                return [GapPart(begin, end, "communication", collective)]
            return [GapPart(begin, end, "unknown")]
        kind = tracks[slices.track[best[2]]].kind
        return [GapPart(begin, end, "communication" if kind == "communication" else "stream", best[2])]

    def _last_end(self, track: int, begin: int, end: int) -> int:
        """The slice of a track that ends last before a time, if it does so shortly before and does more than wait; else -1."""
        slices = self._trace.slices
        near = max(begin, end - _NEAR)
        rows = np.concatenate([self.running.at(track, near), np.arange(*self.running.inside(track, near + 1, end))])
        stop = slices.start[rows] + slices.duration[rows]
        rows = rows[(stop > begin) & (stop <= end + 1000) & ~self.waiting[slices.name[rows]]]
        return int(rows[np.argmax(slices.start[rows] + slices.duration[rows])]) if len(rows) else -1

    def outermost(self, track: int, row: int) -> int:
        """The collective that a task of it belongs to; any other slice itself."""
        if self._trace.tracks[track].kind != "communication":
            return row
        slices = self._trace.slices
        start = int(slices.start[row])
        found = self._collective(start, start + int(slices.duration[row]), _NEAR)
        return row if found < 0 else found

    def _collective(self, begin: int, end: int, more: int | None = None) -> int:
        """The longest slice of communication that runs all of a time, and ends at most `more` ns after it; -1 for none."""
        slices, longest, found = self._trace.slices, -1, -1
        for track in self.device:
            if self._trace.tracks[track].kind != "communication":
                continue
            rows = self.running.at(track, begin)
            ends = slices.start[rows] + slices.duration[rows]
            rows = rows[(ends >= end) & ((ends <= end + more) if more is not None else True)]
            rows = rows[~self.waiting[slices.name[rows]]]
            for row in rows.tolist():
                if slices.duration[row] > longest:
                    longest, found = int(slices.duration[row]), row
        return found

    def described(self, row: int) -> tuple[str, str]:
        """Name of a slice and the calls around it on its thread, outermost first, a line each; both empty for -1."""
        if row < 0:
            return "", ""
        names, slices = self._trace.names, self._trace.slices
        around = sorted(self.arrows.context(row), key=lambda each: (slices.start[each], -slices.duration[each], each))
        return names[slices.name[row]], "\n".join(names[slices.name[each]] for each in around)


def site(stack: str) -> str:
    """The line of the user's program in a stack, such as "main.py(373): train": the innermost outside of libraries, or ""."""
    for line in reversed(stack.split("\n")):
        if _LINE.match(line) and not _LIBRARY.search(line):
            return line
    return ""


def _joined(parts: list[GapPart]) -> list[GapPart]:
    """Parts of one cause after the other as one."""
    if len(parts) == 2 and parts[0].cause == parts[1].cause and parts[0].call == parts[1].call:
        return [replace(parts[0], end=parts[1].end)]
    return parts


def explain(
    trace: Trace, track: int, t0: int, t1: int, threshold_ns: int = 10_000, *, pyramid: Pyramid | None = None
) -> pd.DataFrame:
    """GAPS of a stream (index into Trace.tracks) from `t0` to before `t1`, ns since the origin. See `Gaps.explain`."""
    return Gaps(trace, pyramid).explain(track, t0, t1, threshold_ns)


def steps(trace: Trace) -> list[tuple[str, int, int]]:
    """Name, start and end (ns) of the steps of a trace, in order: slices of step tracks, or called ProfilerStep#N.

    Databases have the same steps in two tables; of those with the same times the first one counts.
    """
    slices = trace.slices
    wanted = TraceNames(trace.names).matching(re.compile(r"^ProfilerStep#[0-9]+$"))
    rows = np.concatenate(
        [np.flatnonzero(np.isin(slices.name, wanted))]
        + [np.arange(track.first, track.last) for track in trace.tracks if track.kind == "step"]
    )
    found: dict[str, tuple[str, int, int]] = {}
    times: set[tuple[int, int]] = set()
    for row in rows.tolist():
        name, start = trace.names[slices.name[row]], int(slices.start[row])
        end = start + int(slices.duration[row])
        if name not in found and (start, end) not in times:
            found[name] = name, start, end
            times.add((start, end))
    return sorted(found.values(), key=lambda step: step[1:])


def streams(trace: Trace) -> list[int]:
    """Numbers of the device streams with slices (index into Trace.tracks), those that run the most different things first."""
    found = [index for index, track in enumerate(trace.tracks) if track.kind == "device_stream" and track.last > track.first]
    return sorted(found, key=lambda index: -_variety(trace, index))


def _variety(trace: Trace, index: int) -> int:
    track = trace.tracks[index]
    return int(np.count_nonzero(np.bincount(trace.slices.name[track.first : track.last])))


def by_step(gaps: pd.DataFrame, steps: Sequence[tuple[str, int, int]]) -> pd.DataFrame:
    """CAUSE_SUMS of GAPS; gaps that reach over the end of a step count with what lies in each."""
    rows: list[tuple[str, str, int, str]] = []
    start, end = gaps["start_ns"].to_numpy(), (gaps["start_ns"] + gaps["duration_ns"]).to_numpy()
    left = end - start
    cause, name = gaps["cause"].astype("str").to_numpy(), gaps["name"].to_numpy()
    for step, begin, stop in steps:
        part = slice(int(np.searchsorted(end, begin, "right")), int(np.searchsorted(start, stop)))
        inside = np.maximum(np.minimum(end[part], stop) - np.maximum(start[part], begin), 0)
        inside = np.minimum(inside, left[part])  # steps may overlap by what their clock rounds
        left[part] -= inside
        rows += _summed(step, cause[part], name[part], inside)
    rows += _summed("", cause, name, left)
    frame = pd.DataFrame(rows, columns=list(CAUSE_SUMS.names))
    frame["cause"] = pd.Categorical(frame["cause"], categories=list(CAUSES))
    return CAUSE_SUMS.check(frame.astype({"step": "str", "idle_ns": "int64", "call": "str"}))


def _summed(
    step: str, causes: NDArray[np.object_], names: NDArray[np.object_], inside: NDArray[np.int64]
) -> list[tuple[str, str, int, str]]:
    sums: dict[str, dict[str, int]] = {}
    for place in np.flatnonzero(inside).tolist():
        calls = sums.setdefault(causes[place], {})
        calls[names[place]] = calls.get(names[place], 0) + int(inside[place])
    return [
        (step, cause, sum(calls.values()), max(calls, key=lambda call: (calls[call], call)))
        for cause in CAUSES
        if (calls := sums.get(cause, {}))
    ]
