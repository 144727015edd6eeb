"""The profile overview: what is the time of this rank made of?

Shows one sentence and one bar for the average step, the same for busy and idle time by the single executions, how far the
hardware was used, ten operators, the first advice, the ranks of the job, the profiled steps over the step times of the whole
run (from the wall times of its scalars), and links to the other pages about the profile.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.jobs.advice import Review

from layouts.kit.body import damage
from layouts.kit.callbacks import in_browser
from layouts.kit.i18n import t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.profiles.body import body, register_body
from layouts.profiles.efficiency_cards import NEEDED, register_use, stores, use_card
from layouts.profiles.frames import IdleTime
from layouts.profiles.idling import idle_time
from layouts.profiles.plots import plot_card
from layouts.profiles.profile_choice import ProfileChoice, read_choice
from layouts.profiles.profile_overview.drawing import drawn
from layouts.profiles.profile_overview.summary import (
    advice_card,
    busy_card,
    idle_cards,
    launch_card,
    operators_card,
    ranks_card,
)
from layouts.profiles.profile_overview.texts import TEXTS
from layouts.profiles.redrawing import clock, register_again, settled
from layouts.profiles.reviewing import first_review
from layouts.profiles.step_style import read_look
from layouts.profiles.step_times import PROFILED, RUN
from layouts.sources import ProfileSources

FRAMES = ("steps", "communication", "operators", "queues", "pipeline", "cpu", "kernels")
_TILES = {
    "steps": ("profile_overview.steps", "steps"),
    "operators": ("profile_overview.operators", "operators operator_types kernels"),
    "preparation": ("profile_overview.preparation", "pipeline queues cpu host_memory"),
    "advice": ("profile_overview.advice", ""),
}
"""Name of a page -> (text key of its tile, frames of which the page needs at least one; "" for any profile)."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    children: list[Any] = [
        *(dcc.Store(id=ids(part)) for part in ("draw", "screen", "figure")),
        *clock(ids),
        html.Div(id=ids("head"), className="ms-profile-overview-parts"),
        *stores(ids),
        use_card(ids),
        html.Div(id=ids("summary"), className="ms-profile-overview-summary"),
        html.Div(id=ids("beside"), className="ms-profile-overview-beside"),
        plot_card(ids("plot"), "joined", t("profile_overview.joined"), "ms-profile-overview-joined", _legend()),
        damage(),
    ]  # fmt: skip
    texts = [*TEXTS, *NEEDED, "composition.png", "composition.full", *(_title(page) for page in _TILES)]
    page = body(
        ids, routes, children, title="profile_overview.title", frames=FRAMES, texts=texts, class_name="ms-profile-overview"
    )
    tiles = html.Div(className="ms-profile-overview-tiles", **{"data-tiles": json.dumps(_tiles())})
    page.children.append(tiles)
    return page


def _title(page: str) -> str:
    return f"{page}.title"


def _tiles() -> list[dict[str, str]]:
    return [{"page": page, "title": _title(page), "text": text, "frames": frames} for page, (text, frames) in _TILES.items()]


def _legend() -> html.Div:
    """The legend of the two step times."""
    return html.Div(
        [
            html.Span([html.Span(className=f"ms-profile-overview-{shape}", style={"background": colour}), t(key)])
            for shape, colour, key in (
                ("line", RUN, "composition.word.run"), ("mark", PROFILED, "composition.word.profiled"),
            )
        ],
        className="ms-profile-overview-legend",
    )  # fmt: skip


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)
    register_again(app, source, ids, waits=_waits)
    register_use(app, source, ids)

    def draw(ask: Any) -> tuple[Any, Any, Any]:
        head, beside, figure = shown(source, ask)
        return still(head), still(beside), figure

    def sum_up(ask: Any, _read: Any) -> Any:
        choice = read_choice(ask)
        if choice is None:
            return no_update, no_update
        idle = idle_time(source, choice)
        first = first_review(source, choice, idle)
        return still(_cards(source, choice, idle, first)), settled(idle) and first is not None

    app.callback(
        Output(ids("summary"), "children"), Output(ids("again"), "disabled"),
        Input(ids("ask"), "data"), Input(ids("read"), "data"), prevent_initial_call=True,
    )(sum_up)  # fmt: skip

    app.callback(
        Output(ids("head"), "children"),
        Output(ids("beside"), "children"),
        Output(ids("figure"), "data"),
        Input(ids("draw"), "data"),
        prevent_initial_call=True,
    )(draw)

    call = partial(in_browser(app, "mindscope_steps"), prevent_initial_call=True)

    root = State(ids("root"), "id")
    call(
        "plan", Output(ids("draw"), "data"), Input(ids("ask"), "data"), Input(ids("screen"), "data"),
        Input(ids("prefs"), "data"), State(ids("draw"), "data"), root,
    )  # fmt: skip
    call("joined", Output(ids("plot"), "figure"), Input(ids("figure"), "data"), root)


def shown(source: ProfileSources, ask: Any) -> tuple[Any, Any, Any]:
    """Return (cards of the parts of a step and of busy time, lines about the run's step time, figure).

    No update if no profile is requested.
    """
    choice = read_choice(ask)
    if choice is None:
        return no_update, no_update, no_update
    steps = choice.frame(source, "steps")
    step, lines, figure = drawn(source, choice.run, steps, read_look(ask)) if steps is not None else ([], [], None)
    return [*step, *busy_card(choice.frame(source, "kernels"))], lines, figure


def _waits(source: ProfileSources, choice: ProfileChoice) -> bool:
    return first_review(source, choice, idle_time(source, choice)) is None


def summarised(source: ProfileSources, ask: Any) -> Any:
    """Return the cards of ten operators, the first advice, idle time and the ranks; no update if no profile is requested."""
    choice = read_choice(ask)
    if choice is None:
        return no_update
    idle = idle_time(source, choice)
    return _cards(source, choice, idle, first_review(source, choice, idle))


def _cards(source: ProfileSources, choice: ProfileChoice, idle: IdleTime, first: Review | None) -> list[Any]:
    """Return the cards of `summarised`. first is what the page Advice says, None while that is not known."""
    left = operators_card(choice.frame(source, "operators"), choice)
    advice, launch = advice_card(first, choice), launch_card(choice.frame(source, "kernels"))
    right = [*advice, *idle_cards(idle, choice), *launch, *ranks_card(source, choice)]
    return [*([html.Div(left)] if left else []), html.Div(right)]
