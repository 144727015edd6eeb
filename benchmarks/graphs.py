"""Seconds and memory from the bytes of a graph to its frames: a real BERT's, and a generated one of 100,000 nodes.

Also how long the generated one takes to be drawn: opened for the first time, and again from its snapshot in the index; then
simplified, and its statistics.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from app.store.graphs.snapshots import GraphSnapshots
from benchmarks.graphs_data import transformer
from benchmarks.measure import ROOT, Figure, anonymous_rss, in_fresh_process
from parsers.graphs.graph import Graph
from parsers.graphs.reader import read_file

REAL = "summary/graph_bert_train"
LAYERS = 900
GRAPH = "ms_output_optimize_0.pb"


def figures(times: int) -> list[Figure]:
    """Read each graph in fresh processes; the real one only if MINDSCOPE_TEST_DATA has it."""
    large = in_fresh_process("benchmarks.graphs", "large", times=times)
    note = f"{large[0]['nodes']:,.0f} nodes, {large[0]['edges']:,.0f} edges, {large[0]['mb']:,.0f} MB of protobuf"
    found = [
        Figure("made transformer: bytes to nodes and edges", "CPU s", 3.0, tuple(r["cpu"] for r in large), note),
        Figure("made transformer: memory of the process", "MB", 600.0, tuple(r["rss"] for r in large)),
        Figure("made transformer: attributes of 1,000 nodes", "CPU s", 0.1, tuple(r["attributes"] for r in large)),
    ]
    shown = in_fresh_process("benchmarks.graphs", "shown", times=times)
    found += [
        Figure(f"made transformer: {what}", "CPU ms", bound, tuple(r[name] for r in shown))
        for what, name, bound in (
            ("opened for the first time, drawn", "first", 3_000.0), ("reopened from the index, drawn", "again", 500.0),
            ("not simplified any more, drawn", "whole", 500.0), ("simplified, drawn", "simple", 500.0),
            ("statistics", "statistics", 500.0),
        )
    ]  # fmt: skip
    base = Path(os.environ.get("MINDSCOPE_TEST_DATA", ROOT.parent / "shared" / "data"))
    if (base / REAL).is_dir():
        real = in_fresh_process("benchmarks.graphs", str(base / REAL), times=times)
        note = f"{real[0]['nodes']:,.0f} nodes, {real[0]['edges']:,.0f} edges"
        what = "BERT-12 training graph: file to nodes and edges"
        found.append(Figure(what, "CPU s", 0.15, tuple(r["cpu"] for r in real), note))
    return found


def large() -> dict[str, float]:
    """Read the generated graph from bytes."""
    from parsers.graphs.anf_ir import read_graph
    from parsers.graphs.graph import Origin

    data = transformer(LAYERS)
    begun = time.process_time()
    graph = read_graph(data, Origin("made"))
    read = time.process_time()
    for node in range(0, 100_000, 100):
        graph.attributes(node)
    done = time.process_time()
    if graph.problems:
        raise RuntimeError(graph.problems[0].text)
    return {
        "cpu": read - begun, "attributes": done - read, "rss": anonymous_rss(), "mb": len(data) / 2**20,
        "nodes": len(graph.nodes), "edges": len(graph.edges),
    }  # fmt: skip


def shown() -> dict[str, float]:
    """Draw the generated graph as the page first does, with a new server each time."""
    from layouts.graphs.asks import DrawingRequest
    from layouts.graphs.drawing import drawn
    from layouts.graphs.graph.statistics import statistics
    from layouts.graphs.graph_views import Views

    spent: dict[str, float] = {}

    def draw(name: str, views: Views, simple: str) -> None:
        ask = DrawingRequest.read({"run": ["run"], "graph": [GRAPH], "simple": [simple]})
        begun = time.process_time()
        if not drawn(views, ask)["elements"]:
            raise RuntimeError(f"{name}: nothing is drawn")
        spent[name] = 1000 * (time.process_time() - begun)

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, GRAPH).write_bytes(transformer(LAYERS))
        Path(folder, "small").mkdir()
        Path(folder, "small", GRAPH).write_bytes(transformer(2))
        stored = GraphSnapshots(os.path.join(folder, "index"))
        draw("warm", Views(_Files(os.path.join(folder, "small"), stored)), "auto")  # imports, and what is compiled once
        draw("first", Views(_Files(folder, stored)), "auto")
        stored.stop()
        stored = GraphSnapshots(os.path.join(folder, "index"))
        views = Views(_Files(folder, stored))
        draw("again", views, "auto")
        draw("whole", views, "0")
        other = Views(_Files(folder, stored))
        draw("of_other", other, "0")
        draw("simple", other, "1")
        begun = time.process_time()
        statistics(views, DrawingRequest.read({"run": ["run"], "graph": [GRAPH], "simple": ["1"]}).of)
        spent["statistics"] = 1000 * (time.process_time() - begun)
        stored.stop()
    return spent


class _Files:
    """The graph of a folder, read anew by each of these."""

    def __init__(self, folder: str, stored: GraphSnapshots) -> None:
        self._path, self._stored = os.path.join(folder, GRAPH), stored
        self._graph: Graph | None = None

    def graph(self, run: str, name: str) -> Graph:  # noqa: ARG002  there is one
        if self._graph is None:
            self._graph = read_file(self._path, None, self._stored)
        return self._graph

    def version(self, run: str) -> int:  # noqa: ARG002  it never changes
        return 1


def real(path: str) -> dict[str, float]:
    """Read the graph of a run."""
    from parsers import open_run

    run = open_run(path)
    begun = time.process_time()
    (graph,) = run.graphs.values()
    return {"cpu": time.process_time() - begun, "nodes": len(graph.nodes), "edges": len(graph.edges)}


if __name__ == "__main__":
    made = {"large": large, "shown": shown}
    print(json.dumps(made[sys.argv[1]]() if sys.argv[1] in made else real(sys.argv[1])))
