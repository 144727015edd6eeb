"""Decodes MindSpore's computation graphs in protobuf, from `graph_def` events and `ms_output_<stage>.pb`.

Written by SummaryCollector and `SummaryRecord(dir, network=net)`, by `MS_DEV_SAVE_GRAPHS=1` and by dumps. The message is
GraphProto of anf_ir.proto, alone (events, the debugger's files) or in a ModelProto; the debugger's variant adds
source_address to nodes, full_name to constants and root_name to graphs. Nodes are found, named and connected; attributes are
decoded on demand. Rows are operators, parameters, constants, each in file order.

Without checksums, damage is noticed only where bytes are not a valid message: such a node keeps what was read of it, and
reading continues at the next bytes that are a node.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from parsers.events.wire import DELIMITED, VARINT, WireError, varint
from parsers.graphs.anf_values import value_text, value_type
from parsers.graphs.graph import Graph, Origin, SourceLine, unique
from parsers.graphs.sources import outermost_first, source_line
from parsers.graphs.tables import CONSTANT, CONTROL, DATA, OPERATOR, PARAMETER, Edges, Nodes, missing, repeated, resolve
from parsers.graphs.types import output_of
from parsers.graphs.wire import places, text, within
from parsers.model import Problem
from parsers.profiler.progress import report_up_to

FORMAT = "mindspore"
_NODE, _NAME, _PARAMETER, _OUTPUT, _CONSTANT = (number << 3 | DELIMITED for number in (1, 2, 3, 4, 5))
_IR_VERSION, _GRAPH = 1 << 3 | VARINT, 4 << 3 | DELIMITED
_INPUT, _OP_TYPE, _SCOPE, _ATTRIBUTE, _OUTPUT_TYPE, _FULL_NAME, _SOURCE, _INSTANCE = (
    number << 3 | DELIMITED for number in (1, 3, 4, 5, 6, 8, 9, 10)
)
_OUTPUT_I, _EDGE_TYPE = 7 << 3 | VARINT, 2 << 3 | VARINT
_FIRST, _SECOND, _THIRD = (number << 3 | DELIMITED for number in (1, 2, 3))
_NODE_BYTE = bytes((_NODE,))
_BEGINNING = re.compile(bytes((0x5B, _NODE, _PARAMETER, 0x5D)))
_NODE_KEYS = frozenset((_INPUT, _NAME, _OP_TYPE, _SCOPE, _ATTRIBUTE, _OUTPUT_TYPE, _OUTPUT_I, _FULL_NAME, _SOURCE, _INSTANCE))
_GRAPH_KEYS = frozenset((_NODE, _NAME, _PARAMETER, _OUTPUT, _CONSTANT, 6 << 3 | DELIMITED))
_MODEL_KEYS = frozenset((_IR_VERSION, _SECOND, 3 << 3 | VARINT))
HEAD, HIGHEST = 4096, 64
SEARCHED = 2_000_000
"""Maximum fields examined per graph in search of the next node after damage."""
MOST_PROBLEMS = 100
MOST_BLANK = 10_000
"""Maximum blank nodes that are rows; further ones are only counted."""
MOST_LINES = 10_000
"""Maximum source lines of a node."""
_LINE = re.compile(r"[^\S\r\n]*\S[^\r\n]*")
SHORT, MOST_KNOWN = 200, 5_000
"""Maximum bytes of a cached attribute, and maximum number of cached attributes."""
Span = tuple[int, int]
Ids = NDArray[np.int32]
Spans = NDArray[np.int64]


def read_graph(data: bytes, origin: Origin) -> Graph:
    """Decode a GraphProto or ModelProto; never raises for damage."""
    return _AnfReading(data, origin).graph()


def sniff(head: bytes) -> bool:
    """Return whether the first bytes of a file are a ModelProto or a GraphProto of MindSpore."""
    if head[:1] == _NODE_BYTE:
        return _is_graph(head, 0)
    begin = _model_graph(head)
    return begin is not None and _is_graph(head, begin[0])


def _model_graph(data: bytes) -> tuple[int, int] | None:
    """Return the start and stated length of the graph in a ModelProto; None if the bytes are none."""
    pos = 0
    try:
        while pos < len(data):
            key, at = varint(data, pos)
            if key == _GRAPH:
                length, start = varint(data, at)
                return start, length
            if key not in _MODEL_KEYS:
                return None
            _, _, pos = next(places(data, pos, len(data)))
    except (WireError, IndexError):
        pass
    return None


def _is_graph(head: bytes, pos: int) -> bool:
    """Return whether a GraphProto, possibly cut short, begins here."""
    seen = False
    try:
        for key, start, stop in places(head, pos, 1 << 62):
            if key not in _GRAPH_KEYS:
                return seen
            if start >= len(head):
                break
            if key == _NODE and not _is_node(head, start, min(stop, len(head))):
                return False
            seen = seen or (key in (_NODE, _PARAMETER, _CONSTANT) and stop > start)
            pos = stop
    except (WireError, IndexError):
        return seen
    return seen


def _is_node(head: bytes, pos: int, end: int) -> bool:
    """Return whether the fields are those of a NodeProto, not of TensorFlow's NodeDef, whose field 1 is a name."""
    try:
        for key, start, stop in places(head, pos, end):
            if key not in _NODE_KEYS:
                return False
            if key == _INPUT and stop > start and head[start] not in (_FIRST, _EDGE_TYPE):
                return False
    except WireError:
        pass  # cut where the bytes at hand end
    return True


def _node_at(data: bytes, pos: int, end: int) -> tuple[bool, int]:
    """Return whether the bytes here can only be a node or parameter and its successor, and the number of fields examined."""
    walked = 1
    try:
        kind, start, stop = next(places(data, pos, end))
        if stop < end and data[stop] not in _GRAPH_KEYS:
            return False, walked
        keys = []
        for key, a, b in places(data, start, stop):
            walked += 1
            if key not in _NODE_KEYS or (kind == _NODE and key == _INPUT and (b == a or data[a] != _FIRST)):
                return False, walked
            keys.append(key)
    except WireError:
        return False, walked
    return keys[:2] == [_FIRST, _SECOND] if kind == _PARAMETER else {_NAME, _OP_TYPE} <= set(keys), walked


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages of nodes by row, decoded on demand."""

    data: bytes
    spans: Spans
    """First byte and end of each message; an array, because a hundred thousand pairs keep Python's garbage collector busy."""
    operators: int
    parameters: int
    known: dict[bytes, tuple[str, str]] = field(default_factory=dict)
    """Cache of decoded attributes by their bytes: operators of one type mostly have equal ones."""

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return len(self.data) + self.spans.nbytes

    def raw(self, row: int) -> bytes:
        """Return the message of a node."""
        pos, end = self._span(row)
        return self.data[pos:end]

    def mentions(self, word: str) -> Iterator[int]:
        """Return the rows whose messages contain a word."""
        return within(self.data, self.spans.tolist(), word)

    def attributes(self, row: int) -> dict[str, str]:
        """Decode the attributes of a node."""
        pos, end = self._span(row)
        if row < self.operators:
            return unique(self._of_operator(pos, end))
        value, name = (_THIRD, "default") if row < self.operators + self.parameters else (_SECOND, "value")
        return unique((name, _value(self.data, a, b)) for key, a, b in self._fields(pos, end) if key == value)

    def source_lines(self, row: int) -> tuple[SourceLine, ...]:
        """Decode the source lines of a node, outermost call first."""
        found = (_LINE.finditer(text(self.data, a, b)) for key, a, b in self._fields(*self._span(row)) if key == _SOURCE)
        lines = islice((line[0] for each in found if row < self.operators for line in each), MOST_LINES)
        return outermost_first([source_line(line) for line in lines])

    def _span(self, row: int) -> Span:
        pos, end = self.spans[row].tolist()
        return pos, end

    def _of_operator(self, pos: int, end: int) -> Iterator[tuple[str, str]]:
        for key, start, stop in self._fields(pos, end):
            if key == _OUTPUT_I:
                yield "output_i", str(varint(self.data, start)[0])
            if key != _ATTRIBUTE:
                continue
            raw = self.data[start:stop]
            pair = self.known.get(raw)
            if pair is None:
                pair = self._pair(start, stop)
                if len(raw) <= SHORT and len(self.known) < MOST_KNOWN:
                    self.known[raw] = pair
            yield pair

    def _pair(self, pos: int, end: int) -> tuple[str, str]:
        name, value = "", ""
        for key, start, stop in self._fields(pos, end):
            if key == _FIRST:
                name = text(self.data, start, stop)
            elif key == _SECOND:
                value = _value(self.data, start, stop)
        return name, value

    def _fields(self, pos: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the fields of a message up to the damage."""
        try:
            yield from places(self.data, pos, end)
        except WireError:
            return


def _value(data: bytes, start: int, stop: int) -> str:
    try:
        return value_text(data, start, stop)
    except (WireError, IndexError) as error:
        return f"(damaged: {error}) {data[start:stop].hex()}"


def _full_name(name: str, scope: str, op_type: str) -> str:
    """Return the name of a node with its scopes, as MindInsight builds it if the file has none."""
    if "/" in name or not op_type:
        return name
    return f"{scope}/{op_type}-op{name}" if scope else f"{op_type}-op{name}"


def _number(name: str) -> str:
    """Return the number at the end of a path such as Default/conv1/Conv2D-op12; any other name unchanged."""
    return name.rpartition("/")[2].rpartition("op")[2] if "/" in name else name


@dataclass(slots=True)
class _AnfReading:
    """The state of decoding one graph."""

    data: bytes
    origin: Origin
    title: str = ""
    operators: list[Span] = field(default_factory=list)
    parameters: list[Span] = field(default_factory=list)
    constants: list[Span] = field(default_factory=list)
    results: array[int] = field(default_factory=lambda: array("q"))
    """First byte and end of each output in turn."""
    problems: list[Problem] = field(default_factory=list)
    nodes: Nodes = field(default_factory=Nodes)
    edges: Edges = field(default_factory=Edges)
    types: dict[bytes, tuple[str, str]] = field(default_factory=dict)
    words: dict[bytes, str] = field(default_factory=dict)
    blank: int = 0
    left: int = SEARCHED
    reported: int = 0

    def graph(self) -> Graph:
        begin, end = self._span()
        pos: int | None = begin
        while pos is not None and pos < end:
            pos = self._read_from(pos, end)
        for kind, spans in ((PARAMETER, self.parameters), (CONSTANT, self.constants)):
            for start, stop in spans:
                self._other(start, stop, kind)
        return self._finish(begin)

    # Finding nodes -------------------------------------------------------------------------------------------------

    def _span(self) -> Span:
        """Return the bounds of the GraphProto: all of the bytes, or the graph within a ModelProto."""
        data, end = self.data, len(self.data)
        found = None if data[:1] == _NODE_BYTE else _model_graph(data)
        if found is None or not (_is_graph(data[: found[0] + HEAD], found[0]) or data[:1] == bytes((_IR_VERSION,))):
            return 0, end
        start, length = found
        if start + length > end:
            self._problem(start, 0, f"Expected a graph of {length:,} bytes, found {end - start:,}: the file is cut or damaged.")
        return start, min(start + length, end)

    def _read_from(self, pos: int, end: int) -> int | None:
        """Read fields of the graph up to the end or to damage; return where to continue, None at the end."""
        groups = {_PARAMETER: self.parameters, _CONSTANT: self.constants}
        try:
            for key, start, stop in places(self.data, pos, end):
                if key == _NODE:
                    if start == stop and self.blank >= MOST_BLANK:
                        self.blank += 1
                        continue
                    error = self._operator(start, stop)
                    if error is not None:
                        return self._behind_damage(start, start + 1, stop, error, "what could be read of this node is shown")
                elif key in groups:
                    groups[key].append((start, stop))
                elif key == _OUTPUT:
                    self.results.extend((start, stop))
                elif key == _NAME:
                    self.title = text(self.data, start, stop)
                elif key >> 3 > HIGHEST:
                    raise WireError("no field of a graph")
                pos = stop
                self.reported = report_up_to(pos, self.reported)
            return None
        except WireError as error:
            key = self.data[pos]
            begin = pos
            pos = self._behind_damage(begin, begin + 1, end, error, "what could be read here is shown", last=end)
            if key == _NODE:
                self._operator(self._behind_length(begin + 1, pos), pos)
            return pos

    def _behind_damage(self, begin: int, search: int, stop: int, error: WireError, shown: str, last: int | None = None) -> int:
        """Return where to continue after damage: at the next node, else at stop."""
        found = self._next_node(search, stop, len(self.data) if last is None else last)
        after = stop if found is None else found
        self._problem(begin, after - begin, f"The graph is damaged here ({error}); {shown}, and all nodes before and after it.")
        return after

    def _behind_length(self, pos: int, end: int) -> int:
        try:
            return min(varint(self.data, pos)[1], end)
        except (WireError, IndexError):
            return end

    def _next_node(self, pos: int, stop: int, end: int) -> int | None:
        """Return the next position before stop of bytes that can only be a node or a parameter."""
        for found in _BEGINNING.finditer(self.data, pos, stop):
            if self.left < 0:
                break
            right, walked = _node_at(self.data, found.start(), end)
            self.left -= walked
            if right:
                return found.start()
        return None

    # Reading nodes -------------------------------------------------------------------------------------------------

    def _operator(self, pos: int, end: int) -> WireError | None:
        """Add one operator with what can be read of it; return what is wrong with it."""
        data, words = self.data, self.words
        name = full_name = b""
        op_type, scope, instance, output = "", "", "", ("", "")
        row, place, damage = len(self.nodes), 0, None
        try:
            for key, start, stop in places(data, pos, end):
                if key == _INPUT:
                    self._input(start, stop, row, place)
                    place += 1
                elif key == _NAME:
                    name = data[start:stop]
                elif key in (_OP_TYPE, _SCOPE, _INSTANCE):
                    raw = data[start:stop]
                    word = words.get(raw)
                    if word is None:
                        word = words[raw] = raw.decode("utf-8", "backslashreplace")
                    if key == _OP_TYPE:
                        op_type = word
                    elif key == _SCOPE:
                        scope = word
                    else:
                        instance = word
                elif key == _OUTPUT_TYPE:
                    output = self._type(start, stop)
                elif key == _FULL_NAME:
                    full_name = data[start:stop]
        except WireError as error:
            damage = error
        shown = name.decode("utf-8", "backslashreplace")
        whole = full_name.decode("utf-8", "backslashreplace") if full_name else _full_name(shown, scope, op_type)
        self.blank += not (name or op_type or full_name)
        self.nodes.add(
            shown, whole, scope or whole.rpartition("/")[0], op_type, OPERATOR, output=output, instance=instance,
            order=self.origin.offset + pos,
        )  # fmt: skip
        self.operators.append((pos, end))
        return damage

    def _input(self, pos: int, end: int, row: int, place: int) -> None:
        name, kind = b"", DATA
        for key, start, stop in places(self.data, pos, end):
            if key == _FIRST:
                name = self.data[start:stop]
            elif key == _EDGE_TYPE and self.data[start] == 1:
                kind = CONTROL
        self.edges.add(name, row, place, kind)

    def _type(self, start: int, stop: int) -> tuple[str, str]:
        raw = self.data[start:stop]
        known = self.types.get(raw)
        if known is None:
            try:
                known = output_of(self.data, start, stop)
            except (WireError, IndexError) as error:
                self._problem(start, stop - start, f"A type is damaged ({error}); it is shown as unknown.")
                known = "", ""
            self.types[raw] = known
        return known

    def _other(self, pos: int, end: int, kind: str) -> None:
        """Add a parameter or a constant."""
        name, full_name, output = "", "", ("", "")
        try:
            for key, start, stop in places(self.data, pos, end):
                if key == _FIRST:
                    name = text(self.data, start, stop)
                elif key == _SECOND:
                    output = self._type(start, stop) if kind == PARAMETER else self._constant_type(start, stop)
                elif key == _THIRD and kind == CONSTANT:
                    full_name = text(self.data, start, stop)
        except WireError as error:
            self._problem(pos, end - pos, f"A {kind} is damaged ({error}); what could be read of it is shown.")
        op_type = "Parameter" if kind == PARAMETER else "Const"
        order = self.origin.offset + pos
        self.nodes.add(name, full_name or name, full_name.rpartition("/")[0], op_type, kind, output=output, order=order)

    def _constant_type(self, start: int, stop: int) -> tuple[str, str]:
        """Return type and shape of a constant, if they are written beside its value."""
        try:
            return value_type(self.data, start, stop)
        except (WireError, IndexError):
            return "", ""

    # All of it -----------------------------------------------------------------------------------------------------

    def _finish(self, begin: int) -> Graph:
        known: dict[bytes, int] = {}
        names = [name.encode("utf-8", "backslashreplace") for name in self.nodes.name]
        twice = [name for row, name in enumerate(names) if known.setdefault(name, row) != row]
        source = resolve(self.edges.source, known)
        if (source < 0).any():
            source = self._by_number(source)
        lost = [key for key, row in zip(self.edges.source, source.tolist(), strict=True) if row < 0]
        offset = self.origin.offset + begin
        if lost:
            self.problems.append(missing(self.origin.path, offset, [text(key, 0, len(key)) for key in lost]))
        if self.blank:
            self.problems.append(self._blank(offset))
        elif twice:
            self.problems.append(repeated(self.origin.path, offset, [text(key, 0, len(key)) for key in twice]))
        nodes = self.nodes.frame()
        details = Messages(
            self.data, np.array([*self.operators, *self.parameters, *self.constants], np.int64).reshape(-1, 2),
            len(self.operators), len(self.parameters),
        )  # fmt: skip
        edges = self.edges.frame(nodes, source)
        return Graph.of(self.origin, self.title, FORMAT, nodes, edges, self._outputs(known), self.problems, details)

    def _by_number(self, source: Ids) -> Ids:
        """Resolve edges of the oldest files, where a node has its path as name and inputs the number at its end, or both."""
        numbers = {_number(name): row for row, name in enumerate(self.nodes.name[: len(self.operators)]) if "/" in name}
        found = source.copy()
        for edge in (source < 0).nonzero()[0].tolist():
            found[edge] = numbers.get(_number(self.edges.source[edge].decode("utf-8", "backslashreplace")), -1)
        return found

    def _outputs(self, known: dict[bytes, int]) -> tuple[int, ...]:
        found = []
        for start, stop in zip(self.results[::2], self.results[1::2], strict=True):
            try:
                names = [self.data[a:b] for key, a, b in places(self.data, start, stop) if key == _FIRST]
            except WireError:
                continue
            found += [known[name] for name in names[-1:] if name in known]
        return tuple(found)

    def _blank(self, offset: int) -> Problem:
        what = "a blank node" if self.blank == 1 else f"{self.blank:,} blank nodes"
        detail = (
            f"The graph holds {what}: MindSpore writes networks with control flow (while, if on tensors) without their "
            "operators. Parameters and types are shown; the operators are in no file."
        )
        return Problem(self.origin.path, offset, 0, "bad_graph", detail)

    def _problem(self, pos: int, length: int, detail: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(self.origin.path, self.origin.offset + pos, length, "bad_graph", detail))
        elif len(self.problems) == MOST_PROBLEMS:
            rest = "From here on further damage in this graph is not listed."
            self.problems.append(Problem(self.origin.path, self.origin.offset + pos, 0, "bad_graph", rest))
