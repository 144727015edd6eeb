"""`make soak HOURS=2`: a server that is used and written to for hours; is what it takes flat after the first quarter?

Twenty runs grow by 20 points a second each; every minute one of them is deleted, one is replaced, a profile and a dump arrive
and older ones go. Chromium opens and closes pages in turn, and thirty clients ask for status, curves and lists. Sampled are
anonymous memory (of the server and all processes it started, shared pages divided), threads, descriptors, and bytes of the
workspace.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.browsing import FLAGS
from benchmarks.drawn_series import drawn
from benchmarks.measure import ANONYMOUS, ROOT, shared_out, started_by
from benchmarks.starting import server
from layouts import PAGES
from parsers.recording import EventWriter

RUNS, TAGS, CLIENTS = 20, 10, 30
STEPS_A_SECOND = 2
SAMPLE_SECONDS = 5.0
MINUTE = 60.0
KEPT = 3
"""Profiles and dumps that stay: older ones are deleted when one arrives."""
BYTES_PER_POINT = 60
"""Of a point in memory while its file grows; 21 to 25 once blocks have been joined (docs/figures.md)."""
SLACK = {"memory": 15.0, "threads": 3.0, "descriptors": 12.0, "workspace": 5.0}
"""By how much the last quarter may exceed the second one: MB, counts, MB."""
PROFILE = ROOT / "tests/data/mindspore_profiler/2.10/vm_1_20261120233012998_ascend_ms"
DUMP = ROOT / "tests/data/dumps/mindspore-2.10/out_cf"


class Training:
    """Twenty runs that grow; `points` are those of the runs that are there."""

    def __init__(self, base: Path) -> None:
        self._base, self._number = base, 0
        self._writers: dict[int, EventWriter] = {}
        self._steps: dict[int, int] = {}
        for run in range(RUNS):
            self._begin(run)

    @property
    def points(self) -> int:
        """Scalars in all runs."""
        return sum(self._steps.values()) * TAGS

    def _begin(self, run: int) -> None:
        folder = self._base / f"run{run:02}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._number += 1
        name = f"{self._number}.out.events.summary.{1_700_000_000 + self._number}.0.host_MS"
        self._writers[run], self._steps[run] = EventWriter(str(folder / name), "mindspore"), 0

    def step(self) -> None:
        """Write one step of every run."""
        for run, writer in self._writers.items():
            self._steps[run] += 1
            step = self._steps[run]
            writer.add(step, {f"metric/{tag}": 1 / (step + tag) for tag in range(TAGS)})
            writer.flush()

    def minute(self, number: int) -> None:
        """Delete one run, replace another, and let a profile and a dump arrive."""
        gone, replaced = number % RUNS, (number + RUNS // 2) % RUNS
        if gone in self._writers:
            self._writers.pop(gone).close()
            shutil.rmtree(self._base / f"run{gone:02}")
            del self._steps[gone]
        for run in {replaced, (number - 1) % RUNS}:
            if run in self._writers:
                self._writers.pop(run).close()
            self._begin(run)
        for name, data in (("profile", PROFILE), ("dump", DUMP)):
            place = self._base / f"{name}{number}"
            shutil.copytree(data, place / data.name)
            shutil.rmtree(self._base / f"{name}{number - KEPT}", ignore_errors=True)

    def close(self) -> None:
        """Close all files."""
        for writer in self._writers.values():
            writer.close()


def train(training: Training, ended: threading.Event) -> None:
    """Write until the end."""
    begun, minutes, steps = time.monotonic(), 0, 0
    while not ended.wait(max(0.0, begun + steps / STEPS_A_SECOND - time.monotonic())):
        training.step()
        steps += 1
        if time.monotonic() - begun >= MINUTE * (minutes + 1):
            training.minute(minutes)
            minutes += 1
    training.close()


def ask(address: str, ended: threading.Event, counts: dict[str, int]) -> None:
    """Ask as pages and scripts do; a refusal because somebody else was first is counted, not an error."""
    number = 0
    while not ended.wait(1.0):
        number += 1
        run = f"run{number % RUNS:02}"
        for path in ("/api/status.json", "/api/runs.json", f"/api/scalars.csv?run={run}&tag=metric/{number % TAGS}"):
            try:
                with urllib.request.urlopen(address + path, timeout=60) as answer:
                    answer.read()
                kind = "answered"
            except urllib.error.HTTPError as error:
                kind = str(error.code)
            except OSError as error:
                kind = type(error).__name__
            counts[kind] = counts.get(kind, 0) + 1


def browse(address: str, ended: threading.Event, counts: dict[str, int]) -> None:
    """Open and close all pages of the menu in turn."""
    from playwright.sync_api import Error, sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))))
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=path, args=FLAGS) as browser:
        while not ended.is_set():
            for page in PAGES:
                with contextlib.closing(browser.new_page()) as tab:
                    try:
                        tab.goto(f"{address}/{page.path.strip('/')}?run=*", timeout=60_000)
                        counts["pages"] = counts.get("pages", 0) + 1
                    except Error:
                        counts["pages not opened"] = counts.get("pages not opened", 0) + 1
                    if ended.wait(4.0):
                        return


def taken(pid: int, workspace: Path) -> dict[str, float]:
    """Return what a server and the processes it started take now."""
    found = {"memory": shared_out(pid, ANONYMOUS), "threads": 0.0, "descriptors": 0.0, "workspace": 0.0}
    for one in (pid, *started_by(pid)):
        with contextlib.suppress(OSError):  # it has ended
            found["threads"] += len(os.listdir(f"/proc/{one}/task"))
            found["descriptors"] += len(os.listdir(f"/proc/{one}/fd"))
    for place, _, names in os.walk(workspace):
        for name in names:
            with contextlib.suppress(OSError):
                found["workspace"] += os.stat(os.path.join(place, name)).st_blocks * 512 / 1e6
    return found


def soak(seconds: float) -> dict[str, Any]:
    """Return the samples and counts of a server that runs for this time."""
    samples: list[dict[str, float]] = []
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as place, working(Path(place), counts) as (process, training):
        begun = time.monotonic()
        while (now := time.monotonic() - begun) < seconds:
            workspace = Path(process.args[process.args.index("--workspace") + 1])
            samples.append({"seconds": now, "points": training.points} | taken(process.pid, workspace))
            if process.poll() is not None:
                raise RuntimeError(f"the server ended with {process.returncode}")
            time.sleep(SAMPLE_SECONDS)
    return {"samples": samples, "counts": counts}


@contextlib.contextmanager
def working(base: Path, counts: dict[str, int]) -> Iterator[tuple[Any, Training]]:
    """A server, what writes, and who asks, until the end."""
    ended, training = threading.Event(), Training(base)
    with server(base) as (process, address):
        _wait_for(address)
        threads = [threading.Thread(target=train, args=(training, ended))]
        asking = [browse, *[ask] * CLIENTS]
        threads += [threading.Thread(target=work, args=(address, ended, counts)) for work in asking]
        for thread in threads:
            thread.start()
        try:
            yield process, training
        finally:
            ended.set()
            for thread in threads:
                thread.join()


def _wait_for(address: str, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(address + "/health", timeout=5).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
        time.sleep(0.1)


def judged(samples: list[dict[str, float]]) -> dict[str, tuple[float, float, float]]:
    """Return by kind the medians of the second and the last quarter, and by how much more the last may be."""
    quarter = len(samples) // 4
    second, last = samples[quarter : 2 * quarter], samples[-quarter:]
    found = {}
    for kind, slack in SLACK.items():
        before, after = (median(one[kind] for one in part) for part in (second, last))
        points = median(one["points"] for one in last) - median(one["points"] for one in second)
        documented = max(0.0, points) * BYTES_PER_POINT / 1e6 if kind in ("memory", "workspace") else 0.0
        found[kind] = before, after, slack + documented
    return found


def main() -> int:
    """Soak, write samples and picture, and say what is not flat."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--to", type=Path, help="file for the samples (JSON); a picture (SVG) is written beside it")
    options = parser.parse_args()
    found = soak(options.hours * 3600)
    if options.to:
        options.to.write_text(json.dumps(found))
        options.to.with_suffix(".svg").write_text(drawn(found["samples"], tuple(SLACK)))
    print(f"{found['counts']}, {found['samples'][-1]['points']:,.0f} points at the end")
    grown = 0
    for kind, (before, after, more) in judged(found["samples"]).items():
        flat = after <= before + more
        grown += not flat
        word = "flat" if flat else "GROWS"
        print(f"{kind:12} {before:9.1f} in the second quarter, {after:9.1f} in the last, {word} (+{more:.1f} allowed)")
    return 1 if grown else 0


if __name__ == "__main__":
    raise SystemExit(main())
