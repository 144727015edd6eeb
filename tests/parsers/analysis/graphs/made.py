"""Graphs for tests: frames made by hand, at random, and of real event files by protobuf itself."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import strategies as st
from parsers.events.messages import message_class
from parsers.frames import EDGES, NODES

KIND = {"p": "parameter", "c": "constant"}


def frames(
    nodes: Iterable[Sequence[str]], edges: Iterable[tuple[int, int] | tuple[int, int, str]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Nodes are (scope/name, type[, kind[, output type[, shape]]]), edges (source, target[, kind])."""
    rows = []
    for full, kind, *rest in nodes:
        of, output, shape = (*rest, *("operator", "Tensor[Float32]", "2x3")[len(rest) :])
        rows.append((full.rpartition("/")[2], full, full.rpartition("/")[0], kind, of, output, shape, "", len(rows)))
    node_frame = _typed(pd.DataFrame(rows, columns=list(NODES.names)), NODES)
    taken: dict[int, int] = {}
    links = []
    for source, target, *kind in edges:
        place = taken[target] = taken.get(target, -1) + 1
        links.append((source, target, 0, place, kind[0] if kind else "data", rows[source][5], rows[source][6]))
    return node_frame, _typed(pd.DataFrame(links, columns=list(EDGES.names)), EDGES)


def _typed(frame: pd.DataFrame, schema: Any) -> pd.DataFrame:
    return schema.check(frame.astype({column.name: column.dtype for column in schema.columns}))


SCOPES = ("", "a", "a/b", "a/b/c", "d", "d/0-Cell", "d/1-Cell", "d/2-Cell", "a/b/c/e/f", "g<i>")


@st.composite
def graphs(draw: Any, largest: int = 40) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Any graph: cycles, duplicate names, edges to itself, many edges between two nodes."""
    size = draw(st.integers(0, largest))
    kinds = st.sampled_from(("operator",) * 8 + ("parameter", "constant"))
    types = st.sampled_from(("MatMul", "Add", "ReLU", "UpdateState", "Load"))
    names = st.tuples(st.sampled_from(SCOPES), st.sampled_from("xyz"), types, kinds)
    nodes = [(f"{scope}/{name}" if scope else name, kind, of) for scope, name, kind, of in draw(_lists(names, size))]
    ends = st.integers(0, max(0, size - 1))
    edges = draw(st.lists(st.tuples(ends, ends, st.sampled_from(("data", "data", "control"))), max_size=3 * size)) if size else []
    return frames(nodes, edges)


def _lists(of: Any, size: int) -> Any:
    return st.lists(of, min_size=size, max_size=size)


def chain(size: int, types: Sequence[str] = ("A",), scope: str = "") -> tuple[pd.DataFrame, pd.DataFrame]:
    """One node after the other."""
    above = f"{scope}/" if scope else ""
    nodes = [(f"{above}n{number}", types[number % len(types)]) for number in range(size)]
    return frames(nodes, [(number, number + 1) for number in range(size - 1)])


def transformer(layers: int, heads: int = 3, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Equal layers of attention and dense, each with its parameters, after one another."""
    random.Random(seed)
    nodes: list[tuple[str, ...]] = [("embed/Gather-op0", "Gather")]
    edges: list[tuple[int, int]] = []
    before = 0
    for layer in range(layers):
        scope = f"net/encoder/{layer}-Layer"
        ends = []
        for head in range(heads):
            weight = len(nodes)
            nodes.append((f"layers.{layer}.head.{head}", "Parameter", "parameter"))
            nodes.append((f"{scope}/attention/{'qkvwxyz'[head % 7]}-Dense/MatMul-op{layer}", "MatMul"))
            edges += [(before, weight + 1), (weight, weight + 1)]
            ends.append(weight + 1)
        nodes.append((f"{scope}/attention/Softmax-op{layer}", "Softmax"))
        edges += [(end, len(nodes) - 1) for end in ends]
        nodes.append((f"{scope}/Add-op{layer}", "Add"))
        edges += [(len(nodes) - 2, len(nodes) - 1), (before, len(nodes) - 1)]
        before = len(nodes) - 1
    nodes.append(("net/Head-op0", "Head"))
    return frames(nodes, [*edges, (before, len(nodes) - 1)])


_FIELDS = {
    "GraphProto": (("node", 1, "NodeProto", True), ("parameters", 3, "ParameterProto", True), ("consts", 5, "Named", True)),
    "NodeProto": (
        ("input", 1, "InputProto", True),
        ("name", 2, "string", False),
        ("op_type", 3, "string", False),
        ("scope", 4, "string", False),
        ("output", 6, "TypeProto", False),
        ("full_name", 8, "string", False),
        ("instance_name", 10, "string", False),
    ),
    "InputProto": (("name", 1, "string", False), ("type", 2, "int32", False)),
    "ParameterProto": (("name", 1, "string", False), ("type", 2, "TypeProto", False)),
    "Named": (("key", 1, "string", False), ("value", 2, "bytes", False)),
    "TypeProto": (("data_type", 1, "int32", False), ("tensor", 2, "Tensor", False)),
    "Tensor": (("elem_type", 1, "int32", False), ("shape", 2, "Shape", False)),
    "Shape": (("dim", 1, "Dim", True),),
    "Dim": (("size", 1, "int64", False),),
}


@cache
def _graph_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="graph.proto", package="made", syntax="proto2")
    field = descriptor_pb2.FieldDescriptorProto
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for title, number, kind, many in fields:
            one = message.field.add(name=title, number=number, label=field.LABEL_REPEATED if many else field.LABEL_OPTIONAL)
            if kind in _FIELDS:
                one.type, one.type_name = field.TYPE_MESSAGE, f".made.{kind}"
            else:
                one.type = getattr(field, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("made.GraphProto"))


@cache
def real_graph(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The first graph of a run's event files, read by protobuf."""
    for path in sorted(folder.iterdir()):
        data, at = path.read_bytes(), 0
        while not path.name.endswith("_lineage") and at + 12 <= len(data):
            length = int.from_bytes(data[at : at + 8], "little")
            event = message_class("mindspore.Event").FromString(data[at + 12 : at + 12 + length])
            at += length + 16
            if event.HasField("graph_def"):
                return _of_proto(_graph_class().FromString(event.graph_def))
    raise FileNotFoundError(folder)


def _of_proto(graph: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    element = {43: "Float32", 11: "Float32", 5: "Int64", 4: "Int32", 1: "Bool", 10: "Float16"}

    def output(of: Any) -> tuple[str, str]:
        if of.data_type != 14:
            return str(of.data_type), ""
        shape = "x".join(str(dim.size) for dim in of.tensor.shape.dim) or "[]"
        return f"Tensor[{element.get(of.tensor.elem_type, of.tensor.elem_type)}]", shape

    rows = [(n.name, n.full_name, n.scope, n.op_type, "operator", *output(n.output), n.instance_name, 0) for n in graph.node]
    rows += [(p.name, p.name, "", "Parameter", "parameter", *output(p.type), "", 0) for p in graph.parameters]
    rows += [(c.key, c.key, "", "Const", "constant", "", "", "", 0) for c in graph.consts]
    number = {row[0]: place for place, row in enumerate(rows)}
    links = []
    for place, node in enumerate(graph.node):
        for at, one in enumerate(node.input):
            source = number[one.name]
            links.append((source, place, 0, at, "control" if one.type else "data", rows[source][5], rows[source][6]))
    return _typed(pd.DataFrame(rows, columns=list(NODES.names)), NODES), _typed(
        pd.DataFrame(links, columns=list(EDGES.names)), EDGES
    )
