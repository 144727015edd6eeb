"""Keeps the finished points of a computation in a file (`parsers.landscapes.points`), so that one that was killed goes on."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from typing import IO

from parsers.errors import FormatError
from parsers.landscapes.points import (
    LONGEST_LINE,
    Loss,
    PlannedSurface,
    Point,
    line_of_point,
    line_of_surfaces,
    point_of,
    text_of,
)

FLUSH_S = 2.0


class PointsFile:
    """Appends points; a context manager. `known` are those that were finished before. May be used by any thread.

    A file of other surfaces is overwritten. Damaged lines are left out: `damage` has a sentence about each of them, and the
    file is written anew without them. A line that was not written whole at its end is no damage.
    """

    def __init__(self, path: str, surfaces: Sequence[PlannedSurface]) -> None:
        self.path = path
        self.known: dict[Point, Loss] = {}
        self.damage: list[str] = []
        self._lock = threading.Lock()
        self._flushed = time.monotonic()
        first = line_of_surfaces(surfaces)
        if self._read(first):
            self._file: IO[bytes] = _opened(path, os.O_APPEND)
        else:
            self._file = self._written(first)

    def _read(self, first: bytes) -> bool:
        """Read what was finished; return whether the file may be continued as it is."""
        try:
            file = _opened(self.path, 0)
        except FileNotFoundError:
            return False
        with file:
            head = file.readline(LONGEST_LINE)
            if head != first:
                if head.endswith(b"\n") and text_of(head) is None:
                    self.damage.append(f"{self.path}: byte 0: expected the surfaces, found a line with another checksum")
                return False
            at, is_whole = len(head), True
            for line in file:
                text = text_of(line)
                try:
                    point, loss = point_of(text or b"")
                except FormatError:
                    if not line.endswith(b"\n"):
                        file.truncate(at)
                        break
                    is_whole = False
                    self.damage.append(f"{self.path}: byte {at:,}: expected a point, found a damaged line")
                else:
                    self.known[point] = loss
                at += len(line)
            return is_whole

    def _written(self, first: bytes) -> IO[bytes]:
        """Write the file anew; the old one stays until that is done."""
        half = f"{self.path}.part"
        with contextlib.suppress(FileNotFoundError):
            os.remove(half)
        try:
            with contextlib.ExitStack() as closed:
                file = closed.enter_context(_opened(half, os.O_CREAT | os.O_EXCL | os.O_APPEND))
                file.write(first + b"".join(line_of_point(point, loss) for point, loss in self.known.items()))
                file.flush()
                os.fdatasync(file.fileno())
                os.replace(half, self.path)
                closed.pop_all()
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.path) from error
        return file

    def __enter__(self) -> PointsFile:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock, contextlib.suppress(OSError):  # of a full disk, which `add` has told
            self._file.close()

    def add(self, point: Point, loss: Loss) -> None:
        """Keep a finished point. OSError on a full disk.

        A point that was added outlives this process, and one that is followed by another after FLUSH_S the machine.
        """
        with self._lock:
            self.known[point] = loss
            try:
                self._file.write(line_of_point(point, loss))
                self._file.flush()
            except OSError as error:
                raise OSError(error.errno, error.strerror, self.path) from error
            if time.monotonic() - self._flushed > FLUSH_S:
                self._flush()

    def flush(self) -> None:
        """Write what was added to disk."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        try:
            self._file.flush()
            os.fdatasync(self._file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.path) from error
        self._flushed = time.monotonic()


def _opened(path: str, flags: int) -> IO[bytes]:
    """Open a file of ours for reading and writing; OSError for a link, which may lead to a file of somebody else."""
    return open(os.open(path, os.O_RDWR | flags | getattr(os, "O_NOFOLLOW", 0), 0o666), "r+b")
