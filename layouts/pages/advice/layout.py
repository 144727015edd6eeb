"""What stands on the advice page before any data."""

from __future__ import annotations

from typing import Any

from dash import dcc, html
from layouts.components.elements import button
from layouts.page import Ids
from layouts.pages.advice.texts import TEXTS
from layouts.profiling.body import body, damage
from parsers.analysis.advice import THRESHOLDS

FRAMES = ("steps", "queues", "pipeline", "cpu", "operators")
KEYS = tuple(THRESHOLDS)
"""Keys of the state: the threshold of each rule, in the unit that UNITS has for it."""
UNITS = {"interval": ("ms", 1e6), **dict.fromkeys(("idle", "empty", "cpu", "queue_use", "ai_cpu"), ("%", 0.01))}
"""Rule -> unit in which its threshold is shown and typed, and how many of those of THRESHOLDS that is."""


def layout(ids: Ids, routes: str) -> html.Div:
    """The page without data. routes is the URL prefix of plain routes."""
    children: list[Any] = [
        html.Div(
            button("advice.csv", icon_name="download", id=ids("save"), n_clicks=0), className="ms-toolbar ms-advice-bar",
        ),
        dcc.Download(id=ids("file")),
        html.Div(id=ids("found"), className="ms-advice-found"),
        damage(),
    ]  # fmt: skip
    return body(
        ids, routes, children, title="advice.title", frames=FRAMES, keys=KEYS, texts=tuple(TEXTS), class_name="ms-advice"
    )
