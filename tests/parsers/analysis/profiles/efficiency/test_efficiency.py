"""Use of the hardware: made kernels with known answers, and real counters against a computation from the text of the file."""

from __future__ import annotations

import csv
import shutil
import statistics
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.profiles.efficiency import (
    EFFICIENCY,
    OUTLIERS,
    ROOFLINE,
    DeviceUse,
    counters_of,
    device_peak,
    efficiency,
    model_flops_share,
    roofline,
    slow_kernels,
    transformer_flops,
)
from parsers.analysis.profiles.efficiency.groups import grouping, medians
from parsers.profile_frames import HARDWARE, KERNELS

TEXTS = [column.name for column in KERNELS.columns if column.dtype == "category"]


def kernels(*rows: dict[str, Any]) -> pd.DataFrame:
    """A frame `kernels` of these rows; what they leave out is missing."""
    base = {column.name: "" if column.dtype == "category" else -1 for column in KERNELS.columns} | {"core": "AI_CORE"}
    frame = pd.DataFrame([base | row for row in rows])
    for name in TEXTS:
        frame[name] = frame[name].astype("category")
    return frame.astype({"duration_ns": "int64", "start_ns": "int64"})


def hardware(*devices: tuple[int, int, int, float, float]) -> pd.DataFrame:
    names = [column.name for column in HARDWARE.columns if column.name not in ("chip", "memory_bytes", "file")]
    return pd.DataFrame(devices, columns=names).assign(chip="", memory_bytes=-1, file="info.json.0")


def real_kernels(real_data: Path, folder: Path, which: str) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """The frame of a real file with counters, and its rows as the csv module reads them."""
    path = real_data / "cluster_samples/msprof_analyze/kernel_details_arithmetic" / f"kernel_details_{which}.csv"
    place = folder / which / "ASCEND_PROFILER_OUTPUT"
    place.mkdir(parents=True)
    shutil.copy(path, place / "kernel_details.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return next(iter(open_run(folder / which).profile.values())).kernels, rows


def test_operations_per_second_agree_with_the_text_of_a_real_file(real_data: Path, tmp_path: Path) -> None:
    frame, rows = real_kernels(real_data, tmp_path, "b")
    found = efficiency(frame, by_shape=False, peak_per_s=262.144e12)
    EFFICIENCY.check(found)
    done: dict[tuple[str, str], float] = defaultdict(float)
    took: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows:
        key = row["Type"], row["Accelerator Core"]
        counts = [row[name] for name in row if name.endswith("_fops") and row[name] != "N/A"]
        if counts and key[1] not in ("COMMUNICATION", "HCCL"):
            done[key] += sum(map(float, counts))
            took[key] += float(row["Duration(us)"]) * 1e-6
    assert len(done) == found["per_s"].notna().sum() > 0
    found = found[found["per_s"].notna()]
    for one in found.itertuples():
        key = str(one.type), str(one.core)
        assert one.operations == done[key]
        assert one.per_s == pytest.approx(done[key] / took[key], rel=1e-4)  # durations are whole ns in the frame
        assert one.share == one.per_s / 262.144e12
    assert found["total_ns"].is_monotonic_decreasing


def test_shares_of_a_real_file_are_means_by_time(real_data: Path, tmp_path: Path) -> None:
    frame, rows = real_kernels(real_data, tmp_path, "a")
    assert counters_of(frame).operations == ()
    found = efficiency(frame, by_shape=False)
    assert found["per_s"].isna().all()
    for one in found.itertuples():
        alike = [row for row in rows if (row["Type"], row["Accelerator Core"]) == (str(one.type), str(one.core))]
        weights = [float(row["Duration(us)"]) for row in alike]
        shares = {
            name: np.average([float(row[name]) for row in alike], weights=weights)
            for name in ("aic_mac_ratio", "aiv_vec_ratio")
        }
        assert one.compute == pytest.approx(max(shares.values()), rel=1e-4)
    matmul = found[found["type"] == "MatMulV2"].iloc[0]
    assert (matmul["bound"], matmul["by"]) == ("memory", "aic_mte2_ratio")


def test_what_bounds_a_kernel() -> None:
    def one(kind: str, mac: float, mte2: float) -> dict[str, Any]:
        return {"type": kind, "duration_ns": 1000, "pmu/aic_mac_ratio": mac, "pmu/aic_mte2_ratio": mte2}

    found = efficiency(kernels(
        one("a", 0.9, 0.3), one("b", 0.3, 0.9), one("c", 0.5, 0.79), one("d", np.nan, np.nan), one("e", 0.0, 0.0),
        one("f", 1.2, 0.95),
    )).set_index("type")  # fmt: skip
    assert found["bound"].astype(str).to_dict() == {
        "a": "compute", "b": "memory", "c": "neither", "d": "", "e": "neither", "f": "memory",
    }  # fmt: skip
    assert np.isnan(found.loc["f", "compute"]), "a share above 1 is no share"


def test_only_counted_kernels_of_the_device_are_in_the_rate() -> None:
    name = "pmu/aic_cube_fops"
    found = efficiency(kernels(
        {"type": "M", "duration_ns": 1000, name: 3e6}, {"type": "M", "duration_ns": 1000, name: np.nan},
        {"type": "C", "core": "COMMUNICATION", "duration_ns": 10**9, name: 1.0},
        {"type": "H", "core": "HOST_CPU", "duration_ns": 10**9, name: np.nan},
        {"type": "Z", "duration_ns": 0, name: 5.0}, {"type": "N", "duration_ns": 7, name: np.nan},
    )).set_index("type")  # fmt: skip
    assert list(found.index) == ["M", "N", "Z"]
    assert found.loc["M", ["count", "total_ns", "counted_ns", "operations", "per_s"]].tolist() == [2, 2000, 1000, 3e6, 3e12]
    assert np.isnan(found.loc["Z", "per_s"]), "nothing per no time"
    assert np.isnan(found.loc["N", "operations"])


def test_nothing_gives_nothing() -> None:
    empty = kernels({"type": "x"}).iloc[:0]
    made = ((efficiency(empty), EFFICIENCY), (slow_kernels(empty), OUTLIERS), (roofline(empty, empty).frame, ROOFLINE))
    for frame, schema in made:
        assert frame.empty
        assert list(frame.columns) == list(schema.names)


@pytest.mark.parametrize("seed", range(5))
def test_slow_kernels_agree_with_statistics(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = []
    for kind in range(4):
        count = [3, 5, 40, 41][kind]
        duration = draw.normal(10_000, 500, count).astype(int)
        duration[draw.random(count) < 0.1] *= 3
        rows += [{"type": f"t{kind}", "input_shapes": "2,3", "duration_ns": int(one)} for one in duration]
    frame = kernels(*rows)
    wanted = set()
    for kind in range(4):
        alike = [(number, row["duration_ns"]) for number, row in enumerate(rows) if row["type"] == f"t{kind}"]
        if len(alike) < 5:
            continue
        median = statistics.median(one for _, one in alike)
        scale = max(1.4826 * statistics.median(abs(one - median) for _, one in alike), 0.01 * median)
        wanted |= {number for number, one in alike if (one - median) / scale >= 3.5 and one >= 1.5 * median}
    found = slow_kernels(frame)
    OUTLIERS.check(found)
    assert set(found["row"]) == wanted
    assert (found["duration_ns"] - found["median_ns"]).is_monotonic_decreasing


def test_roofline_joins_what_two_sessions_have_in_common() -> None:
    fops, read, write = "pmu/aic_cube_fops", "pmu/aic_read_main_memory_datas(KB)", "pmu/aic_write_main_memory_datas(KB)"
    one = {"name": "MatMul", "type": "M", "input_shapes": "2,3"}
    operations = kernels(
        one | {"duration_ns": 1000, fops: 4e6}, one | {"duration_ns": 3000, fops: 6e6},
        {"name": "Other", "type": "O", "duration_ns": 5, fops: 1.0},
    )  # fmt: skip
    traffic = kernels(
        one | {"duration_ns": 9, read: 3.0, write: 1.0}, one | {"duration_ns": 9, read: 5.0, write: 1.0},
        one | {"input_shapes": "9,9", "duration_ns": 9, read: 1.0, write: 1.0},
    )  # fmt: skip
    found = roofline(operations, traffic)
    ROOFLINE.check(found.frame)
    assert (found.only_operations, found.only_traffic) == (1, 1)
    row = found.frame.iloc[0]
    assert (row["count"], row["total_ns"], row["operations"], row["bytes"]) == (2, 4000, 5e6, 5000.0)
    assert row["per_byte"] == 1000.0
    assert row["per_s"] == pytest.approx(10e6 / 4e-6)
    assert roofline(traffic, operations).frame.empty, "the other way round neither has the counters"


def test_the_peak_of_the_sample_is_that_of_the_formula(real_data: Path) -> None:
    profile = open_run(real_data / "mindinsight_legacy" / "profiler").profile[".", 0]
    peak = device_peak(profile.hardware, ["Ascend910B"], 1.0)
    assert (peak.matrix_per_s, peak.source) == (262.144e12, "file")
    assert np.isnan(peak.vector_per_s), "no vector cores of their own are stated"


def test_where_the_peak_is_from() -> None:
    none = hardware()
    assert device_peak(hardware((0, 24, 48, 1.65e9, 1.65e9))).vector_per_s == 48 * 1.65e9 * 128
    assert device_peak(none, ["NVIDIA A100-SXM4-80GB"]).matrix_per_s == 312e12
    assert device_peak(none, ["NVIDIA A100-SXM4-80GB"], 5e12).source == "setting"
    assert device_peak(none, ["NVIDIA H100 SXM5"]).matrix_per_s == 989.4e12
    for ambiguous in ("Ascend910B", "NVIDIA H100 80GB HBM3"):
        peak = device_peak(none, [ambiguous])
        assert not peak.known
        assert ambiguous in peak.detail
        assert "differ" in peak.detail
    assert device_peak(none, ["Ascend910"]).matrix_per_s == 256e12
    for chips in (["Ascend910", "A100"], ["Nobody's 1"], []):
        assert not device_peak(none, chips).known
    differ = device_peak(hardware((0, 24, 48, 1.65e9, 1.65e9), (1, 20, 40, 1.65e9, 1.65e9)))
    assert not differ.known
    assert "differ" in differ.detail
    assert not device_peak(hardware((0, -1, -1, np.nan, np.nan)), [], -3.0).known


def test_share_of_what_the_devices_could_do() -> None:
    assert transformer_flops(7e9, 4e6) == 6 * 7e9 * 4e6
    assert model_flops_share(1e15, 1e9, 250e12, 8) == 0.5
    assert model_flops_share(4e15, 1e9, 250e12, 8) == 2.0, "what cannot be is shown as it is"
    for unknown in ((np.nan, 1e9, 1e12, 1), (1e12, 0.0, 1e12, 1), (1e12, 1e9, np.nan, 1), (1e12, 1e9, 1e12, 0)):
        assert np.isnan(model_flops_share(*unknown))


def fraction(text: str) -> Fraction | None:
    """A number as the file has it; None for N/A and nothing."""
    return None if text.strip() in ("", "N/A") else Fraction(text.strip())


@pytest.mark.parametrize("which", ["a", "b"])
@pytest.mark.parametrize("by_shape", [False, True])
def test_counters_of_real_files_agree_with_exact_fractions(real_data: Path, tmp_path: Path, which: str, by_shape: bool) -> None:
    frame, rows = real_kernels(real_data, tmp_path, which)
    found = efficiency(frame, by_shape=by_shape)
    EFFICIENCY.check(found)
    keys = ["Type", "Accelerator Core", *(["Input Shapes"] if by_shape else [])]
    alike: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        if row["Accelerator Core"] not in ("HCCL", "COMMUNICATION", "HOST_CPU"):
            alike[tuple(row[key].strip('"').replace("N/A", "") for key in keys)].append(row)
    assert len(found) == len(alike)
    checked = 0
    for record in found.to_dict("records"):
        one: dict[str, Any] = {str(name): value for name, value in record.items()}
        mine = alike[tuple(str(one[name]).strip('"') for name in ("type", "core", "input_shapes")[: len(keys)])]
        assert one["count"] == len(mine)
        for name in (key for key in one if key.startswith("pmu/")):
            pairs = [(fraction(row[name[4:]]), Fraction(row["Duration(us)"])) for row in mine]
            known = [(value, time) for value, time in pairs if value is not None]
            whole = sum(time for _, time in known)
            if name.endswith("_fops"):
                assert one[name] == (float(sum(value for value, _ in known)) if known else pytest.approx(np.nan, nan_ok=True))
            elif whole:
                mean = float(sum(value * time for value, time in known) / whole)
                assert one[name] == pytest.approx(mean, rel=1e-3, abs=1e-9)  # durations are whole ns in the frame
            checked += 1
    assert checked > 30


def test_operations_of_the_whole_real_file(real_data: Path, tmp_path: Path) -> None:
    frame, rows = real_kernels(real_data, tmp_path, "b")
    use = DeviceUse(frame)
    counted = [row for row in rows if row["aic_cube_fops"] not in ("N/A", "")]
    names = [name for name in rows[0] if name.endswith("_fops")]
    done = sum(Fraction(row[name]) for row in counted for name in names)
    took = sum(Fraction(row["Duration(us)"]) * 1000 for row in counted)
    assert use.achieved[0] == float(done)
    assert use.achieved[1] == pytest.approx(float(took), abs=len(counted))
    assert use.counted == len(counted)
    assert (use.counters.memory, use.wrong) == ((), {})


def test_shares_that_cannot_be_are_counted_and_left_out() -> None:
    use = DeviceUse(kernels(
        {"type": "M", "duration_ns": 10, "pmu/aic_mac_ratio": 1.2, "pmu/cube_utilization(%)": 50.0},
        {"type": "M", "duration_ns": 30, "pmu/aic_mac_ratio": 0.5, "pmu/cube_utilization(%)": 101.0},
        {"type": "M", "duration_ns": 30, "pmu/aic_mac_ratio": np.nan, "pmu/cube_utilization(%)": -1.0},
    ))  # fmt: skip
    assert use.wrong == {"aic_mac_ratio": 1, "cube_utilization(%)": 2}
    assert use.table().iloc[0][["pmu/aic_mac_ratio", "pmu/cube_utilization(%)"]].to_list() == [0.5, 50.0]
    assert (use.achieved, use.counted) == ((0.0, 0.0), 0)


@pytest.mark.parametrize("largest", [50, 2**62 - 1])
def test_medians_of_groups(largest: int) -> None:
    draw = np.random.default_rng(1)
    of = draw.integers(0, 9, 200)
    values = draw.integers(0, largest, 200)
    frame = pd.DataFrame({"a": pd.Categorical(of % 3), "b": pd.Categorical(of // 3)})
    made = grouping(frame, ("a", "b"))
    assert [int(of[row]) for row in made.first] == list(dict.fromkeys(of.tolist()))
    wanted = [statistics.median(values[of == of[row]].tolist()) for row in made.first]
    assert medians(values, made).tolist() == pytest.approx(wanted, rel=1e-15)


def test_roofline_without_bytes_has_no_intensity() -> None:
    one = {"name": "MatMul", "type": "M", "duration_ns": 1000}
    traffic = kernels(one | {"pmu/aic_read_main_memory_datas(KB)": 0.0})
    found = roofline(kernels(one | {"pmu/aic_cube_fops": 4e6}), traffic).frame.iloc[0]
    assert np.isnan(found["per_byte"])
    assert found["per_s"] == 4e12


@pytest.mark.parametrize(("chips", "reason", "candidates"), [
    (("Ascend910B",), "ambiguous", ()), (("NVIDIA H100 80GB HBM3",), "ambiguous", ("H100 SXM", "H100 PCIe")),
    (("Ascend910", "A100"), "several", ()), ((), "unnamed", ()), (("Nobody's 1",), "unlisted", ()), (("A100",), "", ()),
])  # fmt: skip
def test_why_a_peak_is_not_known(chips: tuple[str, ...], reason: str, candidates: tuple[str, ...]) -> None:
    frame = pd.DataFrame({"cube_cores": -1, "vector_cores": -1, "cube_hz": np.nan, "vector_hz": np.nan, "chip": list(chips)})
    peak = device_peak(frame)
    assert (peak.reason, peak.chips, tuple(one.name for one in peak.candidates)) == (reason, chips, candidates)
    assert peak.known == (reason == "")
    typed = device_peak(frame, (), 5e12)
    assert (typed.matrix_per_s, typed.source, typed.reason) == (5e12, "setting", reason)


def test_roofline_agrees_with_a_join_of_texts() -> None:
    draw = np.random.default_rng(5)

    def session(counter: str) -> tuple[pd.DataFrame, dict[tuple[str, str], list[tuple[float, int]]]]:
        rows, wanted = [], defaultdict(list)
        for _ in range(300):
            name, shapes = f"n{draw.integers(12)}", f"{draw.integers(9)},2"
            value, time = float(draw.integers(99)), int(draw.integers(9))
            rows.append({"name": name, "type": "t", "input_shapes": shapes, "duration_ns": time, counter: value})
            wanted[name, shapes].append((value, time))
        return kernels(*rows), wanted

    (ours, done), (theirs, moved) = session("pmu/cube_fops"), session("pmu/aic_write_main_memory_datas(KB)")
    theirs = theirs[theirs["name"] != "n3"].reset_index(drop=True)
    ours = ours.assign(name=ours["name"].cat.reorder_categories(sorted(ours["name"].cat.categories, reverse=True)))
    found = roofline(ours, theirs)
    common = [key for key in done if key in moved and key[0] != "n3"]
    assert {(row["name"], row["input_shapes"]) for row in found.frame.to_dict("records")} == set(common)
    assert found.only_operations == len(done) - len(common)
    assert found.only_traffic == len([key for key in moved if key[0] != "n3"]) - len(common)
    for row in found.frame.to_dict("records"):
        mine, other = done[row["name"], row["input_shapes"]], moved[row["name"], row["input_shapes"]]
        operations = statistics.mean(value for value, _ in mine)
        size = 1000 * statistics.mean(value for value, _ in other)
        assert (row["count"], row["total_ns"]) == (len(mine), sum(time for _, time in mine))
        assert (row["operations"], row["bytes"]) == (pytest.approx(operations), pytest.approx(size))
        assert row["per_byte"] == pytest.approx(operations / size if size else np.nan, nan_ok=True)
    assert found.frame["total_ns"].is_monotonic_decreasing
