"""Joins the scalars that several reads of a file found, with room for more.

So what is joined again and again, as of a large file that is read in slices, is copied a few times in all, not once for each
read. Memory that is not used is not taken from the system.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.model import Rounds, ScalarBlock, SeriesBlock, TagBlock

Columns = tuple[NDArray[Any], ...]
ROOM, MOST_ROOM = 1.5, 8.0
"""Rows that there is room for, of those that there are: where more has come than was expected, and at most."""
LEAST = 1 << 12
"""Rows from which on there is room for more: below, copying costs nothing, and room that is not used would take memory."""


@dataclass(slots=True)
class _JoinedBefore:
    """What was joined last, and the columns that it is the beginning of."""

    made: object
    columns: Columns


class JoinedBlocks:
    """Joins the blocks of one file. What it returned is not changed by what is joined to it later.

    expected, of both methods, is how many times as many rows the whole file may have.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, _JoinedBefore] = {}

    def scalars(self, parts: Sequence[SeriesBlock], expected: float = 1.0) -> SeriesBlock:
        """Join blocks of the same tags, rows in file order."""
        first = parts[0]
        if len(parts) == 1:
            return first
        columns: list[Columns] = [(part.step, part.wall_time, part.order, part.value) for part in parts]
        (step, wall_time, order, value), kept = self._joined(first.tags, first, columns, expected)
        if (order[1:] < order[:-1]).any():
            by_place = np.argsort(order, kind="stable")
            return ScalarBlock(first.tags, step[by_place], wall_time[by_place], order[by_place], value[:, by_place])
        kept.made = block = ScalarBlock(first.tags, step, wall_time, order, value)
        return block

    def rounds(self, tags: Sequence[Sequence[SeriesBlock]], expected: float = 1.0) -> Rounds | None:
        """Join rounds, given the blocks of each tag; None if there is anything else, or another order."""
        rounds = [part.rounds for part in tags[0] if isinstance(part, TagBlock)]
        for parts in tags:
            own = [part.rounds for part in parts if isinstance(part, TagBlock)]
            if len(own) < len(parts) or len(own) != len(rounds) or not all(map(operator.is_, own, rounds)):
                return None
        in_order = all(before.begin[-1] < one.begin[0] for before, one in pairwise(rounds))
        first = rounds[0]
        if not in_order or any(one.tags != first.tags for one in rounds):
            return None
        columns: list[Columns] = [(one.step, one.wall_time, one.begin, one.within, one.value) for one in rounds]
        whole, kept = self._joined((first.tags,), first, columns, expected)
        kept.made = joined = Rounds(first.tags, *whole)
        return joined

    def _joined(self, key: Hashable, first: object, parts: Sequence[Columns], expected: float) -> tuple[Columns, _JoinedBefore]:
        """Return columns, each joined along its last axis; first is what the first part was made into."""
        kept = self._kept.get(key)
        known = kept.columns if kept is not None and kept.made is first else None
        rows = sum(part[0].shape[-1] for part in parts)
        more = min(max(expected, 1.0 if known is None else ROOM), MOST_ROOM)
        room = int(rows * more) if rows >= LEAST else rows
        columns = []
        for number, pieces in enumerate(zip(*parts, strict=True)):
            kind = np.result_type(*pieces)
            column, begin = (known[number], 1) if known is not None else (None, 0)
            if column is None or column.dtype != kind or column.shape[-1] < rows:
                column, begin = np.empty((*pieces[0].shape[:-1], room), kind), 0
            at = sum(piece.shape[-1] for piece in pieces[:begin])
            for piece in pieces[begin:]:
                column[..., at : at + piece.shape[-1]] = piece
                at += piece.shape[-1]
            columns.append(column)
        self._kept[key] = kept = _JoinedBefore(None, tuple(columns))
        return tuple(column[..., :rows] for column in columns), kept
