"""Boards in a browser: made from cards of pages, arranged by pointer and keys, edited in two windows, embedded."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import numpy as np
import pytest
from dash import Dash, html
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Locator, Page, Route, expect
from playwright.sync_api import Request as Asked

from app import create_app, pages
from app.web.server import Application
from parsers.recording import EventWriter, Tensor
from tests.browser.shell.test_idle import AGES, QUESTIONS, WATCH, status_alone
from tests.browser.showing import show
from tests.browser.waiting import becomes, polls, settles
from tests.recorded import RECORDED

pytestmark = pytest.mark.browser
KEYS = [f"{number:016x}" for number in range(40)]
LOSS = {"key": KEYS[1], "place": "scalars?smooth=0.6", "part": "key:loss", "w": 4, "h": 8}
SAID = {"key": KEYS[2], "text": "# Daily\n\n**bold** <b>no html</b>", "x": 4, "w": 4, "h": 6}
LINE = ".ms-slot:not([hidden]) .scatterlayer .trace path.js-line"
HEIGHTS = """(card) => card.querySelector('.js-plotly-plot').calcdata.flat().map(({ y }) => y).filter(Number.isFinite)
  .sort((one, other) => one - other)"""


@pytest.fixture
def opened(base: Path, tmp_path: Path, serve: Callable[[Flask], str]):
    started: list[Application] = []

    def start() -> str:
        started.append(create_app(base, workspace=tmp_path / "workspace"))
        assert started[-1].source.wait(30)
        return serve(started[-1].server)

    yield start
    for app in started:
        app.source.stop()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    """The application over the recorded runs, in which each test makes a board of its own."""
    app = create_app(RECORDED, workspace=tmp_path_factory.mktemp("shared") / "workspace")
    assert app.source.wait(30)
    yield serve_file(app.server)
    app.source.stop()


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """The key of the test's board."""
    return hashlib.sha256(request.node.name.encode()).hexdigest()[:16]


def post(address: str, change: dict[str, Any], route: str = "api/board") -> dict[str, Any]:
    request = Request(f"{address}/{route}", json.dumps(change).encode(), {"Content-Type": "application/json"})
    found: dict[str, Any] = json.load(urlopen(request))
    return found


def saved(address: str, key: str = KEYS[0]) -> dict[str, dict[str, Any]]:
    board = json.load(urlopen(f"{address}/api/board.json?board={key}"))
    return {card["key"]: card for card in board["cards"]}


def made(address: str, *cards: dict[str, Any], key: str = KEYS[0], name: str = "Daily") -> str:
    post(address, {"create": name, "key": key, "cards": list(cards)})
    return f"{address}/board?board={key}"


def card(page: Page, key: str) -> Locator:
    return page.locator(f'.ms-board-card[data-card="{key}"]')


def test_a_card_of_a_page_that_this_version_has_not_says_so(unwatched: Page, shared: str, key: str) -> None:
    page = unwatched
    page.goto(made(shared, {"key": KEYS[1], "place": "no_such_page?run=a", "part": "key:loss"}, key=key))
    said = card(page, KEYS[1]).locator(".ms-board-content")
    expect(said).to_have_text(re.compile("There is no page no_such_page in this version"))
    expect(said.locator("iframe, .ms-skeleton")).to_have_count(0)


def inside(page: Page, key: str) -> FrameLocator:
    """A card that is a frame."""
    return card(page, key).frame_locator("iframe")


def place(page: Page, key: str) -> tuple[int, ...]:
    """Column, row, width and height of a card on screen, in columns and rows of the grid."""
    area = card(page, key).evaluate("(card) => card.style.gridArea")
    row, column, height, width = (int(part.removeprefix("span ")) for part in area.split(" / "))
    return column - 1, row - 1, width, height


CARDS = 12
REQUESTS = 50
"""The most requests that opening these cards may take: scripts and styles count, polls do not."""
CALLBACKS = 18
"""The board's own, tags and curves of all cards together, insights of each card."""


def test_a_board_takes_few_requests_and_none_without_news(browser: Browser, shared: str, key: str) -> None:
    """They cannot grow unnoticed: a card that is a frame takes 27 requests and 0.8 s of processor time."""
    cards = [
        {"key": KEYS[number], "place": f"scalars?run=long_history&smooth=0.{number % 10}", "part": "key:loss",
         "x": number % 4 * 3, "y": number // 4 * 6, "w": 3, "h": 6}
        for number in range(CARDS)
    ]  # fmt: skip
    address = made(shared, *cards, key=key, name=key)
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    try:
        page = context.new_page()
        asked: list[Asked] = []
        page.on("request", lambda request: asked.append(request))  # noqa: PLW0108 - playwright takes no built-in method
        with settles(page):
            page.goto(address)
            expect(page.locator(".ms-board-card .js-plotly-plot:has(.scatterlayer .trace path.js-line)")).to_have_count(CARDS)
        assert page.locator("iframe").count() == 0
        paths = [urlsplit(request.url).path for request in asked if not request.url.endswith("status.json")]
        assert len(paths) <= REQUESTS, paths
        posts = [json.loads(request.post_data or "{}") for request in asked if "_dash-update-component" in request.url]
        assert len(posts) <= CALLBACKS
        drawn = [post["inputs"][0]["value"]["cards"] for post in posts if post["output"].endswith("-answer.data")]
        assert sum(map(len, drawn)) == CARDS, "each card is drawn once"
        becomes(page, lambda: status_alone(asked[-2:]), True)
        asked.clear()
        page.evaluate(WATCH, AGES)
        becomes(page, lambda: len(asked) >= QUESTIONS, True)
        assert status_alone(asked), "one question for all cards"
        assert page.evaluate("changed") == []
    finally:
        context.close()


def test_a_page_that_cannot_be_drawn_in_the_board_is_a_frame(browser: Browser, shared: str, key: str) -> None:
    """A page may have components that only Dash draws; the frame then loads the page itself."""
    context = browser.new_context()  # a tab keeps the components of pages, here others than those of the server
    try:
        page = context.new_page()
        asked: list[str] = []

        def with_another_component(route: Route) -> None:
            asked.append(route.request.url)
            if len(asked) > 1:  # the frame's own
                route.continue_()
                return
            answer = route.fetch()
            route.fulfill(response=answer, body=answer.text().replace('"dash_html_components"', '"another_library"'))

        page.route("**/api/pages/scalars.json*", with_another_component)
        errors: list[str] = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(made(shared, LOSS, key=key, name=key))
        expect(inside(page, KEYS[1]).locator(LINE).first).to_be_attached(timeout=30_000)
        assert any("expected a component of dash.html" in error for error in errors), errors
        expect(card(page, KEYS[1]).locator(".ms-apart")).to_have_count(0)
        assert len(asked) == 2
    finally:
        context.close()


def test_what_the_server_refuses_of_one_card_is_said_there_alone(unwatched: Page, shared: str, key: str) -> None:
    page = unwatched
    bad = LOSS | {"key": KEYS[5], "place": "scalars?smooth=0.6&x=nonsense", "x": 4}
    page.goto(made(shared, LOSS, bad, key=key, name=key))
    expect(card(page, KEYS[1]).locator(LINE).first).to_be_attached()
    refused = card(page, KEYS[5])
    expect(refused.locator(".ms-slot.ms-failed .ms-card-reason")).to_contain_text("nonsense")
    expect(card(page, KEYS[1]).locator(".ms-failed")).to_have_count(0)
    expect(page.locator(".ms-notice")).to_be_hidden()


@pytest.mark.long
@pytest.mark.parametrize(("place", "part"), [("histograms", "key:conv1.weight/auto"), ("images", "key:input_image")])
def test_cards_of_other_pages_are_drawn_without_frames(
    page: Page, shared: str, key: str, place: str, part: str
) -> None:
    show(page, made(shared, {"key": KEYS[3], "place": f"{place}?run=lenet_sink_mode", "part": part}, key=key, name=key))
    slot = card(page, KEYS[3]).locator(".ms-slot:not(.ms-pending)")
    expect(slot).to_be_visible()
    expect(slot.locator(".main-svg, img").first).to_be_visible()
    assert page.locator("iframe").count() == 0


@pytest.mark.long
def test_a_board_that_was_left_and_opened_again_draws_its_cards(page: Page, shared: str, key: str) -> None:
    address = made(shared, LOSS, key=key, name=key)
    for _ in range(2):
        show(page, address)
        expect(card(page, KEYS[1]).locator(LINE).first).to_be_attached()
        slot = card(page, KEYS[1]).locator(".ms-slot")
        slot.hover()
        slot.locator('[data-act="log"]').click()
        expect(page.get_by_role("button", name="Keep changes")).to_be_visible()
        show(page, f"{shared}/scalars")
        expect(page.locator('.ms-slot[data-key="loss"] .scatterlayer .trace').first).to_be_attached()


@pytest.mark.long
def test_the_first_board_begins_with_a_curve(page: Page, opened: Callable[[], str]) -> None:
    address = opened()
    page.goto(f"{address}/board")
    expect(page.get_by_text("No boards yet.")).to_be_visible()
    show(page, f"{address}/scalars?run=nan_inf&smooth=0.6")
    curve = page.locator('.ms-slot[data-key="loss"]')
    expect(curve.locator(".scatterlayer .trace").first).to_be_attached()
    curve.hover()
    curve.get_by_role("button", name="Add to a board").click()
    page.get_by_role("textbox", name="Name of a new board").fill("Daily")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Open the board").click()
    shown = page.locator(".ms-board-card")
    expect(shown.locator(LINE).first).to_be_attached()
    assert shown.locator(".ms-slot:not([hidden])").count() == 1, "the page draws no other card"
    expect(shown.locator(".ms-tags")).to_be_hidden()
    expect(page.locator(".ms-board-head .ms-card-title")).to_have_text("loss")
    on_board = shown.locator(".ms-slot:not([hidden])").evaluate(HEIGHTS)
    (one,) = saved(address, page.url.rpartition("=")[2]).values()
    assert (one["place"], one["part"]) == ("scalars?run=nan_inf&smooth=0.6", "key:loss")
    show(page, f"{address}/{one['place']}")
    expect(page.locator('.ms-slot[data-key="loss"] .scatterlayer .trace').first).to_be_attached()
    assert on_board
    assert on_board == page.locator('.ms-slot[data-key="loss"]').evaluate(HEIGHTS), "what the page shows"


def test_a_tile_of_the_overview_is_added_and_is_as_high_as_before(page: Page, opened: Callable[[], str]) -> None:
    address = opened()
    show(page, f"{address}/overview?run=nan_inf&of=nan_inf")
    tile = page.locator('.ms-tile[data-tile="scalars"]')
    expect(tile.locator(".main-svg").first).to_be_visible()
    add = tile.get_by_role("button", name="Add to a board")
    expect(add).to_have_count(1)
    assert add.evaluate("button => button.closest('a')") is None, "a link must not have a button in it"
    link, whole = tile.locator(".ms-tile-link").bounding_box(), tile.bounding_box()
    assert link is not None
    assert whole is not None
    assert link["height"] > 0.9 * whole["height"]
    add.click()
    expect(page).to_have_url(re.compile("/overview"))
    page.get_by_role("textbox", name="Name of a new board").fill("Tiles")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Open the board").click()
    frame = page.frame_locator(".ms-board-card iframe")
    expect(frame.locator('.ms-tile[data-tile="scalars"] .main-svg').first).to_be_visible()


def test_a_sentence_without_a_head_is_added(page: Page, opened: Callable[[], str]) -> None:
    address = opened()
    show(page, f"{address}/optimisation")
    said = page.locator(".ms-optimisation-answer")
    add = said.get_by_role("button", name="Add to a board")
    expect(add).to_have_count(1)
    answer = said.locator("> :not(button)").filter(visible=True).first
    expect(answer).to_be_visible()
    text, button = becomes(page, lambda: (answer.bounding_box(), add.bounding_box()), all)  # it is drawn anew meanwhile
    assert text is not None
    assert button is not None
    assert text["x"] + text["width"] <= button["x"], "the button covers no text"
    sentence = said.inner_text()
    assert sentence
    add.click()
    page.get_by_role("textbox", name="Name of a new board").fill("Sentences")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Open the board").click()
    shown = page.frame_locator(".ms-board-card iframe").locator(".ms-optimisation-answer")
    expect(shown).to_be_visible()
    becomes(page, shown.inner_text, sentence)
    expect(shown.get_by_role("button", name="Add to a board")).to_have_count(0)


def test_cards_are_moved_and_resized_by_pointer_and_by_keys(page: Page, shared: str, key: str) -> None:
    show(page, made(shared, LOSS, SAID, key=key, name=key))
    expect(card(page, KEYS[1]).locator(LINE).first).to_be_attached()
    head = card(page, KEYS[2]).locator(".ms-board-head").bounding_box()
    assert head is not None
    page.mouse.move(head["x"] + 60, head["y"] + 12)
    page.mouse.down()
    page.mouse.move(head["x"] - 300, head["y"] + 20, steps=6)
    assert (place(page, KEYS[2]), place(page, KEYS[1])) == ((0, 0, 4, 6), (0, 6, 4, 8)), "while it is dragged"
    page.keyboard.press("Escape")
    assert (place(page, KEYS[2]), place(page, KEYS[1])) == ((4, 0, 4, 6), (0, 0, 4, 8))
    page.mouse.up()
    corner = card(page, KEYS[2]).locator(".ms-board-corner")
    corner.hover()
    box = corner.bounding_box()
    assert box is not None
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 100, steps=4)
    page.mouse.up()
    assert place(page, KEYS[2])[2:] == (7, 8)
    card(page, KEYS[1]).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    assert place(page, KEYS[1])[2:] == (4, 7)
    page.keyboard.press("Shift+ArrowLeft")
    assert place(page, KEYS[1])[2:] == (3, 7)
    shown = {one: place(page, one) for one in KEYS[1:3]}
    # Each move is saved by a request of its own.
    becomes(page, lambda: {at: tuple(one[name] for name in "xywh") for at, one in saved(shared, key).items()}, shown)
    expect(card(page, KEYS[1]).locator(LINE).first).to_be_attached()


def test_texts_are_markdown_and_nothing_else(page: Page, shared: str, key: str) -> None:
    hostile = "[x](javascript:alert(1)) <img src=x onerror=alert(1)> <script>alert(1)</script> [y](https://example.org/a)"
    show(page, made(shared, SAID, {"key": KEYS[3], "text": hostile, "x": 8}, key=key, name=key))
    text = card(page, KEYS[2]).locator(".ms-board-text")
    expect(text.locator("h1")).to_have_text("Daily")
    expect(text.locator("strong")).to_have_text("bold")
    expect(text).to_contain_text("<b>no html</b>")
    bad = card(page, KEYS[3]).locator(".ms-board-text")
    expect(bad).to_contain_text("<script>alert(1)</script>")
    assert bad.locator("script, img, b").count() == 0
    assert bad.locator("a").evaluate_all("(links) => links.map((link) => link.getAttribute('href'))") == [
        None, "https://example.org/a"]  # fmt: skip
    assert bad.locator("a").last.get_attribute("rel") == "noopener noreferrer"
    card(page, KEYS[2]).hover()
    card(page, KEYS[2]).get_by_role("button", name="Edit the text").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("## 第二版")
    page.keyboard.press("Control+Enter")
    expect(text.locator("h2")).to_have_text("第二版")
    becomes(page, lambda: saved(shared, key)[KEYS[2]]["text"], "## 第二版")  # it is drawn before it is saved


@pytest.mark.long
def test_a_deleted_card_and_a_deleted_board_come_back(page: Page, opened: Callable[[], str]) -> None:
    address = opened()
    page.goto(made(address, LOSS, SAID))
    expect(card(page, KEYS[2]).locator("h1")).to_have_text("Daily")
    before = saved(address)
    card(page, KEYS[2]).focus()
    page.keyboard.press("Delete")
    expect(card(page, KEYS[2])).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(card(page, KEYS[2]).locator("h1")).to_have_text("Daily")
    page.wait_for_function(f"fetch('api/board.json?board={KEYS[0]}').then((a) => a.json()).then((b) => b.cards.length === 2)")
    assert saved(address)[KEYS[2]] == before[KEYS[2]]
    page.locator(".ms-board-bar summary").click()
    page.get_by_role("button", name="Delete this board").click()
    expect(page.get_by_text("No boards yet.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(card(page, KEYS[2]).locator("h1")).to_have_text("Daily")
    assert saved(address) == before


@pytest.mark.long
def test_two_windows_at_once(page: Page, context: BrowserContext, shared: str, key: str) -> None:
    url = made(shared, SAID, key=key, name=key)
    show(page, url)
    other = context.new_page()
    other.goto(url)
    for window in (page, other):
        expect(card(window, KEYS[2]).locator("h1")).to_have_text("Daily")
    card(page, KEYS[2]).hover()
    card(page, KEYS[2]).get_by_role("button", name="Edit the text").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("mine")
    card(other, KEYS[2]).hover()
    card(other, KEYS[2]).get_by_role("button", name="Edit the text").click()
    other.keyboard.press("Control+A")
    other.keyboard.insert_text("theirs")
    other.keyboard.press("Control+Enter")
    expect(card(page, KEYS[2]).locator(".ms-board-text")).to_contain_text("theirs")
    expect(page.locator(".ms-board-field")).to_have_value("mine")
    page.locator(".ms-board-field").press("Control+Enter")
    expect(page.get_by_text("changed in another window")).to_be_visible()
    expect(card(other, KEYS[2]).locator(".ms-board-text")).to_contain_text("mine")
    page.get_by_role("button", name="Take theirs").click()
    expect(card(other, KEYS[2]).locator(".ms-board-text")).to_contain_text("theirs")


def test_who_loses_a_change_of_the_same_field_is_told(page: Page, browser: Browser, shared: str, key: str) -> None:
    url = made(shared, SAID, key=key, name=key)
    show(page, url)
    others = browser.new_context(viewport={"width": 1440, "height": 1000}, locale="en-US")
    other = others.new_page()
    other.goto(url)
    for window in (page, other):
        expect(card(window, KEYS[2]).locator("h1")).to_have_text("Daily")
    # The other browser does not hear of the first change before it makes its own.
    other.route("**/board.json*", lambda route: route.abort())
    card(page, KEYS[2]).focus()
    page.keyboard.press("Shift+ArrowRight")
    becomes(page, lambda: saved(shared, key)[KEYS[2]]["w"], 5)
    card(other, KEYS[2]).focus()
    other.keyboard.press("Shift+ArrowLeft")
    becomes(page, lambda: saved(shared, key)[KEYS[2]]["w"], 3)
    expect(page.locator(".ms-board-toast")).to_contain_text("which replaced your change", use_inner_text=True)
    expect(other.locator(".ms-board-toast")).to_have_count(0)
    assert place(page, KEYS[2])[2] == 3
    page.get_by_role("button", name="Restore mine").click()
    becomes(page, lambda: saved(shared, key)[KEYS[2]]["w"], 5)
    expect(page.locator(".ms-board-toast")).to_have_count(0)
    # Who has seen the change and makes another one replaces nothing unknowingly.
    other.unroute("**/board.json*")
    becomes(other, lambda: place(other, KEYS[2])[2], 5)
    card(other, KEYS[2]).focus()
    other.keyboard.press("Shift+ArrowLeft")
    becomes(page, lambda: saved(shared, key)[KEYS[2]]["w"], 4)
    becomes(page, lambda: place(page, KEYS[2])[2], 4)
    expect(page.locator(".ms-board-toast")).to_have_count(0)
    others.close()


@pytest.mark.long
def test_what_is_changed_in_a_card_can_be_kept(page: Page, shared: str, key: str) -> None:
    show(page, made(shared, LOSS, key=key, name=key))
    slot = card(page, KEYS[1]).locator('.ms-slot[data-key="loss"]')
    expect(slot.locator(".scatterlayer .trace").first).to_be_attached()
    entries = page.evaluate("history.length")
    slot.hover()
    slot.locator('[data-act="log"]').click()
    page.get_by_role("button", name="Reset").click()
    expect(slot.locator('[data-act="log"]')).to_have_attribute("aria-pressed", "false")
    slot.hover()
    slot.locator('[data-act="log"]').click()
    with page.expect_response("**/api/board"):
        page.get_by_role("button", name="Keep changes").click()
    assert saved(shared, key)[KEYS[1]]["place"] == "scalars?smooth=0.6&log=loss"
    assert page.evaluate("history.length") == entries, "a card makes no history"


@pytest.mark.long
def test_theme_and_language_of_the_cards_are_those_of_the_board(page: Page, shared: str, key: str) -> None:
    show(page, made(shared, LOSS, {"key": KEYS[3], "place": "runs", "x": 4}, key=key, name=key))
    root = inside(page, KEYS[3]).locator(":root")
    expect(card(page, KEYS[1]).locator(LINE).first).to_be_attached()
    expect(root).to_have_attribute("data-led", "")
    page.locator('.ms-top [data-action="theme"]').click()
    expect(root).to_have_attribute("data-mantine-color-scheme", "dark")
    page.locator('.ms-top [data-action="language"]').click()
    expect(root).to_have_attribute("lang", "zh-CN")
    expect(card(page, KEYS[1]).locator(".ms-slot").get_by_text("由全部", exact=False).first).to_be_visible()


@pytest.mark.long
def test_cards_out_of_view_cost_nothing(page: Page, shared: str, key: str) -> None:
    below = [{**LOSS, "key": KEYS[number], "y": 8 * number} for number in range(10, 30)]
    show(page, made(shared, *below, key=key, name=key))
    expect(card(page, KEYS[10]).locator(LINE).first).to_be_attached()
    expect(card(page, KEYS[11]).locator(LINE).first).to_be_attached()
    mounted = page.locator(".ms-apart").count()
    assert mounted <= 4
    for number in range(10, 10 + mounted):
        expect(card(page, KEYS[number]).locator(LINE).first).to_be_attached()
    polls(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    polls(page, 2)
    assert {url.rpartition("/")[2] for url in asked} == {"status.json"}, "nothing is new, so no card asks"
    card(page, KEYS[29]).scroll_into_view_if_needed()
    expect(card(page, KEYS[29]).locator(LINE).first).to_be_attached()


@pytest.mark.long
def test_cards_grow_with_their_files(page: Page, opened: Callable[[], str], base: Path) -> None:
    (base / "growing").mkdir()
    writer = EventWriter(str(base / "growing" / "events.out.events.summary.1700000000.0.host_MS"), "mindspore")
    for step in range(5):
        writer.add(step, {"loss": float(step)})
    writer.flush()
    grown = {**LOSS, "place": "scalars?run=growing"}
    page.goto(made(opened(), grown))
    slot = card(page, KEYS[1]).locator('.ms-slot[data-key="loss"]')
    expect(slot.locator(".scatterlayer .trace").first).to_be_attached()
    assert set(slot.evaluate(HEIGHTS)) >= {0, 4}
    for step in range(5, 9):
        writer.add(step, {"loss": float(step)})
    writer.flush()
    expect(slot.get_by_text("all 9 points")).to_be_visible()
    assert set(slot.evaluate(HEIGHTS)) >= {0, 4, 8}
    writer.close()


@pytest.mark.long
def test_an_embedded_board_is_only_looked_at(page: Page, shared: str, key: str) -> None:
    show(page, f"{made(shared, LOSS, SAID, key=key, name=key)}&embed=1")
    expect(card(page, KEYS[2]).locator("h1")).to_have_text("Daily")
    expect(page.locator(".ms-board-bar")).to_be_hidden()
    card(page, KEYS[2]).hover()
    assert card(page, KEYS[2]).get_by_role("button").count() == 1, "full screen"
    card(page, KEYS[2]).focus()
    page.keyboard.press("Delete")
    page.keyboard.press("ArrowRight")
    assert place(page, KEYS[2]) == (4, 0, 4, 6)


@pytest.mark.long
def test_what_is_gone_is_said(page: Page, shared: str, key: str) -> None:
    gone = {**LOSS, "key": KEYS[3], "place": "scalars?run=gone", "x": 4}
    tag = {**LOSS, "key": KEYS[4], "part": "key:no such tag", "x": 8}
    show(page, made(shared, gone, tag, key=key, name=key))
    expect(card(page, KEYS[3]).get_by_text("Run gone")).to_be_visible()
    expect(card(page, KEYS[3]).get_by_text("The run of this link does not exist: gone")).to_be_visible()
    expect(card(page, KEYS[4]).get_by_text("None of these runs has the tag no such tag.")).to_be_visible()
    show(page, f"{page.url[:-16]}{KEYS[9]}")
    expect(page.get_by_text("This board does not exist.")).to_be_visible()


@pytest.mark.long
def test_export_and_import(page: Page, shared: str, key: str, tmp_path: Path) -> None:
    show(page, made(shared, LOSS, SAID, key=key, name="Weekly"))
    page.locator(".ms-board-bar summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as JSON").click()
    file = tmp_path / "board.json"
    download.value.save_as(file)
    show(page, f"{shared}/board")
    page.locator('.ms-board input[type="file"]').set_input_files(file)
    expect(page.locator(".ms-board-name")).to_have_text("Weekly (2)")
    assert len(saved(shared, page.url.rpartition("=")[2])) == 2


@pytest.mark.long
def test_a_narrow_window_has_one_column(page: Page, shared: str, key: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    show(page, made(shared, SAID, {**SAID, "key": KEYS[3], "y": 7}, key=key, name=key))
    expect(card(page, KEYS[3]).locator("h1")).to_have_text("Daily")
    boxes = [card(page, key).bounding_box() for key in (KEYS[2], KEYS[3])]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["x"] == boxes[1]["x"]
    assert boxes[0]["width"] == boxes[1]["width"] > 300
    assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"]


@pytest.mark.long
def test_a_board_in_somebody_elses_application(page: Page, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    host = Dash("lab", include_assets_files=False)
    board = pages.Board(str(RECORDED), id="b1", workspace=tmp_path / "workspace")
    board.register(host)
    host.layout = html.Div([html.H1("Our lab"), board.layout()])
    assert board.source.wait(30)
    address = serve(host.server)
    page.goto(address)
    page.get_by_role("textbox", name="Name of a new board").fill("Ours")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This board has no cards.")).to_be_visible()
    (key,) = [one.key for one in board.source.notes.notebook().boards]
    change = {"board": key, "change": [{"key": KEYS[1], "place": "scalars", "part": "key:loss"}]}
    post(f"{address}/_mindscope/b1", change, "board")
    expect(inside(page, KEYS[1]).locator(LINE).first).to_be_attached()
    page.evaluate("document.documentElement.dataset.mantineColorScheme = 'dark'")
    expect(inside(page, KEYS[1]).locator(":root")).to_have_attribute("data-mantine-color-scheme", "dark")
    board.source.stop()


@pytest.mark.long
def test_cards_and_boards_are_duplicated_and_arranged(page: Page, shared: str, key: str) -> None:
    show(page, made(shared, {**LOSS, "x": 5, "w": 7}, SAID | {"x": 0, "y": 0}, key=key))
    card(page, KEYS[2]).hover()
    card(page, KEYS[2]).locator("summary").click()
    card(page, KEYS[2]).get_by_role("button", name="Duplicate").click()
    expect(page.locator(".ms-board-card")).to_have_count(3)
    page.locator(".ms-board-bar summary").click()
    page.get_by_role("button", name="Arrange in 3 columns").click()
    expect(page.locator(".ms-board-toast")).to_contain_text("All cards have one size now.", use_inner_text=True)
    places = {(0, 0, 4), (4, 0, 4), (8, 0, 4)}
    becomes(page, lambda: {(one["x"], one["y"], one["w"]) for one in saved(shared, key).values()}, places)
    page.get_by_role("button", name="Undo").click()
    becomes(page, lambda: saved(shared, key)[KEYS[1]]["w"], 7)
    page.locator(".ms-board-bar summary").click()
    page.locator(".ms-board-bar").get_by_role("button", name="Duplicate").click()
    expect(page.locator(".ms-board-name")).to_have_text("Daily (copy)")
    expect(page.locator(".ms-board-card")).to_have_count(3)


@pytest.mark.long
def test_runs_are_chosen_once_for_all_cards(page: Page, shared: str, key: str) -> None:
    address = made(shared, LOSS, SAID, {"key": KEYS[3], "place": "scalars?run=nan_inf&log=1", "part": "key:loss"}, key=key)
    show(page, f"{address}&run=long_history")
    page.get_by_role("button", name="Use the chosen runs in all cards").click()
    expect(page.locator(".ms-board-toast")).to_contain_text("All cards show the chosen runs now", use_inner_text=True)
    becomes(page, lambda: saved(shared, key)[KEYS[1]]["place"], "scalars?run=long_history&smooth=0.6")
    assert saved(shared, key)[KEYS[3]]["place"] == "scalars?run=long_history&log=1"
    assert saved(shared, key)[KEYS[2]]["text"].startswith("# Daily")
    expect(page.get_by_role("button", name="Use the chosen runs in all cards")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    becomes(page, lambda: saved(shared, key)[KEYS[3]]["place"], "scalars?run=nan_inf&log=1")


@pytest.mark.long
def test_the_wheel_scrolls_the_board_over_a_table_that_has_ended(
    page: Page, tmp_path: Path, serve: Callable[[Flask], str]
) -> None:
    (tmp_path / "runs" / "a").mkdir(parents=True)
    with EventWriter(str(tmp_path / "runs" / "a" / "events.summary.1.h"), "mindspore") as writer:
        writer.add(1, {"w": Tensor(np.arange(400, dtype=np.float32).reshape(40, 10))}, wall_time=1.7e9)
    app = create_app(tmp_path / "runs", workspace=tmp_path / "workspace")
    assert app.source.wait(30)
    try:
        address = serve(app.server)
        table = {"key": KEYS[3], "place": "tensors", "part": "key:w", "w": 6, "h": 8}
        text = {**SAID, "y": 8, "h": 40}
        show(page, made(address, table, text))
        rows = inside(page, KEYS[3]).locator(".ms-table-scroll")
        expect(rows).to_be_visible()
        card(page, KEYS[3]).locator("iframe").hover()
        for _ in range(30):
            page.mouse.wheel(0, 400)
        becomes(page, lambda: page.evaluate("scrollY") > 100, True)
    finally:
        app.source.stop()
