"""Lifetimes, totals and segments of snapshots that torch and torch_npu wrote, against counts of independent scripts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from parsers.analysis.profiles import memory as profile_memory
from parsers.analysis.profiles import memory_snapshots as snapshots
from parsers.memory_snapshots import MemorySnapshot, read_memory_snapshot

ROOT = Path(__file__).resolve().parents[4]
COPIED = ROOT / "data" / "torch_memory" / "snapshot"
DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "")) / "accelerators"
EXPECTED: dict[str, dict[str, Any]] = json.loads((COPIED / "expected.json").read_text("utf-8"))
DEVICES = [(name, int(device)) for name, expected in EXPECTED.items() for device in expected["devices"]]


@pytest.fixture(params=DEVICES, ids=[f"{Path(name).stem}-{device}" for name, device in DEVICES])
def case(request: pytest.FixtureRequest) -> tuple[MemorySnapshot, int, dict[str, Any], dict[str, Any]]:
    name, device = request.param
    copied = COPIED / Path(name).parts[1] / Path(name).name
    path = copied if copied.is_file() else DATA / name
    if not path.is_file():
        pytest.skip("needs the samples of MINDSCOPE_TEST_DATA")
    return read_memory_snapshot(str(path)), device, EXPECTED[name]["devices"][str(device)], EXPECTED[name]


Case = tuple[MemorySnapshot, int, dict[str, Any], dict[str, Any]]


def test_blocks_and_bytes_are_those_expected(case: Case) -> None:
    found, device, expected, _ = case
    lives = snapshots.lifetimes(found.frames, device)
    recorded = lives.allocated >= 0
    at_end = recorded & (lives.completed < 0)
    assert at_end.sum() == expected["alive at end of the recorded"]
    assert lives.requested_bytes[at_end].sum() == expected["bytes of these (requested)"]
    assert (~recorded & (lives.completed >= 0)).sum() == expected["released without allocation"]
    assert lives.contradictory == 0
    sums = snapshots.totals(found.frames, device, lives, requested=True)
    assert sums.active.max() - sums.start[1] == expected["most bytes above the start"]


def test_totals_end_at_what_the_snapshot_holds(case: Case) -> None:
    found, device, _, whole = case
    lives = snapshots.lifetimes(found.frames, device)
    sums = snapshots.totals(found.frames, device, lives)
    own = found["snapshot_segments"].query("device == @device")
    assert sums.allocated[-1] == own["allocated_bytes"].sum()
    assert sums.active[-1] == own["active_bytes"].sum()
    assert sums.reserved[-1] == own["total_bytes"].sum()
    assert (sums.reserved >= sums.active).all()
    assert (sums.active >= sums.allocated).all()
    if len(found.devices) == 1:
        assert (sums.allocated[-1], sums.reserved[-1]) == (whole["allocated"], whole["reserved"])


def test_what_the_allocator_held_adds_up_at_any_moment(case: Case) -> None:
    found, device, _, _ = case
    sums = snapshots.totals(found.frames, device, snapshots.lifetimes(found.frames, device))
    number = len(sums.reserved)
    for entry in (*range(0, number, number // 7), number - 1):
        extent = snapshots.extent_at(found.frames, device, entry)
        assert (extent.high - extent.low).sum() == sums.reserved[entry]
    start = snapshots.extent_at(found.frames, device, -1)
    assert (start.high - start.low).sum() == sums.start[2]


def test_free_memory_of_segments_is_what_is_not_active(case: Case) -> None:
    found, device, _, _ = case
    use = snapshots.segment_use(found.frames, device)
    assert (use["free_bytes"] == use["total_bytes"] - use["active_bytes"]).all()
    fits = snapshots.largest_requests(use)
    assert fits["free_bytes"].sum() == use["free_bytes"].sum()
    assert fits["largest_free_bytes"].max() == use["largest_free_bytes"].max()


def test_blocks_make_the_curve_of_the_page(case: Case) -> None:
    found, device, _, _ = case
    rows, records = snapshots.operator_memory(found.frames, device), snapshots.memory(found.frames, device)
    recording = profile_memory.recording(records, rows, device=device)
    assert recording is not None
    assert recording.clock == ("ns" if found.timed else "event")
    lives = snapshots.lifetimes(found.frames, device)
    sums = snapshots.totals(found.frames, device, lives)
    assert recording.series.value.max() == sums.allocated.max()
    top = profile_memory.top(recording.series)
    told = profile_memory.explain(rows, recording.blocks, recording.series, top, by="stack")
    assert told.before + told.groups["size_bytes"].sum() == sums.allocated.max()
    if found.timed:
        held = lives.size[(lives.allocated < 0) & (lives.completed < 0)].sum()
        assert told.before == held


def test_all_memory_older_than_the_recording_is_found() -> None:
    found = read_memory_snapshot(str(COPIED / "cuda_windows" / "memory_snapshot.pickle"))
    lives = snapshots.lifetimes(found.frames, 0)
    before = snapshots.older(lives)
    assert lives.size[before].sum() == snapshots.totals(found.frames, 0, lives).start[1]
    assert (lives.size[before][:-1] >= lives.size[before][1:]).all()
