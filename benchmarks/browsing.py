"""What a visit costs in Chromium with an empty cache: the first chart, beside a bare Dash page with one chart, and ten charts
of a hundred runs. CPU seconds are those of all processes of Chromium.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data import TAGS, folder
from benchmarks.measure import ROOT, Figure, cpu_of_family, free_port, processes
from benchmarks.starting import server, wait_for

BARE = """
import sys
from dash import Dash, dcc
from waitress import serve
app = Dash(__name__, compress=True)
app.layout = dcc.Graph(figure={"data": [{"type": "scatter", "y": list(range(1000))}]})
serve(app.server, port=int(sys.argv[1]), host="127.0.0.1", threads=8)
"""
PAINTED = """(least) => document.querySelectorAll(".scatterlayer .trace path.js-line").length >= least"""
# Cards with many lines draw them on a canvas and say how many.
ALL_PAINTED = """(least) => Array.from(document.querySelectorAll(".ms-lines[data-lines]"))
  .reduce((sum, lines) => sum + Number(lines.dataset.lines), 0) >= least"""
FLAGS = ["--no-sandbox", "--disable-gpu"]


@dataclass(frozen=True, slots=True)
class Visit:
    """CPU seconds of all processes of a new Chromium and of the longest task of its page; callback posts; bytes received;
    requests."""

    cpu: float
    longest: float
    posts: int
    size: int
    requests: int


def figures(times: int) -> list[Figure]:
    """Measure the first chart against a bare page, what it transfers, and the heavy page."""
    from playwright.sync_api import sync_playwright

    path = found_chromium()
    if path is None:
        return []
    with sync_playwright() as playwright:
        return [*_first_chart(playwright.chromium, path, times), *_heavy(playwright.chromium, path, times)]


def found_chromium() -> str | None:
    """Return the path of a Chromium; say so if there is none. Figures of peers are of the whole browser."""
    named = ("chromium", "google-chrome", "chromium-headless-shell")
    path = os.environ.get("CHROMIUM_PATH") or next(filter(None, map(shutil.which, named)), None)
    if path is None:
        print("no Chromium: not measured")
    return path


def _first_chart(chromium: Any, path: str, times: int) -> list[Figure]:
    plain, visits = [], []
    with _bare() as bare, server(folder() / "ms" / "S1", "--no-cache") as (_, ours):
        wait_for(ours, 1_000_000)
        _visit(chromium, path, f"{ours}/scalars", PAINTED, 1)  # the first visitor of a server waits for compressing
        for _ in range(times):
            plain.append(_visit(chromium, path, bare, PAINTED, 1))
            visits.append(_visit(chromium, path, f"{ours}/scalars", PAINTED, 1))
    what = "first chart painted, empty cache"
    return [
        Figure(f"{what}: all processes of Chromium", "CPU s", 2.0, tuple(visit.cpu for visit in visits)),
        Figure("  the same against a bare page of Dash", "x", 1.5, tuple(map(_ratio, visits, plain))),
        Figure(f"{what}: longest task of the page", "CPU s", 0.7, tuple(visit.longest for visit in visits)),
        Figure(f"{what}: callback posts", "", 8, tuple(float(visit.posts) for visit in visits)),
        Figure(f"{what}: requests", "", 60, tuple(float(visit.requests) for visit in visits)),
        Figure(f"{what}: bytes on the wire", "MB", 1.3, tuple(visit.size / 1e6 for visit in visits)),
    ]


def _ratio(ours: Visit, bare: Visit) -> float:
    return ours.cpu / bare.cpu


def _heavy(chromium: Any, path: str, times: int) -> list[Figure]:
    with server(folder() / "ms" / "S2", "--no-cache") as (_, ours):
        wait_for(ours, 1_000_000)
        visits = [_visit(chromium, path, f"{ours}/scalars?run=*", ALL_PAINTED, len(TAGS) * 100) for _ in range(times)]
    what = "10 tags x 100 runs painted, empty cache"
    return [
        Figure(f"{what}: all processes of Chromium", "CPU s", 3.0, tuple(visit.cpu for visit in visits)),
        Figure(f"{what}: longest task of the page", "CPU s", 0.5, tuple(visit.longest for visit in visits)),
    ]


def _visit(chromium: Any, path: str, url: str, painted: str, lines: int) -> Visit:
    """Open a page in a new Chromium, and wait until a script says that this many lines are painted."""
    name = f"--benchmark={os.getpid()}.{time.monotonic_ns()}"
    with chromium.launch(executable_path=path, args=[*FLAGS, name]) as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        received = {"posts": 0, "size": 0, "requests": 0}
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")

        def count(event: dict[str, Any]) -> None:
            received["size"] += int(event["encodedDataLength"])

        def count_request(request: Any) -> None:
            received["posts"] += "_dash-update-component" in request.url
            received["requests"] += not request.url.startswith(("about:", "data:", "blob:"))

        session.on("Network.loadingFinished", count)
        page.on("request", count_request)
        page.goto("about:blank")
        time.sleep(0.7)
        root = root_of(name)
        browser.start_tracing(page=page, categories=["toplevel"])
        begun = cpu_of_family(root)
        page.goto(url, wait_until="commit")
        page.wait_for_function(painted, arg=lines, polling=100, timeout=60_000)
        posts, requests = received["posts"], received["requests"]
        page.wait_for_timeout(500)
        cpu = cpu_of_family(root) - begun
        longest = _longest_task(json.loads(browser.stop_tracing())["traceEvents"])
        return Visit(cpu, longest, posts, received["size"], requests)


def _longest_task(events: list[dict[str, Any]]) -> float:
    """Return the CPU seconds of the longest task of a page's main thread in a trace of Chromium."""
    names = [event for event in events if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"]
    mains = {(event["pid"], event["tid"]) for event in names}
    tasks = [event for event in events if event["name"].endswith("RunTask") and (event["pid"], event["tid"]) in mains]
    return float(max(event.get("tdur", 0) for event in tasks)) / 1e6


def root_of(name: str) -> int:
    """Return the id of the first process of a Chromium that was started with an argument of its own."""
    return next(pid for pid in processes() if name in (words := _command(pid)) and "--type=" not in words)


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


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
