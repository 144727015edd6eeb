"""Keeps the finished points of a computation in a file (`parsers.landscapes.points`), so that one that was killed goes on."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import IO

from parsers.errors import FormatError
from parsers.landscapes.points import Loss, PlannedSurface, Point, line_of_point, line_of_surfaces, point_of, text_of

FLUSH_S = 2.0


class PointsFile:
    """Appends points; a context manager. `known` are those that were finished before. May be used by any thread.

    A file of other surfaces is overwritten. Reading stops at the first incomplete line, which is overwritten together with all
    lines after it.
    """

    def __init__(self, path: str, surfaces: Sequence[PlannedSurface]) -> None:
        self.path = path
        self.known: dict[Point, Loss] = {}
        self._lock = threading.Lock()
        self._flushed = time.monotonic()
        self._file: IO[bytes] = open(path, "a+b")  # noqa: SIM115  closed by __exit__
        self._file.seek(0)
        first = line_of_surfaces(surfaces)
        whole = len(first) if self._file.readline() == first else 0
        for line in self._file if whole else ():
            text = text_of(line)
            try:
                point, loss = point_of(text or b"")
            except FormatError:
                break
            self.known[point] = loss
            whole += len(line)
        self._file.truncate(whole)
        self._file.seek(whole)
        if not whole:
            self._file.write(first)
            self._flush()

    def __enter__(self) -> PointsFile:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._file.close()

    def add(self, point: Point, loss: Loss) -> None:
        """Keep a finished point; it is on disk after FLUSH_S at most. OSError on a full disk."""
        with self._lock:
            self.known[point] = loss
            self._file.write(line_of_point(point, loss))
            if time.monotonic() - self._flushed > FLUSH_S:
                self._flush()

    def flush(self) -> None:
        """Write what was added to disk."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        self._file.flush()
        os.fdatasync(self._file.fileno())
        self._flushed = time.monotonic()
