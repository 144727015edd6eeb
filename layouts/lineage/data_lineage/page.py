"""The data lineage page: which pipelines fed the runs, and in what do they differ?

Operations of all pipelines are aligned (`parsers.analysis.lineage.pipelines`), and each operation parameter is a column: of
parallel axes and of a table, as on the model lineage page. Values other than the most frequent one are marked, and a cell
opens all parameters of its operation.
"""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State, dcc, html

from layouts.kit.elements import damaged_state
from layouts.kit.i18n import attributes
from layouts.kit.page import Ids
from layouts.kit.recording import missing_data
from layouts.lineage import callbacks
from layouts.lineage import layout as board
from layouts.lineage.data_lineage.detail import detail
from layouts.lineage.pipeline_columns import table
from layouts.lineage.table import LineageTables
from layouts.sources import Sources


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    none = missing_data("dataset.none", "dataset_graph", page="data_lineage")
    beside = [
        dcc.Store(id=ids("node")),
        html.Aside(
            html.Div(id=ids("detail"), className="ms-dataset-panel"), className="ms-card ms-lineage-detail", hidden=True,
            tabIndex=-1, **attributes(aria_label="data_lineage.detail"),
        ),
    ]  # fmt: skip
    return board.layout(ids, export=f"{routes}pipelines", none=none, damaged=damaged_state("dataset.none"), beside=beside)


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    callbacks.register(app, source, ids, LineageTables(source, table))

    def show_detail(asked: Any) -> Any:
        return detail(source, asked)

    app.callback(Output(ids("detail"), "children"), Input(ids("node"), "data"), prevent_initial_call=True)(show_detail)
    app.clientside_callback(
        ClientsideFunction("mindscope_lineage", "node"), Output(ids("node"), "data"), Input(ids("state"), "data"),
        Input(ids("sheet"), "data"), State(ids("node"), "data"), State(ids("root"), "id"),
    )  # fmt: skip
