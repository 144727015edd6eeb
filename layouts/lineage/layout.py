"""The layout of a lineage page without data; assets/lineage fills toolbar, plot and grid."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import dash_ag_grid as dag
from dash import dcc, html

from layouts.kit.elements import scrolled, toolbar
from layouts.kit.grid import GRID_TEXTS, OPTIONS
from layouts.kit.i18n import attributes, for_browser, texts_of
from layouts.kit.page import Ids
from layouts.lineage import texts as lineage

_OPTIONS = OPTIONS | {
    "isExternalFilterPresent": {"function": "mindscopeLineageBrushed(params)"},
    "doesExternalFilterPass": {"function": "mindscopeLineagePasses(params)"},
    "suppressFieldDotNotation": True,
    "groupHeaderHeight": 26,
}


def layout(ids: Ids, *, export: str, none: html.Div, damaged: html.Div, beside: Sequence[Any] = ()) -> html.Div:
    """Return the page without data.

    export: URL of its exports without their suffix. none: the empty state if there are no runs, damaged: that if damage may
    be the reason. beside: components next to the table.
    """
    texts = (*lineage.TEXTS, *texts_of("data_lineage"), *GRID_TEXTS)
    plot = html.Div(className="ms-lineage-axes")
    grid = dag.AgGrid(
        id=ids("grid"), columnDefs=[], rowData=[], getRowId="params.data.key", dashGridOptions=_OPTIONS,
        defaultColDef={"sortable": True, "resizable": True, "minWidth": 64}, className="ms-grid",
        style={"height": "100%", "width": "100%"},
    )  # fmt: skip
    return html.Div(
        [
            *(dcc.Store(id=ids(part)) for part in ("sheet", "stamp", "ask", "drawing", "wide")),
            html.Div(none, hidden=True, className="ms-lineage-none"),
            html.Div(damaged, hidden=True, className="ms-lineage-damaged"),
            toolbar([], label="lineage.controls", class_name="ms-lineage-bar ms-adds-page"),
            html.Section(
                [html.Div(className="ms-skeleton"),
                 scrolled(html.Div(plot, className="ms-lineage-wide"), "ms-lineage-scroll"),
                 html.Div(className="ms-lineage-scatter"), html.Div(className="ms-lineage-key", hidden=True)],
                className="ms-card ms-lineage-plot", tabIndex=-1, **attributes(aria_label="lineage.plot"),
            ),
            toolbar([], label="lineage.rows", class_name="ms-lineage-rows"),
            html.Div([html.Div(grid, className="ms-lineage-grid"), *beside], className="ms-lineage-below"),
        ],
        id=ids("root"),
        className="ms-lineage ms-lineage-waiting",
        **{"data-export": export, "data-grid": ids("grid"), "data-texts": json.dumps(for_browser(texts))},
    )  # fmt: skip


