"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from layouts.lineage.source import Fitting, LineageSource
from parsers import LineageRow, Setting, derive, shared_tags

if TYPE_CHECKING:
    from tests.sources import MemorySource


class MemoryLineage(LineageSource):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def settings(self, run: str) -> Mapping[str, Setting]:
        return self._memory.of(run, "settings") or {}

    def rows(self) -> tuple[LineageRow, ...]:
        keys = [run for row in self._memory.runs.rows() for run in row.members if "settings" in self._memory.data.get(run, {})]
        tags = shared_tags([self._memory.runs.tags(key) for key in keys])
        return tuple(LineageRow(key, f"/data/runs/{key}", self.settings(key), self._derived(key, tags)) for key in keys)

    def _derived(self, run: str, tags: Sequence[str]) -> dict[str, int | float]:
        return derive(self._memory.runs.tags(run), lambda tag: self._memory.curves.series(run, tag), tags)

    def fitting(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Fitting:
        return Fitting("missing")
