"""The graph of a converted model on the canvas of graphs, its boxes coloured by state or by difference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from parsers.analysis.graphs import GraphView, Item, Visible
from parsers.analysis.graphs.conversion import NodeDifferences, conversion_graph, node_differences, state_counts
from parsers.analysis.graphs.network import OPERATOR, Ints
from parsers.analysis.graphs.opened import OpenGraph, opened_graph
from parsers.caches import Cache
from parsers.graphs.conversion import CONVERTED, FOLDED, MARKED, OTHER, STATES, ConversionReport

from layouts.graphs.conversion.asks import ConvertedGraphAsk
from layouts.graphs.drawing import Marked, drawn
from layouts.graphs.figure.graph_style import DARK, LIGHT
from layouts.graphs.figure.scale import Scale, ink, scale_of
from layouts.graphs.graph_views import Of
from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import joined, named
from layouts.kit.i18n import LANGUAGES, Text, both

FILLS = {
    CONVERTED: ("#c3e6d6", "#1f5c48"), FOLDED: ("#dfe3e8", "#3a4149"), MARKED: ("#f4bd4f", "#c6871a"),
    OTHER: ("#ffffff", "#1a1d21"),
}  # fmt: skip
"""Colours of states in light and dark."""
_WORST = (MARKED, OTHER, CONVERTED, FOLDED)
"""The state of a box with several nodes is the first of these that one has."""
TICKS = 3
_BOXES = ("node", "fold", "scope", "stack")
_KEPT = 4


@dataclass(frozen=True, slots=True)
class ConvertedGraph:
    """The graph of a report with its view, and what its nodes are coloured by."""

    report: ConversionReport
    opened: OpenGraph
    view: GraphView
    differences: NodeDifferences

    def within(self, item: Item) -> Ints:
        """Return the rows of nodes in a box; none for a box of weights or constants."""
        alone = item.kind in ("node", "fold")
        parts = [np.array(item.members)] if alone else [self.view.scopes.within(scope) for scope in item.members]
        found = np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)
        network = self.view.network
        rows: Ints = found[(network.kind[found] == OPERATOR) & (found < len(self.report.nodes))]
        return rows


class ConvertedGraphs:
    """The graphs looked at last; one is made again when its report was read again."""

    def __init__(self) -> None:
        self._kept: Cache[tuple[str, str], ConvertedGraph] = Cache(_KEPT)

    def of(self, run: str, model: str, report: ConversionReport) -> ConvertedGraph:
        """Return the graph of a report."""
        return self._kept.made((run, model), lambda: _made(report), (report,))


def _made(report: ConversionReport) -> ConvertedGraph:
    opened = opened_graph([conversion_graph(report)], (0,))
    return ConvertedGraph(report, opened, opened.view(False), node_differences(report))


class _ConvertedView:
    """One view in place of those of a source (`layouts.graphs.graph_views.Views`)."""

    def __init__(self, graph: ConvertedGraph) -> None:
        self._pair = graph.opened, graph.view

    def of(self, asked: Of) -> tuple[OpenGraph, GraphView]:
        """Return it."""
        del asked
        return self._pair


@dataclass(frozen=True, slots=True)
class Painting:
    """What boxes are painted by: fill and value of a box (None for its own), what colours mean, and the words for it."""

    of: Callable[[Item], tuple[str, Text] | None]
    legend: Mapping[str, Any]
    said: Text


def drawing(graph: ConvertedGraph, ask: ConvertedGraphAsk) -> dict[str, Any]:
    """Return the drawing for the canvas, painted, with the legend in its meta."""
    views: Any = _ConvertedView(graph)
    painting = (_by_difference if ask.about.colour == "difference" else _by_state)(graph, dark=ask.canvas.dark)
    boxes: dict[str, tuple[str, Text]] = {}

    def marking(view: GraphView, visible: Visible) -> Marked:
        del view
        found = {item.key: painting.of(item) for item in visible.items if not item.opened and item.kind in _BOXES}
        boxes.update({key: paint for key, paint in found.items() if paint is not None})
        return Marked(dict.fromkeys(boxes, "painted"))

    answer = drawn(views, ask.canvas, marking)
    at = LANGUAGES.index(ask.about.language)
    for element in answer["elements"]:
        data = element["data"]
        if data["id"] in boxes and "source" not in data:
            fill, value = boxes[data["id"]]
            data |= {"fill": fill, "ink": ink(fill), "tip": f"{data.get('tip') or data['label']}  ·  {value[at]}"}
    english, chinese = answer["meta"]["alternative"]
    answer["meta"] |= {
        "legend": painting.legend, "alternative": [f"{english} {painting.said[0]}", f"{chinese}{painting.said[1]}"],
    }  # fmt: skip
    return answer


def _by_state(graph: ConvertedGraph, *, dark: bool) -> Painting:
    states = graph.report.nodes["state"].astype("str").to_numpy(object)
    counted = state_counts(graph.report).states

    def paint(item: Item) -> tuple[str, Text] | None:
        rows = graph.within(item)
        if not len(rows):
            return None
        some = Counter(states[rows].tolist())
        worst = next(state for state in _WORST if some[state])
        if len(rows) == 1:
            return FILLS[worst][dark], both(f"conversion.{worst}")
        parts = [named(both(f"conversion.{state}"), fmt.count(some[state])) for state in _WORST if some[state]]
        return FILLS[worst][dark], joined(parts)

    keys = [[list(both(f"conversion.{state}")), FILLS[state][dark]] for state in STATES if counted[state]]
    numbers = {state: fmt.count(counted[state]) for state in (CONVERTED, FOLDED, MARKED)}
    return Painting(paint, {"keys": keys, "bar": None}, both("conversion.painted.state", **numbers))


def _by_difference(graph: ConvertedGraph, *, dark: bool) -> Painting:
    found, look = graph.differences, DARK if dark else LIGHT
    scale = scale_of(found.largest[~found.beyond].tolist(), log=True, dark=dark)

    def paint(item: Item) -> tuple[str, Text] | None:
        rows = graph.within(item)
        if not len(rows):
            return None
        if not found.compared[rows].any():
            return look.back, both("conversion.no_difference")
        known = found.largest[rows]
        largest = float(np.nanmax(known)) if np.isfinite(known).any() or np.isinf(known).any() else math.nan
        said = named(both("conversion.difference"), fmt.number(largest))
        return (look.wrong if found.beyond[rows].any() else scale.colour(largest)), said

    many = int(found.compared.sum()), int(found.beyond.sum())
    keys = [[list(both("conversion.legend.quiet")), look.back]]
    if many[1]:
        keys.insert(0, [list(both("conversion.legend.beyond")), look.wrong])
    said = both("conversion.painted.difference", n=fmt.count(many[0]), beyond=fmt.count(many[1]))
    return Painting(paint, {"keys": keys, "bar": _bar(scale) if many[0] else None}, said)


def _bar(scale: Scale) -> dict[str, Any]:
    """Return colours and ticks (share of the length, text) of a bar."""
    ends = [(place / (TICKS - 1), scale.value(place / (TICKS - 1))) for place in range(TICKS)] if scale.high > scale.low else []
    ticks = [[share, fmt.number(value, 2)] for share, value in ends] or [[0.0, fmt.number(scale.high, 2)]]
    return {"colours": list(scale.stops), "ticks": ticks}
