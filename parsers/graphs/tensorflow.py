"""Decodes TensorFlow graphs: GraphDef in TensorBoard event files (torch and tensorboardX write it too) and frozen `.pb`.

Make one with `SummaryWriter(dir).add_graph(model, x)` or `tf.io.write_graph(graph, dir, "graph.pb", as_text=False)`. Nodes,
attributes, data (`name:1`) and control inputs (`^name`) are read; functions of the library and versions are ignored. The
modules that torch's `prim::GetAttr` takes are in no file of its writer; a note of the graph says so. The
message is GraphDef of tensorflow/core/framework/graph.proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from struct import Struct

import numpy as np

from parsers.events.wire import DELIMITED, FIXED32, VARINT, WireError, varint
from parsers.graphs.graph import Graph, Origin, SourceLine, unique
from parsers.graphs.tables import CONSTANT, CONTROL, DATA, OPERATOR, PARAMETER, Edges, Nodes, missing, repeated, resolve
from parsers.graphs.tensors import MOST_ITEMS, TENSORFLOW, TENSORFLOW_NUMBERS, bytes_text, listed, name_of, numbers_text
from parsers.graphs.types import shape_text
from parsers.graphs.wire import intact, number, places, text, within
from parsers.model import Problem
from parsers.payloads.messages import varints
from parsers.profiler.progress import report_up_to

FORMAT = "tensorflow"
_NODE = 1 << 3 | DELIMITED
_NAME, _OP, _INPUT, _DEVICE, _ATTRIBUTE = (n << 3 | DELIMITED for n in (1, 2, 3, 4, 5))
_KEY, _VALUE = 1 << 3 | DELIMITED, 2 << 3 | DELIMITED
_LIST, _BYTES, _INT, _FLOAT, _BOOL, _TYPE, _SHAPE, _TENSOR, _PLACEHOLDER = range(1, 10)
_CONSTANTS = frozenset(("Const", "prim::Constant"))
_PARAMETERS = frozenset(
    ("Placeholder", "PlaceholderV2", "Variable", "VariableV2", "VarHandleOp", "Parameter", "prim::Param", "IO Node", "_Arg")
)  # fmt: skip
_SHAPES, _DTYPES = ("_output_shapes", "shape"), ("dtype", "T", "DstT", "Tout")
DEEPEST = 8
_ATTRIBUTE_OF = "prim::GetAttr"
_LEFT_OUT = "torch writes no modules into graphs: {:,} edges from modules to their parameters are not drawn. Nothing is lost."
_F32 = Struct("<f").unpack_from


def sniff(head: bytes) -> bool:
    """Return whether the first bytes of a file are a GraphDef: nodes that begin with a name and an operation."""
    seen = False
    try:
        for key, start, stop in places(head, 0, 1 << 62):
            if key != _NODE:
                return seen
            fields = list(intact(head, start, min(stop, len(head))))
            if [field.key for field in fields[:2]] != [_NAME, _OP] or any(field.key not in _NODE_KEYS for field in fields):
                return seen and stop > len(head)
            name = head[fields[0].start : fields[0].stop]
            if not name or name[:1] < b" ":
                return False
            seen = True
            if stop > len(head):
                break
    except (WireError, IndexError):
        pass
    return seen


_NODE_KEYS = frozenset((_NAME, _OP, _INPUT, _DEVICE, _ATTRIBUTE, 6 << 3 | DELIMITED, 7 << 3 | DELIMITED))


def read_graph(data: bytes, origin: Origin) -> Graph:
    """Decode a GraphDef; never raises for damage."""
    return _TensorFlowReading(data, origin).graph()


@dataclass(frozen=True, slots=True)
class _TensorFlowDetails:
    """Messages of nodes by row."""

    data: bytes
    spans: tuple[tuple[int, int], ...]

    @property
    def nbytes(self) -> int:
        return len(self.data) + 120 * len(self.spans)

    def attributes(self, row: int) -> dict[str, str]:
        return unique(self._pairs(*self.spans[row]))

    def raw(self, row: int) -> bytes:
        pos, end = self.spans[row]
        return self.data[pos:end]

    def mentions(self, word: str) -> Iterator[int]:
        return within(self.data, self.spans, word)

    def source_lines(self, row: int) -> tuple[SourceLine, ...]:  # noqa: ARG002  the format has none
        return ()

    def _pairs(self, pos: int, end: int) -> Iterator[tuple[str, str]]:
        for key, start, stop in intact(self.data, pos, end):
            if key == _DEVICE and stop > start:
                yield "device", text(self.data, start, stop)
            elif key == _ATTRIBUTE:
                name, at = _entry(self.data, start, stop)
                yield name, _shown(self.data, *at)


def _entry(data: bytes, pos: int, end: int) -> tuple[str, tuple[int, int]]:
    """Return the name of an attribute and the bounds of its value."""
    name, at = "", (end, end)
    for key, start, stop in intact(data, pos, end):
        if key == _KEY:
            name = text(data, start, stop)
        elif key == _VALUE:
            at = start, stop
    return name, at


def _shown(data: bytes, pos: int, end: int) -> str:
    try:
        return _value(data, pos, end)
    except (WireError, IndexError) as error:
        return f"(damaged: {error}) {data[pos:end].hex()}"


def _value(data: bytes, pos: int, end: int, depth: int = 0) -> str:
    """Format an AttrValue."""
    if depth > DEEPEST:
        raise WireError("values nested too deep")
    shown = ""
    for key, start, stop in places(data, pos, end):
        field, kind = key >> 3, key & 7
        if field == _LIST and kind == DELIMITED:
            shown = _list(data, start, stop, depth)
        else:
            shown = ", ".join(_items(data, start, stop, field, kind, depth)) or shown
    return shown


def _list(data: bytes, pos: int, end: int, depth: int) -> str:
    """Format a ListValue, whose fields are those of a value; numbers may be packed."""
    items = (item for key, a, b in places(data, pos, end) for item in _items(data, a, b, key >> 3, key & 7, depth))
    found = list(islice(items, MOST_ITEMS))
    found += ["…"] if next(items, None) is not None else []
    return f"[{', '.join(found)}]"


def _items(data: bytes, start: int, stop: int, field: int, kind: int, depth: int) -> list[str]:
    if field in (_INT, _BOOL, _TYPE) and kind in (VARINT, DELIMITED):
        values = varints([memoryview(data)[start:stop]], "<i8").tolist()
        if field == _TYPE:
            names = [name_of(TENSORFLOW, value % 100) for value in values]
            return [f"Ref[{name}]" if value > 100 else name for name, value in zip(names, values, strict=True)]
        return [str(bool(value) if field == _BOOL else value) for value in values]
    if field == _FLOAT and kind == FIXED32:
        return [str(np.float32(_F32(data, start)[0]))]
    if kind != DELIMITED:
        return []
    if field == _FLOAT:
        return [listed(np.frombuffer(data, "<f4", (stop - start) // 4, start))[1:-1]]
    if field == _BYTES:
        return [bytes_text(data[start:stop])]
    if field == _SHAPE:
        return [_shape(data, start, stop) or "unknown"]
    if field == _TENSOR:
        name, shape = _tensor_type(data, start, stop)
        return [f"{name} {shape} {numbers_text(data, start, stop, TENSORFLOW_NUMBERS, 4, name[7:-1])}".strip()]
    if field == _PLACEHOLDER:
        return [text(data, start, stop)]
    function = [text(data, a, b) for key, a, b in intact(data, start, stop) if key == _KEY]
    entries = [_entry(data, a, b) for key, a, b in intact(data, start, stop) if key == _VALUE]
    inside = ", ".join(f"{name}: {_value(data, *at, depth + 1)}" for name, at in entries)
    return [f"{''.join(function)}({inside})"]


def _shape(data: bytes, pos: int, end: int) -> str:
    """Format a TensorShapeProto, "" for an unknown rank."""
    dims = []
    for key, start, stop in places(data, pos, end):
        if key == 2 << 3 | DELIMITED:
            sizes = [number(data, a) for inner, a, _ in places(data, start, stop) if inner == 1 << 3 | VARINT]
            dims.append(str(sizes[-1]) if sizes else "0")
        elif key == 3 << 3 | VARINT and data[start]:
            return ""
    return shape_text(dims)


def _tensor_type(data: bytes, pos: int, end: int) -> tuple[str, str]:
    name, shape = "", "[]"
    for key, start, stop in places(data, pos, end):
        if key == 1 << 3 | VARINT:
            name = name_of(TENSORFLOW, varint(data, start)[0])
        elif key == 2 << 3 | DELIMITED:
            shape = _shape(data, start, stop)
    return f"Tensor[{name}]", shape


@dataclass(slots=True)
class _TensorFlowReading:
    """The state of decoding one graph."""

    data: bytes
    origin: Origin
    spans: list[tuple[int, int]] = field(default_factory=list)
    nodes: Nodes = field(default_factory=Nodes)
    edges: Edges = field(default_factory=Edges)
    raw_names: list[bytes] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    types: dict[tuple[bytes, bytes], tuple[str, str]] = field(default_factory=dict)

    def graph(self) -> Graph:
        pos, end, reported, empty = 0, len(self.data), 0, 0
        try:
            for key, start, stop in places(self.data, 0, end):
                if key == _NODE and start == stop:
                    empty += 1
                elif key == _NODE:
                    self._node(start, stop)
                pos = stop
                reported = report_up_to(pos, reported)
        except WireError as error:
            self._problem(pos, end - pos, f"The graph is damaged here ({error}); everything before it is shown.")
            if self.data[pos] == _NODE and pos + 2 < end:
                self._node(min(_behind_length(self.data, pos + 1), end), end)
        if empty:
            self._problem(0, 0, f"{'1 node is' if empty == 1 else f'{empty:,} nodes are'} empty and cannot be shown.")
        known: dict[bytes, int] = {}
        twice = [name for row, name in enumerate(self.raw_names) if known.setdefault(name, row) != row]
        if twice:
            self.problems.append(repeated(self.origin.path, self.origin.offset, [text(one, 0, len(one)) for one in twice]))
        source = resolve(self.edges.source, known)
        lost = [edge for edge, row in enumerate(source.tolist()) if row < 0]
        usual = [edge for edge in lost if self.nodes.type.equals(self.edges.target[edge], _ATTRIBUTE_OF)]
        wrong = [self.edges.source[edge] for edge in sorted(set(lost) - set(usual))]
        if wrong:
            self.problems.append(missing(self.origin.path, self.origin.offset, [text(one, 0, len(one)) for one in wrong]))
        notes = [_LEFT_OUT.format(len(usual))] if usual else []
        frame = self.nodes.frame()
        details = _TensorFlowDetails(self.data, tuple(self.spans))
        return Graph.of(self.origin, "", FORMAT, frame, self.edges.frame(frame, source), (), self.problems, details, notes)

    def _node(self, pos: int, end: int) -> None:
        data, row, place = self.data, len(self.nodes), 0
        name, op_type = b"", ""
        about: dict[str, tuple[int, int]] = {}
        try:
            for key, start, stop in places(data, pos, end):
                if key == _NAME:
                    name = data[start:stop]
                elif key == _OP:
                    op_type = text(data, start, stop)
                elif key == _INPUT:
                    self._input(data[start:stop], row, place)
                    place += 1
                elif key == _ATTRIBUTE:
                    attribute, at = _entry(data, start, stop)
                    if attribute in _SHAPES or attribute in _DTYPES:
                        about[attribute] = at
        except WireError as error:
            self._problem(pos, end - pos, f"A node is damaged ({error}); what could be read of it is shown.")
        shown = text(name, 0, len(name))
        kind = CONSTANT if op_type in _CONSTANTS else PARAMETER if op_type in _PARAMETERS else OPERATOR
        order = self.origin.offset + pos
        self.raw_names.append(name)
        self.spans.append((pos, end))
        self.nodes.add(shown, shown, shown.rpartition("/")[0], op_type, kind, output=self._output(about), order=order)

    def _input(self, written: bytes, row: int, place: int) -> None:
        kind = CONTROL if written[:1] == b"^" else DATA
        name, colon, output = written.removeprefix(b"^").rpartition(b":")
        if colon and output.isdigit() and len(output) < 9:
            self.edges.add(name, row, place, kind, int(output))
        else:
            self.edges.add(written.removeprefix(b"^"), row, place, kind)

    def _output(self, about: dict[str, tuple[int, int]]) -> tuple[str, str]:
        """Return type and shape of a node's output, if its attributes hold them."""
        shape, dtype = (next((about[name] for name in names if name in about), (0, 0)) for names in (_SHAPES, _DTYPES))
        key = self.data[slice(*shape)], self.data[slice(*dtype)]
        known = self.types.get(key)
        if known is None:
            shown, name = _shown(self.data, *shape) if key[0] else "", _shown(self.data, *dtype) if key[1] else ""
            # Of several outputs the first: an edge says which output it is of.
            first = shown[1:-1].split(", ")[0] if shown.startswith("[") and shown != "[]" else shown
            known = f"Tensor[{name}]" if name else "", "" if first == "unknown" else first
            self.types[key] = known
        return known

    def _problem(self, pos: int, length: int, detail: str) -> None:
        self.problems.append(Problem(self.origin.path, self.origin.offset + pos, length, "bad_graph", detail))


def _behind_length(data: bytes, pos: int) -> int:
    try:
        return varint(data, pos)[1]
    except (WireError, IndexError):
        return len(data)
