"""A cache of decoded values that evicts the least recently used ones."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

LIMIT = 64 << 20
DERIVED = 8 << 20
GRAPHS = 512 << 20


class Sized(Protocol):
    """A decoded value that knows its approximate size in memory."""

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        ...


class Stored(Protocol):
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
        self, limit: int = LIMIT, derived: int = DERIVED, graphs: int = GRAPHS, stored: Stored | None = None
    ) -> None:
        self.stored = stored
        self.limit = limit
        self.derived = PayloadCache(derived, 0, 0) if derived else self
        self.graphs = PayloadCache(graphs, 0, 0, stored) if graphs else self
        self.size = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, Sized] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> Any:
        """Return the value of a key, or None."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: Hashable, value: Sized) -> None:
        """Store a value, unless it alone exceeds the limit."""
        size = value.nbytes
        if size > self.limit:
            return
        with self._lock:
            known = self._values.pop(key, None)
            self._values[key] = value
            self.size += size - (known.nbytes if known is not None else 0)
            while self.size > self.limit:
                self.size -= self._values.popitem(last=False)[1].nbytes
