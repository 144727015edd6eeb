"""Attributes that are made when they are first asked for, so that what they import and start is not part of a start."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class made_once(Generic[T]):  # noqa: N801 - a decorator, as cached_property is
    """A property that a method makes once, also if several threads ask at the same time."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self._lock = threading.RLock()
        self.__doc__ = make.__doc__

    def __get__(self, instance: Any, _owner: type) -> T:
        with self._lock:
            known = vars(instance)
            if self._name not in known:
                known[self._name] = self._make(instance)  # from now on found before this descriptor
            made: T = known[self._name]
            return made
