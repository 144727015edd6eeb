"""Which tags of the chosen runs deserve a look first: the severest insight of each rule per tag.

A run may have thousands of tags, so the browser asks again and again, and each answer goes on where the one before it ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from dash import ClientsideFunction, Input, Output, State

from layouts.curves.scalars.insights import SECONDS
from layouts.kit.page import Ids
from layouts.kit.state import number, texts
from layouts.runs.chosen_runs import selected_runs
from layouts.sources import RunSources

CHUNK = 20
"""Curves that are analysed before the time is looked at."""
_MOST = 1e9


def register(app: Any, source: RunSources, ids: Ids) -> None:
    """Add the callbacks to a Dash application."""

    def look(ask: Any) -> Ranking | None:
        return ranking(source, ask)

    app.callback(Output(ids("ranking"), "data"), Input(ids("ranking-ask"), "data"), prevent_initial_call=True)(look)
    app.clientside_callback(
        ClientsideFunction("mindscope_scalars", "ranking"),
        Input(ids("ranking"), "data"),
        State(ids("root"), "id"),
        prevent_initial_call=True,
    )


Severest = dict[str, Annotated[list[float], tuple[int, float]]]
"""Severity and score by kind of insight."""
Ranking = TypedDict("Ranking", {"from": int, "next": int, "total": int, "tags": dict[str, Severest]})
"""The severest insights by tag; "from" is a word of Python."""


def ranking(source: RunSources, ask: Any, clock: Callable[[], float] = time.thread_time) -> Ranking | None:
    """Return the insights of a part of the curves of {"run": [...], "from": [place]}, None for no request.

    The result is {"tags": {tag: {kind: [severity, score]}}, "from": place of its first curve, "next": place of the first curve
    after it, "total": number of curves}: of each tag and kind the severest insight of any run, of several that with the highest
    score.
    """
    if ask is None:
        return None
    chosen = texts(ask, "run")
    first = place = int(number(ask, "from", 0, 0, _MOST))
    runs = selected_runs({"run": chosen} if chosen else {}, source, ("scalar",))
    curves = [(run, tag) for run in runs for tag in source.runs.tags(run)]
    end = clock() + SECONDS
    found: dict[str, Severest] = {}
    while place < len(curves) and (place == first or clock() < end):
        run = curves[place][0]
        tags = [tag for of, tag in curves[place : place + CHUNK] if of == run]
        every, _ = source.curves.insights(run, tags, float("inf"))
        for one in every:
            best = found.setdefault(one.tag, {})
            best[one.kind] = max(best.get(one.kind, [0, 0.0]), [one.severity, min(one.score, _MOST)])
        place += len(tags)
    return {"tags": found, "from": first, "next": place, "total": len(curves)}
