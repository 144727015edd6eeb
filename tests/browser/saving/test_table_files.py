"""Tables of saved pages: their first rows, all rows on request, and the columns that were out of view."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.profiles.test_operators import kernels
from tests.browser.saving.saved_pages import Saved, save
from tests.browser.showing import show


@pytest.fixture(scope="module")
def many_kernels(serve_file: Callable[[Flask], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A profile whose table of executions has twice as many rows as a file shows."""
    base = tmp_path_factory.mktemp("kernels")
    place = base / "runs/one/profiler/rank-0_20260101_ascend_ms/ASCEND_PROFILER_OUTPUT"
    place.mkdir(parents=True)
    (place / "kernel_details.csv").write_text(kernels(2_000, 20.0))
    store = Store([base / "runs"], interval=0).start()
    assert store.wait(30)
    yield serve_file(create_app(store).server)
    store.stop()


ROWS = "() => document.querySelectorAll('.ag-center-cols-container .ag-row').length"


def test_operators_keep_figures_and_first_rows(
    page: Page, many_kernels: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    show(page, f"{many_kernels}/operators")
    expect(page.locator(".ag-row").first).to_be_visible()
    saved = opened(save(page, tmp_path / "page.html")).page
    assert saved.locator(".js-plotly-plot .main-svg").count() > 0
    expect(saved.get_by_text("MatMul", exact=True).first).to_be_visible()
    assert saved.evaluate(ROWS) >= page.evaluate(ROWS)
    assert saved.locator(".ms-file-rows, .ms-file-said").count() == 0


@pytest.mark.long
def test_a_long_table_has_its_first_rows_and_all_of_them_on_request(
    page: Page, many_kernels: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    show(page, f"{many_kernels}/operators?view=executions")
    expect(page.locator(".ag-row").first).to_be_visible()
    few = opened(save(page, tmp_path / "few.html")).page
    assert few.evaluate(ROWS) == 1_000
    assert few.locator(".ag-center-cols-container .ag-row").last.text_content() != ""
    expect(few.get_by_text("The first 1,000 of 2,000 rows")).to_have_count(1)
    assert few.locator("a[href]").count() == 0
    page.locator(".ms-views > summary").click()
    choice = page.locator(".ms-file-rows")
    expect(choice).to_contain_text("All 2,000 rows of long tables, as CSV")
    choice.locator("input").check()
    page.keyboard.press("Escape")
    saved = opened(save(page, tmp_path / "all.html"))
    with saved.page.expect_download() as waiting:
        saved.page.get_by_text("All 2,000 rows as CSV").click()
    assert waiting.value.suggested_filename.endswith(".csv")
    waiting.value.save_as(tmp_path / "rows.csv")
    with open(tmp_path / "rows.csv", encoding="utf-8-sig", newline="") as stream:
        head, *rows = csv.reader(stream)
    assert len(rows) == 2_000
    assert {len(row) for row in rows} == {len(head)}
    assert [row[0] for row in rows[:5]] == few.locator(
        ".ag-center-cols-container .ag-row [aria-colindex='1'], .ag-pinned-left-cols-container .ag-row [aria-colindex='1']"
    ).all_text_contents()[:5]


LONG_LISTS = """(text) => {
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    head.append(...["number", "text"].map((name) => Object.assign(document.createElement("th"), { textContent: name })));
    const body = table.createTBody();
    for (let at = 0; at < 1500; at += 1) {
        const row = body.insertRow();
        row.insertCell().textContent = String(at);
        row.insertCell().textContent = text;
    }
    const list = document.createElement("ul");
    list.append(...Array.from({ length: 1001 }, (_, at) =>
        Object.assign(document.createElement("li"), { textContent: `item ${at}` })));
    document.querySelector(".ms-page").append(table, list);
}"""


def test_plain_tables_and_lists_have_their_first_rows_and_all_on_request(
    page: Page, everything: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    show(page, f"{everything}/scalars?run=runs/long_history")
    expect(page.locator(".ms-slot .main-svg").first).to_be_visible()
    text = '</script>,"javascript:\u202e'
    page.evaluate(LONG_LISTS, text)
    few = opened(save(page, tmp_path / "few.html")).page
    numbers = [one for one in few.locator("tbody > tr").all_text_contents() if "javascript" in one]
    assert numbers == [f"{at}{text}" for at in range(1_000)]
    assert [one for one in few.locator("ul > li").all_text_contents() if one.startswith("item ")] == [
        f"item {at}" for at in range(1_000)
    ]
    expect(few.get_by_text("The first 1,000 of 1,500 rows")).to_have_count(1)
    expect(few.get_by_text("The first 1,000 of 1,001 rows")).to_have_count(1)
    page.locator(".ms-views > summary").click()
    page.locator(".ms-file-rows input").check()
    page.keyboard.press("Escape")
    saved = opened(save(page, tmp_path / "all.html")).page
    rows = {}
    for total in ("1,500", "1,001"):
        with saved.expect_download() as waiting:
            saved.get_by_text(f"All {total} rows as CSV").click()
        waiting.value.save_as(tmp_path / "rows.csv")
        with open(tmp_path / "rows.csv", encoding="utf-8-sig", newline="") as stream:
            rows[total] = list(csv.reader(stream))
    assert rows["1,500"] == [["number", "text"], *([str(at), text] for at in range(1_500))]
    assert rows["1,001"] == [[f"item {at}"] for at in range(1_001)]


def test_columns_out_of_view_are_in_the_file(
    page: Page, everything: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 900, "height": 700})
    show(page, f"{everything}/model_lineage")
    expect(page.locator(".ag-row").first).to_be_visible()
    heads = "() => [...document.querySelectorAll('.ag-header-cell[col-id]')].map((one) => one.innerText.trim())"
    wanted = page.evaluate(
        "async () => { const host = document.querySelector('.ag-root-wrapper').closest('[id]');"
        " const api = await window.dash_ag_grid.getApiAsync(host.id);"
        " return api.getAllDisplayedColumns().length; }")  # fmt: skip
    before = page.evaluate(heads)
    assert len(before) < wanted, "some are out of view"
    saved = opened(save(page, tmp_path / "page.html")).page
    assert page.evaluate(heads) == before, "the page is as it was"
    found = saved.evaluate(heads)
    assert len(found) == wanted
    assert set(before) <= set(found)
    cells = saved.evaluate("() => [...document.querySelectorAll('.ag-row')].map((row) => row.getAttribute('row-index'))")
    assert cells
    last = saved.locator(".ag-header-cell").last
    last.scroll_into_view_if_needed()
    box, head = saved.locator(".ag-root-wrapper").first.bounding_box(), last.bounding_box()
    assert box is not None
    assert head is not None
    assert box["x"] <= head["x"] < box["x"] + box["width"], "the table scrolls to its last column"
    assert saved.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"), "and the page does not"
