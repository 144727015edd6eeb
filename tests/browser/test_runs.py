"""The list of runs, used as a person would."""

from __future__ import annotations

import json
from urllib.request import urlopen

from playwright.sync_api import Page, expect

from tests.browser.test_shell import open_runs


def test_the_runs_page_lists_every_run(page: Page, address: str) -> None:
    open_runs(page, address)
    with urlopen(address + "/api/runs.json") as answer:
        rows = json.load(answer)
    assert len(rows) == 9
    for one in rows:
        expect(page.locator(".ag-root").get_by_text(one["name"], exact=True).first).to_be_visible()


def test_search_by_text_and_by_pattern(page: Page, address: str) -> None:
    open_runs(page, address)
    grid = page.locator(".ag-root")
    page.keyboard.press("/")
    page.keyboard.type("lenet")
    expect(grid.get_by_text("long_history", exact=True)).to_have_count(0)
    expect(grid.get_by_text("lenet_sink_mode", exact=True).first).to_be_visible()
