"""The timeline in a browser: drawing, zoom, selection, arrows, ranges, search, tracks, and links that restore all of it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Locator, Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.browser.waiting import becomes
from tests.writers import chrome_traces

DEEP = 5_000
"""Slices within each other: more lanes than are asked for at once."""
BOX = ".ms-timeline-box"
CANVAS = ".ms-timeline-overlay"
SETTLED = f'{BOX}[data-settled="true"]'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, serve_file) -> Iterator[str]:
    base = tmp_path_factory.mktemp("place")
    folder = base / "runs/one/host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    (folder / "trace_view.json").write_text(chrome_traces.text())
    (base / "runs/two/host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
    (base / "runs/two/host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT/step_trace_time.csv").write_text("Step,Computing\n1,2\n")
    deep = base / "runs/deep/host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT"
    deep.mkdir(parents=True)
    nested = [{"ph": "X", "name": f"f{at}", "pid": 1, "tid": 1, "ts": at, "dur": 2 * (DEEP - at)} for at in range(DEEP)]
    (deep / "trace_view.json").write_text(json.dumps(nested))
    store = Store([base / "runs"], interval=0).start()
    assert store.wait(30)
    yield serve_file(create_app(store).server)
    store.stop()


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def opened(page: Page, place: str, more: str = "") -> Locator:
    show(page, f"{place}/timeline?run=one{more}")
    canvas = page.locator(CANVAS)
    expect(page.locator(SETTLED)).to_be_visible()
    return canvas


def span(page: Page) -> tuple[float, float]:
    """The range on screen as the address has it; by default all slices with a little room."""
    text = query(page).get("span")
    if not text:
        end = chrome_traces.STEPS * chrome_traces.STEP_NS
        return -0.02 * end, 1.02 * end
    low, high = text[0].split(",")
    return float(low), float(high)


def point(page: Page, time: float, label: str, lane: int = 0) -> tuple[float, float]:
    """Where a time (ns) of a lane of a track is on screen."""
    box = page.locator(CANVAS).bounding_box()
    row = page.locator(".ms-timeline-label-track", has_text=label).bounding_box()
    assert box is not None
    assert row is not None
    low, high = span(page)
    return box["x"] + (time - low) / (high - low) * box["width"], row["y"] + 9 + 18 * lane


def colour(page: Page, x: float, y: float) -> list[int]:
    """The pixel of the slices at a place on screen."""
    found: list[int] = page.evaluate(
        """([x, y]) => {
            const canvas = document.querySelector(".ms-timeline-canvas");
            const box = canvas.getBoundingClientRect();
            const scale = canvas.width / box.width;
            return [...canvas.getContext("2d").getImageData((x - box.left) * scale, (y - box.top) * scale, 1, 1).data];
        }""",
        [x, y],
    )
    return found


def test_slices_are_drawn_where_they_ran(page: Page, place: str) -> None:
    opened(page, place)
    processes = page.locator(".ms-timeline-label-process .ms-timeline-name")
    assert processes.all_text_contents() == ["Python", "Ascend Hardware", "HBM"]
    drawn, empty = point(page, 310_000, "Stream 2"), point(page, 400_000, "Stream 2")
    assert colour(page, *drawn)[3] == 255
    assert colour(page, *empty)[3] < 100
    # 200 kernels of 20 ns every 100 ns: a fifth of the time is busy, which is neither nothing nor all
    several = colour(page, *point(page, 510_000, "Stream 2"))
    assert 40 < several[3] < 200
    page.locator('[data-act="timeline.in"]').click(click_count=3)
    expect(page).to_have_url(re.compile("span="))
    low, high = span(page)
    assert 0.3 < (high - low) / 3_120_000 < 0.4
    page.keyboard.press("0")
    expect(page).not_to_have_url(re.compile("span="))
    page.keyboard.press("Backspace")
    expect(page).to_have_url(re.compile("span="))


def test_of_more_lanes_than_a_screen_has_those_on_it_are_asked_for_once(page: Page, place: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/api/timeline/view" in request.url else None)
    show(page, f"{place}/timeline?run=deep")
    expect(page.locator(SETTLED)).to_be_visible()
    page.wait_for_timeout(500)
    assert len(asked) == len(set(asked)) <= 3
    top = page.locator(BOX).get_attribute("data-slices")
    page.locator(CANVAS).hover()
    page.mouse.wheel(0, 18 * DEEP)
    becomes(page, lambda: "lanes=0-" in asked[-1], False)
    expect(page.locator(SETTLED)).to_be_visible()
    assert int(page.locator(BOX).get_attribute("data-slices") or 0) > 10
    assert int(top or 0) > 10
    assert len(asked) == len(set(asked))


def test_a_slice_is_selected_and_its_arrows_followed(page: Page, place: str) -> None:
    opened(page, place)
    x, y = point(page, 295_000, "Stream 2")
    page.mouse.move(x, y)
    tip = page.locator(".ms-timeline-tip")
    expect(tip).to_contain_text("MatMulV2")
    expect(tip).to_contain_text("50.0 µs")
    page.mouse.click(x, y)
    panel = page.locator(".ms-timeline-panel")
    expect(panel.locator(".ms-timeline-title")).to_have_text("MatMulV2")
    expect(panel.locator(".ms-timeline-facts")).to_contain_text("0.000 270 000 s")
    expect(panel.locator(".ms-timeline-arguments")).to_contain_text("AI_CORE")
    expect(panel).to_contain_text("2 of 6 with this name")
    # the arrow leads to the call that launched it
    panel.locator(".ms-timeline-flow .ms-timeline-link", has_text="aten::addmm").click()
    expect(panel.locator(".ms-timeline-title")).to_have_text("aten::addmm")
    expect(panel.locator(".ms-timeline-arguments")).to_contain_text("[[64,32],[32,10]]")
    panel.locator(".ms-timeline-link", has_text="main.py(7): forward").click()
    expect(panel.locator(".ms-timeline-long")).to_have_text("main.py(7): forward\nmain.py(90): <module>")
    page.keyboard.press(".")
    expect(panel.locator(".ms-timeline-facts")).to_contain_text("0.001 010 000 s")
    page.keyboard.press("f")
    expect(page).to_have_url(re.compile("span="))
    low, high = span(page)
    assert low < 1_010_000
    assert 1_410_000 < high < 1_600_000
    state, link = query(page), page.url
    page.goto("about:blank")
    page.goto(link)
    expect(panel.locator(".ms-timeline-title")).to_have_text("main.py(7): forward")
    assert query(page) == state
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def dragged(page: Page, places: list[tuple[float, float]]) -> None:
    """Drag from one place to another with Shift."""
    page.keyboard.down("Shift")
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")


def test_a_range_over_some_tracks_counts_these_alone(page: Page, place: str) -> None:
    opened(page, place)
    dragged(page, [point(page, 200_000, "Stream 2"), point(page, 1_300_000, "Stream 2")])
    expect(page).to_have_url(re.compile("over="))
    table = page.locator(".ms-timeline-panel .ms-timeline-table")
    chip = page.locator('.ms-timeline-panel [data-act="over"]')
    expect(chip).to_contain_text("Stream 2")
    expect(table.locator("tr", has_text="MatMulV2")).to_have_count(1)
    expect(table.locator("tr", has_text="aten::addmm")).to_have_count(0)
    with urlopen(place + str(page.locator(".ms-timeline-csv").get_attribute("href"))) as answer:
        names = {found["name"] for found in csv.DictReader(io.StringIO(answer.read().decode()))}
    assert "MatMulV2" in names
    assert "aten::addmm" not in names
    link = page.url
    page.locator('.ms-timeline-panel [data-value="gaps"]').click()
    expect(page.locator(".ms-timeline-causes-names")).to_be_visible()
    dragged(page, [point(page, 200_000, "Thread 10"), point(page, 1_300_000, "Thread 10", 1)])
    expect(page.locator(".ms-timeline-panel-body")).to_contain_text("None of these tracks is a device stream.")
    show(page, link)
    expect(table.locator("tr", has_text="MatMulV2")).to_have_count(1)
    expect(chip).to_contain_text("Stream 2")
    chip.click()
    expect(page).not_to_have_url(re.compile("over="))
    expect(table.locator("tr", has_text="aten::addmm")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("range="))


@pytest.mark.long
def test_a_range_is_measured(page: Page, place: str) -> None:
    opened(page, place)
    ruler = page.locator(".ms-timeline-ruler").bounding_box()
    assert ruler is not None
    dragged(page, [(point(page, time, "Thread 10")[0], ruler["y"] + 8) for time in (200_000, 1_300_000)])
    expect(page).to_have_url(re.compile("range="))
    assert "over" not in query(page)
    low, high = map(int, query(page)["range"][0].split(","))
    assert abs(low - 200_000) < 10_000
    assert abs(high - 1_300_000) < 10_000
    table = page.locator(".ms-timeline-panel .ms-timeline-table")
    row = table.locator("tr", has_text="MatMulV2")
    inside = [e for e in chrome_traces.slices() if e["name"] == "MatMulV2" and low < e["at"] + e["ns"] and e["at"] < high]
    expect(row.locator("td").nth(1)).to_have_text(str(len(inside)))
    with urlopen(place + str(page.locator(".ms-timeline-csv").get_attribute("href"))) as answer:
        rows = {found["name"]: found for found in csv.DictReader(io.StringIO(answer.read().decode()))}
    clipped = sum(min(high, e["at"] + e["ns"]) - max(low, e["at"]) for e in inside)
    assert (int(rows["MatMulV2"]["count"]), int(rows["MatMulV2"]["total_ns"])) == (len(inside), clipped)
    table.get_by_role("button", name="Count").click()
    expect(table.locator("tbody tr").first.locator("td").first).to_have_text(re.compile("Cast"))
    page.locator('.ms-timeline-panel [data-value="track"]').click()
    expect(table.locator("tbody tr").first).to_contain_text("Python / Thread 10")
    page.locator('.ms-timeline-panel [data-act="clear"]').click()
    expect(page).not_to_have_url(re.compile("range="))


def test_search_lists_and_visits_hits(page: Page, place: str) -> None:
    opened(page, place)
    page.locator(".ms-timeline-search").fill("Cast[01]")
    expect(page.locator(".ms-timeline-hits")).to_contain_text("No slice found")
    page.locator(".ms-timeline-regex").click()
    wanted = [event for event in chrome_traces.slices() if event["name"] in ("Cast0", "Cast1")]
    expect(page.locator(".ms-timeline-hits .en")).to_have_text(f"– of {len(wanted)}")
    page.locator(".ms-timeline-search").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".ms-timeline-hits .en")).to_have_text(f"1 of {len(wanted)}")
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".ms-timeline-hits .en")).to_have_text(f"{len(wanted)} of {len(wanted)}")
    page.locator('.ms-timeline-panel [data-value="slice"]').click()
    expect(page.locator(".ms-timeline-panel .ms-timeline-title")).to_have_text(wanted[-1]["name"])


@pytest.mark.long
def test_tracks_are_folded_pinned_hidden_and_filtered(page: Page, place: str) -> None:
    opened(page, place)
    names = page.locator(".ms-timeline-label .ms-timeline-name")

    def choose(label: str, text: str) -> None:
        row = page.locator(".ms-timeline-label", has_text=label).first
        row.hover()
        row.locator(".ms-timeline-more").click()
        page.locator(".ms-timeline-menu .ms-menu-item", has_text=text).click()

    page.locator(".ms-timeline-label-process", has_text="HBM").locator(".ms-timeline-fold").click()
    expect(names).to_have_count(6)
    choose("Stream 2", "Pin to the top")
    expect(page.locator(".ms-timeline-labels-pinned .ms-timeline-name")).to_have_text("Ascend Hardware · Stream 2")
    choose("Thread 10", "Hide")
    expect(page.locator(".ms-timeline-label", has_text="Thread 10")).to_have_count(0)
    page.locator(".ms-timeline-hidden").click()
    expect(page.locator(".ms-timeline-label", has_text="Thread 10")).to_have_count(1)
    page.locator(".ms-timeline-filter").fill("python")
    expect(page.locator(".ms-timeline-label", has_text="HBM")).to_have_count(0)
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".ms-timeline-labels-pinned .ms-timeline-name")).to_have_text("Ascend Hardware · Stream 2")
    expect(page.locator(".ms-timeline-filter")).to_have_value("python")


@pytest.mark.long
def test_dragging_moves_and_draws_at_once(page: Page, place: str) -> None:
    opened(page, place, "&span=0,1000000")
    x, y = point(page, 600_000, "Stream 2")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 100, y, steps=5)
    page.mouse.up()
    expect(page).not_to_have_url(re.compile("span=0,1000000"))
    low, high = span(page)
    assert low > 0
    assert abs((high - low) - 1_000_000) < 3
    page.mouse.wheel(0, 0)
    page.keyboard.press("d")
    expect.set_options()
    page.wait_for_function("(low) => new URLSearchParams(location.search).get('span').split(',')[0] > low", arg=low)


def test_a_profile_without_a_trace_says_what_is_wanted(page: Page, place: str) -> None:
    show(page, f"{place}/timeline?run=two")
    expect(page.locator(".ms-profiling-wanted .en")).to_contain_text("trace_view.json")


@pytest.mark.long
def test_in_chinese_and_dark(context: Any, page: Page, place: str) -> None:
    opened(page, place)
    light = colour(page, *point(page, 310_000, "Stream 2"))
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    dark = sum(light[:3]) - 100
    becomes(page, lambda: sum(colour(page, *point(page, 310_000, "Stream 2"))[:3]), lambda found: found < dark)
    page.get_by_role("button", name="中文").click()
    expect(page.locator(".ms-timeline-foot .zh").first).to_contain_text("平移")
    expect(page.locator(".ms-timeline-search")).to_have_attribute("placeholder", "搜索切片")


@pytest.mark.long
def test_gaps_critical_path_and_flame_graph_of_a_step(page: Page, place: str) -> None:
    opened(page, place)
    ruler = page.locator(".ms-timeline-ruler").bounding_box()
    assert ruler is not None
    page.mouse.move(point(page, 1_500_000, "Stream 2")[0], ruler["y"] + 8)
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page).to_have_url(re.compile("range=1000000,2000000"))
    panel = page.locator(".ms-timeline-panel")
    panel.locator('[data-value="gaps"]').click()
    idle = 1_000_000 - 2 * 50_000 - chrome_traces.SMALL * 20
    title = f"idle {idle / 1000:.3g} µs of 1.00 ms (89.6 %)"
    expect(panel.locator(".ms-timeline-causes-names .en").first).to_have_text(title)
    panel.locator('[data-value="critical"]').click()
    expect(panel.locator(".ms-timeline-causes-names .en").first).to_have_text("Critical path of 1.00 ms")
    panel.locator("tbody .ms-timeline-cell-name .ms-timeline-link").first.click()
    expect(page).to_have_url(re.compile("slice="))
    panel.locator('[data-value="range"]').click()
    panel.locator('[data-value="flame"]').click()
    graph = panel.locator(".ms-timeline-flame")
    expect(graph).to_be_visible()
    box = graph.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 30, box["y"] + 19 + 9)
    expect(panel.locator(".ms-timeline-flame-about .en")).to_have_text(
        "main.py(7): forward: total 400 µs, self 280 µs, 1 times, 40.0 %"
    )


@pytest.mark.long
def test_a_link_opens_at_a_step(page: Page, place: str) -> None:
    opened(page, place, "&step=2")
    page.keyboard.press("s")
    expect(page).to_have_url(re.compile("span="))
    low, high = span(page)
    assert abs((low + high) / 2 - 1_500_000) < 1_000
    assert 1_300_000 < high - low < 1_700_000
