"""Computation graphs and data pipelines as pages see them."""

from __future__ import annotations

from collections.abc import Sequence

from app.store.runs.following import Follower
from layouts.graphs.source import GraphSource
from parsers import DatasetGraph, Graph, GraphLocation


class StoredGraphs(GraphSource):
    """Graphs of the runs that a `Follower` reads. See `layouts.graphs.source`."""

    def __init__(self, runs: Follower) -> None:
        self._runs = runs

    def locations(self, run: str) -> Sequence[GraphLocation]:
        entry = self._runs.entries.get(run)
        return list(entry.run.graphs.locations.values()) if entry else ()

    def graph(self, run: str, name: str) -> Graph | None:
        entry = self._runs.entries.get(run)
        found = entry.run.graphs if entry else None
        if entry is None or found is None or name not in found:
            return None
        graph = found[name]
        self._runs.recount(entry)
        return graph

    def dataset(self, run: str) -> DatasetGraph | None:
        entry = self._runs.entries.get(run)
        return entry.run.dataset_graph if entry else None
