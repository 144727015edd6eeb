"""The callbacks of the dataset graph page. The functions that do the work take plain values and are tested as such."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State, no_update

from layouts.page import FrameSource, Ids
from layouts.training.dataset.catalogue import catalogue, compared, find
from layouts.training.dataset.panel import chosen, differences, panel


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes

    def list_pipelines(asked: Any, _version: Any, known: Any) -> tuple[Any, Any, Any]:
        return pipelines_of(source, asked, known)

    def tell(asked: Any) -> Any:
        return parameters_of(source, asked)

    app.callback(
        Output(ids("catalogue"), "data"),
        Output(ids("digest"), "data"),
        Output(ids("differences"), "children"),
        Input(ids("chosen"), "data"),
        Input(ids("version"), "data"),
        State(ids("digest"), "data"),
        prevent_initial_call=True,
    )(list_pipelines)
    app.callback(Output(ids("panel"), "children"), Input(ids("ask"), "data"), prevent_initial_call=True)(tell)
    _register_browser(app, ids)


def pipelines_of(source: FrameSource, asked: Any, known: Any) -> tuple[Any, Any, Any]:
    """(catalogue, its digest, list of differences) of the runs that asked names; nothing where known is that digest."""
    if asked is None:
        return no_update, no_update, no_update
    found = find(source, asked)
    places = compared(found)
    answer = catalogue(source, asked, found, places)
    if answer["digest"] == known:
        return no_update, no_update, no_update
    return answer, answer["digest"], differences(found, places)


def parameters_of(source: FrameSource, asked: Any) -> Any:
    """All parameters of the operation that asked names among the pipelines of the runs it names."""
    if asked is None:
        return no_update
    found = find(source, asked)
    one = chosen(asked, found)
    return panel(found, compared(found) if one else (), one)


def _register_browser(app: Any, ids: Ids) -> None:
    """What happens in the browser alone: assets/dataset.js."""

    def call(name: str, *arguments: Any) -> None:
        app.clientside_callback(ClientsideFunction("mindscope_dataset", name), *arguments)

    call(
        "chosen", Output(ids("chosen"), "data"), Input(ids("state"), "data"), Input(ids("screen"), "data"),
        State(ids("chosen"), "data"), State(ids("root"), "id"),
    )  # fmt: skip
    call(
        "plan", Output(ids("ask"), "data"), Input(ids("state"), "data"), Input(ids("catalogue"), "data"),
        State(ids("ask"), "data"), State(ids("root"), "id"),
    )  # fmt: skip
