"""The files of profilers by name, and the frames they give. A new file is a line in KNOWN and a line in PRODUCERS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from parsers.frames import (
    API,
    CPU,
    FLOPS,
    FLOPS_SCOPES,
    HOST_MEMORY,
    KERNELS,
    OPERATOR_TYPES,
    OPERATORS,
    PIPELINE,
    QUEUES,
    REDUCES,
    STEPS,
)
from parsers.profiler import ascend_output, database, dynamic_shape, flops, gpu, host, legacy_ascend, minddata
from parsers.profiler.parts import Read
from parsers.schema import Schema


def _table(stem: str, end: str = "csv") -> re.Pattern[str]:
    return re.compile(rf"{stem}(?:_(?P<rank>\d{{1,9}}))?\.{end}")


# What a file is -> its name; the first that fits counts.
KNOWN: Mapping[str, re.Pattern[str]] = {
    "profiler_info": _table("profiler_info", "json"),
    "profiler_metadata": re.compile(r"profiler_metadata\.json"),
    "kernel_details": _table("kernel_details"),
    "op_summary": re.compile(r"op_summary(_\d+)*\.csv"),
    "op_statistic": re.compile(r"op_statistic(_\d+)*\.csv"),
    "step_trace_time": _table("step_trace_time"),
    "api_statistic": re.compile(r"api_statistic(_\d+)*\.csv"),
    "data_preprocess": _table("data_preprocess"),
    "operator_details": _table("operator_details"),
    "dataset": _table("dataset"),
    "aicore_type": re.compile(r"aicore_intermediate_(?P<rank>\d{1,9})_type\.csv"),
    "aicore_detail": re.compile(r"aicore_intermediate_(?P<rank>\d{1,9})_detail\.csv"),
    "aicpu": _table("aicpu_intermediate"),
    "pynative_type": re.compile(r"pynative_op_intermediate_(?P<rank>\d{1,9})_type\.csv"),
    "pynative_detail": re.compile(r"pynative_op_intermediate_(?P<rank>\d{1,9})_detail\.csv"),
    "framework_raw": _table("framework_raw"),
    "flops": _table("flops", "txt"),
    "flops_summary": _table("flops_summary", "json"),
    "flops_scope": _table("flops_scope", "json"),
    "dynamic_shape": _table("dynamic_shape_info", "json"),
    "output_timeline": _table("output_timeline_data", "txt"),
    "step_trace_raw": re.compile(r"step_trace_raw_(?P<rank>\d{1,9})_detail_time\.csv"),
    "step_trace_points": _table("step_trace_point_info", "json"),
    "gpu_op_type_info": _table("gpu_op_type_info"),
    "gpu_op_detail_info": _table("gpu_op_detail_info"),
    "gpu_activity_data": _table("gpu_activity_data"),
    "gpu_executions": _table("(?:gpu_)?op_execute_timestamp", "txt"),
    "gpu_activities": _table("activity_execute_timestamp", "txt"),
    "cpu_op_type_info": _table("cpu_op_type_info"),
    "cpu_op_detail_info": _table("cpu_op_detail_info"),
    "cpu_executions": _table("cpu_op_execute_timestamp", "txt"),
    "cpu_framework": _table("cpu_framework", "txt"),
    "cpu_memory": _table("cpu_ms_memory_record", "txt"),
    "pipeline_raw": _table("minddata_pipeline_raw"),
    "pipeline_summary": _table("minddata_pipeline_summary", "(?:csv|json)"),
    "pipeline_profiling": _table("pipeline_profiling", "json"),
    "device_queue": _table("device_queue_profiling", "txt"),
    "dataset_iterator": _table("dataset_iterator_profiling", "txt"),
    "get_next_ascend": _table("minddata_aicpu", "txt"),
    "get_next_gpu": _table("minddata_getnext_profiling", "txt"),
    "cpu_utilization": _table("minddata_cpu_utilization", "json"),
    "database": _table("ascend_(?:mindspore|pytorch)_profiler", "db"),
    "msprof": re.compile(r"msprof(_\d+)*\.db"),
    "analysis": re.compile(r"(?:analysis|communication_analyzer)\.db"),
}


@dataclass(frozen=True, slots=True)
class Producer:
    """One frame of one kind of file. Not read where the session has, of the same rank, one of the files in `unless`."""

    schema: Schema
    what: str
    read: Read
    unless: tuple[str, ...] = ()


# Rows come in this order.
PRODUCERS: tuple[Producer, ...] = (
    Producer(KERNELS, "kernel_details", ascend_output.kernels),
    Producer(KERNELS, "op_summary", ascend_output.kernels, ("kernel_details",)),
    Producer(KERNELS, "output_timeline", legacy_ascend.timeline),
    Producer(KERNELS, "gpu_activities", gpu.activities),
    Producer(KERNELS, "gpu_executions", gpu.executions),
    Producer(KERNELS, "dynamic_shape", dynamic_shape.executions, ("gpu_executions", "gpu_activities")),
    Producer(KERNELS, "cpu_executions", host.executions),
    Producer(KERNELS, "data_preprocess", ascend_output.preprocess, ("kernel_details", "op_summary")),
    Producer(KERNELS, "database", database.kernels, ("kernel_details", "op_summary")),
    Producer(KERNELS, "msprof", database.kernels, ("kernel_details", "op_summary", "database")),
    Producer(OPERATOR_TYPES, "op_statistic", ascend_output.operator_types),
    Producer(OPERATOR_TYPES, "aicore_type", legacy_ascend.types),
    Producer(OPERATOR_TYPES, "pynative_type", legacy_ascend.pynative_types),
    Producer(OPERATOR_TYPES, "gpu_op_type_info", gpu.types),
    Producer(OPERATOR_TYPES, "cpu_op_type_info", host.types),
    Producer(OPERATORS, "aicore_detail", legacy_ascend.details),
    Producer(OPERATORS, "aicpu", legacy_ascend.aicpu),
    Producer(OPERATORS, "pynative_detail", legacy_ascend.pynative_details),
    Producer(OPERATORS, "gpu_op_detail_info", gpu.details),
    Producer(OPERATORS, "gpu_activity_data", gpu.kernels),
    Producer(OPERATORS, "cpu_op_detail_info", host.details),
    Producer(OPERATORS, "operator_details", ascend_output.details),
    Producer(STEPS, "step_trace_time", ascend_output.steps),
    Producer(STEPS, "analysis", database.steps, ("step_trace_time",)),
    Producer(STEPS, "step_trace_raw", legacy_ascend.steps),
    Producer(REDUCES, "step_trace_raw", legacy_ascend.reduces),
    Producer(API, "api_statistic", ascend_output.api),
    Producer(API, "database", database.api, ("api_statistic",)),
    Producer(API, "msprof", database.api, ("api_statistic", "database")),
    Producer(PIPELINE, "pipeline_profiling", minddata.pipeline),
    Producer(PIPELINE, "pipeline_raw", minddata.pipeline_raw, ("pipeline_profiling",)),
    Producer(PIPELINE, "dataset", ascend_output.dataset),
    Producer(QUEUES, "device_queue", minddata.host_queue),
    Producer(QUEUES, "dataset_iterator", minddata.iterator),
    Producer(QUEUES, "get_next_ascend", minddata.get_next_ascend),
    Producer(QUEUES, "get_next_gpu", minddata.get_next_gpu),
    Producer(QUEUES, "pipeline_profiling", minddata.samples),
    Producer(QUEUES, "pipeline_raw", minddata.samples_raw, ("pipeline_profiling",)),
    Producer(CPU, "cpu_utilization", minddata.cpu),
    Producer(HOST_MEMORY, "cpu_utilization", minddata.memory),
    Producer(HOST_MEMORY, "cpu_memory", host.memory),
    Producer(FLOPS, "flops_summary", flops.summary),
    Producer(FLOPS_SCOPES, "flops_scope", flops.scopes),
)


def givers(schema: Schema) -> tuple[str, ...]:
    """What files of which any gives a frame, those first that give it as it is; of others it is derived."""
    own = tuple(dict.fromkeys(producer.what for producer in PRODUCERS if producer.schema is schema))
    source = {OPERATORS.name: KERNELS, OPERATOR_TYPES.name: OPERATORS}.get(schema.name)
    return own if source is None else tuple(dict.fromkeys((*own, *givers(source))))


def shown_name(what: str) -> str:
    """The name of such a file as users know it: aicore_intermediate_*_detail.csv."""
    pattern = KNOWN[what].pattern
    for regex, text in ((_RANKED, ""), (_RANK, "*"), (r"(_\d+)*", ""), ("(?:gpu_)?", "gpu_"), ("\\.", ".")):
        pattern = pattern.replace(regex, text)
    return re.sub(r"\((?:\?:)?([^|()]*)\|[^()]*\)", r"\1", pattern)


_RANK = r"(?P<rank>\d{1,9})"
_RANKED = rf"(?:_{_RANK})?"
