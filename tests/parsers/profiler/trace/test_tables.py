"""Traces made of tables where a profile has none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from parsers import open_run
from parsers.model import NOTE
from parsers.profiler.trace import sources
from parsers.profiler.trace.columns import Trace

HEAD = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Stream ID\n"
ROWS = (
    "1,mm,MatMul,AI_CORE,1700000000000000.125,10.5,0,2\n1,add,Add,AI_VECTOR_CORE,1700000000000020,5,0,3\n"
    "1,hcom,hcom_allReduce_,HCCL,1700000000000030,7,0,N/A\n1,lost,Add,AI_CORE,N/A,5,0,2\n"
)


def slices(trace: Trace) -> list[tuple[str, str, str, int, int]]:
    """Return process, track, name, begin by the clock and duration (ns) of each slice, in order."""
    found = trace.slices
    return [
        (
            trace.tracks[track].process, trace.tracks[track].thread, trace.names[name], trace.origin_ns + start, duration,
        ) for track, name, start, duration in zip(
            found.track.tolist(), found.name.tolist(), found.start.tolist(), found.duration.tolist(), strict=True,
        )
    ]  # fmt: skip


def collective(start: float) -> dict[str, dict[str, float]]:
    return {"Communication Time Info": {"Start Timestamp(us)": start, "Elapse Time(ms)": 0.5, "Wait Time(ms)": 0.25}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "runs/one/host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT"
    found.mkdir(parents=True)
    (found / "kernel_details.csv").write_text(HEAD + ROWS)
    operations = {"hcom_1@77": collective(1_700_000_000_000_001.5), "Total Op Info": collective(0)}
    (found / "communication.json").write_text(json.dumps({"step1": {"p2p": {}, "collective": operations}}))
    return found


def test_streams_and_groups_become_tracks_without_a_host(folder: Path) -> None:
    (profile,) = open_run(folder.parents[1]).profile.values()
    (files,) = sources.grouped(profile)
    trace = sources.read_all(files)
    begin = 1_700_000_000_000_000_000
    assert slices(trace) == [
        ("Device (no host)", "Stream 2", "mm", begin + 125, 10_500),
        ("Device (no host)", "Stream 3", "add", begin + 20_000, 5_000),
        ("Communication (no host)", "Communication", "hcom", begin + 30_000, 7_000),
        ("Communication (no host)", "Group 77", "hcom_1", begin + 1_500, 500_000),
    ]
    assert [track.kind for track in trace.tracks] == ["device_stream", "device_stream", "communication", "communication"]
    assert {(problem.kind, os.path.basename(problem.path)) for problem in trace.problems} == {
        (NOTE, "kernel_details.csv"), (NOTE, "communication.json"),
    }  # fmt: skip
    assert trace.clock == "epoch"
    assert sources.arguments(trace, 0) == {
        "step": 1, "name": "mm", "type": "MatMul", "core": "AI_CORE", "wait_ns": 0.0, "stream": 2,
    }  # fmt: skip
    assert sources.arguments(trace, 3)["wait_ns"] == 250_000
    (folder / "kernel_details.csv").write_text(HEAD)
    with pytest.raises(LookupError, match="changed"):
        sources.arguments(trace, 0)


def test_a_trace_goes_before_tables(folder: Path) -> None:
    (folder / "trace_view.json").write_text("[]")
    (profile,) = open_run(folder.parents[1]).profile.values()
    assert [os.path.basename(path) for path in sources.find(profile)] == ["trace_view.json"]


def test_tables_without_rows_or_begins_make_an_empty_trace(folder: Path) -> None:
    for text in ("", HEAD, "Name,Duration(us)\nmm,5\n", "{"):
        (folder / "kernel_details.csv").write_text(text)
        assert len(sources.read(str(folder / "kernel_details.csv")).slices) == 0
        (folder / "communication.json").write_text(text)
        assert len(sources.read(str(folder / "communication.json")).slices) == 0
    (folder / "kernel_details.csv").unlink()
    (problem,) = sources.read(str(folder / "kernel_details.csv")).problems
    assert problem.kind == "unreadable"
