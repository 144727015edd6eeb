"""The graphs that visitors look at, as views that scopes are opened in; the latest few are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from parsers import Graph, PayloadError
from parsers.analysis.graphs import Network, View, network, simplified

from layouts.page import FrameSource
from layouts.training.graph.asks import Of

KEPT = 4


@dataclass(slots=True)
class Opened:
    """A graph with what was made of it. hidden: how many nodes each rule of simplifying hid."""

    graph: Graph
    whole: Network
    version: int
    views: dict[bool, View] = field(default_factory=dict)
    hidden: dict[str, int] = field(default_factory=dict)

    def view(self, simple: bool) -> View:
        """The whole graph, or what is left of it when simplified."""
        if simple not in self.views:
            shown = self.whole
            if simple:
                less = simplified(self.whole)
                shown, self.hidden = less.network, less.hidden
            self.views[simple] = View(shown)
        return self.views[simple]


class Views:
    """The graphs of a source, each worked out once for all visitors."""

    def __init__(self, source: FrameSource) -> None:
        self._source = source
        self._kept: OrderedDict[tuple[str, str], Opened] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, asked: Of) -> tuple[Opened, View]:
        """The graph that is asked for; PayloadError where there is none or its bytes cannot be had."""
        with self._lock:
            opened = self._opened(asked.run, asked.graph)
            return opened, opened.view(asked.simple)

    def _opened(self, run: str, name: str) -> Opened:
        key, version = (run, name), self._source.version(run)
        kept = self._kept.get(key)
        if kept is None or kept.version != version:
            graph = self._source.graph(run, name)
            if graph is None:
                self._kept.pop(key, None)
                raise PayloadError(f"wanted a graph of run {run[:200]}, got {name[:200]}")
            if kept is None or kept.graph is not graph:
                kept = Opened(graph, network(graph.nodes, graph.edges), version)
            kept.version = version
            self._kept[key] = kept
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return kept
