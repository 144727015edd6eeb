"""The dataset graph page: what fed the training, and in what do the pipelines of two runs differ?

One drawing per distinct pipeline of the chosen runs, from the data sets read on the left to the last operation on the right.
A pipeline has a few to a few hundred boxes, so boxes get their places here (`boxes`) and assets/dataset.js draws them as SVG:
its text can be selected, its boxes reached by keyboard, and what is on screen is what is saved.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.pages.dataset.callbacks import register
from layouts.pages.dataset.layout import layout
from layouts.pages.dataset.texts import TEXTS

PAGE = Page(
    name="dataset", texts=TEXTS, needs=("dataset_graph",), layout=layout, register=register, group="training",
)  # fmt: skip
