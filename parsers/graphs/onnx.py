"""Decodes ONNX models, `.onnx`: the graph, its inputs, weights and sub-graphs.

Make one with `torch.onnx.export(model, (x,), "model.onnx")`, or with MindSpore's
`export(net, x, file_name="net", file_format="ONNX")`. Rows are the nodes of the graph and of the graphs in their attributes
(If, Loop, Scan), then inputs and weights. Numbers of weights are not read, neither from the file nor from those beside it that
hold external data. The message is ModelProto of onnx.proto.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.events.wire import DELIMITED, FIXED32, VARINT, WireError, varint
from parsers.graphs.graph import Graph, Origin, SourceLine, unique
from parsers.graphs.tables import CALL, CONSTANT, OPERATOR, PARAMETER, Edges, Nodes, missing, resolve
from parsers.graphs.tensors import MOST_ITEMS, ONNX, ONNX_NUMBERS, bytes_text, listed, name_of, numbers_text
from parsers.graphs.types import shape_text
from parsers.graphs.wire import intact, number, places, text
from parsers.model import Problem
from parsers.payloads.messages import varints

FORMAT = "onnx"
_VERSION, _GRAPH = 1 << 3 | VARINT, 7 << 3 | DELIMITED
_MODEL_KEYS = frozenset((_VERSION, 5 << 3 | VARINT, *(n << 3 | DELIMITED for n in (2, 3, 4, 6, 8, 14, 20, 25))))
_NODE, _NAME, _WEIGHT, _INPUT, _OUTPUT, _VALUE = (n << 3 | DELIMITED for n in (1, 2, 5, 11, 12, 13))
_FROM, _TO, _NODE_NAME, _OP_TYPE, _ATTRIBUTE, _DOC, _DOMAIN = (n << 3 | DELIMITED for n in (1, 2, 3, 4, 5, 6, 7))
_FIRST, _SECOND = 1 << 3 | DELIMITED, 2 << 3 | DELIMITED
_DIMS, _DATA_TYPE, _TENSOR_NAME, _EXTERNAL = 1, 2 << 3 | VARINT, 8 << 3 | DELIMITED, 13 << 3 | DELIMITED
_SUBGRAPH, _SUBGRAPHS = 6 << 3 | DELIMITED, 11 << 3 | DELIMITED
DEEPEST, MOST_PROBLEMS = 16, 100
_F32 = Struct("<f").unpack_from


def sniff(head: bytes) -> bool:
    """Return whether the first bytes of a file are a ModelProto of ONNX: a version first, then a graph."""
    seen = 0
    try:
        for key, start, stop in places(head, 0, 1 << 62):
            if key == _GRAPH:
                return seen > 0 and head[start : start + 1] in (b"", b"\n", b"\x12", b"*", b"Z", b"b")
            if key not in _MODEL_KEYS or (not seen and key != _VERSION):
                return False
            seen += 1
            if stop > len(head):
                return seen > 1
    except (WireError, IndexError):
        return False
    return False


def read_graph(data: bytes, origin: Origin) -> Graph:
    """Decode a ModelProto; never raises for damage."""
    return _OnnxReading(data, origin).graph()


@dataclass(frozen=True, slots=True)
class _OnnxDetails:
    """Messages of nodes, followed by those of inputs and weights; the rest of the file is not kept."""

    messages: tuple[bytes, ...]
    parameters: tuple[dict[str, str], ...]

    @property
    def nbytes(self) -> int:
        return sum(map(len, self.messages)) + 60 * len(self.messages) + 400 * len(self.parameters)

    def attributes(self, row: int) -> dict[str, str]:
        operators = len(self.messages)
        return unique(_of_node(self.messages[row])) if row < operators else dict(self.parameters[row - operators])

    def raw(self, row: int) -> bytes:
        return self.messages[row] if row < len(self.messages) else b""

    def mentions(self, word: str) -> Iterator[int]:
        raw = word.encode("utf-8", "surrogatepass")
        yield from (row for row, message in enumerate(self.messages) if raw in message)
        yield from (len(self.messages) + row for row, known in enumerate(self.parameters) if word in known)

    def source_lines(self, row: int) -> tuple[SourceLine, ...]:  # noqa: ARG002  the format has none
        return ()


def _of_node(data: bytes) -> Iterator[tuple[str, str]]:
    for key, start, stop in intact(data, 0, len(data)):
        if key == _ATTRIBUTE:
            name = [text(data, a, b) for inner, a, b in intact(data, start, stop) if inner == _FIRST]
            yield "".join(name[-1:]), _attribute(data, start, stop)
        elif key in (_DOMAIN, _DOC) and stop > start:
            yield "domain" if key == _DOMAIN else "doc_string", text(data, start, stop)


def _attribute(data: bytes, pos: int, end: int) -> str:
    """Format the value of an AttributeProto."""
    found: list[str] = []
    several = False
    try:
        for key, start, stop in places(data, pos, end):
            one, many = _item(data, start, stop, key)
            found += one
            several = several or many
            if len(found) > MOST_ITEMS:
                found[MOST_ITEMS:] = ["…"]
                break
    except (WireError, IndexError) as error:
        return f"(damaged: {error}) {data[pos:end].hex()}"
    return f"[{', '.join(found)}]" if several else ", ".join(found)


def _item(data: bytes, start: int, stop: int, key: int) -> tuple[list[str], bool]:
    """Return the texts of one field of an attribute, and whether the attribute is a list."""
    field, kind = key >> 3, key & 7
    if field in (2, 7) and kind == FIXED32:
        return [str(np.float32(_F32(data, start)[0]))], field == 7
    if field in (3, 8) and kind in (VARINT, DELIMITED):
        return [str(value) for value in varints([memoryview(data)[start:stop]], "<i8").tolist()], field == 8
    if kind != DELIMITED:
        return [], False
    if field == 7:
        return [listed(np.frombuffer(data, "<f4", (stop - start) // 4, start))[1:-1]], True
    if field in (4, 9):
        return [text(data, start, stop) if field == 4 else bytes_text(data[start:stop])], field == 9
    if field in (5, 10):
        about = _tensor(data, start, stop)
        numbers = numbers_text(data, start, stop, ONNX_NUMBERS, 9, about.type[7:-1])
        return [f"{about.type} {about.shape} {numbers}".strip()], field == 10
    if field in (6, 11):
        names = [text(data, a, b) for inner, a, b in intact(data, start, stop) if inner == _NAME]
        return [f"graph {''.join(names[-1:])}".strip()], field == 11
    if field in (14, 15):
        return [" ".join(_type(data, start, stop)).strip()], field == 15
    return [], False


class _OnnxTensor(NamedTuple):
    """Parse a TensorProto without its numbers: name, type, shape, bytes stored here, file with external data."""

    name: str
    type: str
    shape: str
    stored: int
    location: str


def _tensor(data: bytes, pos: int, end: int) -> _OnnxTensor:
    name, kind, stored, location = "", 0, 0, ""
    dims: list[str] = []
    for key, start, stop in intact(data, pos, end):
        if key >> 3 == _DIMS and key & 7 == VARINT:
            dims.append(str(number(data, start)))
        elif key >> 3 == _DIMS and key & 7 == DELIMITED:
            dims += [str(size) for size in varints([memoryview(data)[start:stop]], "<i8").tolist()]
        elif key == _DATA_TYPE:
            kind = varint(data, start)[0]
        elif key == _TENSOR_NAME:
            name = text(data, start, stop)
        elif key == _EXTERNAL:
            entry = {inner: text(data, a, b) for inner, a, b in intact(data, start, stop)}
            location = entry.get(_SECOND, "") if entry.get(_FIRST) == "location" else location
        elif key & 7 == DELIMITED:
            stored += stop - start
    return _OnnxTensor(name, f"Tensor[{name_of(ONNX, kind)}]", shape_text(dims), stored, location)


def _type(data: bytes, pos: int, end: int, depth: int = 0) -> tuple[str, str]:
    """Return type and shape of a TypeProto."""
    if depth > DEEPEST:
        raise WireError("types nested too deep")
    for key, start, stop in places(data, pos, end):
        if key == _FIRST:
            return _tensor_type(data, start, stop)
        if key in (4 << 3 | DELIMITED, 9 << 3 | DELIMITED):
            inside = [_type(data, a, b, depth + 1) for inner, a, b in places(data, start, stop) if inner == _FIRST]
            name = "Sequence" if key >> 3 == 4 else "Optional"
            return f"{name}[{inside[0][0] if inside else ''}]", inside[0][1] if inside else ""
        if key == 5 << 3 | DELIMITED:
            return "Map", ""
        if key == 8 << 3 | DELIMITED:
            name, shape = _tensor_type(data, start, stop)
            return f"Sparse{name}", shape
    return "", ""


def _tensor_type(data: bytes, pos: int, end: int) -> tuple[str, str]:
    kind, shape = 0, ""
    for key, start, stop in places(data, pos, end):
        if key == 1 << 3 | VARINT:
            kind = varint(data, start)[0]
        elif key == _SECOND:
            dims = [_dimension(data, a, b) for inner, a, b in places(data, start, stop) if inner == _FIRST]
            shape = shape_text(dims)
    return f"Tensor[{name_of(ONNX, kind)}]", shape


def _dimension(data: bytes, pos: int, end: int) -> str:
    """Format a dimension as its number, its name, or `?`."""
    shown = "?"
    for key, start, stop in places(data, pos, end):
        if key == 1 << 3 | VARINT:
            shown = str(number(data, start))
        elif key == _SECOND:
            shown = text(data, start, stop) or "?"
    return shown


class _Value(NamedTuple):
    """A value, identified by its graph and name; each is produced once."""

    graph: tuple[str, ...]
    name: str


class _Spans:
    """Where messages begin and end, 16 bytes each: a damaged file may have millions."""

    def __init__(self) -> None:
        self._bounds = array("q")

    def add(self, start: int, stop: int) -> None:
        self._bounds.append(start)
        self._bounds.append(stop)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        yield from zip(self._bounds[::2], self._bounds[1::2], strict=True)


@dataclass(slots=True)
class _Graph:
    """Positions of the parts of a GraphProto, and each name of a value once."""

    path: tuple[str, ...]
    name: str = ""
    nodes: _Spans = field(default_factory=_Spans)
    weights: _Spans = field(default_factory=_Spans)
    inputs: _Spans = field(default_factory=_Spans)
    values: dict[str, _Value] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    types: dict[str, tuple[str, str]] = field(default_factory=dict)

    def value(self, name: str) -> _Value:
        """Return the value of this graph with a name."""
        return self.values.get(name) or self.values.setdefault(name, _Value(self.path, name))


@dataclass(slots=True)
class _OnnxReading:
    """The state of decoding one model."""

    data: bytes
    origin: Origin
    nodes: Nodes = field(default_factory=Nodes)
    edges: Edges = field(default_factory=Edges)
    made: dict[_Value, tuple[int, int]] = field(default_factory=dict)
    messages: list[bytes] = field(default_factory=list)
    parameters: list[dict[str, str]] = field(default_factory=list)
    graphs: list[_Graph] = field(default_factory=list)
    elsewhere: dict[str, int] = field(default_factory=dict)
    empty: int = 0
    problems: list[Problem] = field(default_factory=list)

    def graph(self) -> Graph:
        begin, end = self._span()
        whole = self._read(begin, end, ())
        for one in self.graphs:
            for start, stop in one.weights:
                self._weight(one, start, stop)
            for start, stop in one.inputs:
                self._input(one, start, stop)
        frame, source = self.nodes.frame(), self._sources()
        if self.elsewhere:
            names = ", ".join(list(self.elsewhere)[:3]) + (", …" if len(self.elsewhere) > 3 else "")
            count = sum(self.elsewhere.values())
            detail = f"{count:,} weights lie in other files ({names}), which are not read; names, types and shapes are shown."
            self._problem(begin, 0, detail)
        if self.empty:
            nodes = "1 node has" if self.empty == 1 else f"{self.empty:,} nodes have"
            self._problem(begin, 0, f"{nodes} neither a name, an operator nor values and cannot be shown.")
        outputs = [self.made[key][0] for name in whole.outputs if (key := _Value((), name)) in self.made]
        details = _OnnxDetails(tuple(self.messages), tuple(self.parameters))
        edges = self.edges.frame(frame, source)
        return Graph.of(self.origin, whole.name, FORMAT, frame, edges, outputs, self.problems, details)

    def _span(self) -> tuple[int, int]:
        """Return the bounds of the GraphProto."""
        pos, end = 0, len(self.data)
        try:
            while pos < end:
                key, at = varint(self.data, pos)
                if key == _GRAPH:
                    length, start = varint(self.data, at)
                    if start + length > end:
                        self._problem(start, 0, f"Expected a graph of {length:,} bytes, found {end - start:,}: it is cut.")
                    return start, min(start + length, end)
                _, _, pos = next(places(self.data, pos, end))
        except (WireError, IndexError, StopIteration):
            pass
        self._problem(0, end, "No graph can be found in the model.")
        return end, end

    def _read(self, pos: int, end: int, path: tuple[str, ...]) -> _Graph:
        """Read a graph and its sub-graphs."""
        found = _Graph(path)
        self.graphs.append(found)
        groups = {_NODE: found.nodes, _WEIGHT: found.weights, _INPUT: found.inputs}
        try:
            for key, start, stop in places(self.data, pos, end):
                if key in groups:
                    groups[key].add(start, stop)
                elif key == _NAME:
                    found.name = text(self.data, start, stop)
                if key in (_INPUT, _OUTPUT, _VALUE):
                    name, about = self._value_info(start, stop)
                    found.types[name] = about
                    if key == _OUTPUT:
                        found.outputs.append(name)
                pos = stop
        except WireError as error:
            self._problem(pos, end - pos, f"The graph is damaged here ({error}); everything before it is shown.")
        for start, stop in found.nodes:
            self._node(found, start, stop)
        return found

    def _node(self, graph: _Graph, pos: int, end: int) -> None:
        data, row, place, output = self.data, len(self.nodes), 0, 0
        name, op_type, inner, made = "", "", list[tuple[int, int]](), list[str]()
        try:
            for key, start, stop in places(data, pos, end):
                if key == _FROM:
                    if stop > start:  # an omitted optional input has no name
                        self.edges.add(graph.value(text(data, start, stop)), row, place)
                    place += 1
                elif key == _TO:
                    made.append(text(data, start, stop))
                    self.made.setdefault(graph.value(made[-1]), (row, output))
                    output += 1
                elif key == _NODE_NAME:
                    name = text(data, start, stop)
                elif key == _OP_TYPE:
                    op_type = text(data, start, stop)
                elif key == _ATTRIBUTE:
                    inner += [(a, b) for one, a, b in intact(data, start, stop) if one in (_SUBGRAPH, _SUBGRAPHS)]
        except WireError as error:
            self._problem(pos, end - pos, f"A node is damaged ({error}); what could be read of it is shown.")
        if not (name or op_type or made or place or inner):
            self.empty += 1
            return
        name = name or f"{op_type}_{row}"
        full_name = name.strip("/") or name
        about = graph.types.get(made[0], ("", "")) if made else ("", "")
        self.nodes.add(
            name, full_name, full_name.rpartition("/")[0], op_type, CONSTANT if op_type == "Constant" else OPERATOR,
            output=about, order=self.origin.offset + pos, subgraph="/".join(graph.path),
        )  # fmt: skip
        self.messages.append(data[pos:end])
        for count, (start, stop) in enumerate(inner):
            if len(graph.path) >= DEEPEST:
                self._problem(start, stop - start, "A graph is nested too deep to be shown.")
                continue
            within = self._read(start, stop, (*graph.path, f"{name}:{count}" if len(inner) > 1 else name))
            for result in within.outputs:
                self.edges.add(_Value(within.path, result), row, -1, CALL)

    def _value_info(self, pos: int, end: int) -> tuple[str, tuple[str, str]]:
        """Return name, type and shape of a ValueInfoProto."""
        name, about = "", ("", "")
        for key, start, stop in intact(self.data, pos, end):
            if key == _FIRST:
                name = text(self.data, start, stop)
            elif key == _SECOND:
                try:
                    about = _type(self.data, start, stop)
                except (WireError, IndexError):
                    about = "", ""
        return name, about

    def _weight(self, graph: _Graph, pos: int, end: int) -> None:
        try:
            about = _tensor(self.data, pos, end)
        except (WireError, IndexError) as error:
            self._problem(pos, end - pos, f"A weight is damaged ({error}) and is not shown.")
            return
        stored = f"{about.stored:,} bytes in the file"
        if about.location:
            self.elsewhere[about.location] = self.elsewhere.get(about.location, 0) + 1
            stored = f"in {about.location}, which is not read"
        self._parameter(graph, about.name, (about.type, about.shape), pos, {"stored": stored, "initializer": "True"})

    def _input(self, graph: _Graph, pos: int, end: int) -> None:
        name, about = self._value_info(pos, end)
        if _Value(graph.path, name) not in self.made:  # a weight may be listed as an input too
            self._parameter(graph, name, about, pos, {"input": "True"})

    def _parameter(self, graph: _Graph, name: str, output: tuple[str, str], pos: int, about: dict[str, str]) -> None:
        row = self.nodes.add(
            name, name, name.strip("/").rpartition("/")[0], "Parameter", PARAMETER, output=output,
            order=self.origin.offset + pos, subgraph="/".join(graph.path),
        )  # fmt: skip
        self.made.setdefault(_Value(graph.path, name), (row, 0))
        self.parameters.append(about)

    def _sources(self) -> NDArray[np.int32]:
        """Return the source rows of the edges: in the graph of the consumer, else in the enclosing ones."""
        keys = []
        for place, key in enumerate(self.edges.source):
            found = key
            while found not in self.made and found.graph:
                found = _Value(found.graph[:-1], found.name)
            keys.append(found)
            self.edges.output[place] = self.made.get(found, (0, 0))[1]
        rows = resolve(keys, {key: row for key, (row, _) in self.made.items()})
        lost = [key.name for key, row in zip(keys, rows.tolist(), strict=True) if row < 0]
        if lost:
            self.problems.append(missing(self.origin.path, self.origin.offset, lost))
        types = {one.path: one.types for one in self.graphs}
        for place, key in enumerate(keys):
            if self.edges.output[place] and key.name in types[key.graph]:
                self.edges.values[place] = types[key.graph][key.name]
        return rows

    def _problem(self, pos: int, length: int, detail: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(self.origin.path, self.origin.offset + pos, length, "bad_graph", detail))
