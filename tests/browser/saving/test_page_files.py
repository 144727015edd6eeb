"""Pages saved as one file: opened from file:// without a network, they look as on screen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from PIL import Image
from playwright.sync_api import Page, expect

from app import create_app
from layouts import PAGES
from layouts.kit.page import Page as MenuPage
from parsers.recording import EventWriter
from parsers.recording import Image as Picture
from tests.app.routes.values.test_media import png
from tests.browser.saving.saved_pages import Saved, alike, save
from tests.browser.showing import show
from tests.browser.waiting import settles, unchanged

OFTEN = ("runs", "timeline", "graph")
"""Pages of the menu that are tried in every run, beside the curves of a board; all in `make test-long`."""
STATES = {
    "timeline": "?run=traced", "graph": "?run=runs/lenet_sink_mode", "histograms": "?run=runs/several_files",
}  # fmt: skip
MOST_BYTES, MOST_BYTES_SURFACES = 1_200_000, 2_500_000
TYPES = """() => JSON.parse(document.querySelector('#ms-file-figures')?.textContent || '[]')
    .flatMap(({ data }) => data.map(({ type }) => type))"""
DATA = """() => [...document.images].reduce((sum, one) => sum + one.src.length,
    document.querySelector('#ms-file-figures')?.textContent.length || 0)"""
"""Bytes of figures and images in a file."""
EVERY = [
    pytest.param(shown, id=shown.name, marks=() if shown.name in OFTEN else pytest.mark.long)
    for shown in PAGES
]


@pytest.mark.parametrize("shown", EVERY)
def test_a_saved_page_looks_as_on_screen(
    page: Page, everything: str, opened: Callable[[Path], Saved], tmp_path: Path, shown: MenuPage
) -> None:
    with settles(page):  # from the first request on, so that none is overlooked
        show(page, f"{everything}/{shown.path}{STATES.get(shown.name, '')}")
        expect(page.locator(f'.ms-menu-link[data-page="{shown.path}"]')).to_have_attribute("aria-current", "page")
    if shown.name == "timeline":  # which reads its trace in the background
        expect(page.locator(".ms-main")).to_contain_text(re.compile(r"\d slices"))
    saved = opened(save(page, tmp_path / "page.html"))
    most = MOST_BYTES_SURFACES if "surface" in saved.page.evaluate(TYPES) else MOST_BYTES
    assert (tmp_path / "page.html").stat().st_size - int(saved.page.evaluate(DATA)) <= most
    expect(saved.page.locator(".ms-file-head")).to_contain_text(page.url)
    expect(saved.page.locator(".ms-file-head")).to_contain_text("by Mindscope 0.")
    assert saved.page.locator("button, select, textarea, form, iframe, a[href], [onclick]").count() == 0
    if shown.name == "timeline":
        canvases_are_pictures(saved.page)
    unchanged(page)
    alike(page, saved.page)


def canvases_are_pictures(saved: Page) -> None:
    """Assert that each canvas became a picture, and that some have a text."""
    pictures = saved.evaluate("() => [...document.images].map((one) => [one.naturalWidth, one.alt, one.src.slice(0, 22)])")
    assert pictures
    assert all(width > 0 and source == "data:image/png;base64," for width, _, source in pictures)
    assert any(alt for _, alt, _ in pictures)


FIGURES = """() => JSON.parse(document.querySelector('#ms-file-figures').textContent).map(({ data }) => data
    .filter(({ y }) => y).map(({ y }) => (y.bdata ? atob(y.bdata).length / Number(y.dtype.slice(1)) : y.length)))"""


def test_figures_answer_the_pointer_and_all_points_are_a_choice_whose_size_is_said_before(
    page: Page, everything: str, opened: Callable[[Path], Saved], tmp_path: Path
) -> None:
    show(page, f"{everything}/scalars?run=runs/long_history")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    file = opened(save(page, tmp_path / "few.html")).page
    few = file.evaluate(FIGURES)
    lines = ".js-plotly-plot >> nth=0 >> .scatterlayer .js-line"
    assert file.locator(lines).count() == page.locator(lines).count() > 0
    answers_the_pointer(file, "long_history")
    page.locator(".ms-views > summary").click()
    choice = page.locator(".ms-file-every")
    expect(choice).to_contain_text(re.compile(r"All points of these curves \(about [\d.]+\sKiB more\)"))
    choice.locator("input").check()
    page.keyboard.press("Escape")
    saved = opened(save(page, tmp_path / "all.html"))
    every = saved.page.evaluate(FIGURES)
    assert len(few) == len(every)
    assert max(map(max, few)) < 3_000 <= max(map(max, every)), "3,020 points of the loss"
    assert saved.page.locator(".js-plotly-plot .scatterlayer .js-line").count() > 0
    told = re.search(r"about ([\d.]+)\sKiB", choice.text_content() or "")
    assert told is not None
    grown = ((tmp_path / "all.html").stat().st_size - (tmp_path / "few.html").stat().st_size) / 1024
    assert 0.3 * grown <= float(told[1]) <= 3 * grown


def answers_the_pointer(saved: Page, run: str) -> None:
    """Assert that the first figure of a file shows values at the pointer, and zooms where it is dragged."""
    plot = saved.locator(".js-plotly-plot").first
    area = plot.locator(".nsewdrag").bounding_box()
    assert area is not None
    saved.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    for share in np.linspace(0.1, 0.9, 30):
        saved.mouse.move(area["x"] + area["width"] / 2, area["y"] + share * area["height"])
        if plot.locator(".hoverlayer .hovertext").count():
            break
    expect(plot.locator(".hoverlayer .hovertext").first).to_contain_text(run)
    before = saved.evaluate("() => document.querySelector('.js-plotly-plot').layout.xaxis.range")
    saved.mouse.move(area["x"] + area["width"] * 0.3, area["y"] + area["height"] / 2)
    saved.mouse.down()
    saved.mouse.move(area["x"] + area["width"] * 0.6, area["y"] + area["height"] / 2, steps=4)
    saved.mouse.up()
    saved.wait_for_function(
        "before => { const [from, to] = document.querySelector('.js-plotly-plot').layout.xaxis.range;"
        " return to - from < 0.5 * (before[1] - before[0]); }", arg=before,
    )  # fmt: skip


def test_a_page_of_which_the_screen_shows_all_has_no_choice(page: Page, everything: str) -> None:
    show(page, f"{everything}/runs")
    page.locator(".ms-views > summary").click()
    expect(page.locator(".ms-views-file")).to_be_visible()
    expect(page.locator(".ms-file-every")).to_be_hidden()
    page.keyboard.press("Escape")


@pytest.mark.long
def test_a_page_that_would_be_too_large_says_what_to_leave_out(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path
) -> None:
    for run in ("one", "two"):
        (tmp_path / "runs" / run).mkdir(parents=True)
        with EventWriter(str(tmp_path / "runs" / run / "events.out.tfevents.1700000000.vm"), "tensorboard") as writer:
            writer.add(1, {f"picture {number}": Picture(png(90, 8, 8), 8, 8) for number in range(3)}, wall_time=1.7e9)
    page.goto(f"{serve(create_app(tmp_path / 'runs').server)}/images")
    expect(page.locator(".ms-card img").first).to_be_visible()
    noise = np.random.default_rng(1).integers(0, 256, (1600, 1600, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "noise.png")
    picture = (tmp_path / "noise.png").read_bytes()
    page.route("**/api/image*", lambda route: route.fulfill(body=picture, content_type="image/png"))
    with settles(page):
        pass
    page.locator(".ms-views > summary").click()
    page.locator(".ms-views-file").click()
    said = page.locator(".ms-file-said")
    expect(said).to_contain_text(re.compile(r"Not saved: the file would have .*\sMiB, more than 23.8\sMiB.*images of"))
