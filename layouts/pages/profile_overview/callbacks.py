"""The callbacks of the profile overview. The functions that do the work take plain values and are tested as such."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State, no_update

from layouts.page import Ids
from layouts.pages.profile_overview.drawing import drawn
from layouts.pages.profile_overview.layout import FRAMES
from layouts.profiling.body import register_body
from layouts.profiling.choice import read_choice
from layouts.profiling.look import read_look
from layouts.sources import FrameSource


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)

    def draw(ask: Any) -> tuple[Any, Any, Any]:
        return shown(source, ask)

    app.callback(
        Output(ids("head"), "children"),
        Output(ids("beside"), "children"),
        Output(ids("figure"), "data"),
        Input(ids("draw"), "data"),
        prevent_initial_call=True,
    )(draw)

    def call(name: str, *arguments: Any) -> None:
        app.clientside_callback(ClientsideFunction("mindscope_steps", name), *arguments, prevent_initial_call=True)

    root = State(ids("root"), "id")
    call(
        "plan", Output(ids("draw"), "data"), Input(ids("ask"), "data"), Input(ids("screen"), "data"),
        Input(ids("prefs"), "data"), State(ids("draw"), "data"), root,
    )  # fmt: skip
    call("joined", Output(ids("plot"), "figure"), Input(ids("figure"), "data"), root)


def shown(source: FrameSource, ask: Any) -> tuple[Any, Any, Any]:
    """(head, lines about the run's own step time, figure); nothing where no profile is asked for."""
    choice = read_choice(ask)
    if choice is None:
        return no_update, no_update, no_update
    return drawn(source, choice.run, choice.frame(source, "steps"), read_look(ask))
