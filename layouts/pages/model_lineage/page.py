"""The model lineage page: which settings made the better model?

Runs as lines over parallel axes and as rows of a table, over the same columns. A brush on an axis leaves in the table the runs
it touches; columns, brushes, colour and hidden runs are in the state. Of the chosen runs (all where nobody chose any) it shows
those that recorded their settings. All rows come to the browser at once, where
assets/lineage.js filters and sorts; the server draws axes and lines.
"""

from __future__ import annotations

from typing import Any

from dash import html

from layouts.components.elements import empty_state
from layouts.lineage import callbacks
from layouts.lineage import layout as board
from layouts.lineage.model_columns import table
from layouts.lineage.table import Tables
from layouts.page import Ids, Page
from layouts.pages.model_lineage.texts import TEXTS
from layouts.sources import FrameSource

_RECORD = """collector = SummaryCollector(
    "summary/run_1",
    collect_specified_data={"collect_train_lineage": True, "collect_eval_lineage": True},
    custom_lineage_data={"dropout": 0.1, "augmentation": "flip"},
)
model.train(epochs, dataset, callbacks=[collector])"""


def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of plain routes."""
    none = empty_state("model_lineage.none", hint="model_lineage.none_hint", code=_RECORD)
    return board.layout(ids, export=f"{routes}lineage", none=none)


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    callbacks.register(app, source, ids, Tables(source, table))


PAGE = Page(
    name="model_lineage", texts=TEXTS, needs=("lineage", "hparams", "config"), layout=layout, register=register,
    libraries=("plotly", "grid"), group="comparison", every=True, formerly=("lineage",),
)  # fmt: skip
