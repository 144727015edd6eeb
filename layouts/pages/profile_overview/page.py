"""The profile overview: what is a step of this rank made of?

One sentence and one bar, the profiled steps over the step time of the whole run by the wall times of its scalars, and the way
to the other pages about the profile.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.pages.profile_overview.callbacks import register
from layouts.pages.profile_overview.layout import layout
from layouts.pages.profile_overview.texts import TEXTS

PAGE = Page(
    name="profile_overview", texts=TEXTS, needs=("profile",), layout=layout, register=register, libraries=("plotly",),
    group="performance", formerly=("profile",),
)  # fmt: skip
