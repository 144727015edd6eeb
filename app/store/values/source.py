"""Large values as pages see them."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from app.store.runs.following import RunFollower
from layouts.values.source import ValueSource
from parsers import (
    GrowingDirectory,
    GrowingLandscape,
    HistogramValue,
    LandscapeFacts,
    LandscapePlan,
    PayloadError,
    PayloadSeries,
    Value,
    landscape_facts,
    landscape_plan,
)
from parsers.checkpoints import FACTS, POINTS
from parsers.model import COMPUTED_LANDSCAPES


class StoredValues(ValueSource):
    """Large values of the runs that a `RunFollower` reads. See `layouts.values.source`."""

    def __init__(self, runs: RunFollower) -> None:
        self._runs = runs
        self._measuring = threading.Lock()
        self._growing: dict[str, GrowingDirectory] = {}

    def series(self, run: str, kind: str, tag: str) -> PayloadSeries | None:
        entry = self._runs.entries.get(run)
        found = entry.run.payload_series(kind, tag) if entry else None
        return found if found is not None and len(found) else None

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        entry = self._runs.entries.get(run)
        if entry is None:
            raise PayloadError(f"expected the key of a known run, found {run!r}")
        self._runs.value_wanted()
        try:
            return entry.run.value(kind, tag, place)
        finally:
            if entry.verified[0] < entry.verified[1]:
                self._runs.checked(entry)  # the first read of a large value checks its CRC

    def distribution(self, run: str, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        entry = self._runs.entries.get(run)
        if entry is None:
            raise PayloadError(f"expected the key of a known run, found {run!r}")
        if known:
            return entry.run.distribution(tag, place, known=True)
        with self._measuring:
            return entry.run.distribution(tag, place)

    def landscape_plan(self, run: str) -> LandscapePlan | None:
        entry = self._runs.entries.get(run)
        return landscape_plan(entry.source.path) if entry else None

    def landscape_facts(self, run: str) -> LandscapeFacts | None:
        return landscape_facts(self._runs.entries[run].source.path) if self._computed(run, FACTS) else None

    def growing_landscapes(self, run: str) -> Sequence[GrowingLandscape]:
        if not self._computed(run, POINTS):
            self._growing.pop(run, None)
            return ()
        found = self._growing.get(run) or GrowingDirectory(self._runs.entries[run].source.path)
        self._growing[run] = found
        return found.landscapes()

    def _computed(self, run: str, ending: str) -> bool:
        """Return whether a run has a file that `mindscope landscape` wrote, of this ending."""
        entry = self._runs.entries.get(run)
        files = entry.source.files if entry else ()
        return any(file.kind == COMPUTED_LANDSCAPES and os.path.splitext(file.path)[1] == f".{ending}" for file in files)
