"""The computation graph painted by a metric, as a person would use it: metric, step, bar, lists, panel, files, link."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from PIL import Image
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.conftest import in_address, not_in_address
from tests.browser.graphs.test_graph import CY, canvas, visit
from tests.browser.showing import show
from tests.browser.waiting import steady

SESSION = "vm_4422_20261120234019066_ascend_ms"
FILLS = "cy => Object.fromEntries(cy.nodes('.painted').map(node => [node.data('name') || node.id(), node.data('fill')]))"
NETWORK = "s:Default/network-WithLossCell/_backbone-LeNet5"


@pytest.fixture(scope="module")
def painted(real_data: Path, tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    base = tmp_path_factory.mktemp("painted")
    base = base / "runs"
    shutil.copytree(real_data / "summary/lenet_sink_mode", base / "lenet")
    shutil.copytree(real_data / "profiler/new_graph" / SESSION, base / "lenet" / SESSION)
    shutil.copytree(real_data / "dump/out_nan/rank_0", base / "nan" / "rank_0")
    (graph,) = (base / "nan/rank_0/graphs").glob("*.pb")
    shutil.copy(graph, base / "nan")
    store = Store([base], interval=0).start()
    assert store.wait(60)
    yield serve_file(create_app(store).server)
    store.stop()


@pytest.mark.long
def test_time_of_a_profile_on_the_boxes_in_the_lists_and_in_the_files(page: Page, painted: str) -> None:
    visit(page, painted, "run=lenet")
    assert canvas(page, FILLS) == {}
    before = canvas(page, "cy => cy.nodes().map(node => node.data('fill'))")
    page.locator('[data-control="paint"]').select_option("time")
    expect(page.locator(".ms-graph-sums .en").first).to_have_text("43 of 43 names matched")
    expect(page.locator(".ms-graph-sums")).to_contain_text("= 19.9 s in the table")
    expect(page.locator(".ms-graph-ticks")).to_contain_text("4.30 s")
    page.wait_for_function(f"() => {CY}.nodes('.painted').length > 3")
    fills = canvas(page, FILLS)
    assert len(set(fills.values())) > 1
    # Never colour alone: the value is below the name, in the title of an open scope, and in the tip.
    conv = f"{NETWORK}/conv2-Conv2d"
    shown = "(cy, name) => cy.nodes().filter(node => node.data('name') === name)[0].data('shown')"
    assert canvas(page, shown, conv).endswith("\n4.30 s")
    assert canvas(page, shown, NETWORK).endswith("8.09 s")
    in_address(page, "paint", "time")
    # The panel has the value of the whole graph, then that of the chosen box.
    expect(page.locator(".ms-graph-painted")).to_contain_text("all steps")
    top = page.locator(".ms-graph-highest .ms-graph-result").first
    expect(top).to_contain_text("4.30 s")
    top.click()
    expect(page.locator(".ms-graph-panel .ms-graph-title")).to_have_text("Conv2D-op0")
    expect(page.locator(".ms-graph-painted")).to_contain_text("4.30 s")
    # A logarithmic scale has other colours for the same values.
    linear = steady(page, f"() => ({FILLS})({CY})")
    page.locator('[data-control="log"]').click()
    expect(page.locator('[data-control="log"]')).to_have_attribute("aria-pressed", "true")
    differ = f"given => Object.entries(({FILLS})({CY})).some(([name, fill]) => given[name] && given[name] !== fill)"
    page.wait_for_function(differ, arg=linear)
    in_address(page, "log", "1")
    with page.expect_download() as download:
        page.locator('.ms-graph-paint [data-save="painted.csv"]').click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "kind,name,type,value,unit,step,matched"
    assert len([line for line in lines if line.startswith(("node,", "hidden node,"))]) == 43
    with page.expect_download() as download:
        page.locator('[data-save="png"]').evaluate("button => button.click()")
    with Image.open(download.value.path()) as picture:
        colours = {picture.convert("RGB").getpixel((x, 2 * 36)) for x in range(40, 860, 20)}
    assert len(colours) > 20  # the bar
    # The link brings all of it back, and the usual colours return.
    address = page.url
    show(page, address)
    page.wait_for_function("() => document.querySelector('.ms-graph-cytoscape')?._cyreg?.cy?.nodes('.painted').length > 3")
    expect(page.locator('[data-control="paint"]')).to_have_value("time")
    page.locator('[data-control="paint"]').select_option("")
    expect(page.locator(".ms-graph-paint")).to_be_hidden()
    not_in_address(page, "paint")
    page.wait_for_function(f"() => {CY}.nodes('.painted').length === 0")
    visit(page, painted, "run=lenet")
    assert canvas(page, "cy => cy.nodes().map(node => node.data('fill'))") == before


def test_nan_of_a_dump_from_iteration_to_iteration_in_both_languages(page: Page, painted: str) -> None:
    visit(page, painted, "run=nan&of=nan&paint=nan&simple=0")
    expect(page.locator(".ms-graph-step .en")).to_have_text("step 3")
    expect(page.locator(".ms-graph-sums")).to_contain_text("= 2,323 in the table")
    expect(page.locator(".ms-graph-painted")).to_contain_text("2,323")
    slider = page.locator('[data-control="at"]')
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator(".ms-graph-step .en")).to_have_text("step 0")
    in_address(page, "at", "0")
    total = page.locator(".ms-graph-sums .en").nth(1)
    first = total.text_content()
    page.locator(".ms-graph-canvas").focus()
    page.keyboard.press(".")
    expect(page.locator(".ms-graph-step .en")).to_have_text("step 1")
    expect(total).not_to_have_text(first or "")
    expect(slider).to_have_attribute("aria-valuetext", "step 1")
    page.keyboard.press(",")
    expect(page.locator(".ms-graph-step .en")).to_have_text("step 0")
    # The description of the canvas names metric, step and highest values.
    about = page.locator(".ms-graph-canvas").get_attribute("aria-describedby")
    expect(page.locator(f"#{about} .en")).to_contain_text("Painted by NaN, step 0")
    page.locator('[data-act="language"], .ms-language').first.click()
    expect(page.locator(".ms-graph-step .zh")).to_have_text("步骤 0")
    expect(page.locator('[data-control="by"] option').first).to_have_text("dump 数据")
    # What the run lacks is said, and values of other runs are offered.
    page.locator('[data-control="paint"]').select_option("time")
    expect(page.locator(".ms-graph-sums")).to_contain_text("可在上方选择其他训练的取值")
    expect(page.locator('[data-control="by"] option')).to_have_count(2)
    page.wait_for_function(f"() => {CY}.nodes('.painted').length === 0")


@pytest.mark.long
def test_a_graph_of_a_dump_is_listed_and_painted(page: Page, real_data: Path, serve: Callable[[Flask], str]) -> None:
    store = Store([real_data / "dump"], interval=0).start()
    try:
        assert store.wait(60)
        visit(page, serve(create_app(store).server), "run=out_cf&paint=norm&graph=dump%3A0.6")
        choice = page.locator('[data-control="graph"]')
        expect(choice.locator("option")).to_have_count(9)
        expect(choice).to_have_value("dump:0.6")
        expect(choice.locator("option:checked")).to_have_text("Dump, rank 0, graph 6")
        expect(page.locator(".ms-graph-sums .en").first).to_contain_text("names matched")
        page.wait_for_function(f"() => {CY}.nodes('.painted').length > 0")
        choice.select_option("dump:0.1")
        expect(page.locator(".ms-graph-main .ms-card-title")).to_contain_text("kernel_graph1")
    finally:
        store.stop()
