"""Computes the difference of two graphs: nodes that were added, removed or changed, and edges that were added or removed.

Constants, operators that only pass values on (`simplify.PASSING`), and the edges of either are drawn, but that one graph has
more of them is no difference: compilers number and share them and put them in as they like.

Nodes are matched in this order, each at most once:
1. of one scope and one full name, and of one kind (the first of equal names to the first, and so on);
2. left over in one scope and of one type: the first to the first with the same output and neighbours, then in their order;
3. left over in all of the graph: of one type, output and surroundings, where these occur once on either side.
Scopes that only one graph has around the other's network (`wrappers`) count as part of both.
MindSpore numbers operators through the whole graph, so one more MatMul renames all after it. Where a scope's operators of
one type do not match by name so that most of them changed, they are matched by what they are instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.graphs.blocks import mixed, refined, text_hashes
from parsers.analysis.graphs.network import CONSTANT, OPERATOR, Bools, Ints, Network
from parsers.analysis.graphs.simplify import PASSING
from parsers.analysis.graphs.wrappers import within, wrapper

FIELDS = ("name", "scope", "type", "output_type", "shape", "attributes")
"""The fields of a node that are compared."""
_NUMBER = re.compile(r"(?<=-op)\d+$|(?<=^cst)\d+$")
"""Numbers that MindSpore counts through the whole graph; a different one is no change of name."""
_GENERATED = re.compile(r"(?:inputs|args?|para)\d+")
"""Names that MindSpore gives to inputs of a graph; a parameter that has one in one of the graphs is not renamed."""
LONGEST = 4_000
"""Maximum operators of one type in one scope that are aligned; more are matched only by name."""
Attributes = Sequence[Hashable]


@dataclass(frozen=True, eq=False, slots=True)
class CountedDifference:
    """What is said to differ: rows and places as in `GraphDifference`, of nodes with `is_counted` and edges between such."""

    removed: Ints
    added: Ints
    edges_removed: Ints
    edges_added: Ints


@dataclass(frozen=True, eq=False, slots=True)
class GraphDifference:
    """match: for each node of the first graph the one of the second, or -1; back the other way round.

    removed: rows of the first that are not in the second; added: rows of the second. changed: for rows of the first, which of
    FIELDS differ. edges_removed and edges_added: places of edges in the arrays of the first and of the second network.
    """

    match: Ints
    back: Ints
    removed: Ints
    added: Ints
    changed: dict[int, tuple[str, ...]]
    edges_removed: Ints
    edges_added: Ints
    counted: CountedDifference

    @property
    def same(self) -> bool:
        """True if nothing differs that is counted."""
        one = self.counted
        return not (self.changed or any(map(len, (one.removed, one.added, one.edges_removed, one.edges_added))))


def compare(first: Network, second: Network, attributes: tuple[Attributes, Attributes] | None = None) -> GraphDifference:
    """Compute the difference of two graphs without hidden nodes. attributes: what to compare of each node beside columns."""
    here = wrapper(first.scope_texts, second.scope_texts)
    there = wrapper(second.scope_texts, first.scope_texts) if here is None else None
    one = _Side(first, attributes[0] if attributes else None, here)
    other = _Side(second, attributes[1] if attributes else None, there)
    match = np.full(first.size, -1, np.int64)
    back = np.full(second.size, -1, np.int64)

    def pair(left: Iterable[int], right: Iterable[int]) -> None:
        for here, there in zip(left, right, strict=False):
            match[here], back[there] = there, here

    by_name, by_name_other = one.groups(one.named), other.groups(other.named)
    for name in by_name.keys() & by_name_other.keys():
        rows, others = by_name[name], by_name_other[name]
        if len(rows) + len(others) > 2:
            rows, others = _equal_first(one, rows, other, others)
        pair(rows, others)
    _renumbered(one, other, match, back)
    for key, theirs in ((one.looks, other.looks), (one.kinds, other.kinds)):
        left, right = one.groups(key, match), other.groups(theirs, back)
        for name in sorted(left.keys() & right.keys(), key=str):
            pair(left[name], right[name])
    _by_structure(one, other, match, back)

    shown = np.flatnonzero(first.shown)
    changed = {}
    for row in shown[(match[shown] >= 0) & (first.kind[shown] != CONSTANT)].tolist():
        fields = _changes(one, other, row, int(match[row]))
        if fields:
            changed[row] = fields
    gone, come = shown[match[shown] < 0], np.flatnonzero(second.shown & (back < 0))
    removed, added = _edges(first, second, match)
    counts, counts_other = is_counted(first), is_counted(second)
    counted = CountedDifference(
        gone[counts[gone]],
        come[counts_other[come]],
        removed[counts[first.source[removed]] & counts[first.target[removed]]],
        added[counts_other[second.source[added]] & counts_other[second.target[added]]],
    )
    return GraphDifference(match, back, gone, come, changed, removed, added, counted)


def is_counted(network: Network) -> Bools:
    """Return which nodes are a difference if the other graph has them not: no constants, and no operators that pass on."""
    passing = [code for code, kind in enumerate(network.types) if kind in PASSING]
    passes: Bools = (network.kind == OPERATOR) & np.isin(network.type, passing)
    return np.asarray((network.kind != CONSTANT) & ~passes, np.bool_)


class _Side:
    """One of the graphs, with the keys by which its nodes are matched."""

    def __init__(self, network: Network, attributes: Attributes | None, wrapped: tuple[str, str] | None) -> None:
        self.network = network
        self.attributes = attributes
        self.rows = np.flatnonzero(network.shown).tolist()
        self.scope = network.scope.tolist()
        self.type = network.type.tolist()
        self.output = network.output_type.tolist()
        self.shape = network.shape.tolist()
        self.kind = network.kind.tolist()
        self._scope_ids = within(network.scope_texts, wrapped)
        self._names = within(network.full_names, wrapped)
        self.inputs: list[list[int]] = [[] for _ in range(network.size)]
        for source, target in zip(network.source.tolist(), network.target.tolist(), strict=True):
            self.inputs[target].append(source)

    def named(self, row: int) -> Hashable:
        return self._scope_ids[self.scope[row]], self._names[row], self.kind[row]

    def kinds(self, row: int) -> Hashable:
        return self._scope_ids[self.scope[row]], self.network.types[self.type[row]], self.kind[row]

    def looks(self, row: int) -> Hashable:
        """Scope, type, output, attributes and the types that it takes."""
        taken = tuple(sorted(self.network.types[self.type[source]] for source in self.inputs[row]))
        return (*self.content(row), taken)

    def content(self, row: int) -> tuple[Hashable, ...]:
        network = self.network
        return (
            self._scope_ids[self.scope[row]],
            network.types[self.type[row]],
            self.kind[row],
            network.output_types[self.output[row]],
            network.shapes[self.shape[row]],
            self.attributes[row] if self.attributes is not None else None,
        )

    def groups(self, key: Callable[[int], Hashable], match: Ints | None = None) -> dict[Hashable, list[int]]:
        """Shown rows by key, in their order; only those without a match if that is given."""
        taken = match.tolist() if match is not None else None
        found: dict[Hashable, list[int]] = {}
        for row in self.rows:
            if taken is None or taken[row] < 0:
                found.setdefault(key(row), []).append(row)
        return found


def _equal_first(one: _Side, rows: list[int], other: _Side, others: list[int]) -> tuple[list[int], list[int]]:
    """Pair nodes of one name: equal ones first, then the rest in order."""
    waiting: dict[Hashable, list[int]] = {}
    for row in reversed(others):
        waiting.setdefault(other.looks(row), []).append(row)
    pairs = [(row, waiting[one.looks(row)].pop()) for row in rows if waiting.get(one.looks(row))]
    mine, theirs = {row for row, _ in pairs}, {row for _, row in pairs}
    left, right = [row for row, _ in pairs], [row for _, row in pairs]
    return [*left, *(row for row in rows if row not in mine)], [*right, *(row for row in others if row not in theirs)]


def _renumbered(one: _Side, other: _Side, match: Ints, back: Ints) -> None:
    """Match the operators of a type in a scope again by content, if matching by name would mark most of them as changed."""
    left, right = one.groups(one.kinds), other.groups(other.kinds)
    for name in left.keys() & right.keys():
        rows, others = left[name], right[name]
        known = [(row, int(match[row])) for row in rows if match[row] >= 0]
        wrong = sum(one.content(row) != other.content(there) for row, there in known)
        by_name = wrong + len(rows) + len(others) - 2 * len(known)
        if wrong < 4 or len(rows) > LONGEST or len(others) > LONGEST:
            continue
        inside = set(others)
        if any(there not in inside for _, there in known):
            continue
        alike = SequenceMatcher(None, [one.looks(row) for row in rows], [other.looks(row) for row in others], autojunk=False)
        blocks = alike.get_matching_blocks()
        equal = sum(block.size for block in blocks)
        if 2 * (len(rows) + len(others) - 2 * equal) >= by_name:
            continue
        for row, there in known:
            match[row], back[there] = -1, -1
        for block in blocks:
            for step in range(block.size):
                match[rows[block.a + step]], back[others[block.b + step]] = others[block.b + step], rows[block.a + step]


def _by_structure(one: _Side, other: _Side, match: Ints, back: Ints) -> None:
    left = [row for row in one.rows if match[row] < 0]
    right = [row for row in other.rows if back[row] < 0]
    if not left or not right:
        return
    here, there = _surroundings(one.network), _surroundings(other.network)
    mine, theirs = _once(here, left), _once(there, right)
    for value in sorted(mine.keys() & theirs.keys()):
        match[mine[value]], back[theirs[value]] = theirs[value], mine[value]


def _surroundings(network: Network) -> NDArray[np.uint64]:
    colour = mixed(
        text_hashes(network.types)[network.type],
        text_hashes(network.output_types)[network.output_type],
        text_hashes(network.shapes)[network.shape],
    )
    return refined(colour, network.source, network.target, mixed(network.input.astype(np.uint64)), 2)


def _once(colour: NDArray[np.uint64], rows: list[int]) -> dict[int, int]:
    """Return the rows whose colour is unique among them."""
    found: dict[int, int] = {}
    twice = set()
    for row, value in zip(rows, colour[rows].tolist(), strict=True):
        if value in found:
            twice.add(value)
        found[value] = row
    return {value: row for value, row in found.items() if value not in twice}


def _changes(one: _Side, other: _Side, row: int, there: int) -> tuple[str, ...]:
    mine, theirs = one.content(row), other.content(there)
    last = [_NUMBER.sub("", side.network.full_names[at].rpartition("/")[2]) for side, at in ((one, row), (other, there))]
    differ = {
        "name": last[0] != last[1] and not any(map(_GENERATED.fullmatch, last)),
        "scope": mine[0] != theirs[0],
        "type": mine[1:3] != theirs[1:3],
        "output_type": mine[3] != theirs[3],
        "shape": mine[4] != theirs[4],
        "attributes": mine[5] != theirs[5],
    }
    return tuple(field for field in FIELDS if differ[field])


def _edges(first: Network, second: Network, match: Ints) -> tuple[Ints, Ints]:
    """Edges of each that the other has not: between matched nodes, of one output, input and kind, as often as there."""
    mine = _edge_keys(first, match)
    theirs = _edge_keys(second, None)
    counts: dict[Hashable, list[int]] = {}
    for place, key in enumerate(theirs):
        counts.setdefault(key, []).append(place)
    removed = []
    for place, key in enumerate(mine):
        left = counts.get(key)
        if left:
            left.pop()
        else:
            removed.append(place)
    added = sorted(place for left in counts.values() for place in left)
    return np.array(removed, np.int64), np.array(added, np.int64)


def _edge_keys(network: Network, match: Ints | None) -> list[Hashable]:
    source, target = network.source, network.target
    if match is not None:
        # An end without a match is a node of its own: -2 and below is none of the other graph.
        source, target = (np.where(match[end] >= 0, match[end], -2 - end) for end in (source, target))
    columns = (source, target, network.output, network.input, network.control, network.call)
    return list(zip(*(column.tolist() for column in columns), strict=True))
