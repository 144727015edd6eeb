"""The callbacks of the step page. The functions that do the work take plain values and are tested as such."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State, no_update
from layouts.page import Ids
from layouts.pages.steps.asks import FRAMES, read_ask
from layouts.pages.steps.drawing import drawn
from layouts.profiling.body import register_body
from layouts.sources import FrameSource

FIGURES = ("bars", "trends", "streams")


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)

    def draw(ask: Any) -> tuple[Any, ...]:
        return shown(source, ask)

    app.callback(
        Output(ids("head"), "children"),
        Output(ids("detail"), "children"),
        Output(ids("facts"), "data"),
        *(Output(ids(f"figure-{name}"), "data") for name in FIGURES),
        Input(ids("draw"), "data"),
        prevent_initial_call=True,
    )(draw)
    _register_browser(app, ids)


def shown(source: FrameSource, ask: Any) -> tuple[Any, ...]:
    """(head, detail, facts, figures of bars, trends and streams); nothing where no profile is asked for."""
    wanted = read_ask(ask)
    if wanted is None:
        return (no_update,) * (3 + len(FIGURES))
    choice = wanted.choice
    points = source.profile_notes(choice.run, choice.session, choice.rank)
    answer = drawn(wanted, choice.frame(source, "steps"), choice.frame(source, "reduces"), points)
    return answer["head"], answer["detail"], answer["facts"], *(answer[name] for name in FIGURES)


def _register_browser(app: Any, ids: Ids) -> None:
    """What happens in the browser alone: assets/steptrace.js and assets/profiling_steps.js."""

    def call(name: str, *arguments: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction("mindscope_steps", name), *arguments, **options)

    root = State(ids("root"), "id")
    call(
        "plan", Output(ids("draw"), "data"), Input(ids("ask"), "data"), Input(ids("screen"), "data"),
        Input(ids("prefs"), "data"), State(ids("draw"), "data"), root, prevent_initial_call=True,
    )  # fmt: skip
    call(
        "painted", *(Output(ids(name), "figure") for name in FIGURES),
        *(Input(ids(f"figure-{name}"), "data") for name in FIGURES), Input(ids("facts"), "data"), root,
        prevent_initial_call=True,
    )  # fmt: skip
    call("picked", Input(ids("bars"), "clickData"), root, prevent_initial_call=True)
    call("moved", Input(ids("bars"), "relayoutData"), root, prevent_initial_call=True)
    call("moved", Input(ids("trends"), "relayoutData"), root, prevent_initial_call=True)
