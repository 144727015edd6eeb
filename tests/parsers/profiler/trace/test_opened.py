"""What is computed once for a trace that is open, against counting nanosecond by nanosecond."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler.trace import pyramid
from parsers.profiler.trace.columns import CounterValues
from parsers.profiler.trace.opened import OpenTrace, shares
from tests.writers.traces import Row, trace, traces

INTERVALS = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60)), max_size=30)


@given(INTERVALS, st.integers(1, 40))
def test_shares_of_overlapping_intervals(intervals: list[tuple[int, int]], columns: int) -> None:
    covered = np.zeros(300 * columns, bool)  # `columns` parts to a ns, so that every edge lies between two of them
    for start, length in intervals:
        covered[start * columns : (start + length) * columns] = True
    start = np.array([one[0] for one in intervals], np.int64)
    stop = start + np.array([one[1] for one in intervals], np.int64)
    found = shares(start, stop, np.linspace(0, 300, columns + 1))
    assert np.allclose(found, covered.reshape(columns, -1).mean(axis=1), atol=1e-6)


def opened(made, tmp_path: Path) -> OpenTrace:
    pyramid.build(made, str(tmp_path))
    return OpenTrace(made, pyramid.open(str(tmp_path)))


def test_busy_counts_device_streams_or_else_what_is_not_made_from_others(tmp_path: Path) -> None:
    rows: list[Row] = [(0, 100, "Add"), (50, 20, "MatMul")]
    device = opened(trace({"host": [(0, 400, "main")], "s1": rows, "s2": [(90, 110, "Add")]},
                          kinds={"s1": "device_stream", "s2": "device_stream", "host": "python"}), tmp_path / "a")  # fmt: skip
    assert device.busy(4)[0] == "device"
    assert device.busy(4)[1].tolist() == [1.0, 1.0, 0.0, 0.0]
    host = opened(trace({"t": rows, "free": [(100, 300, "Free")]}, kinds={"t": "host", "free": "overlap"}), tmp_path / "b")
    assert host.busy(4)[0] == "any"
    assert host.busy(4)[1].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert host.extent == (0, 400)


@given(traces())
def test_medians_by_name(made) -> None:
    found = OpenTrace(made, None).medians()  # type: ignore[arg-type]
    for index in range(len(made.names)):
        of_name = made.slices.duration[made.slices.name == index]
        assert found[index] == (np.median(of_name) if len(of_name) else 0)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.integers(0, 900), st.integers(1, 500), st.integers(1, 50))
def test_curves_keep_the_lowest_and_highest_of_each_column(times: list[int], start: int, length: int, columns: int) -> None:
    time = np.sort(np.array(times, np.int64))
    value = np.arange(len(time), dtype=np.float64) % 7 - 3
    zeros = np.zeros(len(time), np.int32)
    made = replace(trace({"t": [(0, 1000, "a")]}), series=("read",), counters=CounterValues(zeros, zeros, time, value))
    found = OpenTrace(made, None).curves(0, start, start + length, columns)  # type: ignore[arg-type]
    inside = np.flatnonzero((time >= start) & (time <= start + length))
    before = np.flatnonzero(time <= start)[-1:]
    wanted = np.union1d(inside, before).astype(int)
    if not len(wanted):
        assert found == []
        return
    (curve,) = found
    assert len(curve.time) <= columns + 1
    assert curve.time[0] == time[wanted[0]]
    assert (curve.low.min(), curve.high.max()) == (value[wanted].min(), value[wanted].max())
    assert curve.last[-1] == value[wanted[-1]]
