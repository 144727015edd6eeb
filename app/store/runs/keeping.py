"""Saves what has been read of runs to the index, and restores it at the next start."""

from __future__ import annotations

import logging
import time

from app.store.runs.entries import Entry
from app.store.runs.index import Index
from app.store.runs.packs import Snapshots
from parsers.snapshot import key_of

log = logging.getLogger(__name__)

# A run that is up to date is saved at most this often while it grows.
INDEX_SECONDS = 60.0


class RunKeeper:
    """Saves runs that are up to date; small ones many at a time. Used by the thread that reads runs alone.

    Without a directory, and with one that cannot be opened, nothing is saved.
    """

    def __init__(self, directory: str | None) -> None:
        self._directory = directory
        self._index: Snapshots | None = None
        # Runs that are to be saved later, and what of each waits to be written with others.
        self._unsaved: dict[str, Entry] = {}
        self._packing: dict[str, tuple[Entry, tuple[int, int]]] = {}

    def open(self) -> None:
        """Open the index; a log line says why if that is not possible."""
        if self._directory is None:
            return
        try:
            self._index = Snapshots(Index(self._directory))
        except OSError as error:
            log.warning("index: %s; continuing without it", error)

    def close(self) -> None:
        """Save everything that is unsaved and close the index."""
        self.save_all(force=True)
        if self._index is not None:
            self._index.close()

    def restore(self, entry: Entry) -> None:
        """Restore a run that was not yet read, once."""
        if self._index is None or entry.restored or entry.loaded:
            return
        entry.restored = True
        states = self._index.load(key_of(entry.source.real_path))
        if states:
            entry.run.restore(states)
            entry.count_verified()
            entry.indexed = entry.content

    def later(self, entry: Entry) -> None:
        """Save a run when its time has come."""
        self._unsaved[entry.key] = entry

    def forget(self, key: str) -> None:
        """Do not save a run any more."""
        self._unsaved.pop(key, None)
        self._packing.pop(key, None)

    def save_all(self, *, force: bool) -> None:
        """Save the runs that are unsaved; without force only those whose time has come."""
        for entry in list(self._unsaved.values()):
            self.save(entry, force=force)
        self._write_packed()
        if self._index is not None:
            self._index.rest()

    def save(self, entry: Entry, *, force: bool) -> None:
        """Save a run unless that was done less than INDEX_SECONDS ago. The first time it may be one of many."""
        packed = self._packing.get(entry.key)
        if self._index is None or not entry.loaded or entry.content in (entry.indexed, packed and packed[1]):
            self._unsaved.pop(entry.key, None)
            return
        self._unsaved[entry.key] = entry
        if force or time.monotonic() - entry.indexed_at >= INDEX_SECONDS:
            content, first, entry.indexed_at = entry.content, entry.indexed_at == 0.0, time.monotonic()
            saved = self._index.save(key_of(entry.source.real_path), list(entry.run.states.values()), together=first)
            if saved is None:
                self._packing[entry.key] = entry, content
                if self._index.full:
                    self._write_packed()
            elif saved:
                entry.indexed = content
            if saved is not False:
                self._unsaved.pop(entry.key, None)

    def _write_packed(self) -> None:
        """Write the small runs that wait; if that fails, they are to be saved again."""
        if self._index is None or not self._packing:
            return
        packed, self._packing = self._packing, {}
        saved = self._index.flush()
        for key, (entry, content) in packed.items():
            if saved:
                entry.indexed = content
            else:
                self._unsaved[key] = entry
