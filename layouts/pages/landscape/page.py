"""The landscape page: what does the loss look like around the weights that training went through?

One landscape of one run with the path of training over it, or the final landscapes of up to three runs. assets/landscape.js
turns the state into what the page asks for, draws the controls, and plays the path.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.pages.landscape.callbacks import register
from layouts.pages.landscape.catalogue import NEEDS
from layouts.pages.landscape.layout import layout
from layouts.pages.landscape.texts import TEXTS

PAGE = Page(
    name="landscape", texts=TEXTS, needs=NEEDS, layout=layout, register=register, libraries=("plotly",),
    group="training",
)  # fmt: skip
