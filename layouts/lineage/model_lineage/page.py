"""The model lineage page: which settings gave the better model?

Runs are lines over parallel axes and rows of a table with the same columns. A brush on an axis filters the table; columns,
brushes, colour and hidden runs are in the state. The page shows those of the chosen runs (all runs if none is chosen) that
recorded their settings. All rows are sent to the browser at once, where assets/lineage/ filters and sorts them; the server
draws axes and lines.
"""

from __future__ import annotations

from typing import Any

from dash import html

from layouts.kit.elements import damaged_state
from layouts.kit.page import Ids
from layouts.kit.recording import missing_data, other_runs
from layouts.lineage import callbacks
from layouts.lineage import layout as board
from layouts.lineage.model_columns import table
from layouts.lineage.table import LineageTables
from layouts.sources import Sources


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    none = missing_data("model_lineage.none", "lineage", page="model_lineage", above=[other_runs("model_lineage")])
    return board.layout(ids, export=f"{routes}lineage", none=none, damaged=damaged_state("model_lineage.none"))


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    callbacks.register(app, source, ids, LineageTables(source, table))
