"""The graph painted by a metric: the values of what is drawn, and their colours.

A change of the step answers from what is kept: amounts by name, names joined with nodes, the visible part of the graph.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from dash import html
from parsers import PayloadError
from parsers.analysis.graphs import Visible
from parsers.analysis.graphs.network import Ints
from parsers.analysis.graphs.painting import WHOLE, Paint
from parsers.analysis.graphs.painting.metrics import SUM
from parsers.analysis.graphs.painting.painting import box_of_rows, of_boxes
from parsers.caches import Cache

from layouts.dumps.dumped_graphs import place_of
from layouts.graphs.drawing import shown_of
from layouts.graphs.figure.graph_style import DARK, LIGHT
from layouts.graphs.figure.scale import Paints, Scale, scale_of
from layouts.graphs.graph.painting_asks import PaintAsk, Painted, read_paint
from layouts.graphs.graph.painting_parts import (
    bar,
    choices,
    colours,
    lists,
    matched_names,
    said,
    step_name,
    sums,
    value_of,
    written,
)
from layouts.graphs.graph.painting_sources import DUMP, OTHER, MetricReading, PaintSource, default_step, mark_of, offers, read
from layouts.graphs.graph_views import Views
from layouts.kit import units as fmt
from layouts.kit.i18n import both, t
from layouts.kit.plain_html import markup
from layouts.sources import Sources

KEPT = 4
"""Number of amounts, of their joins with graphs, and of visible parts that are kept."""


class Painter:
    """Paints the graphs of a source."""

    def __init__(self, source: Sources, views: Views) -> None:
        self._source, self._views = source, views
        self._readings: Cache[Hashable, tuple[object, MetricReading]] = Cache(KEPT)
        self._paints: Cache[Hashable, Paint] = Cache(KEPT)
        self._parts: Cache[Hashable, tuple[Visible, Ints, int]] = Cache(KEPT)
        self._highest: Cache[Hashable, float] = Cache(KEPT)

    def painted(self, asked: PaintAsk) -> Painted:
        """Return the values of a request. PayloadError if the graph cannot be read."""
        opened, view = self._views.of(asked.ask.of)
        run, metric = asked.ask.of.run, asked.metric
        offered = offers(self._source, run, asked.runs, metric.name)
        source = asked.by or next((one.source for one in offered if one.near != OTHER), None)
        possible = source is not None and asked.ask.of.against is None
        reading = self._read(source, asked) if source is not None and possible else MetricReading("missing")
        paint = self._paints.made(
            (asked.ask.of, metric.name), lambda: Paint(view.network, reading.amounts, metric), (view.network, reading.amounts)
        )
        step = paint.at(default_step(reading.steps, asked.step))
        return Painted(asked, opened, view, offered, source, reading, paint, step)

    def answer(self, data: Any) -> dict[str, Any]:
        """Return the values and colours of the drawing of a request, for assets/graphs/graph/paint.js."""
        asked = read_paint(data)
        if asked is None:
            return {"state": "none"}
        try:
            found = self.painted(asked)
        except PayloadError:
            return {"state": "none"}  # the canvas shows the error
        answer = choices(found)
        if not found.ready:
            return answer
        visible, box, boxes = self._visible(found)
        scale, values = self._scaled(found, visible, box, boxes)
        return answer | {
            "boxes": {key: [written(asked.metric, value), *colours(scale, value)] for key, value in values.items()},
            "bar": bar(scale, asked.metric), "quiet": (DARK if asked.ask.dark else LIGHT).quiet,
            "matched": list(both("graph.paint.matched", **matched_names(found.step))),
            "sums": list(sums(found)),
            "combine": list(both(f"graph.paint.{asked.metric.combine}")),
            "said": list(said(found, scale)),
            "list": markup(lists(found)),
        }

    def fills(self, data: Any) -> Paints | None:
        """Return the colours of a picture; None for a graph that is not painted."""
        asked = read_paint(data)
        found = self.painted(asked) if asked is not None else None
        if found is None or not found.ready:
            return None
        scale, values = self._scaled(found, *self._visible(found))
        metric = found.asked.metric
        boxes = {key: (written(metric, value), *colours(scale, value)) for key, value in values.items()}
        at = both("graph.paint.whole" if found.step.step == WHOLE else "graph.paint.at", step=found.step.step)
        title = f"{both(f'graph.paint.{metric.name}')[0]}, {at[0]}"
        return Paints(boxes, scale.stops, tuple((share, said) for share, said in bar(scale, metric)["ticks"]), title)

    def fact(self, data: Any, name: str) -> list[Any]:
        """Return a line for the panel with the value of the box of a name; nothing for a graph that is not painted."""
        asked = read_paint(data)
        found = self.painted(asked) if asked is not None else None
        if found is None or not found.ready:
            return []
        value = value_of(found, name)
        text_of = written(found.asked.metric, value) if value == value else t("graph.paint.no_value")
        share: list[Any] = []
        if found.asked.metric.combine == SUM and value == value and found.step.total > 0:
            share = [f" · {fmt.percent(value / found.step.total)}"]
        head = [t(f"graph.paint.{found.asked.metric.name}"), " · ", step_name(found.step.step), ": "]
        return [html.P([*head, html.Strong(text_of), *share], className="ms-graph-note ms-graph-painted")]

    # What is kept ------------------------------------------------------------------------------------------------------

    def _read(self, source: PaintSource, asked: PaintAsk) -> MetricReading:
        place = place_of(asked.ask.of.graph) if source.kind == DUMP else None
        part = asked.part or (str(place[0]) if place else "")
        number = place[1] if place else None
        mark, key = mark_of(self._source, source), (source, asked.metric.name, part, number)
        kept_mark, kept = self._readings.get(key) or (None, None)
        if kept is not None and kept_mark == mark and kept.shown in (None, default_step(kept.steps, asked.step)):
            return kept
        found = read(self._source, source, asked.metric.name, part, asked.step, graph=number)
        if found.state == "ready":
            self._readings.put(key, (mark, found))
        return found

    def _visible(self, found: Painted) -> tuple[Visible, Ints, int]:
        """Return the visible part of the graph, the closed box of each row, and how many closed boxes there are."""
        ask = found.asked.ask

        def look() -> tuple[Visible, Ints, int]:
            visible = found.view.visible(shown_of(found.view, ask)[1])
            return (visible, *box_of_rows(visible.items, found.view.scopes))

        key = (ask.of, ask.opened, tuple(sorted(ask.pages.items())), ask.reveal, ask.parameters, ask.constants)
        return self._parts.made(key, look, (found.view,))

    def _scaled(self, found: Painted, visible: Visible, box: Ints, boxes: int) -> tuple[Scale, dict[str, float]]:
        """Return the scale of all steps and the values of the boxes at this one."""
        values = of_boxes(visible.items, found.view.scopes, found.step.node, found.asked.metric.combine)
        highest = self._highest.made(found.asked.ask.of, lambda: found.paint.highest(box, boxes), (found.paint, box))
        closed = {item.key for item in visible.items if not item.opened}
        own = [value for key, value in values.items() if key in closed or "." in key]
        return scale_of(own, highest, log=found.asked.log, dark=found.asked.ask.dark), values
