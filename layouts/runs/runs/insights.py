"""The insights of each run, analysed some runs at a time as the browser asks for them, so that the list never waits."""

from __future__ import annotations

from typing import Any

from dash import Input, Output
from parsers import Insight

from layouts.kit.page import Ids
from layouts.kit.state import BadInput, texts
from layouts.sources import RunSources

SECONDS = 0.15
"""CPU time, in seconds, that a request may spend on analysing curves; the browser then requests the rest."""
MOST_RUNS = 100
MOST = 200
"""Maximum number of insights sent for a run, the severest first."""


def register(app: Any, source: RunSources, ids: Ids) -> None:
    """Add the callback to a Dash application."""

    def look(ask: Any) -> dict[str, Any]:
        return counts(source, ask)

    app.callback(Output(ids("insights"), "data"), Input(ids("insights-ask"), "data"), prevent_initial_call=True)(look)


def counts(source: RunSources, ask: Any) -> dict[str, Any]:
    """Return the insights of the runs of a request {"run": [key, ...]}.

    The result is {"runs": {key: {"found": [[kind, score], ...], "more": number of insights left out}}}, without the runs whose
    scalars are not all analysed yet, and {"left": number of these runs}. A job has those of all its ranks.
    """
    keys = texts(ask, "run") if ask is not None else []
    if len(keys) > MOST_RUNS:
        raise BadInput(f"run: expected at most {MOST_RUNS} runs, found {len(keys)}")
    wanted = set(keys)
    found: dict[str, Any] = {}
    left, seconds = 0, SECONDS
    for row in source.runs.rows():
        if row.key not in wanted:
            continue
        every: list[Insight] = []
        missing = 0
        for member in row.members:
            some, unknown = source.curves.insights(member, None, seconds)
            every += some
            missing += unknown
            # Once one run has used up the time, the others give only what is cached.
            seconds = 0.0 if unknown else seconds
        if missing:
            left += 1
        else:
            shown = [[one.kind, round(min(one.score, 1e6), 3)] for one in every[:MOST]]
            found[row.key] = {"found": shown, "more": max(0, len(every) - MOST)}
    return {"runs": found, "left": left}
