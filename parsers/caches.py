"""A bounded cache that evicts the least recently used values.

`cachetools` has no lock of its own, refuses a value larger than the cache (here the latest one always stays: a page that asked
for it would never get it), cannot protect values for some seconds, and has no types.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class _CacheEntry(Generic[V]):
    value: V
    of: tuple[object, ...]
    cost: int
    asked: float

    def is_of(self, of: tuple[object, ...]) -> bool:
        return len(self.of) == len(of) and all(mine is other for mine, other in zip(self.of, of, strict=True))


class Cache(Generic[K, V]):
    """Values by key; may be used by any thread.

    The least recently used values are evicted while there are more than `most`, or while they cost more than `limit` together.
    The latest value stays whatever it costs, and so do values asked for within `held` seconds.

    `of` are the objects that a value is made of: a value counts as missing when it is asked for with other objects.
    """

    def __init__(
        self, most: int | None = None, *, limit: int | None = None, cost: Callable[[V], int] | None = None,
        held: float = 0.0, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """cost is called once per value, when it is put; a value costs 1 without it. clock returns seconds."""
        self._most, self._limit, self._cost = most, limit, cost
        self._held, self._clock = held, clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[K, _CacheEntry[V]] = OrderedDict()
        self._total = 0
        self._making: dict[K, threading.Event] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        """Whether there is a value of this key. This is no use of it."""
        return key in self._entries

    @property
    def total(self) -> int:
        """What all values cost."""
        return self._total

    def __iter__(self) -> Iterator[K]:
        """Iterate over a copy of the keys, the least recently used first."""
        with self._lock:
            return iter(list(self._entries))

    def values(self) -> list[V]:
        """Return the values in the order of their keys. This is no use of them."""
        with self._lock:
            return [entry.value for entry in self._entries.values()]

    def get(self, key: K, of: tuple[object, ...] = ()) -> V | None:
        """Return the value of a key that was made of these objects; None if there is none."""
        with self._lock:
            entry = self._find(key, of)
            return None if entry is None else entry.value

    def put(self, key: K, value: V, of: tuple[object, ...] = (), *, asked: bool = True) -> list[V]:
        """Cache a value; return those evicted. One that nobody asked for (asked=False) is the next to be evicted."""
        cost = 1 if self._cost is None else self._cost(value)
        with self._lock:
            self._remove(key)
            self._entries[key] = _CacheEntry(value, of, cost, self._clock() if asked else float("-inf"))
            self._entries.move_to_end(key, last=asked)
            self._total += cost
            return self._evict(self._limit, 1)

    def made(self, key: K, make: Callable[[], V], of: tuple[object, ...] = (), *, keep: Callable[[V], bool] | None = None) -> V:
        """Return the value of a key, made by `make` if there is none; concurrent callers wait for the one that makes it.

        keep returns whether a value is to be cached (None: every one). What `make` raises is raised to its caller, and a caller
        that waited calls its own `make`. `make` must not ask for the same key.
        """
        while True:
            with self._lock:
                entry = self._find(key, of)
                if entry is not None:
                    return entry.value
                other = self._making.get(key)
                if other is None:
                    own = self._making[key] = threading.Event()
                    break
            other.wait()
        try:
            value = make()
            if keep is None or keep(value):
                self.put(key, value, of)
            return value
        finally:
            with self._lock:
                del self._making[key]
            own.set()

    def pop(self, key: K) -> V | None:
        """Remove and return the value of a key; None if there is none."""
        with self._lock:
            entry = self._remove(key)
            return None if entry is None else entry.value

    def shrink(self, limit: int) -> list[V]:
        """Evict values until all together cost at most this; return them. The latest one may be evicted, too."""
        with self._lock:
            return self._evict(limit, 0)

    def clear(self) -> list[V]:
        """Remove and return all values."""
        with self._lock:
            values = [entry.value for entry in self._entries.values()]
            self._entries.clear()
            self._total = 0
            return values

    # With the lock -------------------------------------------------------------------------------------------------------

    def _find(self, key: K, of: tuple[object, ...]) -> _CacheEntry[V] | None:
        entry = self._entries.get(key)
        if entry is None or not entry.is_of(of):
            return None
        entry.asked = self._clock()
        self._entries.move_to_end(key)
        return entry

    def _remove(self, key: K) -> _CacheEntry[V] | None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._total -= entry.cost
        return entry

    def _evict(self, limit: int | None, least: int) -> list[V]:
        """Evict values in the order of their last use until those left are within the limits, or are this few."""
        now, total, left = self._clock() if self._held else 0.0, self._total, len(self._entries)
        evicted: list[K] = []
        for key in islice(self._entries, len(self._entries) - least):
            if (limit is None or total <= limit) and (self._most is None or left <= self._most):
                break
            if not self._held or now - self._entries[key].asked > self._held:
                evicted.append(key)
                total, left = total - self._entries[key].cost, left - 1
        return [entry.value for key in evicted if (entry := self._remove(key)) is not None]
