"""The optimisation target page: which settings does a result go with, and how does it change with each?

Of the chosen runs (all where nobody chose any): how the result is distributed, how strong its relation to every setting is,
alone and together with the others, the result over one setting, and the runs that differ in it alone. The server computes; a
forest grows behind `FrameSource.growth` while the page asks for it. assets/target.js writes settings and pairs.
"""

from __future__ import annotations

from layouts.lineage.target.callbacks import register
from layouts.lineage.target.layout import layout
from layouts.page import Page

PAGE = Page(
    path="target", name="target", title="target.title", icon="target", needs=("lineage", "hparams", "config"),
    layout=layout, register=register, libraries=("plotly",), group="lineage", every=True,
)  # fmt: skip
