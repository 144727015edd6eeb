"""The callbacks of the landscape page. The functions that do the work take plain values and are tested as such."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State, no_update
from layouts.page import Ids
from layouts.pages.landscape.asks import read_ask, read_sheets
from layouts.pages.landscape.catalogue import catalogue
from layouts.pages.landscape.drawing import chart, curve, facts, find
from layouts.sources import FrameSource


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes

    def list_landscapes(chosen: Any, _version: Any, known: Any) -> tuple[Any, Any]:
        return landscapes_of(source, chosen, known)

    def draw(ask: Any) -> Any:
        return drawn(source, ask)

    def draw_side(ask: Any) -> tuple[Any, Any]:
        return side(source, ask)

    app.callback(
        Output(ids("catalogue"), "data"),
        Output(ids("digest"), "data"),
        Input(ids("chosen"), "data"),
        Input(ids("version"), "data"),
        State(ids("digest"), "data"),
    )(list_landscapes)
    app.callback(Output(ids("plot"), "figure"), Input(ids("ask"), "data"), prevent_initial_call=True)(draw)
    app.callback(
        Output(ids("curve"), "figure"), Output(ids("facts"), "children"), Input(ids("side"), "data"), prevent_initial_call=True
    )(draw_side)
    _register_browser(app, ids)


def landscapes_of(source: FrameSource, chosen: Any, known: Any) -> tuple[Any, Any]:
    """(catalogue, its digest) of the runs that chosen, the part of the state about runs, names; nothing where known is it."""
    found = catalogue(source, chosen, known)
    return (no_update, no_update) if found is None else (found, found["digest"])


def drawn(source: FrameSource, ask: Any) -> Any:
    """The figure of the landscapes; nothing where none is asked for."""
    if ask is None:
        return no_update
    wanted = read_ask(ask)
    return chart(source, wanted, find(source, wanted.sheets))


def side(source: FrameSource, ask: Any) -> tuple[Any, Any]:
    """(curve of the main scalar, facts) of the runs of the landscapes; nothing where none is asked for."""
    if ask is None:
        return no_update, no_update
    found = find(source, read_sheets(ask))
    return curve(source, found), facts(source, found)


def _register_browser(app: Any, ids: Ids) -> None:
    """What happens in the browser alone: assets/landscape.js."""

    def call(name: str, *arguments: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction("mindscope_landscape", name), *arguments, **options)

    root = State(ids("root"), "id")
    call("chosen", Output(ids("chosen"), "data"), Input(ids("state"), "data"), State(ids("chosen"), "data"))
    call(
        "plan",
        Output(ids("ask"), "data"),
        Output(ids("side"), "data"),
        Input(ids("state"), "data"),
        Input(ids("catalogue"), "data"),
        Input(ids("prefs"), "data"),
        State(ids("ask"), "data"),
        State(ids("side"), "data"),
        root,
    )
    call("painted", Input(ids("plot"), "figure"), root, prevent_initial_call=True)
    call("picked", Input(ids("curve"), "clickData"), State(ids("curve"), "figure"), root, prevent_initial_call=True)
