"""Pages at the width of a phone, and names in columns that are too narrow for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from tests.browser.short_names import meant, names_on
from tests.browser.showing import show
from tests.browser.waiting import steady
from tests.sources import MemorySource, series

RUNS = "run=lenet_sink_mode&run=lenet_adam_lr0.01_b64&run=lenet_landscape"
TAIL = "0e-53d-11f1-9fad-02fc00000001"
SWEEP = [f"experiments/november/{kind}/run_{number}{TAIL}" for kind in ("lenet", "bert") for number in range(4)]


@pytest.fixture
def phone(page: Page) -> Page:
    page.set_viewport_size({"width": 390, "height": 844})
    return page


def test_a_graph_is_above_its_panels_a_legend_shows_every_run_and_settings_do_not_cover_each_other(
    phone: Page, recorded: str
) -> None:
    show(phone, f"{recorded}/graph?run=lenet_sink_mode")
    canvas = phone.locator(".ms-graph-canvas")
    expect(canvas.locator("canvas").first).to_be_visible()
    boxes = [phone.locator(one).bounding_box() for one in (".ms-graph-canvas", ".ms-graph-left", ".ms-graph-right")]
    assert all(box and box["width"] > 300 and box["x"] + box["width"] <= 390 for box in boxes)
    above, tree, panel = (box for box in boxes if box)
    assert above["height"] >= 280
    assert above["y"] + above["height"] <= tree["y"]
    assert tree["y"] + tree["height"] <= panel["y"]

    show(phone, f"{recorded}/histograms?{RUNS}&view=numbers")
    card = phone.locator(".ms-slot:not([hidden])").first
    entries = card.locator(".ms-histogram-entry")
    expect(entries).to_have_count(3)
    host, plot = card.locator(".ms-histogram-legend").bounding_box(), card.locator(".ms-histogram-plot").bounding_box()
    assert host
    assert plot
    for at in range(3):
        box = entries.nth(at).bounding_box()
        assert box
        assert host["y"] <= box["y"] + 1
        assert box["y"] + box["height"] <= host["y"] + host["height"] + 1
    assert host["y"] + host["height"] <= plot["y"] + 1, "the legend is above the plot"

    show(phone, f"{recorded}/optimisation")
    rows = phone.locator(".ms-optimisation-settings tbody tr")
    expect(rows.first).to_be_visible()
    covered = phone.evaluate(
        """() => Array.from(document.querySelectorAll('.ms-optimisation-settings tr')).flatMap((row) => {
            const cells = Array.from(row.cells).filter((cell) => cell.checkVisibility());
            const over = cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 2);
            return over.map((cell) => cell.innerText);
        })"""
    )
    assert covered == []


def test_shares_of_a_step_are_within_their_card(phone: Page, everything: str) -> None:
    show(phone, f"{everything}/steps?run=job_a")
    legend = phone.locator(".ms-breakdown-legend li").filter(visible=True)
    expect(legend.first).to_be_visible()
    assert legend.locator("> *").evaluate_all("all => all.filter((one) => one.getBoundingClientRect().right > 382)"
                                              ".map((one) => one.innerText)") == []


@pytest.fixture(scope="module")
def sweep(serve_file: Callable[[Flask], str]) -> str:
    return serve_file(create_app(MemorySource({name: {"scalar": {"loss": series(5)}} for name in SWEEP})).server)


@pytest.mark.long
@pytest.mark.parametrize("width", [1440, 1000])
def test_what_differs_in_long_names_of_runs_is_shown(page: Page, sweep: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    show(page, sweep)
    names = page.locator(".ag-cell[col-id=name] .ms-name")
    expect(names).to_have_count(len(SWEEP))
    steady(page, "() => [...document.querySelectorAll('.ms-name')].map((one) => one.dataset.short)")
    shown = names_on(page, ".ag-cell[col-id=name] .ms-name")
    assert {one.name for one in shown} == set(SWEEP)
    assert all(meant(one.short, SWEEP) == [one.name] for one in shown)
    assert [one for one in shown if one.over > 1] == [], "all of a short form is within its cell"
