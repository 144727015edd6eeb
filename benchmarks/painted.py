"""CPU of painting a graph of 100,000 nodes by the times of a made profile of ten steps with 81,000 operators each.

The first answer groups 810,000 kernels and joins their names with nodes; then the step moves.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from benchmarks.graphs_data import transformer
from benchmarks.measure import Figure, in_fresh_process
from layouts.profiles.frames import ProfileFrame, ProfileRow
from layouts.runs.rows import RunRow
from parsers.deferred import pandas as pd
from parsers.graphs.graph import Graph

LAYERS, STEPS = 900, 10
RUN, SESSION = "run", "profiler"


def figures(times: int) -> list[Figure]:
    """Paint in fresh processes."""
    runs = in_fresh_process("benchmarks.painted", "paint", times=times)
    note = f"{runs[0]['nodes']:,.0f} nodes, {runs[0]['kernels']:,.0f} kernels"
    return [
        Figure(what, "CPU ms", bound, tuple(run[name] for run in runs), note if name == "first" else "")
        for what, name, bound in (
            ("painted graph: first answer, graph decoded", "first", 3_000.0),
            ("painted graph: next step", "next", 100.0),
            ("painted graph: next step, slowest of nine", "slowest", 100.0),
            ("painted graph: another scope open", "opened", 500.0),
        )
    ]


def paint() -> dict[str, float]:
    """Paint the made graph, step after step."""
    from layouts.graphs.graph.painting import Painter
    from layouts.graphs.graph_views import Views
    from parsers.graphs.anf_ir import read_graph
    from parsers.graphs.graph import Origin

    graph = read_graph(transformer(LAYERS), Origin("made"))
    source = _Made(graph)
    views = Views(source)
    painter = Painter(source, views)  # type: ignore[arg-type]

    def answer(step: int, *opened: str) -> float:
        asked = {"run": [RUN], "graph": ["made"], "simple": ["0"], "paint": ["time"], "at": [str(step)]}
        begun = time.process_time()
        found = painter.answer(asked | ({"open": list(opened)} if opened else {}))
        spent = 1000 * (time.process_time() - begun)
        if found["step"] != step or not found["boxes"]:
            raise RuntimeError(f"step {step}: {found['state']}")
        return spent

    first = answer(1)
    steps = [answer(step) for step in range(2, STEPS + 1)]
    opened = answer(1, "s:Gradients", "s:Gradients/Default")
    return {
        "first": first, "next": float(np.median(steps)), "slowest": max(steps), "opened": opened,
        "nodes": len(graph.nodes), "kernels": len(source.kernels),
    }  # fmt: skip


class _Made:
    """A source with one run that has the graph, and a profile of the same network with the columns that painting reads."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        names = graph.nodes["full_name"][(graph.nodes["kind"] == "operator").to_numpy()]
        size = STEPS * len(names)
        self.kernels = pd.DataFrame({
            "step": np.repeat(np.arange(1, STEPS + 1), len(names)), "name": pd.Categorical(np.tile(names.to_numpy(), STEPS)),
            "core": pd.Categorical.from_codes(np.zeros(size, np.int8), categories=pd.Index(["AI_CORE"])),
            "duration_ns": np.random.default_rng(0).integers(1_000, 1_000_000, size),
        })  # fmt: skip

    def graph(self, run: str, name: str) -> Graph:  # noqa: ARG002  there is one
        return self._graph

    def version(self, run: str) -> int:  # noqa: ARG002  it never changes
        return 1

    def runs(self) -> list[RunRow]:
        return [RunRow(RUN, RUN, "/made", "/made", (RUN,), None, 0.0, 0, "idle", tags={"graph": 1, "profile": 1})]

    def profiles(self, run: str) -> list[ProfileRow]:  # noqa: ARG002  there is one
        return [ProfileRow(SESSION, 0, "Ascend", (), 0, 0.0, ("kernels",), "mark")]

    def profile_frame(self, run: str, session: str, rank: int, name: str) -> ProfileFrame:  # noqa: ARG002  there is one
        return ProfileFrame("ready", self.kernels) if name == "kernels" else ProfileFrame("missing")

    def tags(self, run: str, kind: str) -> list[str]:  # noqa: ARG002  it has none
        return []


if __name__ == "__main__":
    print(json.dumps({"paint": paint}[sys.argv[1]]()))
