"""The dataset graph page: what fed the training, and in what do the pipelines of two runs differ?

One drawing per distinct pipeline of the chosen runs, from the data sets on the left to the last operation on the right.
A pipeline has a few to a few hundred boxes, so the layout is computed here (`boxes`) and assets/graphs/dataset/page.js draws
it as SVG: text can be selected, boxes can be reached by keyboard, and the saved file is what is on screen.
"""

from __future__ import annotations

import json
from typing import Any

from dash import Input, Output, State, dcc, html, no_update

from layouts.graphs.dataset.boxes import BETWEEN, HEAD, LINE, PART, WIDTH
from layouts.graphs.dataset.catalogue import catalogue
from layouts.graphs.dataset.differences import csv, differences
from layouts.graphs.dataset.texts import TEXTS
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import damaged_state, empty_state, toolbar
from layouts.kit.i18n import attributes, for_browser, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import markup
from layouts.kit.recording import missing_data
from layouts.kit.state import number
from layouts.lineage.pipeline_panel import MOST_ROWS, ROWS, chosen, panel
from layouts.lineage.pipelines import compared, find
from layouts.sources import ValueSources

KINDS = ("create", "map", "operator", "shuffle", "batch", "repeat")
"""Kinds of operations in the order of the legend."""
_STORES = ("chosen", "catalogue", "digest", "ask", "screen", "panel", "differences", "save")


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    return html.Div(
        [
            *(dcc.Store(id=ids(part)) for part in _STORES),
            dcc.Download(id=ids("file")),
            html.Div(_states(), className="ms-dataset-states"),
            html.Div(
                [
                    toolbar([_legend(), html.Span(className="ms-grow"), html.Span(className="ms-dataset-zoom")],
                            label="dataset.controls", class_name="ms-dataset-controls"),
                    html.Div(className="ms-dataset-notes"),
                    html.Section(
                        [
                            html.Header(
                                [
                                    html.H3(t("dataset.differences"), className="ms-card-title"),
                                    html.Span(className="ms-card-badges"),
                                    html.Button(
                                        "CSV", type="button", className="ms-button ms-button-small", **{"data-act": "csv"},
                                    ),
                                ],
                                className="ms-card-head",
                            ),
                            html.Div(className="ms-dataset-differences"),
                        ],
                        className="ms-card ms-dataset-comparison", tabIndex=-1, hidden=True,
                    ),
                    html.Div(className="ms-dataset-pipelines"),
                    html.Section(className="ms-card ms-dataset-panel", tabIndex=-1,
                                 **attributes(aria_label="dataset.parameters")),
                ],
                className="ms-dataset-body", hidden=True,
            ),
        ],
        id=ids("root"),
        className="ms-dataset",
        **{
            "data-instance": ids.instance, "data-routes": routes, "data-texts": json.dumps(for_browser(TEXTS)),
            "data-box": json.dumps({"width": WIDTH, "between": BETWEEN, "head": HEAD, "line": LINE, "part": PART}),
        },
    )  # fmt: skip


def _legend() -> html.Ul:
    return html.Ul(
        [
            html.Li([html.Span(className=f"ms-dataset-key ms-dataset-{kind}"), t(f"dataset.{kind}")])
            for kind in KINDS
        ],
        className="ms-dataset-legend", **attributes(aria_label="dataset.legend"),
    )  # fmt: skip


def _states() -> list[Any]:
    """Empty and loading states; the browser shows at most one of them."""
    elsewhere = html.Div(className="ms-dataset-elsewhere")
    none = missing_data("dataset.none", "dataset_graph", page="dataset", above=[elsewhere])
    return [
        html.Div(html.Div(className="ms-skeleton ms-dataset-skeleton"), **{"data-state": "opening"}),
        html.Div(empty_state("dataset.no_runs", hint="dataset.no_runs_hint"), hidden=True, **{"data-state": "no-runs"}),
        html.Div(none, hidden=True, **{"data-state": "none"}),
        html.Div(damaged_state("dataset.none"), hidden=True, **{"data-state": "damaged"}),
        html.Div(empty_state("dataset.broken_all"), hidden=True, **{"data-state": "broken"}),
        html.Div(empty_state("dataset.reading"), hidden=True, **{"data-state": "reading"}),
    ]


def register(app: Any, source: ValueSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes

    def list_pipelines(asked: Any, _version: Any, known: Any) -> tuple[Any, Any, Any]:
        answer, digest, table = pipelines_of(source, asked, known)
        return answer, digest, table if table is no_update else markup(table)

    def show_parameters(asked: Any) -> Any:
        shown = parameters_of(source, asked)
        return shown if shown is no_update else markup(shown)

    def save(asked: Any) -> Any:
        return no_update if asked is None else differences_of(source, asked)

    app.callback(
        Output(ids("catalogue"), "data"),
        Output(ids("digest"), "data"),
        Output(ids("differences"), "data"),
        Input(ids("chosen"), "data"),
        Input(ids("version"), "data"),
        State(ids("digest"), "data"),
        prevent_initial_call=True,
    )(list_pipelines)
    app.callback(Output(ids("panel"), "data"), Input(ids("ask"), "data"), prevent_initial_call=True)(show_parameters)
    app.callback(Output(ids("file"), "data"), Input(ids("save"), "data"), prevent_initial_call=True)(save)
    _register_browser(app, ids)


def pipelines_of(source: ValueSources, asked: Any, known: Any) -> tuple[Any, Any, Any]:
    """Return (catalogue, its digest, table of differences) of the requested runs; no update if `known` is that digest."""
    if asked is None:
        return no_update, no_update, no_update
    found = find(source, asked)
    places = compared(found)
    answer = catalogue(source, asked, found, places)
    if answer["digest"] == known:
        return no_update, no_update, no_update
    return answer, answer["digest"], differences(found, places)


def parameters_of(source: ValueSources, asked: Any) -> Any:
    """Return the panel with all parameters of the requested operation in the pipelines of the requested runs."""
    if asked is None:
        return no_update
    found = find(source, asked)
    one = chosen(asked, found)
    most = int(number(asked, "rows", ROWS, 1, MOST_ROWS))
    return panel(found, compared(found) if one else (), one, most)


def differences_of(source: ValueSources, asked: Any) -> dict[str, str]:
    """Return {"filename", "content"} of a CSV file with all differences between the pipelines of the requested runs."""
    found = find(source, asked)
    return {"filename": "dataset-differences.csv", "content": csv(found, compared(found))}


def _register_browser(app: Any, ids: Ids) -> None:
    """Add the callbacks that run in the browser (assets/graphs/dataset/page.js)."""

    call = in_browser(app, "mindscope_dataset")

    call(
        "chosen", Output(ids("chosen"), "data"), Input(ids("state"), "data"), Input(ids("screen"), "data"),
        State(ids("chosen"), "data"), State(ids("root"), "id"),
    )  # fmt: skip
    call(
        "plan", Output(ids("ask"), "data"), Input(ids("state"), "data"), Input(ids("catalogue"), "data"),
        State(ids("ask"), "data"), State(ids("root"), "id"),
    )  # fmt: skip
    for part in ("panel", "differences"):
        call(part, Input(ids(part), "data"), State(ids("root"), "id"))
