"""The tensors of the graphs that training has sent: what could be asked of it at any step.

Rows are inputs and outputs of operators, and parameters. A name on the wire is that of the operator that makes the values, so
an input has the name of the output it takes; operators that only pass values on are in no row. Constants have no values here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from parsers.debugger.messages import WireTensorName, item_size
from parsers.deferred import pandas as pd
from parsers.dump_frames import DUMP_TENSORS
from parsers.dumps.graphs import GraphFlow, flow_of_graph
from parsers.dumps.names import dtype_named
from parsers.dumps.tables import categorical
from parsers.events.wire import DELIMITED, WireError
from parsers.graphs.graph import Graph
from parsers.graphs.tables import DATA, OPERATOR, PARAMETER
from parsers.graphs.types import parts_of
from parsers.graphs.wire import intact
from parsers.model import Ints

_PASSING = frozenset(("Load", "Depend", "Identity", "TensorMove"))
_WITHOUT = _PASSING | {"UpdateState", "MakeTuple", "TupleGetItem", "Return", "Partial", "Switch", "Call"}
_OUTPUT_TYPE = 6 << 3 | DELIMITED
_TEXTS = ("type", "name", "scope", "io", "dtype", "shape", "parameter", "file", "net")
_NUMBERS = ("graph", "slot", "order", "size_bytes")


@dataclass(slots=True)
class GraphTensors:
    """The tensors of graphs, one row per tensor, and its name on the wire: wire is -1 for none, else a place in names."""

    graphs: Mapping[int, Graph]
    rank: int = 0
    flows: dict[int, GraphFlow] = field(default_factory=dict)
    names: list[WireTensorName] = field(default_factory=list)
    wire: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    places: dict[WireTensorName, int] = field(default_factory=dict)
    graph_names: dict[int, str] = field(default_factory=dict)
    _columns: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.wire)

    @property
    def parameters(self) -> Any:
        """Which rows are parameters, of which training also has the values of the step before."""
        io = self._columns["io"]
        return np.asarray(io == "parameter")

    def frame(self, series: Ints, iteration: Ints, time_ns: Ints) -> pd.DataFrame:
        """Return these tensors at these iterations (schema DUMP_TENSORS)."""
        if not len(series):
            return DUMP_TENSORS.empty()
        columns: dict[str, Any] = {name: self._columns[name].take(series) for name in _TEXTS}
        columns |= {name: self._columns[name][series] for name in _NUMBERS}
        columns["file"] = pd.Series(columns["file"].astype(object), dtype="str").array
        same = np.zeros(len(series), np.int32)
        for name in ("key", "format"):
            columns[name] = pd.Categorical.from_codes(same, categories=pd.Index([""], dtype="str"))
        columns["part"] = pd.Categorical.from_codes(same, categories=pd.Index([f"rank_{self.rank}"], dtype="str"))
        columns["recorded"] = columns["name"]
        columns["rank"] = np.full(len(series), self.rank, np.int64)
        columns["iteration"], columns["time_ns"] = iteration, time_ns
        columns["occurrence"] = np.zeros(len(series), np.int64)
        return DUMP_TENSORS.check(pd.DataFrame({name: columns[name] for name in DUMP_TENSORS.names}, copy=False))

    def shape_of(self, wire: int) -> tuple[str, int]:
        """Return dtype and bytes of a tensor as the graph has them; "" and -1 for unknown."""
        rows = np.flatnonzero(self.wire == wire)
        if not len(rows):
            return "", -1
        return str(self._columns["dtype"][rows[0]]), int(self._columns["size_bytes"][rows[0]])


def tensors_of(graphs: Mapping[int, Graph], rank: int = 0) -> GraphTensors:
    """Return the tensors of graphs by number."""
    found = GraphTensors(graphs, rank)
    rows: dict[str, list[Any]] = {name: [] for name in (*_TEXTS, *_NUMBERS, "wire")}
    for number, graph in graphs.items():
        found.graph_names[number] = graph.title
        found.flows[number] = flow_of_graph(graph)
        _add_graph(found, rows, number, graph)
    found.wire = np.array(rows.pop("wire"), np.int64)
    found._columns = {name: categorical(rows[name]) for name in _TEXTS}
    found._columns |= {name: np.array(rows[name], np.int64) for name in _NUMBERS}
    return found


def _add_graph(found: GraphTensors, rows: dict[str, list[Any]], number: int, graph: Graph) -> None:
    nodes = graph.nodes
    names = nodes["full_name"].tolist()
    kinds, types, scopes = (nodes[name].astype(str).tolist() for name in ("kind", "type", "scope"))
    outputs = list(zip(nodes["output_type"].astype(str).tolist(), nodes["shape"].astype(str).tolist(), strict=True))
    orders = found.flows[number].orders
    inputs = _inputs(graph)
    made: dict[int, list[tuple[str, str]]] = {}

    def parts(node: int) -> list[tuple[str, str]]:
        if node not in made:
            text = outputs[node][0]
            made[node] = _parts(graph, node) if text.startswith(("Tuple", "List")) else [outputs[node]]
        return made[node]

    def add(node: int, io: str, slot: int, source: int, output: int) -> None:
        told = parts(source)
        dtype, shape, size = _described(*told[output]) if output < len(told) else ("", "", -1)
        constant = kinds[source] not in (OPERATOR, PARAMETER)
        rows["wire"].append(-1 if constant else _placed(found, WireTensorName(names[source], output)))
        texts = {
            "type": types[node], "name": names[node], "scope": scopes[node], "io": io, "dtype": dtype, "shape": shape,
            "parameter": names[source] if kinds[source] == PARAMETER else "",
            "file": "" if constant else f"{names[source]}:{output}", "net": graph.title,
        }  # fmt: skip
        for name, text in texts.items():
            rows[name].append(text)
        for name, value in (("graph", number), ("slot", slot), ("order", orders.get(names[node], -1)), ("size_bytes", size)):
            rows[name].append(value)

    for node, kind in enumerate(kinds):
        if kind == PARAMETER:
            add(node, "parameter", 0, node, 0)
        elif kind == OPERATOR and types[node] not in _WITHOUT:
            for place, source in sorted(inputs.get(node, {}).items()):
                origin, output = _origin(source, inputs, types, graph)
                if types[origin] not in _WITHOUT:
                    add(node, "input", place, origin, output)
            for output in range(len(parts(node))):
                add(node, "output", output, node, output)


def _inputs(graph: Graph) -> dict[int, dict[int, int]]:
    """Return node -> input -> the node it takes."""
    data = (graph.edges["kind"] == DATA).to_numpy()
    found: dict[int, dict[int, int]] = {}
    columns = (graph.edges[name].to_numpy()[data].tolist() for name in ("source", "target", "input"))
    for source, target, place in zip(*columns, strict=True):
        found.setdefault(target, {})[place] = source
    return found


def _origin(node: int, inputs: Mapping[int, Mapping[int, int]], types: list[str], graph: Graph) -> tuple[int, int]:
    """Return the node that makes a value, and which of its outputs it is: others only pass it on."""
    output = 0
    for _ in range(1000):
        above = inputs.get(node, {})
        if 0 not in above:
            break
        if types[node] in _PASSING:
            node = above[0]
        elif types[node] == "TupleGetItem" and 1 in above:
            number = graph.attributes(above[1]).get("value", "")
            output = int(number) if number.isascii() and number.isdigit() and len(number) < 6 else 0
            node = above[0]
            if types[node] == "MakeTuple" and output in inputs.get(node, {}):
                node, output = inputs[node][output], 0
        else:
            break
    return node, output


def _parts(graph: Graph, node: int) -> list[tuple[str, str]]:
    raw = graph.raw(node)
    for key, start, stop in intact(raw, 0, len(raw)):
        if key == _OUTPUT_TYPE:
            try:
                return parts_of(raw, start, stop)
            except (WireError, IndexError):
                break
    return [("", "")]


def _described(text: str, shape: str) -> tuple[str, str, int]:
    """Return dtype, shape and bytes of a value by the texts of a graph; -1 for unknown."""
    dtype = dtype_named(text.removeprefix("Tensor[").removesuffix("]")) if "Tensor" in text else dtype_named(text)
    dims = [] if shape in ("[]", "") else shape.split("x")
    try:
        size = item_size(dtype) * math.prod(map(int, dims))
    except (TypeError, ValueError):
        return dtype, shape, -1
    return dtype, shape or "[]", size if size >= 0 else -1


def _placed(found: GraphTensors, name: WireTensorName) -> int:
    place = found.places.setdefault(name, len(found.names))
    if place == len(found.names):
        found.names.append(name)
    return place
