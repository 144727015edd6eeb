"""The operators page: which operators did the time of a profile go to, by type, scope and shape, and how does another differ?

The server keeps the tables and sorts, searches and filters them; the browser has the rows on screen.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.pages.operators.callbacks import register
from layouts.pages.operators.layout import layout
from layouts.pages.operators.texts import TEXTS

PAGE = Page(
    name="operators", texts=TEXTS, needs=("profile.operators", "profile.operator_types"), layout=layout,
    register=register, libraries=("plotly", "grid"), group="performance",
)  # fmt: skip
