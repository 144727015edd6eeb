"""CPU time of `mindscope save` (the command, its server and all processes of the Chromium that it starts, from start to end),
and of making the file of a page in the browser once the page is drawn.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import ROOT, Figure, cpu_of_family
from benchmarks.starting import server, wait_for

RUNS, POINTS, TAGS = 10, 5_000, 6
LOOK_SECONDS = 0.02
_DRAWN = """(least) => document.querySelectorAll(".scatterlayer .trace path.js-line").length >= least"""
_MAKE = """async () => {
    const { src } = document.querySelector("script[src$='/shell/main.js']");
    const { pageFile } = await import(src.replace("/shell/main.js", "/shell/page_file_maker.js"));
    return (await pageFile()).blob.size;
}"""


def figures(times: int) -> list[Figure]:
    """The scalars page of ten runs as PNG, PDF and HTML, and one card of it as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder) / "runs")
        _saved(folder, "first.png")  # so that the index has the runs, and the interpreter has compiled its modules
        note = f"{RUNS} runs, {TAGS} cards of {POINTS:,} points"
        found = {
            name: tuple(_saved(folder, f"a.{name}", *more) for _ in range(times))
            for name, more in (("png", ()), ("pdf", ()), ("html", ()), ("svg", ("--card", "tag0")))
        }
        twins = _twins(Path(folder) / "runs", times)
    saved = [
        Figure(f"mindscope save: the scalars page as {name.upper()}, all processes", "CPU s", 5.0, values, note)
        for name, values in found.items()
    ]
    made = [Figure("the file of the scalars page, thread of the page beyond drawing", "CPU s", 0.5, twins, note)]
    return [*saved, *(made if twins else ())]


def _saved(folder: str, name: str, *options: str) -> float:
    """Return the CPU seconds of a save. Those of a process that ends between two looks are with the one that waited for it."""
    command = [sys.executable, "-m", "app", "save", "scalars?run=*", "--out", f"{folder}/{name}", "--force", "--workspace",
               f"{folder}/workspace", *options, f"{folder}/runs"]  # fmt: skip
    most = 0.0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            most = max(most, cpu_of_family(process.pid))
            time.sleep(LOOK_SECONDS)
        errors = process.stderr.read() if process.stderr else ""
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {errors.strip()[-2000:]}")
    return most


def _twins(runs: Path, times: int) -> tuple[float, ...]:
    """Return the CPU seconds of the thread of a drawn page in which it makes its file; nothing without a Chromium."""
    from playwright.sync_api import sync_playwright

    named = ("chromium-headless-shell", "chromium", "google-chrome")
    path = os.environ.get("CHROMIUM_PATH") or next(filter(None, map(shutil.which, named)), None)
    if path is None:
        return ()
    with server(runs, "--no-cache") as (_, address), sync_playwright() as playwright:
        wait_for(address, RUNS * TAGS * POINTS)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        try:
            return tuple(_twin(browser, f"{address}/scalars?run=*") for _ in range(times))
        finally:
            browser.close()


def _twin(browser: Any, url: str) -> float:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(url)
    page.wait_for_function(_DRAWN, arg=RUNS * TAGS, timeout=60_000)
    page.wait_for_timeout(1_000)
    before = _thread_seconds(session)
    page.evaluate(_MAKE)
    spent = _thread_seconds(session) - before
    page.close()
    return spent


def _thread_seconds(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


def _write(folder: Path) -> None:
    from parsers.recording import Recorder

    random = np.random.default_rng(37)
    for number in range(RUNS):
        with Recorder(str(folder / f"run{number}")) as recorder:
            values = 0.3 + np.exp(-np.arange(POINTS) / 900) + random.normal(0.0, 0.02, (TAGS, POINTS))
            for step in range(POINTS):
                recorder.log(step, {f"tag{tag}": float(values[tag, step]) for tag in range(TAGS)})
