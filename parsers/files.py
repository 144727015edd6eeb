"""Reads one file by position, in chunks whose size the caller chooses.

Files are not mapped into memory: truncating a mapped file kills the process. They are not read whole: they may exceed memory.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from functools import lru_cache
from types import TracebackType
from typing import overload

import google_crc32c

from parsers.model import Cursor, Search

TAIL = 4096
CHUNK = 1 << 20


# O_NONBLOCK: opening a named pipe would wait for a writer
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_BELOW = "_MINDSCOPE_BELOW"
"""The variable of the environment with the directories of `stay_below`, so that programs started from here have them too."""


def stay_below(directory: str) -> None:
    """Refuse, in this program and those it starts, to open files below a directory that a link leads out of it.

    Discovery does not list such links, but a file may become one after that: whether an open file is inside tells only itself.
    """
    whole = os.path.abspath(directory)
    kept = dict(_kept(os.environ.get(_BELOW, "")))
    kept[os.path.join(whole, "")] = os.path.join(os.path.realpath(whole), "")
    os.environ[_BELOW] = json.dumps(list(kept.items()))


@lru_cache(maxsize=1)
def _kept(text: str) -> tuple[tuple[str, str], ...]:
    """Return the directories as they were given and without links; both end in a separator."""
    return tuple((given, real) for given, real in json.loads(text)) if text else ()


def _require_inside(descriptor: int, path: str, status: os.stat_result) -> None:
    """Raise OSError if a path below a directory of `stay_below` has led elsewhere."""
    whole = os.path.abspath(path)
    for given, real in _kept(os.environ[_BELOW]):
        if whole.startswith((given, real)) and not _place(descriptor, whole, status).startswith(real):
            raise OSError(errno.ELOOP, "a link leads out of the directory of runs", path)


def _place(descriptor: int, path: str, status: os.stat_result) -> str:
    """Return the path of an open file without links; "" if it cannot be told."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:  # not Linux: what the path leads to now, if that is the same file
        real = os.path.realpath(path)
        now = os.lstat(real)
        return real if (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino) else ""


def beginning(path: str, length: int) -> bytes:
    """Return the first bytes of a regular file, in less than half of the time that a RegularFile takes.

    Raises OSError if it cannot be read.
    """
    descriptor, _ = _opened(path)
    try:
        return os.read(descriptor, length)
    finally:
        os.close(descriptor)


def _opened(path: str) -> tuple[int, os.stat_result]:
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if _BELOW in os.environ:
            _require_inside(descriptor, path, status)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status


class RegularFile:
    """An open regular file. `size` is its size when opened: bytes appended later belong to the next read."""

    def __init__(self, path: str) -> None:
        descriptor, self.status = _opened(path)
        self._file = open(descriptor, "rb", buffering=0)  # noqa: SIM115  closed by __exit__
        self.path = path
        self.size = self.status.st_size

    def __enter__(self) -> RegularFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def fill(self, into: memoryview, offset: int) -> int:
        """Read into the buffer from the offset on, up to `size`; return the number of bytes read."""
        wanted = min(len(into), max(self.size - offset, 0))
        self._file.seek(offset)
        got = 0
        while got < wanted:
            count = self._file.readinto(into[got:wanted])
            if not count:
                self.size = offset + got  # cut while it was read
                break
            got += count
        return got

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from the offset on, never beyond `size`."""
        into = bytearray(min(length, max(self.size - offset, 0)))
        got = self.fill(memoryview(into), offset)
        return bytes(into if got == len(into) else into[:got])

    def whole(self) -> bytes:
        """Return all bytes up to `size`. For tens of MB it takes a third of `read`, whose buffer is zeroed and copied."""
        self._file.seek(0)
        first = self._file.read(self.size) or b""
        return first if len(first) == self.size else first + self.read(len(first), self.size - len(first))

    def crc(self, offset: int, length: int) -> int:
        """Return the CRC32C of a range of the file, read in chunks."""
        crc, end = 0, offset + length
        while offset < end and (chunk := self.read(offset, min(CHUNK, end - offset))):
            crc = google_crc32c.extend(crc, chunk)
            offset += len(chunk)
        return crc

    def next_data(self, offset: int) -> int:
        """Return the position of the first byte from the offset on that is not in a hole; `size` if there is none.

        Returns the offset itself where the system does not know holes.
        """
        if not hasattr(os, "SEEK_DATA"):
            return offset
        try:
            return min(os.lseek(self._file.fileno(), offset, os.SEEK_DATA), self.size)
        except OSError as error:
            return self.size if error.errno == errno.ENXIO else offset

    def forget(self, offset: int, length: int) -> None:
        """Let the system drop a range from its cache. Where pages must first be allocated, a GB of zeros costs 2 s, not 0.1."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._file.fileno(), offset, length, os.POSIX_FADV_DONTNEED)

    def cursor(
        self, offset: int, size: int, plugins: tuple[tuple[str, str], ...] = (), search: Search | None = None
    ) -> Cursor:
        """Return a cursor that continues at the offset; size is how much of the file has been searched."""
        tail = min(TAIL, offset)
        crc = self.crc(offset - tail, tail)
        return Cursor(offset, self.status.st_dev, self.status.st_ino, size, crc, plugins, search=search)

    def continues(self, cursor: Cursor) -> bool:
        """Return whether this is the file of the cursor, unchanged up to it."""
        same = (cursor.device, cursor.inode) == (self.status.st_dev, self.status.st_ino)
        if not same or self.size < max(cursor.size, cursor.offset):
            return False
        tail = min(TAIL, cursor.offset)
        return self.crc(cursor.offset - tail, tail) == cursor.tail_crc


class Sparse:
    """The bytes of one large record, read on demand a few kilobytes at a time."""

    PIECE = 4096

    def __init__(self, file: RegularFile, offset: int, length: int) -> None:
        self._file, self._offset, self._length = file, offset, length
        self._start, self._piece = 0, b""

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> bytes: ...
    def __getitem__(self, index: int | slice) -> int | bytes:
        if isinstance(index, slice):
            start, stop = index.start, max(min(index.stop, self._length), index.start)
            at = start - self._start
            if at >= 0 and stop - self._start <= len(self._piece):
                return self._piece[at : stop - self._start]
            return self._read(start, stop - start)
        at = index - self._start
        if not 0 <= at < len(self._piece):
            if not 0 <= index < self._length:
                raise IndexError(index)
            self._start, at = index, 0
            self._piece = self._read(index, min(self.PIECE, self._length - index))
        return self._piece[at]

    def _read(self, start: int, length: int) -> bytes:
        data = self._file.read(self._offset + start, length)
        if len(data) < length:
            raise IndexError(start + len(data))  # the file was cut meanwhile
        return data
