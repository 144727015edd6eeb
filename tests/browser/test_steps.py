"""The step page and the profile overview in a browser: picking, zoom, links, files, and the way between them."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from parsers.events.writer import EventWriter
from tests.writers.step_traces import step_trace_raw, step_trace_time

DRAWN = ".ms-breakdown-drawn[data-plot={}] .js-plotly-plot"


@pytest.fixture
def place(tmp_path: Path, serve) -> str:
    """Run a: a legacy trace of 40 steps from 100 on, of which step 117 takes long, and scalars of the same steps, 50 ms each.
    Run b: a new trace of two sessions."""
    profiler = tmp_path / "runs/a/profiler"
    profiler.mkdir(parents=True)
    steps = [(0 if at == 0 else 1_000_000, 3_000_000 if at != 17 else 9_000_000, 500_000) for at in range(40)]
    (profiler / "step_trace_raw_0_detail_time.csv").write_text(step_trace_raw(steps, first=100))
    (profiler / "step_trace_point_info_0.json").write_text('{"fp_start": "Default/Cast-op6", "bp_end": "Default/Add-op7"}')
    with EventWriter(str(tmp_path / "runs/a/events.out.events.summary.1700000000.0.host_MS"), "mindspore") as writer:
        for step in range(1, 201):
            writer.add(step, {"loss": 1.0 / step}, wall_time=1.7e9 + step * 0.05)
    for session in ("host_1_20260101000000000_ascend_ms", "host_1_20260102000000000_ascend_ms"):
        output = tmp_path / "runs/b" / session / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output / "step_trace_time.csv").write_text(step_trace_time([(step, 10, 500, 100, 200, 300) for step in range(8)]))
    store = Store([tmp_path / "runs"], interval=0).start()
    assert store.wait(30)
    return serve(create_app(store).server)


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_a_step_is_picked_by_bar_key_and_list_and_a_link_restores_it(page: Page, place: str) -> None:
    page.goto(f"{place}/steps?run=a")
    head = page.locator(".ms-breakdown-sentence .en")
    expect(head).to_have_text(re.compile(r"^A step takes 46.5 ms: .* forward and backward, .* waiting for data, "))
    plot = page.locator(DRAWN.format("bars"))
    expect(plot).to_be_visible()
    assert len(page.locator(f"{DRAWN.format('bars')} .barlayer .trace").all()) == 3
    expect(page.locator(".ms-breakdown-points")).to_contain_text("Default/Cast-op6")

    # the bar in the middle: the click leaves the whole to the server, which says what the step is made of
    box = page.locator(f"{DRAWN.format('bars')} .nsewdrag").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.8)
    expect(page).to_have_url(re.compile(r"step=1\d\d"))
    picked = int(query(page)["step"][0])
    expect(page.locator(".ms-breakdown-which .en")).to_have_text(f"Step {picked}")
    page.locator(".ms-breakdown-table").click()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".ms-breakdown-which .en")).to_have_text(f"Step {picked + 1}")
    page.locator(".ms-breakdown-bar-tools summary", has_text="1 outliers").click()
    page.locator(".ms-menu-item", has_text="Step 117: 105 ms, Forward and backward +60 ms").click()
    expect(page.locator(".ms-breakdown-which .en")).to_have_text("Step 117")
    expect(page.locator(".ms-breakdown-table tbody tr").nth(1)).to_contain_text("90 ms")
    expect(page.locator(f"{DRAWN.format('streams')} .ytick", has_text="Stream 11")).to_be_visible()

    page.locator(".ms-segments [data-value=share]").click()
    expect(page.locator(f"{DRAWN.format('bars')} .ytick").last).to_have_text("100 %")
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5 + 2, steps=5)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"from=\d+&to=\d+"))
    state = query(page)
    ticks = [int(text) for text in page.locator(f"{DRAWN.format('bars')} .xtick").all_text_contents()]
    assert all(100 + int(state["from"][0]) <= tick <= 100 + int(state["to"][0]) for tick in ticks)

    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".ms-breakdown-which .en")).to_have_text("Step 117")
    expect(page.locator(".ms-breakdown-number")).to_have_value("117")
    assert query(page) == state
    page.locator("[data-pick=average]").click()
    expect(page.locator(".ms-breakdown-which .en")).to_have_text("Average step")
    page.keyboard.press("f")
    expect(page.locator("[data-plot=bars]")).to_have_class(re.compile("ms-full"))
    page.keyboard.press("Escape")
    expect(page.locator("[data-plot=bars]")).not_to_have_class(re.compile("ms-full"))

    page.locator(".ms-breakdown-bar-tools summary", has_text="CSV").click()
    address = page.locator(".ms-menu-item", has_text="Steps as CSV").get_attribute("href")
    with urlopen(place + str(address)) as answer:
        rows = list(csv.DictReader(io.StringIO(answer.read().decode())))
    assert [row["step"] for row in rows if row["kind"] == "step"] == [str(step) for step in range(100, 140)]
    page.keyboard.press("Escape")
    page.locator("[data-plot=bars] .ms-card-title").hover()
    with page.expect_download() as saved:
        page.locator("[data-plot=bars] [data-act=png]").click()
    assert saved.value.suggested_filename == "a_0_bars.png"


def test_the_overview_leads_to_the_steps_in_both_languages(page: Page, place: str) -> None:
    page.goto(f"{place}/profile_overview?run=a")
    expect(page.locator(".ms-breakdown-sentence .en")).to_have_text(re.compile("^A step takes 46.5 ms"))
    expect(page.locator(".ms-profile-beside .en").first).to_have_text(re.compile("by the clock of the run 50 ms: 7.4 % more"))
    expect(page.locator(f"{DRAWN.format('joined')} .scatterlayer .trace")).to_have_count(2)
    page.set_viewport_size({"width": 1000, "height": 800})
    expect(page.locator(".ms-profile-tile").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.locator("a.ms-profile-tile", has_text="Steps").click()
    expect(page).to_have_url(re.compile(r"/steps\?run=a&of=a&session=profiler&rank=0$"))
    expect(page.locator(DRAWN.format("bars"))).to_be_visible()
    page.locator("[data-action=language]").click()
    expect(page.locator(".ms-breakdown-sentence .zh")).to_be_visible()
    expect(page.locator(f"{DRAWN.format('streams')} .ytick", has_text="流 11")).to_be_visible()
    page.goto(f"{place}/profile_overview?run=b")
    expect(page.locator(".ms-breakdown-sentence .zh")).to_contain_text("每步耗时 1.01 ms")
    expect(page.locator(".ms-profile-beside")).to_contain_text("没有带步骤的标量")
    expect(page.locator(".ms-profiling-bar select:visible option")).to_have_count(2)
