"""Finds where each record begins and ends in a file that may be damaged or still growing.

Only headers decide here. A window of the file is framed record by record; once lengths repeat, whole blocks of records are
predicted from the pattern and checked at once. The CRC of every length is checked; the CRC of the data is left to the caller,
except for a doubtful record that no other record follows.

Distinguishing damage from growth:

- Fewer than 12 bytes at the end are an unfinished header. It waits, silently.
- A header with a correct CRC whose record ends beyond the file is an unfinished record, and waits, unless it claims 2 GiB or
  more (no protobuf message is that long) or a complete record is found after it: then its length is wrong.
- A header whose CRC fails is damage. If the record before it fails its data CRC, the search for the next record begins within
  that one (it may have been cut and overwritten), otherwise after the bad header. If none is found, the bytes are
  skipped except for the last 11, in which a header may begin.
- A record whose length fails its CRC, but whose data at that length match theirs, is intact and kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from parsers.events.checksums import SMALL, length_crcs, mask, small_length_crcs
from parsers.files import RegularFile
from parsers.model import Ints

HEADER, FOOTER = 12, 4
FRAME = HEADER + FOOTER
LONGEST = 1 << 31
WINDOW = 4 << 20
FIRST_WINDOW, STEP_WINDOW = 1 << 18, 1 << 12
SEARCH_FIRST, SEARCH_LAST = 512, 1 << 20
PADDING = 8
"""Bytes readable after a window, so that its last record can be read as 64-bit words."""
_u64 = Struct("<Q").unpack_from
_u32 = Struct("<I").unpack_from


@dataclass(frozen=True, slots=True)
class Frames:
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


def frame(data: NDArray[np.uint8], size: int) -> tuple[Ints, Ints, int]:
    """Frame the records of the first `size` bytes of data: message starts, lengths, and where the next header is.

    Stops at a header that is incomplete, fails its CRC, or whose record is larger than SMALL or ends beyond `size`.
    """
    starts: list[Ints] = []
    lengths: list[Ints] = []
    pos, chunk = 0, 64
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
    """

    def __init__(self, file: RegularFile, begin: int, seen: int = 0, limit: int | None = None) -> None:
        self.file, self.end, self.more = file, begin, False
        self._begin, self._seen = begin, seen
        self._stop = None if limit is None else begin + max(limit, 1)
        self._widest = WINDOW if limit is None else min(WINDOW, max(limit, SMALL + FRAME))
        self._last: tuple[int, int] | None = None
        self._budget = 8 * file.size + (16 << 20)
        self._buffer = np.empty(0, np.uint8)

    def __iter__(self) -> Iterator[Frames | Large | Damage]:
        window = FIRST_WINDOW if self._stop is None else max(min(self._stop - self.end, FIRST_WINDOW), STEP_WINDOW)
        while (left := self.file.size - self.end) >= HEADER:
            base = self.end
            if self._stop is not None and base >= self._stop:
                self.more = True
                return
            size = self._fill(min(window, self._widest, left))
            start, length, stop = frame(self._buffer, size)
            if len(start):
                self._last = int(start[-1]) + base - HEADER, int(length[-1])
                self.end = base + stop
                yield Frames(self._buffer, base, start, length)
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
                damage = self._unfinished(claim)
                if damage is None:
                    return
                yield damage
            elif claim > SMALL:
                yield from self._large(claim)
                window = STEP_WINDOW
            else:
                window = max(window * 4, claim + FRAME)

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
            yield self._give_up(offset, offset + HEADER, detail)
            return
        yield Large(offset, length, checked)
        self._last, self.end = (offset, length), end  # only now: reading from it may have failed

    def _unfinished(self, claim: int) -> Damage | None:
        """Decide about a record that ends beyond the file; None to wait for the rest of it."""
        begin, detail = self.end, _beyond(claim, self.end, self.file.size)
        if claim >= LONGEST:
            return self._give_up(begin, begin + HEADER, detail)
        seen = self._seen if begin == self._begin else 0
        if self.file.size == seen:
            return None
        search = max(begin + HEADER, seen - SMALL - FRAME)
        return self._give_up(begin, search, detail) if self._search(search)[0] is not None else None

    def _resynchronise(self, claim: int) -> Iterator[Frames | Large | Damage]:
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
        yield self._give_up(begin, search, detail)

    def _give_up(self, begin: int, search: int, detail: str) -> Damage:
        """Find the next record from `search` on and skip the bytes from `begin` to it."""
        found, unfinished = self._search(search)
        if found is None:
            found = unfinished if unfinished is not None else max(self.file.size - HEADER + 1, self.end)
        self.end = found
        return Damage(begin, found - begin, "bad_length", detail)

    def _recovered(self, claim: int) -> Frames | Large | None:
        """Return the record here if its data, at the length it claims, are intact."""
        if claim > self.file.size - self.end - FRAME or not self._data_holds(self.end, claim, unknown=False):
            return None
        if claim > SMALL:
            return Large(self.end, claim, True)
        window = np.frombuffer(self.file.read(self.end, FRAME + claim) + bytes(PADDING), np.uint8)
        return Frames(window, self.end, np.array([HEADER]), np.array([claim]))

    def _data_holds(self, offset: int, length: int, *, unknown: bool = True) -> bool:
        """Return whether the data of a record match their CRC; `unknown` once too many bytes have been checked."""
        self._budget -= length
        if self._budget < 0:  # only in a file crafted to be slow: work stays proportional to its size
            return unknown
        stored = self.file.read(offset + HEADER + length, FOOTER)
        return len(stored) == FOOTER and mask(self.file.crc(offset + HEADER, length)) == _u32(stored)[0]

    def _search(self, begin: int) -> tuple[int | None, int | None]:
        """Return the first complete record from begin on, and the first header before it whose record is incomplete."""
        unfinished, window = None, SEARCH_FIRST
        while self.file.size - begin >= HEADER:
            data = np.frombuffer(self.file.read(begin, window) + bytes(PADDING), np.uint8)
            for at in _headers(data[:-PADDING]).tolist():
                state = self._complete(begin + at)
                if state:
                    return begin + at, unfinished
                if state is None and unfinished is None:
                    unfinished = begin + at
            begin += max(len(data) - PADDING - HEADER + 1, 1)
            window = min(window * 2, SEARCH_LAST)
        return None, unfinished

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


def _headers(data: NDArray[np.uint8]) -> Ints:
    """Return the positions of all headers with a correct CRC and a length below LONGEST."""
    count = len(data) - HEADER + 1
    if count <= 0:
        return np.empty(0, np.int64)
    zero = data == 0
    high = zero[4 : 4 + count] & zero[5 : 5 + count] & zero[6 : 6 + count] & zero[7 : 7 + count]
    at = np.flatnonzero(high & (data[3 : 3 + count] < 128))
    length = np.ndarray((count,), "<u4", data, strides=(1,))[at].astype(np.int64)
    stored = np.ndarray((count,), "<u4", data, offset=8, strides=(1,))[at]
    good: Ints = at[length_crcs(length) == stored]
    return good


def _beyond(claim: int, offset: int, size: int) -> str:
    return f"its length is {claim:,} bytes, but the file has {max(size - offset - HEADER, 0):,} more"
