"""The advice page: what to change in a run, by rules over its profile, each with its evidence and the time at stake."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.advice import THRESHOLDS, Advice, advise

from layouts.components.elements import button
from layouts.page import Ids, Page
from layouts.pages.advice.drawing import UNITS, drawn
from layouts.pages.advice.texts import TEXTS
from layouts.profiling.body import body, damage, register_body
from layouts.profiling.choice import read_choice
from layouts.sources import ProfileSource
from layouts.state import number, text

FRAMES = ("steps", "queues", "pipeline", "cpu", "operators")
KEYS = tuple(THRESHOLDS)
"""Keys of the state: the threshold of each rule, in the unit that UNITS has for it."""


def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of plain routes."""
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
        return no_update if found is None else drawn(*found, read_choice(asked))

    def save(clicks: Any, asked: Any) -> Any:
        found = advice_for(source, asked) if clicks else None
        return no_update if found is None else {"filename": "advice.csv", "content": as_csv(found[0])}

    app.callback(Output(ids("found"), "children"), Input(ids("ask"), "data"), prevent_initial_call=True)(draw)
    app.callback(
        Output(ids("file"), "data"), Input(ids("save"), "n_clicks"), State(ids("ask"), "data"), prevent_initial_call=True
    )(save)


def thresholds_of(asked: Any) -> dict[str, float]:
    """The thresholds that an ask names, as `advise` takes them; or BadInput."""
    return {rule: number(asked, rule, 0.0, 0.0, _MOST) * UNITS[rule][1] for rule in THRESHOLDS if text(asked, rule)}


def advice_for(source: ProfileSource, asked: Any) -> tuple[list[Advice], Mapping[str, float]] | None:
    """(advice for the profile that is asked for, thresholds of all rules); None where no profile is asked for."""
    choice = read_choice(asked)
    if choice is None:
        return None
    limits = thresholds_of(asked)
    return advise({name: choice.frame(source, name) for name in FRAMES}, limits), {**THRESHOLDS, **limits}


def as_csv(found: list[Advice]) -> str:
    """A line for each row of evidence: rule, value, threshold, cost, then what the row holds as key=value."""
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(("rule", "value", "threshold", "cost_ns", "evidence"))
    for one in found:
        cost = "" if math.isnan(one.cost_ns) else repr(one.cost_ns)
        for row in one.evidence.to_dict("records"):
            told = "; ".join(f"{key}={value}" for key, value in row.items())
            rows.writerow((one.rule, repr(one.value), repr(one.threshold), cost, told))
    return written.getvalue()


PAGE = Page(
    name="advice", texts=TEXTS, needs=tuple(f"profile.{name}" for name in FRAMES), layout=layout, register=register,
    group="performance",
)  # fmt: skip
