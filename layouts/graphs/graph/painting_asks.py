"""Requests to paint a graph, parsed and validated, and what they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parsers.analysis.graphs import GraphView
from parsers.analysis.graphs.opened import OpenGraph
from parsers.analysis.graphs.painting import METRICS, GraphMetric, Paint, PaintedStep

from layouts.graphs.asks import DrawingRequest
from layouts.graphs.graph.painting_sources import METRICS_OF, MetricReading, MetricSource, PaintSource, read_source
from layouts.kit.state import flag, number, text, texts

LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class PaintAsk:
    """A request: a drawing, a metric, and where its values come from; by is None and step is None for the default."""

    ask: DrawingRequest
    metric: GraphMetric
    by: PaintSource | None
    part: str
    step: int | None
    log: bool
    runs: Any


def read_paint(data: Any) -> PaintAsk | None:
    """Parse a request; None for a graph that is not painted. BadInput if it is malformed."""
    metric = text(data, "paint", choices=("", *METRICS))
    if not metric:
        return None
    step = int(number(data, "at", 0.0, -1.0, 2.0**53)) if text(data, "at") else None
    by = read_source(text(data, "by", limit=LONGEST))
    if by is not None and metric not in METRICS_OF[by.kind]:
        by = None
    runs = {"run": texts(data, "chosen")} if texts(data, "chosen") else None
    return PaintAsk(DrawingRequest.read(data), METRICS[metric], by, text(data, "part"), step, flag(data, "log"), runs)


@dataclass(frozen=True, slots=True, eq=False)
class Painted:
    """What a request gave. paint and step have no values unless the reading is ready and has some."""

    asked: PaintAsk
    opened: OpenGraph
    view: GraphView
    offers: list[MetricSource]
    source: PaintSource | None
    reading: MetricReading
    paint: Paint
    step: PaintedStep

    @property
    def ready(self) -> bool:
        """Return whether there are values."""
        return self.reading.state == "ready" and len(self.reading.amounts) > 0
