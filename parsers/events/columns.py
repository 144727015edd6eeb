"""Reads thousands of similar records at once.

Event files are extremely regular: most records differ from others of the same length only in wall time, step and values. One
record of each length is parsed; the positions of its variable bytes make a `Shape`. All records of that length are then
compared with it under a mask that excludes these bytes (of a varint only the continuation bits count), so a matching record
has the same fields at the same positions. Records of one shape with different tags are distinguished by a hash of the masked
bytes and compared with the template of that hash byte by byte. The variable bytes are read as columns; the CRC of each
record is computed from its template and its variable bytes, so every byte is verified.

The parsed record is the middle one: the first of a file is the least typical. Work is bounded: records of a length that do
not match after twelve comparisons are parsed one by one, as are small groups and long records. If records of one scalar
differ in their tags, of which none comes twice, only tag and CRC are read one by one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from parsers.events.checksums import Words, byte_table, unmask_columns
from parsers.events.collect import Ids, RecordCollector, RecordColumns
from parsers.events.records import HEADER, RecordWindow
from parsers.events.walk import EventMessage, MessageLayout, walk
from parsers.events.wire import WireError
from parsers.model import Floats, Ints, Values
from parsers.names import NO_TAG

Bytes = NDArray[np.uint8]
Longs = NDArray[np.uint64]
SMALLEST_GROUP, LONGEST_RECORD = 48, 16 << 10
WORK, SHAPES, TEMPLATES = 12, 16, 4096
TABLE_BYTES = 100
"""From about this many variable bytes, one CRC call per record is faster than a table lookup per byte."""
MULTIPLIER = 0x9E3779B97F4A7C15


class Shape:
    """Positions of the variable bytes in records of one length and structure, and templates of the constant ones."""

    def __init__(self, event: EventMessage, length: int) -> None:
        self.length, self.width = length, -(-length // 8) * 8
        self.wall, self.step_at, self.step_end = event.wall, event.step_at, event.step_end
        self.places = [(scalar.at, np.dtype(scalar.dtype)) for scalar in event.scalars]
        mask = np.zeros(self.width, np.uint8)
        mask[:length] = 255
        for at, dtype in [(self.wall, np.dtype("<f8"))] * (self.wall >= 0) + self.places:
            mask[at : at + dtype.itemsize] = 0
        mask[max(self.step_at, 0) : max(self.step_end, 0)] = 0x80
        self.mask = mask.view(np.uint64)
        structure = mask.copy()
        for start, end in event.names:
            structure[start:end] = 0
        self.structure = structure.view(np.uint64)
        self.tag = event.tags[0] if len(event.tags) == len(event.scalars) == 1 else None
        but_tag = mask.copy()
        but_tag[slice(*(self.tag or (0, 0)))] = 0
        self._but_tag = but_tag.view(np.uint64)
        self.variable = np.flatnonzero(mask[:length] != 255)
        self._keys = (np.arange(1, len(self.mask) + 1, dtype=np.uint64) * np.uint64(MULTIPLIER)) | np.uint64(1)
        self.hashes = np.empty(0, np.uint64)
        self.templates = np.empty((0, len(self.mask)), np.uint64)
        self.crcs, self.ids = np.empty(0, np.uint32), np.empty(0, np.int32)

    def alike(self, other: Shape) -> bool:
        """Return whether records of both shapes have the same fields at the same positions."""
        return self.places == other.places and np.array_equal(self.mask, other.mask)

    def built_alike(self, constant: Longs) -> NDArray[np.bool_]:
        """Return for each row, given by its constant bits, whether it equals this shape except in tags and metadata."""
        same: NDArray[np.bool_] = ~((constant ^ self.templates[0]) & self.structure).any(axis=1)
        return same

    def with_other_tags(self, constant: Longs) -> NDArray[np.bool_]:
        """Return for each row, given by its constant bits, whether it equals this shape of one tag except in its tag."""
        if self.tag is None:
            return np.zeros(len(constant), np.bool_)
        same: NDArray[np.bool_] = ~((constant ^ self.templates[0]) & self._but_tag).any(axis=1)
        return same

    def masked(self, rows: Bytes) -> Longs:
        """Return the constant bits of rows as words."""
        constant: Longs = rows.view(np.uint64) & self.mask
        return constant

    def hash(self, constant: Longs) -> Longs:
        """Hash the constant bytes of each row."""
        total: Longs = constant[:, 0] * self._keys[0]
        for word in range(1, constant.shape[1]):
            total += constant[:, word] * self._keys[word]
        return total

    def learn(self, constant: Longs, rows: Bytes, numbers: list[int]) -> None:
        """Learn the constant bits of some rows; numbers are the ids of their tags."""
        zeroed = rows[:, : self.length].copy()
        zeroed[:, self.variable] = 0
        crcs = np.array([google_crc32c.value(row.tobytes()) for row in zeroed], np.uint32)
        hashes, first = np.unique(np.concatenate((self.hashes, self.hash(constant))), return_index=True)
        self.hashes = hashes
        self.templates = np.concatenate((self.templates, constant))[first]
        self.crcs = np.concatenate((self.crcs, crcs))[first]
        self.ids = np.concatenate((self.ids, np.array(numbers, np.int32)))[first]

    def match(self, constant: Longs) -> NDArray[np.intp]:
        """Return the number of each row's template, -1 for none."""
        if len(self.hashes) == 1:
            which = np.zeros(len(constant), np.intp)
            differ = constant ^ self.templates[0]
        else:
            which = np.searchsorted(self.hashes, self.hash(constant)).clip(max=len(self.hashes) - 1)
            differ = constant ^ self.templates[which]
        wrong = differ[:, 0]
        for word in range(1, differ.shape[1]):
            wrong |= differ[:, word]
        which[wrong != 0] = -1
        return which

    def crc(self, rows: Bytes, which: NDArray[np.intp]) -> Words:
        """The CRC of each row's data, given its template."""
        if len(self.variable) > TABLE_BYTES:
            return self.crc_of_each(rows)
        crc: Words = self.crcs[which]
        for at in self.variable.tolist():
            crc ^= byte_table(self.length - 1 - at).take(rows[:, at])
        return crc

    def crc_of_each(self, rows: Bytes) -> Words:
        """The CRC of each row's data, computed of all its bytes."""
        data, width, value = rows.tobytes(), self.width, google_crc32c.value
        return np.array([value(data[at : at + self.length]) for at in range(0, len(data), width)], np.uint32)

    def tags(self, rows: Bytes) -> list[str]:
        """The tag of each row."""
        begin, end = self.tag or (0, 0)
        data, size = rows[:, begin:end].tobytes(), end - begin
        each = (data[at : at + size] for at in range(0, len(data), size)) if size else (b"" for _ in rows)
        return [raw.decode("utf-8", "backslashreplace") or NO_TAG for raw in each]

    def step(self, rows: Bytes) -> Ints:
        """The varint of each row."""
        total = np.zeros(len(rows), np.uint64)
        for shift, at in enumerate(range(self.step_at, self.step_end)):
            total |= (rows[:, at] & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * shift)
        return total.view(np.int64)

    def wall_time(self, rows: Bytes) -> Floats:
        """The wall time of each row."""
        return np.zeros(len(rows)) if self.wall < 0 else _field(rows, self.wall, np.dtype("<f8")).astype(np.float64)

    def value(self, rows: Bytes) -> Values:
        """The scalars of each row, shape (k, n)."""
        narrow = all(dtype == np.float32 for _, dtype in self.places)
        values: NDArray[Any] = np.empty((len(self.places), len(rows)), np.float32 if narrow else np.float64)
        with np.errstate(invalid="ignore"):  # a signalling NaN
            for scalar, (at, dtype) in enumerate(self.places):
                values[scalar] = _field(rows, at, dtype)
        return values


class ColumnDecoder:
    """Reads alike records of one file together; remembers their shapes from window to window."""

    def __init__(self, form: MessageLayout, found: RecordCollector) -> None:
        self._form, self._found = form, found
        self._shapes: defaultdict[int, list[Shape]] = defaultdict(list)

    def decode(self, frames: RecordWindow, rows: Ints) -> tuple[Ints, Ints]:
        """Decode those of some rows that can be read in columns; return the others and the rows whose data fail their CRC."""
        if len(rows) < SMALLEST_GROUP:
            return rows, rows[:0]
        left: list[Ints] = []
        damaged: list[Ints] = []
        for among in _groups(frames.length[rows]):
            group = rows[among]
            length = int(frames.length[group[0]])
            if len(group) < SMALLEST_GROUP or not 0 < length <= LONGEST_RECORD:
                left.append(group)
                continue
            rest, bad = self._decode_group(frames, group, length)
            left.append(rest)
            damaged.append(bad)
        rest = np.concatenate(left) if left else np.empty(0, np.int64)
        rest.sort()
        return rest, np.concatenate(damaged) if damaged else np.empty(0, np.int64)

    def _decode_group(self, frames: RecordWindow, group: Ints, length: int) -> tuple[Ints, Ints]:
        start = frames.start[group]
        rows = _gather(frames.data, start, -(-length // 8) * 8)
        stored = np.ndarray((len(frames.data) - 3,), "<u4", frames.data, strides=(1,))[start + length]
        rest = np.arange(len(group))
        damaged: list[Ints] = []
        work = WORK * len(group)
        shapes = self._shapes[length]
        tried = 0
        while len(rest) >= SMALLEST_GROUP and work >= len(rest):
            if tried == len(shapes) and not self._new_shape(rows[rest], length):
                break
            shape = shapes[tried]
            tried += 1
            work -= 2 * len(rest)
            here = rows if len(rest) == len(rows) else rows[rest]
            constant = shape.masked(here)
            which = shape.match(constant)
            if (which < 0).any():
                self._learn(shape, here, constant, which)
                which = shape.match(constant)
            fits = np.flatnonzero(which >= 0)
            if len(fits) == len(rest):
                damaged.append(group[rest][self._take(shape, here, which, frames, group[rest], stored[rest])])
                return np.empty(0, np.int64), np.concatenate(damaged)
            taken = rest[fits]
            if len(taken):
                bad = self._take(shape, here[fits], which[fits], frames, group[taken], stored[taken])
                damaged.append(group[taken][bad])
            unlike = np.flatnonzero(which < 0)
            unlike = unlike[shape.with_other_tags(constant[unlike])]
            if len(unlike):
                single = group[rest[unlike]]
                damaged.append(single[self._take_unlike(shape, here[unlike], frames, single, stored[rest[unlike]])])
                which[unlike] = 0
            rest = rest[which < 0]
        return group[rest], np.concatenate(damaged) if damaged else np.empty(0, np.int64)

    def _new_shape(self, rows: Bytes, length: int) -> bool:
        """Learn a shape from a row near the middle; return whether one was found."""
        shapes = self._shapes[length]
        if len(shapes) >= SHAPES:
            return False
        for at in (len(rows) // 2, len(rows) // 4, 3 * len(rows) // 4):
            event = plain(rows[at, :length].tobytes(), self._form)
            if event is None:
                continue
            shape = Shape(event, length)
            if any(shape.alike(known) for known in shapes):
                continue
            pivot = rows[at : at + 1]
            shape.learn(shape.masked(pivot), pivot, [self._id(event)])
            shapes.append(shape)
            return True
        return False

    def _learn(self, shape: Shape, rows: Bytes, constant: Longs, which: NDArray[np.intp]) -> None:
        """Parse one record of each group of unmatched rows that differ in their constant bytes only, such as another tag."""
        unknown = np.flatnonzero(which < 0)
        unknown = unknown[shape.built_alike(constant[unknown])]
        if not len(unknown):
            return
        _, first, count = np.unique(shape.hash(constant[unknown]), return_index=True, return_counts=True)
        learned: list[int] = []
        numbers: list[int] = []
        for at in unknown[first[count > 1]][: TEMPLATES - len(shape.ids)].tolist():
            event = plain(rows[at, : shape.length].tobytes(), self._form)
            if event is not None and shape.alike(Shape(event, shape.length)):
                learned.append(at)
                numbers.append(self._id(event))
        if learned:
            shape.learn(constant[learned], rows[learned], numbers)

    def _id(self, event: EventMessage) -> int:
        return self._found.id_of(tuple(scalar.tag for scalar in event.scalars))

    def _take(
        self, shape: Shape, rows: Bytes, which: NDArray[np.intp], frames: RecordWindow, group: Ints, stored: Words
    ) -> NDArray[np.bool_]:
        """Add the rows with a correct CRC; return the others."""
        bad: NDArray[np.bool_] = shape.crc(rows, which) != unmask_columns(stored)
        if bad.all():
            return bad
        if bad.any():
            good = ~bad
            rows, which, group = rows[good], which[good], group[good]
        ids: int | Ids = int(shape.ids[0]) if len(shape.ids) == 1 else shape.ids[which]
        order = frames.start[group] + (frames.base - HEADER)
        self._found.add_columns(RecordColumns(ids, shape.step(rows), shape.wall_time(rows), order, shape.value(rows)))
        return bad


    def _take_unlike(self, shape: Shape, rows: Bytes, frames: RecordWindow, group: Ints, stored: Words) -> NDArray[np.bool_]:
        """Add rows with a tag of their own each and a correct CRC; return the others."""
        bad: NDArray[np.bool_] = shape.crc_of_each(rows) != unmask_columns(stored)
        if bad.any():
            rows, group = rows[~bad], group[~bad]
        if len(rows):
            ids = np.array(self._found.ids_of(shape.tags(rows)), np.int32)
            order = frames.start[group] + (frames.base - HEADER)
            self._found.add_columns(RecordColumns(ids, shape.step(rows), shape.wall_time(rows), order, shape.value(rows)))
        return bad


def _groups(length: Ints) -> list[Ints]:
    """Rows by length, each group in file order."""
    if not len(length):
        return []
    if (length == length[0]).all():
        return [np.arange(len(length))]
    short = length.clip(max=(1 << 16) - 1).astype(np.uint16)  # 16 bits are sorted by radix
    by_length = np.argsort(short, kind="stable")
    return np.split(by_length, np.flatnonzero(np.diff(short[by_length])) + 1)


def _gather(data: Bytes, start: Ints, width: int) -> Bytes:
    """Return the `width` bytes after each start as rows."""
    pieces = np.ndarray((len(data) - width + 1,), f"V{width}", data, strides=(1,))
    return pieces[start].view(np.uint8).reshape(len(start), width)


def _field(rows: Bytes, at: int, dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
    """A fixed-width field of each row, as a view."""
    return np.ndarray((len(rows),), dtype, rows, offset=at, strides=(rows.shape[1],))


def plain(data: bytes, form: MessageLayout) -> EventMessage | None:
    """Parse a message; None unless it holds only scalars and each field once."""
    try:
        event = walk(data, len(data), form)
    except WireError:
        return None
    return event if event.plain and event.scalars else None
