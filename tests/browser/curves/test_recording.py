"""A recording that goes on, followed in a browser: its first question is whether steps wait for data."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from parsers import open_run
from tests.amounts import long_after
from tests.app.commands.running import ROOT
from tests.browser.curves.test_scalars import CARDS, LINE, card, visit
from tests.browser.showing import show
from tests.browser.waiting import becomes

SECONDS = float(os.environ.get("MINDSCOPE_RECORDING_SECONDS", "25"))
"""How long the long case records at least; the system is sampled every 10 s."""
WAIT, WORK = 0.03, 0.01
WRITER = f"""
import os, sys, time
from parsers.recording import Recorder

def batches():
    while not os.path.exists(sys.argv[2]):
        time.sleep({WAIT})
        yield None

with Recorder(sys.argv[1], settings={{"lr": 0.1}}, system=True) as run:
    for step, _ in enumerate(run.steps(batches())):
        time.sleep({WORK})
        run.log(step, {{"loss": 1 / (step + 1)}})
print(step + 1)
"""


@pytest.fixture
def writer(base: Path) -> Iterator[subprocess.Popen[str]]:
    """Records into `recorded` until there is a file `stop`."""
    command = [sys.executable, "-c", WRITER, str(base / "recorded"), str(base.parent / "stop")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        yield child
        child.kill()


def points(page: Page) -> int:
    """The number of points that the first card says it shows, 0 while it says none."""
    found = re.search(r"all ([\d,]+) points", page.locator(CARDS).first.inner_text())
    return int(found[1].replace(",", "")) if found else 0


@pytest.mark.parametrize("seconds", long_after(1, [0.0, SECONDS]))
def test_waiting_for_data_and_step_time_are_on_one_card_that_grows(
    page: Page, address: str, base: Path, writer: subprocess.Popen[str], seconds: float
) -> None:
    until = time.monotonic() + seconds
    becomes(page, lambda: any(base.glob("recorded/*tfevents*")), True)
    visit(page, address, "run=recorded&mode=one&left=time/data&left=time/step")
    expect(page.locator(f"{CARDS} .ms-legend")).to_have_text(["time/data", "time/step"])
    seen = [0]
    while len(seen) < 4 or time.monotonic() < until:
        seen.append(becomes(page, lambda: points(page), lambda found: found > seen[-1]))
    (base.parent / "stop").touch()
    assert writer.wait() == 0
    assert writer.stdout is not None
    steps = int(writer.stdout.read())
    becomes(page, lambda: points(page), 2 * steps)

    run = open_run(base / "recorded")
    data, whole = run.series("time/data").value, run.series("time/step").value
    assert len(data) == len(whole) == len(run.series("loss").step) == steps
    assert float(np.min(data)) >= WAIT * 0.9
    assert bool(np.all(whole >= data + WORK * 0.9))
    if seconds > 20:
        assert len(run.series("system/memory_used_bytes").value) >= seconds // 10 - 1
        show(page, f"{address}/scalars?run=recorded&tag=system/cpu_percent")
        expect(card(page, "system/cpu_percent").locator(LINE)).to_be_attached()
