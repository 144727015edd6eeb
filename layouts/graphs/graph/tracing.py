"""Traces on the page: what a node is computed from or feeds, and a path between two nodes, as a list and as marks.

A trace is written `up:3:n5` (ancestors of node 5 over at most 3 edges, 0 for all), `down:0:n5` or `path:n5:n9`; `path:n5:` is
one whose other end is still to be chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dash import html
from parsers import PayloadError
from parsers.analysis.graphs import GraphView, Visible
from parsers.analysis.graphs.tracing import NodeTrace, ancestors, descendants, path

from layouts.graphs.asks import LONGEST, DrawingRequest, read_of
from layouts.graphs.drawing import shown_of
from layouts.graphs.graph.finding import node_line
from layouts.graphs.graph_views import Views
from layouts.graphs.names import row_of
from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.state import BadInput, text

MOST = 500
"""Maximum nodes listed."""
DEEPEST = 100_000
DEPTHS = (1, 2, 3, 5, 10, 0)


@dataclass(frozen=True, slots=True)
class TraceAsk:
    """A trace that was asked for. kind: up, down or path; begin and end: names of nodes, end only of a path."""

    kind: str
    begin: str
    end: str = ""
    depth: int = 0


def read_trace(data: Any) -> TraceAsk | None:
    """Parse the trace of a request; None for none. BadInput if it is malformed."""
    written = text(data, "trace", limit=LONGEST)
    if not written:
        return None
    parts = written.split(":")
    if len(parts) == 3 and parts[0] == "path":
        return TraceAsk("path", parts[1], parts[2])
    whole = len(parts) == 3 and parts[0] in ("up", "down") and parts[1].isascii() and parts[1].isdigit()
    if not whole or len(parts[1]) > 6 or int(parts[1]) > DEEPEST:
        raise BadInput(f"trace: expected up, down or path and two parts, found {written[:80]!r}")
    return TraceAsk(parts[0], parts[2], depth=int(parts[1]))


def traced(view: GraphView, ask: TraceAsk) -> NodeTrace | None:
    """Return the trace; None for an unknown node, a path that is not there, or one whose end is to be chosen."""
    begin = row_of(view, ask.begin)
    if begin < 0:
        return None
    if ask.kind != "path":
        return (ancestors if ask.kind == "up" else descendants)(view.network, begin, ask.depth)
    end = row_of(view, ask.end)
    return path(view.network, begin, end) if end >= 0 else None


def boxes_of(view: GraphView, visible: Visible, trace: NodeTrace) -> list[str]:
    """Return the keys of the closed boxes, and of small items beside them, that hold a node of a trace."""
    wanted = set(trace.rows.tolist())
    homes = set(view.scopes.home[trace.rows].tolist())
    within = {above for scope in homes for above in view.scopes.above(scope)}
    found = []
    for item in visible.items:
        found += [f"{item.key}.{place}" for place, one in enumerate(item.beside) if not wanted.isdisjoint(one.nodes)]
        if item.opened:
            continue
        holds = wanted if item.kind in ("node", "fold") else within if item.kind in ("scope", "stack") else ()
        if not set(holds).isdisjoint(item.members):
            found.append(item.key)
    return found


def traced_boxes(views: Views, ask: DrawingRequest, wanted: TraceAsk) -> list[str]:
    """Return the keys of the boxes of a drawing that hold a node of a trace."""
    _, view = views.of(ask.of)
    trace = traced(view, wanted)
    return boxes_of(view, view.visible(shown_of(view, ask)[1]), trace) if trace else []


def listed(views: Views, data: Any) -> list[Any]:
    """Return the list of a trace: its nodes with their distance, and other depths to choose; an empty list for none."""
    ask = read_trace(data)
    if ask is None:
        return []
    try:
        _, view = views.of(read_of(data))
    except PayloadError:
        return []  # the canvas shows the error
    begin = row_of(view, ask.begin)
    close = html.Button(t("graph.trace.close"), type="button", className="ms-graph-jump", **{"data-trace": ""})
    if begin < 0:
        return []
    name = view.network.label(begin)
    if ask.kind == "path" and not ask.end:
        return [_said([t("graph.trace.choose", name=name), " ", close])]
    trace = traced(view, ask)
    if trace is None:
        return [_said([t("graph.trace.none", name=name), " ", close])]
    lines = [
        node_line(view, row, note=fmt.count(depth))
        for row, depth in zip(trace.rows[:MOST].tolist(), trace.depth[:MOST].tolist(), strict=True)
    ]
    more = len(trace.rows) - len(lines)
    rest = [html.P(t("graph.more", n=fmt.count(more)), className="ms-graph-count ms-muted")] if more else []
    if ask.kind == "path":
        said = t("graph.trace.path", n=fmt.count(len(trace.rows) - 1))
        return [_said([said, " ", close]), *lines, *rest]
    said = t(f"graph.trace.found.{ask.kind}", name=name, n=fmt.count(len(trace.rows) - 1))
    return [_said([said, " ", close]), _depths(ask), *lines, *rest]


def _said(parts: list[Any]) -> html.P:
    return html.P(parts, className="ms-graph-count ms-muted", role="status")


def _depths(ask: TraceAsk) -> html.Div:
    """Buttons for other depths."""
    buttons = [
        html.Button(
            fmt.count(depth) if depth else t("graph.trace.all"), type="button", className="ms-graph-hint",
            **{"data-trace": f"{ask.kind}:{depth}:{ask.begin}", "aria-pressed": str(depth == ask.depth).lower()},
        )
        for depth in DEPTHS
    ]  # fmt: skip
    return html.Div([t("graph.trace.depth"), *buttons], className="ms-graph-depths")
