"""Replays of a job of 1,000 ranks x 5,000 kernels x 100 operations in one step: graph and ten changes beside frames."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from benchmarks.measure import Figure, in_fresh_process

RANKS, KERNELS, OPERATIONS = 1_000, 5_000, 100


def figures(times: int) -> list[Figure]:
    """Both from frames in memory, in fresh processes."""
    found = in_fresh_process("benchmarks.replays", str(RANKS), str(KERNELS), str(OPERATIONS), times=times)
    what = f"{RANKS:,} ranks x {KERNELS:,} kernels: graph and ten what-ifs"
    return [
        Figure(what, "CPU s", 5.0, tuple(one["cpu"] for one in found), f"the graph {found[0]['graph']:.1f} s"),
        Figure("the same: most memory beside the frames", "MB", 600.0, tuple(one["mb"] for one in found)),
    ]


def cost(ranks: int, kernels: int, operations: int) -> dict[str, float]:
    """CPU seconds of the graph and of all, and by how many MB the process grew at most beyond its frames."""
    from parsers.analysis.jobs.replay import changes
    from parsers.analysis.jobs.replay.graph import graph_of
    from parsers.analysis.jobs.replay.replaying import replayed_all, unchanged
    from tests.simulations.large_jobs import large_job

    frames = large_job(ranks, kernels, operations)
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the most memory is counted from here on
    begun = time.process_time()
    graph = graph_of(frames)
    made = time.process_time()
    free = [changes.communication_free(graph, collectives=only, most=most) for only in (False, True) for most in (False, True)]
    slow = [changes.fast_as_peers(graph, places) for places in ([0], [1], [2], [3, 4])]
    asked = [*free, *slow, changes.gaps_closed(graph), changes.link_as_others(graph, 0, 1, 0.5)]
    replayed_all(graph, [unchanged(graph), *asked])
    return {"graph": made - begun, "cpu": time.process_time() - begun, "mb": (_status("VmHWM") - before) / 2**20}


def _status(name: str) -> int:
    """A line of /proc/self/status, in bytes."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[name].split()[0]) * 1024


if __name__ == "__main__":
    print(json.dumps(cost(*map(int, sys.argv[1:4]))))
