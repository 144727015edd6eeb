"""The runs page: which runs are there, and which do I want to look at? The start page, a grid with one row per run.

All rows come with the list of runs (`ids("runs")`), so search, sorting, filters and selection need no request. The numbers of
insights (`insights`) and the values of columns that users add (`columns`) are computed afterwards, for the rows on screen
first. assets/runs/runs/columns.js has the columns, which users choose, move and resize; page.js connects the grid's selection
to the `run` keys of the state, which the run picker uses too.
"""

from __future__ import annotations

import json
from typing import Any

import dash_ag_grid as dag
from dash import Input, Output, State, dcc, html
from parsers.analysis.curves.insights import RULES

from layouts.curves.expression_texts import TEXTS as EXPRESSIONS
from layouts.kit import elements as parts
from layouts.kit.callbacks import in_browser
from layouts.kit.grid import GRID_TEXTS, OPTIONS
from layouts.kit.i18n import attributes, both, for_browser, t
from layouts.kit.page import Ids
from layouts.kit.state import bind
from layouts.runs.runs import columns, insights
from layouts.runs.runs.texts import TEXTS
from layouts.sources import Sources

# (field, further properties of its column); the header is the text runs.<field>. Cells are plain text where possible: each cell
# renderer is a React component, which is too slow for scrolling a thousand rows.
_NUMBER = {"type": "rightAligned", "filter": "agNumberColumnFilter"}
_TIME = {
    "valueFormatter": {"function": "mindscopeAgo(params.value)"},
    "initialWidth": 104,
    "cellClass": "ms-grid-quiet",
    "sortingOrder": ["desc", "asc", None],
}
_NOTE = {"filter": "agTextColumnFilter", "cellClass": "ms-note-cell", "comparator": {"function": "mindscopeNoteOrder"}}
_COLUMNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("name", {"cellRenderer": "MindscopeRun", "flex": 1, "minWidth": 260, "pinned": "left", "lockPinned": True,
              "filter": "agTextColumnFilter"}),
    ("open", {"cellRenderer": "MindscopeLinks", "cellRendererParams": {"most": 2}, "valueGetter": {"function": "null"},
              "initialWidth": 108, "sortable": False, "filter": False, "resizable": False}),
    ("state", {"cellRenderer": "MindscopeState", "initialWidth": 108, "filter": "agTextColumnFilter"}),
    ("value", {**_NUMBER, "cellRenderer": "MindscopeValue", "initialWidth": 204,
               "comparator": {"function": "mindscopeByMetric"}}),
    ("insights", {**_NUMBER, "cellRenderer": "MindscopeInsights", "initialWidth": 150,
                  "valueGetter": {"function": "mindscopeInsights(params.data)"}}),
    ("steps", {**_NUMBER, "initialWidth": 80, "valueFormatter": {"function": "mindscopeCount(params.value)"}}),
    ("size", {**_NUMBER, "initialWidth": 86, "valueFormatter": {"function": "params.data ? params.data.sizeText : ''"}}),
    ("updated", {**_TIME, "tooltipValueGetter": {"function": "mindscopeMoment(params.data.updated)"}}),
    ("remark", {"initialWidth": 132, "valueGetter": {"function": "mindscopeRemark(params.data)"}, **_NOTE,
                "tooltipValueGetter": {"function": "params.value"}}),
    ("tags", {"initialWidth": 88, "valueGetter": {"function": "mindscopeNoteTags(params.data)"}, **_NOTE,
              "cellRenderer": "MindscopeNoteTags"}),
    ("scalars", {**_NUMBER, "initialWidth": 76, "valueGetter": {"function": "mindscopeTags(params.data, 'scalar')"},
                 "valueFormatter": {"function": "mindscopeCount(params.value)"}}),
    ("others", {"initialWidth": 180, "filter": "agTextColumnFilter", "cellClass": "ms-grid-quiet",
                "valueGetter": {"function": "mindscopeKinds(params.data)"},
                "tooltipValueGetter": {"function": "mindscopeKinds(params.data)"}}),
    ("ranks", {**_NUMBER, "initialWidth": 68, "valueGetter": {"function": "params.data.members.length"}}),
    ("started", {**_TIME, "tooltipValueGetter": {"function": "mindscopeMoment(params.data.started)"}}),
    ("path", {"initialWidth": 260, "cellRenderer": "MindscopeText", "filter": "agTextColumnFilter",
              "cellClass": "ms-grid-quiet ms-mono",
              "tooltipValueGetter": {"function": "mindscopePath(params.data)"}}),
)  # fmt: skip

_OPTIONS = OPTIONS | {
    "isExternalFilterPresent": {"function": "mindscopeFilters(params)"},
    "doesExternalFilterPass": {"function": "mindscopePasses(params)"},
    # Rows of groups are rows of the grid, placed above their runs.
    "isFullWidthRow": {"function": "mindscopeIsGroup(params)"},
    "fullWidthCellRenderer": "MindscopeRunGroup",
    "postSortRows": {"function": "mindscopeArrangeGroups(params)"},
}


def layout(ids: Ids, routes: str) -> list[Any]:
    """Return the grid without rows, and its search field."""
    del routes
    search = html.Div(
        [
            parts.text_input(ids("search"), "runs.search", class_name="ms-filter ms-grow", type="text", value=""),
            html.Button(
                ".*", id=ids("regex"), type="button", className="ms-button ms-mono",
                **{"aria-pressed": "false"}, **attributes(title="runs.regex", aria_label="runs.regex"),
            ),
        ],
        className="ms-runs-search",
    )  # fmt: skip
    chosen = html.Span(className="ms-muted ms-runs-chosen")
    tools = [
        parts.button("runs.clear", **{"data-act": "clear"}, **attributes(title="runs.clear.tip")),
        parts.button("runs.only", hidden=True, **{"data-act": "only"}, **attributes(title="runs.only.tip")),
        parts.button("runs.ungroup", hidden=True, **{"data-act": "ungroup"}),
        html.Span(className="ms-runs-trouble", role="alert", hidden=True),
        html.Span(className="ms-grow"),
    ]
    opener = html.A(
        [parts.icon("scalars"), t("runs.open_chosen")],
        href="scalars", className="ms-button ms-button-main ms-runs-open",
        **{"data-page": "scalars"}, **attributes(title="runs.open_chosen.tip"),
    )  # fmt: skip
    grid = dag.AgGrid(
        id=ids("grid"),
        columnDefs=[],
        defaultColDef={"sortable": True, "resizable": True, "suppressMovable": False, "suppressHeaderMenuButton": False},
        getRowId="params.data.key",
        dashGridOptions=_OPTIONS,
        className="ms-grid",
        style={"height": "100%", "width": "100%"},
    )
    return [
        dcc.Store(id=ids("columns"), data=_columns()),
        *(dcc.Store(id=ids(part)) for part in ("insights-ask", "insights", "choices-ask", "choices", "values-ask", "values",
                                               "matched-ask", "matched")),
        html.Div(
            [
                parts.toolbar([search, chosen, *tools, opener], label="runs.title", class_name="ms-runs-bar ms-adds-page"),
                html.Div(grid, className="ms-runs-grid"),
            ],
            id=ids("body"),
            className="ms-runs ms-runs-waiting",
            **{"data-texts": json.dumps(for_browser(_browser_texts()))},
        ),
    ]


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Connect the grid to the list of runs, the state, the language (all in the browser) and the numbers of insights."""
    del routes
    insights.register(app, source, ids)
    columns.register(app, source, ids)
    call = in_browser(app, "mindscope")
    bind(app, ids, "search", "value", "q", default="")
    call(
        "runs_rows",
        Output(ids("grid"), "rowData"),
        Input(ids("runs"), "data"),
        State(ids("grid"), "id"),
        State(ids("body"), "id"),
    )
    call(
        "runs_state",
        Input(ids("state"), "data"),
        Input(ids("runs"), "data"),
        State(ids("grid"), "id"),
        State(ids("body"), "id"),
    )
    call("runs_insights", Input(ids("insights"), "data"), State(ids("grid"), "id"), State(ids("body"), "id"),
         prevent_initial_call=True)  # fmt: skip
    call(
        "runs_columns",
        Output(ids("grid"), "columnDefs"),
        Input(ids("prefs"), "data"),
        Input(ids("state"), "data"),
        Input(ids("runs"), "data"),
        State(ids("columns"), "data"),
        State(ids("grid"), "id"),
        State(ids("body"), "id"),
    )
    for answer in ("choices", "values", "matched"):
        call(f"runs_{answer}", Input(ids(answer), "data"), State(ids("grid"), "id"), State(ids("body"), "id"),
             prevent_initial_call=True)  # fmt: skip


def _columns() -> list[dict[str, Any]]:
    """The columns of the list of runs itself, in the order of the table; label is the header in both languages."""
    return [{"field": field, "colId": field, "label": both(f"runs.{field}"), **more} for field, more in _COLUMNS]


def _browser_texts() -> list[str]:
    own = [key for key in TEXTS if key.startswith(("kind.", "runs."))]
    return [*GRID_TEXTS, *own, *EXPRESSIONS, *(f"insights.kind.{kind}" for kind in RULES), "lineage.apart.missing"]
