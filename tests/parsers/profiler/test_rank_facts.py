"""The frame `ranks` of jobs: host, device, highest memory and operations of each rank, against the files themselves."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.profiler.job_access import Job

FOUR = "profiler_new/torch_npu_st_4ranks_pp2"
MIB = 1 << 20
MEMORY = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n"
KERNELS = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes"


def job_of(path: Path) -> Job:
    (job,) = open_run(path).profile.jobs
    return job


def rank_folder(path: Path, rank: int) -> Path:
    folder = path / f"rank_{rank}_ascend_pt"
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (folder / f"profiler_info_{rank}.json").write_text("{}")
    return output


def database(path: Path, tables: dict[str, list[tuple[object, ...]]]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for header, rows in tables.items():
            connection.execute(f"CREATE TABLE {header}")
            if rows:
                name = header.partition("(")[0]
                connection.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(rows[0]))})", rows)
        connection.commit()


def test_a_rank_without_such_files_has_a_row_of_unknown_values(tmp_path: Path) -> None:
    (rank_folder(tmp_path, 0) / "step_trace_time.csv").write_text("Step,Computing\n1,5\n")
    (rank_folder(tmp_path, 3) / "step_trace_time.csv").write_text("Step,Computing\n1,5\n")
    frame = job_of(tmp_path).frame("ranks")
    assert frame["rank"].tolist() == [0, 3]
    assert frame["host"].tolist() == ["", ""]
    assert (frame[["device", "peak_allocated_bytes", "peak_process_bytes", "capacity_bytes", "expert_rows"]] == -1).all(
        axis=None
    )
    assert frame[["cube_flops", "vector_flops", "flops_per_s", "operators_ns"]].isna().all(axis=None)


def test_peaks_are_those_of_the_sum_of_components(real_data: Path) -> None:
    frame = job_of(real_data / FOUR).frame("ranks").set_index("rank")
    path = real_data / FOUR / "rank_0_ascend_pt/ASCEND_PROFILER_OUTPUT"
    record = pd.read_csv(path / "memory_record.csv")
    own = record[record["Component"].str.strip() == "PTA+GE"]
    assert frame.loc[0, "peak_allocated_bytes"] == round(own["Total Allocated(MB)"].max() * MIB)
    assert frame.loc[0, "peak_reserved_bytes"] == round(own["Total Reserved(MB)"].max() * MIB)
    assert f"{frame.loc[0, 'peak_allocated_bytes'] / MIB:.1f}" == "10282.7"  # as cluster.md has them
    assert f"{frame.loc[0, 'peak_reserved_bytes'] / MIB:.1f}" == "10372.0"
    with (path / "op_statistic.csv").open() as file:
        whole = sum(
            float(row["Total Time(us)"]) for row in csv.DictReader(file) if row["Core Type"] not in ("HCCL", "COMMUNICATION")
        )
    assert frame.loc[0, "operators_ns"] == pytest.approx(whole * 1e3, rel=1e-12)
    assert frame.loc[2, "device"] == 4  # the rank is not the device
    assert frame.loc[1, "peak_allocated_bytes"] == -1


def test_databases_tell_host_device_and_peaks(real_data: Path) -> None:
    root = real_data / "profiler_new/torch_npu_db_level2"
    frame = job_of(root).frame("ranks").set_index("rank")
    assert frame["host"].tolist() == ["ubuntu", "ubuntu"]
    assert frame["device"].tolist() == [0, 1]
    assert frame["chip"].tolist() == ["Ascend910B", "Ascend910B"]
    file = root / "rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db"
    with closing(sqlite3.connect(f"file:{file}?immutable=1", uri=True)) as connection:
        query = (
            "SELECT MAX(totalAllocated), MAX(totalReserved) FROM MEMORY_RECORD JOIN STRING_IDS ON component = id "
            "WHERE value LIKE '%+%'"
        )
        assert tuple(frame.loc[1, ["peak_allocated_bytes", "peak_reserved_bytes"]]) == connection.execute(query).fetchone()


def test_legacy_summaries_tell_operations_per_step(real_data: Path) -> None:
    frame = job_of(real_data / "mindinsight_legacy/cluster_propose").frame("ranks")
    assert frame["cube_flops"].tolist() == pytest.approx([107146.763e6, 107145.034e6, 329608.369e6, 329612.4e6], rel=1e-12)
    assert frame["flops_per_s"].tolist() == pytest.approx([5385.552e9, 5386.261e9, 4859.39e9, 4897.642e9], rel=1e-12)


def test_counters_of_operators_are_added(real_data: Path, tmp_path: Path) -> None:
    sample = real_data / "cluster_samples/msprof_analyze/kernel_details_arithmetic/kernel_details_b.csv"
    shutil.copyfile(sample, rank_folder(tmp_path, 0) / "kernel_details.csv")
    row = job_of(tmp_path).frame("ranks").iloc[0]
    raw = pd.read_csv(sample)
    steps = raw["Step Id"].nunique()
    counted = raw[["aic_cube_fops", "aic_vector_fops", "aiv_cube_fops", "aiv_vector_fops"]].apply(
        pd.to_numeric, errors="coerce"
    )
    assert row["cube_flops"] == pytest.approx((counted["aic_cube_fops"].sum() + counted["aiv_cube_fops"].sum()) / steps)
    assert row["vector_flops"] == pytest.approx((counted["aic_vector_fops"].sum() + counted["aiv_vector_fops"].sum()) / steps)
    time = raw.loc[counted.sum(axis=1) > 0, "Duration(us)"].sum() / 1e6
    assert row["flops_per_s"] == pytest.approx(counted.sum().sum() / time)


def test_files_of_our_own_writer_tell_capacity_and_tokens_of_experts(tmp_path: Path) -> None:
    output = rank_folder(tmp_path, 0)
    (output / "memory_usage_summary_0.json").write_text(json.dumps({"capacity": 32.0, "peak_mem": 8.5}))
    (output / "op_statistic.csv").write_text(
        "Device_id,OP Type,Core Type,Count,Total Time(us)\n5,GroupedMatmul,AI_CORE,2,10\n5,hcom,HCCL,1,99\n"
    )
    rows = [
        '1,a,GroupedMatmul,AI_CORE,1,4,"""4096,7168;8,7168,2048"""',
        '1,b,MatMulV2,AI_CORE,5,3,"""9,9;9,9"""',
        '1,c,GroupedMatmul,AI_CORE,9,3,"""1000,2048;8,2048,7168"""',
    ]
    (output / "kernel_details.csv").write_text("\n".join([KERNELS, *rows]) + "\n")
    row = job_of(tmp_path).frame("ranks").iloc[0]
    assert row["capacity_bytes"] == 32 << 30
    assert row["peak_allocated_bytes"] == round(8.5 * (1 << 30))
    assert row["expert_rows"] == 5096
    assert row["device"] == 5
    assert row["operators_ns"] == pytest.approx(10_000.0)  # as kernel_details has it, which comes first
    assert np.isnan(row["cube_flops"])


def test_only_a_component_that_is_a_sum_counts_where_there_is_one(tmp_path: Path) -> None:
    (rank_folder(tmp_path, 0) / "memory_record.csv").write_text(
        MEMORY
        + "PTA,1.0,10,20,10,,NPU:3\nGE,2.0,5,6,5,,NPU:3\nPTA+GE,3.0,12,26,12,,NPU:3\nAPP,4.0,,99,,,NPU:3\nPTA,5.0,-7,,,,NPU:3\n"
    )
    (rank_folder(tmp_path, 1) / "memory_record.csv").write_text(MEMORY + "PTA,1.0,10,20,10,,NPU:4\nAPP,4.0,,99,,,NPU:4\n")
    frame = job_of(tmp_path).frame("ranks")
    assert frame["peak_allocated_bytes"].tolist() == [12 * MIB, 10 * MIB]
    assert frame["peak_reserved_bytes"].tolist() == [26 * MIB, 20 * MIB]
    assert frame["peak_process_bytes"].tolist() == [99 * MIB, 99 * MIB]
    assert frame["device"].tolist() == [3, 4]


def test_a_database_of_another_rank_is_reported(tmp_path: Path) -> None:
    tables: dict[str, list[tuple[object, ...]]] = {
        "RANK_DEVICE_MAP(rankId, deviceId)": [(7, 2)], "HOST_INFO(hostUid, hostName)": [("1", "node-a")],
        "NPU_INFO(id, name)": [(2, "Ascend910B"), (3, "Ascend910B")],
    }  # fmt: skip
    output = rank_folder(tmp_path, 1)
    (output / "step_trace_time.csv").write_text("Step,Computing\n1,5\n")
    database(output / "ascend_pytorch_profiler_1.db", tables)
    job = job_of(tmp_path)
    row = job.frame("ranks").iloc[0]
    assert (row["host"], row["device"], row["chip"]) == ("node-a", 2, "Ascend910B")
    assert "RANK_DEVICE_MAP: expected rank 1" in "\n".join(problem.text for problem in job.problems)


def test_the_cluster_database_tells_hosts_of_all_ranks(tmp_path: Path) -> None:
    output = tmp_path / "cluster_analysis_output"
    output.mkdir()
    tables: dict[str, list[tuple[object, ...]]] = {
        "ClusterStepTraceTime(step, type, \"index\", computing)": [("1", "rank", "0", 5.0), ("1", "rank", "1", 5.0)],
        "RankDeviceMap(rankId, deviceId, hostUid)": [(0, 4, "x"), (1, 5, "y")],
        "HostInfo(hostUid, hostName)": [("x", "node-a"), ("y", "node-b")],
    }  # fmt: skip
    database(output / "cluster_analysis.db", tables)
    frame = job_of(tmp_path).frame("ranks")
    assert frame[["rank", "host", "device"]].to_numpy().tolist() == [[0, "node-a", 4], [1, "node-b", 5]]


@pytest.mark.parametrize("name", ["memory_record.csv", "op_statistic.csv", "kernel_details.csv", "memory_usage_summary_0.json",
                                  "ascend_pytorch_profiler_0.db"])  # fmt: skip
@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe nothing", b"Component,aic_cube_fops\n,\n", b"[1, 2"])
def test_damaged_files_leave_values_unknown(tmp_path: Path, name: str, content: bytes) -> None:
    output = rank_folder(tmp_path, 0)
    (output / "step_trace_time.csv").write_text("Step,Computing\n1,5\n")
    (output / name).write_bytes(content)
    frame = job_of(tmp_path).frame("ranks")
    assert frame["peak_allocated_bytes"].tolist() == [-1]
