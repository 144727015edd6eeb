"""The table under the pointer of the scalars page: its order, its columns, and where it may lie; points that are being read."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page, Route, expect

from app.web.server import create_app
from parsers import Series
from tests.browser.showing import show
from tests.browser.waiting import becomes, frames
from tests.sources import MemorySource

pytestmark = pytest.mark.browser
Serve = Callable[[Flask], str]
LEVELS = {"run_2": 3.0, "run_10": 1.0, "run_1": 2.0}
TABLE = ".ms-hover-table"
NAMES = "table => Array.from(table.querySelectorAll('.ms-name'), name => name.textContent)"
CHARTS = ".ms-slot:not([hidden]):not(.ms-pending) .nsewdrag"


def flat(value: float) -> Series:
    step = np.arange(5000, dtype=np.int64)
    place = np.zeros(step.size, np.int32)
    return Series(step, 1_699_990_000.0 + step, value + np.sin(step / 7.0) * 0.01, place, step * 40)


@pytest.fixture(scope="module")
def address(serve_file: Serve) -> str:
    tags = [f"tag_{number}" for number in range(6)]
    source = MemorySource({run: {"scalar": {tag: flat(value) for tag in tags}} for run, value in LEVELS.items()})
    return serve_file(create_app(source).server)


def point(page: Page, chart: int, x: float, y: float) -> None:
    box = page.locator(CHARTS).nth(chart).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    frames(page, 6)


@pytest.mark.long
@pytest.mark.parametrize("width", [1440, 1000])
def test_the_table_covers_neither_other_cards_nor_what_is_pointed_at(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    show(page, f"{address}/scalars?smooth=0.5")
    expect(page.locator(CHARTS)).to_have_count(6)
    charts = [chart.bounding_box() for chart in page.locator(CHARTS).all()]
    seen = 0
    for number, chart in enumerate(charts):
        if chart is None or chart["y"] + chart["height"] > 900:
            continue
        for x, y in ((0.03, 0.05), (0.5, 0.5), (0.97, 0.95), (0.97, 0.05), (0.03, 0.95)):
            point(page, number, x, y)
            expect(page.locator(TABLE)).to_be_visible()
            box = page.locator(TABLE).bounding_box()
            assert box is not None
            seen += 1
            at = chart["x"] + x * chart["width"]
            assert not box["x"] - 8 < at < box["x"] + box["width"] + 8, (number, x, y)
            assert box["y"] >= chart["y"] - 1, (number, x, y)  # its card's toolbar is free
            for other in charts[:number] + charts[number + 1 :]:
                assert other is not None
                across = min(box["x"] + box["width"], other["x"] + other["width"]) - max(box["x"], other["x"])
                down = min(box["y"] + box["height"], other["y"] + other["height"]) - max(box["y"], other["y"])
                assert across <= 0 or down <= 0, (number, x, y)
    assert seen >= 10


@pytest.mark.long
def test_order_and_columns_are_chosen_once(page: Page, address: str) -> None:
    show(page, f"{address}/scalars?tag=tag_0&full=tag_0")
    expect(page.locator(".ms-slot.ms-full")).to_have_count(1)
    point(page, 0, 0.5, 0.98)  # beside the lowest line
    becomes(page, lambda: page.locator(TABLE).evaluate(NAMES), ["run_10", "run_2", "run_1"])
    menu = page.locator(".ms-hover-settings > summary")
    menu.click()
    page.locator('.ms-hover-settings [data-value="name"]').click()
    page.locator('.ms-hover-settings [data-column="absolute"]').uncheck()
    menu.click()
    point(page, 0, 0.5, 0.97)
    becomes(page, lambda: page.locator(TABLE).evaluate(NAMES), ["run_1", "run_2", "run_10"])
    expect(page.locator(f"{TABLE} .ms-hover-nearest .ms-name")).to_have_text("run_10")
    expect(page.locator(f"{TABLE} thead .en")).to_have_text(["Run", "Value", "Step", "Relative"])
    show(page, f"{address}/scalars?tag=tag_1&full=tag_1")
    expect(page.locator(".ms-slot.ms-full")).to_have_count(1)
    point(page, 0, 0.5, 0.97)
    becomes(page, lambda: page.locator(TABLE).evaluate(NAMES), ["run_1", "run_2", "run_10"])
    menu.click()
    page.locator('.ms-hover-settings [data-value="value"]').click()
    menu.click()
    point(page, 0, 0.5, 0.5)
    becomes(page, lambda: page.locator(TABLE).evaluate(NAMES), ["run_2", "run_1", "run_10"])


def test_a_zoomed_card_says_reading_until_its_points_are_exact(page: Page, address: str) -> None:
    show(page, f"{address}/scalars?full=tag_0")
    notes = page.locator(".ms-slot.ms-full .ms-card-notes")
    expect(notes.locator(".en")).to_contain_text(["points"])
    held: list[Route] = []
    open_gate = threading.Event()

    def hold(route: Route) -> None:
        if not open_gate.is_set() and "near-answer" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/_dash-update-component*", hold)
    box = page.locator(".ms-slot.ms-full .nsewdrag").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 330, box["y"] + 400, steps=4)
    page.mouse.up()
    expect(notes.locator(".en")).to_have_text(["reading"])
    becomes(page, lambda: len(held) > 0, True)
    expect(notes.locator(".en")).to_have_text(["reading"])
    open_gate.set()
    for route in held:
        route.continue_()
    expect(notes.locator(".en")).to_contain_text(["points"])
    expect(notes).not_to_contain_text("reading")
