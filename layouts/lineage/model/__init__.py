"""The model lineage page: which settings made the better model?

Runs as lines over parallel axes and as rows of a table, over the same columns. A brush on an axis leaves in the table the runs
it touches; columns, brushes, colour and hidden runs are in the state. All rows come to the browser at once, where
assets/lineage.js filters and sorts; the server draws axes and lines.
"""

from __future__ import annotations

from layouts.lineage.model.callbacks import register
from layouts.lineage.model.layout import layout
from layouts.page import Page

PAGE = Page(
    path="lineage", name="lineage", title="lineage.title", icon="lineage", needs=("lineage", "hparams", "config"),
    layout=layout, register=register, libraries=("plotly", "grid"),
)  # fmt: skip
