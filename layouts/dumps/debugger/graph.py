"""The computation graph of an iteration on the canvas of graphs, with hits and watched operators marked."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from parsers import Graph, PayloadError
from parsers.analysis.graphs import GraphView, Network, Visible
from parsers.analysis.graphs.opened import OpenGraph
from parsers.caches import Cache
from parsers.model import Ints

from layouts.dumps.debugger.strip import graphs_of
from layouts.dumps.dump_choice import LONGEST, DumpChoice
from layouts.graphs.asks import DrawingRequest
from layouts.graphs.drawing import Marked, drawn
from layouts.graphs.graph_views import Of, Views
from layouts.kit.state import flag, number, text
from layouts.sources import DumpSources

PASSED = frozenset(("Load", "Depend", "TensorMove", "Identity", "MakeTuple", "TupleGetItem"))
"""Operators that only pass values on: the neighbours of an operator are beyond them."""
_ORDERING = frozenset(("UpdateState",))
_MOST_KEPT = 8


class DumpGraphViews:
    """The graphs of dumps as a `layouts.graphs.graph_views.VersionedGraphs`: the name of a graph is rank and number, 0.3."""

    def __init__(self, source: DumpSources) -> None:
        self._source = source

    def graph(self, run: str, name: str) -> Graph | None:
        """Return a graph of the dump of a run."""
        dump = self._source.dumps.open(run).dump
        rank, _, number = name.partition(".")
        return None if dump is None else dump.graphs.get((int(rank), int(number)))

    def version(self, run: str) -> int:
        """Return a number that changes with the dump."""
        return zlib.crc32(self._source.dumps.open(run).mark.encode())


class Drawings:
    """Drawings of the graphs of dumps."""

    def __init__(self, source: DumpSources) -> None:
        self.views = Views(DumpGraphViews(source))
        self._rows: Cache[int, Mapping[str, int]] = Cache(_MOST_KEPT)

    def draw(
        self, source: DumpSources, choice: DumpChoice, ask: Any, hits: Mapping[str, int], watched: Collection[str]
    ) -> dict[str, Any]:
        """Return the drawing for the canvas, with state "ready"; state "none" if the iteration has no graph.

        meta.graphs are the numbers of the graphs that ran in the iteration, meta.number that of the drawn one, meta.full the
        names of operators by box, meta.node the box of the selected operator, "" if the graph does not have it.
        """
        dump = choice.dump(source)
        if dump is None:
            return {"state": "missing"}
        graphs = graphs_of(dump, choice.rank, choice.step)
        if not graphs:
            return {"state": "none"}
        wanted = int(number(ask, "graph", -1.0, -1.0, 2.0**31))
        node = text(ask, "node", limit=LONGEST)
        chosen = wanted if wanted in graphs else self._graph_with(choice, graphs, node)
        of = Of(choice.run, f"{choice.rank}.{chosen}", False)
        told = {
            "run": [choice.run], "graph": [of.graph], "open": ask.get("open", []), "page": ask.get("page", []),
            "theme": ask.get("theme", []),
        }  # fmt: skip
        try:
            opened, view = self.views.of(of)
        except PayloadError as error:
            return {"state": "broken", "text": str(error), "graphs": graphs, "number": chosen}
        if not view.network.size:
            text_of = next((problem.text for problem in opened.graph.problems), "The graph has no operators.")
            return {"state": "broken", "text": text_of, "graphs": graphs, "number": chosen}
        rows = self._rows_of(view.network)
        row = rows.get(node, -1)
        box = text(ask, "box", limit=LONGEST) or (f"n{row}" if row >= 0 else "")
        request = DrawingRequest.read(told | ({"node": [box]} if flag(ask, "reveal") and box else {}))
        near = flag(ask, "near") and row >= 0
        views: Any = self.views
        if near:
            views = _Near(opened, GraphView(view.network.only(neighbours(view.network, row))))
            request = replace(request, opened=_all_open(views.view), pages={}, reveal=f"n{row}")
        columns = [_column(view.network, rows, told) for told in (hits, watched)]
        found = drawn(views, request, lambda view, visible: _marked(view, visible, *columns))
        meta = found["meta"] | {
            "graphs": graphs, "number": chosen, "node": f"n{row}" if row >= 0 else "", "near": near,
            "full": _full(view.network, found["elements"]),
        }  # fmt: skip
        return {"state": "ready", **found, "meta": meta}

    def _graph_with(self, choice: DumpChoice, graphs: list[int], node: str) -> int:
        """Return the first of these graphs that has an operator, else the first one that can be read."""
        readable: list[int] = []
        for one in graphs:
            try:
                _, view = self.views.of(Of(choice.run, f"{choice.rank}.{one}", False))
            except PayloadError:
                continue
            if not node or node in self._rows_of(view.network):
                return one
            readable.append(one)
        return (readable or graphs)[0]

    def _rows_of(self, network: Network) -> Mapping[str, int]:
        """Return full name -> row, of several the first."""

        def rows() -> Mapping[str, int]:
            return {name: row for row, name in reversed(list(enumerate(network.full_names)))}

        return self._rows.made(id(network), rows, (network,))


class _Near:
    """A part of a graph in place of the whole."""

    def __init__(self, opened: OpenGraph, view: GraphView) -> None:
        self.opened, self.view = opened, view

    def of(self, asked: Of) -> tuple[OpenGraph, GraphView]:
        """Return the part."""
        del asked
        return self.opened, self.view


def neighbours(network: Network, row: int) -> Any:
    """Return the mask of an operator, what it takes values from, and what takes its values, beyond operators that pass on."""
    types = network.types
    passing = np.array([kind in PASSED for kind in types])[network.type]
    ordering = np.array([kind in _ORDERING for kind in types])[network.type]
    data = ~network.control & ~ordering[network.source] & ~ordering[network.target]
    mask = np.zeros(network.size, np.bool_)
    mask[row] = True
    for near, far in ((network.source, network.target), (network.target, network.source)):
        reached = {row}
        pending: Ints = np.array([row], np.int64)
        while len(pending):
            found = np.unique(far[data & np.isin(near, pending)])
            fresh = np.array([one for one in found.tolist() if one not in reached], np.int64)
            reached |= set(fresh.tolist())
            pending = fresh[passing[fresh]] if len(fresh) else fresh
        mask[list(reached)] = True
    return mask


def _all_open(view: GraphView) -> tuple[str, ...]:
    """Return the names of all scopes that have something shown, so that none is closed."""
    homes = np.unique(view.scopes.home[np.flatnonzero(view.network.shown)])
    above = {scope for home in homes.tolist() for scope in view.scopes.above(int(home))}
    return tuple(f"s:{view.scopes.paths[scope]}" for scope in sorted(above))


def _column(network: Network, rows: Mapping[str, int], told: Mapping[str, int] | Collection[str]) -> Ints:
    found = np.zeros(network.size, np.int64)
    for name in told:
        row = rows.get(name, -1)
        if row >= 0:
            found[row] = told[name] if isinstance(told, Mapping) else 1
    return found


def _marked(view: GraphView, visible: Visible, hits: Ints, watched: Ints) -> Marked:
    classes: dict[str, str] = {}
    badges: dict[str, str] = {}

    def mark(key: str, rows: Any) -> int:
        many = int(hits[rows].sum())
        if many:
            classes[key] = "hit"
        elif watched[rows].any():
            classes[key] = "watched"
        return many

    for item in visible.items:
        for place, small in enumerate(item.beside):
            if small.kind != "proxy":
                mark(f"{item.key}.{place}", list(small.nodes))
        if item.opened or not item.members or item.kind not in ("node", "fold", "scope", "stack"):
            continue
        nodes = item.kind in ("node", "fold")
        within = list(item.members) if nodes else np.concatenate([view.scopes.within(scope) for scope in item.members])
        many = mark(item.key, within)
        if many and item.kind != "node":
            badges[item.key] = short_count(many)
    return Marked(classes, badges)


def _full(network: Network, elements: list[dict[str, Any]]) -> dict[str, str]:
    """Return the full names of the nodes on the canvas by box, n5."""
    rows: set[int] = set()
    for element in elements:
        data = element["data"]
        name = str(data.get("name", ""))
        if name[:1] == "n" and name[1:].isdigit():
            rows.add(int(name[1:]))
        rows.update(data.get("rows", ()))
    return {f"n{row}": network.full_names[row] for row in sorted(rows)}


def short_count(many: int) -> str:
    """A number that stays readable on a small badge: 999, 1.6k, 12k. The list of hits has the exact one."""
    if many < 1000:
        return str(many)
    return f"{many / 1000:.1f}k" if many < 9950 else f"{many / 1000:.0f}k"
