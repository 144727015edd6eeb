"""Curves derived by expressions, kept while the runs they were computed from stay the same, in a cache of bounded size."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass

from parsers import Derived, ExpressionError, Series
from parsers.analysis import evaluate, parse_expression
from parsers.caches import Cache
from parsers.model import Floats
from parsers.names import EXPRESSION
from parsers.runs import Run

MOST_BYTES = 1 << 28
"""Size of all curves that are kept, 8 to 24 bytes per point; the least recently used ones are evicted."""
MOST_CURVES = 20_000


@dataclass(frozen=True, slots=True)
class _Derivation:
    """A curve, its size in bytes, and the values it was computed from, which may be gone since the run has others."""

    derived: Derived
    size: int
    made_of: tuple[weakref.ref[Floats], ...]

    def holds(self, parts: Sequence[Series]) -> bool:
        """Return whether these are the series it was computed from: a run gives the same arrays until it changes."""
        return all(was() is now.value for was, now in zip(self.made_of, parts, strict=True))


class Derivations:
    """A thread-safe cache of derived curves by run and expression."""

    def __init__(self, memory: int = MOST_BYTES) -> None:
        """memory: bytes of all curves."""
        self._entries: Cache[tuple[str, str], _Derivation] = Cache(MOST_CURVES, limit=memory, cost=lambda entry: entry.size)

    def of(self, key: str, run: Run, text: str) -> Derived:
        """Evaluate an expression over a run; ExpressionError if it is invalid."""
        expression = parse_expression(text)
        parts = tuple(run.series(tag) for tag in expression.tags)
        entry = self._entries.get((key, text))
        if entry is not None and entry.holds(parts):
            return entry.derived
        found = evaluate(expression, dict(zip(expression.tags, parts, strict=True)).get)
        entry = _Derivation(found, _size_of(found.series, parts), tuple(weakref.ref(part.value) for part in parts))
        self._entries.put((key, text), entry)
        return found

    def series(self, key: str, run: Run, tag: str) -> Series:
        """Return the series of a tag with restarts resolved, or the curve of an expression after the sign `EXPRESSION`; empty
        for anything else.
        """
        return self._found(key, run, tag, run.resolved(tag))

    def recorded(self, key: str, run: Run, tag: str) -> Series:
        """Return the same with the values that later ones supersede, in the order they were written."""
        return self._found(key, run, tag, run.series(tag))

    def _found(self, key: str, run: Run, tag: str, found: Series) -> Series:
        if found.step.size or not tag.startswith(EXPRESSION):
            return found
        try:
            return self.of(key, run, tag.removeprefix(EXPRESSION)).series
        except ExpressionError:
            return found


def _size_of(series: Series, parts: Sequence[Series]) -> int:
    """Return the bytes of a curve without the arrays that it shares with the series it was computed from."""
    shared = {id(column) for part in parts for column in part}
    return sum(column.nbytes for column in series[:3] if id(column) not in shared)
