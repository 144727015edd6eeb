"""GraphDef of TensorFlow against the protobuf library, and damage to it."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from parsers import EDGES, NODES, open_run
from parsers.graphs.formats import format_of
from parsers.graphs.graph import Origin
from parsers.graphs.tensorflow import read_graph, sniff
from tests.parsers.graphs.reference import message
from tests.positions import every_byte, positions


def small() -> bytes:
    graph = message("tensorflow.GraphDef")()
    first = graph.node.add(name="scope/x", op="Placeholder", device="/cpu:0")
    first.attr["dtype"].type = 1
    first.attr["shape"].shape.dim.add(size=-1)
    first.attr["shape"].shape.dim.add(size=8)
    constant = graph.node.add(name="scope/c", op="Const")
    constant.attr["dtype"].type = 3
    tensor = constant.attr["value"].tensor
    tensor.dtype = 3
    tensor.tensor_shape.dim.add(size=2)
    tensor.tensor_content = b"\1\0\0\0\2\0\0\0"
    second = graph.node.add(name="y", op="Add", input=["scope/x", "scope/c:1", "^scope/x", "gone"])
    second.attr["T"].type = 101
    second.attr["names"].list.s.extend([b"a", b'"<b>"'])
    second.attr["sizes"].list.i.extend([1, -2, 300])
    second.attr["keep"].b = True
    second.attr["rate"].f = 0.1
    graph.versions.producer = 987
    data: bytes = graph.SerializeToString(deterministic=True)
    return data


def test_a_small_graph() -> None:
    data = small()
    assert sniff(data)
    assert getattr(format_of(data, "graph.pb"), "name", "") == "tensorflow"
    graph = read_graph(data, Origin("file"))
    NODES.check(graph.nodes)
    EDGES.check(graph.edges)
    assert graph.nodes["kind"].tolist() == ["parameter", "constant", "operator"]
    assert graph.nodes["scope"].tolist() == ["scope", "scope", ""]
    assert graph.nodes["output_type"].tolist() == ["Tensor[Float32]", "Tensor[Int32]", "Tensor[Ref[Float32]]"]
    assert graph.nodes["shape"].tolist() == ["-1x8", "", ""]
    found = graph.edges[["source", "target", "output", "input", "kind"]].to_numpy().tolist()
    assert found == [[0, 2, 0, 0, "data"], [1, 2, 1, 1, "data"], [0, 2, 0, 2, "control"]]
    assert [problem.kind for problem in graph.problems] == ["bad_graph"]
    assert graph.attributes(0) == {"device": "/cpu:0", "dtype": "Float32", "shape": "-1x8"}
    assert graph.attributes(1)["value"] == "Tensor[Int32] 2 [1, 2]"
    assert graph.attributes(2) == {
        "T": "Ref[Float32]", "keep": "True", "names": '["a", "\\"<b>\\""]', "rate": "0.1", "sizes": "[1, -2, 300]"
    }  # fmt: skip


NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)


@given(st.lists(NAMES, min_size=1, max_size=6, unique=True))
def test_names_of_any_character(names: list[str]) -> None:
    wanted = message("tensorflow.GraphDef")()
    for name in names:
        wanted.node.add(name=name, op=name).attr[name].s = name.encode()
        wanted.node[-1].input.append(name)
    graph = read_graph(wanted.SerializeToString(), Origin("file"))
    assert graph.nodes["name"].tolist() == names
    assert graph.nodes["type"].tolist() == names
    assert [list(graph.attributes(row).items()) for row in range(len(names))] == [
        [(name, json.dumps(name, ensure_ascii=False))] for name in names
    ]
    plain = [row for row, name in enumerate(names) if not name.startswith("^") and ":" not in name]
    assert {(row, row) for row in plain} <= set(zip(graph.edges["source"], graph.edges["target"], strict=True))


def test_the_graph_torch_wrote(real_data: Path) -> None:
    run = open_run(real_data / "tensorboard/torch_sgd_lr0.05")
    (name,) = run.graphs
    graph, place = run.graphs[name], run.graphs.locations[name]
    with open(place.path, "rb") as file:
        wanted = message("tensorflow.GraphDef").FromString(file.read()[place.offset : place.offset + place.length])
    assert graph.nodes["name"].tolist() == [node.name for node in wanted.node]
    assert graph.nodes["type"].tolist() == [node.op for node in wanted.node]
    names = {node.name for node in wanted.node}
    assert len(graph.edges) == sum(one in names for node in wanted.node for one in node.input)
    assert [set(graph.attributes(row)) - {"device"} for row in range(len(wanted.node))] == [
        set(node.attr) for node in wanted.node
    ]


@every_byte
def test_no_flipped_or_missing_byte_raises(every: bool) -> None:
    data = small()
    for at in positions(len(data), every):
        for damaged in (data[:at], data[:at] + bytes((data[at] ^ 0xFF,)) + data[at + 1 :]):
            graph = read_graph(damaged, Origin("file"))
            for row in range(len(graph.nodes)):
                graph.attributes(row)
    cut = read_graph(data[:-20], Origin("file"))
    assert cut.problems
    assert cut.nodes["name"].tolist()[:2] == ["scope/x", "scope/c"]


def test_what_torch_always_leaves_out_is_a_note_and_no_damage(real_data: Path) -> None:
    (graph,) = open_run(real_data / "tensorboard/torch_sgd_lr0.05").graphs.values()
    assert graph.problems == ()
    (note,) = graph.notes
    assert "6 edges" in note
    # Any other input that names no node is damage, as before.
    wanted = message("tensorflow.GraphDef")()
    for name, kind in (("a", "prim::GetAttr"), ("b", "aten::add")):
        wanted.node.add(name=name, op=kind).input.append("nowhere")
    found = read_graph(wanted.SerializeToString(), Origin("file"))
    assert [len(found.problems), len(found.notes)] == [1, 1]
