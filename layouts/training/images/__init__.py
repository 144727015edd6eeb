"""The images page: what did the network see and make, step by step and run by run?

One card per tag with a picture per chosen run, all at one step. The server says when images were recorded; the browser gets
each picture from the image route when it is shown (assets/images.js).
"""

from __future__ import annotations

from typing import Any

from layouts.page import FrameSource, Ids, Page
from layouts.texts import images as texts
from layouts.texts import steps as step_texts
from layouts.training import cards
from layouts.training.recorded import recorded_cards

_RECORD = """self.image = ops.ImageSummary()  # in __init__ of the network
self.image("input", x)           # in construct; x is a tensor of NCHW"""

CARDS = recorded_cards(
    "image", {**texts.TEXTS, **step_texts.TEXTS}, "ms-images",
    controls="images.controls", missing="images.none", hint="images.none_hint", record=_RECORD,
)  # fmt: skip


def layout(ids: Ids, routes: str) -> Any:
    """The page without data. routes is the URL prefix of the image route."""
    return cards.layout(CARDS, ids, routes)


def register(app: Any, source: FrameSource, ids: Ids, routes: str) -> None:  # noqa: ARG001 - routes stand in the layout
    """Add the page's callbacks to a Dash application."""
    cards.register(CARDS, app, source, ids)


PAGE = Page(
    path="images", name="images", title="images.title", icon="images", needs=("image",), layout=layout, register=register
)
