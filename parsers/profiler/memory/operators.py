"""Reads operator_memory.csv: the blocks of device memory that operators allocated while recording.

Written into ASCEND_PROFILER_OUTPUT by MindSpore 2.3 and later and by torch_npu when `profile_memory` is set. MindSpore 2.3
and 2.4 also write operator_memory_<rank>.csv, with a duration in place of the release. Sizes are KB of 2^10 bytes, totals MB
of 2^20 bytes, times microseconds. Rows are in no order of time; a block that was not released while recording has no release.
Rows of `cann::` operators belong to the graph engine (GE).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.profile_frames import OPERATOR_MEMORY
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, changed, frame_of, numbered
from parsers.profiler.memory import checks
from parsers.profiler.memory.records import of_mindspore, taken
from parsers.profiler.tables import NONE, TableField, read_table

Ints = NDArray[np.int64]
_FIELDS = (
    TableField("name", ("Name",), "text", required=True),
    TableField("size_bytes", ("Size",), "number", "kb", required=True),
    TableField("allocated_ns", ("Allocation Time",), "time", "us"),
    TableField("released_ns", ("Release Time",), "time", "us"),
    TableField("active_released_ns", ("Active Release Time",), "time", "us"),
    TableField("duration_ns", ("Duration",), "exact", "us"),
    TableField("total_allocated_bytes", ("Allocation Total Allocated",), "number", "mb"),
    TableField("total_reserved_bytes", ("Allocation Total Reserved",), "number", "mb"),
    TableField("total_active_bytes", ("Allocation Total Active",), "number", "mb"),
    TableField("stream", ("Stream Ptr",), "whole"),
    TableField("device", ("Device Type", "Device"), "text"),
)
_TOTALS = {
    "total_allocated_bytes": "Allocation Total Allocated", "total_reserved_bytes": "Allocation Total Reserved",
    "total_active_bytes": "Allocation Total Active",
}  # fmt: skip


def blocks(source: ProfileInput) -> FramePart:
    """operator_memory.csv: a row for each block, in the order of allocation."""
    table = read_table(source.path, _FIELDS, numbered=True)
    columns = table.columns
    rows = checks.CheckedRows(source.path, table.lines)
    columns["size_bytes"] = checks.sizes(rows, "column Size", columns["size_bytes"])
    for name, header in _TOTALS.items():
        columns[name] = checks.sizes(rows, f"column {header}", columns[name])
    columns["device"] = checks.devices(columns["device"])
    duration = columns.pop("duration_ns")
    if "released_ns" not in table.found:
        known = (columns["allocated_ns"] != NONE) & (duration >= 0) & (duration < 2**62)
        columns["released_ns"] = np.where(known, columns["allocated_ns"] + np.where(known, duration, 0), NONE)
    columns["component"] = _components(source.path, columns["name"])
    columns = placed_in_time(rows, columns)
    order = checks.in_order(rows, columns["allocated_ns"], columns["component"], "column Allocation Time")
    if order is not None:
        columns = taken(columns, order)
    columns["scope"] = checks.scopes(columns["name"])
    frame = frame_of(OPERATOR_MEMORY, len(columns["allocated_ns"]), columns, source.name)
    return FramePart(frame, (*table.problems, *rows.complaints.all()))


def placed_in_time(rows: checks.CheckedRows, columns: dict[str, Any]) -> dict[str, Any]:
    """Report what is wrong with the times of blocks, and drop blocks without any."""
    start, end = columns["allocated_ns"], columns["released_ns"]
    for name, times in (("Allocation", start), ("Release", end), ("Active Release", columns["active_released_ns"])):
        wrong = (times <= 0) & (times != NONE)
        rows.report(wrong, lambda _, name=name: f"column {name} Time: expected a time after 0, found none; it is unknown")  # type: ignore[misc]
        times[wrong] = NONE
    rows.report(
        (start == NONE) & (end != NONE),
        lambda row: f"expected an allocation before the release at {end[row]} ns, found none; "
        "the block counts from before the recording on",
    )
    nowhere = (start == NONE) & (end == NONE)
    rows.report(nowhere, lambda _: "expected a time of allocation or release; the row was skipped")
    rows.report(
        (end != NONE) & (end < start),
        lambda row: f"expected a release after the allocation, found one {start[row] - end[row]:,} ns before it; "
        "the block counts at no time",
    )
    if nowhere.any():
        columns = taken(columns, ~nowhere)
        rows.keep(~nowhere)
    return columns


def _components(path: str, names: pd.Categorical) -> pd.Categorical:
    listed = [str(name) for name in names.categories]
    torch = any("::" in name and not name.startswith("cann::") for name in listed)
    scoped = any("/" in name and "::" not in name for name in listed)
    other = "MindSpore" if not torch and (scoped or of_mindspore(path, names)) else "PTA"
    return changed(names, lambda name: "GE" if name.startswith("cann::") else other)


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_OPERATOR_MEMORY_FILE = ProfileFileKind("operator_memory", numbered("operator_memory"), marks_profile=True, device="Ascend")
OPERATOR_MEMORY_FILE = FrameReader(OPERATOR_MEMORY, _OPERATOR_MEMORY_FILE, blocks)
