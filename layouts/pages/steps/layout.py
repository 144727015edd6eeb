"""What stands on the step page before any data; assets/steptrace.js fills the toolbar and the heads of cards."""

from __future__ import annotations

from typing import Any

from dash import dcc, html
from layouts.components.elements import toolbar
from layouts.i18n import t
from layouts.page import Ids
from layouts.pages.steps.asks import FRAMES, KEYS
from layouts.pages.steps.texts import TEXTS
from layouts.profiling.body import body, damage
from layouts.profiling.composition_texts import TEXTS as COMPOSITION
from layouts.profiling.plots import plot_card


def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of plain routes."""
    stores = ("draw", "screen", "facts", "figure-bars", "figure-trends", "figure-streams")
    children: list[Any] = [
        *(dcc.Store(id=ids(part)) for part in stores),
        html.Section(html.Div(id=ids("head"), className="ms-breakdown-head"), className="ms-card", tabIndex=-1),
        toolbar([], label="steps.controls", class_name="ms-breakdown-bar-tools"),
        plot_card(ids("bars"), "bars", t("steps.bars"), "ms-breakdown-bars"),
        html.Div(
            [
                html.Section(html.Div(id=ids("detail"), className="ms-breakdown-detail"), className="ms-card", tabIndex=-1),
                plot_card(ids("streams"), "streams", t("steps.streams"), "ms-breakdown-streams"),
            ],
            className="ms-breakdown-row",
        ),
        plot_card(ids("trends"), "trends", t("steps.trends"), "ms-breakdown-trends"),
        damage(),
    ]
    return body(
        ids, routes, children, title="steps.title", frames=FRAMES, keys=KEYS, texts=(*TEXTS, *COMPOSITION),
        class_name="ms-breakdown"
    )
