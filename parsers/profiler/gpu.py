"""Reads operators and kernels of GPU, as MindSpore's C++ writes them (`profiler/` before 2.3).

gpu_op_type_info, gpu_op_detail_info and gpu_activity_data (microseconds), gpu_op_execute_timestamp and
activity_execute_timestamp (every execution: start in ns, duration in us). A row of gpu_activity_data sums up all executions
of one kernel name: stream, operator and dimensions are those of the first.
"""

from __future__ import annotations

import numpy as np

from parsers.profile_frames import KERNELS, OPERATOR_TYPES, OPERATORS
from parsers.profiler.digits import exact_ns
from parsers.profiler.frame_parts import (
    FramePart,
    FrameReader,
    ProfileFileKind,
    ProfileInput,
    categorical,
    changed,
    constant,
    fraction,
    frame_of,
    numbered,
)
from parsers.profiler.host import lines_of, timestamps
from parsers.profiler.lines import Complaints
from parsers.profiler.tables import TableField, read_table

_TYPES = (
    TableField("type", ("op_type",), "text", required=True),
    TableField("count", ("type_occurrences",)),
    TableField("total_ns", ("total_time",), unit="us", required=True),
    TableField("mean_ns", ("avg_time",), unit="us"),
    TableField("share", ("total_proportion",)),
)
_DETAILS = (
    TableField("type", ("op_type",), "text"),
    TableField("name", ("op_name",), "text"),
    TableField("full_name", ("op_full_name", "full_op_name"), "text", required=True),
    TableField("count", ("op_occurrences",)),
    TableField("total_ns", ("op_total_time",), unit="us", required=True),
    TableField("mean_ns", ("op_avg_time",), unit="us"),
    TableField("share", ("total_proportion",)),
    TableField("device_ns", ("cuda_activity_cost_time",), unit="us"),
)
_ACTIVITY = (
    TableField("name", ("name",), "text", required=True),
    TableField("type", ("type",), "text"),
    TableField("full_name", ("op_full_name",), "text"),
    TableField("count", ("occurrences",)),
    TableField("total_ns", ("total_duration",), unit="us", required=True),
    TableField("mean_ns", ("avg_duration",), unit="us"),
    TableField("max_ns", ("max_duration",), unit="us"),
    TableField("min_ns", ("min_duration",), unit="us"),
)


def types(source: ProfileInput) -> FramePart:
    """gpu_op_type_info_<r>.csv: types of operators."""
    table = read_table(source.path, _TYPES)
    table.columns["share"] = fraction(table.columns["share"], table.columns["total_ns"])
    table.columns["core"] = constant("GPU", table.rows)
    return FramePart(frame_of(OPERATOR_TYPES, table.rows, table.columns, source.name), table.problems)


def details(source: ProfileInput) -> FramePart:
    """gpu_op_detail_info_<r>.csv: operators."""
    table = read_table(source.path, _DETAILS)
    table.columns["share"] = fraction(table.columns["share"], table.columns["total_ns"])
    table.columns["core"] = constant("GPU", table.rows)
    return FramePart(frame_of(OPERATORS, table.rows, table.columns, source.name), table.problems)


def kernels(source: ProfileInput) -> FramePart:
    """gpu_activity_data_<r>.csv: kernels by name."""
    table = read_table(source.path, _ACTIVITY)
    columns = table.columns
    columns["core"] = constant("GPU_KERNEL", table.rows)
    whole = np.nansum(columns["total_ns"])
    columns["share"] = columns["total_ns"] / whole if whole > 0 else np.full(table.rows, np.nan)
    return FramePart(frame_of(OPERATORS, table.rows, columns, source.name), table.problems)


def executions(source: ProfileInput) -> FramePart:
    """gpu_op_execute_timestamp_<r>.txt: every execution of an operator."""
    return timestamps(source, "GPU", 3)


def activities(source: ProfileInput) -> FramePart:
    """activity_execute_timestamp_<r>.txt, lines `kernel;stream;start;duration`: every execution of a kernel."""
    complaints = Complaints(source.path)
    names: list[str] = []
    rows: list[tuple[int, int, int]] = []
    for number, line in lines_of(source.path, complaints):
        cells = line.rsplit(";", 3)  # names of C++ templates may contain any character
        start, taken = (exact_ns(cells[2], 0), exact_ns(cells[3], 3)) if len(cells) == 4 else (None, None)
        if start is None or taken is None:
            complaints.add(f"Line {number}: expected kernel;stream;start;duration, found {line[:60]!r}; the line was skipped.")
            continue
        stream = int(cells[1]) if cells[1].isdecimal() and len(cells[1]) < 19 else -1
        names.append(cells[0])
        rows.append((start, taken, stream))
    values = np.array(rows, np.int64).reshape(len(rows), 3)
    name = categorical(names)
    columns = {
        "name": name, "type": changed(name, lambda text: text.split("<", 1)[0].split("(", 1)[0].strip()),
        "core": constant("GPU_KERNEL", len(rows)), "start_ns": values[:, 0], "duration_ns": values[:, 1],
        "stream": values[:, 2],
    }  # fmt: skip
    return FramePart(frame_of(KERNELS, len(rows), columns, source.name), complaints.all())


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_GPU_OP_TYPE_INFO_FILE = ProfileFileKind("gpu_op_type_info", numbered("gpu_op_type_info"), marks_profile=True, device="GPU")
_GPU_OP_DETAIL_INFO_FILE = ProfileFileKind(
    "gpu_op_detail_info", numbered("gpu_op_detail_info"), marks_profile=True, device="GPU"
)
_GPU_ACTIVITY_DATA_FILE = ProfileFileKind("gpu_activity_data", numbered("gpu_activity_data"), marks_profile=True, device="GPU")
_GPU_EXECUTIONS_FILE = ProfileFileKind("gpu_executions", numbered("(?:gpu_)?op_execute_timestamp", "txt"))
_GPU_ACTIVITIES_FILE = ProfileFileKind("gpu_activities", numbered("activity_execute_timestamp", "txt"))
DETAILS = FrameReader(OPERATORS, _GPU_OP_DETAIL_INFO_FILE, details)
ACTIVITY_DATA = FrameReader(OPERATORS, _GPU_ACTIVITY_DATA_FILE, kernels)
TYPES = FrameReader(OPERATOR_TYPES, _GPU_OP_TYPE_INFO_FILE, types)
ACTIVITIES = FrameReader(KERNELS, _GPU_ACTIVITIES_FILE, activities)
EXECUTIONS = FrameReader(KERNELS, _GPU_EXECUTIONS_FILE, executions)
