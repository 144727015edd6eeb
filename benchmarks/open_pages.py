"""What pages cost the browser that stay open: the scalars page and a board of twelve cards, opened, and two minutes without
news.

CPU is that of all processes of Chromium, memory their PSS beyond that of an empty page.
"""

from __future__ import annotations

import json
import tempfile
import time
import urllib.request

from benchmarks.bare_browser import bare_browser
from benchmarks.browsing import found_chromium
from benchmarks.data import TAGS, folder
from benchmarks.measure import Figure, cpu_of_family, shared_out
from benchmarks.starting import server, wait_for

CARDS = 12
SIZE = (1440, 1000)
REQUESTS = "1 + performance.getEntriesByType('resource').length"
"""Those of the page and of all it loaded; the browser keeps 250 of them."""
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
    path = found_chromium()
    if path is None:
        return []
    pages, boards = [], []
    with server(folder() / "ms" / "S1", "--no-cache") as (_, address):
        wait_for(address, 1_000_000)
        _make_board(address)
        for _ in range(times):
            pages.append(_opened(path, f"{address}/scalars", 1))
            boards.append(_opened(path, f"{address}/board?board={BOARD}", CARDS))
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


def _opened(path: str, url: str, lines: int) -> dict[str, float]:
    """Open a page until its documents show this many lines, then leave it alone for two minutes."""
    with tempfile.TemporaryDirectory() as profile, bare_browser(path, profile, SIZE) as browser:
        time.sleep(0.7)
        begun, empty = cpu_of_family(browser.pid), shared_out(browser.pid)
        browser.open(url)
        browser.wait_for(f"({DRAWN})({lines})")
        time.sleep(0.5)
        found = {"cpu": cpu_of_family(browser.pid) - begun, "mb": shared_out(browser.pid) - empty}
        found["requests"] = browser.value(REQUESTS)
        time.sleep(SETTLED_SECONDS)
        found["idle"] = _share(browser.pid)
        before = browser.value(REQUESTS)
        return found | {"later": _share(browser.pid), "polls": browser.value(REQUESTS) - before}


def _share(pid: int) -> float:
    """Return the percent of a core that a browser takes while its page is left alone."""
    begun = cpu_of_family(pid)
    time.sleep(IDLE_SECONDS)
    return 100 * (cpu_of_family(pid) - begun) / IDLE_SECONDS


if __name__ == "__main__":
    for figure in figures(3):
        print(figure.line())
