"""Two graphs on one canvas and the list of what differs."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

from app.store.store import Store
from layouts.dumps.dumped_graphs import RunGraphs
from layouts.graphs.asks import DrawingRequest, read_of
from layouts.graphs.drawing import drawn
from layouts.graphs.graph.files import file
from layouts.graphs.graph.finding import results
from layouts.graphs.graph.panel import panel
from layouts.graphs.graph_views import Views
from parsers import Graph, open_run
from parsers.graphs.anf_ir import read_graph
from parsers.graphs.graph import Origin
from tests.layouts.graphs.graph.recorded_graph import RUN, texts, words
from tests.parsers.graphs.reference import message
from tests.recorded import RECORDED
from tests.sources import MemorySource

OTHER = "lenet_adam_lr0.01_b64"


def against(store: Store, run: str, **more: list[str]) -> dict[str, list[str]]:
    return words(store, **{"with": [run], "other": [store.graphs.locations(run)[0].name]}, **more)


def test_a_graph_compared_with_itself_does_not_differ(store: Store, views: Views) -> None:
    ask = against(store, RUN)
    found = drawn(views, DrawingRequest.read(ask))
    assert {line[7] for line in found["meta"]["tree"]} <= {"", "same"}
    assert "do not differ" in texts(results(store.patterns, views, ask))


def test_two_graphs_stand_on_one_canvas_with_their_difference_listed(store: Store, views: Views, graph: Graph) -> None:
    ask = against(store, OTHER)
    other = next(iter(open_run(RECORDED / OTHER).graphs.values()))
    opened, _ = views.of(read_of(ask))
    assert opened.compared is not None
    difference = opened.compared.difference
    assert not difference.same
    said = texts(results(store.patterns, views, ask))
    come, gone = difference.counted.added, difference.counted.removed
    assert f"{len(difference.changed)} nodes changed, {len(come)} added, {len(gone)} removed" in said
    whole = opened.whole
    assert whole.size == len(graph.nodes) + len(difference.added)
    row = next(iter(difference.changed))
    assert texts(panel(views, read_of(ask), f"n{row}")).count("Differs between the graphs.") == 1
    added = len(graph.nodes)
    named = other.nodes["full_name"].iloc[int(difference.added[0])]
    assert named in texts(panel(views, read_of(ask), f"n{added}"))
    assert opened.attributes(added) == other.attributes(int(difference.added[0]))
    shown = drawn(views, DrawingRequest.read({**ask, "node": [f"n{added}"]}))["elements"]
    classes = {element["data"]["id"]: element["classes"] for element in shown}
    marked = [key for key, names in classes.items() if "added" in names.split()]
    assert marked
    saved = file(views, {**ask, "form": ["differences.csv"]})["content"]
    states = Counter(line["state"] for line in csv.DictReader(io.StringIO(saved, newline="")))
    assert states == Counter(
        changed=len(difference.changed), added=len(come), removed=len(gone)
    )  # fmt: skip
    # A gone graph to compare with says so.
    lost = drawn(views, DrawingRequest.read(words(store, **{"with": ["no run"], "other": ["no graph"]})))
    assert "no run" in lost["meta"]["problems"][0]
    # A link that names no second graph asks for no comparison.
    assert not drawn(views, DrawingRequest.read(words(store, **{"with": [OTHER]})))["meta"]["problems"]


def test_long_values_that_differ_are_shown_where_they_do() -> None:
    same = "kernel " * 1_000

    def made(end: str) -> Graph:
        graph = message("mindspore.GraphProto")(name="net")
        graph.node.add(name="1", op_type="Custom").attribute.add(name="source").value.str_val = f"{same}{end}{same}"
        return read_graph(graph.SerializeToString(), Origin("file"))

    graphs = {"one": made("OLD"), "other": made("NEW")}

    source = MemorySource({"r": {"graphs": graphs}})
    ask = {"run": ["r"], "graph": ["one"], "with": ["r"], "other": ["other"]}
    told = texts(panel(Views(RunGraphs(source)), read_of(ask), "n0")).partition("Attributes")[0]
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
        opened, _ = Views(RunGraphs(source)).of(read_of({"run": ["r"], "graph": ["one"], "with": ["r"], "other": ["other"]}))
        assert opened.compared is not None
        assert not opened.compared.difference.changed, name


def test_attributes_of_files_of_different_formats_are_not_compared(real_data: Path) -> None:
    graphs = open_run(real_data / "ir" / "level3_env").graphs

    source = MemorySource({"r": {"graphs": graphs}})
    ask = {"run": ["r"], "graph": ["24_execute_0992.ir"], "with": ["r"], "other": ["ms_output_optimize.pb"]}
    views = Views(RunGraphs(source))
    assert "different formats" in texts(results(source.patterns, views, ask))
    opened, _ = views.of(read_of(ask))
    assert opened.compared is not None
    changed = opened.compared.difference.changed
    assert not any("attributes" in fields for fields in changed.values())
    alike = {**ask, "graph": ["21_validate_0936.ir"], "other": ["24_execute_0992.ir"]}
    assert "different formats" not in texts(results(source.patterns, views, alike))


def test_simplify_applies_to_counts_list_and_file(real_data: Path) -> None:
    store = Store([real_data / "summary"], interval=0).start()
    try:
        assert store.wait(60)
        names = {run: store.graphs.locations(run)[0].name for run in ("graph_resnet50_forward", "graph_resnet50_train")}
        (run, graph), (other, second) = names.items()
        ask = {"run": [run], "graph": [graph], "with": [other], "other": [second]}
        views = Views(RunGraphs(store))
        whole = texts(results(store.patterns, views, ask))
        assert " 0 removed" in whole
        less = texts(results(store.patterns, views, {**ask, "simple": ["1"]}))
        assert " 0 removed" in less
        saved = file(views, {**ask, "simple": ["1"], "form": ["differences.csv"]})["content"]
        lines = list(csv.DictReader(io.StringIO(saved, newline="")))
        added = sum(line["state"] == "added" for line in lines)
        assert f"{added} added" in less
        # The loss, and the labels that it takes; constants are no difference.
        assert sorted(line["other_type"] for line in lines if line["state"] == "added") == [
            "Parameter", "SparseSoftmaxCrossEntropyWithLogits",
        ]  # fmt: skip
        assert less.index("SparseSoftmaxCrossEntropyWithLogits") < less.index("inputs1") < less.index("BatchNorm")
        assert not [line for line in lines if "Gradients" in line["other_full_name"] or line["type"] in ("Load", "UpdateState")]
        # A training is compared with a forward network by what both have.
        assert texts(results(store.patterns, views, {**ask, "simple": ["auto"]})) == less
    finally:
        store.stop()
