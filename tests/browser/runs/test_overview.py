"""The overview, used as a person would."""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import dash
import pytest
from dash import html
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from app.web.embedding import pages
from parsers.recording import EventWriter, Image, Text
from tests.browser.showing import show
from tests.browser.waiting import frames, polls
from tests.parsers.payloads.test_images import png
from tests.sources import MemorySource, row

RUN = "lenet_adam_lr0.01_b64"
TILES = ("scalars", "histograms", "images", "tensors")


def visit(page: Page, address: str, query: str) -> None:
    show(page, f"{address}/overview?{query}")
    expect(page.locator(".ms-overview-head")).to_be_visible()
    expect(page.locator('[data-tile="scalars"] .js-plotly-plot, .ms-overview-empty').first).to_be_attached()


@pytest.mark.long
@pytest.mark.parametrize(("run", "names"), [(RUN, TILES), ("lenet_landscape", ("landscape",))])
def test_a_tile_opens_its_page_for_this_run(page: Page, address: str, run: str, names: tuple[str, ...]) -> None:
    visit(page, address, f"run={run}&run=several_files&of={run}")
    for name in names:
        link = page.locator(f'[data-tile="{name}"] .ms-tile-link')
        expect(link).to_be_visible()
        link.click(position={"x": 120, "y": 150})
        expect(page).to_have_url(re.compile(rf"/{name}\?run={re.escape(run)}$"))
        expect(page.locator(".ms-picker-count .en")).to_have_text("1 of 9 runs")
        page.go_back()
        expect(link).to_be_visible()


@pytest.mark.long
def test_the_newest_data_is_seen(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}")
    expect(page.locator(".ms-fact-steps .ms-fact-value")).to_have_text("110")
    expect(page.locator(".ms-fact-speed .ms-fact-value .en")).to_contain_text("steps/s")
    expect(page.locator('[data-tile="scalars"] .scatterlayer path.js-line').first).to_be_visible()
    expect(page.locator('[data-tile="histograms"] .scatterlayer path.js-line').first).to_be_visible()
    picture = page.locator('[data-tile="images"] img')
    expect(picture).to_be_visible()
    assert picture.evaluate("img => img.decode().then(() => [img.naturalWidth, img.naturalHeight])") == [128, 32]
    expect(page.locator('[data-tile="tensors"] tbody tr')).to_have_count(8)
    expect(page.locator('[data-tile="graph"] .ms-tile-link')).to_have_attribute("href", f"graph?run={RUN}")
    drawing = page.locator('[data-tile="graph"] img:visible')
    expect(drawing).to_have_count(1)
    assert drawing.evaluate("img => img.decode().then(() => img.naturalHeight)") > 100
    expect(page.locator('[data-tile="landscape"] code')).to_contain_text("SummaryLandscape")
    page.locator(".ms-fact-problems button").click()
    expect(page.locator("dialog[open] .ms-health-list")).to_be_visible()


def test_select_and_arrows_change_the_run(page: Page, address: str) -> None:
    visit(page, address, "run=nan_inf&run=many_tags&run=long_history")
    select = page.locator(".ms-overview-run select")
    names = select.locator("option").all_inner_texts()
    assert sorted(names) == ["long_history", "many_tags", "nan_inf"]
    expect(select).to_have_value(names[0])
    page.locator("body").press("ArrowRight")
    expect(select).to_have_value(names[1])
    expect(page).to_have_url(re.compile(f"of={names[1]}"))
    expect(page.locator(".ms-fact-path")).to_contain_text(names[1])
    page.locator(".ms-overview-next").click()
    expect(select).to_have_value(names[2])
    expect(page.locator(".ms-overview-next")).to_be_disabled()
    page.locator("body").press("ArrowRight")
    page.locator("body").press("ArrowLeft")
    expect(select).to_have_value(names[1])
    select.select_option("long_history")
    expect(page.locator(".ms-fact-steps .ms-fact-value .en")).to_have_text("6,000 (up to 6,500)")
    page.reload()
    expect(select).to_have_value("long_history")


@pytest.mark.long
def test_only_its_own_growth_redraws_a_run(page: Page, base: Path, address: str) -> None:
    file = next((base / "several_files").iterdir())
    visit(page, address, "run=several_files&run=nan_inf&of=several_files")
    before = page.locator(".ms-fact-points .ms-fact-value").inner_text()
    drawn: list[str] = []
    page.on("request", lambda asked: drawn.extend(re.findall("overview-tile-[a-z]+", asked.post_data or "")))
    shutil.copy(file, base / "nan_inf" / f"{file.name}_again")
    page.locator("body").press("r")
    polls(page, 3)
    assert drawn == []
    shutil.copy(file, base / "several_files" / "events.out.events.summary.1795217990.0.vm_MS")
    page.locator("body").press("r")
    expect(page.locator(".ms-fact-points .ms-fact-value")).not_to_have_text(before)
    assert drawn != []


@pytest.mark.long
def test_a_damaged_image_leaves_the_other_tiles(page: Page, base: Path, serve: Callable[[Flask], str]) -> None:
    with EventWriter(str(base / RUN / "events.out.events.summary.1795218990.1.vm_MS"), "mindspore") as writer:
        writer.add(999, {"input_image": Image(b"no image", 8, 8)})
    store = Store([base], interval=0).start()
    assert store.wait(30)
    visit(page, serve(create_app(store).server), f"run={RUN}")
    expect(page.locator('[data-tile="images"] [role="alert"]')).to_contain_text("input_image, step 999: ")
    expect(page.locator('[data-tile="tensors"] tbody tr')).to_have_count(8)
    store.stop()


@pytest.mark.long
def test_an_image_without_a_picture_says_so_until_there_is_one(
    page: Page, base: Path, serve: Callable[[Flask], str]
) -> None:
    whole = png(30, 20)
    header = whole[12:16] + whole[16:24] + bytes([77]) + whole[25:29]  # a depth that no PNG has
    broken = whole[:12] + header + zlib.crc32(header).to_bytes(4, "big") + whole[33:]
    writer = EventWriter(str(base / RUN / "events.out.events.summary.1795218990.1.vm_MS"), "mindspore")
    writer.add(999, {"input_image": Image(broken, 20, 30)})
    writer.flush()
    store = Store([base], interval=0.5).start()
    assert store.wait(30)
    visit(page, serve(create_app(store).server), f"run={RUN}")
    tile = page.locator('[data-tile="images"]')
    expect(tile.locator(".ms-tile-undecodable")).to_be_visible()
    expect(tile.locator("img")).to_be_hidden()
    expect(tile).to_contain_text("depth 77")
    expect(page.locator('[data-tile="tensors"] tbody tr')).to_have_count(8)
    writer.add(1000, {"input_image": Image(whole, 20, 30)})
    writer.close()
    page.locator("body").press("r")
    expect(tile).to_contain_text("step 1,000")
    expect(tile.locator("img")).to_be_visible()
    expect(tile.locator(".ms-tile-undecodable")).to_be_hidden()
    store.stop()


@pytest.mark.long
def test_one_run_has_no_other_to_go_to_and_keys_are_listed(page: Page, address: str) -> None:
    visit(page, address, f"run={RUN}")
    expect(page.locator(".ms-overview-run select")).to_be_visible()
    for part in (".ms-overview-previous", ".ms-overview-next", ".ms-overview-of"):
        expect(page.locator(part)).to_be_hidden()
    page.locator("body").press("?")
    row = page.locator("dialog[open] .ms-keys tr", has_text="run on the overview")
    assert row.locator("kbd").all_inner_texts() == ["←", "→"]
    page.locator("body").press("Escape")
    expect(page.locator(".ms-insights")).to_be_visible()
    for key in ("j", "j", "j"):
        page.keyboard.press(key)
    page.locator('[data-tile="histograms"]:focus').press("Enter")
    expect(page).to_have_url(re.compile(rf"/histograms\?run={re.escape(RUN)}$"))


@pytest.mark.long
def test_a_text_written_later_gets_its_tile(page: Page, base: Path, serve: Callable[[Flask], str]) -> None:
    folder = base / "talk"
    folder.mkdir()
    writer = EventWriter(str(folder / "events.out.tfevents.1795218990.vm"), "tensorboard")
    writer.add(1, {"loss": 1.0})
    writer.flush()
    store = Store([base], interval=0.5).start()
    assert store.wait(30)
    visit(page, serve(create_app(store).server), "run=talk")
    expect(page.locator('[data-tile="text"]')).to_be_hidden()
    writer.add(2, {"said": Text("<b>not bold</b>")})
    writer.close()
    page.locator("body").press("r")
    expect(page.locator('[data-tile="text"] pre')).to_have_text("<b>not bold</b>")
    page.locator('[data-tile="text"] .ms-tile-link').click()
    expect(page).to_have_url(re.compile(r"/text\?run=talk$"))
    store.stop()


@pytest.mark.long
def test_no_run_chosen_and_an_empty_run(page: Page, serve: Callable[[Flask], str]) -> None:
    empty = row("empty", tags={"scalar": 1}, steps=0, points=0, main_tag="", main_value=None)
    address = serve(create_app(MemorySource(rows=[empty])).server)
    show(page, f"{address}/overview")
    expect(page.locator(".ms-tile-missing")).to_have_count(7)
    expect(page.locator(".ms-fact-size")).to_contain_text("51.5 KiB")
    show(page, f"{address}/overview?run=")
    expect(page.locator(".ms-overview-none")).to_be_visible()
    expect(page.locator(".ms-tiles")).to_be_hidden()


@pytest.mark.long
def test_two_overviews_in_a_host_lead_nowhere_else(page: Page, base: Path, serve: Callable[[Flask], str]) -> None:
    host = dash.Dash("host", update_title="", include_assets_files=False)
    copies = [pages.Overview([base], id=name) for name in ("one", "two")]
    for copy in copies:
        copy.register(host)
    host.layout = html.Div([copy.layout() for copy in copies])
    address = serve(host.server) + "/"
    show(page, address)
    expect(page.locator('[data-tile="scalars"] .ms-tile-link')).to_have_count(2)
    page.locator("#two-overview-root .ms-overview-next").click()
    expect(page.locator("#two-overview-root .ms-overview-of .en")).to_have_text("Run 2 of 9")
    expect(page.locator("#one-overview-root .ms-overview-of .en")).to_have_text("Run 1 of 9")
    page.locator('#one-overview-root [data-tile="scalars"] .ms-tile-link').click()
    frames(page, 4)
    assert page.url == address


@pytest.mark.long
def test_the_lines_that_record_a_graph_are_not_cut_off(page: Page, address: str) -> None:
    show(page, f"{address}/overview?run=nan_inf")
    empty = page.locator('[data-tile="graph"] .ms-tile-missing, [data-tile="dataset"] .ms-tile-missing')
    expect(empty).to_have_count(2)
    for number in range(2):
        empty.nth(number).locator("summary").first.click()
        expect(empty.nth(number).locator(".ms-code:visible").first).to_be_visible()
    for _ in ("en", "zh"):
        assert empty.evaluate_all("every => every.map(one => one.scrollHeight - one.clientHeight)") == [0, 0]
        cut = "every => every.filter(one => one.parentElement.scrollHeight > one.parentElement.clientHeight).length"
        assert empty.evaluate_all(cut) == 0
        page.locator("[data-action=language]").click()
