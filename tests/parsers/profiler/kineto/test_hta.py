"""Figures of launches and steps against Holistic Trace Analysis, as `make test-hta` stored them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from parsers.analysis.profiles.busy import covered
from parsers.analysis.profiles.launches import CAUSES, launch_figures
from parsers.profiler.frame_parts import ProfileInput
from parsers.profiler.kineto.frame_readers import read_all

STORED = Path(__file__).parents[3] / "data" / "hta" / "figures.json"
FIGURES: dict[str, Any] = json.loads(Path(os.environ.get("MINDSCOPE_HTA_FIGURES", STORED)).read_text("utf-8"))
SAMPLES = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere")) / "accelerators" / "kineto"
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="needs the shared samples")
NAMES = dict(zip(CAUSES, ("host_wait", "kernel_wait", "other"), strict=True))


@pytest.fixture(scope="module", params=FIGURES)
def compared(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, dict[str, Any], int]:
    """Kernels of a trace, what HTA says of it, and the ns by which HTA may round each of them."""
    name = str(request.param)
    kernels = read_all(ProfileInput(str(SAMPLES / name), name, {}))["kernels"].frame
    rounds = 0 if (kernels["start_ns"] % 1000 == 0).all() else 1000
    return kernels, FIGURES[name], rounds


def spans(kernels: pd.DataFrame, *cores: str) -> int:
    chosen = kernels[kernels["core"].isin(cores)] if cores else kernels
    start = chosen["start_ns"].to_numpy()
    return covered(start, start + chosen["duration_ns"].to_numpy())


def test_idle_time_and_overlap(compared: tuple[pd.DataFrame, dict[str, Any], int]) -> None:
    kernels, wanted, rounds = compared
    slack = 2 * rounds * len(kernels)
    whole = int((kernels["start_ns"] + kernels["duration_ns"]).max() - kernels["start_ns"].min())
    assert whole == pytest.approx(wanted["whole_ns"], abs=2 * rounds)
    assert whole - spans(kernels) == pytest.approx(wanted["idle_ns"], abs=slack)
    computing, communication = spans(kernels, "GPU_KERNEL"), spans(kernels, "COMMUNICATION")
    assert computing == pytest.approx(wanted["computing_ns"], abs=slack)
    both = computing + communication - spans(kernels, "GPU_KERNEL", "COMMUNICATION")
    assert both / communication == pytest.approx(wanted["overlap_share"], abs=5e-5 if not rounds else 0.005)


def test_gaps_of_streams_by_cause(compared: tuple[pd.DataFrame, dict[str, Any], int]) -> None:
    kernels, wanted, rounds = compared
    found = launch_figures(kernels)
    assert found is not None
    for stream in found.streams:
        for cause, gap in zip(CAUSES, stream.gap_ns, strict=True):
            told = wanted["gaps_ns"].get(f"{stream.stream} {NAMES[cause]}", 0.0)
            assert gap == pytest.approx(told, abs=rounds * stream.kernels), (stream.stream, cause)


def test_delays_of_launches(compared: tuple[pd.DataFrame, dict[str, Any], int]) -> None:
    kernels, wanted, rounds = compared
    found = launch_figures(kernels)
    assert found is not None
    assert len(found.delay_ns) == wanted["launches"]
    assert float(np.mean(found.delay_ns)) == pytest.approx(wanted["delay_mean_ns"], abs=max(2 * rounds, 1e-3))
    assert found.median_ns == pytest.approx(wanted["delay_median_ns"], abs=2 * rounds)


def test_lengths_of_queues(compared: tuple[pd.DataFrame, dict[str, Any], int]) -> None:
    kernels, wanted, rounds = compared
    found = launch_figures(kernels)
    assert found is not None
    for stream in found.streams:
        told = wanted["queues"][str(stream.stream)]
        assert stream.longest_queue == told["longest"]
        # Times that are equal sort either way.
        assert float(stream.queue_length.mean()) == pytest.approx(told["mean"], rel=0.005 if rounds else 0.003)


def test_kinds_of_kernels(compared: tuple[pd.DataFrame, dict[str, Any], int]) -> None:
    kernels, wanted, rounds = compared
    for kind, core in (("COMPUTATION", "GPU_KERNEL"), ("COMMUNICATION", "COMMUNICATION"), ("MEMORY", "COPY")):
        told = sum(time for name, time in wanted["kernels_ns"].items() if kind in name.split(" overlapping "))
        own = spans(kernels, core)
        assert own == pytest.approx(told, abs=2 * rounds * len(kernels)), kind
