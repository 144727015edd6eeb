"""The landscape page: what does the loss look like around the weights that training passed through?

One landscape of one run with the training path on it, or the final landscapes of up to three runs. The scripts in
assets/values/landscape/ turn the state into requests, draw the controls and play the path.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from dash import Input, Output, State, dcc, html, no_update

from layouts.kit.body import unknown_state
from layouts.kit.callbacks import in_browser, register_catalogue
from layouts.kit.elements import damaged_state, empty_state, toolbar
from layouts.kit.figures import BLANK, GRAPH_CONFIG
from layouts.kit.i18n import attributes, for_browser, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.kit.recording import missing_data
from layouts.kit.state import texts
from layouts.sources import Sources, ValueSources
from layouts.values.landscape.asks import LandscapeRequest, read_sheets
from layouts.values.landscape.catalogue import catalogue
from layouts.values.landscape.drawing import chart, curve, facts, load
from layouts.values.landscape.texts import TEXTS


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    return html.Div(
        [
            *(dcc.Store(id=ids(part)) for part in ("chosen", "catalogue", "digest", "ask", "side")),
            toolbar([], label="landscape.controls", class_name="ms-landscape-controls"),
            html.Div(_states(), className="ms-landscape-states"),
            html.Div(
                [
                    _card(ids("plot"), "ms-landscape-main"),
                    html.Div(
                        [
                            html.Section(
                                [_head(t("landscape.facts")), html.Div(id=ids("facts"), className="ms-card-body")],
                                className="ms-card ms-landscape-info", tabIndex=-1,
                            ),
                            _card(ids("curve"), "ms-landscape-curve", t("landscape.selection")),
                        ],
                        className="ms-landscape-side",
                    ),
                ],
                className="ms-landscape-body", hidden=True,
            ),
            html.Div(className="ms-landscape-plans"),
        ],
        id=ids("root"),
        className="ms-landscape",
        **{
            "data-instance": ids.instance, "data-page": ids.page, "data-routes": routes,
            "data-texts": json.dumps(for_browser(TEXTS)),
        },
    )  # fmt: skip


def _states() -> list[Any]:
    """Empty and loading states; the browser shows at most one of them."""
    return [
        html.Div(html.Div(className="ms-skeleton ms-landscape-skeleton"), **{"data-state": "opening"}),
        html.Div(empty_state("landscape.no_runs", hint="landscape.no_runs_hint"), hidden=True, **{"data-state": "no-runs"}),
        html.Div(
            missing_data("landscape.none", "landscape", page="landscape"), hidden=True, **{"data-state": "none"}
        ),
        html.Div(damaged_state("landscape.none"), hidden=True, **{"data-state": "damaged"}),
        unknown_state("landscape.unknown"),
        html.Div(hidden=True, className="ms-landscape-top", **{"data-state": "planned"}),
        html.Div(empty_state("landscape.no_final"), hidden=True, **{"data-state": "no-final"}),
        html.Div(empty_state("landscape.reading"), hidden=True, **{"data-state": "reading"}),
    ]


def _card(graph: Any, class_name: str, *title: Any) -> html.Section:
    plot = dcc.Graph(id=graph, figure=BLANK, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    return html.Section(
        [_head(*title), html.Div([html.Div(className="ms-skeleton"), plot], className="ms-card-body")],
        className=f"ms-card {class_name}", tabIndex=-1,
    )  # fmt: skip


def _head(*title: Any) -> html.Header:
    return html.Header([html.H3(list(title), className="ms-card-title")], className="ms-card-head", **attributes())


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_catalogue(app, ids, partial(catalogue, source))

    def draw(ask: Any) -> Any:
        return drawn(source, ask)

    def draw_side(ask: Any) -> tuple[Any, Any]:
        figure, table = side(source, ask)
        return figure, still(table)

    app.callback(Output(ids("plot"), "figure"), Input(ids("ask"), "data"), prevent_initial_call=True)(draw)
    app.callback(
        Output(ids("curve"), "figure"), Output(ids("facts"), "children"), Input(ids("side"), "data"), prevent_initial_call=True
    )(draw_side)
    _register_browser(app, ids)


def drawn(source: ValueSources, ask: Any) -> Any:
    """Draw the figure of the requested landscapes; no update if there is no request."""
    if ask is None:
        return no_update
    parsed = LandscapeRequest.read(ask)
    return chart(source, parsed, load(source, parsed.sheets))


def side(source: Sources, ask: Any) -> tuple[Any, Any]:
    """Return (curve of the main scalar, facts) of the runs of the requested landscapes; no update if there is no request."""
    if ask is None:
        return no_update, no_update
    requested = load(source, read_sheets(ask))
    runs = texts(ask, "run")
    return curve(source, requested, runs), facts(source, requested, runs)


def _register_browser(app: Any, ids: Ids) -> None:
    """Add the callbacks that run in the browser (assets/values/landscape/page.js)."""

    call = in_browser(app, "mindscope_landscape")

    root = State(ids("root"), "id")
    call(
        "plan",
        Output(ids("ask"), "data"),
        Output(ids("side"), "data"),
        Input(ids("state"), "data"),
        Input(ids("catalogue"), "data"),
        Input(ids("prefs"), "data"),
        State(ids("ask"), "data"),
        State(ids("side"), "data"),
        root,
    )
    call("painted", Input(ids("plot"), "figure"), root, prevent_initial_call=True)
    call("picked", Input(ids("curve"), "clickData"), State(ids("curve"), "figure"), root, prevent_initial_call=True)
