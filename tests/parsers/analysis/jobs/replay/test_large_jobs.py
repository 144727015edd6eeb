"""What replays cost: how it grows with ranks, kernels and operations; 5 CPU s and 600 MB for 1,000 ranks x 5,000 kernels."""

from __future__ import annotations

import gc
import time
import tracemalloc

import numpy as np
import pytest

from benchmarks.measure import in_fresh_process
from parsers.analysis.jobs.replay import changes
from parsers.analysis.jobs.replay.graph import graph_of, lengths
from parsers.analysis.jobs.replay.replaying import replayed_all, unchanged
from tests.simulations.large_jobs import REDUCED_NS, large_job

SMALL = (60, 600, 40)
"""Ranks, kernels and operations."""
TIMES, AT_MOST = 4, 4.4
"""So many times as much of one of them may take at most AT_MOST times as long and as much memory; 16 if it were quadratic."""


def _replayed(sizes: tuple[int, int, int]) -> tuple[float, float]:
    """CPU seconds, the least of two, and MB at most, of graph and changes beside the frames."""
    frames = large_job(*sizes)

    def work() -> None:
        graph = graph_of(frames)
        asked = [changes.communication_free(graph), changes.fast_as_peers(graph, [0]), changes.gaps_closed(graph)]
        replayed_all(graph, [unchanged(graph), *asked, changes.link_as_others(graph, 0, 1, 0.5)])

    seconds = []
    for _ in range(2):
        gc.collect()
        begun = time.process_time()
        work()
        seconds.append(time.process_time() - begun)
    tracemalloc.start()
    try:
        work()
        most = tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
    return min(seconds), most


@pytest.fixture(scope="module")
def small() -> tuple[float, float]:
    return _replayed(SMALL)


@pytest.mark.parametrize("which", range(3), ids=["ranks", "kernels", "operations"])
def test_cost_does_not_grow_faster_than_the_job(small: tuple[float, float], which: int) -> None:
    ranks, kernels, operations = (size * (TIMES if place == which else 1) for place, size in enumerate(SMALL))
    seconds, most = _replayed((ranks, kernels, operations))
    assert seconds < AT_MOST * small[0]
    assert most < AT_MOST * small[1]


def test_the_replay_of_a_large_job_is_its_recording() -> None:
    graph = graph_of(large_job(40, 600, 10))
    ends = lengths(replayed_all(graph, [unchanged(graph), changes.communication_free(graph, most=True)]), graph.begin)
    np.testing.assert_allclose(ends[0], graph.step_ns, rtol=1e-6)
    assert ends[0, 0] - ends[1, 0] == pytest.approx(REDUCED_NS, rel=0.02)  # all but the last one are hidden by computing


@pytest.mark.long
def test_a_thousand_ranks_are_replayed_within_five_seconds_and_600_mb() -> None:
    (cost,) = in_fresh_process("benchmarks.replays", "1000", "5000", "100", times=1)
    assert cost["cpu"] <= 5.0
    assert cost["mb"] <= 600.0
