"""The advice page: what to change in a run, found by rules over its profile, each with its evidence and the time at stake."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.jobs.advice import THRESHOLDS, Advice, Review

from layouts.jobs.advice.drawing import UNITS, drawn
from layouts.jobs.advice.job_texts import TEXTS as JOB
from layouts.jobs.advice.stage_kernels import ComparedStages, compared_stages
from layouts.jobs.advice.texts import TEXTS as OWN
from layouts.kit.body import damage
from layouts.kit.elements import button
from layouts.kit.page import Ids
from layouts.kit.state import number, text
from layouts.profiles.body import body, register_body
from layouts.profiles.frames import IdleTime
from layouts.profiles.idling import idle_time
from layouts.profiles.links import traced
from layouts.profiles.profile_choice import ProfileChoice, read_choice
from layouts.profiles.redrawing import clock, register_again, settled
from layouts.profiles.reviewing import READ, review_of
from layouts.sources import ProfileSources

TEXTS = {**OWN, **JOB}
KEYS = (*THRESHOLDS, "capacity")
"""Keys of the state: the threshold of each rule, in the rule's unit in UNITS; the memory of the device in GiB."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    children: list[Any] = [
        html.Div(
            button("advice.csv", icon_name="download", id=ids("save"), n_clicks=0), className="ms-toolbar ms-advice-bar",
        ),
        dcc.Download(id=ids("file")),
        *clock(ids),
        html.Div(id=ids("found"), className="ms-advice-found ms-waits"),
        damage(),
    ]  # fmt: skip
    return body(
        ids, routes, children, title="advice.title", frames=READ, keys=KEYS, texts=tuple(TEXTS), class_name="ms-advice"
    )


_MOST = 1e9
_GIB, _MOST_GIB = 1 << 30, 1e6


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, READ)
    register_again(app, source, ids, waits=lambda _source, choice: compared_stages(source, choice).state == "reading")

    def draw(asked: Any, _read: Any) -> Any:
        choice = read_choice(asked)
        if choice is None:
            return no_update, no_update
        idle = idle_time(source, choice)
        result, limits = advice_of(source, choice, asked, idle)
        members = source.profiles.members(choice.run, choice.session, choice.rank)
        ranks = {rank: ProfileChoice(run, session, rank) for run, session, rank in members}
        stages = compared_stages(source, choice) if any(one.rule == "stages" for one in result.found) else ComparedStages("")
        children = drawn(
            result, limits, choice, idle=idle, traced=traced(source, choice), capacity=_capacity(asked), ranks=ranks,
            stages=stages,
        )  # fmt: skip
        return children, settled(idle) and stages.state != "reading"

    def save(clicks: Any, asked: Any) -> Any:
        found = advice_for(source, asked) if clicks else None
        return no_update if found is None else {"filename": "advice.csv", "content": as_csv(found[0].found)}

    app.callback(
        Output(ids("found"), "children"), Output(ids("again"), "disabled"),
        Input(ids("ask"), "data"), Input(ids("read"), "data"), prevent_initial_call=True,
    )(draw)  # fmt: skip
    app.callback(
        Output(ids("file"), "data"), Input(ids("save"), "n_clicks"), State(ids("ask"), "data"), prevent_initial_call=True
    )(save)


def thresholds_of(asked: Any) -> dict[str, float]:
    """Parse the thresholds in a request into the units that `advise` expects. BadInput if one is malformed."""
    return {rule: number(asked, rule, 0.0, 0.0, _MOST) * UNITS[rule][1] for rule in THRESHOLDS if text(asked, rule)}


def advice_for(source: ProfileSources, asked: Any) -> tuple[Review, Mapping[str, float]] | None:
    """Return (what the rules say of the requested profile, thresholds of all rules), or None if no profile is requested."""
    choice = read_choice(asked)
    return None if choice is None else advice_of(source, choice, asked, idle_time(source, choice))


def advice_of(
    source: ProfileSources, choice: ProfileChoice, asked: Any, idle: IdleTime
) -> tuple[Review, Mapping[str, float]]:
    """Return what the rules say of a profile with this idle time, and the thresholds of all rules."""
    return review_of(source, choice, idle, thresholds_of(asked), int(_capacity(asked) * _GIB))


def _capacity(asked: Any) -> float:
    """Return the memory of the device that was typed in, in GiB; 0 for none. BadInput if it is malformed."""
    return number(asked, "capacity", 0.0, 0.0, _MOST_GIB)


def as_csv(found: Sequence[Advice]) -> str:
    """Write one line per evidence row: rule, value, threshold, what it costs after the cards above and alone, and its cells."""
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(("rule", "value", "threshold", "cost_ns", "alone_ns", "evidence"))
    for one in found:
        cost, alone = ("" if math.isnan(value) else repr(value) for value in (one.cost_ns, one.alone_ns))
        for row in one.evidence.to_dict("records"):
            evidence = "; ".join(f"{key}={value}" for key, value in row.items())
            rows.writerow((one.rule, repr(one.value), repr(one.threshold), cost, alone, evidence))
    return written.getvalue()
