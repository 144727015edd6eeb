"""The step page and the profile overview in a browser: picking, zoom, links, files, and the way between them."""

from __future__ import annotations

import csv
import io
import re
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.browser.showing import show

DRAWN = ".ms-breakdown-drawn[data-plot={}] .js-plotly-plot"


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.mark.long
def test_a_step_is_picked_by_bar_key_and_list_and_a_link_restores_it(page: Page, place: str) -> None:
    show(page, f"{place}/steps?run=a")
    head = page.locator(".ms-breakdown-sentence .en")
    expect(head).to_have_text(re.compile(r"^A step takes 46.5\sms: .* forward and backward, .* waiting for data, "))
    plot = page.locator(DRAWN.format("bars"))
    expect(plot).to_be_visible()
    assert len(page.locator(f"{DRAWN.format('bars')} .barlayer .trace").all()) == 3
    expect(page.locator(".ms-breakdown-points")).to_contain_text("Default/Cast-op6")
    expect(page.locator(".ms-breakdown-bar-tools button", has_text="All steps")).to_be_hidden()  # all of them are shown

    # the bar in the middle: the click leaves the whole to the server, which says what the step is made of
    box = page.locator(f"{DRAWN.format('bars')} .nsewdrag").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.8)
    expect(page).to_have_url(re.compile(r"step=1\d\d"))
    picked = int(query(page)["step"][0])
    expect(page.locator(".ms-breakdown-which .en")).to_have_text(f"Step {picked}")
    page.locator(".ms-breakdown-table").click()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".ms-breakdown-which .en")).to_have_text(f"Step {picked + 1}")
    page.locator(".ms-breakdown-bar-tools summary", has_text="1 outlier").click()
    page.locator(".ms-menu-item", has_text="Step 117: 105 ms, Forward and backward +60.0 ms").click()
    expect(page.locator(".ms-breakdown-which .en")).to_have_text("Step 117")
    expect(page.locator(".ms-breakdown-table tbody tr").nth(1)).to_contain_text("90.0 ms")
    expect(page.locator(f"{DRAWN.format('streams')} .ytick", has_text="Stream 11")).to_be_visible()

    page.locator(".ms-segments [data-value=share]").click()
    expect(page.locator(f"{DRAWN.format('bars')} .ytick").last).to_have_text("100 %")
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5 + 2, steps=5)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"from=\d+&to=\d+"))
    state = query(page)
    ticks = [int(text) for text in page.locator(f"{DRAWN.format('bars')} .xtick").all_text_contents()]
    assert all(100 + int(state["from"][0]) <= tick <= 100 + int(state["to"][0]) for tick in ticks)

    link = page.url
    show(page, link)
    expect(page.locator(".ms-breakdown-which .en")).to_have_text("Step 117")
    expect(page.locator(".ms-breakdown-number")).to_have_value("117")
    assert query(page) == state
    page.locator("[data-pick=average]").click()
    expect(page.locator(".ms-breakdown-which .en")).to_have_text("Average step")
    page.keyboard.press("f")
    expect(page.locator("[data-plot=bars]")).to_have_class(re.compile("ms-full"))
    page.keyboard.press("Escape")
    expect(page.locator("[data-plot=bars]")).not_to_have_class(re.compile("ms-full"))

    page.locator(".ms-breakdown-bar-tools summary", has_text="CSV").click()
    address = page.locator(".ms-menu-item", has_text="Steps as CSV").get_attribute("href")
    with urlopen(place + str(address)) as answer:
        rows = list(csv.DictReader(io.StringIO(answer.read().decode())))
    assert [row["step"] for row in rows if row["kind"] == "step"] == [str(step) for step in range(100, 140)]
    page.keyboard.press("Escape")
    page.locator("[data-plot=bars] .ms-card-title").hover()
    with page.expect_download() as saved:
        page.locator("[data-plot=bars] [data-act=png]").click()
    assert saved.value.suggested_filename.startswith("a_0_Steps_")
