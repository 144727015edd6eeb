"""npu_module_mem.csv: device memory that each component of CANN has reserved, over time.

Written into ASCEND_PROFILER_OUTPUT by MindSpore 2.3 and later and by torch_npu. Every column is read.
"""

from __future__ import annotations

from parsers.frames import FILE
from parsers.profiler.parts import FrameReader, Part, ProfileFileKind, ProfileInput, frame_of, stamped
from parsers.profiler.tables import Field, read_table
from parsers.schema import Column, Schema

MODULE_MEMORY = Schema(
    "module_memory",
    "Device memory reserved by components of CANN over time.",
    (
        Column("component", "category", "", "component, such as GE or HCCL"),
        Column("time_ns", "int64", "ns", "nanoseconds since 1970-01-01 UTC; -1 for unknown"),
        Column("reserved_bytes", "int64", "B", "memory reserved; -1 for unknown"),
        Column("device", "category", "", "device, such as NPU:0"),
        FILE,
    ),
)
_FIELDS = (
    Field("component", ("Component",), "text", required=True),
    Field("time_ns", ("Timestamp",), "time", "us", required=True),
    Field("reserved_bytes", ("Total Reserved",), "exact", "kb"),
    Field("device", ("Device",), "text"),
)


def module_memory(file: ProfileInput) -> Part:
    """Read the table; the units in its header decide how numbers are scaled."""
    table = read_table(file.path, _FIELDS)
    return Part(frame_of(MODULE_MEMORY, table.rows, table.columns, file.name), table.problems)


NPU_MODULE_MEM = FrameReader(MODULE_MEMORY, ProfileFileKind("npu_module_mem", stamped("npu_module_mem")), module_memory)
