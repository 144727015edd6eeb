"""The graphs that visitors look at, as views that scopes are opened in; the latest few are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import overload

from parsers import Graph, PayloadError, SourceLine
from parsers.analysis.graphs import (
    STATES,
    Difference,
    Item,
    Network,
    Shown,
    Together,
    View,
    compare,
    network,
    simplified,
    together,
)  # fmt: skip
from parsers.analysis.graphs.counts import FLAG

from layouts.sources import ValueSource

KEPT = 4
FIRST = 60
"""A first picture is opened until it has about so many boxes."""
FIRST_FRAMES = 6


@dataclass(frozen=True, slots=True)
class Of:
    """Which graph: member run, name in it, and whether it is simplified.

    against: member run and name of the graph it is compared with, or None.
    """

    run: str
    graph: str
    simple: bool
    against: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Another graph, how the first differs from it, and both as one: what the second has more is added to the first."""

    graph: Graph
    difference: Difference
    both: Together


@dataclass(slots=True)
class Opened:
    """A graph with what was made of it. hidden: how many nodes each rule of simplifying hid; kept: how many it could not.

    whole: of a comparison the network of both graphs, whose first rows are those of graph.
    """

    graph: Graph
    whole: Network
    version: tuple[int, ...]
    compared: Compared | None = None
    views: dict[bool, View] = field(default_factory=dict)
    hidden: dict[str, int] = field(default_factory=dict)
    kept: int = 0
    known_flags: dict[int, str] | None = None

    def state(self, row: int) -> str:
        """What a comparison says of a node: one of STATES."""
        return STATES[int(self.compared.both.state[row])] if self.compared else STATES[0]

    def attributes(self, row: int) -> dict[str, str]:
        """Attributes of a node; of one that both graphs have those of the first."""
        graph, own = self._of(row)
        return graph.attributes(own)

    @property
    def flags(self) -> dict[int, str]:
        """The precision flags of operators by row."""
        if self.known_flags is None:
            found = self.graph.having(FLAG)
            if self.compared:
                more = self.compared.difference.added.tolist()
                added = {row: place for place, row in enumerate(more, len(self.graph.nodes))}
                found |= {added[row]: text for row, text in self.compared.graph.having(FLAG).items() if row in added}
            self.known_flags = found
        return self.known_flags

    def source_lines(self, row: int) -> tuple[SourceLine, ...]:
        """Source lines of a node; of one that both graphs have those of the first."""
        graph, own = self._of(row)
        return graph.source_lines(own)

    def _value(self, row: int) -> str:
        """The value of a constant: its attribute of that name, which .pb has, else its name."""
        return self.attributes(row).get("value", self.whole.names[row])

    def _of(self, row: int) -> tuple[Graph, int]:
        if self.compared and row >= len(self.graph.nodes):
            return self.compared.graph, int(self.compared.both.second[row])
        return self.graph, row

    def view(self, simple: bool) -> View:
        """The whole graph, or what is left of it when simplified."""
        if simple not in self.views:
            shown = self.whole
            if simple:
                less = simplified(self.whole, self._value)
                shown, self.hidden, self.kept = less.network, less.hidden, less.kept
            self.views[simple] = View(shown)
        return self.views[simple]


@dataclass(slots=True)
class _Slot:
    """One graph or comparison; whoever asks for it first makes it, and others wait for that one alone."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    opened: Opened | None = None


class Views:
    """The graphs of a source, each worked out once for all visitors."""

    def __init__(self, source: ValueSource) -> None:
        self._source = source
        self._kept: OrderedDict[tuple[tuple[str, str], ...], _Slot] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, asked: Of) -> tuple[Opened, View]:
        """The graph that is asked for; PayloadError where there is none or its bytes cannot be had."""
        names = ((asked.run, asked.graph), *([asked.against] if asked.against else []))
        slot = self._slot(names)
        with slot.lock:
            opened = slot.opened = self._opened(names, slot.opened)
            return opened, opened.view(asked.simple)

    def _slot(self, names: tuple[tuple[str, str], ...]) -> _Slot:
        with self._lock:
            slot = self._kept.setdefault(names, _Slot())
            self._kept.move_to_end(names)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return slot

    def _opened(self, names: tuple[tuple[str, str], ...], kept: Opened | None) -> Opened:
        version = tuple(self._source.version(run) for run, _ in names)
        if kept is None or kept.version != version:
            graphs = [self._graph(*name) for name in names]
            known = [kept.graph, *([kept.compared.graph] if kept.compared else [])] if kept else []
            if kept is None or any(one is not other for one, other in zip(graphs, known, strict=True)):
                kept = _made(graphs, version)
            kept.version = version
        return kept

    def _graph(self, run: str, name: str) -> Graph:
        graph = self._source.graph(run, name)
        if graph is None:
            raise PayloadError(f"wanted a graph of run {run[:200]}, got {name[:200]}")
        return graph


def _made(graphs: list[Graph], version: tuple[int, ...]) -> Opened:
    networks = [network(graph.nodes, graph.edges) for graph in graphs]
    if len(graphs) == 1:
        return Opened(graphs[0], networks[0], version)
    # What one format has as an attribute another has not: all nodes would differ.
    attributes = (_Attributes(graphs[0]), _Attributes(graphs[1])) if graphs[0].format == graphs[1].format else None
    difference = compare(networks[0], networks[1], attributes)
    both = together(networks[0], networks[1], difference)
    return Opened(graphs[0], both.network, version, Compared(graphs[1], difference, both))


REFERENCES = {"ir": "inputs", "dot": "id"}
"""By format the attribute that only says how the file calls nodes: it numbers them anew each time, and edges tell the rest."""


def comparable(graph: Graph, row: int) -> dict[str, str]:
    """The attributes of a node that are compared with those of another graph's."""
    return {name: text for name, text in graph.attributes(row).items() if name != REFERENCES.get(graph.format)}


class _Attributes(Sequence[Hashable]):
    """The attributes of a graph's nodes as what can be compared with those of another graph of its format."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: dict[int, _Said] = {}

    def __len__(self) -> int:
        return len(self._graph.nodes)

    @overload
    def __getitem__(self, row: int) -> Hashable: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Hashable]: ...
    def __getitem__(self, row: int | slice) -> Hashable | Sequence[Hashable]:
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(len(self)))]
        if row not in self._known:
            self._known[row] = _Said(self._graph, row)
        return self._known[row]


class _Said:
    """The attributes of one node, decoded only where its bytes do not tell that they are equal to another's."""

    __slots__ = ("_decoded", "_graph", "_row")

    def __init__(self, graph: Graph, row: int) -> None:
        self._graph, self._row = graph, row
        self._decoded: tuple[tuple[str, str], ...] | None = None

    def decoded(self) -> tuple[tuple[str, str], ...]:
        if self._decoded is None:
            self._decoded = tuple(sorted(comparable(self._graph, self._row).items()))
        return self._decoded

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Said):
            return NotImplemented
        raw = self._graph.raw(self._row)
        return (raw != b"" and raw == other._graph.raw(other._row)) or self.decoded() == other.decoded()

    def __hash__(self) -> int:
        return hash(self.decoded())


def first_opened(view: View) -> list[str]:
    """What is open where nobody said: the largest scopes of the network itself, as long as the picture stays small."""
    opened: list[str] = []
    for _ in range(FIRST_FRAMES):
        visible = view.visible(Shown(tuple(opened)))
        closed = [item for item in visible.items if item.kind == "scope" and not item.opened and _forward(view, item)]
        closed.sort(key=lambda item: (-item.count, item.key))
        largest = next((item for item in closed if _children(view, item) + len(visible.items) <= FIRST), None)
        if largest is None or (len(visible.items) > FIRST // 4 and opened):
            break
        opened.append(largest.key)
    return opened


def _forward(view: View, item: Item) -> bool:
    """Whether a scope is of the network itself: what a reader looks for first."""
    parts = view.scopes.paths[item.members[0]].split("/")
    return parts[0] != "Gradients" and not any(part.lower().startswith("optimizer") for part in parts)


def _children(view: View, item: Item) -> int:
    return len(view.level(item.members[0]).units)
