"""Computation graphs and data pipelines as pages see them."""

from __future__ import annotations

from collections.abc import Sequence

from app.background import Background, Task
from app.store.runs.entries import RunEntry
from app.store.runs.following import RunFollower
from layouts.graphs.source import GraphSource
from layouts.kit.work import WorkResult
from parsers import DatasetGraph, Graph, GraphLocation, PayloadError
from parsers.graphs.conversion import ConversionReport
from parsers.lineage.datasets import RecordedPipeline
from parsers.profiler.progress import watched

LARGE_BYTES = 2 << 20
"""Larger graphs are read in the background: it takes 0.06 s per MiB."""
MOST_READ, MOST_BYTES = 4, 256 << 20
"""Results of reading that are kept, if only for a while: a graph may be too large for the memory of decoded values."""


class StoredGraphs(GraphSource):
    """Graphs of the runs that a `RunFollower` reads. See `layouts.graphs.source`."""

    def __init__(self, runs: RunFollower) -> None:
        self._runs = runs
        self._background = Background("mindscope-graph", slots=1, most=MOST_READ, memory=MOST_BYTES)

    def locations(self, run: str) -> Sequence[GraphLocation]:
        entry = self._runs.entries.get(run)
        return list(entry.run.graphs.locations.values()) if entry else ()

    def graph(self, run: str, name: str) -> Graph | None:
        entry = self._entry(run, name)
        if entry is None:
            return None
        task = self._background.find((run, name))
        if task is not None and task.mark == _mark(entry.run.graphs.locations[name]):
            task.ended.wait()
            if task.state == "cancelled":
                raise PayloadError(f"graph {name}: reading it was cancelled")
            if task.state == "ready":
                return task.result  # type: ignore[no-any-return]  # the result of `_read`
        return self._read(entry, name)

    def reading(self, run: str, name: str, *, again: bool = False, cancel: bool = False) -> WorkResult:
        entry = self._entry(run, name)
        if entry is None:
            return WorkResult("ready")
        key, place = (run, name), entry.run.graphs.locations[name]
        if cancel:
            self._background.cancel(key)
        known = self._background.find(key)
        if (known is None or known.mark != _mark(place)) and (place.length < LARGE_BYTES or entry.run.graphs.is_cached(name)):
            return WorkResult("ready")

        def job(task: Task) -> Graph:
            done = 0

            def report(size: int) -> None:
                nonlocal done
                done += size
                task(min(done, place.length), place.length)

            with watched(report):
                return self._read(entry, name)

        task = self._background.result(run, key, _mark(place), job, again=again, size=place.length)
        if task.state in ("ready", "failed"):
            return WorkResult("ready")
        return WorkResult(task.state, None, task.done, task.total or place.length)

    def dataset(self, run: str) -> DatasetGraph | None:
        entry = self._runs.entries.get(run)
        return entry.run.dataset_graph if entry else None

    def datasets(self, run: str) -> Sequence[RecordedPipeline]:
        entry = self._runs.entries.get(run)
        return entry.run.dataset_graphs if entry else ()

    def conversions(self, run: str) -> Sequence[str]:
        entry = self._runs.entries.get(run)
        return list(entry.run.conversions) if entry else ()

    def conversion(self, run: str, name: str) -> ConversionReport | None:
        entry = self._runs.entries.get(run)
        if entry is None or name not in entry.run.conversions:
            return None
        report = entry.run.conversions[name]
        self._runs.recount(entry)
        return report

    def stop(self) -> None:
        """Stop reading and wait for its end."""
        self._background.stop()

    def _entry(self, run: str, name: str) -> RunEntry | None:
        entry = self._runs.entries.get(run)
        return entry if entry is not None and name in entry.run.graphs else None

    def _read(self, entry: RunEntry, name: str) -> Graph:
        graph = entry.run.graphs[name]
        self._runs.recount(entry)
        return graph


def _mark(place: GraphLocation) -> str:
    return f"{place.offset} {place.length} {place.wall_time}"
