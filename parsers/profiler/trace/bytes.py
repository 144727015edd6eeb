"""Reads a trace by position, compressed by gzip or not. A compressed one is decompressed as far as it is asked for."""

from __future__ import annotations

import zlib
from types import TracebackType

from parsers.files import RegularFile

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20
FREE_BYTES, MOST_TIMES = 64 << 20, 200
"""A file that gives more than FREE_BYTES and more than MOST_TIMES its own size is read no further. gzip reaches 1,032 times: a
megabyte that holds a gigabyte of blanks took 10 s. Traces reach 10 to 40 times."""


class TraceBytes:
    """The bytes of a trace file. `compressed` says whether they are decompressed; `damage` what stopped that, if anything."""

    def __init__(self, path: str) -> None:
        self._file = RegularFile(path)
        self.size = self._file.size
        """Bytes of the file on disk."""
        self.compressed = self._file.read(0, 2) == _GZIP
        self.damage = ""
        self.consumed = 0
        """Bytes of the file on disk that have been read so far."""
        self._rewind()

    def __enter__(self) -> TraceBytes:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.__exit__(kind, error, trace)

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from the offset on; fewer only at the end."""
        if not self.compressed:
            data = self._file.read(offset, length)
            self.consumed = max(self.consumed, offset + len(data))
            return data
        if offset < self._start:
            self._rewind()
        while self._start + len(self._held) < offset + length and not self._ended:
            self._held += self._more()
            if len(self._held) > 2 * _CHUNK and self._start + len(self._held) < offset + length:
                self._drop(min(offset - self._start, len(self._held)))
        self._drop(min(offset - self._start, len(self._held)) - _CHUNK)
        begin = offset - self._start
        return bytes(self._held[begin : begin + length])

    def next_data(self, offset: int) -> int:
        """Return the offset, or the end of the hole of the file in which it lies, where all bytes are zeros."""
        return offset if self.compressed else self._file.next_data(offset)

    def _drop(self, size: int) -> None:
        if size > 0:
            del self._held[:size]
            self._start += size

    def _rewind(self) -> None:
        self._held, self._start, self._at, self._ended = bytearray(), 0, 0, False
        self._inflater = zlib.decompressobj(31)
        self._left, self._given = b"", 0

    def _more(self) -> bytes:
        """Return the next decompressed bytes; none at the end, which damage brings about too."""
        if not self._left:
            self._left = self._file.read(self._at, _CHUNK >> 2)
            self._at += len(self._left)
            self.consumed = max(self.consumed, self._at)
            if not self._left:
                self._ended = True
                if not self._inflater.eof:
                    self.damage = "the compressed data end before they are complete"
                return b""
        try:
            data = self._inflater.decompress(self._left, _CHUNK)
        except zlib.error as error:
            self._ended, self.damage = True, f"the compressed data are damaged ({error})"
            return b""
        self._given += len(data)
        used = self._at - len(self._inflater.unconsumed_tail)
        if self._given > max(FREE_BYTES, MOST_TIMES * used):
            self._ended = True
            self.damage = f"the data are compressed more than {MOST_TIMES} times, as no trace is"
            return data
        self._left = self._inflater.unconsumed_tail
        if self._inflater.eof:
            self._left = self._inflater.unused_data.lstrip(b"\x00")
            self._next_member()
        return data

    def _next_member(self) -> None:
        rest = self._left or self._file.read(self._at, len(_GZIP)).lstrip(b"\x00")
        if rest:
            self._inflater = zlib.decompressobj(31)
        else:
            self._ended = True
