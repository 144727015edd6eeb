"""Snapshots that torch and torch_npu wrote, against counts and sums that independent scripts took of them."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from parsers.memory_snapshot_frames import SNAPSHOT_FRAME_SCHEMAS
from parsers.memory_snapshots import MemorySnapshot, is_memory_snapshot, read_memory_snapshot

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "")) / "accelerators"
COPIED = Path(__file__).resolve().parents[2] / "data" / "torch_memory" / "snapshot"
EXPECTED: dict[str, dict[str, Any]] = json.loads((COPIED / "expected.json").read_text("utf-8"))


def _path(name: str) -> Path:
    copied = COPIED / Path(name).parts[1] / Path(name).name
    path = copied if copied.is_file() else DATA / name
    if not path.is_file():
        pytest.skip("needs the samples of MINDSCOPE_TEST_DATA")
    return path


@pytest.fixture(params=EXPECTED)
def sample(request: pytest.FixtureRequest) -> tuple[MemorySnapshot, dict[str, Any], Path]:
    path = _path(request.param)
    return read_memory_snapshot(str(path)), EXPECTED[request.param], path


def test_at_least_one_sample_is_always_there() -> None:
    assert any((COPIED / Path(name).parts[1] / Path(name).name).is_file() for name in EXPECTED)


def test_counts_and_sums_are_those_expected(sample: tuple[MemorySnapshot, dict[str, Any], Path]) -> None:
    found, expected, _ = sample
    segments, blocks, events = (found[f"snapshot_{name}"] for name in ("segments", "blocks", "events"))
    assert found.problems == ()
    assert len(segments) == expected["segments"]
    assert blocks["state"].value_counts().to_dict() == expected["blocks"]
    assert segments["total_bytes"].sum() == expected["reserved"]
    assert segments["allocated_bytes"].sum() == expected["allocated"]
    assert segments["active_bytes"].sum() == expected["active"]
    assert segments["requested_bytes"].sum() == expected["requested"]
    assert (segments["expandable"] == 1).sum() == expected["expandable segments"]
    assert found.devices == tuple(map(int, expected["devices"]))
    for device, wanted in expected["devices"].items():
        own = events[events["device"] == int(device)]
        counts = own["action"].value_counts()
        assert counts[counts > 0].to_dict() == wanted["actions"]
        assert bool((own["time_ns"] > 0).all()) == wanted["times"] == found.timed
        depths = found["snapshot_frames"].groupby("stack")["depth"].max() + 1
        assert depths[own["stack"][own["stack"] >= 0].unique()].max() == wanted["deepest stack"]


def test_every_value_is_that_of_the_unpickler(sample: tuple[MemorySnapshot, dict[str, Any], Path]) -> None:
    found, _, path = sample
    whole = pickle.loads(path.read_bytes())  # a sample of known origin
    lines: dict[int, list[tuple[str, str, int]]] = {-1: []}
    frames = found["snapshot_frames"]
    for stack, *line in zip(*(frames[name].tolist() for name in ("stack", "name", "source", "line")), strict=True):
        lines.setdefault(stack, []).append(tuple(line))

    def stack_of(one: dict[str, Any]) -> list[tuple[str, str, int]]:
        return [(line["name"], line["filename"], line["line"]) for line in one["frames"]]

    events = found["snapshot_events"]
    columns = ("action", "device", "address", "size_bytes", "stream", "time_ns", "stack")
    rows = [(*row[:-1], lines[row[-1]]) for row in zip(*(events[name].tolist() for name in columns), strict=True)]
    assert rows == [
        (one["action"], device, one["addr"], one["size"], one["stream"],
         one["time_us"] * 1000 if "time_us" in one else -1, stack_of(one))
        for device, entries in enumerate(whole["device_traces"]) for one in entries
    ]  # fmt: skip
    blocks = found["snapshot_blocks"]
    columns = ("segment", "address", "size_bytes", "requested_bytes", "state", "stack")
    rows = [(*row[:-1], lines[row[-1]]) for row in zip(*(blocks[name].tolist() for name in columns), strict=True)]
    assert rows == [
        (number, one["address"], one["size"], one["requested_size"], one["state"], stack_of(one))
        for number, segment in enumerate(whole["segments"]) for one in segment["blocks"]
    ]  # fmt: skip
    for name, schema in SNAPSHOT_FRAME_SCHEMAS.items():
        schema.check(found[name])


def test_settings_are_listed() -> None:
    found = read_memory_snapshot(str(_path("snapshot/cuda_windows/memory_snapshot.pickle")))["snapshot_settings"]
    settings = dict(zip(found["name"], found["value"], strict=True))
    assert settings["max_split_size"] == "-1"
    assert settings["garbage_collection_threshold"] == "0.0"
    assert settings["expandable_segments"] == "False"
    assert settings["roundup_power2_divisions.1024"] == "0"


def test_a_snapshot_is_recognised_by_its_first_4_kb(sample: tuple[MemorySnapshot, dict[str, Any], Path]) -> None:
    assert is_memory_snapshot(sample[2].read_bytes()[:4096])


@pytest.mark.parametrize("other", [b"", b"\x80", b"\x80\x04", pickle.dumps({"weights": 1.0}), b"segments", b"\x80\x06segments"])
def test_other_pickles_are_none(other: bytes) -> None:
    assert not is_memory_snapshot(other)
