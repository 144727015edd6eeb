"""The overview: how is this run doing, and what did it record?

One run at a time: its state in numbers, and a tile with a small picture of the newest data of each kind, which opens the page
about it. assets/overview.js writes the head and changes the run; tiles are drawn here, each by a request of its own, and
again only when their run has changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dash import ClientsideFunction, Input, Output, State, dcc, html, no_update

from layouts.components import elements as parts
from layouts.components.insight_texts import TEXTS as INSIGHTS
from layouts.i18n import attributes, for_browser
from layouts.page import Ids, Page
from layouts.pages.overview import insights
from layouts.pages.overview.head import head, run_of
from layouts.pages.overview.texts import TEXTS
from layouts.pages.overview.tiles import TILES, Tile, tile
from layouts.queries.run_facts import NEEDS
from layouts.sources import FrameSource, ValueSource
from layouts.state import BadInput


def layout(ids: Ids, routes: str) -> Any:
    """The page without data."""
    return html.Div(
        [
            dcc.Store(id=ids("head")),
            dcc.Store(id=ids("shown")),
            html.Div(parts.empty_state("overview.no_runs", hint="overview.no_runs_hint"), className="ms-overview-none"),
            html.Div(
                [_selector(), html.Div(className="ms-overview-facts"), html.Div(className="ms-notes-line")],
                className="ms-overview-head",
            ),
            insights.layout(ids, routes),
            html.Div([_empty_tile(ids, what) for what in TILES], className="ms-tiles"),
        ],
        id=ids("root"),
        className="ms-overview ms-overview-opening",
        **{"data-texts": json.dumps(for_browser({**TEXTS, **INSIGHTS}))},
    )


def _selector() -> html.Div:
    return parts.toolbar(
        [
            parts.icon_button("left", "overview.previous", class_name="ms-overview-previous"),
            html.Div(className="ms-overview-run", **attributes(title="overview.run")),
            parts.icon_button("left", "overview.next", class_name="ms-overview-next"),
            html.Span(className="ms-muted ms-overview-of"),
        ],
        label="overview.run",
        class_name="ms-overview-selector",
    )


def _empty_tile(ids: Ids, what: Tile) -> html.Section:
    # A tile that few runs have must not vanish again in all others.
    waiting = [html.Div(className="ms-skeleton ms-tile-note")] if what.record else []
    return html.Section(
        waiting, id=ids(f"tile-{what.name}"), className="ms-card ms-tile", tabIndex=-1,
        **{"data-tile": what.name}, **attributes(aria_label=f"overview.{what.name}"),
    )  # fmt: skip


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""

    def look(state: Any, _version: Any, known_head: Any, known: Any) -> tuple[Any, Any]:
        found, shown = shown_run(source, state)
        return no_update if found == known_head else found, no_update if shown == known else shown

    app.callback(
        Output(ids("head"), "data"),
        Output(ids("shown"), "data"),
        Input(ids("state"), "data"),
        Input(ids("version"), "data"),
        State(ids("head"), "data"),
        State(ids("shown"), "data"),
    )(look)
    insights.register(app, source, ids)
    for what in TILES:
        app.callback(
            Output(ids(f"tile-{what.name}"), "children"), Input(ids("shown"), "data"), prevent_initial_call=True
        )(_drawer(what, source, routes))
    app.clientside_callback(
        ClientsideFunction("mindscope_overview", "shown"),
        Input(ids("head"), "data"),
        Input(ids("runs"), "data"),
        Input(ids("state"), "data"),
        State(ids("root"), "id"),
    )


def shown_run(source: ValueSource, state: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(what the head says, which run in which version the tiles show); both say "" where no run is chosen."""
    found = run_of(source, state)
    if found is None:
        return {"of": ""}, {"run": ""}
    run, row = found
    source.want([run])
    return head(source, run, row), {
        "run": run, "version": source.version(run), "state": _redrawn(row.state), "checkpoints": row.tags.get("checkpoints", 0),
    }  # fmt: skip


def _redrawn(state: str) -> str:
    """A state as far as tiles depend on it."""
    return "" if state in ("live", "idle") else state


def drawn(what: Tile, source: FrameSource, shown: Any, routes: str) -> Any:
    """The contents of one tile for the run that `shown_run` named; nothing new where there is no such run."""
    if shown is None:
        return no_update
    if not isinstance(shown, dict) or not isinstance(shown.get("run"), str):
        raise BadInput("shown: wanted an object with a run")
    run = shown["run"]
    row = next((row for row in source.runs() if run in row.members), None)
    return no_update if row is None else tile(what, source, run, row, routes)


def _drawer(what: Tile, source: FrameSource, routes: str) -> Callable[[Any], Any]:
    return lambda shown: drawn(what, source, shown, routes)


PAGE = Page(
    name="overview", texts=TEXTS, needs=NEEDS, layout=layout, register=register, libraries=("plotly",),
    group="training",
)  # fmt: skip
