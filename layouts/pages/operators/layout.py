"""What stands on the operators page before any data; assets/operators.js fills tabs, toolbars and heads."""

from __future__ import annotations

from typing import Any

import dash_ag_grid as dag
from dash import dcc, html
from layouts.components.elements import icon_button, toolbar
from layouts.components.grid import GRID_TEXTS, OPTIONS
from layouts.figures import GRAPH_CONFIG
from layouts.i18n import t
from layouts.page import Ids
from layouts.pages.operators.asks import KEYS
from layouts.pages.operators.texts import TEXTS
from layouts.profiling.body import body, damage

FRAMES = ("operators", "operator_types")
_CLEAR = "rgba(0,0,0,0)"
_BLANK = {
    "data": [],
    "layout": {"paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR, "xaxis": {"visible": False}, "yaxis": {"visible": False}},
}
_OPTIONS = {name: value for name, value in OPTIONS.items() if name not in ("rowSelection", "selectionColumnDef")} | {
    "cacheBlockSize": 200,
    "maxBlocksInCache": 20,
    "rowBuffer": 20,
    "blockLoadDebounceMillis": 40,
    "suppressFieldDotNotation": True,
    "suppressMultiSort": True,
}


_SCOPES = [html.Div(className="ms-operators-crumbs"), html.Div(className="ms-operators-scopes")]


def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of plain routes."""
    plot = dcc.Graph(id=ids("plot"), figure=_BLANK, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    grid = dag.AgGrid(
        id=ids("grid"), columnDefs=[], rowModelType="infinite", getRowId="params.data.id", dashGridOptions=_OPTIONS,
        defaultColDef={"sortable": True, "resizable": True, "minWidth": 64}, className="ms-grid",
        style={"height": "100%", "width": "100%"},
    )  # fmt: skip
    children: list[Any] = [
        dcc.Store(id=ids("sheet")),
        dcc.Store(id=ids("drawing")),
        dcc.Store(id=ids("scopes")),
        dcc.Store(id=ids("save")),
        dcc.Download(id=ids("file")),
        damage(),
        toolbar([], label="operators.variants", class_name="ms-operators-tabs"),
        html.Div(
            [
                _card("types", html.Div(plot, className="ms-operators-plot")),
                _card("scopes", _SCOPES),
            ],
            className="ms-operators-figures",
        ),
        _card("table", [toolbar([], label="operators.table", class_name="ms-operators-bar"),
                        html.Div(grid, className="ms-operators-grid")]),
    ]  # fmt: skip
    return body(
        ids, routes, children, title="operators.title", frames=FRAMES, keys=KEYS, compared=True,
        texts=[*TEXTS, *GRID_TEXTS], class_name="ms-operators",
    )  # fmt: skip


def _card(name: str, content: Any) -> html.Section:
    head = html.Header(
        [
            html.H3(t(f"operators.{name}"), className="ms-card-title"),
            html.Span(className="ms-card-badges"),
            html.Span(icon_button("full", "operators.full", **{"data-act": f"full-{name}"}), className="ms-card-tools"),
        ],
        className="ms-card-head",
    )
    return html.Section(
        [head, html.Div(content, className="ms-card-body")], className=f"ms-card ms-operators-{name}-card", tabIndex=-1
    )
