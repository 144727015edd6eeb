"""The timeline: what ran when, on every thread, stream and queue of a rank, and what waited for what?

Python sends tracks and, by plain routes (`app.routes.profiles.timeline`), what is to be drawn of a window: slices at least a
pixel wide, and the busy share of the pixels of shorter ones. assets/profiles/timeline draws them and handles pointer and keys.
"""

from __future__ import annotations

from typing import Any

from dash import Input, State, html

from layouts.kit.body import damage
from layouts.kit.callbacks import in_browser
from layouts.kit.page import Ids
from layouts.profiles.body import body, register_body
from layouts.profiles.timeline.texts import TEXTS
from layouts.sources import ProfileSources

FRAMES = ("trace",)
"""What is read before the page shows anything; not a frame, but it has the same states."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    children: list[Any] = [
        html.Section(html.Div(className="ms-skeleton"), className="ms-card ms-timeline-box", tabIndex=-1),
        damage(),
    ]
    return body(
        ids, routes, children, title="timeline.title", frames=FRAMES, texts=tuple(TEXTS), class_name="ms-timeline",
    )  # fmt: skip


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)
    call = in_browser(app, "mindscope_timeline")
    call("opened", Input(ids("ask"), "data"), State(ids("root"), "id"), prevent_initial_call=True)
