"""Insights, used as a person would: found on the overview, followed to the curve, made stricter, put away."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from parsers.recording import EventWriter
from tests.browser.conftest import in_address
from tests.browser.showing import show


def test_from_the_list_of_a_run_to_the_place_on_the_curve(tmp_path: Path, serve: Callable[[Flask], str], page: Page) -> None:
    record(tmp_path / "run")
    store = Store([tmp_path], interval=0.5).start()
    try:
        assert store.wait(30)
        follow(page, serve(create_app(store).server))
    finally:
        store.stop()


def announced(page: Page) -> list[str]:
    """The descriptions in the accessibility tree."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [str(node["description"]["value"]) for node in nodes if node.get("description", {}).get("value")]


def follow(page: Page, address: str) -> None:
    show(page, f"{address}/overview")
    entries = page.locator(".ms-insights-list .ms-insight")
    expect(entries).to_have_count(2)
    expect(entries.nth(0)).to_contain_text("loss is NaN at step 350")
    expect(entries.nth(1)).to_contain_text("at step 200")
    entries.nth(1).click()
    # The steps around it are in view, and the mark is there.
    mark = page.locator(".ms-mark")
    expect(mark).to_have_count(1)
    assert in_address(page, "zoom")[0].startswith("160,240")
    mark.hover()
    expect(page.locator(".ms-mark-tip")).to_contain_text("Spike")
    # All of the curve again: both marks, the worst in red, as many as the badge says.
    page.locator('[data-act="restore"]').first.click()
    expect(mark).to_have_count(2)
    expect(page.locator(".ms-mark-2")).to_have_count(1)
    badge = page.locator(".ms-marks-menu summary")
    expect(badge).to_contain_text("2 marks")
    badge.click()
    meaning = page.locator(".ms-mark-links a", has_text="What does this mean?")
    expect(meaning).to_have_count(2)
    assert [one.get_attribute("data-query") for one in meaning.all()] == [
        "of=run&symptom=not_a_number", "of=run&symptom=stops_learning",
    ]  # fmt: skip
    page.locator(".ms-mark-item").first.click()
    expect(mark).to_have_count(1)
    # The same in words: what a screen reader announces of the plot, and what is copied.
    plot = page.locator(".ms-slot .js-plotly-plot").first
    expect(plot).to_have_attribute("aria-description", re.compile("^loss .*first NaN at 350.*spike to .* at 200"))
    assert any("first NaN at 350" in one for one in announced(page))
    page.evaluate("document.documentElement.lang = 'zh'")
    expect(plot).to_have_attribute("aria-description", re.compile("^loss .*步骤 350 首次出现 NaN"))
    assert any("步骤 350 首次出现 NaN" in one for one in announced(page))
    page.evaluate("document.documentElement.lang = 'en'")
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.locator(".ms-slot details:has([data-act='copy_text']) > summary").first.click()
    page.locator("[data-act='copy_text']").first.click()
    assert page.evaluate("window.copied") == plot.get_attribute("aria-description")
    page.keyboard.press("Escape")
    # What the rules judged is asked for when somebody opens it.
    page.locator(".ms-slot details:has([data-act='judging']) > summary").first.click()
    page.locator("[data-act='judging']").first.click()
    told = page.locator(".ms-judging")
    expect(told.locator('[data-state="found"] dd')).to_have_text("NaN or Inf, Spike", use_inner_text=True)
    missing = told.locator('[data-state="not-recorded"] dd')
    expect(missing).to_contain_text("Overfitting · no curve of an evaluation", use_inner_text=True)
    page.keyboard.press("Escape")
    expect(told).to_have_count(0)
    # Of a group over another axis too, from a link alone; the bar is one line of a usual screen.
    show(page, f"{address}/scalars?group=regex:r(u)n&band=std&x=relative&smooth=0.5&log=loss")
    expect(page.locator(".ms-group-chip")).to_have_count(1)
    expect(mark).to_have_count(2)
    left, right = page.locator(".ms-scalar-mode").bounding_box(), page.locator(".ms-cards-right").bounding_box()
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    page.get_by_label("Marks").select_option("off")
    expect(mark).to_have_count(0)
    in_address(page, "insights", "off")


def record(directory: Path) -> None:
    """A falling loss with a spike, which ends as NaN."""
    directory.mkdir()
    value = 1 + np.exp(-np.arange(400) / 200) + np.random.default_rng(0).normal(0, 0.01, 400)
    value[200] += 1
    value[350:] = np.nan
    with EventWriter(str(directory / "events.out.events.summary.1700000000.1.vm_MS"), "mindspore") as writer:
        for step, one in enumerate(value):
            writer.add(step, {"loss": float(one)}, wall_time=1.7e9 + step)


@pytest.mark.long
def test_each_rule_has_its_level_and_the_list_of_runs_counts(
    tmp_path: Path, serve: Callable[[Flask], str], page: Page
) -> None:
    record(tmp_path / "run")
    store = Store([tmp_path], interval=0.5).start()
    try:
        assert store.wait(30)
        levels(page, serve(create_app(store).server))
    finally:
        store.stop()


def levels(page: Page, address: str) -> None:
    show(page, f"{address}/")
    number = page.locator('.ag-row [col-id="insights"]')
    expect(number).to_have_text("NaN or Inf 1, spike 1")
    expect(number.locator("span[title]").last).to_have_attribute("title", "2: NaN or Inf 1, spike 1")
    show(page, f"{address}/scalars")
    mark = page.locator(".ms-mark")
    expect(mark).to_have_count(2)
    page.locator(".ms-strict summary").click()
    page.get_by_label("Spike").select_option("off")
    expect(mark).to_have_count(1)
    expect(page).to_have_url(re.compile("insights=normal&insights=spike(%3A|:)off"))
    # The choice holds for the list of runs too.
    show(page, f"{address}/")
    expect(number).to_have_text("NaN or Inf 1")
