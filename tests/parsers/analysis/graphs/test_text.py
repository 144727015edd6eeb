from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.analysis.graphs import GraphView, OpenScopes, network
from parsers.analysis.graphs.text import as_json, dot, quoted, visible_dot, visible_json
from tests.parsers.analysis.graphs.made import frames, graphs, transformer

QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
HOSTILE = ['a"b', "a\\", "<b>x</b>", "x];y -> z [", "line\nbreak", "\\N\\n\\l", "层", "{|}", "\x00"]


@given(st.text())
def test_any_name_is_one_quoted_string_that_says_it(text):
    written = quoted(text)
    assert QUOTED.fullmatch(written)
    assert "\n" not in written
    plain = all(one >= " " and not "\ud800" <= one <= "\udfff" for one in text)
    body = written[1:-1]
    assert not re.search(r'(?<!\\)(?:\\\\)*"', body)
    if plain:
        assert re.sub(r"\\(.)", r"\1", body) == text


@given(graphs())
def test_every_node_and_edge_is_in_the_text_once(graph):
    view = GraphView(network(*graph))
    lines = "".join(dot(view.scopes, "t")).splitlines()
    nodes = [int(found[1]) for line in lines if (found := re.match(r" *n(\d+) \[label=", line))]
    edges = [(int(found[1]), int(found[2])) for line in lines if (found := re.match(r"  n(\d+) -> n(\d+)", line))]
    assert sorted(nodes) == list(range(len(graph[0])))
    assert sorted(edges) == sorted(zip(graph[1]["source"], graph[1]["target"], strict=True))
    read = json.loads(as_json(view.scopes))
    assert [node["full_name"] for node in read["nodes"]] == graph[0]["full_name"].tolist()
    assert [(edge["source"], edge["target"], edge["kind"]) for edge in read["edges"]] == list(
        zip(graph[1]["source"], graph[1]["target"], graph[1]["kind"], strict=True)
    )


@given(graphs(), st.booleans())
def test_what_is_visible_is_in_the_text(graph, opened):
    view = GraphView(network(*graph))
    boxes = [item for item in view.visible(OpenScopes()).items if item.kind in ("scope", "fold", "stack")]
    shown = OpenScopes(tuple(item.key for item in boxes if opened))
    visible = view.visible(shown)
    read = json.loads(visible_json(visible, "t"))
    assert [box["key"] for box in read["boxes"]] == [item.key for item in visible.items]
    assert [link["edges"] for link in read["links"]] == [link.count for link in visible.links]
    text = "".join(visible_dot(visible))
    assert text.count(" -> ") == len(visible.links)
    assert text.count("subgraph") == sum(item.opened for item in visible.items)


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_graphviz_reads_it():
    names = [(f"s{n}/{name}", name) for n, name in enumerate(HOSTILE)]
    view = GraphView(network(*frames(names, [(n, n + 1) for n in range(len(names) - 1)])))
    keys = tuple(item.key for item in view.visible(OpenScopes()).items)
    for text in ("".join(dot(view.scopes, HOSTILE[0])), "".join(visible_dot(view.visible(OpenScopes(keys))))):
        done = subprocess.run(["dot", "-Tcanon"], input=text.encode(), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not done.stderr


def test_hostile_names_are_escaped_in_both():
    names = [(f"{n}{name}", name) for n, name in enumerate(HOSTILE)]
    view = GraphView(network(*frames(names, [])))
    text = "".join(dot(view.scopes))
    assert len([line for line in text.splitlines() if re.match(r" *n[0-9]", line)]) == len(names)
    assert "<script>" not in as_json(GraphView(network(*transformer(2))).scopes)
    assert [node["full_name"] for node in json.loads(as_json(view.scopes))["nodes"]] == [name for name, _ in names]
