"""Traces of the page: what is asked, listed and marked."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from app.store.store import Store
from layouts.graphs.asks import DrawingRequest, read_of
from layouts.graphs.graph.tracing import TraceAsk, listed, read_trace, traced_boxes
from layouts.graphs.graph_views import Views
from layouts.kit.state import BadInput
from parsers import Graph
from tests.layouts.graphs.graph.recorded_graph import boxes, draw, jumps, texts, words


def reached(graph: Graph, row: int) -> set[int]:
    """What feeds a node, by a plain walk over the edges that carry values."""
    types = graph.nodes["type"].astype(str)
    edges = [e for e in graph.edges.itertuples() if e.kind == "data" and types[e.source] != "UpdateState"]
    found, waiting = {row}, [row]
    while waiting:
        now = waiting.pop()
        for edge in edges:
            if edge.target == now and edge.source not in found:
                found.add(edge.source)
                waiting.append(edge.source)
    return found


def test_ancestors_are_listed_counted_and_marked(store: Store, views: Views, graph: Graph) -> None:
    row = int((graph.nodes["type"] == "BiasAdd").to_numpy().nonzero()[0][-1])
    wanted = reached(graph, row)
    found = listed(views, words(store, trace=[f"up:0:n{row}"]))
    assert {jump for jump in jumps(found) if jump.startswith("n")} == {f"n{one}" for one in wanted}
    assert f"from {len(wanted) - 1} nodes" in texts(found)
    assert f"up:3:n{row}" in jumps(found, "data-trace")
    ask = DrawingRequest.read(words(store))
    keys = traced_boxes(views, ask, TraceAsk("up", f"n{row}"))
    drawing = boxes(draw(store, views))
    assert set(keys) <= drawing.keys()
    _, view = views.of(read_of(words(store)))
    for key, box in drawing.items():
        if box["data"]["kind"] == "operator" or (key[0] == "n" and "." not in key):
            assert (key in keys) == (int(key[1:]) in wanted)
    near = listed(views, words(store, trace=[f"up:1:n{row}"]))
    assert len(jumps(near)) < len(wanted)
    assert view.network.size == len(graph.nodes)


def test_a_path_is_asked_for_in_two_steps(store: Store, views: Views, graph: Graph) -> None:
    row = int((graph.nodes["type"] == "BiasAdd").to_numpy().nonzero()[0][-1])
    first = next(one for one in reached(graph, row) if graph.nodes["type"].iloc[one] == "Conv2D")
    assert "choose the other node" in texts(listed(views, words(store, trace=[f"path:n{row}:"])))
    # The direction does not matter.
    for ends in (f"path:n{row}:n{first}", f"path:n{first}:n{row}"):
        found = [jump for jump in jumps(listed(views, words(store, trace=[ends]))) if jump.startswith("n")]
        assert (found[0], found[-1]) == (f"n{first}", f"n{row}")
        pairs = {(f"n{e.source}", f"n{e.target}") for e in graph.edges.itertuples()}
        assert all(step in pairs for step in pairwise(found))
    assert "No path" in texts(listed(views, words(store, trace=[f"path:n{row}:n{row - row}x"])))
    assert listed(views, words(store)) == []
    assert listed(views, words(store, trace=["up:0:n99999"])) == []


@pytest.mark.parametrize("trace", ["up", "up:n5", "up:x:n5", "up:9999999:n5", "side:1:n5", "path:n5", "up:1:n5:n6", "up:-1:n5"])
def test_what_no_page_asks_is_refused(trace: str) -> None:
    data: Any = {"trace": [trace]}
    with pytest.raises(BadInput):
        read_trace(data)
