"""Traces beside other files of a profile: which one is taken, and on which clock."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from parsers import open_run
from parsers.profiler.trace import sources
from parsers.profiler.trace.bytes import FREE_BYTES, TraceBytes
from parsers.profiler.trace.kinds import counter_kind, kind_of, legacy_track

EVENTS = json.dumps([{"ph": "X", "name": "op", "pid": 1, "tid": 2, "ts": 56635864664.91, "dur": 4}])


@pytest.mark.parametrize(("difference", "ns"), [("1000.5", 56635864664910 - 1000500), ("-1695115378713661.125", 56635864664910 + 1695115378713661125), ('"x"', 56635864664910), ("null", 56635864664910)])  # fmt: skip  # noqa: E501
def test_a_trace_of_msprof_is_moved_to_the_clock_of_mindspore(difference: str, ns: int, tmp_path: Path) -> None:
    folder = tmp_path / "profiler" / "PROF_000001_2023_X" / "device_0" / "timeline"
    folder.mkdir(parents=True)
    (folder / "msprof_0_2_1.json").write_text(EVENTS)
    assert sources.read(str(folder / "msprof_0_2_1.json")).origin_ns == 56635864664910
    (tmp_path / "profiler" / "profiler_info_0.json").write_text('{"rank_id": "0", "diff_time": ' + difference + "}")
    trace = sources.read(str(folder / "msprof_0_2_1.json"))
    assert (trace.origin_ns, trace.clock) == (ns, "epoch" if ns > 10**18 else "boot")
    assert trace.slices.start.tolist() == [0]


def test_of_several_devices_each_has_its_own_clock(tmp_path: Path) -> None:
    for device in (0, 1):
        (tmp_path / f"profiler_info_{device}.json").write_text(json.dumps({"diff_time": 7 + device}))
        folder = tmp_path / "PROF_1" / f"device_{device}"
        folder.mkdir(parents=True)
        (folder / "msprof_1.json").write_text(EVENTS)
        assert sources.read(str(folder / "msprof_1.json")).origin_ns == 56635864664910 - (7 + device) * 1000


def test_the_best_trace_comes_first(tmp_path: Path) -> None:
    names = ["msprof_10.json", "msprof_2.json", "ascend_timeline_display_0.json", "x.trace.json", "trace_view.json"]
    for name in names:
        (tmp_path / name).write_text(EVENTS)
    (profile,) = open_run(tmp_path).profile.values()
    assert [Path(path).name for path in profile.traces] == [
        "trace_view.json", "x.trace.json", "ascend_timeline_display_0.json", "msprof_2.json", "msprof_10.json",
    ]  # fmt: skip
    assert profile.trace.columns.path == profile.traces[0]


def test_a_profile_without_a_trace_has_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "op_statistic.csv").write_text("OP Type,Count,Total Time(us)\na,1,2\n")
    (profile,) = open_run(tmp_path).profile.values()
    assert (profile.traces, len(profile.trace.slices), len(profile.trace.tracks)) == ((), 0, 0)
    assert not profile.problems


def test_problems_of_a_trace_are_problems_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "trace_view.json").write_text(EVENTS[:-1])
    run = open_run(tmp_path)
    assert not run.problems
    assert len(run.profile[".", 0].trace.slices) == 1
    assert [problem.kind for problem in run.problems] == ["truncated"]


@pytest.mark.parametrize(
    ("process", "thread", "kind"),
    [
        ("Ascend Hardware", "Stream 4", "device_stream"), ("Ascend Hardware", "Step Trace(Model ID:2)", "step"),
        ("CANN", "Thread 3", "cann"), ("HCCL", "Plane 3", "communication"), ("HCCL", "Group 0 Communication", "communication"),
        ("Overlap Analysis", "Communication(Not Overlapped)", "overlap"), ("CPU OP", "Thread 0", "host"),
        ("Scope Layer", "Scope 1", "scope"), ("Python", "Thread 7", "python"), ("python3", "thread 7 (python)", "python"),
        ("python", "stream 7 7", "device_stream"), ("/device:GPU:0 A card", "stream#1(Compute)", "device_stream"),
        ("/host:CPU", "tf_executor", "host"), ("/device:TPU:0", "Steps", "step"), ("", "", "other"),
    ],
)  # fmt: skip
def test_kinds_of_tracks(process: str, thread: str, kind: str) -> None:
    assert kind_of(process, thread) == kind


def test_kinds_of_counters_and_of_numbered_tracks() -> None:
    assert counter_kind("NPU MEM", "APP/HBM") == "memory"
    assert counter_kind("HBM", "HBM 0/Read") == "counter"
    assert legacy_track("9000", "0") == ("AI CPU", "Stream 0", "device_stream")
    assert legacy_track("0", "100001") == ("Device 0", "Scopes", "scope")
    assert legacy_track("0", "HostCpuOps0") == ("Device 0", "HostCpuOps0", "host")


def test_a_small_file_of_very_much_is_read_no_further(tmp_path: Path) -> None:
    """A gigabyte of blanks is a megabyte by gzip: the reader stops where no trace would be."""
    path = tmp_path / "trace_view.json"
    with gzip.open(path, "wb") as file:
        file.write(EVENTS[:-1].encode())
        for _ in range(4 * FREE_BYTES >> 20):
            file.write(b" " * (1 << 20))
        file.write(b"," + EVENTS[1:].encode())
    with TraceBytes(str(path)) as data:
        size = sum(len(data.read(offset, 1 << 20)) for offset in range(0, 4 * FREE_BYTES, 1 << 20))
    assert FREE_BYTES <= size <= FREE_BYTES + (1 << 20)
    trace = sources.read(str(path))
    assert len(trace.slices) == 1
    assert any("compressed more than 200 times" in problem.text for problem in trace.problems)
