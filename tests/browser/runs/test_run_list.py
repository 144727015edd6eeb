"""The run list of the scalars page: the legend of all cards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from playwright.sync_api import Locator, Page, expect

from app.web.server import create_app
from tests.browser.conftest import in_address
from tests.browser.short_names import meant, names_on
from tests.browser.showing import show
from tests.sources import MemorySource, series

pytestmark = pytest.mark.browser
Serve = Callable[[Flask], str]
NAMES = tuple(f"november/bert_lr_{number}_warmup" for number in (1, 2, 3, 10))
LINES = """plot => plot.data.filter(t => t.meta && t.meta.key !== undefined).map(t => t.meta.key)"""
DIM = """plot => Array.from(plot.querySelectorAll('.scatterlayer > .trace'))
  .filter(trace => getComputedStyle(trace).opacity < 0.5).length"""
COLOUR = "(plot, key) => plot.data.find(t => t.meta && t.meta.key === key).line.color"


@pytest.fixture(scope="module")
def source() -> MemorySource:
    return MemorySource({
        name: {"scalar": {tag: series(60, at) for tag in ("loss", "lr")}} for at, name in enumerate(NAMES)
    })  # fmt: skip


@pytest.fixture(scope="module")
def opened(serve_file: Serve, source: MemorySource) -> str:
    return serve_file(create_app(source).server)


def row(page: Page, name: str) -> Locator:
    return page.locator(f'.ms-run-list-row[data-key="{name}"]')


def plots(page: Page, count: int = 2) -> list[Locator]:
    shown = page.locator(".ms-slot:not([hidden]):not(.ms-pending) .js-plotly-plot")
    expect(shown).to_have_count(count)
    return shown.all()


def drawn(plot: Locator) -> list[str]:
    keys: list[str] = plot.evaluate(LINES)
    return keys


@pytest.mark.long
@pytest.mark.parametrize("query", ["", "embed=1", "embed=1&tags=0", "full=loss", "embed=1&full=loss"])
def test_every_chart_says_which_line_is_which(page: Page, opened: str, source: MemorySource, query: str) -> None:
    show(page, f"{opened}/scalars?{query}")
    plots(page)
    for name in NAMES:
        expect(row(page, name)).to_be_visible()
        expect(row(page, name)).to_be_in_viewport()
        at = float(row(page, name).locator(".ms-run-list-value").inner_text())
        found = source.curves.series(name, "loss")
        assert found is not None
        assert at == pytest.approx(found.value[-1], rel=5e-4)
        dot = row(page, name).locator(".ms-dot").evaluate("e => getComputedStyle(e).backgroundColor")
        line = page.locator(".js-plotly-plot").first.evaluate(COLOUR, name)
        assert tuple(map(int, dot[4:-1].split(","))) == tuple(int(line[at : at + 2], 16) for at in (1, 3, 5))
    if "full" in query:
        box, card = page.locator(".ms-run-list").bounding_box(), page.locator(".ms-slot.ms-full").bounding_box()
        assert box is not None
        assert card is not None
        assert card["y"] + card["height"] <= box["y"] + 1


def test_names_keep_the_part_that_differs_and_values_are_those_under_the_pointer(
    page: Page, opened: str, source: MemorySource
) -> None:
    show(page, f"{opened}/scalars")
    for name in NAMES:
        expect(row(page, name).locator(".ms-name")).to_have_text(name)
    shown = names_on(page, ".ms-run-list-row .ms-name")
    assert all(meant(one.short, NAMES) == [one.name] for one in shown)
    assert [one for one in shown if one.over > 1] == []
    area = plots(page)[1].locator(".nsewdrag")
    box = area.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".ms-run-list-tag")).to_have_text("lr")
    expect(page.locator(".ms-run-list-at .en")).to_contain_text("step")
    step = int(page.locator(".ms-run-list-at .en").inner_text().split()[1])
    assert 25 <= step <= 34
    for name in NAMES:
        shown = float(row(page, name).locator(".ms-run-list-value").get_attribute("title") or "nan")
        found = source.curves.series(name, "lr")
        assert found is not None
        assert any(shown == pytest.approx(found.value[at], rel=1e-5) for at in (step - 1, step, step + 1))


def test_a_click_hides_a_run_everywhere_alt_leaves_it_alone_and_pointing_at_it_dims_the_others(page: Page, opened: str) -> None:
    show(page, f"{opened}/scalars")
    plots(page)
    row(page, NAMES[1]).locator(".ms-run-list-name").click()
    for plot in plots(page):
        page.wait_for_function(f"p => ({LINES})(p).length === 3", arg=plot.element_handle())
        assert NAMES[1] not in drawn(plot)
    in_address(page, "hide")
    expect(row(page, NAMES[1]).locator(".ms-run-list-name")).to_have_attribute("aria-pressed", "false")
    page.reload()
    for plot in plots(page):
        assert drawn(plot) == [name for name in NAMES if name != NAMES[1]]
    row(page, NAMES[2]).locator(".ms-run-list-name").click(modifiers=["Alt"])
    for plot in plots(page):
        page.wait_for_function(f"p => ({LINES})(p).length === 1", arg=plot.element_handle())
        assert drawn(plot) == [NAMES[2]]
    expect(page.locator(".ms-run-list-row")).to_have_count(4)
    page.locator(".ms-run-list-all").click()
    for plot in plots(page):
        page.wait_for_function(f"p => ({LINES})(p).length === 4", arg=plot.element_handle())
    row(page, NAMES[0]).hover()
    for plot in plots(page):
        page.wait_for_function(f"p => ({DIM})(p) === 3", arg=plot.element_handle())
    page.mouse.move(600, 5)
    for plot in plots(page):
        page.wait_for_function(f"p => ({DIM})(p) === 0", arg=plot.element_handle())


@pytest.mark.long
def test_many_runs_on_a_canvas_are_listed_and_pointed_out(page: Page, serve: Serve) -> None:
    names = [f"run_{number:03d}" for number in range(150)]
    source = MemorySource({name: {"scalar": {"loss": series(50, at)}} for at, name in enumerate(names)})
    page.goto(f"{serve(create_app(source).server)}/scalars?run=*")
    first = row(page, "run_000")
    expect(first).to_be_visible()
    assert page.locator(".ms-run-list-row").count() < 60
    first.hover()
    expect(page.locator(".ms-lines-lit")).to_have_count(1)
    inked = "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v > 0)"
    assert page.locator(".ms-lines-lit").evaluate(inked)
    page.locator(".ms-run-list-rows").evaluate("e => e.scrollTop = e.scrollHeight")
    expect(row(page, "run_149")).to_be_visible()


@pytest.mark.long
def test_groups_are_listed_and_hidden(page: Page, opened: str) -> None:
    show(page, f"{opened}/scalars?group=regex:lr_(.)")
    expect(page.locator(".ms-run-list-row")).to_have_count(3)
    row(page, "2").locator(".ms-run-list-name").click()
    for plot in plots(page):
        page.wait_for_function(f"p => ({LINES})(p).length === 2", arg=plot.element_handle())
        assert drawn(plot) == ["1", "3"]
