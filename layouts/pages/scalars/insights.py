"""Insights of the cards on screen, looked for apart from their curves: a request at a time, each for a moment."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Input, Output, State

from layouts.components.insights import told, view
from layouts.page import Ids
from layouts.sources import RunSource
from layouts.state import BadInput, colours, label_of, selected_runs, texts

SECONDS = 0.15
"""A request looks at curves for so many seconds of CPU; the browser asks for the rest."""
MOST_TAGS = 60
MOST = 400
"""So many insights are sent, the severest first."""


def register(app: Any, source: RunSource, ids: Ids) -> None:
    """Add the callbacks to a Dash application."""

    def look(ask: Any, _version: Any) -> dict[str, Any]:
        return marks(source, ask)

    app.callback(
        Output(ids("marks"), "data"), Input(ids("marked"), "data"), Input(ids("version"), "data"), prevent_initial_call=True
    )(look)
    app.clientside_callback(
        ClientsideFunction("mindscope_scalars", "marks"),
        Input(ids("marks"), "data"),
        State(ids("root"), "id"),
        prevent_initial_call=True,
    )


def marks(source: RunSource, ask: Any) -> dict[str, Any]:
    """Insights of the tags and runs of an ask {"tag": [...], "run": [...]}: {"marks": [...], "left": series not looked at}.

    A mark has what `told` says, its run with label and colour, the wall times of its ends, and what a card shows of it.
    """
    if ask is None:
        return {"marks": [], "left": 0, "more": 0}
    tags = texts(ask, "tag")
    if len(tags) > MOST_TAGS:
        raise BadInput(f"tag: wanted at most {MOST_TAGS}; got {len(tags)}")
    runs = selected_runs({"run": texts(ask, "run")} if texts(ask, "run") else {}, source)
    rows = {member: row for row in source.runs() for member in row.members}
    of_run = colours(source)
    found: list[dict[str, Any]] = []
    left, seconds = 0, SECONDS
    for run in runs:
        known = set(source.tags(run))
        every, missing = source.insights(run, [tag for tag in tags if tag in known], seconds)
        left += missing
        # Once a run had to stop the others are asked for what is known of them alone.
        seconds = 0.0 if missing else seconds
        for one in every:
            series = source.series(run, one.tag)
            if series is None or one.last_place >= series.step.size:
                continue
            row = rows[run]
            found.append(
                told(one)
                | {"run": run, "label": label_of(run, row), "colour": of_run.get(run, ""),
                   "view": view(one, series), "time": float(series.wall_time[one.place]),
                   "started": row.started or 0.0}
            )  # fmt: skip
    found.sort(key=lambda one: (-one["severity"], -one["score"]))
    return {"marks": found[:MOST], "left": left, "more": max(0, len(found) - MOST)}
