"""Save a page by its button, open the file without a network, and compare both."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, expect

from app.web.modules import PAGE_SAVING, SHELL
from tests.browser.waiting import WAIT_MS, settles

CLOSE = 24
"""Levels of a colour by which text drawn a fraction of a pixel further on may differ."""


class Saved:
    """A saved file in a tab of its own without a network; what it logs and asks for."""

    def __init__(self, browser: Browser, path: Path, viewport: ViewportSize) -> None:
        self.context = browser.new_context(viewport=viewport, offline=True, locale="en-US", color_scheme="light")
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.said.append(request.url) if not request.url.startswith("data:") else None)
        self.page.goto(path.as_uri())
        if self.page.locator("#ms-file-figures").count():
            expect(self.page.locator("html[data-drawn]")).to_have_count(1)
        assert self.said == [path.as_uri()], "no message, and no request but for the file itself"


DRAWN = f"""async () => {{
    const {{ src }} = [...document.scripts].find((one) => one.src.endsWith("/{SHELL}"));
    return (await import(src.slice(0, -"{SHELL}".length) + "{PAGE_SAVING}")).drawn({WAIT_MS});
}}"""


def save(page: Page, path: Path) -> Path:
    """Save the page on screen by its button, once it is drawn as `mindscope save` waits for it."""
    with settles(page):
        pass
    assert page.evaluate(DRAWN) == ""
    page.locator(".ms-views > summary").click()
    with page.expect_download() as waiting:
        page.locator(".ms-views-file").click()
    waiting.value.save_as(path)
    expect(page.locator(".ms-file-said")).to_contain_text(waiting.value.suggested_filename)
    page.keyboard.press("Escape")
    return path


def alike(live: Page, saved: Page) -> None:
    """Assert that a file looks as the page on screen in 99 % of the pixels, removed controls aside."""
    shown, file = seen(live), seen(saved)
    assert shown.shape == file.shape
    kept = without_controls(live, saved, shown.shape)
    assert kept.mean() > 0.5
    equal = float((np.abs(shown - file).max(axis=2) <= CLOSE)[kept].mean())
    assert equal >= 0.99, f"{equal:.2%} of the pixels are equal"


def seen(page: Page) -> np.ndarray:
    """What is seen of a page below the header, as colours."""
    left = int(page.evaluate("() => document.querySelector('.ms-main').getBoundingClientRect().left"))
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), dtype=int)[48:, left:]


def without_controls(live: Page, saved: Page, shape: tuple[int, ...]) -> np.ndarray:
    """Which pixels belong to neither a removed control nor a field, which a file has as text."""
    kept = np.ones(shape[:2], dtype=bool)
    boxes = """(selector) => {
        const { left: begin } = document.querySelector('.ms-main').getBoundingClientRect();
        const within = (shown, left, top) => [...shown.querySelectorAll(selector)].map((one) => one.getBoundingClientRect())
            .map((box) => [box.left + left, box.top + top, box.right + left, box.bottom + top]);
        const frames = [...document.querySelectorAll('iframe')].flatMap((frame) => {
            const { left, top } = frame.getBoundingClientRect();
            return within(frame.contentDocument, left - begin, top - 48);
        });
        return [...within(document, -begin, -48), ...frames];
    }"""
    found = live.evaluate(boxes, ".ms-main :is(select, input, textarea)")
    for left, top, right, bottom in found + saved.evaluate(boxes, ".ms-gap"):
        kept[max(0, int(top) - 1) : max(0, int(bottom) + 2), max(0, int(left) - 1) : max(0, int(right) + 2)] = False
    return kept
