"""The profile overview: what is a step of this rank made of?

One sentence and one bar, the profiled steps over the step time of the whole run by the wall times of its scalars, and the way
to the other pages about the profile.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.profiler.overview.callbacks import register
from layouts.profiler.overview.layout import layout

PAGE = Page(
    path="profile", name="profile", title="profile.title", icon="profile", needs=("profile",), layout=layout,
    register=register, libraries=("plotly",), group="profiling",
)  # fmt: skip
