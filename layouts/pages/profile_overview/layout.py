"""What stands on the profile overview before any data; assets/profile.js makes the tiles."""

from __future__ import annotations

import json
from typing import Any

from dash import dcc, html
from layouts.figures.step_times import PROFILED, RUN
from layouts.i18n import t
from layouts.page import Ids
from layouts.pages.profile_overview.texts import TEXTS
from layouts.profiling.body import body, damage
from layouts.profiling.plots import plot_card

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
