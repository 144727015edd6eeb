"""Traces what a node of a graph is computed from or feeds, and the shortest path between two nodes.

Edges that say only in which order things happen (control edges, those of UpdateState) are not followed, nor are calls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.analysis.graphs.network import OPERATOR, Ints, Network


@dataclass(frozen=True, eq=False, slots=True)
class NodeTrace:
    """rows: nodes in order of their distance, the first is where the trace began; depth: edges from there to each.

    A path has its nodes from begin to end. cut: there is more beyond the depth asked for.
    """

    rows: Ints
    depth: Ints
    cut: bool = False


def ancestors(network: Network, row: int, depth: int = 0) -> NodeTrace:
    """Return the nodes a node is computed from, over at most this many edges; 0 for all."""
    return _spread(network, row, depth, up=True)


def descendants(network: Network, row: int, depth: int = 0) -> NodeTrace:
    """Return the nodes that use what a node computes, over at most this many edges; 0 for all."""
    return _spread(network, row, depth, up=False)


def path(network: Network, begin: int, end: int) -> NodeTrace | None:
    """Return a shortest path between two nodes along the edges, from the earlier to the later; None if there is none."""
    for first, last in ((begin, end), (end, begin)):
        found = _shortest(network, first, last)
        if found:
            return NodeTrace(np.array(found, np.int64), np.arange(len(found)))
    return None


def _ends(network: Network, *, up: bool) -> tuple[Ints, Ints]:
    """Return the edges as (from, to) in the direction of a trace, sorted by where they begin."""
    data = ~network.ordering & ~network.call
    begin, end = network.source[data], network.target[data]
    if up:
        begin, end = end, begin
    order = np.argsort(begin, kind="stable")
    return begin[order], end[order]


def _next(begin: Ints, rows: Ints) -> Ints:
    """Return the places in the edges that begin at rows."""
    first, last = np.searchsorted(begin, rows, "left"), np.searchsorted(begin, rows, "right")
    many = last - first
    before = np.cumsum(many) - many
    return np.asarray(np.arange(int(many.sum())) + np.repeat(first - before, many))


def _spread(network: Network, row: int, depth: int, *, up: bool) -> NodeTrace:
    begin, end = _ends(network, up=up)
    distance = np.full(network.size, -1, np.int64)
    distance[row] = 0
    edge, step = np.array([row], np.int64), 0
    while edge.size and (not depth or step < depth):
        step += 1
        reached = np.unique(end[_next(begin, edge)])
        edge = reached[distance[reached] < 0]
        distance[edge] = step
    beyond = end[_next(begin, edge)] if edge.size else edge
    rows = np.flatnonzero(distance >= 0)
    order = np.lexsort((network.rank[rows], network.kind[rows] != OPERATOR, distance[rows]))
    rows = rows[order]
    return NodeTrace(rows, distance[rows], cut=bool((distance[beyond] < 0).any()))


def _shortest(network: Network, first: int, last: int) -> list[int]:
    """Return the nodes of a shortest path from first to last; [] if there is none."""
    begin, end = _ends(network, up=False)
    came = np.full(network.size, -1, np.int64)
    came[first] = first
    edge = np.array([first], np.int64)
    while edge.size and came[last] < 0:
        places = _next(begin, edge)
        fresh = places[came[end[places]] < 0]
        reached, which = np.unique(end[fresh], return_index=True)
        came[reached] = begin[fresh[which]]
        edge = reached
    if came[last] < 0:
        return []
    found = [last]
    while found[-1] != first:
        found.append(int(came[found[-1]]))
    return found[::-1]
