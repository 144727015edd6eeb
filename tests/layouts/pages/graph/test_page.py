"""The computation graph page: what it asks for, what it draws and tells, from real graphs and from hostile words."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.store.store import Store
from layouts.pages.graph.asks import read_ask, read_of
from layouts.pages.graph.catalogue import catalogue
from layouts.pages.graph.drawing import drawn
from layouts.pages.graph.files import FORMS, file
from layouts.pages.graph.finding import read_query, results
from layouts.pages.graph.names import key_of, name_of
from layouts.pages.graph.panel import panel
from layouts.pages.graph.statistics import flagged, statistics
from layouts.pages.graph.treemap import tiles
from layouts.queries.graphs import KEPT, Views
from layouts.state import BadInput
from parsers import Graph, PayloadError, open_run
from parsers.analysis.graphs.counts import parameters, scope_parameters
from parsers.graphs.anf_ir import read_graph
from parsers.graphs.graph import Origin
from tests.parsers.graphs.reference import message
from tests.sources import MemorySource

DEMO = Path(__file__).resolve().parents[4] / "app" / "demo"
RUN = "lenet_landscape"


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    found = Store([DEMO], interval=0).start()
    assert found.wait(30)
    yield found
    found.stop()


@pytest.fixture
def views(store: Store) -> Views:
    return Views(store)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return next(iter(open_run(DEMO / RUN).graphs.values()))


def words(store: Store, **more: list[str]) -> dict[str, list[str]]:
    """What the page asks about the one graph of RUN."""
    return {"run": [RUN], "graph": [store.graphs(RUN)[0].name], **more}


def draw(store: Store, views: Views, **more: list[str]) -> dict[str, Any]:
    return drawn(views, read_ask(words(store, **more)))


def tell(store: Store, views: Views, name: str, **more: list[str]) -> Any:
    return panel(views, read_of(words(store, **more)), name)


def texts(component: Any) -> str:
    """All texts of components, English and Chinese, in order."""
    if isinstance(component, (list, tuple)):
        return " ".join(texts(child) for child in component)
    if component is None or isinstance(component, (str, int)):
        return str(component or "")
    return texts(getattr(component, "children", None))


def jumps(component: Any, name: str = "data-go") -> list[str]:
    if isinstance(component, (list, tuple)):
        return [jump for child in component for jump in jumps(child, name)]
    own = getattr(component, name, None)
    return [*([own] if own else []), *jumps(getattr(component, "children", None) or (), name)]


def boxes(drawing: dict[str, Any]) -> dict[str, Any]:
    return {element["data"]["id"]: element for element in drawing["elements"] if "source" not in element["data"]}


def views_of(found: Graph) -> Views:
    """Views of a run `r` that has the one graph, without a name or as `g`."""
    return Views(MemorySource({"r": {"graphs": {"": found, "g": found}}}))


def test_a_catalogue_names_every_graph_of_the_chosen_runs(store: Store) -> None:
    found = catalogue(store, {"run": [RUN, "nan_inf"]})
    assert found is not None
    assert [run["key"] for run in found["runs"]] == [RUN]
    assert [one["name"] for one in found["runs"][0]["graphs"]] == [place.name for place in store.graphs(RUN)]
    assert catalogue(store, {"run": [RUN, "nan_inf"]}, found["digest"]) is None
    none = catalogue(store, {"run": ["nan_inf"]})
    assert none is not None
    assert none["runs"] == []
    having = {row.key for row in store.runs() if any(store.graphs(member) for member in row.members)}
    assert RUN in having
    assert {row["key"] for row in none["elsewhere"]} == having
    assert none["refused"] == found["refused"] == []


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


def test_search_finds_what_a_plain_look_finds(store: Store, views: Views, graph: Graph) -> None:
    def rows(q: str, **more: list[str]) -> set[str]:
        return {jump for jump in jumps(results(store, views, words(store, q=[q], **more))) if jump.startswith("n")}

    names, kinds = graph.nodes["full_name"].str.lower(), graph.nodes["type"].astype(str)
    wanted = {f"n{row}" for row in np.flatnonzero(names.str.contains("relu"))}
    assert wanted
    assert rows("relu") == wanted
    assert rows("R.lu-op[0-9]", regex=["1"]) == {f"n{row}" for row in np.flatnonzero(names.str.contains("r.lu-op[0-9]"))}
    assert rows("type:Conv2D") == {f"n{row}" for row in np.flatnonzero(kinds.str.contains("Conv2D"))}
    assert rows("kind:parameter") == {f"n{row}" for row in np.flatnonzero(graph.nodes["kind"] == "parameter")}
    assert rows("no such name") == set()
    assert jumps(results(store, views, words(store, q=["default"])))[0].startswith("s:")
    assert "unterminated" in texts(results(store, views, words(store, q=["[a"], regex=["1"])))
    assert "kind" in texts(results(store, views, words(store, q=["kind:x"])))
    assert results(store, views, words(store, q=["  "])) == []


def test_a_graph_that_is_not_there_says_so_on_the_canvas(views: Views) -> None:
    found = drawn(views, read_ask({"run": ["no run"], "graph": ["../../etc/passwd"]}))
    assert found["elements"] == []
    assert "wanted a graph of run no run" in found["meta"]["problems"][0]
    assert panel(views, read_of({"run": ["no run"]}), "n1") == []


def test_what_cannot_be_read_says_why(store: Store) -> None:
    class Damaged:
        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

        def graph(self, run: str, name: str) -> Graph | None:
            raise PayloadError("events, byte 17: the CRC does not hold")

    found = drawn(Views(Damaged()), read_ask(words(store)))
    assert found["meta"]["problems"] == ["events, byte 17: the CRC does not hold"]
    assert found["meta"]["broken"]


def test_views_are_kept_for_the_latest_graphs_and_made_anew_when_a_graph_is_another(store: Store) -> None:
    views = Views(store)
    of = read_of(words(store))
    assert views.of(of)[1] is views.of(of)[1]
    other = open_run(DEMO / "lenet_sink_mode").graphs

    class Growing:
        number = 1

        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

        def version(self, run: str) -> int:
            return self.number

        def graph(self, run: str, name: str) -> Graph | None:
            return next(iter(other.values())) if self.number > 2 else store.graph(run, name)

    source = Growing()
    views = Views(source)
    first = views.of(of)[1]
    source.number = 2
    assert views.of(of)[1] is first
    source.number = 3
    assert views.of(of)[1] is not first
    assert KEPT < 10


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


OTHER = "lenet_adam_lr0.01_b64"


def against(store: Store, run: str, **more: list[str]) -> dict[str, list[str]]:
    return words(store, **{"with": [run], "other": [store.graphs(run)[0].name]}, **more)


def test_a_graph_compared_with_itself_does_not_differ(store: Store, views: Views) -> None:
    ask = against(store, RUN)
    found = drawn(views, read_ask(ask))
    assert {line[-1] for line in found["meta"]["tree"]} <= {"", "same"}
    assert "do not differ" in texts(results(store, views, ask))


def test_two_graphs_stand_on_one_canvas_with_their_difference_listed(store: Store, views: Views, graph: Graph) -> None:
    ask = against(store, OTHER)
    other = next(iter(open_run(DEMO / OTHER).graphs.values()))
    opened, _ = views.of(read_of(ask))
    assert opened.compared is not None
    difference = opened.compared.difference
    assert not difference.same
    said = texts(results(store, views, ask))
    assert f"{len(difference.changed)} nodes changed, {len(difference.added)} added, {len(difference.removed)} removed" in said
    whole = opened.whole
    assert whole.size == len(graph.nodes) + len(difference.added)
    row = next(iter(difference.changed))
    assert texts(panel(views, read_of(ask), f"n{row}")).count("Differs between the graphs.") == 1
    added = len(graph.nodes)
    named = other.nodes["full_name"].iloc[int(difference.added[0])]
    assert named in texts(panel(views, read_of(ask), f"n{added}"))
    assert opened.attributes(added) == other.attributes(int(difference.added[0]))
    shown = drawn(views, read_ask({**ask, "node": [f"n{added}"]}))["elements"]
    classes = {element["data"]["id"]: element["classes"] for element in shown}
    marked = [key for key, names in classes.items() if "added" in names.split()]
    assert marked
    saved = file(views, {**ask, "form": ["differences.csv"]})["content"]
    states = Counter(line["state"] for line in csv.DictReader(io.StringIO(saved, newline="")))
    assert states == Counter(
        changed=len(difference.changed), added=len(difference.added), removed=len(difference.removed)
    )  # fmt: skip
    # A gone graph to compare with says so.
    lost = drawn(views, read_ask(words(store, **{"with": ["no run"]})))
    assert "no run" in lost["meta"]["problems"][0]


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
        read_ask(ask)


def test_a_query_that_is_too_long_is_refused() -> None:
    with pytest.raises(BadInput):
        read_query({"q": ["x" * 5_000]})


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("attribute", "listed.csv")])
def test_files_hold_what_is_named_after_the_run(store: Store, views: Views, graph: Graph, form: str) -> None:
    found = file(views, words(store, form=[form], open=["s:Default"]))
    assert found["filename"].startswith(RUN)
    assert found["filename"].endswith(f".{form.rpartition('.')[2]}")
    content = found["content"]
    if form.endswith("json"):
        data = json.loads(content)
        assert form == "json" or len(data["nodes"]) == len(graph.nodes)
    elif form.endswith("csv"):
        rows = list(csv.DictReader(io.StringIO(content, newline="")))
        kinds = Counter(graph.nodes["kind"])
        assert len(rows) == {
            "types.csv": graph.nodes["type"][graph.nodes["kind"] == "operator"].nunique(),
            "parameters.csv": kinds["parameter"], "precision.csv": kinds["operator"],
            "differences.csv": 0,
            "scopes.csv": len(scope_parameters(views.of(read_of(words(store)))[1].scopes)),
        }[form]  # fmt: skip
        if form == "types.csv":
            assert sum(int(row["count"]) for row in rows) == kinds["operator"]
    elif form.endswith("dot"):
        assert content.startswith("digraph ")
        assert content.rstrip().endswith("}")
    else:
        assert content.startswith("<svg ")


def test_a_file_of_another_form_is_refused(store: Store, views: Views) -> None:
    with pytest.raises(BadInput):
        file(views, words(store, form=["exe"]))


def test_bert_and_resnet_are_drawn_within_the_cap_whatever_is_open(real_data: Path) -> None:
    base = Store([real_data / "summary"], interval=0).start()
    assert base.wait(60)
    views = Views(base)
    try:
        for run, numbers in (("graph_bert_train", (2059, 600, 627)), ("graph_resnet50_train", (1455, 595, 740))):
            name = base.graphs(run)[0].name
            every = catalogue(base, {"run": [run]})
            assert every is not None
            first = drawn(views, read_ask({"run": [run], "graph": [name]}))["meta"]
            assert tuple(first["counts"][kind] for kind in ("operators", "parameters", "constants")) == numbers
            _, view = views.of(read_of({"run": [run], "graph": [name]}))
            opened = [f"s:{path}" for path in view.scopes.paths[1:]]
            found = drawn(views, read_ask({"run": [run], "graph": [name], "open": opened}))
            assert len(found["elements"]) <= 2_000
            assert max(found["meta"]["width"], found["meta"]["height"]) < 50_000
    finally:
        base.stop()


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


def test_long_values_that_differ_are_shown_where_they_do() -> None:
    same = "kernel " * 1_000

    def made(end: str) -> Graph:
        graph = message("mindspore.GraphProto")(name="net")
        graph.node.add(name="1", op_type="Custom").attribute.add(name="source").value.str_val = f"{same}{end}{same}"
        return read_graph(graph.SerializeToString(), Origin("file"))

    graphs = {"one": made("OLD"), "other": made("NEW")}

    source = MemorySource({"r": {"graphs": graphs}})
    ask = {"run": ["r"], "graph": ["one"], "with": ["r"], "other": ["other"]}
    told = texts(panel(Views(source), read_of(ask), "n0")).partition("Attributes")[0]
    assert "OLD" in told
    assert "NEW" in told
    assert len(told) < 1_500


IR = """# IR entry: @main
subgraph @main(%para1_x) {{
{lines}
}}
"""


def test_how_a_file_numbers_its_nodes_is_no_difference(tmp_path: Path) -> None:
    """One more operator numbers all after it anew: in .ir by variables, in .dot by addresses of memory."""

    def ir(first: int) -> str:
        lines = [f"  %{first + number}(a{number}) = Op{number}(%{first + number - 1})" for number in range(1, 6)]
        return IR.format(lines="\n".join([f"  %{first}(a0) = Op0(%para1_x)", *lines]))

    def dot(address: int) -> str:
        nodes = [f'node0x{address + number:x}_{number} [label="ReLU"]' for number in range(4)]
        edges = [f"node0x{address + number:x}_{number}->node0x{address + number + 1:x}_{number + 1}" for number in range(3)]
        return "digraph mindspore {\n" + ";\n".join([*nodes, *edges]) + "\n}\n"

    for name, one, other in (("a.ir", ir(0), ir(7)), ("a.dot", dot(4096), dot(999_999))):
        graphs = {}
        for key, written in (("one", one), ("other", other)):
            path = tmp_path / name / key / name
            path.parent.mkdir(parents=True)
            path.write_text(written, encoding="utf-8")
            (graphs[key],) = open_run(path.parent).graphs.values()
        assert len(graphs["one"].nodes) >= 4

        source = MemorySource({"r": {"graphs": graphs}})
        opened, _ = Views(source).of(read_of({"run": ["r"], "graph": ["one"], "with": ["r"], "other": ["other"]}))
        assert opened.compared is not None
        assert not opened.compared.difference.changed, name


def test_attributes_of_files_of_different_formats_are_not_compared(real_data: Path) -> None:
    graphs = open_run(real_data / "ir" / "level3_env").graphs

    source = MemorySource({"r": {"graphs": graphs}})
    ask = {"run": ["r"], "graph": ["24_execute_0992.ir"], "with": ["r"], "other": ["ms_output_optimize.pb"]}
    views = Views(source)
    assert "different formats" in texts(results(source, views, ask))
    opened, _ = views.of(read_of(ask))
    assert opened.compared is not None
    changed = opened.compared.difference.changed
    assert not any("attributes" in fields for fields in changed.values())
    alike = {**ask, "graph": ["21_validate_0936.ir"], "other": ["24_execute_0992.ir"]}
    assert "different formats" not in texts(results(source, views, alike))


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
