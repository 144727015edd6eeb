"""Busy and idle time against counting nanoseconds one by one, and against the step traces of real profiles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import KERNELS, discover, open_run
from parsers.analysis.profiles.busy import PARTS, busy, covered
from parsers.profiler.frame_parts import frame_of

ROWS = st.lists(st.tuples(st.integers(-1, 60), st.integers(0, 20), st.sampled_from(["AI_CORE", "AI_CPU", "HCCL", "HOST_CPU"])),
                max_size=12)  # fmt: skip


def kernels(rows: list[tuple[int, int, str]], device: int = 0) -> pd.DataFrame:
    start, duration, core = zip(*rows, strict=True) if rows else [()] * 3
    columns = {"start_ns": np.array(start, np.int64), "duration_ns": np.array(duration, np.int64), "core": list(core),
               "device": np.full(len(rows), device), "name": ["x"] * len(rows)}  # fmt: skip
    return frame_of(KERNELS, len(rows), columns, "f")


@given(ROWS)
def test_every_nanosecond_has_one_part(rows: list[tuple[int, int, str]]) -> None:
    found = busy(kernels(rows))
    device = [row for row in rows if row[0] >= 0 and row[2] != "HOST_CPU"]
    chosen = device or [row for row in rows if row[0] >= 0]
    if not chosen:
        assert found is None
        return
    assert found is not None
    computing = {at for start, taken, core in chosen if core != "HCCL" for at in range(start, start + taken)}
    moving = {at for start, taken, core in chosen if core == "HCCL" for at in range(start, start + taken)}
    whole = max(start + taken for start, taken, _ in chosen) - min(start for start, _, _ in chosen)
    expected = (len(computing - moving), len(computing & moving), len(moving - computing), whole - len(computing | moving))
    assert tuple(found.time_of(part) for part in PARTS) == expected
    assert found.parts == (PARTS if moving else ("computing", "free"))
    assert (found.whole_ns, found.steps) == (whole, len(chosen))


def test_of_several_devices_the_one_with_most_executions() -> None:
    frame = pd.concat([kernels([(0, 5, "AI_CORE"), (9, 1, "AI_CORE")]), kernels([(0, 900, "AI_CORE")], device=1)])
    found = busy(frame)
    assert found is not None
    assert (found.whole_ns, found.time_of("free")) == (10.0, 4.0)


def test_nothing_covers_nothing() -> None:
    assert covered(np.empty(0, np.int64), np.empty(0, np.int64)) == 0


@pytest.mark.parametrize("rank", [0, 1])
def test_the_parts_of_a_real_profile(real_data: Path, rank: int) -> None:
    """Counted event by event over the raw file; its writer's own step trace agrees on computing and communication."""
    folder = real_data / f"profiler_new/torch_npu_text_level2/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
    raw = pd.read_csv(folder / "kernel_details.csv")
    start = (raw["Start Time(us)"].astype(str).str.strip().astype(float) - 1736412474000000.0).to_numpy()
    end, moves = start + raw["Duration(us)"].to_numpy(), raw["Accelerator Core"].isin(["HCCL", "COMMUNICATION"]).to_numpy()
    events = sorted([(at, 1, kind) for at, kind in zip(start, moves, strict=True)]
                    + [(at, -1, kind) for at, kind in zip(end, moves, strict=True)])  # fmt: skip
    times, active, last = dict.fromkeys([(False, False), (True, False), (True, True), (False, True)], 0.0), [0, 0], start.min()
    for at, change, kind in events:
        times[active[0] > 0, active[1] > 0] += at - last
        active[int(kind)] += change
        last = at
    (profile,) = open_run(folder.parent).profile.values()
    found = busy(profile.kernels)
    assert found is not None
    expected = [times[True, False], times[True, True], times[False, True], times[False, False]]
    assert [time / 1e3 for time in found.time_ns] == pytest.approx(expected, abs=1.0)
    trace = pd.read_csv(folder / "step_trace_time.csv").iloc[0]
    computing, moving = found.time_of("computing") + found.time_of("overlapped"), found.time_of("exposed")
    assert computing / 1e3 == pytest.approx(trace["Computing"], rel=0.001)
    assert moving / 1e3 == pytest.approx(trace["Communication(Not Overlapped)"], rel=0.001)


def test_every_profile_with_timed_executions_has_busy_time(real_data: Path) -> None:
    timed = found = 0
    for base in ("mindinsight_legacy", "profiler", "profiler_new", "cluster_samples"):
        for source in discover(real_data / base):
            for profile in open_run(source.path).profile.values():
                timed += bool((profile.kernels["start_ns"] >= 0).any())
                usual = busy(profile.kernels)
                found += usual is not None
                assert usual is None or sum(usual.shares) == pytest.approx(1.0)
    assert timed == found > 15
