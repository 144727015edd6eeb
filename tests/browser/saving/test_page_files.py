"""Pages saved as one file: opened from file:// without a network, they look as on screen, and nothing of the data runs."""

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
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, expect

from app import create_app
from app.store.store import Store
from app.web.modules import PAGE_SAVING, SHELL
from layouts import PAGES
from layouts.kit.page import Page as MenuPage
from parsers.recording import EventWriter, Histogram, Recorder
from parsers.recording import Image as Picture
from parsers.recording import Text as Words
from tests.amounts import long_after
from tests.app.routes.values.test_media import png
from tests.browser.everything import explain
from tests.browser.profiles.test_operators import kernels
from tests.browser.runs.test_board import made
from tests.browser.showing import show
from tests.browser.waiting import WAIT_MS, settles, unchanged
from tests.converted import changed
from tests.recorded import RECORDED
from tests.writers.dumps import Injection, graph_of, network, write_network

OFTEN = ("runs", "scalars", "timeline", "graph", "histograms")
"""Pages of the menu that are tried in every run; all in `make test-long`."""
STATES = {
    "timeline": "?run=traced", "graph": "?run=runs/lenet_sink_mode", "histograms": "?run=runs/several_files",
}  # fmt: skip
CLOSE = 24
"""Levels of a colour by which text drawn a fraction of a pixel further on may differ."""
MOST_BYTES, MOST_BYTES_SURFACES = 1_200_000, 2_500_000
TYPES = """() => JSON.parse(document.querySelector('#ms-file-figures')?.textContent || '[]')
    .flatMap(({ data }) => data.map(({ type }) => type))"""
SLASH = "\u2215"
"""Like a slash, which no name of a directory has."""
DATA = """() => [...document.images].reduce((sum, one) => sum + one.src.length,
    document.querySelector('#ms-file-figures')?.textContent.length || 0)"""
"""Bytes of figures and images in a file."""
EVIL = [
    "</script><script>window.ran=1</script>", "<img src=x onerror='window.ran=1'>", "javascript:window.ran=1",
    "\u202eloss\u2066", "</style><script>window.ran=1</script>", "]]><!--<script>window.ran=1</script>",
    "a{background:url(//evil.example/x)}",
    '"onmouseover="window.ran=1', "<a href='javascript:window.ran=1'>x</a>", "${window.ran=1}", "\u2028window.ran=1",
]  # fmt: skip


class Saved:
    """A saved file in a tab of its own without a network; what it logs and asks for."""

    def __init__(self, browser: Browser, path: Path, viewport: ViewportSize) -> None:
        self.context = browser.new_context(viewport=viewport, offline=True, locale="en-US", color_scheme="light")
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.said.append(request.url) if not request.url.startswith("data:") else None)
        self.page.goto(path.as_uri())
        if self.page.locator("#ms-file-figures").count():
            expect(self.page.locator("html[data-drawn]")).to_have_count(1)
        assert self.said == [path.as_uri()], "no message, and no request but for the file itself"


DRAWN = f"""async () => {{
    const {{ src }} = [...document.scripts].find((one) => one.src.endsWith("/{SHELL}"));
    return (await import(src.slice(0, -"{SHELL}".length) + "{PAGE_SAVING}")).drawn({WAIT_MS});
}}"""


def save(page: Page, path: Path) -> Path:
    """Save the page on screen by its button, once it is drawn as `mindscope save` waits for it."""
    with settles(page):
        pass
    assert page.evaluate(DRAWN) == ""
    page.locator(".ms-views > summary").click()
    with page.expect_download() as waiting:
        page.locator(".ms-views-file").click()
    waiting.value.save_as(path)
    expect(page.locator(".ms-file-said")).to_contain_text(waiting.value.suggested_filename)
    page.keyboard.press("Escape")
    return path


@pytest.fixture
def opened(browser: Browser, page: Page) -> Iterator[Callable[[Path], Saved]]:
    """Opens a file in a window as wide as the page on screen is without the menu."""
    files: list[Saved] = []

    def open_file(path: Path) -> Saved:
        size = page.viewport_size
        assert size is not None
        width = int(page.evaluate("() => document.querySelector('.ms-main').clientWidth"))
        files.append(Saved(browser, path, {"width": width, "height": size["height"]}))
        return files[-1]

    yield open_file
    for one in files:
        one.context.close()


def seen(page: Page) -> np.ndarray:
    """What is seen of a page below the header, as colours."""
    left = int(page.evaluate("() => document.querySelector('.ms-main').getBoundingClientRect().left"))
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), dtype=int)[48:, left:]


def without_controls(live: Page, saved: Page, shape: tuple[int, ...]) -> np.ndarray:
    """Which pixels belong to neither a removed control nor a field, which a file has as text."""
    kept = np.ones(shape[:2], dtype=bool)
    boxes = """(selector) => {
        const { left: begin } = document.querySelector('.ms-main').getBoundingClientRect();
        const within = (shown, left, top) => [...shown.querySelectorAll(selector)].map((one) => one.getBoundingClientRect())
            .map((box) => [box.left + left, box.top + top, box.right + left, box.bottom + top]);
        const frames = [...document.querySelectorAll('iframe')].flatMap((frame) => {
            const { left, top } = frame.getBoundingClientRect();
            return within(frame.contentDocument, left - begin, top - 48);
        });
        return [...within(document, -begin, -48), ...frames];
    }"""
    found = live.evaluate(boxes, ".ms-main :is(select, input, textarea)")
    for left, top, right, bottom in found + saved.evaluate(boxes, ".ms-gap"):
        kept[max(0, int(top) - 1) : max(0, int(bottom) + 2), max(0, int(left) - 1) : max(0, int(right) + 2)] = False
    return kept


EVERY = [
    pytest.param(shown, id=shown.name, marks=() if shown.name in OFTEN else pytest.mark.long)
    for shown in PAGES
]


@pytest.mark.parametrize("shown", EVERY)
def test_a_saved_page_looks_as_on_screen(
    page: Page, everything: str, opened: Callable[[Path], Saved], tmp_path: Path, shown: MenuPage
) -> None:
    with settles(page):  # from the first request on, so that none is overlooked
        show(page, f"{everything}/{shown.path}{STATES.get(shown.name, '')}")
        expect(page.locator(f'.ms-menu-link[data-page="{shown.path}"]')).to_have_attribute("aria-current", "page")
    if shown.name == "timeline":  # which reads its trace in the background
        expect(page.locator(".ms-main")).to_contain_text(re.compile(r"\d slices"))
    saved = opened(save(page, tmp_path / "page.html"))
    most = MOST_BYTES_SURFACES if "surface" in saved.page.evaluate(TYPES) else MOST_BYTES
    assert (tmp_path / "page.html").stat().st_size - int(saved.page.evaluate(DATA)) <= most
    expect(saved.page.locator(".ms-file-head")).to_contain_text(page.url)
    expect(saved.page.locator(".ms-file-head")).to_contain_text("by Mindscope 0.")
    assert saved.page.locator("button, select, textarea, form, iframe, a[href], [onclick]").count() == 0
    unchanged(page)
    alike(page, saved.page)


def alike(live: Page, saved: Page) -> None:
    """Assert that a file looks as the page on screen in 99 % of the pixels, removed controls aside."""
    shown, file = seen(live), seen(saved)
    assert shown.shape == file.shape
    kept = without_controls(live, saved, shown.shape)
    assert kept.mean() > 0.5
    equal = float((np.abs(shown - file).max(axis=2) <= CLOSE)[kept].mean())
    assert equal >= 0.99, f"{equal:.2%} of the pixels are equal"


def test_figures_of_a_saved_page_answer_the_pointer(
    page: Page, everything: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    show(page, f"{everything}/scalars?run=runs/long_history&run=runs/lenet_adam_lr0.01_b64")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    saved = opened(save(page, tmp_path / "page.html")).page
    plot = saved.locator(".js-plotly-plot").first
    lines = plot.locator(".scatterlayer .js-line")
    assert lines.count() == page.locator(".js-plotly-plot").first.locator(".scatterlayer .js-line").count() > 0
    area = plot.locator(".nsewdrag").bounding_box()
    assert area is not None
    saved.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    for share in np.linspace(0.1, 0.9, 30):
        saved.mouse.move(area["x"] + area["width"] / 2, area["y"] + share * area["height"])
        if plot.locator(".hoverlayer .hovertext").count():
            break
    expect(plot.locator(".hoverlayer .hovertext").first).to_contain_text("long_history")
    before = saved.evaluate("() => document.querySelector('.js-plotly-plot').layout.xaxis.range")
    saved.mouse.move(area["x"] + area["width"] * 0.3, area["y"] + area["height"] / 2)
    saved.mouse.down()
    saved.mouse.move(area["x"] + area["width"] * 0.6, area["y"] + area["height"] / 2, steps=4)
    saved.mouse.up()
    saved.wait_for_function(
        "before => { const [from, to] = document.querySelector('.js-plotly-plot').layout.xaxis.range;"
        " return to - from < 0.5 * (before[1] - before[0]); }", arg=before,
    )  # fmt: skip


FIGURES = """() => JSON.parse(document.querySelector('#ms-file-figures').textContent).map(({ data }) => data
    .filter(({ y }) => y).map(({ y }) => (y.bdata ? atob(y.bdata).length / Number(y.dtype.slice(1)) : y.length)))"""


def test_all_points_are_a_choice_whose_size_is_said_before(
    page: Page, everything: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    show(page, f"{everything}/scalars?run=runs/long_history")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    few = opened(save(page, tmp_path / "few.html")).page.evaluate(FIGURES)
    page.locator(".ms-views > summary").click()
    choice = page.locator(".ms-file-every")
    expect(choice).to_contain_text(re.compile(r"All points of these curves \(about [\d.]+ KiB more\)"))
    choice.locator("input").check()
    page.keyboard.press("Escape")
    saved = opened(save(page, tmp_path / "all.html"))
    every = saved.page.evaluate(FIGURES)
    assert len(few) == len(every)
    assert max(map(max, few)) < 3_000 <= max(map(max, every)), "3,020 points of the loss"
    assert saved.page.locator(".js-plotly-plot .scatterlayer .js-line").count() > 0
    told = re.search(r"about ([\d.]+) KiB", choice.text_content() or "")
    assert told is not None
    grown = ((tmp_path / "all.html").stat().st_size - (tmp_path / "few.html").stat().st_size) / 1024
    assert 0.3 * grown <= float(told[1]) <= 3 * grown


def test_a_page_of_which_the_screen_shows_all_has_no_choice(page: Page, everything: str) -> None:
    show(page, f"{everything}/runs")
    page.locator(".ms-views > summary").click()
    expect(page.locator(".ms-views-file")).to_be_visible()
    expect(page.locator(".ms-file-every")).to_be_hidden()


@pytest.fixture
def many_kernels(serve: Callable[[Flask], str], tmp_path: Path) -> Iterator[str]:
    """A profile whose table of executions has twice as many rows as a file shows."""
    place = tmp_path / "runs/one/profiler/rank-0_20260101_ascend_ms/ASCEND_PROFILER_OUTPUT"
    place.mkdir(parents=True)
    (place / "kernel_details.csv").write_text(kernels(2_000, 20.0))
    store = Store([tmp_path / "runs"], interval=0).start()
    assert store.wait(30)
    yield serve(create_app(store).server)
    store.stop()


ROWS = "() => document.querySelectorAll('.ag-center-cols-container .ag-row').length"


def test_operators_keep_figures_and_first_rows(
    page: Page, many_kernels: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    page.goto(f"{many_kernels}/operators")
    expect(page.locator(".ag-row").first).to_be_visible()
    saved = opened(save(page, tmp_path / "page.html")).page
    assert saved.locator(".js-plotly-plot .main-svg").count() > 0
    expect(saved.get_by_text("MatMul", exact=True).first).to_be_visible()
    assert saved.evaluate(ROWS) >= page.evaluate(ROWS)
    assert saved.locator(".ms-file-rows, .ms-file-said").count() == 0


@pytest.mark.long
def test_a_long_table_has_its_first_rows_and_all_of_them_on_request(
    page: Page, many_kernels: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    page.goto(f"{many_kernels}/operators?view=executions")
    expect(page.locator(".ag-row").first).to_be_visible()
    few = opened(save(page, tmp_path / "few.html")).page
    assert few.evaluate(ROWS) == 1_000
    assert few.locator(".ag-center-cols-container .ag-row").last.text_content() != ""
    expect(few.get_by_text("The first 1,000 of 2,000 rows")).to_have_count(1)
    assert few.locator("a[href]").count() == 0
    page.locator(".ms-views > summary").click()
    choice = page.locator(".ms-file-rows")
    expect(choice).to_contain_text("All 2,000 rows of long tables, as CSV")
    choice.locator("input").check()
    page.keyboard.press("Escape")
    saved = opened(save(page, tmp_path / "all.html"))
    with saved.page.expect_download() as waiting:
        saved.page.get_by_text("All 2,000 rows as CSV").click()
    assert waiting.value.suggested_filename.endswith(".csv")
    waiting.value.save_as(tmp_path / "rows.csv")
    with open(tmp_path / "rows.csv", encoding="utf-8-sig", newline="") as stream:
        head, *rows = csv.reader(stream)
    assert len(rows) == 2_000
    assert {len(row) for row in rows} == {len(head)}
    assert [row[0] for row in rows[:5]] == few.locator(
        ".ag-center-cols-container .ag-row [aria-colindex='1'], .ag-pinned-left-cols-container .ag-row [aria-colindex='1']"
    ).all_text_contents()[:5]


LONG_LISTS = """(text) => {
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    head.append(...["number", "text"].map((name) => Object.assign(document.createElement("th"), { textContent: name })));
    const body = table.createTBody();
    for (let at = 0; at < 1500; at += 1) {
        const row = body.insertRow();
        row.insertCell().textContent = String(at);
        row.insertCell().textContent = text;
    }
    const list = document.createElement("ul");
    list.append(...Array.from({ length: 1001 }, (_, at) =>
        Object.assign(document.createElement("li"), { textContent: `item ${at}` })));
    document.querySelector(".ms-page").append(table, list);
}"""


def test_plain_tables_and_lists_have_their_first_rows_and_all_on_request(
    page: Page, recorded: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    page.goto(f"{recorded}/scalars?run=long_history")
    expect(page.locator(".ms-slot .main-svg").first).to_be_visible()
    text = '</script>,"javascript:\u202e'
    page.evaluate(LONG_LISTS, text)
    few = opened(save(page, tmp_path / "few.html")).page
    numbers = [one for one in few.locator("tbody > tr").all_text_contents() if "javascript" in one]
    assert numbers == [f"{at}{text}" for at in range(1_000)]
    assert [one for one in few.locator("ul > li").all_text_contents() if one.startswith("item ")] == [
        f"item {at}" for at in range(1_000)
    ]
    expect(few.get_by_text("The first 1,000 of 1,500 rows")).to_have_count(1)
    expect(few.get_by_text("The first 1,000 of 1,001 rows")).to_have_count(1)
    page.locator(".ms-views > summary").click()
    page.locator(".ms-file-rows input").check()
    page.keyboard.press("Escape")
    saved = opened(save(page, tmp_path / "all.html")).page
    rows = {}
    for total in ("1,500", "1,001"):
        with saved.expect_download() as waiting:
            saved.get_by_text(f"All {total} rows as CSV").click()
        waiting.value.save_as(tmp_path / "rows.csv")
        with open(tmp_path / "rows.csv", encoding="utf-8-sig", newline="") as stream:
            rows[total] = list(csv.reader(stream))
    assert rows["1,500"] == [["number", "text"], *([str(at), text] for at in range(1_500))]
    assert rows["1,001"] == [[f"item {at}"] for at in range(1_001)]


def test_columns_out_of_view_are_in_the_file(
    page: Page, everything: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 900, "height": 700})
    show(page, f"{everything}/model_lineage")
    expect(page.locator(".ag-row").first).to_be_visible()
    heads = "() => [...document.querySelectorAll('.ag-header-cell[col-id]')].map((one) => one.innerText.trim())"
    wanted = page.evaluate(
        "async () => { const host = document.querySelector('.ag-root-wrapper').closest('[id]');"
        " const api = await window.dash_ag_grid.getApiAsync(host.id);"
        " return api.getAllDisplayedColumns().length; }")  # fmt: skip
    before = page.evaluate(heads)
    assert len(before) < wanted, "some are out of view"
    saved = opened(save(page, tmp_path / "page.html")).page
    assert page.evaluate(heads) == before, "the page is as it was"
    found = saved.evaluate(heads)
    assert len(found) == wanted
    assert set(before) <= set(found)
    cells = saved.evaluate("() => [...document.querySelectorAll('.ag-row')].map((row) => row.getAttribute('row-index'))")
    assert cells
    last = saved.locator(".ag-header-cell").last
    last.scroll_into_view_if_needed()
    box, head = saved.locator(".ag-root-wrapper").first.bounding_box(), last.bounding_box()
    assert box is not None
    assert head is not None
    assert box["x"] <= head["x"] < box["x"] + box["width"], "the table scrolls to its last column"
    assert saved.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"), "and the page does not"


def test_a_canvas_becomes_a_picture_with_its_text(
    page: Page, everything: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    show(page, f"{everything}/timeline?run=traced")
    expect(page.locator(".ms-main canvas").first).to_be_visible()
    saved = opened(save(page, tmp_path / "page.html")).page
    pictures = saved.evaluate("() => [...document.images].map((one) => [one.naturalWidth, one.alt, one.src.slice(0, 22)])")
    assert pictures
    assert all(width > 0 and source == "data:image/png;base64," for width, _, source in pictures)
    assert any(alt for _, alt, _ in pictures)


NOTE = """async ([run, remark, tags]) => {
    const post = async (what, change) => (await fetch(`/api/${what}`, {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(change),
    })).status;
    for (const tag of tags) await post('note', { run, add: [tag] });
    return [await post('note', { run, remark }), await post('view', { save: remark, place: 'scalars?smooth=0.6' })];
}"""


@pytest.fixture
def hostile(tmp_path: Path, serve: Callable[[Flask], str]) -> Iterator[str]:
    """Runs, tags, texts, settings, operators and remarks that try to become markup, scripts, styles and links."""
    for number, name in enumerate(EVIL):
        folder = tmp_path / "runs" / name.replace("/", SLASH)
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
    profile = tmp_path / "runs" / EVIL[0].replace("/", SLASH) / "profiler/rank-0_20260101_ascend_ms/ASCEND_PROFILER_OUTPUT"
    profile.mkdir(parents=True)
    rows = csv.reader(io.StringIO(kernels(60, 20.0)))
    named = io.StringIO()
    csv.writer(named).writerows([next(rows), *([step, EVIL[at % len(EVIL)], EVIL[-1 - at % len(EVIL)], *rest]
                                               for at, (step, _, _, *rest) in enumerate(rows))])  # fmt: skip
    (profile / "kernel_details.csv").write_text(named.getvalue(), encoding="utf-8")
    write_values(tmp_path / "runs")
    app = create_app(tmp_path / "runs", workspace=tmp_path / "workspace")
    assert app.source.wait(30)
    yield serve(app.server)
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
        page.goto(f"{hostile}/{name}" + (f"?run={HELD_BY[name]}" if name in HELD_BY else ""))
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


def board(address: str, cards: list[dict[str, Any]], name: str = "Daily") -> str:
    """The address of a new board of these cards, two beside each other."""
    return made(address, *(
        {"key": f"{at + 1:016x}", "x": 6 * (at % 2), "y": 8 * (at // 2), "w": 6, "h": 8, **card}
        for at, card in enumerate(cards)
    ), name=name)  # fmt: skip


@pytest.mark.long
def test_nothing_of_a_hostile_board_runs(
    page: Page, hostile: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    name = next(one for one in EVIL if "<" in one and one.isprintable())
    tags = [EVIL[0], *(one for one in EVIL if not one.isprintable()), next(one for one in EVIL if "url(" in one)]
    cards = [{"place": "scalars", "part": f"key:{tag}"} for tag in tags]
    cards.append({"place": "scalars", "part": "key:loss", "title": name})
    page.goto(board(hostile, cards, name))
    expect(page.frame_locator(".ms-board-frame >> nth=0").locator(".main-svg").first).to_be_visible(timeout=WAIT_MS)
    path = save(page, tmp_path / "page.html")
    assert Parsed(path.read_text(encoding="utf-8")).wrong == []
    saved = opened(path).page
    assert saved.evaluate("() => window.ran") is None
    titles = saved.locator(".ms-board-card .ms-board-head .ms-card-title").all_text_contents()
    assert sorted(titles) == sorted([*tags, name])
    drawn = saved.locator(".ms-board-card:has(.js-plotly-plot .main-svg)")
    assert drawn.count() == len(cards), "each card is found by its tag, and drawn"


@pytest.mark.long
def test_a_page_that_would_be_too_large_says_what_to_leave_out(page: Page, hostile: str, tmp_path: Path) -> None:
    page.goto(f"{hostile}/images")
    expect(page.locator(".ms-card img").first).to_be_visible()
    noise = np.random.default_rng(1).integers(0, 256, (1600, 1600, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "noise.png")
    picture = (tmp_path / "noise.png").read_bytes()
    page.route("**/api/image*", lambda route: route.fulfill(body=picture, content_type="image/png"))
    with settles(page):
        pass
    page.locator(".ms-views > summary").click()
    page.locator(".ms-views-file").click()
    said = page.locator(".ms-file-said")
    expect(said).to_contain_text(re.compile(r"Not saved: the file would have .* MiB, more than 23.8 MiB.*images of"))


@pytest.mark.long
def test_a_board_becomes_one_file_with_all_its_cards(
    page: Page, serve: Callable[[Flask], str], opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    app = create_app(RECORDED, workspace=tmp_path / "workspace")
    assert app.source.wait(30)
    keys = [f"{number:016x}" for number in range(1, 5)]
    below = {"key": keys[3], "place": "scalars?run=long_history", "part": "key:learning_rate", "w": 4, "h": 8, "y": 40}
    address = serve(app.server)
    page.goto(made(
        address, {"key": keys[0], "place": "scalars?run=long_history", "part": "key:loss", "w": 4, "h": 8},
        {"key": keys[1], "text": "# Daily\n\n**bold**", "x": 4, "w": 4, "h": 6},
        {"key": keys[2], "place": "graph?run=lenet_sink_mode", "part": "", "x": 4, "y": 6, "w": 8, "h": 10}, below,
    ))  # fmt: skip
    expect(page.frame_locator(f'[data-card="{keys[0]}"] iframe').locator(".js-plotly-plot .main-svg").first).to_be_visible()
    saved = opened(save(page, tmp_path / "page.html")).page
    cards = saved.locator(".ms-board-card")
    assert cards.count() == len(keys) == page.locator(".ms-board-card").count()
    expect(cards.locator("h1")).to_have_text("Daily")
    assert saved.locator(".js-plotly-plot:has(.main-svg)").count() == 2, "also of the card that was out of view"
    assert cards.locator("img").count() > 0, "the canvas of the graph"
    assert saved.locator("iframe").count() == 0
    app.source.stop()


SHOWN: dict[str, list[dict[str, Any]]] = {
    "curves": [{"place": "scalars?run=long_history", "part": "key:loss"}, {"place": "scalars", "part": "key:loss"},
               {"place": "scalars?run=long_history", "part": "key:learning_rate"},
               {"text": "# Daily\n\n* **bold**\n\n| a | b |\n| - | - |\n| 1 | 2 |"}],
    "graph": [{"place": "graph?run=lenet_sink_mode", "part": "", "w": 12, "h": 14}],
    "runs": [{"place": "runs", "part": "", "w": 12}, {"place": "scalars?run=long_history", "part": "key:no such tag", "y": 8},
             {"place": "operators?run=none", "part": "", "y": 8}],
}  # fmt: skip
"""Cards of boards."""


@pytest.mark.parametrize("cards", long_after(1, SHOWN))
def test_a_saved_board_looks_as_on_screen(
    page: Page, serve: Callable[[Flask], str], opened: Callable[[Path], Saved], tmp_path: Path, cards: str
) -> None:
    app = create_app(RECORDED, workspace=tmp_path / "workspace")
    assert app.source.wait(30)
    shown = SHOWN[cards]
    with settles(page):
        page.goto(board(serve(app.server), shown))
        expect(page.frame_locator(".ms-board-frame >> nth=0").locator(".ms-page").first).to_be_attached(timeout=WAIT_MS)
    saved = opened(save(page, tmp_path / "page.html")).page
    unchanged(page)
    alike(page, saved)
    app.source.stop()
