"""The list of runs, newest first. Only rows that changed are built again; a browser that has the others is sent only these."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from typing import Protocol

from app.store.runs.run_rows import LIVE_SECONDS, dated_row, job_row
from layouts.runs.rows import RunChanges, RunRow
from layouts.runs.run_colours import Colours
from parsers import Source
from parsers.ages import age_of

GONE = 1000
"""At least this many deleted rows are remembered, so that browsers can remove them."""


class HasRow(Protocol):
    """What a row of the list is made of."""

    row: RunRow


class RunList:
    """The rows of runs and jobs, and their colours.

    One thread changes the list; any thread may read `rows`, `row` and `colours`. `show`, `paint` and `changes`
    need a common lock.
    """

    def __init__(self) -> None:
        self.rows: tuple[RunRow, ...] = ()
        self.colours = Colours(())
        self._by_key: dict[str, RunRow] = {}
        self._next: dict[str, RunRow] = {}
        self._sources: dict[str, tuple[Source, tuple[str, ...]]] = {}
        self._changed: set[str] = set()
        self._live: set[str] = set()
        self._gone = False
        self._log = ChangeLog()
        self._altered: set[str] = set()
        self._recolour = False
        self._hands: Mapping[str, str] = {}

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
            self._altered.add(key)
            self._gone = self._recolour = True

    def change(self, key: str) -> None:
        """Note that a run of this row has changed."""
        self._changed.add(key)

    def rebuilt(self, entries: Mapping[str, HasRow], now: float) -> tuple[RunRow, ...] | None:
        """Return all rows, newest first, to be passed to `show`; None if none changed. now is in seconds since 1970."""
        self._changed |= {key for key in self._live if age_of(self._next[key].updated, now) >= LIVE_SECONDS}
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
                self._altered.add(key)
                self._recolour |= before is None or (before.started, before.members) != (row.started, row.members)
                different = True
                sort = sort or before is None or before.updated != row.updated
        self._changed.clear()
        self._gone = False
        if sort:
            return tuple(sorted(self._next.values(), key=lambda row: (-row.updated, row.key)))
        return tuple(map(self._next.__getitem__, (row.key for row in self.rows))) if different else None

    def show(self, rows: tuple[RunRow, ...]) -> None:
        """Replace the rows that other threads see."""
        self._altered |= self._coloured(rows, Colours(rows, self._hands) if self._recolour else self.colours.now(rows))
        self._recolour = False
        self.rows, self._by_key = rows, dict(self._next)
        self._log.add(self._altered, self._by_key)
        self._altered = set()

    def paint(self, by_hand: Mapping[str, str]) -> None:
        """Replace the colours set by hand: key of a run, job or rank -> #rrggbb."""
        if by_hand != self._hands:
            self._hands = by_hand
            self._log.add(self._coloured(self.rows, Colours(self.rows, by_hand)), self._by_key)

    def _coloured(self, rows: tuple[RunRow, ...], colours: Colours) -> set[str]:
        """Replace the colours; return the keys of the rows for which they differ."""
        before, self.colours = self.colours, colours
        if colours is before:
            return set()
        differing = {
            key
            for now, then in ((colours.wishes, before.wishes), (colours.usual, before.usual), (colours.by_hand, before.by_hand))
            for key, _ in now.items() ^ then.items()
        }
        if not differing:
            return set()
        return {row.key for row in rows if row.key in differing or not differing.isdisjoint(row.members)}

    def changes(self, since: str) -> RunChanges:
        """Return what has changed since a mark (`layouts.runs.source.RunSource.changes`)."""
        keys = self._log.since(since)
        if keys is None:
            return RunChanges(self._log.mark, True, self.rows, (), self.colours.usual, self.colours.hues, self.colours.by_hand)
        rows = [self._by_key[key] for key in keys if key in self._by_key]
        gone = [key for key in keys if key not in self._by_key]
        return RunChanges(self._log.mark, False, rows, gone, self.colours.usual, self.colours.hues, self.colours.by_hand)


class ChangeLog:
    """Which keys changed at which of the changes, counted from 1; the marks of another log are unknown to it."""

    def __init__(self) -> None:
        self._name = secrets.token_hex(6)
        self._number = 0
        self._forgotten = 0
        self._changed: dict[str, int] = {}

    @property
    def mark(self) -> str:
        """The mark of the latest change."""
        return f"{self._name}.{self._number}"

    def add(self, keys: Collection[str], present: Collection[str]) -> None:
        """Note one change of these keys. Keys that are not present are forgotten when there are many."""
        self._number += 1
        for key in keys:
            self._changed.pop(key, None)  # so that the dict stays in the order of the changes
            self._changed[key] = self._number
        if len(self._changed) > len(present) + max(GONE, len(present)):
            self._changed = {key: number for key, number in self._changed.items() if key in present}
            self._forgotten = self._number

    def since(self, mark: str) -> list[str] | None:
        """Return the keys that changed after a mark, the latest first; None for an unknown mark."""
        name, _, number = mark.partition(".")
        if name != self._name or not (number.isascii() and number.isdecimal() and len(number) < 20):
            return None
        known = int(number)
        if not self._forgotten <= known <= self._number:
            return None
        found = []
        for key, changed in reversed(self._changed.items()):
            if changed <= known:
                break
            found.append(key)
        return found
