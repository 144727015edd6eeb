"""The computation graph page: which operators were compiled, and how are they connected, with what shapes and types?

The server keeps the whole graph and its tree of scopes; the browser gets the open part with its layout. In
assets/graphs/graph/, page.js turns the state into requests, and side.js draws the panels beside the canvas. Only
assets/graphs/canvas.js uses cytoscape.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from dash import Input, Output, State, dcc, html, no_update

from layouts.dumps.dumped_graphs import RunGraphs
from layouts.graphs.asks import DrawingRequest, read_acts, read_name, read_of
from layouts.graphs.canvas import cytoscape
from layouts.graphs.drawing import drawn, unread
from layouts.graphs.graph.catalogue import catalogue
from layouts.graphs.graph.files import file
from layouts.graphs.graph.finding import results
from layouts.graphs.graph.graph_progress import progress
from layouts.graphs.graph.painting import Painter
from layouts.graphs.graph.painting_texts import TEXTS as PAINTING_TEXTS
from layouts.graphs.graph.panel import panel
from layouts.graphs.graph.statistics import flagged, statistics
from layouts.graphs.graph.texts import TEXTS
from layouts.graphs.graph.tracing import listed, read_trace, traced_boxes
from layouts.graphs.graph.treemap import tiles
from layouts.graphs.graph_views import Views
from layouts.graphs.texts import TEXTS as CANVAS_TEXTS
from layouts.kit.body import status_line, unknown_state
from layouts.kit.callbacks import in_browser, register_catalogue
from layouts.kit.elements import damaged_state, empty_state, icon, icon_button, toolbar
from layouts.kit.i18n import attributes, for_browser, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import markup
from layouts.kit.recording import missing_data
from layouts.kit.state import BadInput
from layouts.profiles.links import traced_profile
from layouts.sources import Sources

_STORES = (
    "chosen", "catalogue", "digest", "ask", "about", "query", "count", "map", "flags", "drawing", "panel", "results", "tables",
    "tiles", "flagged", "save", "trace", "traced", "paint", "painted",
)  # fmt: skip
_LEGEND = (
    "scope", "stack", "fold", "operator", "parameter", "constant", "proxy", "data", "control", "merged", "added", "removed",
    "changed",
)  # fmt: skip


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    return html.Div(
        [
            *(dcc.Store(id=ids(part)) for part in _STORES),
            dcc.Download(id=ids("file")),
            toolbar([], label="graph.controls", class_name="ms-graph-controls"),
            html.Div(_states(), className="ms-graph-states"),
            status_line("graph.work", "ms-graph-progress"),
            html.Div(
                [
                    html.Section(
                        [
                            html.Div(className="ms-graph-search"),
                            html.Div(className="ms-graph-results"),
                            html.Div(className="ms-graph-traced"),
                            html.Div(className="ms-graph-highest"),
                            html.Div(className="ms-graph-tree"),
                        ],
                        className="ms-card ms-graph-left", tabIndex=-1,
                    ),
                    _split("tree"),
                    _canvas(ids),
                    _split("panel"),
                    html.Section(
                        html.Div(className="ms-graph-panel"), className="ms-card ms-graph-right", tabIndex=-1,
                        **attributes(aria_label="graph.panel"),
                    ),
                ],
                className="ms-graph-body", hidden=True,
            ),
            html.Div(_statistics(), className="ms-graph-statistics", hidden=True),
        ],
        id=ids("root"),
        className="ms-graph",
        **{
            "data-instance": ids.instance, "data-page": ids.page, "data-routes": routes,
            "data-texts": json.dumps(for_browser([*TEXTS, *PAINTING_TEXTS, *CANVAS_TEXTS])),
        },
    )  # fmt: skip


def _split(side: str) -> html.Div:
    """A border that a column beside the canvas is resized by."""
    return html.Div(
        className="ms-graph-split", role="separator", tabIndex=0, **{"data-side": side, "aria-orientation": "vertical"},
        **attributes(title="graph.split", aria_label=f"graph.split.{side}"),
    )  # fmt: skip


def _canvas(ids: Ids) -> html.Section:
    """The card with the canvas."""
    tools = [
        icon_button(name, label, **{"data-act": act})
        for name, act, label in (
            ("side_left", "tree", "graph.act.tree"), ("side_right", "panel", "graph.act.panel"),
            ("zoom", "fit", "graph.fit"), ("full", "full", "graph.full"),
        )
    ]  # fmt: skip
    return html.Section(
        [
            html.Header(
                [
                    html.H3(className="ms-card-title"),
                    html.Span(className="ms-card-badges"),
                    html.Span(tools, className="ms-card-tools"),
                ],
                className="ms-card-head",
            ),
            html.Div(className="ms-graph-message ms-wrong-text", hidden=True, role="alert"),
            html.Div(className="ms-graph-said", hidden=True, role="status"),
            html.Div(className="ms-graph-paint", hidden=True, role="group", **attributes(aria_label="graph.paint")),
            html.Div(
                [
                    cytoscape(ids),
                    html.Div(className="ms-graph-waiting", role="status"),
                    html.Div(className="ms-graph-tip", hidden=True),
                    html.Details(
                        [html.Summary([icon("down"), t("graph.legend")]), html.Div([_legend(name) for name in _LEGEND])],
                        className="ms-graph-legend",
                    ),
                    html.Div(className="ms-graph-minimap", hidden=True, **{"aria-hidden": "true"}),
                ],
                className="ms-graph-canvas", tabIndex=0, role="application", **attributes(aria_label="graph.canvas"),
            ),
        ],
        className="ms-card ms-graph-main", tabIndex=-1,
    )  # fmt: skip


def _statistics() -> list[html.Section]:
    """Cards of tables, which the server fills; assets/graphs/graph/treemap.js draws the treemap."""
    treemap = html.Div(
        [
            html.Div(
                [html.Nav(className="ms-graph-crumbs", **attributes(aria_label="graph.crumbs")),
                 html.Div(className="ms-graph-tints")],
                className="ms-graph-map-head",
            ),
            html.Div(className="ms-graph-map", role="group", **attributes(aria_label="graph.treemap")),
            html.P(className="ms-muted ms-graph-note ms-graph-unsized", hidden=True),
        ],
        className="ms-graph-treemap",
    )  # fmt: skip
    return [
        _tables("types", ("types.csv",), _table("types")),
        _tables("scopes", ("treemap.svg", "scopes.csv"), treemap, _table("scopes")),
        _tables("parameters", ("parameters.csv",), _table("parameters")),
        _tables("precision", ("precision.csv",), _table("flagged"), head=html.Div(className="ms-graph-flags")),
    ]


def _table(name: str) -> html.Div:
    return html.Div(className="ms-graph-rows ms-waits", **{"data-table": name})


def _tables(name: str, files: Sequence[str], *body: Any, head: Any = None) -> html.Section:
    saves = [
        html.Button(form.rpartition(".")[2].upper(), type="button", className="ms-button", **{"data-save": form})
        for form in files
    ]
    parts = [html.H3(t(f"graph.table.{name}"), className="ms-card-title"), head, html.Span(saves, className="ms-graph-saves")]
    header = html.Header([part for part in parts if part is not None], className="ms-card-head")
    return html.Section([header, html.Div(body, className="ms-card-body")], className=f"ms-card ms-graph-{name}", tabIndex=-1)


def _legend(name: str) -> html.Div:
    return html.Div([html.Span(className=f"ms-graph-key ms-graph-key-{name}"), t(f"graph.legend.{name}")])


def _states() -> list[Any]:
    """Empty and loading states; the browser shows at most one of them."""
    return [
        html.Div(html.Div(className="ms-skeleton ms-graph-skeleton"), **{"data-state": "opening"}),
        html.Div(empty_state("graph.no_runs", hint="graph.no_runs_hint"), hidden=True, **{"data-state": "no-runs"}),
        html.Div(
            missing_data("graph.none", "graph", page="graph", above=[
                html.Div(className="ms-graph-elsewhere"), html.Div(className="ms-graph-refused"),
            ]),
            hidden=True, **{"data-state": "none"},
        ),
        html.Div(
            [damaged_state("graph.none"), html.Div(className="ms-graph-elsewhere")], hidden=True, **{"data-state": "damaged"}
        ),
        html.Div(empty_state("graph.reading"), hidden=True, **{"data-state": "reading"}),
        unknown_state("graph.unknown"),
    ]  # fmt: skip


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    views = Views(RunGraphs(source))
    painter = Painter(source, views)
    register_catalogue(app, ids, partial(catalogue, source))

    def draw(ask: Any) -> Any:
        if _nothing(ask):
            return no_update
        waiting = progress(source, read_of(ask), **read_acts(ask))
        if waiting is not None:
            return unread(DrawingRequest.read(ask), waiting)
        answer, wanted = drawn(views, DrawingRequest.read(ask)), read_trace(ask)
        if wanted is not None and not answer["meta"]["broken"]:
            answer["meta"]["traced"] = traced_boxes(views, DrawingRequest.read(ask), wanted)
        return answer

    def trace(asked: Any) -> Any:
        return no_update if _nothing(asked) else markup(listed(views, asked))

    def describe(about: Any) -> Any:
        if _nothing(about):
            return no_update
        of, name = read_of(about), read_name(about)
        told = panel(views, of, name, traced_profile(source, of.run))
        return markup([*told[:1], *painter.fact(about, name), *told[1:]])

    def paint(asked: Any) -> Any:
        return no_update if _nothing(asked) else painter.answer(asked)

    def find(query: Any) -> Any:
        return no_update if _nothing(query) else markup(results(source.patterns, views, query))

    def count(asked: Any) -> Any:
        return no_update if _nothing(asked) else [markup(table) for table in statistics(views, read_of(asked))]

    def mapped(asked: Any) -> Any:
        return no_update if _nothing(asked) else tiles(views, asked)

    def flag(asked: Any) -> Any:
        return no_update if _nothing(asked) else markup(flagged(views, asked))

    def save(ask: Any) -> Any:
        return no_update if _nothing(ask) else file(views, ask, painter)

    for answer, asked, work in (
        ("drawing", "ask", draw), ("panel", "about", describe), ("results", "query", find), ("tables", "count", count),
        ("tiles", "map", mapped), ("traced", "trace", trace), ("flagged", "flags", flag), ("file", "save", save),
        ("painted", "paint", paint),
    ):  # fmt: skip
        app.callback(Output(ids(answer), "data"), Input(ids(asked), "data"), prevent_initial_call=True)(work)
    _register_browser(app, ids)


def _nothing(ask: Any) -> bool:
    """True if there is no request. BadInput if it is not an object."""
    if ask is not None and not isinstance(ask, dict):
        raise BadInput(f"ask: expected an object, found {type(ask).__name__}")
    return ask is None


def _register_browser(app: Any, ids: Ids) -> None:
    """Add the callbacks that run in the browser (assets/graphs/graph/)."""

    call = in_browser(app, "mindscope_graph")

    root = State(ids("root"), "id")
    call(
        "plan",
        Output(ids("ask"), "data"),
        Output(ids("about"), "data"),
        Output(ids("query"), "data"),
        Output(ids("count"), "data"),
        Output(ids("map"), "data"),
        Output(ids("flags"), "data"),
        Output(ids("trace"), "data"),
        Input(ids("state"), "data"),
        Input(ids("catalogue"), "data"),
        Input(ids("prefs"), "data"),
        root,
    )
    call(
        "place",
        Output(ids("canvas"), "elements"),
        Output(ids("canvas"), "stylesheet"),
        Input(ids("drawing"), "data"),
        root,
        prevent_initial_call=True,
    )
    for part in ("panel", "results", "tables", "flagged", "tiles", "traced", "painted"):
        call(part, Input(ids(part), "data"), root, prevent_initial_call=True)
