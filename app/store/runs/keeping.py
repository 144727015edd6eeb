"""Saves what has been read of runs to the index, and restores it at the next start: unchanged runs once somebody asks."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from app.store.runs.entries import Asleep, RunEntry
from app.store.runs.index import Index
from app.store.runs.kept_rows import KeptRows
from app.store.runs.packs import Snapshots
from parsers import PayloadCache, Source
from parsers.runs import Run
from parsers.snapshot import key_of

log = logging.getLogger(__name__)

# A run that is up to date is saved at most this often while it grows.
INDEX_SECONDS = 60.0
# A thread that wants a run reads at most this many bytes of it, if the index does not have what it was to have.
WAKING_BYTES = 32 << 20


class RunKeeper:
    """Saves runs that are up to date; small ones many at a time. Used by the thread that reads runs; others wake runs.

    Without a directory, and with one that cannot be opened, nothing is saved.
    """

    def __init__(self, directory: str | None, cache: PayloadCache, woken: Callable[[RunEntry], None]) -> None:
        """cache keeps decoded values of all runs. woken is called for a run that differs from its row in the index."""
        self._directory, self._cache, self._woken = directory, cache, woken
        self._lock = threading.RLock()
        self._index: Snapshots | None = None
        self._rows: KeptRows | None = None
        # Runs that are to be saved later, and what of each waits to be written with others.
        self._unsaved: dict[str, RunEntry] = {}
        self._packing: dict[str, tuple[RunEntry, tuple[int, int]]] = {}

    def open(self) -> None:
        """Open the index; a log line says why if that is not possible."""
        if self._directory is None:
            return
        try:
            index = Index(self._directory)
        except OSError as error:
            log.warning("index: %s; continuing without it", error)
        else:
            self._index = Snapshots(index)
            self._rows = KeptRows(index, self._index)

    def close(self) -> None:
        """Save everything that is unsaved and close the index."""
        with self._lock:
            self.save_all(force=True)
            if self._index is not None:
                self._index.close()

    def asleep(self, key: str, source: Source) -> Asleep | None:
        """Return what the index has of a run that nobody has read, if its files are as they were."""
        found = self._rows.find(key_of(source.real_path), source) if self._rows is not None else None
        return Asleep(found.row(key, source), found.verified, self._wake) if found is not None else None

    def _wake(self, entry: RunEntry) -> Run:
        """Return the run of an entry, restored from the index; what the index has lost is read."""
        with self._lock:
            if entry.awake is not None:
                return entry.awake
            run = Run(entry.source, self._cache)
            states = self._index.load(key_of(entry.source.real_path)) if self._index is not None else None
            if states:
                run.restore(states)
            entry.indexed = (run.version, entry.verified[0]) if states else (0, 0)
            run.refresh(entry.source, limit=WAKING_BYTES)
            entry.awake = run
        if run.behind or run.version != entry.row.version or entry.counts != entry.row.counts:
            self._woken(entry)
        return run

    def restore(self, entry: RunEntry) -> None:
        """Restore a run that was not yet read, once."""
        if self._index is None or entry.restored or entry.loaded:
            return
        entry.restored = True
        with self._lock:
            states = self._index.load(key_of(entry.source.real_path))
        if states:
            entry.run.restore(states)
            entry.count_verified()
            entry.indexed = entry.content

    def later(self, entry: RunEntry) -> None:
        """Save a run when its time has come."""
        self._unsaved[entry.key] = entry

    def forget(self, key: str) -> None:
        """Do not save a run any more."""
        self._unsaved.pop(key, None)
        self._packing.pop(key, None)

    def save_all(self, *, force: bool) -> None:
        """Save the runs that are unsaved; without force only those whose time has come."""
        with self._lock:
            for entry in list(self._unsaved.values()):
                self.save(entry, force=force)
            self._write_packed()
            if self._rows is not None:
                self._rows.write(force=force)
            if self._index is not None:
                self._index.rest()

    def save(self, entry: RunEntry, *, force: bool) -> None:
        """Save a run unless that was done less than INDEX_SECONDS ago. The first time it may be one of many."""
        with self._lock:
            if self._rows is not None and entry.awake is not None and entry.loaded and not entry.due:
                self._rows.keep(key_of(entry.source.real_path), entry.source, entry.awake, entry.row)
            packed = self._packing.get(entry.key)
            if self._index is None or not entry.loaded or entry.content in (entry.indexed, packed and packed[1]):
                self._unsaved.pop(entry.key, None)
                return
            self._unsaved[entry.key] = entry
            if force or time.monotonic() - entry.indexed_at >= INDEX_SECONDS:
                self._save(entry)

    def _save(self, entry: RunEntry) -> None:
        assert self._index is not None
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
        if self._rows is not None:
            self._rows.write(force=True)
