"""What stands on the profile overview before any data; assets/profile.js makes the tiles."""

from __future__ import annotations

import json
from typing import Any

from dash import dcc, html

from layouts.figures.step_times import PROFILED, RUN
from layouts.i18n import t
from layouts.page import Ids
from layouts.profiler.body import body, damage
from layouts.profiler.plots import plot_card
from layouts.texts.profile import TEXTS

FRAMES = ("steps",)
_TILES = {
    "steptrace": ("profile.steps", "steps"),
    "operators": ("profile.operators", "operators operator_types kernels"),
    "preparation": ("profile.preparation", "pipeline queues cpu host_memory"),
    "advice": ("profile.advice", ""),
}
"""Name of a page -> what its tile says, and the frames of which it needs one ("" for any)."""


def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of plain routes."""
    children: list[Any] = [
        *(dcc.Store(id=ids(part)) for part in ("draw", "screen", "figure")),
        html.Section(
            [
                html.Header(html.H3(t("profile.made_of"), className="ms-card-title"), className="ms-card-head"),
                html.Div(id=ids("head"), className="ms-breakdown-head ms-profile-head"),
            ],
            className="ms-card", tabIndex=-1,
        ),
        html.Div(id=ids("beside"), className="ms-profile-beside"),
        plot_card(ids("plot"), "joined", t("profile.joined"), "ms-profile-joined", _legend()),
        damage(),
    ]  # fmt: skip
    texts = [*TEXTS, "steptrace.png", "steptrace.full", *(page.title for page in _pages())]
    page = body(ids, routes, children, title="profile.title", frames=FRAMES, texts=texts, class_name="ms-profile")
    tiles = html.Div(className="ms-profile-tiles", **{"data-tiles": json.dumps(_tiles())})
    page.children.append(tiles)
    return page


def _pages() -> list[Any]:
    """The pages that have a tile. Looked up when a page is laid out, as the list of pages names this one too."""
    from layouts import PAGES

    return [page for page in PAGES if page.name in _TILES]


def _tiles() -> list[dict[str, str]]:
    told = ((page, *_TILES[page.name]) for page in _pages())
    return [
        {"path": page.path, "title": page.title, "icon": page.icon, "text": text, "frames": frames}
        for page, text, frames in told
    ]


def _legend() -> html.Div:
    """Which of the two is which."""
    return html.Div(
        [
            html.Span([html.Span(className="ms-profile-line", style={"background": RUN}), t("steptrace.word.run")]),
            html.Span([html.Span(className="ms-profile-mark", style={"background": PROFILED}), t("steptrace.word.profiled")]),
        ],
        className="ms-profile-legend",
    )
