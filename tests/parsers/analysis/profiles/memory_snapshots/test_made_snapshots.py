"""Snapshots in which everything is known, written by our own writer: no public one has steps, or a request that failed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers.analysis.profiles import memory as profile_memory
from parsers.analysis.profiles import memory_snapshots as snapshots
from parsers.memory_snapshot_frames import SNAPSHOT_FRAME_SCHEMAS
from parsers.memory_snapshots import MemorySnapshot, read_memory_snapshot
from tests.writers.memory_snapshots import BEGIN_US, SnapshotWriter, steady_entries

LINES = (("forward", "/site/torch/nn/modules/linear.py", 7), ("step", "/home/train.py", 12), ("unwind", "??", 0))
KIB, MIB = 1 << 10, 1 << 20


def entry(action: str, address: int, size: int, time_us: int, **more: Any) -> dict[str, Any]:
    place = {"device_free": address} if action == "oom" else {"addr": address}
    return {"action": action, **place, "size": size, "stream": 0, "time_us": time_us, "frames": LINES, **more}


def segment(address: int, sizes: list[tuple[int, str]], *, kind: str = "large", **more: Any) -> dict[str, Any]:
    blocks, at = [], address
    for size, state in sizes:
        blocks.append({"address": at, "size": size, "requested_size": size - 100, "state": state, "frames": ()})
        at += size
    used = sum(size for size, state in sizes if state == "active_allocated")
    active = sum(size for size, state in sizes if state.startswith("active"))
    return {"device": 0, "address": address, "total_size": at - address, "allocated_size": used, "active_size": active,
            "requested_size": 0, "stream": 0, "segment_type": kind, "segment_pool_id": (0, 0), "is_expandable": False,
            "frames": (), "blocks": blocks, **more}  # fmt: skip


def read(path: Path, traces: Any, segments: Any = (), annotations: Any = ()) -> MemorySnapshot:
    path.write_bytes(b"".join(SnapshotWriter().write(traces, segments, annotations)))
    found = read_memory_snapshot(str(path))
    assert found.problems == ()
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "snapshot.pickle"


def test_nothing_recorded(path: Path) -> None:
    found = read(path, [])
    assert found.devices == ()
    frames = {name: schema.empty() for name, schema in SNAPSHOT_FRAME_SCHEMAS.items()}
    for some in (found.frames, frames):
        lives = snapshots.lifetimes(some, 0)
        assert len(lives) == 0
        assert len(snapshots.totals(some, 0, lives).allocated) == 0
        assert len(snapshots.operator_memory(some, 0)) == len(snapshots.memory(some, 0)) == 0
        assert len(snapshots.exhaustions(some, 0)) == len(snapshots.step_times(some)) == 0
        use = snapshots.segment_use(some, 0)
        assert len(use) == len(snapshots.largest_requests(use)) == 0
        assert math.isnan(snapshots.fragmentation(use))


def test_lifetimes_of_every_kind(path: Path) -> None:
    base = 1 << 40
    trace = [
        entry("free_requested", base, 1000, 1), entry("free_completed", base, 1000, 2),  # older
        entry("alloc", base, 500, 3), entry("free_requested", base, 500, 4), entry("free_completed", base, 500, 5),
        entry("alloc", base, 2000, 6),  # remains
        entry("alloc", base + MIB, 600, 7), entry("free_requested", base + MIB, 600, 8),  # waits for another stream
        entry("alloc", base + 2 * MIB, 100, 9), entry("alloc", base + 2 * MIB, 100, 10),  # contradictory
    ]  # fmt: skip
    end = segment(base, [(2048, "active_allocated"), (MIB - 2048, "inactive"), (1024, "active_awaiting_free"),
                         (MIB - 1024, "inactive"), (512, "active_allocated"), (4096, "active_allocated")])  # fmt: skip
    found = read(path, [trace], [end])
    lives = snapshots.lifetimes(found.frames, 0)
    columns = (lives.allocated, lives.requested, lives.completed, lives.size)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == [
        (-1, 0, 1, 1024), (2, 3, 4, 512), (5, -1, -1, 2048), (6, 7, -1, 1024), (8, -1, 9, 512), (9, -1, -1, 512),
        (-1, -1, -1, 4096),
    ]  # fmt: skip
    assert lives.contradictory == 1
    assert snapshots.older(lives).tolist() == [6, 0]
    sums = snapshots.totals(found.frames, 0, lives)
    assert sums.start == (4096 + 1024, 4096 + 1024, end["total_size"])
    assert sums.allocated.tolist() == [4096, 4096, 4608, 4096, 4096, 6144, 7168, 6144, 6656, 6656]
    assert sums.active.tolist() == [5120, 4096, 4608, 4608, 4096, 6144, 7168, 7168, 7680, 7680]
    rows = snapshots.operator_memory(found.frames, 0, "a.pickle")
    assert rows["allocated_ns"].tolist() == [-1, 3000, 6000, 7000, 9000, 10_000, -1]
    assert rows["released_ns"].tolist() == [1000, 4000, -1, 8000, -1, -1, -1]
    assert rows["name"].tolist()[:-1] == ["forward"] * 6
    assert rows["source"].tolist() == ["/home/train.py:12"] * 6 + [""]
    assert rows["stack"].iloc[0].splitlines()[0] == "/site/torch/nn/modules/linear.py:7 forward"


def test_entries_of_one_microsecond_keep_their_order(path: Path) -> None:
    base = 1 << 40
    trace = [entry("alloc", base, 512, 5), entry("free_requested", base, 512, 5), entry("free_completed", base, 512, 5),
             entry("alloc", base, 1024, 5), entry("snapshot", 0, 0, 4), entry("free_requested", base, 1024, 9)]  # fmt: skip
    found = read(path, [trace])
    assert snapshots.memory(found.frames, 0)["time_ns"].tolist() == [5000, 5001, 5002, 5003, 5004, 9000]
    blocks = profile_memory.blocks_of(snapshots.operator_memory(found.frames, 0))
    assert blocks.alive_at(5000).tolist() == [0]
    assert blocks.alive_at(5001).tolist() == []
    assert blocks.alive_at(5003).tolist() == [1]


def test_a_request_that_failed(path: Path) -> None:
    base = 1 << 40
    trace = [
        entry("segment_alloc", base, 20 * MIB, 1), entry("alloc", base, 8 * MIB, 2),
        entry("alloc", base + 10 * MIB, 4 * MIB, 3),
        entry("segment_alloc", base + 20 * MIB, 2 * MIB, 4), entry("oom", 3 * MIB, 9 * MIB, 5),
        entry("segment_free", base + 20 * MIB, 2 * MIB, 6),
    ]  # fmt: skip
    parts = [(8, "active_allocated"), (2, "inactive"), (4, "active_allocated"), (6, "inactive")]
    end = segment(base, [(size * MIB, state) for size, state in parts])
    found = read(path, [trace, [entry("oom", 5, 7, 1)]], [end])
    (row,) = snapshots.exhaustions(found.frames, 0).to_dict("records")
    assert row == {
        "entry": 4, "time_ns": 5000, "size_bytes": 9 * MIB, "device_free_bytes": 3 * MIB, "allocated_bytes": 12 * MIB,
        "active_bytes": 12 * MIB, "reserved_bytes": 22 * MIB, "unused_bytes": 10 * MIB, "largest_free_bytes": 6 * MIB,
        "stack": 0,
    }  # fmt: skip
    assert snapshots.exhaustions(found.frames, 1)["device_free_bytes"].tolist() == [5]
    use = snapshots.segment_use(found.frames, 0)
    assert use["free_bytes"].tolist() == [8 * MIB]
    assert snapshots.fragmentation(use) == 0.25


def test_expandable_segments_grow_and_shrink(path: Path) -> None:
    base = 1 << 40
    trace = [entry("segment_map", base, 20 * MIB, 1), entry("segment_map", base + 20 * MIB, 20 * MIB, 2),
             entry("segment_unmap", base + 20 * MIB, 20 * MIB, 3),
             entry("segment_alloc", base + 20 * MIB, 4 * MIB, 4)]  # fmt: skip
    end = [segment(base, [(20 * MIB, "inactive")], is_expandable=True), segment(base + 20 * MIB, [(4 * MIB, "inactive")])]
    found = read(path, [trace], end)
    ranges = []
    for at in range(-1, 4):
        extent = snapshots.extent_at(found.frames, 0, at)
        ranges.append([((low - base) // MIB, (high - base) // MIB) for low, high in zip(extent.low, extent.high, strict=True)])
    assert ranges == [[], [(0, 20)], [(0, 40)], [(0, 20)], [(0, 20), (20, 24)]]


def test_the_largest_request_is_that_of_its_stream_and_pool(path: Path) -> None:
    segments = [segment(MIB, [(512, "inactive"), (KIB, "active_allocated")], kind="small"),
                segment(40 * MIB, [(2 * MIB, "inactive"), (MIB, "active_allocated"), (3 * MIB, "inactive")]),
                segment(80 * MIB, [(5 * MIB, "inactive")], stream=7)]  # fmt: skip
    fits = snapshots.largest_requests(snapshots.segment_use(read(path, [], segments).frames, 0))
    assert fits[["stream", "kind", "free_bytes", "largest_free_bytes"]].to_numpy().tolist() == [
        [7, "large", 5 * MIB, 5 * MIB], [0, "large", 5 * MIB, 3 * MIB], [0, "small", 512, 512],
    ]  # fmt: skip


@pytest.mark.parametrize(("leaked", "verdict"), [(0, "none"), (3, "leak")])
def test_a_leak_over_steps(path: Path, leaked: int, verdict: str) -> None:
    steps, length = 20, 3 * (300 - 2 * leaked)
    marks = [
        {"name": name, "stage": stage, "device": 0, "time_us": BEGIN_US + step * length + place}
        for step in range(steps)
        for name, stage, place in ((f"ProfilerStep#{step + 5}", "START", 0), ("Optimizer.step#SGD.step", "START", 1),
                                   ("Optimizer.step#SGD.step", "END", 2), (f"ProfilerStep#{step + 5}", "END", length - 1))
    ]  # fmt: skip
    held = [entry["addr"] for entry in steady_entries(steps, leaked=leaked) if entry["action"] == "alloc"]
    released = {entry["addr"] for entry in steady_entries(steps, leaked=leaked) if entry["action"] == "free_completed"}
    sizes = {entry["addr"]: entry["size"] for entry in steady_entries(steps, leaked=leaked)}
    segments = [segment(one, [(sizes[one] + 16, "active_allocated")]) for one in held if one not in released]
    base = segment(1 << 50, [(100 * MIB, "active_allocated")])
    found = read(path, [steady_entries(steps, leaked=leaked)], [*segments, base], marks)
    times = snapshots.step_times(found.frames)
    assert times["step"].tolist() == list(range(5, 5 + steps))
    assert (times["end_ns"] - times["start_ns"] == (length - 1) * 1000).all()
    rows = snapshots.operator_memory(found.frames, 0)
    recording = profile_memory.recording(snapshots.memory(found.frames, 0), rows, device=0)
    assert recording is not None
    growth = profile_memory.growth(recording, times["start_ns"].to_numpy(), times["end_ns"].to_numpy())
    assert (growth.leak.verdict, growth.leak.steps) == (verdict, steps)
    if leaked:
        grown = np.diff(growth.least)
        assert growth.leak.slope == np.median([(b - a) / (j - i) for i, a in enumerate(growth.least)
                                               for j, b in enumerate(growth.least) if j > i])  # fmt: skip
        assert (grown > 0).all()


def test_numbers_beyond_any_device_do_no_harm(path: Path) -> None:
    huge = [1 << 61, (1 << 62) - 1, 1 << 62, (1 << 63) - 1, -5, 1 << 80]
    actions = ("alloc", "segment_alloc", "oom")
    trace = [entry(action, address, size, 1) for action in actions for address in huge for size in huge]
    held = segment(huge[1], [(one, "active_allocated") for one in huge])
    path.write_bytes(b"".join(SnapshotWriter().write([trace], [held])))
    found = read_memory_snapshot(str(path))
    assert [problem.kind for problem in found.problems] == ["bad_value"]
    lives = snapshots.lifetimes(found.frames, 0)
    sums = snapshots.totals(found.frames, 0, lives)
    assert min(sums.allocated.min(), sums.active.min(), sums.reserved.min()) >= 0
    assert len(snapshots.exhaustions(found.frames, 0, lives)) == len(huge) ** 2
