"""The landscape page, used as a person would."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import dash
import numpy as np
import pytest
from dash import html
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from app.web.embedding import pages
from parsers import LandscapeValue, PayloadError, open_run
from tests.browser.conftest import in_address
from tests.browser.showing import show
from tests.browser.waiting import becomes
from tests.layouts.values.landscape.landscapes import bowl, landscape_source
from tests.recorded import RECORDED
from tests.sources import MemorySource, row, series

PLOT = ".ms-landscape-main .js-plotly-plot"
TITLE = ".ms-landscape-main .ms-card-title"
LANDSCAPES: dict[str, LandscapeValue] = {
    tag: open_run(RECORDED / "lenet_landscape").landscape(tag, 0)
    for tag in ("landscape_[1, 5]", "landscape_[6, 12]", "landscape_[12]")
}


def visit(page: Page, address: str, query: str) -> None:
    show(page, f"{address}/landscape?{query}")
    expect(page.locator(f"{PLOT} .contour, {PLOT} canvas").first).to_be_attached()


def drawn(page: Page, role: str) -> list[dict[str, Any]]:
    """Points of the traces of one role as plotly holds them."""
    script = """(plot, role) => plot._fullData.filter(trace => trace.meta.role === role).map(trace => ({
        x: Array.from(trace.x), y: Array.from(trace.y), type: trace.type,
        z: trace.z ? Array.from(trace.z, row => row.length === undefined ? row : Array.from(row)) : null}))"""
    found: list[dict[str, Any]] = page.locator(PLOT).evaluate(script, role)
    return found


def state(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def compared() -> MemorySource:
    keys = ["one", "two", "three", "four"]
    sheets = {(key, "landscape_[90]"): bowl(scale=1 + n, size=12) for n, key in enumerate(keys)}
    rows = [row(key, tags={"scalar": 1, "landscape": 1}) for key in keys]
    return landscape_source(rows, {(key, "loss"): series(90) for key in keys}, sheets)


def test_a_landscape_is_drawn_as_recorded_with_its_path(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    expect(page.locator(TITLE)).to_have_text("lenet_landscape · Step 1 – 5")
    wanted = LANDSCAPES["landscape_[1, 5]"]
    (ground,), (path,) = drawn(page, "ground"), drawn(page, "path")
    assert np.array_equal(ground["z"], wanted.z)
    assert np.allclose(path["x"], wanted.path_x)
    for role in ("start", "end", "convergence"):
        assert len(drawn(page, role)) == 1
    facts = page.locator(".ms-landscape-facts")
    for label, text in (("Network", "LeNet5"), ("Optimizer", "Momentum"), ("Learning rate", "0.02"), ("Batch size", "96")):
        expect(facts.locator("tr", has_text=label).locator("td")).to_have_text(text)
    expect(facts).to_contain_text("PCA")
    expect(facts).to_contain_text("8 × 8")
    expect(page.locator(".ms-landscape-curve .js-line")).to_have_count(1)


@pytest.mark.long
def test_interval_view_colours_and_lines_live_in_the_address(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    page.locator('[data-control="at"]').select_option("landscape_[6, 12]")
    expect(page.locator(TITLE)).to_have_text("lenet_landscape · Step 6 – 12")
    page.get_by_role("button", name="Contours", exact=True).click()
    page.locator('[data-control="map"]').select_option("diverging")
    page.locator('[data-control="lines"]').fill("40")
    expect(page).to_have_url(re.compile("lines=40"))
    assert {key: state(page)[key] for key in ("at", "view", "map", "lines")} == {
        "at": ["landscape_[6, 12]"], "view": ["isolines"], "map": ["diverging"], "lines": ["40"],
    }  # fmt: skip
    page.reload()
    expect(page.locator(TITLE)).to_have_text("lenet_landscape · Step 6 – 12")
    expect(page.locator(f"{PLOT} .contourlabels text").first).to_be_attached()
    expect(page.locator('[data-control="lines"]')).to_have_value("40")
    assert np.array_equal(drawn(page, "ground")[0]["z"], LANDSCAPES["landscape_[6, 12]"].z)


@pytest.mark.long
def test_the_path_plays_and_ends_whole(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    wanted = LANDSCAPES["landscape_[1, 5]"]
    # Watched from before it plays, since a busy machine may look only when it is over.
    page.locator(PLOT).evaluate(
        """(plot, whole) => {
            window.partly = false;
            const look = () => {
                window.partly ||= plot._fullData.some(trace => trace.meta.role === 'path' && trace.x.length < whole);
                if (!window.partly) window.requestAnimationFrame(look);
            };
            look();
        }""",
        len(wanted.path_x),
    )
    page.locator('[data-act="play"]').click()
    page.wait_for_function("() => window.partly")
    expect(page.locator(".ms-landscape-playing")).to_have_count(0)
    assert np.allclose(drawn(page, "path")[0]["x"], wanted.path_x)
    assert np.allclose(drawn(page, "end")[0]["x"], wanted.path_x[-1])
    # Space plays too, and stops.
    page.locator("h1").click()
    page.keyboard.press("Space")
    expect(page.locator(".ms-landscape-playing")).to_be_attached()
    page.keyboard.press("Space")
    expect(page.locator(".ms-landscape-playing")).to_have_count(0)
    becomes(page, lambda: len(drawn(page, "path")[0]["x"]), len(wanted.path_x))
    assert np.allclose(drawn(page, "path")[0]["x"], wanted.path_x)


def test_what_draws_surfaces_is_loaded_with_the_first_of_them(page: Page, address: str) -> None:
    page.goto(f"{address}/landscape?run=lenet_landscape")
    expect(page.locator(f"{PLOT} .contour").first).to_be_attached()
    whole = page.locator('script[src*="plotly.v"][src$=".full.js"]')
    expect(whole).to_have_count(0)
    page.get_by_role("button", name="3-D", exact=True).click()
    expect(page.locator(f"{PLOT} canvas").first).to_be_attached()
    assert [ground["type"] for ground in drawn(page, "ground")] == ["surface"]
    expect(whole).to_have_count(1)
    page.get_by_role("button", name="Filled", exact=True).click()
    expect(page.locator(f"{PLOT} .contour").first).to_be_attached()
    page.get_by_role("button", name="3-D", exact=True).click()
    expect(page.locator(f"{PLOT} canvas").first).to_be_attached()
    expect(whole).to_have_count(1)


def test_a_surface_that_nothing_can_draw_says_so_and_is_drawn_once_something_can(unwatched: Page, address: str) -> None:
    page = unwatched
    message = page.locator(".ms-landscape-message")
    page.route("**/plotly*.full.js*", lambda route: route.abort())
    page.goto(f"{address}/landscape?run=lenet_landscape&view=surface")
    expect(message).to_contain_text("The chart library for surfaces could not be loaded.")
    expect(page.locator(".ms-landscape-main .ms-skeleton")).to_be_hidden()
    page.get_by_role("button", name="Filled", exact=True).click()
    expect(page.locator(f"{PLOT} .contour").first).to_be_attached()
    expect(message).to_be_hidden()
    page.get_by_role("button", name="3-D", exact=True).click()
    expect(message).to_be_visible()
    page.get_by_role("button", name="Filled", exact=True).click()
    expect(message).to_be_hidden()
    page.get_by_role("button", name="3-D", exact=True).click()
    expect(message).to_be_visible()
    page.unroute("**/plotly*.full.js*")
    message.get_by_role("button", name="Try again").click()
    expect(page.locator(f"{PLOT} canvas").first).to_be_attached()
    expect(message).to_be_hidden()


def test_an_address_of_a_surface_shows_one(page: Page, address: str) -> None:
    page.goto(f"{address}/landscape?run=lenet_landscape&view=surface")
    expect(page.locator(f"{PLOT} canvas").first).to_be_attached()
    assert [ground["type"] for ground in drawn(page, "ground")] == ["surface"]


@pytest.mark.long
def test_a_surface_has_the_path_above_it(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape&view=surface")
    wanted = LANDSCAPES["landscape_[1, 5]"]
    (ground,), (path,) = drawn(page, "ground"), drawn(page, "path")
    assert ground["type"] == "surface"
    assert np.array_equal(ground["z"], wanted.z)
    assert (np.array(path["z"]) > wanted.path_z).all()


@pytest.mark.long
def test_up_to_three_final_landscapes_stand_beside_or_over_each_other(page: Page, serve: Callable[[Flask], str]) -> None:
    visit(page, serve(create_app(compared()).server), "mode=final")
    assert len(drawn(page, "ground")) == 3
    expect(page.locator(".ms-landscape-compared .en")).to_have_text("3 of 4 runs")
    expect(page.locator(f"{PLOT} .infolayer .annotation")).to_have_count(3)
    page.locator(".ms-landscape-compared").click()
    expect(page.locator(".ms-landscape-pick input").nth(3)).to_be_disabled()
    page.locator(".ms-landscape-pick input").first.uncheck()
    expect(page.locator(".ms-landscape-compared .en")).to_have_text("2 of 4 runs")
    page.get_by_role("button", name="Overlaid").click()
    expect(page.locator(f"{PLOT} .infolayer .annotation")).to_have_count(0)
    expect(page.locator(f"{PLOT} .contour")).to_have_count(2)
    in_address(page, "final", "two", "three")


def test_losses_and_path_are_saved_in_full(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    expect(page.locator(TITLE)).to_have_text("lenet_landscape · Step 1 – 5")
    wanted = LANDSCAPES["landscape_[1, 5]"]
    page.locator(".ms-landscape-main summary").click()
    with page.expect_download() as download:
        page.locator('[data-act="csv"]').click()
    assert download.value.suggested_filename == "lenet_landscape_landscape_1_5_Loss_landscape.csv"
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    losses = [float(line["loss"]) for line in rows if line["kind"] == "landscape"]
    assert np.array_equal(np.reshape(losses, wanted.z.shape), wanted.z)
    path = [(int(line["at"]), float(line["x"])) for line in rows if line["kind"] == "path"]
    assert path == list(zip(wanted.intervals.tolist(), wanted.path_x.tolist(), strict=True))
    with page.expect_download() as download:
        page.locator('[data-act="svg"]').evaluate("button => button.click()")
    assert "<svg" in Path(download.value.path()).read_text(encoding="utf-8")[:200]


@pytest.mark.long
def test_a_click_on_the_curve_chooses_the_interval(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    plot = page.locator(".ms-landscape-curve .js-plotly-plot")
    expect(plot.locator(".js-line")).to_have_count(1)
    x, y = plot.evaluate("""plot => {
        const box = plot.querySelector('.nsewdrag').getBoundingClientRect(), {xaxis, yaxis} = plot._fullLayout;
        const trace = plot.calcdata[0].find(point => point.x >= 8);
        return [box.left + xaxis.c2p(trace.x), box.top + yaxis.c2p(trace.y)]; }""")
    page.mouse.move(x, y)
    page.mouse.click(x, y)
    expect(page.locator(TITLE)).to_have_text("lenet_landscape · Step 6 – 12")


@pytest.mark.long
def test_full_screen_by_key_and_words_in_chinese(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    expect(page.locator(TITLE)).to_have_text("lenet_landscape · Step 1 – 5")
    page.locator("h1").click()
    page.keyboard.press("f")
    expect(page.locator(".ms-landscape-main.ms-full")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".ms-landscape-main.ms-full")).to_have_count(0)
    page.locator("[data-action=language]").click()
    expect(page.locator(TITLE)).to_have_text("lenet_landscape · 步骤 1 – 5")
    expect(page.locator(f"{PLOT} .cbtitle")).to_have_text("损失")


@pytest.mark.long
def test_checkpoints_without_a_landscape_say_which_call_computes_it(page: Page, base: Path, address: str) -> None:
    folder = base / "lenet_sink_mode" / "ckpt_dir"
    folder.mkdir()
    text = '{"epoch_group": {"0": [1, 2, 3]}, "model_params_file_map": {"1": "a", "2": "b", "3": "c"}, "landscape_size": 40}'
    (folder / "train_metadata.json").write_text(text)
    show(page, f"{address}/landscape?run=lenet_sink_mode")
    plan = page.locator(".ms-landscape-plan")
    expect(plan).to_contain_text("lenet_sink_mode has collected 3 checkpoints (step 1–3)")
    ours, theirs = plan.locator("code").nth(0), plan.locator("code").nth(1)
    expect(ours).to_contain_text(f"mindscope landscape {base / 'lenet_sink_mode'} --script loss.py")
    expect(theirs).to_contain_text("gen_landscapes_with_multi_process(callback_fn")
    expect(theirs).to_contain_text(str(base / "lenet_sink_mode"))
    show(page, f"{address}/landscape?run=nan_inf")
    expect(page.locator('[data-state="none"]')).to_contain_text("SummaryLandscape(")


@pytest.mark.long
def test_two_stand_in_a_host_each_with_its_own_state(page: Page, serve: Callable[[Flask], str]) -> None:
    host = dash.Dash("host", update_title="", include_assets_files=False)
    one, two = (pages.Landscape(str(RECORDED), id=name) for name in ("l1", "l2"))
    for embedded in (one, two):
        embedded.register(host)
        assert embedded.source.wait(30)
    host.layout = html.Div([one.layout(), two.layout()])
    show(page, serve(host.server) + "/")
    titles = page.locator(TITLE)
    expect(titles).to_have_count(2)
    page.locator('#l2-landscape-root [data-control="at"]').select_option("landscape_[12]")
    expect(titles.nth(1)).to_contain_text("Final weights")
    expect(titles.nth(0)).to_contain_text("Step 1 – 5")


@pytest.mark.long
def test_arrays_are_a_file_of_the_download_menu(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape&at=landscape_%5B12%5D")
    page.locator(".ms-landscape-main .ms-card-tools summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Arrays (.npz)").click()
    with np.load(download.value.path()) as arrays:
        assert np.array_equal(arrays["z"], LANDSCAPES["landscape_[12]"].z)


@pytest.mark.long
def test_the_menu_knows_runs_that_only_collected_checkpoints(page: Page, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    shutil.copytree(RECORDED / "lenet_sink_mode", tmp_path / "only")
    (tmp_path / "only" / "ckpt_dir").mkdir()
    store = Store([tmp_path], interval=0.3).start()
    assert store.wait(30)
    show(page, serve(create_app(store).server))
    link = page.locator('.ms-menu-link[data-page="landscape"]')
    expect(link).to_have_attribute("aria-disabled", "true")
    (tmp_path / "only" / "ckpt_dir" / "train_metadata.json").write_text('{"model_params_file_map": {"1": "a"}}')
    expect(link).to_have_attribute("aria-disabled", "false")
    link.click()
    expect(page.locator(".ms-landscape-plan")).to_contain_text("only has collected 1 checkpoints")
    store.stop()


@pytest.mark.long
def test_a_run_that_has_landscapes_is_a_press_away(page: Page, address: str) -> None:
    show(page, f"{address}/landscape?run=nan_inf")
    page.locator(".ms-landscape-elsewhere").get_by_role("button", name="lenet_landscape").click()
    expect(page.locator(TITLE)).to_have_text("lenet_landscape · Step 1 – 5")
    in_address(page, "run", "lenet_landscape")
    expect(page.locator(".ms-landscape-elsewhere")).to_have_count(0)


def test_damage_is_named_on_the_card(page: Page, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    good = LANDSCAPES["landscape_[1, 5]"]
    x = good.x.copy()
    x[2] = np.nan
    cut = PayloadError("wanted 64 values for the shape (8, 8), got 60", "vm_MS", 123)
    sheets: dict[tuple[str, str], Any] = {
        ("one", "landscape_[1]"): str(cut),
        ("one", "landscape_[2]"): replace(good, x=x, problem="Of its x, 1 values are not finite."),
    }
    source = landscape_source([row("one", tags={"scalar": 1, "landscape": 2})], {("one", "loss"): series(20)}, sheets)
    address = serve(create_app(source).server)
    show(page, f"{address}/landscape?run=one&at=landscape_%5B1%5D")
    message = page.locator(".ms-landscape-message")
    expect(message).to_contain_text("vm_MS: record at byte 123: wanted 64 values for the shape (8, 8), got 60")
    expect(page.locator(PLOT)).to_be_hidden()
    page.locator('[data-control="at"]').select_option("landscape_[2]")
    expect(message).to_contain_text("Of its x, 1 values are not finite.")
    expect(page.locator(PLOT)).to_be_visible()
    assert len(drawn(page, "ground")[0]["x"]) == len(good.x) - 1


@pytest.mark.long
def test_the_marks_on_the_path_have_a_legend(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_landscape")
    marks = page.locator(".ms-landscape-main .ms-landscape-mark .en")
    shown = ["Start", "End", *(["Convergence point"] if drawn(page, "convergence") else [])]
    expect(marks).to_have_text(shown)
