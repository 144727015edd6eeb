"""The files of profilers by name, and the frames they give. A new file is a line in KNOWN and a line in PRODUCERS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from parsers.frames import API, KERNELS, OPERATOR_TYPES, OPERATORS, PIPELINE, STEPS
from parsers.profiler import ascend_output
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
    Producer(KERNELS, "data_preprocess", ascend_output.preprocess, ("kernel_details", "op_summary")),
    Producer(OPERATOR_TYPES, "op_statistic", ascend_output.operator_types),
    Producer(OPERATORS, "operator_details", ascend_output.details),
    Producer(STEPS, "step_trace_time", ascend_output.steps),
    Producer(API, "api_statistic", ascend_output.api),
    Producer(PIPELINE, "dataset", ascend_output.dataset),
)
