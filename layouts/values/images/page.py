"""The images page: what did the network take in and produce, step by step and run by run?

One card per tag with a picture per chosen run, all at the same step. The server says when images were recorded; the browser
fetches each picture from the image route when it is shown (assets/values/images/).
"""

from __future__ import annotations

from typing import Any

from layouts.kit.cards import cards, step_texts
from layouts.kit.cards.recorded import recorded_cards
from layouts.kit.page import Ids
from layouts.sources import Sources
from layouts.values.images.texts import TEXTS

CARDS = recorded_cards(
    "image", {**TEXTS, **step_texts.TEXTS}, "ms-images",
    controls="images.controls", missing="images.none",
)  # fmt: skip


def layout(ids: Ids, routes: str) -> Any:
    """Return the page without data. `routes` is the URL prefix of the image route."""
    return cards.layout(CARDS, ids, routes)


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:  # noqa: ARG001 - the layout holds the routes
    """Add the page's callbacks to a Dash application."""
    cards.register(CARDS, app, source, ids)
