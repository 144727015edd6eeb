"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from layouts.curves.source import CurveSource
from parsers import Derived, ExpressionError, Insight, Series
from parsers.analysis import evaluate, parse_expression, resolved
from parsers.analysis.curves.insights import insights_of_run

if TYPE_CHECKING:
    from tests.sources import MemorySource


class MemoryCurves(CurveSource):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def series(self, run: str, tag: str) -> Series | None:
        found = self.recorded(run, tag)
        return None if found is None else resolved(found)

    def recorded(self, run: str, tag: str) -> Series | None:
        found: Series | None = (self._memory.of(run, "scalar") or {}).get(tag)
        if found is None and tag.startswith("="):
            with contextlib.suppress(ExpressionError):
                derived = self.derived(run, tag.removeprefix("="))
                return derived.series if derived is not None and derived.series.step.size else None
        return found

    def derived(self, run: str, expression: str) -> Derived | None:
        if run not in self._memory.data:
            return None
        return evaluate(parse_expression(expression), (self._memory.of(run, "scalar") or {}).get)

    def insights(self, run: str, tags: Sequence[str] | None = None, seconds: float = 0.1) -> tuple[Sequence[Insight], int]:
        every = {tag: self.recorded(run, tag) for tag in (self._memory.runs.tags(run) if tags is None else tags)}
        return insights_of_run({tag: series for tag, series in every.items() if series is not None}), 0
