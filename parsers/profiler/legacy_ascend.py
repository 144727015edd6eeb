"""Reads operators and steps of Ascend as MindSpore 1.x to 2.2 wrote them into `profiler/`.

aicore_intermediate (types and details, joined with framework_raw and flops), aicpu_intermediate, pynative_op_intermediate,
output_timeline_data and step_trace_raw. Times of operators are milliseconds, those of step traces multiples of 10 ns. Times
in details are per execution, in types per step. The raw text tables (output_op_compute_time, hwts) hold the same data and are
not read; flops_summary and flops_scope are read by `flops`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.json_text import parse_json
from parsers.model import Problem
from parsers.profile_frames import KERNELS, OPERATOR_TYPES, OPERATORS, REDUCES, STEPS
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
from parsers.profiler.lines import Complaints
from parsers.profiler.tables import NONE, TableField, read_table

TICK_NS = 10
"""Nanoseconds of one unit in a step trace."""
_FULL_NAMES = ("full_op_name", "full_kernel_name", "full_kernel_time")  # the last one is a slip of a writer
_NUMBERED = re.compile(r"(.*?)-op\d+")
_DETAILS = (
    TableField("full_name", _FULL_NAMES, "text", required=True),
    TableField("mean_ns", ("execution_time", "task_duration", "avg_execution_time"), unit="ms", required=True),
    TableField("count", ("execution_frequency",)),
    TableField("core", ("task_type",), "text"),
)
_TYPES = (
    TableField("type", ("op_type", "kernel_type"), "text", required=True),
    TableField("total_ns", ("total_time", "execution_time", "task_time"), unit="ms", required=True),
    TableField("per_step", ("execution_frequency",)),
    TableField("share", ("percent",)),
)
_AICPU = (
    TableField("type", ("op_type", "kernel_type", "node_type_name"), "text", required=True),
    TableField("total_ns", ("total_time",), unit="ms", required=True),
    TableField("dispatch_ns", ("dispatch_time",), unit="ms"),
    TableField("start_ns", ("run_start",), "time", "us"),
)
_FRAMEWORK = (
    TableField("full_name", _FULL_NAMES, "text", required=True),
    TableField("type", ("op_type", "kernel_type"), "text"),
    TableField("subgraph", ("subgraph",), "text"),
    TableField("op_info", ("op_info",), "text"),
)
_FLOPS = (
    TableField("full_name", ("op_full_name", *_FULL_NAMES), "text", required=True),
    TableField("mega", ("MFLOPs(10^6 cube)", "FLOPs")),
    TableField("giga_per_s", ("GFLOPS(10^9 cube)", "FLOPS")),
    TableField("use", ("FLOPS utilization(cube)", "FLOPS utilization")),
    TableField("vector_mega", ("MFLOPs(10^6 vector)",)),
    TableField("vector_giga_per_s", ("GFLOPS(10^9 vector)",)),
    TableField("vector_use", ("FLOPS utilization(vec)",)),
)
_TIMELINE = (
    TableField("name", ("op_name",), "text", required=True),
    TableField("stream", ("stream_id",), "whole"),
    TableField("start_ns", ("start_time",), "time", "us", required=True),
    TableField("duration_ns", ("duration",), "exact", "ms", required=True),
)
_STEP_POINTS = {
    "start_ns": "start_point", "total_ns": "total", "interval_ns": "iteration_interval", "forward_backward_ns": "fp_and_bp",
    "tail_ns": "tail",
}  # fmt: skip
_LARGEST = 2.0**53
"""Times from here on are damage: a float64 does not hold them exactly."""
_REDUCE = re.compile(r"stream_(?P<stream>\d+)_(?:(?P<number>\d+)_(?P<name>.+)|(?P<old>[A-Za-z]\w*)_(?P<place>\d+))")


def types(source: ProfileInput) -> FramePart:
    """aicore_intermediate_<r>_type.csv: types on the AI Core, times of one step."""
    return _types(source, "AI_CORE")


def pynative_types(source: ProfileInput) -> FramePart:
    """pynative_op_intermediate_<r>_type.csv: types of PyNative mode."""
    return _types(source, "PYNATIVE")


def _types(source: ProfileInput, core: str) -> FramePart:
    table = read_table(source.path, _TYPES)
    columns = table.columns
    columns["count"] = columns["per_step"]
    with np.errstate(divide="ignore", invalid="ignore"):
        columns["mean_ns"] = columns["total_ns"] / columns["count"]
    columns["share"] = fraction(columns["share"], columns["total_ns"])
    columns["core"] = constant(core, table.rows)
    return FramePart(frame_of(OPERATOR_TYPES, table.rows, columns, source.name), table.problems)


def details(source: ProfileInput) -> FramePart:
    """aicore_intermediate_<r>_detail.csv: operators on the AI Core, with shapes and FLOPs if files beside it have them."""
    return _details(source, "AI_CORE")


def pynative_details(source: ProfileInput) -> FramePart:
    """pynative_op_intermediate_<r>_detail.csv: operators of PyNative mode."""
    return _details(source, "PYNATIVE")


def _details(source: ProfileInput, core: str) -> FramePart:
    table = read_table(source.path, _DETAILS)
    columns, problems = table.columns, table.problems
    columns["total_ns"] = columns["mean_ns"] * columns["count"]
    columns["name"] = changed(columns["full_name"], last_part)
    columns["type"] = changed(columns["name"], type_of)
    columns["core"] = changed(columns["core"], lambda text: text or core)
    files: dict[str, Callable[[ProfileInput], tuple[pd.Categorical, Mapping[str, Any], tuple[Problem, ...]]]] = {
        "framework_raw": _framework, "flops": _flops,
    }  # fmt: skip
    for what, read in files.items():
        beside = source.beside.get(what)
        if beside is not None and core == "AI_CORE":
            names, found, wrong = read(beside)
            problems += wrong
            columns |= _joined(columns["full_name"], names, found, columns)
    if core == "AI_CORE" and table.rows and "framework_raw" not in source.beside:
        problems += (_without_framework(source),)
    return FramePart(frame_of(OPERATORS, table.rows, columns, source.name), problems)


def _without_framework(source: ProfileInput) -> Problem:
    expected = source.name.replace("aicore_intermediate", "framework_raw").replace("_detail", "")
    text = f"Expected {expected} beside it, found none: types are taken from names; shapes, formats and subgraphs are unknown."
    return Problem(source.path, 0, 0, "bad_table", text)


def last_part(name: str) -> str:
    """Return a full name without its scopes."""
    return name.rsplit("/", 1)[-1]


def type_of(name: str) -> str:
    """Return the operator type in a name such as Conv2D-op65."""
    match = _NUMBERED.fullmatch(name)
    return match[1] if match is not None else name


def _joined(
    names: pd.Categorical, beside: pd.Categorical, found: Mapping[str, Any], known: Mapping[str, Any]
) -> dict[str, Any]:
    """Join the columns of another file, whose rows have the names `beside`, by name; of several rows the first."""
    codes, first = np.unique(beside.codes, return_index=True)
    rows = np.full(len(beside.categories) + 1, -1)
    rows[codes] = first
    place = rows[beside.categories.get_indexer(names.categories)][names.codes] if len(names) else np.empty(0, np.int64)
    made: dict[str, Any] = {}
    for column, values in found.items():
        if isinstance(values, pd.Categorical):
            told = pd.Categorical.from_codes(np.append(values.codes, -1)[place], categories=values.categories)
            made[column] = _either(told, known.get(column, constant("", len(names))))
        else:
            made[column] = np.append(values, np.nan)[place]
    return made


def _either(told: pd.Categorical, other: pd.Categorical) -> pd.Categorical:
    """Return the first texts, replaced by the others where they are missing or empty."""
    categories = told.categories.union(other.categories, sort=False)
    mine = categories.get_indexer(told.categories)
    codes = np.append(mine, -1)[told.codes]
    empty = (codes < 0) | (codes == (categories.get_loc("") if "" in categories else -1))
    return pd.Categorical.from_codes(np.where(empty, categories.get_indexer(other.categories)[other.codes], codes), categories)


def _framework(source: ProfileInput) -> tuple[pd.Categorical, dict[str, pd.Categorical], tuple[Problem, ...]]:
    """Return full names of framework_raw, their columns, and problems."""
    table = read_table(source.path, _FRAMEWORK)
    complaints = Complaints(source.path)
    columns = table.columns
    found = {name: columns[name] for name in ("type", "subgraph")}
    described = {text: _described(text, complaints) for text in columns["op_info"].categories}
    for column in ("input_shapes", "input_types", "input_formats", "output_shapes", "output_types", "output_formats"):
        texts = {text: values[column] for text, values in described.items()}
        found[column] = changed(columns["op_info"], texts.__getitem__)
    return columns["full_name"], found, table.problems + complaints.all()


def _described(text: str, complaints: Complaints) -> dict[str, str]:
    """Return shapes, types and formats of inputs and outputs in an op_info."""
    columns = {f"{side}_{what}": "" for side in ("input", "output") for what in ("shapes", "types", "formats")}
    if not text:
        return columns
    try:
        info = parse_json(text)
    except (ValueError, RecursionError):
        complaints.add(f"Column op_info: expected a JSON object, found {text[:60]!r}.")
        return columns
    if not isinstance(info, dict):
        return columns
    for side in ("input", "output"):
        ports = [info[name] for name in sorted((n for n in info if n.startswith(f"{side}_")), key=_port)]
        whole = [port for port in ports if isinstance(port, dict)]
        for what, key in (("shapes", "shape"), ("types", "data_type"), ("formats", "format")):
            cells = [str(port.get(key, "")).removeprefix("NUMBER_TYPE_") for port in whole]
            columns[f"{side}_{what}"] = ";".join(cells) if any(cells) else ""
    return columns


def _port(name: str) -> tuple[int, str]:
    digits = name.rsplit("_", 1)[-1]
    return (int(digits) if digits.isdigit() and len(digits) < 10 else 10**9), name


def _flops(source: ProfileInput) -> tuple[pd.Categorical, dict[str, Any], tuple[Problem, ...]]:
    """Return full names of flops_<r>.txt, their numbers (in the file millions, billions per second, percent), and problems."""
    table = read_table(source.path, _FLOPS)
    columns = {
        "flops": ("mega", 1e6), "flops_per_s": ("giga_per_s", 1e9), "flops_use": ("use", 0.01),
        "vector_flops": ("vector_mega", 1e6), "vector_flops_per_s": ("vector_giga_per_s", 1e9),
        "vector_flops_use": ("vector_use", 0.01),
    }  # fmt: skip
    found = {name: table.columns[recorded] * scale for name, (recorded, scale) in columns.items()}
    return table.columns["full_name"], found, table.problems


def aicpu(source: ProfileInput) -> FramePart:
    """aicpu_intermediate_<r>.csv: every execution on the AI CPU."""
    table = read_table(source.path, _AICPU)
    columns = table.columns
    columns["name"] = columns["full_name"] = columns["type"]
    columns["type"] = changed(columns["type"], lambda text: text.split("-", 1)[0])
    columns["core"] = constant("AI_CPU", table.rows)
    columns["count"] = np.ones(table.rows)
    columns["mean_ns"] = columns["min_ns"] = columns["max_ns"] = columns["total_ns"]
    return FramePart(frame_of(OPERATORS, table.rows, columns, source.name), table.problems)


def timeline(source: ProfileInput) -> FramePart:
    """output_timeline_data_<r>.txt: every execution on the device."""
    table = read_table(source.path, _TIMELINE)
    columns = table.columns
    columns["type"] = changed(columns["name"], lambda text: type_of(last_part(text)))
    columns["core"] = constant("AI_CORE", table.rows)
    return FramePart(frame_of(KERNELS, table.rows, columns, source.name), table.problems)


def steps(source: ProfileInput) -> FramePart:
    """step_trace_raw_<r>_detail_time.csv: steps, and the average in the file."""
    fields = [TableField("step", ("step_num",), "text", required=True)]
    for name, header in _STEP_POINTS.items():
        fields.append(TableField(name, (header,), "whole" if name == "start_ns" else "number"))
    fields[3:5] = [TableField("interval_ns", ("iteration_interval",)), TableField("forward_backward_ns", ("fp_and_bp", "fp"))]
    table = read_table(source.path, fields)
    columns = table.columns
    kinds, numbers = _numbered(list(columns["step"]))
    columns["kind"], columns["step"] = categorical(kinds), numbers
    for name in _STEP_POINTS:
        known = np.abs(columns[name]) < _LARGEST
        columns[name] = np.where(known, columns[name], 0) * TICK_NS
        columns[name][~known] = NONE if name == "start_ns" else np.nan
    started = (columns["start_ns"] != NONE * TICK_NS) & (np.array(kinds) != "average")
    columns["start_ns"] = np.where(started, columns["start_ns"], NONE).astype(np.int64)
    return FramePart(frame_of(STEPS, table.rows, columns, source.name), table.problems)


def _numbered(cells: list[str]) -> tuple[list[str], Any]:
    """Return kind and number of each step; the average has step `-` or, in the oldest files, 0 (an empty cell is a `-`)."""
    numbers = np.array([int(cell) if cell.isdecimal() and len(cell) < 19 and cell != "0" else NONE for cell in cells], np.int64)
    return ["average" if cell in ("", "-", "0") else "step" for cell in cells], numbers


def reduces(source: ProfileInput) -> FramePart:
    """The marked operators in step_trace_raw_<r>_detail_time.csv: three columns each, of which start and end are read."""
    step = TableField("step", ("step_num",), "text", required=True)
    table = read_table(source.path, (step,), further="at/", among=lambda name: name.startswith("stream_"))
    kinds, numbers = _numbered(list(table.columns["step"]))
    steps = np.flatnonzero(np.array(kinds) == "step") if kinds else np.empty(0, np.int64)
    frames: dict[str, list[Any]] = {name: [] for name in ("step", "stream", "number", "start_ns", "duration_ns", "name")}
    for name in table.columns:
        match = _REDUCE.fullmatch(name.removeprefix("at/")) if name.startswith("at/stream_") else None
        start, end = table.columns.get(f"{name}_start_point"), table.columns.get(f"{name}_end_point")
        if match is None or not isinstance(start, np.ndarray) or not isinstance(end, np.ndarray):
            continue
        there = steps[(np.abs(start[steps]) < _LARGEST) & (np.abs(end[steps]) < _LARGEST) & (end[steps] > 0)]
        frames["step"].append(numbers[there])
        frames["stream"].append(np.full(len(there), int(match["stream"]), np.int64))
        frames["number"].append(np.full(len(there), int(match["number"] or match["place"]), np.int64))
        frames["start_ns"].append(np.rint(start[there]).astype(np.int64) * TICK_NS)
        frames["duration_ns"].append(np.rint(end[there] - start[there]).astype(np.int64) * TICK_NS)
        frames["name"] += [match["name"] or match["old"]] * len(there)
    columns: dict[str, Any] = {
        name: np.concatenate(parts) if parts else np.empty(0, np.int64) for name, parts in frames.items() if name != "name"
    }
    columns["name"] = categorical(frames["name"])
    frame = frame_of(REDUCES, len(columns["name"]), columns, source.name)
    return FramePart(frame.sort_values(["step", "stream", "start_ns"], kind="stable", ignore_index=True), table.problems)


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_AICORE_TYPE_FILE = ProfileFileKind(
    "aicore_type", re.compile(r"aicore_intermediate_(?P<rank>\d{1,9})_type\.csv"), marks_profile=True, device="Ascend"
)
_AICORE_DETAIL_FILE = ProfileFileKind(
    "aicore_detail", re.compile(r"aicore_intermediate_(?P<rank>\d{1,9})_detail\.csv"), marks_profile=True, device="Ascend"
)
_AICPU_FILE = ProfileFileKind("aicpu", numbered("aicpu_intermediate"), marks_profile=True)
_PYNATIVE_TYPE_FILE = ProfileFileKind(
    "pynative_type", re.compile(r"pynative_op_intermediate_(?P<rank>\d{1,9})_type\.csv"), marks_profile=True
)
_PYNATIVE_DETAIL_FILE = ProfileFileKind(
    "pynative_detail", re.compile(r"pynative_op_intermediate_(?P<rank>\d{1,9})_detail\.csv"), marks_profile=True
)
_FRAMEWORK_RAW_FILE = ProfileFileKind("framework_raw", numbered("framework_raw"), device="Ascend")
_FLOPS_FILE = ProfileFileKind("flops", numbered("flops", "txt"))
_OUTPUT_TIMELINE_FILE = ProfileFileKind("output_timeline", numbered("output_timeline_data", "txt"))
_STEP_TRACE_RAW_FILE = ProfileFileKind(
    "step_trace_raw", re.compile(r"step_trace_raw_(?P<rank>\d{1,9})_detail_time\.csv"), marks_profile=True, device="Ascend"
)
AICORE_DETAILS = FrameReader(OPERATORS, _AICORE_DETAIL_FILE, details, also_reads=(_FRAMEWORK_RAW_FILE, _FLOPS_FILE))
AICPU = FrameReader(OPERATORS, _AICPU_FILE, aicpu)
PYNATIVE_DETAILS = FrameReader(OPERATORS, _PYNATIVE_DETAIL_FILE, pynative_details)
AICORE_TYPES = FrameReader(OPERATOR_TYPES, _AICORE_TYPE_FILE, types)
PYNATIVE_TYPES = FrameReader(OPERATOR_TYPES, _PYNATIVE_TYPE_FILE, pynative_types)
TIMELINE = FrameReader(KERNELS, _OUTPUT_TIMELINE_FILE, timeline)
STEP_TRACE = FrameReader(STEPS, _STEP_TRACE_RAW_FILE, steps)
REDUCES_OF_STEP_TRACE = FrameReader(REDUCES, _STEP_TRACE_RAW_FILE, reduces)
