"""Every page in both themes against axe-core's rules: nothing serious or critical is found."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from app import create_app
from app.store.store import Store
from layouts import PAGES
from layouts.boards import BoardCard
from parsers.explanations.recording import ExplanationWriter, Layer, Uncertainty
from tests.browser.conftest import DEMO, WAIT_MS, _end, _serving
from tests.parsers.profiler.written import FILES
from tests.writers import chrome_traces
from tests.writers.clusters import write
from tests.writers.dumps import Injection, write_dump
from tests.writers.studies import write_study

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
GROUPS = sorted({page.group for page in PAGES})
GRAVE = ("serious", "critical")
LEFT_OUT = (
    ("scrollable-region-focusable", "ms-table-scroll"),  # the grid around it has the focus, and arrow keys move it
    ("label-content-name-mismatch", "ms-dataset-box"),  # its name has the whole text of what is shortened on screen
    ("label-content-name-mismatch", "ms-tile-link"),  # it is around pictures, whose numbers are no name
    ("aria-required-children", "ag-header-row"),  # AG Grid's row of headings of groups, where a pinned column has none
)
VIEWS = {"graph": ("graph?run=runs/lenet_diverges_nan&paint=nan",)}
"""Views of pages that have controls of their own, by page."""
FOUND = """() => axe.run(document, {resultTypes: ['violations']}).then(({ violations }) => violations.flatMap(
    ({ id, impact, nodes }) => nodes.map(({ html, target, any }) => (
        { id, impact, html: html.slice(0, 300), target: target.join(' '), why: any.length ? any[0].message : '' }))))"""


def explain(folder: Path) -> None:
    """Record explanations for every page about them."""
    rng = np.random.default_rng(1)
    explainers, metrics = ("GradCAM", "RISE"), ("Faithfulness", "Robustness", "Localization")
    with ExplanationWriter(str(folder), labels=["cat", "dog"], explainers=explainers, metrics=metrics, seconds=1) as writer:
        for sample in range(8):
            p = float(rng.random())
            sure = {label: Uncertainty(0.05, max(0.0, one - 0.1), one) for label, one in ((0, p), (1, 1 - p))}
            picture = rng.integers(0, 256, (32, 32, 3), np.uint8)
            writer.sample(sample, picture, truth=[sample % 2], probabilities={0: p, 1: 1 - p}, uncertainty=sure)
            writer.counterfactual(sample, 0, [Layer(p, [(4, 4, 16, 16)]), Layer(p / 2, [(8, 8, 8, 8)])], radius=2)
            for explainer in explainers:
                writer.heat_map(sample, explainer, 0, rng.random((32, 32)))
        for explainer in explainers:
            for metric in metrics:
                writer.score(explainer, metric, float(rng.random()), rng.random(2).tolist())


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The application over the demo runs, a profile, a trace, two jobs, a dump with NaN and a study."""
    base = tmp_path_factory.mktemp("everything")
    shutil.copytree(DEMO, base / "runs")
    profile = base / "profiled" / "profiler"
    shutil.copytree(ROOT / "tests" / "data" / "mindspore_profiler" / "2.10_minddata" / "profiler", profile)
    for name in ("memory_record.csv", "operator_memory.csv", "npu_module_mem.csv"):
        (profile / name).write_text(FILES[name], encoding="utf-8")
    traced = base / "traced" / "host_1_2_ascend_ms" / "ASCEND_PROFILER_OUTPUT"
    traced.mkdir(parents=True)
    (traced / "trace_view.json").write_text(chrome_traces.text(), encoding="utf-8")
    for job, seed in (("job_a", 1), ("job_b", 2)):
        write(base / job, ranks=16, steps=4, operations=3, seed=seed)
    write_dump(base / "dump", iterations=4, injection=Injection(3, 5, "nan"))
    explain(base / "explained")
    write_study(base / "search" / "journal.log")
    store = Store([base], interval=0).start()
    assert store.wait(60)
    store._studies.wait()
    server = _serving(create_app(store).server, 0)
    yield f"http://127.0.0.1:{server.port}"
    _end(server)
    store.stop()


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.is_file():
        if os.environ.get("MINDSCOPE_REQUIRE_BROWSER") == "1":
            pytest.fail("MINDSCOPE_REQUIRE_BROWSER=1, but axe-core is not installed; `make scripts` does it")
        pytest.skip("axe-core is not installed; `make scripts` does it")
    return AXE.read_text(encoding="utf-8")


def is_left_out(one: dict[str, Any]) -> bool:
    return any(one["id"] == rule and part in one["html"] for rule, part in LEFT_OUT)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("group", GROUPS)
def test_nothing_grave_is_found(browser: Browser, everything: str, axe: str, group: str, theme: Any) -> None:
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, locale="en-US", color_scheme=theme, bypass_csp=True
    )  # fmt: skip
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    found = []
    for path in [path for one in PAGES if one.group == group for path in (one.path, *VIEWS.get(one.name, ()))]:
        page.goto(f"{everything}/{path}")
        expect(page.locator(".ms-frame")).to_be_visible()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(500)
        page.evaluate(axe)
        grave = [one for one in page.evaluate(FOUND) if one["impact"] in GRAVE and not is_left_out(one)]
        found += [f"{path}: {one['id']} {one['target']}: {one['why']} {one['html']}" for one in grave]
    context.close()
    assert not found, "\n".join(found)


CHARTS = """() => {
  const hidden = (one) => one.closest('[aria-hidden="true"], [hidden]') || !one.checkVisibility();
  const text = (one) => [
    one.getAttribute('aria-label'), one.getAttribute('alt'),
    ...(one.getAttribute('aria-describedby') || '').split(' ').map((id) => id && document.getElementById(id)?.innerText),
  ].filter(Boolean).join(' ');
  const whole = '[role="img"], [role="application"]';
  const named = (one) => one.matches('img[alt=""]') && one.closest('button, a, figure, li, tr, [role="row"]')?.innerText.trim();
  const found = document.querySelectorAll(`main :is(.js-plotly-plot, canvas, img, svg, ${whole})`);
  const drawn = Array.from(found).filter((one) => (
    !hidden(one) && !named(one) && !one.parentElement.closest(`${whole}, .js-plotly-plot`)
    && Math.min(one.clientWidth, one.clientHeight) > 24
    && !(one.matches('.js-plotly-plot') && one.closest('.ms-card-body')?.querySelector('.ms-skeleton')?.checkVisibility())
  ));
  return drawn.map((one) => [`${one.localName}.${one.getAttribute('class')}`, text(one)]);
}"""
"""What is drawn, with its text alternative. Icons are smaller, pictures beside their name need none, a plot below a skeleton is
not drawn yet."""
NAMELESS = 60
"""Names of charts alone are shorter than this; alternatives with values are longer."""
WITHOUT = {
    "runs", "text", "tensors", "two_runs", "advice", "profile_overview", "operators", "shapes", "board", "confusion", "scores",
    "counterfactual", "uncertainty",
}  # fmt: skip
"""Pages that show no chart with these data: lists, texts and tables, and pages about files that are not among them."""
OF_RUNS = {"scalars", "histograms", "images", "landscape", "dataset", "model_lineage", "data_lineage", "optimisation"}
"""Pages with charts of several runs."""


def test_every_chart_has_a_text_alternative(browser: Browser, everything: str) -> None:
    """On each page: what it shows, in the language of the page; charts of runs name at least one of them."""
    context = browser.new_context(viewport={"width": 1440, "height": 2400}, locale="en-US")
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    missing, drawn = [], set()
    for shown in PAGES:
        page.goto(f"{everything}/{shown.path}")
        expect(page.locator(".ms-frame")).to_be_visible()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(500)
        found = page.evaluate(CHARTS)
        until = time.monotonic() + WAIT_MS / 1000
        while time.monotonic() < until:
            lacking = [one for one in found if not speaks(shown.name, one)]
            if not lacking and (found or shown.name in WITHOUT):
                break
            page.wait_for_timeout(250)
            found = page.evaluate(CHARTS)
        missing += [f"{shown.name}: {one}" for one in lacking]
        drawn |= {shown.name} if found else set()
    context.close()
    assert not missing, "\n".join(missing)
    assert drawn >= {page.name for page in PAGES} - WITHOUT


def speaks(page: str, chart: tuple[str, str]) -> bool:
    """Whether a chart has an alternative; that of a picture is short."""
    kind, text = chart
    least = 10 if kind.startswith("img") or page == "saliency" else NAMELESS
    return len(text) > least and (page not in OF_RUNS or "runs/" in text)


def test_alternatives_follow_the_language_and_the_figure(page: Page, demo: str) -> None:
    page.goto(f"{demo}/scalars?tag=loss&run=lenet_sink_mode")
    plot = page.locator(".js-plotly-plot").first
    expect(plot).to_have_attribute("aria-label", re.compile(r"^Line of loss, over steps\. .*lenet_sink_mode: last 2\.014,"))
    expect(plot).to_have_attribute("role", "img")
    page.evaluate("document.documentElement.lang = 'zh-CN'")
    expect(plot).to_have_attribute("aria-label", re.compile("^loss 的曲线，横轴为步骤。.*最新 2.014"))
    page.locator("input.ms-smooth").fill("0.9")
    page.keyboard.press("Enter")
    expect(plot).to_have_attribute("aria-label", re.compile("已平滑"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_grave_is_found_on_a_board(browser: Browser, axe: str, tmp_path: Path, theme: Any) -> None:
    cards = (
        BoardCard("1" * 16, "scalars", "key:loss"), BoardCard("2" * 16, text="# Daily\n\n[link](scalars) `code`", x=4),
        BoardCard("3" * 16, "scalars?run=gone", "key:loss", x=8),
    )  # fmt: skip
    app = create_app(DEMO, workspace=tmp_path / "workspace")
    assert app.source.wait(60)
    board = app.source.create_board("Daily", cards)
    server = _serving(app.server, 0)
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, locale="en-US", color_scheme=theme, bypass_csp=True
    )  # fmt: skip
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    found = []
    for address in ("board", f"board?board={board.key}", f"board?board={board.key}&embed=1", "board?board=x"):
        page.goto(f"http://127.0.0.1:{server.port}/{address}")
        expect(page.locator(".ms-board-list, .ms-board .ms-empty:visible, .ms-board-text h1").first).to_be_visible()
        if board.key in address:
            expect(page.frame_locator(".ms-board-frame >> nth=0").locator(".scatterlayer .trace").first).to_be_attached()
            page.get_by_role("group", name="Card Daily").hover()
        page.evaluate(axe)
        grave = [one for one in page.evaluate(FOUND) if one["impact"] in GRAVE and not is_left_out(one)]
        found += [f"{address}: {one['id']} {one['target']}: {one['why']} {one['html']}" for one in grave]
    context.close()
    _end(server)
    app.source.stop()
    assert not found, "\n".join(found)
