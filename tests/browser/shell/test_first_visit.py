"""Joined scripts in a browser: what each module exports is what the module itself exports; few requests for the first chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, BrowserType, Page, Request, expect

from app.web.bundles import CHARTS, assets_directory
from app.web.modules import JOINED, SHELL, Assets
from tests.browser.showing import show
from tests.browser.waiting import becomes, settles

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

ASKED_TWICE = """(end) => {
  const scripts = [...document.scripts].filter((script) => script.src.endsWith(end));
  return performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(end)).length > 1 && scripts.length === 1;
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


def test_what_v8_compiled_for_the_first_charts_is_there_at_the_second_visit(
    browser: Browser, chromium_path: str, recorded: str, tmp_path: Path
) -> None:
    """V8 by itself keeps it at the second visit, for the third: plotly.js takes 0.1 s to run, 0.01 s if it is kept."""
    with kept_files(browser.browser_type, chromium_path, tmp_path) as context:
        page = opened(context, recorded)
        page.evaluate("window.firstPlotly = Plotly")
        page.wait_for_function(ASKED_TWICE, arg=CHARTS)
        assert page.evaluate("window.firstPlotly === Plotly"), "it ran once"
    with kept_files(browser.browser_type, chromium_path, tmp_path) as context:
        [kept] = compiled(context, recorded)
    assert kept["consumedCacheSize"] > 1_000_000
    assert not kept["cacheRejected"]


@contextmanager
def kept_files(chromium: BrowserType, path: str, directory: Path) -> Iterator[BrowserContext]:
    """Another Chromium that keeps its files in a directory."""
    flags = ["--no-sandbox", "--disable-gpu"]
    context = chromium.launch_persistent_context(str(directory), executable_path=path, args=flags)
    try:
        yield context
    finally:
        context.close()


def opened(context: BrowserContext, address: str) -> Page:
    page = context.pages[0]
    page.goto(f"{address}/scalars")
    expect(page.locator(".scatterlayer .trace path.js-line").first).to_be_visible()
    return page


def compiled(context: BrowserContext, address: str) -> list[dict[str, Any]]:
    """What a trace of a visit says of each time that V8 got plotly.js to run."""
    session = context.new_cdp_session(context.pages[0])
    found: list[dict[str, Any]] = []
    session.on("Tracing.dataCollected", lambda told: found.extend(told["value"]))
    session.send("Tracing.start", {"traceConfig": {"includedCategories": ["v8", "devtools.timeline"]}})
    opened(context, address)
    done: list[Any] = []
    session.on("Tracing.tracingComplete", lambda told: done.append(told))  # noqa: PLW0108 - playwright takes no built-in method
    session.send("Tracing.end")
    becomes(context.pages[0], lambda: len(done), 1)
    compiled = [event["args"]["data"] for event in found if event["name"] == "v8.compile" and "data" in event["args"]]
    return [one for one in compiled if one["url"].endswith(CHARTS)]


def test_a_page_whose_charts_nothing_can_draw_says_so_until_it_is_loaded_again(browser: Browser, recorded: str) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        page.route(f"**/{CHARTS}*", lambda route: route.abort())
        page.goto(f"{recorded}/scalars")
        notice = page.locator(".ms-notice")
        expect(notice).to_contain_text("The chart library (plotly.js) could not be loaded.")
        with page.expect_response("**/_dash-update-component*"):
            page.locator('[data-control="x"]').first.select_option("relative")
        expect(notice).to_be_visible()
        page.unroute(f"**/{CHARTS}*")
        notice.get_by_role("link", name="Load the page again").click()
        expect(page.locator(".scatterlayer .trace path.js-line").first).to_be_visible()
        expect(notice).to_be_hidden()
    finally:
        context.close()
