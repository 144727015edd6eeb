"""Device memory of real files: every number against the csv module, sqlite3 and decimal."""

from __future__ import annotations

import csv
import sqlite3
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import pytest

from parsers import open_run
from parsers.profile_frames import MEMORY, MODULE_MEMORY, OPERATOR_MEMORY, STATIC_MEMORY
from parsers.profiler.access import Profile

TEXTS = [
    "profiler_new/torch_npu_st_4ranks_pp2/rank_0_ascend_pt", "profiler_new/torch_npu_text_level0/rank0_ascend_pt",
    "profiler_new/torch_npu_text_level2/rank0_ascend_pt", "profiler_new/torch_npu_text_level2/rank1_ascend_pt",
    "profiler_new/msinsight_server/test_rank_0", "profiler_new/msinsight_server/test_rank_1",
    "cluster_samples/msinsight/torch_npu_st_4ranks_pp2/rank_2_ascend_pt",
    "cluster_samples/msinsight/torch_npu_text_level0/rank1_ascend_pt",
]  # fmt: skip
every_text = pytest.mark.parametrize("folder", TEXTS)


def rows_of(folder: Path, name: str) -> list[dict[str, str]]:
    path = folder / "ASCEND_PROFILER_OUTPUT" / f"{name}.csv"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{key.strip(): cell.strip() for key, cell in row.items()} for row in csv.DictReader(file)]


def whole(text: str, factor: int) -> int:
    return int((Decimal(text) * factor).to_integral_value(ROUND_HALF_EVEN)) if text not in ("", "N/A") else -1


def profile_of(path: Path) -> Profile:
    (profile,) = open_run(path).profile.values()
    return profile


@every_text
def test_memory_over_time(real_data: Path, folder: str) -> None:
    expected = rows_of(real_data / folder, "memory_record")
    frame = MEMORY.check(profile_of(real_data / folder).memory)
    names = ["component", "stream", "device", "time_ns", "allocated_bytes", "reserved_bytes", "active_bytes"]
    listed = [
        (
            row["Component"], whole(row.get("Stream Ptr", ""), 1), int(row["Device Type"].removeprefix("NPU:")),
            whole(row["Timestamp(us)"], 1000), whole(row["Total Allocated(MB)"], 2**20),
            whole(row["Total Reserved(MB)"], 2**20), whole(row.get("Total Active(MB)", ""), 2**20),
        )
        for row in expected
    ]  # fmt: skip
    assert listed
    assert list(frame[names].itertuples(index=False, name=None)) == sorted(listed, key=lambda row: row[3])


@every_text
def test_blocks(real_data: Path, folder: str) -> None:
    expected = rows_of(real_data / folder, "operator_memory")
    frame = OPERATOR_MEMORY.check(profile_of(real_data / folder).operator_memory)
    names = [
        "name", "component", "stream", "device", "size_bytes", "allocated_ns", "released_ns", "active_released_ns",
        "total_allocated_bytes", "total_reserved_bytes", "total_active_bytes",
    ]  # fmt: skip
    listed = [
        (
            row["Name"], "GE" if row["Name"].startswith("cann::") else "PTA", whole(row.get("Stream Ptr", ""), 1),
            int(row["Device Type"].removeprefix("NPU:")), whole(row["Size(KB)"], 1024), whole(row["Allocation Time(us)"], 1000),
            whole(row["Release Time(us)"], 1000), whole(row.get("Active Release Time(us)", ""), 1000),
            whole(row["Allocation Total Allocated(MB)"], 2**20), whole(row["Allocation Total Reserved(MB)"], 2**20),
            whole(row.get("Allocation Total Active(MB)", ""), 2**20),
        )
        for row in expected
    ]  # fmt: skip
    assert listed
    assert list(frame[names].itertuples(index=False, name=None)) == sorted(listed, key=lambda row: row[5])


@every_text
def test_memory_of_components(real_data: Path, folder: str) -> None:
    expected = rows_of(real_data / folder, "npu_module_mem")
    frame = MODULE_MEMORY.check(profile_of(real_data / folder).module_memory)
    listed = [
        (row["Component"], whole(row["Timestamp(us)"], 1000), whole(row["Total Reserved(MB)"], 2**20)) for row in expected
    ]
    names = ["component", "time_ns", "reserved_bytes"]
    assert list(frame[names].itertuples(index=False, name=None)) == sorted(listed, key=lambda row: row[1])


def test_the_static_plan(real_data: Path) -> None:
    folder = real_data / "profiler_new/msinsight_server/test_rank_1"
    expected = rows_of(folder, "static_op_mem")
    frame = STATIC_MEMORY.check(profile_of(folder).static_memory)
    listed = [
        (
            "total" if row["Op Name"] == "TOTAL" else "block", row["Op Name"], row["Model Name"], int(row["Graph ID"]),
            int(row["Node Index Start"]), -1 if row["Node Index End"] == "4294967295" else int(row["Node Index End"]),
            whole(row["Size(KB)"], 1024),
        )
        for row in expected
    ]  # fmt: skip
    names = ["kind", "name", "model", "graph", "first", "last", "size_bytes"]
    assert list(frame[names].itertuples(index=False, name=None)) == listed


def test_what_is_wrong_with_real_files_is_told(real_data: Path) -> None:
    """Times in E notation, a component without a name, and blocks of the graph engine that are not in order."""
    told = {}
    for folder in TEXTS:
        profile = profile_of(real_data / folder)
        for frame in ("memory", "operator_memory", "static_memory", "module_memory"):
            profile.frame(frame)
        told[folder.rsplit("/", 2)[-2] + "/" + folder.rsplit("/", 1)[-1]] = [problem.text for problem in profile.problems]
    order = (
        "Line 152 and 4 more: column Allocation Time: expected times that grow within a component, found an earlier one; "
        "they were sorted."
    )
    assert told == {
        "torch_npu_st_4ranks_pp2/rank_0_ascend_pt": [],
        "torch_npu_st_4ranks_pp2/rank_2_ascend_pt": [],
        "torch_npu_text_level0/rank0_ascend_pt": [order],
        "torch_npu_text_level0/rank1_ascend_pt": [order],
        "torch_npu_text_level2/rank0_ascend_pt": [order],
        "torch_npu_text_level2/rank1_ascend_pt": [order],
        "msinsight_server/test_rank_0": [
            "Line 77 and 2 more: column Component: expected a name, found 76; the number is shown."
        ],
        "msinsight_server/test_rank_1": [
            (
                "Line 2, column Timestamp(us): expected all digits of a time, found '1.69512E+15', rounded to 10000 s; "
                "such times cannot be compared."
            )
        ],
    }


@pytest.mark.parametrize("rank", [0, 1])
def test_a_database_of_torch_npu(real_data: Path, rank: int) -> None:
    folder = real_data / f"profiler_new/torch_npu_db_level2/rank{rank}_ascend_pt"
    path = folder / f"ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_{rank}.db"
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    texts = dict(connection.execute("SELECT id, value FROM STRING_IDS"))
    records = [(texts[row[0]], *row[1:]) for row in connection.execute(
        "SELECT component, timestamp, totalAllocated, totalReserved FROM MEMORY_RECORD ORDER BY timestamp")]  # fmt: skip
    process = connection.execute("SELECT timestampNs, hbm, type FROM NPU_MEM ORDER BY timestampNs").fetchall()
    blocks = [(texts[row[0]], *row[1:4], row[4] or -1, "PTA" if row[5] else "GE") for row in connection.execute(
        "SELECT name, allocationTime, size, allocationTotalAllocated, releaseTime, streamPtr FROM OP_MEMORY")]  # fmt: skip
    addresses = {(row[1], row[2]): row[0] for row in connection.execute(
        "SELECT addr, timestampNs, size, type FROM NPU_OP_MEM") if texts[row[3]] == "allocate"}  # fmt: skip
    modules = connection.execute(
        "SELECT name, timestampNs, totalReserved FROM NPU_MODULE_MEM JOIN ENUM_MODULE ON id = moduleId").fetchall()  # fmt: skip
    connection.close()
    profile = profile_of(folder)
    memory = profile.memory
    own = memory[~memory["component"].isin(["APP", "device"])]
    listed = own[["component", "time_ns", "allocated_bytes", "reserved_bytes"]].itertuples(index=False, name=None)
    assert sorted(listed) == sorted(records)
    other = memory[memory["component"].isin(["APP", "device"])]
    assert sorted(other[["time_ns", "reserved_bytes", "component"]].itertuples(index=False, name=None)) == sorted(
        (time, size, {"app": "APP"}.get(texts[kind], texts[kind])) for time, size, kind in process
    )
    assert set(own[own["component"] == "GE"]["active_bytes"]) == {-1}  # recorded as 0 beside memory that is allocated
    frame = profile.operator_memory
    names = ["name", "allocated_ns", "size_bytes", "total_allocated_bytes", "released_ns", "component"]
    assert sorted(frame[names].itertuples(index=False, name=None)) == sorted(blocks)
    graph = frame[frame["component"] == "GE"]
    assert graph["address"].tolist() == [
        addresses[key] for key in graph[["allocated_ns", "size_bytes"]].itertuples(index=False, name=None)
    ]
    assert set(frame[frame["component"] == "PTA"]["address"]) == {-1}
    listed = profile.module_memory[["component", "time_ns", "reserved_bytes"]].itertuples(index=False, name=None)
    assert sorted(listed) == sorted(modules)
    assert not profile.problems


def test_a_database_of_msprof(real_data: Path) -> None:
    """Its events have no table of blocks beside them; numbers of kinds are those of ENUM_MEMORY."""
    path = real_data / "profiler_new/msinsight_server/full_db/msprof_0.db"
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    query = "SELECT addr, component, timestampNs, type, size FROM NPU_OP_MEM ORDER BY timestampNs"
    events = connection.execute(query).fetchall()
    connection.close()
    live: dict[tuple[int, int], tuple[int, int]] = {}
    expected = []
    for address, component, time, kind, size in events:
        if kind == 5:
            live[address, component] = (time, size)
        else:
            start, taken = live.pop((address, component), (-1, size))
            expected.append((address, start, time, taken))
    expected += [(address, start, -1, size) for (address, _), (start, size) in live.items()]
    profile = profile_of(path.parent)
    names = ["address", "allocated_ns", "released_ns", "size_bytes"]
    assert sorted(profile.operator_memory[names].itertuples(index=False, name=None)) == sorted(expected)
    assert len(profile.memory) == len(events)
    (problem,) = profile.problems
    assert problem.text.startswith("Table NPU_OP_MEM, row 493: expected an allocation before the release")
