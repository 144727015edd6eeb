"""The board page on the server: it has no board in it, and shows no HTML of users."""

from __future__ import annotations

from app.web.private_dash import to_json
from layouts.kit.page import Ids
from layouts.runs.board.page import layout
from tests.pages import page_named

PAGE = page_named("board")


def test_the_page_comes_without_a_board() -> None:
    text = to_json(layout(Ids("board", "b1"), "/x/"))
    assert '"b1-board-root"' in text
    assert '"b1-board-texts"' in text
    assert '"type":"Markdown"' not in text, "it is loaded with the first text"


def test_an_application_that_embeds_it_serves_all_pages() -> None:
    assert PAGE.whole is True
    assert PAGE.needs == ()
