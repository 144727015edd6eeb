"""What stands on the data preparation page before any data."""

from __future__ import annotations

from typing import Any

from dash import html
from layouts.components.elements import icon_button
from layouts.i18n import attributes, t
from layouts.page import Ids
from layouts.pages.preparation.asks import KEYS
from layouts.pages.preparation.texts import TEXTS
from layouts.profiling.body import body, damage

FRAMES = ("queues", "pipeline", "cpu", "host_memory")
CARDS = ("flow", "sizes", "times", "pipeline", "queue", "table", "cpu", "memory")
PLOTS = frozenset(("sizes", "times", "queue", "cpu", "memory"))
"""Cards that may have plots."""


def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of plain routes."""
    cards: list[Any] = [_card(ids, name) for name in CARDS]
    return body(
        ids, routes, [html.Div(cards, className="ms-preparation-cards"), damage()], title="preparation.title",
        frames=FRAMES, keys=KEYS, texts=tuple(TEXTS), class_name="ms-preparation",
    )  # fmt: skip


def _card(ids: Ids, name: str) -> html.Section:
    tools: list[Any] = [_steps()] if name == "cpu" else []
    if name in PLOTS:
        tools.append(icon_button("download", "preparation.png", **{"data-act": "png"}))
    tools.append(icon_button("full", "preparation.full", **{"data-act": "full"}))
    head = html.Header(
        [
            html.H3(t(f"preparation.{name}"), className="ms-card-title"),
            html.Span(className="ms-card-badges"),
            html.Span(tools, className="ms-card-tools"),
        ],
        className="ms-card-head",
    )
    return html.Section(
        [head, html.Div(html.Div(className="ms-skeleton"), id=ids(f"card-{name}"), className="ms-card-body")],
        className=f"ms-card ms-preparation-card ms-preparation-card-{name}", tabIndex=-1, **{"data-card": name},
    )  # fmt: skip


def _steps() -> html.Span:
    """Which steps the CPU's use is shown of. The inputs are made by assets/preparation.js, which keeps them in the state."""
    return html.Span(className="ms-preparation-steps", role="group", **attributes(aria_label="preparation.steps"))
