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
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from parsers.graphs.graph import Graph, Origin, SourceLine, unique
from parsers.graphs.tables import CALL, CONSTANT, CONTROL, DATA, OPERATOR, PARAMETER, Edges, Nodes, resolve
from parsers.graphs.wire import text as text_of
from parsers.model import Problem

FORMAT = "dot"
_HEAD = re.compile(
    rb"\A(?:\xef\xbb\xbf|\s|//[^\n]*\n|/\*.*?\*/|#[^\n]*\n)*+(?:strict\s+)?(?:di)?graph\b[^{};=\[\]]*\{",
    re.DOTALL | re.IGNORECASE,
)
_TOKEN = re.compile(
    rb"(?P<space>\s++|//[^\n]*|/\*.*?\*/|^#[^\n]*)"
    rb"|(?P<text>\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\")"
    rb"|(?P<mark>->|--|[{}\[\];,=:+])"
    rb"|(?P<html><)"
    rb"|(?P<word>(?!/\*)[^\s\"{}\[\];,=:<>+-]++(?:-(?![->])[^\s\"{}\[\];,=:<>+-]*+)*+|-?[\d.]+|[>+-])",
    re.DOTALL | re.MULTILINE,
)
_BRACKET = re.compile(rb"[<>]")
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


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    begin: int
    end: int


END = _Token("end", "", 0, 0)


class _Arrow(NamedTuple):
    """An edge as written: ids, target port, attributes, position in the file."""

    source: str
    target: str
    port: str
    attributes: dict[str, str]
    begin: int


class _About(NamedTuple):
    """Name, kind and type of a node, from its statement."""

    name: str
    op_type: str
    kind: str
    instance: str = ""


@dataclass(slots=True)
class _Statement:
    """One node statement: its id, position, attributes and the clusters around it."""

    name: str
    begin: int
    end: int
    attributes: list[tuple[str, str]]
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _DotDetails:
    """Attributes by row, as written."""

    statements: tuple[_Statement, ...]
    primitives: dict[int, int]
    size: int

    @property
    def nbytes(self) -> int:
        return self.size + 400 * len(self.statements)

    def attributes(self, row: int) -> dict[str, str]:
        one = self.statements[row]
        pairs = [("id", one.name)]
        pairs += [(name, _plain(value) if name == "label" else value) for name, value in one.attributes]
        if row in self.primitives:
            pairs.append(("primitive", _plain(_label(self.statements[self.primitives[row]]))))
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


class _Tokens:
    """Tokens of a text, with one token of lookahead."""

    def __init__(self, data: bytes) -> None:
        self._found = _tokens(data)
        self.last = self.next = END
        self.take()

    def take(self) -> _Token:
        """Consume the next token and return it."""
        self.last, self.next = self.next, next(self._found, END)
        return self.last

    def at(self, *marks: str) -> bool:
        """Return whether one of these marks is next."""
        return self.next.kind == "mark" and self.next.text in marks

    def skip(self, mark: str) -> bool:
        """Consume a mark if it is next."""
        return self.at(mark) and self.take() is not END


def _tokens(data: bytes) -> Iterator[_Token]:
    pos, end = 0, len(data)
    while pos < end:
        found = _TOKEN.match(data, pos)
        if found is None:
            return  # a quote or a comment that is never closed
        kind, begin, pos = found.lastgroup or "", pos, found.end()
        if kind == "html":
            pos = _behind_html(data, begin)
            yield _Token("html", text_of(data, begin + 1, pos - 1), begin, pos)
        elif kind == "text":
            yield _Token(kind, text_of(data, begin + 1, pos - 1).replace('\\"', '"').replace("\\\n", ""), begin, pos)
        elif kind != "space":
            yield _Token(kind, text_of(data, begin, pos), begin, pos)


def _behind_html(data: bytes, begin: int) -> int:
    """Return the end of a label in angle brackets, searched for because MindSpore does not escape brackets in names."""
    if data.startswith(b"<<table", begin):
        close = data.find(b"</table>>", begin)
        return len(data) if close < 0 else close + len(b"</table>>")
    depth = 0
    for found in _BRACKET.finditer(data, begin):
        depth += 1 if found[0] == b"<" else -1
        if not depth:
            return found.end()
    return len(data)


@dataclass(slots=True)
class _DotReading:
    """The state of parsing one text."""

    data: bytes
    origin: Origin
    title: str = ""
    closed: bool = False
    statements: list[_Statement] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    clusters: list[str] = field(default_factory=list)
    arrows: list[_Arrow] = field(default_factory=list)

    def graph(self) -> Graph:
        tokens = _Tokens(self.data)
        while tokens.next is not END and not tokens.at("{"):
            word = tokens.take().text
            self.title = "" if word.lower() in ("strict", "graph", "digraph") else word
        tokens.skip("{")
        while tokens.next is not END and not self.closed:
            self._statement(tokens)
        return self._finish()

    # Statements ----------------------------------------------------------------------------------------------------

    def _statement(self, tokens: _Tokens) -> None:
        if tokens.skip("{"):
            self.clusters.append("")
        elif tokens.skip("}"):
            self.closed = not self.clusters
            if self.clusters:
                self.clusters.pop()
        elif tokens.next.kind == "mark":
            tokens.take()
        else:
            first = tokens.take()
            word = first.text.lower() if first.kind == "word" else ""
            if word == "subgraph":
                name = "" if tokens.next.kind == "mark" else tokens.take().text
                if tokens.skip("{"):
                    self.clusters.append(name)
            elif tokens.skip("="):
                self._label([(first.text, tokens.take().text)])
            elif word in ("node", "edge", "graph") and tokens.at("["):
                found = _attributes(tokens)
                self._label(found if word == "graph" else [])
            else:
                self._nodes(first, tokens)

    def _label(self, attributes: list[tuple[str, str]]) -> None:
        for name, value in attributes:
            if name == "label" and self.clusters:
                self.labels[self.clusters[-1]] = value

    def _nodes(self, first: _Token, tokens: _Tokens) -> None:
        """Parse a node, or a chain of nodes joined by edges."""
        chain = [(first.text, _port(tokens))]
        while tokens.at("->", "--"):
            tokens.take()
            if tokens.next.kind != "mark":
                chain.append((tokens.take().text, _port(tokens)))
        attributes = _attributes(tokens)
        if len(chain) == 1:
            self._node(first.text, first.begin, tokens.last.end, attributes)
        for (source, _), (target, port) in pairwise(chain):
            self.arrows.append(_Arrow(source, target, port, dict(attributes), first.begin))

    def _node(self, name: str, begin: int, end: int, attributes: list[tuple[str, str]]) -> None:
        if name.startswith(_PARAMETERS) and self._mindspore:
            return
        if name in self.rows:  # a node may be written several times: attributes add up
            self.statements[self.rows[name]].attributes += attributes
            return
        self.rows[name] = len(self.statements)
        self.statements.append(_Statement(name, begin, end, attributes, tuple(self.clusters[-DEEPEST:])))

    @property
    def _mindspore(self) -> bool:
        return self.title == "mindspore"

    # All of it -----------------------------------------------------------------------------------------------------

    def _finish(self) -> Graph:
        for arrow in self.arrows:
            for name in (arrow.source, arrow.target):
                if name not in self.rows:
                    self._node(name, arrow.begin, arrow.begin, [])
        about = [_about(one) if self._mindspore else _plain_about(one) for one in self.statements]
        primitives, called = self._primitives(about)
        functions = {name[1:]: row for row, one in enumerate(self.statements) if (name := self._value(one, "URL"))}
        several = len({one.clusters for one in self.statements}) > 1
        nodes = Nodes()
        for row, (one, what) in enumerate(zip(self.statements, about, strict=True)):
            op_type, instance = what.op_type, what.instance
            if row in primitives:
                op_type, instance = about[primitives[row]].name.removeprefix("PrimFunc_"), about[primitives[row]].instance
            elif row in called:
                op_type = "call"
            scope = "/".join(filter(None, (self._scope(cluster) for cluster in one.clusters)))
            within = one.clusters[-1] if one.clusters and several and self._mindspore else ""
            if within in functions:
                within = about[functions[within]].name
            nodes.add(
                what.name, f"{scope}/{what.name}" if scope else what.name, scope, op_type, what.kind, instance=instance,
                order=self.origin.offset + one.begin, subgraph=within,
            )  # fmt: skip
        edges = self._edges()
        frame = nodes.frame()
        details = _DotDetails(tuple(self.statements), primitives, len(self.data))
        connected = edges.frame(frame, resolve(edges.source, self.rows))
        return Graph.of(self.origin, self.title, FORMAT, frame, connected, (), self._problems(), details)

    def _scope(self, cluster: str) -> str:
        label = _plain(self.labels.get(cluster, ""))
        return "" if self._mindspore else label.replace("\n", " ")

    def _value(self, one: _Statement, name: str) -> str:
        return next((value for key, value in one.attributes if key == name), "")

    def _primitives(self, about: list[_About]) -> tuple[dict[int, int], set[int]]:
        """Return node -> primitive at its port 0, and the nodes that take a function there."""
        primitives: dict[int, int] = {}
        called = set()
        for arrow in self.arrows if self._mindspore else ():
            source, target = self.rows[arrow.source], self.rows[arrow.target]
            if arrow.port == "0" and not about[target].op_type:
                if "Primitive" in about[source].op_type:
                    primitives[target] = source
                else:
                    called.add(target)
        return primitives, called

    def _edges(self) -> Edges:
        edges, places = Edges(), dict[str, int]()
        for arrow in self.arrows:
            place = int(arrow.port) if arrow.port.isascii() and arrow.port.isdigit() and len(arrow.port) < 9 else -1
            if place < 0:
                place = places.get(arrow.target, 0)
                places[arrow.target] = place + 1
            dashed = "dashed" in arrow.attributes.get("style", "") and not self._mindspore
            kind = CALL if "lhead" in arrow.attributes else CONTROL if dashed else DATA
            edges.add(arrow.source, self.rows[arrow.target], place, kind)
        return edges

    def _problems(self) -> list[Problem]:
        if self.closed:
            return []
        detail = "The text ends before its last bracket is closed: it is cut or still being written. What is there is shown."
        return [Problem(self.origin.path, self.origin.offset + len(self.data), 0, "bad_graph", detail)]


def _port(tokens: _Tokens) -> str:
    """Return the port after a node's name, without its compass point."""
    port = ""
    while tokens.skip(":"):
        if tokens.next.kind != "mark":
            port = port or tokens.take().text
    return port


def _attributes(tokens: _Tokens) -> list[tuple[str, str]]:
    """Parse the attributes in square brackets, if any."""
    found: list[tuple[str, str]] = []
    while tokens.skip("["):
        while tokens.next is not END and not tokens.skip("]"):
            if tokens.next.kind == "mark":
                tokens.take()
                continue
            name = tokens.take().text
            if not tokens.skip("="):
                found.append((name, ""))
            elif tokens.next.kind != "mark":
                value = tokens.take()
                found.append((name, f"<{value.text}>" if value.kind == "html" else value.text))
    return found


def _label(one: _Statement) -> str:
    return next((value for name, value in one.attributes if name == "label"), "")


def _plain(label: str) -> str:
    """Convert a label to text, one line per row of a table."""
    if not (label.startswith("<") and label.endswith(">")):
        return label.replace("\\n", "\n").replace("\\l", "\n").replace("\\r", "\n")
    lines = _TAG.sub("", _BREAK.sub("\n", _PORT.sub("", label[1:-1]))).splitlines()
    return html.unescape("\n".join(line.strip() for line in lines if line.strip()))


def _plain_about(one: _Statement) -> _About:
    name = _plain(_label(one))
    return _About(name if name and name != "\\N" else one.name, "", OPERATOR)


def _about(one: _Statement) -> _About:
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
