"""Reads profiles of the data set pipeline of all devices: in `profiler/` or FRAMEWORK, analysed in ASCEND_PROFILER_OUTPUT.

pipeline_profiling and minddata_pipeline_raw (operations and samples of their queues, the same data in two forms),
minddata_pipeline_summary (CPU of operations), device_queue_profiling and dataset_iterator_profiling (a step's times and
queue), minddata_aicpu and minddata_getnext_profiling (getting data on the device), minddata_cpu_utilization (CPU, memory).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parsers.errors import FormatError
from parsers.json_text import parse_json
from parsers.model import Problem
from parsers.profile_frames import CPU, HOST_MEMORY, PIPELINE, QUEUES
from parsers.profiler.frame_parts import (
    FramePart,
    FrameReader,
    ProfileFileKind,
    ProfileInput,
    categorical,
    constant,
    frame_of,
    numbered,
)
from parsers.profiler.host import lines_of
from parsers.profiler.json_files import read_json
from parsers.profiler.lines import Complaints
from parsers.profiler.tables import NONE, TableField, read_table
from parsers.schema import Schema

MS = 1_000_000
MIB = 1 << 20
_PUSH, _TOTAL = 1, 2
_RAW = (
    TableField("op_id", ("op_id",), "whole", required=True),
    TableField("type", ("op_type",), "text"),
    TableField("workers", ("num_workers",), "whole"),
    TableField("size", ("output_queue_size",), "text"),
    TableField("queue_length", ("output_queue_length",)),
    TableField("interval_ns", ("sample_interval",), unit="ms"),
    TableField("parent", ("parent_id",), "whole"),
)


@dataclass(slots=True)
class _Operation:
    """One operation of the pipeline; length is None if it has no queue, interval the ns between two samples."""

    op_id: int
    type: str
    workers: int
    parent: int
    length: float | None
    interval: float
    sizes: list[float]


def pipeline(source: ProfileInput) -> FramePart:
    """pipeline_profiling_<r>.json: the operations."""
    complaints = Complaints(source.path)
    return _operations(_profiled(source, complaints), source, complaints)


def pipeline_raw(source: ProfileInput) -> FramePart:
    """minddata_pipeline_raw_<r>.csv: the operations."""
    complaints = Complaints(source.path)
    return _operations(_raw(source, complaints), source, complaints)


def samples(source: ProfileInput) -> FramePart:
    """pipeline_profiling_<r>.json: the queues of operations, sample by sample."""
    complaints = Complaints(source.path)
    return _samples(_profiled(source, complaints), source, complaints)


def samples_raw(source: ProfileInput) -> FramePart:
    """minddata_pipeline_raw_<r>.csv: the queues of operations, sample by sample."""
    complaints = Complaints(source.path)
    return _samples(_raw(source, complaints), source, complaints)


def _object(source: ProfileInput, complaints: Complaints) -> Mapping[str, Any]:
    """Read the JSON object in a file; an empty one and a problem for anything else."""
    try:
        found = read_json(source.path)
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
        return {}
    except FormatError as error:
        complaints.add(f"Nothing is taken from the file: {error}.")
        return {}
    if not isinstance(found, dict):
        complaints.add(f"Expected a JSON object, found {type(found).__name__}; nothing is taken from the file.")
        return {}
    return found


def _numbers(found: Any, what: str, complaints: Complaints) -> list[float]:
    """Return a list of numbers; anything else in it becomes NaN and is reported."""
    if found is None:
        return []
    if not isinstance(found, list):
        complaints.add(f"{what}: expected a list of numbers, found {str(found)[:60]!r}.")
        return []
    bad = next((one for one in found if _number(one) is None), None)
    if bad is not None:
        complaints.add(f"{what}: expected numbers, found {str(bad)[:60]!r} among them.")
    return [math.nan if (value := _number(one)) is None else value for one in found]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _whole(value: Any, other: int = NONE) -> int:
    number = _number(value)
    return int(number) if number is not None and abs(number) < 2**62 else other


def _profiled(source: ProfileInput, complaints: Complaints) -> list[_Operation]:
    found = _object(source, complaints)
    interval = _number(found.get("sampling_interval"))
    operations: list[_Operation] = []
    parents: dict[int, int] = {}
    listed = found.get("op_info")
    for number, info in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(info, dict) or _number(info.get("op_id")) is None:
            complaints.add(f"op_info[{number}]: expected an operation with an op_id, found {str(info)[:60]!r}; it was skipped.")
            continue
        op_id = _whole(info["op_id"])
        parents |= {_whole(child): op_id for child in _numbers(info.get("children"), f"op_info[{number}].children", complaints)}
        metrics = info.get("metrics")
        queue = metrics.get("output_queue") if isinstance(metrics, dict) else None
        sizes = _numbers(queue.get("size"), f"op_info[{number}].size", complaints) if isinstance(queue, dict) else []
        length = _number(queue.get("length")) if isinstance(queue, dict) else None
        operations.append(
            _Operation(
                op_id, str(info.get("op_type", "")), _whole(info.get("num_workers")), NONE, length,
                math.nan if interval is None else interval * MS, sizes,
            )
        )  # fmt: skip
    if found and not isinstance(listed, list):
        complaints.add(f"op_info: expected a list of operations, found {str(listed)[:60]!r}.")
    for operation in operations:
        operation.parent = parents.get(operation.op_id, NONE)
    return sorted(operations, key=lambda operation: operation.op_id)


def _raw(source: ProfileInput, complaints: Complaints) -> list[_Operation]:
    table = read_table(source.path, _RAW)
    complaints.problems += table.problems
    operations = []
    columns = table.columns
    for row in range(table.rows):
        text = columns["size"][row]
        length = float(columns["queue_length"][row])
        operations.append(
            _Operation(
                int(columns["op_id"][row]), columns["type"][row], int(columns["workers"][row]), int(columns["parent"][row]),
                None if math.isnan(length) else length, float(columns["interval_ns"][row]), _listed(text, row, complaints),
            )
        )  # fmt: skip
    return operations


def _listed(text: str, row: int, complaints: Complaints) -> list[float]:
    if not text:
        return []
    try:
        found = parse_json(text)
    except (ValueError, RecursionError):
        found = text
    return _numbers(found, f"Row {row + 1}, column output_queue_size", complaints)


def _operations(operations: Sequence[_Operation], source: ProfileInput, complaints: Complaints) -> FramePart:
    (uses, problems), levels = _cpu_use(source), _levels(operations)
    operations = sorted(operations, key=lambda one: (levels[one.op_id], one.op_id))
    means = [float(np.mean(one.sizes)) if one.sizes else math.nan for one in operations]
    lengths = [math.nan if one.length is None else one.length for one in operations]
    columns = {
        "op_id": [one.op_id for one in operations], "type": categorical([one.type for one in operations]),
        "parent": [one.parent for one in operations], "workers": [one.workers for one in operations],
        "queue_mean": means, "queue_length": lengths,
        "queue_use": [mean / length if length else math.nan for mean, length in zip(means, lengths, strict=True)],
        "queue_empty": [one.sizes.count(0.0) / len(one.sizes) if one.sizes else math.nan for one in operations],
        "interval_ns": [one.interval for one in operations], "cpu": [uses.get(one.op_id, math.nan) for one in operations],
    }  # fmt: skip
    return FramePart(frame_of(PIPELINE, len(operations), columns, source.name), (*complaints.all(), *problems))


def _levels(operations: Sequence[_Operation]) -> dict[int, int]:
    """Return the number of operations after each one."""
    parents = {one.op_id: one.parent for one in operations}
    levels: dict[int, int] = {}
    for op_id in parents:
        chain: list[int] = []
        while op_id in parents and op_id not in levels and op_id not in chain:
            chain.append(op_id)
            op_id = parents[op_id]
        level = levels.get(op_id, -1)
        levels |= {one: level + number for number, one in enumerate(reversed(chain), 1)}
    return levels


def _cpu_use(source: ProfileInput) -> tuple[dict[int, float], tuple[Problem, ...]]:
    """Return operation -> mean CPU use of one worker, from minddata_pipeline_summary beside the file, and problems of that."""
    beside = source.beside.get("pipeline_summary")
    if beside is None:
        return {}, ()
    complaints = Complaints(beside.path)
    if beside.path.endswith(".json"):
        found: Mapping[str, Any] = _object(beside, complaints)
    else:
        rows = [_cells(line, number, complaints) for number, line in lines_of(beside.path, complaints)]
        found = {row[0]: [_parsed(cell) for cell in row[1:]] for row in rows if row}
    ids, uses = found.get("op_ids"), found.get("avg_cpu_pct_per_worker")
    if not isinstance(ids, list) or not isinstance(uses, list):
        return {}, complaints.all()
    pairs = ((_number(one), _number(use)) for one, use in zip(ids, uses, strict=False))
    known = {int(one): use / 100.0 for one, use in pairs if one is not None and math.isfinite(one) and use is not None}
    return known, complaints.all()


def _cells(line: str, number: int, complaints: Complaints) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error as error:  # a carriage return within a line, a cell of more than 131,072 characters
        complaints.add(f"Line {number}: expected cells divided by commas, found an error: {error}; the line was skipped.")
        return []


def _parsed(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _samples(operations: Sequence[_Operation], source: ProfileInput, complaints: Complaints) -> FramePart:
    counts = [len(one.sizes) for one in operations]
    rows = sum(counts)
    columns = {
        "queue": constant("operator", rows), "op_id": np.repeat([one.op_id for one in operations], counts),
        "step": np.concatenate([np.arange(count) for count in counts]) if counts else np.empty(0, np.int64),
        "size": [size for one in operations for size in one.sizes],
        "capacity": np.repeat([math.nan if one.length is None else one.length for one in operations], counts),
    }  # fmt: skip
    return FramePart(frame_of(QUEUES, rows, columns, source.name), complaints.all())


def host_queue(source: ProfileInput) -> FramePart:
    """device_queue_profiling_<r>.txt: the queue on the host from which data are sunk to the device."""
    return _steps(source, "host")


def iterator(source: ProfileInput) -> FramePart:
    """dataset_iterator_profiling_<r>.txt: the queue on the host if data are not sunk."""
    return _steps(source, "iterator")


def _steps(source: ProfileInput, queue: str) -> FramePart:
    """Read lines `type subtype step value [time]`, in ms: type 0 times (subtype 0 get, 1 push, 2 total), 1 queue (capacity)."""
    complaints = Complaints(source.path)
    rows: list[dict[str, float]] = []
    times: list[int] = []
    for number, line in lines_of(source.path, complaints):
        cells = line.split()
        values = [_integer(cell) for cell in cells]
        bad = next((place for place, value in enumerate(values) if value is None), None)
        if len(values) not in (4, 5) or (bad is None and values[0] not in (0, 1)):
            complaints.add(f"Line {number}: expected 4 or 5 whole numbers, found {line[:60]!r}; the line was skipped.")
            continue
        if bad is not None:
            text = f"expected a whole number, found {cells[bad][:60]!r}; the line was skipped"
            complaints.add(f"Line {number}, column {bad + 1} ({_STEP_CELLS[bad]}): {text}.")
            continue
        kind, sub, step, value = (one or 0 for one in values[:4])
        name = "size" if kind == 1 else {_PUSH: "push_ns", _TOTAL: "total_ns"}.get(sub, "get_ns")
        if not rows or rows[-1]["step"] != step or name in rows[-1]:
            rows.append({"step": step})
            times.append(NONE)
        rows[-1][name] = value if kind == 1 else value * MS
        if kind == 1:
            rows[-1]["capacity"] = sub
        if len(values) == 5:
            times[-1] = (values[4] or 0) * MS
    columns: dict[str, Any] = {
        name: [row.get(name, math.nan) for row in rows] for name in ("size", "capacity", "total_ns", "push_ns", "get_ns")
    }
    columns |= {"queue": constant(queue, len(rows)), "step": [int(row["step"]) for row in rows], "time_ns": times}
    return FramePart(frame_of(QUEUES, len(rows), columns, source.name), complaints.all())


_STEP_CELLS = ("type", "subtype", "step", "value", "time")


def _integer(cell: str) -> int | None:
    value = int(cell) if cell.removeprefix("-").isdecimal() and len(cell) < 16 else None
    return value if value is not None and abs(value) * MS < 2**63 else None


def get_next_ascend(source: ProfileInput) -> FramePart:
    """minddata_aicpu_<r>.txt: getting data on Ascend, in us."""
    return _get_next(source, 1_000)


def get_next_gpu(source: ProfileInput) -> FramePart:
    """minddata_getnext_profiling_<r>.txt: getting data on GPU, in ns."""
    return _get_next(source, 1)


def _get_next(source: ProfileInput, unit: int) -> FramePart:
    """Read lines `name start end queue_size`."""
    complaints = Complaints(source.path)
    rows: list[tuple[int, int, int]] = []
    for number, line in lines_of(source.path, complaints):
        cells = line.split()
        if len(cells) != 4 or not all(cell.isdecimal() and len(cell) < 16 for cell in cells[1:]):
            complaints.add(f"Line {number}: expected a name and 3 whole numbers, found {line[:60]!r}; the line was skipped.")
            continue
        rows.append((int(cells[1]), int(cells[2]), int(cells[3])))
    values = np.array(rows, np.int64).reshape(len(rows), 3)
    taken = (values[:, 1] - values[:, 0]) * float(unit)
    columns = {
        "queue": constant("device", len(rows)), "step": np.arange(1, len(rows) + 1), "time_ns": values[:, 0] * unit,
        "size": values[:, 2], "total_ns": taken, "get_ns": taken,
    }  # fmt: skip
    return FramePart(frame_of(QUEUES, len(rows), columns, source.name), complaints.all())


_USES = {"user": "user_utilization", "system": "sys_utilization", "io": "io_utilization", "idle": "idle_utilization"}


def cpu(source: ProfileInput) -> FramePart:
    """minddata_cpu_utilization_<r>.json: use of the CPU.

    Some writers repeat every value of the machine, or write a zero after each, and cut some of its lists (user and system) to
    the number of samples: if one list of a scope has two values per sample, all lists of the scope have their samples at even
    indices, and those past the end of a list are NaN. Other lists shorter than the samples hold the first ones.
    """
    complaints = Complaints(source.path)
    found = _object(source, complaints)
    stamps = _numbers(found.get("time_stamp"), "time_stamp", complaints)
    scopes: list[tuple[str, int, Any]] = [
        ("machine", NONE, found.get("device_info")), ("process", NONE, found.get("process_info")),
    ]  # fmt: skip
    listed = found.get("op_info")
    operators = [info for info in (listed if isinstance(listed, list) else []) if isinstance(info, dict)]
    scopes += [("operator", op_id, info.get("metrics")) for info in operators if (op_id := _whole(info.get("op_id"))) >= 0]
    times = np.array([_whole(stamp * MS) for stamp in stamps], np.int64)
    step = _steps_at(times, source)
    named = ("sample", "time_ns", "step", "op_id", *_USES, "runnable", "context_switches")
    parts: dict[str, list[Any]] = {name: [] for name in named}
    names: list[str] = []
    for scope, op_id, metrics in scopes:
        if not isinstance(metrics, dict):
            continue
        lists = {name: metrics.get(key) for name, key in _USES.items()}
        lists["runnable"] = metrics.get("runnable_process", metrics.get("runnable_processes", metrics.get("runable_processes")))
        lists["context_switches"] = metrics.get("context_switch_count")
        values = {name: _numbers(value, f"{scope} {name}", complaints) for name, value in lists.items()}
        rows = len(times) or max(map(len, values.values()))
        doubled = rows > 0 and any(len(value) >= 2 * rows for value in values.values())
        for name, value in values.items():
            fitted = _fitted(value[::2] if doubled else value, rows)
            parts[name].append(fitted / 100.0 if name in _USES else fitted)
        parts["sample"].append(np.arange(rows))
        parts["time_ns"].append(times if len(times) else np.full(rows, NONE))
        parts["step"].append(step if len(times) else np.full(rows, NONE))
        parts["op_id"].append(np.full(rows, op_id))
        names += [scope] * rows
    columns: dict[str, Any] = {name: np.concatenate(values) for name, values in parts.items() if values}
    columns["scope"] = categorical(names)
    columns["cores"] = np.full(len(names), _whole(found.get("cpu_processor_num")))
    return _named(CPU, columns, len(names), source, complaints)


def _fitted(values: Sequence[float], rows: int) -> Any:
    """Fit a list to the number of samples."""
    fitted = np.full(rows, np.nan)
    fitted[: min(len(values), rows)] = values[:rows]
    return fitted


def _steps_at(times: Any, source: ProfileInput) -> Any:
    """Return the current step at each time: the last one with an earlier time in the queue file beside the file."""
    for what in ("device_queue", "dataset_iterator"):
        beside = source.beside.get(what)
        if beside is None:
            continue
        queue = _steps(beside, "").frame
        queue = queue[queue["time_ns"] >= 0]
        if len(queue):
            steps = np.concatenate(([0], queue["step"].to_numpy()))
            return steps[np.searchsorted(np.maximum.accumulate(queue["time_ns"].to_numpy()), times, side="right")]
    return np.full(len(times), NONE, np.int64)


_MEMORY = {
    ("process", "vss"): ("process_memory_info", "vss_mbytes"), ("process", "rss"): ("process_memory_info", "rss_mbytes"),
    ("process", "pss"): ("process_memory_info", "pss_mbytes"),
    ("system", "total"): ("system_memory_info", "total_sys_memory_mbytes"),
    ("system", "available"): ("system_memory_info", "available_sys_memory_mbytes"),
    ("system", "used"): ("system_memory_info", "used_sys_memory_mbytes"),
}  # fmt: skip


def memory(source: ProfileInput) -> FramePart:
    """minddata_cpu_utilization_<r>.json: memory of the process and of the machine, in MiB in the file."""
    complaints = Complaints(source.path)
    found = _object(source, complaints)
    stamps = _numbers(found.get("time_stamp"), "time_stamp", complaints)
    rows: list[tuple[int, str, str, int]] = []
    for (scope, measure), (group, key) in _MEMORY.items():
        info = found.get(group)
        values = _numbers(info.get(key), f"{group}.{key}", complaints) if isinstance(info, dict) else []
        for sample, value in enumerate(values):
            time = _whole(stamps[sample] * MS) if sample < len(stamps) else NONE
            if math.isfinite(value) and abs(value) < 2**42:
                rows.append((time, scope, measure, round(value * MIB)))
    columns = {
        "time_ns": [row[0] for row in rows], "scope": categorical([row[1] for row in rows]),
        "measure": categorical([row[2] for row in rows]), "size_bytes": [row[3] for row in rows],
    }  # fmt: skip
    return _named(HOST_MEMORY, columns, len(rows), source, complaints)


def _named(schema: Schema, columns: Mapping[str, Any], rows: int, source: ProfileInput, complaints: Complaints) -> FramePart:
    return FramePart(frame_of(schema, rows, columns, source.name), complaints.all())


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_PIPELINE_RAW_FILE = ProfileFileKind("pipeline_raw", numbered("minddata_pipeline_raw"), marks_profile=True)
_PIPELINE_SUMMARY_FILE = ProfileFileKind(
    "pipeline_summary", numbered("minddata_pipeline_summary", "(?:csv|json)"), marks_profile=True
)
_PIPELINE_PROFILING_FILE = ProfileFileKind("pipeline_profiling", numbered("pipeline_profiling", "json"), marks_profile=True)
_DEVICE_QUEUE_FILE = ProfileFileKind("device_queue", numbered("device_queue_profiling", "txt"), marks_profile=True)
_DATASET_ITERATOR_FILE = ProfileFileKind("dataset_iterator", numbered("dataset_iterator_profiling", "txt"), marks_profile=True)
_GET_NEXT_ASCEND_FILE = ProfileFileKind("get_next_ascend", numbered("minddata_aicpu", "txt"))
_GET_NEXT_GPU_FILE = ProfileFileKind("get_next_gpu", numbered("minddata_getnext_profiling", "txt"))
_CPU_UTILIZATION_FILE = ProfileFileKind("cpu_utilization", numbered("minddata_cpu_utilization", "json"), marks_profile=True)
PIPELINE_PROFILING = FrameReader(PIPELINE, _PIPELINE_PROFILING_FILE, pipeline, also_reads=(_PIPELINE_SUMMARY_FILE,))
PIPELINE_RAW = FrameReader(
    PIPELINE, _PIPELINE_RAW_FILE, pipeline_raw, unless=("pipeline_profiling",), also_reads=(_PIPELINE_SUMMARY_FILE,)
)
DEVICE_QUEUE = FrameReader(QUEUES, _DEVICE_QUEUE_FILE, host_queue)
DATASET_ITERATOR = FrameReader(QUEUES, _DATASET_ITERATOR_FILE, iterator)
GET_NEXT_ASCEND = FrameReader(QUEUES, _GET_NEXT_ASCEND_FILE, get_next_ascend)
GET_NEXT_GPU = FrameReader(QUEUES, _GET_NEXT_GPU_FILE, get_next_gpu)
QUEUES_OF_PROFILING = FrameReader(QUEUES, _PIPELINE_PROFILING_FILE, samples)
QUEUES_OF_RAW = FrameReader(QUEUES, _PIPELINE_RAW_FILE, samples_raw, unless=("pipeline_profiling",))
CPU_UTILIZATION = FrameReader(CPU, _CPU_UTILIZATION_FILE, cpu)
MEMORY = FrameReader(HOST_MEMORY, _CPU_UTILIZATION_FILE, memory)
