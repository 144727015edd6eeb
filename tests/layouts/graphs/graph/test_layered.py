from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.graphs.figure.crossings import reduce_crossings
from layouts.graphs.figure.layered import GAP_X, NodeSpace, backward, layered


@st.composite
def acyclic(draw, largest=25):
    size = draw(st.integers(1, largest))
    cells = [NodeSpace(*draw(st.tuples(*[st.integers(5, 90)] * 3))) for _ in range(size)]
    node = st.integers(0, size - 1)
    edges = {(min(a, b), max(a, b)) for a, b in draw(st.lists(st.tuples(node, node), max_size=3 * size)) if a != b}
    return cells, sorted(edges)


@given(acyclic())
def test_no_two_boxes_touch_and_every_edge_goes_down(graph):
    cells, edges = graph
    drawn = layered(cells, edges)
    boxes = [
        (x - cell.left, x + cell.right, y - cell.height / 2, y + cell.height / 2)
        for cell, x, y in zip(cells, drawn.x, drawn.y, strict=True)
    ]
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(boxes, 2):
        assert b <= e - 1 or f <= a - 1 or d <= g - 1 or h <= c - 1
    assert min(box[0] for box in boxes) >= -1e-6
    assert min(box[2] for box in boxes) >= -1e-6
    assert max(box[1] for box in boxes) <= drawn.width + 1e-6
    assert max(box[3] for box in boxes) <= drawn.height + 1e-6
    assert drawn.routes.keys() == set(edges)
    if drawn.height < 3000:
        for (upper, lower), bends in drawn.routes.items():
            heights = [drawn.y[upper], *(y for _, y in bends), drawn.y[lower]]
            assert heights == sorted(heights)
            assert heights[0] < heights[-1]


@given(acyclic(60), st.integers(3, 12))
def test_an_edge_over_several_layers_passes_through_no_box(graph, many):
    cells, edges = graph
    drawn = layered(cells, edges)
    if drawn.height > 3000:
        return
    for (upper, lower), bends in drawn.routes.items():
        for x, y in bends:
            for node, cell in enumerate(cells):
                inside = abs(y - drawn.y[node]) < cell.height / 2 - 1e-6
                assert not (inside and drawn.x[node] - cell.left + 1 < x < drawn.x[node] + cell.right - 1)
        assert upper < lower


@given(acyclic())
def test_a_drawing_is_the_same_every_time(graph):
    assert layered(*graph) == layered(*graph)


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30))
def test_turned_edges_leave_no_cycle_and_none_is_turned_without_one(size, pairs):
    edges = sorted({(a % size, b % size) for a, b in pairs if a % size != b % size})
    turned = backward(size, edges)
    after = {node: {b for a, b in edges if a == node and (a, b) not in turned} for node in range(size)}
    for upper, lower in turned:
        after[lower].add(upper)
    reach = {node: closure(node, {n: {b for a, b in edges if a == n} for n in range(size)}) for node in range(size)}
    assert all(upper in reach[lower] for upper, lower in turned)
    assert all(node not in closure(node, after) for node in range(size))


def closure(start, after):
    seen, todo = set(), [start]
    while todo:
        for node in after[todo.pop()] - seen:
            seen.add(node)
            todo.append(node)
    return seen


def crossings(layers, above):
    count = 0
    for upper, lower in itertools.pairwise(layers):
        ends = [(upper.index(end), place) for place, node in enumerate(lower) for end in above[node]]
        count += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in itertools.combinations(ends, 2))
    return count


@given(st.lists(st.integers(1, 5), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_crossings_never_become_more_and_come_near_to_the_fewest(sizes, random):
    layers, above = [], []
    for size in sizes:
        row = list(range(len(above), len(above) + size))
        above += [[end for end in (layers[-1] if layers else []) if random.random() < 0.4] for _ in row]
        layers.append(row)
    before = crossings(layers, above)
    ordered = [list(row) for row in layers]
    reduce_crossings(ordered, above)
    assert [sorted(row) for row in ordered] == layers
    assert crossings(ordered, above) <= before
    if sum(sizes) <= 8 and len(sizes) == 2:
        orders = itertools.product(itertools.permutations(layers[0]), itertools.permutations(layers[1]))
        fewest = min(crossings([list(upper), list(lower)], above) for upper, lower in orders)
        assert crossings(ordered, above) <= 3 * fewest + 3


def test_a_tree_has_no_crossing_and_a_chain_is_one_straight_line():
    tree = [(node, child) for node in range(7) for child in (2 * node + 1, 2 * node + 2)]
    drawn = layered([NodeSpace(20, 20, 20)] * 15, tree)
    for one, other in itertools.combinations(tree, 2):
        a, b = (drawn.x[end] for end in one)
        c, d = (drawn.x[end] for end in other)
        if drawn.y[one[0]] == drawn.y[other[0]] and one[0] != other[0]:
            assert (a - c) * (b - d) > 0
    assert drawn.x[0] == pytest.approx((drawn.x[1] + drawn.x[2]) / 2)
    chain = layered([NodeSpace(10 + node, 10 + node, 20) for node in range(9)], [(node, node + 1) for node in range(8)])
    assert max(chain.x) - min(chain.x) < 1e-6


def test_a_residual_edge_is_straight_beside_its_chain():
    drawn = layered([NodeSpace(30, 30, 20)] * 6, [*((node, node + 1) for node in range(5)), (0, 5)])
    xs = {round(x, 6) for x, _ in drawn.routes[0, 5]}
    assert len(xs) == 1
    assert abs(xs.pop() - drawn.x[2]) < 30 + GAP_X + 30


def test_a_long_chain_is_cut_into_bands():
    drawn = layered([NodeSpace(40, 40, 28)] * 2000, [(node, node + 1) for node in range(1999)])
    assert drawn.height < 12_000
    assert drawn.width < 30_000
    assert 0.5 < drawn.width / drawn.height < 4


def test_many_nodes_without_edges_are_a_block():
    drawn = layered([NodeSpace(40, 40, 28)] * 300, [])
    assert 0.5 < drawn.width / drawn.height < 4


def test_a_wide_layer_becomes_several():
    drawn = layered([NodeSpace(60, 60, 28)] * 201, [(0, node) for node in range(1, 201)])
    assert drawn.width < 6_000
