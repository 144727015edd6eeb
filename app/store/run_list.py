"""The list of runs, newest first: only rows that changed are built again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from app.store.run_rows import LIVE_SECONDS, dated_row, job_row
from layouts.sources import RunRow
from parsers import Source


class HasRow(Protocol):
    """What a row of the list is made of."""

    row: RunRow


class RunList:
    """The rows of runs and jobs. One thread changes the list; any thread may read `rows` and `row`."""

    def __init__(self) -> None:
        self.rows: tuple[RunRow, ...] = ()
        self._by_key: dict[str, RunRow] = {}
        self._next: dict[str, RunRow] = {}
        self._sources: dict[str, tuple[Source, tuple[str, ...]]] = {}
        self._changed: set[str] = set()
        self._live: set[str] = set()
        self._gone = False

    @property
    def changed(self) -> bool:
        """Whether a row may have changed since the rows were built."""
        return bool(self._changed) or self._gone

    def row(self, key: str) -> RunRow | None:
        """Return the row of a run or job."""
        return self._by_key.get(key)

    def members(self, key: str) -> tuple[str, ...]:
        """Return the keys of the runs that a row was made of at the last scan."""
        found = self._sources.get(key)
        return found[1] if found is not None else ()

    def take(self, key: str, source: Source, members: tuple[str, ...]) -> None:
        """Add or change a run, as found by a scan."""
        self._sources[key] = source, members
        self._changed.add(key)

    def keep(self, keys: Collection[str]) -> None:
        """Drop all runs but these."""
        for key in [key for key in self._sources if key not in keys]:
            del self._sources[key]
            self._next.pop(key, None)
            self._live.discard(key)
            self._gone = True

    def change(self, key: str) -> None:
        """Note that a run of this row has changed."""
        self._changed.add(key)

    def rebuilt(self, entries: Mapping[str, HasRow], now: float) -> tuple[RunRow, ...] | None:
        """Return all rows, newest first, to be passed to `show`; None if none changed. now is in seconds since 1970."""
        self._changed |= {key for key in self._live if now - self._next[key].updated >= LIVE_SECONDS}
        different, sort = False, self._gone
        for key in self._changed:
            found = self._sources.get(key)
            if found is None:
                continue
            source, members = found
            own = [entries[member].row for member in members]
            row = dated_row(own[0] if len(own) == 1 and not source.ranks else job_row(key, source, own), source, now)
            (self._live.add if row.state == "live" else self._live.discard)(key)
            before = self._next.get(key)
            if row != before:
                self._next[key] = row
                different = True
                sort = sort or before is None or before.updated != row.updated
        self._changed.clear()
        self._gone = False
        if sort:
            return tuple(sorted(self._next.values(), key=lambda row: (-row.updated, row.key)))
        return tuple(map(self._next.__getitem__, (row.key for row in self.rows))) if different else None

    def show(self, rows: tuple[RunRow, ...]) -> None:
        """Replace the rows that other threads see."""
        self.rows, self._by_key = rows, dict(self._next)
