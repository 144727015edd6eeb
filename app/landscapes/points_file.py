"""The finished points of a computation: one line each, with a checksum, so that a computation that was killed goes on.

A line is the CRC-32 of the rest in hexadecimal, a space, and JSON: [surface, row, column, loss or null, reason]. A line that
was not written whole ends the file: it and what follows are written again.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
import zlib
from typing import IO, NamedTuple

ON_PATH = -1
"""The row of the losses of the checkpoints of a path themselves."""
FLUSH_S = 2.0


class Point(NamedTuple):
    """A place of a surface."""

    surface: int
    row: int
    column: int


class Loss(NamedTuple):
    """The loss at a place; NaN with the reason if there is none."""

    value: float
    reason: str = ""


class PointsFile:
    """Appends points; a context manager. `known` are those that were finished before. May be used by any thread."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.known: dict[Point, Loss] = {}
        self._lock = threading.Lock()
        self._flushed = time.monotonic()
        self._file: IO[bytes] = open(path, "a+b")  # noqa: SIM115  closed by __exit__
        self._file.seek(0)
        whole = 0
        for line in self._file:
            found = _parsed(line)
            if found is None:
                break
            self.known[found[0]] = found[1]
            whole += len(line)
        self._file.truncate(whole)
        self._file.seek(whole)

    def __enter__(self) -> PointsFile:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._file.close()

    def add(self, point: Point, loss: Loss) -> None:
        """Keep a finished point; it is on disk after FLUSH_S at most. OSError on a full disk."""
        is_number = not math.isnan(loss.value)
        text = json.dumps([*point, loss.value if is_number else None, loss.reason]).encode()
        with self._lock:
            self.known[point] = loss
            self._file.write(b"%08x %s\n" % (zlib.crc32(text), text))
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


def _parsed(line: bytes) -> tuple[Point, Loss] | None:
    """Return the point of a line, None for one that was not written whole."""
    if len(line) < 10 or line[8:9] != b" " or not line.endswith(b"\n"):
        return None
    text = line[9:-1]
    if line[:8] != b"%08x" % zlib.crc32(text):
        return None
    surface, row, column, value, reason = json.loads(text)
    return Point(surface, row, column), Loss(math.nan if value is None else float(value), reason)
