"""The scores page, used as a person would, on files that mindspore-xai wrote."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.showing import show

TABLE = ".ms-scores-table"


def totals(page: Page) -> list[str]:
    return page.locator(f"{TABLE} .ms-scores-total").all_inner_texts()


@pytest.mark.long
def test_weights_change_the_totals_and_the_address(page: Page, explained: str) -> None:
    show(page, f"{explained}/scores?run=summary_real")
    expect(page.locator("[data-section=table]")).to_contain_text("GradCAM has the highest total: 0.52.")
    assert totals(page) == ["0.38", "0.52"]
    weight = page.get_by_role("spinbutton", name="Weight of Robustness, from 0 to 1")
    expect(weight).to_have_value("0.25")
    weight.fill("0")
    page.keyboard.press("Tab")
    expect(page.get_by_role("alert")).to_contain_text("The weights sum to 0.75, not to 1")
    assert totals(page) == ["–", "–"]
    page.get_by_role("spinbutton", name="Weight of Localization, from 0 to 1").fill("0.5")
    page.keyboard.press("Tab")
    expect(page.locator("[data-section=table]")).to_contain_text("Gradient has the highest total: 0.56.")
    assert "weight=Localization:50" in page.url
    page.get_by_role("button", name="Default weights").click()
    expect(page.locator("[data-section=table]")).to_contain_text("0.52")
    assert "weight" not in page.url


def test_radar_bars_and_help(page: Page, explained: str, tmp_path: Path) -> None:
    show(page, f"{explained}/scores?run=summary_real&by=-total")
    expect(page.locator("[data-plot=radar].ms-plot-drawn .scatterlayer .trace")).to_have_count(3)
    expect(page.locator(f"{TABLE} tbody tr").nth(1)).to_contain_text("GradCAM")
    bars = page.locator("[data-plot=labels].ms-plot-drawn")
    expect(bars.locator(".barlayer .trace")).to_have_count(2)
    bars.get_by_role("button", name="One explainer").click()
    expect(bars.locator(".barlayer .trace")).to_have_count(3)
    page.get_by_text("What the metrics measure").click()
    expect(page.get_by_text("Does the map point at the object?")).to_be_visible()
    with page.expect_download() as caught:
        page.locator("[data-card=table]").get_by_role("button", name="CSV").click()
    caught.value.save_as(tmp_path / "scores")
    rows = list(csv.DictReader((tmp_path / "scores").read_text().splitlines()))
    assert [one["total"] for one in rows] == ["1.0", "0.38", "0.52"]


@pytest.mark.long
def test_a_run_that_was_cut_off_shows_what_it_has(page: Page, explained: str) -> None:
    show(page, f"{explained}/scores?run=summary_weak")
    expect(page.locator(f"{TABLE} tbody tr")).to_have_count(7)
    expect(page.locator(".ms-scores-zero").first).to_have_attribute("title", "Not recorded, counts as 0")
    expect(page.locator("[data-plot=radar]")).to_be_hidden()
    choices = page.get_by_role("combobox", name="Metric").locator("option")
    assert choices.evaluate_all("all => all.map((one) => one.disabled)") == [False, True]
