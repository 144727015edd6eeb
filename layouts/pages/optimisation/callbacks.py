"""The callbacks of the page. The functions that do the work take plain values and are tested as such."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State, no_update

from layouts.lineage.model_columns import table
from layouts.lineage.table import Tables
from layouts.page import Ids
from layouts.pages.optimisation.asks import read_ask
from layouts.pages.optimisation.drawing import over_setting
from layouts.pages.optimisation.explained import choose, grown, pairs, sheet
from layouts.sources import FrameSource
from layouts.state import BadInput, colours


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    tables = Tables(source, table)

    def explain(chosen: Any, _version: Any, known: Any) -> tuple[Any, Any]:
        return explained(source, tables, chosen, known)

    def draw(ask: Any) -> Any:
        return drawn(source, tables, ask)

    def grow(_ticks: Any, ask: Any) -> Any:
        return growing(source, tables, ask)

    app.callback(
        Output(ids("sheet"), "data"), Output(ids("stamp"), "data"), Input(ids("chosen"), "data"), Input(ids("version"), "data"),
        State(ids("stamp"), "data"), prevent_initial_call=True,
    )(explain)  # fmt: skip
    app.callback(Output(ids("drawing"), "data"), Input(ids("ask"), "data"), prevent_initial_call=True)(draw)
    app.callback(
        Output(ids("growth"), "data"), Input(ids("tick"), "data"), Input(ids("growing"), "data"),
        prevent_initial_call=True,
    )(grow)  # fmt: skip
    _register_browser(app, ids)


def explained(source: FrameSource, tables: Tables, chosen: Any, known: Any) -> tuple[Any, Any]:
    """(sheet of the result that is asked for, its stamp); nothing where known is that stamp."""
    if known is not None and not isinstance(known, str):
        raise BadInput("stamp: wanted a text")
    if chosen is None:
        return no_update, no_update
    found = sheet(choose(tables.table(), read_ask(chosen, source)))
    return (no_update, no_update) if found["stamp"] == known else (found, found["stamp"])


def drawn(source: FrameSource, tables: Tables, data: Any) -> Any:
    """Figure and pairs of the setting that is asked for; nothing where there is none."""
    if data is None:
        return no_update
    ask = read_ask(data, source)
    chosen = choose(tables.table(), ask)
    if not chosen.target or ask.setting not in chosen.settings:
        return {"setting": "", "figure": None, "pairs": [], "total": 0, "also": []}
    figure = over_setting(chosen.rows, chosen.frame, ask.setting, chosen.target, colours(source), log=ask.log)
    return {"setting": ask.setting, "target": chosen.target, "figure": figure, **pairs(chosen, ask.setting)}


def growing(source: FrameSource, tables: Tables, data: Any) -> Any:
    """How far the forest has come that explains the result that is asked for; nothing where there is none."""
    if data is None:
        return no_update
    ask = read_ask(data, source)
    chosen = choose(tables.table(), ask)
    if not chosen.target:
        return no_update
    found = grown(source.growth(chosen.rows, chosen.target, ask.act))
    return found | {"target": chosen.target, "act": ask.act}


def _register_browser(app: Any, ids: Ids) -> None:
    """What happens in the browser alone: assets/target.js."""

    def call(name: str, *arguments: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction("mindscope_target", name), *arguments, **options)

    root = State(ids("root"), "id")
    state, sheet_, prefs = Input(ids("state"), "data"), Input(ids("sheet"), "data"), Input(ids("prefs"), "data")
    call("chosen", Output(ids("chosen"), "data"), state, State(ids("chosen"), "data"))
    call(
        "plan", Output(ids("ask"), "data"), Output(ids("growing"), "data"), state, sheet_, Input(ids("runs"), "data"), prefs,
        State(ids("ask"), "data"), State(ids("growing"), "data"), root,
    )  # fmt: skip
    call("distribution", Output(ids("spread"), "figure"), sheet_, prefs, root)
    call("over", Output(ids("plot"), "figure"), Input(ids("drawing"), "data"), prefs, root)
    call("grown", Input(ids("growth"), "data"), root, prevent_initial_call=True)
