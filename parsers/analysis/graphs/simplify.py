"""A graph without what only makes it work: gradients, the optimizer, and operators that pass values on.

A value goes through an operator that passes it on: through Load, Depend and TupleGetItem from the first input, through
MakeTuple from every one. Nothing goes through UpdateState, which says only what comes first. So an edge is drawn from what
makes a value to what takes it, over any number of these in between. The index of a TupleGetItem is not in NODES, so what takes
one element of a tuple that MakeTuple made seems to take any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.graphs.network import OPERATOR, Bools, Ints, Network

PASSING: dict[str, int] = {"Load": 1, "Depend": 1, "TupleGetItem": 1, "MakeTuple": -1, "UpdateState": 0}
"""Operators that are by-passed, and how many of their inputs go through: -1 for all."""
MOST = 512
"""An operator that would pass on more values than this stays where it is."""


@dataclass(frozen=True, eq=False, slots=True)
class Simplified:
    """What is left, and how many nodes each rule hid: "gradient", "optimizer", types of PASSING, "unused".

    Unused are parameters and constants that no operator is left to take.
    """

    network: Network
    hidden: dict[str, int]


def simplified(network: Network) -> Simplified:
    """The graph with fewer nodes shown and edges over what is by-passed. O(nodes and edges) but for what passes on many."""
    operator = (network.kind == OPERATOR) & network.shown
    gradient = operator & _of_scope(network, _is_gradient)
    optimizer = operator & ~gradient & (_of_scope(network, _is_optimizer) | _called_optimizer(network))
    left = operator & ~gradient & ~optimizer
    codes = {kind: network.types.index(kind) for kind in PASSING if kind in network.types}
    passing = left & np.isin(network.type, list(codes.values()))
    source, target, output, place, edge, stuck = _bypassed(network, passing, gradient | optimizer)
    passing &= ~stuck
    shown = network.shown & ~gradient & ~optimizer & ~passing
    unused = shown & (network.kind != OPERATOR)
    taken = np.zeros(network.size, np.bool_)
    taken[source[shown[target] & (network.kind[target] == OPERATOR)]] = True
    unused &= ~taken
    away = np.where(edge >= 0, edge, 0)
    known = edge >= 0
    kinds = network.edges["kind"].to_numpy()
    less = network.only(
        shown & ~unused,
        source=source,
        target=target,
        output=output,
        input=place,
        edge=edge,
        control=_are(kinds, away, known, "control"),
        call=_are(kinds, away, known, "call"),
    )
    hidden = {"gradient": int(gradient.sum()), "optimizer": int(optimizer.sum())}
    hidden |= {kind: int((passing & (network.type == code)).sum()) for kind, code in codes.items()}
    return Simplified(less, {**hidden, "unused": int(unused.sum())})


def _are(kinds: NDArray[Any], rows: Ints, known: Bools, kind: str) -> Bools:
    if not len(rows):
        return np.zeros(0, np.bool_)
    return np.asarray((kinds[rows] == kind) & known)


def _is_gradient(scope: str) -> bool:
    return scope.startswith("Gradients") or "/Gradients/" in f"{scope}/"


def _is_optimizer(scope: str) -> bool:
    return any(part.lower().startswith("optimizer") for part in scope.split("/"))


def _of_scope(network: Network, chosen: Callable[[str], bool]) -> Bools:
    return np.array([chosen(text) for text in network.scope_texts], np.bool_)[network.scope]


def _called_optimizer(network: Network) -> Bools:
    """MindSpore gives the operators that an optimizer's cell calls this instance name."""
    return np.asarray((network.nodes["instance"] == "opt").to_numpy(np.bool_))


def _bypassed(network: Network, passing: Bools, gone: Bools) -> tuple[Ints, Ints, Ints, Ints, Ints, Bools]:
    """Edges between what is not by-passed: source, target, output, input, and row or -1; and what passes on too many."""
    limit = np.zeros(network.size, np.int64)
    for kind, many in PASSING.items():
        if kind in network.types:
            limit[network.type == network.types.index(kind)] = many
    into = passing[network.target] & ~gone[network.source] & ~network.control
    into &= (limit[network.target] < 0) | (network.input < limit[network.target])
    stuck = np.zeros(network.size, np.bool_)
    reach = _reached(network, passing, np.flatnonzero(into), stuck)

    free = passing & ~stuck
    direct = np.flatnonzero(~free[network.source] & ~free[network.target])
    over = np.flatnonzero(free[network.source] & ~free[network.target] & ~gone[network.target])
    far: list[tuple[int, int, int, int]] = []
    for at in over.tolist():
        taker, slot = int(network.target[at]), int(network.input[at])
        far += [(maker, taker, made, slot) for maker, made in sorted(reach.get(int(network.source[at]), ()))]
    extra = np.array(sorted(set(far)), np.int64).reshape(-1, 4)
    none = np.full(len(extra), -1, np.int64)
    columns = (
        (network.source[direct], extra[:, 0]),
        (network.target[direct], extra[:, 1]),
        (network.output[direct], extra[:, 2]),
        (network.input[direct], extra[:, 3]),
        (network.edge[direct], none),
    )
    source, target, output, place, edge = (np.concatenate(pair) for pair in columns)
    return source, target, output, place, edge, stuck


def _reached(network: Network, passing: Bools, into: Ints, stuck: Bools) -> dict[int, set[tuple[int, int]]]:
    """For each by-passed node the (node, output) whose values come out of it. Marks those that pass on more than MOST."""
    reach: dict[int, set[tuple[int, int]]] = {}
    order = into[np.argsort(network.rank[network.target[into]], kind="stable")]
    steps = [
        (int(network.source[at]), int(network.target[at]), int(network.output[at]), bool(passing[network.source[at]]))
        for at in order
    ]
    while True:
        changed = False
        for source, target, output, through in steps:
            mine = reach.setdefault(target, set())
            more = reach.get(source, set()) if through and not stuck[source] else {(source, output)}
            if more <= mine:
                continue
            mine |= more
            changed = True
            if len(mine) > MOST and not stuck[target]:
                stuck[target] = True
        # One pass is enough without a cycle; with one, until nothing more comes.
        if not changed or not _goes_back(network, into):
            return reach


def _goes_back(network: Network, into: Ints) -> bool:
    return bool((network.rank[network.source[into]] >= network.rank[network.target[into]]).any())
