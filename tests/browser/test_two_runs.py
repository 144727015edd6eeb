"""The page about two runs, used as a person would."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from playwright.sync_api import Page, expect


def test_two_runs_are_chosen_swapped_compared_and_saved(page: Page, address: str) -> None:
    page.goto(f"{address}/two_runs?run=lenet_adam_lr0.01_b64")
    expect(page.locator(".ms-two-runs-none")).to_be_visible()
    page.goto(f"{address}/two_runs?run=lenet_adam_lr0.01_b64&run=lenet_diverges_nan")
    selects = page.locator(".ms-two-runs-selector select")
    expect(selects).to_have_count(2)
    first, second = selects.nth(0).input_value(), selects.nth(1).input_value()
    assert {first, second} == {"lenet_adam_lr0.01_b64", "lenet_diverges_nan"}
    learning = page.locator(".ms-two-runs-card-settings tr", has_text="Learning rate")
    expect(learning.locator("td")).not_to_have_count(0)
    before = learning.locator("td").all_inner_texts()
    assert before[0] != before[1]
    expect(page.locator(".ms-two-runs-curves .js-plotly-plot").first).to_be_visible()
    page.keyboard.press("x")
    expect(selects.nth(0)).to_have_value(second)
    expect(learning.locator("td").first).to_have_text(before[1])
    assert f"one={second}" in page.url
    page.reload()
    expect(selects.nth(0)).to_have_value(second)
    with page.expect_download() as download:
        page.locator(".ms-two-runs-selector button", has_text="CSV").click()
    rows = list(csv.reader(Path(download.value.path()).read_text().splitlines()))
    assert ["run", "", "", second, first] in rows
    page.locator(".ms-two-runs-card-results a", has_text="loss").first.click()
    expect(page).to_have_url(re.compile(r"/scalars\?.*tag=loss"))
    assert {first, second} == set(re.findall(r"run=([^&]+)", page.url))
