"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from layouts.graphs.source import GraphSource
from layouts.kit.work import WorkResult
from parsers import DatasetGraph, Graph, GraphLocation
from parsers.graphs.conversion import ConversionReport
from parsers.lineage.datasets import RecordedPipeline

if TYPE_CHECKING:
    from tests.sources import MemorySource


class MemoryGraphs(GraphSource):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def dataset(self, run: str) -> DatasetGraph | None:
        found: DatasetGraph | None = self._memory.of(run, "dataset_graph")
        return found

    def datasets(self, run: str) -> Sequence[RecordedPipeline]:
        known: Sequence[RecordedPipeline] | None = self._memory.of(run, "dataset_graphs")
        now = self.dataset(run)
        return known if known is not None else () if now is None else (RecordedPipeline(1.7e9, now),)

    def locations(self, run: str) -> Sequence[GraphLocation]:
        return self._memory.of(run, "graph_locations") or ()

    def reading(self, run: str, name: str, *, again: bool = False, cancel: bool = False) -> WorkResult:
        return self._memory.of(run, "graph_reading") or WorkResult("ready")

    def graph(self, run: str, name: str) -> Graph | None:
        found: Graph | None = (self._memory.of(run, "graphs") or {}).get(name)
        return found

    def conversions(self, run: str) -> Sequence[str]:
        return list(self._memory.of(run, "conversions") or ())

    def conversion(self, run: str, name: str) -> ConversionReport | None:
        found = (self._memory.of(run, "conversions") or {}).get(name)
        if isinstance(found, Exception):
            raise found
        return found
