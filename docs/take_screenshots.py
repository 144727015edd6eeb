"""Take the pictures of README and manual, of the demo.

    python docs/take_screenshots.py [GRAPHS [PROFILES]]

GRAPHS holds a MindSpore run with a large graph, PROFILES runs with a strategy graph and with shapes of operators that change,
which the demo has not. A picture is named after its page, with a suffix where a page has several.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import FloatRect, Page, ViewportSize, sync_playwright
from waitress.server import create_server

from app import create_app
from app.demo import prepared, story
from app.programs import environment
from app.store.store import Store
from layouts.runs.boards import BoardCard
from layouts.runs.questions import Destinations

HERE = Path(__file__).resolve().parent
OUT = HERE / "pictures"
SIZE: ViewportSize = {"width": 1360, "height": 800}
Picture = tuple[str, str, Literal["light", "dark"], str]
"""File name without suffix, address below the server, theme, language."""
JOB = f"run={story.JOB}&of={story.JOB}"
LATE = f"{JOB}&rank={story.LATE_RANK}"
SWEEP = "&".join(f"run={name}" for name in story.sweep())
EXPLAINED = f"run={story.EXPLAINED}"
BROKEN = f"run={story.DIVERGES}&of={story.DIVERGES}"
PICTURES: tuple[Picture, ...] = (
    ("start", "start", "light", "en-US"),
    ("runs", "runs", "light", "en-US"),
    ("board", "board?board=0123456789abcdef", "light", "en-US"),
    ("scalars", "scalars", "light", "en-US"),
    ("scalars-dark", "scalars", "dark", "zh-CN"),
    ("scalars-groups", "scalars?run=*&group=column:learning_rate&band=range&smooth=0.6", "light", "en-US"),
    ("overview", f"overview?run={story.OVERFITS}", "light", "en-US"),
    ("histograms", f"histograms?run={story.SWEEP}", "light", "en-US"),
    ("tensors", f"tensors?run={story.SWEEP}", "light", "en-US"),
    ("images", f"images?run={story.SWEEP}", "light", "en-US"),
    ("dataset", "dataset", "light", "en-US"),
    ("landscape", f"landscape?run={story.SWEEP}", "light", "en-US"),
    ("model_lineage", "model_lineage?run=*", "light", "en-US"),
    ("data_lineage", "data_lineage?run=*", "light", "en-US"),
    ("optimisation", f"optimisation?{SWEEP}&target=metric/accuracy", "light", "en-US"),
    ("two_runs", f"two_runs?one={story.STEADY}&other={story.DIVERGES}", "light", "en-US"),
    ("text", "text", "light", "en-US"),
    ("guides", f"guides?run={story.DIVERGES}", "light", "en-US"),
    ("tuning", "tuning", "light", "en-US"),
    ("job", f"job?{LATE}", "light", "en-US"),
    ("profile_overview", f"profile_overview?{LATE}", "light", "en-US"),
    ("timeline", f"timeline?{LATE}&step=3", "light", "en-US"),
    ("operators", f"operators?{LATE}", "light", "en-US"),
    ("steps", f"steps?{LATE}", "light", "en-US"),
    ("memory", f"memory?{LATE}", "light", "en-US"),
    ("preparation", f"preparation?run={story.STARVES}", "light", "en-US"),
    ("ranks", f"ranks?{JOB}", "light", "en-US"),
    ("cluster", f"cluster?{JOB}&picked={story.LATE_RANK}", "light", "en-US"),
    ("communication", f"communication?{JOB}", "light", "en-US"),
    ("pipeline", f"pipeline?{JOB}", "light", "en-US"),
    ("two_jobs", f"two_jobs?run={story.JOB}&run={story.JOB_REPAIRED}&of={story.JOB}", "light", "en-US"),
    ("advice", f"advice?{LATE}", "light", "en-US"),
    ("debugger", f"debugger?{BROKEN}", "light", "en-US"),
    ("first_cause", f"first_cause?{BROKEN}", "light", "en-US"),
    ("two_dumps", f"two_dumps?{BROKEN}&run={story.STEADY}&with={story.STEADY}", "light", "en-US"),
    ("saliency", f"saliency?{EXPLAINED}&sort=uncertainty", "light", "en-US"),
    ("counterfactual", f"counterfactual?{EXPLAINED}", "light", "en-US"),
    ("uncertainty", f"uncertainty?{EXPLAINED}", "light", "en-US"),
    ("confusion", f"confusion?{EXPLAINED}", "light", "en-US"),
    ("scores", f"scores?{EXPLAINED}", "light", "en-US"),
)
GRAPH_PICTURES: tuple[Picture, ...] = (("graph", "graph?run=graph_bert_train", "light", "en-US"),)
PROFILE_PICTURES: tuple[Picture, ...] = (
    ("shapes", "shapes?run=profiler_new/torch_npu_st_4ranks_pp2&scale=log", "light", "en-US"),
    ("strategy", "strategy?run=mindinsight_legacy/parallel_strategy&node=n1", "light", "en-US"),
)
CONVERSION_PICTURES: tuple[Picture, ...] = (("conversion", "conversion?run=conversion&node=n12", "light", "en-US"),)
"""Of the sample in tests/data."""

BOARD = "0123456789abcdef"
BOARD_CARDS = (
    BoardCard("1" * 16, text="# Learning rates\n\n**0.1** is best; see [optimisation](optimisation).", w=4, h=5),
    BoardCard("2" * 16, f"scalars?{SWEEP}&smooth=0.6", "key:accuracy/validation", x=4, w=8, h=8),
    BoardCard("3" * 16, f"saliency?{EXPLAINED}&sort=uncertainty", "", y=5, w=4, h=9),
    BoardCard("4" * 16, f"histograms?run={story.SWEEP}", "key:conv.weight", x=4, y=8, w=4, h=7),
    BoardCard("5" * 16, f"scalars?run={story.OVERFITS}", "key:loss/validation", x=8, y=8, w=4, h=7),
)  # fmt: skip
"""The board of the picture of that page."""
def take(base: str, pictures: Sequence[Picture], places: Destinations | None = None) -> None:
    with tempfile.TemporaryDirectory() as notes:
        store = Store([base], interval=0, notes_directory=notes, places=places).start()
        store.wait(60)
        store.notes.create_board("Learning rates", BOARD_CARDS, key=BOARD)
        _take(store, pictures)
        store.stop()


def _take(store: Store, pictures: Sequence[Picture]) -> None:
    server: Any = create_server(create_app(store).server, host="127.0.0.1", port=0, threads=16)
    threading.Thread(target=server.run, daemon=True).start()
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-headless-shell")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name, path, theme, language in pictures:
            context = browser.new_context(viewport=SIZE, color_scheme=theme, locale=language)
            page = context.new_page()
            page.goto(f"http://127.0.0.1:{server.effective_port}/{path}")
            page.wait_for_timeout(12_000 if name == "board" else 5000)
            _settle(page)
            page.screenshot(path=OUT / f"{name}.png")
            context.close()
        browser.close()


def _settle(page: Page) -> None:
    """Wait until nothing is being read, and the page below its bar, which tells the time, has not changed for two seconds."""
    below: FloatRect = {"x": 0, "y": 48, "width": SIZE["width"], "height": SIZE["height"] - 48}
    shown, until = page.screenshot(clip=below), time.monotonic() + 120
    while time.monotonic() < until:
        page.wait_for_timeout(2000)
        before, shown = shown, page.screenshot(clip=below)
        awaited = page.locator(".ms-skeleton:visible, [data-going]:visible").count()
        awaited += page.locator(".ag-cell").get_by_text("…", exact=True).count()
        if shown == before and not awaited:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a picture to take; all by default")
    parser.add_argument("bases", nargs="*", help="directories of graphs and of profiles, for their pictures")
    options = parser.parse_args()

    def chosen(pictures: Sequence[Picture]) -> list[Picture]:
        return [one for one in pictures if not options.only or one[0] in options.only]

    if chosen(PICTURES):
        with tempfile.TemporaryDirectory() as workspace:
            take(os.fspath(_demo(Path(workspace))), chosen(PICTURES), places=story.places())
    if chosen(CONVERSION_PICTURES):
        take(os.fspath(HERE.parent / "tests" / "data" / "mindscope" / "0.2.0"), chosen(CONVERSION_PICTURES))
    for base, pictures in zip(options.bases, (GRAPH_PICTURES, PROFILE_PICTURES), strict=False):
        take(base, chosen(pictures))


def _demo(workspace: Path) -> Path:
    """Make the demo; RuntimeError if its jobs are not there after two minutes."""
    demo = prepared.prepare(workspace, environment())
    until = time.monotonic() + 120
    while not all((demo / name).is_dir() for name in (story.JOB, story.JOB_REPAIRED)):
        if time.monotonic() > until:
            raise RuntimeError(f"{demo}: expected the jobs of the demo, found none after two minutes")
        time.sleep(0.5)
    return demo


if __name__ == "__main__":
    main()
