"""Values of tensors that training has sent, of all sessions together: those not looked at longest make room for others."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

from parsers.dumps.values import Array

MOST_BYTES = 1 << 30
"""Bytes of values in memory; a tensor has at most as many (`parsers.debugger.messages.LARGEST_TENSOR`)."""

Key = tuple[Hashable, int, int]
"""Session, tensor (its place on the wire), step."""


class KeptValues:
    """Values by key. Their total size is limited; those not used for longest are dropped. May be called by any thread."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._values: OrderedDict[Key, Array] = OrderedDict()
        self.nbytes = 0

    def reserve(self, size: int) -> None:
        """Drop values until this many more bytes fit: they are about to arrive."""
        with self._lock:
            self._shrink(max(self._most - size, 0))

    def put(self, key: Key, values: Array) -> None:
        """Keep values."""
        with self._lock:
            self._drop(key)
            self._values[key] = values
            self.nbytes += values.nbytes
            self._shrink(max(self._most, values.nbytes))

    def get(self, key: Key) -> Array | None:
        """Return values, or None if there are none (any more)."""
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
            return found

    def keys(self, session: Hashable) -> list[tuple[int, int]]:
        """Return (tensor, step) of what is kept of a session."""
        with self._lock:
            return [(wire, step) for owner, wire, step in self._values if owner == session]

    def forget(self, session: Hashable, step: int | None = None) -> None:
        """Drop what is kept of a session, or of one of its steps."""
        with self._lock:
            for key in [key for key in self._values if key[0] == session and step in (None, key[2])]:
                self._drop(key)

    def _drop(self, key: Key) -> None:
        gone = self._values.pop(key, None)
        if gone is not None:
            self.nbytes -= gone.nbytes

    def _shrink(self, most: int) -> None:
        while self.nbytes > most and self._values:
            self._drop(next(iter(self._values)))
