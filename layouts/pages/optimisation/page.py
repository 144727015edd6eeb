"""The optimisation target page: which settings does a result go with, and how does it change with each?

Of the chosen runs (all where nobody chose any): how the result is distributed, how strong its relation to every setting is,
alone and together with the others, the result over one setting, and the runs that differ in it alone. The server computes; a
forest grows behind `FrameSource.growth` while the page asks for it. assets/target.js writes settings and pairs.
"""

from __future__ import annotations

from layouts.page import Page
from layouts.pages.optimisation.callbacks import register
from layouts.pages.optimisation.layout import layout
from layouts.pages.optimisation.texts import TEXTS

PAGE = Page(
    name="optimisation", texts=TEXTS, needs=("lineage", "hparams", "config"), layout=layout, register=register,
    libraries=("plotly",), group="comparison", every=True, formerly=("target",),
)  # fmt: skip
