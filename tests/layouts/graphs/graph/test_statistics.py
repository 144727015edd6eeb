"""Statistics of a graph and its precision flags, against counts of our own."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter

import pytest

from app.store.store import Store
from layouts.graphs.asks import read_of
from layouts.graphs.graph.files import file
from layouts.graphs.graph.statistics import flagged, statistics
from layouts.graphs.graph_views import Views
from layouts.kit.state import BadInput
from parsers import Graph
from parsers.analysis.graphs.counts import parameters
from parsers.graphs.anf_ir import read_graph
from parsers.graphs.graph import Origin
from tests.layouts.graphs.graph.recorded_graph import jumps, texts, views_of, words
from tests.parsers.graphs.reference import message


def test_statistics_agree_with_the_graph(store: Store, views: Views, graph: Graph) -> None:
    found = statistics(views, read_of(words(store)))
    said = texts(found[0])
    for kind, many in Counter(graph.nodes["type"][graph.nodes["kind"] == "operator"].astype(str)).items():
        assert f"{kind} {many:,}" in said
    largest = graph.nodes[graph.nodes["kind"] == "parameter"]["shape"].astype(str)
    held = largest.map(lambda shape: math.prod(int(part) for part in shape.split("x")) if shape not in ("", "[]") else 1)
    whole = int(parameters(views.of(read_of(words(store)))[1].scopes)["bytes"].sum())
    assert whole == 4 * int(held[largest != ""].sum())
    assert next(jump for jump in jumps(found[1]) if jump.startswith("s:")) == "s:Default"
    assert statistics(views, read_of({"run": ["x"]})) == [[], [], []]

FLAGS = {3: "reduce", 5: "raise", 7: "reduce"}


def flagged_views() -> Views:
    """A graph of ten operators of which some have a precision flag, as MindSpore's Ascend compiler writes it."""
    made = message("mindspore.GraphProto")(name="flags")
    for number in range(10):
        node = made.node.add(name=str(number), op_type="MatMul" if number % 2 else "Add", scope=f"Default/{number}-Cell")
        node.attribute.add(name="other").value.str_val = "precision_flag"
        if number in FLAGS:
            node.attribute.add(name="precision_flag").value.str_val = FLAGS[number]
    found = read_graph(made.SerializeToString(), Origin("file"))

    return views_of(found)


def test_operators_with_a_precision_flag_are_listed_searched_and_saved() -> None:
    views = flagged_views()

    def names(**more: list[str]) -> list[str]:
        return jumps(flagged(views, {"run": ["r"], "graph": ["g"], **more}))

    assert views.of(read_of({"run": ["r"]}))[0].flags == FLAGS
    assert names() == ["n3", "n7", "n5"]
    assert names(flag=["REDUCE"]) == ["n3", "n7"]
    assert names(flag=["7-cell"]) == ["n7"]
    assert names(flag=["matmul"], flagged=["all"]) == ["n3", "n7", "n5", "n1", "n9"]
    assert names(flag=["["]) == []
    assert len(names(flagged=["all"])) == 10
    assert "3 operators: 2 reduced, 1 raised" in texts(flagged(views, {"run": ["r"]}))
    rows = list(csv.DictReader(io.StringIO(file(views, {"run": ["r"], "form": ["precision.csv"]})["content"], newline="")))
    assert [(row["node"], row["reduced"]) for row in rows[:4]] == [("3", "yes"), ("7", "yes"), ("5", "no"), ("0", "")]
    with pytest.raises(BadInput):
        flagged(views, {"flag": ["x" * 5_000]})


def test_a_graph_without_flags_says_who_writes_them(store: Store, views: Views) -> None:
    assert "Ascend" in texts(flagged(views, words(store)))
    assert flagged(views, {"run": ["x"]}) == []
