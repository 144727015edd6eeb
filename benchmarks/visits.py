"""What later visits of the scalars page cost in Chromium, and a first visit of each page on the demo.

CPU seconds are those of all processes of Chromium. V8 keeps what it compiled of a script at the second visit and uses it from
the third on. The visits of the scalars page are those of a Chromium without a debugger (`bare_browser`); the pages of the demo
are opened with Playwright, as their bounds were set.
"""

from __future__ import annotations

import os
import tempfile
import time
from typing import Any

from app.web.modules import PAGE_SAVING, SHELL
from benchmarks.bare_browser import bare_browser
from benchmarks.browsing import FLAGS, PAINTED, found_chromium, root_of
from benchmarks.data import folder
from benchmarks.measure import NO_BOUND, ROOT, Figure, cpu_of_family
from benchmarks.starting import server, wait_for
from benchmarks.tensorboard import PAGE as THEIR_PAGE
from benchmarks.tensorboard import PAINTED as THEIRS_PAINTED
from benchmarks.tensorboard import tensorboard, there_is_one
from layouts import PAGES

BOUND, BOUNDS = 2.0, {"tuning": 2.5}
DEMO = ROOT / "app" / "demo" / "runs"
VISITS = 3
SIZE = (1440, 900)
DRAWN = f"""async () => {{
    const {{ src }} = [...document.scripts].find((one) => one.src.endsWith("/{SHELL}"));
    return (await import(src.slice(0, -"{SHELL}".length) + "{PAGE_SAVING}")).drawn(60_000);
}}"""


def figures(times: int) -> list[Figure]:
    """The second and third visit of the first chart, then every page."""
    from playwright.sync_api import sync_playwright

    path = found_chromium()
    if path is None:
        return []
    again = _again(path, times)
    with sync_playwright() as playwright:
        return [*again, *_pages(playwright.chromium, path, times)]


def _again(path: str, times: int) -> list[Figure]:
    with server(folder() / "ms" / "S1", "--no-cache") as (_, ours):
        wait_for(ours, 1_000_000)
        spent = [_visits_bare(path, f"{ours}/scalars", PAINTED) for _ in range(times)]
    first, second, third = zip(*spent, strict=True)
    what = "first chart painted, Chromium without a debugger, all its processes"
    return [
        Figure(f"{what}: first visit", "CPU s", 2.0, first),
        Figure("second visit", "CPU s", 1.2, second),
        Figure("third visit", "CPU s", 1.2, third),
        *_theirs(path, times),
    ]


def _theirs(path: str, times: int) -> list[Figure]:
    """The same visits of TensorBoard, which draws two cards."""
    if not there_is_one():
        return []
    with tensorboard(folder() / "tb" / "S1") as (_, address):
        spent = [_visits_bare(path, f"{address}/{THEIR_PAGE}", THEIRS_PAINTED) for _ in range(times)]
    ordinals = zip(("first", "second", "third"), zip(*spent, strict=True), strict=True)
    return [Figure(f"  TensorBoard, {ordinal} visit", "CPU s", NO_BOUND, cpu) for ordinal, cpu in ordinals]


def _visits_bare(path: str, url: str, painted: str) -> list[float]:
    """Return what each visit of a Chromium costs that kept no file before the first."""
    with tempfile.TemporaryDirectory() as profile:
        return [_visited_bare(path, profile, url, painted) for _ in range(VISITS)]


def _visited_bare(path: str, profile: str, url: str, painted: str) -> float:
    """Return the CPU seconds of a new Chromium without a debugger until half a second after it has painted a chart."""
    with bare_browser(path, profile, SIZE) as browser:
        time.sleep(0.7)
        begun = cpu_of_family(browser.pid)
        browser.open(url)
        browser.wait_for(f"({painted})(1)")
        time.sleep(0.5)
        return cpu_of_family(browser.pid) - begun


def _pages(chromium: Any, path: str, times: int) -> list[Figure]:
    found = []
    with server(DEMO, "--no-cache") as (_, ours):
        wait_for(ours, 1)
        for page in PAGES:
            visits = []
            for _ in range(times):
                with tempfile.TemporaryDirectory() as profile:
                    visits.append(visited(chromium, path, profile, f"{ours}/{page.path}"))
            cpu, requests = zip(*visits, strict=True)
            note = f"{max(requests)} requests"
            found.append(Figure(f"demo, empty cache: {page.name}", "CPU s", BOUNDS.get(page.name, BOUND), cpu, note))
    return found


def visited(chromium: Any, path: str, profile: str, url: str) -> tuple[float, int]:
    """Open a page in a new Chromium that keeps its files in profile; return (CPU seconds, requests) until it is drawn.

    The page is asked as `mindscope save` asks it.
    """
    name = f"--benchmark={os.getpid()}.{time.monotonic_ns()}"
    shape = dict(zip(("width", "height"), SIZE, strict=True))
    with chromium.launch_persistent_context(profile, executable_path=path, args=[*FLAGS, name], viewport=shape) as context:
        page = context.pages[0]
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto("about:blank")
        time.sleep(0.7)
        root = root_of(name)
        begun = cpu_of_family(root)
        page.goto(url, wait_until="commit")
        page.wait_for_selector(".ms-frame .ms-page", state="attached", timeout=60_000)
        if missing := page.evaluate(DRAWN):
            raise RuntimeError(f"{url}: {missing}")
        page.wait_for_timeout(500)
        return cpu_of_family(root) - begun, len(asked)


if __name__ == "__main__":
    for figure in figures(3):
        print(figure.line())
