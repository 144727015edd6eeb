"""How often critical paths are right in task graphs whose path is known (`tests.simulations.task_graphs`).

A path is right if at least RIGHT of the range has the right kind, and the right slice where a slice runs.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from parsers.profiler.trace import chrome, critical
from tests.amounts import some_or_every
from tests.simulations.task_graphs import Layout, TaskGraph, draw, simulate, text

RIGHT = 0.98
EVERY, SOME = 100, 6
SHORT, LONG = (1.5, 4.0), (15.0, 100.0)
KINDS = {
    "device": "device", "computation": "device", "communication": "device", "event": "queue", "sync": "synchronisation",
    "handoff": "launch", "thread": "host",
}  # fmt: skip
RUNS = frozenset({"device", "host"})
"""Kinds in which a slice runs; what lies between two of them has no slice of its own."""
Part = tuple[int, int, str, object]


def both(graph: TaskGraph, folder: Path) -> tuple[list[Part], list[Part]]:
    """Return the true path of the last step and ours, in ns since the begin of the trace: start, end, kind, slice."""
    path = folder / "rank.pt.trace.json"
    path.write_text(text(graph))
    trace = chrome.read(str(path))
    first = min(one.start for one in graph.slices)
    begin, end = graph.steps[-1] if graph.layout.steps > 1 else (0, graph.duration)
    true: list[Part] = []
    for part in graph.path(begin, end):
        one = graph.slices[part.slice]
        true.append((part.start, part.end, KINDS.get(part.kind, part.kind), (one.name, one.start, one.end)))
    found = critical.path(trace, begin - first, end - first)
    ours: list[Part] = []
    columns = (found[name].tolist() for name in ("start_ns", "duration_ns", "kind", "row", "name"))
    for start, length, kind, row, name in zip(*columns, strict=True):
        at = int(trace.slices.start[row]) + first
        named = (name, at, at + int(trace.slices.duration[row])) if row >= 0 else None
        ours.append((start + first, start + first + length, KINDS.get(kind, kind), named))
    return true, ours


def shares(true: list[Part], ours: list[Part]) -> tuple[float, float]:
    """Return the shares of the range with the right kind, and with the right slice as well."""
    kind = both_right = total = first = second = 0
    while first < len(true) and second < len(ours):
        one, other = true[first], ours[second]
        length = max(min(one[1], other[1]) - max(one[0], other[0]), 0)
        total += length
        kind += length * (one[2] == other[2])
        both_right += length * (one[2] == other[2] and (one[2] not in RUNS or one[3] == other[3]))
        first, second = (first + 1, second) if one[1] <= other[1] else (first, second + 1)
    return kind / total, both_right / total


def counted(layouts: list[Layout], folder: Path) -> tuple[int, int]:
    """Return how many paths have the right slices, and the right kinds."""
    found = [shares(*both(simulate(one), folder)) for one in layouts]
    return sum(own >= RIGHT for _, own in found), sum(kind >= RIGHT for kind, _ in found)


@some_or_every
@pytest.mark.parametrize(
    ("seed", "steps", "launch_us", "slices", "kinds"),
    [(9_100, 10, None, 0.90, 0.95), (9_200, 1, LONG, 0.80, 0.84), (9_300, 1, SHORT, 0.89, 0.89)],
    ids=["ten steps", "one step, long delays", "one step, short delays"],
)  # fmt: skip
def test_what_is_critical_is_on_the_path(
    seed: int, steps: int, launch_us: tuple[float, float] | None, slices: float, kinds: float, every: bool, tmp_path: Path
) -> None:
    random = np.random.default_rng(seed)
    drawn = [replace(draw(random), steps=steps) for _ in range(EVERY if every else SOME)]
    drawn = drawn if launch_us is None else [replace(one, launch_us=launch_us) for one in drawn]
    right = counted(drawn, tmp_path)
    assert right[0] >= np.floor(slices * len(drawn))
    assert right[1] >= np.floor(kinds * len(drawn))


def test_a_call_has_the_time_that_it_ran_itself(tmp_path: Path) -> None:
    graph = simulate(Layout(seed=3, launches=40, kernel_us=4.0, streams=1, sync_at_end=False))
    true, ours = both(graph, tmp_path)
    longest = max(end - start for start, end, kind, _ in true if kind == "host")
    assert max(end - start for start, end, kind, _ in ours if kind == "host") <= longest + 5_000
