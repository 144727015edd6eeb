"""The histograms page: how did weights, gradients and activations spread, and when did that change?

One card per tag. In the browser assets/histograms*.js turns the state into what each card asks for; here each such request
becomes a figure of one of five views.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.pages.histograms.callbacks import layout, register
from layouts.pages.histograms.texts import TEXTS

PAGE = Page(
    name="histograms", texts=TEXTS, needs=("histogram",), layout=layout, register=register, libraries=("plotly",),
    group="training",
)  # fmt: skip
