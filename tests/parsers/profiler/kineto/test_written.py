"""Frames of Kineto traces of our own writer, whose every time is known, and of damaged ones."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.profiler.access import Profile
from parsers.profiler.frame_parts import FramePart, ProfileInput
from parsers.profiler.kineto import recording
from parsers.profiler.kineto.frame_readers import read_all
from parsers.profiler.kineto.kernels import kernel_type
from parsers.profiler.kineto.operators import BEFORE
from tests.writers.kineto_traces import BASE_NS, KinetoWriter, training, write


def frames_of(path: Path) -> dict[str, pd.DataFrame]:
    return {name: part.frame for name, part in read_all(ProfileInput(str(path), path.name, {})).items()}


@pytest.fixture
def frames(tmp_path: Path) -> dict[str, pd.DataFrame]:
    return frames_of(write(tmp_path / "trace.json", training()))


def test_a_step_is_what_was_launched_in_it(frames: dict[str, pd.DataFrame]) -> None:
    steps = frames["steps"].set_index("step")
    assert list(steps.index) == [3, 4, 5]
    first = steps.loc[4]
    assert first["total_ns"] == 990_000
    # gemm from 280 to 580, add from 580 to 630, the collective from 600 to 800, the copy from 216 to 241 (microseconds)
    assert first["computing_ns"] == 350_000
    assert (first["exposed_ns"], first["overlapped_ns"], first["communication_ns"]) == (170_000, 30_000, 200_000)
    assert first["free_ns"] == 990_000 - 350_000 - 170_000
    assert first["copies_ns"] == 25_000
    assert first["fetching_ns"] == 200_000
    assert steps["kind"].tolist() == ["step"] * 3


def test_the_first_step_begins_once_what_was_launched_before_it_has_ended(tmp_path: Path) -> None:
    made = training(2)
    made.kernel("void started_before<float>(float*)", 2_000, 100_000, correlation=8)  # the first step begins at 10 µs
    steps = frames_of(write(tmp_path / "trace.json", made))["steps"]
    assert steps["start_ns"].tolist() == [BASE_NS + 102_000, BASE_NS + 1_010_000]
    assert steps["total_ns"].tolist() == [990_000 - 92_000, 990_000]
    assert steps["free_ns"].tolist() == [990_000 - 92_000 - 520_000, 990_000 - 520_000]


def test_a_last_step_with_fewer_launches_is_cut(tmp_path: Path) -> None:
    made = training(3)
    launched = [event for event in made.events if event["pid"] == 0][-2:]
    made.events = [event for event in made.events if event not in launched]
    assert frames_of(write(tmp_path / "trace.json", made))["steps"]["kind"].tolist() == ["step", "step", "cut"]


def test_time_on_the_device_belongs_to_the_innermost_operator(frames: dict[str, pd.DataFrame]) -> None:
    operators = frames["operators"]
    times = ["count", "total_ns", "self_ns", "device_ns", "device_self_ns"]
    by_name = operators.groupby(operators["name"].astype(str))[times].sum()
    assert by_name.loc["aten::linear"].tolist() == [3, 300_000, 60_000, 1_050_000, 0]
    assert by_name.loc["aten::addmm"].tolist() == [3, 240_000, 216_000, 1_050_000, 1_050_000]
    assert by_name.loc[BEFORE, ["count", "device_self_ns"]].tolist() == [1, 1_500]
    assert by_name["device_self_ns"].sum() == frames["kernels"]["duration_ns"].sum()
    steps = operators[operators["type"] == "ProfilerStep"]
    assert sorted(steps["name"]) == ["ProfilerStep#3", "ProfilerStep#4", "ProfilerStep#5"]
    linear = operators[operators["name"] == "aten::linear"]
    assert sorted(linear["input_shapes"]) == ["8,32;16,32;16", "8,40;16,40;16", "8,48;16,48;16"]
    assert set(linear["stack"]) == {"model.py(7): forward\ntrain.py(21): <module>"}


def test_kernels_have_what_the_file_tells_of_them(frames: dict[str, pd.DataFrame]) -> None:
    kernels = frames["kernels"]
    assert kernels["start_ns"].is_monotonic_increasing
    gemm = kernels[kernels["type"] == "gemm"].iloc[0]
    assert (gemm["step"], gemm["start_ns"], gemm["duration_ns"]) == (3, BASE_NS + 290_000, 300_000)
    assert (gemm["device"], gemm["stream"], gemm["core"]) == (0, 7, "GPU_KERNEL")
    assert (gemm["pmu/grid"], gemm["pmu/registers per thread"], gemm["pmu/est. achieved occupancy (%)"]) == ("108,1,1", 32, 50)
    assert gemm["wait_ns"] == 280_000 - 241_000
    assert kernels["core"].value_counts().to_dict() == {"GPU_KERNEL": 7, "COMMUNICATION": 3, "COPY": 3}
    assert kernels[kernels["core"] == "COPY"]["pmu/bytes (B)"].tolist() == [1024, 1280, 1536]
    assert kernels["step"].iloc[0] == -1  # launched before the recording


def test_a_collective_is_one_row_with_the_name_that_other_ranks_give_it(frames: dict[str, pd.DataFrame]) -> None:
    found = frames["communication"]
    assert found["name"].tolist() == ["allreduce_1"] * 3
    assert found["group"].tolist() == ["0"] * 3
    assert found["duration_ns"].tolist() == [200_000] * 3
    assert found["step"].tolist() == [3, 4, 5]


def test_memory_is_that_of_the_allocator(frames: dict[str, pd.DataFrame]) -> None:
    memory, blocks = frames["memory"], frames["operator_memory"]
    assert memory["allocated_bytes"].tolist() == [1024, 0, 1280, 0, 1536, 0]
    assert set(memory["reserved_bytes"]) == {2 << 20}
    assert blocks["name"].tolist() == ["aten::copy_"] * 3
    assert blocks["size_bytes"].tolist() == [1024, 1280, 1536]
    assert (blocks["released_ns"] - blocks["allocated_ns"]).tolist() == [694_000] * 3


def test_shapes_are_listed_only_where_they_change(frames: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    assert set(frames["shape_times"]["name"]) == {"aten::copy_", "aten::linear", "aten::addmm"}
    assert frames_of(write(tmp_path / "same.json", training(changing=False)))["shape_times"].empty


def test_hardware_is_what_was_used(frames: dict[str, pd.DataFrame]) -> None:
    assert frames["hardware"][["device", "chip", "cube_cores", "memory_bytes"]].to_numpy().tolist() == [
        [0, "NVIDIA A100-SXM4-40GB", 108, 40 << 30]
    ]


def test_calls_of_the_runtime_are_counted_by_name(frames: dict[str, pd.DataFrame]) -> None:
    calls = frames["api"].set_index("name")
    assert calls.loc["cudaLaunchKernel", ["count", "total_ns"]].tolist() == [9, 36_000]
    assert calls.loc["cudaMemcpyAsync", ["count", "max_ns"]].tolist() == [3, 30_000]


def test_without_marks_the_recording_is_one_step(tmp_path: Path) -> None:
    made = training(2)
    made.events = [event for event in made.events if not event["name"].startswith("ProfilerStep")]
    steps = frames_of(write(tmp_path / "trace.json", made))["steps"]
    assert steps["step"].tolist() == [-1]
    assert steps["computing_ns"].tolist() == [2 * 350_000 + 1_500]


def test_a_correlation_used_twice_is_the_latest_call_before(tmp_path: Path) -> None:
    made = KinetoWriter()
    for step in range(2):
        made.correlation = 100
        made.host(f"op{step}", step * 1_000_000, 500_000)
        made.launch(f"kernel{step}", step * 1_000_000 + 1_000, step * 1_000_000 + 10_000, 5_000)
    operators = frames_of(write(tmp_path / "trace.json", made))["operators"]
    assert operators.set_index("name")["device_self_ns"].to_dict() == {"op0": 5_000, "op1": 5_000}


def test_an_external_id_fills_in_for_a_launch_that_was_not_recorded(tmp_path: Path) -> None:
    made = KinetoWriter()
    number = made.host("mine", 0, 500_000)
    made.kernel("kernel", 10_000, 5_000, **{"External id": number})
    operators = frames_of(write(tmp_path / "trace.json", made))["operators"]
    assert operators.set_index("name")["device_self_ns"].to_dict() == {"mine": 5_000}


def test_kernels_of_a_graph_belong_to_its_launch(tmp_path: Path) -> None:
    made = KinetoWriter()
    made.host("my region", 0, 500_000, "user_annotation")
    correlation = made.launch("first", 1_000, 10_000, 5_000, call="cudaGraphLaunch")
    for number in range(3):
        made.kernel(f"further{number}", 20_000 + 1_000 * number, 1_000, correlation=correlation)
    operators = frames_of(write(tmp_path / "trace.json", made))["operators"].set_index("name")
    assert operators.loc["cudaGraphLaunch", "device_self_ns"] == 8_000
    assert operators.loc["my region", ["device_ns", "device_self_ns"]].tolist() == [8_000, 0]


def test_a_kernel_named_like_an_annotation_is_a_kernel(tmp_path: Path) -> None:
    made = KinetoWriter()
    made.kernel("ProfilerStep#7", 0, 5_000)
    made.kernel("ProfilerStep#7", 0, 90_000, category="gpu_user_annotation")
    made.kernel("<lambda>" + "x" * 8_000, 6_000, 1_000)
    frames = frames_of(write(tmp_path / "trace.json", made))
    assert frames["kernels"]["duration_ns"].tolist() == [5_000, 1_000]
    assert frames["step_times"].empty
    assert frames["steps"]["computing_ns"].tolist() == [6_000]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("void at::native::elementwise_kernel<4, f<float>(int)>(int, f)", "at::native::elementwise_kernel"),
        ("std::enable_if<(8 > 0) && true, void>::type vllm::fused_add<c10::Half, 8>(c10::Half*)", "vllm::fused_add"),
        ("void (anonymous namespace)::softmax_warp_forward<float>(float*)", "softmax_warp_forward"),
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"), ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD"),
        ("Memset (Device)", "Memset"), ("<lambda>", "<lambda>"), ("a < b", "a"), ("void add(float*)", "add"),
    ],
)  # fmt: skip
def test_the_type_of_a_kernel_is_its_function(name: str, wanted: str) -> None:
    assert kernel_type(name) == wanted


def test_gloo_has_the_host_alone(tmp_path: Path) -> None:
    made = KinetoWriter(rank=1, world_size=2)
    for kind, start in (("allreduce", 0), ("wait", 100_000), ("send", 200_000)):
        made.host("record_param_comms", start, 50_000, Collective_name=kind, Process_Group_Name="1", dtype="Float")
    found = frames_of(write(tmp_path / "trace.json", made))["communication"]
    assert found[["name", "kind", "group"]].to_numpy().tolist() == [["allreduce_1", "collective", "1"], ["send_1", "p2p", "1"]]


def test_counters_of_ranges_are_columns(tmp_path: Path) -> None:
    made = KinetoWriter()
    for value in (3, 5):
        made.kernel(f"kernel{value}", value, 2, category="cuda_profiler_range", **{"smsp__inst.sum": value})
    kernels = frames_of(write(tmp_path / "trace.json", made))["kernels"]
    assert kernels["pmu/smsp__inst.sum"].tolist() == [3, 5]


@pytest.mark.parametrize(
    "arguments",
    [{"correlation": "12"}, {"correlation": 1 << 70}, {"correlation": [1]}, {"stream": None, "grid": "x", "device": -5},
     {"registers per thread": "many", "bytes": 1.5e300}, {"grid": {"x": [1]}, "block": [[]], "External id": "a"}],
)  # fmt: skip
def test_arguments_of_other_kinds_lose_nothing_else(tmp_path: Path, arguments: dict[str, Any]) -> None:
    made = training(1)
    made.kernel("odd", 5_000_000, 7, **arguments)
    parts = read_all(ProfileInput(str(write(tmp_path / "trace.json", made)), "trace.json", {}))
    kernels = parts["kernels"].frame
    assert kernels["duration_ns"].tolist()[-1] == 7
    assert len(kernels) == 6


def test_values_beside_the_events_of_other_kinds_are_nothing(tmp_path: Path) -> None:
    odd = '"deviceProperties": [7, null, {"id": "x"}, {"id": 0, "name": 5},'
    path = tmp_path / "trace.json"
    path.write_text(training(1).text().replace('"deviceProperties": [', odd, 1))
    frames = {name: part.frame for name, part in read_all(ProfileInput(str(path), "trace.json", {})).items()}
    assert len(frames["kernels"])


def cut(data: bytes) -> list[bytes]:
    return [data[: len(data) * part // 8] for part in range(1, 8)]


@pytest.mark.parametrize("compressed", [False, True])
def test_what_comes_before_a_cut_is_read(tmp_path: Path, compressed: bool) -> None:
    data = training(3).text().encode()
    whole = len(frames_of(write(tmp_path / "whole.json", training(3)))["kernels"])
    last = 0
    for number, part in enumerate(cut(gzip.compress(data) if compressed else data)):
        path = tmp_path / f"{number}.json"
        path.write_bytes(part)
        parts: dict[str, FramePart] = read_all(ProfileInput(str(path), path.name, {}))
        assert all(part.problems for part in parts.values())
        assert last <= len(parts["kernels"].frame) < whole
        last = len(parts["kernels"].frame)
    assert last


def test_a_trace_of_another_program_gives_empty_frames(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "cat": "mine"}]))
    assert all(frame.empty for frame in frames_of(path).values())


def test_one_pass_gives_all_frames_of_a_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "run" / "trace.json", training())
    passes: list[str] = []
    original = recording.read
    monkeypatch.setattr(recording, "read", lambda path: passes.append(path) or original(path))
    profile: Profile = next(iter(open_run(tmp_path / "run").profile.values()))
    frames = [profile.frame(name) for name in ("kernels", "operators", "steps", "memory", "api", "hardware", "operator_types")]
    assert all(len(frame) for frame in frames)
    assert len(passes) == 1
    assert profile.rank == 0
    assert np.isfinite(profile.frame("operator_types")["device_ns"]).any()


def test_a_second_trace_of_a_file_that_is_gone_says_so(tmp_path: Path) -> None:
    parts = read_all(ProfileInput(str(tmp_path / "gone.json"), "gone.json", {}))
    assert all(part.frame.empty and part.problems for part in parts.values())


def test_many_steps_take_time_that_grows_with_their_number(tmp_path: Path) -> None:
    times = []
    for steps in (400, 1_600):
        path = write(tmp_path / f"{steps}.json", training(steps, changing=False))
        begun = time.process_time()
        frames = frames_of(path)
        times.append(time.process_time() - begun)
        assert len(frames["steps"]) == steps
        assert set(frames["steps"]["computing_ns"][1:]) == {350_000}
    assert times[1] < 8 * times[0]
