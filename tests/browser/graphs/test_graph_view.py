"""What surrounds the canvas of a graph and where its camera is: columns, full screen, keys, labels, the first view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.conftest import in_address, not_in_address
from tests.browser.graphs.test_graph import CY, camera, canvas, state, visit
from tests.browser.waiting import polls, steady


@pytest.mark.long
def test_columns_are_hidden_resized_and_kept_in_the_link(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    left, right, body = (page.locator(f".ms-graph-{part}") for part in ("left", "right", "body"))
    middle = "cy => [(cy.width() / 2 - cy.pan().x) / cy.zoom(), (cy.height() / 2 - cy.pan().y) / cy.zoom()]"
    looked = canvas(page, middle)
    before = canvas(page, "cy => cy.width()")
    page.locator('[data-act="tree"]').click()
    expect(left).to_be_hidden()
    page.keyboard.press("]")
    expect(right).to_be_hidden()
    page.wait_for_function(f"() => document.querySelector('.ms-graph-cytoscape').offsetWidth > {before} + 400")
    assert [round(one) for one in steady(page, f"() => ({middle})({CY})")] == [round(one) for one in looked]
    in_address(page, "fold", "tree", "panel")
    page.reload()
    expect(page.locator(".ms-graph-drawn")).to_be_visible()
    expect(left).to_be_hidden()
    page.keyboard.press("[")
    page.keyboard.press("]")
    expect(left).to_be_visible()
    # By mouse, by keys, and back to the usual width.
    split = page.locator('.ms-graph-split[data-side="tree"]')
    box = split.bounding_box()
    whole = body.bounding_box()
    assert box is not None
    assert whole is not None
    page.mouse.move(box["x"] + 4, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 104, box["y"] + 200, steps=4)
    page.mouse.up()
    wide = left.bounding_box()
    assert wide is not None
    assert abs(wide["width"] - (236 + 100)) <= 2
    split.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.querySelector('.ms-graph-left').offsetWidth < 330")
    page.mouse.move(wide["x"] + wide["width"] - 12, box["y"] + 200)
    assert in_address(page, "sizes")[0].startswith("3")
    split.dblclick()
    page.wait_for_function("() => document.querySelector('.ms-graph-left').offsetWidth === 236")
    not_in_address(page, "sizes")


@pytest.mark.long
def test_full_screen_keeps_all_around_the_canvas_and_keys_work_wherever_the_focus_is(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    page.locator(".ms-graph-branch .ms-graph-name").first.focus()
    before = camera(page)[0]
    page.keyboard.press("+")
    assert camera(page)[0] > before
    page.keyboard.press("-")
    page.keyboard.press("f")
    expect(page.locator(".ms-graph.ms-full")).to_be_visible()
    view = page.viewport_size
    assert view is not None
    for part in ("controls", "search", "tree", "panel", "canvas"):
        box = page.locator(f".ms-graph-{part}").bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= view["width"]
        covered = """part => { const box = document.querySelector(`.ms-graph-${part}`).getBoundingClientRect();
            const top = document.elementFromPoint(box.left + 12, box.top + 12); return !top.closest('.ms-graph'); }"""
        assert not page.evaluate(covered, part)
    # In a field they are letters.
    page.locator(".ms-graph-search input").focus()
    page.keyboard.type("f0")
    expect(page.locator(".ms-graph.ms-full")).to_be_visible()
    assert page.locator(".ms-graph-search input").input_value() == "f0"
    page.keyboard.press("Escape")
    page.locator('[data-act="fit"]').focus()
    page.keyboard.press("f")
    expect(page.locator(".ms-graph.ms-full")).to_have_count(0)


LABELS = """cy => cy.nodes().map(node => [node.data('shown'), node.data('fs') * cy.zoom(), node.data('kind')])"""


def zoom_to(page: Page, level: float) -> None:
    canvas(page, "(cy, level) => { cy.zoom({level, renderedPosition: {x: cy.width() / 2, y: cy.height() / 2}}); }", level)
    steady(page, f"() => ({LABELS})({CY})")


@pytest.mark.long
def test_labels_are_legible_at_every_zoom_and_edges_say_what_they_carry(page: Page, real: str) -> None:
    visit(page, real, "run=graph_bert_train&simple=0")
    for level in (2, 1, 0.8, 0.5, 0.3, 0.1, 0.04):
        zoom_to(page, level)
        shown = [(text, size, kind) for text, size, kind in canvas(page, LABELS) if text]
        assert shown, level
        assert min(size for _, size, _ in shown) >= 10 - 1e-6, level
        if level <= 0.1:
            assert {kind for _, _, kind in shown} <= {"scope", "stack"}, level
    zoom_to(page, 0.5)
    assert any("…" in text for text, _, _ in canvas(page, LABELS))
    detail = "cy => cy.edges('.detail, .detail-out, .detail-into').map(edge => edge.data('short'))"
    assert canvas(page, detail) == []
    zoom_to(page, 0.85)
    assert "Int32 128" in canvas(page, detail)


@pytest.mark.long
def test_a_box_that_is_opened_is_on_screen_with_all_its_content(page: Page, real: str) -> None:
    visit(page, real, "run=graph_bert_train&simple=0")
    name = "s:Default/network-WithLossCell/_backbone-Bert/encoder-CellList"
    # At the lower right corner of the screen.
    corner = """(cy, name) => { const node = cy.nodes().filter(one => one.data('name') === name)[0];
        cy.zoom(1); const at = node.renderedPosition(); cy.panBy({x: cy.width() - 40 - at.x, y: cy.height() - 30 - at.y}); }"""
    canvas(page, corner, name)
    page.locator(f'.ms-graph-branch[data-name="{name}"] [data-toggle]').click()
    script = """(cy, name) => { const node = cy.nodes('.frame').filter(one => one.data('name') === name)[0];
        if (!node) return null; const box = node.renderedBoundingBox({includeLabels: false});
        return [box.x1, box.y1, cy.width() - box.x2, cy.height() - box.y2]; }"""
    page.wait_for_function(f"name => ({script})({CY}, name) !== null", arg=name)
    assert min(steady(page, f"name => ({script})({CY}, name)", name)) >= 0


@pytest.mark.long
def test_the_tip_is_at_the_pointer(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    found = canvas(page, """cy => { const box = cy.container().getBoundingClientRect();
        const node = cy.nodes('.node')[0], at = node.renderedPosition(); return [box.left + at.x, box.top + at.y]; }""")
    page.mouse.move(found[0] - 5, found[1])
    page.mouse.move(*found)
    tip = page.locator(".ms-graph-tip").first
    expect(tip).to_be_visible()
    box = tip.bounding_box()
    assert box is not None
    assert 0 < box["y"] - found[1] < 40
    assert abs(box["x"] - found[0]) < 300


@pytest.mark.long
def test_the_camera_is_in_the_link(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    polls(page)
    assert "camera" not in state(page)
    page.keyboard.press("+")
    page.keyboard.press("+")
    page.locator(".ms-graph-canvas").focus()
    page.keyboard.press("Shift+ArrowLeft")
    in_address(page, "camera")
    steady(page, "() => location.search")  # every key press is written a moment later
    before = camera(page)
    page.reload()
    expect(page.locator(".ms-graph-drawn")).to_be_visible()
    after = camera(page)
    assert abs(after[0] - before[0]) < 0.01
    assert abs(after[1] - before[1]) < 3
    assert abs(after[2] - before[2]) < 3
    page.locator('[data-control="collapse"]').click()
    page.wait_for_function("() => !location.search.includes('camera=')")


def test_a_training_opens_simplified_and_one_click_shows_everything(page: Page, real: str) -> None:
    visit(page, real, "run=graph_bert_train")
    said = page.locator(".ms-graph-said")
    expect(said.locator(".en").first).to_contain_text("opens simplified")
    expect(page.locator('[data-control="simple"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".ms-graph-counts .en")).to_contain_text("198 weights · 2 inputs")
    assert canvas(page, "cy => cy.nodes().filter(node => /Gradients|optimizer/.test(node.data('label'))).length") == 0
    said.locator("button").click()
    expect(said).to_be_hidden()
    expect(page.locator('[data-control="simple"]')).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".ms-graph-counts .en")).to_contain_text("198 weights · 400 optimizer state · 2 inputs")
    page.wait_for_function(f"() => {CY}.nodes().filter(node => /Gradients/.test(node.data('label'))).length === 1")
    # A link to a node that Simplify hides shows it.
    hidden = "cy => cy.nodes().filter(node => /Gradients/.test(node.data('label')))[0].data('name')"
    visit(page, real, f"run=graph_bert_train&node={canvas(page, hidden)}")
    page.wait_for_function(f"() => {CY}.nodes('.chosen').length === 1")
    in_address(page, "simple", "0")


@pytest.mark.long
def test_a_cell_that_layers_share_says_so(page: Page, real: str) -> None:
    scopes = "s:Default/encoder-CellList", "s:Default/encoder-CellList/0-EncoderLayer"
    visit(page, real, "run=graph_bert24_forward&open=s:Default&" + "&".join(f"open={scope}" for scope in scopes))
    assert page.locator(".ms-graph-said").is_hidden()
    zoom_to(page, 1)
    labels = "cy => cy.nodes().map(node => node.data('shown')).filter(text => /GELU/.test(text))"
    assert canvas(page, labels) == ["gelu-GELU  24 · also used by layers 1 to 23"]
    page.locator("[data-action=language]").click()
    page.wait_for_function(f"() => ({labels})({CY})[0].includes('第 1–23 层也使用')")
    page.locator('.ms-graph-name[data-go$="gelu-GELU"]').click()
    expect(page.locator(".ms-graph-panel .zh").filter(has_text="第 1–23 层也使用").first).to_be_visible()


@pytest.mark.long
def test_an_ir_folder_opens_on_its_last_stage(page: Page, real_data: Path, serve: Callable[[Flask], str]) -> None:
    store = Store([real_data / "ir"], interval=0).start()
    try:
        assert store.wait(60)
        visit(page, serve(create_app(store).server), "run=level3_env")
        chosen = page.locator('[data-control="graph"]')
        assert chosen.input_value() == "24_execute_0992.ir"
        assert chosen.locator("option:checked").inner_text() == "24_execute, final · 24_execute_0992.ir"
        options = chosen.locator("option").all_inner_texts()
        assert options.index("13_optimize · 13_optimize_0916.ir") < options.index("21_validate · 21_validate_0936.ir")
    finally:
        store.stop()


@pytest.mark.long
def test_a_graph_of_torch_has_types_for_numbers_and_a_note(page: Page, real_data: Path, serve: Callable[[Flask], str]) -> None:
    store = Store([real_data / "tensorboard"], interval=0).start()
    try:
        assert store.wait(60)
        visit(page, serve(create_app(store).server), "run=torch_sgd_lr0.05&open=s:Net")
        expect(page.locator(".ms-graph-said")).to_contain_text("torch writes no modules")
        expect(page.locator(".ms-graph-main .ms-badge-wrong")).to_have_count(0)
        names = canvas(page, "cy => cy.nodes('.node').map(node => node.data('label'))")
        assert "aten::relu" in names
        assert not [name for name in names if name.isdecimal()]
    finally:
        store.stop()


def test_a_graph_is_gone_through_by_keys(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    page.locator(".ms-graph-canvas").focus()
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => {CY}.nodes('.chosen').length === 1")
    chosen = "cy => cy.nodes('.chosen')[0].data('name')"
    ends = """(cy, name, own) => cy.edges().filter(edge => edge[own]().data('name') === name)
        .map(edge => edge[own === 'source' ? 'target' : 'source']().data('name'))"""
    begin = next(name for name in canvas(page, "cy => cy.nodes('.node').map(node => node.data('name'))")
                 if len(canvas(page, ends, name, "source")))  # fmt: skip
    visit(page, address, f"run=lenet_landscape&node={begin}")
    page.wait_for_function(f"() => {CY}.nodes('.chosen').length === 1")
    page.locator(".ms-graph-canvas").focus()
    followers = canvas(page, ends, begin, "source")
    page.keyboard.press("ArrowDown")
    page.wait_for_function(f"name => ({chosen})({CY}) !== name", arg=begin)
    after = canvas(page, chosen)
    assert after in followers
    page.keyboard.press("ArrowUp")
    page.wait_for_function(f"name => ({chosen})({CY}) !== name", arg=after)
    assert canvas(page, chosen) in canvas(page, ends, after, "target")
    before = canvas(page, chosen)
    page.keyboard.press("Tab")
    page.wait_for_function(f"name => ({chosen})({CY}) !== name", arg=before)
    page.keyboard.press("Shift+Tab")
    page.wait_for_function(f"name => ({chosen})({CY}) === name", arg=before)
    # Escape leaves the boxes, and Tab then the canvas.
    page.keyboard.press("Escape")
    page.wait_for_function(f"() => {CY}.nodes('.chosen').length === 0")
    page.keyboard.press("Tab")
    assert page.evaluate("() => !document.activeElement.classList.contains('ms-graph-canvas')")


@pytest.mark.long
def test_a_node_is_traced_and_a_path_found(page: Page, real: str) -> None:
    visit(page, real, "run=graph_bert_train&q=type:Softmax")
    page.locator('.ms-graph-result[data-go^="n"]').nth(3).click()
    [begin] = in_address(page, "node")
    page.locator('.ms-graph-panel [data-trace^="up:"]').click()
    count = page.locator(".ms-graph-traced .ms-graph-count .en").first
    expect(count).to_contain_text("is computed from")
    whole = page.locator(".ms-graph-traced .ms-graph-result").count()
    page.wait_for_function(f"() => {CY}.nodes('.traced').length > 1 && {CY}.elements('.pale').length > 0")
    page.locator('.ms-graph-traced [data-trace^="up:2:"]').click()
    expect(page.locator('.ms-graph-traced [aria-pressed="true"]')).to_have_text("2")
    assert 1 < page.locator(".ms-graph-traced .ms-graph-result").count() < whole
    # A path to another one, which is chosen in the list of results.
    page.locator('.ms-graph-panel [data-trace^="path:"]').click()
    expect(count).to_contain_text("choose the other node")
    page.locator('.ms-graph-results .ms-graph-result[data-go^="n"]').first.click()
    expect(count).to_contain_text("Shortest path")
    lines = page.locator(".ms-graph-traced .ms-graph-result")
    assert begin in {lines.first.get_attribute("data-go"), lines.last.get_attribute("data-go")}
    page.reload()
    expect(count).to_contain_text("Shortest path")
    page.locator('.ms-graph-traced [data-trace=""]').click()
    page.wait_for_function(f"() => {CY}.elements('.traced, .pale').length === 0")
    not_in_address(page, "trace")
