"""The operators page: which operators took the time of a profile, by type, scope and shape, and how does another one differ?

The server keeps the tables and sorts, searches and filters them; the browser gets the rows on screen.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict, replace
from typing import Any

import dash_ag_grid as dag
from dash import Input, Output, State, dcc, html, no_update
from parsers.export.frames import csv_rows

from layouts.kit.body import damage
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import icon_button, toolbar
from layouts.kit.figures import BLANK, GRAPH_CONFIG
from layouts.kit.grid import GRID_TEXTS, OPTIONS
from layouts.kit.i18n import t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.kit.state import BadInput, text
from layouts.profiles.body import body, register_body
from layouts.profiles.efficiency import SETTINGS, Efficiency, MeasuredProfiles
from layouts.profiles.efficiency_cards import NEEDED, csv_link, register_use, stores, use_card
from layouts.profiles.efficiency_texts import CARD_TEXTS
from layouts.profiles.operators import drawing, limits, rooflines, scopes
from layouts.profiles.operators.asks import OperatorRequest, read_sort
from layouts.profiles.operators.compare import changes, compared
from layouts.profiles.operators.tables import OperatorTables, default_sort, filters_of, page_of, searched
from layouts.profiles.operators.texts import TEXTS
from layouts.profiles.operators.variants import measure
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

FRAMES = ("operators", "operator_types")
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
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    plot = dcc.Graph(id=ids("plot"), figure=BLANK, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
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
        dcc.Store(id=ids("figure-roofline")),
        dcc.Store(id=ids("use-facts")),
        *stores(ids),
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
        use_card(ids, tuple(SETTINGS), [html.P([_shortcut(name) for name in OF_KERNELS], className="ms-operators-shortcuts")]),
        html.Div(
            [
                _card("bound", _notes(ids("bound")), csv_link("types"), title="efficiency.bound"),
                _card("slow", _notes(ids("slow")), csv_link("slow"), title="efficiency.slow"),
                _card("roofline", _roofline(ids), csv_link("roofline"),
                      icon_button("download", "plots.png", **{"data-act": "png-roofline"}), title="efficiency.roofline"),
            ],
            className="ms-operators-use",
        ),
    ]  # fmt: skip
    return body(
        ids, routes, children, title="operators.title", frames=FRAMES, keys=OperatorRequest.keys(), compared=True,
        texts=[*TEXTS, *GRID_TEXTS, *NEEDED, *CARD_TEXTS], class_name="ms-operators",
    )  # fmt: skip


OF_KERNELS = ("bound", "slow", "roofline")
"""Cards at the end of the page."""


def _shortcut(name: str) -> html.Button:
    """A button that leads to a card at the end of the page."""
    return html.Button(t(f"efficiency.{name}"), type="button", className="ms-operators-link", **{"data-act": f"to-{name}"})


def _notes(part: Any) -> html.Div:
    return html.Div(id=part, className="ms-efficiency-card")


def _roofline(ids: Ids) -> list[Any]:
    plot = dcc.Graph(id=ids("plot-roofline"), figure=BLANK, config=GRAPH_CONFIG, responsive=True, className="ms-plot")
    return [_notes(ids("roofline")), html.Div(plot, className="ms-operators-roof", hidden=True)]


def _card(name: str, content: Any, *tools: Any, title: str = "") -> html.Section:
    full = icon_button("full", "operators.full", **{"data-act": f"full-{name}"})
    head = html.Header(
        [
            html.H3(t(title or f"operators.{name}"), className="ms-card-title"),
            html.Span(className="ms-card-badges"),
            html.Span([*tools, full], className="ms-card-tools"),
        ],
        className="ms-card-head",
    )
    return html.Section(
        [head, html.Div(content, className="ms-card-body")], className=f"ms-card ms-operators-{name}-card", tabIndex=-1
    )


_LARGEST = 10**9
MOST_SAVED = 200_000
"""Maximum rows of a CSV file made from a table of the page; whole frames have a route (`app.routes.profiles.frames`)."""


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    kept = MeasuredProfiles()
    tables = OperatorTables(source, kept)
    register_body(app, source, ids, FRAMES)
    parts_of_use = [Output(ids(name), "children") for name in OF_KERNELS]
    stores_of_use = [Output(ids(name), "data") for name in ("figure-roofline", "use-facts")]
    register_use(app, source, ids, [*parts_of_use, *stores_of_use], use, kept=kept)

    def describe(data: Any) -> Any:
        ask = OperatorRequest.read_any(data)
        return no_update if ask is None else sheet(tables, ask)

    def draw(data: Any) -> Any:
        ask = OperatorRequest.read_any(data)
        return no_update if ask is None else figure(tables, ask)

    def fetch_rows(request: Any, data: Any) -> Any:
        ask = OperatorRequest.read_any(data)
        return no_update if request is None or ask is None else rows(tables, ask, request)

    app.callback(Output(ids("sheet"), "data"), Input(ids("ask"), "data"), prevent_initial_call=True)(describe)
    app.callback(Output(ids("drawing"), "data"), Input(ids("ask"), "data"), prevent_initial_call=True)(draw)
    def place(data: Any) -> Any:
        ask = OperatorRequest.read_any(data)
        return no_update if ask is None else parts(tables, ask)

    def save(data: Any) -> Any:
        ask = OperatorRequest.read_any(data)
        return no_update if ask is None else csv(tables, ask, data.get("filters")) or no_update

    app.callback(Output(ids("file"), "data"), Input(ids("save"), "data"), prevent_initial_call=True)(save)
    app.callback(Output(ids("scopes"), "data"), Input(ids("ask"), "data"), prevent_initial_call=True)(place)
    app.callback(
        Output(ids("grid"), "getRowsResponse"), Input(ids("grid"), "getRowsRequest"), State(ids("ask"), "data"),
        prevent_initial_call=True,
    )(fetch_rows)  # fmt: skip
    _register_browser(app, ids)


def use(found: Efficiency, data: Any) -> tuple[Any, ...]:
    """Return what limits the kernels, which are far from their median, notes of the roofline, its figure or None, and facts."""
    rows = text(data, "use", "types", ("types", "shapes"))
    cards = (limits.bound_card(found, rows), limits.slow_card(found), rooflines.roofline_card(found))
    facts = {"counters": found.measured is not None and bool(found.measured.counters), "kernels": found.measured is not None}
    return *(still(one) for one in cards), rooflines.figure(found), facts


def sheet(tables: OperatorTables, ask: OperatorRequest) -> dict[str, Any]:
    """Describe the table: variants, views, columns, number of rows, sums of the variant."""
    variants = tables.variants(ask)
    table = tables.table(ask)
    if table is None:
        variant = ask.variant if ask.variant in variants else next(iter(variants), "")
        views = tables.views(ask, variant) if variants else []
        empty: dict[str, Any] = {"columns": [], "rows": 0, "sums": {}}
        return empty | {"variants": variants, "variant": variant, "view": ask.view, "views": views}
    types = tables.types(ask.choice, table.variant)
    return {
        "variants": variants, "variant": table.variant, "view": ask.view, "columns": [asdict(one) for one in table.columns],
        "rows": len(table.sheet), "most": MOST_SAVED, "sort": list(ask.sort or default_sort(ask, table)), "sums": _sums(types),
        "views": tables.views(ask, table.variant),
    }  # fmt: skip


def _sums(types: Any) -> dict[str, Any]:
    total, count = math.fsum(types["total_ns"].dropna()), math.fsum(types["count"].dropna())
    own = math.fsum(types["self_ns"].dropna()) if measure(types) == "self_ns" else None
    return {"types": len(types), "total_ns": total, "self_ns": own, "count": count}


def figure(tables: OperatorTables, ask: OperatorRequest) -> dict[str, Any]:
    """Draw the figure of types: pie or bars, or a waterfall if two profiles are compared."""
    variants = tables.variants(ask)
    if not variants:
        return drawing.bar([])
    variant = ask.variant if ask.variant in variants else variants[0]
    types = tables.types(ask.choice, variant)
    if ask.against is not None:
        changed, before, after = changes(compared(types, tables.types(ask.against, variant), ("type", "core")))
        return drawing.waterfall(changed, before, after, _names(ask.against, ask.choice))
    parts = drawing.slices(types, ask.by)
    return drawing.pie(parts) if ask.chart == "pie" else drawing.bar(parts)


def parts(tables: OperatorTables, ask: OperatorRequest) -> dict[str, Any]:
    """Return the scopes as rectangles, and the FLOPs summary that MindSpore wrote, if the profile has one."""
    variant, sums = tables.scopes(ask)
    root = scopes.tree(sums, ask.scope)
    if not root.parts and ask.scope:
        ask = replace(ask, scope="")
        root = scopes.tree(sums, "")
    tiles = scopes.labelled(scopes.treemap(root) if ask.form == "treemap" else scopes.icicle(root))
    return {
        "scope": ask.scope, "total": root.amount, "tiles": tiles, "amount": ask.amount, "form": ask.form,
        "flops": tables.has_flops(ask, variant), "summary": tables.flops(ask.choice),
    }  # fmt: skip


def _names(before: ProfileChoice, after: ProfileChoice) -> tuple[str, str]:
    """Short names of two profiles, made of those of run, session and rank that differ."""
    parts = [
        (one.run, "" if one.session == "." else one.session, f"rank {one.rank}") for one in (before, after)
    ]  # fmt: skip
    differing = [place for place in range(3) if parts[0][place] != parts[1][place]]
    first, second = (" ".join(filter(None, (part[place] for place in differing)))[-28:] for part in parts)
    return first, second


def csv(tables: OperatorTables, ask: OperatorRequest, filters: Any = None) -> dict[str, str] | None:
    """Return the rows found by the search and AG Grid's filters, in table order, as a CSV file for dcc.Download."""
    table = tables.table(ask)
    if table is None:
        return None
    search = ask.query, searched(table, ask)
    rows = table.sheet.rows(ask.sort or default_sort(ask, table), search, filters_of(table, filters))[:MOST_SAVED]
    names = [column.name for column in table.columns]
    names += ["shapes"] if "input_shapes" in names and "shapes" in table.sheet.frame else []
    content = b"".join(csv_rows(table.sheet.frame.iloc[rows], names)).decode()
    name = re.sub(r"[^\w.-]+", "_", f"{ask.choice.run}_{ask.view}").strip("._")[:80] or "operators"
    return {"filename": f"{name}.csv", "content": content}


def rows(tables: OperatorTables, ask: OperatorRequest, request: Any) -> dict[str, Any]:
    """Return the rows for AG Grid's request {startRow, endRow, sortModel, filterModel}. BadInput if it is malformed."""
    if not isinstance(request, dict):
        raise BadInput(f"request: expected an object, found {type(request).__name__}")
    start, end = _whole(request, "startRow"), _whole(request, "endRow")
    model = request.get("sortModel")
    if isinstance(model, list) and model and isinstance(model[0], dict):
        ask = replace(ask, sort=read_sort(f"{model[0].get('colId')}:{model[0].get('sort')}"))
    table = tables.table(ask)
    if table is None:
        return {"rowData": [], "rowCount": 0}
    found, count = page_of(table, ask, start, end, request.get("filterModel"))
    return {"rowData": found, "rowCount": count}


def _whole(request: dict[str, Any], name: str) -> int:
    value = request.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise BadInput(f"{name}: expected a whole number from 0 to {_LARGEST:,}, found {str(value)[:40]!r}")
    return value


def _register_browser(app: Any, ids: Ids) -> None:
    """Add the callbacks that run in the browser (assets/profiles/operators/page.js)."""

    call = in_browser(app, "mindscope_operators")

    root = State(ids("root"), "id")
    call(
        "columns", Output(ids("grid"), "columnDefs"), Input(ids("sheet"), "data"), Input(ids("prefs"), "data"), root,
        prevent_initial_call=True,
    )  # fmt: skip
    call("draw", Output(ids("plot"), "figure"), Input(ids("drawing"), "data"), Input(ids("prefs"), "data"), root,
         prevent_initial_call=True)  # fmt: skip
    call("useful", Input(ids("use-facts"), "data"), root, prevent_initial_call=True)
    call(
        "roof", Output(ids("plot-roofline"), "figure"), Input(ids("figure-roofline"), "data"), Input(ids("prefs"), "data"),
        root, prevent_initial_call=True,
    )  # fmt: skip
    call("place", Input(ids("scopes"), "data"), root, prevent_initial_call=True)
    call("pressed", Input(ids("plot"), "clickData"), root, prevent_initial_call=True)
