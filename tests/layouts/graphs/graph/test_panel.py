"""The panel of a node: its attributes, its ends, and what a scope holds."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from app.store.store import Store
from layouts.graphs.asks import read_of
from layouts.graphs.graph.files import file
from layouts.graphs.graph.panel import panel
from layouts.graphs.graph_views import Views
from layouts.kit.state import BadInput
from parsers import Graph
from parsers.graphs.anf_ir import read_graph
from parsers.graphs.graph import Origin
from tests.layouts.graphs.graph.recorded_graph import jumps, tell, texts, views_of
from tests.parsers.graphs.reference import message


def test_the_panel_tells_all_attributes_inputs_and_outputs(store: Store, views: Views, graph: Graph) -> None:
    full = graph.nodes["full_name"].tolist()
    for row in range(0, len(graph.nodes), 7):
        found = tell(store, views, f"n{row}")
        said = texts(found)
        assert full[row] in said
        for name, text in graph.attributes(row).items():
            assert name in said
            assert text in said
        ends = [f"n{e.source}" for e in graph.edges.itertuples() if e.target == row]
        ends += [f"n{e.target}" for e in graph.edges.itertuples() if e.source == row]
        assert Counter(jump for jump in jumps(found) if jump.startswith("n")) == Counter(ends)


def test_the_panel_counts_what_is_in_a_scope(store: Store, views: Views, graph: Graph) -> None:
    nodes = graph.nodes
    inside = nodes[(nodes["kind"] == "operator") & nodes["scope"].astype(str).str.match(r"Default(/|$)")]
    said = texts(tell(store, views, "s:Default"))
    most, many = Counter(inside["type"].astype(str)).most_common(1)[0]
    assert f"{most} {many}" in re.sub(r" +", " ", said)
    assert jumps(tell(store, views, "s:Default"), "data-find")


def test_a_very_long_attribute_is_shown_in_part_and_saved_whole() -> None:
    long = "".join(f"{number} <b>" for number in range(200_000))
    made = message("mindspore.GraphProto")(name="long")
    made.node.add(name="1", op_type="Custom").attribute.add(name="kernel/source").value.str_val = long
    found = read_graph(made.SerializeToString(), Origin("file"))

    views = views_of(found)
    told = panel(views, read_of({"run": ["r"]}), "n0")
    assert f"100,000 of {len(long):,} characters" in texts(told)
    assert len(texts(told)) < 102_000
    (name,) = jumps(told, "data-attribute")
    saved = file(views, {"run": ["r"], "form": ["attribute"], "node": jumps(told, "data-node"), "attribute": [name]})
    assert saved == {"filename": "r_1_kernel_source.txt", "content": long}
    for wrong in ({"node": ["n0"], "attribute": ["x"]}, {"node": ["n7"], "attribute": [name]}, {"attribute": [name]}):
        with pytest.raises(BadInput):
            file(views, {"run": ["r"], "form": ["attribute"], **wrong})


def test_what_a_panel_does_not_list_is_in_a_file() -> None:
    made = message("mindspore.GraphProto")(name="hub")
    made.node.add(name="hub", op_type="Hub", scope="Default")
    for number in range(1_200):
        made.node.add(name=f"t{number}", op_type="Taker", scope="Default").input.add(name="hub")
    made.node.add(name="end", op_type="End", scope="Default").input.add(name="t7")
    found = read_graph(made.SerializeToString(), Origin("file"))

    views = views_of(found)
    (fold,) = [unit.key for unit in views.of(read_of({"run": ["r"]}))[1].level(1).units if unit.kind == "fold"]
    for name, lines in (("n0", 1_200), (fold, 1_200)):
        told = panel(views, read_of({"run": ["r"]}), name)
        assert "and 200 more" in texts(told)
        assert (jumps(told, "data-save"), jumps(told, "data-node")) == (["listed.csv"], [name])
        saved = file(views, {"run": ["r"], "form": ["listed.csv"], "node": [name]})
        assert saved["filename"].endswith(".csv")
        head, *rows = saved["content"].splitlines()
        assert (head.endswith("full_name,type,kind,output_type,shape"), len(rows)) == (True, lines)
        assert {row.split(",")[-4] for row in rows} == {"Taker"}
    (line,) = [row for row in file(views, {"run": ["r"], "form": ["listed.csv"], "node": ["n8"]})["content"].splitlines()
               if row.startswith("output")]  # fmt: skip
    assert line == "output,0,0,data,,,Default/End-opend,End,operator,,"
    for wrong in ([], ["n9999"], ["s:Default"]):
        with pytest.raises(BadInput):
            file(views, {"run": ["r"], "form": ["listed.csv"], "node": wrong})
