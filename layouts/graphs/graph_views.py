"""Computation graphs as views in which scopes can be opened. The most recently used graphs are cached."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Protocol

from parsers import Graph, PayloadError
from parsers.analysis.graphs import GraphView
from parsers.analysis.graphs.opened import OpenGraph, opened_graph
from parsers.caches import Cache

CACHED = 4
"""Number of graphs or comparisons in the cache."""


@dataclass(frozen=True, slots=True)
class Of:
    """The key of a graph: member run, name within the run, and whether it is simplified; None: if it is of a training.
    Graphs that are compared are simplified before; None: if one of them is of a training and the other is not.

    against: member run and name of the graph it is compared with, or None.
    """

    run: str
    graph: str
    simple: bool | None
    against: tuple[str, str] | None = None


@dataclass(slots=True)
class _ViewSlot:
    """One graph or comparison. The first request builds it; others for the same one wait."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    opened: OpenGraph | None = None


class VersionedGraphs(Protocol):
    """Graphs by run and name: those of runs, or of their dumps."""

    def graph(self, run: str, name: str) -> Graph | None:
        """Return a graph of a run, None for an unknown one. Raises PayloadError if it cannot be read."""
        ...

    def version(self, run: str) -> int:
        """Return a number that changes whenever the data of a run changes."""
        ...


class Views:
    """The graphs of a source; a graph is built once for all visitors."""

    def __init__(self, source: VersionedGraphs) -> None:
        self._source = source
        self._kept: Cache[tuple[tuple[tuple[str, str], ...], bool | None], _ViewSlot] = Cache(CACHED)

    def of(self, asked: Of) -> tuple[OpenGraph, GraphView]:
        """Return a graph and its view; PayloadError if it does not exist or cannot be read."""
        names = ((asked.run, asked.graph), *([asked.against] if asked.against else []))
        simple = asked.simple if asked.against else None
        slot = self._kept.made((names, simple), _ViewSlot)
        with slot.lock:
            opened = slot.opened = self._opened(names, slot.opened, simple)
            return opened, opened.view(opened.simple(asked.simple))

    def _opened(self, names: tuple[tuple[str, str], ...], kept: OpenGraph | None, simple: bool | None) -> OpenGraph:
        version = tuple(self._source.version(run) for run, _ in names)
        if kept is None or kept.version != version:
            graphs = [self._graph(*name) for name in names]
            known = [kept.graph, *([kept.compared.graph] if kept.compared else [])] if kept else []
            if kept is None or any(one is not other for one, other in zip(graphs, known, strict=True)):
                kept = opened_graph(graphs, version, simple)
            kept.version = version
        return kept

    def _graph(self, run: str, name: str) -> Graph:
        graph = self._source.graph(run, name)
        if graph is None:
            raise PayloadError(f"expected a graph of run {run[:200]}, found no graph {name[:200]}")
        return graph
