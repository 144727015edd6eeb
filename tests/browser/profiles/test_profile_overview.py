"""The profile overview, used as a person would."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.showing import show

DRAWN = ".ms-breakdown-drawn[data-plot={}] .js-plotly-plot"


UNITS_APART = """() => [...document.querySelectorAll(".t > .en")].filter((one) => one.checkVisibility()).flatMap((sentence) => {
  const text = sentence.firstChild;
  return [...text.data.matchAll(/\\d\\s(?:%|ms|s|GiB)(?![a-z])/g)].filter(({ index, 0: { length } }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + length);
    return range.getClientRects().length > 1;
  }).map((found) => found[0]);
})"""
"""Numbers whose unit is in the next line."""


def test_no_line_ends_between_a_number_and_its_unit(page: Page, place: str) -> None:
    show(page, f"{place}/profile_overview?run=a")
    sentence = page.locator(".ms-breakdown-sentence .en")
    expect(sentence).to_contain_text("A step takes 46.5 ms")
    assert "46.5\u00a0ms" in (sentence.text_content() or "")
    for width in range(390, 1440, 75):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(UNITS_APART) == [], width


def test_the_overview_leads_to_the_steps_in_both_languages(page: Page, place: str) -> None:
    show(page, f"{place}/profile_overview?run=a")
    expect(page.locator(".ms-breakdown-sentence .en")).to_have_text(re.compile(r"^A step takes 46.5\sms"))
    beside = page.locator(".ms-profile-overview-beside .en").first
    expect(beside).to_have_text(re.compile(r"by the clock of the run 50.0\sms: 7.4"))
    expect(page.locator(f"{DRAWN.format('joined')} .scatterlayer .trace")).to_have_count(2)
    page.set_viewport_size({"width": 1000, "height": 800})
    expect(page.locator(".ms-profile-overview-tile").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.locator("a.ms-profile-overview-tile", has_text="Steps").click()
    expect(page).to_have_url(re.compile(r"/steps\?run=a&of=a&session=profiler&rank=0$"))
    expect(page.locator(DRAWN.format("bars"))).to_be_visible()
    page.locator("[data-action=language]").click()
    expect(page.locator(".ms-breakdown-sentence .zh")).to_be_visible()
    expect(page.locator(f"{DRAWN.format('streams')} .ytick", has_text="流 11")).to_be_visible()
    show(page, f"{place}/profile_overview?run=b")
    expect(page.locator(".ms-breakdown-sentence .zh")).to_contain_text("每步耗时 1.01 ms")
    expect(page.locator(".ms-profile-overview-beside")).to_contain_text("没有带步骤的标量")
    expect(page.locator(".ms-body-bar select:visible option")).to_have_count(2)
