from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
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
    assume(not less.kept)  # a tuple that is put into itself has more values than are passed on
    wanted, gone, passing = expected(*graph)
    net = less.network
    used = {key[0] for key in wanted if net.kind[key[1]] == 0}
    unused = {row for row in range(net.size) if net.kind[row] > 0 and row not in used}
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


def taken(less):
    net = less.network
    return set(zip(net.source.tolist(), net.target.tolist(), net.output.tolist(), net.input.tolist(), strict=True))


@pytest.mark.parametrize("written", ["{}", "I64({})", "Int64Imm({})"])
def test_what_takes_an_element_takes_what_was_put_in_its_place(written):
    nodes = [
        ("a", "Add"), ("b", "MatMul"), ("t", "MakeTuple"), ("l", "Load"), ("u", "MakeTuple"), ("g", "TupleGetItem"),
        ("h", "TupleGetItem"), ("x", "Mul"), (written.format(1), "Const", "constant"), (written.format(0), "Const", "constant"),
        ("split", "Split"), ("s", "TupleGetItem"), ("y", "Neg"),
    ]  # fmt: skip
    # ((a, b), b) at 0, then at 1, is b; element 1 of an operator of several outputs is its output 1.
    edges = [
        (0, 2), (1, 2), (2, 3), (3, 4), (1, 4), (4, 5), (9, 5), (5, 6), (8, 6), (6, 7), (10, 11), (8, 11), (11, 12), (4, 12),
    ]  # fmt: skip
    wanted = {(1, 7, 0, 0), (10, 12, 1, 0), (0, 12, 0, 1), (1, 12, 0, 1)}
    assert taken(simplified(network(*frames(nodes, edges)))) == wanted
    # What a constant is may be told apart from its name.
    named = [(f"cst{place}" if len(node) > 2 else node[0], *node[1:]) for place, node in enumerate(nodes)]
    values = {8: "1", 9: "0"}
    assert taken(simplified(network(*frames(named, edges)), lambda row: values[row])) == wanted


def test_the_primitive_of_a_dot_file_is_no_input():
    nodes = [("P", "Primitive", "constant"), ("a", "Add"), ("b", "Mul"), ("l", "Load"), ("x", "Neg"), ("d", "Depend")]
    edges = [(0, 3), (1, 3), (2, 3), (3, 5), (3, 4)]
    assert taken(simplified(network(*frames(nodes, edges)))) == {(1, 4, 0, 0)}


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_elements_of_tuples_within_tuples_are_what_python_takes(sizes, random):
    """Tuples of earlier values made at random, and then taken apart at random, against tuples of Python."""
    nodes = [(f"v{row}", "Add") for row in range(3)] + [(str(place), "Const", "constant") for place in range(5)]
    values, edges, row_of = {row: row for row in range(3)}, [], {place: 3 + place for place in range(5)}
    for size in sizes:
        row, tuples = len(nodes), [one for one, value in values.items() if isinstance(value, tuple) and value]
        if size and not (tuples and random.random() < 0.5):
            inputs = [random.choice(list(values)) for _ in range(size)]
            nodes.append((f"t{row}", "MakeTuple"))
            values[row] = tuple(values[one] for one in inputs)
            edges += [(one, row) for one in inputs]
        elif tuples:
            source = random.choice(tuples)
            place = random.randrange(len(values[source]))
            nodes.append((f"g{row}", "TupleGetItem"))
            values[row] = values[source][place]
            edges += [(source, row), (row_of[place], row)]
    last = len(nodes) - 1
    nodes.append(("out", "Neg"))
    edges.append((last, last + 1))

    def held(value):
        return {value} if isinstance(value, int) else {one for inner in value for one in held(inner)}

    wanted = held(values[last]) if last in values else {last}
    assert {source for source, target, *_ in taken(simplified(network(*frames(nodes, edges)))) if target == last + 1} == wanted


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
    assert less.kept == 1


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
    used = set(less.network.source.tolist()) | set(less.network.target.tolist())
    assert all(row in used for row in np.flatnonzero(less.network.shown & (less.network.kind > 0)))


def test_nothing_is_hidden_of_nothing():
    less = simplified(network(*frames([], [])))
    assert not any(less.hidden.values())
