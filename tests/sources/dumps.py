"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layouts.dumps.open_dump import DumpView, DumpWork, OpenDump
from layouts.dumps.source import DumpSource
from layouts.kit.work import WorkResult
from parsers.model import Ints

if TYPE_CHECKING:
    from tests.sources import MemorySource


class Reported:
    """What work on a dump calls, of work that is done at once."""

    def __init__(self, dump: DumpView) -> None:
        self.dump = dump
        self.told: list[tuple[int, int, Any]] = []

    def measure(self, rows: Ints, *, computed: bool = False, of: DumpView | None = None) -> None:
        (self.dump if of is None else of).measured(rows, computed=computed)

    def __call__(self, done: int, total: int, result: Any = None) -> None:
        self.told.append((done, total, result))


class MemoryDumps(DumpSource):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def open(self, run: str) -> OpenDump:
        found = self._memory.of(run, "dump")
        return OpenDump("missing") if found is None else OpenDump("ready", found, f"{run}.{self._memory.number}")

    def work(self, run: str, work: DumpWork, *, again: bool = False) -> WorkResult:
        opened = self.open(run)
        if opened.dump is None:
            return WorkResult("missing")
        return WorkResult("ready", work.job(opened.dump, Reported(opened.dump)), mark=opened.mark)

    def cancel(self, run: str, work: DumpWork) -> None:
        return
