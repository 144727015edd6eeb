"""The use of the hardware: three figures from real and made profiles, where they are from, and what cannot be right."""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from layouts.kit.state import BadInput
from layouts.profiles.efficiency import Efficiency, EfficiencyRequest, MeasuredProfiles
from layouts.profiles.efficiency_cards import figures, on_operators, rate
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.profile_choice import ProfileChoice
from parsers import KERNELS, STEPS, open_run
from parsers.profile_frames import FLOPS, HARDWARE
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.jobs import JobFiles
from parsers.profiler.registry import FRAMES
from tests.layouts.profiles.steps.test_steps_page import texts_in
from tests.sources import MemorySource

ARITHMETIC = "cluster_samples/msprof_analyze/kernel_details_arithmetic"


def kernels(**columns: Any) -> pd.DataFrame:
    rows = len(next(iter(columns.values())))
    base = {"type": ["MatMul"] * rows, "core": ["AI_CORE"] * rows, "name": ["m"] * rows, "duration_ns": [1000] * rows}
    return frame_of(KERNELS, rows, base | columns, "kernel_details.csv")


def steps(computing: float, free: float, preparing: float = 0.0) -> pd.DataFrame:
    parts = {"computing_ns": computing, "exposed_ns": 0.0, "overlapped_ns": 0.0, "communication_ns": 0.0, "free_ns": free,
             "preparing_ns": preparing, "total_ns": computing + free}  # fmt: skip
    return frame_of(STEPS, 1, {"step": [1], "kind": ["step"]} | {name: [value] for name, value in parts.items()}, "s.csv")


def hardware(chip: str = "", cores: int = -1) -> pd.DataFrame:
    columns = {"device": [0], "cube_cores": [cores], "cube_hz": [1e9 if cores > 0 else math.nan], "chip": [chip]}
    return frame_of(HARDWARE, 1, columns, "info.json.0")


def use(asked: dict[str, Any] | None = None, **frames: Any) -> Efficiency:
    job = frames.pop("job", None)
    source = MemorySource({"a": {"profiles": {(".", 0): frames}, "job": job}})
    typed = {name: [one] for name, one in (asked or {}).items()}
    ask = EfficiencyRequest.read_any({"run": ["a"], "session": ["."], "rank": ["0"]} | typed)
    assert ask is not None
    return Efficiency(source, ask)


def keys(found: Efficiency) -> list[str]:
    return [one.key for one in found.doubts]


def test_the_real_file_agrees_with_fractions(real_data: Path, tmp_path: Path) -> None:
    place = tmp_path / "ASCEND_PROFILER_OUTPUT"
    place.mkdir()
    path = real_data / ARITHMETIC / "kernel_details_b.csv"
    (place / "kernel_details.csv").write_bytes(path.read_bytes())
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Accelerator Core"] != "HCCL" and row["aic_cube_fops"] != "N/A"]
    done = sum(Fraction(row[name]) for row in rows for name in row if name.endswith("_fops"))
    seconds = sum(Fraction(row["Duration(us)"]) for row in rows) / 10**6
    profile = open_run(tmp_path).profile[".", 0]
    found = use({"peak": "280"}, **{name: profile.frame(name) for name in FRAMES if profile.gives(name)})
    assert found.achieved.per_s == pytest.approx(float(done / seconds), rel=1e-6)
    assert found.share == pytest.approx(float(done / seconds) / 280e12, rel=1e-6)
    assert f"{float(done / seconds) / 1e12:.3g} TFLOPS" in texts_in(figures(found))
    # MatMul alone is above this peak, which cannot be.
    assert keys(found) == ["above"]
    assert "MatMul has" in texts_in(figures(found))
    assert f"{len(rows)} of " in texts_in(figures(found))
    assert "step_trace_time.csv" in texts_in(figures(found))


def test_a_legacy_profile_has_the_figures_that_mindspore_wrote(real_data: Path) -> None:
    profile = open_run(real_data / "mindinsight_legacy/profiler").profile[".", 0]
    found = use({}, **{name: profile.frame(name) for name in FRAMES if profile.gives(name)})
    assert (found.achieved.source, found.achieved.per_s) == ("summary", 9868.936e9)
    assert found.share == pytest.approx(0.03765, abs=5e-6)  # FLOPS_Utilization of the file
    assert "flops_summary_0.json" in texts_in(figures(found))
    assert "info.json: 32 x 1,000 MHz x 8,192" in texts_in(figures(found))


def test_mfu_is_of_what_the_user_states() -> None:
    asked = {"peak": "100", "model_flops": "800", "devices": "4"}
    found = use(asked, steps=steps(3e9, 1e9, preparing=5e9))
    assert found.mfu == 800e12 / (4.0 * 100e12 * 4)  # 4 s from the first task to the end
    assert "50.0 %" in texts_in(figures(found)).splitlines()
    found = use(asked | {"model_flops": "", "parameters": "2", "tokens": "1e5"}, steps=steps(3e9, 1e9))
    assert found.model_flops == (6 * 2e9 * 1e5, "transformer")
    assert found.mfu == 6 * 2e9 * 1e5 / (4.0 * 100e12 * 4)
    assert "6 × parameters × tokens" in texts_in(figures(found))
    assert [found.table("figures").loc[row, "value"] for row in (2, 5)] == [found.mfu, 4e9]  # type: ignore[union-attr]


@pytest.mark.parametrize(("asked", "frames", "wanted"), [
    ({}, {}, ["FLOPs of the model in a step, the peak of the device and the time of a step (step_trace_time.csv)"]),
    ({"peak": "5"}, {"steps": steps(1, 1)}, ["Needs the FLOPs of the model in a step."]),
    ({"model_flops": "5"}, {"steps": steps(1, 1)}, ["Needs the peak of the device."]),
    ({"peak": "5", "model_flops": "5"}, {}, ["Needs the time of a step (step_trace_time.csv)."]),
    ({"peak": "5"}, {}, ["there is none", "Needs the operations per second"]),
    ({"peak": "5"}, {"kernels": kernels(duration_ns=[1])}, ["no columns aic_cube_fops or aiv_vector_fops"]),
    ({"peak": "5"}, {"kernels": kernels(**{"pmu/aic_cube_fops": [0.0]})}, ["0 or empty for all kernels", "0 for all 1"]),
])  # fmt: skip
def test_what_is_missing_is_named(asked: dict[str, str], frames: dict[str, pd.DataFrame], wanted: list[str]) -> None:
    found = use(asked, **frames)
    text = texts_in(figures(found))
    for one in wanted:
        assert one in text


@pytest.mark.parametrize(("chip", "wanted", "buttons"), [
    ("Ascend910B", "Which one is Ascend910B?", 0), ("NVIDIA H100 80GB HBM3", "Which one is", 2), ("Xyz", "The peak of Xyz", 0),
    ("", "no file names the device", 4), ("NVIDIA A100-SXM4-80GB", "NVIDIA's data sheet of the A100", 0),
])  # fmt: skip
def test_the_peak_is_of_the_table_or_asked_for(chip: str, wanted: str, buttons: int) -> None:
    text = texts_in(figures(use({}, hardware=hardware(chip))))
    assert wanted in text
    assert text.count(" · ") == buttons


def test_a_typed_peak_does_not_replace_that_of_the_file() -> None:
    found = use({"peak": "1"}, hardware=hardware("Ascend910B", 32))
    assert found.peak.matrix_per_s == 32 * 1e9 * 8192
    assert keys(found) == ["unused"]
    assert "1.00 TFLOPS is not used" in texts_in(figures(found))
    assert use({"peak": "1"}, hardware=hardware("Ascend910B")).peak.matrix_per_s == 1e12


def test_what_cannot_be_right_is_said() -> None:
    counters = {"pmu/aic_cube_fops": [5e6], "pmu/aic_mac_ratio": [1.5]}
    found = use({"peak": "4", "model_flops": "90", "tokens": "-3"}, kernels=kernels(**counters), steps=steps(1e9, 1e9))
    assert (found.mfu, keys(found)) == (90 / 8, ["typed", "impossible", "above", "mfu"])
    text = texts_in(figures(found))
    for wanted in ("found -3; it is not used", "aic_mac_ratio is below 0 or above 100 % (kernels: 1)", "125 % of the peak",
                   "An MFU of 1,125 % cannot be"):  # fmt: skip
        assert wanted in text
    assert "also needs the parameters" in texts_in(figures(use({"tokens": "5"})))
    summary = frame_of(FLOPS, 1, {"unit": ["cube"], "flops": [1.0], "flops_per_s": [9e12], "flops_use": [0.1]}, "f")
    assert keys(use({"peak": "4"}, flops=summary)) == ["above_all"]


@pytest.mark.parametrize("typed", ["0", "-1", "nan", "inf", "1e400", "many", "1e31", "0x10"])
def test_what_is_no_setting_is_not_used(typed: str) -> None:
    found = use(dict.fromkeys(("peak", "model_flops", "parameters", "tokens", "devices", "bandwidth"), typed))
    assert found.ask.settings == ()
    assert len(found.ask.wrong) == 6
    assert math.isnan(found.mfu)
    assert keys(found) == ["typed"] * 6
    assert texts_in(figures(found)).count("it is not used") == 6


def test_devices_are_typed_or_told_or_counted() -> None:
    assert use({"devices": "7"}).devices == (7, "typed")
    assert use({"devices": "7.5"}).devices == (1, "found")
    assert use({}, job=JobFiles(".", (), size=64)).devices == (64, "told")
    profiles: dict[Any, Any] = {("r", rank): {} for rank in range(3)}
    source = MemorySource({"a": {"profiles": profiles}})
    ask = EfficiencyRequest.read_any({"run": ["a"], "session": ["r"], "rank": ["1"]})
    assert ask is not None
    assert Efficiency(source, ask).devices == (3, "found")


def test_requests_are_validated() -> None:
    assert EfficiencyRequest.read_any({}) is None
    malformed: tuple[dict[str, Any], ...] = ({"rank": ["x"]}, {"theme": ["blue"]}, {"peak": [3]}, {"with_run": 1})
    for wrong in ([], {"run": "a"}, *({"run": ["a"]} | one for one in malformed)):
        with pytest.raises(BadInput):
            EfficiencyRequest.read_any(wrong)
    assert isinstance(EfficiencyRequest.read_any({"run": ["a"], "peak": [""]}), EfficiencyRequest)


def test_it_waits_for_frames_that_are_being_read() -> None:
    assert use({}, kernels=ProfileFrame("reading")).waits()
    assert use({}, steps=ProfileFrame("waiting")).waits()
    assert not use({}, kernels=ProfileFrame("failed")).waits()
    assert not use({}).waits()


def test_kernels_are_measured_once_for_each_mark() -> None:
    kept = MeasuredProfiles()
    frame = kernels(duration_ns=[5])
    choices = [ProfileChoice("a", ".", 0, mark) for mark in ("m", "m", "n", "", "")]
    one, again, other, plain, plain_again = (kept.measured(choice, frame) for choice in choices)
    assert one is again
    assert other is not one
    assert plain is not plain_again


def test_links_have_the_settings() -> None:
    link = on_operators(use({"peak": "256.5", "tokens": "4e6"})).children
    assert link.href.startswith("operators?run=a&of=a&session=.&rank=0&")
    assert "peak=256.5&tokens=4000000" in link.href


def test_rates() -> None:
    assert [rate(9.5669e13), rate(np.nan)] == ["95.7 TFLOPS", "–"]
