"""Reads device memory from the database export: MEMORY_RECORD, OP_MEMORY, NPU_OP_MEM, NPU_MEM and NPU_MODULE_MEM.

MindSpore's databases have the tables NPU_*, which CANN writes; torch_npu adds MEMORY_RECORD and OP_MEMORY. Sizes are bytes,
times ns. NPU_OP_MEM holds an event for each allocation and release, with an address; events of one address are paired here.
Blocks of OP_MEMORY without a stream are those of the graph engine (GE), which NPU_OP_MEM has as well: these are counted once,
and get the address. analysis.db and communication_analyzer.db have no table about memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.profile_frames import MEMORY, MODULE_MEMORY, OPERATOR_MEMORY
from parsers.profiler.database import DATABASE_FILE, MSPROF_FILE, Database, StoredTexts, read_part, whole
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileInput, categorical, frame_of, joined
from parsers.profiler.lines import Complaints
from parsers.profiler.memory import checks
from parsers.profiler.memory.operators import placed_in_time
from parsers.profiler.memory.records import taken
from parsers.profiler.tables import NONE
from parsers.schema import Schema

Ints = NDArray[np.int64]
_ENUM = "ENUM_MEMORY"
_TOTALS = ("allocated_bytes", "reserved_bytes", "active_bytes")
_RECORD = {
    "component": "component", "time_ns": "timestamp", "allocated_bytes": "totalAllocated", "reserved_bytes": "totalReserved",
    "active_bytes": "totalActive", "stream": "streamPtr", "device": "deviceId",
}  # fmt: skip
_EVENTS = {
    "name": "operatorName", "address": "addr", "type": "type", "size_bytes": "size", "time_ns": "timestampNs",
    "allocated_bytes": "totalAllocate", "reserved_bytes": "totalReserve", "component": "component", "device": "deviceId",
}  # fmt: skip
_DEVICE = {"component": "type", "reserved_bytes": "hbm", "time_ns": "timestampNs", "device": "deviceId"}
_MODULES = {"component": "moduleId", "time_ns": "timestampNs", "reserved_bytes": "totalReserved", "device": "deviceId"}
_BLOCKS = {
    "name": "name", "size_bytes": "size", "allocated_ns": "allocationTime", "released_ns": "releaseTime",
    "active_released_ns": "activeReleaseTime", "total_allocated_bytes": "allocationTotalAllocated",
    "total_reserved_bytes": "allocationTotalReserved", "total_active_bytes": "allocationTotalActive", "stream": "streamPtr",
    "device": "deviceId",
}  # fmt: skip


def memory(source: ProfileInput) -> FramePart:
    """MEMORY_RECORD, else the totals in NPU_OP_MEM; and NPU_MEM: memory of the process (APP) and of the device."""
    return read_part(source, MEMORY, _memory)


def _memory(database: Database, source: ProfileInput, complaints: Complaints) -> pd.DataFrame:
    texts = StoredTexts(database, complaints)
    frames = []
    for table, names in (("MEMORY_RECORD", _RECORD), ("NPU_OP_MEM", _EVENTS)):
        columns = _table(database, table, names, ("component", "time_ns"), complaints)
        if columns is not None and len(columns["time_ns"]):
            component = texts.of(columns["component"])
            if table == "MEMORY_RECORD":
                columns["active_bytes"] = _known_active(component, columns)
            frames.append(_in_order(MEMORY, table, columns | {"component": component}, source, complaints))
            break
    columns = _table(database, "NPU_MEM", _DEVICE, ("component", "time_ns", "reserved_bytes"), complaints)
    if columns is not None and len(columns["time_ns"]):
        kinds = _kinds(database, texts, columns["component"], complaints)
        component = categorical(["APP" if kind == "app" else kind for kind in kinds])
        frames.append(_in_order(MEMORY, "NPU_MEM", columns | {"component": component}, source, complaints))
    frame = joined(MEMORY, frames)
    return frame.sort_values("time_ns", kind="stable", ignore_index=True) if len(frames) > 1 else frame


def _known_active(component: pd.Categorical, columns: Mapping[str, Ints]) -> Ints:
    """Return the active bytes; NONE for a component that has memory and only zeros here: GE does not record them."""
    active, number = columns["active_bytes"], len(component.categories)
    codes = component.codes
    silent = (np.bincount(codes, active > 0, number) == 0) & (np.bincount(codes, columns["allocated_bytes"] > 0, number) > 0)
    found: Ints = np.where(silent[codes], NONE, active)
    return found


def modules(source: ProfileInput) -> FramePart:
    """NPU_MODULE_MEM: memory reserved by components of CANN, with their names in ENUM_MODULE."""
    return read_part(source, MODULE_MEMORY, _modules)


def _modules(database: Database, source: ProfileInput, complaints: Complaints) -> pd.DataFrame:
    table = "NPU_MODULE_MEM"
    columns = _table(database, table, _MODULES, ("component", "time_ns", "reserved_bytes"), complaints)
    if columns is None:
        return MODULE_MEMORY.empty()
    names = _names(database, "ENUM_MODULE", complaints)
    unnamed = sorted({int(one) for one in np.unique(columns["component"]) if int(one) not in names})
    if unnamed:
        listed = ", ".join(map(str, unnamed[:10]))
        complaints.add(f"Table {table}: expected the names of all modules in ENUM_MODULE, found none for {listed}.")
    codes, known = pd.factorize(columns["component"])
    made = categorical([names.get(int(one), str(one)) for one in known])
    component = pd.Categorical.from_codes(made.codes[codes] if len(known) else codes, categories=made.categories)
    return _in_order(MODULE_MEMORY, table, columns | {"component": component}, source, complaints)


def blocks(source: ProfileInput) -> FramePart:
    """OP_MEMORY, and the pairs of events in NPU_OP_MEM: a row for each block, in the order of allocation."""
    return read_part(source, OPERATOR_MEMORY, _blocks)


def _blocks(database: Database, source: ProfileInput, complaints: Complaints) -> pd.DataFrame:
    texts = StoredTexts(database, complaints)
    paired = _paired(database, texts, source, complaints)
    columns: Any = _table(database, "OP_MEMORY", _BLOCKS, ("name", "size_bytes", "allocated_ns"), complaints)
    if columns is None:
        return paired
    rows = checks.CheckedRows(source.path, np.arange(1, len(columns["name"]) + 1), "Table OP_MEMORY, row")
    _check_sizes(rows, columns, ("size_bytes", "total_allocated_bytes", "total_reserved_bytes", "total_active_bytes"))
    columns["name"] = texts.of(columns["name"])
    columns["component"] = categorical(["PTA" if stream != NONE else "GE" for stream in columns["stream"].tolist()])
    columns = placed_in_time(rows, columns)
    for problem in rows.complaints.problems:
        complaints.add(problem.text)
    columns["scope"] = checks.scopes(columns["name"])
    columns = taken(columns, np.argsort(columns["allocated_ns"], kind="stable"))
    own = frame_of(OPERATOR_MEMORY, len(columns["name"]), columns, source.name)
    if paired.empty:
        return own
    events = {
        (time, size): address
        for time, size, address in paired[["allocated_ns", "size_bytes", "address"]].itertuples(index=False, name=None)
    }
    graph = (own["component"] == "GE").to_numpy()
    keys = list(zip(own["allocated_ns"].tolist(), own["size_bytes"].tolist(), strict=True))
    own["address"] = np.array(
        [events.get(key, NONE) if here else NONE for key, here in zip(keys, graph.tolist(), strict=True)], np.int64
    )
    known = set(keys)
    other = np.array([key not in known for key in zip(paired["allocated_ns"], paired["size_bytes"], strict=True)], np.bool_)
    frame = joined(OPERATOR_MEMORY, [own, paired[other].reset_index(drop=True)])
    return frame.sort_values("allocated_ns", kind="stable", ignore_index=True)


def _paired(database: Database, texts: StoredTexts, source: ProfileInput, complaints: Complaints) -> pd.DataFrame:
    """Pair the events of NPU_OP_MEM by address: an allocation is followed by its release."""
    table = "NPU_OP_MEM"
    columns = _table(database, table, _EVENTS, ("address", "type", "size_bytes", "time_ns"), complaints)
    if columns is None or not len(columns["time_ns"]):
        return OPERATOR_MEMORY.empty()
    rows = checks.CheckedRows(source.path, np.arange(1, len(columns["type"]) + 1), f"Table {table}, row")
    kinds = _kinds(database, texts, columns["type"], complaints)
    allocates, releases = (np.array([kind == wanted for kind in kinds], np.bool_) for wanted in ("allocate", "release"))
    rows.report(
        ~allocates & ~releases, lambda row: f"expected allocate or release, found {kinds[row][:60]!r}; the row was skipped"
    )
    _check_sizes(rows, columns, ("size_bytes", "allocated_bytes", "reserved_bytes"))
    there = np.flatnonzero(allocates | releases)
    # Of two events at one time the release comes first: an address is free before it is given away again.
    keys = (allocates[there], columns["time_ns"][there], columns["address"][there], columns["component"][there])
    order = there[np.lexsort((*keys, columns["device"][there]))]
    same = np.ones(max(len(order) - 1, 0), np.bool_)
    for name in ("address", "component", "device"):
        same &= columns[name][order][1:] == columns[name][order][:-1]
    gives, takes = allocates[order], releases[order]
    pair = np.flatnonzero(gives[:-1] & takes[1:] & same)
    end = np.full(len(order), NONE, np.int64)
    end[pair] = columns["time_ns"][order[pair + 1]]
    twice = np.zeros(len(allocates), np.bool_)
    twice[order[:-1][gives[:-1] & gives[1:] & same]] = True
    rows.report(
        twice, lambda _: "expected a release before the next allocation at this address, found none; it counts to the end"
    )
    alone = takes.copy()
    alone[pair + 1] = False
    chosen = gives | alone
    made: dict[str, Any] = taken(columns, order[chosen])
    time = made["time_ns"]
    made |= {
        "allocated_ns": np.where(gives[chosen], time, NONE), "released_ns": np.where(gives[chosen], end[chosen], time),
        "active_released_ns": np.full(len(time), NONE, np.int64), "name": texts.of(made["name"]),
        "component": texts.of(made["component"]),
        "total_allocated_bytes": np.where(gives[chosen], made.pop("allocated_bytes"), NONE),
        "total_reserved_bytes": np.where(gives[chosen], made.pop("reserved_bytes"), NONE),
    }  # fmt: skip
    at = checks.CheckedRows(source.path, order[chosen] + 1, f"Table {table}, row")
    made = placed_in_time(at, {name: values for name, values in made.items() if name in OPERATOR_MEMORY.names})
    for problem in (*rows.complaints.problems, *at.complaints.problems):
        complaints.add(problem.text)
    made = taken(made, np.argsort(made["allocated_ns"], kind="stable"))
    made["scope"] = checks.scopes(made["name"])
    return frame_of(OPERATOR_MEMORY, len(made["allocated_ns"]), made, source.name)


def _table(
    database: Database, table: str, names: Mapping[str, str], needed: Sequence[str], complaints: Complaints
) -> dict[str, Ints] | None:
    """Read whole numbers from columns of a table, NONE for missing ones; None if it lacks a needed column.

    A table that does not exist is no problem: which ones there are depends on what was recorded.
    """
    if table not in database.columns:
        return None
    if not database.has(table, *(names[name] for name in needed)):
        wanted = ", ".join(names[name] for name in needed)
        complaints.add(f"Table {table}: expected columns {wanted}, found {', '.join(database.columns[table])[:200]}.")
        return None
    query = f"SELECT {', '.join(database.column(table, name) for name in names.values())} FROM {table}"  # noqa: S608  quoted names
    parts = []
    for rows in database.rows(query, f"Table {table}", complaints):
        cells = [[_cell(cell) for cell in column] for column in zip(*rows, strict=True)]
        parts.append(np.array(cells, np.int64))
    joint = np.concatenate(parts, axis=1) if parts else np.empty((len(names), 0), np.int64)
    return dict(zip(names, joint, strict=True))


def _cell(cell: Any) -> int:
    number = whole(cell)
    return NONE if number is None else number


def _check_sizes(rows: checks.CheckedRows, columns: dict[str, Any], names: Sequence[str]) -> None:
    """Set negative sizes to NONE and report them; -1 is the missing value."""
    for name in names:
        values = columns[name]
        negative = values < NONE
        rows.report(negative, partial(_no_size, name, values))
        columns[name] = np.where(negative, NONE, values)


def _no_size(name: str, values: NDArray[Any], row: int) -> str:
    return f"column {name}: expected a size, found {values[row]}; it is unknown"


def _in_order(
    schema: Schema, table: str, columns: Mapping[str, Any], source: ProfileInput, complaints: Complaints
) -> pd.DataFrame:
    """Make a frame of columns: without rows that have no time, in the order of time."""
    made = dict(columns)
    rows = checks.CheckedRows(source.path, np.arange(1, len(made["time_ns"]) + 1), f"Table {table}, row")
    _check_sizes(rows, made, [name for name in _TOTALS if name in made])
    kept = checks.timed(rows, made["time_ns"], "column timestamp")
    made = {name: values[kept] for name, values in made.items() if name in schema.names}
    for problem in rows.complaints.problems:
        complaints.add(problem.text)
    order = np.argsort(made["time_ns"], kind="stable")
    return frame_of(schema, len(order), taken(made, order), source.name)


def _names(database: Database, table: str, complaints: Complaints) -> dict[int, str]:
    if not database.has(table, "id", "name"):
        return {}
    query = f"SELECT id, name FROM {table}"  # noqa: S608  the name of a table
    found = (row for rows in database.rows(query, f"Table {table}", complaints) for row in rows)
    return {key: str(name) for key, name in found if isinstance(key, int)}


def _kinds(database: Database, texts: StoredTexts, numbers: Ints, complaints: Complaints) -> list[str]:
    """Return the texts of kinds: their numbers are those of ENUM_MEMORY where there is one, else of STRING_IDS."""
    names = _names(database, _ENUM, complaints)
    if names:
        return [names.get(number, str(number)) for number in numbers.tolist()]
    return [str(text) for text in texts.of(numbers)]


# What is registered in `parsers.profiler.registry` ------------------------------------------------------------------

MEMORY_OF_PROFILER = FrameReader(MEMORY, DATABASE_FILE, memory, unless=("memory_record",))
MEMORY_OF_MSPROF = FrameReader(MEMORY, MSPROF_FILE, memory, unless=("memory_record", "database"))
BLOCKS_OF_PROFILER = FrameReader(OPERATOR_MEMORY, DATABASE_FILE, blocks, unless=("operator_memory",))
BLOCKS_OF_MSPROF = FrameReader(OPERATOR_MEMORY, MSPROF_FILE, blocks, unless=("operator_memory", "database"))
MODULES_OF_PROFILER = FrameReader(MODULE_MEMORY, DATABASE_FILE, modules, unless=("npu_module_mem",))
MODULES_OF_MSPROF = FrameReader(MODULE_MEMORY, MSPROF_FILE, modules, unless=("npu_module_mem", "database"))
