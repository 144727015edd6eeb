"""Which operations of several pipelines are the same one, and in what they differ.

Pipelines are matched from the last operation down to the data sets: along stretches without branches by the heaviest common
subsequence of operations of one type, at branches child by child in their order. The first pipeline is the measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from parsers import DatasetGraph, DatasetNode

from layouts.training.dataset.parameters import Fact, facts

MOST_PAIRS = 10_000
"""Where there are more pairs to weigh, those at equal places are matched: 100 branches against 100, or operations of a map."""
T = TypeVar("T")


class _Missing:
    """There is no such parameter."""

    def __repr__(self) -> str:
        return "missing"


MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class Numbered:
    """A pipeline as a list: each node, and the numbers of its children, in the order of `DatasetGraph.walk`."""

    nodes: tuple[DatasetNode, ...]
    children: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]

    def stretch(self, number: int) -> list[int]:
        """From a node down to the first that has no child, or several."""
        found = [number]
        while len(self.children[found[-1]]) == 1:
            found.append(self.children[found[-1]][0])
        return found


def numbered(graph: DatasetGraph) -> Numbered:
    """A pipeline as a list."""
    nodes: list[DatasetNode] = []
    parents: list[int] = []
    children: list[list[int]] = []
    for parent, _, node in graph.walk():
        if parent >= 0:
            children[parent].append(len(nodes))
        nodes.append(node)
        parents.append(parent)
        children.append([])
    return Numbered(tuple(nodes), tuple(map(tuple, children)), tuple(parents))


@dataclass(frozen=True, slots=True)
class Difference:
    """A parameter that pipelines do not share: a value for each of them, MISSING where there is none.

    part, owner and key are those of a `Fact`, or part is "type" for the type of the operation itself, which is MISSING where
    a pipeline has no such operation. places: the fact's place in each pipeline.
    """

    part: str
    owner: str
    key: str
    values: tuple[Any, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """An operation of the pipelines compared: its number in each, None where there is none, and what differs there."""

    numbers: tuple[int | None, ...]
    differences: tuple[Difference, ...]


def compare(graphs: Sequence[Numbered]) -> list[Place]:
    """Every operation of any of the pipelines, those of the first in its order and then what only others have."""
    if not graphs:
        return []
    first, *others = graphs
    matches = [aligned(first, other) for other in others]
    back = [{theirs: ours for ours, theirs in match.items()} for match in matches]
    rows: list[tuple[int | None, ...]] = [(n, *(match.get(n) for match in matches)) for n in range(len(first.nodes))]
    for at, (other, known) in enumerate(zip(others, back, strict=True), 1):
        alone: list[int | None] = [None] * len(graphs)
        rows += [(*alone[:at], n, *alone[at + 1 :]) for n in range(len(other.nodes)) if n not in known]
    return [Place(row, differences([None if n is None else graph.nodes[n] for graph, n in zip(graphs, row, strict=True)]))
            for row in rows]  # fmt: skip


# Matching -------------------------------------------------------------------------------------------------------------


def aligned(one: Numbered, other: Numbered) -> dict[int, int]:
    """Number of a node of one -> number of the node of the other that is its counterpart."""
    found: dict[int, int] = {}
    pending = [(0, 0)]
    while pending:
        here, there = (graph.stretch(start) for graph, start in zip((one, other), pending.pop(), strict=True))
        pairs = heaviest(here, there, lambda a, b: likeness(one.nodes[a], other.nodes[b]))
        found.update(pairs)
        ends = here[-1], there[-1]
        if found.get(ends[0]) == ends[1]:
            pending += heaviest(
                one.children[ends[0]], other.children[ends[1]],
                lambda a, b: 1 + likeness(one.nodes[a], other.nodes[b]) + 10 * (one.nodes[a] == other.nodes[b]),
            )  # fmt: skip
    return found


def likeness(one: DatasetNode, other: DatasetNode) -> int:
    """How much speaks for two nodes being the same one; 0: nothing."""
    if one.type != other.type:
        return int(one.kind == other.kind == "create")
    return (
        4
        + (one.parameters == other.parameters)
        + 2 * ([each.name for each in one.operations] == [each.name for each in other.operations])
        + 2 * (one.parameters.get("input_columns") == other.parameters.get("input_columns"))
    )


def heaviest(one: Sequence[T], other: Sequence[T], weigh: Callable[[T, T], int]) -> list[tuple[T, T]]:
    """Pairs in the order of both sequences with the largest sum of weights; pairs that weigh nothing are not made."""
    if len(one) * len(other) > MOST_PAIRS:
        return [pair for pair in zip(one, other, strict=False) if weigh(*pair)]
    weights = [[weigh(a, b) for b in other] for a in one]
    best = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for at in reversed(range(len(one))):
        for to in reversed(range(len(other))):
            taken = weights[at][to] + best[at + 1][to + 1] if weights[at][to] else 0
            best[at][to] = max(taken, best[at + 1][to], best[at][to + 1])
    pairs, at, to = [], 0, 0
    while at < len(one) and to < len(other):
        if weights[at][to] and best[at][to] == weights[at][to] + best[at + 1][to + 1]:
            pairs.append((one[at], other[to]))
            at, to = at + 1, to + 1
        elif best[at][to] == best[at + 1][to]:
            at += 1
        else:
            to += 1
    return pairs


# Differences ----------------------------------------------------------------------------------------------------------


def differences(nodes: Sequence[DatasetNode | None]) -> tuple[Difference, ...]:
    """What these nodes, one of each pipeline, do not share; None stands for a pipeline without such a node."""
    none = (-1,) * len(nodes)
    types = [MISSING if node is None else node.type for node in nodes]
    found = [] if _all_equal(types) else [Difference("type", "", "", tuple(types), none)]
    given = [at for at, node in enumerate(nodes) if node is not None]
    if len(given) < 2:
        return tuple(found)
    columns = _columns([(at, node) for at, node in enumerate(nodes) if node is not None])
    keys = dict.fromkeys(key for column in columns.values() for key in column)
    for key in keys:
        part, slot, owner, name = key
        there = given
        if name and part != "node":
            # Where the whole sampler or operation is missing, that is said once.
            there = [at for at, column in columns.items() if (part, slot, owner, "") in column]
        told = [columns[at].get(key) if at in columns else None for at in range(len(nodes))]
        values = [MISSING if fact is None else fact.value for fact in told]
        if not _all_equal([values[at] for at in there]):
            places = tuple(-1 if fact is None else fact.place for fact in told)
            found.append(Difference(part, owner, name, tuple(values), places))
    return tuple(found)


_Key = tuple[str, tuple[int, int], str, str]


def _columns(nodes: Sequence[tuple[int, DatasetNode]]) -> dict[int, dict[_Key, Fact]]:
    """By pipeline, the facts of a node under keys that facts about the same thing share."""
    (first, measure), *_ = nodes
    names = [each.name for each in measure.operations]
    columns: dict[int, dict[_Key, Fact]] = {}
    for at, node in nodes:
        slots = {place: (first, place) for place in range(len(names))}
        if at != first:
            own = [each.name for each in node.operations]
            matched = heaviest(range(len(names)), range(len(own)), lambda a, b: int(names[a] == own[b]))  # noqa: B023
            slots = {place: (at, place) for place in range(len(own))} | {theirs: (first, ours) for ours, theirs in matched}
        columns[at] = {}
        for fact in facts(node):
            slot = slots[fact.place] if fact.part == "operation" else (0, 0)
            # Samplers of two names are one place with two names, not two samplers.
            owner = fact.owner if fact.part == "operation" else ""
            columns[at][fact.part, slot, owner, fact.key] = fact
    return columns


def _all_equal(values: Sequence[Any]) -> bool:
    """Whether values are equal as they are written: 1, 1.0 and True are three."""
    return all(type(one) is type(other) and (one == other or _both_nan(one, other)) for one, other in pairwise(values))


def _both_nan(one: Any, other: Any) -> bool:
    return isinstance(one, float) and math.isnan(one) and math.isnan(other)
