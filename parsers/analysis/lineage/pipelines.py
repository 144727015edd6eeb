"""Compares data set pipelines of several runs: which operations correspond, and in which parameters they differ.

One tree is built that contains every pipeline. Each pipeline is aligned to it from the last operation down to the data sets:
stretches without branches by the heaviest common subsequence of operations of one type (Needleman and Wunsch 1970 without a
gap cost), branches child by child in their order. Operations that only this pipeline has are inserted between their neighbours.
Pipelines whose operations have the same names are aligned the same way, whatever their parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from parsers.lineage.datasets import DEEPEST, DatasetGraph, DatasetNode, DatasetOperation

MOST_PAIRS = 10_000
"""Maximum pairs to weigh (such as 100 branches against 100, or operations of a map); beyond, equal positions are matched."""
T = TypeVar("T")


# Operation parameters -------------------------------------------------------------------------------------------------


class PipelineParameter(NamedTuple):
    """One parameter. part: "node", "sampler" or "operation"; owner: the sampler's or operation's name, place: which of them.

    A fact without a key states that there is such a sampler or operation; its value is the name.
    """

    part: str
    place: int
    owner: str
    key: str
    value: Any


def facts(node: DatasetNode) -> Iterator[PipelineParameter]:
    """Return all parameters of a node, then of its sampler, then of its operations in order."""
    for key, value in node.parameters.items():
        yield PipelineParameter("node", 0, "", key, value)
    if node.sampler is not None:
        yield from _of("sampler", 0, node.sampler)
    for place, operation in enumerate(node.operations):
        yield from _of("operation", place, operation)


def _of(part: str, place: int, one: DatasetOperation) -> Iterator[PipelineParameter]:
    yield PipelineParameter(part, place, one.name, "", one.name)
    for key, value in parameters_of(one).items():
        yield PipelineParameter(part, place, one.name, key, value)


def parameters_of(one: DatasetOperation) -> dict[str, Any]:
    """Return the parameters of an operation or sampler, with size and weights if it has any."""
    more = {name: list(values) for name, values in (("size", one.size), ("weights", one.weights)) if values}
    return {**one.parameters, **more}


# Pipelines as lists ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NumberedPipeline:
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


def numbered(graph: DatasetGraph) -> NumberedPipeline:
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
    return NumberedPipeline(tuple(nodes), tuple(map(tuple, children)), tuple(parents))


# Alignment -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _MergedOperation:
    """An operation of the tree: its node in the first pipeline that has it, its number in each one, and what feeds it."""

    node: DatasetNode
    numbers: dict[int, int] = field(default_factory=dict)
    children: list[_MergedOperation] = field(default_factory=list)

    def stretch(self) -> list[_MergedOperation]:
        """From a slot down to the first that has no child, or several."""
        found = [self]
        while len(found[-1].children) == 1:
            found.append(found[-1].children[0])
        return found


def align(graphs: Sequence[NumberedPipeline]) -> list[tuple[int | None, ...]]:
    """Return every operation of any pipeline as its number in each of them, None where there is none.

    An operation comes before those that feed it, whichever pipeline has them.
    """
    alike: dict[Any, list[int]] = {}
    for at, graph in enumerate(graphs):
        alike.setdefault(_shape(graph), []).append(at)
    roots: list[_MergedOperation] = []
    for at, *_ in alike.values():
        roots = _merged(roots, [0], graphs[at], at)
    others = {first: sharing for first, *sharing in alike.values()}
    rows, pending = [], roots[::-1]
    while pending:
        slot = pending.pop()
        pending += slot.children[::-1]
        row: list[int | None] = [None] * len(graphs)
        for first, number in slot.numbers.items():
            for at in (first, *others[first]):
                row[at] = number
        rows.append(tuple(row))
    return rows


def _shape(graph: NumberedPipeline) -> Any:
    """Return a key that is equal for pipelines that are aligned the same way."""
    return graph.parents, tuple(
        (node.type, node.kind, tuple(one.name for one in node.operations), str(node.parameters.get("input_columns")))
        for node in graph.nodes
    )  # fmt: skip


def _merged(
    slots: Sequence[_MergedOperation], numbers: Sequence[int], graph: NumberedPipeline, at: int, deep: int = 0
) -> list[_MergedOperation]:
    """Merge the branches of a pipeline into branches of the tree."""

    def weigh(a: int, b: int) -> int:
        ours, theirs = slots[a].node, graph.nodes[numbers[b]]
        return 1 + likeness(ours, theirs) + 10 * (ours == theirs)

    found: list[_MergedOperation] = []
    for a, b in _side_by_side(heaviest(range(len(slots)), range(len(numbers)), weigh), len(slots), len(numbers)):
        if a is None:
            found.append(_grown(graph, numbers[b or 0], at))
        else:
            found += [slots[a]] if b is None else _laid(slots[a], graph, numbers[b], at, deep)
    return found


def _side_by_side(pairs: Sequence[tuple[int, int]], ours: int, theirs: int) -> Iterator[tuple[int | None, int | None]]:
    """Merge the positions of two sequences of these lengths: pairs, each preceded by what only one of the two has."""
    here = there = 0
    for a, b in [*pairs, (ours, theirs)]:
        yield from ((place, None) for place in range(here, a))
        yield from ((None, place) for place in range(there, b))
        if a < ours:
            yield a, b
        here, there = a + 1, b + 1


def _grown(graph: NumberedPipeline, number: int, at: int) -> _MergedOperation:
    """A branch of a pipeline as a branch of the tree."""
    top = _MergedOperation(graph.nodes[number], {at: number})
    pending = [top]
    while pending:
        slot = pending.pop()
        slot.children = [_MergedOperation(graph.nodes[child], {at: child}) for child in graph.children[slot.numbers[at]]]
        pending += slot.children
    return top


def _laid(top: _MergedOperation, graph: NumberedPipeline, number: int, at: int, deep: int) -> list[_MergedOperation]:
    """Merge a branch of a pipeline into one of the tree; keep both side by side if they have nothing in common."""
    ours, theirs = top.stretch(), graph.stretch(number)
    pairs = heaviest(range(len(ours)), range(len(theirs)), lambda a, b: likeness(ours[a].node, graph.nodes[theirs[b]]))
    if not pairs:
        return _beside(ours, theirs, graph, at, deep)
    here, there = pairs[-1][0] + 1, pairs[-1][1] + 1
    row: list[_MergedOperation] = []
    for a, b in _side_by_side(pairs[:-1], *pairs[-1]):
        row.append(_MergedOperation(graph.nodes[theirs[b or 0]]) if a is None else ours[a])
        if b is not None:
            row[-1].numbers[at] = theirs[b]
    row.append(ours[here - 1])
    row[-1].numbers[at] = theirs[there - 1]
    below = ours[here : here + 1] or ours[-1].children
    feeding = theirs[there : there + 1] or graph.children[theirs[-1]]
    row[-1].children = _merged(below, feeding, graph, at, deep + 1) if feeding else below
    for slot, next_slot in pairwise(row):
        slot.children = [next_slot]
    return row[:1]


def _beside(
    ours: list[_MergedOperation], theirs: list[int], graph: NumberedPipeline, at: int, deep: int
) -> list[_MergedOperation]:
    """Merge two stretches with nothing in common: if one ends in branches, the other may be one of them."""
    if deep < DEEPEST and len(graph.children[theirs[-1]]) > 1:
        row = [_MergedOperation(graph.nodes[one], {at: one}) for one in theirs]
        row[-1].children = _merged(ours[:1], graph.children[theirs[-1]], graph, at, deep + 1)
        for slot, next_slot in pairwise(row):
            slot.children = [next_slot]
        return row[:1]
    if deep < DEEPEST and len(ours[-1].children) > 1:
        ours[-1].children = _merged(ours[-1].children, theirs[:1], graph, at, deep + 1)
        return ours[:1]
    return [ours[0], _grown(graph, theirs[0], at)]


def aligned(one: NumberedPipeline, other: NumberedPipeline) -> dict[int, int]:
    """Return number of a node -> number of its counterpart in the other pipeline."""
    return {ours: theirs for ours, theirs in align([one, other]) if ours is not None and theirs is not None}


def likeness(one: DatasetNode, other: DatasetNode) -> int:
    """Return the similarity of two nodes; 0 if they cannot correspond."""
    if one.type != other.type:
        return int(one.kind == other.kind == "create")
    return (
        4
        + (one.parameters == other.parameters)
        + 2 * ([each.name for each in one.operations] == [each.name for each in other.operations])
        + 2 * (one.parameters.get("input_columns") == other.parameters.get("input_columns"))
    )


def heaviest(one: Sequence[T], other: Sequence[T], weigh: Callable[[T, T], int]) -> list[tuple[T, T]]:
    """Return pairs, in the order of both sequences, with the largest sum of weights; pairs of weight 0 are omitted."""
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


class _Missing:
    """Marks a missing parameter."""

    def __repr__(self) -> str:
        return "missing"


MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class ParameterDifference:
    """A parameter that pipelines do not share: a value for each of them, MISSING where there is none.

    part, owner and key are those of a `PipelineParameter`, or part is "type" for the type of the operation itself, which is
    MISSING where a pipeline has no such operation. places: the fact's place in each pipeline.
    """

    part: str
    owner: str
    key: str
    values: tuple[Any, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ComparedOperation:
    """An operation of the compared pipelines: its number in each, None for none, and its differences."""

    numbers: tuple[int | None, ...]
    differences: tuple[ParameterDifference, ...]


def compare(graphs: Sequence[NumberedPipeline]) -> list[ComparedOperation]:
    """Return every operation of any pipeline, in the order of `align`, with its differences."""
    compared = []
    for row in align(graphs):
        nodes = [None if n is None else graph.nodes[n] for graph, n in zip(graphs, row, strict=True)]
        compared.append(ComparedOperation(row, differences(nodes)))
    return compared


def differences(nodes: Sequence[DatasetNode | None]) -> tuple[ParameterDifference, ...]:
    """Return the differences of nodes, one per pipeline; None for a pipeline without such a node."""
    none = (-1,) * len(nodes)
    types = [MISSING if node is None else node.type for node in nodes]
    found = [] if _all_equal(types) else [ParameterDifference("type", "", "", tuple(types), none)]
    given = [at for at, node in enumerate(nodes) if node is not None]
    if len(given) < 2:
        return tuple(found)
    columns = _columns([(at, node) for at, node in enumerate(nodes) if node is not None])
    keys = dict.fromkeys(key for column in columns.values() for key in column)
    for key in keys:
        part, slot, owner, name = key
        there = given
        if name and part != "node":
            # A missing sampler or operation is reported once, not per parameter.
            there = [at for at, column in columns.items() if (part, slot, owner, "") in column]
        told = [columns[at].get(key) if at in columns else None for at in range(len(nodes))]
        values = [MISSING if fact is None else fact.value for fact in told]
        if not _all_equal([values[at] for at in there]):
            places = tuple(-1 if fact is None else fact.place for fact in told)
            found.append(ParameterDifference(part, owner, name, tuple(values), places))
    return tuple(found)


Key = tuple[str, int, str, str]
"""Part, slot among the operations of a map, owner (of operations) and key of a fact."""


def _columns(nodes: Sequence[tuple[int, DatasetNode]]) -> dict[int, dict[Key, PipelineParameter]]:
    """Return by pipeline the facts of a node, under keys that corresponding facts share."""
    slots = _slots(dict.fromkeys(tuple(one.name for one in node.operations) for _, node in nodes))
    columns: dict[int, dict[Key, PipelineParameter]] = {}
    for at, node in nodes:
        own = slots[tuple(one.name for one in node.operations)]
        # Samplers of different names correspond: they are one slot with two names.
        columns[at] = {
            (part, own[place], owner, key) if part == "operation" else (part, -1, "", key): fact
            for fact in facts(node)
            for part, place, owner, key, _ in [fact]
        }
    return columns


def _slots(lists: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], list[int]]:
    """Return for each list of operations their slots in a merged list; corresponding operations share a slot."""
    found: dict[tuple[str, ...], list[int]] = {}
    row: list[tuple[int, str]] = []
    count = 0
    for names in lists:
        pairs = heaviest(range(len(row)), range(len(names)), lambda a, b: int(row[a][1] == names[b]))  # noqa: B023
        own: dict[int, int] = {}
        merged: list[tuple[int, str]] = []
        for ours, theirs in _side_by_side(pairs, len(row), len(names)):
            merged.append((count, names[theirs or 0]) if ours is None else row[ours])
            count += ours is None
            if theirs is not None:
                own[theirs] = merged[-1][0]
        row = merged
        found[names] = [own[place] for place in range(len(names))]
    order = {slot: place for place, (slot, _) in enumerate(row)}
    return {names: [order[slot] for slot in slots] for names, slots in found.items()}


def _all_equal(values: Sequence[Any]) -> bool:
    """Return whether values are equal including their type: 1, 1.0 and True differ."""
    return all(type(one) is type(other) and (one == other or _both_nan(one, other)) for one, other in pairwise(values))


def _both_nan(one: Any, other: Any) -> bool:
    return isinstance(one, float) and math.isnan(one) and math.isnan(other)


# As columns -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PipelineColumn:
    """One fact of one operation as a column of a table.

    operation names the operation: its type, with a number from the second of a type on. part, owner and key are those of the
    `PipelineParameter`; a column of part "type" says what type the operation is. name is unique. values and numbers (of the
    operation) are by pipeline, MISSING and None where there is none.
    """

    name: str
    operation: str
    part: str
    owner: str
    key: str
    values: tuple[Any, ...]
    numbers: tuple[int | None, ...]


def pipeline_columns(graphs: Sequence[NumberedPipeline]) -> list[PipelineColumn]:
    """Return all parameters of all pipelines as columns, by operation in the order of the data."""
    names: set[str] = set()
    operations: dict[str, int] = {}
    found: list[PipelineColumn] = []
    for row in reversed(align(graphs)):
        nodes = [None if n is None else graph.nodes[n] for graph, n in zip(graphs, row, strict=True)]
        given = [(at, node) for at, node in enumerate(nodes) if node is not None]
        kind = given[0][1].type or "?"
        operations[kind] = operations.get(kind, 0) + 1
        operation = kind if operations[kind] == 1 else f"{kind} {operations[kind]}"
        types = tuple(MISSING if node is None else node.type for node in nodes)
        found.append(PipelineColumn(_unique(operation, names), operation, "type", "", "", types, row))
        columns = _columns(given)
        for key in _in_order(columns.values()):
            part, _, owner, name = key
            facts_here = [columns[at].get(key) if at in columns else None for at in range(len(nodes))]
            path = [operation, *([part] if part == "sampler" else [owner] if owner else []), *([name] if name else [])]
            values = tuple(MISSING if fact is None else fact.value for fact in facts_here)
            found.append(PipelineColumn(_unique("/".join(path), names), operation, part, owner, name, values, row))
    return found


def _in_order(columns: Iterable[dict[Key, PipelineParameter]]) -> list[Key]:
    """Sort the keys of all columns: parameters, the sampler, operations with their parameters."""
    keys = dict.fromkeys(key for column in columns for key in column)
    parts = ("node", "sampler", "operation")
    return sorted(keys, key=lambda key: (parts.index(key[0]), key[1]))


def _unique(name: str, names: set[str]) -> str:
    """Return the name, with a number if it is taken."""
    found, number = name, 1
    while found in names:
        number += 1
        found = f"{name} ({number})"
    names.add(found)
    return found
