"""The page of ranks: what ran when on every rank of a job, and which operator of one rank is that of the next?

Ranks are rows over one axis of time; polygons join the same operator of neighbours (a Marey chart). Python sends rows, and
what is drawn of a window, by plain routes (app/routes/jobs/ranks.py); assets/jobs/ranks draws it and handles pointer and keys.
"""

from __future__ import annotations

from typing import Any

from dash import Input, State, html

from layouts.jobs.rank_operators import FRAMES, RankOperatorRequest
from layouts.jobs.ranks.texts import TEXTS
from layouts.kit.body import damage
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import icon_button, toolbar
from layouts.kit.i18n import t
from layouts.kit.page import Ids
from layouts.profiles.body import body, register_body
from layouts.sources import ProfileSources


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    chart: list[Any] = [
        html.Ul(className="ms-ranks-legend"),
        html.Div(className="ms-ranks-chart"),
        html.Div(className="ms-ranks-drawn ms-muted", role="status"),
        html.Div(className="ms-ranks-operator", hidden=True, role="region"),
    ]
    children: list[Any] = [
        html.Section(html.Div(id=ids("head"), className="ms-ranks-head"), className="ms-card", tabIndex=-1),
        toolbar([], label="ranks.controls", class_name="ms-ranks-bar"),
        _card("chart", chart, png=True),
        _card("table", html.Div(className="ms-ranks-table")),
        damage(),
    ]
    return body(
        ids, routes, children, title="ranks.title", frames=FRAMES, keys=RankOperatorRequest.keys(),
        choices=("step",), texts=tuple(TEXTS),
        class_name="ms-ranks",
    )  # fmt: skip


def _card(name: str, content: Any, *, png: bool = False) -> html.Section:
    tools = [
        html.A("CSV", className="ms-button ms-button-small", download="", **{"data-csv": name}),
        *([icon_button("download", "ranks.png", **{"data-act": "png"})] if png else []),
        icon_button("full", "ranks.full", **{"data-act": "full"}),
    ]
    head = [
        html.H3(t(f"ranks.{name}"), className="ms-card-title"),
        html.Span(className="ms-card-badges"),
        html.Span(tools, className="ms-card-tools"),
    ]
    return html.Section(
        [html.Header(head, className="ms-card-head"), html.Div(content, className="ms-card-body")],
        className=f"ms-card ms-ranks-card ms-ranks-card-{name}", tabIndex=-1, **{"data-card": name},
    )  # fmt: skip


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)
    call = in_browser(app, "mindscope_ranks")
    call("opened", Input(ids("ask"), "data"), State(ids("root"), "id"), prevent_initial_call=True)
