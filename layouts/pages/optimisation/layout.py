"""What stands on the page before any data; assets/target.js fills the toolbar, the table of settings and the pairs."""

from __future__ import annotations

import json
from typing import Any

from dash import dcc, html
from layouts.components.elements import empty_state, toolbar
from layouts.figures import GRAPH_CONFIG
from layouts.i18n import attributes, for_browser, t
from layouts.page import Ids
from layouts.pages.optimisation.texts import TEXTS

_RECORD = """collector = SummaryCollector("summary/run_1", collect_specified_data={"collect_eval_lineage": True})
model.train(epochs, dataset, callbacks=[collector])    # a collector given to model.eval records its metrics"""
_CLEAR = "rgba(0,0,0,0)"
_BLANK = {
    "data": [],
    "layout": {"paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR, "xaxis": {"visible": False}, "yaxis": {"visible": False}},
}


def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of plain routes."""
    return html.Div(
        [
            *(dcc.Store(id=ids(part)) for part in ("chosen", "sheet", "stamp", "ask", "drawing", "growing", "tick", "growth")),
            html.Div(_states(), className="ms-target-states"),
            html.Div(
                [
                    toolbar([], label="optimisation.controls", class_name="ms-target-bar"),
                    html.Div(
                        [
                            html.Section(
                                [_head(t("optimisation.importance")), html.Div(className="ms-target-note"),
                                 html.Div(className="ms-target-settings"), html.Div(className="ms-target-grown")],
                                className="ms-card ms-target-importance", tabIndex=-1,
                                **attributes(aria_label="optimisation.importance"),
                            ),
                            _card(ids("spread"), "ms-target-spread", t("optimisation.distribution")),
                            _card(ids("plot"), "ms-target-over", t("optimisation.over_none")),
                            html.Section(
                                [_head(t("optimisation.pairs")), html.Div(className="ms-target-pairs")],
                                className="ms-card ms-target-nearest", tabIndex=-1,
                            ),
                        ],
                        className="ms-target-cards",
                    ),
                ],
                className="ms-target-body", hidden=True,
            ),
        ],
        id=ids("root"),
        className="ms-target",
        **{"data-instance": ids.instance, "data-routes": routes, "data-texts": json.dumps(for_browser(TEXTS))},
    )  # fmt: skip


def _states() -> list[Any]:
    """What is shown instead of a result; the browser shows at most one."""
    return [
        html.Div(html.Div(className="ms-skeleton ms-target-skeleton"), **{"data-state": "opening"}),
        html.Div(
            empty_state("optimisation.none", hint="optimisation.none_hint", code=_RECORD),
            hidden=True, **{"data-state": "none"},
        ),
        html.Div(
            empty_state("optimisation.no_runs", hint="optimisation.no_runs_hint"),
            hidden=True, **{"data-state": "no-runs"},
        ),
    ]  # fmt: skip


def _card(graph: Any, class_name: str, *title: Any) -> html.Section:
    plot = dcc.Graph(id=graph, figure=_BLANK, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    body = html.Div([html.Div(className="ms-skeleton"), plot], className="ms-card-body")
    return html.Section([_head(*title), body], className=f"ms-card {class_name}", tabIndex=-1)


def _head(*title: Any) -> html.Header:
    return html.Header(
        [
            html.H3(list(title), className="ms-card-title"), html.Span(className="ms-target-told ms-cut"),
            html.Span(className="ms-card-tools"),
        ],
        className="ms-card-head",
    )  # fmt: skip
