"""Several traces in one timeline, in a browser: ranks by the clock, devices and steps aligned, differences, other files."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Locator, Page, expect

from app import create_app, programs
from app.store.store import Store
from tests.app.store.profiles.test_traces import slow_pyramid
from tests.browser.conftest import in_address
from tests.browser.profiles.test_timeline import CANVAS, SETTLED, colour, query
from tests.browser.showing import show
from tests.writers import chrome_traces, rank_traces

RANKS = 3


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, serve_file) -> Iterator[str]:
    with traced(tmp_path_factory.mktemp("place")) as store:
        yield serve_file(create_app(store).server)


@contextlib.contextmanager
def traced(base: Path) -> Iterator[Store]:
    """Three ranks of a run, of which the first has two traces."""
    for rank in range(RANKS):
        folder = base / f"runs/one/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        (folder / "trace_view.json").write_text(rank_traces.text(rank))
    (base / "runs/one/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/timeline_display_0.json").write_text(chrome_traces.text())
    store = Store([base / "runs"], interval=0).start()
    assert store.wait(30)
    yield store
    store.stop()


def settled(page: Page, parts: int) -> None:
    expect(page.locator(".ms-timeline-label-part")).to_have_count(parts if parts > 1 else 0)
    expect(page.locator(SETTLED)).to_be_visible()


def choose(page: Page) -> Locator:
    """Open the menu of traces."""
    menu = page.locator(".ms-timeline-parts-menu")
    if menu.get_attribute("open") is None:
        page.locator(".ms-timeline-parts").click()
    return menu


def at(page: Page, time: float, part: int, label: str) -> tuple[float, float]:
    """Where a time of the axis is on a track of a trace."""
    box = page.locator(CANVAS).bounding_box()
    head = page.locator(".ms-timeline-label-part").nth(part).bounding_box()
    tops = [row.bounding_box() for row in page.locator(".ms-timeline-label-track", has_text=label).all()]
    assert box is not None
    assert head is not None
    row = min((top for top in tops if top is not None and top["y"] > head["y"]), key=lambda top: top["y"])
    low, high = map(float, query(page)["span"][0].split(","))
    return box["x"] + (time - low) / (high - low) * box["width"], row["y"] + 9


def first(rank: int, name: str) -> int:
    return min(one["at"] for one in rank_traces.slices(rank) if one["name"] == name)


@pytest.mark.long
def test_all_ranks_on_one_axis_and_devices_aligned(page: Page, place: str) -> None:
    show(page, f"{place}/timeline?run=one&span=0,2000000")
    settled(page, 1)
    menu = choose(page)
    menu.get_by_role("button", name="All 3 ranks").click()
    settled(page, RANKS)
    heads = page.locator(".ms-timeline-label-part .ms-timeline-name")
    assert heads.all_text_contents() == ["rank 0", "rank 1", "rank 2"]
    page.keyboard.press("Escape")
    begin = first(2, "MatMulV2")
    inside, outside = at(page, begin + 30_000, 2, "Stream 2"), at(page, begin - 40_000, 2, "Stream 2")
    assert colour(page, *inside)[3] == 255
    assert colour(page, *outside)[3] < 100
    choose(page).get_by_role("button", name="Correct device clocks").click()
    expect(page.locator(".ms-timeline-part-align .en")).to_have_text([
        "device +80.0 µs, from 2 collectives (± 0 s)", "device +160 µs, from 2 collectives (± 0 s)",
    ])  # fmt: skip
    settled(page, RANKS)
    expect(page.locator(".ms-timeline-moved .en")).to_have_text(["device +80.0 µs", "device +160 µs"])
    page.keyboard.press("Escape")
    # the kernel is 160 us later now, and its place is empty
    later = at(page, begin + 160_000 + 30_000, 2, "Stream 2")
    assert colour(page, *later)[3] == 255
    assert colour(page, *at(page, begin + 5_000, 2, "Stream 2"))[3] < 100
    page.mouse.click(*later)
    panel = page.locator(".ms-timeline-panel")
    expect(panel.locator(".ms-timeline-title")).to_have_text("MatMulV2")
    expect(panel.locator(".ms-timeline-facts")).to_contain_text("rank 2 · Ascend Hardware · Stream 2")
    assert in_address(page, "slice")[0].startswith("2.")
    in_address(page, "clocks", "1")
    link, state = page.url, query(page)
    page.goto("about:blank")
    page.goto(link)
    settled(page, RANKS)
    expect(panel.locator(".ms-timeline-title")).to_have_text("MatMulV2")
    assert query(page) == state


def test_the_step_of_two_ranks_is_compared(page: Page, place: str) -> None:
    show(page, f"{place}/timeline?run=one&also=session%3Drank1_ascend_pt%26rank%3D1")
    settled(page, 2)
    choose(page).get_by_role("button", name="Step", exact=True).click()
    select = page.locator(".ms-timeline-part-axis select")
    expect(select).to_have_value("1")
    select.select_option("2")
    expect(page).to_have_url(re.compile("at=2"))
    settled(page, 2)
    page.keyboard.press("Escape")
    # threads are folded at first, until a slice on one of them is gone to
    expect(page.locator(".ms-timeline-label", has_text="Thread 10")).to_have_count(0)
    page.locator(".ms-timeline-search").fill("ProfilerStep#2")
    starts = page.locator(".ms-timeline-panel tbody td:nth-child(2)")
    expect(starts).to_have_count(2)
    texts = starts.all_text_contents()
    assert texts[0] == texts[1]
    page.locator(".ms-timeline-panel tbody .ms-timeline-link").nth(1).click()
    expect(page.locator(".ms-timeline-label", has_text="Thread 10")).to_have_count(1)
    in_address(page, "open", "1.p0")
    # zooming to another step aligns it in both
    page.keyboard.press("Escape")
    page.get_by_label("Zoom to a step").select_option(label="Step 3")
    expect(page).to_have_url(re.compile("at=3"))
    settled(page, 2)
    expect(page).to_have_url(re.compile("span="))
    expect(select).to_have_value("3")
    low, high = map(float, query(page)["span"][0].split(","))
    assert high - low == pytest.approx(chrome_traces.STEP_NS / 0.96, rel=0.01)
    show(page, f"{page.url.split('&q=')[0]}&range=0,20000000&by=difference")
    settled(page, 2)
    panel = page.locator(".ms-timeline-panel")
    row = panel.locator(".ms-timeline-differences tr", has_text="MatMulV2")
    expect(row.locator("td")).to_have_text(
        ["MatMulV2", "6", "6", "300 µs", "342 µs", "+42.0 µs", "300 µs", "342 µs", "+42.0 µs"]
    )
    with urlopen(place + str(page.locator(".ms-timeline-csv").get_attribute("href"))) as answer:
        rows = {found["name"]: found for found in csv.DictReader(io.StringIO(answer.read().decode()))}
    assert rows["MatMulV2"]["total_difference_ns"] == str(6 * rank_traces.SLOWER_NS)
    panel.get_by_role("button", name="Name", exact=True).click()
    names = panel.locator(".ms-timeline-differences tbody td:first-child")
    expect(names.first).to_have_text("aten::addmm")
    panel.get_by_role("button", name="Critical path").click()
    panel.locator(".ms-timeline-panel-tools select").select_option(label="rank 1")
    expect(page).to_have_url(re.compile("part=1"))
    expect(panel.locator(".ms-timeline-causes-names .en").first).to_contain_text("Critical path of")


@pytest.mark.long
def test_a_collective_says_who_came_last(page: Page, place: str) -> None:
    show(page, f"{place}/timeline?run=one&also=session%3Drank1_ascend_pt%26rank%3D1&clocks=1")
    settled(page, 2)
    page.locator(".ms-timeline-search").fill("allReduce")
    page.locator(".ms-timeline-panel tbody .ms-timeline-link").first.click()
    page.locator('.ms-timeline-panel [data-value="slice"]').click()
    panel = page.locator(".ms-timeline-panel")
    expect(panel.locator("h4 .en", has_text="On other ranks")).to_have_text("On other ranks; rank 1 came last")
    expect(panel.locator(".ms-timeline-rank .en")).to_have_text("begins +30.0 µs, ends 0 s")
    panel.locator(".ms-timeline-rank .ms-timeline-link").click()
    expect(panel.locator(".ms-timeline-facts")).to_contain_text("rank 1 · HCCL")


@pytest.mark.long
def test_another_file_is_chosen_and_a_trace_removed(page: Page, place: str) -> None:
    also = "&".join(f"also=session%3Drank{rank}_ascend_pt%26rank%3D{rank}" for rank in (1, 2))
    show(page, f"{place}/timeline?run=one&{also}&fold=2.p0")
    settled(page, RANKS)
    menu = choose(page)
    menu.get_by_role("button", name="Remove from the timeline").first.click()
    settled(page, 2)
    in_address(page, "also", "session=rank2_ascend_pt&rank=2")
    in_address(page, "fold", "1.p0")
    choose(page).locator("li select").select_option(label="ASCEND_PROFILER_OUTPUT/timeline_display_0.json")
    expect(page).to_have_url(re.compile("source=ASCEND_PROFILER_OUTPUT"))
    expect(page.locator(".ms-timeline-about-trace .en")).to_have_text(re.compile(r"2 traces · 1,2\d\d slices"))
    choose(page).get_by_role("button", name="Remove from the timeline").click()
    settled(page, 1)
    expect(page.locator(".ms-timeline-about-trace .en")).to_contain_text("timeline_display_0.json · 618 slices")


@pytest.mark.long
def test_tracks_are_seen_before_the_pyramid_is_there(
    page: Page, serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = tmp_path / "done"
    monkeypatch.setattr(programs, "paths", slow_pyramid(tmp_path / "slow", done))
    with traced(tmp_path) as store:
        show(page, f"{serve(create_app(store).server)}/timeline?run=one")
        settled(page, 1)
        progress = page.locator(".ms-timeline-progress")
        expect(progress.locator(".en")).to_contain_text("Preparing wide views: 50.0 %")
        names = page.locator(".ms-timeline-label-track .ms-timeline-name")
        expect(names.first).to_have_text("Thread 10")
        assert int(page.locator(".ms-timeline-box").get_attribute("data-slices") or 0) >= 20
        done.touch()
        expect(progress).to_be_hidden()
        expect(page.locator(SETTLED)).to_be_visible()


@pytest.mark.long
def test_one_of_very_many_ranks_is_added_by_its_number(page: Page, tmp_path: Path, serve) -> None:
    for rank in range(70):
        folder = tmp_path / f"many/one/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        (folder / "trace_view.json").write_text(rank_traces.text(rank % RANKS))
    store = Store([tmp_path / "many"], interval=0).start()
    assert store.wait(30)
    show(page, f"{serve(create_app(store).server)}/timeline?run=one")
    settled(page, 1)
    menu = choose(page)
    expect(menu.locator("select:visible")).to_have_count(0)
    expect(menu.locator("button", has_text="ranks")).to_be_hidden()
    field = menu.locator(".ms-number-field:visible")
    field.fill("68")
    field.press("Enter")
    settled(page, 2)
    expect(page).to_have_url(re.compile("also=.*rank%3D68"))
    expect(page.locator(".ms-timeline-label-part").nth(1)).to_contain_text("rank 68")
    store.stop()
