"""Drawings that several readers ask for: each is made once per change of the data, however many readers there are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from parsers.caches import Cache

from layouts.sources import Sources

MOST_BYTES = 16 << 20
_NUMBER_BYTES = 8


class KnownDrawings:
    """The latest drawings of the cards of one page; any thread may ask."""

    def __init__(self, draw: Callable[[Sources, Any], Any]) -> None:
        self._draw = draw
        self._known: Cache[tuple[str, str, int], Any] = Cache(limit=MOST_BYTES, cost=_size)
        self._version = -1

    def drawing(self, source: Sources, ask: Any, stamp: str) -> Any:
        """Return the drawing of a card whose data have this stamp; raises BadInput.

        The version of the source is part of the key for what is drawn beside the data, such as names of runs. Nobody asks for
        drawings of an older one again.
        """
        version = source.runs.status().version
        if version != self._version:
            self._version = version
            self._known.clear()
        key = (json.dumps(ask, sort_keys=True), stamp, version)
        return self._known.made(key, lambda: self._draw(source, ask))


def _size(value: Any) -> int:
    """Return about how many bytes a drawing takes as JSON."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(name) + _size(part) for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return _NUMBER_BYTES * len(value) if value and isinstance(value[0], (int, float)) else sum(map(_size, value))
    return int(getattr(value, "nbytes", _NUMBER_BYTES))
