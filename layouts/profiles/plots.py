"""A card with one plot, for pages about profiles; it shows a skeleton until the page's script sets a figure."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from layouts.kit.figures import BLANK, GRAPH_CONFIG


def plot_card(graph: Any, name: str, title: Any, class_name: str, *above: Any) -> html.Section:
    """A card with a title, the components `above`, and a plot. name identifies the plot in scripts."""
    plot = dcc.Graph(id=graph, figure=BLANK, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    return html.Section(
        [
            html.Header(
                [html.H3(title, className="ms-card-title"), html.Span(className="ms-card-badges")], className="ms-card-head"
            ),
            *above,
            html.Div([html.Div(className="ms-skeleton"), plot], className="ms-card-body"),
        ],
        className=f"ms-card ms-breakdown-plot {class_name}", tabIndex=-1, **{"data-plot": name},
    )  # fmt: skip
