from __future__ import annotations

import itertools
import json
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.graphs.figure import arrange, elements, minimap, picture, stylesheet
from layouts.graphs.figure.boxes import HEADER
from parsers.analysis.graphs import GraphView, OpenScopes, network
from tests.parsers.analysis.graphs.made import chain, frames, graphs, real_graph, transformer


def opened(view: GraphView, choices: list[int]) -> OpenScopes:
    shown = OpenScopes()
    for choice in choices:
        keys = [i.key for i in view.visible(shown).items if i.kind in ("scope", "fold", "stack") and not i.opened]
        if keys:
            shown = OpenScopes((*shown.opened, keys[choice % len(keys)]))
    return shown


def sides(box):
    return box.x - box.width / 2, box.x + box.width / 2, box.y - box.height / 2, box.y + box.height / 2


def check(visible, arrangement):
    """Boxes are in their frames, none over another of the same frame, and nothing beside a box is over another box."""
    of = {number: sides(box) for number, box in enumerate(arrangement.boxes)}
    frames: dict[int, list[tuple[float, ...]]] = {}
    for number, item in enumerate(visible.items):
        left, right, top, bottom = of[number]
        if item.parent >= 0:
            a, b, c, d = of[item.parent]
            assert a <= left + 0.01
            assert right <= b + 0.01
            assert c + HEADER * arrangement.scale <= top + 0.01
            assert bottom <= d + 0.01
        beside = [sides(box) for box in arrangement.beside[number]]
        frames.setdefault(item.parent, []).append((min([left, *(one[0] for one in beside)]), right, top, bottom))
        assert left >= -0.01
        assert right <= arrangement.width + 0.01
        assert bottom <= arrangement.height + 0.01
    for boxes in frames.values():
        for (a, b, c, d), (e, f, g, h) in itertools.combinations(boxes, 2):
            assert b <= e or f <= a or d <= g or h <= c


@given(graphs(), st.lists(st.integers(0, 99), max_size=8))
def test_boxes_are_in_their_frames_and_over_no_other(graph, choices):
    view = GraphView(network(*graph))
    visible = view.visible(opened(view, choices))
    arrangement = arrange(visible)
    check(visible, arrangement)
    assert len(arrangement.bends) == len(visible.links)
    assert arrangement == arrange(visible)


@given(graphs(), st.lists(st.integers(0, 99), max_size=8))
def test_elements_are_json_with_ids_of_one_each_and_ends_that_exist(graph, choices):
    view = GraphView(network(*graph))
    visible = view.visible(opened(view, choices))
    found = elements(visible, arrange(visible))
    assert json.loads(json.dumps(found)) == found
    ids = [one["data"]["id"] for one in found]
    assert len(ids) == len(set(ids))
    nodes = {one["data"]["id"] for one in found if "position" in one}
    for one in found:
        if "source" in one["data"]:
            assert {one["data"]["source"], one["data"]["target"]} <= nodes
            assert one["data"]["source"] in one["data"]["id"]
            assert one["data"]["target"] in one["data"]["id"]


def test_every_key_that_the_stylesheet_reads_is_in_the_elements_it_is_for():
    view = GraphView(network(*transformer(8)))
    visible = view.visible(opened(view, [0, 0, 1, 2]))
    found = elements(visible, arrange(visible))
    for rule in stylesheet(dark=True):
        wanted = {value[5:-1] for value in rule["style"].values() if isinstance(value, str) and value.startswith("data(")}
        for selector in rule["selector"].split(", "):
            kind, _, name = selector.partition(".")
            for one in found:
                if ("source" in one["data"]) == kind.startswith("edge") and (not name or name in one["classes"].split()):
                    assert wanted <= one["data"].keys()


def test_a_bend_given_to_cytoscape_is_where_it_was():
    nodes, edges = frames([(name, name) for name in "abcdef"], [(n, n + 1) for n in range(5)] + [(0, 5)])
    visible = GraphView(network(nodes, edges)).visible(OpenScopes())
    arrangement = arrange(visible)
    link = next(one for one in elements(visible, arrangement) if one["data"]["id"] == "n0>n5")["data"]
    begin, end = arrangement.boxes[0], arrangement.boxes[5]
    dx, dy = end.x - begin.x, end.y - begin.y
    length = (dx * dx + dy * dy) ** 0.5
    # As in cytoscape.js 3.28, src/extensions/renderer/base/coord-ele-math/edge-control-points.mjs, findSegmentsPoints.
    points = [
        (begin.x + dx * weight - dy / length * distance, begin.y + dy * weight + dx / length * distance)
        for weight, distance in zip(link["weights"], link["distances"], strict=True)
    ]
    place = next(number for number, one in enumerate(visible.links) if (one.source, one.target) == (0, 5))
    for x, y in arrangement.bends[place]:
        assert any(abs(x - a) < 0.2 and abs(y - b) < 0.2 for a, b in points)


@pytest.mark.long
@pytest.mark.parametrize("run", ["graph_bert_train", "graph_resnet50_train", "lenet_defaults"])
def test_real_graphs_stay_within_what_a_browser_draws(real_data, run):
    view = GraphView(network(*real_graph(real_data / "summary" / run)))
    shown = OpenScopes()
    for _ in range(8):
        visible = view.visible(shown)
        arrangement = arrange(visible)
        assert max(arrangement.width, arrangement.height) <= 45_000
        check(visible, arrangement)
        closed = [i.key for i in visible.items if i.kind in ("scope", "fold", "stack") and not i.opened]
        shown = OpenScopes((*[key for key in shown.opened if key not in visible.closed], *closed[:4]))


def test_a_chain_of_20_000_is_drawn_in_pages():
    view = GraphView(network(*chain(20_000, ("A", "B", "C"))))
    visible = view.visible(OpenScopes())
    arrangement = arrange(visible)
    assert len(visible.items) == 301
    assert max(arrangement.width, arrangement.height) < 10_000


def test_hostile_names_are_text_in_every_picture():
    names = ['<script>alert("x")</script>', "a&b'c", "line\nbreak", "\x00\ufffe", "层/卷积" * 30]
    view = GraphView(network(*frames([(f"s{n}/{name}", name) for n, name in enumerate(names)], [(n, n + 1) for n in range(4)])))
    visible = view.visible(OpenScopes(tuple(i.key for i in view.visible(OpenScopes()).items)))
    for draw in (picture, minimap):
        text = draw(visible, arrange(visible), dark=True)
        text.encode("utf-8")
        root = ElementTree.fromstring(text)
        assert not [one for one in root.iter() if one.tag.endswith("script")]


def test_nothing_is_an_empty_drawing():
    visible = GraphView(network(*frames([], []))).visible(OpenScopes())
    assert elements(visible, arrange(visible)) == []
    ElementTree.fromstring(picture(visible, arrange(visible)))
