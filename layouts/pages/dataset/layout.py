"""What stands on the dataset graph page before any data; assets/dataset.js draws the pipelines."""

from __future__ import annotations

import json
from typing import Any

from dash import dcc, html

from layouts.components.elements import empty_state, toolbar
from layouts.components.pipeline_panel import RECORD
from layouts.i18n import attributes, for_browser, t
from layouts.page import Ids
from layouts.pages.dataset.boxes import BETWEEN, HEAD, LINE, PART, WIDTH
from layouts.pages.dataset.texts import TEXTS

KINDS = ("create", "map", "operator", "shuffle", "batch", "repeat")
"""In the order of the legend."""
_STORES = ("chosen", "catalogue", "digest", "ask", "screen", "panel", "differences", "save")



def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of plain routes."""
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
                                    html.Button("CSV", type="button", className="ms-button", **{"data-act": "csv"}),
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
    """What is shown instead of pipelines; the browser shows at most one."""
    none = [
        empty_state("dataset.none", hint="dataset.none_hint", code=RECORD),
        html.Div(className="ms-dataset-elsewhere"),
    ]
    return [
        html.Div(html.Div(className="ms-skeleton ms-dataset-skeleton"), **{"data-state": "opening"}),
        html.Div(empty_state("dataset.no_runs", hint="dataset.no_runs_hint"), hidden=True, **{"data-state": "no-runs"}),
        html.Div(none, hidden=True, **{"data-state": "none"}),
        html.Div(empty_state("dataset.broken_all"), hidden=True, **{"data-state": "broken"}),
        html.Div(empty_state("dataset.reading"), hidden=True, **{"data-state": "reading"}),
    ]
