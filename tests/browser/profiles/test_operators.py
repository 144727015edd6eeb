"""The operators page in a browser: figures, tables and links tell of the same operators; what is missing is said."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show

HEAD = "Step ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes\n"


def kernels(rows: int, slow: float) -> str:
    """MatMul takes `slow` us, Add 1 us; every tenth is a MatMul."""
    return HEAD + "".join(
        f"{row // 100},Default/net/layer{row % 4}/{kind}-op{row % 100},{kind},AI_CORE,{1000 + row}.000\t,{time},\n"
        for row in range(rows)
        for kind, time in [("MatMul", slow) if row % 10 == 0 else ("Add", 1.0)]
    )


def profiles(folder: Path) -> Path:
    """A run with two ranks, a rank that has a step trace alone, and one whose table has no rows."""
    for rank, slow in ((0, 20.0), (1, 50.0)):
        place = folder / f"one/profiler/rank-{rank}_20260101_ascend_ms/ASCEND_PROFILER_OUTPUT"
        place.mkdir(parents=True)
        (place / "kernel_details.csv").write_text(kernels(2_000, slow))
        (place.parent / f"profiler_info_{rank}.json").write_text("{}")
    place = folder / "steps/profiler"
    place.mkdir(parents=True)
    (place / "step_trace_time.csv").write_text("Step,Computing\n1,2.0\n")
    (place / "profiler_info_0.json").write_text("{}")
    place = folder / "nothing/profiler"
    place.mkdir(parents=True)
    (place / "kernel_details.csv").write_text(HEAD)
    (place / "profiler_info_0.json").write_text("{}")
    return folder


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    store = Store([profiles(tmp_path_factory.mktemp("operators"))], interval=0).start()
    assert store.wait(60)
    yield serve_file(create_app(store).server)
    store.stop()


@pytest.mark.long
def test_where_the_time_goes(page: Page, address: str) -> None:
    show(page, f"{address}/operators?run=one&session=profiler/rank-0_20260101_ascend_ms")
    grid = page.locator(".ms-operators-grid")
    rows = grid.locator(".ag-center-cols-container .ag-row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("MatMul")  # 200 x 20 us before 1,800 x 1 us
    expect(page.locator(".ms-operators-plot .slice")).to_have_count(2)
    expect(page.locator(".ms-operators-plot .legendtext").first).to_contain_text("69.0 % · 4.00 ms")
    expect(page.locator(".ms-operators-tile").first).to_be_visible()

    # a type opens to its operators, and the link has it
    rows.first.get_by_role("button").click()
    expect(rows).to_have_count(12)
    expect(page).to_have_url(re.compile("open=MatMul"))
    page.reload()
    expect(rows).to_have_count(12)

    # operators: searched, sorted by the server
    page.get_by_role("button", name="Operators", exact=True).click()
    expect(page).to_have_url(re.compile("view=operators"))
    page.locator(".ms-operators-bar input").fill("op11")
    expect(rows).to_have_count(1)
    with page.expect_download() as found:
        page.get_by_role("link", name="CSV of rows found").click()
    assert [line.split(",")[0] for line in found.value.path().read_text().splitlines()] == ["name", "Add-op11"]
    page.locator(".ms-operators-bar input").fill("")
    expect(page.locator(".ms-operators-bar")).to_contain_text("100 rows")
    grid.locator(".ag-header-cell[col-id=name]").click()
    expect(page).to_have_url(re.compile("sort=name"))
    expect(grid.locator(".ag-row[row-index='0']", has_text="Add-op1")).not_to_have_count(0)
    address_of_csv = page.locator(".ms-operators-bar a[download]").get_attribute("href")
    with urlopen(address + str(address_of_csv)) as answer:
        saved = list(csv.DictReader(io.StringIO(answer.read().decode())))
    assert len(saved) == 100
    assert sum(float(row["total_ns"]) for row in saved) == (200 * 20 + 1800) * 1000

    # two profiles
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".ms-operators-types-card .ms-card-title")).to_contain_text("Change by operator type")
    page.get_by_role("button", name="Types", exact=True).click()
    expect(rows.first).to_contain_text("-6")  # 200 x (20 - 50) us = -6 ms
    expect(page.locator(".ms-operators-plot .bars .point")).to_have_count(3)  # before, MatMul, after

    # what is missing
    show(page, f"{address}/operators?run=steps")
    wanted = page.locator("[data-state=missing]")
    expect(wanted).to_contain_text("kernel_details.csv")
    expect(wanted).to_contain_text("Found: profiler_info_0.json, step_trace_time.csv")

    # a file that has nothing: that is told, and no empty cards
    show(page, f"{address}/operators?run=nothing")
    page.locator(".ms-body-damage summary").click()
    expect(page.locator(".ms-body-damage .ms-popover")).to_contain_text("kernel_details.csv Line 1: expected rows")
    expect(page.locator(".ms-operators-bar")).to_contain_text("no such data")
    expect(page.locator(".ms-operators-figures")).to_be_hidden()


def test_the_rank_stays_in_the_address_and_across_the_menu(page: Page, address: str) -> None:
    """Two ranks in directories of their own are one profile, rank 0 first though rank 1 was written later."""
    show(page, f"{address}/operators?run=one")
    choices = page.locator(".ms-body-bar select:visible")
    expect(choices).to_have_count(1)
    expect(choices.locator("option")).to_have_text(["rank 0", "rank 1"])
    expect(choices.locator("option:checked")).to_have_text("rank 0")
    choices.select_option(index=1)
    chosen = re.compile(r"run=one&of=one&session=profiler/rank-1_20260101_ascend_ms&rank=1")
    expect(page).to_have_url(chosen)
    expect(page.locator(".ms-operators-plot .legendtext").first).to_contain_text("84.7 % · 10.0 ms")  # 200 x 50 us
    for name in ("profile_overview", "", "advice"):
        page.locator(f'.ms-menu-link[data-page="{name}"]').click()
        if name:
            expect(page).to_have_url(chosen)
            expect(page.locator(".ms-body-bar select:visible option:checked")).to_have_text("rank 1")
        else:
            expect(page).to_have_url(f"{address}/?run=one")
    page.go_back()
    page.go_back()
    current = page.locator(".ms-profile-overview-table tr[aria-current]")
    expect(current).to_contain_text("rank 1")
    page.locator(".ms-profile-overview-table a", has_text="rank 0").click()
    expect(current).to_contain_text("rank 0")
    expect(page.locator(".ms-body-bar select:visible option:checked")).to_have_text("rank 0")


@pytest.mark.long
def test_it_is_read_in_chinese_and_dark_on_a_narrow_screen(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1000, "height": 800})
    show(page, f"{address}/operators?run=one&view=executions&full=table")
    table = page.locator(".ms-operators-table-card")
    expect(table).to_have_class(re.compile("ms-full"))
    expect(table.locator(".ag-row").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1000
    page.keyboard.press("Escape")
    expect(table).not_to_have_class(re.compile("ms-full"))
    page.keyboard.press("t")
    page.locator(".ms-language").click()
    expect(page.locator(".ag-header-cell[col-id=duration_ns]")).to_contain_text("耗时")
