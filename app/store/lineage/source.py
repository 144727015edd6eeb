"""Settings, results and shares as pages see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.store.lineage.fittings import Fittings
from app.store.lineage.rows import KINDS, Lineage
from app.store.runs.following import RunFollower
from layouts.lineage.source import Fitting, LineageSource
from parsers import LineageRow, Setting


class StoredLineage(LineageSource):
    """Lineage of the runs that a `RunFollower` reads. See `layouts.lineage.source`."""

    def __init__(self, runs: RunFollower) -> None:
        self._runs = runs
        self._rows = Lineage()
        self._fittings = Fittings()

    def stop(self) -> None:
        """Stop fitting shares."""
        self._fittings.stop()

    def settings(self, run: str) -> Mapping[str, Setting]:
        entry = self._runs.entries.get(run)
        return entry.run.settings if entry else {}

    def rows(self) -> tuple[LineageRow, ...]:
        rows, version, _ = self._runs.snapshot()
        entries = self._runs.entries  # a scan may have removed some of the rows since
        members = [(key, entries[key]) for row in rows for key in row.members if key in entries]
        # Of a run that is only listed so far, the row says whether it has settings.
        known = [(key, one.run) for key, one in members if one.awake is not None or not one.row.tags.keys().isdisjoint(KINDS)]
        return self._rows.rows(version, known)

    def fitting(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Fitting:
        return self._fittings.fitting(rows, target, act)
