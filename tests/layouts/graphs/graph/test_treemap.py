"""The treemap of parameters: rectangles against their definition, every byte in one of them, bounded for any graph."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.graphs.graph.treemap import EACH, HEIGHT, MOST, WIDTH, Treemap, picture, treemap
from layouts.kit.figures.treemap import Area, squarified
from parsers.analysis.graphs import network, scopes
from tests.parsers.analysis.graphs.made import frames, graphs, real_graph

AMOUNTS = st.lists(st.floats(0.01, 1e6), min_size=1, max_size=40).map(lambda found: sorted(found, reverse=True))
SIDES = st.floats(1, 2000)


def inside(inner: Area, outer: Area, slack: float = 1e-6) -> bool:
    return (
        inner.x >= outer.x - slack and inner.y >= outer.y - slack
        and inner.x + inner.width <= outer.x + outer.width + slack
        and inner.y + inner.height <= outer.y + outer.height + slack
    )  # fmt: skip


def overlap(one: Area, other: Area) -> float:
    across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return max(0.0, across) * max(0.0, down)


@given(AMOUNTS, SIDES, SIDES)
def test_areas_are_as_amounts_and_fill_the_whole_without_overlap(amounts: list[float], width: float, height: float) -> None:
    whole = Area(3.0, 5.0, width, height)
    found = squarified(amounts, whole)
    each = width * height / sum(amounts)
    for amount, area in zip(amounts, found, strict=True):
        # The least of very unequal amounts is what rounding leaves of the whole.
        assert area.width * area.height == pytest.approx(amount * each, rel=1e-6, abs=1e-13 * width * height)
        assert inside(area, whole, 1e-6 * max(width, height))
    for number, area in enumerate(found):
        assert sum(overlap(area, other) for other in found[:number]) <= 1e-6 * width * height


def test_the_example_of_the_paper() -> None:
    found = squarified([6, 6, 4, 3, 2, 2, 1], Area(0, 0, 6, 4))
    assert found[:2] == [Area(0, 0, 3, 2), Area(0, 2, 3, 2)]
    assert [(pytest.approx(area.width), pytest.approx(area.height)) for area in found[2:4]] == [(12 / 7, 7 / 3), (9 / 7, 7 / 3)]
    ratios = [max(area.width / area.height, area.height / area.width) for area in found]
    assert max(ratios) == pytest.approx(25 / 9)


def test_nothing_has_no_area() -> None:
    assert squarified([], Area(0, 0, 1, 1)) == []
    assert squarified([1.0], Area(0, 0, 0, 5)) == [Area(0, 0, 0.0, 0.0)]
    empty = treemap(scopes(network(*frames([], []))))
    assert empty.tiles == ()
    ET.fromstring(picture(empty))


def leaves(found: Treemap) -> list[Any]:
    return [tile for tile in found.tiles if not tile.opened]


def check(found: Treemap, tree: Any) -> None:
    """Every parameter of known size is in exactly one of the rectangles that are no frames; what is in a frame is within it."""
    assert sum(tile.bytes for tile in leaves(found)) == int(tree.parameter_bytes[found.scope])
    assert sum(tile.parameters for tile in leaves(found)) == int(tree.parameters[found.scope]) - found.unsized
    assert len(found.tiles) <= MOST + EACH + 1
    whole = Area(0, 0, WIDTH, HEIGHT)
    assert all(inside(tile.area, whole) for tile in found.tiles)
    drawn = [tile for tile in found.tiles if tile.kind != "rest"]
    assert len({tile.name for tile in drawn}) == len(drawn)
    at = leaves(found)
    if len(at) <= 60:
        assert sum(overlap(one.area, other.area) for n, one in enumerate(at) for other in at[:n]) < 1e-3


@given(graphs())
def test_every_byte_of_a_graph_is_in_one_rectangle(graph: Any) -> None:
    tree = scopes(network(*graph))
    for scope in range(len(tree)):
        found = treemap(tree, scope)
        check(found, tree)
        ET.fromstring(picture(found))


def test_a_real_graph_opens_down_to_its_parameters(real_data: Path) -> None:
    tree = scopes(network(*real_graph(real_data / "summary/graph_bert_train")))
    found = treemap(tree)
    check(found, tree)
    assert found.weight == "bytes"
    named = {tile.label for tile in found.tiles}
    assert {"optimizer-Adam", "0-EncoderLayer", "11-EncoderLayer"} <= {name.rpartition("/")[2] for name in named}
    assert dict(found.types).keys() == {"Tensor[Float32]", "Tensor[Int32]"}
    assert sum(size for _, size in found.types) == int(tree.parameter_bytes[0])
    inner = treemap(tree, tree.numbers["Default/optimizer-Adam"])
    check(inner, tree)
    assert {tile.kind for tile in inner.tiles} <= {"parameter", "rest"}


def test_a_graph_of_very_many_scopes_is_as_small_to_draw() -> None:
    nodes, edges = [], []
    for number in range(20_000):
        nodes.append((f"w{number}", "Parameter", "parameter", "Tensor[Float32]", f"{1 + number % 50}x8"))
        nodes.append((f"a/b{number}/op", "Add"))
        edges.append((2 * number, 2 * number + 1))
    tree = scopes(network(*frames(nodes, edges)))
    found = treemap(tree)
    check(found, tree)
    assert "rest" in {tile.kind for tile in found.tiles}
    assert len(json.dumps([tile.path for tile in found.tiles])) < 200_000


@pytest.mark.parametrize(("shape", "type_", "weight"), [("2x3", "Custom", "values"), ("", "Custom", "count")])
def test_what_has_no_known_size_is_shown_by_what_is_known(shape: str, type_: str, weight: str) -> None:
    nodes = [("w", "Parameter", "parameter", type_, shape), ("v", "Parameter", "parameter", type_, shape), ("a/op", "Add")]
    found = treemap(scopes(network(*frames(nodes, [(0, 2), (1, 2)]))))
    assert found.weight == weight
    assert [tile.label for tile in found.tiles if tile.kind == "parameter"] == ["w", "v"]
    sized = [*nodes, ("u", "Parameter", "parameter", "Tensor[Int8]", "4")]
    assert treemap(scopes(network(*frames(sized, [(0, 2), (1, 2), (3, 2)])))).unsized == 2


def test_names_are_text_in_the_picture() -> None:
    name = "<script>alert(1)</script>\x00"
    nodes = [(name.replace("/", "|"), "Parameter", "parameter"), ("a/op", "Add")]
    document = ET.fromstring(picture(treemap(scopes(network(*frames(nodes, [(0, 1)])))), dark=True))
    assert not [element for element in document.iter() if element.tag.endswith("script")]
    assert any("<script>" in (element.text or "") for element in document.iter())
