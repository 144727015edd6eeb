"""The interface between pages and the dumps of runs."""

from __future__ import annotations

from typing import Protocol

from layouts.dumps.open_dump import DumpWork, OpenDump
from layouts.kit.work import WorkResult


class DumpSource(Protocol):
    """Dumps of the tensors of runs. Every method answers within 0.2 s."""

    def open(self, run: str) -> OpenDump:
        """Return the dump of a run, of all ranks of a job, or of a live session; it is listed in the background."""
        ...

    def work(self, run: str, work: DumpWork, *, again: bool = False) -> WorkResult:
        """Return the result of work on the dump of a run, which is done in the background. again: resume what was cancelled."""
        ...

    def cancel(self, run: str, work: DumpWork) -> None:
        """Stop work that `work` has started."""
        ...
