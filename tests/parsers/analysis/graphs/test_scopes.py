from __future__ import annotations

import numpy as np
from hypothesis import given

from parsers.analysis.graphs import network, scopes
from parsers.analysis.graphs.sizes import type_bytes, values
from tests.parsers.analysis.graphs.made import chain, frames, graphs, real_graph, transformer


def prefixes(path: str) -> list[str]:
    parts = path.split("/") if path else []
    return ["/".join(parts[:count]) for count in range(len(parts) + 1)]


def expected_home(nodes, edges, row) -> str:
    """By the words of the docstring, one node at a time."""
    scope = nodes["scope"].iloc[row]
    if nodes["kind"].iloc[row] == "operator" or scope:
        return scope
    taken = [t for s, t in zip(edges["source"], edges["target"], strict=True) if s == row]
    takers = [t for t in taken if nodes["kind"].iloc[t] == "operator"]
    return nodes["scope"].iloc[min(takers)] if takers else ""


@given(graphs())
def test_the_tree_is_what_one_gets_by_counting_names(graph):
    nodes, edges = graph
    tree = scopes(network(nodes, edges))
    homes = [expected_home(nodes, edges, row) for row in range(len(nodes))]
    assert [tree.paths[number] for number in tree.home] == homes
    assert {*tree.paths} == {"", *(path for home in homes for path in prefixes(home))}
    for number, path in enumerate(tree.paths):
        inside = {row for row, home in enumerate(homes) if path in prefixes(home)}
        assert {*tree.within(number).tolist()} == inside
        assert {*tree.own(number).tolist()} == {row for row, home in enumerate(homes) if home == path}
        kinds = [nodes["kind"].iloc[row] for row in inside]
        assert (tree.operators[number], tree.constants[number]) == (kinds.count("operator"), kinds.count("constant"))
        kept = sum(nodes["kind"].iloc[row] == "parameter" and bool(tree.stored[row]) for row in inside)
        assert tree.parameters[number] == kept
        assert [tree.paths[child] for child in tree.above(number)] == prefixes(path)[1:]
        below = [tree.paths[child] for child in tree.children(number)]
        assert sorted(below) == sorted({one for one in tree.paths if one and one.rpartition("/")[0] == path})
        types = [nodes["type"].iloc[row] for row in inside if nodes["kind"].iloc[row] == "operator"]
        assert tree.types(number) == {kind: types.count(kind) for kind in types}
        assert tree.label(number) == path.rpartition("/")[2]
        assert tree.parameter_bytes[number] == 24 * kept


@given(graphs())
def test_the_order_of_nodes_is_topological_wherever_one_is_possible(graph):
    net = network(*graph)
    rank = net.rank
    ahead = {row: set() for row in range(net.size)}
    operators = net.kind == 0
    for source, target in zip(net.source.tolist(), net.target.tolist(), strict=True):
        if operators[source] and operators[target]:
            ahead[source].add(target)

    def reaches(start, goal):
        seen, todo = set(), [start]
        while todo:
            for after in ahead[todo.pop()] - seen:
                seen.add(after)
                todo.append(after)
        return goal in seen

    own = rank[operators]
    assert len(set(own.tolist())) == len(own)
    for source, targets in ahead.items():
        for target in targets:
            assert rank[source] < rank[target] or reaches(target, source)


def test_a_real_training_graph_keeps_the_order_of_its_file_and_its_parameters(real_data):
    net = network(*real_graph(real_data / "summary/graph_bert_train"))
    tree = scopes(net)
    assert (tree.operators[0], tree.parameters[0], tree.constants[0]) == (2059, 598, 627), "without inputs0 and inputs1"
    assert np.array_equal(net.rank[:2059], np.arange(2059))
    optimizer = tree.numbers["Default/optimizer-Adam"]
    assert tree.types(optimizer)["Adam"] == 198
    layer = tree.numbers["Default/network-WithLossCell/_backbone-Bert/encoder-CellList/3-EncoderLayer"]
    assert tree.types(layer)["MatMul"] == 6
    columns = ("name", "shape", "kind", "output_type")
    assert tree.parameter_bytes[0] == sum(
        4 * int(np.prod([int(size) for size in shape.split("x")])) if shape != "[]" else 4
        for name, shape, kind, of in zip(*(net.nodes[column] for column in columns), strict=True)
        if kind == "parameter" and of == "Tensor[Float32]" and shape and not name.startswith("inputs")
    ) + sum(
        int(np.prod([int(size) for size in shape.split("x")])) * (8 if "64" in of else 4)
        for name, shape, kind, of in zip(*(net.nodes[column] for column in columns), strict=True)
        if kind == "parameter" and of.startswith("Tensor[Int") and shape and not name.startswith("inputs")
    )


def test_no_nodes_have_a_top_with_nothing_in_it():
    tree = scopes(network(*frames([], [])))
    assert tree.paths == [""]
    assert tree.within(0).size == 0
    assert tree.types(0) == {}


def test_a_name_of_very_many_parts_is_not_a_tree_as_deep():
    deep = "/".join("a" * 5000)
    tree = scopes(network(*frames([(f"{deep}/x", "A"), ("//b///y", "B")], [])))
    assert tree.depth.max() == 64
    assert "b" in tree.paths
    assert tree.home[0] > 0


def test_a_chain_of_many_nodes_and_a_circle_are_ordered():
    net = network(*chain(3000))
    assert np.array_equal(net.rank, np.arange(3000))
    nodes, edges = frames([("a", "A"), ("b", "B"), ("c", "C")], [(0, 1), (1, 2), (2, 0)])
    assert sorted(network(nodes, edges).rank.tolist()) == [0, 1, 2]


def test_edges_to_rows_that_do_not_exist_are_left_out():
    nodes, edges = frames([("a", "A"), ("b", "B")], [(0, 1), (0, 1), (1, 0)])
    edges.loc[1, "target"] = 9
    edges.loc[2, "source"] = -1
    assert network(nodes, edges).edge.tolist() == [0]


def test_layers_come_in_the_order_they_run_and_not_of_their_names():
    tree = scopes(network(*transformer(12)))
    encoder = tree.numbers["net/encoder"]
    assert [tree.label(child) for child in tree.children(encoder)] == [f"{number}-Layer" for number in range(12)]


def test_sizes_of_shapes_and_types():
    assert values(["32x3x224x224", "[]", "", "-1x4", "7", "0x5", "9" * 30]).tolist() == [4816896, 1, 0, 0, 7, 0, 0]
    texts = ["Tensor[Float32]", "Tensor[BFloat16]", "Bool", "Tensor[Int8]", "Int64", "Tuple[Tensor[Float32]]", "", "Complex128"]
    assert type_bytes(texts).tolist() == [4, 2, 1, 1, 8, 0, 0, 16]
