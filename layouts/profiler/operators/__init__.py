"""The operators page: which operators did the time of a profile go to, by type, scope and shape, and how does another differ?

The server keeps the tables and sorts, searches and filters them; the browser has the rows on screen.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.profiler.operators.callbacks import register
from layouts.profiler.operators.layout import layout

PAGE = Page(
    path="operators", name="operators", title="operators.title", icon="operators",
    needs=("profile.operators", "profile.operator_types"), layout=layout, register=register,
    libraries=("plotly", "grid"), group="profiling",
)  # fmt: skip
