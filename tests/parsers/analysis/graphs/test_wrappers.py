"""Graphs of which one wraps the network of the other: what is matched, and what differs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.graphs import compare, network, simplified
from parsers.analysis.graphs.network import Network
from parsers.analysis.graphs.wrappers import within, wrapper

WRAPPED = "Default/network-WithLossCell/_backbone-Bert"


def test_the_wrapper_is_where_most_scopes_are() -> None:
    plain = ["Default", "Default/a", "Default/a/b", "Default/c"]
    assert wrapper(plain, ["Default", *(f"Default/w/{path[8:]}" for path in plain[1:])]) == ("Default", "Default/w")
    assert wrapper(plain, plain) is None
    assert wrapper(plain, ["Default/x", "Gradients/Default/a"]) is None
    assert wrapper([], plain) is None
    assert within(["Default/a", "Default", "Defaults", "x"], ("Default", "Default/w")) == [
        "Default/w/a", "Default/w", "Defaults", "x",
    ]  # fmt: skip


def test_a_forward_graph_in_its_training_loses_nothing(real_data: Path) -> None:
    graph = next(iter(open_run(real_data / "summary/graph_bert24_forward").graphs.values()))
    forward = network(graph.nodes, graph.edges)
    # The same network within two more scopes, with 300 operators of gradients after it.
    nodes = graph.nodes.copy()
    for column in ("full_name", "scope"):
        nodes[column] = nodes[column].astype(str).str.replace(r"^Default(?=/|$)", WRAPPED, regex=True)
    more = nodes[nodes["kind"] == "operator"].head(300).copy()
    more["scope"] = "Gradients/" + more["scope"].astype(str)
    more["full_name"] = "Gradients/" + more["full_name"].astype(str)
    nodes = pd.concat([nodes.astype(str), more.astype(str)], ignore_index=True)
    nodes = nodes.astype(graph.nodes.dtypes.to_dict() | dict.fromkeys(("scope", "type", "kind"), "category"))
    for name in ("output_type", "shape", "subgraph"):
        nodes[name] = nodes[name].astype(str).astype("category")
    training = network(nodes, graph.edges)
    found = compare(forward, training)
    assert (len(found.removed), len(found.added), len(found.changed)) == (0, 300, 0)
    assert found.added.tolist() == list(range(len(graph.nodes), len(graph.nodes) + 300))
    back = compare(training, forward)
    assert (len(back.removed), len(back.added), len(back.changed)) == (300, 0, 0)


@pytest.fixture
def pair(real_data: Path) -> list[Network]:
    runs = [open_run(real_data / f"summary/graph_resnet50_{kind}") for kind in ("forward", "train")]
    graphs = [next(iter(run.graphs.values())) for run in runs]
    return [network(graph.nodes, graph.edges) for graph in graphs]


def test_a_real_training_has_all_operators_of_its_forward_graph(pair: list[Network]) -> None:
    forward, training = pair
    found = compare(forward, training)
    # In training, batch norms take their parameters themselves: what is missing only passes values on.
    missing = {forward.types[forward.type[row]] for row in found.removed.tolist()}
    assert missing <= {"Load", "MakeTuple", "UpdateState", "Depend"}
    assert not np.isin(found.removed, np.flatnonzero(simplified(forward).network.shown)).any()
    assert len(found.changed) <= 2
