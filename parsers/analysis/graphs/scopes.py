"""The tree of scopes of a graph, as arrays.

Scopes are numbered so that a scope comes before all that is in it and siblings come in topological order; nodes are sorted by
scope and then topologically. So all that is in a scope, however deep, is one slice of scopes and one of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from parsers.analysis.graphs.network import CONSTANT, OPERATOR, PARAMETER, Ints, Network
from parsers.analysis.graphs.sizes import type_bytes, values

DEEPEST = 64
"""Levels of scopes; the parts of a name beyond that are one label."""


@dataclass(frozen=True, eq=False)
class Scopes:
    """The scopes of a network; number 0 is the top, which has no name.

    paths: names of the scopes with all above them, parts separated by /.
    parent: -1 for the top. end: the number after that of the last scope within. depth: 0 for the top.
    home: for each node the scope it is in. A parameter or constant without a scope of its own is where its first consumer is.
    nodes: all shown nodes, sorted by home, then topologically, then by row.
    first: where the nodes of a scope begin in nodes, one more at the end. So nodes[first[s]:first[s + 1]] are directly in s
    and nodes[first[s]:first[end[s]]] are all in it.
    """

    network: Network
    paths: list[str]
    parent: Ints
    end: Ints
    depth: Ints
    home: Ints
    nodes: Ints
    first: Ints

    def __len__(self) -> int:
        return len(self.paths)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each scope by its path."""
        return {path: number for number, path in enumerate(self.paths)}

    def label(self, scope: int) -> str:
        """The last part of a scope's name."""
        above = self.paths[self.parent[scope]] if scope else ""
        return self.paths[scope][len(above) + 1 if above else 0 :]

    def children(self, scope: int) -> list[int]:
        """The scopes directly within, in topological order."""
        found, at, end = [], scope + 1, int(self.end[scope])
        while at < end:
            found.append(at)
            at = int(self.end[at])
        return found

    def own(self, scope: int) -> Ints:
        """The nodes directly in a scope, in topological order."""
        return self.nodes[self.first[scope] : self.first[scope + 1]]

    def within(self, scope: int) -> Ints:
        """All nodes in a scope, however deep."""
        return self.nodes[self.first[scope] : self.first[self.end[scope]]]

    def each_within(self, chosen: Ints) -> tuple[Ints, Ints]:
        """All nodes in each of some scopes, one scope after the other, and how many are in each."""
        begin = self.first[chosen]
        many = self.first[self.end[chosen]] - begin
        before = np.cumsum(many) - many
        return self.nodes[np.arange(int(many.sum())) + np.repeat(begin - before, many)], many

    def above(self, scope: int) -> list[int]:
        """The scopes that a scope is in, from the one below the top to itself; none for the top."""
        chain = []
        while scope > 0:
            chain.append(scope)
            scope = int(self.parent[scope])
        return chain[::-1]

    @cached_property
    def operators(self) -> Ints:
        """How many operators are in each scope, however deep."""
        return self._sum(self.network.kind[self.nodes] == OPERATOR)

    @cached_property
    def parameters(self) -> Ints:
        """How many parameters are in each scope, however deep."""
        return self._sum(self.network.kind[self.nodes] == PARAMETER)

    @cached_property
    def constants(self) -> Ints:
        """How many constants are in each scope, however deep."""
        return self._sum(self.network.kind[self.nodes] == CONSTANT)

    @cached_property
    def parameter_values(self) -> Ints:
        """How many numbers the parameters of each scope hold; those of unknown shape count as none."""
        return self._sum(self._held(values(self.network.shapes)[self.network.shape[self.nodes]]))

    @cached_property
    def parameter_bytes(self) -> Ints:
        """Bytes of the parameters of each scope; those of unknown shape or type count as none."""
        network = self.network
        each = type_bytes(network.output_types)[network.output_type[self.nodes]]
        return self._sum(self._held(values(network.shapes)[network.shape[self.nodes]] * each))

    def types(self, scope: int) -> dict[str, int]:
        """How many operators of each type are in a scope, however deep; most frequent first, then by name."""
        network, inside = self.network, self.within(scope)
        inside = inside[network.kind[inside] == OPERATOR]
        counts = np.bincount(network.type[inside], minlength=len(network.types))
        found = {network.types[code]: int(counts[code]) for code in np.flatnonzero(counts)}
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))

    def _held(self, amounts: Ints) -> Ints:
        return np.where(self.network.kind[self.nodes] == PARAMETER, amounts, 0)

    def _sum(self, amounts: Ints) -> Ints:
        """What each scope and all in it hold together, of amounts of each of nodes."""
        running = np.concatenate(([0], np.cumsum(amounts)))
        return np.asarray(running[self.first[self.end]] - running[self.first[:-1]])


def scopes(network: Network) -> Scopes:
    """The tree of scopes of a network: names are cut at /, empty parts dropped."""
    texts = [_parts(text) for text in network.scope_texts]
    used = network.scope.copy()
    lent = (network.kind != OPERATOR) & ~network.placed & (network.first_consumer >= 0)
    used[lent] = network.scope[network.first_consumer[lent]]

    paths, parent, number_of = _tree([texts[code] if found else "" for code, found in enumerate(_found(used, len(texts)))])
    raw_home = np.array([number_of.get(text, 0) for text in texts], np.int64)[used]

    early = np.full(len(paths), network.size, np.int64)
    shown = np.flatnonzero(network.shown)
    np.minimum.at(early, raw_home[shown], network.rank[shown])
    number, end, depth = _number(parent, early)

    home = number[raw_home]
    order = np.lexsort((shown, network.rank[shown], home[shown]))
    nodes = shown[order]
    back = np.argsort(number)
    above = np.array(parent, np.int64)[back]
    return Scopes(
        network=network,
        paths=[paths[old] for old in back],
        parent=np.where(above >= 0, number[above], -1),
        end=end,
        depth=depth,
        home=home,
        nodes=nodes,
        first=np.searchsorted(home[nodes], np.arange(len(paths) + 1)),
    )


def _found(codes: Ints, size: int) -> list[bool]:
    return [bool(count) for count in np.bincount(codes, minlength=size)]


def _parts(text: str) -> str:
    """A scope's name without empty parts, and with what is too deep in one part."""
    if "/" not in text:
        return text
    parts = [part for part in text.split("/") if part]
    if len(parts) > DEEPEST:
        parts[DEEPEST - 1 :] = ["\u2215".join(parts[DEEPEST - 1 :])]
    return "/".join(parts)


def _tree(texts: list[str]) -> tuple[list[str], list[int], dict[str, int]]:
    """All scopes that names imply: their paths, the parent of each and the number of each path. Parents come first."""
    paths, parent = [""], [-1]
    numbers = {"": 0}
    for text in texts:
        if text in numbers:
            continue
        above, begin = 0, 0
        while True:
            slash = text.find("/", begin)
            path = text if slash < 0 else text[:slash]
            number = numbers.get(path)
            if number is None:
                number = numbers[path] = len(paths)
                paths.append(path)
                parent.append(above)
            above = number
            if slash < 0:
                break
            begin = slash + 1
    return paths, parent, numbers


def _number(parent: list[int], early: Ints) -> tuple[Ints, Ints, Ints]:
    """New numbers by old, and the end and depth by new: each scope before those within, siblings by their earliest node."""
    size = len(parent)
    first = early.tolist()
    for scope in range(size - 1, 0, -1):
        above = parent[scope]
        if first[scope] < first[above]:
            first[above] = first[scope]
    children: list[list[int]] = [[] for _ in range(size)]
    for scope in range(1, size):
        children[parent[scope]].append(scope)
    number, end, depth = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    stack, at = [(0, 0)], 0
    order = []
    while stack:
        scope, level = stack.pop()
        number[scope], depth[at] = at, level
        order.append(scope)
        at += 1
        below = children[scope]
        below.sort(key=lambda child: (-first[child], -child))
        stack.extend((child, level + 1) for child in below)
    last = [0] * size
    for scope in reversed(order):
        last[scope] = max([int(number[scope]) + 1, *(last[child] for child in children[scope])])
        end[number[scope]] = last[scope]
    return number, end, depth
