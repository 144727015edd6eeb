"""A cache of decoded values that evicts the least recently used ones."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from parsers.caches import Cache

LIMIT = 64 << 20
DERIVED = 8 << 20
GRAPHS = 512 << 20


class Sized(Protocol):
    """A decoded value that knows its approximate size in memory."""

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        ...


class ByteStore(Protocol):
    """Keeps bytes longer than a process, such as snapshots of decoded graphs (`parsers.graphs.snapshot`)."""

    def read(self, key: str) -> bytes | None:
        """Return the bytes of a key, None if there are none."""
        ...

    def write(self, key: str, parts: Sequence[bytes | memoryview]) -> None:
        """Keep the concatenated parts, now or later."""
        ...


class PayloadCache:
    """At most `limit` bytes of decoded values. Runs may share one; it is safe to use from several threads.

    derived is a separate cache for small values computed from large ones, so that the large ones do not evict them; graphs is
    another one for graphs, which are few, larger and slower to decode, and may be stored, too.
    """

    def __init__(
        self, limit: int = LIMIT, derived: int = DERIVED, graphs: int = GRAPHS, stored: ByteStore | None = None
    ) -> None:
        self.stored = stored
        self.limit = limit
        self.derived = PayloadCache(derived, 0, 0) if derived else self
        self.graphs = PayloadCache(graphs, 0, 0, stored) if graphs else self
        self._values: Cache[Hashable, Sized] = Cache(limit=limit, cost=lambda value: value.nbytes)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def size(self) -> int:
        """Bytes of all values."""
        return self._values.total

    def get(self, key: Hashable) -> Any:
        """Return the value of a key, or None."""
        return self._values.get(key)

    def put(self, key: Hashable, value: Sized) -> None:
        """Store a value, unless it alone exceeds the limit."""
        if value.nbytes <= self.limit:
            self._values.put(key, value)
