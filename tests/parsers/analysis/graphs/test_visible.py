from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.analysis.graphs import GraphView, OpenScopes, Visible, network
from parsers.analysis.graphs.blocks import block_hashes
from tests.parsers.analysis.graphs.made import chain, frames, graphs, real_graph, transformer


def view(graph) -> GraphView:
    return GraphView(network(*graph))


def openable(drawn: Visible) -> list[str]:
    return [item.key for item in drawn.items if item.kind in ("scope", "fold", "stack") and not item.opened]


def label_of(drawn: Visible, key: str):
    return next(item for item in drawn.items if item.key == key)


def open_some(found: GraphView, choices: list[int]) -> tuple[OpenScopes, Visible]:
    """Open boxes one after the other, as a visitor does."""
    shown = OpenScopes()
    for choice in choices:
        keys = openable(found.visible(shown))
        if keys:
            shown = OpenScopes((*shown.opened, keys[choice % len(keys)]))
    return shown, found.visible(shown)


def boxes_of_nodes(found: GraphView, drawn: Visible) -> dict[int, int]:
    """The innermost box that each operator is in, found by going through the members of every box."""
    tree = found.scopes
    box: dict[int, int] = {}
    for number, item in enumerate(drawn.items):
        rows = list(item.members)
        if item.kind in ("scope", "stack"):
            rows = [row for scope in item.members for row in tree.within(scope).tolist()]
        if item.kind in ("node", "fold", "scope", "stack"):
            box.update({row: number for row in rows if found.network.kind[row] == 0})
    return box


@given(graphs(), st.lists(st.integers(0, 99), max_size=6))
def test_every_edge_between_boxes_is_in_one_link_and_every_operator_in_one_box(graph, choices):
    found = view(graph)
    _, drawn = open_some(found, choices)
    box = boxes_of_nodes(found, drawn)
    assert box.keys() == {row for row in range(found.network.size) if found.network.kind[row] == 0}
    assert all(not drawn.items[number].opened for number in box.values())
    edges = Counter()
    for source, target in zip(graph[1]["source"], graph[1]["target"], strict=True):
        if source in box and target in box and box[source] != box[target]:
            edges[box[source], box[target]] += 1
    hubs = Counter(pair[0] for pair in edges) + Counter(pair[1] for pair in edges)
    if max(hubs.values(), default=0) <= 20:
        assert edges == {(link.source, link.target): link.count for link in drawn.links}
    for link in drawn.links:
        assert graph[1]["kind"].iloc[link.edge] == link.kind or link.kind in ("data", "proxy")


@given(graphs(), st.lists(st.integers(0, 99), max_size=6))
def test_keys_are_of_one_box_each_and_frames_come_before_what_is_in_them(graph, choices):
    found = view(graph)
    shown, drawn = open_some(found, choices)
    keys = [item.key for item in drawn.items]
    assert len(keys) == len(set(keys))
    for number, item in enumerate(drawn.items):
        assert item.parent < number
        assert item.parent < 0 or drawn.items[item.parent].opened
        assert item.opened == (item.key in shown.opened)


@given(graphs())
def test_parameters_and_constants_are_beside_the_nodes_that_take_them(graph):
    found = view(graph)
    _, drawn = open_some(found, list(range(12)))
    for item in drawn.items:
        if item.kind == "node":
            given = {
                source
                for source, target in zip(graph[1]["source"], graph[1]["target"], strict=True)
                if target == item.members[0] and found.network.kind[source] > 0
            }
            assert {row for small in item.beside if small.kind != "proxy" for row in small.nodes} == given
    bare = found.visible(OpenScopes(tuple(i.key for i in drawn.items if i.opened), parameters=False, constants=False))
    assert not [small for item in bare.items for small in item.beside if small.kind != "proxy"]


@given(graphs(largest=60))
def test_any_node_can_be_revealed(graph):
    found = view(graph)
    for row in range(found.network.size):
        key, shown = found.reveal(row)
        wanted = row if found.network.kind[row] == 0 else int(found.network.first_consumer[row])
        assert key == (f"n{wanted}" if wanted >= 0 else "")
        if key:
            assert key in [item.key for item in found.visible(shown).items]


def test_boxes_open_and_close_pages_turn_and_what_is_revealed_comes_on_top():
    shown = OpenScopes(("s1", "s2"), {"": 300}, constants=False)
    assert shown.toggled("s1").opened == ("s2",)
    assert shown.toggled("s3").opened == ("s1", "s2", "s3")
    assert shown.turned("", -500).pages == {"": 0}
    assert shown.turned("s1", 300).pages == {"": 300, "s1": 300}
    more = shown.also(OpenScopes(("s1", "f9"), {"": 0}))
    assert (more.opened, more.pages, more.constants) == (("s2", "s1", "f9"), {"": 0}, False)


def test_nothing_is_drawn_of_nothing():
    assert view(frames([], [])).visible(OpenScopes()) == Visible((), ())


def test_twelve_equal_layers_are_one_stack_that_opens_any_member():
    found = view(transformer(12))
    shown = OpenScopes(("s" + str(found.scopes.numbers["net"]), "s" + str(found.scopes.numbers["net/encoder"])))
    drawn = found.visible(shown)
    stack = next(item for item in drawn.items if item.kind == "stack")
    assert len(stack.members) == 12
    assert stack.label == "0-Layer"
    middle = stack.members[5]
    drawn = found.visible(OpenScopes((*shown.opened, f"s{middle}")))
    parts = [(item.kind, len(item.members)) for item in drawn.items if item.kind in ("stack", "scope")]
    assert Counter(parts) == Counter([("scope", 1)] * 5 + [("stack", 5), ("stack", 6)])
    assert label_of(drawn, f"s{middle}").label == "5-Layer"
    drawn = found.visible(OpenScopes((*shown.opened, stack.key)))
    assert [item.label for item in drawn.items if item.parent == drawn.items.index(label_of(drawn, stack.key))] == [
        f"{number}-Layer" for number in range(12)
    ]


def test_layers_that_differ_in_one_shape_or_in_wiring_are_in_no_stack():
    nodes, edges = transformer(6)
    found = view((nodes, edges))
    children = found.scopes.children(found.scopes.numbers["net/encoder"])
    assert len(set(block_hashes(found.scopes, children).values())) == 1
    shapes = nodes["shape"].astype("str")
    shapes[found.scopes.within(children[2])[-1]] = "9x9"
    changed = view((nodes.assign(shape=shapes.astype("category")), edges))
    hashes = block_hashes(changed.scopes, children)
    assert len({hashes[child] for number, child in enumerate(children) if number != 2}) == 1
    assert hashes[children[2]] != hashes[children[0]]
    inner = edges.index[(edges["source"] == 6) & (edges["target"] == 7)]
    assert len(inner) == 1
    rewired = view((nodes, edges.drop(inner)))
    hashes = block_hashes(rewired.scopes, children)
    assert [hashes[child] == hashes[children[1]] for child in children] == [False, True, True, True, True, True]


def test_parallel_siblings_of_one_type_are_an_aggregate_and_alternating_ones_are_not():
    nodes = [("in", "Split"), *((f"m{n}", "Mul") for n in range(5)), ("out", "Join")]
    edges = [*((0, n) for n in range(1, 6)), *((n, 6) for n in range(1, 6))]
    drawn = view(frames(nodes, edges)).visible(OpenScopes())
    assert [(item.kind, item.label, item.count) for item in drawn.items] == [
        ("node", "in", 1),
        ("fold", "Mul", 5),
        ("node", "out", 1),
    ]
    assert [(link.source, link.target, link.count) for link in drawn.links] == [(0, 1, 5), (1, 2, 5)]
    drawn = view(chain(12, ("Reshape", "Transpose"))).visible(OpenScopes())
    assert {item.kind for item in drawn.items} == {"node"}


@given(graphs(largest=60))
def test_folding_makes_no_cycle_of_a_graph_without_one(graph):
    nodes, edges = graph
    forward = edges[edges["source"] < edges["target"]].reset_index(drop=True)
    types = nodes["type"].astype("str").str.replace("UpdateState", "Other")
    nodes = nodes.assign(type=types.astype("category"))
    forward = forward.assign(kind=forward["kind"].astype("str").str.replace("control", "data").astype("category"))
    scopes = nodes["scope"].astype("str") * 0
    drawn = view((nodes.assign(scope=scopes.astype("category")), forward)).visible(OpenScopes())
    after = {number: set() for number in range(len(drawn.items))}
    for link in drawn.links:
        after[link.source].add(link.target)
    while after:
        ends = [number for number, more in after.items() if not more & after.keys()]
        assert ends
        for number in ends:
            del after[number]


def test_a_scope_of_very_many_children_is_drawn_in_pages_in_topological_order():
    found = view(chain(1000, ("A", "B")))
    drawn = found.visible(OpenScopes())
    assert [item.key for item in drawn.items] == [*(f"n{row}" for row in range(300)), ">"]
    assert drawn.items[-1].count == 700
    drawn = found.visible(OpenScopes(pages={"": 300}))
    assert [item.key for item in drawn.items] == ["<", *(f"n{row}" for row in range(300, 600)), ">"]
    assert (0, 1) in [(link.source, link.target) for link in drawn.links]
    drawn = found.visible(OpenScopes(pages={"": 5000}))
    assert [item.key for item in drawn.items] == ["<", "n999"]


def test_hubs_are_drawn_with_the_nearest_few_and_proxies():
    nodes = [("hub", "Mask"), *((f"t{n}", f"T{n}") for n in range(30))]
    drawn = view(frames(nodes, [(0, n) for n in range(1, 31)])).visible(OpenScopes())
    more = next(item for item in drawn.items if item.kind == "more")
    assert more.count == 26
    assert sum(link.source == 0 for link in drawn.links) == 5
    proxies = [item for item in drawn.items if item.beside]
    assert len(proxies) == 26
    assert {small.box for item in proxies for small in item.beside} == {"n0"}
    gathers = view(frames(nodes, [(n, 0) for n in range(1, 31)])).visible(OpenScopes())
    hub = gathers.items.index(label_of(gathers, "n0"))
    assert sum(link.target == hub for link in gathers.links) == 5
    assert next(item for item in gathers.items if item.kind == "more").count == 26


@pytest.mark.long
def test_never_more_elements_than_the_cap_and_what_was_opened_last_stays_open():
    nodes = [(f"s{scope}/n{node}", f"T{scope}.{node}") for scope in range(40) for node in range(250)]
    edges = [(row, row + 1) for row in range(9999)]
    found = view(frames(nodes, edges))
    keys = tuple(item.key for item in found.visible(OpenScopes()).items)
    drawn = found.visible(OpenScopes(keys))
    assert drawn.elements <= 2000
    assert drawn.closed
    assert label_of(drawn, keys[-1]).opened
    assert drawn.page < 300


@pytest.mark.long
@pytest.mark.parametrize("run", ["graph_bert_train", "graph_resnet50_train", "graph_bert24_forward", "graph_control_flow"])
def test_every_box_of_a_real_graph_opens(real_data, run):
    found = view(real_graph(real_data / "summary" / run))
    shown = OpenScopes()
    for _ in range(12):
        drawn = found.visible(shown)
        assert drawn.elements <= 2000
        opened = [key for key in shown.opened if key not in drawn.closed]
        shown = OpenScopes((*opened, *openable(drawn)[-3:]))


def test_the_layers_of_a_real_transformer_are_a_stack(real_data):
    found = view(real_graph(real_data / "summary/graph_bert24_forward"))
    _, shown = found.reveal(100)
    encoder = found.scopes.numbers["Default/encoder-CellList"]
    drawn = found.visible(OpenScopes((f"s{found.scopes.numbers['Default']}", f"s{encoder}")))
    assert [(item.label, len(item.members)) for item in drawn.items if item.kind == "stack"] == [("1-EncoderLayer", 23)]
    assert shown.opened[0] == f"s{found.scopes.numbers['Default']}"


@pytest.mark.parametrize("key", ["", "n", "s", "s-1", "s99999", "k1", "f0", "f999999", "s1.5", "<", ">s0", "s" + "9" * 40])
def test_keys_of_nothing_are_ignored(key):
    found = view(transformer(4))
    assert found.visible(OpenScopes((key,))).items
    assert found.visible(OpenScopes(pages={key: 3})).items
