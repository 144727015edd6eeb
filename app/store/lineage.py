"""What all runs say of themselves, side by side: made once for each state of the runs, and only from what has changed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from parsers import LineageRow, derive, shared_tags
from parsers.names import printable
from parsers.runs import Run

_KINDS = ("lineage", "hparams", "config")
"""Kinds of data that settings come from."""


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """A row, and the run, its version and the scalars it was made of."""

    run: Run
    version: int
    scalars: tuple[str, ...]
    row: LineageRow


class Lineage:
    """The rows of the runs of a store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}
        self._version = -1
        self._rows: tuple[LineageRow, ...] = ()

    def rows(self, version: int, runs: Sequence[tuple[str, Run]]) -> tuple[LineageRow, ...]:
        """Those of these runs that have settings; version is that of the list of runs."""
        with self._lock:
            if version != self._version:
                described = [(key, run) for key, run in runs if not run.kinds().keys().isdisjoint(_KINDS)]
                scalars = shared_tags([run.tags("scalar") for _, run in described])
                kept = {key: self._row(key, run, scalars) for key, run in described}
                if list(kept.items()) != list(self._kept.items()):
                    self._rows = tuple(one.row for one in kept.values() if one.row.settings)
                self._kept, self._version = kept, version
            return self._rows

    def _row(self, key: str, run: Run, scalars: tuple[str, ...]) -> _Kept:
        kept, version = self._kept.get(key), run.version
        if kept is not None and kept.run is run and kept.version == version and kept.scalars == scalars:
            return kept
        derived = derive(run.tags("scalar"), run.series, scalars)
        return _Kept(run, version, scalars, LineageRow(key, printable(run.path), run.settings, derived))
