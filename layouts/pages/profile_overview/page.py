"""The profile overview: what is a step of this rank made of?

Shows one sentence and one bar, the profiled steps over the step times of the whole run (from the wall times of its scalars),
and links to the other pages about the profile.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from dash import Input, Output, State, dcc, html, no_update

from layouts.callbacks import in_browser
from layouts.figures.step_times import PROFILED, RUN
from layouts.i18n import t
from layouts.page import Ids, Page
from layouts.pages.profile_overview.drawing import drawn
from layouts.pages.profile_overview.texts import TEXTS
from layouts.profiling.body import body, damage, register_body
from layouts.profiling.choice import KEYS as CHOICE
from layouts.profiling.choice import read_choice
from layouts.profiling.look import read_look
from layouts.profiling.plots import plot_card
from layouts.sources import ProfileSource

FRAMES = ("steps",)
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
        html.Section(
            [
                html.Header(html.H3(t("profile_overview.made_of"), className="ms-card-title"), className="ms-card-head"),
                html.Div(id=ids("head"), className="ms-breakdown-head ms-profile-overview-head"),
            ],
            className="ms-card", tabIndex=-1,
        ),
        html.Div(id=ids("beside"), className="ms-profile-overview-beside"),
        plot_card(ids("plot"), "joined", t("profile_overview.joined"), "ms-profile-overview-joined", _legend()),
        damage(),
    ]  # fmt: skip
    texts = [*TEXTS, "composition.png", "composition.full", *(_title(page) for page in _TILES)]
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


def register(app: Any, source: ProfileSource, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)

    def draw(ask: Any) -> tuple[Any, Any, Any]:
        return shown(source, ask)

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


def shown(source: ProfileSource, ask: Any) -> tuple[Any, Any, Any]:
    """Return (head, lines about the run's step time, figure); no update if no profile is requested."""
    choice = read_choice(ask)
    if choice is None:
        return no_update, no_update, no_update
    return drawn(source, choice.run, choice.frame(source, "steps"), read_look(ask))


PAGE = Page(
    name="profile_overview", texts=TEXTS, needs=("profile",), layout=layout, register=register, libraries=("plotly",),
    group="performance", keeps=CHOICE, formerly=("profile",),
)  # fmt: skip
