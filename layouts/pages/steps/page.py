"""The step page: what is every step of a profile made of, which ones stand out, and what ran on the streams of one?

Bars of all steps, of which one may be picked; its parts in a table beside the median, and what was marked on its streams; each
part over the steps. Trace, unit, window and picked step are in the state. Everything is drawn here for the pixels there are.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.pages.steps.callbacks import register
from layouts.pages.steps.layout import layout
from layouts.pages.steps.texts import TEXTS

PAGE = Page(
    name="steps", texts=TEXTS, needs=("profile.steps",), layout=layout, register=register, libraries=("plotly",),
    group="performance",
)  # fmt: skip
