"""Reads the tables of ASCEND_PROFILER_OUTPUT: MindSpore 2.3 and later (`*_ascend_ms`), torch_npu (`*_ascend_pt`), text export.

Written by `mindspore.profiler` with `ExportType.Text`, the default. Read are kernel_details, op_summary (msprof's name for
it), op_statistic, step_trace_time, api_statistic, data_preprocess, operator_details and dataset, with the column names of
all versions and of torch_npu. Times are microseconds; those of events have three decimals and a TAB after them.
Memory, communication and trace_view are not read here.
"""

from __future__ import annotations

import numpy as np

from parsers.profile_frames import API, KERNELS, OPERATOR_TYPES, OPERATORS, PIPELINE, STEPS
from parsers.profiler.frame_parts import (
    FramePart,
    FrameReader,
    ProfileFileKind,
    ProfileInput,
    changed,
    constant,
    frame_of,
    numbered,
    stamped,
)
from parsers.profiler.tables import FileTable, TableField, read_table
from parsers.schema import Schema

NO_MODEL = 4_294_967_295
"""Model ID of kernels that belong to no graph."""
COMMUNICATION = ("HCCL", "COMMUNICATION")
"""Values of Accelerator Core that mark rows of communication."""
_SHAPES = (
    TableField("input_shapes", ("Input Shapes",), "text"),
    TableField("input_types", ("Input Data Types",), "text"),
    TableField("input_formats", ("Input Formats",), "text"),
    TableField("output_shapes", ("Output Shapes",), "text"),
    TableField("output_types", ("Output Data Types",), "text"),
    TableField("output_formats", ("Output Formats",), "text"),
)
_KERNELS = (
    TableField("step", ("Step ID", "Step"), "whole"),
    TableField("name", ("Name", "Op Name"), "text", required=True),
    TableField("type", ("Type", "OP Type"), "text"),
    TableField("core", ("Accelerator Core", "Task Type"), "text"),
    TableField("start_ns", ("Start Time", "Task Start Time"), "time", "us", required=True),
    TableField("duration_ns", ("Duration", "Task Duration"), "exact", "us", required=True),
    TableField("wait_ns", ("Wait Time", "Task Wait Time"), "number", "us"),
    TableField("device", ("Device_id",), "whole"),
    TableField("stream", ("Stream ID",), "whole"),
    TableField("task", ("Task ID",), "whole"),
    TableField("model", ("Model ID",), "whole"),
    TableField("blocks", ("Block Num", "Block Dim"), "whole"),
    TableField("state", ("OP State",), "text"),
    *_SHAPES,
)
_STATISTIC = (
    TableField("count", ("Count",)),
    TableField("total_ns", ("Total Time",), unit="us", required=True),
    TableField("min_ns", ("Min Time",), unit="us"),
    TableField("mean_ns", ("Avg Time",), unit="us"),
    TableField("max_ns", ("Max Time",), unit="us"),
    TableField("share", ("Ratio",)),
)
_STEPS = (
    TableField("step", ("Step",), "whole"),
    TableField("device", ("Device_id",), "whole"),
    TableField("computing_ns", ("Computing",), unit="us"),
    TableField("exposed_ns", ("Communication(Not Overlapped)",), unit="us"),
    TableField("overlapped_ns", ("Overlapped",), unit="us"),
    TableField("communication_ns", ("Communication",), unit="us"),
    TableField("free_ns", ("Free",), unit="us"),
    TableField("stage_ns", ("Stage",), unit="us"),
    TableField("bubble_ns", ("Bubble",), unit="us"),
    TableField("exposed_without_receive_ns", ("Communication(Not Overlapped and Exclude Receive)",), unit="us"),
    TableField("preparing_ns", ("Preparing",), unit="us"),
)
_API = (
    TableField("level", ("Level",), "text"),
    TableField("name", ("API Name", "Name"), "text", required=True),
    TableField("count", ("Count",)),
    TableField("total_ns", ("Time",), unit="us", required=True),
    TableField("mean_ns", ("Avg",), unit="us"),
    TableField("min_ns", ("Min",), unit="us"),
    TableField("max_ns", ("Max",), unit="us"),
    TableField("variance_ns2", ("Variance",)),
)
_PREPROCESS = (
    TableField("name", ("Node",), "text", required=True),
    TableField("start_ns", ("Timestamp",), "time", "us"),
    TableField("duration_ns", ("Task_time", "Total_time"), "exact", "us", required=True),
    TableField("device", ("Device_id",), "whole"),
    TableField("stream", ("Stream ID",), "whole"),
    TableField("task", ("Task ID",), "whole"),
)
_DETAILS = (
    TableField("name", ("Name",), "text", required=True),
    TableField("input_shapes", ("Input Shapes",), "text"),
    TableField("stack", ("Call Stack",), "text"),
    TableField("self_ns", ("Host Self Duration",), unit="us"),
    TableField("total_ns", ("Host Total Duration",), unit="us"),
    TableField("device_ns", ("Device Total Duration",), unit="us"),
)
_DATASET = (
    TableField("type", ("Operation",), "text", required=True),
    TableField("stage", ("Stage",), "text"),
    TableField("count", ("Occurrences",)),
    TableField("mean_ns", ("Avg. time", "Avg time"), unit="us"),
    TableField("info", ("Custom Info",), "text"),
)


def kernels(source: ProfileInput) -> FramePart:
    """kernel_details.csv or op_summary: every execution on the device; counters under pmu/ and their names."""
    table = read_table(source.path, _KERNELS, further="pmu/")
    columns = table.columns
    columns["model"][columns["model"] == NO_MODEL] = -1
    for name in ("input_shapes", "output_shapes"):
        columns[name] = changed(columns[name], lambda text: text.strip('"'))
    return _part(KERNELS, table, source)


def operator_types(source: ProfileInput) -> FramePart:
    """op_statistic.csv: types of operators."""
    fields = (TableField("type", ("OP Type",), "text", required=True), TableField("core", ("Core Type",), "text"), *_STATISTIC)
    table = read_table(source.path, fields)
    table.columns["share"] /= 100.0
    return _part(OPERATOR_TYPES, table, source)


def steps(source: ProfileInput) -> FramePart:
    """step_trace_time.csv: the parts of steps."""
    table = read_table(source.path, _STEPS)
    columns = table.columns
    columns["total_ns"] = columns["computing_ns"] + columns["exposed_ns"] + columns["free_ns"]
    columns["kind"] = constant("step", table.rows)
    return _part(STEPS, table, source)


def api(source: ProfileInput) -> FramePart:
    """api_statistic.csv: calls of the host."""
    table = read_table(source.path, _API)
    table.columns["variance_ns2"] *= 1e6
    return _part(API, table, source)


def preprocess(source: ProfileInput) -> FramePart:
    """data_preprocess.csv: executions on the AI CPU."""
    table = read_table(source.path, _PREPROCESS)
    table.columns["type"] = table.columns["name"]
    table.columns["core"] = constant("AI_CPU", table.rows)
    return _part(KERNELS, table, source)


def details(source: ProfileInput) -> FramePart:
    """operator_details.csv: operators of the host, a row per call."""
    table = read_table(source.path, _DETAILS)
    columns = table.columns
    columns["full_name"] = columns["name"]
    columns["name"] = columns["type"] = changed(columns["name"], lambda text: text.rsplit("/", 1)[-1])
    columns["core"] = constant("HOST_CPU", table.rows)
    columns["count"] = np.ones(table.rows)
    columns["mean_ns"] = columns["min_ns"] = columns["max_ns"] = columns["total_ns"]
    return _part(OPERATORS, table, source)


def dataset(source: ProfileInput) -> FramePart:
    """dataset.csv: stages of dataset operations."""
    return _part(PIPELINE, read_table(source.path, _DATASET), source)


def _part(schema: Schema, table: FileTable, source: ProfileInput) -> FramePart:
    return FramePart(frame_of(schema, table.rows, table.columns, source.name), table.problems)


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_KERNEL_DETAILS_FILE = ProfileFileKind("kernel_details", numbered("kernel_details"), marks_profile=True, device="Ascend")
_OP_SUMMARY_FILE = ProfileFileKind("op_summary", stamped("op_summary"), marks_profile=True)
_OP_STATISTIC_FILE = ProfileFileKind("op_statistic", stamped("op_statistic"), marks_profile=True, device="Ascend")
_STEP_TRACE_TIME_FILE = ProfileFileKind("step_trace_time", numbered("step_trace_time"), marks_profile=True, device="Ascend")
_API_STATISTIC_FILE = ProfileFileKind("api_statistic", stamped("api_statistic"), marks_profile=True)
_DATA_PREPROCESS_FILE = ProfileFileKind("data_preprocess", numbered("data_preprocess"))
_OPERATOR_DETAILS_FILE = ProfileFileKind("operator_details", numbered("operator_details"), marks_profile=True)
_DATASET_FILE = ProfileFileKind("dataset", numbered("dataset"))
OPERATOR_DETAILS = FrameReader(OPERATORS, _OPERATOR_DETAILS_FILE, details)
OP_STATISTIC = FrameReader(OPERATOR_TYPES, _OP_STATISTIC_FILE, operator_types)
KERNEL_DETAILS = FrameReader(KERNELS, _KERNEL_DETAILS_FILE, kernels)
OP_SUMMARY = FrameReader(KERNELS, _OP_SUMMARY_FILE, kernels, unless=("kernel_details",))
DATA_PREPROCESS = FrameReader(KERNELS, _DATA_PREPROCESS_FILE, preprocess, unless=("kernel_details", "op_summary"))
STEP_TRACE_TIME = FrameReader(STEPS, _STEP_TRACE_TIME_FILE, steps)
DATASET = FrameReader(PIPELINE, _DATASET_FILE, dataset)
API_STATISTIC = FrameReader(API, _API_STATISTIC_FILE, api)
