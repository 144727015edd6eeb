"""Cards of the scalars page together: linked zoom and crosshair, pins, sections, order, size, and thousands of tags."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import BrowserContext, Locator, Page, expect

from app.web.server import create_app
from parsers import Series
from tests.browser.showing import show
from tests.browser.waiting import frames, polls
from tests.sources import MemorySource

pytestmark = pytest.mark.browser
Serve = Callable[[Flask], str]
CARDS = ".ms-slot:not([hidden])"
DRAWN = f"{CARDS}:not(.ms-pending) .nsewdrag"
TITLES = f"{CARDS} .ms-card-title"
RANGES = f"""() => Array.from(document.querySelectorAll("{CARDS} .js-plotly-plot"),
  plot => [plot.layout.xaxis.range, plot.layout.yaxis.range])"""
NEAR_DRAWN = f"""() => Array.from(document.querySelectorAll("{CARDS}.ms-pending"))
  .every(card => card.getBoundingClientRect().top > innerHeight)"""
# What each crosshair points at, read back from where it is on the screen.
CROSSHAIRS = """() => Array.from(document.querySelectorAll(".ms-slot:not([hidden]) .ms-crosshair:not([hidden])"), cross => {
  const plot = cross.closest(".ms-slot").querySelector(".js-plotly-plot");
  const box = plot.querySelector(".nsewdrag").getBoundingClientRect();
  const line = cross.querySelector(".ms-crosshair-line");
  const at = line.getBoundingClientRect().left - box.left;
  const [low, high] = plot.layout.xaxis.range;
  return { own: line.classList.contains("ms-crosshair-own"), step: low + at / box.width * (high - low),
           pixel: (high - low) / box.width,
           text: cross.querySelector(".ms-crosshair-at").textContent };
})"""


def curve(number: int, points: int = 400) -> Series:
    step = np.arange(points, dtype=np.int64) * 5
    value = np.exp(-np.arange(points) / 80) + 0.01 * np.random.default_rng(number).standard_normal(points)
    place = np.zeros(points, np.int32)
    return Series(step, 1_699_990_000.0 + step, value, place, step * 40)


def spiked(number: int) -> Series:
    one = curve(number)
    one.value[250] += 4
    return one


TAGS = ("loss", "lr", "train/loss", "train/err", "val/loss", "val/err", "val/x10", "val/x9")


@pytest.fixture(scope="module")
def address(serve_file: Serve) -> str:
    runs = {f"run_{number}": {"scalar": {tag: curve(number) for tag in TAGS}} for number in range(3)}
    runs["run_1"]["scalar"]["val/err"] = spiked(1)
    return serve_file(create_app(MemorySource(runs)).server)


def opened(page: Page, address: str, query: str = "", cards: int = len(TAGS)) -> None:
    show(page, f"{address}/scalars?{query}")
    expect(page.locator(CARDS)).to_have_count(cards)
    page.wait_for_function(NEAR_DRAWN)


def state(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def titles(page: Page) -> list[str]:
    return page.locator(TITLES).all_inner_texts()


def card(page: Page, tag: str) -> Locator:
    return page.locator(CARDS).filter(has=page.get_by_role("heading", name=tag, exact=True))


def drag(page: Page, chart: Locator, begin: float, end: float, height: float = 0.0) -> None:
    """Draw a box; without a height it is one of x alone."""
    box = chart.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * begin, y - height * box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * end, y + height * box["height"] / 2, steps=6)
    page.mouse.up()


def ranges_near(page: Page, low: float, high: float) -> None:
    """Wait until all cards show this range of x."""
    near = f"a => Math.abs(a[0][0] - {low}) < 1e-3 * Math.abs({high}) && Math.abs(a[0][1] - {high}) < 1e-3 * Math.abs({high})"
    page.wait_for_function(f"() => ({RANGES})().every({near})")


def menu(page: Page) -> Locator:
    page.get_by_label("Arrangement of the cards").click()
    return page.locator(".ms-layout-menu .ms-menu-items")


def test_the_step_under_the_pointer_is_shown_in_all_cards_without_drawing_any(page: Page, address: str) -> None:
    opened(page, address, "height=small")
    page.evaluate("""() => { window.drawn = 0; for (const plot of document.querySelectorAll(".js-plotly-plot"))
      for (const name of ["plotly_afterplot", "plotly_relayout"]) plot.on(name, () => { window.drawn += 1; }); }""")
    box = page.locator(DRAWN).first.bounding_box()
    assert box is not None
    seen = []
    for part in (0.2, 0.21, 0.5, 0.83):
        page.mouse.move(box["x"] + box["width"] * part, box["y"] + box["height"] * 0.5)
        frames(page, 6)
        crosshairs = page.evaluate(CROSSHAIRS)
        assert len(crosshairs) == len(TAGS)
        assert sum(one["own"] for one in crosshairs) == 1, "the card under the pointer has a line of its own"
        step = int(crosshairs[0]["text"].replace(",", ""))
        assert step % 5 == 0, "a step that was recorded"
        for one in crosshairs:
            assert one["text"] == f"{step:,}"
            if not one["own"]:
                assert abs(one["step"] - step) <= 1.5 * one["pixel"]
        seen.append(step)
    assert seen == sorted(set(seen))
    assert page.evaluate("window.drawn") == 0
    page.mouse.move(2, 2)
    page.wait_for_function("() => document.querySelectorAll('.ms-crosshair:not([hidden])').length === 0")


def test_a_zoom_along_x_is_that_of_all_cards_and_y_that_of_one(page: Page, context: BrowserContext, address: str) -> None:
    opened(page, address)
    drag(page, card(page, "loss"), 0.25, 0.5, height=0.6)
    expect(page).to_have_url(re.compile(r"zoom=[^&]*:\*"))
    shared, own = (entry.split(":")[0].split(",") for entry in state(page)["zoom"])
    ranges_near(page, float(shared[0]), float(shared[1]))
    assert len({json.dumps(y) for _, y in page.evaluate(RANGES)}) > 1
    upper = card(page, "loss").locator(".js-plotly-plot").evaluate("plot => plot.layout.yaxis.range[1]")
    assert upper == pytest.approx(float(own[3]), rel=1e-3)
    expect(card(page, "lr").locator(".ms-card-notes")).to_contain_text(" of 1,200 points")

    other = context.new_page()
    opened(other, page.url.split("/scalars")[0], urlsplit(page.url).query)
    ranges_near(other, float(shared[0]), float(shared[1]))
    other.close()

    card(page, "lr").hover()
    card(page, "lr").locator('[data-act="back"]').click()
    expect(page).not_to_have_url(re.compile("zoom="))
    page.wait_for_function(f"() => ({RANGES})().every(([[low, high]]) => low < 0 && high > 1995)")


@pytest.mark.long
def test_cards_that_are_not_linked_are_zoomed_one_by_one(page: Page, address: str) -> None:
    opened(page, address)
    page.locator('[data-act="link"]').click()
    expect(page).to_have_url(re.compile("link=0"))
    drag(page, card(page, "loss"), 0.25, 0.5)
    expect(page).to_have_url(re.compile(r"zoom=[^&]*:loss"))
    expect(page.locator(f"{CARDS}.ms-zoomed")).to_have_count(1)
    box = page.locator(DRAWN).nth(1).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    expect(page.locator(".ms-hover-table")).to_be_visible()
    assert page.locator(".ms-crosshair:not([hidden])").count() == 0
    page.locator('[data-act="link"]').click()
    expect(page).to_have_url(re.compile(r"zoom=[^&]*:\*"))
    expect(page.locator(f"{CARDS}.ms-zoomed")).to_have_count(len(TAGS))
    low, high = (float(end) for end in state(page)["zoom"][0].split(",")[:2])
    ranges_near(page, low, high)


@pytest.mark.long
def test_pinned_cards_are_on_top_of_every_page_whatever_the_filter(page: Page, address: str) -> None:
    opened(page, address)
    card(page, "val/err").hover()
    card(page, "val/err").get_by_role("button", name="Pin to the top").click()
    expect(page).to_have_url(re.compile("pin="))
    assert titles(page)[0] == "val/err"
    assert page.locator(".ms-section").first.inner_text().split() == ["Pinned", "1"]
    page.locator(".ms-tags .ms-filter").fill("^train")
    expect(page.locator(CARDS)).to_have_count(3)
    assert titles(page) == ["val/err", "train/loss", "train/err"]
    page.reload()
    expect(page.locator(CARDS)).to_have_count(3)
    assert titles(page)[0] == "val/err"
    menu(page).get_by_role("button", name="Unpin all").click()
    expect(page.locator(CARDS)).to_have_count(2)


@pytest.mark.long
def test_sections_have_counts_and_are_closed_in_the_link_too(page: Page, address: str) -> None:
    opened(page, address)
    heads = page.locator(".ms-section")
    assert [head.inner_text().split() for head in heads.all()] == [["Other", "tags", "2"], ["train/", "2"], ["val/", "4"]]
    heads.nth(2).get_by_role("button").click()
    expect(page.locator(CARDS)).to_have_count(4)
    assert state(page)["fold"] == ["val/"]
    expect(heads.nth(2).get_by_role("button")).to_have_attribute("aria-expanded", "false")
    page.reload()
    expect(page.locator(CARDS)).to_have_count(4)
    menu(page).get_by_role("button", name="Collapse all").click()
    expect(page.locator(CARDS)).to_have_count(0)
    assert len(heads.all()) == 3
    expect(page.locator('[data-state="no-match"]')).to_be_hidden()
    heads.nth(1).get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(page.locator(CARDS)).to_have_count(2)
    expect(heads.nth(1).get_by_role("button")).to_be_focused()
    menu(page).get_by_role("button", name="Expand all").click()
    expect(page.locator(CARDS)).to_have_count(len(TAGS))
    expect(page).not_to_have_url(re.compile("fold"))


@pytest.mark.long
def test_order_by_name_and_by_insights(page: Page, address: str) -> None:
    opened(page, address)
    items = menu(page)
    items.get_by_role("button", name="Name").click()
    expect(page.locator(TITLES).first).to_have_text("loss")
    assert titles(page) == ["loss", "lr", "train/err", "train/loss", "val/err", "val/loss", "val/x9", "val/x10"]
    assert page.locator(".ms-section").count() == 0
    items.get_by_role("button", name="Insights first").click()
    expect(page.locator(TITLES).first).to_have_text("val/err")
    assert state(page)["order"] == ["insights"]
    page.reload()
    expect(page.locator(TITLES).first).to_have_text("val/err")


@pytest.mark.long
@pytest.mark.parametrize("width", [1440, 1000])
def test_columns_and_height_are_chosen(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, address)
    items = menu(page)
    items.get_by_label("Columns").select_option("3")
    items.get_by_role("button", name="Small").click()
    expect(page).to_have_url(re.compile("columns=3.*height=small"))
    page.wait_for_function(f"""() => {{
      const boxes = Array.from(document.querySelectorAll("{CARDS}"), card => card.getBoundingClientRect());
      const last = boxes.slice(-4);  // val/ has four cards: three in a row, and one
      return new Set(last.map(box => box.top)).size === 2 && last[0].top === last[2].top
        && boxes.every(box => box.height === 200 && Number.isInteger(box.width));
    }}""")
    plot = card(page, "loss").locator(".js-plotly-plot")
    page.wait_for_function("p => p._fullLayout.width === p.clientWidth", arg=plot.element_handle())


@pytest.fixture(scope="module")
def thousands(serve_file: Serve) -> str:
    tags = {f"layer{place // 20}/w{place % 20}": curve(place % 9, 60) for place in range(2000)}
    return serve_file(create_app(MemorySource({name: {"scalar": dict(tags)} for name in ("a", "b", "c")})).server)


def cards_of(body: str) -> list[Any]:
    inputs = json.loads(body)["inputs"] if body else []
    waves = ("ms-scalars-near", "ms-scalars-far")
    return [pair for one in inputs if isinstance(one, dict) and one.get("id") in waves for pair in one["value"]["cards"]]


@pytest.mark.long
def test_of_two_thousand_tags_only_what_is_near_is_asked_for(page: Page, thousands: str) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or "") if "_dash-update" in request.url else None)
    opened(page, thousands, "cards=48&columns=3", 48)
    expect(page.locator(".ms-pager .ms-range")).to_contain_text("1–48 of 2,000")
    expect(page.locator(DRAWN).first).to_be_attached()
    polls(page)
    first = sum(len(cards_of(body)) for body in sent)
    assert 12 <= first < 30, "not those far below the window"
    page.mouse.move(900, 500)
    page.mouse.wheel(0, 20_000)
    expect(page.locator(CARDS).nth(47).locator(".nsewdrag")).to_be_attached()
    assert [head.inner_text().split()[0] for head in page.locator(".ms-section").all()] == ["layer0/", "layer1/", "layer2/"]
    expect(page.locator(".ms-section").nth(2)).to_contain_text("1–8 of 20")
    page.locator(".ms-tags .ms-filter").fill("layer77/w1")
    expect(page.locator(CARDS)).to_have_count(11)
    page.wait_for_function(NEAR_DRAWN)


@pytest.mark.long
def test_a_pinned_card_stays_on_each_of_many_pages(page: Page, thousands: str) -> None:
    opened(page, thousands, "pin=layer99/w3&page=5", 13)
    assert titles(page)[0] == "layer99/w3"
    expect(page.locator(".ms-pager .ms-range")).to_contain_text("49–60 of 1,999")
    page.locator('[data-act="next"]').click()
    expect(page.locator(".ms-pager .ms-range")).to_contain_text("61–72 of 1,999")
    assert titles(page)[0] == "layer99/w3"
    page.wait_for_function(NEAR_DRAWN)
