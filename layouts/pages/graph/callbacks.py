"""The callbacks of the computation graph page. The functions that do the work take plain values and are tested as such."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State, no_update

from layouts.components.plain_html import markup
from layouts.page import Ids
from layouts.pages.graph.asks import read_ask, read_name, read_of
from layouts.pages.graph.catalogue import catalogue
from layouts.pages.graph.drawing import drawn
from layouts.pages.graph.files import file
from layouts.pages.graph.finding import results
from layouts.pages.graph.panel import panel
from layouts.pages.graph.statistics import flagged, statistics
from layouts.pages.graph.treemap import tiles
from layouts.queries.graphs import Views
from layouts.sources import FrameSource
from layouts.state import BadInput


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    views = Views(source)

    def list_graphs(chosen: Any, _version: Any, known: Any) -> tuple[Any, Any]:
        found = catalogue(source, chosen, known)
        return (no_update, no_update) if found is None else (found, found["digest"])

    def draw(ask: Any) -> Any:
        return no_update if _nothing(ask) else drawn(views, read_ask(ask))

    def tell(about: Any) -> Any:
        return no_update if _nothing(about) else markup(panel(views, read_of(about), read_name(about)))

    def find(query: Any) -> Any:
        return no_update if _nothing(query) else markup(results(source, views, query))

    def count(asked: Any) -> Any:
        return no_update if _nothing(asked) else [markup(table) for table in statistics(views, read_of(asked))]

    def mapped(asked: Any) -> Any:
        return no_update if _nothing(asked) else tiles(views, asked)

    def flag(asked: Any) -> Any:
        return no_update if _nothing(asked) else markup(flagged(views, asked))

    def save(ask: Any) -> Any:
        return no_update if _nothing(ask) else file(views, ask)

    app.callback(
        Output(ids("catalogue"), "data"),
        Output(ids("digest"), "data"),
        Input(ids("chosen"), "data"),
        Input(ids("version"), "data"),
        State(ids("digest"), "data"),
    )(list_graphs)
    for answer, asked, work in (
        ("drawing", "ask", draw), ("panel", "about", tell), ("results", "query", find), ("tables", "count", count),
        ("tiles", "map", mapped), ("flagged", "flags", flag), ("file", "save", save),
    ):  # fmt: skip
        app.callback(Output(ids(answer), "data"), Input(ids(asked), "data"), prevent_initial_call=True)(work)
    _register_browser(app, ids)


def _nothing(ask: Any) -> bool:
    """Whether nothing is asked for; BadInput where it is no ask at all."""
    if ask is not None and not isinstance(ask, dict):
        raise BadInput(f"ask: wanted an object; got {type(ask).__name__}")
    return ask is None


def _register_browser(app: Any, ids: Ids) -> None:
    """What happens in the browser alone: assets/graph*.js."""

    def call(name: str, *arguments: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction("mindscope_graph", name), *arguments, **options)

    root = State(ids("root"), "id")
    call("chosen", Output(ids("chosen"), "data"), Input(ids("state"), "data"), State(ids("chosen"), "data"))
    call(
        "plan",
        Output(ids("ask"), "data"),
        Output(ids("about"), "data"),
        Output(ids("query"), "data"),
        Output(ids("count"), "data"),
        Output(ids("map"), "data"),
        Output(ids("flags"), "data"),
        Input(ids("state"), "data"),
        Input(ids("catalogue"), "data"),
        Input(ids("prefs"), "data"),
        root,
    )
    call(
        "place",
        Output(ids("canvas"), "elements"),
        Output(ids("canvas"), "stylesheet"),
        Input(ids("drawing"), "data"),
        root,
        prevent_initial_call=True,
    )
    for part in ("panel", "results", "tables", "flagged", "tiles"):
        call(part, Input(ids(part), "data"), root, prevent_initial_call=True)
