"""Exported ranges, read by our own reader and by json."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler.trace import export, sources
from parsers.profiler.trace.columns import ASYNC, INSTANT, UNFINISHED, UNSTARTED, CounterValues, Slices, Trace
from tests.writers.traces import trace, traces


def exported(made: Trace, t0: int, t1: int) -> list[dict[str, object]]:
    events: list[dict[str, object]] = json.loads(b"".join(export.chrome(made, t0, t1)), parse_float=Decimal)["traceEvents"]
    return events


def test_empty() -> None:
    assert [event["ph"] for event in exported(trace({}), 0, 10)] == ["M"]


@given(traces(), st.integers(-5, 500), st.integers(-5, 500))
def test_every_slice_of_the_range_is_in_the_file(made: Trace, t0: int, t1: int) -> None:
    slices = made.slices
    expected = sorted(
        (int(slices.track[row]) + 1, int(slices.start[row]), int(slices.duration[row]), made.names[slices.name[row]])
        for row in range(len(slices))
        if slices.start[row] < t1 and slices.start[row] + max(int(slices.duration[row]), 1) > t0 and t0 < t1
    )
    found = sorted((e["tid"], e["ts"] * 1000, e["dur"] * 1000, e["name"]) for e in exported(made, t0, t1) if e["ph"] == "X")
    assert found == expected


def test_our_own_reader_finds_the_same(tmp_path: Path) -> None:
    made = trace(
        {"a": [(0, 2**60, "x"), (5, 123_456_789, "步")], "b": [(7, 0, "z"), (2000, 5, "z")]},
        arrows=[(("a", 1), ("b", 1), "HostToDevice")], kinds={"a": "python"},
    )  # fmt: skip
    path = tmp_path / "trace_view.json"
    path.write_bytes(b"".join(export.chrome(made, 0, made.end)))
    again = sources.read(str(path))
    assert again.slices.start.tolist() == made.slices.start.tolist()
    assert again.slices.duration.tolist() == made.slices.duration.tolist()
    assert [again.names[name] for name in again.slices.name] == [made.names[name] for name in made.slices.name]
    assert [track.thread for track in again.tracks] == ["a", "b"]
    assert (again.flows.source.tolist(), again.flows.target.tolist()) == ([1], [3])


def test_phases_counters_arguments_and_strange_names() -> None:
    made = trace({"t": [(0, 5, "async"), (1, 0, "instant"), (2, 9, "begin"), (3, 4, "\ud800")]})
    columns = {name: getattr(made.slices, name) for name in Slices.__slots__}
    columns["phase"] = np.array([ASYNC, INSTANT, UNFINISHED, UNSTARTED], np.uint8)
    counters = CounterValues(np.zeros(2, np.int32), np.zeros(2, np.int32), np.array([4, 400]), np.array([1.5, np.nan]))
    made = replace(made, slices=Slices(**columns), counters=counters, series=("MHz",))
    data = b"".join(export.chrome(made, 0, 100, arguments=lambda row: {"row": row, "big": 2**70}))
    events = [event for event in json.loads(data)["traceEvents"] if event["ph"] != "M"]
    assert [event["ph"] for event in events] == ["b", "e", "i", "B", "E", "C"]
    assert [event["ts"] for event in events] == [0, 0.005, 0.001, 0.002, 0.007, 0.004]
    assert [event["args"]["row"] for event in events if event["ph"] in "biBE"] == [0, 1, 2, 3]
    assert events[4]["name"] == "\ud800"
    assert events[-1]["args"] == {"MHz": 1.5}
