"""The histograms page: how did weights, gradients and activations spread, and when did that change?

One card per tag. In the browser assets/histograms*.js turns the state into what each card asks for; here each such request
becomes a figure of one of five views.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.training.histograms.callbacks import layout, register

PAGE = Page(
    path="histograms", name="histograms", title="histograms.title", icon="histograms", needs=("histogram",), layout=layout,
    register=register, libraries=("plotly",),
)  # fmt: skip
