"""Simplifies a graph: hides gradients, the optimizer, and operators that only pass values on.

A value goes through an operator that passes it on: through Load, Depend and TupleGetItem from the first input, through
MakeTuple from every one. Nothing goes through UpdateState, which says only what comes first. So an edge is drawn from what
makes a value to what takes it, over any number of these in between. What takes one element of a tuple takes what was put in
its place; the index is a constant input of TupleGetItem, and where it is not known any of them seems to be taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from parsers.analysis.graphs.network import CONSTANT, OPERATOR, Bools, Ints, Network
from parsers.deferred import pandas as pd

PASSING: dict[str, int] = {"Load": 1, "Depend": 1, "TupleGetItem": 1, "MakeTuple": -1, "UpdateState": 0}
"""Bypassed operators, and the number of their inputs that pass through: -1 for all."""
MOST = 512
"""An operator that would pass on more values than this is kept."""
DEEPEST = 8
"""Maximum nesting of tuples that is tracked."""
_INDEX = re.compile(r"(?:[A-Za-z]\w*\()?(\d{1,9})\)?")
"""An index into a tuple as constants are written: 1 in .pb and .dot, I64(1) in .ir."""
Value = tuple[int, int, tuple[int, ...]]
"""A node, one of its outputs, and the places in tuples that it was put into, the outermost first."""


@dataclass(frozen=True, eq=False, slots=True)
class Simplified:
    """What is left, and how many nodes each rule hid: "gradient", "optimizer", types of PASSING, "unused".

    Unused are parameters and constants that no operator is left to take. kept: operators of PASSING that are still there, as
    they pass on more than MOST values.
    """

    network: Network
    hidden: dict[str, int]
    kept: int = 0


def simplified(network: Network, value: Callable[[int], str] | None = None) -> Simplified:
    """Hide nodes and connect the ends of bypassed ones. O(nodes and edges), except for operators that pass on many values.

    value: the text of a constant by its row, which tells the index of a TupleGetItem; without it, its name.
    """
    operator = (network.kind == OPERATOR) & network.shown
    gradient = operator & is_gradient(network)
    optimizer = operator & ~gradient & is_optimizer(network)
    left = operator & ~gradient & ~optimizer
    codes = {kind: network.types.index(kind) for kind in PASSING if kind in network.types}
    passing = left & np.isin(network.type, list(codes.values()))
    known_value = value or network.name
    source, target, output, place, edge, stuck = _bypassed(network, passing, gradient | optimizer, known_value)
    kept = int((passing & stuck).sum())
    passing &= ~stuck
    shown = network.shown & ~gradient & ~optimizer & ~passing
    unused = shown & (network.kind != OPERATOR)
    taken = np.zeros(network.size, np.bool_)
    taken[source[shown[target] & (network.kind[target] == OPERATOR)]] = True
    unused &= ~taken
    away = np.where(edge >= 0, edge, 0)
    known = edge >= 0
    kinds = network.edges["kind"].array
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
    return Simplified(less, {**hidden, "unused": int(unused.sum())}, kept)


def is_training(network: Network) -> bool:
    """Return whether a graph computes gradients or has an optimizer."""
    return bool(((network.kind == OPERATOR) & (is_gradient(network) | is_optimizer(network))).any())


def is_gradient(network: Network) -> Bools:
    """Return which nodes are in a scope of gradients."""
    return network.remembered("gradient", lambda: _of_scope(network, _is_gradient))


def is_optimizer(network: Network) -> Bools:
    """Return which nodes are in a scope of an optimizer, or were called by one."""
    return network.remembered("optimizer", lambda: _of_scope(network, _is_optimizer) | _called_optimizer(network))


def _are(kinds: pd.Categorical, rows: Ints, known: Bools, kind: str) -> Bools:
    if not len(rows):
        return np.zeros(0, np.bool_)
    return np.asarray(kinds == kind)[rows] & known


def _is_gradient(scope: str) -> bool:
    return scope.startswith("Gradients") or "/Gradients/" in f"{scope}/"


def _is_optimizer(scope: str) -> bool:
    small = scope.lower()
    return "optimizer" in small and any(part.startswith("optimizer") for part in small.split("/"))


def _of_scope(network: Network, chosen: Callable[[str], bool]) -> Bools:
    return np.array([chosen(text) for text in network.scope_texts], np.bool_)[network.scope]


def _called_optimizer(network: Network) -> Bools:
    """MindSpore gives the operators that an optimizer's cell calls this instance name."""
    return np.asarray((network.nodes["instance"] == "opt").to_numpy(np.bool_))


def _slots(network: Network) -> Ints:
    """Which input of its operator each edge is; .dot has the operator's primitive as the first one, which is not counted."""
    primitive = network.kind == CONSTANT
    primitive &= network.type == (network.types.index("Primitive") if "Primitive" in network.types else -1)
    shifted = np.zeros(network.size, np.int64)
    shifted[network.target[primitive[network.source] & (network.input == 0)]] = 1
    return np.asarray(network.input - shifted[network.target])


def _indices(network: Network, slots: Ints, value: Callable[[int], str]) -> dict[int, int]:
    """Return the index that each TupleGetItem takes, if known."""
    code = network.types.index("TupleGetItem") if "TupleGetItem" in network.types else -1
    second = (slots == 1) & (network.type[network.target] == code) & (network.kind[network.source] == CONSTANT)
    texts: dict[int, str] = {}
    found = {}
    for at in np.flatnonzero(second).tolist():
        constant = int(network.source[at])
        if constant not in texts:
            texts[constant] = value(constant)
        index = _INDEX.fullmatch(texts[constant].strip())
        if index:
            found[int(network.target[at])] = int(index[1])
    return found


def _bypassed(
    network: Network, passing: Bools, gone: Bools, value: Callable[[int], str]
) -> tuple[Ints, Ints, Ints, Ints, Ints, Bools]:
    """Return edges between kept nodes: source, target, output, input, row or -1; and operators with too many values."""
    limit = np.zeros(network.size, np.int64)
    for kind, many in PASSING.items():
        if kind in network.types:
            limit[network.type == network.types.index(kind)] = many
    into = passing[network.target] & ~gone[network.source] & ~network.control
    slots = _slots(network)
    into &= (slots >= 0) & ((limit[network.target] < 0) | (slots < limit[network.target]))
    stuck = np.zeros(network.size, np.bool_)
    reach = _reached(network, passing, np.flatnonzero(into), stuck, slots, _indices(network, slots, value))

    free = passing & ~stuck
    direct = np.flatnonzero(~free[network.source] & ~free[network.target])
    over = np.flatnonzero(free[network.source] & ~free[network.target] & ~gone[network.target])
    far: list[tuple[int, int, int, int]] = []
    for at in over.tolist():
        taker, slot = int(network.target[at]), int(network.input[at])
        far += [(maker, taker, made, slot) for maker, made, _ in reach.get(int(network.source[at]), ())]
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


def _reached(
    network: Network, passing: Bools, into: Ints, stuck: Bools, slots: Ints, indices: dict[int, int]
) -> dict[int, set[Value]]:
    """Return for each bypassed node its output values. Marks those that pass on more than MOST."""
    reach: dict[int, set[Value]] = {}
    order = into[np.argsort(network.rank[network.target[into]], kind="stable")]
    types, codes = network.types, network.type.tolist()
    columns = (network.source, network.target, network.output, slots, passing[network.source])
    steps = list(zip(*(column[order].tolist() for column in columns), strict=True))
    while True:
        changed = False
        for source, target, output, slot, through in steps:
            if stuck[target]:
                continue
            mine = reach.setdefault(target, set())
            taken = reach.get(source, set()) if through and not stuck[source] else {(source, output, ())}
            more = _passed(taken, types[codes[target]], slot, indices.get(target))
            if more <= mine:
                continue
            mine |= more
            changed = True
            stuck[target] = len(mine) > MOST
        # One pass is enough without a cycle; with one, until nothing more comes.
        if not changed or not _goes_back(network, into):
            return reach


def _passed(taken: Iterable[Value], kind: str, slot: int, index: int | None) -> set[Value]:
    """What comes out of an operator of what goes into one of its inputs."""
    if kind == "MakeTuple":
        return {(maker, output, (slot, *places)[:DEEPEST]) for maker, output, places in taken}
    if kind != "TupleGetItem":
        return set(taken)
    found: set[Value] = set()
    for maker, output, places in taken:
        if places and index in (None, places[0]):
            found.add((maker, output, places[1:]))
        elif not places:
            found.add((maker, output if index is None else index, ()))
    return found


def _goes_back(network: Network, into: Ints) -> bool:
    return bool((network.rank[network.source[into]] >= network.rank[network.target[into]]).any())
