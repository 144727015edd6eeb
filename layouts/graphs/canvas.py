"""The canvas of a graph. dash-cytoscape is used only here, and in the browser only in assets/graphs/canvas.js."""

from __future__ import annotations

import dash_cytoscape as cyto

from layouts.kit.page import Ids


def cytoscape(ids: Ids) -> cyto.Cytoscape:
    """Return the canvas, ids("canvas"); places of all elements come from `layouts.graphs.drawing`."""
    return cyto.Cytoscape(
        id=ids("canvas"), elements=[], stylesheet=[], layout={"name": "preset", "fit": False}, autoRefreshLayout=False,
        autoungrabify=True, autounselectify=True, boxSelectionEnabled=False, minZoom=0.02, maxZoom=4, responsive=False,
        style={"width": "100%", "height": "100%"}, className="ms-graph-cytoscape",
    )  # fmt: skip
