"""The computation graph page: which operators were compiled, how do they connect, with what shapes and types?

The server keeps the whole graph and its tree of scopes; the browser gets what is open, with positions. assets/graph.js
turns the state into what the page asks for, assets/graph_canvas.js is all that knows of cytoscape, assets/graph_side.js has
what stands beside the canvas.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.pages.graph.callbacks import register
from layouts.pages.graph.layout import layout
from layouts.pages.graph.texts import TEXTS

PAGE = Page(
    name="graph", texts=TEXTS, needs=("graph",), layout=layout, register=register, libraries=("cytoscape",),
    group="training",
)  # fmt: skip
