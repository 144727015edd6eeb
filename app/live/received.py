"""Values of tensors that training has sent, of all sessions together: those not looked at longest make room for others."""

from __future__ import annotations

from collections.abc import Hashable

from parsers.caches import Cache
from parsers.dumps.values import Array

MOST_BYTES = 1 << 30
"""Bytes of values in memory; a tensor has at most as many (`parsers.debugger.messages.LARGEST_TENSOR`)."""

Key = tuple[Hashable, int, int]
"""Session, tensor (its place on the wire), step."""


class ReceivedValues:
    """Values by key. Their total size is limited; those not used for longest are dropped. May be called by any thread."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._values: Cache[Key, Array] = Cache(limit=most_bytes, cost=lambda values: values.nbytes)

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return self._values.total

    def reserve(self, size: int) -> None:
        """Drop values until this many more bytes fit: they are about to arrive."""
        self._values.shrink(max(self._most - size, 0))

    def put(self, key: Key, values: Array) -> None:
        """Keep values."""
        self._values.put(key, values)

    def get(self, key: Key) -> Array | None:
        """Return values, or None if there are none (any more)."""
        return self._values.get(key)

    def keys(self, session: Hashable) -> list[tuple[int, int]]:
        """Return (tensor, step) of what is kept of a session."""
        return [(wire, step) for owner, wire, step in self._values if owner == session]

    def forget(self, session: Hashable, step: int | None = None) -> None:
        """Drop what is kept of a session, or of one of its steps."""
        for key in self._values:
            if key[0] == session and step in (None, key[2]):
                self._values.pop(key)
