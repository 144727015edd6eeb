"""The scalars page: how did the curves of these runs go, and where did they go wrong?

One card per tag with all chosen runs in it, or several tags in one chart. In the browser assets/scalars*.js turns the
state into what each card asks for; here each such request becomes a figure.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.pages.scalars.callbacks import layout, register
from layouts.pages.scalars.texts import TEXTS

PAGE = Page(
    name="scalars", texts=TEXTS, needs=("scalar",), layout=layout, register=register, libraries=("plotly",),
    group="training",
)  # fmt: skip
