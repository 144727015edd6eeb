"""The page of ranks in a browser: the picture, pointer, brush and keys, alignment, files, damage, and links that restore it."""

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
from tests.browser.showing import show
from tests.writers import rank_kernels

CANVAS = ".ms-ranks-canvas"
TIP = ".ms-ranks-tip"
HEAD = ".ms-ranks-head"
PANEL = ".ms-ranks-operator"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, serve_file) -> str:
    """A job of 12 ranks in two stages, of which one lacks kernels and one has a clock 0.7 ms ahead."""
    base = tmp_path_factory.mktemp("place")
    rank_kernels.write(
        base / "runs/job", ranks=12, operators=40, stages=2, clocks={1: 700_000}, without=(4,), alone=(2,),
    )  # fmt: skip
    store = Store([base / "runs"], interval=0).start()
    assert store.wait(30)
    return serve_file(create_app(store).server)


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def drawn(page: Page) -> None:
    """Wait until bars and joins are drawn: an empty chart has few colours."""
    expect(page.locator(".ms-ranks-drawn .en").first).to_contain_text("bars of their own")
    page.wait_for_function("""() => {
        const canvas = document.querySelector(".ms-ranks-canvas");
        if (!canvas || !canvas.width) return false;
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const seen = new Set();
        for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
        return seen.size > 30;
    }""")


def test_the_picture_is_read_with_pointer_brush_and_keys(page: Page, place: str) -> None:
    show(page, f"{place}/ranks?run=job")
    expect(page.locator(f"{HEAD} .en").first).to_contain_text("operators of 8 ranks within")
    expect(page.locator(HEAD)).to_contain_text("Rank 4: no kernel_details.csv or database")
    expect(page.locator(HEAD)).to_contain_text("8 of 12 ranks are shown.")
    drawn(page)
    expect(page.locator(CANVAS)).to_have_attribute("aria-describedby", re.compile("ms-described"))
    assert page.locator(".ms-ranks-table tbody tr").count() == 8

    # A part of the axis is dragged over: the address has the window, and a double click shows all.
    box = page.locator(CANVAS).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 45)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 60, steps=4)
    page.mouse.up()
    page.wait_for_function("() => new URLSearchParams(location.search).has('zoom')")
    begin, end = map(int, query(page)["zoom"][0].split(","))
    assert 0 < begin < end
    page.locator(CANVAS).dblclick(position={"x": 5, "y": 5})
    page.wait_for_function("() => !new URLSearchParams(location.search).has('zoom')")

    # Keys: a rank, its operators, the same operator on the next rank, zoom about it.
    page.locator(CANVAS).focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".ms-ranks-chart [role=status]")).to_have_text("Rank 1")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(page.locator(f"{PANEL} h4")).to_have_text("aclnnMatMulV2_0")
    page.keyboard.press("ArrowRight")
    expect(page.locator(f"{PANEL} h4")).to_have_text("aclnnAdd_1")
    expect(page.locator(".ms-ranks-chart [role=status]")).to_contain_text("Rank 0, aclnnAdd_1, Vector core, 40.0 µs")
    assert query(page)["pick"] == ["0,1"]
    expect(page.locator(f"{PANEL} li")).to_have_count(5)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator(f"{PANEL} .ms-ranks-own")).to_contain_text("Rank 1")
    page.keyboard.press("+")
    page.wait_for_function("() => new URLSearchParams(location.search).has('zoom')")
    page.keyboard.press("0")
    page.keyboard.press("Escape")
    expect(page.locator(PANEL)).to_be_hidden()


@pytest.mark.long
def test_alignment_ranks_and_stage_are_in_the_link(page: Page, place: str) -> None:
    show(page, f"{place}/ranks?run=job")
    drawn(page)
    page.get_by_role("button", name="Align", exact=True).click()
    expect(page.locator(HEAD)).to_contain_text(re.compile("Ranks are moved by up to 700"))
    expect(page.locator(".ms-ranks-table thead")).to_contain_text("Moved")
    page.locator(".ms-ranks-rows").fill("0-1,9")
    page.locator(".ms-ranks-rows").press("Enter")
    expect(page.locator(".ms-ranks-table tbody tr")).to_have_count(3)
    expect(page.locator(HEAD)).to_contain_text("Stages are not moved against each other.")
    state = query(page)
    assert (state["aligned"], state["rows"]) == (["1"], ["0-1,9"])
    page.reload()
    expect(page.locator(".ms-ranks-table tbody tr")).to_have_count(3)
    expect(page.get_by_role("button", name="Align", exact=True)).to_have_attribute("aria-pressed", "true")
    page.locator(".ms-ranks-bar select").first.select_option("1")
    expect(page.locator(".ms-ranks-table tbody tr")).to_have_count(6)
    # A link with a window and an operator opens both.
    show(page, f"{place}/ranks?run=job&rows=0-3&aligned=1&zoom=0,200000&pick=0,1")
    expect(page.locator(f"{PANEL} h4")).to_have_text("aclnnAdd_1")
    drawn(page)
    expect(page.locator(".ms-ranks-drawn")).to_contain_text("All 20 operators in view")


@pytest.mark.long
def test_files_have_what_is_shown_and_the_language_is_the_readers(page: Page, place: str) -> None:
    show(page, f"{place}/ranks?run=job&rows=2&lines=computing_ns")
    drawn(page)
    href = page.locator('[data-csv="chart"]').get_attribute("href")
    with urlopen(f"{place}{href}") as answer:
        rows = list(csv.DictReader(io.TextIOWrapper(answer)))
    assert sum(row["name"] == rank_kernels.ALONE for row in rows) == 1
    page.locator(".ms-ranks-bar select").last.select_option("memory")
    expect(page.locator(".ms-ranks-legend")).to_contain_text("No memory_record.csv has times near these operators")
    page.locator('[data-card="chart"]').hover()
    with page.expect_download() as download:
        page.locator('[data-card="chart"] [data-act="png"]').click()
    assert download.value.suggested_filename.startswith("job_Operators_by_rank")
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    page.locator('[data-card="chart"] [data-act="full"]').click()
    expect(page.locator('[data-card="chart"]')).to_have_class(re.compile("ms-full"))
    page.keyboard.press("Escape")
    page.get_by_role("button", name="中文").click()
    expect(page.locator(f"{HEAD} .zh").first).to_be_visible()
    expect(page.locator(f"{HEAD} .zh").first).to_contain_text("1 个 rank")
