"""Finds where each record begins and ends in a file that may be damaged or still growing.

Only headers decide here. A window of the file is framed record by record; once lengths repeat, whole blocks of records are
predicted from the pattern and checked at once. The CRC of every length is checked; the CRC of the data is left to the caller,
except for a doubtful record that no other record follows.

Distinguishing damage from growth:

- Fewer than 12 bytes at the end are an unfinished header. It waits, silently.
- A header with a correct CRC whose record ends beyond the file is an unfinished record, and waits, unless it claims 2 GiB or
  more (no protobuf message is that long) or a complete record is found after it: then its length is wrong.
- Zeros are no header. Holes of sparse files are skipped without reading them where the system knows where they are.
- A header whose CRC fails is damage. If the record before it fails its data CRC, the search for the next record begins within
  that one (it may have been cut and overwritten), otherwise after the bad header. If none is found, the bytes are
  skipped except for the last 11, in which a header may begin.
- A record whose length fails its CRC, but whose data at that length match theirs, is intact and kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from parsers.events.checksums import SMALL, length_crcs, small_length_crcs
from parsers.files import RegularFile
from parsers.model import Ints, Search
from parsers.recording.wire import mask

HEADER, FOOTER = 12, 4
FRAME = HEADER + FOOTER
LONGEST = 1 << 31
WINDOW = 4 << 20
FIRST_WINDOW, STEP_WINDOW = 1 << 18, 1 << 12
SEARCH_FIRST, SEARCH_LAST = 512, 1 << 20
CANDIDATE_COST = 16
"""Bytes searched in the time in which the CRC of one possible header is checked."""
LEAST_SEARCH = 4 * SMALL
"""A search advances by at least this many bytes, however small the limit."""
PADDING = 8
"""Bytes readable after a window, so that its last record can be read as 64-bit words."""
_u64 = Struct("<Q").unpack_from
_u32 = Struct("<I").unpack_from
_EMPTY_CRC = mask(google_crc32c.value(bytes(8)))


@dataclass(frozen=True, slots=True)
class RecordWindow:
    """Records of one window: data holds the window's bytes until the next one is read, base is the file offset of data[0],
    start the position in data of each record's message and length its bytes."""

    data: NDArray[np.uint8]
    base: int
    start: Ints
    length: Ints


@dataclass(frozen=True, slots=True)
class Large:
    """A record of more than SMALL bytes, by the file offset of its header; verified says whether its data CRC was checked."""

    offset: int
    length: int
    verified: bool


@dataclass(frozen=True, slots=True)
class Damage:
    """Skipped bytes: kind as in Problem, detail a sentence about what was found."""

    offset: int
    length: int
    kind: str
    detail: str


def frame(data: NDArray[np.uint8], size: int, guess: Ints | None = None) -> tuple[Ints, Ints, int]:
    """Frame the records of the first `size` bytes of data: message starts, lengths, and where the next header is.

    Stops at a header that is incomplete, fails its CRC, or whose record is larger than SMALL or ends beyond `size`. guess are
    lengths that the first records may have: those of another file.
    """
    starts: list[Ints] = []
    lengths: list[Ints] = []
    pos, chunk = 0, 64
    if guess is not None and len(guess):
        start, pos = _frame_as_guessed(data, size, guess)
        starts, lengths = [start], [guess[: len(start)]]
    while True:
        block, ahead = _frame_one_by_one(data, pos, size, chunk)
        if not len(block):
            break
        starts.append(pos + HEADER + np.cumsum(block + FRAME) - (block + FRAME))
        lengths.append(block)
        pos = ahead
        if len(block) < chunk:
            break
        chunk = min(chunk * 2, 4096)
        foretold, pos = _frame_by_pattern(data, pos, size, block)
        starts += [s for s, _ in foretold]
        lengths += [n for _, n in foretold]
        if sum(len(n) for _, n in foretold) >= chunk:
            chunk = 64
    if not starts:
        return np.empty(0, np.int64), np.empty(0, np.int64), 0
    start, length = np.concatenate(starts), np.concatenate(lengths)
    stored = np.ndarray((size,), "<u4", data, strides=(1,))[start - FOOTER]
    wrong = np.flatnonzero(small_length_crcs()[length] != stored)
    if len(wrong):
        first = int(wrong[0])
        return start[:first], length[:first], int(start[first]) - HEADER
    return start, length, pos


def _frame_one_by_one(data: NDArray[np.uint8], pos: int, size: int, count: int) -> tuple[Ints, int]:
    """Lengths of up to `count` records from pos on, and the position after them."""
    view, last = data.data, size - FRAME
    lengths: list[int] = []
    while pos <= last and len(lengths) < count:
        length = _u64(view, pos)[0]
        if length > SMALL or length > last - pos:
            break
        lengths.append(length)
        pos += FRAME + length
    return np.array(lengths, np.int64), pos


def _frame_as_guessed(data: NDArray[np.uint8], size: int, guess: Ints) -> tuple[Ints, int]:
    """Return the message starts of the first records while they have the guessed lengths, and the position after them."""
    ends = np.cumsum(guess + FRAME)
    at = (ends - (guess + FRAME))[: ends.searchsorted(size, side="right")]
    if not len(at):
        return at, 0
    wrong = np.ndarray((size - 7,), "<i8", data, strides=(1,))[at] != guess[: len(at)]
    count = int(wrong.argmax()) if np.count_nonzero(wrong) else len(at)
    return at[:count] + HEADER, int(ends[count - 1]) if count else 0


def _frame_by_pattern(data: NDArray[np.uint8], pos: int, size: int, known: Ints) -> tuple[list[tuple[Ints, Ints]], int]:
    """Continue while the lengths repeat with the period of the last known ones."""
    found: list[tuple[Ints, Ints]] = []
    period = _period(known)
    if not period:
        return found, pos
    pattern = known[-period:]
    offsets = np.cumsum(pattern + FRAME) - (pattern + FRAME)
    stride = int(pattern.sum()) + FRAME * period
    words = np.ndarray((size - 7,), "<i8", data, strides=(1,))
    repeats = max(1, 64 // period)
    while (repeats := min(repeats, (size - pos) // stride)) > 0:
        at = (pos + np.arange(repeats)[:, None] * stride + offsets).ravel()
        lengths = np.broadcast_to(pattern, (repeats, period)).ravel()
        right = words[at] == lengths
        count = len(at) if right.all() else int(right.argmin())
        found.append((at[:count] + HEADER, lengths[:count]))
        if count < len(at):
            return found, int(at[count])
        pos += repeats * stride
        repeats *= 2
    return found, pos


def _period(lengths: Ints) -> int:
    """Return the number of records since the last 16 lengths occurred before; 0 if they did not."""
    text = lengths.astype("<u4").tobytes()
    tail = text[-64:]
    at = text.rfind(tail, 0, len(text) - 4)
    while at > 0 and at % 4:
        at = text.rfind(tail, 0, at + len(tail) - 1)
    return 0 if at < 0 else (len(text) - len(tail) - at) // 4


class Records:
    """Iterates over the records of a file from an offset.

    After the iteration, `end` is the first byte not consumed and `more` says whether it stopped at its limit of bytes. seen
    is the size of the file when it was last read to its end from the same offset: the bytes up to there have been searched.
    search continues a search for the next record, and afterwards is the one still open: at the limit, or at the end of the
    file. position is how far the file has been read or searched, claim the length of the incomplete record at `end`, or None.
    """

    def __init__(
        self, file: RegularFile, begin: int, seen: int = 0, limit: int | None = None, search: Search | None = None,
        guess: Ints | None = None,
    ) -> None:  # fmt: skip
        self._guess = guess
        self.file, self.end, self.more, self.search = file, begin, False, search
        self.claim: int | None = None
        self._begin, self._seen = begin, seen
        self._stop = None if limit is None else begin + max(limit, 1)
        self._widest = WINDOW if limit is None else min(WINDOW, max(limit, SMALL + FRAME))
        self._last: tuple[int, int] | None = None
        extent = file.size if limit is None else min(limit, file.size)
        self._searches = math.inf if limit is None else limit  # bytes that may still be searched
        self._checks = 8 * extent + (16 << 20)  # bytes whose CRC may still be checked to find records
        self._reached = -1  # where the search for the end of an incomplete record stopped
        self._buffer = self._searched = np.empty(0, np.uint8)

    def __iter__(self) -> Iterator[RecordWindow | Large | Damage]:
        if self.search is not None:
            yield from self._skip(self.search)
        window = FIRST_WINDOW if self._stop is None else max(min(self._stop - self.end, FIRST_WINDOW), STEP_WINDOW)
        while not self.more and (left := self.file.size - self.end) >= HEADER:
            base = self.end
            if self._stop is not None and base >= self._stop:
                self.more = True
                return
            size = self._fill(min(window, self._widest, left))
            start, length, stop = frame(self._buffer, size, None if base else self._guess)
            if len(start):
                self._last = int(start[-1]) + base - HEADER, int(length[-1])
                self.end = base + stop
                yield RecordWindow(self._buffer, base, start, length)
                if self.end < base + stop:
                    window *= 4
                    continue
                if size - stop < HEADER:
                    window *= 4
                    continue
            elif size < HEADER:
                return
            header = self._buffer[stop : stop + HEADER].tobytes() if size - stop >= HEADER else b""
            claim = _claim(header)
            if claim is None:
                yield from self._resynchronise(_u64(header)[0])
            elif claim + FRAME > self.file.size - self.end:
                yield from self._unfinished(claim)
                if self.claim is not None:
                    return
            elif claim > SMALL:
                yield from self._large(claim)
                window = STEP_WINDOW
            else:
                window = max(window * 4, claim + FRAME)

    def go_back(self, frames: RecordWindow, records: int) -> bool:
        """Let the last records of the window yielded last be read again, with those after them; False if none come after."""
        if records >= len(frames.start) or self.file.size - self.end < HEADER:
            return False
        self.end = frames.base + int(frames.start[-records]) - HEADER
        self._last = frames.base + int(frames.start[-records - 1]) - HEADER, int(frames.length[-records - 1])
        return True

    @property
    def position(self) -> int:
        """Return how far the file has been read or searched."""
        return self.end if self.search is None else max(self.search.at, self.end)

    @property
    def seen(self) -> int:
        """Return up to where the bytes after `end` have been searched, as the next read needs it."""
        if not self.more:
            return self.file.size
        return max(self._reached, self.end) if self.search is None else self.search.at

    def _fill(self, size: int) -> int:
        if len(self._buffer) < size + PADDING:
            self._buffer = np.zeros(size + PADDING, np.uint8)
        return self.file.fill(self._buffer.data[:size], self.end)

    def _large(self, length: int) -> Iterator[Large | Damage]:
        """Yield a large record, unless its data are damaged and no record begins where it ends."""
        offset, end = self.end, self.end + FRAME + length
        follower = self.file.read(end, HEADER)
        checked = len(follower) == HEADER and _claim(follower) is None
        if checked and not self._data_holds(offset, length):
            detail = "no record begins where it ends and the CRC of its data does not match"
            yield from self._skip(Search(offset, offset + HEADER, detail))
            return
        yield Large(offset, length, checked)
        self._last, self.end = (offset, length), end  # only now: reading from it may have failed

    def _unfinished(self, claim: int) -> Iterator[Damage]:
        """Decide about a record that ends beyond the file: skip it if its length is wrong, otherwise wait for the rest."""
        begin, detail = self.end, _beyond(claim, self.end, self.file.size)
        if claim >= LONGEST:
            yield from self._skip(Search(begin, begin + HEADER, detail))
            return
        seen = self._seen if begin == self._begin else 0
        if self.file.size > seen:
            found, _, at = self._find(max(begin + HEADER, seen - SMALL - FRAME))
            if found >= 0:
                self.end = found
                yield Damage(begin, found - begin, "bad_length", detail)
                return
            if self.file.size - at >= HEADER:
                self._reached, self.more = at, True
                return
        self.claim = claim

    def _resynchronise(self, claim: int) -> Iterator[RecordWindow | Large | Damage]:
        """Continue after a header whose CRC fails."""
        begin = self.end
        if kept := self._recovered(claim):
            yield Damage(begin, HEADER, "bad_length", "the CRC of its length does not match, but that of its data does")
            yield kept
            self._last, self.end = (begin, claim), begin + FRAME + claim
            return
        beyond = claim > self.file.size - begin - FRAME
        detail = _beyond(claim, begin, self.file.size) if beyond else "the CRC of its length does not match"
        search = begin + 1
        if self._last is not None and not self._data_holds(*self._last):
            begin, search = self._last[0], self._last[0] + HEADER
        yield from self._skip(Search(begin, search, detail))

    def _skip(self, search: Search) -> Iterator[Damage]:
        """Search for the next record and skip the bytes before it; at the limit, leave the search to the next read."""
        found, unfinished, at = self._find(search.at, search.unfinished)
        if found < 0 and self.file.size - at >= HEADER:
            self.search, self.more = Search(search.begin, at, search.detail, unfinished), True
            return
        self.search = None
        if found < 0:
            found = unfinished
        if found < 0:
            found = max(self.file.size - HEADER + 1, self.end)
            self.search = Search(found, found, search.detail)
        self.end = found
        if found > search.begin:
            yield Damage(search.begin, found - search.begin, "bad_length", search.detail)

    def _recovered(self, claim: int) -> RecordWindow | Large | None:
        """Return the record here if its data, at the length it claims, are intact."""
        if claim > self.file.size - self.end - FRAME or not self._data_holds(self.end, claim, unknown=False):
            return None
        if claim > SMALL:
            return Large(self.end, claim, True)
        window = np.frombuffer(self.file.read(self.end, FRAME + claim) + bytes(PADDING), np.uint8)
        return RecordWindow(window, self.end, np.array([HEADER]), np.array([claim]))

    def _data_holds(self, offset: int, length: int, *, unknown: bool = True) -> bool:
        """Return whether the data of a record match their CRC; `unknown` once too many bytes have been checked."""
        if self._checks < 0:  # only in a file crafted to be slow: work stays proportional to its size
            return unknown
        self._checks -= length
        stored = self.file.read(offset + HEADER + length, FOOTER)
        return len(stored) == FOOTER and mask(self.file.crc(offset + HEADER, length)) == _u32(stored)[0]

    def _find(self, at: int, unfinished: int = -1) -> tuple[int, int, int]:
        """Search from `at` on for a complete record.

        Returns its offset (-1: none found), the first header before it whose record is incomplete (-1: none), and the
        position the search has reached, which is further than HEADER from the end of the file if it stopped at its limit.
        """
        window, least = SEARCH_FIRST, at + LEAST_SEARCH
        if not len(self._searched):
            self._searched = np.empty(SEARCH_LAST + PADDING, np.uint8)
        data = self._searched
        while self.file.size - at >= HEADER and (self._searches > 0 or at < least):
            got = self.file.fill(data.data[:window], at)
            if got < HEADER:
                break  # the file was cut meanwhile
            data[got : got + PADDING] = 0
            self._searches -= got
            if not data[: -(-got // 8) * 8].view(np.uint64).any():
                # The system caches in larger units than a window: one that straddles two windows is dropped with the second.
                self.file.forget(max(at - 4 * SEARCH_LAST, 0), got + 4 * SEARCH_LAST)
                at = self.file.next_data(at + got) - HEADER + 1
            else:
                places, candidates = headers(data[:got])
                self._searches -= CANDIDATE_COST * candidates
                for place in places.tolist():
                    state = self._complete(at + place)
                    if state:
                        return at + place, unfinished, at
                    if state is None and unfinished < 0:
                        unfinished = at + place
                at += got - HEADER + 1
            window = min(window * 2, SEARCH_LAST)
        return -1, unfinished, at

    def _complete(self, offset: int) -> bool | None:
        """Return whether the record at an intact header is complete and intact; None if it ends beyond the file."""
        header = self.file.read(offset, HEADER)
        if len(header) < HEADER:
            return False  # the file was cut meanwhile
        length = _u64(header)[0]
        end = offset + FRAME + length
        if end > self.file.size:
            return None
        if length <= SMALL:
            return self._data_holds(offset, length)
        follower = self.file.read(end, HEADER)
        return len(follower) < HEADER or _claim(follower) is not None


def _claim(header: bytes) -> int | None:
    """Return the length in a header, None if its CRC does not match."""
    return _u64(header)[0] if mask(google_crc32c.value(header[:8])) == _u32(header, 8)[0] else None


def headers(data: NDArray[np.uint8]) -> tuple[Ints, int]:
    """Return the positions of all headers with a correct CRC and a length below LONGEST, and how many CRCs were checked.

    The cost of a byte does not depend on its value: a length of 1 or more is found by the last of its bytes that is not
    zero, the length 0 by its CRC.
    """
    size = len(data)
    if size < HEADER:
        return np.empty(0, np.int64), 0
    zero = data == 0
    last = np.flatnonzero(zero[1:] > zero[:-1])
    last = last[: last.searchsorted(size - 9, side="right")]
    last = last[zero[last + 2] & zero[last + 3] & zero[last + 4]]
    found = [last[data[last] < 128] - 3]
    for k in range(1, 4):
        last = last[zero[last + 4 + k]]
        found.append(last - 3 + k)
    first = np.flatnonzero(zero[:-1] > zero[1:]) - 7
    first = first[(first >= 0) & (data[np.minimum(first + 8, size - 1)] == _EMPTY_CRC & 255)]
    eight = sum(zero[first + k].astype(np.int64) for k in range(8))
    found.append(first[eight == 8])
    at = np.concatenate(found)
    at = np.sort(at[(at >= 0) & (at <= size - HEADER)])
    words = np.ndarray((size - 3,), "<u4", data, strides=(1,))
    good: Ints = at[length_crcs(words[at].astype(np.int64)) == words[at + 8]]
    return good, len(at)


def _beyond(claim: int, offset: int, size: int) -> str:
    return f"its length is {claim:,} bytes, but the file has {max(size - offset - HEADER, 0):,} more"
