"""Tables of ASCEND_PROFILER_OUTPUT: every number of the real ones against the csv module and decimal."""

from __future__ import annotations

import csv
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.profile_frames import API, KERNELS, OPERATOR_TYPES, STEPS

LEVELS = [
    "torch_npu_text_level0/rank0_ascend_pt", "torch_npu_text_level2/rank0_ascend_pt", "torch_npu_text_level2/rank1_ascend_pt",
    "torch_npu_st_4ranks_pp2/rank_0_ascend_pt", "torch_npu_st_4ranks_pp2/rank_2_ascend_pt", "msinsight_server/test_rank_0",
    "msinsight_server/test_rank_1",
]  # fmt: skip
# In this one a line lacks a cell.
SHORT = {"msinsight_server/test_rank_0": ["Line 17: expected 32 cells, found 31; the line was skipped."]}
every_level = pytest.mark.parametrize("level", LEVELS)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        whole = [row for row in csv.DictReader(file) if None not in row.values()]
    return [{name.strip(): cell.strip() for name, cell in row.items()} for row in whole]


def whole_ns(text: str) -> int:
    return int((Decimal(text) * 1000).to_integral_value(ROUND_HALF_EVEN))


def number(text: str) -> float:
    return float("nan") if text in ("", "N/A") else float(text)


@every_level
def test_kernels_are_those_of_the_file(real_data: Path, level: str) -> None:
    folder = real_data / "profiler_new" / level
    expected = rows(folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv")
    run = open_run(folder)
    (profile,) = run.profile.values()
    frame = KERNELS.check(profile.kernels)
    assert [problem.text for problem in profile.problems] == SHORT.get(level, [])
    assert frame["start_ns"].tolist() == [whole_ns(row["Start Time(us)"]) for row in expected]
    assert frame["duration_ns"].tolist() == [whole_ns(row["Duration(us)"]) for row in expected]
    assert frame["step"].tolist() == [int(row["Step Id"]) for row in expected]
    assert frame["name"].tolist() == [row["Name"] for row in expected]
    assert frame["type"].tolist() == [row["Type"].replace("N/A", "") for row in expected]
    assert frame["core"].tolist() == [row["Accelerator Core"].replace("N/A", "") for row in expected]
    np.testing.assert_array_equal(frame["wait_ns"], [number(row["Wait Time(us)"]) * 1000 for row in expected])
    blocks = [row.get("Block Num", row.get("Block Dim", "")) for row in expected]
    assert frame["blocks"].tolist() == [int(cell) if cell.isdigit() else -1 for cell in blocks]
    if "Input Shapes" in expected[0]:
        assert frame["input_shapes"].tolist() == [row["Input Shapes"].strip('"').replace("N/A", "") for row in expected]
        assert set(frame["model"]) == {-1}
    for name in (name for name in frame.columns if name.startswith("pmu/") and frame[name].dtype == np.float64):
        np.testing.assert_array_equal(frame[name], [number(row[name.removeprefix("pmu/")]) for row in expected], name)


@every_level
def test_steps_are_those_of_the_file(real_data: Path, level: str) -> None:
    folder = real_data / "profiler_new" / level
    expected = rows(folder / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv")
    (profile,) = open_run(folder).profile.values()
    frame = STEPS.check(profile.steps)
    names = {
        "computing_ns": "Computing", "exposed_ns": "Communication(Not Overlapped)", "overlapped_ns": "Overlapped",
        "communication_ns": "Communication", "free_ns": "Free", "stage_ns": "Stage", "bubble_ns": "Bubble",
        "exposed_without_receive_ns": "Communication(Not Overlapped and Exclude Receive)", "preparing_ns": "Preparing",
    }  # fmt: skip
    for name, header in names.items():
        np.testing.assert_array_equal(frame[name], [number(row.get(header, "")) * 1000 for row in expected], name)
    assert frame["step"].tolist() == [int(row["Step"]) for row in expected]
    exposed = frame["communication_ns"] - frame["overlapped_ns"]
    np.testing.assert_allclose(frame["exposed_ns"], exposed, rtol=1e-9)


def test_types_and_calls_are_those_of_the_files(real_data: Path) -> None:
    folder = real_data / "profiler_new/torch_npu_st_4ranks_pp2/rank_0_ascend_pt"
    output = folder / "ASCEND_PROFILER_OUTPUT"
    (profile,) = open_run(folder).profile.values()
    types = OPERATOR_TYPES.check(profile.operator_types)
    recorded, expected = types[types["file"].str.endswith("op_statistic.csv")], rows(output / "op_statistic.csv")
    assert recorded["type"].tolist() == [row["OP Type"] for row in expected]
    for name, header, scale in (
        ("total_ns", "Total Time(us)", 1000.0), ("min_ns", "Min Time(us)", 1000.0), ("mean_ns", "Avg Time(us)", 1000.0),
        ("max_ns", "Max Time(us)", 1000.0), ("count", "Count", 1.0),
    ):  # fmt: skip
        np.testing.assert_array_equal(recorded[name], [float(row[header]) * scale for row in expected])
    np.testing.assert_array_equal(recorded["share"], [float(row["Ratio(%)"]) / 100 for row in expected])
    kernels = profile.kernels
    for row in recorded.itertuples():
        alike = kernels[(kernels["type"] == row.type) & (kernels["core"] == row.core)]
        assert len(alike) == row.count, row.type
        assert abs(alike["duration_ns"].sum() - row.total_ns) < 1.0
    api, expected = API.check(profile.api), rows(output / "api_statistic.csv")
    np.testing.assert_array_equal(api["total_ns"], [float(row["Time(us)"]) * 1000 for row in expected])
    np.testing.assert_array_equal(api["variance_ns2"], [float(row["Variance"]) * 1e6 for row in expected])
    assert api["name"].tolist() == [row["API Name"] for row in expected]


def test_host_operators_have_their_stacks(real_data: Path) -> None:
    folder = real_data / "profiler_new/torch_npu_text_level2/rank0_ascend_pt"
    expected = rows(folder / "ASCEND_PROFILER_OUTPUT/operator_details.csv")
    (profile,) = open_run(folder).profile.values()
    frame = profile.operators
    frame = frame[frame["core"] == "HOST_CPU"]
    assert frame["full_name"].tolist() == [row["Name"] for row in expected]
    assert frame["stack"].tolist() == [row["Call Stack"] for row in expected]
    np.testing.assert_array_equal(frame["self_ns"], [float(row["Host Self Duration(us)"]) * 1000 for row in expected])
    np.testing.assert_array_equal(frame["device_ns"], [float(row["Device Total Duration(us)"]) * 1000 for row in expected])


def test_four_ranks_of_one_job(real_data: Path) -> None:
    run = open_run(real_data / "profiler_new/torch_npu_st_4ranks_pp2")
    assert list(run.profile) == [(f"rank_{rank}_ascend_pt", rank) for rank in range(4)]
    assert run.kinds() == {"profile": 4}
    together = run.profile.steps
    assert together[["session", "rank"]].values.tolist() == [[f"rank_{rank}_ascend_pt", rank] for rank in range(4)]
    assert together["computing_ns"].iloc[0] == 231290.09999999995 * 1000
    kernels = run.profile.kernels
    assert len(kernels) == sum(len(profile.kernels) for profile in run.profile.values()) == 2463 + 2587
    assert kernels["name"].tolist()[-1] == run.profile[("rank_2_ascend_pt", 2)].kernels["name"].tolist()[-1]
