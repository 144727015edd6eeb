"""The tree of scopes of a graph, as arrays.

Scopes are numbered so that a scope comes before all that is in it and siblings come in topological order; nodes are sorted by
scope and then topologically. So all that is in a scope, however deep, is one slice of scopes and one of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from parsers.analysis.graphs.network import CONSTANT, OPERATOR, Bools, Ints, Network
from parsers.analysis.graphs.roles import stored
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
    def stored(self) -> Bools:
        """Which nodes are parameters that a checkpoint would hold: not the inputs of the graph."""
        return stored(self.network)

    @cached_property
    def parameters(self) -> Ints:
        """How many such parameters are in each scope, however deep."""
        return self._sum(self.stored[self.nodes].astype(np.int64))

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
        return np.where(self.stored[self.nodes], amounts, 0)

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
    if "//" not in text and text[:1] != "/" and text[-1:] != "/" and text.count("/") < DEEPEST:
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
        new, slash = [text], text.rfind("/")  # most scopes are in one that is known
        while slash >= 0 and text[:slash] not in numbers:
            new.append(text[:slash])
            slash = text.rfind("/", 0, slash)
        above = numbers[text[:slash]] if slash >= 0 else 0
        for path in reversed(new):
            number = numbers[path] = len(paths)
            paths.append(path)
            parent.append(above)
            above = number
    return paths, parent, numbers


def _number(parent: list[int], early: Ints) -> tuple[Ints, Ints, Ints]:
    """New numbers by old, and the end and depth by new: each scope before those within, siblings by their earliest node.

    All scopes of a depth are done at once: lists of children would be many objects for Python's garbage collector to visit.
    """
    size, depth = len(parent), [0] * len(parent)
    for scope in range(1, size):
        depth[scope] = depth[parent[scope]] + 1
    above, deep = np.array(parent, np.int64), np.array(depth, np.int64)
    by_depth = np.argsort(deep, kind="stable")
    levels = np.split(by_depth, np.flatnonzero(np.diff(deep[by_depth])) + 1)[1:]
    first, within = early.copy(), np.ones(size, np.int64)
    for level in reversed(levels):
        np.minimum.at(first, above[level], first[level])
        np.add.at(within, above[level], within[level])
    number = np.zeros(size, np.int64)
    for level in levels:
        order = level[np.lexsort((level, first[level], above[level]))]
        before = np.cumsum(within[order]) - within[order]
        begins = np.flatnonzero(np.append(True, np.diff(above[order]) != 0))
        siblings = np.repeat(before[begins], np.diff(np.append(begins, len(order))))
        number[order] = number[above[order]] + 1 + before - siblings
    end, level_of = np.empty(size, np.int64), np.empty(size, np.int64)
    end[number] = number + within
    level_of[number] = deep
    return number, end, level_of
