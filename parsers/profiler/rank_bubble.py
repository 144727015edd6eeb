"""Computes the bubble of one rank from when its operations ran: what sends and receives take while nothing computes.

Read are communication.json for the operations between two ranks and kernel_details.csv for computing, or the tables
COMMUNICATION_OP, TASK and COMPUTE_TASK_INFO of a database. Only a rank with such operations has its kernels read, and only if
their file is not large: of many ranks that would take longer than all else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.bubble import exact
from parsers.deferred import pandas as pd
from parsers.files import RegularFile
from parsers.model import Ints
from parsers.profiler.ascend_output import COMMUNICATION
from parsers.profiler.communication import TOTAL
from parsers.profiler.communication_json import CommunicationTimes, step_number
from parsers.profiler.communication_tables import Tasks
from parsers.profiler.database import Database
from parsers.profiler.lines import Complaints
from parsers.profiler.tables import TableField, read_table

KINDS = (("communication", "kernel_details"), ("database",), ("msprof",))
"""Kinds of files that together tell when operations ran, the first ones first."""
LARGEST = 64 << 20
"""Bytes of kernel_details or communication.json beyond which the bubble is left at its upper bound; of a database ten times."""
_SOME = re.compile(rb'"p2p"\s*:\s*\{\s*"')
_KERNELS = (
    TableField("core", ("Accelerator Core", "Task Type"), "text"),
    TableField("start_ns", ("Start Time", "Task Start Time"), "time", "us"),
    TableField("duration_ns", ("Duration", "Task Duration"), "time", "us"),
)
_TASKS = """SELECT t.startNs, t.endNs FROM TASK t JOIN COMPUTE_TASK_INFO c ON t.globalTaskId = c.globalTaskId
            WHERE t.startNs IS NOT NULL AND t.endNs > t.startNs"""
Spans = tuple[Ints, Ints]


class _Files(Protocol):
    """The files of a rank by kind (`parsers.profiler.ranks`)."""

    def has(self, kind: str) -> bool: ...

    def path(self, kind: str) -> str: ...

    def asked(self, kind: str, ask: Any) -> Any: ...


class _Timed(msgspec.Struct, gc=False):
    times: CommunicationTimes = msgspec.field(name="Communication Time Info", default_factory=CommunicationTimes)


class _StepTraffic(msgspec.Struct, gc=False):
    p2p: dict[str, _Timed] = msgspec.field(default_factory=dict)


def bubbles(files: _Files) -> Mapping[int, float]:
    """Return the bubble in ns by step; nothing where the files do not tell it or are too large.

    Never raises for the content of files: what is wrong with them is reported where their frames are read.
    """
    if files.has("communication") and files.has("kernel_details"):
        return _by_step(_sent(files.path("communication")), lambda: _computing(files.path("kernel_details")))
    for kind in ("database", "msprof"):
        if files.has(kind) and _size(files.path(kind)) <= 10 * LARGEST:
            found = files.asked(kind, _of_database)
            if found:
                return dict(found)
    return {}


def _by_step(sent: Mapping[int, Spans], computing: Callable[[], Spans | None]) -> dict[int, float]:
    if not sent:
        return {}
    spans = computing()
    return {} if spans is None else {step: float(exact(own, spans)) for step, own in sent.items()}


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _sent(path: str) -> dict[int, Spans]:
    """Return begins and ends of the operations between two ranks by step, from communication.json."""
    try:
        with RegularFile(path) as file:
            data = file.read(0, file.size) if file.size <= LARGEST else b""
        steps = msgspec.json.decode(data, type=dict[str, _StepTraffic]) if _SOME.search(data) else {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    found: dict[int, Spans] = {}
    # Beginnings have the precision of the file's floats: a quarter of a microsecond.
    for name, step in steps.items():
        own = [(one.times.start, one.times.elapse) for key, one in step.p2p.items() if key.partition("@")[0] != TOTAL]
        start, elapse = np.array(own, np.float64).reshape(-1, 2).T
        known = np.isfinite(start) & (elapse > 0.0) & (np.abs(start) < 2.0**62 / 1e3)
        begins = np.rint(start[known] * 1e3).astype(np.int64)
        if len(begins):
            found[step_number(name)] = begins, begins + np.rint(elapse[known] * 1e6).astype(np.int64)
    return found


def _computing(path: str) -> Spans | None:
    """Return begins and ends of what computes, from kernel_details.csv; None if it is too large or has none."""
    if _size(path) > LARGEST:
        return None
    table = read_table(path, _KERNELS)
    start, duration = table.columns["start_ns"], table.columns["duration_ns"]
    chosen = ~communicates(table.columns["core"]) & (start >= 0) & (duration > 0)
    return (start[chosen], start[chosen] + duration[chosen]) if chosen.any() else None


def communicates(core: pd.Categorical) -> NDArray[np.bool_]:
    """Return for each row of kernels whether it is an operation between ranks, by its core."""
    found: NDArray[np.bool_] = np.append(np.isin(np.asarray(core.categories, object), COMMUNICATION), False)[core.codes]
    return found


def _of_database(database: Database, complaints: Complaints) -> dict[int, float]:
    if not (database.has("TASK", "startNs", "endNs", "globalTaskId") and database.has("COMPUTE_TASK_INFO", "globalTaskId")):
        return {}
    sent = {step: _spans(rows) for step, rows in Tasks(database, complaints).between_two().items()}

    def spans() -> Spans | None:
        begins, ends = computing_of_database(database, complaints)
        return (begins, ends) if len(begins) else None

    return _by_step(sent, spans)


def computing_of_database(database: Database, complaints: Complaints) -> Spans:
    """Return begins and ends in ns of the tasks of COMPUTE_TASK_INFO; none without the tables."""
    if not (database.has("TASK", "startNs", "endNs", "globalTaskId") and database.has("COMPUTE_TASK_INFO", "globalTaskId")):
        return _spans([])
    found = [row for rows in database.rows(_TASKS, "Table COMPUTE_TASK_INFO", complaints) for row in rows]
    return _spans([(begin, end) for begin, end in found if isinstance(begin, int) and isinstance(end, int)])


def _spans(rows: Sequence[tuple[int, int]]) -> Spans:
    begins, ends = np.array(rows, np.int64).reshape(-1, 2).T
    return begins, ends
