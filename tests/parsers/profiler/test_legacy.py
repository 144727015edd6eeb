"""Legacy Ascend directories against the csv and json modules; values that are also in the files are written out."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from parsers import open_run
from parsers.profile_frames import CPU, OPERATOR_TYPES, OPERATORS, PIPELINE, QUEUES, REDUCES, STEPS
from parsers.profiler.access import Profile


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def normal_run(real_data: Path) -> tuple[Profile, Path]:
    folder = real_data / "mindinsight_legacy/run_2/normal_run"
    run = open_run(folder)
    assert list(run.profile) == [("profiler", 1)]
    return run.profile["profiler", 1], folder / "profiler"


def test_types_on_the_ai_core(real_data: Path) -> None:
    profile, folder = normal_run(real_data)
    frame = OPERATOR_TYPES.check(profile.operator_types)
    frame = frame[frame["core"] == "AI_CORE"]
    expected = rows(folder / "aicore_intermediate_1_type.csv")
    assert frame["type"].tolist() == [row["op_type"] for row in expected]
    total = np.array([float(row["execution_time"]) for row in expected])
    np.testing.assert_array_equal(frame["total_ns"], total * 1e6)
    np.testing.assert_array_equal(frame["per_step"], [float(row["execution_frequency"]) for row in expected])
    # the file has percent: rounded to two decimals these are the parts of the times
    np.testing.assert_allclose(frame["share"], total / total.sum(), atol=1e-4)
    assert not profile.problems


def test_operators_on_the_ai_core_are_joined_with_their_shapes(real_data: Path) -> None:
    profile, folder = normal_run(real_data)
    frame = OPERATORS.check(profile.operators)
    frame = frame[frame["core"] == "AI_CORE"].set_index("full_name")
    framework = {row["full_op_name"]: row for row in rows(folder / "framework_raw_1.csv")}
    for row in rows(folder / "aicore_intermediate_1_detail.csv"):
        name, told = row["full_op_name"], framework[row["full_op_name"]]
        found = frame.loc[name]
        assert found["mean_ns"] == float(row["execution_time"]) * 1e6
        assert (found["type"], found["subgraph"]) == (told["op_type"], told["subgraph"])
        info = json.loads(told["op_info"])
        shapes = [info[key]["shape"] for key in info if key.startswith("input")]
        assert found["input_shapes"] == (";".join(shapes) if any(shapes) else "")
    assert frame.loc["Default/TransData-op118", "output_formats"] == "NC1HWC0"
    assert len(frame) == len(rows(folder / "aicore_intermediate_1_detail.csv"))


def test_details_without_framework_raw_say_what_is_missing(real_data: Path, tmp_path: Path) -> None:
    _, folder = normal_run(real_data)
    name = "aicore_intermediate_1_detail.csv"
    (tmp_path / "profiler").mkdir()
    (tmp_path / "profiler/profiler_info_1.json").write_text("{}")
    (tmp_path / "profiler" / name).write_bytes((folder / name).read_bytes())
    profile = open_run(tmp_path).profile["profiler", 1]
    assert profile.operators["full_name"].tolist() == [row["full_op_name"] for row in rows(folder / name)]
    (problem,) = profile.problems
    assert problem.path.endswith(name)
    assert problem.text.startswith("Expected framework_raw_1.csv beside it, found none")


def test_operators_on_the_ai_cpu(real_data: Path) -> None:
    profile, _ = normal_run(real_data)
    frame = profile.operators
    frame = frame[frame["core"] == "AI_CPU"]
    assert frame["type"].tolist() == ["InitData", "GetNext", "EndOfSequence", "GetNext", "EndOfSequence"]
    np.testing.assert_allclose(frame["total_ns"], [7.906e6, 0.888e6, 0.282e6, 0.293e6, 0.325e6])
    assert frame["start_ns"].iloc[0] == 154901853050_000
    types = profile.operator_types
    types = types[types["core"] == "AI_CPU"].set_index("type")
    np.testing.assert_allclose(types.loc["GetNext", ["total_ns", "count"]].astype(float), [1.181e6, 2])


def test_steps_and_their_average(real_data: Path) -> None:
    profile, _ = normal_run(real_data)
    frame = STEPS.check(profile.steps)
    assert frame["kind"].tolist() == ["step", "average"]
    assert frame["step"].tolist() == [1, -1]
    assert frame["start_ns"].tolist() == [154907896068750, -1]
    assert frame["total_ns"].iloc[0] == 23709050
    assert frame[["interval_ns", "forward_backward_ns", "tail_ns"]].iloc[0].tolist() == [0, 23668080, 40970]


def test_reduces_are_where_the_file_has_them(real_data: Path) -> None:
    run = open_run(real_data / "mindinsight_legacy/profiler")
    profile = run.profile[".", 0]
    expected = rows(real_data / "mindinsight_legacy/profiler/step_trace_raw_0_detail_time.csv")
    steps, reduces = STEPS.check(profile.steps), REDUCES.check(profile.reduces)
    assert steps["kind"].tolist() == ["step"] * 20 + ["average"]
    np.testing.assert_array_equal(steps["total_ns"], [int(row["total"]) * 10 for row in expected])
    parts = steps[["interval_ns", "forward_backward_ns", "tail_ns"]].sum(axis=1)
    np.testing.assert_array_equal(parts[:-1], steps["total_ns"][:-1])
    assert len(reduces) == 20 * 4
    for step, stream, number, start, duration in reduces[["step", "stream", "number", "start_ns", "duration_ns"]].itertuples(
        index=False
    ):
        row, name = expected[step - 1], f"stream_{stream}_parallel_{number}"
        assert (start, duration) == (int(row[f"{name}_start_point"]) * 10, int(row[name]) * 10)
    assert set(reduces["name"]) == {"parallel"}
    cluster = open_run(real_data / "mindinsight_legacy/cluster_propose").profile[".", 2].reduces
    first = cluster[cluster["name"] == "Receive-op2068"].iloc[0]
    assert first[["step", "stream", "number"]].tolist() == [1, 11, 0]
    assert first[["start_ns", "duration_ns"]].tolist() == [11622135715740, 1991210660]


def test_queues_of_four_and_of_five_numbers(real_data: Path) -> None:
    profile, _ = normal_run(real_data)
    frame = QUEUES.check(profile.queues)
    host = frame[frame["queue"] == "host"].iloc[0]
    assert host[["step", "size", "capacity", "total_ns", "push_ns", "get_ns", "time_ns"]].tolist() == [
        1, 0.0, 64.0, 4e6, 4e6, 0.0, 10_000_000,
    ]  # fmt: skip
    iterator = frame[frame["queue"] == "iterator"].iloc[0]
    assert iterator[["step", "size", "capacity", "time_ns"]].tolist() == [1, 3.0, 64.0, -1]
    device = frame[frame["queue"] == "device"]
    assert device["size"].tolist() == [3, 2, 1]
    assert device["get_ns"].tolist() == [1000, 0, 1000]
    assert device["time_ns"].iloc[0] == 154907895305_000


def test_pipeline_from_both_forms(real_data: Path) -> None:
    profile, _ = normal_run(real_data)
    frame = PIPELINE.check(profile.pipeline)
    assert frame[["op_id", "type", "parent", "workers"]].values.tolist() == [
        [4, "EpochCtrlOp", -1, 1], [0, "BatchOp", 4, 4], [1, "MapOp", 0, 8], [2, "MapOp", 1, 8], [3, "ImageFolderOp", 2, 8],
    ]  # fmt: skip
    assert frame["queue_use"].tolist() [1:] == [0.015625, 0.0, 0.0, 0.0]
    raw = open_run(real_data / "mindinsight_legacy/minddata_pipeline").profile[".", 0]
    expected = rows(real_data / "mindinsight_legacy/minddata_pipeline/minddata_pipeline_raw_0.csv")
    told = raw.pipeline.sort_values("op_id")
    for found, row in zip(told.itertuples(), sorted(expected, key=lambda row: int(row["op_id"])), strict=True):
        if row["output_queue_length"]:
            assert found.queue_use == float(row["output_queue_usage_rate"])
            sizes = raw.queues[raw.queues["op_id"] == found.op_id]["size"]
            assert sizes.tolist() == json.loads(row["output_queue_size"])
        else:
            assert np.isnan(found.queue_use)


def test_cpu_by_scope_and_step(real_data: Path) -> None:
    profile, _ = normal_run(real_data)
    frame = CPU.check(profile.cpu)
    assert frame["scope"].tolist() == ["machine"] * 3 + ["process"] * 3 + ["operator"] * 3
    assert frame["user"].tolist() == [0.1, 0.2, 0.3] * 3
    assert frame["cores"].unique().tolist() == [100]
    # step 1 is fed at 10 ms, the time of the first sample
    assert frame["step"].tolist()[:3] == [1, 1, 1]
    assert frame["runnable"].tolist()[:3] == [10, 20, 30]


def test_operations_a_second_of_both_headers(real_data: Path) -> None:
    run = open_run(real_data / "mindinsight_legacy/profiler")
    frame = run.profile[".", 1].operators.set_index("full_name")
    found = frame.loc["Default/AtomicAddrClean-op104"]
    assert (found["flops"], found["flops_per_s"], found["vector_flops"]) == (333e6, 333e9, 333e6)
    assert abs(found["flops_use"] - 0.33) < 1e-12
    assert (found["mean_ns"], found["count"], found["total_ns"]) == (1330.0, 1, 1330.0)


def test_floating_point_operations(real_data: Path) -> None:
    folder = real_data / "mindinsight_legacy/profiler"
    profile = open_run(folder).profile[".", 0]
    told = json.loads((folder / "flops_summary_0.json").read_text())
    assert profile.flops[["unit", "flops", "flops_per_s", "flops_use"]].values.tolist() == [
        ["cube", told["FLOPs"] * 1e6, told["FLOPS"] * 1e9, told["FLOPS_Utilization"] * 0.01]
    ]
    links = json.loads((folder / "flops_scope_0.json").read_text())["data"]["links"]
    expected = [[link["source"], link["target"], link["value"] * 1e6] for link in links]
    assert profile.flops_scopes[["parent", "scope", "flops"]].values.tolist() == expected
    outer = profile.flops_scopes[profile.flops_scopes["parent"] == "Total"]["flops"].sum()
    assert abs(outer - told["FLOPs"] * 1e6) < 2e3  # both are rounded to thousands


def test_dynamic_shapes(real_data: Path) -> None:
    """The sums that the writer adds are those of the executions."""
    folder = real_data / "mindinsight_legacy/profiler"
    kernels = open_run(folder).profile[".", 0].kernels
    told = json.loads((folder / "dynamic_shape_info_0.json").read_text())
    assert len(kernels) == sum(len(rows) for kind in ("operator", "kernel") for rows in told[kind].values())
    for core, kind in (("GPU", "operator_type"), ("GPU_KERNEL", "kernel_type")):
        for step, types in told[kind].items():
            for name, (total, count, *_) in types.items():
                rows = kernels[(kernels["core"] == core) & (kernels["step"] == int(step)) & (kernels["type"] == name)]
                assert len(rows) == count
                np.testing.assert_allclose(rows["duration_ns"].sum(), total * 1000, atol=count)
