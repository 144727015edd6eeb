"""The profile overview: what is a step of this rank made of?

One sentence and one bar, the profiled steps over the step time of the whole run by the wall times of its scalars, and the way
to the other pages about the profile.
"""

from __future__ import annotations

import json
from typing import Any

from dash import ClientsideFunction, Input, Output, State, dcc, html, no_update

from layouts.figures.step_times import PROFILED, RUN
from layouts.i18n import t
from layouts.page import Ids, Page
from layouts.pages.profile_overview.drawing import drawn
from layouts.pages.profile_overview.texts import TEXTS
from layouts.profiling.body import body, damage, register_body
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
"""Name of a page -> what its tile says, and the frames of which it needs one ("" for any)."""


def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of plain routes."""
    children: list[Any] = [
        *(dcc.Store(id=ids(part)) for part in ("draw", "screen", "figure")),
        html.Section(
            [
                html.Header(html.H3(t("profile_overview.made_of"), className="ms-card-title"), className="ms-card-head"),
                html.Div(id=ids("head"), className="ms-breakdown-head ms-profile-head"),
            ],
            className="ms-card", tabIndex=-1,
        ),
        html.Div(id=ids("beside"), className="ms-profile-beside"),
        plot_card(ids("plot"), "joined", t("profile_overview.joined"), "ms-profile-joined", _legend()),
        damage(),
    ]  # fmt: skip
    texts = [*TEXTS, "composition.png", "composition.full", *(_title(page) for page in _TILES)]
    page = body(ids, routes, children, title="profile_overview.title", frames=FRAMES, texts=texts, class_name="ms-profile")
    tiles = html.Div(className="ms-profile-tiles", **{"data-tiles": json.dumps(_tiles())})
    page.children.append(tiles)
    return page


def _title(page: str) -> str:
    return f"{page}.title"


def _tiles() -> list[dict[str, str]]:
    return [{"page": page, "title": _title(page), "text": text, "frames": frames} for page, (text, frames) in _TILES.items()]


def _legend() -> html.Div:
    """Which of the two is which."""
    return html.Div(
        [
            html.Span([html.Span(className="ms-profile-line", style={"background": RUN}), t("composition.word.run")]),
            html.Span([html.Span(className="ms-profile-mark", style={"background": PROFILED}), t("composition.word.profiled")]),
        ],
        className="ms-profile-legend",
    )


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

    def call(name: str, *arguments: Any) -> None:
        app.clientside_callback(ClientsideFunction("mindscope_steps", name), *arguments, prevent_initial_call=True)

    root = State(ids("root"), "id")
    call(
        "plan", Output(ids("draw"), "data"), Input(ids("ask"), "data"), Input(ids("screen"), "data"),
        Input(ids("prefs"), "data"), State(ids("draw"), "data"), root,
    )  # fmt: skip
    call("joined", Output(ids("plot"), "figure"), Input(ids("figure"), "data"), root)


def shown(source: ProfileSource, ask: Any) -> tuple[Any, Any, Any]:
    """(head, lines about the run's own step time, figure); nothing where no profile is asked for."""
    choice = read_choice(ask)
    if choice is None:
        return no_update, no_update, no_update
    return drawn(source, choice.run, choice.frame(source, "steps"), read_look(ask))


PAGE = Page(
    name="profile_overview", texts=TEXTS, needs=("profile",), layout=layout, register=register, libraries=("plotly",),
    group="performance", formerly=("profile",),
)  # fmt: skip
