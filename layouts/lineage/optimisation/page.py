"""The optimisation target page: which settings is a result associated with, and how does it change with each?

For the chosen runs (all runs if none is chosen): the distribution of the result, its association with every setting, alone and
together with the others, the result over one setting, and the runs that differ in that setting only. The server computes;
shares are fitted in the background (`LineageSource.fitting`) while the page polls it. assets/lineage/optimisation/page.js draws
the settings and pairs.
"""

from __future__ import annotations

import json
from typing import Any

from dash import Input, Output, State, dcc, html, no_update

from layouts.kit.callbacks import in_browser
from layouts.kit.elements import damaged_state, empty_state, toolbar
from layouts.kit.figures import BLANK, GRAPH_CONFIG
from layouts.kit.figures.alternatives import described
from layouts.kit.i18n import attributes, for_browser, t
from layouts.kit.page import Ids
from layouts.kit.recording import missing_data
from layouts.kit.state import BadInput
from layouts.lineage.alternatives import of_result
from layouts.lineage.model_columns import table
from layouts.lineage.optimisation.asks import ExplanationRequest
from layouts.lineage.optimisation.drawing import over_setting
from layouts.lineage.optimisation.explained import choose, fitted, pairs, sheet
from layouts.lineage.optimisation.texts import TEXTS
from layouts.lineage.table import LineageTables
from layouts.sources import LineageSources, RunSources, Sources


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    return html.Div(
        [
            *(dcc.Store(id=ids(part))
              for part in ("chosen", "sheet", "stamp", "ask", "drawing", "fitting-ask", "tick", "fitting")),
            html.Div(_states(), className="ms-optimisation-states"),
            html.Div(
                [
                    toolbar([], label="optimisation.controls", class_name="ms-optimisation-bar"),
                    html.Div(className="ms-card ms-optimisation-answer", role="status", hidden=True),
                    html.Div(
                        [
                            html.Section(
                                [_head(t("optimisation.importance")), html.Div(className="ms-optimisation-note"),
                                 html.Div(className="ms-optimisation-settings"), html.Div(className="ms-optimisation-fitting")],
                                className="ms-card ms-optimisation-importance", tabIndex=-1,
                                **attributes(aria_label="optimisation.importance"),
                            ),
                            _card(ids("spread"), "ms-optimisation-spread", t("optimisation.distribution")),
                            _card(ids("plot"), "ms-optimisation-over", t("optimisation.over_none")),
                            html.Section(
                                [_head(t("optimisation.pairs")), html.Div(className="ms-optimisation-pairs")],
                                className="ms-card ms-optimisation-nearest", tabIndex=-1,
                            ),
                        ],
                        className="ms-optimisation-cards",
                    ),
                ],
                className="ms-optimisation-body", hidden=True,
            ),
        ],
        id=ids("root"),
        className="ms-optimisation",
        **{"data-instance": ids.instance, "data-routes": routes, "data-texts": json.dumps(for_browser(TEXTS))},
    )  # fmt: skip


def _states() -> list[Any]:
    """Empty and loading states; the browser shows at most one of them."""
    return [
        html.Div(html.Div(className="ms-skeleton ms-optimisation-skeleton"), **{"data-state": "opening"}),
        html.Div(
            missing_data("optimisation.none", "lineage", page="optimisation"),
            hidden=True, **{"data-state": "none"},
        ),
        html.Div(damaged_state("optimisation.none"), hidden=True, **{"data-state": "damaged"}),
        html.Div(
            empty_state("optimisation.no_runs", hint="optimisation.no_runs_hint"),
            hidden=True, **{"data-state": "no-runs"},
        ),
    ]  # fmt: skip


def _card(graph: Any, class_name: str, *title: Any) -> html.Section:
    plot = dcc.Graph(id=graph, figure=BLANK, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    body = html.Div([html.Div(className="ms-skeleton"), plot], className="ms-card-body")
    return html.Section([_head(*title), body], className=f"ms-card {class_name}", tabIndex=-1)


def _head(*title: Any) -> html.Header:
    return html.Header(
        [
            html.H3(list(title), className="ms-card-title"), html.Span(className="ms-optimisation-told ms-cut"),
            html.Span(className="ms-card-tools"),
        ],
        className="ms-card-head",
    )  # fmt: skip


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    tables = LineageTables(source, table)

    def explain(chosen: Any, _version: Any, known: Any) -> tuple[Any, Any]:
        return explained(source, tables, chosen, known)

    def draw(ask: Any) -> Any:
        return drawn(source, tables, ask)

    def fit(_ticks: Any, ask: Any) -> Any:
        return fitting(source, tables, ask)

    app.callback(
        Output(ids("sheet"), "data"), Output(ids("stamp"), "data"), Input(ids("chosen"), "data"), Input(ids("version"), "data"),
        State(ids("stamp"), "data"), prevent_initial_call=True,
    )(explain)  # fmt: skip
    app.callback(Output(ids("drawing"), "data"), Input(ids("ask"), "data"), prevent_initial_call=True)(draw)
    app.callback(
        Output(ids("fitting"), "data"), Input(ids("tick"), "data"), Input(ids("fitting-ask"), "data"),
        prevent_initial_call=True,
    )(fit)  # fmt: skip
    _register_browser(app, ids)


def explained(source: RunSources, tables: LineageTables, chosen: Any, known: Any) -> tuple[Any, Any]:
    """Return (sheet of the requested result, its stamp); no update if `known` is that stamp."""
    if known is not None and not isinstance(known, str):
        raise BadInput(f"stamp: expected a text, found {type(known).__name__}")
    if chosen is None:
        return no_update, no_update
    shown = choose(source, tables.table(), ExplanationRequest.read(chosen))
    jobs = {member: row.key for row in source.runs.rows() for member in row.members}
    found = sheet(shown, tables.damage(), len({jobs.get(row.run, row.run) for row in shown.rows}))
    return (no_update, no_update) if found["stamp"] == known else (found, found["stamp"])


def drawn(source: RunSources, tables: LineageTables, data: Any) -> Any:
    """Return the figure and pairs of the requested setting; no update without a request."""
    if data is None:
        return no_update
    ask = ExplanationRequest.read(data)
    chosen = choose(source, tables.table(), ask)
    if not chosen.target or ask.setting not in chosen.settings:
        return {"setting": "", "figure": None, "pairs": [], "total": 0, "also": []}
    figure = over_setting(chosen.rows, chosen.frame, ask.setting, chosen.target, source.runs.colours(ask.named), log=ask.log)
    figure = described(figure, *of_result(chosen.rows, chosen.result, chosen.target, ask.setting))
    return {"setting": ask.setting, "target": chosen.target, "figure": figure, **pairs(chosen, ask.setting)}


def fitting(source: LineageSources, tables: LineageTables, data: Any) -> Any:
    """Return the progress and shares for the requested result; no update if there is no such result."""
    if data is None:
        return no_update
    ask = ExplanationRequest.read(data)
    chosen = choose(source, tables.table(), ask)
    if not chosen.target:
        return no_update
    found = fitted(source.lineage.fitting(chosen.rows, chosen.target, ask.act))
    return found | {"target": chosen.target, "act": ask.act}


def _register_browser(app: Any, ids: Ids) -> None:
    """Add the callbacks that run in the browser (assets/lineage/optimisation/page.js)."""

    call = in_browser(app, "mindscope_optimisation")

    root = State(ids("root"), "id")
    state, sheet_, prefs = Input(ids("state"), "data"), Input(ids("sheet"), "data"), Input(ids("prefs"), "data")
    call("chosen", Output(ids("chosen"), "data"), state, State(ids("chosen"), "data"))
    call(
        "plan", Output(ids("ask"), "data"), Output(ids("fitting-ask"), "data"), state, sheet_, Input(ids("runs"), "data"),
        prefs, State(ids("ask"), "data"), State(ids("fitting-ask"), "data"), root,
    )  # fmt: skip
    call("distribution", Output(ids("spread"), "figure"), sheet_, prefs, root)
    call("over", Output(ids("plot"), "figure"), Input(ids("drawing"), "data"), prefs, root)
    call("fitted", Input(ids("fitting"), "data"), root, prevent_initial_call=True)
