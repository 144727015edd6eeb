"""Opens saved pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.saving.saved_pages import Saved


@pytest.fixture
def opened(browser: Browser, page: Page) -> Iterator[Callable[[Path], Saved]]:
    """Opens a file in a window as wide as the page on screen is without the menu."""
    files: list[Saved] = []

    def open_file(path: Path) -> Saved:
        size = page.viewport_size
        assert size is not None
        width = int(page.evaluate("() => document.querySelector('.ms-main').clientWidth"))
        files.append(Saved(browser, path, {"width": width, "height": size["height"]}))
        return files[-1]

    yield open_file
    for one in files:
        one.context.close()
