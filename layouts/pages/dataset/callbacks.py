"""The callbacks of the dataset graph page. The functions that do the work take plain values and are tested as such."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State, no_update

from layouts.components.pipeline_panel import MOST_ROWS, ROWS, chosen, panel
from layouts.components.plain_html import markup
from layouts.page import Ids
from layouts.pages.dataset.catalogue import catalogue
from layouts.pages.dataset.differences import csv, differences
from layouts.queries.pipelines import compared, find
from layouts.sources import FrameSource
from layouts.state import number


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes

    def list_pipelines(asked: Any, _version: Any, known: Any) -> tuple[Any, Any, Any]:
        answer, digest, table = pipelines_of(source, asked, known)
        return answer, digest, table if table is no_update else markup(table)

    def tell(asked: Any) -> Any:
        shown = parameters_of(source, asked)
        return shown if shown is no_update else markup(shown)

    def save(asked: Any) -> Any:
        return no_update if asked is None else differences_of(source, asked)

    app.callback(
        Output(ids("catalogue"), "data"),
        Output(ids("digest"), "data"),
        Output(ids("differences"), "data"),
        Input(ids("chosen"), "data"),
        Input(ids("version"), "data"),
        State(ids("digest"), "data"),
        prevent_initial_call=True,
    )(list_pipelines)
    app.callback(Output(ids("panel"), "data"), Input(ids("ask"), "data"), prevent_initial_call=True)(tell)
    app.callback(Output(ids("file"), "data"), Input(ids("save"), "data"), prevent_initial_call=True)(save)
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
    most = int(number(asked, "rows", ROWS, 1, MOST_ROWS))
    return panel(found, compared(found) if one else (), one, most)


def differences_of(source: FrameSource, asked: Any) -> dict[str, str]:
    """{"filename", "content"} of a CSV file of all that differs between the pipelines of the runs that asked names."""
    found = find(source, asked)
    return {"filename": "dataset-differences.csv", "content": csv(found, compared(found))}


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
    for part in ("panel", "differences"):
        call(part, Input(ids(part), "data"), State(ids("root"), "id"))
