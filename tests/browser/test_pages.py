"""Every page of the menu opens without complaint, whatever there is to show: in the shell, in Chinese, and alone in a host.

By its address and with something to show: test_accessibility.py."""

from __future__ import annotations

from collections.abc import Callable

import dash
import pytest
from dash import html
from flask import Flask
from playwright.sync_api import Page as Tab
from playwright.sync_api import expect

from app import create_app
from app.web.embedding import EmbeddedPage
from layouts import PAGES
from layouts.kit.page import Page
from tests.browser.showing import show
from tests.browser.waiting import settles, unchanged
from tests.sources import MemorySource, row, series

Serve = Callable[[Flask], str]
EMPTY = row("empty", tags={}, steps=0, points=0, main_tag="", main_value=None)
ODD = '<b>odd</b> "run"/%2F/名称 🚀'


def given(count: int) -> MemorySource:
    keys = ["one", ODD, "three"][:count]
    return MemorySource({
        key: {"scalar": {tag: series(200, seed) for tag in ("loss", "accuracy/top1")}} for seed, key in enumerate(keys)
    })  # fmt: skip


LITTLE: dict[str, Callable[[], MemorySource]] = {
    "no run": MemorySource,
    "an empty run": lambda: MemorySource(rows=[EMPTY]),
    "one run": lambda: given(1),
    "three runs": lambda: given(3),
}


OFTEN = ("an empty run",)
"""Tried in every run; tests/layouts/test_pages.py renders all pages with each of these in every run."""


HIDDEN_BUT_SHOWN = """() => [...document.querySelectorAll("[hidden]")]
    .filter((one) => getComputedStyle(one).display !== "none" && one.getClientRects().length)
    .map((one) => one.className)"""
"""Styles that set `display` show what has the attribute `hidden`."""


def is_open(page: Tab, shown: Page) -> None:
    expect(page.locator(".ms-frame")).to_be_visible()
    if shown.name not in ("board", "start"):  # its cards choose runs, each for itself; its links do
        expect(page.locator(".ms-picker-open")).to_be_visible()
    expect(page.locator(f'.ms-menu-link[data-page="{shown.path}"]')).to_have_attribute("aria-current", "page")


def in_chinese_and_dark(page: Tab) -> None:
    page.locator("[data-action=language]").click()
    page.locator("[data-action=theme]").click()
    expect(page.locator(".ms-page-title .zh")).to_be_visible()
    unchanged(page)  # so that what the page does late can still complain


@pytest.mark.long
def test_what_is_loaded_ahead_is_used(page: Tab, serve: Serve) -> None:
    address = serve(create_app(given(3)).server)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script("""(() => {
        const { fetch } = window;
        window.fetched = [];
        new MutationObserver((changes) => {  // scripts may be removed once they have run
            for (const { addedNodes } of changes) window.fetched.push(...[...addedNodes].map((one) => one.src).filter(Boolean));
        }).observe(document, { childList: true, subtree: true });
        window.fetch = (url, ...options) => {
            window.fetched.push(new URL(url, window.location.href).href);
            return fetch(url, ...options);
        };
    })()""")
    for name in ("", "scalars"):
        asked.clear()
        page.goto(f"{address}/{name}")
        ahead = page.evaluate("() => [...document.querySelectorAll('link[rel=preload]')].map((link) => link.href)")
        assert ahead
        page.wait_for_function(
            "urls => urls.every((url) => window.fetched.includes(url))",
            arg=ahead,
        )
        # The browser asks a second time for what was loaded ahead in another way than it is used.
        assert [url for url in ahead if asked.count(url) != 1] == []


@pytest.mark.parametrize("what", [what if what in OFTEN else pytest.param(what, marks=pytest.mark.long) for what in LITTLE])
def test_every_page_opens_one_after_the_other_where_there_is_little_to_show(page: Tab, serve: Serve, what: str) -> None:
    page.goto(f"{serve(create_app(LITTLE[what]()).server)}/{PAGES[1].path}")
    in_chinese_and_dark(page)
    for shown in reversed(PAGES):
        # As the browser's back button does; in the menu most are greyed here.
        page.evaluate("path => history.pushState(null, '', path)", f"/{shown.path}")
        page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
        is_open(page, shown)
        expect(page.locator(".ms-page-title .zh")).to_be_visible()
        unchanged(page)
        assert page.evaluate(HIDDEN_BUT_SHOWN) == []


FIRST_OF_GROUP = {shown.group: shown.name for shown in reversed(PAGES)}
EVERY = [
    pytest.param(shown, id=shown.name, marks=() if shown.name == FIRST_OF_GROUP[shown.group] else pytest.mark.long)
    for shown in PAGES
]
"""Every page, of which one of each group is tried in every run."""


@pytest.mark.parametrize("shown", EVERY)
def test_a_page_stands_alone_in_a_host(page: Tab, serve: Serve, shown: Page) -> None:
    host = dash.Dash("host", update_title="", include_assets_files=False)
    embedded = EmbeddedPage(shown, given(3), id="s1")
    embedded.register(host)
    host.layout = html.Div([html.H1("Our lab"), embedded.layout()])
    page.goto(serve(host.server) + "/")
    expect(page.locator(".ms-picker-count .en")).to_have_text("3 of 3 runs")
    page.locator(".ms-picker-open").click()
    page.locator(".ms-panel-row").first.click()
    expect(page.locator(".ms-picker-count .en")).to_have_text("2 of 3 runs")
    assert page.url.endswith("/")
    # Keys outside our page are the host's.
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.evaluate("document.documentElement.lang = 'zh-CN'")
    expect(page.locator(".ms-picker-count .zh")).to_be_visible()


@pytest.mark.parametrize("shown", EVERY)
def test_a_page_does_not_scroll_sideways_in_a_narrow_window(page: Tab, everything: str, shown: Page) -> None:
    page.set_viewport_size({"width": 1000, "height": 800})
    with settles(page):
        show(page, f"{everything}/{shown.path}")
        expect(page.locator(".ms-frame")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
