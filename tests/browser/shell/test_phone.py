"""Pages at the width of a phone, and names in columns that are too narrow for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from layouts import PAGES
from tests.amounts import long_after
from tests.browser.short_names import meant, names_on
from tests.browser.showing import show
from tests.browser.waiting import becomes, settles, steady
from tests.sources import MemorySource, series

RUNS = "run=lenet_sink_mode&run=lenet_adam_lr0.01_b64&run=lenet_landscape"
TAIL = "0e-53d-11f1-9fad-02fc00000001"
SWEEP = [f"experiments/november/{kind}/run_{number}{TAIL}" for kind in ("lenet", "bert") for number in range(4)]


FIRST_SHOWN = ("job", "scores")
"""Pages that are looked at in every run."""
OUT_OF_ROOM = """() => {
    const seen = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
    const named = (one) => `${one.className}: ${one.innerText.slice(0, 40)}`;
    const whole = document.documentElement;
    const heads = seen('main .ms-card-head:not(.ms-slot *)').flatMap((head) => {
        const right = head.closest('.ms-card').getBoundingClientRect().right;
        const inside = [...head.querySelectorAll('.ms-card-title, button, select, input, .ms-badge')];
        return inside.filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > right + 1);
    });
    const boxes = seen('main :has(> table)').filter((one) => one.scrollWidth > one.clientWidth + 1);
    const still = boxes.filter((one) => !['auto', 'scroll'].includes(getComputedStyle(one).overflowX));
    const hidden = boxes.filter((one) => !still.includes(one) && !one.querySelector('.ms-scores-total')
        && getComputedStyle(one).maskImage === 'none');
    const flat = seen('main .ms-plot-drawn .ms-plot').filter((one) => one.clientHeight < 80);
    return {
        wide: whole.scrollWidth - whole.clientWidth, heads: heads.map(named), still: still.map(named),
        hidden: hidden.map(named), flat: flat.map((one) => one.closest("[data-plot]").dataset.plot),
    };
}"""
"""How much wider than the window the page is, what heads of cards cut off, tables that are cut and do not scroll, those that
scroll without a sign of it, and plots without room."""


@pytest.fixture
def phone(page: Page) -> Page:
    page.set_viewport_size({"width": 390, "height": 844})
    return page


def test_the_menu_folds_as_a_window_becomes_narrow_and_unfolds_as_it_becomes_wide(page: Page, recorded: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{recorded}/scalars?{RUNS}")
    menu = page.locator(".ms-menu")
    expect(menu.get_by_text("Scalars")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(menu.get_by_text("Scalars")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(menu.get_by_text("Scalars")).to_be_visible()


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


@pytest.mark.parametrize(
    "name", long_after(len(FIRST_SHOWN), [*FIRST_SHOWN, *(one.name for one in PAGES if one.name not in FIRST_SHOWN)])
)
def test_nothing_is_cut_without_a_sign_and_every_plot_has_room(phone: Page, everything: str, name: str) -> None:
    path = next(one.path for one in PAGES if one.name == name)
    with settles(phone):
        show(phone, f"{everything}/{path}")
    expect(phone.locator(".ms-frame")).to_be_visible()
    assert phone.evaluate(OUT_OF_ROOM) == {"wide": 0, "heads": [], "still": [], "hidden": [], "flat": []}


def test_a_wide_table_fades_until_its_end_is_reached(phone: Page, everything: str) -> None:
    show(phone, f"{everything}/two_runs")
    table = phone.locator(".ms-two-runs-scroll", has_text="loss").filter(visible=True).last
    expect(table.locator("tbody tr").first).to_be_visible()
    assert table.evaluate("one => one.scrollWidth > one.clientWidth")
    width = "one => getComputedStyle(one).getPropertyValue('--ms-more')"
    assert table.evaluate(width) == "36px"
    table.evaluate("one => one.scrollTo(one.scrollWidth, 0)")
    becomes(phone, lambda: table.evaluate(width), "0px")


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
