"""The text page: which texts did the run record, step by step?

One card per tag with a text per chosen run, all at the same step. A text is shown as plain text, whatever it contains; the
browser fetches it from the text route when it is shown (assets/values/text/page.js).
"""

from __future__ import annotations

from typing import Any

from layouts.kit.cards import cards, step_texts
from layouts.kit.cards.recorded import recorded_cards
from layouts.kit.page import Ids
from layouts.sources import Sources
from layouts.values.text.texts import TEXTS

CARDS = recorded_cards(
    "text", {**TEXTS, **step_texts.TEXTS}, "ms-texts",
    controls="text.controls", missing="text.none",
)  # fmt: skip


def layout(ids: Ids, routes: str) -> Any:
    """Return the page without data. `routes` is the URL prefix of the text route."""
    return cards.layout(CARDS, ids, routes)


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:  # noqa: ARG001 - the layout holds the routes
    """Add the page's callbacks to a Dash application."""
    cards.register(CARDS, app, source, ids)
