from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.analysis.graphs import network, simplified
from parsers.analysis.graphs.simplify import MOST
from tests.parsers.analysis.graphs.made import frames, real_graph

THROUGH = {"Load": 1, "Depend": 1, "TupleGetItem": 1, "MakeTuple": 99, "UpdateState": 0}
SCOPES = ("net", "net", "net/a", "Gradients/net", "optimizer-Adam", "net/optimizer")


@st.composite
def training(draw):
    size = draw(st.integers(1, 25))
    types = st.sampled_from((*THROUGH, "MatMul", "Add"))
    kinds = st.sampled_from(("operator",) * 6 + ("parameter", "constant"))
    some = [(f"{draw(st.sampled_from(SCOPES))}/x{row}", draw(types), draw(kinds)) for row in range(size)]
    node = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(node, node, st.sampled_from(("data", "data", "data", "control"))), max_size=3 * size))
    return frames(some, edges)


def expected(nodes, edges):
    """The same by walking back from every input, one at a time."""
    rows = nodes.to_dict("records")
    links = [tuple(row) for row in edges[["source", "target", "input", "kind"]].itertuples(index=False)]

    def gone(row):
        scope = rows[row]["scope"]
        parts = [part.lower() for part in scope.split("/")]
        return rows[row]["kind"] == "operator" and ("gradients" in parts or any(part.startswith("optimizer") for part in parts))

    def passes(row):
        return rows[row]["kind"] == "operator" and rows[row]["type"] in THROUGH and not gone(row)

    def makers(row, seen):
        found = set()
        for source, target, place, kind in links:
            if target != row or kind == "control" or place >= THROUGH[rows[row]["type"]] or gone(source):
                continue
            if not passes(source):
                found.add(source)
            elif source not in seen:
                seen.add(source)
                found |= makers(source, seen)
        return found

    wanted = Counter()
    for source, target, place, _ in links:
        if gone(source) or gone(target) or passes(target):
            continue
        if not passes(source):
            wanted[source, target, place] += 1
        else:
            for maker in makers(source, {source}):
                wanted[maker, target, place] = 1
    return wanted, [row for row in range(len(rows)) if gone(row)], [row for row in range(len(rows)) if passes(row)]


@given(training())
def test_edges_are_what_one_finds_by_walking_back(graph):
    less = simplified(network(*graph))
    wanted, gone, passing = expected(*graph)
    net = less.network
    taken = {key[0] for key in wanted if net.kind[key[1]] == 0}
    unused = {row for row in range(net.size) if net.kind[row] > 0 and row not in taken}
    wanted = Counter({key: count for key, count in wanted.items() if not unused & set(key[:2])})
    assert Counter(zip(net.source.tolist(), net.target.tolist(), net.input.tolist(), strict=True)) == wanted
    hidden = set(gone) | set(passing)
    assert {row for row in range(net.size) if not net.shown[row] and net.kind[row] == 0} == hidden
    assert {row for row in range(net.size) if not net.shown[row] and net.kind[row] > 0} == unused
    assert sum(less.hidden.values()) == len(hidden) + len(unused)
    assert less.hidden["unused"] == len(unused)


def test_values_go_over_any_number_of_hops_and_keep_the_input_they_go_to():
    nodes = [("w", "Parameter", "parameter"), *((f"l{n}", "Load") for n in range(50)), ("a", "Add"), ("b", "MatMul")]
    edges = [*((n, n + 1) for n in range(50)), (51, 52), (50, 52)]
    net = simplified(network(*frames(nodes, edges))).network
    assert list(zip(net.source.tolist(), net.target.tolist(), net.input.tolist(), strict=True)) == [(51, 52, 0), (0, 52, 1)]
    assert net.edge.tolist() == [50, -1]


def test_a_tuple_of_very_many_values_stays():
    many = MOST + 5
    nodes = [*((f"v{n}", "Add") for n in range(many)), ("t", "MakeTuple"), *((f"g{n}", "TupleGetItem") for n in range(many))]
    nodes += [(f"o{n}", "MatMul") for n in range(many)]
    edges = [(n, many) for n in range(many)]
    edges += [(many, many + 1 + n) for n in range(many)] + [(many + 1 + n, 2 * many + 1 + n) for n in range(many)]
    less = simplified(network(*frames(nodes, edges)))
    assert less.network.shown[many]
    assert len(less.network.source) == 2 * many
    assert less.hidden["TupleGetItem"] == many
    assert less.hidden["MakeTuple"] == 0


@pytest.mark.parametrize(("run", "gradient", "optimizer"), [("graph_bert_train", 770, 607), ("graph_bert24_forward", 0, 0)])
def test_real_graphs_lose_what_is_named_so(real_data, run, gradient, optimizer):
    nodes, edges = real_graph(real_data / "summary" / run)
    less = simplified(network(nodes, edges))
    assert (less.hidden["gradient"], less.hidden["optimizer"]) == (gradient, optimizer)
    operators = nodes[nodes["kind"] == "operator"]
    assert gradient == operators["full_name"].str.startswith("Gradients").sum()
    assert optimizer == operators["full_name"].str.contains("/optimizer-").sum()
    left = nodes[less.network.shown]
    assert not set(left["type"]) & {"Load", "Depend", "MakeTuple", "TupleGetItem", "UpdateState"}
    taken = set(less.network.source.tolist()) | set(less.network.target.tolist())
    assert all(row in taken for row in np.flatnonzero(less.network.shown & (less.network.kind > 0)))


def test_nothing_is_hidden_of_nothing():
    less = simplified(network(*frames([], [])))
    assert not any(less.hidden.values())
