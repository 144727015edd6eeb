"""The records in a .wandb file: a header of 7 bytes, then blocks of 32 KiB as in LevelDB's logs.

A block holds chunks: CRC32 of type and data (4 bytes), length (2), type (1), data. A record is a chunk of type FULL, or FIRST,
any MIDDLE, and LAST. Fewer than 7 bytes at the end of a block are zeros. Written by wandb-core (core/internal/transactionlog).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from parsers.files import RegularFile
from parsers.model import Problem

HEADER = b":W&B\xe1\xbe\x00"
BLOCK = 32 << 10
CHUNK = struct.Struct("<IHB")
FULL, FIRST, MIDDLE, LAST = range(1, 5)
LARGEST = 64 << 20
"""Bytes of a record. A larger one is skipped."""
PIECE = 4 << 20
"""Bytes that are read at a time, of whole blocks."""
MOST_TRIED = 2_000
"""Places in a block at which the next chunk is looked for after damage."""
MOST_PROBLEMS = 1000


@dataclass(slots=True)
class Chunks:
    """Yields the records after an offset. end is the offset after the last complete one; problems is the damage between."""

    file: RegularFile
    end: int
    piece: int = PIECE
    problems: list[Problem] = field(default_factory=list)
    pending: bool = False
    """Whether the file ends within a record."""

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield the offset of each record and its data."""
        if not self.end and not self._begin():
            return
        parts: list[bytes] = []
        began = size = 0
        for at, kind, data in self._chunks():
            self.pending = False
            if kind in (FULL, FIRST):
                if parts:
                    self._complain(began, at - began, "a record without an end")
                parts, began, size = [], at, 0
            elif not parts:
                self._complain(at, len(data), "a part of a record without its begin")
                self.end = at + CHUNK.size + len(data)
                continue
            size += len(data)
            parts.append(data if size <= LARGEST else b"")
            if kind in (FULL, LAST):
                self.end = at + CHUNK.size + len(data)
                if size <= LARGEST:
                    yield began, data if kind == FULL else b"".join(parts)
                else:
                    self._complain(began, size, f"a record of more than {LARGEST:,} bytes")
                parts = []

    def _begin(self) -> bool:
        head = self.file.read(0, len(HEADER))
        if len(head) < len(HEADER):
            return False
        if head != HEADER:
            self._complain(0, len(HEADER), f"a header other than {HEADER!r}, {head!r}")
        self.end = len(HEADER)
        return True

    def _chunks(self) -> Iterator[tuple[int, int, bytes]]:
        at = self.end
        while at < self.file.size:
            written = self.file.next_data(at)  # a hole has zeros only, and is the end of no chunk
            at = max(at, written - written % BLOCK)
            base = at - at % BLOCK
            data = self.file.read(base, self.piece)
            if len(data) <= at - base:
                return
            for block in range(0, len(data), BLOCK):
                yield from self._block(data[block : block + BLOCK], base + block, max(at - base - block, 0))
            at = base + len(data)

    def _block(self, block: bytes, base: int, at: int) -> Iterator[tuple[int, int, bytes]]:
        """Yield the chunks in a block from a place on: offset, type, data."""
        size = len(block)
        crc32, unpack, head = zlib.crc32, CHUNK.unpack_from, CHUNK.size
        while at + head <= size:
            crc, length, kind = unpack(block, at)
            stop = at + head + length
            if stop <= size and FULL <= kind <= LAST and crc32(block[at + head - 1 : stop]) == crc:
                yield base + at, kind, block[at + head : stop]
                at = stop
                continue
            if not crc and not length and not kind and block.count(0, at) == size - at:
                return  # zeros, of a file that was given its size before it was written
            found = self._next(block, at + 1)
            if found is None and size < BLOCK and stop > size and at + head <= size:
                self.pending = True
                return
            self._complain(base + at, (size if found is None else found) - at, "bytes that fail their checksum")
            self.end = base + (size if found is None else found)
            if found is None:
                return
            at = found
        if at < size < BLOCK:
            self.pending = True
        elif size == BLOCK and block.count(0, at) < size - at:
            self._complain(base + at, size - at, "bytes other than zeros at the end of a block")

    def _next(self, block: bytes, at: int) -> int | None:
        """Return the place of the next intact chunk in a block; None if there is none."""
        tried = 0
        for place in range(at, len(block) - CHUNK.size + 1):
            if not FULL <= block[place + 6] <= LAST:
                continue
            crc, length, _ = CHUNK.unpack_from(block, place)
            stop = place + CHUNK.size + length
            if stop > len(block):
                continue
            tried += 1
            if tried > MOST_TRIED:
                return None
            if zlib.crc32(block[place + CHUNK.size - 1 : stop]) == crc:
                return place
        return None

    def _complain(self, offset: int, length: int, found: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            text = f"Expected a record, found {found}; it was skipped, what follows is shown."
            self.problems.append(Problem(self.file.path, offset, length, "bad_data", text))
