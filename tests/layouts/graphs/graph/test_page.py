"""The computation graph page: what it asks for, what it draws and tells, from real graphs and from hostile words."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.store.store import Store
from layouts.dumps.dumped_graphs import RunGraphs
from layouts.graphs.asks import DrawingRequest, read_of
from layouts.graphs.drawing import drawn
from layouts.graphs.graph.catalogue import catalogue
from layouts.graphs.graph.finding import differing_part, read_query, results
from layouts.graphs.graph.panel import panel
from layouts.graphs.graph.treemap import tiles
from layouts.graphs.graph_views import CACHED, Views
from layouts.graphs.names import key_of, name_of
from layouts.kit.state import BadInput
from parsers import Graph, PayloadError, open_run
from tests.layouts.graphs.graph.recorded_graph import RUN, boxes, draw, jumps, texts, words
from tests.recorded import RECORDED


def test_a_catalogue_names_every_graph_of_the_chosen_runs(store: Store) -> None:
    found = catalogue(store, {"run": [RUN, "nan_inf"]})
    assert found is not None
    assert [run["key"] for run in found["runs"]] == [RUN]
    assert [one["name"] for one in found["runs"][0]["graphs"]] == [place.name for place in store.graphs.locations(RUN)]
    assert catalogue(store, {"run": [RUN, "nan_inf"]}, found["digest"]) is None
    none = catalogue(store, {"run": ["nan_inf"]})
    assert none is not None
    assert none["runs"] == []
    having = {row.key for row in store.runs.rows() if any(store.graphs.locations(member) for member in row.members)}
    assert RUN in having
    assert {row["key"] for row in none["elsewhere"]} == having
    assert none["damage"] == found["damage"] == none["empty"] == []


def test_a_first_picture_has_the_network_open_and_every_end_of_a_link_in_it(store: Store, views: Views, graph: Graph) -> None:
    found = draw(store, views)
    meta = found["meta"]
    assert "s:Default" in meta["opened"]
    assert 5 <= meta["boxes"] <= 120
    kinds = Counter(graph.nodes["kind"])
    assert meta["counts"] == {
        "operators": kinds["operator"], "parameters": kinds["parameter"], "constants": kinds["constant"],
        "edges": len(graph.edges),
    }  # fmt: skip
    known = boxes(found)
    links = [element["data"] for element in found["elements"] if "source" in element["data"]]
    assert links
    assert {end for link in links for end in (link["source"], link["target"])} <= known.keys()
    assert all(np.isfinite([*box["position"].values(), box["data"]["w"], box["data"]["h"]]).all() for box in known.values())
    assert json.loads(json.dumps(found)) == found


def test_a_first_picture_reads_no_name_of_a_node_that_it_does_not_show(store: Store, views: Views) -> None:
    draw(store, views)
    opened, view = views.of(read_of({"run": [RUN], "graph": [store.graphs.locations(RUN)[0].name]}))
    lists = {"names", "full_names", "lowered"}
    assert not lists & (vars(opened.whole).keys() | vars(view.network).keys()), "100,000 take longer than the picture"


def test_open_scopes_come_back_from_their_names_and_unknown_ones_are_left_out(store: Store, views: Views) -> None:
    first = draw(store, views)["meta"]["opened"]
    again = draw(store, views, open=[*first, "s:no/such/scope", "k:", "x", "s:../../etc/passwd", "f99999999", "n-1"])
    assert again["meta"]["opened"] == first
    assert draw(store, views, open=[""])["meta"]["opened"] == []
    closed = boxes(draw(store, views, open=[""]))
    assert all(box["data"]["kind"] != "operator" for box in closed.values())


def test_every_node_can_be_shown_and_its_box_is_then_on_the_canvas(store: Store, views: Views, graph: Graph) -> None:
    for row in range(0, len(graph.nodes), 3):
        found = draw(store, views, open=[""], node=[f"n{row}"])
        if graph.nodes["kind"].iloc[row] == "operator":
            assert found["meta"]["chosen"] == f"n{row}"
        if found["meta"]["chosen"]:
            assert found["meta"]["chosen"] in boxes(found)


def test_every_scope_can_be_shown(store: Store, views: Views, graph: Graph) -> None:
    for path in graph.nodes["scope"].cat.categories:
        if path:
            found = draw(store, views, open=[""], node=[f"s:{path}"])
            assert found["meta"]["chosen"] in boxes(found)


def test_names_of_boxes_hold_when_the_graph_is_simplified(store: Store, views: Views) -> None:
    _, whole = views.of(read_of(words(store)))
    _, less = views.of(read_of(words(store, simple=["1"])))
    for scope in range(1, len(less.scopes)):
        name = name_of(less, f"s{scope}")
        assert whole.scopes.paths[int(key_of(whole, name)[1:])] == less.scopes.paths[scope]
    assert draw(store, views, simple=["1"])["meta"]["hidden"]
    assert draw(store, views)["meta"]["hidden"] == {}


def test_parameters_and_constants_can_be_hidden(store: Store, views: Views, graph: Graph) -> None:
    row = next(int(e.source) for e in graph.edges.itertuples() if graph.nodes["kind"].iloc[e.source] == "parameter")
    taken = [f"n{e.target}" for e in graph.edges.itertuples() if e.source == row]

    def small(**more: list[str]) -> Counter[str]:
        found = draw(store, views, node=taken[:1], **more)
        return Counter(element["data"]["kind"] for element in found["elements"] if element.get("classes") == "small")

    assert small()["parameter"] > 0
    assert small(hide=["parameter"])["parameter"] == 0
    assert small(hide=["parameter", "constant"]) == Counter(proxy=small()["proxy"])


def test_search_finds_what_a_plain_look_finds(store: Store, views: Views, graph: Graph) -> None:
    def rows(q: str, **more: list[str]) -> set[str]:
        return {jump for jump in jumps(results(store.patterns, views, words(store, q=[q], **more))) if jump.startswith("n")}

    names, kinds = graph.nodes["full_name"].str.lower(), graph.nodes["type"].astype(str)
    wanted = {f"n{row}" for row in np.flatnonzero(names.str.contains("relu"))}
    assert wanted
    assert rows("relu") == wanted
    assert rows("R.lu-op[0-9]", regex=["1"]) == {f"n{row}" for row in np.flatnonzero(names.str.contains("r.lu-op[0-9]"))}
    assert rows("type:conv2d") == {f"n{row}" for row in np.flatnonzero(kinds == "Conv2D")}
    assert rows("type:~Conv2D") == {f"n{row}" for row in np.flatnonzero(kinds.str.contains("Conv2D"))}
    assert rows("kind:parameter") == {f"n{row}" for row in np.flatnonzero(graph.nodes["kind"] == "parameter")}
    assert rows("no such name") == set()
    assert jumps(results(store.patterns, views, words(store, q=["default"])))[0].startswith("s:")
    assert "unterminated" in texts(results(store.patterns, views, words(store, q=["[a"], regex=["1"])))
    assert "kind" in texts(results(store.patterns, views, words(store, q=["kind:x"])))
    assert results(store.patterns, views, words(store, q=["  "])) == []


def test_a_search_that_finds_nothing_offers_what_would(store: Store, views: Views) -> None:
    def offers(q: str, **more: list[str]) -> list[dict[str, Any]]:
        found = [part.to_plotly_json()["props"] for part in results(store.patterns, views, words(store, q=[q], **more))]
        return [part for part in found if "ms-graph-offer" in part["className"]]

    (offer,) = offers("type:Conv2")
    assert offer["data-find"] == "type:~Conv2"
    assert "5" in texts([offer["children"]])
    (offer,) = offers("R.lu-op[0-9]")
    assert offer["data-regex"] == "1"
    assert offers("R.lu-op[0-9]x", regex=["1"]) == []
    assert offers("type:NoSuch") == []
    assert offers("no such name") == []


def test_results_show_first_what_only_some_of_them_have() -> None:
    common = frozenset({"net", "encoder", "attention"})
    assert differing_part("net/encoder/11/attention", common) == "encoder/11"
    assert differing_part("net/encoder/layer.3/attention", common) == "layer.3"
    assert differing_part("net/encoder/attention", common) == ""
    assert differing_part("other/place", common) == ""  # nothing in common: the place itself is shown


def test_a_graph_that_is_not_there_says_so_on_the_canvas(views: Views) -> None:
    found = drawn(views, DrawingRequest.read({"run": ["no run"], "graph": ["../../etc/passwd"]}))
    assert found["elements"] == []
    assert "expected a graph of run no run" in found["meta"]["problems"][0]
    assert panel(views, read_of({"run": ["no run"]}), "n1") == []


def test_what_cannot_be_read_says_why(store: Store) -> None:
    class Damaged:
        def version(self, run: str) -> int:
            return store.runs.version(run)

        def graph(self, run: str, name: str) -> Graph | None:
            raise PayloadError("events, byte 17: the CRC does not hold")

    found = drawn(Views(Damaged()), DrawingRequest.read(words(store)))
    assert found["meta"]["problems"] == ["events, byte 17: the CRC does not hold"]
    assert found["meta"]["broken"]
    assert found["meta"]["alternative"] == 2 * found["meta"]["problems"], "the script describes every canvas"


def test_views_are_kept_for_the_latest_graphs_and_made_anew_when_a_graph_is_another(store: Store) -> None:
    views = Views(RunGraphs(store))
    of = read_of(words(store))
    assert views.of(of)[1] is views.of(of)[1]
    other = open_run(RECORDED / "lenet_sink_mode").graphs

    class Growing:
        number = 1

        def version(self, run: str) -> int:
            return self.number

        def graph(self, run: str, name: str) -> Graph | None:
            return next(iter(other.values())) if self.number > 2 else store.graphs.graph(run, name)

    source = Growing()
    views = Views(source)
    first = views.of(of)[1]
    source.number = 2
    assert views.of(of)[1] is first
    source.number = 3
    assert views.of(of)[1] is not first
    assert CACHED < 10


@pytest.mark.parametrize(
    "ask",
    [
        {"run": "x"}, {"run": [1]}, {"simple": ["2"]}, {"hide": ["operator"]}, {"open": "s:Default"}, {"open": [None]},
        {"open": [str(n) for n in range(5_000)]}, {"open": ["s:" + "x" * 50_000]}, {"page": ["x"]}, {"page": ["-1:s"]},
        {"page": ["9" * 30 + ":"]}, {"page": ["１:"]}, {"theme": ["blue"]}, {"node": ["n" * 50_000]}, [], "x",
    ],
)  # fmt: skip
def test_what_no_page_asks_is_refused(ask: Any) -> None:
    with pytest.raises(BadInput):
        DrawingRequest.read(ask)


def test_a_query_that_is_too_long_is_refused() -> None:
    with pytest.raises(BadInput):
        read_query({"q": ["x" * 5_000]})


@pytest.mark.long
def test_bert_and_resnet_are_drawn_within_the_cap_whatever_is_open(real_data: Path) -> None:
    base = Store([real_data / "summary"], interval=0).start()
    assert base.wait(60)
    views = Views(RunGraphs(base))
    try:
        for run, numbers in (("graph_bert_train", (2059, 600, 627)), ("graph_resnet50_train", (1455, 595, 740))):
            name = base.graphs.locations(run)[0].name
            every = catalogue(base, {"run": [run]})
            assert every is not None
            first = drawn(views, DrawingRequest.read({"run": [run], "graph": [name]}))["meta"]
            assert tuple(first["counts"][kind] for kind in ("operators", "parameters", "constants")) == numbers
            _, view = views.of(read_of({"run": [run], "graph": [name]}))
            opened = [f"s:{path}" for path in view.scopes.paths[1:]]
            found = drawn(views, DrawingRequest.read({"run": [run], "graph": [name], "open": opened}))
            assert len(found["elements"]) <= 2_000
            assert max(found["meta"]["width"], found["meta"]["height"]) < 50_000
    finally:
        base.stop()


def test_a_treemap_goes_into_a_scope(store: Store, views: Views) -> None:
    whole = tiles(views, words(store))
    assert json.loads(json.dumps(whole))["crumbs"] == []
    scope = next(tile[0] for tile in whole["tiles"] if tile[1] == "scope")
    inner = tiles(views, words(store, into=[scope[2:]], theme=["dark"]))
    assert inner["crumbs"][-1][0] == scope
    assert all(tile[3].startswith(scope[2:]) for tile in inner["tiles"] if tile[1] == "scope")
    assert tiles(views, words(store, into=["no such scope"]))["crumbs"] == []
    assert tiles(views, {"run": ["x"]})["tiles"] == []
    with pytest.raises(BadInput):
        tiles(views, words(store, theme=["blue"]))
