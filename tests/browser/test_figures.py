"""Figures in cards: a number and its unit stay on one line where there is little room."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.showing import show

LINES = """figures => figures.map(figure => {
  const range = document.createRange();
  figure.parentElement.style.width = "40px";
  range.selectNodeContents(figure);
  return [figure.textContent, new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size];
})"""


@pytest.mark.parametrize(("path", "selector"), [
    ("confusion", ".ms-confusion-tile b"), ("memory?run=profiled", ".ms-memory-figures dd:not(:has(*))"),
])  # fmt: skip
def test_numbers_and_units_of_figures_are_on_one_line(page: Page, everything: str, path: str, selector: str) -> None:
    show(page, f"{everything}/{path}")
    figures = page.locator(selector)
    expect(figures.nth(2)).to_be_visible()
    found = figures.evaluate_all(LINES)
    assert any(" " in text for text, _ in found), found
    assert [text for text, lines in found if lines > 1] == []
