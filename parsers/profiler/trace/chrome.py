"""Chrome trace JSON: `trace_view.json` of MindSpore and torch_npu, `*.pt.trace.json[.gz]` of PyTorch, `*.trace.json.gz` of
TensorBoard's profiler, `*_timeline_display_*.json` of MindSpore up to 2.2, and `msprof_*.json` of CANN.

An array of events, or an object with `traceEvents`; times in microseconds. Read are complete events (X), pairs (B, E), async
pairs (b, e, S, F) and moments (n, T, p), instants (i, I, R), flows (s, t, f), counters (C), and of the metadata (M) the names
and sort indices of processes and threads. Events of other phases (objects, samples, memory dumps) are counted and reported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, compress
from mmap import mmap
from operator import attrgetter
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.json_text import encodable
from parsers.model import NOTE
from parsers.profiler.progress import report_read
from parsers.profiler.trace import building
from parsers.profiler.trace.building import BEGINS, ENDS, STEP, FoundCounters, FoundFlows, FoundOperators, FoundSlices
from parsers.profiler.trace.bytes import TraceBytes
from parsers.profiler.trace.chrome_pairs import CLOSES, MARKS, OPENS, Closed, close_asyncs, close_pairs
from parsers.profiler.trace.chrome_tracks import ASYNC_TRACK, Codes, EventTracks, text_of
from parsers.profiler.trace.columns import INSTANT, UNFINISHED, UNSTARTED, Clock, Trace
from parsers.profiler.trace.complaints import TraceComplaints
from parsers.profiler.trace.events import WITHIN, EventPiece, TraceEvent, TraceEventReader
from parsers.profiler.trace.times import LATEST, nanoseconds

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and those of the file."""


class SecondReader(Protocol):
    """What a second reader takes in the same pass: pieces of events, and the JSON of values beside them by their name."""

    wanted: frozenset[str]
    values: dict[str, bytes]

    def add(self, piece: EventPiece) -> None:
        """Take in the events of a piece."""


_LEGACY = re.compile(r"timeline_display(?:_\d+)?\.json")
_COMPLETE, _PAIR, _ASYNC, _INSTANT, _FLOW, _COUNTER, _META, _NONE, _OTHER = range(9)
_PHASES = {
    "X": _COMPLETE, "B": _PAIR, "E": _PAIR, "b": _ASYNC, "e": _ASYNC, "n": _ASYNC, "S": _ASYNC, "F": _ASYNC, "T": _ASYNC,
    "p": _ASYNC, "i": _INSTANT, "I": _INSTANT, "R": _INSTANT, "s": _FLOW, "t": _FLOW, "f": _FLOW, "C": _COUNTER, "M": _META,
    "": _NONE,
}  # fmt: skip


class _Groups(dict[str, int]):
    """Phase of an event -> how it is read."""

    def __missing__(self, phase: str) -> int:
        return _OTHER


_GROUPS = _Groups(_PHASES)
_ASYNC_ROLES = {"b": OPENS, "S": OPENS, "e": CLOSES, "F": CLOSES, "n": MARKS, "T": MARKS, "p": MARKS}
_FLOW_ROLES = {"s": BEGINS, "t": STEP, "f": ENDS}
_WITH_TRACK = attrgetter("pid", "tid", "name", "cat")
_COUNTER_OF = attrgetter("pid", "name")
_FLOW_OF = attrgetter("pid", "tid", "cat", "bp")
_TS, _DUR, _PH = attrgetter("ts"), attrgetter("dur"), attrgetter("ph")
_VALUES = msgspec.json.Decoder(list[dict[str, int | float | str | bool | None]])
_LABEL = re.compile(r"(?:^|_)id$")
_NO_TIME = "{n} dropped: expected a time (ts) in microseconds"


class _ChromeColumns:
    """Columns that grow by the events of one piece at a time.

    Each is in memory of its own, which goes back to the system as soon as a column is dropped: small arrays between others
    that stay would be kept by the allocator, a third of the peak of a large trace.
    """

    def __init__(self) -> None:
        self._columns: list[NDArray[Any]] = []
        self._length = 0

    def add(self, *columns: NDArray[Any]) -> None:
        """Append rows."""
        first, last = self._length, self._length + len(columns[0])
        if not self._columns:
            self._columns = [_mapped(max(last, _LEAST_ROWS), column.dtype) for column in columns]
        if last > len(self._columns[0]):
            for place, old in enumerate(self._columns):
                self._columns[place] = _mapped(2 * last, old.dtype)
                self._columns[place][:first] = old[:first]
                del old
        for kept, column in zip(self._columns, columns, strict=True):
            kept[first:last] = column
        self._length = last

    def joined(self, *dtypes: type) -> Iterator[NDArray[Any]]:
        """Yield the columns, which are not kept."""
        columns, length = self._columns, self._length
        self._columns, self._length = [], 0
        for place, dtype in enumerate(dtypes):
            if not length:
                yield np.empty(0, dtype)
                continue
            column, columns[place] = columns[place][:length], np.empty(0, dtype)
            yield column


_LEAST_ROWS = 1 << 12


def _mapped(rows: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array of zeros in memory of its own; pages that nothing was written to take none."""
    return np.frombuffer(mmap(-1, rows * dtype.itemsize), dtype)


def read(path: str, progress: Progress | None = None, beside: SecondReader | None = None) -> Trace:
    """Read a trace. Whatever is wrong with its content is in its problems; OSError if the file cannot be read.

    `beside` takes what the events and the object around them have beside the slices. It computes what lies within what
    itself, so that lanes, own times and flows are left out then: all slices are in lane 0.
    """
    complaints = TraceComplaints(path)
    with TraceBytes(path) as source:
        reader = TraceEventReader(source, _dropping(complaints), _mending(complaints))
        if beside is not None:
            reader.wanted = beside.wanted
            reader.values = beside.values
        events = _Events(reader, complaints, plain=beside is not None)
        if source.size == 0:
            complaints.add("empty_file", "The file is empty.")
        reported = 0
        for piece in reader.pieces():
            events.add(piece)
            if beside is not None:
                beside.add(piece)
            report_read(source.consumed - reported)
            reported = source.consumed
            if progress is not None:
                progress(reported, source.size)
        if source.damage:
            complaints.add("truncated", f"Expected data compressed by gzip, found that {source.damage}; the rest is not shown.")
        elif source.size and reader.documents and not reader.complete:
            text = "Expected ] or } at the end, found the end of the file; events after it are missing."
            complaints.add("truncated", text, source.size)
        elif source.size and not reader.documents and not complaints.kinds:
            complaints.add("bad_trace", "Expected an array of events, or an object with traceEvents, found neither.")
        if reader.documents > 1:
            complaints.add("bad_trace", f"Expected one trace, found {reader.documents} one after the other; all were read.")
        return events.trace(path)


def arguments(trace: Trace, row: int) -> dict[str, Any]:
    """Return the arguments of a slice, and what else its event says beside its name, time and place.

    OSError if the file cannot be read any more, LookupError if it has other content now.
    """
    with TraceBytes(trace.path) as source:
        reader = TraceEventReader(source, lambda *_: None, lambda *_: None)
        event = reader.event(int(trace.slices.event[row]))
    name = trace.names[int(trace.slices.name[row])]
    if text_of(event.get("name")) != name:
        raise LookupError(f"expected event {name!r}, found {text_of(event.get('name'))!r}: the file has changed")
    found = event.get("args")
    made = dict(found) if isinstance(found, dict) else {} if found is None else {"args": found}
    for key, value in event.items():
        if key not in _PLAIN:
            made.setdefault(key, value)
    return made


_PLAIN = frozenset(("ph", "name", "pid", "tid", "ts", "dur", "cat", "id", "id2", "bp", "args", "s", "sf", "esf"))


def _dropping(complaints: TraceComplaints) -> Callable[[int, int, str], None]:
    def drop(offset: int, length: int, found: str) -> None:
        complaints.count("{n} dropped", offset, length, found=found)

    return drop


def _mending(complaints: TraceComplaints) -> Callable[[int, int, str], None]:
    def mended(offset: int, length: int, found: str) -> None:
        complaints.count("{n} read although not valid JSON in UTF-8", offset, length, found=found)

    return mended


class _Events:
    """Collects the events of a file and makes a trace of them."""

    def __init__(self, reader: TraceEventReader, complaints: TraceComplaints, *, plain: bool) -> None:
        self._reader, self._complaints, self._plain = reader, complaints, plain
        self._keys = Codes()  # (pid, tid, name, cat) of slices
        self._slices, self._pairs, self._asyncs = _ChromeColumns(), _ChromeColumns(), _ChromeColumns()
        self._async_keys = Codes()
        self._counter_keys, self._series_keys = Codes(), Codes()
        self._counters = _ChromeColumns()
        self._flow_keys, self._flow_ids = Codes(), Codes()
        self._flows = _ChromeColumns()
        self._meta: dict[tuple[str, str, str], Any] = {}
        self._piece = EventPiece(-1, -1, ())

    def add(self, piece: EventPiece) -> None:
        """Take in the events of a piece."""
        self._piece = piece
        events = piece.events
        count = len(events)
        phases = np.fromiter(map(_GROUPS.__getitem__, map(_PH, events)), np.uint8, count)
        groups = np.bincount(phases, minlength=_OTHER + 1).tolist()
        take = (self._complete, self._paired, self._async, self._instant, self._flow, self._counter)
        for group, add in enumerate(take):
            if groups[group] and not (self._plain and group == _FLOW):
                chosen = phases == group
                place = (piece.offset << WITHIN) + np.flatnonzero(chosen)
                add(list(compress(events, chosen.tolist())) if groups[group] < count else list(events), place)
        if groups[_META]:
            for event in compress(events, (phases == _META).tolist()):
                self._metadata(event)
        for group in (_NONE, _OTHER):
            for number in np.flatnonzero(phases == group).tolist() if groups[group] else ():
                event = events[number]
                if event == _EMPTY:
                    continue  # TensorFlow ends its array with {}
                what = f"of phase {encodable(event.ph)[:20]!r}, which has no slice" if event.ph else "without a phase (ph)"
                self._drop(f"{{n}} dropped: {what}", (piece.offset << WITHIN) + number)

    def _drop(self, text: str, place: int, number: int = 1, found: str = "") -> None:
        offset = place >> WITHIN
        if text not in self._complaints.kinds:
            again = TraceEventReader(self._reader.source, lambda *_: None, lambda *_: None)  # its damage has been counted
            piece = self._piece if self._piece.offset == offset else again.piece(offset)
            offset = again.offset_of(piece, place & ((1 << WITHIN) - 1))
        self._complaints.count(text, offset, number=number, found=found)

    def _times(
        self, events: list[TraceEvent], place: NDArray[np.int64]
    ) -> tuple[list[TraceEvent], NDArray[np.int64], NDArray[np.int64]]:
        """Return the events that have a time, their places and their times in ns."""
        start, valid = nanoseconds(list(map(_TS, events)))
        if valid.all():
            return events, place, start
        found = encodable(bytes(events[int(np.flatnonzero(~valid)[0])].ts)[:60].decode("utf-8", "replace"))
        number = int(np.count_nonzero(~valid))
        self._drop(_NO_TIME, int(place[~valid][0]), number, f"found {found}" if found else "found none")
        return list(compress(events, valid.tolist())), place[valid], start[valid]

    def _complete(self, events: list[TraceEvent], place: NDArray[np.int64]) -> None:
        events, place, start = self._times(events, place)
        duration, valid = nanoseconds(list(map(_DUR, events)))
        phase = np.zeros(len(events), np.uint8)
        if not valid.all():
            first = int(np.flatnonzero(~valid)[0])
            found = bytes(events[first].dur)[:60].decode("utf-8", "replace")
            text = "{n} without a duration (dur), drawn to the end of the trace"
            number = int(np.count_nonzero(~valid))
            self._drop(text, int(place[first]), number, f"found {encodable(found)}" if found else "")
            phase[~valid] = UNFINISHED
        negative = duration < 0
        if negative.any():
            first = int(np.flatnonzero(negative)[0])
            found = f"found {bytes(events[first].dur)[:60].decode('utf-8', 'replace')}"
            self._drop("{n} with a negative duration, drawn without one", int(place[first]), int(negative.sum()), found)
            duration[negative] = 0
        self._slices.add(self._keys.of(map(_WITH_TRACK, events), len(events)), start, duration, place, phase)

    def _instant(self, events: list[TraceEvent], place: NDArray[np.int64]) -> None:
        events, place, start = self._times(events, place)
        key = self._keys.of(map(_WITH_TRACK, events), len(events))
        self._slices.add(key, start, np.zeros_like(start), place, np.full(len(events), INSTANT, np.uint8))

    def _paired(self, events: list[TraceEvent], place: NDArray[np.int64]) -> None:
        events, place, start = self._times(events, place)
        role = np.fromiter((OPENS if event.ph == "B" else CLOSES for event in events), np.uint8, len(events))
        self._pairs.add(self._keys.of(map(_WITH_TRACK, events), len(events)), start, place, role)

    def _async(self, events: list[TraceEvent], place: NDArray[np.int64]) -> None:
        events, place, start = self._times(events, place)
        count = len(events)
        role = np.fromiter((_ASYNC_ROLES[event.ph] for event in events), np.uint8, count)
        # Events belong together by category and id; a local id is one of its process.
        ids = (
            (event.cat, _identity(event.id), "") if event.id else (event.cat, _identity(event.id2), text_of(event.pid))
            for event in events
        )
        key = self._keys.of(((event.pid, ASYNC_TRACK, event.name, event.cat) for event in events), count)
        self._asyncs.add(key, self._async_keys.of(ids, count), start, place, role)

    def _flow(self, events: list[TraceEvent], place: NDArray[np.int64]) -> None:
        events, place, start = self._times(events, place)
        count = len(events)
        role = np.fromiter((_FLOW_ROLES[event.ph] for event in events), np.uint8, count)
        ids = ((event.cat, _identity(event.id or event.id2)) for event in events)
        self._flows.add(
            self._flow_keys.of(map(_FLOW_OF, events), count), start, self._flow_ids.of(ids, count), role
        )

    def _counter(self, events: list[TraceEvent], place: NDArray[np.int64]) -> None:
        events, place, start = self._times(events, place)
        count = len(events)
        values = self._counter_values(events, place)
        sets = Codes()
        shape = sets.of(map(tuple, values), count)
        track = self._counter_keys.of(map(_COUNTER_OF, events), count)
        for names, code in sets.items():
            rows = np.flatnonzero(shape == code) if len(sets) > 1 else np.arange(count)
            width = len(names)
            if not width:
                self._drop("{n} dropped: a counter without values (args)", int(place[rows[0]]), len(rows))
                continue
            flat = chain.from_iterable(values[row].values() for row in rows.tolist())
            cells = self._numbers(list(flat), place[rows], width).reshape(-1, width)
            labels = [column for column, name in enumerate(names) if width > 1 and _LABEL.search(name)]
            labels = labels if len(labels) < width else []
            label, which = np.unique(cells[:, labels], axis=0, return_inverse=True) if labels else (None, None)
            for column in range(width):
                if column in labels:
                    continue
                if label is None:
                    series = np.full(len(rows), self._series_keys[names[column]], np.int32)
                else:
                    texts = [", ".join(f"{names[at]} {each:g}" for at, each in zip(labels, one, strict=True)) for one in label]
                    codes = [self._series_keys[f"{names[column]} ({text})"] for text in texts]
                    series = np.array(codes, np.int32)[np.asarray(which).reshape(-1)]
                good = ~np.isnan(cells[:, column])
                self._counters.add(track[rows][good], series[good], start[rows][good], cells[good, column])

    def _counter_values(self, events: list[TraceEvent], place: NDArray[np.int64]) -> list[dict[str, Any]]:
        try:
            return _VALUES.decode(b"[" + b",".join([event.args or b"{}" for event in events]) + b"]")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        found = []
        for event, where in zip(events, place.tolist(), strict=True):
            try:
                made = msgspec.json.decode(event.args or b"{}")
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                made = None
            if not isinstance(made, dict):
                self._drop("{n} dropped: a counter whose values (args) cannot be read", where)
                made = {"": None}
            found.append({encodable(name): value for name, value in made.items()})
        return found

    def _numbers(self, cells: list[Any], place: NDArray[np.int64], width: int) -> NDArray[np.float64]:
        """Return values as numbers, NaN for those that are none and are not shown."""
        try:
            found = np.array(cells, np.float64)
        except (TypeError, ValueError, OverflowError):
            found = np.array([_number(cell) for cell in cells], np.float64)
        bad = np.isnan(found)
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            shown = "" if cells[first] is None else f"found {encodable(str(cells[first]))[:60]!r}"
            text = "{n} of a counter without a number as value, not shown"
            self._drop(text, int(place[first // width]), int(bad.sum()), shown)
        return found

    def _metadata(self, event: TraceEvent) -> None:
        if event.name not in _METADATA or not event.args:
            return
        try:
            values = msgspec.json.decode(event.args)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        key = _METADATA[str(event.name)]
        if isinstance(values, dict) and key in values:
            thread = text_of(event.tid) if str(event.name).startswith("thread") else ""
            self._meta[str(event.name), text_of(event.pid), thread] = values[key]

    # From events to columns -----------------------------------------------------------------------------------------

    def trace(self, path: str) -> Trace:
        """Return the trace of all events."""
        names, categories = Codes(), Codes()
        tracks = EventTracks(self._meta, legacy=_LEGACY.search(os.path.basename(path)) is not None)
        self._close_pairs()
        self._close_asyncs()
        slices = self._found_slices(tracks, names, categories)
        counters = self._found_counters(tracks)
        flows, kinds_of_flows = self._found_flows(tracks)
        base, clock = self._base()
        found = FoundOperators(
            path, tracks.tracks(slices, categories), list(map(encodable, names)),
            list(map(encodable, categories)), list(map(encodable, self._series_keys)), kinds_of_flows, slices, flows, counters,
            base, clock,
        )  # fmt: skip
        if len(slices.phase) and (slices.phase == UNFINISHED).any():
            building.extend(slices, counters)
        trace, unbound = building.build(found, plain=self._plain)
        if unbound.unpaired:
            self._complaints.count("{n} of a flow dropped: nothing at the other end", number=unbound.unpaired, kind=NOTE)
        if unbound.without_slice:
            self._complaints.count("{n} of a flow dropped: no slice around an end", number=unbound.without_slice)
        return replace(trace, problems=self._complaints.all())

    def _found_slices(self, tracks: EventTracks, names: Codes, categories: Codes) -> FoundSlices:
        table = np.array(
            [
                (tracks.of_slices(pid, tid, cat), names[text_of(name)], categories[text_of(cat)])
                for pid, tid, name, cat in self._keys
            ],
            np.int32,
        ).reshape(-1, 3)
        self._keys.clear()
        key, start, duration, place, phase = self._slices.joined(np.int32, np.int64, np.int64, np.int64, np.uint8)
        return FoundSlices(table[key, 0], start, duration, table[key, 1], table[key, 2], phase, place)

    def _base(self) -> tuple[int, Clock | None]:
        """Return the time that all times count from, in ns, which new versions of PyTorch write beside the events."""
        text = self._reader.about.get("baseTimeNanoseconds", "")
        base = int(text) if text.isdecimal() and len(text) < 20 else 0
        return (base, "epoch") if building.EPOCH <= base < LATEST else (0, None)

    def _found_counters(self, tracks: EventTracks) -> FoundCounters:
        table = np.array([tracks.of_counter(pid, name) for pid, name in self._counter_keys], np.int32)
        key, series, time, value = self._counters.joined(np.int32, np.int32, np.int64, np.float64)
        return FoundCounters(table[key] if len(key) else key, series, time, value)

    def _found_flows(self, tracks: EventTracks) -> tuple[FoundFlows, list[str]]:
        flow_kinds = Codes()
        table = np.array(
            [
                (tracks.of_slices(pid, tid, cat), flow_kinds[text_of(cat)], bind != "e")
                for pid, tid, cat, bind in self._flow_keys
            ],
            np.int32,
        ).reshape(-1, 3)
        key, time, identity, role = self._flows.joined(np.int32, np.int64, np.int32, np.uint8)
        self._flow_ids.clear()
        flows = FoundFlows(table[key, 0], time, identity.astype(np.int64), role, table[key, 2] > 0, table[key, 1])
        return flows, [encodable(kind) for kind in flow_kinds]

    def _close_pairs(self) -> None:
        """Make slices of begins and ends."""
        key, time, place, role = self._pairs.joined(np.int32, np.int64, np.int64, np.uint8)
        if not len(key):
            return
        keys = list(self._keys)
        threads = Codes()
        track = np.array([threads[text_of(pid), text_of(tid)] for pid, tid, _, _ in keys], np.int32)[key]
        names = [keys[each][2] for each in key.tolist()]
        made = close_pairs(track, names, time, role)
        self._report(made, place, "begin (B) without an end", "end (E) without a begin")
        self._slices.add(key[made.row], time[made.row], made.duration, place[made.row], made.phase)

    def _close_asyncs(self) -> None:
        """Make slices of async begins and ends."""
        key, identity, time, place, role = self._asyncs.joined(np.int32, np.int32, np.int64, np.int64, np.uint8)
        if not len(key):
            return
        keys = list(self._keys)
        made = close_asyncs(identity, [keys[each][2] for each in key.tolist()], time, role)
        self._report(made, place, "async begin (b) without an end", "async end (e) without a begin")
        self._slices.add(key[made.row], time[made.row], made.duration, place[made.row], made.phase)

    def _report(self, made: Closed, place: NDArray[np.int64], begins: str, ends: str) -> None:
        texts = ((UNFINISHED, f"{begins}, drawn to the end of the trace"), (UNSTARTED, f"{ends}, drawn as a moment"))
        for phase, text in texts:
            rows = made.row[made.phase == phase]
            if len(rows):
                self._drop(f"{{n}}: {text}", int(place[rows.min()]), len(rows))


_EMPTY = TraceEvent()
_METADATA = {
    "process_name": "name", "thread_name": "name", "process_sort_index": "sort_index", "thread_sort_index": "sort_index",
    "process_labels": "labels",
}  # fmt: skip


def _identity(text: msgspec.Raw) -> bytes:
    """Return the id of an event: 1 and "1" are the same, and none of them becomes a number, as some exceed int64."""
    return bytes(text).strip(b'"')


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
