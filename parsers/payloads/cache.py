"""Decoded values kept in memory, the ones used longest ago given up first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Protocol

LIMIT = 64 << 20
DERIVED = 8 << 20
GRAPHS = 512 << 20


class Sized(Protocol):
    """A decoded value that knows about what it takes in memory."""

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        ...


class PayloadCache:
    """At most `limit` bytes of decoded values, shared by the runs it is given to and by any number of threads.

    derived is a cache of its own for small values made of large ones, which the large ones must not drive out, graphs another
    one for graphs, which are few, larger and slower to decode.
    """

    def __init__(self, limit: int = LIMIT, derived: int = DERIVED, graphs: int = GRAPHS) -> None:
        self.limit = limit
        self.derived = PayloadCache(derived, 0, 0) if derived else self
        self.graphs = PayloadCache(graphs, 0, 0) if graphs else self
        self.size = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, Sized] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> Any:
        """The value kept under a key, or None."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: Hashable, value: Sized) -> None:
        """Keep a value, unless it alone is larger than the limit."""
        size = value.nbytes
        if size > self.limit:
            return
        with self._lock:
            known = self._values.pop(key, None)
            self._values[key] = value
            self.size += size - (known.nbytes if known is not None else 0)
            while self.size > self.limit:
                self.size -= self._values.popitem(last=False)[1].nbytes
