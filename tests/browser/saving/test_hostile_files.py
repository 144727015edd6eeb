"""Saved pages and boards of hostile data: nothing of it runs, and no link leads out of the file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from parsers.recording import EventWriter, Histogram, Recorder
from parsers.recording import Image as Picture
from parsers.recording import Text as Words
from tests.amounts import long_after
from tests.app.routes.values.test_media import png
from tests.browser.everything import explain
from tests.browser.profiles.test_operators import kernels
from tests.browser.saving.saved_pages import Saved, save
from tests.browser.saving.test_board_files import board
from tests.browser.showing import show
from tests.browser.waiting import WAIT_MS, settles
from tests.converted import changed
from tests.writers.dumps import Injection, graph_of, network, write_network

SLASH = "\u2215"
"""Like a slash, which no name of a directory has."""
EVIL = [
    "</script><script>window.ran=1</script>", "<img src=x onerror='window.ran=1'>", "javascript:window.ran=1",
    "\u202eloss\u2066", "</style><script>window.ran=1</script>", "]]><!--<script>window.ran=1</script>",
    "a{background:url(//evil.example/x)}",
    '"onmouseover="window.ran=1', "<a href='javascript:window.ran=1'>x</a>", "${window.ran=1}", "\u2028window.ran=1",
]  # fmt: skip
NOTE = """async ([run, remark, tags]) => {
    const post = async (what, change) => (await fetch(`/api/${what}`, {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(change),
    })).status;
    for (const tag of tags) await post('note', { run, add: [tag] });
    return [await post('note', { run, remark }), await post('view', { save: remark, place: 'scalars?smooth=0.6' })];
}"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    """Runs, tags, texts, settings, operators and remarks that try to become markup, scripts, styles and links."""
    base = tmp_path_factory.mktemp("hostile")
    for number, name in enumerate(EVIL):
        folder = base / "runs" / name.replace("/", SLASH)
        folder.mkdir(parents=True)
        with EventWriter(str(folder / "events.out.tfevents.1700000000.vm"), "tensorboard") as writer:
            for step in range(3):
                said: dict[str, Any] = {tag: float(step + number) for tag in EVIL}
                writer.add(step, said, wall_time=1.7e9 + step)
                writer.add(step, {f"{tag} picture": Picture(png(90, 8, 8), 8, 8) for tag in EVIL[:3]}, wall_time=1.7e9 + step)
                writer.add(step, {f"{tag} text": Words(" ".join(EVIL)) for tag in EVIL[:3]}, wall_time=1.7e9 + step)
                spread = {f"{tag} values": Histogram(np.arange(20.0) + step) for tag in EVIL}
                writer.add(step, spread, wall_time=1.7e9 + step)
        with Recorder(str(folder), settings={tag: f"{tag} {number}" for tag in EVIL}) as recorder:
            recorder.log(0, {"loss": float(number)})
    profile = base / "runs" / EVIL[0].replace("/", SLASH) / "profiler/rank-0_20260101_ascend_ms/ASCEND_PROFILER_OUTPUT"
    profile.mkdir(parents=True)
    rows = csv.reader(io.StringIO(kernels(60, 20.0)))
    named = io.StringIO()
    csv.writer(named).writerows([next(rows), *([step, EVIL[at % len(EVIL)], EVIL[-1 - at % len(EVIL)], *rest]
                                               for at, (step, _, _, *rest) in enumerate(rows))])  # fmt: skip
    (profile / "kernel_details.csv").write_text(named.getvalue(), encoding="utf-8")
    write_values(base / "runs")
    app = create_app(base / "runs", workspace=base / "workspace")
    assert app.source.wait(30)
    yield serve_file(app.server)
    app.source.stop()


def write_values(folder: Path) -> None:
    """A dump, a graph, explanations and a conversion whose names are hostile."""
    # A dot ends a part of the name of a file of a dump.
    names = [one.replace("window.ran", "window['ran']").replace(".", "_") for one in EVIL]
    rng = np.random.default_rng(1)
    net = network(rng)
    for at, one in enumerate(net.operators):
        one.name = f"Default/{names[at % len(names)]}/{one.type}-op{at}"
    write_network(folder / "dump", net, rng, lambda _: {"x": np.ones((8, 6), np.float32), "y": np.ones((8, 6), np.float32)}, 2,
                  injection=Injection(1, 5, "nan"))  # fmt: skip
    (folder / "graph").mkdir()
    with EventWriter(str(folder / "graph" / "events.out.events.summary.1700000000.vm"), "mindspore") as writer:
        writer.add_graph(graph_of(net))
    explain(folder / "explained", labels=EVIL[:2], explainers=EVIL[:2], metrics=EVIL[:3])

    def change(told: dict[str, Any]) -> None:
        for node in told["nodes"]:
            node["name"] = node["message"] = EVIL[0]

    changed(folder / "converted", change, script=False)


class Parsed(HTMLParser):
    """The scripts, links and handlers that a parser finds in a file."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[dict[str, str | None]] = []
        self.wrong: list[tuple[str, str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.scripts.append(dict(attrs))
        if tag in ("iframe", "object", "embed", "base", "link", "form"):
            self.wrong.append((tag, "", None))
        for name, value in attrs:
            foreign = name in ("href", "xlink:href", "src", "action") and not re.match(r"#|data:image/", value or "")
            if name.startswith("on") or foreign:
                self.wrong.append((tag, name, value))


HELD = ("scalars", "images", "text", "", "histograms", "overview", "model_lineage", "optimisation", "two_runs", "operators",
        "profile_overview", "advice", "debugger", "first_cause", "graph", "saliency", "confusion", "scores", "counterfactual",
        "uncertainty", "conversion")  # fmt: skip
"""Pages that show names, texts, settings and values of the hostile runs."""
HELD_BY = {
    "debugger": "dump", "first_cause": "dump", "graph": "graph", "conversion": "converted",
    **dict.fromkeys(("saliency", "confusion", "scores", "counterfactual", "uncertainty"), "explained"),
}  # fmt: skip
"""The run of which they show it."""


@pytest.mark.parametrize("name", long_after(1, HELD))
def test_nothing_of_hostile_data_runs(
    page: Page, hostile: str, opened: Callable[[Path], Saved], tmp_path: Path, name: str
) -> None:
    with settles(page):
        show(page, f"{hostile}/{name}" + (f"?run={HELD_BY[name]}" if name in HELD_BY else ""))
        expect(page.locator(".ms-card:visible, .ag-row:visible").first).to_be_visible(timeout=WAIT_MS)
    if name == "":
        noted = page.evaluate(NOTE, [EVIL[0].replace("/", SLASH), EVIL[0], [one for one in EVIL if one.isprintable()]])
        assert noted == [200, 200]
        page.reload()
        expect(page.locator(".ag-row").first).to_be_visible()
    path = save(page, tmp_path / "page.html")
    parsed = Parsed(path.read_text(encoding="utf-8"))
    assert parsed.wrong == []
    running = [one for one in parsed.scripts if "type" not in one]
    assert len(running) == (1 if parsed.scripts else 0)
    assert {one.get("id") for one in parsed.scripts if "type" in one} <= {"ms-file-figures", "ms-file-plotly"}
    saved = opened(path).page
    saved.mouse.move(400, 300)
    assert saved.evaluate("() => window.ran") is None
    text = saved.evaluate("() => document.body.textContent")
    # Names of scopes are cut, at their slashes as well.
    assert any(one in text or one.replace("/", SLASH) in text for one in (*EVIL[:3], "<img src=x", "<script>")), text
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", saved.locator(".ms-file-head").text_content() or "")


@pytest.mark.long
def test_nothing_of_a_hostile_board_runs(
    page: Page, hostile: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    name = next(one for one in EVIL if "<" in one and one.isprintable())
    tags = [EVIL[0], *(one for one in EVIL if not one.isprintable()), next(one for one in EVIL if "url(" in one)]
    cards = [{"place": "scalars", "part": f"key:{tag}"} for tag in tags]
    cards.append({"place": "scalars", "part": "key:loss", "title": name})
    page.goto(board(hostile, cards, name))
    expect(page.locator(".ms-board-card .main-svg").first).to_be_visible(timeout=WAIT_MS)
    path = save(page, tmp_path / "page.html")
    assert Parsed(path.read_text(encoding="utf-8")).wrong == []
    saved = opened(path).page
    assert saved.evaluate("() => window.ran") is None
    titles = saved.locator(".ms-board-card .ms-board-head .ms-card-title").all_text_contents()
    assert sorted(titles) == sorted([*tags, name])
    drawn = saved.locator(".ms-board-card:has(.js-plotly-plot .main-svg)")
    assert drawn.count() == len(cards), "each card is found by its tag, and drawn"
