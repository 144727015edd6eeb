"""Optuna's journal in a file that survives what Optuna's own backend does not: torn lines, full disks, killed writers.

A writer holds a lock that the system releases when the process ends, so no lock is ever stale. Under it, an unfinished line
at the end is removed before anything is appended (a writer was killed within it, so nobody has relied on it). A bad line
elsewhere, which programs that use Optuna's backend can leave, is overwritten with spaces up to the next record: no other byte
moves, and other readers have not passed it. Both are reported.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # to mypy a module, which cannot be None; `FileLock` asks first

from parsers.errors import FormatError
from parsers.tuning.journal import NewerError, damage_of, record_of

CHUNK = 1 << 20
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


class FileLock:
    """A lock between processes, held while a body runs and released by the system if the process ends.

    Where the file system has no such locks, a symbolic link is the lock, as in Optuna: it is taken over after 30 s.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock while the body runs; waits for it."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if _flock(descriptor):
                yield
            else:
                with _linked(self._path):
                    yield
        finally:
            os.close(descriptor)


def _flock(descriptor: int) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return False
    return True


@contextlib.contextmanager
def _linked(path: str) -> Iterator[None]:
    from optuna.storages.journal import JournalFileOpenLock

    lock = JournalFileOpenLock(path)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


class JournalFile:
    """A backend of `optuna.storages.JournalStorage`. say is called with a sentence for each repair.

    OSError if the file cannot be written; it then ends as before. FormatError for a journal of a newer Optuna.
    """

    def __init__(self, path: str, say: Callable[[str], None]) -> None:
        self.path = path
        self._say = say
        self._lock = FileLock(path + ".flock")
        self._next = (0, 0)
        self._held: list[Mapping[str, Any]] | None = None
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        """Write what the body appends at once, when it ends."""
        if self._held is not None:
            yield
            return
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            if held:
                self.append_logs(held)

    def append_logs(self, logs: Sequence[Mapping[str, Any]]) -> None:
        """Append records, all or none of them."""
        if self._held is not None:
            self._held.extend(logs)
            return
        data = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs).encode()
        with self._lock.held(), open(self.path, "r+b", buffering=0) as file:
            end = self._without_torn_end(file.fileno())
            try:
                _write(file.fileno(), data, end)
                os.fsync(file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(file.fileno(), end)
                raise

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Yield the records from a number on."""
        number, offset = self._next if self._next[0] <= log_number_from else (0, 0)
        with open(self.path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(offset)
            while offset < size:
                line = file.readline()
                if not line.endswith(b"\n") or offset + len(line) > size:
                    break
                try:
                    record = record_of(line)
                except NewerError as error:
                    raise FormatError(f"{self.path}: record at byte {offset:,}: {error}") from None
                except ValueError:
                    self._blank(offset)
                    file.seek(0, os.SEEK_END)  # drops what is buffered
                    file.seek(offset)
                    size = os.fstat(file.fileno()).st_size
                    continue
                offset += len(line)
                number += 1
                self._next = (number, offset)
                if number > log_number_from:
                    yield record

    def _without_torn_end(self, descriptor: int) -> int:
        """Remove an unfinished line at the end; return the size after that."""
        size = os.fstat(descriptor).st_size
        if not size or os.pread(descriptor, 1, size - 1) == b"\n":
            return size
        begin = size
        while begin > 0:
            start = max(begin - CHUNK, 0)
            found = os.pread(descriptor, begin - start, start).rfind(b"\n")
            if found >= 0:
                begin = start + found + 1
                break
            begin = start
        os.ftruncate(descriptor, begin)
        self._say(f"{self.path}: an unfinished record at the end ({size - begin:,} bytes, a writer was killed) was removed")
        return begin

    def _blank(self, offset: int) -> None:
        """Overwrite a bad line with spaces, up to the next record."""
        with self._lock.held(), open(self.path, "r+b") as file:
            file.seek(offset)
            line = file.readline()
            try:
                record_of(line)
                return  # repaired meanwhile
            except NewerError:
                return
            except ValueError:
                pass
            kept = damage_of(line)
            if kept == len(line) and not file.read(1):
                os.ftruncate(file.fileno(), offset)
            else:
                for begin in range(0, kept, CHUNK):
                    os.pwrite(file.fileno(), b" " * min(CHUNK, kept - begin), offset + begin)
            os.fsync(file.fileno())
        self._say(f"{self.path}: a damaged record at byte {offset:,} ({kept:,} bytes) was removed; those after it are kept")


def _write(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        count = os.pwrite(descriptor, view, offset)
        view, offset = view[count:], offset + count
