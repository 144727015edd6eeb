"""Dumps as pages see them: those of runs and of live training."""

from __future__ import annotations

import os
from collections.abc import Sequence

from app.live.training import LiveTraining
from app.store.dumps.open_dumps import Dumps
from app.store.runs.following import RunFollower
from layouts.dumps import live_sessions as live
from layouts.dumps.open_dump import DumpWork, OpenDump
from layouts.dumps.source import DumpSource
from layouts.kit.work import WorkResult
from parsers import Problem


class StoredDumps(DumpSource):
    """Dumps of the runs that a `RunFollower` reads, and of live training. See `layouts.dumps.source`."""

    def __init__(self, runs: RunFollower, live_training: LiveTraining, directory: str | None, interval: float) -> None:
        """directory keeps what was measured; interval is that of scans, in seconds."""
        self._runs, self._live = runs, live_training
        self.held = Dumps(directory, interval=interval, on_found=self._found)

    def stop(self) -> None:
        """Stop all work."""
        self.held.stop()

    def open(self, run: str) -> OpenDump:
        if run.startswith(live.KEY):
            return self._live.open(run)
        return self.held.open(run, [entry.source for entry in self._runs.members(run)])

    def work(self, run: str, work: DumpWork, *, again: bool = False) -> WorkResult:
        if run.startswith(live.KEY):
            return self._live.result(run, work, again=again)
        return self.held.result(run, [entry.source for entry in self._runs.members(run)], work, again=again)

    def cancel(self, run: str, work: DumpWork) -> None:
        if run.startswith(live.KEY):
            self._live.cancel(run, work)
            return
        self.held.cancel(run, work)

    def _found(self, run: str, problems: Sequence[Problem], changed: bool) -> None:
        """Show the problems of a dump with those of its runs, and have pages ask again if its rows changed."""
        left = list(problems)
        entries = self._runs.members(run)
        for place, entry in enumerate(entries):
            inside = tuple(f"{path}{os.sep}" for path in entry.source.dump_dirs)
            of_rank = [one for one in left if f"{one.path}{os.sep}".startswith(inside)] if inside else []
            left = [one for one in left if one not in of_rank]
            entry.dump_problems = tuple(of_rank + (left if place == len(entries) - 1 else []))
            if changed:
                self._runs.changed(entry)
            else:
                self._runs.recount(entry)
