"""Work on what live training has sent: one task at a time, as nothing is read from files and most takes milliseconds."""

from __future__ import annotations

from app.background import Background, Task
from app.live.dump import LiveDump
from layouts.dumps.open_dump import DumpView, DumpWork
from layouts.kit.work import WorkResult
from parsers.model import Ints

MOST_KEPT = 50


class _LiveWorkReport:
    """Reports the progress of a task (`layouts.dumps.open_dump.DumpReport`)."""

    def __init__(self, task: Task, dump: LiveDump) -> None:
        self._task, self._dump = task, dump

    def measure(self, rows: Ints, *, computed: bool = False, of: DumpView | None = None) -> None:
        """Compute statistics, or ask training for them."""
        (self._dump if of is None else of).measured(rows, computed=computed)
        self(0, 0)

    def __call__(self, done: int, total: int, result: object = None) -> None:
        """See `Task.__call__`."""
        self._task(done, total, result)


class LiveWork:
    """Work by session and name; only the result for the latest mark is kept."""

    def __init__(self) -> None:
        self._background = Background("mindscope-live-work", slots=1, most=MOST_KEPT)

    def result(self, key: str, dump: LiveDump, work: DumpWork, *, again: bool = False) -> WorkResult:
        """Return the result of work, or its progress. Work that goes on is finished though training has sent more."""
        task = self._background.result(
            key, (key, work), dump.mark, lambda task: work.job(dump, _LiveWorkReport(task, dump)), again=again, overtaken=False
        )
        state = "working" if task.state == "waiting" else task.state
        return WorkResult(state, task.result, task.done, task.total, task.text, task.mark)

    def cancel(self, key: str, work: DumpWork) -> None:
        """Stop work."""
        self._background.cancel((key, work))

    def stop(self) -> None:
        """Stop all work and wait for it."""
        self._background.stop()
