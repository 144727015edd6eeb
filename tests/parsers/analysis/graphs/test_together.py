from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given

from parsers.analysis.graphs import STATES, GraphView, OpenScopes, compare, marks, network, simplified, together
from tests.parsers.analysis.graphs.made import frames, graphs, real_graph


@given(graphs(20), graphs(20))
def test_both_graphs_are_in_it_whole(one, other):
    first, second = network(*one), network(*other)
    found = compare(first, second)
    both = together(first, second, found)
    assert both.network.size == first.size + len(found.added)
    state = Counter(STATES[code] for code in both.state.tolist())
    assert (state["added"], state["removed"], state["changed"]) == (
        len(found.counted.added), len(found.counted.removed), len(found.changed)
    )  # fmt: skip
    back = {int(row): place for place, row in enumerate(both.second.tolist()) if row >= 0}
    assert set(back) == set(range(second.size))
    edges = Counter(zip(both.network.source.tolist(), both.network.target.tolist(), strict=True))
    mine = Counter(zip(first.source.tolist(), first.target.tolist(), strict=True))
    theirs = Counter((back[s], back[t]) for s, t in zip(second.source.tolist(), second.target.tolist(), strict=True))
    assert all(edges[pair] >= many for pair, many in (mine | theirs).items())
    assert edges.keys() == mine.keys() | theirs.keys()


def test_boxes_are_marked_by_what_is_in_them():
    one = frames([("a/x", "A"), ("a/y", "B"), ("b/z", "C"), ("c/w", "D")], [(0, 1), (1, 2), (2, 3)])
    other = frames([("a/x", "A"), ("a/y", "Changed"), ("d/q", "E"), ("c/w", "D")], [(0, 1), (1, 2), (2, 3)])
    first, second = network(*one), network(*other)
    both = together(first, second, compare(first, second))
    view = GraphView(both.network)
    visible = view.visible(OpenScopes())
    found = marks(visible, view.scopes, both.state)
    assert {view.scopes.paths[int(key[1:])]: mark for key, mark in found.items()} == {
        "a": "changed",
        "b": "removed",
        "d": "added",
    }
    visible = view.visible(OpenScopes(tuple(item.key for item in visible.items)))
    found = marks(visible, view.scopes, both.state)
    assert {key: mark for key, mark in found.items() if key[0] == "n"} == {"n1": "changed", "n2": "removed", "n4": "added"}


def test_a_graph_with_itself_has_no_marks(real_data):
    first = simplified(network(*real_graph(real_data / "summary/graph_bert_train"))).network
    both = together(first, first, compare(first, first))
    view = GraphView(both.network)
    assert marks(view.visible(OpenScopes()), view.scopes, both.state) == {}
    assert np.array_equal(view.scopes.operators[:1], GraphView(first).scopes.operators[:1])
    assert len(both.network.source) == len(first.source)
