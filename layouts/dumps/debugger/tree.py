"""The operators of a dump by their scopes: what can be looked at, and what a watchpoint is about.

Names have numbers in the order of the tree, so a scope is a range of them, and a choice of operators is a list of ranges. The
numbers stay while the rank has the same operators; `digest` tells.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers.analysis.dumps.watchpoints.conditions import ACTIVATION, GRADIENT, WEIGHT
from parsers.analysis.dumps.watchpoints.targets import rows_of
from parsers.caches import Cache

from layouts.dumps.open_dump import DumpView
from layouts.kit.patterns import PatternMatcher
from layouts.kit.state import BadInput, flag, number, text, texts

KINDS = ("all", WEIGHT, GRADIENT, ACTIVATION)
PARAMETERS = "\0parameters"
"""The scope of parameters, which have none of their own; no scope of a graph begins with this character."""
MOST_LINES = 500
MOST_OPEN = 5_000
LONGEST = 20_000
LONGEST_SEARCH = 1_000
LONGEST_RANGES = 2_000_000
_MOST_KEPT = 8

Bools = NDArray[np.bool_]


@dataclass(slots=True)
class TreeScope:
    """A scope: its path, last part and depth, the names in it from first to end, and the scopes directly in it."""

    path: str
    label: str
    depth: int
    first: int = 0
    end: int = 0
    scopes: list[TreeScope] = field(default_factory=list)
    names: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tree:
    """The names of a rank. types are those of their operators, kinds name -> mask over the names."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    paths: tuple[str, ...]
    root: TreeScope
    kinds: Mapping[str, Bools]
    digest: str
    numbers: Mapping[str, int]


def tree_of(dump: DumpView, rank: int) -> Tree:
    """Return the tree of the operators and parameters of a rank, in the order they ran first."""
    tensors = dump.tensors
    own = np.flatnonzero((tensors["rank"].to_numpy() == rank) & (tensors["io"].array != "constant"))
    names = tensors["name"].array
    codes, first = np.unique(names.codes[own], return_index=True)
    rows = own[first]
    order = tensors["order"].to_numpy()[rows]
    rows = rows[np.lexsort((rows, np.where(order < 0, np.iinfo(np.int64).max, order)))]
    del codes
    scopes, types, io = (tensors[name].array for name in ("scope", "type", "io"))
    root = TreeScope("", "", -1)
    by_path = {"": root}
    placed: list[tuple[str, str]] = []
    for row in rows.tolist():
        name, scope = str(names[row]), str(scopes[row])
        if not scope and str(io[row]) == "parameter":
            scope = "/".join([PARAMETERS, *name.split(".")[:-1]])
        _open(by_path, scope).names.append(len(placed))
        placed.append((name, str(types[row])))
    ordered: list[int] = []
    paths: list[str] = []
    _number(root, ordered, paths)
    found = tuple(placed[place][0] for place in ordered)
    numbers = {name: place for place, name in enumerate(found)}
    kinds = {kind: _mask(dump, rows_of(tensors, kind), numbers) for kind in KINDS[1:]}
    digest = f"{zlib.crc32(chr(10).join(found).encode('utf-8', 'surrogatepass')):08x}.{len(found)}"
    return Tree(found, tuple(placed[place][1] for place in ordered), tuple(paths), root, kinds, digest, numbers)


def _open(by_path: dict[str, TreeScope], path: str) -> TreeScope:
    if path not in by_path:
        above, _, label = path.rpartition("/")
        parent = _open(by_path, above)
        by_path[path] = TreeScope(path, label, parent.depth + 1)
        parent.scopes.append(by_path[path])
    return by_path[path]


def _number(scope: TreeScope, ordered: list[int], paths: list[str]) -> None:
    """Number the names in a scope, those in its scopes first; deep scopes are no problem, as no recursion is used."""
    stack: list[tuple[TreeScope, bool]] = [(scope, False)]
    while stack:
        one, left = stack.pop()
        if left:
            own = range(len(ordered), len(ordered) + len(one.names))
            ordered += one.names
            paths += [one.path] * len(one.names)
            one.names = list(own)
            one.end = len(ordered)
        else:
            one.first = len(ordered)
            stack.append((one, True))
            stack += [(below, False) for below in reversed(one.scopes)]


def _mask(dump: DumpView, rows: Bools, numbers: Mapping[str, int]) -> Bools:
    names = dump.tensors["name"].array
    found = np.zeros(len(numbers), np.bool_)
    for code in np.unique(names.codes[rows]).tolist():
        place = numbers.get(str(names.categories[code]))
        if place is not None:
            found[place] = True
    return found


class Trees:
    """The trees of dumps, a few of which are kept."""

    def __init__(self) -> None:
        self._kept: Cache[tuple[str, str, int], Tree] = Cache(_MOST_KEPT)

    def of(self, dump: DumpView, run: str, mark: str, rank: int) -> Tree:
        """Return the tree of a rank."""
        return self._kept.made((run, mark, rank), lambda: tree_of(dump, rank))


# What is shown --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TreeFilter:
    """Which part of a tree is shown. opened are paths; reveal is a name whose scopes are open, too."""

    kind: str
    search: str
    regex: bool
    opened: frozenset[str]
    reveal: str
    first: int
    count: int


def read_look(ask: Any) -> TreeFilter:
    """Parse a request for lines of the tree. BadInput if it is malformed."""
    opened = texts(ask, "tree")
    if len(opened) > MOST_OPEN or max(map(len, opened), default=0) > LONGEST:
        raise BadInput(f"tree: expected at most {MOST_OPEN:,} scopes of {LONGEST:,} characters, found {len(opened):,}")
    return TreeFilter(
        text(ask, "kind", KINDS[0], choices=KINDS), text(ask, "q", limit=LONGEST_SEARCH).strip(), flag(ask, "regex"),
        frozenset(path.replace("parameters:", PARAMETERS, 1) if path.startswith("parameters:") else path for path in opened),
        text(ask, "node", limit=LONGEST), int(number(ask, "first", 0.0, 0.0, 2.0**31)),
        min(int(number(ask, "count", 0.0, 0.0, 2.0**31)), MOST_LINES),
    )  # fmt: skip


def shown(tree: Tree, look: TreeFilter, patterns: PatternMatcher) -> Bools:
    """Return which names a search and a kind leave. Raises ValueError, whose text is meant for the user, for a bad pattern."""
    mask = np.ones(len(tree.names), np.bool_) if look.kind == KINDS[0] else tree.kinds[look.kind].copy()
    if not look.search:
        return mask
    if look.regex:
        known = set(patterns.matching(f"(?i){look.search}", [*tree.names, *sorted(set(tree.types))]))
        found = [name in known or kind in known for name, kind in zip(tree.names, tree.types, strict=True)]
    else:
        wanted = look.search.lower()
        found = [wanted in name.lower() or wanted == kind.lower() for name, kind in zip(tree.names, tree.types, strict=True)]
    return mask & np.array(found, np.bool_)


def lines(tree: Tree, look: TreeFilter, mask: Bools, hits: Mapping[str, int]) -> dict[str, Any]:
    """Return the lines from look.first on and their number: [kind, path or name, label, depth, first, end, names, open, hits].

    A search lists names, without scopes.
    """
    many = np.array([hits.get(name, 0) for name in tree.names], np.int64) if hits else np.zeros(len(tree.names), np.int64)
    within = [np.append(0, np.cumsum(column)) for column in (mask, many)]
    listed: list[list[Any]] = []

    def name_line(place: int, depth: int) -> list[Any]:
        name = tree.names[place]
        label = name if look.search else _label(name, tree.paths[place])
        return ["name", name, label, depth, place, place + 1, 1, False, int(many[place]), tree.types[place]]

    if look.search:
        listed = [name_line(place, 0) for place in np.flatnonzero(mask).tolist()]
        return _part(tree, look, listed, int(mask.sum()))
    opened = look.opened | _above(tree, look.reveal)
    stack: list[TreeScope | tuple[int, int]] = _inside(tree.root)
    while stack:
        one = stack.pop()
        if isinstance(one, tuple):
            if mask[one[0]]:
                listed.append(name_line(*one))
            continue
        count, bad = (int(column[one.end] - column[one.first]) for column in within)
        if not count:
            continue
        is_open = one.path in opened
        path, label = one.path.replace(PARAMETERS, "parameters:", 1), one.label.replace(PARAMETERS, "")
        listed.append(["scope", path, label, one.depth, one.first, one.end, count, is_open, bad, ""])
        if is_open:
            stack += _inside(one)
    return _part(tree, look, listed, int(mask.sum()))


def _inside(scope: TreeScope) -> list[TreeScope | tuple[int, int]]:
    """Return what is directly in a scope, the last first: scopes, and names as (number, depth)."""
    return [*((place, scope.depth + 1) for place in reversed(scope.names)), *reversed(scope.scopes)]


def _part(tree: Tree, look: TreeFilter, listed: list[list[Any]], names: int) -> dict[str, Any]:
    at = next((place for place, line in enumerate(listed) if line[0] == "name" and line[1] == look.reveal), -1)
    part = listed[look.first : look.first + look.count]
    return {
        "total": len(listed), "first": look.first, "rows": part, "names": names, "all": len(tree.names),
        "digest": tree.digest, "at": at,
    }  # fmt: skip


def _label(name: str, path: str) -> str:
    """Return the end of a name, without the scopes it is in."""
    if path.startswith(PARAMETERS):
        return name.rpartition(".")[2]
    return name.rpartition("/")[2]


def _above(tree: Tree, name: str) -> set[str]:
    place = tree.numbers.get(name)
    if place is None:
        return set()
    parts = tree.paths[place].split("/")
    return {"/".join(parts[:many]) for many in range(1, len(parts) + 1)}


# Choices of names -----------------------------------------------------------------------------------------------------


def ranges(places: Sequence[int]) -> list[list[int]]:
    """Return ascending numbers as [first, end] of ranges."""
    found: list[list[int]] = []
    for place in places:
        if found and found[-1][1] == place:
            found[-1][1] = place + 1
        else:
            found.append([place, place + 1])
    return found


def ranges_of(tree: Tree, names: Sequence[str]) -> list[list[int]]:
    """Return the ranges of these names; those that the rank does not have are left out."""
    return ranges(sorted(tree.numbers[name] for name in set(names) if name in tree.numbers))


def names_in(tree: Tree, ask: Any) -> list[str]:
    """Return the names in the ranges of a request, "0-5,7-8"; BadInput if it is malformed."""
    told = text(ask, "ranges", limit=LONGEST_RANGES)
    found: list[str] = []
    for one in filter(None, told.split(",")):
        first, dash, end = one.partition("-")
        if not (dash and first.isascii() and first.isdigit() and end.isascii() and end.isdigit() and len(one) < 30):
            raise BadInput(f"ranges: expected numbers such as 0-5,7-8, found {one[:80]!r}")
        found += tree.names[int(first) : int(end)]
    return found

