"""Finding nodes and scopes by name, type, shape and dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from parsers.analysis.graphs.network import KINDS, Bools, Ints
from parsers.analysis.graphs.visible import GraphView

MOST = 1_000
"""Maximum nodes listed."""
Matching = Callable[[str, Sequence[str]], Sequence[str]]
"""Returns which names match a pattern. It must limit its own time: some patterns take forever on some names."""


@dataclass(frozen=True, slots=True)
class FoundNodes:
    """rows: the best of the nodes, at most MOST; total: how many there are. scopes: numbers of scopes named so, at most MOST.

    The best is what has the text as the last part of its name, then what has it in that part, then in scopes; in topological
    order among those.
    """

    rows: tuple[int, ...]
    total: int
    scopes: tuple[int, ...]


def search(
    view: GraphView,
    text: str = "",
    *,
    matching: Matching | None = None,
    type: str = "",  # noqa: A002  the user's word
    shape: str = "",
    dtype: str = "",
    kind: str = "",
) -> FoundNodes:
    """Find nodes that satisfy all conditions: text is part of the name, ignoring case.

    matching: text is a pattern for it. type: the operator's type, or ~ and a text in it, ignoring case. shape: a whole shape
    such as 8x128, or with ? or * for any dimension or any number of them. dtype: a text in the output's type. kind: one of
    KINDS. Nodes that are hidden are not found. Whatever matching raises goes through.
    """
    network = view.network
    chosen = network.shown.copy()
    chosen &= (_having(network.types, type[1:]) if type.startswith("~") else _being(network.types, type))[network.type]
    chosen &= _having(network.output_types, dtype)[network.output_type]
    chosen &= _shaped(network.shapes, shape)[network.shape]
    if kind:
        chosen &= network.kind == (KINDS.index(kind) if kind in KINDS else -1)
    candidates = np.flatnonzero(chosen)
    worth, scopes = _named(view, candidates.tolist(), text, matching)
    rows = candidates[worth < _NOTHING]
    order = np.lexsort((rows, network.rank[rows], worth[worth < _NOTHING]))
    only_text = not (type or shape or dtype or kind)
    return FoundNodes(tuple(rows[order][:MOST].tolist()), len(rows), tuple(scopes[:MOST]) if text and only_text else ())


_NOTHING = 9


def _named(view: GraphView, rows: list[int], text: str, matching: Matching | None) -> tuple[Ints, list[int]]:
    """Rank each row's name, 0 the best and _NOTHING for no match; also return the matching scopes."""
    if not text:
        return np.zeros(len(rows), np.int64), []
    names, paths = view.network.full_names, view.scopes.paths
    if matching is not None:
        found = set(matching(text, [*(names if len(rows) == len(names) else (names[row] for row in rows)), *paths[1:]]))
        named = [1 if names[row] in found else _NOTHING for row in rows]
        return np.array(named, np.int64), [scope for scope in range(1, len(paths)) if paths[scope] in found]
    wanted = text.lower()
    lowered = view.network.lowered
    places = [(place, row) for place, row in enumerate(rows) if wanted in lowered[row]]
    worth = np.full(len(rows), _NOTHING, np.int64)
    for place, row in places:
        last = lowered[row].rpartition("/")[2]
        worth[place] = 0 if last == wanted or lowered[row] == wanted else 1 if wanted in last else 2
    return worth, [scope for scope in range(1, len(paths)) if wanted in paths[scope].rpartition("/")[2].lower()]


def _having(texts: Sequence[str], wanted: str) -> Bools:
    wanted = wanted.lower()
    return np.array([wanted in text.lower() for text in texts], np.bool_)


def _being(texts: Sequence[str], wanted: str) -> Bools:
    wanted = wanted.lower()
    return np.array([not wanted or wanted == text.lower() for text in texts], np.bool_)


def _shaped(texts: Sequence[str], wanted: str) -> Bools:
    parts = wanted.replace("×", "x").replace(",", "x").replace(" ", "").strip("()").lower()
    if not parts:
        return np.ones(len(texts), np.bool_)
    return np.array([_fits(parts.split("x"), text.split("x")) for text in texts], np.bool_)


def _fits(wanted: list[str], given: list[str]) -> bool:
    """Return whether a shape matches; * stands for any number of dimensions and may occur once."""
    if "*" not in wanted:
        return len(wanted) == len(given) and all(one in ("?", other) for one, other in zip(wanted, given, strict=True))
    at = wanted.index("*")
    head, tail = wanted[:at], wanted[at + 1 :]
    if len(head) + len(tail) > len(given):
        return False
    return _fits(head, given[:at]) and _fits([one for one in tail if one != "*"], given[len(given) - len(tail) :])
