"""The computation graph page: which operators were compiled, how do they connect, with what shapes and types?

The server keeps the whole graph and its tree of scopes; the browser gets what is open, with positions. assets/graph.js
turns the state into what the page asks for, assets/graph_canvas.js is all that knows of cytoscape, assets/graph_side.js has
what stands beside the canvas.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.training.graph.callbacks import register
from layouts.training.graph.layout import layout

PAGE = Page(
    path="graph", name="graph", title="graph.title", icon="graph", needs=("graph",), layout=layout, register=register,
    libraries=("cytoscape",),
)  # fmt: skip
