"""The communication page in a browser: the matrix with pointer and keys, tables, choices, files, and links that restore it."""

from __future__ import annotations

import csv
import io
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.writers.clusters import write

MAP = ".ms-communication-map canvas"
TIP = ".ms-heat-tip"
ROWS = ".ms-communication-totals tbody tr"


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, serve_file) -> str:
    """A job of 16 ranks in two groups of 8, two steps of three operations."""
    base = tmp_path_factory.mktemp("place")
    write(base / "runs/job", ranks=16, steps=2, operations=3)
    store = Store([base / "runs"], interval=0).start()
    assert store.wait(30)
    return serve_file(create_app(store).server)


def tip(page: Page) -> str:
    return " | ".join(page.locator(f"{TIP} div").all_text_contents())


def drawn(page: Page) -> None:
    """Wait until the map has colours: more than those of an empty one."""
    page.wait_for_function("""() => {
        const canvas = document.querySelector(".ms-communication-map canvas");
        if (!canvas || canvas.hidden || !canvas.width) return false;
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const seen = new Set();
        for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
        return seen.size > 40;
    }""")


@pytest.mark.long
def test_the_matrix_is_read_with_keys_and_zoomed(page: Page, place: str) -> None:
    show(page, f"{place}/communication?run=job")
    expect(page.locator(".ms-communication-sentence .en")).to_contain_text(re.compile(r"A rank spends .* of a step"))
    drawn(page)
    canvas = page.locator(MAP)
    canvas.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(TIP)).to_be_visible()
    assert tip(page) == "rank 0 sends to rank 0 | nothing recorded"
    page.keyboard.press("ArrowRight")
    assert re.fullmatch(r"rank 0 sends to rank 1 \| [\d.]+ GB/s", tip(page))
    expect(page.locator(".ms-communication-map [role=status]")).to_have_text(re.compile("rank 0 sends to rank 1, "))
    page.keyboard.press("End")
    assert tip(page).startswith("rank 0 sends to rank 15")
    page.keyboard.press("+")
    page.keyboard.press("Home")
    assert tip(page).startswith("rank 0 sends to rank 0")
    page.keyboard.press("0")

    # the first cell under the pointer; dragging over some cells shows these alone
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    expect(page.locator(TIP)).to_contain_text("rank 0 sends to rank")
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 120, steps=4)
    page.mouse.up()
    canvas.focus()
    page.keyboard.press("ArrowDown")
    first = tip(page)
    page.keyboard.press("Escape")
    assert first

    page.locator(".ms-communication-matrix [data-value=bytes]").click()
    expect(page).to_have_url(re.compile("measure=bytes"))
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(TIP)).to_contain_text(re.compile("per step"))
    page.locator("[data-card=matrix] .ms-card-title").hover()
    with page.expect_download() as saved:
        page.locator("[data-card=matrix] [data-act=png]").click()
    assert saved.value.suggested_filename.startswith("job_Communication_")
    assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")


def test_choices_are_in_the_address_and_a_link_restores_them(page: Page, place: str) -> None:
    show(page, f"{place}/communication?run=job")
    expect(page.locator(ROWS)).to_have_count(2)
    page.locator(".ms-communication-totals [data-value=rank]").click()
    expect(page.locator(ROWS)).to_have_count(16)
    page.locator(".ms-communication-totals [data-sort=rank]").click()
    expect(page.locator(f"{ROWS} >> nth=0").locator("td").nth(1)).to_have_text("0")
    option = page.locator("[data-card=operation] select option").nth(1)
    of_all = str(option.get_attribute("value"))
    page.locator(".ms-communication-totals [data-set]", has_text="tp 8-15").first.click()
    expect(page.locator(ROWS)).to_have_count(8)
    expect(page).to_have_url(re.compile(r"group=\d+"))
    expect(option).not_to_have_attribute("value", of_all)
    drawn(page)
    page.locator(MAP).focus()
    page.keyboard.press("ArrowRight")
    assert tip(page).startswith("rank 8 sends to rank 8")
    page.locator("[data-card=operation] select").select_option(index=1)
    expect(page).to_have_url(re.compile("op=hcom_allReduce"))
    name = query(page)["op"][0]
    expect(page.locator("[data-card=operation] .ms-card-body .ms-mono")).to_have_text(name)
    expect(page.locator("[data-card=operation] .barlayer .trace")).to_have_count(2)
    page.locator("summary", has_text="References").click()
    page.locator(".ms-communication-settings input").first.fill("200")
    expect(page).to_have_url(re.compile("hccs=200"))

    link = page.url
    state = query(page)
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(ROWS)).to_have_count(8)
    expect(page.locator("[data-card=operation] .ms-card-body .ms-mono")).to_have_text(name)
    assert query(page) == state

    page.locator("[data-card=totals] .ms-card-title").hover()
    address = page.locator("[data-csv=totals]").get_attribute("href")
    with urlopen(place + str(address)) as answer:
        rows = list(csv.DictReader(io.StringIO(answer.read().decode())))
    assert [row["rank"] for row in rows] == [str(rank) for rank in range(8, 16)]
    with urlopen(place + str(page.locator("[data-csv=links]").get_attribute("href"))) as answer:
        assert len(list(csv.DictReader(io.StringIO(answer.read().decode())))) == 8 * 7


@pytest.mark.long
def test_full_screen_language_and_theme(page: Page, place: str) -> None:
    show(page, f"{place}/communication?run=job")
    drawn(page)
    page.locator(MAP).focus()
    page.keyboard.press("f")
    expect(page.locator("[data-card=matrix]")).to_have_class(re.compile("ms-full"))
    page.keyboard.press("Escape")
    expect(page.locator("[data-card=matrix]")).not_to_have_class(re.compile("ms-full"))
    light = page.locator(MAP).evaluate("canvas => canvas.toDataURL()")
    page.locator("[data-action=theme]").click()
    page.wait_for_function("light => document.querySelector('.ms-communication-map canvas').toDataURL() !== light", arg=light)
    dark = page.locator(MAP).evaluate("canvas => canvas.toDataURL()")
    page.get_by_role("button", name="中文").click()
    page.wait_for_function("dark => document.querySelector('.ms-communication-map canvas').toDataURL() !== dark", arg=dark)
    expect(page.locator(".ms-communication-sentence .zh")).to_contain_text("每张卡平均每步")
    page.locator("[data-card=contention]").scroll_into_view_if_needed()
    expect(page.locator("[data-card=contention] .zh", has_text="未检查")).to_be_visible()


@pytest.mark.long
def test_links_to_unknown_ranks_stay_visible(page: Page, serve, real_data: Path) -> None:
    store = Store([real_data / "profiler_new/torch_npu_text_level2"], interval=0).start()
    assert store.wait(30)
    show(page, f"{serve(create_app(store).server)}/communication")
    drawn(page)
    page.locator(MAP).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    expect(page.locator(TIP)).to_contain_text("rank 0 sends to number 7 of the group, rank unknown")
    assert re.search(r"14\.\d+ GB/s", tip(page))
    expect(page.locator("[data-card=links] tbody tr")).to_have_count(14)
    page.locator("[data-card=contention]").scroll_into_view_if_needed()
    expect(page.locator("[data-card=contention] .en", has_text="No operation of rank 0 of 1 MB or more")).to_be_visible()


@pytest.mark.long
def test_ranks_that_arrive_are_shown(page: Page, serve, tmp_path: Path) -> None:
    write(tmp_path / "made", ranks=16, steps=2, operations=3)
    sessions = sorted((tmp_path / "made").iterdir(), key=lambda path: int(path.name.split("_")[1]))
    job = tmp_path / "runs/job"
    for session in sessions[:8]:
        shutil.copytree(session, job / session.name)
    store = Store([tmp_path / "runs"], interval=0.5).start()
    assert store.wait(30)
    show(page, f"{serve(create_app(store).server)}/communication?run=job")
    expect(page.locator(ROWS)).to_have_count(1)
    drawn(page)
    for session in sessions[8:]:
        shutil.copytree(session, job / session.name)
    expect(page.locator(ROWS)).to_have_count(2)
    page.locator(MAP).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageDown")
    expect(page.locator(TIP)).to_contain_text("rank 10 sends to rank 0")
    store.stop()
