"""The advice page: what to change in a run, found by rules over its profile, each with its evidence and the time at stake.

The rules are applied at once. What a step of a job would save is replayed in the background: cards about several ranks say so
until it is known, and then take their places among the others.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.jobs.advice import THRESHOLDS, Advice, Review
from parsers.caches import Cache

from layouts.jobs.advice.drawing import UNITS, drawn
from layouts.jobs.advice.job_texts import TEXTS as JOB
from layouts.jobs.advice.stage_kernels import ComparedStages, compared_stages
from layouts.jobs.advice.texts import TEXTS as OWN
from layouts.jobs.advice.trace_texts import TEXTS as TRACE
from layouts.kit.body import damage, status_line
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import button
from layouts.kit.page import Ids
from layouts.kit.state import flag, number, text
from layouts.kit.work import WorkResult
from layouts.profiles.body import body, register_body
from layouts.profiles.frames import IdleTime
from layouts.profiles.idling import idle_time
from layouts.profiles.links import traced
from layouts.profiles.profile_choice import ProfileChoice, read_choice
from layouts.profiles.redrawing import clock, register_again, settled
from layouts.profiles.reviewing import READ, Reviewed, computes, review_of
from layouts.profiles.source import JobWork
from layouts.sources import ProfileSources

TEXTS = {**OWN, **JOB, **TRACE}


class SavingsProgress(TypedDict):
    """How far replays are: "working" or "waiting" (done of total), "ready", "missing", "cancelled" or "failed" (text)."""

    state: str
    done: int
    total: int
    text: str


KEYS = (*THRESHOLDS, "capacity")
"""Keys of the state: the threshold of each rule, in the rule's unit in UNITS; the memory of the device in GiB."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    save = button("advice.csv", icon_name="download", id=ids("save"), n_clicks=0)
    children: list[Any] = [
        html.Div([status_line("advice.savings", "ms-advice-status"), save], className="ms-toolbar ms-advice-bar"),
        dcc.Download(id=ids("file")),
        *(dcc.Store(id=ids(part)) for part in ("drawn", "turn", "savings", "known", "saved")),
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
    asking: Cache[Hashable, JobWork] = Cache(most=1)
    register_again(app, source, ids, waits=lambda _source, choice: compared_stages(source, choice).state == "reading")

    def draw(asked: Any, _read: Any, _known: Any) -> Any:
        choice = read_choice(asked)
        if choice is None:
            return no_update, no_update, no_update
        idle = idle_time(source, choice)
        found = advice_of(source, choice, asked, idle)
        if found.work is not None:
            asking.put(_question(choice, asked), found.work)
        members = source.profiles.members(choice.run, choice.session, choice.rank)
        ranks = {rank: ProfileChoice(run, session, rank) for run, session, rank in members}
        unequal = any(one.rule == "stages" for one in found.review.found)
        stages = compared_stages(source, choice) if unequal else ComparedStages("")
        children = drawn(
            found.review, found.limits, choice, idle=idle, traced=traced(source, choice), capacity=_capacity(asked),
            ranks=ranks, stages=stages, pending=pending_of(found), torch=choice.of_torch(source),
        )  # fmt: skip
        return children, settled(idle) and stages.state != "reading", progress(found.told)

    def look(turn: Any, asked: Any) -> Any:
        """How far the savings are, and, once they are known or not being computed any more, that the cards are to be drawn."""
        choice = read_choice(asked)
        work = None if choice is None else asking.get(_question(choice, asked))
        if choice is None or work is None:
            return no_update, turn or no_update
        of = choice.run, choice.session, choice.rank
        if flag(turn, "cancel"):
            source.profiles.cancel_work(*of, work)
        told = source.profiles.work(*of, work, again=flag(turn, "again"))
        is_other = not computes(told) or flag(turn, "again")
        return progress(told), turn if is_other else no_update

    def save(clicks: Any, _known: Any, asked: Any, saved: Any) -> Any:
        choice = read_choice(asked)
        if choice is None or not clicks or clicks == saved:
            return no_update, no_update
        found = advice_of(source, choice, asked, idle_time(source, choice))
        if found.is_computing:
            return no_update, no_update  # the next change of `known` comes back to it
        return {"filename": "advice.csv", "content": as_csv(found.review.found, found.pending)}, clicks

    app.callback(
        Output(ids("found"), "children"), Output(ids("again"), "disabled"), Output(ids("drawn"), "data"),
        Input(ids("ask"), "data"), Input(ids("read"), "data"), Input(ids("known"), "data"), prevent_initial_call=True,
    )(draw)  # fmt: skip
    app.callback(
        Output(ids("savings"), "data"), Output(ids("known"), "data"), Input(ids("turn"), "data"), State(ids("ask"), "data"),
        prevent_initial_call=True,
    )(look)  # fmt: skip
    app.callback(
        Output(ids("file"), "data"), Output(ids("saved"), "data"), Input(ids("save"), "n_clicks"), Input(ids("known"), "data"),
        State(ids("ask"), "data"), State(ids("saved"), "data"), prevent_initial_call=True,
    )(save)  # fmt: skip
    call = partial(in_browser(app, "mindscope_advice"), prevent_initial_call=True)
    for part in ("drawn", "savings"):
        call("savings", Input(ids(part), "data"), State(ids("root"), "id"))


def thresholds_of(asked: Any) -> dict[str, float]:
    """Parse the thresholds in a request into the units that `advise` expects. BadInput if one is malformed."""
    return {rule: number(asked, rule, 0.0, 0.0, _MOST) * UNITS[rule][1] for rule in THRESHOLDS if text(asked, rule)}


def advice_for(source: ProfileSources, asked: Any) -> tuple[Review, Mapping[str, float]] | None:
    """Return (what the rules say of the requested profile, thresholds of all rules), or None if no profile is requested."""
    choice = read_choice(asked)
    if choice is None:
        return None
    found = advice_of(source, choice, asked, idle_time(source, choice))
    return found.review, found.limits


def advice_of(source: ProfileSources, choice: ProfileChoice, asked: Any, idle: IdleTime) -> Reviewed:
    """Return what the rules say of a profile with this idle time."""
    return review_of(source, choice, idle, *_typed(asked))


def _typed(asked: Any) -> tuple[dict[str, float], int]:
    """Return the thresholds and the memory of the device in bytes that were typed in."""
    return thresholds_of(asked), int(_capacity(asked) * _GIB)


def _question(choice: ProfileChoice, asked: Any) -> Hashable:
    """Return what cards depend on beside idle time, of which no replay knows."""
    limits, capacity = _typed(asked)
    return choice, tuple(sorted(limits.items())), capacity


def pending_of(found: Reviewed) -> Mapping[str, str]:
    """Return the rules whose saving is not known -> why: "computing" or "stopped"."""
    return dict.fromkeys(found.pending, "computing" if found.is_computing else "stopped")


def progress(told: WorkResult) -> SavingsProgress:
    """Return how far replays are, as the browser shows it."""
    return SavingsProgress(state=told.state, done=told.done, total=told.total, text=told.text)


def _capacity(asked: Any) -> float:
    """Return the memory of the device that was typed in, in GiB; 0 for none. BadInput if it is malformed."""
    return number(asked, "capacity", 0.0, 0.0, _MOST_GIB)


def as_csv(found: Sequence[Advice], unknown: Collection[str] = ()) -> str:
    """Write one line per evidence row: rule, value, threshold, what it costs after the cards above and alone, and its cells.

    unknown are rules whose costs are left empty, since nobody waited for their replays.
    """
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(("rule", "value", "threshold", "cost_ns", "alone_ns", "evidence"))
    for one in found:
        costs = (math.nan, math.nan) if one.rule in unknown else (one.cost_ns, one.alone_ns)
        cost, alone = ("" if math.isnan(value) else repr(value) for value in costs)
        for row in one.evidence.to_dict("records"):
            evidence = "; ".join(f"{key}={value}" for key, value in row.items())
            rows.writerow((one.rule, repr(one.value), repr(one.threshold), cost, alone, evidence))
    return written.getvalue()
