"""Finds cells that several layers share.

A graph names a cell after the first layer that calls it: with one GeLU for 24 layers, those of all are in the scope of layer 0.
Such a scope takes values from a later layer and gives values to the same one, which no scope of layer 0 alone does.
"""

from __future__ import annotations

import re

import numpy as np

from parsers.analysis.graphs.network import OPERATOR, Ints
from parsers.analysis.graphs.scopes import Scopes

_NUMBERED = re.compile(r"(\d{1,6})-(.+)|(.*?)[._]?(\d{1,6})", re.DOTALL)


def shared(scopes: Scopes) -> dict[int, tuple[int, ...]]:
    """Return for scopes that later layers use too the numbers of these layers, ascending."""
    network, home = scopes.network, scopes.home
    data = ~network.ordering & ~network.call & (network.kind[network.source] == OPERATOR)
    data &= network.kind[network.target] == OPERATOR
    source, target = network.source[data], network.target[data]
    fed = np.zeros(network.size, np.bool_)
    fed[target] = True
    keys = (home[source] * len(scopes) + home[target]) * 2 + ~fed[source]
    keys = np.unique(keys)
    own = (keys % 2).astype(np.bool_)
    one, other = keys // 2 // len(scopes), keys // 2 % len(scopes)
    apart = one != other
    one, other, own = one[apart], other[apart], own[apart]
    left, right = _siblings(scopes, one, other)
    number, family = _layers(scopes, np.unique(np.concatenate((left[left != right], right[left != right]))))
    kept = (left != right) & (family[left] >= 0) & (family[left] == family[right])
    gives: dict[int, set[int]] = {}
    takes: dict[int, set[int]] = {}
    for begin, end, first, second, starts in zip(
        one[kept].tolist(), other[kept].tolist(), left[kept].tolist(), right[kept].tolist(), own[kept].tolist(), strict=True
    ):
        _add(scopes, gives, begin, first, int(number[second]))
        _add(scopes, takes, end, second, int(number[first]))
        if starts:
            _add(scopes, takes, begin, first, int(number[second]))
    found = {}
    for scope, layers in gives.items():
        mine = int(number[_layer(scopes, scope, family)])
        also = sorted(layer for layer in layers & takes.get(scope, set()) if layer > mine)
        if also:
            found[scope] = tuple(also)
    return found


def _layer(scopes: Scopes, scope: int, family: Ints) -> int:
    """Return the layer that a scope is in: the innermost numbered scope around it, or itself."""
    while family[scope] < 0:
        scope = int(scopes.parent[scope])
    return scope


def _add(scopes: Scopes, found: dict[int, set[int]], scope: int, top: int, layer: int) -> None:
    """Note a layer for a scope and those around it, up to the top one."""
    while True:
        found.setdefault(scope, set()).add(layer)
        if scope == top:
            return
        scope = int(scopes.parent[scope])


def _siblings(scopes: Scopes, one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Return for pairs of scopes the scopes around them that are next to each other; equal ones if one is in the other."""
    one, other, depth, parent = one.copy(), other.copy(), scopes.depth, scopes.parent
    for deeper, flatter in ((one, other), (other, one)):
        while (far := depth[deeper] > depth[flatter]).any():
            deeper[far] = parent[deeper[far]]
    while (apart := (one != other) & (parent[one] != parent[other])).any():
        one[apart], other[apart] = parent[one[apart]], parent[other[apart]]
    return one, other


def _layers(scopes: Scopes, chosen: Ints) -> tuple[Ints, Ints]:
    """Return for scopes their number and a code of what they are numbered among; -1 for the others."""
    number, family = np.full(len(scopes), -1, np.int64), np.full(len(scopes), -1, np.int64)
    known: dict[tuple[int, str], int] = {}
    for scope in chosen.tolist():
        found = _NUMBERED.fullmatch(scopes.label(scope))
        if found:
            number[scope] = int(found[1] or found[4])
            family[scope] = known.setdefault((int(scopes.parent[scope]), found[2] or found[3]), len(known))
    return number, family


def spans(numbers: tuple[int, ...]) -> str:
    """Write ascending numbers with their ranges: "1–23", "1, 4–6"."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return ", ".join(f"{first}–{last}" if last > first else str(first) for first, last in found)
