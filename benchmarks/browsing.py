"""What a visit costs in Chromium with an empty cache: the first chart, beside a bare Dash page with one chart; the bytes that
takes; ten charts of a hundred runs, in CPU seconds of all processes of Chromium."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
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
# Cards with many lines draw them on a canvas and say how many.
ALL_PAINTED = """(least) => Array.from(document.querySelectorAll(".ms-lines[data-lines]"))
  .reduce((sum, lines) => sum + Number(lines.dataset.lines), 0) >= least"""
FLAGS = ["--no-sandbox", "--disable-gpu"]


def figures(times: int) -> list[Figure]:
    """Measure the first chart against a bare page, the bytes transferred, and the heavy page."""
    from playwright.sync_api import sync_playwright

    named = ("chromium", "google-chrome", "chromium-headless-shell")  # figures of peers are of the whole browser
    path = os.environ.get("CHROMIUM_PATH") or next(filter(None, map(shutil.which, named)), None)
    if path is None:
        print("no Chromium: not measured")
        return []
    with sync_playwright() as playwright:
        with playwright.chromium.launch(executable_path=path, args=FLAGS) as browser:
            first = _first_chart(browser, times)
        return [*first, *_heavy(playwright.chromium, path, times)]


def _first_chart(browser: Any, times: int) -> list[Figure]:
    ratios, sizes = [], []
    with _bare() as bare, server(folder() / "ms" / "S1", "--no-cache") as (_, ours):
        wait_for(ours, 1_000_000)
        _visit(browser, bare)
        _visit(browser, f"{ours}/scalars")
        for _ in range(times):
            plain, _ = _visit(browser, bare)
            seconds, size = _visit(browser, f"{ours}/scalars")
            ratios.append(seconds / plain)
            sizes.append(size / 1e6)
    return [
        Figure("navigation to first chart painted, empty cache, against a bare page", "x", 1.5, tuple(ratios)),
        Figure("bytes on the wire for that", "MB", 1.3, tuple(sizes)),
    ]


def _heavy(chromium: Any, path: str, times: int) -> list[Figure]:
    with server(folder() / "ms" / "S2", "--no-cache") as (_, ours):
        wait_for(ours, 1_000_000)
        visits = [_heavy_visit(chromium, path, f"{ours}/scalars?run=*", number) for number in range(times)]
    what = "10 tags x 100 runs painted, empty cache"
    return [
        Figure(f"{what}: all processes of Chromium", "CPU s", 3.0, tuple(cpu for cpu, _ in visits)),
        Figure(f"{what}: longest task of the page", "CPU s", 0.5, tuple(longest for _, longest in visits)),
    ]


def _heavy_visit(chromium: Any, path: str, url: str, number: int) -> tuple[float, float]:
    """Return (CPU seconds of a new Chromium, those of the page's longest task) of a visit until all lines are painted."""
    name = f"--benchmark={os.getpid()}.{number}"
    with chromium.launch(executable_path=path, args=[*FLAGS, name]) as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto("about:blank")
        time.sleep(0.7)
        root = next(pid for pid in _processes() if name in (words := _command(pid)) and "--type=" not in words)
        browser.start_tracing(page=page, categories=["toplevel"])
        begun = _cpu_of_family(root)
        page.goto(url, wait_until="commit")
        page.wait_for_function(ALL_PAINTED, arg=len(TAGS) * 100, polling=100, timeout=60_000)
        page.wait_for_timeout(500)
        return _cpu_of_family(root) - begun, _longest_task(json.loads(browser.stop_tracing())["traceEvents"])


def _longest_task(events: list[dict[str, Any]]) -> float:
    """Return the CPU seconds of the longest task of a page's main thread in a trace of Chromium."""
    names = [event for event in events if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"]
    mains = {(event["pid"], event["tid"]) for event in names}
    tasks = [event for event in events if event["name"].endswith("RunTask") and (event["pid"], event["tid"]) in mains]
    return float(max(event.get("tdur", 0) for event in tasks)) / 1e6


def _processes() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


def _cpu_of_family(root: int) -> float:
    """Return the CPU seconds of a process, its descendants, and those of them that have ended."""
    ticks, children = {}, defaultdict(list)
    for pid in _processes():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks[pid] = sum(map(int, fields[11:15]))
            children[int(fields[1])].append(pid)
    family = [root]
    for pid in family:
        family += children[pid]
    return sum(ticks.get(pid, 0) for pid in family) / os.sysconf("SC_CLK_TCK")


def _visit(browser: Any, url: str) -> tuple[float, int]:
    """Return (seconds until a line is painted, bytes received) of a first visit."""
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
    page.locator(PAINTED).first.wait_for(state="attached", timeout=60_000)
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
