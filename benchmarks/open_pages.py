"""What pages cost the browser that stay open: the scalars page and a board of twelve cards, opened, and two minutes without
news.

CPU is that of all processes of Chromium, memory their PSS beyond that of an empty page.
"""

from __future__ import annotations

import json
import os
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.browsing import FLAGS, found_chromium, root_of
from benchmarks.data import TAGS, folder
from benchmarks.measure import Figure, cpu_of_family, shared_out
from benchmarks.starting import server, wait_for

CARDS = 12
SETTLED_SECONDS = 20.0
"""How long a page is left alone first: the server still verifies large values. The browser collects garbage of the visit for up
to a minute, so the second minute is what a page costs that stays open."""
IDLE_SECONDS = 60.0
BOARD = "0123456789abcdef"
DRAWN = """(least) => [document, ...Array.from(document.querySelectorAll("iframe"), (frame) => frame.contentDocument)]
  .flatMap((one) => (one ? Array.from(one.querySelectorAll(".js-plotly-plot")) : []))
  .filter((plot) => plot.querySelector(".scatterlayer .trace path.js-line")).length >= least"""


def figures(times: int) -> list[Figure]:
    """The page, then the board."""
    from playwright.sync_api import sync_playwright

    path = found_chromium()
    if path is None:
        return []
    pages, boards = [], []
    with sync_playwright() as playwright, server(folder() / "ms" / "S1", "--no-cache") as (_, address):
        wait_for(address, 1_000_000)
        _make_board(address)
        for _ in range(times):
            pages.append(_opened(playwright.chromium, path, f"{address}/scalars", 1))
            boards.append(_opened(playwright.chromium, path, f"{address}/board?board={BOARD}", CARDS))
    board = f"board of {CARDS} cards, all processes of Chromium"
    return [
        Figure("open scalars page, a minute without news: share of a core", "%", 0.5, tuple(one["idle"] for one in pages)),
        Figure("  the minute after", "%", 0.5, tuple(one["later"] for one in pages)),
        Figure("  its requests", "", 30, tuple(one["polls"] for one in pages)),
        Figure(f"{board}: opened", "CPU s", 3.5, tuple(one["cpu"] for one in boards)),
        Figure("  its requests", "", 80, tuple(one["requests"] for one in boards)),
        Figure("  its memory", "MB", 200, tuple(one["mb"] for one in boards)),
        Figure("  a minute without news: share of a core", "%", 0.5, tuple(one["idle"] for one in boards)),
        Figure("  the minute after", "%", 0.5, tuple(one["later"] for one in boards)),
    ]


def _make_board(address: str) -> None:
    tags = [TAGS[number % len(TAGS)] for number in range(CARDS)]
    cards = [
        {"key": f"{number:016x}", "place": f"scalars?smooth=0.{number % 10}", "part": f"key:{tag}", "w": 3, "h": 6,
         "x": number % 4 * 3, "y": number // 4 * 6}
        for number, tag in enumerate(tags)
    ]  # fmt: skip
    body = json.dumps({"create": "Twelve", "key": BOARD, "cards": cards}).encode()
    asked = urllib.request.Request(f"{address}/api/board", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(asked, timeout=30).close()


def _opened(chromium: Any, path: str, url: str, lines: int) -> dict[str, float]:
    """Open a page until its documents show this many lines, then leave it alone for two minutes."""
    with _window(chromium, path) as (page, root):
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        begun, empty = cpu_of_family(root), shared_out(root)
        page.goto(url, wait_until="commit")
        page.wait_for_function(DRAWN, arg=lines, polling=100, timeout=60_000)
        page.wait_for_timeout(500)
        found = {"cpu": cpu_of_family(root) - begun, "requests": float(len(asked)), "mb": shared_out(root) - empty}
        page.wait_for_timeout(1000 * SETTLED_SECONDS)
        found["idle"] = _share(page, root)
        asked.clear()
        return found | {"later": _share(page, root), "polls": float(len(asked))}


def _share(page: Any, root: int) -> float:
    """Return the percent of a core that a page takes while it is left alone."""
    begun = cpu_of_family(root)
    page.wait_for_timeout(1000 * IDLE_SECONDS)
    return 100 * (cpu_of_family(root) - begun) / IDLE_SECONDS


@contextmanager
def _window(chromium: Any, path: str) -> Iterator[tuple[Any, int]]:
    name = f"--benchmark={os.getpid()}.{time.monotonic_ns()}"
    with chromium.launch(executable_path=path, args=[*FLAGS, name]) as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.goto("about:blank")
        time.sleep(0.7)
        yield page, root_of(name)


if __name__ == "__main__":
    for figure in figures(3):
        print(figure.line())
