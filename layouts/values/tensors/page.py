"""The tensors page: what are the values, which are not finite, and how do two steps or two runs differ?

One card per tag with the tensor of one run at one step, as a table or a histogram, or with histograms of every chosen run over
its steps. The server says when tensors were recorded; the browser fetches facts, statistics, values and figures from plain
routes when they come into view (assets/values/tensors/).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import dcc, html

from layouts.kit.cards import cards, step_texts
from layouts.kit.cards.recorded import recorded_cards
from layouts.kit.figures import GRAPH_CONFIG
from layouts.kit.i18n import texts_of
from layouts.kit.page import Ids
from layouts.kit.tensor_grid_texts import TEXTS as GRID_TEXTS
from layouts.sources import Sources
from layouts.values.tensor_facts import NOTHING
from layouts.values.tensors.texts import TEXTS

SLOTS = 4
"""Number of cards on a page; fewer than elsewhere because a table needs room."""

def _body(ids: Ids, slot: str) -> list[Any]:
    """Hosts that assets/values/tensors/ fills; the graph is the histogram."""
    parts = [html.Div(className=f"ms-tensor-{part}") for part in ("bar", "stats")]
    views = [
        html.Div(className="ms-tensor-table"),
        dcc.Graph(id=ids("graph", slot), figure=NOTHING, config=GRAPH_CONFIG, responsive=True, className="ms-plot"),
    ]
    return [
        html.Div(
            [
                *parts,
                html.Div(className="ms-tensor-message", hidden=True, role="alert"),
                html.Div(className="ms-histogram-legend", hidden=True),
                html.Div(views, className="ms-tensor-body"),
                html.Div(className="ms-tensor-foot"),
            ],
            className="ms-tensor",
        ),
    ]


CARDS = replace(
    recorded_cards(
        "tensor", {**TEXTS, **GRID_TEXTS, **step_texts.TEXTS}, "ms-tensor",
        controls="tensors.controls", missing="tensors.no_tensors",
    ),
    body=_body, slots=SLOTS,
)  # fmt: skip


def layout(ids: Ids, routes: str) -> Any:
    """Return the page without data. `routes` is the URL prefix of the tensor routes."""
    return cards.layout(replace(CARDS, texts={**texts_of("histograms"), **CARDS.texts}), ids, routes)


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:  # noqa: ARG001 - the layout holds the routes
    """Add the page's callbacks to a Dash application."""
    cards.register(CARDS, app, source, ids)
