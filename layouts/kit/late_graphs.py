"""A graph of Dash that is made with its first figure: one without a figure makes the browser load plotly.js, and draws axes.

Counterpart of assets/kit/late_graphs.js.
"""

from __future__ import annotations

import json

from dash import dcc, html

from layouts.kit.figures import GRAPH_CONFIG
from layouts.kit.i18n import for_browser

_TEXTS = ("common.charts_not_loaded", "common.try_again")


def late_graph(graph: str, class_name: str = "") -> html.Div:
    """Return the element in which the graph with this id will be."""
    plot = dcc.Graph(id=graph, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    data = {"data-graph": plot.to_plotly_json(), "data-texts": for_browser(_TEXTS)}
    return html.Div(id=f"{graph}-place", className=class_name, **{name: json.dumps(value) for name, value in data.items()})
