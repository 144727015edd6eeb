"""A graph of Dash that is made with its first figure: one without a figure makes the browser load plotly.js, and draws axes.

Counterpart of assets/kit/late_graphs.js.
"""

from __future__ import annotations

import json

from dash import dcc, html

from layouts.kit.figures import GRAPH_CONFIG


def late_graph(graph: str, class_name: str = "") -> html.Div:
    """Return the element in which the graph with this id will be."""
    plot = dcc.Graph(id=graph, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    return html.Div(id=f"{graph}-place", className=class_name, **{"data-graph": json.dumps(plot.to_plotly_json())})
