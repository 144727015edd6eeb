"""The overview: how is this run doing, and what did it record?

One run at a time: its state in numbers, and for each kind of data a tile with a small picture of the newest value, which links
to the page about that kind. assets/runs/overview/page.js writes the head and changes the run; tiles are drawn here, each by a
request of its own, and redrawn only when their run has changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dash import ClientsideFunction, Input, Output, State, dcc, html, no_update

from layouts.curves.insight_texts import TEXTS as INSIGHTS
from layouts.kit import elements as parts
from layouts.kit.body import unknown_state
from layouts.kit.i18n import attributes, for_browser
from layouts.kit.page import Ids
from layouts.kit.state import BadInput, texts
from layouts.kit.user_input import InvalidInput
from layouts.runs.notes import colour_text
from layouts.runs.overview import files, insights, symptoms
from layouts.runs.overview.head import NoRun, RunHead, head, run_of
from layouts.runs.overview.texts import TEXTS
from layouts.runs.overview.tiles import TILES, OverviewTile, contents
from layouts.sources import Sources, ValueSources


def layout(ids: Ids, routes: str) -> Any:
    """Return the page without data."""
    return html.Div(
        [
            dcc.Store(id=ids("head")),
            dcc.Store(id=ids("shown")),
            html.Div(
                [parts.empty_state("overview.no_runs", hint="overview.no_runs_hint"), unknown_state("overview.unknown")],
                className="ms-overview-none",
            ),
            html.Div(
                [_selector(), html.Div(className="ms-overview-facts"), html.Div(className="ms-notes-line")],
                className="ms-overview-head",
            ),
            symptoms.layout(ids),
            insights.layout(ids, routes),
            html.Div([_empty_tile(ids, kind) for kind in TILES], className="ms-tiles"),
            files.layout(ids),
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


def _empty_tile(ids: Ids, kind: OverviewTile) -> html.Section:
    # No skeleton for tiles that few runs have: in all others it would appear only to vanish.
    waiting = [html.Div(className="ms-skeleton ms-tile-note")] if kind.always else []
    return html.Section(
        waiting, id=ids(f"tile-{kind.name}"), className="ms-card ms-tile", tabIndex=-1,
        **{"data-tile": kind.name}, **attributes(aria_label=f"overview.{kind.name}"),
    )  # fmt: skip


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
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
    symptoms.register(app, source, ids)
    insights.register(app, source, ids)
    files.register(app, source, ids)
    for kind in TILES:
        app.callback(
            Output(ids(f"tile-{kind.name}"), "children"), Input(ids("shown"), "data"), prevent_initial_call=True
        )(_drawer(kind, source, routes))
    app.clientside_callback(
        ClientsideFunction("mindscope_overview", "shown"),
        Input(ids("head"), "data"),
        Input(ids("runs"), "data"),
        Input(ids("state"), "data"),
        State(ids("root"), "id"),
    )


def shown_run(source: ValueSources, state: Any) -> tuple[RunHead | NoRun, dict[str, Any]]:
    """Return (contents of the head, run and version that the tiles show); the run is "" if none is chosen."""
    found = run_of(source, state)
    if found is None:
        return {"of": ""}, {"run": ""}
    run, row = found
    source.runs.want([run])
    colour = source.runs.colours(texts(state, "run")).get(run, "")
    return head(source, run, row, colour), {
        "run": run, "colour": colour, "version": source.runs.version(run), "state": _redrawn(row.state),
        "checkpoints": row.tags.get("checkpoints", 0),
    }  # fmt: skip


def _redrawn(state: str) -> str:
    """The part of a run's state that tiles depend on."""
    return "" if state in ("live", "idle") else state


def drawn(kind: OverviewTile, source: Sources, shown: Any, routes: str) -> Any:
    """Draw one tile for the run that `shown_run` named; no update if the run does not exist."""
    if shown is None:
        return no_update
    if not isinstance(shown, dict) or not isinstance(shown.get("run"), str):
        raise BadInput(f"shown: expected an object with a run, found {str(shown)[:80]!r}")
    run = shown["run"]
    row = next((row for row in source.runs.rows() if run in row.members), None)
    return no_update if row is None else contents(kind, source, run, row, routes, colour_of(shown))


def colour_of(shown: dict[str, Any]) -> str:
    """Return the colour in what `shown_run` named, or BadInput."""
    try:
        return colour_text(str(shown.get("colour", "")))
    except InvalidInput as error:
        raise BadInput(str(error)) from error


def _drawer(kind: OverviewTile, source: Sources, routes: str) -> Callable[[Any], Any]:
    return lambda shown: drawn(kind, source, shown, routes)
