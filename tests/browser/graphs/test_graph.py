"""The computation graph page, used as a person would."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from playwright.sync_api import Page, Route, expect

from app import create_app
from app.store.store import Store
from tests.browser.conftest import in_address, not_in_address
from tests.browser.showing import show
from tests.browser.waiting import becomes, steady
from tests.parsers.graphs.reference import message

CY = "document.querySelector('.ms-graph-cytoscape')._cyreg.cy"


def visit(page: Page, address: str, query: str = "") -> None:
    show(page, f"{address}/graph?{query}")
    expect(page.locator(".ms-graph-drawn")).to_be_visible()


def canvas(page: Page, script: str, *arguments: Any) -> Any:
    """What cytoscape says; script is a function of it and the arguments."""
    return page.evaluate(f"given => ({script})({CY}, ...given)", list(arguments))


def keys(page: Page) -> set[str]:
    return set(canvas(page, "cy => cy.nodes().map(node => node.id())"))


def at(page: Page, name: str) -> tuple[float, float]:
    """Where on the screen the middle of the box of a name is, or its title where it is open."""
    script = """(cy, name) => {
        const node = cy.nodes().filter(one => one.data('name') === name)[0], box = cy.container().getBoundingClientRect();
        const edge = node.renderedBoundingBox({includeLabels: false});
        const y = node.hasClass('frame') ? edge.y1 + 12 * cy.zoom() : (edge.y1 + edge.y2) / 2;
        return [box.left + (edge.x1 + edge.x2) / 2, box.top + y]; }"""
    # cytoscape measures boxes when it draws them: before that they are nowhere.
    x, y = becomes(page, lambda: canvas(page, script, name), lambda found: None not in found and math.isfinite(sum(found)))
    return x, y


def opened(page: Page) -> set[str]:
    return set(canvas(page, "cy => cy.nodes('.frame').map(node => node.data('name'))"))


def camera(page: Page) -> tuple[float, float, float]:
    zoom, pan = canvas(page, "cy => [cy.zoom(), cy.pan()]")
    return zoom, pan["x"], pan["y"]


def state(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query, keep_blank_values=True)


def test_a_graph_is_opened_closed_searched_and_chosen_and_the_link_brings_it_back(page: Page, real: str) -> None:
    visit(page, real, "run=graph_bert_train&simple=0")
    counts = "2,059 operators · 198 weights · 400 optimizer state · 2 inputs · 627 constants"
    expect(page.locator(".ms-graph-counts .en")).to_contain_text(counts)
    before, zoom = opened(page), camera(page)
    name = "s:Default/network-WithLossCell/_backbone-Bert/encoder-CellList"
    assert name not in before
    x, y = at(page, name)
    page.mouse.dblclick(x, y)
    page.wait_for_function(f"() => {CY}.nodes('.frame').length > {len(before)}")
    assert opened(page) == before | {name}
    assert camera(page)[0] == pytest.approx(zoom[0])
    # The tree follows, and closes it again.
    line = page.locator(f'.ms-graph-branch[data-name="{name}"]')
    expect(line).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".ms-graph-branch", has_text="1-EncoderLayer ×")).to_have_count(1)
    line.locator("[data-toggle]").click()
    expect(line).to_have_attribute("aria-expanded", "false")
    assert opened(page) == before
    # Search, and go to what is found.
    page.keyboard.press("/")
    page.keyboard.type("type:softmax kind:operator")
    expect(page.locator(".ms-graph-count .en")).to_contain_text("found")
    result = page.locator('.ms-graph-result[data-go^="n"]').nth(2)
    wanted = result.get_attribute("data-go") or ""
    result.click()
    page.wait_for_function(f"() => {CY}.getElementById('{wanted}').hasClass('chosen')")
    expect(page.locator(".ms-graph-about .ms-badge .en")).to_have_text("operator")
    expect(page.locator(".ms-graph-facts")).to_contain_text("Softmax")
    place = canvas(page, "(cy, key) => cy.getElementById(key).renderedPosition()", wanted)
    assert (place["x"], place["y"]) == pytest.approx(canvas(page, "cy => [cy.width() / 2, cy.height() / 2]"), abs=2)
    assert canvas(page, "cy => cy.edges('.chosen').length") > 0
    # A jump of the panel.
    jump = page.locator(".ms-graph-line").first
    other = jump.get_attribute("data-go") or ""
    jump.click()
    expect(page).to_have_url(re.compile(f"node={other}(&|$)"))
    page.wait_for_function(f"() => {CY}.nodes('.chosen').length === 1")
    shown, frames = keys(page), opened(page)
    page.reload()
    expect(page.locator(".ms-graph-drawn")).to_be_visible()
    page.wait_for_function(f"() => {CY}.nodes('.chosen').length === 1")
    assert (keys(page), opened(page)) == (shown, frames)
    in_address(page, "node", other)


@pytest.mark.long
def test_a_notch_of_the_wheel_zooms_by_a_fifth_around_the_pointer(page: Page, real: str) -> None:
    visit(page, real, "run=graph_bert_train")
    box = page.locator(".ms-graph-cytoscape").bounding_box()
    assert box is not None
    x, y = box["x"] + 200, box["y"] + 150
    below = "(cy, at) => [(at[0] - cy.pan().x) / cy.zoom(), (at[1] - cy.pan().y) / cy.zoom()]"
    before, place = camera(page)[0], canvas(page, below, [200, 150])
    page.mouse.move(x, y)
    page.mouse.wheel(0, -100)
    page.wait_for_function(f"before => {CY}.zoom() !== before", arg=before)
    assert camera(page)[0] == pytest.approx(1.2 * before)
    assert canvas(page, below, [200, 150]) == pytest.approx(place, abs=0.5)


@pytest.mark.long
def test_two_graphs_are_compared_on_one_canvas(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape&run=lenet_adam_lr0.01_b64&of=lenet_landscape")
    page.locator('[data-control="compare"]').click()
    expect(page.locator(".ms-graph-count .en").first).to_contain_text("nodes changed")
    page.wait_for_function(f"() => {CY}.nodes('.changed, .added, .removed').length > 0")
    page.locator('.ms-graph-result[data-go^="n"]').first.click()
    expect(page.locator(".ms-graph-panel")).to_contain_text("Differs between the graphs.")
    page.reload()
    expect(page.locator(".ms-graph-panel")).to_contain_text("Differs between the graphs.")
    page.wait_for_function(f"() => {CY}.nodes('.chosen').length === 1")
    page.locator('[data-control="compare"]').click()
    page.wait_for_function(f"() => {CY}.nodes().length && !{CY}.nodes('.changed, .added, .removed').length")
    not_in_address(page, "with")


@pytest.mark.long
def test_keys_full_screen_language_and_simplify(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    page.locator(".ms-graph-canvas").focus()
    before = camera(page)
    page.keyboard.press("+")
    assert camera(page)[0] > before[0]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("0")
    middle = "cy => [(cy.width() / 2 - cy.pan().x) / cy.zoom(), (cy.height() / 2 - cy.pan().y) / cy.zoom()]"
    looked, width = canvas(page, middle), canvas(page, "cy => cy.width()")
    page.keyboard.press("f")
    expect(page.locator(".ms-graph.ms-full")).to_be_visible()
    page.wait_for_function(f"() => {CY}.width() > {width}")
    assert canvas(page, middle) == pytest.approx(looked, abs=1)
    page.keyboard.press("Escape")
    expect(page.locator(".ms-graph.ms-full")).to_have_count(0)
    page.wait_for_function(f"() => {CY}.width() === {width}")
    assert canvas(page, middle) == pytest.approx(looked, abs=1)
    page.locator('[data-control="simple"]').click()
    expect(page.locator(".ms-graph-hidden .en")).to_contain_text("hidden")
    page.locator("[data-action=language]").click()
    expect(page.locator(".ms-graph-hidden .zh")).to_contain_text("已隐藏")
    page.locator("[data-action=theme]").click()
    page.wait_for_function(f"() => {CY}.nodes()[0].data('fill') === '#202429'")
    with page.expect_download() as download:
        page.locator(".ms-graph-main summary").first.click()
        page.locator('[data-save="svg"]').click()
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith("<svg ")
    with page.expect_download() as download:
        page.locator('[data-save="png"]').evaluate("button => button.click()")
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


def odd(path: Path) -> None:
    """A graph with a hub that 40 operators of other types take, a scope of 700 children and a cycle in it."""
    made = message("mindspore.GraphProto")(name="odd")

    def add(name: str, kind: str, scope: str, *inputs: str) -> None:
        node = made.node.add(name=name, op_type=kind, scope=scope)
        for one in inputs:
            node.input.add(name=one)

    add("hub", "Gather", "Default")
    for number in range(40):
        add(f"t{number}", f"Taker{number}", "Default", "hub")
    for number in range(700):
        add(f"w{number}", f"Kind{number % 31}", "Default/wide", f"w{number - 1 if number else 699}")
    path.mkdir(parents=True)
    (path / "ms_output_validate.pb").write_bytes(made.SerializeToString())


def press(page: Page, selector: str) -> None:
    """Click on the first box of a selector of cytoscape, brought to the middle of the canvas."""
    script = """(cy, selector) => { const node = cy.nodes(selector)[0], box = cy.container().getBoundingClientRect();
        cy.center(node); const at = node.renderedPosition(); return [box.left + at.x, box.top + at.y]; }"""
    page.mouse.click(*canvas(page, script, selector))


@pytest.mark.long
def test_hubs_pages_and_a_cycle_are_gone_through(page: Page, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    odd(tmp_path / "runs" / "odd")
    store = Store([tmp_path / "runs"], interval=0).start()
    try:
        assert store.wait(30)
        visit(page, serve(create_app(store).server), "run=odd&open=s:Default")
        # A window of another size leaves the camera where it is.
        before = camera(page)
        page.set_viewport_size({"width": 1200, "height": 800})
        page.wait_for_function(f"() => {CY}.width() < 700")
        steady(page, f"() => [{CY}.zoom(), {CY}.pan()]")
        assert camera(page) == before
        # What a hub is linked with beyond the nearest stands in its panel, and each of those leads back to it.
        assert canvas(page, "cy => cy.nodes('.more').map(node => node.data('label'))") == ["+ 36"]
        press(page, ".more")
        expect(page.locator(".ms-graph-title")).to_have_text("Gather-ophub")
        expect(page.locator('.ms-graph-line[data-go^="n"]')).to_have_count(40)
        page.locator('.ms-graph-line[data-go^="n"]').nth(30).click()
        expect(page.locator(".ms-graph-title")).to_have_text("Taker30-opt30")
        press(page, ".small[kind = 'proxy']")
        expect(page.locator(".ms-graph-title")).to_have_text("Gather-ophub")
        # A large scope is drawn in pages.
        page.locator('.ms-graph-branch[data-name="s:Default/wide"] [data-toggle]').click()
        page.wait_for_function(f"() => {CY}.nodes('.later').length === 1")
        assert not canvas(page, "cy => cy.nodes('.earlier').length")
        press(page, ".later")
        page.wait_for_function(f"() => {CY}.nodes('.earlier').length === 1")
        assert canvas(page, "cy => cy.nodes('.earlier, .later').map(node => node.data('label')).sort()") == ["↑ 300", "↓ 100"]
        press(page, ".earlier")
        page.wait_for_function(f"() => {CY}.nodes('.earlier').length === 0")
    finally:
        store.stop()


def test_a_run_without_a_graph_says_how_to_record_one(page: Page, address: str) -> None:
    show(page, f"{address}/graph?run=nan_inf")
    expect(page.locator('[data-state="none"]')).to_contain_text('"collect_graph": True')
    page.locator(".ms-graph-elsewhere button", has_text="lenet_landscape").click()
    expect(page.locator(".ms-graph-drawn")).to_be_visible()


@pytest.mark.long
def test_statistics_lead_back_to_the_canvas(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    page.get_by_role("button", name="Statistics").click()
    expect(page.locator(".ms-graph-types tbody tr").first).to_be_visible()
    expect(page.locator(".ms-graph-parameters tbody tr").first).to_be_visible()
    with page.expect_download() as download:
        page.locator('[data-save="types.csv"]').click()
    assert download.value.suggested_filename.endswith(".csv")
    # Into a scope of the treemap and back, by mouse and by keys.
    tile = page.locator('.ms-graph-tile-scope[tabindex="0"]')
    expect(page.locator(".ms-graph-crumb")).to_have_count(1)
    tile.focus()
    expect(page.locator(".ms-graph-map-tip")).to_contain_text("parameters")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".ms-graph-tile:focus")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    page.locator(".ms-graph-tile-scope").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".ms-graph-crumb")).not_to_have_count(1)
    expect(page.locator(".ms-graph-tile:focus")).to_have_count(1)
    inner = in_address(page, "into")
    page.reload()
    expect(page.locator(".ms-graph-crumb[aria-current]")).to_have_attribute("title", inner[0])
    page.locator(".ms-graph-tile-parameter").first.focus()
    for above in (2, 1):
        page.keyboard.press("Backspace")
        expect(page.locator(".ms-graph-crumb")).to_have_count(above)
        expect(page.locator(".ms-graph-tile:focus")).to_have_count(1)
    with page.expect_download() as download:
        page.locator('[data-save="treemap.svg"]').click()
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith("<svg ")
    # Operators without a flag are found when asked for.
    page.locator('[data-control="flagged"]').click()
    page.locator('[data-control="flag"]').fill("conv2d")
    expect(page.locator(".ms-graph-precision tbody tr").first).to_contain_text("Conv2D")
    in_address(page, "flag", "conv2d")
    page.locator('.ms-graph-parameters [data-go^="n"]').first.click()
    expect(page.locator(".ms-graph-about .ms-badge .en")).to_have_text("parameter")
    page.wait_for_function(f"() => {CY}.nodes('.chosen').length === 1")
    not_in_address(page, "view")


def test_a_graph_may_be_asked_for_tables_and_searched_before_it_is_drawn(page: Page, recorded: str) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "graph-drawing.data" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/_dash-update-component*", hold)
    show(page, f"{recorded}/graph?run=lenet_adam_lr0.01_b64")
    expect(page.locator(".ms-graph-waiting")).to_be_visible()
    expect(page.locator(".ms-graph-waiting")).to_contain_text("Reading")
    page.locator('.ms-graph-controls [data-value="statistics"]').click()
    expect(page.locator('[data-table="types"] table')).to_be_visible()
    page.locator('.ms-graph-controls [data-value=""]').click()
    search = page.locator(".ms-graph-search input").first
    search.fill("Conv")
    in_address(page, "q", "Conv")
    expect(page.locator(".ms-graph-drawn")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.locator(".ms-graph-drawn")).to_be_visible()
    expect(page.locator(".ms-graph-waiting")).to_be_hidden()
