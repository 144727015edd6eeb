"""Joined scripts in a browser: what each module exports is what the module itself exports; few requests for the first chart."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Request, expect

from app.web.bundles import assets_directory
from app.web.modules import JOINED, SHELL, Assets
from tests.browser.showing import show
from tests.browser.waiting import settles

FIRST_VISIT = 32
"""Requests until the first chart is drawn, without a kept file."""
CALLBACKS = 7
NAMES = """async ([of, names]) => {
  const found = {};
  for (const name of names) {
    try { found[name] = Object.keys(await import(of + name)).sort(); } catch (error) { found[name] = String(error); }
  }
  return found;
}"""


def test_modules_export_the_same_joined_and_alone(browser: Browser, recorded: str) -> None:
    assets = Assets(assets_directory())
    names = [name for name in assets.imports if not name.startswith(("early/", "vendor/"))]
    of = f"/assets/{assets.path('')}"
    context = browser.new_context()  # a tab of its own: modules run twice here
    try:
        page = context.new_page()
        show(page, f"{recorded}/scalars")
        alone = page.evaluate(NAMES, [of, names])
        assert page.evaluate(NAMES, [of + JOINED, names]) == alone
        assert len([found for found in alone.values() if found]) > 100, "those without an export are entries of pages"
    finally:
        context.close()


def test_a_first_visit_takes_few_requests_and_callbacks(browser: Browser, recorded: str) -> None:
    """They cannot grow unnoticed: each costs the browser milliseconds of processor time."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        page = context.new_page()
        asked: list[Request] = []
        page.on("request", lambda request: asked.append(request))  # noqa: PLW0108 - playwright takes no built-in method
        with settles(page):
            page.goto(f"{recorded}/scalars")
        expect(page.locator(".scatterlayer .trace path.js-line").first).to_be_visible()
        paths = Counter(urlsplit(request.url).path for request in asked)
        joined = [path for path in paths if f"/{JOINED}" in path]
        assert [path.rpartition(JOINED)[2] for path in joined] == [SHELL, "curves/scalars/page.js"]
        assert paths["/_dash-update-component"] <= CALLBACKS
        polls = sum(count for path, count in paths.items() if path.endswith("status.json"))
        assert paths.total() - polls <= FIRST_VISIT, sorted(paths)
    finally:
        context.close()
