"""The board page on the server: it has no board in it, and shows no HTML of users."""

from __future__ import annotations

import re
from pathlib import Path

import layouts
from app.web.private_dash import to_json
from layouts.curves.scalars.page import CARDS as SCALARS
from layouts.kit.page import Ids
from layouts.runs.board.page import layout
from layouts.values.histograms.page import CARDS as HISTOGRAMS
from layouts.values.images.page import CARDS as IMAGES
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


def test_cards_without_frames_ask_for_no_more_at_once_than_their_pages_take() -> None:
    scripts = Path(layouts.__file__).parent.parent / "assets/runs/board"
    pages = re.search(r"PAGES = new Map\(\[(.*?)\]\);", (scripts / "apart.js").read_text("utf-8"))
    most = re.search(r"MOST_CARDS = (\d+);", (scripts / "calls.js").read_text("utf-8"))
    assert pages
    assert most
    taken = {"scalars": SCALARS, "histograms": HISTOGRAMS, "images": IMAGES}
    assert set(re.findall(r'"(\w+)"', pages[1])) == set(taken)
    assert int(most[1]) <= min(cards.most for cards in taken.values())
