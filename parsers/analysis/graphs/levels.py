"""Folds the direct contents of one scope: siblings of one type to an aggregate, equal blocks to a stack.

Members are folded only if that creates no cycle. Each member gets a depth: the greatest number of changes of type on
a path of siblings to it. Members of one type and one depth fold; every edge between what results leads to a greater depth.
Edges that say only in which order things happen do not count: the optimizer's 200 updates come one after the other and
are one box.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from parsers.analysis.graphs.blocks import block_hashes
from parsers.analysis.graphs.network import OPERATOR, Ints
from parsers.analysis.graphs.scopes import Scopes

FOLD = 5
"""Minimum siblings of one type for an aggregate."""
STACK = 3
"""Minimum equal blocks for a stack."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class GraphBox:
    """One box: a node, a scope, an aggregate of nodes ("fold") or a stack of scopes. members are rows, or scope numbers."""

    kind: str
    members: tuple[int, ...]

    @property
    def key(self) -> str:
        """Names the box in its graph: n, s, f or k and the number of its first member."""
        return f"{'nsfk'[('node', 'scope', 'fold', 'stack').index(self.kind)]}{self.members[0]}"


@dataclass(frozen=True, eq=False, slots=True)
class Level:
    """The boxes of one scope in topological order.

    place: for each of scopes.within(scope), which unit it is in; -1 for parameters and constants. stacks: places of stacks.
    """

    units: tuple[GraphBox, ...]
    place: Ints
    stacks: tuple[int, ...]


def level(scopes: Scopes, scope: int) -> Level:
    """Fold the contents of a scope. O(nodes and edges of the graph)."""
    network = scopes.network
    children = np.array([child for child in scopes.children(scope) if scopes.operators[child]], np.int64)
    own = scopes.own(scope)
    own = own[network.kind[own] == OPERATOR]
    inside = scopes.within(scope)
    base = int(scopes.first[scope])

    # Parameters come sorted among the operators of a scope: its earliest operator says where it stands.
    rows, many = scopes.each_within(children)
    ranks = np.where(network.kind[rows] == OPERATOR, network.rank[rows], network.size)
    early = np.minimum.reduceat(ranks, np.cumsum(many) - many) if len(children) else ranks
    order = np.argsort(np.concatenate((network.rank[own], early)), kind="stable")
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    member = np.full(len(inside), -1, np.int64)
    member[np.flatnonzero(network.kind[scopes.own(scope)] == OPERATOR)] = position[: len(own)]
    begins = scopes.first[children] - base
    member[np.arange(len(rows)) + np.repeat(begins - (np.cumsum(many) - many), many)] = np.repeat(position[len(own) :], many)
    member[network.kind[inside] != OPERATOR] = -1

    species = _species(scopes, own, children.tolist())[order]
    depth = _depths(scopes, inside, member, species)
    ids = np.concatenate((own, children))[order].tolist()
    is_scope = (order >= len(own)).tolist()
    units, unit_of = _fold(ids, is_scope, species.tolist(), depth)
    place = np.full(len(inside), -1, np.int64)
    place[member >= 0] = np.array(unit_of, np.int64)[member[member >= 0]]
    return Level(units, place, tuple(number for number, unit in enumerate(units) if unit.kind == "stack"))


def _species(scopes: Scopes, own: Ints, children: list[int]) -> Ints:
    """Return a number for each node and child; those with equal numbers may share a box."""
    network = scopes.network
    base = len(network.types)
    alike: dict[tuple[str, int], list[int]] = {}
    for place, child in enumerate(children):
        alike.setdefault((_NUMBER.sub("#", scopes.label(child)), int(scopes.operators[child])), []).append(place)
    species = base + np.arange(len(children), dtype=np.int64)
    candidates = [places for places in alike.values() if len(places) >= STACK]
    if candidates:
        hashes = block_hashes(scopes, [children[place] for places in candidates for place in places])
        for places in candidates:
            first: dict[int, int] = {}
            for place in places:
                species[place] = base + first.setdefault(hashes[children[place]], place)
    return np.concatenate((network.type[own], species))


def _depths(scopes: Scopes, inside: Ints, member: Ints, species: Ints) -> list[int]:
    source, target = lifted(scopes, inside, member)
    onward = source < target
    source, target = source[onward], target[onward]
    order = np.argsort(target, kind="stable")
    source, target = source[order], target[order]
    change = (species[source] != species[target]).astype(np.int64)
    depth = [0] * len(species)
    for before, after, step in zip(source.tolist(), target.tolist(), change.tolist(), strict=True):
        if depth[before] + step > depth[after]:
            depth[after] = depth[before] + step
    return depth


def lifted(scopes: Scopes, inside: Ints, member: Ints) -> tuple[Ints, Ints]:
    """The edges between different members that the nodes inside belong to, each pair once, sorted."""
    network = scopes.network
    of = np.full(network.size, -1, np.int64)
    of[inside] = member
    source, target = of[network.source], of[network.target]
    kept = (source >= 0) & (target >= 0) & (source != target) & ~network.ordering
    size = int(member.max(initial=-1)) + 1
    pairs = np.sort(source[kept] * size + target[kept])
    pairs = pairs[np.concatenate(([True], pairs[1:] != pairs[:-1]))] if pairs.size else pairs
    return pairs // max(size, 1), pairs % max(size, 1)


def _fold(ids: list[int], is_scope: list[bool], species: list[int], depth: list[int]) -> tuple[tuple[GraphBox, ...], list[int]]:
    groups: dict[tuple[int, int], list[int]] = {}
    for place, name in enumerate(zip(species, depth, strict=True)):
        groups.setdefault(name, []).append(place)
    units: list[GraphBox] = []
    unit_of = [0] * len(ids)
    for place, name in enumerate(zip(species, depth, strict=True)):
        places = groups[name]
        folds = len(places) >= (STACK if is_scope[place] else FOLD)
        if folds and place != places[0]:
            continue
        kind = ("stack" if folds else "scope") if is_scope[place] else ("fold" if folds else "node")
        chosen = places if folds else [place]
        for each in chosen:
            unit_of[each] = len(units)
        units.append(GraphBox(kind, tuple(ids[each] for each in chosen)))
    return tuple(units), unit_of
