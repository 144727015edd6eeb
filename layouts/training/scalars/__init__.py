"""The scalars page: how did the curves of these runs go, and where did they go wrong?

One card per tag with all chosen runs in it, or several tags in one chart. In the browser assets/scalars*.js turns the
state into what each card asks for; here each such request becomes a figure.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.training.scalars.callbacks import layout, register

PAGE = Page(
    path="scalars", name="scalars", title="scalars.title", icon="scalars", needs=("scalar",), layout=layout,
    register=register, libraries=("plotly",),
)  # fmt: skip
