"""Reads npu_module_mem.csv: device memory that each component of CANN has reserved, over time.

Written into ASCEND_PROFILER_OUTPUT by MindSpore 2.3 and later (in KB) and by torch_npu (in MB of 2^20 bytes).
"""

from __future__ import annotations

import numpy as np

from parsers.profile_frames import MODULE_MEMORY
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, frame_of, numbered
from parsers.profiler.memory import checks
from parsers.profiler.memory.records import over_time
from parsers.profiler.tables import NONE, TableField, read_table

_FIELDS = (
    TableField("component", ("Component",), "text", required=True),
    TableField("time_ns", ("Timestamp",), "time", "us", required=True),
    TableField("reserved_bytes", ("Total Reserved",), "number", "kb"),
    TableField("device", ("Device",), "text"),
    TableField("number", ("Device_id",), "whole"),
)


def module_memory(source: ProfileInput) -> FramePart:
    """npu_module_mem.csv: a row for each sample of a component, in the order of time."""
    table = read_table(source.path, _FIELDS, numbered=True)
    columns = table.columns
    rows = checks.CheckedRows(source.path, table.lines)
    columns["reserved_bytes"] = checks.sizes(rows, "column Total Reserved", columns["reserved_bytes"])
    named, number = checks.devices(columns["device"]), columns.pop("number")
    columns["device"] = np.where(named == NONE, np.maximum(number, NONE), named)
    component = columns["component"]
    unnamed = np.array([*(str(name).isdecimal() for name in component.categories), False], np.bool_)
    rows.report(
        unnamed[component.codes],
        lambda row: f"column Component: expected a name, found {component[row]}; the number is shown",
    )
    columns = over_time(rows, columns)
    frame = frame_of(MODULE_MEMORY, len(columns["time_ns"]), columns, source.name)
    return FramePart(frame, (*table.problems, *rows.complaints.all()))


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_NPU_MODULE_FILE = ProfileFileKind("npu_module_mem", numbered("npu_module_mem"))
NPU_MODULE_MEM = FrameReader(MODULE_MEMORY, _NPU_MODULE_FILE, module_memory)
