"""MindSpore's graphs in protobuf: counts, columns and edges against the protobuf library, damage, odd names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from parsers import EDGES, NODES, Graph, open_run
from parsers.graphs.anf_ir import read_graph, sniff
from parsers.graphs.graph import Origin
from tests.parsers.graphs.reference import graph_of

COUNTS = {
    "graph_bert_train": (2059, 600, 627),
    "graph_bert24_forward": (1292, 391, 21),
    "graph_resnet50_train": (1455, 595, 740),
    "graph_control_flow": (1, 8, 0),
}


def read(data: bytes) -> Graph:
    graph = read_graph(data, Origin("file"))
    NODES.check(graph.nodes)
    EDGES.check(graph.edges)
    return graph


def kinds(graph: Graph) -> tuple[int, ...]:
    counted = graph.nodes["kind"].value_counts()
    return tuple(int(counted.get(kind, 0)) for kind in ("operator", "parameter", "constant"))


def assert_equal(graph: Graph, wanted: Any) -> None:
    """The frames against the messages, row by row."""
    named = [one.name for one in (*wanted.node, *wanted.parameters)] + [one.key for one in wanted.const_vals]
    assert graph.nodes["name"].tolist() == named
    operators = graph.nodes[: len(wanted.node)]
    assert operators["type"].tolist() == [node.op_type for node in wanted.node]
    assert operators["instance"].tolist() == [node.instance_name for node in wanted.node]
    assert operators["full_name"].tolist() == [node.full_name for node in wanted.node]
    ids = {name: row for row, name in reversed(list(enumerate(named)))}
    edges = [
        (ids[one.name], row, place, "control" if one.type == 1 else "data")
        for row, node in enumerate(wanted.node)
        for place, one in enumerate(node.input)
        if one.name in ids
    ]
    found = graph.edges[["source", "target", "input", "kind"]].itertuples(index=False, name=None)
    assert list(found) == edges
    for row, node in enumerate(wanted.node):
        assert len(graph.attributes(row)) == len(node.attribute) + node.HasField("output_i")
    assert graph.outputs == tuple(ids[one.name] for one in wanted.outputs)


@pytest.mark.parametrize("run", COUNTS)
def test_graphs_of_real_runs(run: str, real_data: Path) -> None:
    opened = open_run(real_data / "summary" / run)
    (name,) = opened.graphs
    graph = opened.graphs[name]
    place = opened.graphs.places[name]
    with open(place.path, "rb") as file:
        wanted = graph_of(file.read()[place.offset : place.offset + place.length])
    assert kinds(graph) == COUNTS[run] == (len(wanted.node), len(wanted.parameters), len(wanted.const_vals))
    assert opened.kinds()["graph"] == 1
    if run == "graph_control_flow":
        assert [problem.kind for problem in graph.problems] == ["bad_graph"]
        assert "control flow" in graph.problems[0].text
        return
    assert_equal(graph, wanted)
    assert not graph.problems


def test_saved_graphs(real_data: Path) -> None:
    paths = sorted((real_data / "ir").glob("*/*.pb"))
    assert len(paths) == 12
    for path in [*paths, real_data / "mindinsight_legacy/graph_pb/lenet.pb"]:
        data = path.read_bytes()
        assert sniff(data[:4096])
        graph = read(data)
        assert_equal(graph, graph_of(data))
        assert kinds(graph) == ((104, 20, 37) if path.name == "lenet.pb" else (len(graph_of(data).node), 21, 18))
        assert not graph.problems
