"""The advice page: what to change in a run, found by rules over its profile, each with its evidence and the time at stake."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.advice import FRAMES, THRESHOLDS, Advice, Review, review

from layouts.components.elements import button
from layouts.page import Ids, Page
from layouts.pages.advice.drawing import UNITS, drawn
from layouts.pages.advice.texts import TEXTS
from layouts.profiling.body import body, damage, register_body
from layouts.profiling.choice import KEYS as CHOICE
from layouts.profiling.choice import read_choice
from layouts.profiling.idling import idle_frames, idle_time
from layouts.profiling.links import traced
from layouts.sources import NO_TRACE, ProfileSource
from layouts.state import number, text

KEYS = tuple(THRESHOLDS)
"""Keys of the state: the threshold of each rule, in the rule's unit in UNITS."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    children: list[Any] = [
        html.Div(
            button("advice.csv", icon_name="download", id=ids("save"), n_clicks=0), className="ms-toolbar ms-advice-bar",
        ),
        dcc.Download(id=ids("file")),
        html.Div(id=ids("found"), className="ms-advice-found"),
        damage(),
    ]  # fmt: skip
    return body(
        ids, routes, children, title="advice.title", frames=FRAMES, keys=KEYS, texts=tuple(TEXTS), class_name="ms-advice"
    )


_MOST = 1e9


def register(app: Any, source: ProfileSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)

    def draw(asked: Any) -> Any:
        found = advice_for(source, asked)
        if found is None:
            return no_update
        choice = read_choice(asked)
        idle = idle_time(source, choice) if choice else NO_TRACE
        return drawn(*found, choice, idle=idle, traced=traced(source, choice))

    def save(clicks: Any, asked: Any) -> Any:
        found = advice_for(source, asked) if clicks else None
        return no_update if found is None else {"filename": "advice.csv", "content": as_csv(found[0].found)}

    app.callback(Output(ids("found"), "children"), Input(ids("ask"), "data"), prevent_initial_call=True)(draw)
    app.callback(
        Output(ids("file"), "data"), Input(ids("save"), "n_clicks"), State(ids("ask"), "data"), prevent_initial_call=True
    )(save)


def thresholds_of(asked: Any) -> dict[str, float]:
    """Parse the thresholds in a request into the units that `advise` expects. BadInput if one is malformed."""
    return {rule: number(asked, rule, 0.0, 0.0, _MOST) * UNITS[rule][1] for rule in THRESHOLDS if text(asked, rule)}


def advice_for(source: ProfileSource, asked: Any) -> tuple[Review, Mapping[str, float]] | None:
    """Return (what the rules say of the requested profile, thresholds of all rules), or None if no profile is requested."""
    choice = read_choice(asked)
    if choice is None:
        return None
    limits = thresholds_of(asked)
    frames = {name: choice.frame(source, name) for name in FRAMES}
    return review(frames | idle_frames(idle_time(source, choice)), limits), {**THRESHOLDS, **limits}


def as_csv(found: Sequence[Advice]) -> str:
    """Write one line per evidence row: rule, value, threshold, cost, and the row's cells as key=value."""
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(("rule", "value", "threshold", "cost_ns", "evidence"))
    for one in found:
        cost = "" if math.isnan(one.cost_ns) else repr(one.cost_ns)
        for row in one.evidence.to_dict("records"):
            evidence = "; ".join(f"{key}={value}" for key, value in row.items())
            rows.writerow((one.rule, repr(one.value), repr(one.threshold), cost, evidence))
    return written.getvalue()


PAGE = Page(
    name="advice", texts=TEXTS, needs=tuple(f"profile.{name}" for name in FRAMES), layout=layout, register=register,
    group="performance", keeps=CHOICE,
)  # fmt: skip
