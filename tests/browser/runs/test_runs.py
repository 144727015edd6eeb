"""The list of runs, used as a person would."""

from __future__ import annotations

import json
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.browser.shell.test_shell import open_runs


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


@pytest.mark.long
def test_a_shortened_name_is_copied_whole(page: Page, address: str) -> None:
    open_runs(page, address)
    expect(page.locator(".ag-root .ms-name", has_text="lenet_adam_lr0.01_b64").first).to_be_attached()
    copied = """([first, last]) => {
      const event = new ClipboardEvent('copy', { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
      const [from, to] = [first, last].map((name) => Array.from(document.querySelectorAll('.ag-root .ms-name')).find(
        (one) => one.textContent === name));
      const before = from.compareDocumentPosition(to) & Node.DOCUMENT_POSITION_PRECEDING;
      const [begin, end] = before ? [to, from] : [from, to];
      getSelection().setBaseAndExtent(begin, 0, end, end.childNodes.length);
      document.dispatchEvent(event);
      return event.clipboardData.getData('text/plain').split('\\n').map((line) => line.trim());
    }"""
    assert page.evaluate(copied, ["lenet_adam_lr0.01_b64"] * 2) == ["lenet_adam_lr0.01_b64"]
    several = page.evaluate(copied, ["lenet_adam_lr0.01_b64", "lenet_sink_mode"])
    assert {"lenet_adam_lr0.01_b64", "lenet_sink_mode"} <= set(several)
    assert page.locator(".ms-copied").count() == 0
