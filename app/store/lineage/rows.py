"""The lineage rows of all runs: rebuilt when the runs change, and only for the runs that changed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from parsers import LineageRow, derive, shared_tags
from parsers.names import printable
from parsers.runs import Run

KINDS = ("lineage", "hparams", "settings", "config")
"""Kinds of data that settings come from."""


@dataclass(frozen=True, slots=True, eq=False)
class _CachedRow:
    """A row, and the run, its version and the scalars it was built from."""

    run: Run
    version: int
    scalars: tuple[str, ...]
    row: LineageRow


class Lineage:
    """The cached lineage rows of a store's runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: dict[str, _CachedRow] = {}
        self._version = -1
        self._rows: tuple[LineageRow, ...] = ()

    def rows(self, version: int, runs: Sequence[tuple[str, Run]]) -> tuple[LineageRow, ...]:
        """Return the rows of the runs that have settings; version is that of the list of runs."""
        with self._lock:
            if version != self._version:
                described = [(key, run) for key, run in runs if not run.kinds().keys().isdisjoint(KINDS)]
                scalars = shared_tags([run.tags("scalar") for _, run in described])
                cached = {key: self._row(key, run, scalars) for key, run in described}
                if list(cached.items()) != list(self._cached.items()):
                    self._rows = tuple(one.row for one in cached.values() if one.row.settings)
                self._cached, self._version = cached, version
            return self._rows

    def _row(self, key: str, run: Run, scalars: tuple[str, ...]) -> _CachedRow:
        cached, version = self._cached.get(key), run.version
        if cached is not None and cached.run is run and cached.version == version and cached.scalars == scalars:
            return cached
        derived = derive(run.tags("scalar"), run.series, scalars)
        return _CachedRow(run, version, scalars, LineageRow(key, printable(run.path), run.settings, derived))
