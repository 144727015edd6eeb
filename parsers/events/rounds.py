"""Reads records that repeat in rounds, such as those of one step, as rows of one table.

A writer that records the same tags at each step leaves rounds of the same bytes, except for wall times, steps, values and
CRCs. A `Pattern` is one round: parsing its records tells which bytes may vary; all others are compared. A stretch of rounds is
then a table of bytes whose columns are wall times, steps and values. The CRC of each record is computed from the pattern and
its variable bytes, so every byte is verified.

Patterns depend on the bytes of one round alone, so they are kept for the next file: the runs of a sweep repeat them.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from parsers.events.checksums import Words, byte_table, unmask_columns
from parsers.events.collect import RecordCollector, RecordColumns, RoundTable, stretched
from parsers.events.columns import plain
from parsers.events.records import FOOTER, FRAME, HEADER, RecordWindow
from parsers.events.walk import EventMessage, MessageLayout
from parsers.model import Ints

Bytes = NDArray[np.uint8]
MOST_RECORDS, MOST_BYTES, MOST_SCALARS = 512, 32 << 10, 24
"""A longer round is no pattern, nor is a record of more scalars: one CRC call is then faster than a table lookup per byte."""
LEAST_RECORDS = 16
"""A round is a pattern if it repeats and its lengths do so for as many records."""
MOST_PATTERNS, MOST_LENGTHS = 32, 4096
LEAST_ROWS, FIRST_BYTES, CHUNK_BYTES = 32, 1 << 16, 1 << 18
CREDIT, COST, MOST_CREDIT = 256, 64, 4096
"""A search for a pattern costs as much as COST records. Each window begins with CREDIT; records read by patterns add to it."""


class Pattern:
    """One round: the records of one step with a scalar of a different tag each, or one record with several scalars."""

    def __init__(self, template: Bytes, events: Sequence[EventMessage], lengths: Ints) -> None:
        self.tags = tuple(scalar.tag for event in events for scalar in event.scalars)
        self.lengths, self.stride = lengths, len(template)
        ends = np.cumsum(lengths + FRAME) - FOOTER
        self._footers, self._starts = ends, ends - lengths
        self._within = (self._starts - HEADER).astype(np.uint16)
        self._walls = self._starts + np.array([event.wall for event in events])
        self._steps = self._starts + np.array([event.step_at for event in events])
        self._step_bytes = events[0].step_end - events[0].step_at
        places = [[scalar.at for scalar in event.scalars] for event in events]
        self._values = (self._starts[:, None] + np.array(places)).ravel()
        variable = np.zeros(self.stride, np.bool_)
        step = self._steps[:, None] + np.arange(self._step_bytes)
        for at, width in ((self._walls, 8), (self._values, 4), (ends, FOOTER)):
            variable[at[:, None] + np.arange(width)] = True
        mask = np.where(variable, 0, 255).astype(np.uint8)
        mask[step] = 0x80
        variable[step] = True
        self._mask, self._constant = mask, template & mask
        self._zeroed = np.where(variable, 0, template).astype(np.uint8)
        self._crcs: tuple[Words, _TablesOfFields] | None = None

    def _crc_tables(self) -> tuple[Words, _TablesOfFields]:
        """Return the CRC of each record with zeros as variable bytes, and how these bytes change it; made once."""
        if self._crcs is None:
            starts, ends = self._starts.tolist(), self._footers.tolist()
            zeroed = [google_crc32c.value(self._zeroed[a:b].tobytes()) for a, b in zip(starts, ends, strict=True)]
            after = self._footers - 1
            values = self._values.reshape(len(ends), -1)
            self._crcs = np.array(zeroed, np.uint32), (
                _tables_of(after - self._walls, 8),
                _tables_of(after - self._steps, self._step_bytes),
                [_tables_of(after - values[:, column], 4) for column in range(values.shape[1])],
            )
        return self._crcs

    def begins(self, frames: RecordWindow, at: int) -> bool:
        """Return whether the record at an index begins a round of this pattern."""
        begin = _begin(frames, at)
        if frames.length[at] != self.lengths[0] or begin + self.stride > _end(frames):
            return False
        row = frames.data[begin : begin + self.stride]
        return not np.count_nonzero((row & self._mask) != self._constant)

    def read(self, frames: RecordWindow, at: int, found: RecordCollector) -> tuple[int, Ints]:
        """Read the rounds from the record at an index on.

        Return the number of rounds, and those of them (from 0) of which a record fails its CRC: they are not read.
        """
        begin = _begin(frames, at)
        most = (_end(frames) - begin) // self.stride
        done, chunk, damaged = 0, max(LEAST_ROWS, FIRST_BYTES // self.stride), []
        while done < most:
            rows = frames.data[begin + done * self.stride : begin + min(done + chunk, most) * self.stride]
            rows = rows.reshape(-1, self.stride)
            differs = (rows & self._mask) != self._constant
            count = int(differs.any(axis=1).argmax()) if np.count_nonzero(differs) else len(rows)
            if count:
                bad = self._take(frames, begin + done * self.stride, rows[:count], found)
                if len(bad):
                    damaged.append(bad + done)
            done += count
            if count < len(differs):
                break
            chunk = max(LEAST_ROWS, CHUNK_BYTES // self.stride)
        return done, np.concatenate(damaged) if damaged else np.empty(0, np.int64)

    def _take(self, frames: RecordWindow, place: int, rows: Bytes, found: RecordCollector) -> Ints:
        """Add the rounds in rows; return those of which a record fails its CRC, which are left out."""
        data, records = frames.data, len(self.lengths)
        at = place + np.arange(len(rows)) * self.stride
        wall_time = _fields(data, at, self._walls, "<f8")
        value = _fields(data, at, self._values, "<f4")
        stored = _fields(data, at, self._footers, "<u4")
        step_bytes = [_fields(data, at, self._steps + byte, "|u1") for byte in range(self._step_bytes)]
        zeroed, (wall_tables, step_tables, value_tables) = self._crc_tables()
        crc = np.repeat(zeroed[:, None], len(rows), axis=1)
        _extend(crc, wall_tables, wall_time)
        for byte, table in enumerate(step_tables):
            crc ^= table.differences(step_bytes[byte])
        for column, tables in enumerate(value_tables):
            _extend(crc, tables, np.ascontiguousarray(value[column :: len(value_tables)]))
        step = _varints([column[0] for column in step_bytes])
        begin = at + frames.base
        wrong = crc != unmask_columns(stored)
        bad = np.flatnonzero(wrong.any(axis=0)) if np.count_nonzero(wrong) else np.empty(0, np.int64)
        if len(bad):
            good = np.delete(np.arange(len(rows)), bad)
            wall_time, value, step, begin = wall_time[:, good], value[:, good], step[good], begin[good]
            step_bytes = [column[:, good] for column in step_bytes]
        if records == 1:
            found.add_columns(RecordColumns(found.id_of(self.tags), step, wall_time[0], begin, value))
        elif not any(np.count_nonzero(column != column[0]) for column in step_bytes):
            within = stretched(self._within[:, None], wall_time.shape)
            found.add_rounds(self.tags, RoundTable(step, wall_time, begin, within, value))
        else:
            for record, tag in enumerate(self.tags):
                own = _varints([column[record] for column in step_bytes])
                own_order, own_value = begin + self._within[record], value[record : record + 1]
                found.add_columns(RecordColumns(found.id_of((tag,)), own, wall_time[record], own_order, own_value))
        return bad


def _begin(frames: RecordWindow, at: int) -> int:
    return int(frames.start[at]) - HEADER


def _end(frames: RecordWindow) -> int:
    return int(frames.start[-1] + frames.length[-1]) + FOOTER


class _ChecksumTables:
    """How one byte of each record changes the CRC of the record; distances is the number of bytes after it, by record."""

    def __init__(self, distances: Ints) -> None:
        unique, which = np.unique(distances, return_inverse=True)
        self._tables = np.concatenate([byte_table(int(distance)) for distance in unique])
        self._base = (which.reshape(-1, 1) << 8) if len(unique) > 1 else None

    def differences(self, plane: Bytes) -> Words:
        """Return the difference to the CRC for each byte, of shape (records, n)."""
        if self._base is None:
            return self._tables.take(plane)
        return self._tables.take(plane + self._base)


_TablesOfFields = tuple[list[_ChecksumTables], list[_ChecksumTables], list[list[_ChecksumTables]]]


def _tables_of(distances: Ints, width: int) -> list[_ChecksumTables]:
    """Return the tables of a field, given the bytes after the first of its bytes."""
    return [_ChecksumTables(distances - byte) for byte in range(width)]


def _extend(crc: Words, tables: Sequence[_ChecksumTables], column: NDArray[Any]) -> None:
    """Add the numbers of one field, of shape (records, n), to the CRCs; bytes that never change are looked up once."""
    width = column.dtype.itemsize
    bits = column.view(f"<u{width}")
    varying = int(np.bitwise_or.reduce(bits ^ bits[:, :1], axis=None))
    every = column.view(np.uint8).reshape(*column.shape, width)
    for byte, table in enumerate(tables):
        crc ^= table.differences(every[:, :, byte] if varying >> 8 * byte & 255 else every[:, :1, byte])


def _fields(data: Bytes, at: Ints, places: Ints, dtype: str) -> NDArray[Any]:
    """Return the numbers at some places after each of some positions, of shape (places, positions)."""
    width = np.dtype(dtype).itemsize
    numbers: NDArray[Any] = np.ndarray((len(data) - width + 1,), dtype, data, strides=(1,))
    found: NDArray[Any] = numbers[at + places[:, None]]
    return found


def _varints(columns: Sequence[Bytes]) -> Ints:
    """Return the numbers whose bytes are given, the lowest first."""
    total = np.zeros(len(columns[0]), np.uint64)
    for place, column in enumerate(columns):
        total |= (column & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * place)
    return total.view(np.int64)


class RecordPatterns:
    """The patterns met last in files of one form, and the record lengths at the beginning of the last file.

    They make reading faster and change no result. May be used by several threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: tuple[Pattern, ...] = ()
        self.lengths: Ints = np.empty(0, np.int64)

    def at(self, frames: RecordWindow, at: int) -> Pattern | None:
        """Return the pattern of which a round begins with the record at an index."""
        for place, pattern in enumerate(known := self._known):
            if pattern.begins(frames, at):
                if place:
                    self._first(pattern, known)
                return pattern
        return None

    def add(self, pattern: Pattern) -> None:
        """Remember a pattern; the one that was used longest ago is forgotten."""
        self._first(pattern, self._known)

    def note(self, lengths: Ints) -> None:
        """Remember the lengths of the first records of a file."""
        self.lengths = lengths[:MOST_LENGTHS].copy()

    def _first(self, pattern: Pattern, known: Sequence[Pattern]) -> None:
        with self._lock:
            self._known = (pattern, *(other for other in known if other is not pattern))[:MOST_PATTERNS]


class RoundReader:
    """Reads the rounds of one file."""

    def __init__(self, form: MessageLayout, found: RecordCollector, patterns: RecordPatterns) -> None:
        self._form, self._found, self._patterns = form, found, patterns

    def read(self, frames: RecordWindow) -> tuple[NDArray[np.bool_], int]:
        """Read all rounds; return which records remain, and how many of them, the last ones, may begin a round.

        Where rounds are short and many patterns take turns, the rest of the window remains.
        """
        total = len(frames.length)
        left = np.ones(total, np.bool_)
        at, credit = int(frames.base == 0), CREDIT
        while at < total and credit > 0:
            pattern, parsed = self._patterns.at(frames, at), 0
            if pattern is None:
                pattern, parsed = self._parsed(frames, at)
            credit -= COST + parsed
            if pattern is None:
                at += max(parsed, 1)
                continue
            rounds, damaged = pattern.read(frames, at, self._found)
            records = len(pattern.lengths)
            read = left[at : at + rounds * records].reshape(rounds, records)
            read[:] = False
            read[damaged] = True
            at += rounds * records
            credit = min(credit + rounds * records, MOST_CREDIT)
            if 0 < total - at < records and np.array_equal(frames.length[at:], pattern.lengths[: total - at]):
                return left, total - at
        return left, 0

    def _parsed(self, frames: RecordWindow, at: int) -> tuple[Pattern | None, int]:
        """Parse the round that begins with the record at an index; return its pattern if it repeats, and its records."""
        events: list[EventMessage] = []
        tags: set[str] = set()
        begin, most = _begin(frames, at), min(at + MOST_RECORDS, len(frames.length))
        for number in range(at, most):
            start, length = int(frames.start[number]), int(frames.length[number])
            if start + length - begin > MOST_BYTES:
                return None, len(events)
            event = plain(frames.data[start : start + length].tobytes(), self._form)
            if event is None or not _regular(event) or (events and len(event.scalars) > 1):
                break
            own = {scalar.tag for scalar in event.scalars}
            if len(own) < len(event.scalars) or not tags.isdisjoint(own) or (events and event.step != events[0].step):
                break
            events.append(event)
            tags |= own
            if len(own) > 1:
                break
        if not events:
            return None, 0
        records = len(events)
        lengths = frames.length[at : at + records].copy()
        enough = max(records, LEAST_RECORDS - records)
        after = frames.length[at + records : at + records + enough]
        if len(after) < enough or (after != np.resize(lengths, enough)).any():
            return None, records
        if len({event.step_end - event.step_at for event in events}) > 1:
            return None, records
        stride = int((lengths + FRAME).sum())
        pattern = Pattern(frames.data[begin : begin + stride].copy(), events, lengths)
        if not pattern.begins(frames, at + records):
            return None, records
        self._patterns.add(pattern)
        return pattern, records


def _regular(event: EventMessage) -> bool:
    """Return whether a message can be part of a pattern."""
    few = len(event.scalars) <= MOST_SCALARS
    return few and event.wall >= 0 and event.step_at >= 0 and all(scalar.dtype == "<f4" for scalar in event.scalars)
