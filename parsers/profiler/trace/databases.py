"""Traces in databases of Ascend: `ascend_mindspore_profiler_<r>.db`, `ascend_pytorch_profiler_<r>.db`, `msprof_<time>.db`.

Tracks are made of CANN_API, PYTORCH_API and MSTX_EVENTS (host), TASK with COMPUTE_TASK_INFO and COMMUNICATION_TASK_INFO
(device streams and communication planes), COMMUNICATION_OP, OVERLAP_ANALYSIS and STEP_TIME; flows of their connectionId;
counters of the tables in `_COUNTERS`. Times are whole ns, some of them texts. Tables and columns that a version lacks are
left out; copies such as `_COMPUTE_TASK_INFO_old_2025` are ignored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.database import Database, quoted
from parsers.profiler.lines import Complaints
from parsers.profiler.progress import report_read
from parsers.profiler.trace import building, kinds
from parsers.profiler.trace.building import FoundCounters, FoundFlows, FoundOperators, FoundSlices
from parsers.profiler.trace.columns import COMPLETE, INSTANT, UNFINISHED, Flows, Kind, Slices, Trace, Track
from parsers.profiler.trace.complaints import TraceComplaints
from parsers.profiler.trace.lookups import Longs, mapped, mapped2, mapped3, place_in, places
from parsers.profiler.trace.times import LATEST

NONE = -1
"""A missing number."""
_ROW_BITS = 48
_TABLES = (
    "STEP_TIME", "STEP", "PYTORCH_API", "MSTX_EVENTS", "CANN_API", "TASK", "COMMUNICATION_OP", "COMMUNICATION_TASK_INFO",
    "OVERLAP_ANALYSIS",
)  # fmt: skip
"""Tables of slices. The place of a slice is that of its table here, times 2**48, plus its row id. Only add at the end."""
_OVERLAPS = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
_ORDERS = {
    "Steps": 0, "Python": 1, "MSTX": 2, "CANN": 7, "Ascend Hardware": 13, "Communication": 15, "Overlap Analysis": 23,
}  # fmt: skip
_FIRST_COUNTER = 30


@dataclass(frozen=True, slots=True)
class _CounterTable:
    """A table of values over time: its name, the process to show, columns that name a counter, and columns of values."""

    table: str
    process: str
    labels: tuple[str, ...]
    values: tuple[str, ...]


_COUNTERS = (
    _CounterTable("AICORE_FREQ", "AI Core Freq", (), ("freq",)),
    _CounterTable("HBM", "HBM", ("hbmId", "type"), ("bandwidth",)),
    _CounterTable("LLC", "LLC", ("llcId", "mode"), ("hitRate", "throughput")),
    _CounterTable("DDR", "DDR", (), ("read", "write")),
    _CounterTable("NPU_MEM", "NPU MEM", ("type",), ("ddr", "hbm")),
    _CounterTable("ACC_PMU", "Acc PMU", ("accId",), ("readBwLevel", "writeBwLevel", "readOstLevel", "writeOstLevel")),
    _CounterTable("SOC_BANDWIDTH_LEVEL", "Stars Soc Info", (), ("l2BufferBwLevel", "mataBwLevel")),
)  # fmt: skip
_OF_TEXTS = ("type", "mode")
"""Label columns that are numbers of texts."""
_TEXT_COLUMNS = {
    "name", "opName", "groupName", "message", "opType", "taskType", "algType", "inputFormats", "inputDataTypes", "inputShapes",
    "outputFormats", "outputDataTypes", "outputShapes", "attrInfo", "inputDtypes", "hashid", "stack", "domainId",
}  # fmt: skip
_MOST_FRAMES = 1000
_CALL = ("startNs", "endNs", "name")


def read(path: str, progress: Callable[[int, int], None] | None = None) -> Trace:
    """Read a trace. Whatever is wrong with its content is in its problems; OSError if the file cannot be read."""
    complaints, lines = TraceComplaints(path), Complaints(path)
    size = os.path.getsize(path)
    tables = _DatabaseTables(path, complaints, lines)
    try:
        with Database(path) as database:
            for text in database.problems:
                lines.add(text)
            tables.read(database, lambda share: progress(int(share * size), size) if progress is not None else None)
    except (OverflowError, ValueError) as error:
        complaints.add("bad_trace", f"Expected a database that can be read, found: {error}; what follows is not shown.")
    report_read(size)
    return tables.trace()


def arguments(trace: Trace, row: int) -> dict[str, Any]:
    """Return the row of a table that a slice is made of, texts in place of their numbers.

    OSError if the file cannot be read any more, LookupError if it has other content now or is damaged.
    """
    place = int(trace.slices.event[row])
    table, number = _TABLES[place >> _ROW_BITS], place & ((1 << _ROW_BITS) - 1)
    if number >> (_ROW_BITS - 1):
        number -= 1 << _ROW_BITS  # row ids may be negative
    try:
        with Database(trace.path) as database:
            texts = _StringTable(database, Complaints(trace.path))
            found = _row(database, texts, table, _row_id(database, table), number)
            if not found:
                raise LookupError(f"{table}: expected row {number}, found none: the file has changed, or is damaged")
            if table == "TASK":
                for more in ("COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO"):
                    if found.get("globalTaskId") is not None and database.has(more, "globalTaskId"):
                        found |= _row(database, texts, more, "globalTaskId", found["globalTaskId"])
            chain = found.get("callchainId")
            if chain is not None and database.has("PYTORCH_CALLCHAINS", "id", "stack", "stackDepth"):
                query = "SELECT stack FROM PYTORCH_CALLCHAINS WHERE id = ? ORDER BY stackDepth LIMIT ?"
                stack = [texts.of(int(one)) for (one,) in database.select(query, (chain, _MOST_FRAMES)) if isinstance(one, int)]
                found["Call stack"] = "\n".join(stack)
    except (OverflowError, ValueError) as error:
        raise LookupError(f"{table}: expected row {number}, found: {error}") from error
    return found


def _row_id(database: Database, table: str) -> str:
    """Return the name by which SQLite knows the numbers of rows: a column of that name hides them, but not the other names."""
    taken = {name.lower() for name in database.columns.get(table, ())}
    return next((name for name in ("rowid", "_rowid_", "oid") if name not in taken), "rowid")


def _row(database: Database, texts: _StringTable, table: str, key: str, value: int) -> dict[str, Any]:
    columns = database.columns.get(table, ())
    query = f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table)} WHERE {key} = ? LIMIT 1"  # noqa: S608  quoted names
    rows = database.select(query, (value,))
    if not rows:
        return {}
    cells = dict(zip(columns, rows[0], strict=True))
    return {
        name: texts.of(cell, str(cell)) if name in _TEXT_COLUMNS and isinstance(cell, int) else cell
        for name, cell in cells.items()
        if cell is not None and not isinstance(cell, bytes)
    }


class _StringTable:
    """STRING_IDS: numbers -> texts."""

    def __init__(self, database: Database, complaints: Complaints) -> None:
        self._texts: dict[int, str] = {}
        if database.has("STRING_IDS", "id", "value"):
            for rows in database.rows("SELECT id, value FROM STRING_IDS", "Table STRING_IDS", complaints):
                self._texts.update((key, str(value)) for key, value in rows if isinstance(key, int) and value is not None)

    def of(self, number: int, other: str = "") -> str:
        """Return a text; `other` for an unknown number."""
        return self._texts.get(number, other)


@dataclass(frozen=True, slots=True)
class _HostCalls:
    """Calls of the host: places of their slices, start (ns), connection, track, name and category of each."""

    place: Longs
    start: Longs
    connection: Longs
    track: NDArray[np.int32]
    name: NDArray[np.int32]
    category: NDArray[np.int32]


@dataclass(slots=True)
class _DatabaseTables:
    """Collects what is in the tables of a database."""

    path: str
    complaints: TraceComplaints
    lines: Complaints
    tracks: list[Track] = field(default_factory=list)
    _numbers: dict[tuple[str, ...], int] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)
    _categories: dict[str, int] = field(default_factory=lambda: {"": 0})
    _series: dict[str, int] = field(default_factory=dict)
    _slices: list[FoundSlices] = field(default_factory=list)
    _counters: list[FoundCounters] = field(default_factory=list)
    _links: list[tuple[str, Longs, Longs, Longs, Longs]] = field(default_factory=list)
    _pairs: list[tuple[str, Longs, Longs]] = field(default_factory=list)

    def read(self, database: Database, progress: Callable[[float], None]) -> None:
        """Read all tables."""
        texts = _StringTable(database, self.lines)
        steps: list[Callable[[Database, _StringTable], None]] = [
            self._steps, self._apis, self._python, self._mstx, self._device, self._overlap,
            *[lambda database, texts, one=one: self._counter(database, texts, one) for one in _COUNTERS],
        ]  # fmt: skip
        for number, step in enumerate(steps, 1):
            try:
                step(database, texts)
            except (OverflowError, ValueError) as error:
                self.complaints.add("bad_trace", f"Expected tables that can be read, found: {error}; one is not shown.")
            progress(number / len(steps))
        if not self._slices and not self._counters and not self.complaints.plain:
            found = ", ".join(sorted(database.columns)[:40]) or "none"
            self.complaints.add("bad_trace", f"Expected tables of a profiler, such as TASK or CANN_API, found {found}.")

    def trace(self) -> Trace:
        """Return the trace of everything read."""
        ints, longs = np.empty(0, np.int32), np.empty(0, np.int64)
        none = FoundSlices(ints, longs, longs, ints, ints, np.empty(0, np.uint8), longs)
        every = (none, *self._slices)
        slices = FoundSlices(
            np.concatenate([one.track for one in every]), np.concatenate([one.start for one in every]),
            np.concatenate([one.duration for one in every]), np.concatenate([one.name for one in every]),
            np.concatenate([one.category for one in every]), np.concatenate([one.phase for one in every]),
            np.concatenate([one.event for one in every]),
        )  # fmt: skip
        nothing = FoundCounters(ints, ints, longs, np.empty(0, np.float64))
        values = (nothing, *self._counters)
        counters = FoundCounters(
            np.concatenate([one.track for one in values]), np.concatenate([one.series for one in values]),
            np.concatenate([one.time for one in values]), np.concatenate([one.value for one in values]),
        )  # fmt: skip
        if len(slices.phase) and (slices.phase == UNFINISHED).any():
            building.extend(slices, counters)
        flows = FoundFlows(ints, longs, longs, np.empty(0, np.uint8), np.empty(0, np.bool_), ints)
        kinds_of_flows = list(dict.fromkeys([*(link[0] for link in self._links), *(pair[0] for pair in self._pairs)]))
        found = FoundOperators(
            self.path, self.tracks, list(self._names), list(self._categories), list(self._series), kinds_of_flows, slices,
            flows, counters,
        )  # fmt: skip
        trace, _ = building.build(found)
        arrows = self._arrows(trace.slices, kinds_of_flows)
        return replace(trace, flows=arrows, problems=(*self.lines.all(), *self.complaints.all()))

    # Slices --------------------------------------------------------------------------------------------------------

    def _rows(self, database: Database, table: str, columns: Sequence[str], where: str = "") -> list[Longs]:
        """Return row ids and columns of a table as whole numbers, NONE for missing ones."""
        cells = [f"CAST(COALESCE({database.column(table, one)}, {NONE}) AS INTEGER)" for one in columns]
        row = f"CAST(COALESCE({_row_id(database, table)}, {NONE}) AS INTEGER)"
        query = f"SELECT {row}, {', '.join(cells)} FROM {quoted(table)} {where}"  # noqa: S608  quoted names
        parts = [np.array(rows, np.int64) for rows in database.rows(query, f"Table {table}", self.lines)]
        whole = np.concatenate(parts) if parts else np.empty((0, len(columns) + 1), np.int64)
        return [np.ascontiguousarray(column) for column in whole.T]

    def _add(
        self, table: str, row: Longs, start: Longs, end: Longs, track: NDArray[np.int32], name: NDArray[np.int32],
        category: NDArray[np.int32] | None = None, moments: NDArray[np.bool_] | None = None,
    ) -> Longs:  # fmt: skip
        """Add slices; return their places."""
        place = (np.int64(_TABLES.index(table)) << _ROW_BITS) + (row & ((1 << _ROW_BITS) - 1))
        category = np.zeros(len(row), np.int32) if category is None else category
        timed = (start > 0) & (start < LATEST) & (end < LATEST)
        phase = np.where(end <= 0, UNFINISHED, COMPLETE).astype(np.uint8)
        duration = np.where(end <= 0, 0, end - start)
        if moments is not None:
            phase[moments] = INSTANT
            duration[moments] = 0
        texts = (
            (~timed, "{n} dropped: expected startNs and endNs in ns"),
            (timed & (phase == UNFINISHED), "{n} without an end, drawn to the end of the trace"),
            (timed & (duration < 0), "{n} with endNs before startNs, drawn without duration"),
        )  # fmt: skip
        for wrong, text in texts:
            if wrong.any():
                self.complaints.count(f"Table {table}: {text}", number=int(wrong.sum()))
        duration = np.maximum(duration, 0)
        self._slices.append(FoundSlices(
            track[timed], start[timed], duration[timed], name[timed], category[timed], phase[timed], place[timed]
        ))  # fmt: skip
        return place

    def _track(self, process: str, thread: str, process_id: str, thread_id: str, kind: Kind, order: int = 0) -> int:
        key = (process, process_id, thread, thread_id)
        number = self._numbers.setdefault(key, len(self.tracks))
        if number == len(self.tracks):
            first = _ORDERS.get(process, _FIRST_COUNTER)
            self.tracks.append(Track(process, thread, process_id, thread_id, kind, (first, order)))
        return number

    def _threads(self, numbers: Longs, process: str, kind: Kind) -> NDArray[np.int32]:
        """Return the track of each global thread: the process in the upper 32 bits, the thread in the lower ones."""

        def track(number: int) -> int:
            thread = number & 0xFFFFFFFF
            return self._track(process, f"Thread {thread}", str((number >> 32) & 0xFFFFFFFF), str(thread), kind, thread)

        return mapped(numbers, track)

    def _named(self, numbers: Longs, text: Callable[[int], str]) -> NDArray[np.int32]:
        return mapped(numbers, lambda number: self._names.setdefault(text(number), len(self._names)))

    def _steps(self, database: Database, _texts: _StringTable) -> None:
        for table in ("STEP_TIME", "STEP"):
            if database.has(table, "id", "startNs", "endNs"):
                row, number, start, end = self._rows(database, table, ("id", "startNs", "endNs"))
                track = self._track("Steps", "Steps", "", "", "step")
                names = self._named(number, lambda one: f"Step {one}")
                self._add(table, row, start, end, np.full(len(row), track, np.int32), names)

    def _apis(self, database: Database, texts: _StringTable) -> None:
        if database.has("CANN_API", *_CALL):
            calls = self._calls(database, texts, "CANN_API", "API", "CANN", "cann")
            self._links.append(("HostToDevice", calls.connection, calls.place, calls.start, np.zeros_like(calls.start)))

    def _python(self, database: Database, texts: _StringTable) -> None:
        if not database.has("PYTORCH_API", *_CALL):
            return
        calls = self._calls(database, texts, "PYTORCH_API", "Operator", "Python", "python")
        place, start, connection, category = calls.place, calls.start, calls.connection, calls.category
        self._name_queues(calls.track, calls.name)
        if not database.has("CONNECTION_IDS", "id", "connectionId"):
            return
        _, group, member = self._rows(database, "CONNECTION_IDS", ("id", "connectionId"))
        known = np.flatnonzero(connection != NONE)
        of_group = known[np.argsort(connection[known], kind="stable")]
        begin = np.searchsorted(connection[of_group], group, "left")
        count = np.searchsorted(connection[of_group], group, "right") - begin
        which = of_group[np.repeat(begin - np.cumsum(count) + count, count) + np.arange(int(count.sum()))]
        members = np.repeat(member, count)
        self._links.append(("async_npu", members, place[which], start[which], np.zeros(len(which), np.int64)))
        self._pair_up(members, place[which], start[which], category[which] == self._categories.get("queue", NONE))

    def _calls(self, database: Database, texts: _StringTable, table: str, unknown: str, process: str, kind: Kind) -> _HostCalls:
        """Add the calls of a table as slices of the threads of a process; unknown is what calls without a name are called."""
        levels = _levels(database, self.lines)
        columns = (*_CALL, "type", "globalTid", "connectionId")
        row, start, end, name, level, thread, connection = self._rows(database, table, columns)
        category = mapped(level, lambda one: self._category(levels.get(one, "" if one == NONE else str(one))))
        names = self._named(name, lambda one: texts.of(one, f"{unknown} {one}"))
        track = self._threads(thread, process, kind)
        return _HostCalls(self._add(table, row, start, end, track, names, category), start, connection, track, names, category)

    def _name_queues(self, track: NDArray[np.int32], names: NDArray[np.int32]) -> None:
        """Make threads most of whose slices take launches from a queue host queues."""
        taking = np.array([text.startswith("Dequeue") for text in self._names], np.bool_)[names]
        taken, every = (np.bincount(one, minlength=len(self.tracks)) for one in (track[taking], track))
        for number in np.flatnonzero(2 * taken > every).tolist():
            self.tracks[number] = replace(self.tracks[number], kind="host_queue")

    def _pair_up(self, member: Longs, place: Longs, start: Longs, queued: NDArray[np.bool_]) -> None:
        """Add the flows between two host operators with the same connection: into a queue, or from forward to backward."""
        order = np.lexsort((start, member))
        firsts = np.flatnonzero(np.diff(member[order], prepend=NONE - 1))
        first = firsts[np.diff(np.append(firsts, len(order))) == 2]
        source, target = order[first], order[first + 1]
        both = queued[source] & queued[target]
        self._pairs.append(("async_task_queue", place[source[both]], place[target[both]]))
        self._pairs.append(("fwdbwd", place[source[~both]], place[target[~both]]))

    def _mstx(self, database: Database, texts: _StringTable) -> None:
        if not database.has("MSTX_EVENTS", "startNs", "message"):
            return
        columns = ("startNs", "endNs", "message", "eventType", "globalTid", "connectionId")
        row, start, end, message, kind, thread, connection = self._rows(database, "MSTX_EVENTS", columns)
        moments = ((kind == 0) | (kind == 3)) & (end <= start)
        names = self._named(message, lambda one: texts.of(one, f"Mark {one}"))
        track = self._threads(thread, "MSTX", "host")
        place = self._add("MSTX_EVENTS", row, start, end, track, names, moments=moments)
        self._links.append(("MsTx", connection, place, start, np.zeros(len(row), np.int64)))

    def _device(self, database: Database, texts: _StringTable) -> None:
        if database.has("TASK", "startNs", "endNs"):
            self._tasks(database, texts)
        if not database.has("COMMUNICATION_OP", "opName", "startNs", "endNs"):
            return
        columns = ("startNs", "endNs", "opName", "groupName", "connectionId", "deviceId")
        row, start, end, name, group, connection, device = self._rows(database, "COMMUNICATION_OP", columns)
        track = mapped2(device, group, lambda card, one: self._group(texts, card, one, -1))
        names = self._named(name, lambda one: texts.of(one, f"Communication {one}"))
        place = self._add("COMMUNICATION_OP", row, start, end, track, names)
        self._links.append(("HostToDevice", connection, place, start, np.ones(len(row), np.int64)))

    def _tasks(self, database: Database, texts: _StringTable) -> None:
        columns = ("startNs", "endNs", "deviceId", "streamId", "taskType", "globalTaskId", "connectionId")
        row, start, end, device, stream, kind, task, connection = self._rows(database, "TASK", columns)
        track = mapped2(device, stream, lambda card, one: self._track(
            "Ascend Hardware", f"Stream {one}", str(card), str(one), "device_stream", one
        ))  # fmt: skip
        label = kind.copy()
        for table, column in (("COMMUNICATION_TASK_INFO", "taskType"), ("COMPUTE_TASK_INFO", "name")):
            if database.has(table, "globalTaskId", column):
                _, identity, text = self._rows(database, table, ("globalTaskId", column))
                at = places(identity, task)
                label[at >= 0] = text[at[at >= 0]]
        names = self._named(label, lambda one: texts.of(one, f"Task {one}"))
        category = mapped(kind, lambda one: self._category(texts.of(one)))
        place = self._add("TASK", row, start, end, track, names, category)
        self._links.append(("HostToDevice", connection, place, start, np.ones(len(row), np.int64)))
        if database.has("COMMUNICATION_TASK_INFO", "globalTaskId", "name", "planeId"):
            self._planes(database, texts, task, start, end, device)

    def _planes(self, database: Database, texts: _StringTable, task: Longs, start: Longs, end: Longs, device: Longs) -> None:
        """Add the tasks of communication operators by plane; the columns are those of TASK."""
        columns = ("globalTaskId", "name", "taskType", "planeId", "groupName")
        row, identity, name, kind, plane, group = self._rows(database, "COMMUNICATION_TASK_INFO", columns)
        at = places(task, identity)
        there = at >= 0
        if not there.all():
            missing = "Table COMMUNICATION_TASK_INFO: {n} dropped: expected a row of TASK with its globalTaskId"
            self.complaints.count(missing, number=int((~there).sum()))
        row, name, kind, plane, group, at = (one[there] for one in (row, name, kind, plane, group, at))
        track = mapped3(device[at], group, plane, lambda card, one, two: self._group(texts, card, one, two))
        names = self._named(kind, lambda one: texts.of(one, f"Task {one}"))
        category = mapped(name, lambda one: self._category(texts.of(one)))
        self._add("COMMUNICATION_TASK_INFO", row, start[at], end[at], track, names, category)

    def _group(self, texts: _StringTable, device: int, group: int, plane: int) -> int:
        name = texts.of(group, str(group))
        thread = f"Group {name} Communication" if plane < 0 else f"Group {name} Plane {plane}"
        card = "" if device == NONE else str(device)
        return self._track("Communication", thread, card, f"{group} {plane}", "communication", plane + 1)

    def _overlap(self, database: Database, _texts: _StringTable) -> None:
        if not database.has("OVERLAP_ANALYSIS", "startNs", "endNs", "type"):
            return
        row, start, end, kind, device = self._rows(database, "OVERLAP_ANALYSIS", ("startNs", "endNs", "type", "deviceId"))

        def text(one: int) -> str:
            return _OVERLAPS[one] if 0 <= one < len(_OVERLAPS) else str(one)

        track = mapped2(device, kind, lambda card, one: self._track(
            "Overlap Analysis", text(one), str(card), str(one), "overlap", one
        ))  # fmt: skip
        self._add("OVERLAP_ANALYSIS", row, start, end, track, self._named(kind, text))

    def _category(self, text: str) -> int:
        return self._categories.setdefault(text, len(self._categories))

    # Counters and flows --------------------------------------------------------------------------------------------

    def _counter(self, database: Database, texts: _StringTable, one: _CounterTable) -> None:
        values = [name for name in one.values if database.has(one.table, name)]
        if not values or not database.has(one.table, "timestampNs"):
            return
        labels = [name for name in one.labels if database.has(one.table, name)]
        columns = ("timestampNs", "deviceId", *labels)
        _, time, device, *keys = self._rows(database, one.table, columns)
        cells = ", ".join(f"CAST({quoted(name)} AS REAL)" for name in values)
        query = f"SELECT {cells} FROM {quoted(one.table)}"  # noqa: S608  quoted names
        parts = [np.array(rows, np.float64) for rows in database.rows(query, f"Table {one.table}", self.lines)]
        number = np.concatenate(parts) if parts else np.empty((0, len(values)))
        timed = (time > 0) & (time < LATEST)
        rows = np.stack([device, *keys], axis=1)
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        which = np.asarray(which).reshape(-1)
        for column, value in enumerate(values):
            track = [self._counter_track(texts, one, labels, key) for key in distinct.tolist()]
            good = timed & ~np.isnan(number[:, column])
            if not good.all():
                text = f"Table {one.table}: {{n}} dropped: expected timestampNs and a number in {value}"
                self.complaints.count(text, number=int((~good).sum()))
            series = np.full(int(good.sum()), self._series.setdefault(value, len(self._series)), np.int32)
            tracks = np.array(track, np.int32)[which[good]] if track else np.empty(0, np.int32)
            self._counters.append(FoundCounters(tracks, series, time[good], number[good, column]))

    def _counter_track(self, texts: _StringTable, one: _CounterTable, labels: Sequence[str], key: Sequence[int]) -> int:
        device, *numbers = key
        cells = zip(labels, numbers, strict=True)
        shown = [texts.of(each, str(each)) if name in _OF_TEXTS else str(each) for name, each in cells]
        thread = "/".join((f"{one.process} {shown[0]}", *shown[1:])) if shown else one.process
        return self._track(one.process, thread, str(device), "", kinds.counter_kind(one.process, thread))

    def _arrows(self, slices: Slices, kinds_of_flows: Sequence[str]) -> Flows:
        """Return the flows from what launched to what was launched: both have the same connectionId."""
        order = np.argsort(slices.event, kind="stable")
        events = slices.event[order]
        device = [link for link in self._links if link[4].any()]
        target_id = np.concatenate([link[1] for link in device]) if device else np.empty(0, np.int64)
        target_place = np.concatenate([link[2] for link in device]) if device else np.empty(0, np.int64)
        by = np.argsort(target_id, kind="stable")
        target_id, target_place = target_id[by], target_place[by]
        found: list[tuple[Longs, Longs, NDArray[np.int32]]] = []
        for kind, connection, place, _, side in self._links:
            asked = np.flatnonzero((side == 0) & (connection > 0))
            begin = np.searchsorted(target_id, connection[asked], "left")
            count = np.searchsorted(target_id, connection[asked], "right") - begin
            which = np.repeat(begin - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
            source = place_in(events, order, np.repeat(place[asked], count))
            target = place_in(events, order, target_place[which])
            there = (source >= 0) & (target >= 0)
            code = np.full(int(there.sum()), kinds_of_flows.index(kind), np.int32)
            found.append((source[there], target[there], code))
        for kind, begins, ends in self._pairs:
            source, target = place_in(events, order, begins), place_in(events, order, ends)
            there = (source >= 0) & (target >= 0)
            code = np.full(int(there.sum()), kinds_of_flows.index(kind), np.int32)
            found.append((source[there], target[there], code))
        if not found:
            none = np.empty(0, np.int64)
            return Flows(none, none.copy(), np.empty(0, np.int32))
        source, target, code = (np.concatenate([one[part] for one in found]) for part in range(3))
        sorting = np.lexsort((target, source))
        return Flows(source[sorting], target[sorting], code[sorting].astype(np.int32))


def _levels(database: Database, complaints: Complaints) -> dict[int, str]:
    levels: dict[int, str] = {}
    if database.has("ENUM_API_TYPE", "id", "name"):
        for rows in database.rows("SELECT id, name FROM ENUM_API_TYPE", "Table ENUM_API_TYPE", complaints):
            levels.update((key, str(name)) for key, name in rows if isinstance(key, int))
    return levels
