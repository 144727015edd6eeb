"""The graphs of a kernel dump, and what they say of the files: full names of operators, parameters, and the flow of values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from parsers.dumps.listing import TensorListing
from parsers.dumps.names import joined_names
from parsers.errors import FormatError, PayloadError
from parsers.graphs.graph import Graph, SourceLine
from parsers.graphs.reader import read_file
from parsers.graphs.tables import DATA, OPERATOR, PARAMETER

_PASSED = frozenset(("Load", "Depend", "Identity", "TensorMove"))
"""Operators that give their first input unchanged, and are in no dump."""
_STRANGE = 0.5
"""A graph that has less than this part of the dumped operators is that of another network."""


class DumpGraphs(Mapping[tuple[int, int], Graph]):
    """(rank, number of the graph) -> graph, decoded when it is asked for.

    A lookup raises KeyError for an unknown graph and PayloadError if its file cannot be read.
    """

    def __init__(self, listing: TensorListing, ranks: Mapping[str, int]) -> None:
        self._paths: dict[tuple[int, int], tuple[str, ...]] = {}
        for root, files in listing.ranks.items():
            for number in sorted(files.graphs.keys() | files.texts.keys()):
                found = (files.graphs.get(number), files.texts.get(number))
                self._paths.setdefault((ranks[root], number), tuple(path for path in found if path))
        self._known: dict[str, Graph] = {}
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"DumpGraphs({', '.join(map(repr, self._paths))})"

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._paths)

    def __contains__(self, key: object) -> bool:
        return key in self._paths

    def __getitem__(self, key: tuple[int, int]) -> Graph:
        return self.of_file(self._paths[key][0])

    def of_file(self, path: str) -> Graph:
        """Return the graph in a file; PayloadError if it cannot be read."""
        with self._lock:
            if path not in self._known:
                try:
                    self._known[path] = read_file(path)
                except FormatError as error:
                    raise PayloadError(str(error), path, 0) from error
                except OSError as error:
                    raise PayloadError(f"the file cannot be read: {error.strerror or error}", path, 0) from error
            return self._known[path]

    def source_lines(self, key: tuple[int, int], name: str) -> tuple[SourceLine, ...]:
        """Return the lines of the program that an operator is from, outermost call first: of the .ir if the .pb has none."""
        for path in self._paths.get(key, ()):
            try:
                graph = self.of_file(path)
            except PayloadError:
                continue
            lines = lines_of(graph, name)
            if lines:
                return lines
        return ()


def lines_of(graph: Graph, name: str) -> tuple[SourceLine, ...]:
    """Return the lines of the program that an operator of a graph is from, outermost call first; none if it has none."""
    rows = np.flatnonzero((graph.nodes["full_name"] == name).to_numpy())
    return graph.source_lines(int(rows[0])) if len(rows) else ()


@dataclass(slots=True)
class GraphFlow:
    """What the graph of some files says.

    names: operator in file names -> full name. orders: full name -> place in the order of execution. parameters: name in file
    names -> parameter. holds: (operator, input) -> parameter. sources: operator -> operators and parameters whose values it
    takes, by input.
    """

    names: dict[str, str] = field(default_factory=dict)
    orders: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    holds: dict[tuple[str, int], str] = field(default_factory=dict)
    sources: dict[str, dict[int, str]] = field(default_factory=dict)


def flow_of(
    listing: TensorListing, root: str, number: int, recorded: list[str], parameters: list[str], load: Callable[[str], Graph]
) -> GraphFlow:
    """Join the operators and parameters in file names with the graph of this number; damage becomes problems of the listing."""
    files = listing.ranks[root]
    order = files.orders.get(number, [])
    path = files.graphs.get(number) or files.texts.get(number)
    graph = None
    if path is not None:
        try:
            graph = load(path)
        except PayloadError as error:
            listing.problem(path, f"The graph cannot be read: {error}. Operators keep the names in the files.", "bad_graph")
        else:
            listing.problems |= dict.fromkeys(graph.problems)
    operators = [] if graph is None else _operators(graph)
    listed = set(order)
    full = [*order, *(name for name in operators if name not in listed)]
    joined = joined_names(recorded, full)
    partners = min(len(joined), len(joined_names(recorded, operators)) if operators else len(joined))
    if full and recorded and partners < _STRANGE * len(recorded):
        what = "graph" if path else "execution order"
        text = (
            f"Expected the {what} of the dumped network, found one with {partners:,} of its {len(recorded):,} operators: it "
            "is that of another network, or cut. Operators without a partner keep the names in the files."
        )
        listing.problem(path or root, text)
    flow = GraphFlow({name: full[place] for name, place in joined.items()}, {name: place for place, name in enumerate(order)})
    if graph is not None:
        _add_values(flow, graph, parameters)
    return flow


def flow_of_graph(graph: Graph) -> GraphFlow:
    """Return what a graph says of itself: operators are in its order, which takes no value before it is made."""
    flow = GraphFlow(orders={name: place for place, name in enumerate(_operators(graph))})
    _add_values(flow, graph, [])
    return flow


def _operators(graph: Graph) -> list[str]:
    names = graph.nodes["full_name"][(graph.nodes["kind"] == OPERATOR).to_numpy()]
    return [str(name) for name in names.tolist()]


def _add_values(flow: GraphFlow, graph: Graph, parameters: list[str]) -> None:
    """Add the parameters, and what each operator takes; operators that pass a value on are left out."""
    names = graph.nodes["full_name"].tolist()
    kinds = graph.nodes["kind"].astype(str).tolist()
    types = graph.nodes["type"].astype(str).tolist()
    known = {names[row].replace(".", "_"): names[row] for row, kind in enumerate(kinds) if kind == PARAMETER}
    known |= {name: name for name in known.values()}
    flow.parameters = {name: known[name] for name in parameters if name in known}
    data = (graph.edges["kind"] == DATA).to_numpy()
    inputs: dict[int, dict[int, int]] = {}
    columns = (graph.edges[name].to_numpy()[data].tolist() for name in ("source", "target", "input"))
    for source, target, place in zip(*columns, strict=True):
        inputs.setdefault(target, {})[place] = source

    def passed(row: int) -> int:
        for _ in range(len(names)):
            if types[row] not in _PASSED or 0 not in inputs.get(row, {}):
                return row
            row = inputs[row][0]
        return row

    for target, places in inputs.items():
        for place, source in places.items():
            row = passed(source)
            flow.sources.setdefault(names[target], {})[place] = names[row]
            if kinds[row] == PARAMETER:
                flow.holds[names[target], place] = names[row]
