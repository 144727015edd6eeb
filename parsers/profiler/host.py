"""Reads operators on the CPU, as every MindSpore version writes them: into `profiler/` before 2.3, into FRAMEWORK since.

cpu_op_type_info and cpu_op_detail_info (milliseconds), cpu_op_execute_timestamp (every execution: start in ns, duration in
ms, thread), cpu_framework (shapes of inputs) and cpu_ms_memory_record (bytes of MindSpore's memory pool). On Ascend and GPU
machines these are the operators of the host.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from parsers.files import RegularFile
from parsers.model import Problem
from parsers.profile_frames import HOST_MEMORY, KERNELS, OPERATOR_TYPES, OPERATORS
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
from parsers.profiler.lines import Complaints
from parsers.profiler.tables import TableField, read_table

LONGEST_FILE = 1 << 30
_TYPES = (
    TableField("type", ("op_type",), "text", required=True),
    TableField("count", ("type_occurrences",)),
    TableField("per_step", ("execution_frequency",)),
    TableField("total_ns", ("total_compute_time", "total_time"), unit="ms", required=True),
    TableField("mean_ns", ("avg_time",), unit="ms"),
    TableField("share", ("percent", "total_proportion")),
)
_DETAILS = (
    TableField("type", ("op_type",), "text"),
    TableField("name", ("op_name",), "text"),
    TableField("full_name", ("full_op_name", "op_full_name"), "text", required=True),
    TableField("count", ("op_occurrences",)),
    TableField("total_ns", ("op_total_time", "total_time"), unit="ms", required=True),
    TableField("mean_ns", ("op_avg_time", "avg_time"), unit="ms"),
    TableField("share", ("total_proportion", "percent")),
    TableField("subgraph", ("subgraph",), "text"),
)
_POOL = (
    TableField("time_ns", ("Timestamp",), "time", "ns", required=True),
    TableField("allocated", ("Total Allocated",), "exact", "byte"),
    TableField("reserved", ("Total Reserved",), "exact", "byte"),
    TableField("active", ("Total Active",), "exact", "byte"),
)


def types(source: ProfileInput) -> FramePart:
    """cpu_op_type_info_<r>.csv: types on the CPU."""
    table = read_table(source.path, _TYPES)
    table.columns["core"] = constant("HOST_CPU", table.rows)
    table.columns["share"] = fraction(table.columns["share"], table.columns["total_ns"])
    return FramePart(frame_of(OPERATOR_TYPES, table.rows, table.columns, source.name), table.problems)


def details(source: ProfileInput) -> FramePart:
    """cpu_op_detail_info_<r>.csv: operators on the CPU, with the shapes of cpu_framework_<r>.txt if it exists.

    That file has names without scopes: if several operators share a name but not the shapes, these stay unknown.
    """
    table = read_table(source.path, _DETAILS)
    columns, problems = table.columns, table.problems
    columns["core"] = constant("HOST_CPU", table.rows)
    columns["share"] = fraction(columns["share"], columns["total_ns"])
    beside = source.beside.get("cpu_framework")
    if beside is not None:
        shapes, wrong = _shapes(beside)
        problems += wrong
        names = columns["name"]
        shared = {names.categories[code] for code in np.flatnonzero(np.bincount(names.codes) > 1)} if len(names) else set()
        known = {name: found[0] for name, found in shapes.items() if len(found) == 1 or name not in shared}
        columns["input_shapes"] = changed(names, lambda name: known.get(name, ""))
    return FramePart(frame_of(OPERATORS, table.rows, columns, source.name), problems)


def _shapes(source: ProfileInput) -> tuple[dict[str, list[str]], tuple[Problem, ...]]:
    """Return name without scopes -> shapes of its inputs. Since 2.3 several operators may share such a name."""
    complaints = Complaints(source.path)
    found: dict[str, list[str]] = {}
    for number, line in lines_of(source.path, complaints):
        cells = line.split(";")
        if len(cells) < 3:
            complaints.add(f"Line {number}: expected type;name;graph;inputs, found {len(cells)} parts; the line was skipped.")
            continue
        inputs = (cell.split(":", 1)[1] for cell in cells[3:] if ":" in cell)
        shapes = ";".join(text.strip("[] ").replace(" ", "").replace("NoShape", "") for text in inputs)
        known = found.setdefault(cells[1], [])
        if len(known) < 2 and shapes not in known:
            known.append(shapes)
    return found, complaints.all()


def lines_of(path: str, complaints: Complaints) -> Iterator[tuple[int, str]]:
    """Yield number and text of every non-empty line; nothing, and a problem, if the file cannot be read."""
    try:
        with RegularFile(path) as file:
            if file.size > LONGEST_FILE:
                complaints.add(f"Expected at most {LONGEST_FILE:,} bytes, found {file.size:,}; nothing is taken from the file.")
                return
            if not file.size:
                complaints.add("The file is empty.", "empty_file")
                return
            data = file.read(0, file.size)
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
        return
    told = False
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        line = raw.decode("utf-8", "replace").strip()
        if not told and "\ufffd" in line:
            told = True
            complaints.add(f"From line {number} on: expected UTF-8, found other bytes; these are shown as \ufffd.")
        if line:
            yield number, line


def executions(source: ProfileInput) -> FramePart:
    """cpu_op_execute_timestamp_<r>.txt: every execution on the CPU."""
    return timestamps(source, "HOST_CPU", 6)


def timestamps(source: ProfileInput, core: str, decimals: int) -> FramePart:
    """Read lines `full name;kind;start,duration[,thread] start,duration ...`: start in ns, duration in 10**decimals ns."""
    complaints = Complaints(source.path)
    names: list[str] = []
    rows: list[tuple[int, int, int]] = []
    for number, line in lines_of(source.path, complaints):
        cells = line.split(";")
        if len(cells) < 3:
            complaints.add(f"Line {number}: expected name;kind;times, found {len(cells)} parts; the line was skipped.")
            continue
        for event in cells[2].split():
            parts = event.split(",")
            start, taken = exact_ns(parts[0], 0), exact_ns(parts[1], decimals) if len(parts) > 1 else None
            if start is None or taken is None:
                complaints.add(f"Line {number}: expected start,duration, found {event[:60]!r}; the execution was skipped.")
                continue
            thread = int(parts[2]) if len(parts) > 2 and parts[2].isdecimal() and len(parts[2]) < 19 else -1
            names.append(cells[0])
            rows.append((start, taken, thread))
    values = np.array(rows, np.int64).reshape(len(rows), 3)
    order = np.argsort(values[:, 0], kind="stable")
    name = categorical(names)
    columns = {
        "name": name.take(order), "type": changed(name, _type_of).take(order), "core": constant(core, len(rows)),
        "start_ns": values[order, 0], "duration_ns": values[order, 1], "stream": values[order, 2],
    }  # fmt: skip
    return FramePart(frame_of(KERNELS, len(rows), columns, source.name), complaints.all())


def _type_of(name: str) -> str:
    return name.rsplit("/", 1)[-1].rsplit("-op", 1)[0]


def memory(source: ProfileInput) -> FramePart:
    """cpu_ms_memory_record_<r>.txt: MindSpore's memory pool on the host."""
    table = read_table(source.path, _POOL)
    measures = [name for name in ("allocated", "reserved", "active") if name in table.found]
    rows = table.rows * len(measures)
    sizes = [table.columns[name] for name in measures]
    columns = {
        "time_ns": np.repeat(table.columns["time_ns"], len(measures)), "scope": constant("pool", rows),
        "measure": categorical(measures * table.rows),
        "size_bytes": np.stack(sizes, axis=1).ravel() if sizes else np.empty(0, np.int64),
    }  # fmt: skip
    return FramePart(frame_of(HOST_MEMORY, rows, columns, source.name), table.problems)


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

_CPU_OP_TYPE_INFO_FILE = ProfileFileKind("cpu_op_type_info", numbered("cpu_op_type_info"), marks_profile=True, device="CPU")
_CPU_OP_DETAIL_INFO_FILE = ProfileFileKind(
    "cpu_op_detail_info", numbered("cpu_op_detail_info"), marks_profile=True, device="CPU"
)
_CPU_EXECUTIONS_FILE = ProfileFileKind("cpu_executions", numbered("cpu_op_execute_timestamp", "txt"))
_CPU_FRAMEWORK_FILE = ProfileFileKind("cpu_framework", numbered("cpu_framework", "txt"))
_CPU_MEMORY_FILE = ProfileFileKind("cpu_memory", numbered("cpu_ms_memory_record", "txt"))
DETAILS = FrameReader(OPERATORS, _CPU_OP_DETAIL_INFO_FILE, details, also_reads=(_CPU_FRAMEWORK_FILE,))
TYPES = FrameReader(OPERATOR_TYPES, _CPU_OP_TYPE_INFO_FILE, types)
EXECUTIONS = FrameReader(KERNELS, _CPU_EXECUTIONS_FILE, executions)
MEMORY = FrameReader(HOST_MEMORY, _CPU_MEMORY_FILE, memory)
