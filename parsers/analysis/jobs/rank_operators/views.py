"""What a screen can show of the operators of several ranks in a window of time.

An operator at least a column wide is a bar of its own. Shorter ones of a column and lane become a cell: its category is the
one that takes most of it, its share how much of it they take, so that idle time stays visible. Joins between neighbouring ranks
whose ends are in the same columns become one. Where that is still more than a screen can draw, columns are taken together.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.rank_operators.joins import NOTHING, Joins, OperatorKeys, joined_rows, joins, numbered
from parsers.analysis.jobs.rank_operators.operators import CATEGORIES, COMPUTING, Operators
from parsers.model import Floats, Ints

MOST_BARS = 40_000
MOST_JOINS = 24_000
LEVELS = 8
"""Shares of a cell that are told apart."""
LANES = 2
"""Lanes of a rank: what computes, what communicates."""
_SAMPLE = 4
_FAR = 1e7
"""Columns beyond which an end of a join is cut off: its slope cannot be seen any more."""


@dataclass(frozen=True)
class Laid:
    """The operators of ranks over each other, in the order of rows; stages has the stage of each.

    Neighbours of one stage are joined by all operators, those of different stages by communication only.
    """

    ranks: tuple[Operators, ...]
    stages: tuple[int, ...]

    @cached_property
    def numbers(self) -> list[OperatorKeys]:
        """What identifies the operators of each rank."""
        return numbered(self.ranks)

    @cached_property
    def joins(self) -> tuple[Joins, ...]:
        """The joins of each row with the next one."""
        pairs = range(len(self.ranks) - 1)
        return tuple(
            joins(
                self.ranks[row], self.ranks[row + 1], (self.numbers[row], self.numbers[row + 1]),
                communication_only=self.stages[row] != self.stages[row + 1],
            )
            for row in pairs
        )  # fmt: skip

    @cached_property
    def joined(self) -> tuple[Ints, ...]:
        """For each operator of each row whether it is joined with one of a neighbour, as 0 or 1."""
        every = (NOTHING, *self.joins, NOTHING)
        return tuple(
            joined_rows(len(rank), every[row].second, every[row + 1].first) for row, rank in enumerate(self.ranks)
        )  # fmt: skip

    @cached_property
    def extent(self) -> tuple[int, int]:
        """Begin of the first and end of the last operator in ns; (0, 0) for none."""
        some = [rank for rank in self.ranks if len(rank)]
        if not some:
            return 0, 0
        return min(int(rank.start[0]) for rank in some), max(int(rank.end.max()) for rank in some)


@dataclass(frozen=True, slots=True)
class OperatorView:
    """What is drawn of a window; places are columns from its begin. Arrays of bars, cells and joins are columns of tables.

    bars: row, lane, category, x0, x1, operator (its place in the row), joined. cells: row, lane, category, x0, x1, share
    (1 to LEVELS), count. joins: row (the upper one), category, a0, a1 (above), b0, b1 (below), count. merged is the number of
    operators in cells, bundled that of joins that share one; wide and coarse are the columns below whose width operators and
    joins are taken together.
    """

    columns: int
    bars: dict[str, NDArray[Any]]
    cells: dict[str, NDArray[Any]]
    joins: dict[str, NDArray[Any]]
    operators: int
    merged: int
    joined: int
    bundled: int
    wide: int
    coarse: int

    def packed(self) -> bytes:
        """Return it as bytes: u32 length of a JSON header, the header, and its arrays, each padded to four bytes.

        The header has the numbers, and `tables`: per table its length and [[column, "f4" | "u4" | "u2" | "u1"], ...].
        """
        tables, data = {}, []
        for name, table in (("bars", self.bars), ("cells", self.cells), ("joins", self.joins)):
            listed = [[column, values.dtype.str[1:]] for column, values in table.items()]
            tables[name] = {"length": len(next(iter(table.values()))), "columns": listed}
            data += [_padded(values.tobytes()) for values in table.values()]
        header = {"columns": self.columns, "tables": tables}
        header |= {name: getattr(self, name) for name in ("operators", "merged", "joined", "bundled", "wide", "coarse")}
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 4)
        return b"".join((len(text).to_bytes(4, "little"), text, *data))


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def view(laid: Laid, begin: int, end: int, columns: int, *, alone: bool = False) -> OperatorView:
    """Return what is drawn from `begin` to `end` (ns, by the clock of the ranks); ValueError for an empty window.

    alone: cells only of operators that are joined with no neighbour.
    """
    if end <= begin or columns < 1:
        raise ValueError(f"expected a window of time and columns; found {begin} to {end} on {columns}")
    scale = columns / (end - begin)
    shown = [_inside(rank, begin, end, scale) for rank in laid.ranks]
    wide = _least(MOST_BARS, columns, lambda width: sum(int((one[2] - one[1] >= width).sum()) for one in shown))
    bars, cells = [], []
    for row, (rank, (rows, x0, x1)) in enumerate(zip(laid.ranks, shown, strict=True)):
        large = x1 - x0 >= wide
        bars.append(_bars(row, rank, rows[large], x0[large], x1[large], laid.joined[row]))
        small = ~large & (laid.joined[row][rows] == 0) if alone else ~large
        cells.append(_cells(row, rank.category[rows[small]], x0[small], x1[small], columns, wide))
    quads = _quads(laid, begin, end, scale)
    joined, coarse = len(quads["row"]), _guessed(quads, len(laid.ranks) - 1, columns)
    found = _bundled(quads, coarse)
    while len(found["row"]) > MOST_JOINS and coarse < columns:
        coarse *= 2
        found = _bundled(found, coarse)
    drawn = _table(_BAR, bars), _table(_CELL, cells), _table(_JOIN, [found])
    operators = sum(len(rows) for rows, _, _ in shown)
    merged = operators - len(drawn[0]["row"])
    alone_joins = int((drawn[2]["count"] == 1).sum())
    return OperatorView(columns, *drawn, operators, merged, joined, joined - alone_joins, wide, coarse)


_BAR = {"row": "u2", "lane": "u1", "category": "u1", "x0": "f4", "x1": "f4", "operator": "u4", "joined": "u1"}
_CELL = {"row": "u2", "lane": "u1", "category": "u1", "x0": "u2", "x1": "u2", "share": "u1", "count": "u4"}
_JOIN = {"row": "u2", "category": "u1", "a0": "f4", "a1": "f4", "b0": "f4", "b1": "f4", "count": "u4"}
_ENDS = ("a0", "a1", "b0", "b1")
_Shown = tuple[Ints, Floats, Floats]
"""(rows, first column, last column) of operators."""
_Table = dict[str, NDArray[Any]]


def _table(kinds: dict[str, str], parts: Sequence[_Table]) -> _Table:
    return {
        name: np.concatenate([np.empty(0), *(part[name] for part in parts)]).astype(f"<{kind}") for name, kind in kinds.items()
    }


def _least(most: int, columns: int, count: Any) -> int:
    """Return the least power of two at which count(width) is at most `most`, or one above all columns."""
    width = 1
    while count(width) > most and width < columns:
        width *= 2
    return width


def _inside(rank: Operators, begin: int, end: int, scale: float) -> _Shown:
    rows = np.flatnonzero((rank.start < end) & (np.maximum(rank.end, rank.start + 1) > begin))

    def places(times: Ints) -> Floats:
        return (np.clip(times[rows], begin, end) - begin).astype(np.float64) * scale

    return rows, places(rank.start), places(rank.end)


def _bars(row: int, rank: Operators, rows: Ints, x0: Floats, x1: Floats, joined: Ints) -> _Table:
    category = rank.category[rows]
    return {
        "row": np.full(len(rows), row), "lane": category >= COMPUTING, "category": category, "x0": x0, "x1": x1,
        "operator": rows, "joined": joined[rows],
    }  # fmt: skip


def _cells(row: int, category: NDArray[np.uint8], x0: Floats, x1: Floats, columns: int, wide: int) -> _Table:
    """Return the cells of operators narrower than `wide` columns, which are in at most wide + 1 of them."""
    kinds, width = len(CATEGORIES), -(-columns // wide)
    lane = (category >= COMPUTING).astype(np.int64)
    first, last = x0 / wide, x1 / wide
    column = np.minimum(first.astype(np.int64), width - 1)
    key = (lane * width + column) * kinds + category
    size = LANES * width * kinds
    busy = np.bincount(key, np.minimum(last, column + 1) - first, size)
    over = (last > column + 1) & (column + 1 < width)
    busy += np.bincount(key[over] + kinds, (last - column - 1)[over], size)
    counts = np.bincount(key, minlength=size)
    by_cell = busy.reshape(-1, kinds)
    count = counts.reshape(-1, kinds).sum(axis=1)
    share = np.minimum(by_cell.sum(axis=1), 1.0)
    at = np.flatnonzero((count > 0) | (share > 0.0))
    # Operators of no time at all are seen as those of the least.
    level = np.maximum(np.rint(share[at] * LEVELS), 1).astype(np.int64)
    most = np.where(share[at] > 0.0, by_cell[at].argmax(axis=1), counts.reshape(-1, kinds)[at].argmax(axis=1))
    alike = (np.diff(at) == 1) & (np.diff(level) == 0) & (np.diff(most) == 0) & (np.diff(at // width) == 0)
    begins = np.flatnonzero(np.r_[np.ones(min(len(at), 1), np.bool_), ~alike])
    ends = np.r_[begins[1:], len(at)][: len(begins)]
    cell, final = at[begins], at[ends - 1]
    total = np.add.reduceat(count[at], begins) if len(at) else np.empty(0, np.int64)
    return {
        "row": np.full(len(cell), row), "lane": cell // width, "category": most[begins], "x0": cell % width * wide,
        "x1": np.minimum((final % width + 1) * wide, columns), "share": level[begins], "count": total,
    }  # fmt: skip


def _quads(laid: Laid, begin: int, end: int, scale: float) -> _Table:
    """Return the joins of which something is seen in the window."""
    parts: list[_Table] = []
    for row, (upper, lower, pairs) in enumerate(zip(laid.ranks, laid.ranks[1:], laid.joins, strict=False)):
        ends = upper.start[pairs.first], upper.end[pairs.first], lower.start[pairs.second], lower.end[pairs.second]
        seen = np.flatnonzero((np.minimum(ends[0], ends[2]) < end) & (np.maximum(ends[1], ends[3]) > begin))
        places = (np.clip((one[seen] - begin) * scale, -_FAR, _FAR) for one in ends)
        own = {
            "row": np.full(len(seen), row),
            "category": upper.category[pairs.first[seen]],
            "count": np.ones(len(seen), np.int64),
        }
        parts.append(own | dict(zip(_ENDS, places, strict=True)))
    return {name: np.concatenate([np.empty(0), *(part[name] for part in parts)]) for name in _JOIN}


def _guessed(quads: _Table, pairs: int, columns: int) -> int:
    """Return the width for which a few of the pairs of rows let expect no more than MOST_JOINS: bundling all takes long."""
    if len(quads["row"]) <= 2 * MOST_JOINS or pairs <= _SAMPLE:
        return 1
    chosen = np.isin(quads["row"], np.linspace(0, pairs - 1, _SAMPLE).astype(np.int64))
    found, width = {name: values[chosen] for name, values in quads.items()}, 1
    while len(found["row"]) * pairs > MOST_JOINS * _SAMPLE and width < columns:
        found = _bundled(found, width)
        if len(found["row"]) * pairs > MOST_JOINS * _SAMPLE:
            width *= 2
    return width


def _bundled(quads: _Table, coarse: int) -> _Table:
    """Return joins; those narrower than `coarse` columns on both sides that begin in the same ones become one."""
    narrow = np.maximum(quads["a1"] - quads["a0"], quads["b1"] - quads["b0"]) < coarse
    own = {name: values[~narrow] for name, values in quads.items()}
    some = {name: values[narrow] for name, values in quads.items()}
    if not len(some["row"]):
        return own
    kind = some["row"] * len(CATEGORIES) + some["category"]
    cells = [np.floor(some[name] / coarse) for name in ("a0", "b0")]
    order = np.lexsort((cells[1], cells[0], kind))
    new = np.zeros(len(order) - 1, np.bool_)
    for values in (kind, *cells):
        new |= np.diff(values[order]) != 0
    begins = np.flatnonzero(np.r_[True, new])
    joined = {name: some[name][order][begins] for name in ("row", "category")}
    for name, way in (("a0", np.minimum), ("a1", np.maximum), ("b0", np.minimum), ("b1", np.maximum), ("count", np.add)):
        joined[name] = way.reduceat(some[name][order], begins)
    return {name: np.concatenate([joined[name], own[name]]) for name in _JOIN}
