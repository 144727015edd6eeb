"""Cards of a hundred runs, whose lines our own canvas draws below plotly's plot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from dash import Dash, html
from flask import Flask
from playwright.sync_api import Locator, Page, expect

from app import create_app, pages
from app.store.store import Store
from layouts.curves.smoothed_lines import WRONG
from parsers import open_run
from parsers.recording import EventWriter
from tests.browser.curves.test_pixels import points_of
from tests.browser.showing import show
from tests.browser.waiting import polls

RUNS, STEPS = 100, 120
CARD = ".ms-slot:not([hidden])"
LINES = f'{CARD} .ms-lines[data-lines="{RUNS}"]'

# A hash of the pixels, the number of them with ink, and whether the canvas has the pixels of the screen.
CANVAS = """card => {
  const canvas = card.querySelector(".ms-lines canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let hash = 0, ink = 0;
  for (let i = 0; i < data.length; i += 1) {
    hash = (Math.imul(hash, 31) + data[i]) | 0;
    if (i % 4 === 3 && data[i]) ink += 1;
  }
  return { hash, ink, width: canvas.width, across: canvas.getBoundingClientRect().width };
}"""

# plotly's picture of the same lines in the same ranges, and how far the canvas is from it per channel, in shares of 255.
COMPARED = """async ([slot, canvasTraces]) => {
  const card = document.querySelector(slot);
  const plot = card.querySelector(".js-plotly-plot");
  const own = card.querySelector(".ms-lines canvas");
  const { width, height } = plot._fullLayout;
  const layout = structuredClone(plot.layout);
  for (const name of ["xaxis", "yaxis"]) {
    Object.assign(layout[name], { autorange: false, showgrid: false, zeroline: false, visible: false });
  }
  const url = await Plotly.toImage({ data: canvasTraces, layout }, { format: "png", width, height });
  const image = new Image();
  image.src = url;
  await image.decode();
  const area = plot.querySelector(".nsewdrag");
  const [left, top] = ["x", "y"].map((name) => Number(area.getAttribute(name)));
  const both = [[image, left, top], [own, 0, 0]].map(([picture, x, y]) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: own.width, height: own.height });
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, -x, -y);
    return context.getImageData(0, 0, canvas.width, canvas.height).data;
  });
  let sum = 0, ink = 0, far = 0;
  both[0].forEach((value, i) => {
    sum += Math.abs(value - both[1][i]);
    ink += 255 - value;
    far += Math.abs(value - both[1][i]) > 100;
  });
  return { off: sum / ink, far: far / both[0].length, ink };
}"""


def value_of(run: int) -> np.ndarray:
    """A curve with a place of its own, a restart in run 7 and values that are not finite in run 8."""
    value = np.float32(run + 1.0 + 0.3 * np.sin(np.arange(STEPS) / (3 + run % 5)))
    if run == 8:
        value[40:44] = np.nan
        value[60] = np.inf
    return value


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory: Path = tmp_path_factory.mktemp("many")
    for run in range(RUNS):
        folder = directory / f"run{run:03d}"
        folder.mkdir()
        steps = list(range(STEPS)) if run != 7 else [*range(80), *range(60, 100)]
        with EventWriter(str(folder / "events.out.events.summary.1700000000.1.vm_MS"), "mindspore") as writer:
            for step, value in zip(steps, value_of(run), strict=True):
                writer.add(step, {"loss": float(value), "lr": 0.1 / (1 + step) + run / 100}, wall_time=1.7e9 + 2 * step)
    return directory


@pytest.fixture(scope="module")
def source(base: Path) -> Iterator[Store]:
    store = Store([base], interval=60).start()
    assert store.wait(30)
    yield store
    store.stop()


@pytest.fixture(scope="module")
def address(source: Store, serve_file: Callable[[Flask], str]) -> str:
    return serve_file(create_app(source).server)


def visit(page: Page, address: str, query: str = "tag=loss") -> Locator:
    """The first card, drawn."""
    show(page, f"{address}/scalars?run=*&{query}")
    expect(page.locator(LINES).first).to_be_attached()
    return page.locator(CARD).first


def place_of(one: Locator, step: float, value: float) -> tuple[float, float]:
    """Where a value is on the screen, by the ranges of plotly's axes."""
    left, top, width, height, x0, x1, y0, y1 = one.evaluate("""card => {
        const plot = card.querySelector(".js-plotly-plot");
        const box = plot.querySelector(".nsewdrag").getBoundingClientRect();
        return [box.left, box.top, box.width, box.height, ...plot.layout.xaxis.range, ...plot.layout.yaxis.range];
    }""")
    return left + (step - x0) / (x1 - x0) * width, top + (y1 - value) / (y1 - y0) * height


def hovered(page: Page, one: Locator, step: int, value: float) -> list[str]:
    """Texts of the first row of the table under the pointer, at a point."""
    page.mouse.move(*place_of(one, step, value))
    row = page.locator(".ms-hover-table tbody tr").first
    expect(row).to_contain_text(f"{step:,}")
    return row.locator("td").all_inner_texts()


def smoothed(value: np.ndarray, weight: float) -> list[float]:
    last, shown = 0.0, []
    for count, one in enumerate(value, 1):
        last = weight * last + (1 - weight) * float(one)
        shown.append(last / (1 - weight**count))
    return shown


@pytest.mark.long
def test_every_line_is_where_plotly_would_draw_it(page: Page, address: str) -> None:
    with page.expect_response(lambda one: '"canvas":[' in one.text() if "_dash-update" in one.url else False) as answer:
        one = visit(page, address)
    (figure,) = [card[1] for card in answer.value.json()["response"]["ms-scalars-near-answer"]["data"]]
    assert len(figure["canvas"]) == RUNS + 1, "one for each run, and one for what run 7 wrote before it began again"
    assert page.locator(f"{CARD} .js-line").count() <= 3, "lines of marks and the ends of the axis"
    found = page.evaluate(COMPARED, [CARD, figure["canvas"]])
    assert found["ink"] > 1e6
    assert found["off"] < 0.1, found
    assert found["far"] < 0.0005, found  # a line of a hundred has ten times as many pixels
    canvas = one.evaluate(CANVAS)
    assert canvas["width"] == canvas["across"] * page.evaluate("devicePixelRatio")


def test_hover_names_the_nearest_run_and_its_values_of_the_file(page: Page, address: str, base: Path) -> None:
    one = visit(page, address)
    for run, step in ((0, 3), (42, 60), (77, 119), (99, 14)):
        value = open_run(base / f"run{run:03d}").series("loss").value
        name, shown, at, relative, _ = hovered(page, one, step, value[step])
        time = f"{2 * step}.000 s" if step < 30 else f"{step // 30} m {2 * step % 60:02d} s"
        assert (name, at, relative) == (f"run{run:03d}", str(step), time)
        assert np.float32(float(shown)) == np.float32(value[step])
    raw = one.evaluate(CANVAS)["hash"]
    page.locator('input[type="number"][data-control="smooth"]').fill("0.8")
    expect(page).to_have_url(re.compile("smooth=0.8"))
    wanted = smoothed(open_run(base / "run050").series("loss").value, 0.8)
    page.wait_for_function(f"hash => ({CANVAS})(document.querySelector('{CARD}')).hash !== hash", arg=raw)
    texts = hovered(page, one, 30, wanted[30])
    assert texts[0] == "run050"
    assert np.float32(float(texts[1])) == np.float32(open_run(base / "run050").series("loss").value[30])
    assert float(texts[2]) == pytest.approx(wanted[30], rel=5e-4), "four significant digits"


def test_zoom_draws_the_part_at_once_and_goes_back(page: Page, address: str, base: Path) -> None:
    one = visit(page, address)
    before = one.evaluate(CANVAS)
    box = one.locator(".nsewdrag").first.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.4)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.6, steps=5)
    assert one.evaluate(CANVAS)["hash"] == before["hash"], "a box is being drawn: the lines stay"
    page.mouse.up()
    expect(page).to_have_url(re.compile("zoom="))
    shared, own = (entry.split(":")[0].split(",") for entry in parse_qs(urlsplit(page.url).query)["zoom"])
    view = [float(end) for end in (*shared[:2], *own[2:])]
    expect(one).to_contain_text(re.compile("points? in view|of .* points|in view"))
    after = one.evaluate(CANVAS)
    assert after["hash"] != before["hash"]
    middle = round((view[0] + view[1]) / 2)
    run = round((view[2] + view[3]) / 2)
    value = open_run(base / f"run{run:03d}").series("loss").value[middle]
    assert hovered(page, one, middle, value)[0] == f"run{run:03d}"
    one.locator('[data-act="back"]').click()
    expect(page).not_to_have_url(re.compile("zoom="))
    page.wait_for_function(f"hash => ({CANVAS})(document.querySelector('{CARD}')).hash === hash", arg=before["hash"])


@pytest.mark.long
def test_lines_follow_the_hand_that_moves_the_plot(page: Page, address: str) -> None:
    one = visit(page, address, "tag=loss&pan=loss")
    box = one.locator(".nsewdrag").first.bounding_box()
    assert box
    before = one.evaluate(CANVAS)
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.5, steps=4)
    column = f"""([part]) => {{
      const canvas = document.querySelector("{CARD} .ms-lines canvas");
      const data = canvas.getContext("2d").getImageData(Math.floor(canvas.width * part), 0, 1, canvas.height).data;
      return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    }}"""
    assert page.evaluate(column, [0.3]) > 50
    assert page.evaluate(column, [0.9]) == 0, "moved by 30 % to the left, nothing is drawn at the right"
    grid = "document.querySelector('.ms-lines svg .gridlayer').innerHTML"
    assert page.evaluate(grid) == page.evaluate("document.querySelector('.ms-plot .gridlayer').innerHTML")
    page.mouse.up()
    expect(page).to_have_url(re.compile("zoom="))
    assert one.evaluate(CANVAS)["hash"] != before["hash"]


def saved(page: Page, one: Locator, kind: str) -> Path:
    one.hover()
    if one.locator(".ms-card-tools details[open]").count() == 0:
        one.locator(".ms-card-tools summary").click()
    with page.expect_download() as download:
        one.locator(f'[data-act="{kind}"]').click()
    assert download.value.suggested_filename.endswith(f"_Scalars_loss.{kind}")
    return Path(download.value.path())


@pytest.mark.long
def test_image_files_have_every_line_as_a_path(page: Page, address: str, source: Store) -> None:
    one = visit(page, address)
    text = saved(page, one, "svg").read_text(encoding="utf-8")
    corners: Counter[str] = Counter()
    for path in re.findall(r'<path class="js-line"[^>]*>', text):
        (corner,) = re.findall(r' d="([^"]+)"', path)
        (stroke,) = re.findall(r"stroke: rgb\((\d+), (\d+), (\d+)\)", path)
        corners["#" + "".join(f"{int(part):02x}" for part in stroke)] += len(points_of(corner)[0])
    drawn: Counter[str] = Counter()
    for run, colour in source.runs.colours().items():
        drawn[colour] += int(np.isfinite(value_of(int(run.removeprefix("run")))).sum())
    assert corners - Counter({WRONG: corners[WRONG]}) == drawn
    picture = saved(page, one, "png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width = int.from_bytes(picture[16:20], "big")
    assert width == 2 * round(one.locator(".js-plotly-plot").evaluate("p => p.clientWidth"))


@pytest.mark.long
def test_a_dark_theme_changes_the_grid_below_the_same_lines(page: Page, address: str) -> None:
    one = visit(page, address)
    light = one.evaluate(CANVAS)
    grid = "getComputedStyle(document.querySelector('.ms-lines .gridlayer path')).stroke"
    hidden = "getComputedStyle(document.querySelector('.ms-plot .gridlayer')).visibility"
    stroke = page.evaluate(grid)
    assert page.evaluate(hidden) == "hidden"
    page.locator("[data-action=theme]").first.click()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    assert page.evaluate(grid) != stroke
    assert one.evaluate(CANVAS)["hash"] == light["hash"]


@pytest.mark.long
def test_plot_and_lines_have_the_size_of_the_card_after_the_window_changed(page: Page, address: str) -> None:
    one = visit(page, address)
    sizes = """card => {
        const plot = card.querySelector(".js-plotly-plot");
        const [area, canvas] = [".nsewdrag", ".ms-lines canvas"]
            .map((name) => card.querySelector(name).getBoundingClientRect());
        return { plot: plot.clientWidth, drawn: plot._fullLayout.width, area: [area.left, area.top, area.width, area.height],
                 canvas: [canvas.left, canvas.top, canvas.width, canvas.height] };
    }"""
    before = one.evaluate(sizes)
    assert before["plot"] == before["drawn"]
    assert before["canvas"] == before["area"]
    for width in (1100, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            f"""wide => {{ const found = ({sizes})(document.querySelector('{CARD}'));
            return found.plot === found.drawn && (found.plot === wide) === {str(width == 1440).lower()}; }}""",
            arg=before["plot"],
        )
        after = one.evaluate(sizes)
        assert after["canvas"] == after["area"]
    page.keyboard.press("j")
    page.keyboard.press("f")
    expect(page.locator(".ms-slot.ms-full")).to_have_count(1)
    page.wait_for_function(f"""() => {{ const found = ({sizes})(document.querySelector('.ms-full'));
        return found.plot === found.drawn && found.drawn > 1300; }}""")


def test_plotly_draws_a_figure_once(page: Page, address: str) -> None:
    page.add_init_script("""(() => {
        window.drawn = 0;
        const seen = new WeakSet();
        new MutationObserver(() => {
            const plot = document.querySelector(".js-plotly-plot");
            if (!plot || !plot.on || seen.has(plot)) return;
            seen.add(plot);
            plot.on("plotly_afterplot", () => { window.drawn += 1; });
        }).observe(document, { childList: true, subtree: true });
    })()""")
    page.goto(f"{address}/scalars?run=*&tag=loss")
    expect(page.locator(LINES).first).to_be_attached()
    polls(page)  # plotly waits 100 ms before it adapts to another size, the next poll is later
    assert page.evaluate("window.drawn") == 1


@pytest.mark.long
def test_plotly_draws_few_lines_again(page: Page, address: str) -> None:
    one = visit(page, address, "tag=loss&tag=lr")
    expect(page.locator(LINES)).to_have_count(2)
    show(page, f"{address}/scalars?run=run000&run=run001&tag=loss&tag=lr")
    expect(one.locator(".js-line")).to_have_count(2)
    expect(page.locator(".ms-lines")).to_have_count(0)


@pytest.mark.long
def test_marks_of_values_that_are_not_finite_and_restarts_stay(page: Page, address: str) -> None:
    one = visit(page, address)
    expect(one.locator(".ms-badge-wrong").first).to_contain_text("4 NaN · 1 +Inf")
    expect(one.locator(".scatterlayer .points path")).to_have_count(2)
    page.mouse.move(*place_of(one, 42, 0.0))
    expect(page.locator(".ms-hover-table")).to_contain_text("4 × NaN")


@pytest.mark.long
def test_a_hundred_runs_in_the_application_of_somebody_else(page: Page, base: Path, serve: Callable[[Flask], str]) -> None:
    host = Dash("host", url_base_pathname="/lab/", include_assets_files=False)
    embedded = pages.Scalars(str(base), id="s1")
    host.layout = html.Div(embedded.layout())
    embedded.register(host)
    show(page, serve(host.server) + "/lab/")
    expect(page.locator(CARD).first).to_be_visible()
    page.evaluate("dash_clientside.set_props('s1-scalars-state', { data: { run: ['*'] } })")
    expect(page.locator(LINES).first).to_be_attached()
    assert page.locator(CARD).first.evaluate(CANVAS)["ink"] > 1000


@pytest.mark.long
def test_lines_are_as_fine_as_the_screen(browser: Any, address: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, device_scale_factor=2)
    page = context.new_page()
    one = visit(page, address)
    found = one.evaluate(CANVAS)
    assert found["width"] == 2 * found["across"]
    context.close()
