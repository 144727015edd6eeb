"""The callbacks of the operators page. The functions that do the work take plain values and are tested as such."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, replace
from typing import Any

from dash import ClientsideFunction, Input, Output, State, no_update
from layouts.page import Ids
from layouts.pages.operators import drawing, scopes
from layouts.pages.operators.asks import Ask, read_ask, read_sort
from layouts.pages.operators.compare import changes, compared
from layouts.pages.operators.layout import FRAMES
from layouts.pages.operators.tables import Tables, default_sort, filters_of, page_of, searched
from layouts.profiling.body import register_body
from layouts.profiling.choice import Choice
from layouts.sources import FrameSource
from layouts.state import BadInput
from parsers.export.frames import csv_rows

_LARGEST = 10**9
MOST_SAVED = 200_000
"""Rows of a table that is made for the page or of what a search finds; whole frames have a route (`app.profile_tables`)."""


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    tables = Tables(source)
    register_body(app, source, ids, FRAMES)

    def tell(data: Any) -> Any:
        ask = read_ask(data)
        return no_update if ask is None else sheet(tables, ask)

    def draw(data: Any) -> Any:
        ask = read_ask(data)
        return no_update if ask is None else figure(tables, ask)

    def give(request: Any, data: Any) -> Any:
        ask = read_ask(data)
        return no_update if request is None or ask is None else rows(tables, ask, request)

    app.callback(Output(ids("sheet"), "data"), Input(ids("ask"), "data"), prevent_initial_call=True)(tell)
    app.callback(Output(ids("drawing"), "data"), Input(ids("ask"), "data"), prevent_initial_call=True)(draw)
    def place(data: Any) -> Any:
        ask = read_ask(data)
        return no_update if ask is None else parts(tables, ask)

    def save(data: Any) -> Any:
        ask = read_ask(data)
        return no_update if ask is None else csv(tables, ask, data.get("filters")) or no_update

    app.callback(Output(ids("file"), "data"), Input(ids("save"), "data"), prevent_initial_call=True)(save)
    app.callback(Output(ids("scopes"), "data"), Input(ids("ask"), "data"), prevent_initial_call=True)(place)
    app.callback(
        Output(ids("grid"), "getRowsResponse"), Input(ids("grid"), "getRowsRequest"), State(ids("ask"), "data"),
        prevent_initial_call=True,
    )(give)  # fmt: skip
    _register_browser(app, ids)


def sheet(tables: Tables, ask: Ask) -> dict[str, Any]:
    """What the page needs to know of the table: variants, views, columns, numbers of rows, the sums of the variant."""
    variants = tables.variants(ask)
    table = tables.table(ask)
    if table is None:
        return {"variants": variants, "variant": "", "view": ask.view, "columns": [], "rows": 0, "views": [], "sums": {}}
    types = tables.types(ask.choice, table.variant)
    return {
        "variants": variants, "variant": table.variant, "view": ask.view, "columns": [asdict(one) for one in table.columns],
        "rows": len(table.sheet), "most": MOST_SAVED, "sort": list(ask.sort or default_sort(ask, table)), "sums": _sums(types),
        "views": tables.views(ask, table.variant),
    }  # fmt: skip


def _sums(types: Any) -> dict[str, Any]:
    total, count = math.fsum(types["total_ns"].dropna()), math.fsum(types["count"].dropna())
    return {"types": len(types), "total_ns": total, "count": count}


def figure(tables: Tables, ask: Ask) -> dict[str, Any]:
    """The figure of types: pie or bars, or a waterfall where two profiles are compared."""
    variants = tables.variants(ask)
    if not variants:
        return drawing.bar([])
    variant = ask.variant if ask.variant in variants else variants[0]
    types = tables.types(ask.choice, variant)
    if ask.against is not None:
        told, before, after = changes(compared(types, tables.types(ask.against, variant), ("type", "core")))
        return drawing.waterfall(told, before, after, _names(ask.against, ask.choice))
    parts = drawing.slices(types, ask.by)
    return drawing.pie(parts) if ask.chart == "pie" else drawing.bar(parts)


def parts(tables: Tables, ask: Ask) -> dict[str, Any]:
    """The scopes as rectangles, and what is summed up: FLOPs as their writer did, where there is such a file."""
    variant, sums = tables.scopes(ask)
    root = scopes.tree(sums, ask.scope)
    if not root.parts and ask.scope:
        ask = replace(ask, scope="")
        root = scopes.tree(sums, "")
    tiles = scopes.treemap(root) if ask.form == "treemap" else scopes.icicle(root)
    return {
        "scope": ask.scope, "total": root.amount, "tiles": tiles, "amount": ask.amount, "form": ask.form,
        "flops": tables.has_flops(ask, variant), "summary": tables.flops(ask.choice),
    }  # fmt: skip


def _names(before: Choice, after: Choice) -> tuple[str, str]:
    """What tells two profiles apart: run, session and rank, as far as they differ."""
    parts = [
        (one.run, "" if one.session == "." else one.session, f"rank {one.rank}") for one in (before, after)
    ]  # fmt: skip
    differing = [place for place in range(3) if parts[0][place] != parts[1][place]]
    first, second = (" ".join(filter(None, (part[place] for place in differing)))[-28:] for part in parts)
    return first, second


def csv(tables: Tables, ask: Ask, filters: Any = None) -> dict[str, str] | None:
    """The rows of a table as dcc.Download has them: those that the search and AG Grid's filters find, in their order."""
    table = tables.table(ask)
    if table is None:
        return None
    search = ask.query, searched(table, ask)
    rows = table.sheet.rows(ask.sort or default_sort(ask, table), search, filters_of(table, filters))[:MOST_SAVED]
    names = [column.name for column in table.columns]
    content = b"".join(csv_rows(table.sheet.frame.iloc[rows], names)).decode()
    name = re.sub(r"[^\w.-]+", "_", f"{ask.choice.run}_{ask.view}").strip("._")[:80] or "operators"
    return {"filename": f"{name}.csv", "content": content}


def rows(tables: Tables, ask: Ask, request: Any) -> dict[str, Any]:
    """AG Grid's rows of a request {startRow, endRow, sortModel, filterModel}; BadInput for what is no request."""
    if not isinstance(request, dict):
        raise BadInput(f"request: wanted an object; got {type(request).__name__}")
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
        raise BadInput(f"{name}: wanted a number from 0 to {_LARGEST:,}; got {str(value)[:40]!r}")
    return value


def _register_browser(app: Any, ids: Ids) -> None:
    """What happens in the browser alone: assets/operators.js."""

    def call(name: str, *arguments: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction("mindscope_operators", name), *arguments, **options)

    root = State(ids("root"), "id")
    call(
        "columns", Output(ids("grid"), "columnDefs"), Input(ids("sheet"), "data"), Input(ids("prefs"), "data"), root,
        prevent_initial_call=True,
    )  # fmt: skip
    call("draw", Output(ids("plot"), "figure"), Input(ids("drawing"), "data"), Input(ids("prefs"), "data"), root,
         prevent_initial_call=True)  # fmt: skip
    call("place", Input(ids("scopes"), "data"), root, prevent_initial_call=True)
    call("pressed", Input(ids("plot"), "clickData"), root, prevent_initial_call=True)
