"""The data preparation page: does the network wait for data, and which operation of the pipeline is the slow one?

The way of the data as boxes with what is known of each, queues and times by step, the pipeline with the use of its queues,
CPU and memory meanwhile. assets/preparation.js chooses operations and steps.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.pages.preparation.callbacks import register
from layouts.pages.preparation.layout import FRAMES, layout
from layouts.pages.preparation.texts import TEXTS

PAGE = Page(
    name="preparation", texts=TEXTS, needs=tuple(f"profile.{name}" for name in FRAMES), layout=layout,
    register=register, libraries=("plotly",), group="performance",
)  # fmt: skip
