"""Reads what one rank tells of itself: host, device, highest memory, floating-point operations.

Read are memory_record.csv, memory_usage_summary_<rank>.json, kernel_details.csv, op_statistic.csv, flops_summary_<rank>.json,
and of databases RANK_DEVICE_MAP, HOST_INFO, NPU_INFO, MEMORY_RECORD and NPU_OP_MEM. kernel_details is the largest file of a
rank: it is read only if its header has counters of operations, or if op_statistic lists grouped matrix multiplications.
RankDeviceMap and HostInfo of cluster_analysis.db tell the same of all ranks; no public file has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from parsers.cluster_frames import RANKS
from parsers.deferred import pandas as pd
from parsers.files import RegularFile
from parsers.profiler import flops
from parsers.profiler.ascend_output import COMMUNICATION
from parsers.profiler.columns import FileRows
from parsers.profiler.communication_tables import table_rows
from parsers.profiler.database import Database, StoredTexts
from parsers.profiler.frame_parts import ProfileInput
from parsers.profiler.lines import Complaints
from parsers.profiler.memory import checks, plan
from parsers.profiler.memory.records import MINDSPORE_MB, PROCESS, of_mindspore
from parsers.profiler.tables import NONE, FileTable, TableField, plain, read_table

KINDS = (
    "memory_record", "kernel_details", "op_statistic", "database", "msprof", "memory_summary", "flops_summary",
    "cluster_database",
)  # fmt: skip
"""Kinds of files that tell of a rank."""
GROUPED = "groupedmatmul"
"""Beginning of the type of operators that multiply the tokens of each expert by its weights, without case."""
_NAMES = tuple(name for name in RANKS.names if name not in ("rank", "file"))
_HEADER = 1 << 16
_MB = 1 << 20
_NAN = math.nan
_MEMORY = (
    TableField("component", ("Component",), "text", required=True),
    TableField("allocated", ("Total Allocated",), "number", "mb"),
    TableField("reserved", ("Total Reserved",), "number", "mb"),
    TableField("device", ("Device Type", "Device"), "text"),
)
_STATISTIC = (
    TableField("type", ("OP Type",), "text", required=True),
    TableField("core", ("Core Type",), "text"),
    TableField("total_ns", ("Total Time",), unit="us", required=True),
    TableField("device", ("Device_id",), "whole"),
)
_KERNELS = (
    TableField("step", ("Step ID", "Step"), "whole"),
    TableField("type", ("Type", "OP Type"), "text"),
    TableField("core", ("Accelerator Core", "Task Type"), "text"),
    TableField("duration_ns", ("Duration", "Task Duration"), "number", "us"),
    TableField("shapes", ("Input Shapes",), "text"),
    TableField("aic_cube", ("aic_cube_fops",)),
    TableField("aiv_cube", ("aiv_cube_fops",)),
    TableField("aic_vector", ("aic_vector_fops",)),
    TableField("aiv_vector", ("aiv_vector_fops",)),
)
_COUNTERS = ("aic_cube", "aiv_cube", "aic_vector", "aiv_vector")
Facts = dict[str, Any]


class RankFilesByKind(Protocol):
    """The files of one rank by kind (`parsers.profiler.ranks`)."""

    def path(self, kind: str) -> str:
        """Return the path of the file of a kind; "" for none."""
        ...

    def name(self, kind: str) -> str:
        """Return the name of the file of a kind below its session."""
        ...

    def complaints(self, kind: str) -> Complaints:
        """Return what is collected about the file of a kind."""
        ...

    def asked(self, kind: str, ask: Callable[[Database, Complaints], Any]) -> Any:
        """Return what a function reads from the database of a kind; None if there is none or it cannot be read."""
        ...


def read(source: RankFilesByKind, rank: int) -> FileRows:
    """Return the row of one rank (schema RANKS without `rank`); none if no file tells anything."""
    found: Facts = {}
    files = []
    of_database = partial(_database, rank=rank)
    readers: tuple[tuple[str, Callable[[RankFilesByKind, str], Facts]], ...] = (
        ("memory_record", _memory), ("kernel_details", _kernels), ("op_statistic", _statistic), ("database", of_database),
        ("msprof", of_database), ("memory_summary", _memory_summary), ("flops_summary", _flops_summary),
    )  # fmt: skip
    for kind, reader in readers:
        if source.path(kind):
            told = {name: value for name, value in reader(source, kind).items() if name not in found and _known(value)}
            found |= told
            files += [source.name(kind)] if told else []
    rows = FileRows(RANKS, _NAMES, files[0] if files else "")
    if found:
        rows.add(**_unknown() | found)
    return rows


def _unknown() -> Facts:
    dtypes = {column.name: column.dtype for column in RANKS.columns}
    values = {"category": "", "int64": NONE, "float64": _NAN}
    return {name: values[dtypes[name]] for name in _NAMES}


def _known(value: Any) -> bool:
    return bool(value) if isinstance(value, str) else value == value and value != NONE


# Text files ------------------------------------------------------------------------------------------------------------------


def _memory(source: RankFilesByKind, kind: str) -> Facts:
    """memory_record.csv: the rows of a component X+GE are sums; without any, those of the component with most memory count."""
    table = _read(source, kind, _MEMORY)
    component = table.columns["component"]
    factor = float(MINDSPORE_MB if of_mindspore(source.path(kind), component) else _MB) / _MB
    names = [str(name) for name in component.categories]
    found: Facts = {"device": _only(checks.devices(table.columns["device"]))}
    for name in ("allocated", "reserved"):
        highest = _highest(table.columns[name] * factor, component.codes, names)
        found[f"peak_{name}_bytes"] = _of_sums(highest)
        found["peak_process_bytes"] = max(highest.get(PROCESS, NONE), found.get("peak_process_bytes", NONE))
    return found


def _only(numbers: NDArray[np.int64]) -> int:
    """Return the only known number; NONE for several."""
    known = np.unique(numbers[numbers != NONE])
    return int(known[0]) if len(known) == 1 else NONE


def _highest(values: NDArray[np.float64], codes: NDArray[Any], names: list[str]) -> dict[str, int]:
    """Return the highest value in bytes of each component that has one above or at 0."""
    usable = (values >= 0.0) & (values < 2.0**62) & (codes >= 0)
    most = np.full(len(names), -1.0)
    np.maximum.at(most, codes[usable], values[usable])
    return {name: round(value) for name, value in zip(names, most.tolist(), strict=True) if value >= 0.0}


def _of_sums(highest: Mapping[str, int]) -> int:
    """Return the highest value of components that are sums (PTA+GE), else of any but the whole process; NONE without one."""
    sums = [value for name, value in highest.items() if "+" in name]
    return max(sums or [value for name, value in highest.items() if name != PROCESS], default=NONE)


def _statistic(source: RankFilesByKind, kind: str) -> Facts:
    """op_statistic.csv: time of all types of operators."""
    table = _read(source, kind, _STATISTIC)
    if not table.rows:
        return {}
    kept = ~_among(table.columns["core"], COMMUNICATION) & np.isfinite(table.columns["total_ns"])
    return {"operators_ns": float(table.columns["total_ns"][kept].sum()), "device": _only(table.columns["device"])}


def _kernels(source: RankFilesByKind, kind: str) -> Facts:
    """kernel_details.csv: counted operations, and rows that experts took."""
    counted = _counts(source.path(kind))
    if not counted and not _has_experts(source.path("op_statistic")):
        return {}
    table = _read(source, kind, _KERNELS)
    columns = table.columns
    found: Facts = {"expert_rows": _expert_rows(columns["type"], columns["shapes"])}
    own = ~_among(columns["core"], COMMUNICATION)
    found["operators_ns"] = float(np.nansum(columns["duration_ns"][own])) if table.rows else _NAN
    if counted:
        steps = max(len(set(columns["step"].tolist()) - {NONE}), 1)
        totals = {name: float(np.nansum(columns[name])) for name in _COUNTERS}
        found["cube_flops"] = (totals["aic_cube"] + totals["aiv_cube"]) / steps
        found["vector_flops"] = (totals["aic_vector"] + totals["aiv_vector"]) / steps
        did = np.nansum([columns[name] for name in _COUNTERS], axis=0) > 0.0
        time = float(np.nansum(columns["duration_ns"][did]))
        found["flops_per_s"] = sum(totals.values()) / time * 1e9 if time > 0.0 else _NAN
    return found


def _counts(path: str) -> bool:
    """Return whether the header of a table has counters of operations."""
    try:
        with RegularFile(path) as file:
            header = file.read(0, min(file.size, _HEADER)).partition(b"\n")[0]
    except OSError:
        return False  # the reader of kernels reports it
    wanted = {plain(alias) for field in _KERNELS if field.name in _COUNTERS for alias in field.aliases}
    return not wanted.isdisjoint(plain(name) for name in header.decode("utf-8-sig", "replace").split(","))


def reads_kernels(kernels: str, statistic: str) -> bool:
    """Return whether kernel_details is read beyond its header, by the paths of that and of op_statistic ("" for none)."""
    return _counts(kernels) or _has_experts(statistic)


def _has_experts(path: str) -> bool:
    """Return whether op_statistic, a file of a few kB, names the operators of experts; else kernel_details is not read."""
    try:
        with RegularFile(path) as file:
            return GROUPED.encode() in file.read(0, min(file.size, _MB)).lower()
    except OSError:
        return False  # there is none, or its own reader reports it


def _expert_rows(types: pd.Categorical, shapes: pd.Categorical) -> int:
    """Return the sum of the first dimensions of the first inputs of grouped matrix multiplications; NONE if there are none."""
    grouped = np.array([*(plain(str(name)).startswith(GROUPED) for name in types.categories), False], np.bool_)
    chosen = grouped[types.codes]
    if not chosen.any():
        return NONE
    first = np.array([*(_first_dimension(str(text)) for text in shapes.categories), 0], np.int64)
    return int(first[shapes.codes[chosen]].sum())


def _first_dimension(shapes: str) -> int:
    """Return 4096 of "4096,7168;8,7168,2048"; 0 for no number."""
    digits = shapes.strip(' "[]()').partition(";")[0].partition(",")[0].strip()
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 12 else 0


def _among(values: pd.Categorical, names: tuple[str, ...]) -> NDArray[np.bool_]:
    table = np.array([*(str(name) in names for name in values.categories), False], np.bool_)
    made: NDArray[np.bool_] = table[values.codes]
    return made


def _read(source: RankFilesByKind, kind: str, fields: tuple[TableField, ...]) -> FileTable:
    table = read_table(source.path(kind), fields)
    _report(source, kind, table.problems)
    return table


def _report(source: RankFilesByKind, kind: str, problems: Any) -> None:
    complaints = source.complaints(kind)
    complaints.problems += [problem for problem in problems if problem not in complaints.problems]


def _memory_summary(source: RankFilesByKind, kind: str) -> Facts:
    """memory_usage_summary_<rank>.json: capacity and peak."""
    part = plan.summary(ProfileInput(source.path(kind), source.name(kind), {}))
    _report(source, kind, part.problems)
    sizes = dict(zip(part.frame["kind"].tolist(), part.frame["size_bytes"].tolist(), strict=True))
    return {"capacity_bytes": sizes.get("capacity", NONE), "peak_allocated_bytes": sizes.get("peak", NONE)}


def _flops_summary(source: RankFilesByKind, kind: str) -> Facts:
    """flops_summary_<rank>.json: operations per step, and per second."""
    part = flops.summary(ProfileInput(source.path(kind), source.name(kind), {}))
    _report(source, kind, part.problems)
    by_unit = part.frame.set_index("unit")[["flops", "flops_per_s"]]
    found = {f"{unit}_flops": float(by_unit.loc[unit, "flops"]) for unit in by_unit.index}
    return found | {"flops_per_s": float(by_unit["flops_per_s"].sum(min_count=1))}


# Databases -------------------------------------------------------------------------------------------------------------------


def _database(source: RankFilesByKind, kind: str, *, rank: int) -> Facts:
    found = source.asked(kind, partial(_of_profiler, rank=rank))
    return found if isinstance(found, dict) else {}


def _of_profiler(database: Database, complaints: Complaints, rank: int) -> Facts:
    found: Facts = {}
    hosts = {str(host) for (host,) in _rows(database, "HOST_INFO", ("hostName",), complaints) if host}
    if len(hosts) == 1:
        found["host"] = hosts.pop()
    found["device"] = device = _device(database, complaints, rank)
    chips = {number: str(name) for number, name in _rows(database, "NPU_INFO", ("id", "name"), complaints) if name}
    found["chip"] = chips.get(device) or (next(iter(chips.values())) if len(set(chips.values())) == 1 else "")
    return found | _memory_of(database, complaints)


def _device(database: Database, complaints: Complaints, rank: int) -> int:
    """Return the device of a rank by RANK_DEVICE_MAP, else the only one in NPU_INFO; NONE for several."""
    listed = [row for row in _rows(database, "RANK_DEVICE_MAP", ("rankId", "deviceId"), complaints) if _whole(row[1])]
    own = [device for number, device in listed if number == rank]
    if listed and not own and all(_whole(number) for number, _ in listed):
        ranks = ", ".join(str(number) for number, _ in listed[:8])
        complaints.add(f"Table RANK_DEVICE_MAP: expected rank {rank}, as the files are named, found {ranks}.")
    devices = {number for (number,) in _rows(database, "NPU_INFO", ("id",), complaints) if _whole(number)}
    found = set(own) or {device for _, device in listed} or devices
    return int(found.pop()) if len(found) == 1 else NONE


def _whole(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value < 2**31


def _memory_of(database: Database, complaints: Complaints) -> Facts:
    """Return the peaks of MEMORY_RECORD, else of NPU_OP_MEM."""
    for table, allocated in (("MEMORY_RECORD", "totalAllocated"), ("NPU_OP_MEM", "totalAllocate")):
        reserved = allocated.replace("Allocate", "Reserve")
        if not database.has(table, "component", allocated, reserved):
            continue
        query = f"SELECT component, MAX({allocated}), MAX({reserved}) FROM {table} GROUP BY component"  # noqa: S608  constant names
        rows = [row for rows in database.rows(query, f"Table {table}", complaints) for row in rows]
        if not rows:
            continue
        numbers = np.array([row[0] if isinstance(row[0], int) else NONE for row in rows], np.int64)
        names = [str(name) for name in StoredTexts(database, complaints).of(numbers)]
        found: Facts = {}
        for place, name in ((1, "allocated"), (2, "reserved")):
            sizes = {one: row[place] for one, row in zip(names, rows, strict=True) if _size(row[place])}
            found[f"peak_{name}_bytes"] = _of_sums(sizes)
            found["peak_process_bytes"] = max(sizes.get(PROCESS, NONE), found.get("peak_process_bytes", NONE))
        return found
    return {}


def _size(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value < 2**62


def _rows(database: Database, table: str, columns: tuple[str, ...], complaints: Complaints) -> list[tuple[Any, ...]]:
    return list(table_rows(database, table, columns, complaints)) if database.has(table, *columns) else []


def of_cluster(database: Database, complaints: Complaints) -> FileRows:
    """RankDeviceMap and HostInfo of cluster_analysis.db: a row for each rank."""
    rows = FileRows(RANKS, ("rank", *_NAMES))
    hosts = {uid: str(name) for uid, name in _rows(database, "HostInfo", ("hostUid", "hostName"), complaints) if name}
    only = next(iter(hosts.values())) if len(hosts) == 1 else ""
    uid = "hostUid" if database.has("RankDeviceMap", "hostUid") else "deviceId"
    for rank, device, own in _rows(database, "RankDeviceMap", ("rankId", "deviceId", uid), complaints):
        if _whole(rank):
            host = hosts.get(own, "") if uid == "hostUid" else only
            rows.add(rank=rank, **_unknown() | {"device": device if _whole(device) else NONE, "host": host})
    return rows
