"""What stands on the landscape page before any data; assets/landscape.js fills the toolbar and the heads."""

from __future__ import annotations

import json
from typing import Any

from dash import dcc, html
from layouts.components.elements import empty_state, toolbar
from layouts.figures import GRAPH_CONFIG
from layouts.i18n import attributes, for_browser, t
from layouts.page import Ids
from layouts.pages.landscape.texts import TEXTS

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
