"""Reads memory_record.csv: memory of the device over time, by component.

Written into ASCEND_PROFILER_OUTPUT by MindSpore 2.3 and later and by torch_npu when `profile_memory` is set. Rows of the
process (APP) come first or last, and have no allocated memory. Numbers of torch_npu are in MB of 2^20 bytes; MindSpore
divides KB of 1,024 bytes by 1,000, so its MB are 1,024,000 bytes. No file of MindSpore is public. Which of the two wrote a
file is known from its components and its directory.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.model import NOTE
from parsers.profile_frames import MEMORY
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, frame_of, numbered
from parsers.profiler.memory import checks
from parsers.profiler.tables import NONE, TableField, read_table

MINDSPORE_MB = 1_000 * (1 << 10)
"""Bytes of what MindSpore calls a MB in this file."""
PROCESS = "APP"
"""The component of rows about the whole process."""
_MB = 1 << 20
_FIELDS = (
    TableField("component", ("Component",), "text", required=True),
    TableField("time_ns", ("Timestamp",), "time", "us", required=True),
    TableField("allocated_bytes", ("Total Allocated",), "number", "mb"),
    TableField("reserved_bytes", ("Total Reserved",), "number", "mb"),
    TableField("active_bytes", ("Total Active",), "number", "mb"),
    TableField("stream", ("Stream Ptr",), "whole"),
    TableField("device", ("Device Type", "Device"), "text"),
)
_SIZES = {"allocated_bytes": "Total Allocated", "reserved_bytes": "Total Reserved", "active_bytes": "Total Active"}
_MINDSPORE_SESSION = re.compile(r".*_ascend_ms")


def memory(source: ProfileInput) -> FramePart:
    """memory_record.csv: a row for each change of a component, in the order of time."""
    table = read_table(source.path, _FIELDS, numbered=True)
    columns = table.columns
    rows = checks.CheckedRows(source.path, table.lines)
    factor = MINDSPORE_MB / _MB if of_mindspore(source.path, columns["component"]) else 1.0
    for name, header in _SIZES.items():
        columns[name] = checks.sizes(rows, f"column {header}", columns[name], factor)
    process = np.array([*(name == PROCESS for name in columns["component"].categories), False], np.bool_)
    for name in ("allocated_bytes", "active_bytes"):  # MindSpore writes 0.0, torch_npu nothing
        columns[name][process[columns["component"].codes]] = NONE
    columns["device"] = checks.devices(columns["device"])
    columns = over_time(rows, columns)
    found = len(columns["component"].categories)
    if found > checks.MOST_COMPONENTS:
        most = f"expected at most {checks.MOST_COMPONENTS} components, found {found:,}"
        rows.complaints.add(f"Column Component: {most}; charts offer sums of components and the first of the others.", NOTE)
    frame = frame_of(MEMORY, len(columns["time_ns"]), columns, source.name)
    return FramePart(frame, (*table.problems, *rows.complaints.all()))


def of_mindspore(path: str, components: pd.Categorical) -> bool:
    """Return whether MindSpore wrote a file, by the names of its components or that of its session."""
    named = {str(name) for name in components.categories}
    if any("MindSpore" in name for name in named):
        return True
    parts = os.path.dirname(path).split(os.sep)
    return not any("PTA" in name for name in named) and any(_MINDSPORE_SESSION.fullmatch(part) for part in parts)


def over_time(rows: checks.CheckedRows, columns: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of the rows that have a time, in the order of time; others, and times out of order, are reported."""
    kept = checks.timed(rows, columns["time_ns"], "column Timestamp")
    if not kept.all():
        columns = taken(columns, kept)
        rows.keep(kept)
    order = checks.in_order(rows, columns["time_ns"], columns["component"], "column Timestamp")
    return columns if order is None else _reordered(columns, order)


def taken(columns: dict[str, Any], rows: NDArray[Any]) -> dict[str, Any]:
    """Return these rows of columns: a mask, or indices in the order wanted."""
    places = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
    return {name: values.take(places) for name, values in columns.items()}


def _reordered(columns: dict[str, Any], order: NDArray[np.intp]) -> dict[str, Any]:
    """Return columns in another order; the memory of one is used again for the next, since new memory takes longer."""
    made: dict[str, Any] = {}
    spare: dict[Any, NDArray[Any]] = {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            made[name] = np.take(values, order, out=spare.pop(values.dtype, None), mode="clip")
            spare[values.dtype] = values
        else:
            made[name] = values.take(order)
    return made


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_MEMORY_RECORD_FILE = ProfileFileKind("memory_record", numbered("memory_record"), marks_profile=True, device="Ascend")
MEMORY_RECORD = FrameReader(MEMORY, _MEMORY_RECORD_FILE, memory)
