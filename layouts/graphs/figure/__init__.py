"""Draw the visible part of a graph: places of boxes and links, then elements for cytoscape. The browser computes no layout.

visible = view.visible(shown)
drawing = arrange(visible)
elements(visible, drawing, dark=True)   # with layout {"name": "preset"} and stylesheet(dark=True)
"""

from __future__ import annotations

from layouts.graphs.figure.arrangement import Arrangement, arrange
from layouts.graphs.figure.elements import elements, stylesheet
from layouts.graphs.figure.svg import minimap, picture

__all__ = ["Arrangement", "arrange", "elements", "minimap", "picture", "stylesheet"]
