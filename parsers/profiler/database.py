"""Database export: `ascend_mindspore_profiler[_<rank>].db`, `ascend_pytorch_profiler_<rank>.db`, `msprof_<time>.db`, and
`analysis.db` or `communication_analyzer.db` beside them.

SQLite, read by a process of its own (`parsers.profiler.database_processes`) and never written to. Times are ns, texts numbers
into STRING_IDS. Read are TASK with COMPUTE_TASK_INFO and COMMUNICATION_OP (executions), STEP_TIME, CANN_API (calls) and
StepTraceTime (steps); names that differ between versions (blockDim, blockNum, block_dim) are known. Memory is read in
`parsers.profiler.memory.databases`; hardware counters and links are not read.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.profile_frames import API, COMMUNICATION, KERNELS, STEPS
from parsers.profiler.ascend_output import NO_MODEL
from parsers.profiler.communication import MS, begin_ns, step_of
from parsers.profiler.database_logs import copied, copy_in, log_of, stamp, uri_of
from parsers.profiler.database_processes import PROCESSES, Column, GivenUpError, Row
from parsers.profiler.frame_parts import (
    FramePart,
    FrameReader,
    ProfileFileKind,
    ProfileInput,
    categorical,
    constant,
    frame_of,
    joined,
    numbered,
    stamped,
)
from parsers.profiler.lines import Complaints
from parsers.profiler.progress import report_read
from parsers.profiler.tables import NONE
from parsers.schema import Schema

ROWS = 1_000
"""Maximum rows taken at a time."""
COLUMN_ROWS = 10_000
"""The same for columns, which take less memory."""
MOST_ROWS = 20_000_000
"""Maximum rows taken from one query."""
MOST_BYTES = 1 << 30
"""Maximum memory of the rows of one query."""
LONGEST_VALUE = 1 << 20
"""Maximum bytes of one value; SQLite does not build longer ones."""
_TEXTS = {
    "input_shapes": "inputShapes", "input_types": "inputDataTypes", "input_formats": "inputFormats",
    "output_shapes": "outputShapes", "output_types": "outputDataTypes", "output_formats": "outputFormats",
}  # fmt: skip

T = TypeVar("T")


class Database:
    """A database open for reading in a process of its own, with its plain tables and their columns.

    Views, virtual tables and generated columns are computed when they are read, for as long as their author likes: they are
    left out and named in `problems`, as are rows that only a log has. OSError if the file cannot be opened, FormatError if it
    is no database, also while it is read.
    """

    def __init__(self, path: str) -> None:
        self.problems: list[str] = []
        self._key = (path, stamp(path), log_of(path))
        self._copy = copied(path) if self._key[2] else None
        if self._key[2] and self._copy is None:
            self.problems.append("Newer rows are in the log beside it (-wal) and are not shown: the two could not be copied.")
        uri = uri_of(copy_in(self._copy.name), copied=True) if self._copy else uri_of(path)
        try:
            self._process, self.columns, refused = PROCESSES.open(uri, self._key[1][2], LONGEST_VALUE, self._key)
        except BaseException:
            self._close_copy()
            raise
        if self._copy is None and not self._process.has_open(*self._key[1][:2]):
            PROCESSES.put_back(self._process)
            raise OSError(errno.ELOOP, "it became another file while it was opened", path)
        for name, what in list(refused.items())[:_MOST_REFUSED]:
            self.problems.append(f"{name[:100]} is {what}: it is not read.")

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        PROCESSES.put_back(self._process)
        self._close_copy()

    def _close_copy(self) -> None:
        if self._copy is not None:
            self._copy.cleanup()

    def _known(self, answers: Iterator[T]) -> Iterator[T]:
        """Yield answers; note the database if it is given up."""
        try:
            yield from answers
        except GivenUpError as error:
            PROCESSES.give_up(self._key, str(error))
            raise

    def _rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[list[Row], int]]:
        return self._known(self._process.rows(query, values, ROWS))

    def has(self, table: str, *columns: str) -> bool:
        """Return whether a table has these columns."""
        return set(columns) <= set(self.columns.get(table, ()))

    def column(self, table: str, *names: str) -> str:
        """Return the first of these columns that a table has, as SQL; NULL if it has none."""
        found = next((name for name in names if name in self.columns.get(table, ())), None)
        return "NULL" if found is None else f"{quoted(table)}.{quoted(found)}"

    def rows(self, query: str, what: str, complaints: Complaints, values: Sequence[Any] = ()) -> Iterator[list[Row]]:
        """Yield the rows of a query in batches, up to MOST_ROWS and MOST_BYTES; more of them are reported as `what`."""
        limit = _Limit(what, complaints)
        for found, read in self._rows(query, values):
            if not limit.allows(len(found), len(found) * len(found[0]) * _CELL_BYTES + read):
                return
            yield found

    def column_parts(
        self, query: str, what: str, complaints: Complaints, values: Sequence[Any] = ()
    ) -> Iterator[list[Column]]:
        """Yield the columns of a query in batches of rows, up to the limits of `rows` (`DatabaseProcess.columns`)."""
        limit = _Limit(what, complaints)
        for found, read in self._known(self._process.columns(query, values, COLUMN_ROWS)):
            if not limit.allows(len(found[0]), read):
                return
            yield found

    def select(self, query: str, values: Sequence[int]) -> list[Row]:
        """Return the first ROWS rows of a query that has few of them."""
        return list(islice((row for rows, _ in self._rows(query, values) for row in rows), ROWS))

    def repeated(self, first: str, second: str, column: str) -> int:
        """Return the number of values that a column holds more than once in each of two tables."""
        query = f"SELECT COUNT(*) FROM ({_REPEATED.format(first, second, column)})"  # noqa: S608  names of tables
        return int(self.select(query, ())[0][0])


class _Limit:
    """Counts what a query gives, and reports where MOST_ROWS or MOST_BYTES are exceeded."""

    def __init__(self, what: str, complaints: Complaints) -> None:
        self._what, self._complaints = what, complaints
        self._rows = self._bytes = 0

    def allows(self, rows: int, size: int) -> bool:
        """Return whether these rows may be taken, too."""
        report_read(0)
        if self._rows + rows <= MOST_ROWS and self._bytes + size <= MOST_BYTES:
            self._rows += rows
            self._bytes += size
            return True
        limit = f"{MOST_ROWS:,} rows" if self._rows + rows > MOST_ROWS else f"{MOST_BYTES >> 20:,} MB"
        kept = f"{self._rows:,} rows were read, the others were skipped"
        self._complaints.add(f"{self._what}: expected at most {limit}; {kept}.")
        return False


_CELL_BYTES = 8
_MOST_REFUSED = 20
_REPEATED = (
    "SELECT {2} FROM {0} WHERE {2} IS NOT NULL GROUP BY {2} HAVING COUNT(*) > 1 "
    "INTERSECT SELECT {2} FROM {1} WHERE {2} IS NOT NULL GROUP BY {2} HAVING COUNT(*) > 1"
)


def quoted(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


Make = Callable[[Database, ProfileInput, Complaints], "pd.DataFrame"]


def read_part(source: ProfileInput, schema: Schema, make: Make) -> FramePart:
    """Return what `make` reads from a database; an empty frame and a problem if it cannot be read."""
    complaints = Complaints(source.path)
    frame = schema.empty()
    try:
        if not os.path.getsize(source.path):
            complaints.add("The file is empty.", "empty_file")
        else:
            with Database(source.path) as database:
                for text in database.problems:
                    complaints.add(text)
                frame = make(database, source, complaints)
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
    except (OverflowError, ValueError) as error:
        complaints.add(f"{schema.name}: expected a database that can be read, found: {error}; they are not taken from it.")
    return FramePart(frame, complaints.all())


def kernels(source: ProfileInput) -> FramePart:
    """Every execution on the device and every communication operator, by begin."""
    return read_part(source, KERNELS, _kernels)


def _kernels(database: Database, source: ProfileInput, complaints: Complaints) -> pd.DataFrame:
    texts = StoredTexts(database, complaints)
    frames = [_tasks(database, texts, source, complaints), _communication(database, texts, source, complaints)]
    frame = joined(KERNELS, [frame for frame in frames if frame is not None])
    frame = frame.sort_values("start_ns", kind="stable", ignore_index=True)
    if database.has("STEP_TIME", "id", "startNs", "endNs"):
        frame["step"] = _steps_at(database, frame["start_ns"].to_numpy(), complaints)
    return frame


def _tasks(database: Database, texts: StoredTexts, source: ProfileInput, complaints: Complaints) -> pd.DataFrame | None:
    info = "COMPUTE_TASK_INFO"
    if not (database.has("TASK", "startNs", "endNs", "globalTaskId") and database.has(info, "name", "globalTaskId")):
        tables = ", ".join(sorted(database.columns)[:40]) or "none"
        complaints.add(f"Expected tables TASK and COMPUTE_TASK_INFO, found {tables}.")
        return None
    wanted = {
        "start_ns": "TASK.startNs", "end_ns": "TASK.endNs", "device": database.column("TASK", "deviceId"),
        "stream": database.column("TASK", "streamId"), "task": database.column("TASK", "taskId"),
        "model": database.column("TASK", "modelId"), "blocks": database.column(info, "blockDim", "blockNum", "block_dim"),
        "wait_ns": database.column(info, "waitNs"), "name": f"{info}.name", "type": database.column(info, "opType"),
        "core": database.column(info, "taskType"),
    }  # fmt: skip
    wanted |= {name: database.column(info, recorded) for name, recorded in _TEXTS.items()}
    query = f"SELECT {', '.join(wanted.values())} FROM {info} JOIN TASK ON TASK.globalTaskId = {info}.globalTaskId"  # noqa: S608  names of columns from _TEXTS and above, quoted
    repeated = database.repeated(info, "TASK", "globalTaskId")
    if repeated:
        # Which of the rows belong together is unknown, and all their pairs would be far more rows than executions.
        # Both tables are filtered: SQLite reads either first, and would find all pairs before it leaves them out.
        none = f"NOT IN ({_REPEATED.format(info, 'TASK', 'globalTaskId')})"
        query += f" WHERE TASK.globalTaskId {none} AND {info}.globalTaskId {none}"
        text = f"found {repeated:,} that both have more than once; the executions of these are not shown"
        complaints.add(f"Tables TASK and {info}: expected each globalTaskId once in one of them, {text}.")
    columns, rows = _columns(database, query, list(wanted), "TASK", complaints)
    made: dict[str, Any] = {name: texts.of(columns[name]) for name in ("name", "type", "core", *_TEXTS)}
    made |= {name: columns[name] for name in ("start_ns", "device", "stream", "task", "blocks")}
    made["model"] = np.where(columns["model"] == NO_MODEL, NONE, columns["model"])
    made["duration_ns"] = columns["end_ns"] - columns["start_ns"]
    made["wait_ns"] = np.where(columns["wait_ns"] == NONE, np.nan, columns["wait_ns"])
    return frame_of(KERNELS, rows, made, source.name)


def _communication(database: Database, texts: StoredTexts, source: ProfileInput, complaints: Complaints) -> pd.DataFrame | None:
    if not database.has("COMMUNICATION_OP", "opName", "startNs", "endNs"):
        return None
    kind = database.column("COMMUNICATION_OP", "opType")
    query = f"SELECT startNs, endNs, opName, {kind} FROM COMMUNICATION_OP"  # noqa: S608  a quoted name
    columns, rows = _columns(database, query, ["start_ns", "end_ns", "name", "type"], "COMMUNICATION_OP", complaints)
    made = {
        "start_ns": columns["start_ns"], "duration_ns": columns["end_ns"] - columns["start_ns"],
        "name": texts.of(columns["name"]), "type": texts.of(columns["type"]), "core": constant("COMMUNICATION", rows),
    }  # fmt: skip
    return frame_of(KERNELS, rows, made, source.name)


def _columns(
    database: Database, query: str, names: Sequence[str], table: str, complaints: Complaints
) -> tuple[dict[str, NDArray[np.int64]], int]:
    """Read columns of whole numbers; rows without start or end are skipped and reported."""
    parts: list[NDArray[np.int64]] = []
    left_out = 0
    for rows in database.rows(query, f"Table {table}", complaints):
        values = [[whole(cell) for cell in column] for column in zip(*rows, strict=True)]
        block = np.array([[NONE if cell is None else cell for cell in column] for column in values], np.int64)
        there = [begin is not None and end is not None and end >= begin for begin, end in zip(*values[:2], strict=True)]
        kept = np.array(there, np.bool_)
        left_out += int(np.count_nonzero(~kept))
        parts.append(block[:, kept])
    if left_out:
        complaints.add(f"Table {table}: expected startNs <= endNs in every row; {left_out:,} rows were skipped.")
    joint = np.concatenate(parts, axis=1) if parts else np.empty((len(names), 0), np.int64)
    return dict(zip(names, joint, strict=True)), joint.shape[1]


def whole(cell: Any) -> int | None:
    """Return a whole number within int64, also from text; None otherwise."""
    if isinstance(cell, str | float):
        try:
            cell = int(cell)
        except (ValueError, OverflowError):
            return None
    return cell if isinstance(cell, int) and abs(cell) < 2**62 else None


class StoredTexts:
    """STRING_IDS: text ids -> texts."""

    def __init__(self, database: Database, complaints: Complaints) -> None:
        found: dict[int, str] = {}
        if database.has("STRING_IDS", "id", "value"):
            for rows in database.rows("SELECT id, value FROM STRING_IDS", "Table STRING_IDS", complaints):
                found.update((key, "" if value in ("N/A", None) else str(value)) for key, value in rows if isinstance(key, int))
        self._texts: Mapping[int, str] = found

    def of(self, numbers: NDArray[np.int64]) -> pd.Categorical:
        """Return the texts of ids; empty for an unknown id."""
        codes, known = pd.factorize(numbers)
        places: dict[str, int] = {}
        table = [places.setdefault(self._texts.get(int(one), "").strip('"'), len(places)) for one in known]
        categories = pd.Index(list(places), dtype="str")
        return pd.Categorical.from_codes(np.array(table, np.int32)[codes] if table else codes, categories=categories)


def _steps_at(database: Database, starts: NDArray[np.int64], complaints: Complaints) -> NDArray[np.int64]:
    """Return the step that each start lies in; -1 between steps."""
    query = "SELECT startNs, endNs, id FROM STEP_TIME"
    columns, rows = _columns(database, query, ["start", "end", "id"], "STEP_TIME", complaints)
    if not rows:
        return np.full(len(starts), NONE, np.int64)
    order = np.argsort(columns["start"], kind="stable")
    place = np.searchsorted(columns["start"][order], starts, side="right") - 1
    found = order[np.maximum(place, 0)]
    inside = (place >= 0) & (starts <= columns["end"][found])
    return np.where(inside, columns["id"][found], NONE)


def api(source: ProfileInput) -> FramePart:
    """Calls of the host by level and name, with the variance of their times."""
    return read_part(source, API, _api)


def _api(database: Database, source: ProfileInput, complaints: Complaints) -> pd.DataFrame:
    if not database.has("CANN_API", "startNs", "endNs", "type", "name"):
        return API.empty()
    levels: dict[int, str] = {}
    if database.has("ENUM_API_TYPE", "id", "name"):
        for rows in database.rows("SELECT id, name FROM ENUM_API_TYPE", "Table ENUM_API_TYPE", complaints):
            levels.update((key, str(name)) for key, name in rows if isinstance(key, int))
    query = "SELECT startNs, endNs, type, name FROM CANN_API"
    columns, _ = _columns(database, query, ["start", "end", "type", "name"], "CANN_API", complaints)
    calls = pd.DataFrame({"level": columns["type"], "name": columns["name"], "ns": columns["end"] - columns["start"]})
    grouped = calls.groupby(["level", "name"], sort=True)["ns"]
    found: Any = grouped.agg(["size", "sum", "mean", "min", "max"]).reset_index()
    level = [levels.get(int(one), str(one)) for one in found["level"]]
    texts = StoredTexts(database, complaints)
    made = {
        "level": pd.Categorical(pd.array(level, dtype="str")), "name": texts.of(found["name"].to_numpy()),
        "count": found["size"], "total_ns": found["sum"], "mean_ns": found["mean"], "min_ns": found["min"],
        "max_ns": found["max"], "variance_ns2": grouped.var(ddof=0).to_numpy(),
    }  # fmt: skip
    return frame_of(API, len(found), made, source.name)


_STEP_COLUMNS = {
    "computing_ns": "computing", "exposed_ns": "communication_not_overlapped", "overlapped_ns": "overlapped",
    "communication_ns": "communication", "free_ns": "free", "stage_ns": "stage", "bubble_ns": "bubble",
    "exposed_without_receive_ns": "communication_not_overlapped_and_exclude_receive", "preparing_ns": "preparing",
}  # fmt: skip


def steps(source: ProfileInput) -> FramePart:
    """StepTraceTime of the analysis database, converted from microseconds to ns."""
    return read_part(source, STEPS, _steps)


def _steps(database: Database, source: ProfileInput, complaints: Complaints) -> pd.DataFrame:
    table = "StepTraceTime"
    if not database.has(table, "step", "computing"):
        complaints.add(f"Expected a table {table}, found {', '.join(sorted(database.columns)[:40]) or 'none'}.")
        return STEPS.empty()
    names = ["step", "device", *_STEP_COLUMNS]
    cells = [database.column(table, one) for one in ("step", "deviceId", *_STEP_COLUMNS.values())]
    query = f"SELECT {', '.join(cells)} FROM {table}"  # noqa: S608  quoted names
    found = [row for rows in database.rows(query, f"Table {table}", complaints) for row in rows]
    columns: dict[str, Any] = {}
    for name, values in zip(names, zip(*found, strict=True) if found else [()] * len(names), strict=True):
        if name in ("step", "device"):
            numbers = [whole(value) for value in values]
            columns[name] = [NONE if value is None else value for value in numbers]
        else:
            column = _STEP_COLUMNS[name]
            columns[name] = np.array([_number(value, table, column, complaints) for value in values], np.float64) * 1000
    columns["total_ns"] = columns["computing_ns"] + columns["exposed_ns"] + columns["free_ns"]
    columns["kind"] = constant("step", len(found))
    return frame_of(STEPS, len(found), columns, source.name)


def _number(value: Any, table: str, column: str, complaints: Complaints) -> float:
    try:
        return float("nan") if value is None else float(value)
    except (TypeError, ValueError):
        complaints.add(f"Table {table}, column {column}: expected a number, found {str(value)[:60]!r}.")
        return float("nan")


_COMMUNICATION_TIMES = {
    "duration_ns": "elapse_time", "transit_ns": "transit_time", "wait_ns": "wait_time",
    "synchronisation_ns": "synchronization_time", "idle_ns": "idle_time",
}  # fmt: skip


def communication(source: ProfileInput) -> FramePart:
    """CommAnalyzerTime of the analysis database: what communication operators consist of, times in ms."""
    return read_part(source, COMMUNICATION, _communication_times)


def _communication_times(database: Database, source: ProfileInput, complaints: Complaints) -> pd.DataFrame:
    table = "CommAnalyzerTime"
    if not database.has(table, "hccl_op_name", "elapse_time"):
        return COMMUNICATION.empty()  # written only if the job communicates
    texts = {"step": "step", "kind": "type", "name": "hccl_op_name", "group": "group_name"}
    numbers = {"start_ns": "start_timestamp", **_COMMUNICATION_TIMES}
    cells = [database.column(table, one) for one in (*texts.values(), *numbers.values())]
    query = f"SELECT {', '.join(cells)} FROM {table}"  # noqa: S608  quoted names
    found = [row for rows in database.rows(query, f"Table {table}", complaints) for row in rows]
    listed = list(zip(*found, strict=True)) if found else [()] * len(cells)
    told = {name: ["" if value is None else str(value) for value in listed[place]] for place, name in enumerate(texts)}
    columns: dict[str, Any] = {name: categorical(values) for name, values in told.items() if name != "step"}
    columns["name"] = categorical([name.partition("@")[0] for name in told["name"]])
    columns["step"] = [step_of(text) for text in told["step"]]
    for place, (name, column) in enumerate(numbers.items(), len(texts)):
        values = np.array([_number(value, table, column, complaints) for value in listed[place]], np.float64)
        values[~(np.abs(values) < 2.0**53)] = np.nan
        columns[name] = values * MS
        if name == "start_ns":
            columns[name] = [begin_ns(value) for value in values.tolist()]
    return frame_of(COMMUNICATION, len(found), columns, source.name)


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

DATABASE_FILE = ProfileFileKind(
    "database", numbered("ascend_(?:mindspore|pytorch)_profiler", "db"), marks_profile=True, device="Ascend"
)
MSPROF_FILE = ProfileFileKind("msprof", stamped("msprof", "db"), marks_profile=True, device="Ascend")
_ANALYSIS_FILE = ProfileFileKind("analysis", re.compile(r"(?:analysis|communication_analyzer)\.db"), marks_profile=True)
KERNELS_OF_PROFILER = FrameReader(KERNELS, DATABASE_FILE, kernels, unless=("kernel_details", "op_summary"))
KERNELS_OF_MSPROF = FrameReader(KERNELS, MSPROF_FILE, kernels, unless=("kernel_details", "op_summary", "database"))
ANALYSIS = FrameReader(STEPS, _ANALYSIS_FILE, steps, unless=("step_trace_time",))
COMMUNICATION_OF_ANALYSIS = FrameReader(COMMUNICATION, _ANALYSIS_FILE, communication, unless=("communication",))
API_OF_PROFILER = FrameReader(API, DATABASE_FILE, api, unless=("api_statistic",))
API_OF_MSPROF = FrameReader(API, MSPROF_FILE, api, unless=("api_statistic", "database"))
