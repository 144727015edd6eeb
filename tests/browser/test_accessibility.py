"""Every page in both themes against axe-core's rules: nothing serious or critical is found."""

from __future__ import annotations

import functools
import os
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from layouts import PAGES
from layouts.runs.boards import BoardCard
from tests.browser.showing import show
from tests.browser.waiting import WAIT_MS, frames, settles
from tests.recorded import RECORDED

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
GROUPS = sorted({page.group for page in PAGES})
GRAVE = ("serious", "critical")
LEFT_OUT = (
    ("scrollable-region-focusable", "ms-table-scroll"),  # the grid around it has the focus, and arrow keys move it
    ("label-content-name-mismatch", "ms-dataset-box"),  # its name has the whole text of what is shortened on screen
    ("label-content-name-mismatch", "ms-tile-link"),  # it is around pictures, whose numbers are no name
    ("aria-required-children", "ag-header-row"),  # AG Grid's row of headings of groups, where a pinned column has none
)
VIEWS = {"graph": ("graph?run=runs/lenet_diverges_nan&paint=nan",)}
"""Views of pages that have controls of their own, by page."""
FOUND = """() => axe.run(document, {resultTypes: ['violations']}).then(({ violations }) => violations.flatMap(
    ({ id, impact, nodes }) => nodes.map(({ html, target, any }) => (
        { id, impact, html: html.slice(0, 300), target: target.join(' '), why: any.length ? any[0].message : '' }))))"""


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.is_file():
        if os.environ.get("MINDSCOPE_REQUIRE_BROWSER") == "1":
            pytest.fail("MINDSCOPE_REQUIRE_BROWSER=1, but axe-core is not installed; `make scripts` does it")
        pytest.skip("axe-core is not installed; `make scripts` does it")
    return AXE.read_text(encoding="utf-8")


def is_left_out(one: dict[str, Any]) -> bool:
    return any(one["id"] == rule and part in one["html"] for rule, part in LEFT_OUT)


CHARTS = """() => {
  const hidden = (one) => one.closest('[aria-hidden="true"], [hidden]') || !one.checkVisibility();
  const text = (one) => [
    one.getAttribute('aria-label'), one.getAttribute('alt'),
    ...(one.getAttribute('aria-describedby') || '').split(' ').map((id) => id && document.getElementById(id)?.innerText),
  ].filter(Boolean).join(' ');
  const whole = '[role="img"], [role="application"]';
  const named = (one) => one.matches('img[alt=""]') && one.closest('button, a, figure, li, tr, [role="row"]')?.innerText.trim();
  const found = document.querySelectorAll(`main :is(.js-plotly-plot, canvas, img, svg, ${whole})`);
  const drawn = Array.from(found).filter((one) => (
    !hidden(one) && !named(one) && !one.parentElement.closest(`${whole}, .js-plotly-plot`)
    && !one.matches('.ms-graph-scale') && Math.min(one.clientWidth, one.clientHeight) > 24
    && !(one.matches('.js-plotly-plot') && one.closest('.ms-card-body')?.querySelector('.ms-skeleton')?.checkVisibility())
  ));
  return drawn.map((one) => [`${one.localName}.${one.getAttribute('class')}`, text(one)]);
}"""
"""What is drawn, with its text alternative. Icons are smaller, a scale of colours is named by its ends, pictures beside their
name need none, what is below a skeleton is not drawn yet."""
NAMELESS = 60
"""Names of charts alone are shorter than this; alternatives with values are longer."""
WITHOUT = {
    "runs", "text", "tensors", "two_runs", "advice", "profile_overview", "operators", "shapes", "board", "confusion", "scores",
    "counterfactual", "uncertainty", "start", "guides",
}  # fmt: skip
"""Pages that show no chart with these data: lists, texts and tables, and pages about files that are not among them."""
OF_RUNS = {"scalars", "histograms", "images", "landscape", "dataset", "model_lineage", "data_lineage", "optimisation"}
"""Pages with charts of several runs."""


NAMED = """async () => {
  const { partOf, cardNamed } = await import(
    document.querySelector('script[src$="/shell/main.js"]').src.replace(/shell.main.js$/, "kit/alone.js"));
  const shown = Array.from(document.querySelectorAll('.ms-page .ms-card')).filter((card) => card.getBoundingClientRect().width);
  const found = shown.map((card) => [partOf(card), cardNamed(card.closest('.ms-frame'), partOf(card)) === card]);
  return { names: found.map(([name]) => name), lost: found.filter(([name, again]) => !name || !again) };
}"""
"""Names of the cards on screen, and those that a board would not find by their name."""
HEADS = ("ranks", "two_jobs")
"""Pages with a head that looks like a card, without a name, a title or a button that adds it to a board."""


@pytest.mark.parametrize("themes", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("group", GROUPS)
def test_pages_open_with_nothing_grave_a_text_for_every_chart_and_a_name_for_every_card(
    page: Page, everything: str, axe: str, group: str, themes: int
) -> None:
    """Each page by its address, without complaint, in both themes: from light to dark and the next one from dark to light.

    In every run each page has one theme, the next page the other one, and only the first page of a group is loaded.

    Charts say what they show, in the language of the page; charts of runs name at least one of them.
    """
    page.set_viewport_size({"width": 1440, "height": 2400})
    grave, missing, unnamed, drawn = [], [], [], set()
    pages = [shown for shown in PAGES if shown.group == group]
    for shown in pages:
        for path in (shown.path, *VIEWS.get(shown.name, ())):
            with settles(page):
                (page.goto if themes == 2 else functools.partial(show, page))(f"{everything}/{path}")
                expect(page.locator(".ms-frame")).to_be_visible()
                expect(page.locator(f'.ms-menu-link[data-page="{shown.path}"]')).to_have_attribute("aria-current", "page")
            found, lacking = charts(page, shown.name)
            drawn |= {shown.name} if found else set()
            missing += [f"{path}: {one}" for one in lacking]
            named = page.evaluate(NAMED)
            unnamed += [f"{path}: {one}" for one in named["lost"] if one[0] or shown.name not in HEADS]
            unnamed += [f"{path}: {one} twice" for one, times in Counter(named["names"]).items() if times > 1]
            if not page.evaluate("() => 'axe' in window"):
                page.evaluate(axe)
            grave += [f"{path}, {one}" for _ in range(themes) for one in graveness(page)]
    assert not unnamed, "\n".join(unnamed)
    assert not missing, "\n".join(missing)
    assert drawn >= {shown.name for shown in pages} - WITHOUT
    assert not grave, "\n".join(grave)


def charts(page: Page, name: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Wait until there are charts that all have alternatives; return all, and those without when time was up."""
    until = time.monotonic() + WAIT_MS / 1000
    while True:
        found = page.evaluate(CHARTS)
        lacking = [one for one in found if not speaks(name, one)]
        if time.monotonic() > until or (not lacking and (found or name in WITHOUT)):
            return found, lacking
        frames(page, 10)


def graveness(page: Page) -> list[str]:
    """Return what axe-core finds grave, and change the theme."""
    root = page.locator("html")
    theme = root.get_attribute("data-mantine-color-scheme")
    grave = [one for one in page.evaluate(FOUND) if one["impact"] in GRAVE and not is_left_out(one)]
    other = {"light": "dark", "dark": "light"}[theme or ""]
    page.evaluate("theme => mindscope.prefs.set({theme})", other)
    expect(root).to_have_attribute("data-mantine-color-scheme", other)
    return [f"{theme}: {one['id']} {one['target']}: {one['why']} {one['html']}" for one in grave]


def speaks(page: str, chart: tuple[str, str]) -> bool:
    """Whether a chart has an alternative; that of a picture is short."""
    kind, text = chart
    least = 10 if kind.startswith("img") or page == "saliency" else NAMELESS
    return len(text) > least and (page not in OF_RUNS or "runs/" in text)


@pytest.mark.long
def test_alternatives_follow_the_language_and_the_figure(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/scalars?tag=loss&run=lenet_sink_mode")
    plot = page.locator(".js-plotly-plot").first
    expect(plot).to_have_attribute("aria-label", re.compile(r"^Line of loss, over steps\. .*lenet_sink_mode: last 2\.014,"))
    expect(plot).to_have_attribute("role", "img")
    page.evaluate("document.documentElement.lang = 'zh-CN'")
    expect(plot).to_have_attribute("aria-label", re.compile("^loss 的曲线，横轴为步骤。.*最新 2.014"))
    page.locator("input.ms-smooth").fill("0.9")
    page.keyboard.press("Enter")
    expect(plot).to_have_attribute("aria-label", re.compile("已平滑"))


MENUS = (
    ("runs", ".ms-runs-group-by"), ("runs", ".ms-runs-grouping + details > summary"),
    ("scalars", ".ms-hover-settings > summary"),
)  # fmt: skip
"""Pages with a menu, and what opens it."""


@pytest.mark.long
@pytest.mark.parametrize(("path", "opener"), MENUS)
def test_nothing_grave_is_found_in_an_open_menu(page: Page, recorded: str, axe: str, path: str, opener: str) -> None:
    show(page, f"{recorded}/{path}")
    page.locator(opener).click()
    menu = page.locator(opener).locator("xpath=..").locator("button, input").first
    expect(menu).to_be_visible()
    page.evaluate(axe)
    grave = [one for _ in range(2) for one in graveness(page)]
    expect(menu).to_be_visible()
    assert not grave, "\n".join(grave)


@pytest.mark.long
def test_nothing_grave_is_found_where_the_link_past_the_menu_is_shown(page: Page, recorded: str, axe: str) -> None:
    page.goto(f"{recorded}/overview?run=lenet_sink_mode")
    expect(page.locator(".ms-tiles")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator(".ms-skip:focus")).to_be_in_viewport()
    page.evaluate(axe)
    grave = [one for _ in range(2) for one in graveness(page)]
    assert not grave, "\n".join(grave)


@pytest.mark.long
def test_nothing_grave_is_found_on_a_board(page: Page, axe: str, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    cards = (
        BoardCard("1" * 16, "scalars", "key:loss"), BoardCard("2" * 16, text="# Daily\n\n[link](scalars) `code`", x=4),
        BoardCard("3" * 16, "scalars?run=gone", "key:loss", x=8),
    )  # fmt: skip
    app = create_app(RECORDED, workspace=tmp_path / "workspace")
    assert app.source.wait(60)
    board = app.source.notes.create_board("Daily", cards)
    place = serve(app.server)
    grave = []
    try:
        for path in ("board", f"board?board={board.key}", f"board?board={board.key}&embed=1", "board?board=x"):
            show(page, f"{place}/{path}")
            expect(page.locator(".ms-board-list, .ms-board .ms-empty:visible, .ms-board-text h1").first).to_be_visible()
            if board.key in path:
                expect(page.locator(".ms-board-card .scatterlayer .trace").first).to_be_attached()
                page.get_by_role("group", name="Card Daily").hover()
            page.evaluate(axe)
            grave += [f"{path}, {one}" for _ in range(2) for one in graveness(page)]
    finally:
        app.source.stop()
    assert not grave, "\n".join(grave)
