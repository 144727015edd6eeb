"""Files of MindSpore's CPU and data pipeline, real ones under tests/data, against the csv and json modules."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers import open_run
from parsers.profile_frames import CPU, HOST_MEMORY, KERNELS, OPERATOR_TYPES, OPERATORS, PIPELINE, QUEUES
from parsers.profiler.access import Profile

DATA = Path(__file__).parents[2] / "data/mindspore_profiler"
FRAMEWORK = "2.10/vm_1_20261120233012998_ascend_ms/FRAMEWORK"


def profile_of(path: Path) -> Profile:
    (profile,) = open_run(path).profile.values()
    return profile


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


versions = pytest.mark.parametrize(("run", "folder"), [("2.0.0", "2.0.0/profiler"), ("2.10", FRAMEWORK)])


@versions
def test_operators_and_types(run: str, folder: str) -> None:
    profile = profile_of(DATA / run)
    assert profile.device == "CPU"
    operators, expected = OPERATORS.check(profile.operators), rows(DATA / folder / "cpu_op_detail_info_0.csv")
    assert operators["full_name"].tolist() == [row["full_op_name"] for row in expected]
    assert operators["type"].tolist() == [row["op_type"] for row in expected]
    np.testing.assert_array_equal(operators["total_ns"], [float(row["op_total_time(ms)"]) * 1e6 for row in expected])
    np.testing.assert_array_equal(operators["share"], [float(row["total_proportion"]) for row in expected])
    assert set(operators["core"]) == {"HOST_CPU"}
    types, expected = OPERATOR_TYPES.check(profile.operator_types), rows(DATA / folder / "cpu_op_type_info_0.csv")
    assert types["type"].tolist() == [row["op_type"] for row in expected]
    np.testing.assert_array_equal(types["total_ns"], [float(row["total_compute_time"]) * 1e6 for row in expected])
    np.testing.assert_array_equal(types["per_step"], [float(row["execution_frequency(per-step)"]) for row in expected])
    assert abs(types["share"].sum() - 1.0) < 1e-4
    assert not profile.problems


@versions
def test_executions_are_those_of_the_operators(run: str, folder: str) -> None:
    profile = profile_of(DATA / run)
    kernels = KERNELS.check(profile.kernels)
    events = []
    for line in (DATA / folder / "cpu_op_execute_timestamp_0.txt").read_text().splitlines():
        name, _, times = line.split(";")
        events += [(int(one.split(",")[0]), name, round(float(one.split(",")[1]) * 1e6)) for one in times.split()]
    found = sorted(zip(kernels["start_ns"], kernels["name"], kernels["duration_ns"], strict=True))
    assert found == sorted(events)
    operators = profile.operators.set_index("full_name")
    for name, group in kernels.groupby("name", observed=True):
        assert len(group) == operators.loc[name, "count"]
        # the file rounds each time to six digits
        np.testing.assert_allclose(group["duration_ns"].sum(), operators.loc[name, "total_ns"], rtol=1e-5)


def test_shapes_come_from_the_file_beside() -> None:
    operators = profile_of(DATA / "2.10").operators
    told: dict[str, set[str]] = {}
    for line in (DATA / FRAMEWORK / "cpu_framework_0.txt").read_text().splitlines():
        cells = line.rstrip(";").split(";")
        shapes = ";".join(cell.split(":")[1].strip("[]").replace(" ", "").replace("NoShape", "") for cell in cells[3:])
        told.setdefault(cells[1], set()).add(shapes)
    assert told["Conv2D-op0"] == {"16,1,32,32;6,1,5,5", "16,6,14,14;16,6,5,5"}
    for name, group in operators.groupby("name", observed=True):
        expected = told[str(name)] if len(told[str(name)]) == 1 else {""}
        assert set(group["input_shapes"]) == expected, name  # two convolutions share a name: which is which is not told
    without = profile_of(DATA / "2.0.0").operators
    assert set(without["input_shapes"]) == {""}


def test_memory_of_the_pool() -> None:
    frame = HOST_MEMORY.check(profile_of(DATA / "2.10").host_memory)
    expected = rows(DATA / FRAMEWORK / "cpu_ms_memory_record_0.txt")
    for measure in ("Allocated", "Reserved", "Active"):
        one = frame[frame["measure"] == measure.lower()]
        assert one["size_bytes"].tolist() == [int(row[f"Total {measure}(Byte)"]) for row in expected]
        assert one["time_ns"].tolist() == [int(row["Timestamp(ns)"]) for row in expected]


@pytest.fixture
def pipeline() -> tuple[Profile, Path]:
    return profile_of(DATA / "2.10_minddata"), DATA / "2.10_minddata/profiler"


def content(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


def test_operations_and_their_queues(pipeline: tuple[Profile, Path]) -> None:
    profile, folder = pipeline
    frame, told = PIPELINE.check(profile.pipeline), content(folder, "pipeline_profiling_0.json")
    assert frame["type"].tolist() == ["BatchOp", "ShuffleOp", "MapOp", "GeneratorOp"]
    assert frame["parent"].tolist() == [-1, 0, 1, 2]
    queues = QUEUES.check(profile.queues)
    for info in told["op_info"]:
        row = frame[frame["op_id"] == info["op_id"]].iloc[0]
        queue = info["metrics"]["output_queue"]
        assert row["queue_use"] == np.mean(queue["size"]) / queue["length"]
        assert row["queue_empty"] == queue["size"].count(0) / len(queue["size"])
        assert row["interval_ns"] == told["sampling_interval"] * 1e6
        assert queues[queues["op_id"] == info["op_id"]]["size"].tolist() == queue["size"]


def test_steps_of_the_iterator(pipeline: tuple[Profile, Path]) -> None:
    profile, folder = pipeline
    lines = [list(map(int, line.split())) for line in (folder / "dataset_iterator_profiling_0.txt").read_text().splitlines()]
    frame = profile.queues[profile.queues["queue"] == "iterator"]
    for name, kind, sub, scale in (("get_ns", 0, 0, 1e6), ("push_ns", 0, 1, 1e6), ("total_ns", 0, 2, 1e6), ("size", 1, 16, 1)):
        assert frame[name].tolist() == [line[3] * scale for line in lines if line[:2] == [kind, sub]]
    assert frame["step"].tolist() == sorted({line[2] for line in lines})
    assert frame["time_ns"].tolist() == [line[4] * 1_000_000 for line in lines if line[0] == 1]


@pytest.mark.parametrize("name", ["dataset_iterator_profiling_0.txt", "device_queue_profiling_0.txt"])
@pytest.mark.parametrize("cell", ["--5", "-", "\u00b2", "5-", "1.5", "9999999999999", "99999999999999999999"])
def test_a_cell_of_a_queue_that_is_no_number_costs_its_line(name: str, cell: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(f"0 0 1 5\n1 16 1 3 1700000000000\n0 0 2 {cell}\n1 16 2 4 1700000000001\n", "utf-8")
    profile = profile_of(tmp_path)
    assert profile.queues["size"].tolist() == [3.0, 4.0]
    np.testing.assert_array_equal(profile.queues["get_ns"], [5e6, np.nan])
    assert profile.queues["time_ns"].tolist() == [1_700_000_000_000_000_000, 1_700_000_000_001_000_000]
    text = f"Line 3, column 4 (value): expected a whole number, found {cell!r}; the line was skipped."
    assert [problem.text for problem in profile.problems] == [text]


def test_uneven_lists_of_the_cpu(pipeline: tuple[Profile, Path]) -> None:
    """Of the machine every second value of some lists is a filler, and the process has a sample less."""
    profile, folder = pipeline
    told = content(folder, "minddata_cpu_utilization_0.json")
    samples = len(told["time_stamp"])
    frame = CPU.check(profile.cpu)
    machine = frame[frame["scope"] == "machine"]
    assert len(told["device_info"]["context_switch_count"]) == 2 * samples
    assert machine["context_switches"].tolist() == told["device_info"]["context_switch_count"][::2]
    assert machine["runnable"].tolist() == told["device_info"]["runnable_process"][::2]
    # The lists of user and system are filled as well, and cut: what is known of a sample adds up to the whole machine.
    written = told["device_info"]["user_utilization"][::2]
    np.testing.assert_array_equal(machine["user"].to_numpy()[: len(written)], np.array(written) / 100)
    assert machine["user"].to_numpy()[len(written) :].size == samples - len(written)
    whole = machine[["user", "system", "io", "idle"]].to_numpy()[1 : len(written)].sum(axis=1)
    np.testing.assert_allclose(whole, 1.0, atol=0.02)
    assert machine["user"].isna().to_numpy()[len(written) :].all()
    process = frame[frame["scope"] == "process"]["user"].to_numpy()
    assert len(told["process_info"]["user_utilization"]) == samples - 1
    np.testing.assert_array_equal(process[:-1], np.array(told["process_info"]["user_utilization"]) / 100)
    assert np.isnan(process[-1])
    assert set(frame[frame["scope"] == "operator"]["op_id"]) == {0, 1, 2, 3}
    assert machine["time_ns"].tolist() == [stamp * 1_000_000 for stamp in told["time_stamp"]]
    steps = machine["step"].tolist()
    assert steps[0] == 0  # before the first step was fed
    assert steps == sorted(steps)


def test_memory_of_process_and_system(pipeline: tuple[Profile, Path]) -> None:
    profile, folder = pipeline
    told = content(folder, "minddata_cpu_utilization_0.json")
    frame = HOST_MEMORY.check(profile.host_memory)
    rss = frame[(frame["scope"] == "process") & (frame["measure"] == "rss")]
    assert rss["size_bytes"].tolist() == [round(value * 2**20) for value in told["process_memory_info"]["rss_mbytes"]]
    total = frame[(frame["scope"] == "system") & (frame["measure"] == "total")]
    expected = [round(value * 2**20) for value in told["system_memory_info"]["total_sys_memory_mbytes"]]
    assert total["size_bytes"].tolist() == expected


@pytest.mark.parametrize("form", ["json", "csv"])
def test_summary_tells_the_cpu_of_operations(form: str, tmp_path: Path) -> None:
    for name in ("minddata_pipeline_raw_0.csv", f"minddata_pipeline_summary_0.{form}"):
        (tmp_path / name).write_bytes((DATA / "2.10_minddata/analysed" / name).read_bytes())
    frame = profile_of(tmp_path).pipeline
    assert frame["cpu"].tolist() == [0.58 / 100, 0.92 / 100, 5.88 / 100, 11.17 / 100]
    assert frame["queue_mean"].tolist() == [0.0, 0.0, 8 / 12, 0.0]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("minddata_pipeline_summary_0.csv", "op_ids,0,1\navg_cpu_pct_per_worker,5\rx\n", "Line 2: expected cells"),
        ("minddata_pipeline_summary_0.json", '{"op_ids": [', "Nothing is taken from the file"),
        ("minddata_pipeline_summary_0.json", '{"op_ids": [NaN, 1], "avg_cpu_pct_per_worker": [1, 2]}', ""),
    ],
)
def test_a_damaged_summary_leaves_the_operations(name: str, text: str, said: str, tmp_path: Path) -> None:
    raw = "minddata_pipeline_raw_0.csv"
    (tmp_path / raw).write_bytes((DATA / "2.10_minddata/analysed" / raw).read_bytes())
    (tmp_path / name).write_text(text, newline="")
    profile = profile_of(tmp_path)
    assert len(profile.pipeline) == 4
    assert [problem.text[: len(said)] for problem in profile.problems if problem.path.endswith(name)] == [said] * bool(said)
