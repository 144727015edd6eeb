"""What is visible of a graph to a drawing: places of boxes and links, then elements for cytoscape. No layout in the browser.

visible = view.visible(shown)
drawing = arrange(visible)
elements(visible, drawing, dark=True)   # with layout {"name": "preset"} and stylesheet(dark=True)
"""

from __future__ import annotations

from layouts.figures.graph.arrangement import Arrangement, arrange
from layouts.figures.graph.elements import elements, stylesheet
from layouts.figures.graph.svg import minimap, picture

__all__ = ["Arrangement", "arrange", "elements", "minimap", "picture", "stylesheet"]
