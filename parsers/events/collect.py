"""Collects the rows and columns read from one file into blocks: one per set of tags, rows in file order."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from parsers.events.walk import EventMessage, Payload
from parsers.model import (
    Floats,
    Ints,
    MixedBlocks,
    PayloadBlock,
    RareBlock,
    RareScalars,
    Rounds,
    ScalarBlock,
    SeriesBlock,
    Values,
)

Ids = NDArray[np.int32]
_Number = TypeVar("_Number", bound=np.generic)
MANY, RARE = 256, 16
"""Of more than MANY tuples of tags, those that have up to RARE rows are not kept as arrays of their own."""
WIDEST = 1024
"""A record of more scalars is taken as one record for each: a tag is searched among all of its record."""
FEW = 64
"""Up to this many tuples of tags, mixed columns are split at once, while they are still in the processor's cache."""


class RecordColumns(NamedTuple):
    """n records read at once: ids of their tags (one for all, or an array), step, wall time, order (n,), values (k, n)."""

    ids: int | Ids
    step: Ints
    wall_time: Floats
    order: Ints
    value: Values


class RoundTable(NamedTuple):
    """n rounds of k records each, as in `parsers.model.Rounds`: step and begin (n,), wall time, within and value (k, n)."""

    step: Ints
    wall_time: Floats
    begin: Ints
    within: NDArray[Any]
    value: Values


@dataclass(slots=True)
class _RoundRows:
    step: list[int] = field(default_factory=list)
    wall_time: list[float] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    value: list[tuple[float, ...]] = field(default_factory=list)


@dataclass(slots=True)
class _Singles:
    """Scalars that were read one by one: the id of the tag, step, wall time, order and value of each."""

    ids: array[int] = field(default_factory=lambda: array("i"))
    step: array[int] = field(default_factory=lambda: array("q"))
    wall_time: array[float] = field(default_factory=lambda: array("d"))
    order: array[int] = field(default_factory=lambda: array("q"))
    value: array[float] = field(default_factory=lambda: array("d"))

    def add(self, step: int, wall_time: float, order: int, ids: Sequence[int], values: Sequence[float]) -> None:
        """Add the scalars of one record."""
        self.ids.extend(ids)
        self.step.extend(repeat(step, len(ids)))
        self.wall_time.extend(repeat(wall_time, len(ids)))
        self.order.extend(repeat(order, len(ids)))
        self.value.extend(values)

    def columns(self) -> RecordColumns:
        """Return them as records that were read at once."""
        value = np.frombuffer(self.value, np.float64)[None]
        step, order = np.frombuffer(self.step, np.int64), np.frombuffer(self.order, np.int64)
        wall_time = np.frombuffer(self.wall_time, np.float64)
        return RecordColumns(np.frombuffer(self.ids, np.int32), step, wall_time, order, _narrow(value))


@dataclass(slots=True)
class _Index:
    step: list[int] = field(default_factory=list)
    wall_time: list[float] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    offset: list[int] = field(default_factory=list)
    length: list[int] = field(default_factory=list)
    verified: list[bool] = field(default_factory=list)


class RecordCollector:
    """Accepts records in any order and builds blocks of them."""

    def __init__(self) -> None:
        self.records = 0
        self.started: float | None = None
        self._ids: dict[tuple[str, ...], int] = {}
        self._rows: defaultdict[int, _RoundRows] = defaultdict(_RoundRows)
        self._singles = _Singles()
        self._columns: defaultdict[int, list[RecordColumns]] = defaultdict(list)
        self._rounds: defaultdict[tuple[str, ...], list[RoundTable]] = defaultdict(list)
        self._index: defaultdict[tuple[str, str, str], _Index] = defaultdict(_Index)

    def id_of(self, tags: tuple[str, ...]) -> int:
        """A number for a tuple of tags."""
        return self._ids.setdefault(tags, len(self._ids))

    def ids_of(self, tags: Iterable[str]) -> list[int]:
        """Return the number of each tag by itself."""
        known = self._ids
        return [known.setdefault((tag,), len(known)) for tag in tags]

    def add_columns(self, columns: RecordColumns) -> None:
        """Add records read at once."""
        self.records += len(columns.step)
        if not len(columns.step):
            return
        known = columns.wall_time[columns.wall_time > 0]
        self._earliest(float(known.min()) if len(known) else 0.0)
        ids = columns.ids
        few = np.flatnonzero(np.bincount(ids)).tolist() if not isinstance(ids, int) and len(self._ids) <= FEW else []
        if len(few) > 1:
            _, step, wall_time, order, value = columns
            for number in few:
                at = np.flatnonzero(ids == number)
                self._columns[len(value)].append(RecordColumns(number, step[at], wall_time[at], order[at], value[:, at]))
        else:
            self._columns[len(columns.value)].append(columns._replace(ids=few[0]) if few else columns)

    def add_records(self, wall_time: Floats) -> None:
        """Count records whose scalars are added as parts."""
        self.records += len(wall_time)
        known = wall_time[wall_time > 0]
        self._earliest(float(known.min()) if len(known) else 0.0)

    def add_part(self, columns: RecordColumns) -> None:
        """Add one scalar of each of some records that have been counted."""
        self._columns[1].append(columns)

    def add_rounds(self, tags: tuple[str, ...], rounds: RoundTable) -> None:
        """Add rounds of records read at once, each with one scalar."""
        self.records += rounds.value.size
        if not rounds.value.size:
            return
        if tags not in self._rounds:
            self.ids_of(tags)
        self._rounds[tags].append(rounds)
        lowest = rounds.wall_time.min()
        known = rounds.wall_time[rounds.wall_time > 0] if not lowest > 0 else None
        self._earliest(float(lowest if known is None else known.min() if len(known) else 0.0))

    def add_event(self, event: EventMessage, order: int) -> None:
        """Add the wall time and the scalars of one message."""
        self.records += 1
        self._earliest(event.wall_time)
        if event.many_tags:
            self._add_scalars(event, event.many_tags, event.many_values, order)
        elif event.scalars:
            tags, values = [scalar.tag for scalar in event.scalars], [scalar.value for scalar in event.scalars]
            self._add_scalars(event, tags, values, order)

    def _add_scalars(self, event: EventMessage, tags: Sequence[str], values: Sequence[float], order: int) -> None:
        if len(tags) == 1 or len(tags) > WIDEST:
            self._singles.add(event.step, event.wall_time, order, self.ids_of(tags), values)
            return
        rows = self._rows[self.id_of(tuple(tags))]
        rows.step.append(event.step)
        rows.wall_time.append(event.wall_time)
        rows.order.append(order)
        rows.value.append(tuple(values))

    def add_payload(self, event: EventMessage, payload: Payload, plugin: str, *, order: int, base: int, verified: bool) -> None:
        """Add one large value; base is the file offset of its message."""
        index = self._index[payload.kind, payload.tag, plugin]
        index.step.append(event.step)
        index.wall_time.append(event.wall_time)
        index.order.append(order)
        index.offset.append(base + payload.start)
        index.length.append(payload.end - payload.start)
        index.verified.append(verified)

    def _earliest(self, wall_time: float) -> None:
        if 0 < wall_time < math.inf and (self.started is None or wall_time < self.started):
            self.started = wall_time

    def payloads(self) -> list[PayloadBlock]:
        """Return the index of large values by kind, tag and plugin, in order of first appearance."""
        return [
            PayloadBlock(
                kind, tag, np.array(index.step, np.int64), np.array(index.wall_time, np.float64),
                np.array(index.order, np.int64), np.array(index.offset, np.int64), np.array(index.length, np.int64),
                np.array(index.verified, np.bool_), plugin,
            )
            for (kind, tag, plugin), index in self._index.items()
        ]  # fmt: skip

    def scalars(self) -> Sequence[SeriesBlock]:
        """Return all scalars, one block per tuple of tags. If a record holds a tag twice, each value gets its own row."""
        pieces: defaultdict[int, list[RecordColumns]] = defaultdict(list)
        if len(self._rows) > MANY:
            self._scatter()
        for number, rows in self._rows.items():
            value = _narrow(np.array(rows.value, np.float64).T)
            step, wall_time, order = np.array(rows.step, np.int64), np.array(rows.wall_time), np.array(rows.order, np.int64)
            pieces[number].append(RecordColumns(number, step, wall_time, order, value))
        if self._singles.ids:
            self._columns[1].append(self._singles.columns())
            self._singles = _Singles()
        mixed = [one for columns in self._columns.values() if (one := _mixed(columns)) is not None]
        for columns in self._columns.values():
            for piece in (p for p in columns if isinstance(p.ids, int)):
                pieces[int(piece.ids)].append(piece)
        rare = next((one for one in mixed if len(one.value) == 1 and _is_rare(one.ids)), None)
        for one in mixed:
            if one is not rare:
                for piece in _split(one):
                    pieces[int(piece.ids)].append(piece)
        for number in [n for tags, n in self._ids.items() if len(tags) > 1 and len(set(tags)) < len(tags) and n in pieces]:
            self._part(number, pieces)
        names = list(self._ids)
        numbers: list[int] = []
        blocks: list[int | SeriesBlock] = []
        scalars = None if rare is None else self._rare(rare, names, pieces, numbers, blocks)
        in_turn = [block for one in self._joined_rounds(pieces) for block in one.blocks()]
        blocks += [_block(names[n], own) for n, own in pieces.items()]
        blocks += in_turn
        numbers += [*pieces, *(self._ids[block.tags] for block in in_turn)]
        if any(before > after for before, after in pairwise(numbers)):
            blocks = [blocks[at] for at in np.argsort(np.array(numbers), kind="stable").tolist()]
        return [one for one in blocks if not isinstance(one, int)] if scalars is None else MixedBlocks(scalars, blocks)

    def _rare(
        self, mixed: RecordColumns, names: list[tuple[str, ...]], pieces: defaultdict[int, list[RecordColumns]],
        numbers: list[int], blocks: list[int | SeriesBlock],
    ) -> RareScalars:  # fmt: skip
        """Add the ids of tags with few rows, and their places in the table. Those with other rows, too, go to the pieces."""
        _, step, wall_time, order, value = mixed
        all_ids = np.asarray(mixed.ids)
        by_id = np.lexsort((order, all_ids))
        ids, bounds = _runs(all_ids[by_id])
        tags, value = [names[number] for number in ids], value[0, by_id]
        scalars = RareScalars(tags, bounds, step[by_id], wall_time[by_id], order[by_id], value)
        others = {self._ids[tag,] for tags in self._rounds for tag in tags}.union(pieces).intersection(ids)
        for row, number in enumerate(ids) if others else ():
            if number in others:
                block = RareBlock(scalars, row)
                pieces[number].append(RecordColumns(number, block.step, block.wall_time, block.order, block.value))
        numbers += [number for number in ids if number not in others] if others else ids
        blocks += [row for row, number in enumerate(ids) if number not in others] if others else range(len(ids))
        return scalars

    def _joined_rounds(self, pieces: defaultdict[int, list[RecordColumns]]) -> list[Rounds]:
        """Return the rounds of each tuple of tags. Rounds whose records were read one by one are taken from the pieces.

        Rounds that are not in file order are added to the pieces.
        """
        found = []
        for tags, tables in self._rounds.items():
            numbers = [self._ids[tag,] for tag in tags]
            rest = _table([pieces[number] for number in numbers]) if all(number in pieces for number in numbers) else None
            if rest is not None:
                tables.append(rest)
                for number in numbers:
                    del pieces[number]
            step, wall_time, begin, within, value = _concatenated(tables)
            if np.count_nonzero(begin[1:] < begin[:-1]):
                by_place = np.argsort(begin, kind="stable")
                step, wall_time, begin = step[by_place], wall_time[:, by_place], begin[by_place]
                within, value = within[:, by_place], value[:, by_place]
            if not np.count_nonzero(begin[:-1] + within.max(axis=0)[:-1] > begin[1:]):
                found.append(Rounds(tags, step, _once(wall_time), begin, within, value))
                continue
            for row, number in enumerate(numbers):
                columns = RecordColumns(number, step, wall_time[row], begin + within[row], value[row : row + 1])
                pieces[number].append(columns)
        return found

    def _scatter(self) -> None:
        """Split rows with rare tuples of tags into rows of one tag each: a file may have as many tuples as records."""
        for tags, number in list(self._ids.items()):
            if len(tags) < 2 or number not in self._rows or len(self._rows[number].step) > RARE:
                continue
            rows = self._rows.pop(number)
            ids = self.ids_of(tags)
            for step, wall_time, order, value in zip(rows.step, rows.wall_time, rows.order, rows.value, strict=True):
                self._singles.add(step, wall_time, order, ids, value)

    def _part(self, number: int, pieces: defaultdict[int, list[RecordColumns]]) -> None:
        """Split records that hold a tag twice into records of one tag each."""
        rows_of: defaultdict[str, list[int]] = defaultdict(list)
        for row, tag in enumerate(list(self._ids)[number]):
            rows_of[tag].append(row)
        for _, step, wall_time, order, value in pieces.pop(number):
            for tag, rows in rows_of.items():
                times = len(rows)
                part = self.id_of((tag,)), step.repeat(times), wall_time.repeat(times), order.repeat(times)
                pieces[part[0]].append(RecordColumns(*part, value[rows].T.reshape(1, -1)))


def _mixed(columns: list[RecordColumns]) -> RecordColumns | None:
    """Join the columns of mixed records; None if there are none."""
    mixed = [piece for piece in columns if not isinstance(piece.ids, int)]
    if not mixed:
        return None
    return RecordColumns(*(np.concatenate([piece[i] for piece in mixed], axis=-1) for i in range(5)))


def _is_rare(ids: int | Ids) -> bool:
    """Return whether there are many ids, with few rows each."""
    if isinstance(ids, int):
        return False
    count = int(np.count_nonzero(np.bincount(ids)))
    return count > MANY and len(ids) <= RARE * count


def _runs(ids: Ids) -> tuple[list[int], Ints]:
    """Return the ids of ascending ones, and where the rows of each begin, and the last one's end."""
    begin = np.concatenate([[0], np.flatnonzero(np.diff(ids)) + 1])
    return ids[begin].tolist(), np.append(begin, len(ids))


def _split(mixed: RecordColumns) -> list[RecordColumns]:
    """Split columns of mixed records into columns of one tuple of tags each."""
    _, step, wall_time, order, value = mixed
    ids = np.asarray(mixed.ids)
    by_id = np.argsort(ids.astype(np.uint16) if ids.max() < 1 << 16 else ids, kind="stable")
    numbers, bounds = _runs(ids[by_id])
    step, wall_time, order, value = step[by_id], wall_time[by_id], order[by_id], value[:, by_id]
    return [
        RecordColumns(number, step[a:b], wall_time[a:b], order[a:b], value[:, a:b])
        for number, (a, b) in zip(numbers, pairwise(bounds.tolist()), strict=True)
    ]


def _table(pieces: list[list[RecordColumns]]) -> RoundTable | None:
    """Make rounds of the records of each tag; None if these have not the same steps."""
    columns = [_sorted(own) for own in pieces]
    step = columns[0].step
    if not all(np.array_equal(one.step, step) for one in columns[1:]):
        return None
    wall_time, order = np.stack([one.wall_time for one in columns]), np.stack([one.order for one in columns])
    rounds = Rounds.of((), step, wall_time, order, np.concatenate([one.value for one in columns]))
    return RoundTable(step, wall_time, rounds.begin, rounds.within, rounds.value)


def _concatenated(tables: list[RoundTable]) -> RoundTable:
    if len(tables) == 1:
        return tables[0]
    return RoundTable(*(np.concatenate([table[i] for table in tables], axis=-1) for i in range(5)))


def _once(wall_time: Floats) -> Floats:
    """Return wall times of rounds, kept only once if they are the same in each round."""
    bits = wall_time.view(np.int64)
    if np.count_nonzero(bits[:, 0] != bits[0, 0]) or np.count_nonzero(bits != bits[0]):
        return wall_time
    return stretched(wall_time[:1].copy(), wall_time.shape)


def stretched(part: NDArray[_Number], shape: tuple[int, ...]) -> NDArray[_Number]:
    """Return what `np.broadcast_to` returns for a contiguous part with as many axes as the shape, in a fifth of its time."""
    strides = [0 if length == 1 else stride for length, stride in zip(part.shape, part.strides, strict=True)]
    found: NDArray[_Number] = np.ndarray(shape, part.dtype, part, strides=strides)
    found.flags.writeable = False
    return found


def _narrow(value: Floats) -> Values:
    """Return values as float32 if not a bit is lost."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        narrow = value.astype(np.float32)
        same = np.array_equal(narrow.astype(np.float64).view(np.int64), np.ascontiguousarray(value).view(np.int64))
    return narrow if same else value


def _block(tags: tuple[str, ...], pieces: list[RecordColumns]) -> ScalarBlock:
    """Build the block of one tuple of tags, rows sorted by offset in the file."""
    _, step, wall_time, order, value = _sorted(pieces)
    return ScalarBlock(tags, step, wall_time, order, value)


def _sorted(pieces: list[RecordColumns]) -> RecordColumns:
    """Join records with the same tags, sorted by offset in the file."""
    ids, step, wall_time, order, value = pieces[0]
    if len(pieces) > 1:
        step, wall_time, order = (np.concatenate([piece[i] for piece in pieces]) for i in (1, 2, 3))
        value = np.concatenate([piece.value for piece in pieces], axis=1)
    if (order[1:] < order[:-1]).any():
        by_place = np.argsort(order, kind="stable")
        step, wall_time, order, value = step[by_place], wall_time[by_place], order[by_place], value[:, by_place]
    return RecordColumns(ids, step, wall_time, order, value)
