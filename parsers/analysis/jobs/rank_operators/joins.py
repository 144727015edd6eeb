"""Which operator of one rank is that of another: the n-th of a name within a step goes with the n-th of that name.

Communication of different groups is different even where its name is the same. Where two ranks run a name a different number
of times, the first ones are joined, and the name is counted: from the first surplus one on its joins may be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsers.analysis.jobs.rank_operators.operators import COMPUTING, Operators, group_of, key_of, name_of
from parsers.model import Ints


@dataclass(frozen=True, slots=True)
class OperatorKeys:
    """What identifies the operators of a rank among those of all ranks, in the order of its operators.

    number is that of the key, the same in all ranks; occurrence counts those of a key within a step, from 0; place puts both
    and the step together. order sorts by place.
    """

    number: Ints
    occurrence: Ints
    place: Ints
    order: Ints


@dataclass(frozen=True, slots=True)
class Joins:
    """Pairs of operators of two ranks: rows of the first and rows of the second, in the order of the first.

    uneven is the number of keys (within a step) that both ranks run, but not equally often.
    """

    first: Ints
    second: Ints
    uneven: int = 0


NOTHING = Joins(np.empty(0, np.int64), np.empty(0, np.int64))


def numbered(ranks: Sequence[Operators]) -> list[OperatorKeys]:
    """Number the operators of several ranks alike.

    Communication whose group no file tells counts as that of the only group that has its name, if there is exactly one.
    """
    groups: dict[str, set[str]] = {}
    for rank in ranks:
        for key in rank.keys:
            if group_of(key):
                groups.setdefault(name_of(key), set()).add(group_of(key))
    known: dict[str, int] = {}
    numbers = []
    for rank in ranks:
        table = np.zeros(max(len(rank.keys), 1), np.int64)
        for place, key in enumerate(rank.keys):
            of = groups.get(key, ())
            table[place] = known.setdefault(key_of(key, next(iter(of))) if len(of) == 1 else key, len(known))
        numbers.append(table[rank.key])
    steps = np.unique(np.concatenate([np.unique(rank.step) for rank in ranks])) if ranks else np.empty(0, np.int64)
    most = max((len(rank) for rank in ranks), default=0) + 1
    return [_numbered(rank, number, steps, len(known), most) for rank, number in zip(ranks, numbers, strict=True)]


def _numbered(rank: Operators, number: Ints, steps: Ints, keys: int, most: int) -> OperatorKeys:
    group = np.searchsorted(steps, rank.step) * keys + number
    order = np.argsort(group, kind="stable")  # rows are in order of begin
    sorted_ = group[order]
    begins = np.flatnonzero(np.diff(sorted_, prepend=-1))
    counts = np.diff(np.append(begins, len(sorted_)))
    occurrence = np.empty(len(group), np.int64)
    occurrence[order] = np.arange(len(group)) - np.repeat(begins, counts)
    place = group * most + occurrence
    return OperatorKeys(number, occurrence, place, order)


def joins(
    first: Operators, second: Operators, numbers: tuple[OperatorKeys, OperatorKeys], *, communication_only: bool = False
) -> Joins:
    """Join the operators of two ranks, whose numbers are those of `numbered`.

    communication_only: of ranks of different stages, which run different layers, only communication with each other.
    """
    one, other = numbers
    if not len(first) or not len(second):
        return NOTHING
    there = other.place[other.order]
    at = np.minimum(np.searchsorted(there, one.place), len(there) - 1)
    found = there[at] == one.place
    if communication_only:
        found &= first.category >= COMPUTING
    rows = np.flatnonzero(found)
    return Joins(rows, other.order[at[rows]], _uneven(one, other, found if communication_only else None, first, second))


def _uneven(one: OperatorKeys, other: OperatorKeys, only: object, first: Operators, second: Operators) -> int:
    """Return how many keys both ranks run in a step, but not equally often."""
    counted = []
    for mine, rank in ((one, first), (other, second)):
        group = mine.place - mine.occurrence
        group = group if only is None else group[rank.category >= COMPUTING]
        counted.append(np.unique(group, return_counts=True))
    (keys, counts), (others, other_counts) = counted
    _, place, other_place = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    return int((counts[place] != other_counts[other_place]).sum())


def joined_rows(size: int, *of: Ints) -> Ints:
    """Return for each of `size` operators whether it is in one of these rows, as 0 or 1."""
    found = np.zeros(size, np.int64)
    for rows in of:
        found[rows] = 1
    return found
