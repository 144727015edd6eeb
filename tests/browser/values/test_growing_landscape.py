"""A landscape on its page while it is computed: it grows, is killed, goes on, and has places without a loss."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.app.commands.running import ROOT
from tests.browser.showing import show
from tests.browser.waiting import becomes
from tests.recorded import RECORDED

PLOT = ".ms-landscape-main .js-plotly-plot"
BADGES = ".ms-landscape-main .ms-card-badges"
SIZE, TOTAL = 12, 12 * 12 + 4
SCRIPT = """
import os, time

def loss(parameters):
    time.sleep(0.08)
    x, y = parameters["w.weight"][0, :2]
    place = f"{x:.9f} {y:.9f}"
    with open("PLACES", "a+") as file:
        file.seek(0)
        known = file.read().splitlines()
        print(place, file=file)
    number = known.index(place) if place in known else len(known)
    if number == 20:
        raise ValueError("batch <3> has no labels")
    if number == 40 and place not in known:
        os.kill(os.getpid(), 9)
    return float((parameters["w.weight"] ** 2).sum())
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    shutil.copytree(RECORDED / "lenet_sink_mode", tmp_path / "runs/one")
    random = np.random.default_rng(5)
    weight = random.normal(size=(2, 3))
    for step in range(1, 5):
        np.savez(tmp_path / f"runs/one/net_{step}.npz", **{"w.weight": weight})  # type: ignore[arg-type]
        weight = weight + random.normal(size=(2, 3)) * 0.2
    (tmp_path / "loss.py").write_text(SCRIPT.replace("PLACES", str(tmp_path / "places")))
    return tmp_path / "runs/one"


@pytest.fixture
def begin(run: Path) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts the command, whose result is beside the files of the run."""
    begun: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        given = [run, "--script", run.parents[1] / "loss.py", "--out", run, "--checkpoints", "*.npz", "--size", SIZE]
        command = [sys.executable, "-m", "app", "landscape", *map(str, given)]
        begun.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return begun[-1]

    yield start
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.wait()


def finished(page: Page) -> int:
    """The number of points that the page says are finished, -1 if it does not say it."""
    text = page.locator(f"{BADGES} .ms-badge .en").all_inner_texts()
    found = next((match for one in text if (match := re.fullmatch(rf"(\d+) of {TOTAL} points", one))), None)
    return int(found[1]) if found else -1


def places(page: Page) -> int:
    """The number of places without a loss that the plot has."""
    script = "plot => plot._fullData.filter(one => one.meta.role === 'missing').map(one => one.x.length)"
    return sum(page.locator(PLOT).evaluate(script))


@pytest.mark.long
def test_a_landscape_is_seen_while_it_is_computed(
    page: Page, run: Path, begin: Callable[[], subprocess.Popen[bytes]], serve: Callable[[Flask], str]
) -> None:
    store = Store([run.parent], interval=0.3).start()
    assert store.wait(30)
    first = begin()
    address = serve(create_app(store).server)
    becomes(page, lambda: bool(list(run.glob("*.points"))), True)
    show(page, f"{address}/landscape?run=one")
    becomes(page, lambda: finished(page) > 30, True)
    expect(page.locator(".ms-landscape-main .ms-card-title")).to_have_text("one · Step 1 – 4")
    becomes(page, lambda: places(page), 1)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = finished(page)
    second = begin()
    becomes(page, lambda: finished(page) > before, True)
    assert second.wait(60) == 3  # a place has no loss
    becomes(page, lambda: finished(page), -1)
    expect(page.locator(f"{BADGES} .ms-badge .en", has_text="1 losses not finite")).to_be_visible()
    assert places(page) == 1
    texts = page.locator(PLOT).evaluate("plot => Array.from(plot._fullData.find(one => one.meta.role === 'missing').text)")
    assert texts == ["No loss<br>ValueError: batch &lt;3&gt; has no labels"]
    store.stop()
