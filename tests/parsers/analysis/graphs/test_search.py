from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.analysis.graphs import GraphView, network, search
from parsers.analysis.graphs.search import MOST
from tests.parsers.analysis.graphs.made import chain, frames, graphs, transformer

TEXTS = st.sampled_from(("", "a", "x", "a/b", "CELL", "y", "<i>", "zzz"))


@given(graphs(), TEXTS, st.sampled_from(("", "~mul", "~ADD", "add", "Mul")))
def test_it_finds_what_going_through_all_names_finds(graph, text, kind):
    view = GraphView(network(*graph))
    found = search(view, text, type=kind)
    rows = [
        row
        for row, (name, of) in enumerate(zip(graph[0]["full_name"], graph[0]["type"], strict=True))
        if text.lower() in name.lower()
        and (kind[1:].lower() in of.lower() if kind[:1] == "~" else kind.lower() in ("", of.lower()))
    ]
    assert sorted(found.rows) == rows
    assert found.total == len(rows)
    if text and not kind:
        paths = view.scopes.paths
        assert sorted(paths[n] for n in found.scopes) == sorted(
            p for p in paths[1:] if text.lower() in p.rpartition("/")[2].lower()
        )


def test_whole_last_parts_come_first_then_those_in_it_then_scopes():
    view = GraphView(network(*frames([("add/x", "A"), ("a/badd", "A"), ("b/add", "A"), ("b/ADD-2", "A")], [])))
    assert search(view, "add").rows == (2, 1, 3, 0)


def test_a_pattern_is_matched_by_what_was_given():
    view = GraphView(network(*transformer(12)))

    def matching(pattern, names):
        return [name for name in names if re.search(pattern, name)]

    found = search(view, r"/[37]-Layer/Add-op\d+$", matching=matching)
    assert [view.network.full_names[row] for row in found.rows] == [
        "net/encoder/3-Layer/Add-op3",
        "net/encoder/7-Layer/Add-op7",
    ]
    found = search(view, r"[37]-Layer$", matching=matching)
    assert [view.scopes.label(number) for number in found.scopes] == ["3-Layer", "7-Layer"]

    def failing(pattern, names):
        raise ValueError("too slow")

    with pytest.raises(ValueError, match="too slow"):
        search(view, "a", matching=failing)


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [("8x128", [0]), ("8×128", [0]), ("(8, 128)", [0]), ("?x128", [0, 3]), ("*x128", [0, 1, 3]), ("8x*", [0, 1]),
     ("*", [0, 1, 2, 3]), ("8x?x128", [1]), ("[]", [2]), ("128", []), ("8", [])],
)  # fmt: skip
def test_shapes(shape, wanted):
    shapes = ("8x128", "8x2x128", "[]", "4x128")
    view = GraphView(network(*frames([(f"n{n}", "A", "operator", "Tensor[Float16]", one) for n, one in enumerate(shapes)], [])))
    assert sorted(search(view, shape=shape).rows) == wanted
    assert search(view, shape=shape, dtype="float16").total == len(wanted)
    assert search(view, shape=shape, dtype="float32").total == 0


def test_kinds_and_how_many_are_listed():
    view = GraphView(network(*transformer(5)))
    assert search(view, kind="parameter").total == 15
    assert search(view, "no such name").total == 0
    assert search(view, kind="nonsense").total == 0
    many = search(GraphView(network(*chain(3000))), "N")
    assert (len(many.rows), many.total) == (MOST, 3000)


def test_any_hit_can_be_revealed():
    view = GraphView(network(*transformer(12)))
    for row in search(view, "9-layer").rows:
        key, shown = view.reveal(row)
        assert key in [item.key for item in view.visible(shown).items]
