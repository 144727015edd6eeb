"""What stands on the scalars page before any data: stores, hosts that assets/scalars*.js fills, a fixed set of card slots."""

from __future__ import annotations

import json
from typing import Any

from dash import dcc, html

from layouts.figures import GRAPH_CONFIG
from layouts.i18n import attributes, for_browser
from layouts.page import Ids
from layouts.parts import empty_state, toolbar
from layouts.texts.scalars import TEXTS

SLOTS = 12
"""Cards on a page of cards; each slot shows whichever tag its turn brings."""

_RECORD = """summary = SummaryCollector(summary_dir="summary/run_1", collect_freq=10)
model.train(epochs, dataset, callbacks=[summary])"""


def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of the exports."""
    return html.Div(
        [
            *_stores(ids),
            html.Aside(className="ms-tags", **attributes(aria_label="scalars.tags")),
            html.Div(
                [
                    toolbar([], label="scalars.controls", class_name="ms-scalar-controls"),
                    html.Div(_states(), className="ms-scalar-states"),
                    html.Div(
                        [_slot(ids, str(slot)) for slot in range(SLOTS)], className="ms-cards ms-scalar-cards ms-scalar-grid"
                    ),
                ],
                className="ms-scalar-main",
            ),
            html.Div(className="ms-hover-table", hidden=True, **{"aria-hidden": "true"}),
            html.Div(className="ms-scalar-dialogs"),
        ],
        id=ids("root"),
        className="ms-scalars",
        **{
            "data-instance": ids.instance,
            "data-page": ids.page,
            "data-routes": routes,
            "data-texts": json.dumps(for_browser(TEXTS)),
        },
    )


def _stores(ids: Ids) -> list[Any]:
    """chosen: run keys of the state as JSON text. catalogue: tags of those runs; digest: what it was made of.
    screen: width of the cards in pixels. proposal, verdict: a threshold to be checked, and the answer."""
    return [dcc.Store(id=ids(part)) for part in ("chosen", "catalogue", "digest", "screen", "proposal", "verdict")]


def _states() -> list[Any]:
    """What is shown instead of cards; the browser shows at most one. The first stands until it knows the tags."""
    return [
        html.Div(
            [html.Div(className="ms-skeleton") for _ in range(3)],
            className="ms-cards ms-scalar-cards", **{"data-state": "opening"},
        ),
        html.Div(empty_state("scalars.no_runs", hint="scalars.no_runs_hint"), hidden=True, **{"data-state": "no-runs"}),
        html.Div(
            empty_state("scalars.no_scalars", hint="scalars.no_scalars_hint", code=_RECORD),
            hidden=True, **{"data-state": "no-scalars"},
        ),
        html.Div(empty_state("scalars.no_match", hint="scalars.no_match_hint"), hidden=True, **{"data-state": "no-match"}),
        html.Div(hidden=True, className="ms-scalar-reading", **{"data-state": "reading"}),
    ]  # fmt: skip


def _slot(ids: Ids, slot: str) -> html.Section:
    """One card: what it asks for, whether to ask again, what it has drawn, and its plot."""
    return html.Section(
        [
            html.Header(className="ms-card-head"),
            html.Div(
                [
                    html.Div(className="ms-skeleton"),
                    dcc.Graph(id=ids("graph", slot), config=GRAPH_CONFIG, responsive=True, className="ms-plot"),
                    html.Div(className="ms-plot-cursor", hidden=True),
                    dcc.Store(id=ids("ask", slot)),
                    dcc.Store(id=ids("again", slot)),
                    dcc.Store(id=ids("drawn", slot)),
                ],
                className="ms-card-body",
            ),
        ],
        className="ms-card ms-scalar-card",
        hidden=True,
        tabIndex=-1,
        **{"data-slot": slot},
    )
