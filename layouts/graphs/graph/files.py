"""Downloads of the page: pictures as SVG, the open part or the whole graph as DOT or JSON, tables as CSV, long attributes."""

from __future__ import annotations

import re
from typing import Any

from parsers import PayloadError
from parsers.analysis.graphs import GraphView
from parsers.analysis.graphs.opened import OpenGraph
from parsers.analysis.graphs.text import as_json, dot, visible_dot, visible_json

from layouts.graphs.asks import LONGEST, DrawingRequest
from layouts.graphs.drawing import noted, shown_of
from layouts.graphs.figure import arrange, picture
from layouts.graphs.graph.finding import differing
from layouts.graphs.graph.painting import Painter
from layouts.graphs.graph.painting_asks import read_paint
from layouts.graphs.graph.painting_parts import table as painted_table
from layouts.graphs.graph.panel import links, members
from layouts.graphs.graph.statistics import TABLES, csv, table
from layouts.graphs.graph.treemap import into, treemap
from layouts.graphs.graph.treemap import picture as picture_of
from layouts.graphs.graph_views import Views
from layouts.graphs.names import row_of
from layouts.kit.state import BadInput, text

FORMS = (
    "svg", "treemap.svg", "attribute", "differences.csv", "listed.csv", "painted.csv", "dot", "json", "all.dot", "all.json",
    *(f"{name}.csv" for name in TABLES),
)  # fmt: skip


def file(views: Views, data: Any, painter: Painter | None = None) -> dict[str, str]:
    """Return {"filename", "content"} for dcc.Download. BadInput for an unknown file; a PayloadError becomes a .txt file."""
    form = text(data, "form", choices=FORMS)
    ask = DrawingRequest.read(data)
    try:
        opened, view = views.of(ask.of)
    except PayloadError as error:
        return {"filename": "problem.txt", "content": str(error)}
    title = opened.graph.title or opened.graph.name
    if form == "attribute":
        return _attribute(ask, opened, view, text(data, "attribute", limit=LONGEST))
    if form == "differences.csv":
        return _named(ask, opened, form, csv(differing(opened, view)))
    if form == "listed.csv":
        row = row_of(view, ask.reveal)
        if row < 0:
            raise BadInput(f"node: expected a node or an aggregate, found {ask.reveal[:80]!r}")
        return _named(ask, opened, form, csv((members if ask.reveal[0] == "f" else links)(view, row)))
    if form == "painted.csv":
        asked = read_paint(data)
        if painter is None or asked is None:
            raise BadInput("paint: expected a metric, found none")
        return _named(ask, opened, form, csv(painted_table(painter.painted(asked))))
    if form.endswith(".csv"):
        return _named(ask, opened, form, csv(table(opened, view, form.partition(".")[0])))
    if form == "treemap.svg":
        return _named(ask, opened, form, picture_of(treemap(view.scopes, into(view, data)), dark=ask.dark))
    visible = noted(view.visible(shown_of(view, ask)[1]), opened.shared(opened.simple(ask.of.simple)))
    if form == "svg":
        content = picture(visible, arrange(visible), dark=ask.dark, paint=painter.fills(data) if painter else None)
    elif form == "dot":
        content = "".join(visible_dot(visible, title))
    elif form == "json":
        content = visible_json(visible, title)
    else:
        content = "".join(dot(view.scopes, title)) if form == "all.dot" else as_json(view.scopes, title)
    return _named(ask, opened, form, content)


def _attribute(ask: DrawingRequest, opened: OpenGraph, view: GraphView, name: str) -> dict[str, str]:
    """The full value of an attribute of the requested node. BadInput if the node has no attribute of that name."""
    row = row_of(view, ask.reveal)
    known = opened.attributes(row) if row >= 0 else {}
    if name not in known:
        raise BadInput(f"attribute: expected an attribute of node {ask.reveal[:80]!r}, found {name[:80]!r}")
    return {"filename": f"{_plain(f'{ask.of.run}_{view.network.names[row]}_{name}')}.txt", "content": known[name]}


def _named(ask: DrawingRequest, opened: OpenGraph, form: str, content: str) -> dict[str, str]:
    part = f"_{form.partition('.')[0]}" if form.endswith((".csv", "treemap.svg")) else ""
    return {"filename": f"{_plain(f'{ask.of.run}{part}_{opened.graph.title}')}.{form.rpartition('.')[2]}", "content": content}


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name).strip("._")[:80] or "graph"
