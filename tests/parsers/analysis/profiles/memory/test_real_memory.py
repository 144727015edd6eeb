"""Analyses of device memory on real files, against values that were computed from the raw files without this program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.profiles.memory import (
    blocks_of,
    components,
    counted,
    curve,
    difference,
    explain,
    in_use_at,
    large_components,
    levels_at,
    peak,
    peaks,
    plan,
    pool_at,
)
from parsers.profiler.access import Profile

MIB = 2**20
RANK_0 = "profiler_new/torch_npu_st_4ranks_pp2/rank_0_ascend_pt"
RANK_2 = "cluster_samples/msinsight/torch_npu_st_4ranks_pp2/rank_2_ascend_pt"
LEVEL_0 = "profiler_new/torch_npu_text_level0/rank0_ascend_pt"
RECORDED = (
    RANK_0, RANK_2, LEVEL_0, "cluster_samples/msinsight/torch_npu_text_level0/rank1_ascend_pt",
    "profiler_new/torch_npu_text_level2/rank0_ascend_pt", "profiler_new/torch_npu_text_level2/rank1_ascend_pt",
    "profiler_new/torch_npu_db_level2/rank0_ascend_pt", "profiler_new/torch_npu_db_level2/rank1_ascend_pt",
)  # fmt: skip


def profile_of(path: Path) -> Profile:
    (profile,) = open_run(path).profile.values()
    return profile


def raw(path: Path, name: str) -> pd.DataFrame:
    frame = pd.read_csv(path / f"ASCEND_PROFILER_OUTPUT/{name}.csv", dtype=str)
    return frame.apply(lambda column: column.str.strip())


def test_the_peak(real_data: Path) -> None:
    profile = profile_of(real_data / RANK_0)
    found = peak(profile.memory, "PTA+GE")
    assert found is not None
    rows = raw(real_data / RANK_0, "memory_record")
    rows = rows[rows["Component"] == "PTA+GE"]
    assert found.allocated / MIB == rows["Total Allocated(MB)"].astype(float).max() == pytest.approx(10_282.749, abs=1e-3)
    assert (found.reserved / MIB, round(found.unused / MIB, 1)) == (10_372.0, 89.3)
    assert components(profile.memory)[0] == "PTA+GE"


@pytest.mark.parametrize(("folder", "first", "last"), [(RANK_0, 4_304.957, 4_304.957), (LEVEL_0, 935.995, 701.420)])
def test_memory_allocated_before_the_recording(folder: str, first: float, last: float, real_data: Path) -> None:
    profile = profile_of(real_data / folder)
    series = curve(profile.memory, "PTA")
    blocks = counted(profile.memory, profile.operator_memory, "PTA")
    begin, end = (explain(profile.operator_memory, blocks, series, int(series.time[place])) for place in (0, -1))
    assert (begin.before / MIB, end.before / MIB) == (pytest.approx(first, abs=1e-3), pytest.approx(last, abs=1e-3))


@pytest.mark.parametrize("folder", RECORDED)
def test_blocks_sum_to_the_curve(folder: str, real_data: Path) -> None:
    """Memory from before the recording is only ever released: it does not grow by more than the files round to (512 bytes)."""
    profile = profile_of(real_data / folder)
    for component in ("PTA", "GE"):
        for measure in ("allocated", "active"):
            series = curve(profile.memory, component, measure)
            blocks = counted(profile.memory, profile.operator_memory, component, measure)
            if not len(series.time):
                assert component == "GE"
                continue
            last = np.append(series.time[1:] != series.time[:-1], True)
            before = (series.value - levels_at(blocks, series.time))[last]
            assert before.min() >= 0
            assert np.diff(before).max(initial=0) <= 512, (component, measure)
            assert component == "PTA" or set(before) == {65_536}


def test_what_was_alive_is_what_the_file_has_at_that_moment(real_data: Path) -> None:
    profile = profile_of(real_data / RANK_0)
    rows = raw(real_data / RANK_0, "operator_memory")
    start, end, active = (
        np.array([int(cell.replace(".", "")) if isinstance(cell, str) else 2**62 for cell in rows[f"{name} Time(us)"]])
        for name in ("Allocation", "Release", "Active Release")
    )
    size = rows["Size(KB)"].astype(float) * 1024
    series = curve(profile.memory, "PTA")
    blocks = counted(profile.memory, profile.operator_memory, "PTA")
    for time in series.time[:: len(series.time) // 7].tolist():
        found = explain(profile.operator_memory, blocks, series, time)
        alive = (start <= time) & (time < np.minimum(end, active))
        expected = size[alive].groupby(rows["Name"][alive]).sum()
        assert dict(zip(found.groups["group"], found.groups["size_bytes"], strict=True)) == expected.to_dict()
        assert found.groups["size_bytes"].is_monotonic_decreasing
        assert found.before + int(found.groups["size_bytes"].sum()) == found.total


def test_a_sum_of_components_is_explained_by_all_of_them(real_data: Path) -> None:
    profile = profile_of(real_data / LEVEL_0)
    series = curve(profile.memory, "PTA+GE")
    blocks = counted(profile.memory, profile.operator_memory, "PTA+GE")
    found = explain(profile.operator_memory, blocks, series, int(series.time[np.argmax(series.value)]), by="component")
    assert set(found.groups["group"]) <= {"PTA", "GE"}
    assert len(blocks) == 184
    assert found.before / MIB == pytest.approx(701.42 + 0.0625, abs=1e-2)


def test_components_of_more_than_100_mb(real_data: Path) -> None:
    found = large_components(profile_of(real_data / RANK_0).module_memory)
    assert set(found["component"]) == {"APP", "HCCL", "SLOG"}
    assert found["peak_bytes"].is_monotonic_decreasing
    assert found["peak_bytes"].iloc[0] / MIB == 10_372.0


def test_the_static_plan(real_data: Path) -> None:
    frame = profile_of(real_data / "profiler_new/msinsight_server/test_rank_1").static_memory
    for graph, total, most in ((0, 17_210.5, 6_152.7), (1, 19_910.5, 8_496.5)):
        found = plan(frame, graph)
        assert (found.total / 1024, round(found.sum / 1024, 1), round(found.peak / 1024, 1)) == (total, 19_784.7, most)
        assert int(in_use_at(frame, graph, found.peak_node)["size_bytes"].sum()) == found.peak


def test_two_ranks(real_data: Path) -> None:
    first, second = (profile_of(real_data / folder) for folder in (RANK_0, RANK_2))
    found = peaks(first.memory, second.memory).set_index("component")
    assert found.loc["PTA", "first_allocated_bytes"] / MIB == pytest.approx(10_282.749, abs=1e-3)
    assert found.loc["PTA", "second_allocated_bytes"] / MIB == pytest.approx(10_818.063, abs=1e-3)
    explained = []
    for profile in (first, second):
        top = peak(profile.memory, "PTA")
        assert top is not None
        blocks = counted(profile.memory, profile.operator_memory, "PTA")
        explained.append(explain(profile.operator_memory, blocks, curve(profile.memory, "PTA"), top.time))
    table = difference(explained[0].groups, explained[1].groups)
    assert table["difference_bytes"].sum() == sum(explained[1].groups["size_bytes"]) - sum(explained[0].groups["size_bytes"])
    assert table["difference_bytes"].abs().is_monotonic_decreasing
    assert set(table["group"]) == set(explained[0].groups["group"]) | set(explained[1].groups["group"])


def test_the_pool_is_known_only_with_addresses(real_data: Path) -> None:
    frame = profile_of(real_data / RANK_0).operator_memory
    assert pool_at(frame, blocks_of(frame), int(frame["allocated_ns"].max())) is None
    frame = profile_of(real_data / "profiler_new/msinsight_server/full_db").operator_memory
    blocks = blocks_of(frame)
    for time in frame["allocated_ns"].iloc[2::40].tolist():
        found = pool_at(frame, blocks, time)
        assert found is not None
        assert found.used + found.free == found.map["size_bytes"].sum()
        assert found.overlapping <= 1  # the last two rows of this file have an address that is in use
