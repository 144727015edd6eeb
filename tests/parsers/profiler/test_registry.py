"""Every reader on a file of its own writing (`written.py`): numbers, damage in twenty places, and which of several counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.profile_frames import KERNELS
from parsers.profiler.access import Profile, Profiles
from parsers.profiler.frame_parts import joined
from parsers.profiler.registry import FILE_KINDS, FRAME_READERS, FRAMES, classify, display_name
from parsers.profiler.sessions import find_sessions
from tests.amounts import some_or_every
from tests.parsers.profiler.written import FILES

BESIDE = ("aicore_intermediate_0_detail.csv", "cpu_op_detail_info_0.csv", "gpu_op_detail_info_0.csv", "framework_raw_0.csv")
"""Files that others are joined with."""


def profile_of(folder: Path, *names: str) -> Profile:
    for name in names:
        (folder / name).write_text(FILES[name])
    (profile,) = open_run(folder).profile.values()
    return profile


def frames_of(name: str) -> set[str]:
    """The frames a file is read for; of a file that is only joined with others the operators."""
    what = classify(name)
    assert what is not None
    return {reader.schema.name for reader in FRAME_READERS if reader.file.name == what[0]} or {"operators"}


def test_readers_name_kinds_that_are_registered() -> None:
    for reader in FRAME_READERS:
        assert FRAMES[reader.schema.name] is reader.schema
        assert set(reader.unless) <= set(FILE_KINDS)


@some_or_every
@pytest.mark.parametrize("name", FILES)
def test_neither_a_flipped_byte_nor_a_cut_raises(name: str, tmp_path: Path, every: bool) -> None:
    whole = FILES[name].encode()
    for what in (*(BESIDE if classify(name)[0] in ("framework_raw", "flops", "cpu_framework") else ()), name):  # type: ignore[index]
        (tmp_path / what).write_text(FILES[what])
    path = tmp_path / name
    for at in range(0, len(whole), max(1, len(whole) // (20 if every else 2))):
        for damaged in (whole[:at], whole[:at] + bytes((whole[at] ^ 0xFF,)) + whole[at + 1 :]):
            path.write_bytes(damaged)
            (profile,) = Profiles(find_sessions(str(tmp_path), (str(tmp_path),))[0]).values()
            for frame in frames_of(name):
                profile.frame(frame)
            assert {problem.path for problem in profile.problems} <= {str(path)}


@pytest.mark.parametrize("name", FILES)
def test_as_written_nothing_is_wrong(name: str, tmp_path: Path) -> None:
    profile = profile_of(tmp_path, *BESIDE, name)
    rows = {frame: len(profile.frame(frame)) for frame in FRAMES}
    assert frames_of(name) <= {frame for frame, count in rows.items() if count}
    assert not profile.problems


def test_gpu(tmp_path: Path) -> None:
    """No real files of GPU are at hand: these are written from the documented columns."""
    profile = profile_of(tmp_path, *(name for name in FILES if "gpu" in name or name.startswith("activity")))
    assert profile.device == "GPU"
    types = profile.operator_types[profile.operator_types["core"] == "GPU"]
    assert types[["type", "total_ns", "mean_ns", "share"]].values.tolist() == [
        ["MatMul", 300500.0, 75125.0, 0.75], ["Add", 100250.0, 50125.0, 0.25],
    ]  # fmt: skip
    kernel = profile.operators[profile.operators["core"] == "GPU_KERNEL"].iloc[0]
    assert kernel[["name", "full_name", "count", "total_ns", "max_ns", "min_ns", "share"]].tolist() == [
        "void gemm<float, int>(float*, int)", "Default/net/MatMul-op1", 4, 250000.0, 70250.0, 60000.0, 1.0,
    ]  # fmt: skip
    assert profile.operators[profile.operators["core"] == "GPU"]["device_ns"].tolist() == [250000.0, 90000.0]
    kernels = profile.kernels
    assert kernels[["core", "start_ns", "duration_ns", "stream"]].values.tolist() == [
        ["GPU_KERNEL", 1600695893269618300, 62501, 7], ["GPU", 1600695893269618200, 75125, -1],
        ["GPU", 1600695893369618201, 74500, -1],
    ]  # fmt: skip
    assert kernels["name"].iloc[0] == "void gemm<float, int>(float*; int)"


def test_details_on_the_ai_core(tmp_path: Path) -> None:
    names = ("aicore_intermediate_0_type.csv", "aicore_intermediate_0_detail.csv", "framework_raw_0.csv", "flops_0.txt")
    profile = profile_of(tmp_path, *names)
    columns = ["name", "type", "core", "mean_ns", "count", "total_ns"]
    columns += ["input_shapes", "input_types", "output_formats", "subgraph"]
    assert profile.operators[columns].values.tolist() == [
        ["MatMul-op1", "MatMulV3", "MIX_AIC", 500000.0, 3.0, 1500000.0, "2,3", "FLOAT16", "ND", "Default"],
        ["Cast-op2", "Cast", "AI_CORE", 500000.0, 1.0, 500000.0, "", "", "", ""],
    ]
    np.testing.assert_allclose(profile.operators["flops"], [333e6, np.nan])
    np.testing.assert_allclose(profile.operators["flops_per_s"], [12.5e9, np.nan])
    np.testing.assert_allclose(profile.operators["flops_use"], [0.33, np.nan])
    assert profile.operator_types["share"].tolist()[:2] == [0.75, 0.25]


def test_get_next_of_gpu_is_in_nanoseconds(tmp_path: Path) -> None:
    queues = profile_of(tmp_path, "gpu_op_type_info_0.csv", "minddata_getnext_profiling_0.txt").queues
    assert queues[["queue", "step", "get_ns", "size", "time_ns"]].values.tolist() == [
        ["device", 1, 2500.0, 2.0, 1000], ["device", 2, 0.0, 0.0, 5000],
    ]  # fmt: skip


def test_pynative_shares_are_parts_or_percent(tmp_path: Path) -> None:
    name = "pynative_op_intermediate_0_type.csv"
    types = profile_of(tmp_path, name).operator_types
    assert types[["core", "share"]].values.tolist() == [["PYNATIVE", 0.6], ["PYNATIVE", 0.4]]
    (tmp_path / name).write_text(FILES[name].replace("0.6", "60").replace("0.4", "40"))
    (profile,) = open_run(tmp_path).profile.values()
    assert profile.operator_types["share"].tolist() == [0.6, 0.4]


def test_executions_on_the_ai_cpu_and_stages_of_the_dataset(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, "op_statistic.csv", "data_preprocess.csv", "dataset.csv")
    (kernel,) = profile.kernels.itertuples()
    assert (kernel.name, kernel.core, kernel.start_ns, kernel.duration_ns, kernel.stream, kernel.task) == (
        "GetNext", "AI_CPU", 1764246877073569641, 2125, 4, 11,
    )  # fmt: skip
    assert profile.pipeline[["type", "stage", "count", "mean_ns", "info"]].values.tolist() == [
        ["Batch", "WorkerProcess", 8.0, 12500.0, ""], ["Map", "MainProcess", 4.0, 3250.0, "[x]"],
    ]  # fmt: skip
    with_details = profile_of(tmp_path, "kernel_details.csv").kernels
    assert with_details["core"].tolist() == ["AI_CORE"]  # which has the AI CPU's rows too


def test_a_profile_without_steps(tmp_path: Path) -> None:
    (row,) = profile_of(tmp_path, "step_trace_time.csv").steps.itertuples()
    assert (row.step, row.total_ns, row.computing_ns, row.kind) == (-1, 16750.0, 10500.0, "step")


def test_operators_of_executions(tmp_path: Path) -> None:
    text = FILES["kernel_details.csv"]
    row = text.splitlines()[1]
    more = [row.replace("55.161", "44.839"), row.replace("AI_CORE", "HCCL")]
    (tmp_path / "kernel_details.csv").write_text(text + "\n".join(more) + "\n")
    (profile,) = open_run(tmp_path).profile.values()
    operators = profile.operators
    columns = ["name", "full_name", "core", "count", "total_ns", "min_ns", "max_ns", "share", "input_shapes"]
    assert operators[columns].values.tolist() == [
        ["aclnnMatmul", "Default/net/MatMul-op1/aclnnMatmul", "AI_CORE", 2, 100000, 44839, 55161, 1.0, "2,3;3,4"],
        ["aclnnMatmul", "Default/net/MatMul-op1/aclnnMatmul", "HCCL", 1, 55161, 55161, 55161, 1.0, "2,3;3,4"],
    ]
    assert profile.operator_types[["type", "core", "count", "total_ns"]].values.tolist() == [
        ["MatMul", "AI_CORE", 2, 100000], ["MatMul", "HCCL", 1, 55161],
    ]  # fmt: skip
    np.testing.assert_array_equal(profile.kernels["pmu/aic_mac_ratio"], [0.5, 0.5, 0.5])


def test_where_forward_begins_and_backward_ends(tmp_path: Path) -> None:
    (tmp_path / "step_trace_point_info.json").write_text('{"fp_start": "Default/Cast-op6", "bp_end": "Default/TransData-op7"}')
    profile = profile_of(tmp_path, "step_trace_raw_0_detail_time.csv")
    assert profile.step_points == {"fp_start": "Default/Cast-op6", "bp_end": "Default/TransData-op7"}
    (tmp_path / "step_trace_point_info.json").write_text("[1")
    (profile,) = open_run(tmp_path).profile.values()
    assert profile.step_points == {}
    assert [problem.kind for problem in profile.problems] == ["bad_table"]


def test_what_the_writer_says_of_itself(tmp_path: Path) -> None:
    (tmp_path / "profiler_info_0.json").write_text('{"ms_version": "2.0.0", "rank_size": 8}')
    profile = profile_of(tmp_path, "step_trace_raw_0_detail_time.csv")
    assert profile.about["ms_version"] == "2.0.0"


def test_floating_point_operations(tmp_path: Path) -> None:
    """The newer form of the summary; no real file of it is at hand."""
    profile = profile_of(tmp_path, "aicore_intermediate_0_detail.csv", "flops_summary_0.json", "flops_scope_0.json")
    assert profile.flops["unit"].tolist() == ["cube", "vector"]
    np.testing.assert_allclose(profile.flops["flops"], [8167.743e6, 20e6])
    np.testing.assert_allclose(profile.flops["flops_per_s"], [9868.5e9, 2.5e9])
    np.testing.assert_allclose(profile.flops["flops_use"], [0.0375, np.nan])
    assert profile.flops_scopes[["parent", "scope", "flops"]].values.tolist() == [["Total", "Default", 12.5e6]]


def test_what_is_no_number_of_operations_is_told(tmp_path: Path) -> None:
    (tmp_path / "flops_summary_0.json").write_text('{"FLOPs": "many", "FLOPS": 1e400}')
    (tmp_path / "flops_scope_0.json").write_text(
        '{"data": {"links": [{"source": "Total"}, 3, {"source": "Total", "target": "a", "value": true},'
        ' {"source": "Total", "target": "b", "value": 2}]}}'
    )
    profile = profile_of(tmp_path, "aicore_intermediate_0_detail.csv")
    assert profile.flops.empty
    assert profile.flops_scopes["scope"].tolist() == ["b"]
    assert len(profile.problems) >= 4


def test_dynamic_shapes_of_gpu(tmp_path: Path) -> None:
    kernels = profile_of(tmp_path, "gpu_op_type_info_0.csv", "dynamic_shape_info_0.json").kernels
    assert kernels[["step", "name", "type", "core", "start_ns", "duration_ns", "input_shapes"]].values.tolist() == [
        [2, "Add-op6", "Add", "GPU", -1, 75616, "32,1;32"],
        [2, "Default/net/Add-op6/k<float>(int)", "k<float>(int)", "GPU_KERNEL", -1, 3904, ""],
    ]


def test_shapes_and_launches_of_gpu(tmp_path: Path) -> None:
    times = profile_of(tmp_path, "gpu_op_type_info_0.csv", "dynamic_shape_info_0.json").shape_times
    assert times[["step", "name", "type", "core", "duration_ns", "input_shapes", "blocks", "grid"]].values.tolist() == [
        [2, "Add-op6", "Add", "GPU", 75616, "32,1;32", "", ""],
        [2, "Default/net/Add-op6/k<float>(int)", "k<float>(int)", "GPU_KERNEL", 3904, "", "256,1,1", "1,1,1"],
    ]


def test_dynamic_shapes_of_ascend(tmp_path: Path) -> None:
    """As MindSpore writes it: op_info without its quotation marks, times in ms; a damaged operator leaves the others."""
    second = "input_1: {format: ND, data_type: FLOAT32, shape: [4, 2]}, output_0: {format: ND, data_type: FLOAT16, shape: 9,9}"
    info = f"{{input_0: {{format: ND, data_type: NUMBER_TYPE_FLOAT16, shape: %s}}, {second}}}"
    told = {
        "MatMul": [{"MatMul-op1": {"op_exe_time": [0.5, 1.25], "op_shape": [info % "2,3", info % "5,3"]}}],
        "Cast": [
            {"Cast-op2": {"op_exe_time": [0.000001, "x"], "op_shape": ["{}"]}}, {"Cast-op3": {"op_shape": []}}, 7,
        ],
        "op_type": {"MatMul": [0.5, 1.25], "Cast": [0.1, 0.1]},
    }  # fmt: skip
    (tmp_path / "dynamic_shape_info_0.json").write_text(json.dumps(told))
    profile = profile_of(tmp_path, "aicore_intermediate_0_detail.csv")
    columns = ["step", "name", "type", "core", "duration_ns", "input_shapes", "input_types"]
    assert profile.shape_times[columns].values.tolist() == [
        [1, "MatMul-op1", "MatMul", "AI_CORE", 500_000, "2,3;4,2", "FLOAT16;FLOAT32"],
        [2, "MatMul-op1", "MatMul", "AI_CORE", 1_250_000, "5,3;4,2", "FLOAT16;FLOAT32"],
        [1, "Cast-op2", "Cast", "AI_CORE", 1, "", ""],
    ]
    said = [problem.text for problem in profile.problems if "dynamic_shape" in problem.path]
    assert len(said) == 4
    assert profile.kernels["duration_ns"].tolist() == [500_000, 1_250_000, 1]


def test_executions_of_the_timeline_are_not_counted_twice(tmp_path: Path) -> None:
    told = {"Add": [{"Add-op1": {"op_exe_time": [0.5], "op_shape": [""]}}], "op_type": {"Add": [0.5]}}
    (tmp_path / "dynamic_shape_info_0.json").write_text(json.dumps(told))
    timeline = "op_name, stream_id, start_time, duration\nDefault/Add-op1,5,1.0,0.5\n"
    (tmp_path / "output_timeline_data_0.txt").write_text(timeline)
    profile = profile_of(tmp_path, "aicore_intermediate_0_detail.csv")
    assert (len(profile.kernels), len(profile.shape_times)) == (1, 1)


def test_names_of_files_as_users_know_them() -> None:
    shown = {kind: display_name(kind) for kind in FILE_KINDS}
    assert shown["kernel_details"] == "kernel_details.csv"
    assert shown["aicore_detail"] == "aicore_intermediate_*_detail.csv"
    assert shown["gpu_executions"] == "gpu_op_execute_timestamp.txt"
    assert not [name for name in shown.values() if set(name) & set("()?\\|[]")]
    for kind, name in shown.items():
        assert classify(name.replace("*", "3")) == (kind, 3 if "*" in name else None)


def test_columns_that_only_some_kernels_have_keep_their_types() -> None:
    """Kernels of a trace of torch know their launch, those of tables do not; a directory may have both."""
    plain = KERNELS.empty().reindex(range(2))
    whole = plain.assign(**{column.name: 7 for column in KERNELS.columns if column.dtype == "int64"})
    launched = whole.assign(**{"launch/begin_ns": np.int64(5)})
    frame = KERNELS.check(joined(KERNELS, [whole, launched]))
    assert frame["launch/begin_ns"].tolist() == [-1, -1, 5, 5]
