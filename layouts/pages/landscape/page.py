"""The landscape page: what does the loss look like around the weights that training went through?

One landscape of one run with the path of training over it, or the final landscapes of up to three runs. assets/landscape.js
turns the state into what the page asks for, draws the controls, and plays the path.
"""

from __future__ import annotations

import json
from typing import Any

from dash import ClientsideFunction, Input, Output, State, dcc, html, no_update

from layouts.components.elements import empty_state, toolbar
from layouts.figures import GRAPH_CONFIG
from layouts.i18n import attributes, for_browser, t
from layouts.page import Ids, Page
from layouts.pages.landscape.asks import read_ask, read_sheets
from layouts.pages.landscape.catalogue import NEEDS, catalogue
from layouts.pages.landscape.drawing import chart, curve, facts, find
from layouts.pages.landscape.texts import TEXTS
from layouts.sources import FrameSource, ValueSource

_RECORD = """model.train(epochs, dataset, callbacks=[SummaryCollector("summary/run_1")])  # collects checkpoints
SummaryLandscape("summary/run_1").gen_landscapes_with_multi_process(callback_fn, device_ids=[0])"""

_CLEAR = "rgba(0,0,0,0)"
_BLANK = {
    "data": [],
    "layout": {"paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR, "xaxis": {"visible": False}, "yaxis": {"visible": False}},
}


def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of plain routes."""
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
    """What is shown instead of landscapes; the browser shows at most one."""
    return [
        html.Div(html.Div(className="ms-skeleton ms-landscape-skeleton"), **{"data-state": "opening"}),
        html.Div(empty_state("landscape.no_runs", hint="landscape.no_runs_hint"), hidden=True, **{"data-state": "no-runs"}),
        html.Div(
            empty_state("landscape.none", hint="landscape.none_hint", code=_RECORD), hidden=True, **{"data-state": "none"}
        ),
        html.Div(hidden=True, className="ms-landscape-top", **{"data-state": "planned"}),
        html.Div(empty_state("landscape.no_final"), hidden=True, **{"data-state": "no-final"}),
        html.Div(empty_state("landscape.reading"), hidden=True, **{"data-state": "reading"}),
    ]


def _card(graph: Any, class_name: str, *title: Any) -> html.Section:
    plot = dcc.Graph(id=graph, figure=_BLANK, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    return html.Section(
        [_head(*title), html.Div([html.Div(className="ms-skeleton"), plot], className="ms-card-body")],
        className=f"ms-card {class_name}", tabIndex=-1,
    )  # fmt: skip


def _head(*title: Any) -> html.Header:
    return html.Header([html.H3(list(title), className="ms-card-title")], className="ms-card-head", **attributes())


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes

    def list_landscapes(chosen: Any, _version: Any, known: Any) -> tuple[Any, Any]:
        return landscapes_of(source, chosen, known)

    def draw(ask: Any) -> Any:
        return drawn(source, ask)

    def draw_side(ask: Any) -> tuple[Any, Any]:
        return side(source, ask)

    app.callback(
        Output(ids("catalogue"), "data"),
        Output(ids("digest"), "data"),
        Input(ids("chosen"), "data"),
        Input(ids("version"), "data"),
        State(ids("digest"), "data"),
    )(list_landscapes)
    app.callback(Output(ids("plot"), "figure"), Input(ids("ask"), "data"), prevent_initial_call=True)(draw)
    app.callback(
        Output(ids("curve"), "figure"), Output(ids("facts"), "children"), Input(ids("side"), "data"), prevent_initial_call=True
    )(draw_side)
    _register_browser(app, ids)


def landscapes_of(source: ValueSource, chosen: Any, known: Any) -> tuple[Any, Any]:
    """(catalogue, its digest) of the runs that chosen, the part of the state about runs, names; nothing where known is it."""
    found = catalogue(source, chosen, known)
    return (no_update, no_update) if found is None else (found, found["digest"])


def drawn(source: ValueSource, ask: Any) -> Any:
    """The figure of the landscapes; nothing where none is asked for."""
    if ask is None:
        return no_update
    wanted = read_ask(ask)
    return chart(source, wanted, find(source, wanted.sheets))


def side(source: FrameSource, ask: Any) -> tuple[Any, Any]:
    """(curve of the main scalar, facts) of the runs of the landscapes; nothing where none is asked for."""
    if ask is None:
        return no_update, no_update
    found = find(source, read_sheets(ask))
    return curve(source, found), facts(source, found)


def _register_browser(app: Any, ids: Ids) -> None:
    """What happens in the browser alone: assets/landscape.js."""

    def call(name: str, *arguments: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction("mindscope_landscape", name), *arguments, **options)

    root = State(ids("root"), "id")
    call("chosen", Output(ids("chosen"), "data"), Input(ids("state"), "data"), State(ids("chosen"), "data"))
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


PAGE = Page(
    name="landscape", texts=TEXTS, needs=NEEDS, layout=layout, register=register, libraries=("plotly",),
    group="training",
)  # fmt: skip
