"""What a visitor waits for in Chromium with an empty cache: the first chart, beside a bare Dash page with one chart; the
bytes that takes; ten charts of a hundred runs."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

from benchmarks.data import TAGS, folder
from benchmarks.measure import ROOT, Figure
from benchmarks.starting import free_port, server, wait_for

BARE = """
import sys
from dash import Dash, dcc
from waitress import serve
app = Dash(__name__, compress=True)
app.layout = dcc.Graph(figure={"data": [{"type": "scatter", "y": list(range(1000))}]})
serve(app.server, port=int(sys.argv[1]), host="127.0.0.1", threads=8)
"""
PAINTED = ".scatterlayer .trace path.js-line"


def figures(times: int) -> list[Figure]:
    """Measure the first chart against a bare page, the bytes transferred, and the heavy page."""
    from playwright.sync_api import sync_playwright

    named = ("chromium", "google-chrome", "chromium-headless-shell")  # figures of peers are of the whole browser
    path = os.environ.get("CHROMIUM_PATH") or next(filter(None, map(shutil.which, named)), None)
    if path is None:
        print("no Chromium: not measured")
        return []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        try:
            return [*_first_chart(browser, times), _heavy(browser, times)]
        finally:
            browser.close()


def _first_chart(browser: Any, times: int) -> list[Figure]:
    ratios, sizes = [], []
    with _bare() as bare, server(folder() / "ms" / "S1", "--no-cache") as (_, ours):
        wait_for(ours, 1_000_000)
        _visit(browser, bare, 1)
        _visit(browser, f"{ours}/scalars", 1)
        for _ in range(times):
            plain, _ = _visit(browser, bare, 1)
            seconds, size = _visit(browser, f"{ours}/scalars", 1)
            ratios.append(seconds / plain)
            sizes.append(size / 1e6)
    return [
        Figure("navigation to first chart painted, empty cache, against a bare page", "x", 1.5, tuple(ratios)),
        Figure("bytes on the wire for that", "MB", 1.3, tuple(sizes)),
    ]


def _heavy(browser: Any, times: int) -> Figure:
    with server(folder() / "ms" / "S2", "--no-cache") as (_, ours):
        wait_for(ours, 1_000_000)
        seconds = [_visit(browser, f"{ours}/scalars?run=*", len(TAGS) * 100)[0] for _ in range(times)]
    return Figure("10 tags x 100 runs painted, from navigation, empty cache", "s", 4.0, tuple(seconds))


def _visit(browser: Any, url: str, lines: int) -> tuple[float, int]:
    """Return (seconds until this many lines are painted, bytes received) of a first visit."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    received = 0
    session = context.new_cdp_session(page)
    session.send("Network.enable")

    def count(event: dict[str, Any]) -> None:
        nonlocal received
        received += int(event["encodedDataLength"])

    session.on("Network.loadingFinished", count)
    begun = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.locator(PAINTED).nth(lines - 1).wait_for(state="attached", timeout=60_000)
    seconds = time.perf_counter() - begun
    page.wait_for_timeout(300)
    context.close()
    return seconds, received


@contextlib.contextmanager
def _bare() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", BARE, str(port)], cwd=ROOT)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(500):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(address, timeout=5).close()
                break
            time.sleep(0.02)
        yield address
    finally:
        process.terminate()
        process.wait(20)
