"""The landscape page: what does the loss look like around the weights that training went through?

One landscape of one run with the path of training over it, or the final landscapes of up to three runs. assets/landscape.js
turns the state into what the page asks for, draws the controls, and plays the path.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.training.landscape.callbacks import register
from layouts.training.landscape.catalogue import NEEDS
from layouts.training.landscape.layout import layout

PAGE = Page(
    path="landscape", name="landscape", title="landscape.title", icon="landscape", needs=NEEDS, layout=layout,
    register=register, libraries=("plotly",),
)  # fmt: skip
