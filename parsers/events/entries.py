"""Reads records that each hold some of the same tags, such as steps of which a part of the values is missing.

With ten tags there are a thousand such records, of one length or another, so no two need be alike as a whole. Their entries
are: bytes that never change before each value, in an order that every record keeps. All records are therefore walked at once,
entry by entry of a vocabulary: those that have the entry at their position give its value and move on. A record whose last
byte is reached this way is read, and then its CRC is checked; all others are left to other readers.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, NamedTuple

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from parsers.events.checksums import unmask_columns
from parsers.events.collect import RecordCollector, RecordColumns
from parsers.events.columns import plain
from parsers.events.records import HEADER, RecordWindow
from parsers.events.walk import STEP, SUMMARY, TAG, VALUE, WALL_TIME, MessageLayout
from parsers.events.wire import varint
from parsers.model import Ints

LEAST_RECORDS, SAMPLES = 256, 32
FEW_KINDS = 8
"""Records with this few different sets of tags are read faster as alike records (`parsers.events.columns`)."""
MOST_ENTRIES, MOST_BYTES, MOST_SEARCHED = 512, 512, 8
"""A longer vocabulary or entry is not used, nor a vocabulary of this many times as many entries as a record has."""
_LEAST_LENGTH = 14
_VALUE_BYTES = 4


class TagEntry(NamedTuple):
    """A tag, and the bytes of a summary's value up to its number, as 64-bit words with masks for the last one."""

    tag: str
    begin: bytes
    words: tuple[tuple[np.uint64, np.uint64], ...]


class EntryReader:
    """Reads records of one file by their entries; remembers the vocabulary from window to window."""

    def __init__(self, form: MessageLayout, found: RecordCollector) -> None:
        self._form, self._found = form, found
        self._vocabulary: list[TagEntry] = []
        self._entries: dict[bytes, TagEntry] = {}
        self._before: dict[bytes, set[bytes]] = {}  # the entries seen directly before each

    def read(self, frames: RecordWindow, rows: Ints) -> tuple[Ints, Ints]:
        """Read those of some records that are made of entries; return the others, and those whose data fail their CRC."""
        none = rows[:0]
        if len(rows) < LEAST_RECORDS or not self._form.scalar or not self._learn(frames, rows):
            return rows, none
        good, step, at = _prefix(frames, rows)
        read = rows[good]
        step, at = step[good], at[good]
        start, end = frames.start[read], frames.start[read] + frames.length[read]
        parts, done = self._walk(frames, at, end)
        raw, crc = frames.data.tobytes(), google_crc32c.value
        places = np.flatnonzero(done)
        bounds = zip(start[places].tolist(), end[places].tolist(), strict=True)
        computed = np.array([crc(raw[begin:stop]) for begin, stop in bounds], np.uint32)
        stored = np.ndarray((len(frames.data) - 3,), "<u4", frames.data, strides=(1,))[end[places]]
        bad = places[computed != unmask_columns(stored)]
        intact = done.copy()
        intact[bad] = False
        self._add(frames, start, step, parts, intact)
        left = np.ones(len(rows), np.bool_)
        left[np.flatnonzero(good)[done]] = False
        return rows[left], read[bad]

    def _walk(
        self, frames: RecordWindow, at: Ints, end: Ints
    ) -> tuple[list[tuple[str, Ints, NDArray[Any]]], NDArray[np.bool_]]:
        """Return (tag, records, values) of each entry, and which records consist of entries."""
        words = np.ndarray((len(frames.data) - 7,), "<u8", frames.data, strides=(1,))
        numbers = np.ndarray((len(frames.data) - 3,), "<f4", frames.data, strides=(1,))
        at, parts = at.copy(), []
        for entry in self._vocabulary:
            first, mask = entry.words[0]
            here = np.flatnonzero((words[at] & mask) == first)
            here = here[at[here] + (len(entry.begin) + _VALUE_BYTES) <= end[here]]
            for number, (word, mask) in enumerate(entry.words[1:], 1):
                here = here[(words[at[here] + 8 * number] & mask) == word]
            value = at[here] + len(entry.begin)
            parts.append((entry.tag, here, numbers[value]))
            at[here] = value + _VALUE_BYTES
        return parts, at == end

    def _add(
        self, frames: RecordWindow, start: Ints, step: Ints, parts: list[tuple[str, Ints, NDArray[Any]]],
        intact: NDArray[np.bool_]
    ) -> None:
        """Add the values of intact records."""
        times = np.ndarray((len(frames.data) - 7,), "<f8", frames.data, strides=(1,))
        wall_time, order = times[start + 1], start + (frames.base - HEADER)
        self._found.add_records(wall_time[intact])
        whole = bool(intact.all())
        for tag, here, value in parts:
            if not whole:
                kept = intact[here]
                here, value = here[kept], value[kept]
            if len(here):
                number = self._found.id_of((tag,))
                self._found.add_part(RecordColumns(number, step[here], wall_time[here], order[here], value[None]))

    def _learn(self, frames: RecordWindow, rows: Ints) -> bool:
        """Add the entries of some records to the vocabulary; return whether the records are to be read by entries."""
        kinds, count, news = set(), 0, False
        for row in rows[np.linspace(0, len(rows) - 1, SAMPLES).astype(np.intp)].tolist():
            start, length = int(frames.start[row]), int(frames.length[row])
            message = frames.data[start : start + length].tobytes()
            event = plain(message, self._form)
            begins = _entries(message, self._form) if event is not None else None
            if event is None or begins is None or len(begins) != len(event.scalars):
                continue
            kinds.add(tuple(begins))
            count += len(begins)
            for begin, scalar in zip(begins, event.scalars, strict=True):
                if begin not in self._entries:
                    self._entries[begin], self._before[begin] = TagEntry(scalar.tag, begin, _words(begin)), set()
                    news = True
            for before, begin in pairwise(begins):
                news = news or before not in self._before[begin]
                self._before[begin].add(before)
            if len(self._entries) > MOST_ENTRIES:
                break
        if len(self._entries) > MOST_ENTRIES or (news and not self._sort()):
            self._vocabulary, self._entries, self._before = [], {}, {}
            return False
        return len(kinds) > FEW_KINDS and count > SAMPLES and len(self._entries) * SAMPLES <= MOST_SEARCHED * count

    def _sort(self) -> bool:
        """Bring the vocabulary into an order that all sampled records keep; return whether there is one."""
        try:
            self._vocabulary = [self._entries[begin] for begin in TopologicalSorter(self._before).static_order()]
        except CycleError:
            return False
        return True


def _entries(message: bytes, form: MessageLayout) -> list[bytes] | None:
    """Return the bytes of each value of a summary up to its number; None unless the message is built as this module expects."""
    try:
        if message[0] != WALL_TIME or message[9] != STEP:
            return None
        _, at = varint(message, 10)
        if message[at] != SUMMARY:
            return None
        size, at = varint(message, at + 1)
        if at + size != len(message):
            return None
        found = []
        while at < len(message):
            begin = at
            if message[at] != VALUE:
                return None
            size, at = varint(message, at + 1)
            end = at + size
            if message[at] != TAG:
                return None
            size, at = varint(message, at + 1)
            at += size
            if message[at] != form.scalar or at + 1 + _VALUE_BYTES != end or at + 1 - begin > MOST_BYTES:
                return None
            found.append(message[begin : at + 1])
            at = end
    except IndexError:
        return None
    return found if at == len(message) else None


def _words(begin: bytes) -> tuple[tuple[np.uint64, np.uint64], ...]:
    """Return the 64-bit words of some bytes with a mask for each."""
    size = -(-len(begin) // 8) * 8
    words = np.frombuffer(begin.ljust(size, b"\0"), "<u8")
    masks = np.frombuffer((b"\xff" * len(begin)).ljust(size, b"\0"), "<u8")
    return tuple(zip(words, masks, strict=True))


def _prefix(frames: RecordWindow, rows: Ints) -> tuple[NDArray[np.bool_], Ints, Ints]:
    """Parse what comes before the values: (which records are built as expected, step, where the values begin)."""
    data, start, length = frames.data, frames.start[rows], frames.length[rows]
    good = length >= _LEAST_LENGTH
    start = np.where(good, start, start[good][0] if good.any() else 0)
    good &= (data[start] == WALL_TIME) & (data[start + 9] == STEP)
    step, at, closed = _varints(data, start + 10, 10)
    good &= closed & (data[at] == SUMMARY)
    size, at, closed = _varints(data, at + 1, 3)
    good &= closed & (at + size == start + length)
    return good, step, at


def _varints(data: NDArray[np.uint8], at: Ints, most: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Read a number of at most `most` bytes at each position: (numbers, the positions after them, whether they end)."""
    total, more = np.zeros(len(at), np.uint64), np.ones(len(at), np.bool_)
    for place in range(most):
        byte = data[at]
        total |= np.where(more, byte & np.uint8(0x7F), np.uint8(0)).astype(np.uint64) << np.uint64(7 * place)
        at = at + more
        more = more & (byte >= 0x80)
        if not more.any():
            break
    return total.view(np.int64), at, ~more
