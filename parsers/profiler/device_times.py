"""Reads when one rank computed, and which ranges its program marked as forward_step and backward_step.

Computing is in kernel_details.csv or op_summary, else in TASK and COMPUTE_TASK_INFO of a database, else in the track Computing
of a trace. Ranges are marked with mstx, whose message contains the name: on the device if the program passed a stream, and
then they are slices of the tracks of the device, rows of StepTaskInfo (made by msprof-analyze), or tasks with the connection
of a row of MSTX_EVENTS; otherwise only the host has them. A trace is parsed only if the text of a mark is in it, or if no other
file tells computing. Operations between ranks are taken from kernels and such traces, for ranks without communication files.
Forward and backward are never derived from names of kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.choosing import kind_of
from parsers.analysis.jobs.spans import joined_within
from parsers.cluster_frames import DEVICE_TIMES
from parsers.model import Ints
from parsers.profiler import rank_bubble
from parsers.profiler.columns import FileRows
from parsers.profiler.communication_tables import table_rows
from parsers.profiler.database import Database
from parsers.profiler.lines import Complaints
from parsers.profiler.progress import report_read
from parsers.profiler.tables import NONE, FileTable, TableField, read_table
from parsers.profiler.trace import chrome
from parsers.profiler.trace.bytes import TraceBytes
from parsers.profiler.trace.columns import COMPLETE, Trace

BETWEEN = ("send", "receive", "exchange", "collective")
"""What operations between ranks do, as the names of operations say; exchange is both, as batchSendRecv is."""
KINDS = ("kernel_details", "op_summary", "database", "msprof", "trace_view", "timeline_display")
"""Kinds of files that tell it, the first ones first."""
_TEXT = re.compile(r"(?<![A-Za-z0-9_])(forward|backward)_step")
_BYTES = re.compile(rb"(?:forward|backward)_step")
_LONGEST_TEXT = 13
_CHUNK = 4 << 20
_COMPUTING = frozenset({"Computing", "Merged computation"})
_PAIRS = {"send": "send", "receive": "receive", "recv": "receive", "batchsendrecv": "exchange", "sendrecv": "exchange"}
_NAMES = ("step", "kind", "start_ns", "end_ns", "operations")
_MOST = 2**62
_KERNELS = (
    TableField("step", ("Step ID", "Step"), "whole"),
    TableField("name", ("Name", "Op Name"), "text"),
    TableField("core", ("Accelerator Core", "Task Type"), "text"),
    TableField("start_ns", ("Start Time", "Task Start Time"), "time", "us"),
    TableField("duration_ns", ("Duration", "Task Duration"), "time", "us"),
)


class DeviceFiles(Protocol):
    """The files of a rank by kind (`parsers.profiler.ranks`)."""

    def has(self, kind: str) -> bool:
        """Return whether there is a file of a kind."""
        ...

    def path(self, kind: str) -> str:
        """Return the path of the file of a kind; "" for none."""
        ...

    def name(self, kind: str) -> str:
        """Return the name of the file of a kind below its session."""
        ...

    def complaints(self, kind: str) -> Complaints:
        """Return what is collected about the file of a kind."""
        ...

    def asked(self, kind: str, ask: Any) -> Any:
        """Return what a function reads from the database of a kind; None if there is none or it cannot be read."""
        ...


def kind_between(name: str) -> str:
    """Return what an operation does, by its name: send, receive, exchange (batchSendRecv: both), or collective."""
    return _PAIRS.get(kind_of(name), "collective")


def read(files: DeviceFiles) -> FileRows:
    """Return the rows of one rank (schema DEVICE_TIMES without `rank`). Never raises for the content of files."""
    found = _FoundTimes()
    for kind in ("kernel_details", "op_summary"):
        if files.has(kind) and not found.computes:
            table = read_table(files.path(kind), _KERNELS)
            files.complaints(kind).problems.extend(table.problems)
            found.add_kernels(table, files.name(kind))
    for kind in ("database", "msprof"):
        if files.has(kind):
            files.asked(kind, lambda database, complaints, kind=kind: found.add_tables(database, complaints, files.name(kind)))
    for kind in ("trace_view", "timeline_display"):
        if files.has(kind) and not found.traced:
            _add_trace(files, kind, found)
    return found.rows()


def _add_trace(files: DeviceFiles, kind: str, found: _FoundTimes) -> None:
    alone = not found.computes
    try:
        if not (alone or _mentions(files.path(kind))):
            return
        trace = chrome.read(files.path(kind))
    except OSError as error:
        text = f"The file cannot be read ({error.strerror or error}); what is in it is not shown."
        files.complaints(kind).add(text, "unreadable")
        return
    files.complaints(kind).problems.extend(trace.problems)
    found.traced = True
    if not alone and trace.clock != "epoch":
        text = "Expected times since 1970, as in the kernels of this rank, found those of another clock; they are not shown."
        files.complaints(kind).add(text)
        return
    found.add_trace(trace, files.name(kind))


def _mentions(path: str) -> bool:
    """Return whether the text of a mark is in a trace."""
    with TraceBytes(path) as source:
        at = 0
        while data := source.read(max(at - _LONGEST_TEXT, 0), _CHUNK):
            if _BYTES.search(data):
                return True
            reached = max(at - _LONGEST_TEXT, 0) + len(data)
            report_read(reached - at)
            if reached <= at:
                break
            at = reached
    return False


def _marked(text: str) -> str:
    match = _TEXT.search(text)
    return match[1] if match is not None else ""


class _FoundTimes:
    """Rows as they are found, all from few sources."""

    def __init__(self) -> None:
        self.computes = False
        self.traced = False
        self._file = ""
        self._parts: list[tuple[str, Ints, Ints, Ints, Ints]] = []

    def add(self, kind: str, steps: Ints, begins: Ints, ends: Ints, operations: Ints, file: str) -> None:
        """Append intervals of one kind."""
        if len(begins):
            self._parts.append((kind, steps, begins, ends, operations))
            self._file = self._file or file

    def add_computing(self, steps: Ints, begins: Ints, ends: Ints, file: str) -> None:
        """Append computing, with what follows without a gap in the same step as one row."""
        self.computes = self.computes or bool(len(begins))
        self.add("computing", *joined_within(steps, begins, ends), file)

    def add_kernels(self, table: FileTable, file: str) -> None:
        """Append kernels, and the operations between ranks among them."""
        columns = table.columns
        begins, names = columns["start_ns"], columns["name"]
        timed = (begins >= 0) & (columns["duration_ns"] > 0)
        ends = begins + columns["duration_ns"]
        between = rank_bubble.communicates(columns["core"])
        chosen = timed & ~between
        self.add_computing(columns["step"][chosen], begins[chosen], ends[chosen], file)
        kinds = np.array([*(kind_between(str(name)) for name in names.categories), "collective"], object)[names.codes]
        self.add_operations(kinds, timed & between, columns["step"], begins, ends, file)

    def add_operations(
        self, kinds: NDArray[Any], chosen: NDArray[np.bool_], steps: Ints, begins: Ints, ends: Ints, file: str
    ) -> None:
        """Append chosen operations between ranks, each as a row; those of a kind that is "" are none."""
        for kind in BETWEEN:
            own = chosen & (kinds == kind)
            self.add(kind, steps[own], begins[own], ends[own], np.ones(int(own.sum()), np.int64), file)

    def add_marks(self, rows: Sequence[tuple[str, int, int]], steps: _Steps, file: str) -> None:
        """Append ranges: (kind, begin, end)."""
        for kind in dict.fromkeys(kind for kind, _, _ in rows):
            own = np.array(sorted(row[1:] for row in rows if row[0] == kind), np.int64).reshape(-1, 2)
            begins, ends = np.ascontiguousarray(own.T)
            self.add(kind, steps.at(begins), begins, ends, np.zeros(len(begins), np.int64), file)

    # Databases -----------------------------------------------------------------------------------------------------------

    def add_tables(self, database: Database, complaints: Complaints, file: str) -> bool:
        """Append what a database tells."""
        steps = _Steps(_step_times(database, complaints))
        if not self.computes:
            begins, ends = rank_bubble.computing_of_database(database, complaints)
            self.add_computing(steps.at(begins), begins, ends, file)
        self.add_marks(list(_marks(database, complaints)), steps, file)
        return True

    # Traces --------------------------------------------------------------------------------------------------------------

    def add_trace(self, trace: Trace, file: str) -> None:
        """Append what a trace tells."""
        slices = trace.slices
        begins = slices.start + trace.origin_ns
        ends = begins + slices.duration
        whole = slices.phase == COMPLETE
        known = _Steps(_steps_of(trace, begins))
        if not self.computes:
            chosen = whole & self._on(trace, {place for place, one in enumerate(trace.tracks) if _computes(one)})
            self.add_computing(known.at(begins[chosen]), begins[chosen], ends[chosen], file)
        between = set() if self._has_operations() else {
            place for place, one in enumerate(trace.tracks)
            if one.kind == "communication" and not one.thread.startswith("Plane")
        }  # fmt: skip
        kinds = np.array([kind_between(name) if kind_of(name) else "" for name in trace.names] or [""], object)
        self.add_operations(kinds[slices.name], whole & self._on(trace, between), known.at(begins), begins, ends, file)
        marks = np.array([_marked(name) for name in trace.names] or [""], object)
        rows = np.flatnonzero((marks[slices.name] != "") & whole) if len(slices) else np.empty(0, np.int64)
        device = {place for place, one in enumerate(trace.tracks) if one.kind in ("device_stream", "communication")}
        told = [f"{marks[slices.name[row]]}{'' if int(slices.track[row]) in device else '_host'}" for row in rows.tolist()]
        listed = list(zip(told, begins[rows].tolist(), ends[rows].tolist(), strict=True))
        self.add_marks(_device_first(listed), known, file)

    def _has_operations(self) -> bool:
        return any(kind in BETWEEN for kind, *_ in self._parts)

    @staticmethod
    def _on(trace: Trace, tracks: set[int]) -> NDArray[np.bool_]:
        table = np.zeros(len(trace.tracks) + 1, np.bool_)
        table[list(tracks)] = True
        found: NDArray[np.bool_] = table[trace.slices.track]
        return found

    def rows(self) -> FileRows:
        """Return all rows."""
        rows = FileRows(DEVICE_TIMES, _NAMES, self._file)
        if self._parts:
            codes = [rows.texts["kind"].number(part[0]) for part in self._parts]
            rows.values["kind"] = np.repeat(np.array(codes, np.int64), [len(part[1]) for part in self._parts])
            for place, name in enumerate(("step", "start_ns", "end_ns", "operations"), 1):
                rows.values[name] = np.concatenate([part[place] for part in self._parts])
        return rows


def _computes(track: Any) -> bool:
    return track.kind == "overlap" and track.thread in _COMPUTING


def _device_first(marks: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Leave out ranges of the host of a kind that the device has, too: each range with a stream is recorded on both."""
    kinds = {kind for kind, _, _ in marks}
    return [one for one in marks if one[0].removesuffix("_host") == one[0] or one[0].removesuffix("_host") not in kinds]


class _Steps:
    """The step under way at a time, by when steps began; work on the device that ends later counts for the step before it."""

    def __init__(self, begins: Sequence[tuple[int, int]]) -> None:
        known = sorted(begins)
        self._begins = np.array([begin for begin, _ in known], np.int64)
        self._steps = np.array([NONE, *(step for _, step in known)], np.int64)

    def at(self, times: Ints) -> Ints:
        """Return the number of the step at each time (ns); -1 before the first one."""
        found: Ints = self._steps[np.searchsorted(self._begins, times, "right")]
        return found


_STEP_NAME = re.compile(r"(?:ProfilerStep#|Step ?)(\d{1,18})")


def _steps_of(trace: Trace, begins: Ints) -> list[tuple[int, int]]:
    numbers = {place: int(match[1]) for place, name in enumerate(trace.names) if (match := _STEP_NAME.fullmatch(name))}
    if not numbers:
        return []
    rows = np.flatnonzero(np.isin(trace.slices.name, list(numbers)))
    return [(int(begins[row]), numbers[int(trace.slices.name[row])]) for row in rows.tolist()]


def _step_times(database: Database, complaints: Complaints) -> list[tuple[int, int]]:
    if not database.has("STEP_TIME", "id", "startNs", "endNs"):
        return []
    found = table_rows(database, "STEP_TIME", ("startNs", "id"), complaints)
    return [(row[0], row[1]) for row in found if all(isinstance(cell, int) and abs(cell) < _MOST for cell in row)]


def _marks(database: Database, complaints: Complaints) -> Iterator[tuple[str, int, int]]:
    """Yield (kind, begin, end) of marked ranges: those on the device where there are any."""
    if database.has("StepTaskInfo", "name", "startNs", "endNs"):
        found = [
            (kind, begin, end)
            for name, begin, end in table_rows(database, "StepTaskInfo", ("name", "startNs", "endNs"), complaints)
            if (kind := _marked(str(name))) and _timed(begin, end)
        ]
        if found:
            yield from found
            return
    if not (database.has("MSTX_EVENTS", "startNs", "endNs", "message") and database.has("STRING_IDS", "id", "value")):
        return
    listed = table_rows(database, "STRING_IDS", ("id", "value"), complaints, " WHERE value LIKE '%ward\\_step%' ESCAPE '\\'")
    texts = {number: kind for number, value in listed if (kind := _marked(str(value)))}
    if not texts:
        return
    ranges = [
        (texts[message], begin, end, connection)
        for message, begin, end, connection in table_rows(
            database, "MSTX_EVENTS", ("message", "startNs", "endNs", "connectionId"), complaints
        )
        if message in texts and _timed(begin, end)
    ]  # fmt: skip
    on_device = _tasks_of({connection for *_, connection in ranges if isinstance(connection, int)}, database, complaints)
    made: list[tuple[str, int, int]] = []
    for kind, begin, end, connection in ranges:
        own = on_device.get(connection)
        made.append((f"{kind}_host", begin, end) if own is None else (kind, *own))
    yield from _device_first(made)


def _tasks_of(connections: set[int], database: Database, complaints: Complaints) -> dict[int, tuple[int, int]]:
    """Return first begin and last end of the tasks of each connection."""
    found: dict[int, tuple[int, int]] = {}
    if not (connections and database.has("TASK", "startNs", "endNs", "connectionId")):
        return found
    for begin, end, connection in table_rows(database, "TASK", ("startNs", "endNs", "connectionId"), complaints):
        if connection in connections and isinstance(begin, int) and isinstance(end, int) and 0 <= begin <= end < _MOST:
            known = found.get(connection, (begin, end))
            found[connection] = min(begin, known[0]), max(end, known[1])
    return {connection: (begin, end) for connection, (begin, end) in found.items() if end > begin}


def _timed(begin: Any, end: Any) -> bool:
    return isinstance(begin, int) and isinstance(end, int) and 0 <= begin < end < _MOST
