"""Scalars as pages see them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from app.store.curves.derivations import Derivations
from app.store.curves.insights import Insights
from app.store.runs.following import RunFollower
from layouts.curves.source import CurveSource
from parsers import Derived, Insight, Series


class StoredCurves(CurveSource):
    """Scalars of the runs that a `RunFollower` reads. See `layouts.curves.source`."""

    def __init__(self, runs: RunFollower) -> None:
        self._runs = runs
        self._insights = Insights()
        self._derivations = Derivations()

    def series(self, run: str, tag: str) -> Series | None:
        entry = self._runs.entries.get(run)
        found = self._derivations.series(entry.key, entry.run, tag) if entry else None
        return found if found is not None and len(found.step) else None

    def recorded(self, run: str, tag: str) -> Series | None:
        entry = self._runs.entries.get(run)
        found = self._derivations.recorded(entry.key, entry.run, tag) if entry else None
        return found if found is not None and len(found.step) else None

    def derived(self, run: str, expression: str) -> Derived | None:
        entry = self._runs.entries.get(run)
        return self._derivations.of(entry.key, entry.run, expression) if entry else None

    def insights(self, run: str, tags: Sequence[str] | None = None, seconds: float = 0.1) -> tuple[Sequence[Insight], int]:
        entry = self._runs.entries.get(run)
        if entry is None:
            return (), 0

        def series_of(tag: str) -> Series:
            return self._derivations.recorded(entry.key, entry.run, tag)

        found, left = self._insights.of(run, series_of, entry.run.tags("scalar") if tags is None else tags, seconds)
        # A run records its final loss when it ends, so a run that has one has not stalled.
        if tags is None and not left and "loss" not in entry.run.settings:
            standing = self._insights.standing(entry.run, time.time())
            found += [standing] if standing is not None else []
        return found, left
