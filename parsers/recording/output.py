"""A growing series of event files of one kind: buffered, rotated by size, safe against kills, full disks and forks."""

from __future__ import annotations

import itertools
import os
import re
import socket
import threading
import time
from collections.abc import Iterable
from typing import Callable

from .layouts import Layout

MOST_WAITING = 256 << 10
"""Bytes that wait at most: more are written at once, by the thread that records."""
WRITE_AFTER = 1.0
"""Seconds after which waiting records are written, so that none is older than 2 s when the process is killed."""
_STAMP = re.compile(r"(?:summary|tfevents)\.(\d{1,15})")
_UNSAFE = re.compile(r"[^A-Za-z0-9-]")


class RecordedFiles:
    """The files of one layout in a directory. The first is created with the first record.

    Only the process that made a RecordedFiles writes to its files. A file is complete up to its last record at any time that
    the process may be killed: what the disk has no room for is cut off again. OSError where a file cannot be written.
    """

    def __init__(
        self, directory: str, name: Callable[[int, str], str], layout: Callable[[], Layout], *, largest: int = 0,
        durable: bool = False,
    ) -> None:
        """name makes a file name of seconds and of what tells writers apart; largest is in bytes, 0 for no limit.

        durable: each write waits until the disk has it.
        """
        self._directory, self._name, self._make_layout = directory, name, layout
        self._largest, self._durable = largest, durable
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._written, self._second, self._number = 0, 0, itertools.count()
        self._waiting: list[bytes] = []
        self._size = 0
        self.layout = layout()
        self.path = ""

    def add(self, record: bytes) -> bool:
        """Add a record, return whether it waits; OSError if the file cannot be written."""
        with self._lock:
            self._waiting.append(record)
            self._size += len(record)
            if self._size < MOST_WAITING:
                return True
            self._write()
            return False

    def flush(self) -> None:
        """Write what waits; OSError if the file cannot be written."""
        with self._lock:
            self._write()

    def close(self) -> None:
        """Write what waits and close the file; OSError if it cannot be written."""
        with self._lock:
            try:
                self._write()
            finally:
                self._end()

    def _write(self) -> None:
        if not self._waiting:
            return
        waiting, self._waiting, self._size = self._waiting, [], 0
        if self._descriptor is None:
            self._open()
        descriptor = self._descriptor
        assert descriptor is not None
        _append(descriptor, b"".join(waiting), self._written)
        self._written += sum(map(len, waiting))
        if self._durable:
            os.fsync(descriptor)
        if self._largest and self._written >= self._largest:
            self._end()

    def _open(self) -> None:
        """Create the next file, under a name that no other writer has, on this host or another."""
        now = time.time()
        os.makedirs(self._directory, exist_ok=True)
        self._second = max(int(now), self._second + 1)  # files are read in the order of the seconds in their names
        while self._descriptor is None:
            writer = f"{host()}.{os.getpid()}.{next(self._number)}"
            self.path = os.path.join(self._directory, self._name(self._second, writer))
            try:
                self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
            except FileExistsError:
                continue
        self._written = 0
        opening = self.layout.opening(now)
        _append(self._descriptor, opening, 0)
        self._written = len(opening)

    def _end(self) -> None:
        """Close the file; the next record begins another one, whose tags are described anew."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self.layout = self._make_layout()
            os.close(descriptor)


def _append(descriptor: int, data: bytes, good: int) -> None:
    """Append data; what was written of it is cut off again, to `good` bytes, if not all of it can be."""
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(descriptor, left) :]
    except OSError:
        os.ftruncate(descriptor, good)
        raise


class Flusher:
    """Writes what outputs hold back, WRITE_AFTER seconds after it came, in a thread of its own."""

    def __init__(self, outputs: Callable[[], Iterable[RecordedFiles]], failed: Callable[[OSError], None]) -> None:
        """failed is called in the thread with an error of writing."""
        self._outputs, self._failed = outputs, failed
        self._waiting, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="mindscope-record", daemon=True)
        self._thread.start()

    def notice(self) -> None:
        """Note that an output holds a record back."""
        if not self._waiting.is_set():
            self._waiting.set()

    def stop(self) -> None:
        """End the thread, which may be the caller's."""
        self._stopped.set()
        self._waiting.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(5)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._waiting.wait()
            if self._stopped.wait(WRITE_AFTER):
                return
            self._waiting.clear()
            try:
                for output in self._outputs():
                    output.flush()
            except OSError as error:
                self._failed(error)
                return


def host() -> str:
    """Return the name of this machine as a part of a file name."""
    return _UNSAFE.sub("-", socket.gethostname()) or "host"


def first_second(directory: str) -> int:
    """Return the least time in the names of a directory's event files, in seconds since 1970; now if it has none."""
    now = int(time.time())
    try:
        names = os.listdir(directory)
    except OSError:
        return now
    found = [int(match[1]) for match in map(_STAMP.search, names) if match]
    return min([stamp for stamp in found if stamp > 0] + [now])
