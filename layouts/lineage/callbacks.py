"""The callbacks of a lineage page. The functions that do the work take plain values, so tests call them directly."""

from __future__ import annotations

from typing import Any

from dash import Input, Output, State, no_update

from layouts.kit.callbacks import in_browser
from layouts.kit.page import Ids
from layouts.kit.state import BadInput
from layouts.lineage.asks import AxesRequest
from layouts.lineage.drawing import drawing, sheet
from layouts.lineage.table import LineageTables
from layouts.sources import RunSources


def register(app: Any, source: RunSources, ids: Ids, tables: LineageTables) -> None:
    """Add the callbacks of a lineage page to a Dash application."""

    def fill(_version: Any, known: Any) -> tuple[Any, Any]:
        return filled(tables, known)

    def draw(ask: Any) -> Any:
        return drawn(source, tables, ask)

    app.callback(
        Output(ids("sheet"), "data"), Output(ids("stamp"), "data"), Input(ids("version"), "data"), State(ids("stamp"), "data")
    )(fill)
    app.callback(Output(ids("drawing"), "data"), Input(ids("ask"), "data"), prevent_initial_call=True)(draw)
    _register_browser(app, ids)


def filled(tables: LineageTables, known: Any) -> tuple[Any, Any]:
    """Return (sheet of all rows, its stamp); no update if known is that stamp."""
    if known is not None and not isinstance(known, str):
        raise BadInput("stamp: expected a text")
    found = sheet(tables.table(), tables.damage())
    return (no_update, no_update) if found["stamp"] == known else (found, found["stamp"])


def drawn(source: RunSources, tables: LineageTables, ask: Any) -> Any:
    """Return the figure that is asked for; no update if none is."""
    if ask is None:
        return no_update
    parsed = AxesRequest.read(ask)
    return drawing(tables.table(), parsed, source.runs.colours(parsed.runs))


def _register_browser(app: Any, ids: Ids) -> None:
    """Add the clientside callbacks, see assets/lineage/lineage.js."""

    call = in_browser(app, "mindscope_lineage")

    root = State(ids("root"), "id")
    now = (Input(ids("state"), "data"), Input(ids("sheet"), "data"), Input(ids("prefs"), "data"), Input(ids("runs"), "data"))
    wide = Input(ids("wide"), "data")
    call("plan", Output(ids("ask"), "data"), *now, wide, State(ids("ask"), "data"), root)
    call("fill", Output(ids("grid"), "rowData"), Output(ids("grid"), "columnDefs"), *now, root)
    call("draw", Input(ids("drawing"), "data"), *now, wide, root)
