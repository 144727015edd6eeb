"""Boards saved as one file: they have all cards and look as on screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from tests.amounts import long_after
from tests.browser.runs.test_board import made
from tests.browser.saving.saved_pages import Saved, alike, save
from tests.browser.waiting import WAIT_MS, settles, unchanged
from tests.recorded import RECORDED


def board(address: str, cards: list[dict[str, Any]], name: str = "Daily") -> str:
    """The address of a new board of these cards, two beside each other."""
    return made(address, *(
        {"key": f"{at + 1:016x}", "x": 6 * (at % 2), "y": 8 * (at // 2), "w": 6, "h": 8, **card}
        for at, card in enumerate(cards)
    ), name=name)  # fmt: skip


@pytest.mark.long
def test_a_board_becomes_one_file_with_all_its_cards(
    page: Page, serve: Callable[[Flask], str], opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    app = create_app(RECORDED, workspace=tmp_path / "workspace")
    assert app.source.wait(30)
    keys = [f"{number:016x}" for number in range(1, 5)]
    below = {"key": keys[3], "place": "scalars?run=long_history", "part": "key:learning_rate", "w": 4, "h": 8, "y": 40}
    address = serve(app.server)
    page.goto(made(
        address, {"key": keys[0], "place": "scalars?run=long_history", "part": "key:loss", "w": 4, "h": 8},
        {"key": keys[1], "text": "# Daily\n\n**bold**", "x": 4, "w": 4, "h": 6},
        {"key": keys[2], "place": "graph?run=lenet_sink_mode", "part": "", "x": 4, "y": 6, "w": 8, "h": 10}, below,
    ))  # fmt: skip
    expect(page.locator(f'[data-card="{keys[0]}"] .js-plotly-plot .main-svg').first).to_be_visible()
    saved = opened(save(page, tmp_path / "page.html")).page
    cards = saved.locator(".ms-board-card")
    assert cards.count() == len(keys) == page.locator(".ms-board-card").count()
    expect(cards.locator("h1")).to_have_text("Daily")
    assert saved.locator(".js-plotly-plot:has(.main-svg)").count() == 2, "also of the card that was out of view"
    assert cards.locator("img").count() > 0, "the canvas of the graph"
    assert saved.locator("iframe").count() == 0
    app.source.stop()


SHOWN: dict[str, list[dict[str, Any]]] = {
    "curves": [{"place": "scalars?run=long_history", "part": "key:loss"}, {"place": "scalars", "part": "key:loss"},
               {"place": "scalars?run=long_history", "part": "key:learning_rate"},
               {"text": "# Daily\n\n* **bold**\n\n| a | b |\n| - | - |\n| 1 | 2 |"}],
    "graph": [{"place": "graph?run=lenet_sink_mode", "part": "", "w": 12, "h": 14}],
    "runs": [{"place": "runs", "part": "", "w": 12}, {"place": "scalars?run=long_history", "part": "key:no such tag", "y": 8},
             {"place": "operators?run=none", "part": "", "y": 8}],
}  # fmt: skip
"""Cards of boards."""


@pytest.mark.parametrize("cards", long_after(1, SHOWN))
def test_a_saved_board_looks_as_on_screen(
    page: Page, serve: Callable[[Flask], str], opened: Callable[[Path], Saved], tmp_path: Path, cards: str
) -> None:
    app = create_app(RECORDED, workspace=tmp_path / "workspace")
    assert app.source.wait(30)
    shown = SHOWN[cards]
    with settles(page):
        page.goto(board(serve(app.server), shown))
        expect(page.locator(".ms-apart, .ms-board-frame").first).to_be_attached(timeout=WAIT_MS)
    saved = opened(save(page, tmp_path / "page.html")).page
    unchanged(page)
    alike(page, saved)
    app.source.stop()
