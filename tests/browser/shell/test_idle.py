"""A page without new data asks one small question at a time, and changes nothing but ages; what is new is on screen soon."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask import Flask
from playwright.sync_api import Page, Request, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.browser.waiting import becomes, frames
from tests.recorded import RECORDED
from tests.waiting import until

QUESTIONS = 8
"""After so many a page has been idle for eight seconds or more: they are at least a second apart."""
LEAST_S = 1.0
AGES = ".ms-read, .ms-picker"
"""Where ages are; runs beside them get as much room as an age leaves."""
WATCH = """ages => {
  window.changed = [];
  const found = records => records.forEach(record => {
    const at = record.target.nodeType === 1 ? record.target : record.target.parentElement;
    if (at && at.closest(ages)) return;
    window.changed.push(`${record.type} ${record.attributeName || ''} of ${at && at.outerHTML.slice(0, 120)}`);
  });
  new MutationObserver(found).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
}"""


def status_alone(asked: list[Request]) -> bool:
    return {urlsplit(request.url).path.rpartition("/")[2] for request in asked} == {"status.json"}


@pytest.mark.parametrize("place", ["scalars", *(pytest.param(name, marks=pytest.mark.long) for name in ("start", "tensors"))])
def test_an_idle_page_asks_for_the_status_alone_and_changes_ages_alone(page: Page, recorded: str, place: str) -> None:
    show(page, f"{recorded}/{place}")
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))  # noqa: PLW0108 - playwright takes no built-in method
    becomes(page, lambda: len(asked) >= 2 and status_alone(asked[-2:]), True)  # all is drawn
    asked.clear()
    page.evaluate(WATCH, AGES)
    begun = time.monotonic()
    becomes(page, lambda: len(asked) >= QUESTIONS, True)
    assert status_alone(asked), "no callback of Dash, no drawing"
    assert time.monotonic() - begun > (QUESTIONS - 2) * LEAST_S
    assert page.evaluate("changed") == []
    expect(page.locator(".ms-read .en").first).to_have_text("read just now")  # an age of seconds would change with each look


def test_a_hidden_page_asks_nothing_and_what_came_meanwhile_is_shown_when_it_is_back(
    page: Page, tmp_path: Path, serve: Callable[[Flask], str]
) -> None:
    shutil.copytree(RECORDED / "several_files", tmp_path / "runs" / "one")
    store = Store([tmp_path / "runs"], interval=0.5).start()
    try:
        assert store.wait(20)
        show(page, f"{serve(create_app(store).server)}/runs")
        expect(page.locator(".ms-grid-name, [col-id='name']").get_by_text("one", exact=True).first).to_be_visible()
        page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        asked: list[Request] = []
        frames(page, 90)  # a question that was under way may be followed by another
        page.on("request", lambda request: asked.append(request))  # noqa: PLW0108 - playwright takes no built-in method
        shutil.copytree(RECORDED / "long_history", tmp_path / "runs" / "two")
        until(lambda: [row.key for row in store.runs.rows() if row.points] in (["one", "two"], ["two", "one"]))
        frames(page, 90)
        assert asked == []
        page.evaluate("Object.defineProperty(document, 'hidden', {value: false, configurable: true})")
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(page.locator("[col-id='name']").get_by_text("two", exact=True).first).to_be_visible()
    finally:
        store.stop()
