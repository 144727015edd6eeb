"""Loads an ONNX model and verifies it: names, order, types of what it holds. Nothing of the model is executed.

Nodes come out in an order of execution. Functions of the model are inlined. What cannot be loaded raises one ConversionError
with the file and, where there is one, the node.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from app.conversion.refusals import ConversionError
from app.conversion.weights import Weight, weight_of

OLDEST_OPSET, NEWEST_OPSET, NEWEST_IR = 7, 28, 14
MOST_BYTES = (1 << 31) - 1
"""Of a file: messages of protocol buffers are never larger."""
MOST_NODES = 1_000_000
LARGE = 4096
"""Bytes of a weight from which shape inference does not look at its numbers."""
DOMAINS = ("", "ai.onnx")
Dim = int | str
"""A size that is known, or the name of one that is not; "" has no name."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """Data type ("" if unknown) and shape (None if even the rank is unknown) of a value."""

    dtype: str = ""
    shape: tuple[Dim, ...] | None = None


@dataclass(slots=True)
class OnnxNode:
    """One node. index is its position in the file; outer are values that its sub-graphs take from outside."""

    index: int
    op: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, onnx.AttributeProto]
    proto: onnx.NodeProto
    outer: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """A name for messages; nodes need none in the file."""
        return self.name or f"{self.op} {self.index}"


@dataclass(slots=True)
class OnnxModel:
    """A loaded model. proto has no large weights any more; those are in weights. types is filled by shape inference."""

    path: str
    proto: onnx.ModelProto
    opset: int
    nodes: list[OnnxNode]
    inputs: list[str]
    outputs: list[str]
    weights: dict[str, Weight]
    types: dict[str, ValueType] = field(default_factory=dict)
    unused: tuple[str, ...] = ()


def load(path: str, inputs: Sequence[str] = (), outputs: Sequence[str] = ()) -> OnnxModel:
    """Load a model; inputs and outputs name values between which the nodes are kept, () those of the model."""
    proto = _parse(path)
    opset = _opset(proto, path)
    if proto.functions:
        proto = _inlined(proto, path)
    graph = proto.graph
    _refuse_bytes(graph, path)
    if graph.sparse_initializer:
        name = graph.sparse_initializer[0].values.name
        raise ConversionError(f"{path}: tensor {name!r}: expected a dense tensor, found a sparse one, which is not supported")
    if not graph.node and not graph.output:
        raise ConversionError(f"{path}: expected a graph with nodes, found none")
    weights: dict[str, Weight] = {}
    for tensor in graph.initializer:
        if not tensor.name or tensor.name in weights:
            raise ConversionError(
                f"{path}: expected one weight per name, found {tensor.name!r} {'twice' if tensor.name else 'as a name'}"
            )
        weights[tensor.name] = weight_of(_detached(tensor), path)
    nodes = _checked([_node(number, node) for number, node in enumerate(graph.node)], path)
    proto.ir_version = max(proto.ir_version, 4)  # before it inference knows no initializer that is not an input
    model = OnnxModel(path, proto, opset, nodes, [value.name for value in graph.input if value.name not in weights],
                      [value.name for value in graph.output], weights)  # fmt: skip
    return _ordered(_between(model, inputs, outputs))


def _parse(path: str) -> onnx.ModelProto:
    try:
        size = os.path.getsize(path)
        if size > MOST_BYTES:
            raise ConversionError(f"{path}: expected at most 2 GiB, found {size:,} bytes; save the weights as external data")
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ConversionError(f"{path}: expected a readable file, found: {error.strerror}") from None
    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError:
        raise ConversionError(f"{path}: expected an ONNX model, found other or damaged data") from None
    if not model.HasField("graph") or not model.ir_version:
        raise ConversionError(f"{path}: expected an ONNX model with a graph, found none; the file may be cut off")
    if model.ir_version > NEWEST_IR:
        raise ConversionError(f"{path}: expected IR version {NEWEST_IR} or older, found {model.ir_version}")
    return model


def _refuse_bytes(graph: onnx.GraphProto, path: str) -> None:
    """Names that are not UTF-8 come as bytes."""
    for number, node in enumerate(graph.node):
        names = [node.name, node.op_type, node.domain, *node.input, *node.output, *(one.name for one in node.attribute)]
        if any(isinstance(name, bytes) for name in names):
            raise ConversionError(f"{path}: node {number}: expected names in UTF-8, found other bytes")
    values = [*graph.input, *graph.output, *graph.value_info, *graph.initializer]
    if any(isinstance(value.name, bytes) for value in values):
        raise ConversionError(f"{path}: expected names of values in UTF-8, found other bytes")


def _opset(model: onnx.ModelProto, path: str) -> int:
    found = [entry.version for entry in model.opset_import if entry.domain in DOMAINS]
    version = found[0] if found else 1 if model.ir_version < 3 else 0
    if not OLDEST_OPSET <= version <= NEWEST_OPSET:
        wanted = f"expected an operator set from {OLDEST_OPSET} to {NEWEST_OPSET}, found {version or 'none'}"
        raise ConversionError(f"{path}: {wanted}; onnx.version_converter converts older ones")
    return int(version)


def _inlined(model: onnx.ModelProto, path: str) -> onnx.ModelProto:
    from onnx import inliner

    try:
        return inliner.inline_local_functions(model)
    except Exception as error:  # noqa: BLE001  errors of the C++ library have no common base; this one ends in one message
        raise ConversionError(f"{path}: expected functions that can be inlined, found: {_first_line(error)}") from None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def _detached(tensor: onnx.TensorProto) -> onnx.TensorProto:
    """Return the tensor; a large one leaves only its description in the model, since shape inference copies the model."""
    if tensor.ByteSize() < LARGE or tensor.data_location == onnx.TensorProto.EXTERNAL:
        return tensor
    kept = onnx.TensorProto()
    kept.CopyFrom(tensor)
    for name in ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data"):
        tensor.ClearField(name)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights")
    return kept


def _node(index: int, node: onnx.NodeProto) -> OnnxNode:
    attributes = {one.name: one for one in node.attribute}
    outer = tuple(dict.fromkeys(name for one in node.attribute for name in _captured(one)))
    inputs = list(node.input)
    while inputs and not inputs[-1]:
        inputs.pop()
    domain = "" if node.domain in DOMAINS else node.domain
    return OnnxNode(index, node.op_type, domain, node.name, tuple(inputs), tuple(node.output), attributes, node, outer)


def _captured(attribute: onnx.AttributeProto, depth: int = 0) -> Iterator[str]:
    """Yield the names that sub-graphs use and do not define."""
    graphs = [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]
    for graph in graphs if depth < 32 else ():
        known = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
        known |= {name for node in graph.node for name in node.output}
        for node in graph.node:
            names = [*node.input, *(name for one in node.attribute for name in _captured(one, depth + 1))]
            yield from (name for name in names if name and name not in known)
        yield from (value.name for value in graph.output if value.name not in known)


def _checked(nodes: list[OnnxNode], path: str) -> list[OnnxNode]:
    if len(nodes) > MOST_NODES:
        raise ConversionError(f"{path}: expected at most {MOST_NODES:,} nodes, found {len(nodes):,}")
    for node in nodes:
        if not node.op:
            raise ConversionError(f"{path}: node {node.index} {node.name!r}: expected an operator, found none")
        if not any(node.outputs):
            raise ConversionError(f"{path}: node {node.label!r}: expected an output with a name, found none")
    return nodes


def _between(model: OnnxModel, inputs: Sequence[str], outputs: Sequence[str]) -> OnnxModel:
    """Keep what lies between the values named, all of it that reaches an output."""
    producers = _producers(model)
    for option, names in (("--input-nodes", inputs), ("--output-nodes", outputs)):
        known = producers.keys() | set(model.inputs)
        missing = [name for name in names if name not in known]
        if missing:
            raise ConversionError(f"{model.path}: {option}: expected names of values of the model, found {missing[0]!r}")
    model.inputs = [*inputs, *(name for name in model.inputs if inputs and name not in inputs)] if inputs else model.inputs
    model.outputs = list(outputs) or model.outputs
    needed: set[int] = set()
    stack, stops = list(model.outputs), set(inputs)
    seen = set(stack)
    while stack:
        name = stack.pop()
        node = producers.get(name)
        if name in stops or node is None or node.index in needed:
            continue
        needed.add(node.index)
        fresh = [one for one in (*node.inputs, *node.outer) if one and one not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    if inputs or outputs:
        model.nodes = [node for node in model.nodes if node.index in needed]
        model.inputs = [name for name in model.inputs if name in seen or name in stops]
    used = _used(model)
    model.unused = tuple(name for name in model.weights if name not in used)
    return model


def _used(model: OnnxModel) -> Collection[str]:
    return {name for node in model.nodes for name in (*node.inputs, *node.outer)} | set(model.outputs)


def _producers(model: OnnxModel) -> dict[str, OnnxNode]:
    """Return value -> node that computes it; every value has one source."""
    found: dict[str, OnnxNode] = {}
    taken = set(model.inputs) | set(model.weights)
    if len(set(model.inputs)) < len(model.inputs):
        raise ConversionError(f"{model.path}: expected inputs with different names, found {model.inputs}")
    for node in model.nodes:
        for name in node.outputs:
            if name and (name in found or name in taken):
                raise ConversionError(
                    f"{model.path}: node {node.label!r}: expected an output with a new name, found {name!r} again"
                )
            if name:
                found[name] = node
    return found


def _ordered(model: OnnxModel) -> OnnxModel:
    """Put nodes after those whose outputs they use; the order of the file is kept where it can be."""
    producers = _producers(model)
    given = set(model.inputs) | set(model.weights)
    waiting: dict[int, int] = {}
    users: dict[int, list[OnnxNode]] = {}
    for node in model.nodes:
        sources = {name for name in (*node.inputs, *node.outer) if name and name not in given}
        missing = sorted(name for name in sources if name not in producers)
        if missing:
            raise ConversionError(f"{model.path}: node {node.label!r}: expected an input that exists, found {missing[0]!r}")
        before = {producers[name].index for name in sources}
        waiting[node.index] = len(before)
        for index in before:
            users.setdefault(index, []).append(node)
    lost = [name for name in model.outputs if name not in producers and name not in given]
    if lost:
        raise ConversionError(f"{model.path}: expected an output that a node computes, found {lost[0]!r}")
    by_index = {node.index: node for node in model.nodes}
    ready = [index for index, count in waiting.items() if not count]
    heapify(ready)
    order: list[OnnxNode] = []
    while ready:
        node = by_index[heappop(ready)]
        order.append(node)
        for user in users.get(node.index, ()):
            waiting[user.index] -= 1
            if not waiting[user.index]:
                heappush(ready, user.index)
    if len(order) < len(model.nodes):
        stuck = next(node for node in model.nodes if waiting[node.index])
        raise ConversionError(
            f"{model.path}: node {stuck.label!r}: expected a graph without circles, found one through this node"
        )
    model.nodes = order
    return model


def attribute_value(attribute: onnx.AttributeProto) -> Any:
    """Return the value of an attribute as numbers, texts, lists of them, or the message of a tensor or graph.

    A float32 is the shortest number that stands for it: 0.1, not 0.10000000149011612.
    """
    found = onnx.helper.get_attribute_value(attribute)
    if isinstance(found, float):
        return float(str(np.float32(found)))
    if isinstance(found, bytes):
        return found.decode("utf-8", "replace")
    if attribute.type == onnx.AttributeProto.STRINGS:
        return [one.decode("utf-8", "replace") for one in found]
    return list(found) if attribute.type in (onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS) else found
