"""The critical path of simulated task graphs is the one that decides how long they take."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from parsers.profiler.trace import chrome
from tests.amounts import long_after
from tests.simulations.task_graphs import Layout, TaskGraph, draw, events, simulate, text

LAYOUTS = [draw(np.random.default_rng(seed)) for seed in range(14)]
UNSHAKEN = [replace(one, jitter=0.0) for one in LAYOUTS if one.launches < 200]


def kernels(graph: TaskGraph) -> list[int]:
    """Slices of kernels and copies in the order of launches."""
    return [kernel for _, kernel in graph.flows]


@pytest.mark.parametrize("layout", long_after(4, LAYOUTS))
def test_the_path_covers_all_time_once_and_without_gaps(layout: Layout) -> None:
    graph = simulate(layout)
    path = graph.path()
    assert path[0].start == 0
    assert path[-1].end == graph.duration
    assert [one.end for one in path[:-1]] == [one.start for one in path[1:]]
    assert sum(graph.shares().values()) == pytest.approx(1.0)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_runs_on_a_thread_nests_and_what_runs_on_a_stream_is_in_order(layout: Layout) -> None:
    graph = simulate(layout)
    rows = defaultdict(list)
    for one in graph.slices:
        if one.category != "cuda_sync":
            rows[one.pid, one.tid].append((one.start, -one.end))
    for (pid, _), spans in rows.items():
        open_until: list[int] = []
        for start, end in sorted(spans):
            while open_until and open_until[-1] <= start:
                open_until.pop()
            assert not open_until or -end <= open_until[-1]
            assert pid != 0 or not open_until
            open_until.append(-end)


@pytest.mark.parametrize("layout", long_after(2, UNSHAKEN))
def test_a_longer_kernel_on_the_path_lengthens_all_and_a_slightly_longer_one_beside_it_nothing(layout: Layout) -> None:
    graph = simulate(layout)
    on_path = {part.slice for part in graph.path() if part.kind == "device"}
    longer = 5_000
    random = np.random.default_rng(1)
    for number in random.choice(len(kernels(graph)), 4, replace=False):
        changed = simulate(layout, {int(number): longer}).duration - graph.duration
        if kernels(graph)[number] in on_path:
            assert changed == longer
        else:
            assert changed < longer


def test_a_kernel_with_slack_decides_nothing() -> None:
    layout = Layout(launches=30, kernel_us=4.0, call_us=25.0, synchronising=0.0, jitter=0.0)
    graph = simulate(layout)
    assert graph.shares()["host"] > 0.9
    assert simulate(layout, {3: 5_000}).duration == graph.duration


def test_with_long_kernels_the_device_decides_and_with_long_launches_they_do() -> None:
    assert simulate(Layout(kernel_us=150.0, streams=1)).shares()["device"] > 0.9
    often = Layout(launches=30, kernel_us=5.0, synchronising=1.0, launch_us=(15.0, 100.0))
    assert simulate(often).shares()["launch"] > 0.5


@pytest.mark.parametrize("waits_recorded", [True, False])
def test_the_trace_has_all_slices_and_flows(tmp_path: Path, waits_recorded: bool) -> None:
    graph = simulate(Layout(launches=30, steps=2, threads=2, crossing=0.5, streams=3, waits_recorded=waits_recorded))
    names = [one["name"] for one in events(graph)]
    assert ("Stream Wait Event" in names) == waits_recorded
    path = tmp_path / "rank.pt.trace.json"
    path.write_text(text(graph))
    read = chrome.read(str(path))
    assert read.problems == ()
    assert len(read.flows.source) == len(graph.flows) == 60
    spans = np.stack([read.slices.start, read.slices.duration], axis=1)
    wanted = np.array([(one.start, one.end - one.start) for one in graph.slices])
    np.testing.assert_array_equal(spans[np.lexsort(spans.T)] - [spans[:, 0].min(), 0], wanted[np.lexsort(wanted.T)])


def test_paths_of_steps_are_parts_of_time_between_their_ends() -> None:
    graph = simulate(Layout(steps=10, launches=30))
    for begin, end in graph.steps:
        path = graph.path(begin, end)
        assert path[0].start == begin
        assert path[-1].end == end
