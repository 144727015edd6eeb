"""A graph as arrays, for fast traversal of 100,000 nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.deferred import pandas as pd
from parsers.frames import EDGES, NODES

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

OPERATOR, PARAMETER, CONSTANT = 0, 1, 2
KINDS = ("operator", "parameter", "constant")
"""The kinds of nodes, in the order of their codes."""
ORDERING = ("UpdateState",)
"""Types of operators whose output is no value but a position in the order of side effects."""


@dataclass(frozen=True, eq=False)
class Network:
    """The nodes and edges of one graph.

    nodes: the frame they come from, which matches NODES.
    kind, type, output_type, shape, scope: codes of each node into the texts of that name, except kind, which is into KINDS.
    Where the file has several functions, the scopes of each are in one that is named after it.
    placed: which nodes have a scope of their own.
    source, target, output, input, control, edge: the edges that are left of the frame's, and the row of each in it, or -1.
    shown: which nodes are drawn; edges have both ends among them.
    """

    nodes: pd.DataFrame
    edges: pd.DataFrame
    kind: Ints
    type: Ints
    output_type: Ints
    shape: Ints
    scope: Ints
    scope_texts: list[str]
    placed: Bools
    source: Ints
    target: Ints
    output: Ints
    input: Ints
    control: Bools
    call: Bools
    edge: Ints
    shown: Bools

    @property
    def size(self) -> int:
        """Number of nodes, including hidden ones."""
        return len(self.kind)

    def remembered(self, name: str, compute: Callable[[], Bools]) -> Bools:
        """Return which nodes are of a kind that several analyses ask for; it is computed once. Do not write into it."""
        if name not in self._known:
            self._known[name] = compute()
        return self._known[name]

    @cached_property
    def _known(self) -> dict[str, Bools]:
        return {}

    @cached_property
    def types(self) -> list[str]:
        """The texts that type is a code of."""
        return _texts(self.nodes["type"])

    @cached_property
    def output_types(self) -> list[str]:
        """The texts that output_type is a code of."""
        return _texts(self.nodes["output_type"])

    @cached_property
    def shapes(self) -> list[str]:
        """The texts that shape is a code of."""
        return _texts(self.nodes["shape"])

    @cached_property
    def full_names(self) -> list[str]:
        """Each node's name with its scopes."""
        found: list[str] = self.nodes["full_name"].tolist()
        return found

    def full_name(self, row: int) -> str:
        """A node's name with its scopes; the first picture needs few of them."""
        return str(self.nodes["full_name"].array[row])

    def name(self, row: int) -> str:
        """A node's name as in the file."""
        return str(self.nodes["name"].array[row])

    @cached_property
    def places(self) -> dict[str, int]:
        """The row of each full name; of a name that several nodes have the first one that is shown, else the first."""
        found: dict[str, int] = {}
        shown = self.shown.tolist()
        for row, name in enumerate(self.full_names):
            if name not in found or (shown[row] and not shown[found[name]]):
                found[name] = row
        return found

    def label(self, row: int) -> str:
        """The last part of a node's name; its type if that is a number, as in graphs of torch."""
        full = self.full_name(row)
        last = full.rpartition("/")[2]
        return (self.types[self.type[row]] if last.isdecimal() else last) or last or full

    @cached_property
    def lowered(self) -> list[str]:
        """Each node's name with its scopes in small letters."""
        return [name.lower() for name in self.full_names]

    @cached_property
    def names(self) -> list[str]:
        """Each node's name as in the file."""
        found: list[str] = self.nodes["name"].tolist()
        return found

    @cached_property
    def operator_edges(self) -> Ints:
        """The places of the edges between two operators."""
        return np.flatnonzero((self.kind[self.source] == OPERATOR) & (self.kind[self.target] == OPERATOR))

    @cached_property
    def ordering(self) -> Bools:
        """The edges that say only what comes first: control edges, and those of MindSpore's UpdateState."""
        states = np.array([kind in ORDERING for kind in self.types])
        return np.asarray(self.control | states[self.type[self.source]])

    @cached_property
    def rank(self) -> Ints:
        """A place in one topological order for each node.

        A parameter or constant has the place of its first consumer. Among all such orders it is one near to the file's: a
        node comes as early as its inputs allow. An edge that closes a cycle is the only one that goes back.
        """
        operators = self.operator_edges
        source, target = self.source[operators], self.target[operators]
        order = np.arange(self.size) if bool((source < target).all()) else _depth_first(self.size, source, target)
        rank = np.empty(self.size, np.int64)
        rank[order] = np.arange(self.size)
        home = self.first_consumer
        fed = (self.kind != OPERATOR) & (home >= 0)
        rank[fed] = rank[home[fed]]
        return rank

    @cached_property
    def first_consumer(self) -> Ints:
        """For each node the first row among the operators that take it, or -1."""
        first = np.full(self.size, self.size, np.int64)
        taken = self.kind[self.target] == OPERATOR
        np.minimum.at(first, self.source[taken], self.target[taken])
        first[first == self.size] = -1
        return first

    def only(self, shown: Bools, **edges: Any) -> Network:
        """The same graph with fewer nodes shown, and without the edges of others; edges are arrays that replace its own."""
        changed = replace(self, shown=self.shown & shown, **edges)
        kept = changed.shown[changed.source] & changed.shown[changed.target]
        names = ("source", "target", "output", "input", "control", "call", "edge")
        return replace(changed, **{name: getattr(changed, name)[kept] for name in names})


def network(nodes: pd.DataFrame, edges: pd.DataFrame) -> Network:
    """Convert two frames to arrays. An edge whose end is no row of nodes is skipped. Raises SchemaError."""
    NODES.check(nodes)
    EDGES.check(edges)
    size = len(nodes)
    source, target = edges["source"].to_numpy(np.int64), edges["target"].to_numpy(np.int64)
    row = np.flatnonzero((source >= 0) & (source < size) & (target >= 0) & (target < size))
    scope, scope_texts = _scopes(nodes)
    kinds = pd.Categorical(nodes["kind"], categories=list(KINDS)).codes.astype(np.int64)
    return Network(
        nodes=nodes,
        edges=edges,
        kind=np.where(kinds < 0, OPERATOR, kinds),
        type=_codes(nodes["type"]),
        output_type=_codes(nodes["output_type"]),
        shape=_codes(nodes["shape"]),
        scope=scope,
        scope_texts=scope_texts,
        placed=(nodes["scope"] != "").to_numpy(np.bool_),
        source=source[row],
        target=target[row],
        output=edges["output"].to_numpy(np.int64)[row],
        input=edges["input"].to_numpy(np.int64)[row],
        control=(edges["kind"] == "control").to_numpy(np.bool_)[row],
        call=(edges["kind"] == "call").to_numpy(np.bool_)[row],
        edge=row.astype(np.int64),
        shown=np.ones(size, np.bool_),
    )


def _scopes(nodes: pd.DataFrame) -> tuple[Ints, list[str]]:
    scope, texts = _codes(nodes["scope"]), _texts(nodes["scope"])
    function, functions = _codes(nodes["subgraph"]), [name.replace("/", "\u2215") for name in _texts(nodes["subgraph"])]
    if len({functions[code] for code in np.unique(function).tolist()}) < 2:
        return scope, texts
    pairs, codes = np.unique(function * len(texts) + scope, return_inverse=True)
    both = [(functions[pair // len(texts)], texts[pair % len(texts)]) for pair in pairs.tolist()]
    return codes.astype(np.int64), ["/".join(part for part in pair if part) for pair in both]


def _codes(column: pd.Series[Any]) -> Ints:
    """Codes of a category column; an absent value has the code after the last, whose text is empty."""
    codes = column.cat.codes.to_numpy(np.int64)
    return np.where(codes < 0, len(column.cat.categories), codes)


def _texts(column: pd.Series[Any]) -> list[str]:
    return [*column.cat.categories.tolist(), ""]


def _depth_first(size: int, source: Ints, target: Ints) -> Ints:
    """The nodes, each after its inputs where no cycle forbids it, else in the order of their rows."""
    order = np.argsort(target, kind="stable")
    begin = np.searchsorted(target[order], np.arange(size + 1)).tolist()
    inputs = source[order].tolist()
    done: list[int] = []
    seen = bytearray(size)
    place = begin[:size]
    for root in range(size):
        if seen[root]:
            continue
        seen[root] = 1
        stack = [root]
        while stack:
            node = stack[-1]
            at, end = place[node], begin[node + 1]
            while at < end and seen[inputs[at]]:
                at += 1
            place[node] = at
            if at == end:
                done.append(node)
                stack.pop()
            else:
                seen[inputs[at]] = 1
                stack.append(inputs[at])
    return np.array(done, np.int64)
