from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given

from parsers import open_run
from parsers.analysis.graphs import network, scopes
from parsers.analysis.graphs.counts import FLAG, operator_types, parameters, precision, scope_parameters
from tests.parsers.analysis.graphs.made import frames, graphs, real_graph, transformer


@given(graphs())
def test_types_are_counted(graph):
    nodes = graph[0][graph[0]["kind"] == "operator"]
    table = operator_types(network(*graph))
    assert dict(zip(table["type"], table["count"], strict=True)) == Counter(nodes["type"])
    assert table["count"].is_monotonic_decreasing
    assert dict(zip(table["type"], table["scopes"], strict=True)) == {
        kind: len(set(nodes[nodes["type"] == kind]["scope"])) for kind in set(nodes["type"])
    }
    assert not len(table) or table["share"].sum() == pytest.approx(1)


@given(graphs())
def test_sizes_of_scopes_add_up(graph):
    tree = scopes(network(*graph))
    table = scope_parameters(tree)
    many = int((graph[0]["kind"] == "parameter").sum())
    listed = parameters(tree)
    assert len(listed) == many
    assert listed["stored"].is_monotonic_decreasing, "inputs come last"
    listed = listed[listed["stored"]]
    assert table["own_bytes"].sum() == len(listed) * 24
    for row in table.itertuples():
        mine = listed[(listed["scope"] == row.scope) | listed["scope"].str.startswith(f"{row.scope}/" if row.scope else "")]
        assert (len(mine), mine["bytes"].sum()) == (row.parameters, row.bytes)
    if len(table):
        assert table.iloc[0]["scope"] == ""
        assert set(table["parent"]) <= set(table["scope"])


def test_largest_parameters_come_first():
    sizes = ("4x4", "", "100", "[]", "-1x3")
    nodes = [(f"w{n}", "Parameter", "parameter", "Tensor[Float16]", shape) for n, shape in enumerate(sizes)]
    table = parameters(scopes(network(*frames([*nodes, ("a/op", "Add")], [(n, 5) for n in range(5)]))))
    assert table["name"].tolist() == ["w2", "w0", "w3", "w1", "w4"]
    assert table["bytes"].tolist() == [200, 32, 2, 0, 0]
    assert set(table["scope"]) == {"a"}


def test_reduced_operators_come_first_then_raised_then_the_rest():
    nodes = [(f"s/op{n}", "Cast") for n in range(4)] + [("w", "Parameter", "parameter")]
    table = precision(network(*frames(nodes, [])), {1: "raise", 2: "reduce"})
    assert table["name"].tolist() == ["op2", "op1", "op0", "op3"]
    assert table["reduced"].tolist() == ["yes", "no", "", ""]
    assert table["full_name"].tolist()[0] == "s/op2"
    assert precision(network(*frames(nodes, [])), {1: "raise", 2: "reduce"}, every=False)["name"].tolist() == ["op2", "op1"]


def test_real_numbers(real_data):
    nodes, edges = real_graph(real_data / "summary/graph_resnet50_train")
    net = network(nodes, edges)
    table = operator_types(net).set_index("type")["count"]
    assert (table["Conv2D"], table["BatchNorm"], table.sum()) == (53, 53, 1455)
    tree = scopes(net)
    assert scope_parameters(tree).iloc[0]["parameters"] == 593, "without inputs0 and inputs1"
    run = open_run(real_data / "summary/graph_resnet50_train")
    graph = run.graphs[next(iter(run.graphs))]
    table = precision(net, graph.having(FLAG))
    assert len(table) == 1455
    assert set(table["flag"]) == {""}


def test_tables_of_nothing_have_their_columns():
    tree = scopes(network(*frames([], [])))
    for table in (
        operator_types(tree.network),
        parameters(tree),
        scope_parameters(tree),
        precision(tree.network, {}),
    ):
        assert isinstance(table, pd.DataFrame)
        assert table.empty
    assert scope_parameters(scopes(network(*transformer(2)))).iloc[0]["bytes"] == 6 * 24
