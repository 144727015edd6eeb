from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.analysis.graphs import compare, network
from parsers.analysis.graphs.together import ADDED, SAME, together
from tests.amounts import examples
from tests.parsers.analysis.graphs.made import frames, graphs, real_graph, transformer


@given(graphs())
def test_a_graph_does_not_differ_from_itself(graph):
    one = network(*graph)
    found = compare(one, network(*graph))
    assert found.same
    assert (found.match == np.arange(one.size)).all()


@given(graphs(), st.randoms(use_true_random=False))
def test_neither_the_order_of_nodes_nor_that_of_edges_is_a_difference(graph, random):
    nodes, edges = graph
    nodes = nodes.drop_duplicates("full_name").reset_index(drop=True)
    edges = edges[(edges["source"] < len(nodes)) & (edges["target"] < len(nodes))]
    order = list(range(len(nodes)))
    random.shuffle(order)
    place = {row: at for at, row in enumerate(order)}
    other = edges.assign(source=edges["source"].map(place), target=edges["target"].map(place))
    other = other.astype({"source": "int32", "target": "int32"}).sample(frac=1, random_state=random.randint(0, 99))
    found = compare(network(nodes, edges), network(nodes.iloc[order].reset_index(drop=True), other))
    assert found.same


class Edits:
    """Edits to a graph, each at a node of its own, and what they should be found to be."""

    def __init__(self, graph, random):
        self.nodes = [dict(row) for row in graph[0].to_dict("records")]
        self.edges = [dict(row) for row in graph[1].to_dict("records")]
        self.random, self.touched = random, set()
        self.removed, self.added, self.changed = set(), [], {}
        self.gone, self.attributes = set(), [None] * len(self.nodes)

    def choose(self):
        row = self.random.choice([row for row in range(len(self.attributes)) if row not in self.touched])
        self.touched.add(row)
        return row

    def apply(self, kind):
        if kind == "add":
            scope = self.nodes[self.choose()]["scope"]
            name = f"Fresh-op{9000 + len(self.added)}"
            full = f"{scope}/{name}" if scope else name
            node = {**self.nodes[0], "name": name, "full_name": full, "scope": scope, "type": f"Fresh{len(self.added)}"}
            self.added.append(len(self.nodes))
            self.nodes.append({**node, "kind": "operator"})
            return
        row = self.choose()
        if kind == "remove":
            self.removed.add(row)
        elif kind == "unlink":
            mine = [place for place, edge in enumerate(self.edges) if edge["target"] == row and place not in self.gone]
            if mine:
                self.gone.add(self.random.choice(mine))
        elif kind == "attributes":
            self.attributes[row], self.changed[row] = "changed", ("attributes",)
        else:
            self.nodes[row][kind] = "Changed" if kind != "shape" else "777x3"
            self.changed[row] = (kind,)

    def frames(self, graph):
        kept = [row for row in range(len(self.nodes)) if row not in self.removed]
        place = {row: at for at, row in enumerate(kept)}
        edges = [
            {**edge, "source": place[edge["source"]], "target": place[edge["target"]]}
            for at, edge in enumerate(self.edges)
            if at not in self.gone and edge["source"] in place and edge["target"] in place
        ]
        nodes = pd.DataFrame([self.nodes[row] for row in kept], columns=graph[0].columns).astype(
            {name: "category" if str(kind) == "category" else kind for name, kind in graph[0].dtypes.items()}
        )
        links = pd.DataFrame(edges, columns=graph[1].columns).astype(
            {name: "category" if str(kind) == "category" else kind for name, kind in graph[1].dtypes.items()}
        )
        attributes = [(self.attributes[row] if row < len(self.attributes) else None) for row in kept]
        return nodes, links, attributes, place


KINDS = ("add", "remove", "unlink", "type", "shape", "output_type", "attributes")


def check(graph, kinds, random):
    edits = Edits(graph, random)
    for kind in kinds:
        edits.apply(kind)
    nodes, edges, attributes, place = edits.frames(graph)
    found = compare(network(*graph), network(nodes, edges), ([None] * len(graph[0]), attributes))
    assert set(found.removed.tolist()) == edits.removed
    assert set(found.added.tolist()) == {place[row] for row in edits.added}
    constants = {row for row, node in enumerate(graph[0]["kind"]) if node == "constant"}
    assert found.changed == {row: fields for row, fields in edits.changed.items() if row not in constants}
    lost = {
        at for at, edge in enumerate(edits.edges)
        if at in edits.gone or {edge["source"], edge["target"]} & edits.removed
    }  # fmt: skip
    assert set(found.edges_removed.tolist()) == lost
    assert found.edges_added.size == 0


@settings(max_examples=examples(25))
@given(st.lists(st.sampled_from(KINDS), max_size=8), st.randoms(use_true_random=False))
def test_edits_to_a_real_graph_are_found_and_nothing_else(real_data, kinds, random):
    check(real_graph(real_data / "summary/lenet_defaults"), kinds, random)


@pytest.mark.long
@settings(max_examples=examples(6))
@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_edits_to_a_large_real_graph_are_found_and_nothing_else(real_data, kinds, random):
    check(real_graph(real_data / "summary/graph_bert_train"), kinds, random)


@given(st.lists(st.sampled_from(KINDS), max_size=6), st.randoms(use_true_random=False))
def test_edits_to_a_made_graph_are_found_and_nothing_else(kinds, random):
    check(transformer(5), kinds, random)


def test_one_more_operator_that_renumbers_all_after_it_is_one_difference():
    shapes = [f"{n}x3" for n in range(20)]
    before = frames([(f"s/MatMul-op{n}", "MatMul", "operator", "Tensor[Float32]", shapes[n]) for n in range(20)], [])
    after = [(f"s/MatMul-op{n + 1}", "MatMul", "operator", "Tensor[Float32]", shapes[n]) for n in range(20)]
    after.insert(7, ("s/MatMul-op99", "MatMul", "operator", "Tensor[Float32]", "5x5x5"))
    found = compare(network(*before), network(*frames(after, [])))
    assert found.added.tolist() == [7]
    assert found.removed.size == 0
    assert found.changed == {}


def test_a_renamed_scope_is_found_by_structure():
    before = frames([("a/x", "MatMul"), ("a/y", "ReLU"), ("a/z", "Softmax")], [(0, 1), (1, 2)])
    after = frames([("b/x", "MatMul"), ("b/y", "ReLU"), ("b/z", "Softmax")], [(0, 1), (1, 2)])
    found = compare(network(*before), network(*after))
    assert found.changed == {0: ("scope",), 1: ("scope",), 2: ("scope",)}
    assert found.added.size == found.removed.size == found.edges_added.size == found.edges_removed.size == 0


def test_a_rename_and_a_rewired_input():
    before = frames([("a", "A"), ("b", "B"), ("c", "C")], [(0, 2)])
    after = frames([("a", "A"), ("b2", "B"), ("c", "C")], [(1, 2)])
    found = compare(network(*before), network(*after))
    assert found.changed == {1: ("name",)}
    assert (found.edges_removed.tolist(), found.edges_added.tolist()) == ([0], [0])


def test_what_only_passes_values_on_and_its_edges_are_no_difference():
    before = frames([("a", "Parameter", "parameter"), ("s/m", "MatMul"), ("s/r", "ReLU")], [(0, 1), (1, 2)])
    after = frames(
        [("a", "Parameter", "parameter"), ("s/m", "MatMul"), ("s/r", "ReLU"), ("s/Load-op1", "Load"), ("s/s", "Softmax")],
        [(0, 3), (3, 1), (1, 2), (2, 4)],
    )
    for one, other, gone, come in ((before, after, [], [4]), (after, before, [4], [])):
        found = compare(network(*one), network(*other))
        assert (found.counted.removed.tolist(), found.counted.added.tolist()) == (gone, come)
    found = compare(network(*before), network(*after))
    assert found.added.tolist() == [3, 4]
    assert found.counted.edges_added.tolist() == [3]
    state = together(network(*before), network(*after), found).state.tolist()
    assert state == [SAME, SAME, SAME, SAME, ADDED]


def test_a_generated_name_of_an_input_is_no_new_name():
    kinds = [("inputs0", "Parameter", "parameter"), ("s/m", "MatMul")]
    for name, changed in (("x", {}), ("inputs4", {})):
        found = compare(network(*frames(kinds, [(0, 1)])), network(*frames([(name, *kinds[0][1:]), kinds[1]], [(0, 1)])))
        assert (found.changed, found.removed.size, found.added.size) == (changed, 0, 0)
    named = [("y", *kinds[0][1:]), kinds[1]]
    found = compare(network(*frames(named, [(0, 1)])), network(*frames([("x", *kinds[0][1:]), kinds[1]], [(0, 1)])))
    assert found.changed == {0: ("name",)}


def test_everything_of_nothing_is_added():
    found = compare(network(*frames([], [])), network(*transformer(2)))
    assert len(found.added) == len(found.match[:0]) + len(transformer(2)[0])
    assert not found.same


@pytest.mark.parametrize(
    "pair", [("graph_bert_train", "graph_bert24_forward"), ("lenet_adam_lr0.01_b64", "lenet_sgd_lr0.05_b48")]
)
def test_matches_of_two_real_graphs_are_one_to_one_and_add_up(real_data, pair):
    one, other = (network(*real_graph(real_data / "summary" / name)) for name in pair)
    found = compare(one, other)
    matched = np.flatnonzero(found.match >= 0)
    assert (found.back[found.match[matched]] == matched).all()
    assert len(matched) + len(found.removed) == one.size
    assert len(matched) + len(found.added) == other.size
    reverse = compare(other, one)
    assert (len(reverse.added), len(reverse.removed)) == (len(found.removed), len(found.added))
