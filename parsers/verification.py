"""Checks the data CRC of the large records of a run, in slices. Reading locates these records without reading their data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from struct import Struct

import google_crc32c

from parsers.events.damage import describe
from parsers.events.records import FOOTER, FRAME, HEADER, Damage
from parsers.file_states import FileState
from parsers.files import CHUNK, RegularFile
from parsers.model import Cursor
from parsers.recording.wire import mask
from parsers.run_files import RunFiles

_u64, _u32 = Struct("<Q").unpack_from, Struct("<I").unpack_from


@dataclass(slots=True)
class _CheckedRecord:
    """A record that is being checked: offset of its header, length of its data, position reached, CRC of the data up to it."""

    order: int
    length: int
    at: int
    crc: int = 0


class Verification:
    """Checks the large records of the files of one run. `advance` is called by the thread that reads these files."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files
        self._known: object = None  # identity and number of large values of the file that `_orders` is about
        self._finished: dict[str, object] = {}  # the same of files that have been checked
        self._orders: list[int] = []  # offsets of the records to check, the first one last
        self._record: _CheckedRecord | None = None
        self._refused: dict[str, Cursor] = {}  # files that could not be read, and how far they had been read then

    def advance(self, limit: int | None = None) -> bool:
        """Check about `limit` bytes of records (None: all records); return whether there are more.

        A record that fails its CRC becomes a problem of its file. A file that cannot be read, or is not the one that was read,
        is left out until it has been read again.
        """
        left = math.inf if limit is None else limit
        for path, state in self._files.states.items():
            cursor = state.cursor
            if cursor is None or self._refused.get(path) == cursor or not self._find(state):
                continue
            try:
                with RegularFile(path) as file:
                    if file.continues(cursor):
                        left = self._check(file, state, left)
            except OSError:
                pass  # the next read of the file reports why
            if left <= 0:
                return True
            if self._orders:
                self._refused[path] = cursor
        return False

    def _find(self, state: FileState) -> bool:
        """Find the records to check in a file; return whether there are any."""
        known = (state.identity, state.large)
        if self._finished.get(state.file.path) == known:
            return False
        if known != self._known:
            with self._files.lock:
                self._known, self._orders, self._record = known, state.unchecked()[::-1], None
        if not self._orders:
            self._finished[state.file.path] = known
        return bool(self._orders)

    def _check(self, file: RegularFile, state: FileState, left: float) -> float:
        """Check the records of a file until `left` bytes have been read; return how many are left."""
        while self._orders and left > 0:
            record = self._record or _begin(file, self._orders[-1])
            if record is None:
                return left
            self._record, end = record, record.order + HEADER + record.length
            while record.at < end and left > 0:
                piece = file.read(record.at, min(CHUNK, end - record.at))
                if not piece:
                    return left
                record.crc = google_crc32c.extend(record.crc, piece)
                record.at += len(piece)
                left -= len(piece)
            if record.at < end:
                return left
            stored = file.read(end, FOOTER)
            if len(stored) < FOOTER:
                return left
            self._take(state, record, intact=mask(record.crc) == _u32(stored)[0])
            self._record = None
            self._orders.pop()
            left -= FRAME
        return left

    def _take(self, state: FileState, record: _CheckedRecord, *, intact: bool) -> None:
        if intact:
            self._files.mark_verified(state, state.identity, record.order)
            return
        damaged = {**state.damaged, record.order: FRAME + record.length}
        lost = describe(state.file.path, (Damage(order, size, "bad_data", "") for order, size in damaged.items()))
        with self._files.lock:
            state.lose(record.order, damaged, tuple(lost))
            self._files.touch()


def _begin(file: RegularFile, order: int) -> _CheckedRecord | None:
    """Return the record at this offset; None if the file does not hold it any more."""
    header = file.read(order, HEADER)
    if len(header) < HEADER:
        return None
    length = _u64(header)[0]
    return _CheckedRecord(order, length, order + HEADER) if order + FRAME + length <= file.size else None
