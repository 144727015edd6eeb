"""Parses MindSpore's `.ir` files: computation graphs as text, one per compile stage, with the lines of the user's program.

Written with `MS_DEV_SAVE_GRAPHS=1` (and `MS_DEV_SAVE_GRAPHS_PATH=dir`) as `<number>_<stage>_<counter>.ir`, by dumps as
`ms_output_trace_code_graph_<n>.ir`. A file holds one or more subgraphs, in any order (`MS_DEV_SAVE_GRAPTHS_SORT_MODE=1` writes
another one than the default): functions that are called by name or passed on as values.

Rows are the assignments of all subgraphs, then parameters, then constants (each text once per subgraph); `Return` is no node:
what the entry returns are the graph's outputs. If there are several functions, the column subgraph names them. A call has
its arguments as data edges, and edges of kind call: from the result of the function to the call (input -1, or the input that
is the function) and from the arguments to the function's parameters. Attributes of the whole graph, addresses and the
order of execution after each subgraph are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, takewhile
from typing import NamedTuple

from parsers.graphs.graph import Graph, Origin, SourceLine, unique
from parsers.graphs.ir_parts import arguments, constant_type, result_type, split, value_type
from parsers.graphs.sources import source_line
from parsers.graphs.tables import CALL, CONSTANT, DATA, OPERATOR, PARAMETER, Edges, Nodes, missing, resolve
from parsers.graphs.wire import text as text_of
from parsers.graphs.wire import within
from parsers.model import Problem
from parsers.profiler.progress import report_up_to

FORMAT = "ir"
_HEAD = re.compile(rb"^(?:# IR entry: @|# Total subgraphs: \d|subgraph instance: |subgraph @[^\n]*\{[ \t\r]*$)", re.MULTILINE)
_LINE = re.compile(
    rb"^(?:[ \t]++(?:%(?P<number>\d++)\((?P<name>.*?)\) = (?P<node>.*)"
    rb"|: \((?P<types>.*)"
    rb"|# Fullname with scope: \((?P<full_name>.*)\)"
    rb"|# Scope: \((?P<scope>.*)\)"
    rb"|Return\((?P<result>.*))"
    rb"|%para(?P<parameter>\d++)_(?P<declared>.*)"
    rb"|# Parameters: \d++, \((?P<given>.*)\)"
    rb"|subgraph @(?P<subgraph>[^\s(]++)(?P<header>.*)\{"
    rb"|# IR entry: @?(?P<entry>.*)"
    rb"|# Total subgraphs: (?P<total>\d++)"
    rb"|Total number of cnodes: (?P<counted>\d++)"
    rb"|(?P<end>\}))[ \t\r]*$",
    re.MULTILINE,
)
_INSTANCE = re.compile(rb"\{instance name: ([^{}\n]*)\}")
_SIMPLE = re.compile(rb"([\w.:-]+)\(((?:[^()\[\]{}<>\"]++|(?<=\w)\([\w.+-]*\)|(?<=Monad)\[\w*\])*+)\)")
_PARAMETER = re.compile(r"%para(\d+)_(.*)", re.DOTALL)
_FREE = re.compile(r"\$\(@(.*?):(?:%?para(\d+)_.*|%(\d+)|(.*))\)", re.DOTALL)
_CALL = re.compile(r"call @([^\s(]+)(?=\()")
_CALL_OF_VALUE = re.compile(r"(?:call )?(%\d+|\$\(@[^()]*\)|[^\s(\[]+(?=\[@@))(?:\[([^\]]*)\])?(?=\()")
_GROUP = re.compile(r"\s*+(?:([\w ]++): )?\{")
LONGEST_NAME = 80
"""Maximum characters of a constant's name; its attribute `value` holds the full text."""
LONGEST_NODE = 1 << 20
"""Maximum bytes of a node, or of a constant, that are read for its attributes and source lines."""
CALL_BYTES = 16
"""Bytes of a text per edge from an argument of a call to a parameter, at least: one call may be to many functions."""


class _Key(NamedTuple):
    """What an argument refers to: kind is number, name, parameter, constant, or result (what a function returns)."""

    kind: str
    subgraph: str
    name: str


@dataclass(slots=True)
class _Operator:
    """An assignment: the range of its lines, and their content."""

    begin: int
    name: str
    op_type: str
    subgraph: str
    instance: str
    end: int = -1
    full_name: str = ""
    scope: str = ""
    output: tuple[str, str] | None = None


class _Parameter(NamedTuple):
    name: str
    subgraph: str
    output: tuple[str, str]
    span: tuple[int, int]


@dataclass(slots=True)
class _Function:
    """A subgraph: whether it is in the file, the numbers of its parameters in order, what it returns."""

    here: bool = False

    parameters: list[str] = field(default_factory=list)
    returns: _Key | None = None


def sniff(head: bytes) -> bool:
    """Return whether the first bytes of a file are .ir text."""
    return _HEAD.search(head) is not None


def read_graph(data: bytes, origin: Origin) -> Graph:
    """Parse .ir text; never raises for damage."""
    return _IrReading(data, origin).graph()


@dataclass(frozen=True, slots=True)
class _IrDetails:
    """The text, and the position of each node in it."""

    data: bytes
    places: tuple[tuple[int, int], ...]
    operators: int
    parameters: int

    @property
    def nbytes(self) -> int:
        return len(self.data) + 120 * len(self.places)

    def attributes(self, row: int) -> dict[str, str]:
        begin, end = self.places[row]
        shown = text_of(self.data, begin, min(end, begin + LONGEST_NODE))
        if row >= self.operators + self.parameters:
            return {"value": shown}
        if row >= self.operators:
            declared = shown.partition(":")[2].strip()
            return {"declaration": declared} if declared else {}
        return unique(_attributes(shown))

    def raw(self, row: int) -> bytes:
        pos, end = self.places[row]
        return self.data[pos:end]

    def mentions(self, word: str) -> Iterator[int]:
        return within(self.data, self.places, word)

    def source_lines(self, row: int) -> tuple[SourceLine, ...]:
        lines = []
        begin, end = self.places[row]
        for line in text_of(self.data, begin, min(end, begin + LONGEST_NODE)).splitlines() if row < self.operators else ():
            if line.rstrip().endswith(" candidate:"):
                break
            if line.lstrip().startswith("# In file "):
                lines.append(source_line(line))
        return tuple(lines)


def _attributes(shown: str) -> Iterator[tuple[str, str]]:
    """Return everything in the lines of a node that is in no column."""
    lines = shown.splitlines()
    head = lines[0].partition(" = ")[2]
    found = _CALL.match(head) or _CALL_OF_VALUE.match(head)
    inputs, rest = arguments(head[found.end() :] if found else head)
    if found:
        yield "calls", found[0].removeprefix("call ")
    elif head.startswith("PrimFunc_"):
        yield "primitive", head.partition("(")[0]
    if inputs:
        yield "inputs", ", ".join(inputs)
    yield from _groups(rest)
    about, candidates = "", dict[str, list[str]]()
    for line in (line.strip() for line in lines[1:]):
        if line.startswith(": "):
            yield "types", line[2:]
        elif line.endswith(" candidate:"):
            about = line.removeprefix("# ").removesuffix(":")
            candidates[about] = []
        elif line.startswith("# In file "):
            candidates.get(about, []).append(line.removeprefix("# "))
        elif line.startswith("# ") and not line.startswith(("# Fullname with scope: ", "# Scope: ")):
            name, _, value = line[2:].partition(": ")
            yield name, value
        elif line and not line.startswith("#"):
            yield "text", line
    for name, candidate in candidates.items():
        yield name, "\n".join(candidate)


def _groups(rest: str) -> Iterator[tuple[str, str]]:
    """Parse `primitive_attrs: {a: 1} cnode_attrs: {b: 2}`; only attributes of a primitive have no group in their name."""
    pos = 0
    while found := _GROUP.match(rest, pos):
        inside, pos = split(rest, found.end())
        group = (found[1] or "").strip()
        prefix = "" if group in ("", "primitive_attrs") else f"{group}."
        for one in inside:
            name, colon, value = one.partition(": ")
            if colon and not (prefix == "" and name == "instance name"):
                yield prefix + name, value
            elif not colon:
                yield group or "text", one
    if left := rest[pos:].strip():
        yield "text", left


@dataclass(slots=True)
class _IrReading:
    """The state of parsing one text."""

    data: bytes
    origin: Origin
    entry: str = ""
    total: int = 0
    counted: int = 0
    returns: int = 0
    here: str = ""
    given: str = ""
    open: bool = False
    searched: tuple[int, int] = (0, 0)
    """Where in the line that is read the next value is searched for, and where the line ends."""
    not_found: bool = False
    """Whether a value of this line was not found in it."""
    unconnected: int = 0
    """Calls to functions with whose parameters their arguments are not connected."""
    functions: dict[str, _Function] = field(default_factory=dict)
    operators: list[_Operator] = field(default_factory=list)
    parameters: dict[str, _Parameter] = field(default_factory=dict)
    constants: dict[_Key, tuple[int, int]] = field(default_factory=dict)
    known: dict[_Key, int] = field(default_factory=dict)
    types: dict[str, tuple[str, str]] = field(default_factory=dict)
    calls: list[tuple[list[str], list[_Key]]] = field(default_factory=list)
    edges: Edges = field(default_factory=Edges)

    def graph(self) -> Graph:
        reported = 0
        for line in _LINE.finditer(self.data):
            self._take(line)
            reported = report_up_to(line.end(), reported)
        self._close(len(self.data))
        return self._finish()

    # Lines ---------------------------------------------------------------------------------------------------------

    def _take(self, line: re.Match[bytes]) -> None:
        kind = line.lastgroup or ""
        last = self.operators[-1] if self.operators and self.operators[-1].end < 0 else None
        if kind == "node":
            self._operator(line)
        elif kind == "types" and last is not None and last.output is None:
            last.output = self._output(_text(line[0]))
        elif kind == "full_name" and last is not None:
            last.full_name = last.full_name or _text(line[kind])
        elif kind == "scope" and last is not None:
            last.scope = last.scope or _text(line[kind])
        elif kind == "result":
            self._close(line.start())
            self.returns += 1
            values, _ = split(_text(line["result"]), 0)
            if values:
                self._search(line.start("result"), line.end())
                self._function(self.here).returns = self._key(values[0])
        elif kind == "declared":
            name, _, about = _text(line[kind]).partition(":")
            self._parameter(_text(line["parameter"]), name.strip(), self.entry, self._value_type(about.strip()), line.span())
        elif kind == "given":
            self.given = _text(line[kind])
        elif kind == "header":
            self._subgraph(line)
        elif kind == "end":
            self._close(line.start())
            self.open = False
        elif kind == "entry":
            self.entry = _text(line[kind]).strip()
        elif kind in ("total", "counted"):
            setattr(self, kind, int(line[kind][:9]))

    def _output(self, written: str) -> tuple[str, str]:
        """Return type and shape of a result, cached because most nodes repeat those of others."""
        key = written[written.rfind(") -> (") :]
        found = self.types.get(key)
        if found is None:
            found = self.types[key] = result_type(written)
        return found

    def _value_type(self, written: str) -> tuple[str, str]:
        """Return type and shape of a parameter, of which many are alike."""
        found = value_type(written)
        return self.types.setdefault(repr(found), found)

    def _close(self, pos: int) -> None:
        """End the lines of the last node here, if they have not ended before."""
        if self.operators and self.operators[-1].end < 0:
            self.operators[-1].end = pos

    def _function(self, name: str) -> _Function:
        return self.functions.setdefault(name, _Function())

    def _subgraph(self, line: re.Match[bytes]) -> None:
        self._close(line.start())
        self.here, self.open = _text(line["subgraph"]), True
        self._function(self.here).here = True
        values, _ = arguments(re.sub(r"^ parent: \[.*?\]", "", _text(line["header"])))
        types, _ = split(self.given, 0)
        self.given = ""
        self._search(line.start("header"), line.end())
        for place, value in enumerate(values):
            found = _PARAMETER.fullmatch(value)
            if found:
                span = self._place(value)
                output = self._value_type(types[place]) if place < len(types) else ("", "")
                self._parameter(found[1], found[2], self.here, output, span)

    def _parameter(self, number: str, name: str, subgraph: str, output: tuple[str, str], span: tuple[int, int]) -> None:
        self.parameters.setdefault(number, _Parameter(name, subgraph, output, span))
        self._function(subgraph).parameters.append(number)

    def _operator(self, line: re.Match[bytes]) -> None:
        self._close(line.start())
        row, written = len(self.operators), line["node"]
        name = _text(line["name"])
        self._search(line.start("node"), line.end())
        self.known.setdefault(_Key("number", self.here, _text(line["number"])), row)
        self.known.setdefault(_Key("name", self.here, name), row)
        simple = _SIMPLE.match(written)
        targets: list[str] = []
        if simple:
            op_type, values = _text(simple[1]), _text(simple[2]).split(", ") if simple[2] else []
        else:
            shown = _text(written)
            op_type, targets, behind = self._called(shown, row)
            values, _ = arguments(shown[behind:])
        instance = _INSTANCE.search(written) if b"{instance name: " in written else None
        kept = _text(instance[1]) if instance else ""
        self.operators.append(_Operator(line.start(), name, op_type.removeprefix("PrimFunc_"), self.here, kept))
        keys = [self._key(value) for value in values]
        for place, key in enumerate(keys):
            self.edges.add(key, row, place, CALL if key.kind == "result" else DATA)
        if targets:
            self.calls.append((targets, keys))

    def _called(self, shown: str, row: int) -> tuple[str, list[str], int]:
        """Return type of a node that is no plain operator, the functions it calls, and the length of that text."""
        targets = []
        if found := _CALL.match(shown):
            targets = [found[1]]
        elif found := _CALL_OF_VALUE.match(shown):
            if found[1][0] in "%$":
                self.edges.add(self._key(found[1]), row, -1, CALL)
            targets = [name.strip().lstrip("@") for name in (found[2] or "").split(",") if name.strip()]
        results: dict[str, _Key] = {}
        for target in targets:
            self.edges.add(results.setdefault(target, _Key("result", target, "")), row, -1, CALL)
        if found:
            return "call", targets, found.end()
        return re.split(r"[(\[{]", shown, maxsplit=1)[0].strip(), [], 0

    def _search(self, begin: int, end: int) -> None:
        """Search for the values of a line from here on."""
        self.searched, self.not_found = (begin, end), False

    def _place(self, value: str) -> tuple[int, int]:
        """Return where a value is in its line, after those before it; an empty place if it is not found."""
        begin, end = self.searched
        # What is not found has bytes that are no text. It is searched for once in a line, or a line of many would take long.
        raw = b"" if self.not_found and "\\" in value else value.encode("utf-8", "surrogateescape")
        at = self.data.find(raw, begin, end)
        if at < 0:
            self.not_found = True
            return begin, begin
        self.searched = at + len(raw), end
        return at, at + len(raw)

    def _key(self, value: str) -> _Key:
        """Return what an argument refers to; any other text is a constant."""
        if value[:1] == "%":
            found = _PARAMETER.fullmatch(value)
            return _Key("parameter", "", found[1]) if found else _Key("number", self.here, value[1:])
        if value[:1] == "@":
            return _Key("result", value.lstrip("@"), "")
        if value[:3] == "$(@" and value[-1:] == ")" and (found := _FREE.fullmatch(value)):
            subgraph, parameter, number, name = found.groups()
            if parameter:
                return _Key("parameter", "", parameter)
            return _Key("number", subgraph, number) if number else _Key("name", subgraph, name)
        key = _Key("constant", self.here, value)
        if key not in self.constants:
            self.constants[key] = self._place(value)
        return key

    # All of it -----------------------------------------------------------------------------------------------------

    def _finish(self) -> Graph:
        nodes, several = Nodes(), len(self.functions) > 1
        for one in self.operators:
            full_name = one.full_name or (f"{one.scope}/{one.op_type}-{one.name}" if one.scope else one.name)
            nodes.add(
                one.name, full_name, one.scope or full_name.rpartition("/")[0], one.op_type, OPERATOR,
                output=one.output or ("", ""), instance=one.instance, order=self._at(one.begin),
                subgraph=one.subgraph if several else "",
            )  # fmt: skip
        scopes, placed = self._scopes(nodes), dict[str, int]()
        for number, given in self.parameters.items():
            scope = scopes.get(given.subgraph, "") if given.subgraph != self.entry else ""
            placed[number] = nodes.add(
                given.name, f"{scope}/{given.name}" if scope else given.name, scope, "Parameter", PARAMETER,
                output=given.output, order=self._at(given.span[0]), subgraph=given.subgraph if several else "",
            )  # fmt: skip
        for key, (begin, _) in self.constants.items():
            name = key.name if len(key.name) <= LONGEST_NAME else key.name[: LONGEST_NAME - 1] + "…"
            self.known[key] = nodes.add(
                name, name, "", "Const", CONSTANT, output=(constant_type(key.name), ""), order=self._at(begin),
                subgraph=key.subgraph if several else "",
            )  # fmt: skip
        self._connect(placed)
        source = resolve(self.edges.source, self.known)
        lost = [key for key, row in zip(self.edges.source, source.tolist(), strict=True) if row < 0 and not self._silent(key)]
        frame = nodes.frame()
        operators = ((one.begin, one.end) for one in self.operators)
        parameters = (one.span for one in self.parameters.values())
        spans = (*operators, *parameters, *self.constants.values())
        details = _IrDetails(self.data, spans, len(self.operators), len(self.parameters))
        edges, outputs = self.edges.frame(frame, source), self._outputs()
        return Graph.of(self.origin, self.entry, FORMAT, frame, edges, outputs, self._problems(lost), details)

    def _at(self, pos: int) -> int:
        return self.origin.offset + pos

    def _scopes(self, nodes: Nodes) -> dict[str, str]:
        """Return the common prefix of the scopes of a subgraph's nodes."""
        found: dict[str, str] = {}
        for one, full_name in zip(self.operators, nodes.full_name, strict=True):
            scope, before = full_name.rpartition("/")[0], found.get(one.subgraph)
            if before is None:
                found[one.subgraph] = scope
            elif before and before != scope:
                same = takewhile(lambda pair: pair[0] == pair[1], zip(before.split("/"), scope.split("/"), strict=False))
                found[one.subgraph] = "/".join(part for part, _ in same)
        return found

    def _connect(self, parameters: dict[str, int]) -> None:
        """Resolve results of functions to the nodes they return, and connect arguments of calls to their parameters.

        parameters: the node of each by its number. Only those that are used get a key: a hostile file has many that are not.
        """
        returns = (function.returns for function in self.functions.values() if function.returns is not None)
        for key in chain(self.edges.source, returns):
            if key.kind == "parameter" and key.name in parameters:
                self.known[key] = parameters[key.name]
        for name, returned in self._returned().items():
            if returned is not None and returned in self.known:
                self.known[_Key("result", name, "")] = self.known[returned]
        left = len(self.data) // CALL_BYTES
        for target, keys in ((target, keys) for targets, keys in self.calls for target in targets):
            numbers = self.functions[target].parameters if target in self.functions else []
            if (left := left - min(len(keys), len(numbers))) < 0:
                self.unconnected += 1
                continue
            for place, (key, number) in enumerate(zip(keys, numbers, strict=False)):
                self.edges.add(key, parameters[number], place, CALL)

    def _returned(self) -> dict[str, _Key | None]:
        """Return what each function returns in the end, through functions whose results it returns; None in a circle."""
        found: dict[str, _Key | None] = {}
        for first in self.functions:
            name, key = first, None
            path: list[str] = []
            while name in self.functions and name not in found:
                found[name] = None
                path.append(name)
                key = self.functions[name].returns
                if key is None or key.kind != "result":
                    break
                name, key = key.subgraph, found.get(key.subgraph)
            found.update(dict.fromkeys(path, key))
        return found

    def _silent(self, key: _Key) -> bool:
        """Return whether a function is in the file but returns no node: a function, or nothing."""
        return key.kind == "result" and key.subgraph in self.functions and self.functions[key.subgraph].here

    def _outputs(self) -> tuple[int, ...]:
        row = self.known.get(_Key("result", self.entry, ""))
        return () if row is None else (row,)

    def _problems(self, lost: list[_Key]) -> list[Problem]:
        found, path, offset = [], self.origin.path, self.origin.offset
        if lost:
            found.append(missing(path, offset, [_shown(key) for key in lost]))
        if self.unconnected:
            detail = (
                f"{self.unconnected:,} calls have more arguments and functions than a file of this size may have together: "
                "these arguments are not connected with the parameters of the functions."
            )
            found.append(Problem(path, offset, 0, "bad_graph", detail))
        defined, cnodes = sum(one.here for one in self.functions.values()), len(self.operators) + self.returns
        short = self.total > defined or self.open or not self._function(self.entry).here or self.counted > cnodes
        if short and self.entry:
            detail = (
                f"The text ends early: expected {self.total:,} subgraphs with {self.counted:,} nodes and returns, "
                f"found {defined:,} with {cnodes:,}. What is there is shown."
            )
            found.append(Problem(path, offset + len(self.data), 0, "bad_graph", detail))
        return found


def _shown(key: _Key) -> str:
    return {"result": f"@{key.subgraph}", "number": f"%{key.name}", "parameter": f"%para{key.name}"}.get(key.kind, key.name)


def _text(raw: bytes) -> str:
    return text_of(raw, 0, len(raw))
