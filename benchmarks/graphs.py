"""Seconds and memory from the bytes of a graph to its frames: a real BERT's, and a generated one of 100,000 nodes."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from benchmarks.graphs_data import transformer
from benchmarks.measure import ROOT, Figure, anonymous_rss, in_fresh_process

REAL = "summary/graph_bert_train"
LAYERS = 900


def figures(times: int) -> list[Figure]:
    """Read each graph in fresh processes; the real one only if MINDSCOPE_TEST_DATA has it."""
    large = in_fresh_process("benchmarks.graphs", "large", times=times)
    note = f"{large[0]['nodes']:,.0f} nodes, {large[0]['edges']:,.0f} edges, {large[0]['mb']:,.0f} MB of protobuf"
    found = [
        Figure("made transformer: bytes to nodes and edges", "CPU s", 3.0, tuple(r["cpu"] for r in large), note),
        Figure("made transformer: memory of the process", "MB", 600.0, tuple(r["rss"] for r in large)),
        Figure("made transformer: attributes of 1,000 nodes", "CPU s", 0.1, tuple(r["attributes"] for r in large)),
    ]
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


def real(path: str) -> dict[str, float]:
    """Read the graph of a run."""
    from parsers import open_run

    run = open_run(path)
    begun = time.process_time()
    (graph,) = run.graphs.values()
    return {"cpu": time.process_time() - begun, "nodes": len(graph.nodes), "edges": len(graph.edges)}


if __name__ == "__main__":
    print(json.dumps(large() if sys.argv[1] == "large" else real(sys.argv[1])))
