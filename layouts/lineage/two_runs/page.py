"""The two runs page: how do two runs differ in settings, results, curves, data pipelines and computation graphs?

assets/lineage/two_runs/page.js lets the visitor choose the two runs. Each section is drawn by a request of its own, and redrawn
only when one of the runs has changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dash import ClientsideFunction, Input, Output, State, dcc, html, no_update

from layouts.dumps.dumped_graphs import RunGraphs
from layouts.graphs.graph_views import Views
from layouts.kit import elements as parts
from layouts.kit.body import unknown_state
from layouts.kit.cards.run_list_texts import TEXTS as RUN_LIST
from layouts.kit.i18n import for_browser, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.kit.state import BadInput, texts
from layouts.lineage.two_runs import sections
from layouts.lineage.two_runs.files import file
from layouts.lineage.two_runs.run_pair import Pair, pair, pair_of
from layouts.lineage.two_runs.texts import TEXTS
from layouts.runs.chosen_runs import selected_runs
from layouts.runs.run_numbers import NEEDS
from layouts.sources import Sources, ValueSources

SECTIONS = ("heading", "settings", "results", "curves", "pipeline", "graph")


def layout(ids: Ids, routes: str) -> Any:
    """Return the page without data."""
    waiting = [html.Div(className="ms-skeleton")]
    run_list = html.Div(className="ms-two-runs-run-list", hidden=True)
    cards = [
        parts.card(
            t(f"two_runs.{name}"), [*([run_list] if name == "curves" else []), html.Div(waiting, id=ids(f"section-{name}"))],
            class_name=f"ms-two-runs-card ms-two-runs-card-{name}",
        )
        for name in SECTIONS
    ]  # fmt: skip
    return html.Div(
        [
            dcc.Store(id=ids("two")),
            dcc.Store(id=ids("compiled")),
            dcc.Store(id=ids("plotted")),
            dcc.Download(id=ids("file")),
            html.Div(
                [parts.empty_state("two_runs.none", hint="two_runs.none_hint"), unknown_state("two_runs.unknown")],
                className="ms-two-runs-none",
            ),
            html.Div([_selector(ids), html.Div(cards, className="ms-two-runs-cards")], className="ms-two-runs-body"),
        ],
        id=ids("root"),
        className="ms-two-runs ms-two-runs-opening",
        **{"data-texts": json.dumps(for_browser({**TEXTS, **RUN_LIST})), "data-routes": routes},
    )


def _selector(ids: Ids) -> html.Div:
    return parts.toolbar(
        [
            html.Div(className="ms-two-runs-one"),
            parts.icon_button("swap", "two_runs.swap", class_name="ms-two-runs-swap"),
            html.Div(className="ms-two-runs-other"),
            parts.button("two_runs.csv", icon_name="download", id=ids("save"), n_clicks=0),
        ],
        label="two_runs.runs",
        class_name="ms-two-runs-selector",
    )


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    views = Views(RunGraphs(source))
    draw: dict[str, sections.Section] = {
        "heading": sections.heading, "settings": sections.settings, "results": sections.results, "curves": sections.curves,
        "pipeline": sections.pipeline, "graph": lambda source, two: sections.graph(source, two, views),
    }  # fmt: skip

    def look(state: Any, _version: Any, *known: Any) -> list[Any]:
        two = two_runs(source, state)
        now = (two, compiled(source, two), plotted(two, state))
        return [no_update if found == old else found for found, old in zip(now, known, strict=True)]

    stores = ("two", "compiled", "plotted")
    app.callback(
        *(Output(ids(store), "data") for store in stores), Input(ids("state"), "data"), Input(ids("version"), "data"),
        *(State(ids(store), "data") for store in stores),
    )(look)  # fmt: skip
    for name in SECTIONS:
        when = ids({"graph": "compiled", "curves": "plotted"}.get(name, "two"))
        app.callback(
            Output(ids(f"section-{name}"), "children"), Input(when, "data"), prevent_initial_call=True
        )(_drawer(draw[name], source))

    def save(clicks: Any, two: Any) -> Any:
        found = named(source, two)
        return file(source, found) if clicks and found else no_update

    app.callback(
        Output(ids("file"), "data"), Input(ids("save"), "n_clicks"), State(ids("two"), "data"), prevent_initial_call=True
    )(save)
    app.clientside_callback(
        ClientsideFunction("mindscope_two_runs", "shown"), Input(ids("two"), "data"), Input(ids("runs"), "data"),
        Input(ids("state"), "data"), State(ids("root"), "id"),
    )


def two_runs(source: Sources, state: Any) -> dict[str, Any]:
    """Return the two runs to show, with their colours and versions; no runs if there are fewer than two."""
    found = pair_of(source, state)
    if found is None:
        return {"runs": []}
    source.runs.want(found.runs)
    return {
        "runs": list(found.runs), "run": texts(state, "run"), "colours": list(found.colours),
        "versions": [source.runs.version(run) for run in found.runs],
    }  # fmt: skip


def compiled(source: ValueSources, two: dict[str, Any]) -> dict[str, Any]:
    """Return `two` with the newest graphs in place of versions, so that a growing run does not compare its graphs again."""
    newest = [next(reversed(source.graphs.locations(run)), None) for run in two["runs"]]
    marks = [place and [place.name, place.offset, place.length, place.wall_time] for place in newest]
    return {**two, "versions": marks} if two["runs"] else two


def plotted(two: dict[str, Any], state: Any) -> dict[str, Any]:
    """Return `two` with the runs that the state hides in curves."""
    return {**two, "hide": [run for run in two["runs"] if run in texts(state, "hide")]}


def named(source: Sources, two: Any) -> Pair | None:
    """Return the pair that `two_runs` named; None if it named none. BadInput if `two` is malformed."""
    runs = two.get("runs") if isinstance(two, dict) else None
    if not isinstance(runs, list) or not all(isinstance(run, str) for run in runs) or len(runs) not in (0, 2):
        raise BadInput(f"two: expected an object with two runs, found {str(two)[:80]!r}")
    chosen = texts(two, "run")
    shown = selected_runs({"run": chosen}, source, NEEDS)
    found = pair(source, (runs[0], runs[1]), chosen, shown) if runs else None
    return found and replace(found, hidden=tuple(texts(two, "hide")))


def _drawer(draw: sections.Section, source: Sources) -> Callable[[Any], Any]:
    def drawn(two: Any) -> Any:
        found = named(source, two)
        return no_update if found is None else still(draw(source, found))

    return drawn
