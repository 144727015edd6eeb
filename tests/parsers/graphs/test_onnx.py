"""ONNX models made by the protobuf library: nodes, weights, sub-graphs, types, damage."""

from __future__ import annotations

from typing import Any

from parsers import EDGES, NODES
from parsers.graphs.formats import format_of
from parsers.graphs.graph import Origin
from parsers.graphs.onnx import read_graph, sniff
from tests.parsers.graphs.reference import message
from tests.positions import every_byte, positions


def value(graph: Any, name: str, kind: int, *dims: int | str) -> None:
    one = graph.add(name=name)
    one.type.tensor_type.elem_type = kind
    for dim in dims:
        if isinstance(dim, str):
            one.type.tensor_type.shape.dim.add(dim_param=dim)
        else:
            one.type.tensor_type.shape.dim.add(dim_value=dim)


def small() -> bytes:
    model = message("onnx.ModelProto")()
    model.ir_version, model.producer_name = 8, "pytorch"
    model.opset_import.add(version=17)
    graph = model.graph
    graph.name = "main"
    value(graph.input, "x", 1, "batch", 8)
    value(graph.output, "y", 1, "batch", 4)
    value(graph.value_info, "h", 10, "batch", 4)
    weight = graph.initializer.add(name="fc/weight", data_type=1, dims=[4, 8])
    weight.raw_data = bytes(128)
    outside = graph.initializer.add(name="big", data_type=16, dims=[1000, 1000], data_location=1)
    outside.external_data.add(key="location", value="weights.bin")
    gemm = graph.node.add(op_type="Gemm", name="/fc/Gemm", input=["x", "fc/weight", "", "gone"], output=["h", "unused"])
    gemm.attribute.add(name="alpha", f=0.5, type=1)
    gemm.attribute.add(name="perm", ints=[1, -1], type=7)
    gemm.attribute.add(name="mode", s=b"<b>", type=3)
    constant = graph.node.add(op_type="Constant", output=["flag"])
    constant.attribute.add(name="value", t={"data_type": 7, "dims": [2], "int64_data": [3, -4]}, type=4)
    branch = graph.node.add(op_type="If", name="branch", input=["flag"], output=["y"])
    for part in ("then", "else"):
        inner = branch.attribute.add(name=f"{part}_branch", type=5).g
        inner.name = part
        inner.node.add(op_type="Add", name=f"{part}/Add", input=["h", "unused"], output=["r"])
        inner.output.add(name="r")
    data: bytes = model.SerializeToString()
    return data


def test_a_small_model() -> None:
    data = small()
    assert sniff(data)
    assert getattr(format_of(data, "x"), "name", "") == "onnx"
    graph = read_graph(data, Origin("file"))
    NODES.check(graph.nodes)
    EDGES.check(graph.edges)
    names = ["/fc/Gemm", "Constant_1", "branch", "then/Add", "else/Add", "fc/weight", "big", "x"]
    assert graph.nodes["name"].tolist() == names
    assert graph.nodes["full_name"][0] == "fc/Gemm"
    assert graph.nodes["scope"].tolist() == ["fc", "", "", "then", "else", "fc", "", ""]
    assert graph.nodes["kind"].tolist() == ["operator", "constant", "operator", "operator", "operator", *["parameter"] * 3]
    assert graph.nodes["output_type"].tolist()[5:] == ["Tensor[Float32]", "Tensor[BFloat16]", "Tensor[Float32]"]
    assert graph.nodes["shape"].tolist() == ["batchx4", "", "batchx4", "", "", "4x8", "1000x1000", "batchx8"]
    assert graph.nodes["subgraph"].tolist() == ["", "", "", "branch:0", "branch:1", "", "", ""]
    edges = graph.edges[["source", "target", "output", "input", "kind"]].to_numpy().tolist()
    assert edges == [
        [7, 0, 0, 0, "data"], [5, 0, 0, 1, "data"], [1, 2, 0, 0, "data"], [3, 2, 0, -1, "call"], [4, 2, 0, -1, "call"],
        [0, 3, 0, 0, "data"], [0, 3, 1, 1, "data"], [0, 4, 0, 0, "data"], [0, 4, 1, 1, "data"],
    ]  # fmt: skip
    assert graph.outputs == (2,)
    assert graph.attributes(0) == {"alpha": "0.5", "perm": "[1, -1]", "mode": "<b>"}
    assert graph.attributes(1) == {"value": "Tensor[Int64] 2 [3, -4]"}
    assert graph.attributes(6)["stored"] == "in weights.bin, which is not read"
    texts = [problem.text for problem in graph.problems]
    assert len(texts) == 2
    assert "weights.bin" in texts[1]
    assert "gone" in texts[0]


@every_byte
def test_no_flipped_or_missing_byte_raises(every: bool) -> None:
    data = small()
    for at in positions(len(data), every):
        damages = [data[:at], data[:at] + bytes((data[at] ^ 0xFF,)) + data[at + 1 :]]
        for damaged in damages[at % 2 :]:
            graph = read_graph(damaged, Origin("file"))
            for row in range(len(graph.nodes)):
                graph.attributes(row)
    assert read_graph(data[:-10], Origin("file")).problems


def test_graphs_within_graphs_end() -> None:
    model = message("onnx.ModelProto")()
    model.ir_version = 8
    graph = model.graph
    for _ in range(40):
        graph = graph.node.add(op_type="If").attribute.add(name="g", type=5).g
    found = read_graph(model.SerializeToString(), Origin("file"))
    assert len(found.nodes) == 17
    assert any("too deep" in problem.text for problem in found.problems)


def test_nodes_of_which_nothing_can_be_read_are_counted_and_not_shown() -> None:
    model = message("onnx.ModelProto")()
    model.ir_version = 8
    model.graph.node.add(op_type="Relu", input=["x"], output=["y"])
    for _ in range(1200):
        model.graph.node.add()
    model.graph.node.add(doc_string="lost").attribute.add(name="axis", i=1, type=2)
    model.graph.node.add(name="only a name")
    model.graph.node.add(input=["y"])
    model.graph.node.add(output=["w"])
    model.graph.node.add(op_type="Neg", input=["y"], output=["z"])
    graph = read_graph(model.SerializeToString(), Origin("file"))
    assert graph.nodes["name"].tolist() == ["Relu_0", "only a name", "_2", "_3", "Neg_4"]
    assert graph.edges[["source", "target"]].to_numpy().tolist() == [[0, 2], [0, 4]]
    assert [graph.raw(row) for row in range(5)] == [model.graph.node[at].SerializeToString() for at in (0, -4, -3, -2, -1)]
    texts = [problem.text for problem in graph.problems]
    assert "1,201 nodes have neither a name, an operator nor values and cannot be shown." in texts
