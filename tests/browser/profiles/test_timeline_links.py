"""From the timeline to other pages, and from these to slices and gaps: links followed both ways."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.conftest import in_address, not_in_address
from tests.browser.profiles.test_timeline import opened, place
from tests.browser.showing import show
from tests.browser.waiting import becomes
from tests.writers import chrome_traces

__all__ = ["place"]
DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))


def selected(page: Page) -> Locator:
    return page.locator(".ms-timeline-panel .ms-timeline-title")


@pytest.fixture(scope="module")
def lenet(tmp_path_factory: pytest.TempPathFactory, serve_file) -> Iterator[str]:
    """A real run of a LeNet: its graph, and a profile of the same network."""
    base = tmp_path_factory.mktemp("lenet")
    if not DATA.is_dir():
        pytest.skip("MINDSCOPE_TEST_DATA names no directory of real runs")
    shutil.copytree(DATA / "summary/lenet_momentum_lr0.01_b32", base / "real/one")
    (session,) = (DATA / "profiler/new_graph").glob("*_ascend_ms")
    shutil.copytree(session, base / "real/one" / session.name)
    store = Store([base / "real"], interval=0).start()
    assert store.wait(30)
    yield serve_file(create_app(store).server)
    store.stop()


CONV = "Default/network-WithLossCell/_backbone-LeNet5/conv1-Conv2d/Conv2D-op0"


@pytest.mark.long
def test_links_lead_from_a_slice_to_operator_and_node_and_back(page: Page, lenet: str) -> None:
    show(page, f"{lenet}/timeline?run=one&first={CONV}")
    expect(selected(page)).to_have_text(CONV)
    not_in_address(page, "first")
    links = page.locator(".ms-timeline-links")
    links.locator('[data-page="operators"]').click()
    row = page.locator(".ag-center-cols-container .ag-row, .ag-pinned-left-cols-container .ag-row").first
    expect(row.locator(".ms-operators-name")).to_contain_text("Conv2D-op0")
    row.hover()
    row.locator('[data-page="timeline"]').click()
    expect(selected(page)).to_have_text(CONV)
    links.locator('[data-page="graph"]').click()
    expect(page.locator(".ms-graph-panel .ms-graph-title")).to_have_text("Conv2D-op0")
    expect(page.locator(".ms-graph-panel .ms-graph-facts")).to_contain_text(CONV)
    page.locator('.ms-graph-panel [data-page="timeline"]').click()
    expect(selected(page)).to_have_text(CONV)
    expect(page.locator(".ms-timeline-panel .ms-timeline-place")).to_have_text(re.compile("^1 of "))


@pytest.mark.long
def test_a_name_that_ran_nowhere_is_searched_for(page: Page, place: str) -> None:
    opened(page, place, "&first=NoSuchOperator")
    expect(page.locator(".ms-timeline-search")).to_have_value("NoSuchOperator")
    expect(page.locator(".ms-timeline-panel .ms-timeline-title")).to_contain_text("No slice found")


def test_a_link_opens_at_the_execution_of_a_time(page: Page, place: str) -> None:
    origin = chrome_traces.FIRST_US * 1000
    opened(page, place, f"&first=MatMulV2&near={origin + 2_270_000}")
    expect(selected(page)).to_have_text("MatMulV2")
    expect(page.locator(".ms-timeline-facts")).to_contain_text("0.002 270 000 s")


@pytest.mark.long
def test_advice_and_overview_lead_to_a_gap(page: Page, tmp_path: Path, serve) -> None:
    if not DATA.is_dir():
        pytest.skip("MINDSCOPE_TEST_DATA names no directory of real runs")
    shutil.copytree(DATA / "profiler_new/torch_npu_text_level2/rank0_ascend_pt", tmp_path / "torch/one/rank0_ascend_pt")
    store = Store([tmp_path / "torch"], interval=0).start()
    try:
        assert store.wait(30)
        at = serve(create_app(store).server)
        show(page, f"{at}/advice?run=one")
        expect(page.locator('[data-state="unchecked"]')).to_contain_text("the trace has not been read")
        page.locator('[data-state="unchecked"] [data-page="timeline"]').click()
        expect(page.locator('.ms-timeline-box[data-settled="true"]')).to_be_visible()
        # The timeline opens before the idle time has been found.
        becomes(page, lambda: store.profiles.idle_time("one", "rank0_ascend_pt", 0).state, "ready")
        page.go_back()
        card = page.locator('.ms-advice-card[data-rule="gaps"]')
        expect(card).to_contain_text("in function train of main.py")
        row = card.locator("tbody tr", has_text="Runtime@StreamSynchronize")
        expect(row).to_contain_text("3.89 ms")
        row.locator('[data-page="timeline"]').click()
        panel = page.locator(".ms-timeline-panel")
        expect(page).to_have_url(re.compile("range=118898156%2C122217982|range=118898156,122217982"))
        expect(panel.locator("tbody tr").first).to_contain_text("Runtime@StreamSynchronize")
        expect(panel.locator(".ms-timeline-causes-names .en").first).to_contain_text("idle 3.32 ms of 3.32 ms")
        show(page, f"{at}/profile_overview?run=one")
        idle = page.locator(".ms-idle")
        expect(idle).to_contain_text("Stream 2 is idle for 139 ms of a step of 149 ms (93.5 %).")
        idle.locator(".ms-idle-calls a").first.click()
        expect(panel.locator("tbody tr").first).to_contain_text("hcom_allReduce__271_0_1")
    finally:
        store.stop()


@pytest.mark.long
def test_marks_are_saved_under_a_name_listed_and_opened(page: Page, tmp_path: Path, serve) -> None:
    folder = tmp_path / "runs/one/host_1_2_ascend_ms/ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    (folder / "trace_view.json").write_text(chrome_traces.text())
    (tmp_path / "notes").mkdir(mode=0o700)
    store = Store([tmp_path / "runs"], interval=0.5, notes_directory=str(tmp_path / "notes")).start()
    try:
        assert store.wait(30)
        place = serve(create_app(store).server)
        opened(page, place, "&mark=1200000&mark=1700000")
        button, menu = page.locator(".ms-timeline-marks > summary"), page.locator(".ms-timeline-marks .ms-menu-items")
        button.click()
        expect(menu).to_contain_text("500 µs from 0.001 200 000 s")
        menu.locator("input").fill("the <b>stall</b>")
        menu.get_by_role("button", name="Save").click()
        entry = menu.locator(".ms-timeline-mark")
        expect(entry).to_contain_text("the <b>stall</b>")
        assert '"times":[1200000,1700000]' in (tmp_path / "notes/notes.jsonl").read_text()
        show(page, f"{place}/timeline?run=one&span=0,100000")
        expect(page.locator('.ms-timeline-box[data-settled="true"]')).to_be_visible()
        button.click()
        entry.click()
        expect(page).to_have_url(re.compile("mark=1200000&mark=1700000&called=the"))
        expect(page).not_to_have_url(re.compile("span=0,100000"))
        low, high = map(float, in_address(page, "span")[0].split(","))
        assert low < 1_200_000 < 1_700_000 < high < 3_000_000
        button.click()
        page.keyboard.press("Escape")
        expect(menu).to_be_hidden()
        expect(page).to_have_url(re.compile("mark=1200000&mark=1700000"))
        button.click()
        menu.locator("input").fill("the <b>stall</b>")
        menu.get_by_role("button", name="Save").click()
        expect(entry).to_have_count(1)
        menu.locator('[data-act="delete"]').click()
        menu.get_by_role("button", name="Delete").click()
        expect(entry).to_have_count(0)
    finally:
        store.stop()


@pytest.mark.long
def test_what_is_on_screen_is_saved_as_shapes_and_texts(page: Page, place: str, tmp_path: Path) -> None:
    opened(page, place, "&span=0,1000000&mark=100000&mark=300000")
    page.locator('summary[title^="Files"]').click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Drawing (SVG)").click()
    assert saved.value.suggested_filename.endswith("_Timeline.svg")
    saved.value.save_as(tmp_path / "timeline.svg")
    root = ElementTree.parse(tmp_path / "timeline.svg").getroot()
    svg = "{http://www.w3.org/2000/svg}"
    texts = [one.text for one in root.iter(f"{svg}text")]
    assert {"Thread 10", "Stream 2", "main.py(7): forward", "200 µs"} <= set(texts)
    assert texts.count("Mat…2") == 2
    width, left = float(root.get("width", "0")), 236.0
    every = [(one["at"], one["ns"]) for one in chrome_traces.slices()]
    wanted = [(at, ns) for at, ns in every if at < 1_000_000 and ns > 10_000]
    boxes = [(float(one.get("x", "0")), float(one.get("width", "0"))) for one in root.iter(f"{svg}rect")]
    for at, ns in wanted:  # every slice that is wider than a pixel is a rectangle
        x, wide = at / 1e6 * (width - left), min(ns / 1e6, 1 - at / 1e6) * (width - left)
        assert any(abs(x - x1) <= 1.01 and abs(wide - wide1) <= 3 for x1, wide1 in boxes), (at, ns)
    assert not list(root.iter(f"{svg}image"))


@pytest.mark.long
def test_a_search_is_limited_to_chosen_tracks(page: Page, place: str) -> None:
    opened(page, place, "&q=a")  # in main.py(7): forward, aten::addmm, MatMulV2, Cast
    total = page.locator(".ms-timeline-hits .en")
    steps, small = chrome_traces.STEPS, chrome_traces.SMALL
    expect(total).to_have_text(f"– of {steps * (5 + small):,}")

    def choose(label: str, text: str) -> None:
        row = page.locator(".ms-timeline-label", has_text=label).first
        row.hover()
        row.locator(".ms-timeline-more").click()
        page.locator(".ms-timeline-menu .ms-menu-item", has_text=text).click()

    choose("Thread 10", "Search in this only")
    expect(total).to_have_text(f"– of {steps * 3}")
    chip = page.locator(".ms-timeline-in")
    expect(chip).to_contain_text("in Thread 10")
    page.reload()
    expect(total).to_have_text(f"– of {steps * 3}")
    choose("Ascend Hardware", "Search in this only")
    expect(chip).to_contain_text("in 2 tracks")
    expect(total).to_have_text(f"– of {steps * (5 + small):,}")
    chip.click()
    expect(chip).to_be_hidden()
