"""The page about two dumps, used as a person would."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.writers.dumps import Injection, write_dump


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    """The application over two trainings that differ from operator 5 of iteration 2 on, and one of one iteration."""
    base = tmp_path_factory.mktemp("dumps")
    write_dump(base / "a", iterations=3)
    write_dump(base / "b", iterations=3, injection=Injection(2, 4, "exploding"))
    write_dump(base / "single", iterations=1)
    store = Store([base], interval=0, notes_directory=str(base / "notes")).start()
    assert store.wait(60)
    yield serve_file(create_app(store).server)
    store.stop()


@pytest.mark.long
def test_the_first_difference_and_its_row(page: Page, dumps: str) -> None:
    show(page, f"{dumps}/two_dumps?run=a&run=b&of=a&step=2&with=b")
    head = page.locator('[data-section="head"]')
    expect(head).to_contain_text("The first output that differs by more than 0.001 is output 0 of BiasAdd-op0: > 99.99 %.")
    expect(head).to_contain_text("All its dumped inputs agree.")
    rows = page.locator('[data-section="table"] tbody tr')
    expect(rows.nth(4).locator(".ms-two-dumps-beyond")).to_have_text("> 99.99 %")
    expect(page.locator('[data-plot="curve"].ms-plot-drawn')).to_be_visible()
    points = page.locator('[data-plot="curve"] .scatterlayer .trace').first.locator(".points path")
    points.nth(6).click(force=True)
    expect(rows.nth(6)).to_have_class("ms-chosen")
    page.get_by_role("button", name="Differing").click()
    expect(page).to_have_url(re.compile("show=differing"))
    expect(rows.first).to_contain_text("BiasAdd")
    page.get_by_role("textbox", name="Tolerance").fill("5")
    expect(head).to_contain_text("No output differs by more than 5")
    expect(page).to_have_url(re.compile("tol=5"))
    page.get_by_role("textbox", name="Tolerance").fill("abc")
    expect(page.get_by_role("textbox", name="Tolerance")).to_have_attribute("aria-invalid", "true")


@pytest.mark.long
def test_sides_are_swapped_and_files_saved(page: Page, dumps: str) -> None:
    show(page, f"{dumps}/two_dumps?run=a&run=b&of=a&step=2&with=b")
    expect(page.locator(".ms-two-dumps-sides")).to_contain_text("A a, rank 0, iteration 2", use_inner_text=True)
    with page.expect_download() as download:
        page.locator('[data-card="table"]').get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    assert {row["how"] for row in rows} == {"name"}
    page.locator("body").press("x")
    expect(page.locator(".ms-two-dumps-sides")).to_contain_text("A b, rank 0, iteration 2", use_inner_text=True)


def test_something_to_compare_with_is_chosen_at_once(page: Page, dumps: str) -> None:
    show(page, f"{dumps}/two_dumps?run=a")
    expect(page.locator(".ms-two-dumps-sides")).to_contain_text("B a, rank 0, iteration 1", use_inner_text=True)
    show(page, f"{dumps}/two_dumps?run=a&run=b&of=b")
    expect(page.locator(".ms-two-dumps-sides")).to_contain_text("A b, rank 0, iteration 2", use_inner_text=True)
    expect(page.locator(".ms-two-dumps-sides")).to_contain_text("B a, rank 0, iteration 2", use_inner_text=True)
    earliest = page.locator(".ms-two-dumps-earliest")
    expect(earliest).to_contain_text("Iteration 2 is the first that differs.")
    expect(earliest).to_contain_text("Iterations compared before it, without a difference: 2.")
    page.get_by_role("button", name="Previous iteration").first.click()
    expect(page.locator(".ms-two-dumps-sides")).to_contain_text("A b, rank 0, iteration 1", use_inner_text=True)
    earliest.get_by_role("button", name="Show iteration 2").click()
    expect(page.locator(".ms-two-dumps-sides")).to_contain_text("B a, rank 0, iteration 2", use_inner_text=True)
    show(page, f"{dumps}/two_dumps?run=single")
    expect(page.locator(".ms-two-dumps-none")).to_contain_text("There is nothing to compare with.")
    expect(page.locator(".ms-two-dumps-cards")).to_be_hidden()


@pytest.mark.long
def test_a_second_dump_without_tensors_is_named_and_another_can_be_chosen(
    page: Page, tmp_path: Path, serve: Callable[[Flask], str]
) -> None:
    write_dump(tmp_path / "a", iterations=2)
    write_dump(tmp_path / "c", iterations=2)
    (tmp_path / "b" / "rank_0" / ".dump_metadata").mkdir(parents=True)
    (tmp_path / "b" / "rank_0" / ".dump_metadata" / "config.json").write_text('{"device_target":"CPU"}')
    store = Store([tmp_path], interval=0, notes_directory=str(tmp_path / "notes")).start()
    assert store.wait(60)
    address = serve(create_app(store).server)
    show(page, f"{address}/two_dumps?run=a&run=b&run=c&of=a&with=b")
    expect(page.locator('[data-state="nothing"]')).to_contain_text("The dump has no tensor.")
    expect(page.locator(".ms-body-found")).to_have_text("b")
    page.get_by_label("Dump to compare with").select_option("c")
    expect(page.locator('[data-section="head"]')).to_contain_text("No output differs by more than 0.001")
    show(page, f"{address}/two_dumps?run=a&run=b&run=c&of=a")
    expect(page.locator('[data-section="head"]')).to_contain_text("No output differs by more than 0.001")
    expect(page).to_have_url(re.compile("with=c"))
    store.stop()


def test_the_table_is_not_cut_in_a_narrow_window(page: Page, serve: Callable[[Flask], str], real_data: Path) -> None:
    store = Store([real_data / "dump" / "out_tensor"], interval=0).start()
    assert store.wait(60)
    page.set_viewport_size({"width": 1000, "height": 800})
    show(page, serve(create_app(store).server) + "/two_dumps")
    rows = page.locator(".ms-debugging-rows")
    expect(rows.locator("tbody tr").first).to_be_visible()
    assert rows.evaluate_all("all => all.map((one) => one.scrollWidth - one.clientWidth)") == [0]
    store.stop()
