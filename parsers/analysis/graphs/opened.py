"""A graph, or two compared with each other, as views in which scopes can be opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import overload

from parsers.analysis.graphs import (
    STATES,
    GraphDifference,
    GraphView,
    Item,
    JoinedNetwork,
    Network,
    OpenScopes,
    compare,
    is_training,
    network,
    roles,
    shared,
    simplified,
    together,
)  # fmt: skip
from parsers.analysis.graphs.counts import FLAG
from parsers.analysis.graphs.network import Ints
from parsers.graphs.graph import Graph, SourceLine

FIRST = 60
"""Scopes are opened in the initial picture until it has about this many boxes."""
FIRST_FRAMES = 6


@dataclass(frozen=True, slots=True, eq=False)
class ComparedGraphs:
    """The second graph of a comparison, the difference, and the union: the first graph plus what only the second has.

    first and other: the networks of both graphs, simplified before they were compared if `simple`: what a training graph hides
    of itself, and operators that only pass values on, are no difference from the forward graph of the same network.
    """

    graph: Graph
    first: Network
    other: Network
    difference: GraphDifference
    both: JoinedNetwork
    simple: bool = False


@dataclass(slots=True)
class OpenGraph:
    """A graph with its views. hidden: number of nodes hidden by each simplification rule; kept: number that no rule could hide.

    whole: the network of the graph; in a comparison that of both graphs, which begins with the rows of the first one.
    """

    graph: Graph
    whole: Network
    version: tuple[int, ...]
    compared: ComparedGraphs | None = None
    views: dict[bool, GraphView] = field(default_factory=dict)
    hidden: dict[str, int] = field(default_factory=dict)
    kept: int = 0
    known_flags: dict[int, str] | None = None
    training: bool | None = None
    known_roles: Ints | None = None
    known_shared: dict[bool, dict[int, tuple[int, ...]]] = field(default_factory=dict)

    def state(self, row: int) -> str:
        """Return the state of a node in the comparison: one of STATES."""
        return STATES[int(self.compared.both.state[row])] if self.compared else STATES[0]

    def attributes(self, row: int) -> dict[str, str]:
        """Return the attributes of a node, those of the first graph if both have it."""
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
        """Return the source lines of a node, those of the first graph if both have it."""
        graph, own = self._of(row)
        return graph.source_lines(own)

    def simple(self, wanted: bool | None) -> bool:
        """Return whether the simplified graph is wanted; if None leaves that open, yes for a training. Graphs that are compared
        were simplified, or not, before.
        """
        if self.compared:
            return self.compared.simple
        if wanted is not None:
            return wanted
        if self.training is None:
            self.training = is_training(self.whole)
        return self.training

    @property
    def roles(self) -> Ints:
        """What each parameter is for, as codes into ROLES; -1 for other nodes."""
        if self.known_roles is None:
            self.known_roles = roles(self.whole)
        return self.known_roles

    def shared(self, simple: bool) -> dict[int, tuple[int, ...]]:
        """Return the later layers that use a scope too, by scope of a view."""
        if simple not in self.known_shared:
            self.known_shared[simple] = shared(self.view(simple).scopes)
        return self.known_shared[simple]

    def _of(self, row: int) -> tuple[Graph, int]:
        if self.compared and row >= len(self.graph.nodes):
            return self.compared.graph, int(self.compared.both.second[row])
        return self.graph, row

    def view(self, simple: bool) -> GraphView:
        """Return the view of the whole graph or of the simplified one."""
        if simple not in self.views:
            shown = self.whole
            if simple and not self.compared:
                less = simplified(self.whole, partial(_value_of, self.graph, self.whole))
                shown, self.hidden, self.kept = less.network, less.hidden, less.kept
            self.views[simple] = GraphView(shown)
        return self.views[simple]


def opened_graph(graphs: Sequence[Graph], version: tuple[int, ...], simple: bool | None = None) -> OpenGraph:
    """Return a graph with its views, or the comparison of two; version is a mark of their files.

    simple: whether graphs that are compared are simplified before; None: if one of them is of a training and the other is not.
    """
    networks = [network(graph.nodes, graph.edges) for graph in graphs]
    if len(graphs) == 1:
        return OpenGraph(graphs[0], networks[0], version)
    simple = is_training(networks[0]) is not is_training(networks[1]) if simple is None else simple
    hidden: Counter[str] = Counter()
    kept = 0
    if simple:
        less = [simplified(whole, partial(_value_of, graph, whole)) for graph, whole in zip(graphs, networks, strict=True)]
        networks = [one.network for one in less]
        for one in less:
            hidden.update(one.hidden)
            kept += one.kept
    # Formats record different attributes, so between two formats all nodes would differ.
    attributes = (_Attributes(graphs[0]), _Attributes(graphs[1])) if graphs[0].format == graphs[1].format else None
    difference = compare(networks[0], networks[1], attributes)
    both = together(networks[0], networks[1], difference)
    compared = ComparedGraphs(graphs[1], networks[0], networks[1], difference, both, simple)
    return OpenGraph(graphs[0], both.network, version, compared, hidden=dict(hidden), kept=kept)


def _value_of(graph: Graph, whole: Network, row: int) -> str:
    """Return the value of a constant: its attribute `value`, which only .pb files have, else its name."""
    known = graph.attributes(row).get("value")
    return whole.name(row) if known is None else known


REFERENCES = {"ir": "inputs", "dot": "id"}
"""By format, the attribute with the file's own names of nodes. Each file numbers them anew, so they are not compared."""


def comparable(graph: Graph, row: int) -> dict[str, str]:
    """Return the attributes of a node that take part in a comparison."""
    return {name: text for name, text in graph.attributes(row).items() if name != REFERENCES.get(graph.format)}


class _Attributes(Sequence[Hashable]):
    """The attributes of a graph's nodes, comparable with those of another graph of the same format."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: dict[int, _NodeAttributes] = {}

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
            self._known[row] = _NodeAttributes(self._graph, row)
        return self._known[row]


class _NodeAttributes:
    """The attributes of one node, decoded only if its bytes differ from those it is compared with."""

    __slots__ = ("_decoded", "_graph", "_row")

    def __init__(self, graph: Graph, row: int) -> None:
        self._graph, self._row = graph, row
        self._decoded: tuple[tuple[str, str], ...] | None = None

    def decoded(self) -> tuple[tuple[str, str], ...]:
        if self._decoded is None:
            self._decoded = tuple(sorted(comparable(self._graph, self._row).items()))
        return self._decoded

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _NodeAttributes):
            return NotImplemented
        raw = self._graph.raw(self._row)
        return (raw != b"" and raw == other._graph.raw(other._row)) or self.decoded() == other.decoded()

    def __hash__(self) -> int:
        return hash(self.decoded())


def first_opened(view: GraphView) -> list[str]:
    """Return the scopes open by default: the largest ones of the forward network, while the picture stays small."""
    opened: list[str] = []
    for _ in range(FIRST_FRAMES):
        visible = view.visible(OpenScopes(tuple(opened)))
        closed = [item for item in visible.items if item.kind == "scope" and not item.opened and _forward(view, item)]
        closed.sort(key=lambda item: (-item.count, item.key))
        largest = next((item for item in closed if _children(view, item) + len(visible.items) <= FIRST), None)
        if largest is None or (len(visible.items) > FIRST // 4 and opened):
            break
        opened.append(largest.key)
    return opened


def _forward(view: GraphView, item: Item) -> bool:
    """Return whether a scope is part of the forward network, which readers look for first."""
    parts = view.scopes.paths[item.members[0]].split("/")
    return parts[0] != "Gradients" and not any(part.lower().startswith("optimizer") for part in parts)


def _children(view: GraphView, item: Item) -> int:
    return len(view.level(item.members[0]).units)
