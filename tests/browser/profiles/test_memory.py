"""The memory page in a browser: a moment pressed, zoomed and linked, groups, comparison, capacity, pool, plan and files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.writers import memory_files
from tests.writers.memory_files import MIB

CURVE = ".ms-breakdown-drawn[data-plot=curve] .js-plotly-plot"


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> str:
    """Runs `leaking` and `fine` of 20 steps, `tracker` of MindSpore's memory tracker, and `legacy` with a plan."""
    base = tmp_path_factory.mktemp("memory")
    runs = base / "runs"
    memory_files.recording(runs / "leaking", leak_bytes=MIB)
    memory_files.recording(runs / "fine")
    memory_files.tracker(runs / "tracker")
    memory_files.legacy(runs / "legacy/profiler")
    store = Store([runs], interval=0).start()
    assert store.wait(30)
    return serve_file(create_app(store).server)


@pytest.fixture(scope="module")
def devices(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> str:
    """Run `a`, whose file is about two devices."""
    base = tmp_path_factory.mktemp("devices")
    rows = [("PTA", 10, 2048, 4), ("PTA", 20, 1024, 4), ("PTA", 15, 7168, 5), ("APP", 12, 9216, 5)]
    text = memory_files.RECORD + "".join(
        f"{name},17642468770735{at}.5,{'' if name == 'APP' else size},{size},,NPU:{device}\n" for name, at, size, device in rows
    )
    output = base / "runs/a/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "memory_record.csv").write_text(text)
    store = Store([base / "runs"], interval=0).start()
    assert store.wait(30)
    return serve_file(create_app(store).server)


def test_a_moment_is_pressed_stepped_grouped_and_linked(page: Page, memory: str) -> None:
    show(page, f"{memory}/memory?run=leaking")
    said = page.locator(".ms-memory-sentence .en")
    leaks = r"^Peak 980\sMiB allocated in step 20 \(at .* It leaks: .* grows by \+1.00\sMiB per step"
    expect(said).to_have_text(re.compile(leaks))
    expect(page.locator(CURVE)).to_be_visible()
    expect(page.locator("[data-plot=curve] .annotation-text").first).to_have_text("1")
    expect(page.locator(f"{CURVE} .shapelayer path[style*='rgb(47, 95, 208)']")).to_have_count(1)
    expect(page.locator(".ms-memory-tile").first).to_contain_text("Allocated before the recording")

    box = page.locator(f"{CURVE} .nsewdrag").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.52, box["y"] + box["height"] * 0.5)
    expect(page).to_have_url(re.compile(r"at=\d+"))
    at = page.locator(".ms-memory-of-at .en").first
    expect(at).to_have_text(re.compile(r"^in step 11 \(at .*\): 9\d\d\sMiB$"))
    page.locator(".ms-memory-of-at").click()
    page.keyboard.press("ArrowRight")
    expect(at).to_have_text("in step 11 (at 526 ms): 971 MiB")
    page.keyboard.press("ArrowLeft")
    expect(at).to_have_text("in step 11 (at 504 ms): 970 MiB")
    before = at.text_content()

    page.get_by_label("Group by").select_option("scope")
    expect(page.locator(".ms-memory-groups thead")).to_contain_text("Scope")
    page.locator("button.ms-memory-tile[title^='Default/network/backbone']").click()
    expect(page.locator(".ms-memory-of-blocks p .en").first).to_have_text("Default/network/backbone: 1 block in use, 256 MiB")
    expect(page.locator("tr[aria-selected=true]")).to_contain_text("Default/network/backbone")
    page.locator("button.ms-memory-tile[title^='Default/network/backbone']").press("ArrowDown")
    assert "ms-memory-tile" in str(page.evaluate("document.activeElement.className"))

    link, state = page.url, query(page)
    page.goto("about:blank")
    page.goto(link)
    expect(at).to_have_text(str(before))
    expect(page.locator("tr[aria-selected=true]")).to_contain_text("Default/network/backbone")
    assert query(page) == state
    page.locator(".ms-memory-of-at").click()
    page.keyboard.press("h")
    expect(at).to_have_text(re.compile("^At the peak, in step 20"))


@pytest.mark.long
def test_zoom_changes_in_the_window_and_files(page: Page, memory: str) -> None:
    show(page, f"{memory}/memory?run=leaking")
    expect(page.locator(CURVE)).to_be_visible()
    box = page.locator(f"{CURVE} .nsewdrag").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5, steps=5)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"from=\d+&to=\d+"))
    page.locator(".ms-segments [data-value=changed]").click()
    expect(page.locator(".ms-memory-of-blocks p .en").first).to_have_text(re.compile(r"\d+ blocks allocated \(.*, net "))
    expect(page.locator(".ms-memory-blocks tbody tr").first).to_contain_text("Conv2D-op1")
    page.locator(".ms-memory-tools summary", has_text="CSV").click()
    with page.expect_download() as saved:
        page.locator("[data-save=changed]").click()
    window = query(page)
    rows = list(csv.DictReader(io.StringIO(Path(saved.value.path()).read_text())))
    begin = memory_files.BEGIN_NS - 1_000_000
    first, last = begin + int(window["from"][0]), begin + int(window["to"][0])
    assert rows
    for row in rows:
        assert first <= int(row["allocated_ns"]) <= last or first <= int(row["released_ns"]) <= last

    page.locator(".ms-memory-tools summary", has_text="CSV").click()
    address = page.locator(".ms-memory-tools a.ms-menu-item", has_text="Curve").get_attribute("href")
    with urlopen(memory + str(address)) as answer:
        assert "allocated_bytes" in answer.read().decode().splitlines()[0]
    page.keyboard.press("Escape")
    page.locator(".ms-memory-tools .ms-button", has_text="All of it").click()
    expect(page).not_to_have_url(re.compile("from="))
    page.locator("[data-plot=curve] .ms-card-title").hover()
    with page.expect_download() as picture:
        page.locator("[data-plot=curve] [data-act=png]").click()
    assert picture.value.suggested_filename == "leaking_0_Device_memory_Over_time.png"


@pytest.mark.long
def test_capacity_is_typed_and_two_sessions_are_overlaid(page: Page, memory: str) -> None:
    show(page, f"{memory}/memory?run=leaking&run=fine&of=leaking")
    field = page.locator(".ms-memory-capacity")
    expect(page.locator(CURVE)).to_be_visible()
    field.fill("2")
    expect(page).to_have_url(re.compile("capacity=2"))
    expect(page.locator("[data-plot=curve] .annotation-text", has_text="Capacity 2.00 GiB")).to_be_visible()
    expect(page.locator(".ms-memory-figures")).to_contain_text("2.00 GiB (62")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".ms-memory-key-with_allocated")).to_be_visible()
    expect(page.locator(".ms-memory-peaks")).to_contain_text("+20.0 MiB")
    expect(page.locator(".ms-memory-groups tbody tr").first).to_contain_text("Append-op9")


@pytest.mark.long
def test_each_device_and_component_is_chosen(page: Page, devices: str) -> None:
    show(page, f"{devices}/memory?run=a")
    said = page.locator(".ms-memory-sentence .en")
    expect(said).to_have_text(re.compile(r"^Peak 2.00\sGiB allocated"))
    expect(page.get_by_label("Component", exact=True)).to_be_hidden()
    page.get_by_label("Device", exact=True).select_option("5")
    expect(page).to_have_url(re.compile("device=5"))
    expect(said).to_have_text(re.compile(r"^Peak 7.00\sGiB allocated"))
    expect(page.locator(".ms-memory-tools select:visible")).to_have_count(2)
    page.get_by_label("Component", exact=True).select_option("APP")
    expect(said).to_have_text(re.compile(r"^Peak 9.00\sGiB reserved"))


@pytest.mark.long
def test_the_tracker_has_a_pool_and_the_old_plan_its_marks(page: Page, memory: str) -> None:
    show(page, f"{memory}/memory?run=tracker&by=stack")
    expect(page.locator(".ms-memory-sentence .en")).to_have_text(re.compile(r"^Peak 48.2\sMiB allocated at event 367"))
    expect(page.locator(".ms-memory-pool-largest")).not_to_have_count(0)
    expect(page.locator(".ms-memory-of-pool-said")).to_contain_text("the largest hole is 3.50 MiB")
    row = page.locator(".ms-memory-groups details").first
    row.locator("summary").click()
    expect(row.locator("pre")).to_contain_text("cell.py:100 __call__")

    show(page, f"{memory}/memory?run=legacy")
    expect(page.locator(".ms-memory-of-head")).to_contain_text("at most 7.75 GiB in use at once, at node 59")
    plot = page.locator(".ms-breakdown-drawn[data-plot=plan] .js-plotly-plot")
    expect(plot.locator(".annotation-text", has_text="Backward ends")).to_be_visible()
    box = plot.locator(".nsewdrag").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.5)
    expect(page).to_have_url(re.compile(r"node=(29|30|31)"))
    expect(page.locator(".ms-memory-of-plan-at p .en")).to_have_text(re.compile(r"^At node (29|30|31): 3\d blocks in use"))


@pytest.mark.long
def test_chinese_dark_and_narrow_nothing_overflows(page: Page, memory: str) -> None:
    page.set_viewport_size({"width": 1000, "height": 900})
    show(page, f"{memory}/memory?run=tracker")
    expect(page.locator(CURVE)).to_be_visible()
    page.keyboard.press("t")
    page.get_by_role("button", name="中文").click()
    expect(page.locator(".ms-memory-sentence .zh")).to_have_text(re.compile(r"已申请内存峰值 48.2\sMiB"))
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
