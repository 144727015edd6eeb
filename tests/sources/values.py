"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from layouts.values.source import ValueSource
from parsers import GrowingLandscape, HistogramValue, LandscapeFacts, LandscapePlan, PayloadError, PayloadSeries, Value
from tests.sources.made import recorded

if TYPE_CHECKING:
    from tests.sources import MemorySource


VALUES = ("histogram", "image", "tensor", "landscape", "text")
"""Kinds of large values."""


class MemoryValues(ValueSource):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def series(self, run: str, kind: str, tag: str) -> PayloadSeries | None:
        found = self._recorded(run, kind, tag)
        return found and found[0]

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        items, values = self._recorded(run, kind, tag) or (None, ())
        if items is None or not -len(values) <= place < len(values):
            raise PayloadError(f"no such {kind}")
        value: Value | Exception | None = values[place]
        if value is None:
            raise PayloadError(f"step {items.step[place]}: unreadable")
        if isinstance(value, Exception):
            raise value
        return value

    def _recorded(self, run: str, kind: str, tag: str) -> tuple[PayloadSeries, Sequence[Any]] | None:
        found = (self._memory.of(run, kind) or {}).get(tag)
        if found is None or kind not in VALUES:
            return None
        if isinstance(found, list):
            steps, values = [step for step, _ in found], [value for _, value in found]
            return recorded(steps), values
        return (found, ()) if isinstance(found, PayloadSeries) else found

    def distribution(self, run: str, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        raise PayloadError("no value")

    def landscape_plan(self, run: str) -> LandscapePlan | None:
        found: LandscapePlan | Exception | None = self._memory.of(run, "landscape_plan")
        if isinstance(found, Exception):
            raise found
        return found

    def landscape_facts(self, run: str) -> LandscapeFacts | None:
        found: LandscapeFacts | None = self._memory.of(run, "landscape_facts")
        return found

    def growing_landscapes(self, run: str) -> Sequence[GrowingLandscape]:
        found: Sequence[GrowingLandscape] | None = self._memory.of(run, "growing")
        return found or ()
