"""Snapshots of decoded graphs on disk: a large graph that left the memory, or is opened by another start, is there at once.

Requests read them, and they are written in the background, so that no answer waits for the disk. The key is the hash of the
bytes of the graph (`parsers.graphs.snapshot`), so a snapshot cannot be out of date. A damaged one is ignored and written anew.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from app.background import Background
from app.store.runs.index import Index

SIZE_LIMIT = 1 << 30
LARGEST_BYTES = 256 << 20
"""Larger snapshots are not kept."""


class GraphSnapshots:
    """An index for graphs, used by one thread at a time."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._index: Index | None = None
        self._lock = threading.Lock()
        self._background = Background("mindscope-graphs", slots=1)

    def read(self, key: str) -> bytes | None:
        """Return the bytes of a key, None if there are none."""
        with self._lock:
            return self._opened().read(key)

    def write(self, key: str, parts: Sequence[bytes | memoryview]) -> None:
        """Write the parts in the background."""
        if sum(map(len, parts)) > LARGEST_BYTES:
            return
        self._background.begin(key, lambda _task: self._write(key, parts))

    def stop(self) -> None:
        """Wait until what is being written is on disk, and close the index."""
        self._background.stop(finish=True)
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None

    def _write(self, key: str, parts: Sequence[bytes | memoryview]) -> None:
        with self._lock:
            self._opened().write(key, parts)

    def _opened(self) -> Index:
        if self._index is None:
            self._index = Index(self._directory, size_limit=SIZE_LIMIT)
        return self._index
