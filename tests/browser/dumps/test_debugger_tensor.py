"""The selected operator on the debugger page: its tensors, their values, comparisons, and tensors without values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Browser, Locator, Page, expect

from app import create_app
from app.store.store import Store
from app.web.bundles import CHARTS
from tests.browser.showing import show
from tests.browser.waiting import settles
from tests.writers.dumps import file_name, npy

RNG = np.random.default_rng(11)
VALUES = [RNG.normal(size=(3, 40, 30)).astype(np.float32) for _ in range(3)]
VALUES[2][1, 30, 25] = np.nan
GIVEN = RNG.normal(size=(40, 30)).astype(np.float32)


def write(base: Path) -> None:
    rank = base / "rank_0"
    (rank / ".dump_metadata").mkdir(parents=True)
    for step, values in enumerate(VALUES):
        folder = rank / "Net" / "0" / str(step)
        folder.mkdir(parents=True)
        for place, (io, tensor) in enumerate((("input", GIVEN), ("output", values))):
            name = file_name("MatMul", "Default/fc/MatMul-op0", 1000 * step + place, io, 0, "float32")
            (folder / name).write_bytes(npy(tensor))
        for name, data in (("none", npy(np.empty((0, 3), np.float32))), ("cut", npy(GIVEN)[:500])):
            (folder / file_name("Op", f"Default/{name}-op0", 5000 + step, "output", 0, "float32")).write_bytes(data)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    base = tmp_path_factory.mktemp("address")
    write(base / "one")
    store = Store([base], interval=0).start()
    assert store.wait(60)
    yield f"{serve_file(create_app(store).server)}/debugger?run=one&of=one&rank=0"
    store.stop()


def part(page: Page, name: str) -> Locator:
    return page.locator(f".ms-selected-{name}")


def cell(page: Page, row: int, column: int) -> Locator:
    return part(page, "values").locator(f'[data-row="{row}"][data-column="{column}"]:visible')


def test_nothing_is_selected(page: Page, address: str) -> None:
    show(page, f"{address}&step=0")
    expect(part(page, "none")).to_be_visible()
    expect(part(page, "body")).to_be_hidden()


def test_plotly_is_loaded_for_the_first_figure(browser: Browser, address: str) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(urlsplit(request.url).path))
        with settles(page):
            page.goto(f"{address}&step=2")
        expect(part(page, "none")).to_be_visible()
        assert [path for path in asked if "plotly" in path or "async-graph" in path] == []
        show(page, f"{address}&step=2&node=Default_fc_MatMul-op0")
        expect(part(page, "trend").locator(".points path")).to_have_count(3)
        expect(part(page, "histogram").locator(".bars path").first).to_be_attached()
        assert [path for path in asked if path.endswith(CHARTS)]
        assert page.locator("[aria-busy]").count() == 0
        show(page, f"{address}&step=1&node=Default_fc_MatMul-op0")
        expect(part(page, "trend").locator(".shapelayer path")).not_to_have_count(0)
        assert page.locator(".ms-debugger-selected .js-plotly-plot").count() == 2
    finally:
        context.close()


def test_figures_that_nothing_can_draw_say_so_and_are_drawn_once_something_can(browser: Browser, address: str) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.route(f"**/{CHARTS}*", lambda route: route.abort())
        page.goto(f"{address}&step=2&node=Default_fc_MatMul-op0")
        failures = page.locator(".ms-selected-card [role=alert]")
        expect(failures).to_have_count(2)
        expect(failures.first).to_contain_text("The chart library (plotly.js) could not be loaded.")
        expect(page.locator('[aria-busy="true"]')).to_have_count(0)
        expect(page.locator(".ms-notice")).to_be_hidden()
        page.unroute(f"**/{CHARTS}*")
        part(page, "trend").get_by_role("button", name="Try again").click()
        expect(part(page, "trend").locator(".points path")).to_have_count(3)
        expect(part(page, "histogram").locator(".bars path").first).to_be_attached()
        expect(failures).to_have_count(0)
        expect(page.locator('[aria-busy="true"]')).to_have_count(0)
        assert errors == []
    finally:
        context.close()


def test_choices_of_a_statistic_follow_the_language(page: Page, address: str) -> None:
    show(page, f"{address}&step=2&node=Default_fc_MatMul-op0")
    chosen = part(page, "trend").locator("select option:checked")
    expect(chosen).to_have_text("L2 norm")
    page.locator("[data-action=language]").click()
    expect(chosen).to_have_text("L2 范数")
    page.locator("[data-action=language]").click()
    expect(chosen).to_have_text("L2 norm")


def test_tensors_values_trend_and_distribution(page: Page, address: str) -> None:
    show(page, f"{address}&step=2&node=Default_fc_MatMul-op0")
    rows = part(page, "tensors").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_have_class(re.compile("ms-selected-chosen"))
    expect(rows.nth(1).locator(".ms-selected-wrong")).to_have_text("1")
    expect(cell(page, 0, 0)).to_have_text(f"{VALUES[2][0, 0, 0]:.5f}")
    expect(part(page, "trend").locator(".points path")).to_have_count(3)
    expect(part(page, "histogram").locator(".bars path").first).to_be_visible()
    part(page, "values").get_by_role("button", name="Next NaN or Inf").click()
    expect(part(page, "foot")).to_contain_text("[1, 30, 25] = NaN")
    part(page, "table").get_by_role("grid").press("ArrowLeft")
    expect(part(page, "foot")).to_contain_text("[1, 30, 24] = ")
    part(page, "table").get_by_role("grid").press("n")
    expect(part(page, "foot")).to_contain_text("[1, 30, 25] = NaN")
    rows.nth(0).click()
    expect(page).to_have_url(re.compile("io=input.0"))
    expect(cell(page, 0, 1)).to_have_text(f"{GIVEN[0, 1]:.5f}")
    expect(part(page, "values").get_by_role("button", name="Next NaN or Inf")).to_be_hidden()


@pytest.mark.long
def test_dimension_boxes_choose_a_part_of_one_tensor_only(page: Page, address: str) -> None:
    show(page, f"{address}&step=1&node=Default_fc_MatMul-op0&io=output.0")
    boxes = part(page, "values").locator(".ms-tensor-boxes input")
    expect(boxes).to_have_count(3)
    boxes.nth(0).fill("2")
    boxes.nth(0).press("Enter")
    expect(cell(page, 0, 0)).to_have_text(f"{VALUES[1][2, 0, 0]:.5f}")
    boxes.nth(1).fill("99")
    boxes.nth(1).press("Enter")
    expect(part(page, "message")).to_contain_text("dimension 1: expected -40 to 39, found 99")
    part(page, "tensors").locator("tbody tr").nth(0).click()
    expect(boxes).to_have_count(2)
    expect(cell(page, 0, 0)).to_have_text(f"{GIVEN[0, 0]:.5f}")


@pytest.mark.long
def test_two_iterations_are_compared(page: Page, address: str) -> None:
    show(page, f"{address}&step=1&node=Default_fc_MatMul-op0&io=output.0")
    part(page, "bar").get_by_label("Compare with", exact=True).select_option("before")
    expect(page).to_have_url(re.compile("with_step=0"))
    gap = VALUES[1].astype(np.float64) - VALUES[0]
    place = np.unravel_index(np.abs(gap).argmax(), gap.shape)
    expect(part(page, "measures").locator("b").nth(1)).to_have_text(f"{np.abs(gap).max():.3f}")
    part(page, "bar").get_by_role("button", name="Difference").click()
    expect(cell(page, 0, 0)).to_have_text(f"{gap[0, 0, 0]:.5f}")
    part(page, "places").locator("summary").click()
    part(page, "places").locator("tbody tr button").first.click()
    expect(part(page, "foot")).to_contain_text(f"[{', '.join(map(str, place))}] = ")
    part(page, "tolerance").locator('input[type="number"]').fill("100")
    part(page, "tolerance").locator('input[type="number"]').press("Enter")
    expect(part(page, "tolerance")).to_contain_text("0 of 3,600 differences (0 %) exceed it")
    expect(part(page, "values").locator(".ms-table-cell.ms-current")).to_have_text("0")
    part(page, "bar").get_by_role("button", name="Other").click()
    expect(part(page, "values").locator(".ms-table-cell.ms-current")).to_have_text(f"{VALUES[0][place]:.5f}")
    part(page, "bar").get_by_role("button", name="Stop comparing").click()
    expect(part(page, "comparison")).to_be_hidden()


@pytest.mark.long
def test_a_tensor_is_kept_and_compared_with_the_next_one_selected(page: Page, address: str) -> None:
    show(page, f"{address}&step=0&node=Default_fc_MatMul-op0&io=input.0")
    part(page, "bar").get_by_label("Compare with", exact=True).select_option("pin")
    expect(part(page, "facts")).to_contain_text("Select another tensor")
    part(page, "tensors").locator("tbody tr").nth(1).click()
    expect(part(page, "facts")).to_contain_text("The shapes [3, 40, 30] and [40, 30] have different numbers of values")


def test_tensors_without_values_say_so(page: Page, address: str) -> None:
    show(page, f"{address}&step=0&node=Default_none-op0")
    expect(part(page, "message")).to_have_text("This tensor has no values: its shape is [0, 3].")
    show(page, f"{address}&step=0&node=Default_cut-op0")
    expect(part(page, "tensors")).to_contain_text("cannot be read")
    expect(part(page, "message")).to_contain_text("truncated")


@pytest.mark.long
def test_a_statistic_and_an_iteration_are_chosen_in_the_trend(page: Page, address: str) -> None:
    show(page, f"{address}&step=1&node=Default_fc_MatMul-op0&io=output.0")
    part(page, "trend").locator("select").select_option("max")
    expect(page).to_have_url(re.compile("stat=max"))
    points = part(page, "trend").locator(".points path")
    expect(points).to_have_count(3)
    points.nth(0).hover(force=True)
    points.nth(0).click(force=True)
    expect(page).to_have_url(re.compile("step=0"))
