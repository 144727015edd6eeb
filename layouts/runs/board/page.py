"""The board page: which cards of which pages do I want side by side, with which words?

A board is a grid of 12 columns with cards of other pages and texts (`layouts.runs.boards`). The browser does it all: it fetches
and changes boards by the routes of `app.routes.runs.boards` (assets/runs/board/page.js). The cards of tags on the pages that
assets/runs/board/apart.js names are drawn in the document of the board, by the scripts and callbacks of their page but without
Dash. Any other card is a frame of its page at `<page>?<state>&embed=1&card=<part>`, which covers its window with that one card
(assets/kit/alone.js); so are all cards in somebody else's application. Cards are made when they come into view. Texts are
Markdown, rendered by dcc.Markdown with HTML off: the browser sets the children of ids("texts"), and copies what Dash has drawn
to the cards.
"""

from __future__ import annotations

import json
from typing import Any

from dash import Input, State, html

from layouts.kit.callbacks import in_browser
from layouts.kit.i18n import for_browser
from layouts.kit.page import Ids
from layouts.runs.board.texts import TEXTS
from layouts.sources import Sources


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without a board. routes is the URL prefix of the routes of boards."""
    return html.Div(
        [
            html.Div(className="ms-board-bar ms-toolbar"),
            html.Div(html.Div(className="ms-skeleton"), className="ms-board-body"),
            html.Div(id=ids("texts"), className="ms-board-drawn", hidden=True),
            html.Div(className="ms-board-said", role="status"),
            html.P(id=ids("moving"), className="ms-silent ms-board-keys"),
        ],
        id=ids("root"),
        className="ms-board",
        **{"data-routes": routes, "data-texts": json.dumps(for_browser(TEXTS))},
    )


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:  # noqa: ARG001 - the browser asks the routes
    """Add the page's callbacks to a Dash application."""
    call = in_browser(app, "mindscope_board")
    root = State(ids("root"), "id")
    call("shown", Input(ids("state"), "data"), Input(ids("runs"), "data"), root)
    call("news", Input(ids("version"), "data"), root)
