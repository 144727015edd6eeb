"""MindSpore's graphs in protobuf: counts, columns and edges against the protobuf library, damage, odd names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import EDGES, NODES, Graph, SourceLine, open_run
from parsers.graphs.anf_ir import read_graph, sniff
from parsers.graphs.anf_values import tensor_text, value_text
from parsers.graphs.graph import Origin
from parsers.graphs.reader import read_file
from parsers.graphs.types import NAMES
from tests.parsers.graphs.golden import GOLDEN, SAMPLE, text
from tests.parsers.graphs.reference import graph_of, message
from tests.positions import every_byte, positions

COUNTS = {
    "graph_bert_train": (2059, 600, 627),
    "graph_bert24_forward": (1292, 391, 21),
    "graph_resnet50_train": (1455, 595, 740),
    "graph_control_flow": (1, 8, 0),
}


def read(data: bytes) -> Graph:
    graph = read_graph(data, Origin("file"))
    NODES.check(graph.nodes)
    EDGES.check(graph.edges)
    return graph


def kinds(graph: Graph) -> tuple[int, ...]:
    counted = graph.nodes["kind"].value_counts()
    return tuple(int(counted.get(kind, 0)) for kind in ("operator", "parameter", "constant"))


def assert_equal(graph: Graph, wanted: Any) -> None:
    """The frames against the messages, row by row."""
    named = [one.name for one in (*wanted.node, *wanted.parameters)] + [one.key for one in wanted.const_vals]
    assert graph.nodes["name"].tolist() == named
    operators = graph.nodes[: len(wanted.node)]
    assert operators["type"].tolist() == [node.op_type for node in wanted.node]
    assert operators["instance"].tolist() == [node.instance_name for node in wanted.node]
    assert operators["full_name"].tolist() == [node.full_name for node in wanted.node]
    ids = {name: row for row, name in reversed(list(enumerate(named)))}
    edges = [
        (ids[one.name], row, place, "control" if one.type == 1 else "data")
        for row, node in enumerate(wanted.node)
        for place, one in enumerate(node.input)
        if one.name in ids
    ]
    found = graph.edges[["source", "target", "input", "kind"]].itertuples(index=False, name=None)
    assert list(found) == edges
    for row, node in enumerate(wanted.node):
        assert len(graph.attributes(row)) == len(node.attribute) + node.HasField("output_i")
    assert graph.outputs == tuple(ids[one.name] for one in wanted.outputs)


@pytest.mark.parametrize("run", COUNTS)
def test_graphs_of_real_runs(run: str, real_data: Path) -> None:
    opened = open_run(real_data / "summary" / run)
    (name,) = opened.graphs
    graph = opened.graphs[name]
    place = opened.graphs.locations[name]
    with open(place.path, "rb") as file:
        wanted = graph_of(file.read()[place.offset : place.offset + place.length])
    assert kinds(graph) == COUNTS[run] == (len(wanted.node), len(wanted.parameters), len(wanted.const_vals))
    assert opened.kinds()["graph"] == 1
    if run == "graph_control_flow":
        assert [problem.kind for problem in graph.problems] == ["bad_graph"]
        assert "control flow" in graph.problems[0].text
        return
    assert_equal(graph, wanted)
    assert not graph.problems


def test_saved_graphs(real_data: Path) -> None:
    paths = sorted((real_data / "ir").glob("*/*.pb"))
    assert len(paths) == 12
    for path in [*paths, real_data / "mindinsight_legacy/graph_pb/lenet.pb"]:
        data = path.read_bytes()
        assert sniff(data[:4096])
        graph = read(data)
        assert_equal(graph, graph_of(data))
        assert kinds(graph) == ((104, 20, 37) if path.name == "lenet.pb" else (len(graph_of(data).node), 21, 18))
        assert not graph.problems


# Made graphs -------------------------------------------------------------------------------------------------------


def small() -> bytes:
    model = message("mindspore.ModelProto")()
    model.ir_version = 1
    graph = model.graph
    graph.name = "net"
    first = graph.node.add(name="1", op_type="Conv2D", scope="Default/net", full_name="Default/net/Conv2D-op1")
    first.instance_name = "c"
    first.input.add(name="x")
    first.input.add(name="w")
    first.attribute.add(name="pad").value.values.add(dtype=5, int_val=1)
    tensor = first.output_type
    tensor.data_type, tensor.tensor_type.elem_type = 14, 11
    for size in (8, -1):
        tensor.tensor_type.shape.dim.add(size=size)
    second = graph.node.add(name="2", op_type="ReLU", full_name="Default/net/ReLU-op2")
    second.source_address = "In file /n.py:3, 1/x = 1/"
    second.input.add(name="1")
    second.input.add(name="cst1", type=1)
    second.output_type.data_type = 77
    graph.parameters.add(name="x").type.data_type = 49
    graph.parameters.add(name="w").default_val.str_val = "ones"
    graph.const_vals.add(key="cst1").value.int_val = -5
    graph.outputs.add(name="2")
    data: bytes = model.SerializeToString()
    return data


def test_columns_of_a_small_graph() -> None:
    graph = read(small())
    assert graph.nodes["output_type"].tolist() == ["Tensor[Float32]", "DT_77", "Slice", "", ""]
    assert graph.nodes["shape"].tolist() == ["8x-1", "", "", "", ""]
    assert graph.nodes["instance"].tolist() == ["c", "", "", "", ""]
    assert graph.edges[["source", "target", "input", "kind", "shape"]].to_numpy().tolist() == [
        [2, 0, 0, "data", ""], [3, 0, 1, "data", ""], [0, 1, 0, "data", "8x-1"], [4, 1, 1, "control", ""],
    ]  # fmt: skip
    assert graph.attributes(0) == {"pad": "[1]"}
    assert graph.attributes(3) == {"default": "ones"}
    assert graph.attributes(4) == {"value": "-5"}
    assert graph.source_lines(1) == (SourceLine("/n.py", 3, 3, "x = 1"),)
    assert (graph.title, graph.outputs, graph.problems) == ("net", (1,), ())
    with pytest.raises(IndexError, match="expected node 0 to 4, found 5"):
        graph.attributes(5)


@every_byte
@pytest.mark.parametrize("bare", [False, True])
def test_no_flipped_or_missing_byte_raises_and_whole_nodes_survive(bare: bool, every: bool) -> None:
    data = small()
    if bare:
        data = message("mindspore.ModelProto").FromString(data).graph.SerializeToString()
    for at in positions(len(data), every):
        for damaged in (data[:at], data[:at] + bytes((data[at] ^ 0xFF,)) + data[at + 1 :]):
            graph = read_graph(damaged, Origin("file"))
            for row in range(len(graph.nodes)):
                graph.attributes(row)
                graph.source_lines(row)
    spans = [node.SerializeToString() for node in graph_of(data).node]
    end = data.index(spans[0]) + len(spans[0])
    assert read_graph(data[: end + 4], Origin("file")).nodes["name"].tolist()[:1] == ["1"]


def test_a_damaged_length_costs_one_node(real_data: Path) -> None:
    data = (real_data / "ir/level1_env/ms_output_optimize.pb").read_bytes()
    nodes = graph_of(data).node
    whole = [node.SerializeToString() for node in nodes]
    for row in (0, 10, 40, 84):
        at = data.index(whole[row]) - 1
        for wrong in {0x7F, 0x01, 0x30} - {data[at]}:
            graph = read(data[:at] + bytes((wrong,)) + data[at + 1 :])
            found = set(graph.nodes["full_name"].tolist())
            lost = [place for place, node in enumerate(nodes) if node.full_name not in found]
            assert len(lost) <= 2
            assert all(row <= place <= row + 1 for place in lost)
            assert kinds(graph)[1:] == (21, 18)
            assert graph.problems


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=8), st.data())
def test_names_of_any_character(names: list[str], data: st.DataObject) -> None:
    wanted = message("mindspore.GraphProto")()
    for name in names:
        clean = name.encode("utf-8", "replace").decode()
        node = wanted.node.add(name=clean, op_type=clean, scope=clean, full_name=clean, instance_name=clean)
        for _ in range(data.draw(st.integers(0, 3))):
            node.input.add(name=data.draw(st.sampled_from(names)).encode("utf-8", "replace").decode())
        node.attribute.add(name=clean).value.str_val = clean
    graph = read(wanted.SerializeToString())
    clean = [node.name for node in wanted.node]
    for column in ("name", "full_name", "scope", "type", "instance"):
        assert graph.nodes[column].tolist() == clean
    assert [list(graph.attributes(row).items()) for row in range(len(clean))] == [[(name, name)] for name in clean]
    first = {name: clean.index(name) for name in clean}
    assert graph.edges["source"].tolist() == [first[one.name] for node in wanted.node for one in node.input]
    assert bool(graph.problems) == (len(first) < len(clean))


@given(st.integers(0, 60), st.integers(-3, 60))
def test_types_by_number(number: int, size: int) -> None:
    wanted = message("mindspore.GraphProto")()
    node = wanted.node.add(name="1", op_type="A")
    part = node.output_type
    part.data_type = 31
    for _ in range(2):
        inner = part.sequence_type.elem_types.add()
        inner.data_type, inner.tensor_type.elem_type = 14, number
        inner.tensor_type.shape.dim.add(size=size)
    graph = read(wanted.SerializeToString())
    name = NAMES[number] if number <= 49 else f"DT_{number}"
    assert graph.nodes["output_type"][0] == f"Tuple[Tensor[{name}], Tensor[{name}]]"
    assert graph.nodes["shape"][0] == f"({size}, {size})"


def test_cycles_inputs_naming_nothing_and_long_attributes() -> None:
    wanted = message("mindspore.GraphProto")()
    for name, source in (("1", "2"), ("2", "1"), ("3", "3"), ("4", "none")):
        node = wanted.node.add(name=name, op_type="Add")
        node.input.add(name=source)
        node.attribute.add(name="long").value.str_val = "<script>\n" + "x" * 1_000_000
        node.attribute.add(name="long").value.float_val = 0.1
    graph = read(wanted.SerializeToString())
    assert graph.edges[["source", "target"]].to_numpy().tolist() == [[1, 0], [0, 1], [2, 2]]
    assert [len(text) for text in graph.attributes(3).values()] == [1_000_009, 3]
    assert list(graph.attributes(3)) == ["long", "long #2"]
    assert ["none" in problem.text for problem in graph.problems] == [True]


VALUES = st.one_of(st.integers(-(2**63), 2**63 - 1), st.booleans(), st.text())


@given(st.recursive(VALUES, st.lists, max_leaves=8))
def test_values_as_text(value: Any) -> None:
    def fill(into: Any, one: Any) -> None:
        if isinstance(one, bool):
            into.dtype, into.bool_val = 1, one
        elif isinstance(one, int):
            into.dtype, into.int_val = 5, one
        elif isinstance(one, str):
            into.dtype, into.str_val = 13, one.encode("utf-8", "replace").decode()
        else:
            into.dtype = 32
            for part in one:
                fill(into.values.add(), part)

    def shown(one: Any) -> str:
        if isinstance(one, str):
            return json.dumps(one.encode("utf-8", "replace").decode(), ensure_ascii=False)
        return f"[{', '.join(map(shown, one))}]" if isinstance(one, list) else str(one)

    wanted = message("mindspore.ValueProto")()
    fill(wanted, value)
    data = wanted.SerializeToString()
    clean = value.encode("utf-8", "replace").decode() if isinstance(value, str) else None
    assert value_text(data, 0, len(data)) == (shown(value) if clean is None else clean)


def test_tensors_of_both_variants_as_text() -> None:
    tensor = message("mindspore.TensorProto")(dims=[2], data_type=11, float_data=[1.5, -2.0]).SerializeToString()
    assert tensor_text(tensor, 0, len(tensor)) == "Tensor[Float32] 2 [1.5, -2.0]"
    raw = message("mindspore.TensorProto")(dims=[2], data_type=5, raw_data=bytes(16)).SerializeToString()
    assert tensor_text(raw, 0, len(raw)) == "Tensor[Int64] 2 [0, 0]"
    sent = b"\x1a\x04\x00\x00\x80?(\x0b"
    assert tensor_text(sent, 0, len(sent)) == "Tensor[Float32] [] [1.0]"


def test_names_of_the_oldest_files() -> None:
    wanted = message("mindspore.GraphProto")()
    wanted.node.add(name="Default/conv/Conv2D-op12", op_type="Conv2D", scope="Default/conv")
    wanted.node.add(name="13", op_type="ReLU", scope="Default").input.add(name="12")
    graph = read(wanted.SerializeToString())
    assert graph.nodes["full_name"].tolist() == ["Default/conv/Conv2D-op12", "Default/ReLU-op13"]
    assert graph.edges[["source", "target"]].to_numpy().tolist() == [[0, 1]]
    assert not graph.problems


def test_a_file_made_to_be_slow_to_search_ends() -> None:
    inner = b"\n\xff\x7f" + b"\n\x02\n\x00" * 4
    data = b"\n\x05\xff\xff\xff" + inner * 20_000
    assert read_graph(data, Origin("file")).problems


def test_golden_frames_of_a_saved_graph() -> None:
    graph = read(SAMPLE.read_bytes())
    columns = ["name", "full_name", "scope", "type", "kind", "output_type", "shape", "instance"]
    found = [*graph.nodes[columns].itertuples(index=False, name=None)]
    found += graph.edges[["source", "target", "input", "kind"]].itertuples(index=False, name=None)
    assert text(found) == GOLDEN.read_text(encoding="utf-8")
    assert not graph.problems


def test_stacks_of_a_message_are_outermost_first_as_in_the_text(real_data: Path) -> None:
    folder = real_data / "dump/out_tensor/rank_0/graphs"
    graphs = [read_file(str(folder / f"ms_output_trace_code_graph_0.{kind}")) for kind in ("pb", "ir")]
    stacks = [
        {
            name: [(line.file, line.first) for line in graph.source_lines(row)]
            for row, name in enumerate(graph.nodes["full_name"])
        }
        for graph in graphs
    ]
    long = {name for name, lines in stacks[0].items() if len(lines) > 3 and stacks[1].get(name)}
    assert len(long) > 20
    for name in long:
        message, text = (list(dict.fromkeys(stack[name])) for stack in stacks)
        shared = set(message) & set(text)
        assert len(shared) > 3
        assert [line for line in message if line in shared] == [line for line in text if line in shared]
        assert message[-1] == text[-1]
