"""The histograms page: how are weights, gradients and activations distributed, and when did that change?

One card per tag. In the browser assets/values/histograms/ turns the state into a request per card; here each request becomes a
figure of one of five views.
"""

from __future__ import annotations

from typing import Any

from dash import html

from layouts.kit.cards import cards
from layouts.kit.cards.cards import Cards
from layouts.kit.page import Ids
from layouts.sources import Sources, ValueSources
from layouts.values import histogram_figures as drawing
from layouts.values.histogram_asks import HistogramRequest
from layouts.values.histograms.texts import TEXTS


def draw(source: ValueSources, ask: Any) -> dict[str, Any]:
    """Draw the figure of one card."""
    parsed = HistogramRequest.read(ask)
    return drawing.draw(source, parsed, drawing.found_in(source, parsed))


def stamp(source: ValueSources, ask: Any) -> str:
    """Return a text that changes whenever the histograms of a card do."""
    parsed = HistogramRequest.read(ask)
    return drawing.stamp(drawing.found_in(source, parsed), source.runs.colours(parsed.state.get("run", ())))


def body(ids: Ids, slot: str) -> list[Any]:
    """Return the plot, the elements over it, and the host of the step slider below it."""
    legend = html.Div(className="ms-histogram-legend", hidden=True)
    return [
        html.Div([*cards.plot(ids, slot), legend], className="ms-histogram-plot"),
        html.Div(className="ms-histogram-note", role="status", hidden=True),
        html.Div(className="ms-histogram-step", hidden=True),
    ]


CARDS = Cards(
    kind="histogram", draw=draw, stamp=stamp, texts=TEXTS, controls="histograms.controls", missing="histograms.missing",
    body=body,
)  # fmt: skip


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data."""
    return cards.layout(CARDS, ids, routes)


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:  # noqa: ARG001 - the layout holds the routes
    """Add the page's callbacks to a Dash application."""
    cards.register(CARDS, app, source, ids)
