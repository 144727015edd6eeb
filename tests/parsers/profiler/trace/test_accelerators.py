"""Traces of GPUs and other devices: what runs on them, against sums by scripts that share no code with Mindscope."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from parsers.profiler.trace import chrome
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.gaps import streams
from parsers.profiler.trace.running import covered
from tests.amounts import long_after

FILES = (
    "ddp_nccl_a100/nccl_data.json.gz", "b200_vllm/eager_trace.json.gz",
    "simple_add/benchmark_result_493459_1694039959_trace.json.gz",
    "old_form/gpu_metrics_input.json", "mtia/mtia_inference_rank_0.json.gz", "event_sync/event_sync_trace.json.gz",
    "ns_resolution_v100/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", "dlrm_rank3_of_8/control.json.gz",
    "gpu_only/gpu_only_trace.json.gz", "graph_launch/graph_execution.json.gz", "small/inference_rank_1.json.gz",
    "h100/Falconsai_nsfw_image_detection__1016002.json.gz", "mi300/Falconsai_nsfw_image_detection__1016002.json.gz",
    "rocm_mi250/mi250_minitoy_train_ROCm6_2_kineto.json.gz", "small/backward_thread.json", "triton/triton_example.json.gz",
    "two_of_128_ranks/sampled_rank-0.json.gz", "two_of_128_ranks/sampled_rank-1.json.gz",
)  # fmt: skip


def on_devices(trace: Trace) -> tuple[int, int]:
    """Return how many slices the devices of a trace run, and the ns in which any of them runs."""
    devices = [number for number, one in enumerate(trace.tracks) if one.kind in ("device_stream", "communication")]
    rows = np.flatnonzero(np.isin(trace.slices.track, devices))
    rows = rows[np.argsort(trace.slices.start[rows], kind="stable")]
    start = trace.slices.start[rows]
    return len(rows), covered(start, start + trace.slices.duration[rows])


@pytest.mark.parametrize("file", long_after(5, FILES))
def test_devices_are_busy_while_kernels_run_and_not_longer(file: str, real_data: Path) -> None:
    wanted = json.loads((real_data / "accelerators/expected_kineto.json").read_text())[f"kineto/{file}"]
    found = on_devices(chrome.read(str(real_data / "accelerators/kineto" / file)))
    assert found == (sum(wanted["streams"].values()), wanted["busy"])


def test_annotations_and_waits_of_streams_are_beside_them(tmp_path: Path) -> None:
    def on(thread: str, category: str, name: str, begin: int, took: int) -> dict[str, object]:
        return {"ph": "X", "pid": 0, "tid": thread, "cat": category, "name": name, "ts": begin, "dur": took}

    events = [
        on("stream 7", "Kernel", "one", 0, 10), on("stream 7", "Kernel", "two", 90, 10),
        on("stream 7", "gpu_user_annotation", "## backward ##", 0, 100), on("stream 7", "cuda_sync", "Stream Sync", 0, 100),
        {"ph": "X", "pid": 9, "tid": 9, "cat": "kernel", "name": "three", "ts": 40, "dur": 10},
    ]  # fmt: skip
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(events))
    trace = chrome.read(str(path))
    assert on_devices(trace) == (3, 30_000)
    beside = sorted(one.thread for one in trace.tracks if one.kind == "scope")
    assert beside == ["Thread stream 7 annotations", "Thread stream 7 waits"]
    assert {trace.tracks[one].thread for one in streams(trace)} == {"Thread stream 7", "Thread 9"}
