"""The dump of a run: its tensors, their statistics, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Self

import numpy as np

from parsers.analysis.dumps.first_cause import Causes
from parsers.analysis.dumps.watchpoints.checking import check
from parsers.analysis.dumps.watchpoints.conditions import Watchpoint
from parsers.deferred import pandas as pd
from parsers.dumps.known_statistics import KnownStatistics, TensorFiles, header, known_statistics
from parsers.dumps.listed import DumpFiles
from parsers.dumps.statistics import Scratch, TensorStatistics
from parsers.dumps.store import COMPUTED, StatisticsTable
from parsers.dumps.values import TensorHeader, measure
from parsers.errors import PayloadError
from parsers.model import Ints

Progress = Callable[[int, int], bool]
"""Called with the number of tensors done and the number of all; returns whether to go on."""


class RunDump(DumpFiles):
    """The dump in directories of one run, with statistics: those that files state, and those computed when asked for."""

    def __init__(self, base: str, directories: Sequence[str]) -> None:
        """base is the directory of the run, directories those of its dumps (`Source.dump_dirs`)."""
        super().__init__(base, directories)
        self._statistics: tuple[StatisticsTable, StatisticsTable] | None = None
        self._before: KnownStatistics | None = None

    def refresh(self) -> bool:
        """List the dump again if files were added; return whether rows changed. Nothing is read that was not read before."""
        with self._lock:
            listing, kept = self._listing, self._kept()
            changed = super().refresh()
            if self._listing is not listing:
                self._statistics, self._before = None, kept
            return changed

    def successor(self, directories: Sequence[str] | None = None) -> Self:
        """Return the dump as it is now, which has not been listed yet. It knows the statistics of files that are unchanged.

        directories are given if they are others. The rows of this one stay valid for those who use it.
        """
        made = super().successor(directories)
        with self._lock:
            made._before = self._kept()
        return made

    def header(self, row: int) -> TensorHeader:
        """Return type and shape of a tensor, from its file unless its statistics were computed. Errors as for `tensor`."""
        self._check(row)
        with self._lock:
            own = self._statistics[1] if self._statistics is not None else None
        if own is None or not own.known[row]:
            return super().header(row)
        return header(own.dtype[row], own.shape[row])

    # What is wrong -------------------------------------------------------------------------------------------------

    def check(
        self, watchpoints: Sequence[Watchpoint], *, rows: Sequence[int] | None = None, progress: Progress | None = None
    ) -> pd.DataFrame:
        """Return what watchpoints find (schema DUMP_HITS): hits, and checks that are not possible.

        rows limits the check to some tensors; progress is called after each watchpoint and may stop.
        """
        return check(self, watchpoints, rows=rows, progress=progress)

    def first_cause(self) -> pd.DataFrame:
        """Return where values went bad, the earliest first (schema DUMP_CAUSES): NaN, Inf, norms that left their history."""
        return Causes(self).frame()

    def departures(self, loss: Mapping[int, float] | None = None) -> pd.DataFrame:
        """Return the tensors whose norm left its own history, the earliest first (schema DUMP_DEPARTURES).

        With the loss by iteration, also how many iterations later it does.
        """
        return Causes(self).departed(loss)

    def spread(self, rank: int, iteration: int) -> pd.DataFrame:
        """Return the operators with NaN or Inf in one iteration in the order they ran (schema DUMP_SPREAD)."""
        return Causes(self).spread(rank, iteration)

    # Statistics ----------------------------------------------------------------------------------------------------

    @property
    def statistics(self) -> pd.DataFrame:
        """Statistics of all tensors (schema DUMP_STATISTICS), in the order of `tensors`: as files state them, else computed."""
        return self.statistics_of()

    def statistics_of(
        self, rows: Sequence[int] | None = None, *, computed: bool = False, progress: Progress | None = None
    ) -> pd.DataFrame:
        """Return the statistics of rows (all of them for None), computing those that no file states.

        computed: compute all whose values were dumped, also if a file states some statistics. progress may stop after
        each tensor; the rest is then unknown. Tensors that cannot be read have no statistics, and are in `problems`.
        """
        chosen = np.arange(len(self.tensors)) if rows is None else np.asarray(rows, np.int64)
        return self.measured(chosen, computed=computed, progress=progress).frame(self.tensors, chosen)

    def measured(self, rows: Ints, *, computed: bool = False, progress: Progress | None = None) -> StatisticsTable:
        """Return the statistics of all rows as columns, after computing those of these rows as `statistics_of` does."""
        stated, own = self._stores()
        missing = rows[~(own.known if computed else own.known | stated.known)[rows]]
        dumped, scratch = self._found().dumped, Scratch()
        for done, row in enumerate(missing.tolist()):
            if dumped[row]:
                self._compute(row, scratch)
            if progress is not None and not progress(done + 1, len(missing)):
                break
        if not own.known.any():
            return stated
        return own.over(stated) if computed else stated.over(own)

    def unmeasured(self, rows: Ints, *, computed: bool = False) -> Ints:
        """Return those of these rows whose values `measured` would read."""
        stated, own = self._stores()
        unknown = ~(own.known if computed else own.known | stated.known)[rows] & self._found().dumped[rows]
        missing: Ints = rows[unknown]
        if not self._failed:
            return missing
        return np.array([row for row in missing.tolist() if self._key(row) not in self._failed], np.int64)

    @property
    def measured_count(self) -> int:
        """Number of tensors of which statistics have been computed."""
        return int(np.count_nonzero(self._stores()[1].known))

    @property
    def measured_bytes(self) -> int:
        """Bytes of the tensors of which statistics have been computed."""
        return int(self._found().sizes[self._stores()[1].known].sum())

    def is_measured(self, row: int) -> bool:
        """Return whether the statistics of a tensor have been computed."""
        return bool(self._stores()[1].known[row])

    def keep_statistics(self, row: int, values: TensorStatistics, header: TensorHeader) -> None:
        """Take statistics that another process computed."""
        own = self._stores()[1]
        own.dtype[row], own.shape[row] = header.dtype, "x".join(map(str, header.shape)) or "[]"
        own.put(row, values, -1 if values.count < 0 else int(values.finite < values.count), COMPUTED)

    @property
    def computed(self) -> pd.DataFrame:
        """What has been computed of tensors (schema DUMP_COMPUTED), to be kept and given to `restore` by a later process."""
        return KnownStatistics(self._files(), self._stores()[1]).frame()

    def restore(self, computed: pd.DataFrame) -> int:
        """Take what an earlier process computed of tensors whose files are unchanged; return how many these are."""
        return self._take(known_statistics(computed), self._stores()[1])

    def _kept(self) -> KnownStatistics | None:
        """Return what has been computed, with the files it is of."""
        return self._before if self._statistics is None else KnownStatistics(self._files(), self._statistics[1])

    def _take(self, kept: KnownStatistics, own: StatisticsTable) -> int:
        return kept.give(self._files(), own, np.flatnonzero(self._found().dumped & ~own.known))

    def _files(self) -> TensorFiles:
        tables, places = self._found(), self._listed().places
        offsets = np.full(len(tables.tensors), -1, np.int64)
        if places:
            parts = np.full(len(offsets), -1, np.int64)
            parts[list(places)] = [place.offset for place in places.values()]
            offsets = parts[tables.listed]
        return TensorFiles(tables.files, offsets, tables.sizes, tables.mtimes)

    def _stores(self) -> tuple[StatisticsTable, StatisticsTable]:
        """Return the statistics that files state, and those that were computed."""
        tables, listing = self._found(), self._listed()
        with self._lock:
            if self._statistics is None:
                stated, own = StatisticsTable(len(tables.tensors)), StatisticsTable(len(tables.tensors))
                if listing.stated:
                    places = np.full(len(tables.listed), -1, np.int64)
                    places[tables.listed] = np.arange(len(tables.listed))
                    for place, one in listing.stated.items():
                        row = int(places[place])
                        stated.put(row, one.values, one.non_finite, one.source)
                        if one.hash:
                            stated.hash[row] = one.hash
                    listing.stated.clear()
                if self._before is not None:
                    self._take(self._before, own)
                    self._before = None
                self._statistics = (stated, own)
            return self._statistics

    def _compute(self, row: int, scratch: Scratch) -> None:
        """Compute the statistics of a tensor, unless it is known that it cannot be read."""
        try:
            place = self._place(row)
            if self._key_of(row, place) not in self._failed:
                header, values = self._read(row, lambda place: measure(place, scratch), place)
                self.keep_statistics(row, values, header)
        except PayloadError:
            return
