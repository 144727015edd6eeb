"""Parses graphs in Graphviz's DOT language: MindSpore's `.dot` files, and those of other programs.

MindSpore writes one beside each `.ir` with `MS_DEV_SAVE_GRAPHS=3`. A call node in it has a table of numbered ports; the input
of port 0 is the node's operation, and values such as primitives, numbers and functions are separate nodes. All node statements
are rows, in file order, except the tables that only list the parameters of a subgraph. A node gets the type of the primitive
at its port 0; edges that point into a cluster (lhead) are of kind call. In files of other programs a dashed edge is of kind
control, and labels of clusters are scopes. Colours, fonts and positions are attributes like any other.
"""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsers.graphs.dot_columns import NO_ROW, Attributes, DotEdges, DotStatements, NodeNames, Statement
from parsers.graphs.dot_tokens import END, Token, Tokens
from parsers.graphs.graph import MOST_ATTRIBUTES, Graph, Origin, SourceLine, unique
from parsers.graphs.tables import CALL, CONSTANT, CONTROL, DATA, KINDS, OPERATOR, PARAMETER, Edges, Nodes
from parsers.model import Problem

FORMAT = "dot"
Ids = NDArray[np.int32]
_HEAD = re.compile(
    rb"\A(?:\xef\xbb\xbf|\s|//[^\n]*\n|/\*.*?\*/|#[^\n]*\n)*+(?:strict\s+)?(?:di)?graph\b[^{};=\[\]]*\{",
    re.DOTALL | re.IGNORECASE,
)
_CELL = re.compile(r"<td([^>]*)>(.*?)</td>", re.DOTALL | re.IGNORECASE)
_BREAK, _TAG = re.compile(r"<br\s*/?>|</tr>", re.IGNORECASE), re.compile(r"<[^<>]*>")
_PORT = re.compile(r"<td port='\d+'>\d+</td>")
_INSTANCE = re.compile(r"instance name: (.*)")
_CNODE = re.compile(r"CNode\((.*)\)$", re.DOTALL)
_PARAMETERS = "parameters_"
DEEPEST = 64
"""Maximum clusters around a node; outer ones are ignored."""
LONGEST_TABLE = 20_000
"""Maximum characters of a table that are searched for cells."""


class _About(NamedTuple):
    """Name, kind and type of a node, from its statement."""

    name: str
    op_type: str
    kind: str
    instance: str = ""


@dataclass(frozen=True, slots=True)
class _DotDetails:
    """Attributes by row, as written."""

    statements: DotStatements
    primitives: dict[int, int]
    size: int

    @property
    def nbytes(self) -> int:
        return self.size + 80 * len(self.statements) + 320 * len(self.statements.attributes)

    def attributes(self, row: int) -> dict[str, str]:
        one = self.statements.of(row)
        pairs = [("id", one.name)]
        pairs += [(name, _plain(value) if name == "label" else value) for name, value in one.attributes]
        if row in self.primitives:
            pairs.append(("primitive", _plain(_label(self.statements.of(self.primitives[row])))))
        return unique(pairs)

    def raw(self, row: int) -> bytes:  # noqa: ARG002  statements add up: none of them is all of a node
        return b""

    def mentions(self, word: str) -> Iterator[int]:
        return (row for row in range(len(self.statements)) if word in self.attributes(row))

    def source_lines(self, row: int) -> tuple[SourceLine, ...]:  # noqa: ARG002  the format has none
        return ()


def sniff(head: bytes) -> bool:
    """Return whether the first bytes of a file are DOT text."""
    return _HEAD.match(head) is not None


def read_graph(data: bytes, origin: Origin) -> Graph:
    """Parse DOT text; never raises for damage."""
    return _DotReading(data, origin).graph()


@dataclass(slots=True)
class _DotReading:
    """The state of parsing one text."""

    data: bytes
    origin: Origin
    title: str = ""
    closed: bool = False
    statements: DotStatements = field(default_factory=DotStatements)
    begins: array[int] = field(default_factory=lambda: array("q"))
    """The first byte of each statement."""
    names: NodeNames = field(default_factory=NodeNames)
    arrows: DotEdges = field(default_factory=DotEdges)
    labels: dict[str, str] = field(default_factory=dict)
    clusters: list[str] = field(default_factory=list)
    around: dict[tuple[str, ...], int] = field(default_factory=dict)
    here: int = NO_ROW
    """Place of the clusters around what comes next; NO_ROW if they have changed."""

    def graph(self) -> Graph:
        tokens = Tokens(self.data)
        while tokens.next is not END and not tokens.at("{"):
            word = tokens.take().text
            self.title = "" if word.lower() in ("strict", "graph", "digraph") else word
        tokens.skip("{")
        while tokens.next is not END and not self.closed:
            if tokens.next.kind == "mark":
                self._mark(tokens.take().text)
            else:
                self._statement(tokens.take(), tokens)
        return self._finish()

    # DotStatements ----------------------------------------------------------------------------------------------------

    def _mark(self, mark: str) -> None:
        if mark == "{":
            self._enter("")
        elif mark == "}":
            self.closed = not self.clusters
            if self.clusters:
                self.clusters.pop()
                self.here = NO_ROW

    def _enter(self, cluster: str) -> None:
        self.clusters.append(cluster)
        self.here = NO_ROW

    def _statement(self, first: Token, tokens: Tokens) -> None:
        word = first.text.lower() if first.kind == "word" else ""
        if word == "subgraph":
            name = "" if tokens.next.kind == "mark" else tokens.take().text
            if tokens.skip("{"):
                self._enter(name)
        elif tokens.skip("="):
            self._label([(first.text, tokens.take().text)])
        elif word in ("node", "edge", "graph") and tokens.at("["):
            found = _attributes(tokens)
            self._label(found if word == "graph" else [])
        else:
            self._nodes(first, tokens)

    def _label(self, attributes: Attributes) -> None:
        for name, value in attributes:
            if name == "label" and self.clusters:
                self.labels[self.clusters[-1]] = value

    def _nodes(self, first: Token, tokens: Tokens) -> None:
        """Parse a node, or a chain of nodes joined by edges."""
        _port(tokens)
        name, before = first.text, len(self.arrows)
        while tokens.at("->", "--"):
            tokens.take()
            if tokens.next.kind != "mark":
                target = tokens.take().text
                source = self.names.number(name, first.begin)
                self.arrows.add(source, self.names.number(target, first.begin), _port(tokens))
                name = target
        attributes = _attributes(tokens)
        if len(self.arrows) == before:
            self._node(self.names.number(name, first.begin), name, attributes, first.begin)
        elif attributes:
            kind = self._kind(dict(attributes))
            for arrow in range(before, len(self.arrows)):
                self.arrows.kind[arrow] = kind

    def _kind(self, attributes: dict[str, str]) -> int:
        dashed = "dashed" in attributes.get("style", "") and not self._mindspore
        return KINDS.index(CALL if "lhead" in attributes else CONTROL if dashed else DATA)

    def _node(self, number: int, name: str, attributes: Attributes, begin: int) -> None:
        if name.startswith(_PARAMETERS) and self._mindspore:
            return
        if self.names.rows[number] != NO_ROW:  # a node may be written several times: attributes add up
            self.statements.more(self.names.rows[number], attributes)
            return
        if self.here == NO_ROW:
            around = tuple(self.clusters[-DEEPEST:])
            self.here = self.around.setdefault(around, len(self.around))
        self.names.rows[number] = self.statements.add(name, attributes, self.here)
        self.begins.append(begin)

    @property
    def _mindspore(self) -> bool:
        return self.title == "mindspore"

    # All of it -----------------------------------------------------------------------------------------------------

    def _finish(self) -> Graph:
        self._mentioned_only()
        self.statements.around = list(self.around)
        rows, arrows = np.array(self.names.rows, np.int32), self.arrows
        self.names = NodeNames()
        source, target = rows[np.frombuffer(arrows.source, np.int32)], rows[np.frombuffer(arrows.target, np.int32)]
        about = {row: self._about(row) for row in self.statements.attributes}
        primitives, called = self._primitives(about, source, target)
        frame = self._named(about, primitives, called).frame()
        connected = self._edges(target).frame(frame, np.where(target < 0, NO_ROW, source))
        details = _DotDetails(self.statements, primitives, len(self.data))
        return Graph.of(self.origin, self.title, FORMAT, frame, connected, (), self._problems(), details)

    def _mentioned_only(self) -> None:
        """Add the nodes that only edges mention, in the order of these."""
        without = [number for number, row in enumerate(self.names.rows) if row == NO_ROW]
        if without:
            names = list(self.names.numbers)
            for number in without:
                self._node(number, names[number], [], self.names.begin[number])

    def _about(self, row: int) -> _About:
        one = self.statements.of(row)
        return _about(one) if self._mindspore else _plain_about(one)

    def _named(self, about: dict[int, _About], primitives: dict[int, int], called: set[int]) -> Nodes:
        statements, nodes = self.statements, Nodes()
        scopes = ["/".join(filter(None, map(self._scope, around))) for around in statements.around]
        functions = {name[1:]: row for row, attributes in statements.attributes.items() if (name := _value(attributes, "URL"))}
        several = len(set(statements.clusters)) > 1
        plain = _About("", "", OPERATOR)
        for row, (name, begin, cluster) in enumerate(zip(statements.names, self.begins, statements.clusters, strict=True)):
            what = about.get(row, plain)
            shown, op_type, instance = name if what is plain else what.name, what.op_type, what.instance
            if row in primitives:
                primitive = about[primitives[row]]
                op_type, instance = primitive.name.removeprefix("PrimFunc_"), primitive.instance
            elif row in called:
                op_type = "call"
            scope, around = scopes[cluster], statements.around[cluster]
            within = around[-1] if around and several and self._mindspore else ""
            if within in functions:
                within = about[functions[within]].name
            nodes.add(
                shown, f"{scope}/{shown}" if scope else shown, scope, op_type, what.kind, instance=instance,
                order=self.origin.offset + begin, subgraph=within,
            )  # fmt: skip
        self.begins = array("q")
        return nodes

    def _scope(self, cluster: str) -> str:
        label = _plain(self.labels.get(cluster, ""))
        return "" if self._mindspore else label.replace("\n", " ")

    def _primitives(self, about: dict[int, _About], source: Ids, target: Ids) -> tuple[dict[int, int], set[int]]:
        """Return node -> primitive at its port 0, and the nodes that take a function there."""
        primitives: dict[int, int] = {}
        called = set()
        first = np.frombuffer(self.arrows.port, np.int32) == 0
        for arrow in np.flatnonzero(first & (source >= 0) & (target >= 0)).tolist() if self._mindspore else ():
            begin, end = int(source[arrow]), int(target[arrow])
            if end not in about or not about[end].op_type:
                if begin in about and "Primitive" in about[begin].op_type:
                    primitives[end] = begin
                else:
                    called.add(end)
        return primitives, called

    def _edges(self, target: Ids) -> Edges:
        place, places = self.arrows.port, dict[int, int]()
        for arrow in np.flatnonzero(np.array(place, np.int32) < 0).tolist():
            number = self.arrows.target[arrow]
            place[arrow] = places.get(number, 0)
            places[number] = place[arrow] + 1
        edges = Edges()
        edges.extend(array("i", target.tobytes()), place, self.arrows.kind)
        return edges

    def _problems(self) -> list[Problem]:
        if self.closed:
            return []
        detail = "The text ends before its last bracket is closed: it is cut or still being written. What is there is shown."
        return [Problem(self.origin.path, self.origin.offset + len(self.data), 0, "bad_graph", detail)]


def _port(tokens: Tokens) -> str:
    """Return the port after a node's name, without its compass point."""
    port = ""
    while tokens.skip(":"):
        if tokens.next.kind != "mark":
            port = port or tokens.take().text
    return port


def _attributes(tokens: Tokens) -> Attributes:
    """Parse the attributes in square brackets, if any; one more than are shown of a node is kept, so that this is said."""
    found: Attributes = []
    while tokens.skip("["):
        while tokens.next is not END and not tokens.skip("]"):
            if tokens.next.kind == "mark":
                tokens.take()
                continue
            name, value = tokens.take().text, ""
            if tokens.skip("="):
                if tokens.next.kind == "mark":
                    continue
                given = tokens.take()
                value = f"<{given.text}>" if given.kind == "html" else given.text
            if len(found) <= MOST_ATTRIBUTES:
                found.append((name, value))
    return found


def _value(attributes: Attributes, name: str) -> str:
    return next((value for key, value in attributes if key == name), "")


def _label(one: Statement) -> str:
    return _value(one.attributes, "label")


def _plain(label: str) -> str:
    """Convert a label to text, one line per row of a table."""
    if not (label.startswith("<") and label.endswith(">")):
        return label.replace("\\n", "\n").replace("\\l", "\n").replace("\\r", "\n")
    lines = _TAG.sub("", _BREAK.sub("\n", _PORT.sub("", label[1:-1]))).splitlines()
    return html.unescape("\n".join(line.strip() for line in lines if line.strip()))


def _plain_about(one: Statement) -> _About:
    name = _plain(_label(one))
    return _About(name if name and name != "\\N" else one.name, "", OPERATOR)


def _about(one: Statement) -> _About:
    """Determine the kind and type of a MindSpore node from its table or shape."""
    label = _label(one)[:LONGEST_TABLE]
    if "bgcolor='cornsilk'" in label:
        cells = [_plain(f"<{cell}>") for style, cell in _CELL.findall(label) if "port=" not in style]
        shown = cells[0] if cells else one.name
        named = _CNODE.match(shown)
        if named:
            return _About(named[1], "", OPERATOR)
        return _About(shown.removesuffix("CNode"), shown.removesuffix("CNode").removeprefix("PrimFunc_"), OPERATOR)
    if "bgcolor='lavender'" in label:
        cells = [_plain(f"<{cell}>") for _, cell in _CELL.findall(label)]
        instance = _INSTANCE.search("\n".join(cells[2:]))
        name = (cells[1] if len(cells) > 1 else "") or one.name
        return _About(name, cells[0] if cells else "Const", CONSTANT, instance[1] if instance else "")
    if ("fillcolor", "paleturquoise") in one.attributes:
        return _About(_plain(label) or one.name, "Parameter", PARAMETER)
    if any(name == "URL" for name, _ in one.attributes):
        return _About(_plain(label).removesuffix("[_anonymous_]"), "Function", CONSTANT)
    return _About(_plain(label) or one.name, "", OPERATOR)
