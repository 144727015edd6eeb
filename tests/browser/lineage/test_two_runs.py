"""The page about two runs, used as a person would."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import in_address
from tests.browser.short_names import names_on
from tests.browser.showing import show


@pytest.mark.long
def test_two_runs_are_chosen_swapped_compared_and_saved(page: Page, address: str) -> None:
    show(page, f"{address}/two_runs?run=lenet_adam_lr0.01_b64")
    expect(page.locator(".ms-two-runs-selector select")).to_have_count(2)  # with another run
    show(page, f"{address}/two_runs?run=lenet_adam_lr0.01_b64&run=lenet_diverges_nan")
    selects = page.locator(".ms-two-runs-selector select")
    expect(selects).to_have_count(2)
    first, second = selects.nth(0).input_value(), selects.nth(1).input_value()
    assert {first, second} == {"lenet_adam_lr0.01_b64", "lenet_diverges_nan"}
    learning = page.locator(".ms-two-runs-card-settings tr", has_text="Learning rate")
    expect(learning.locator("td")).not_to_have_count(0)
    before = learning.locator("td").all_inner_texts()
    assert before[0] != before[1]
    expect(page.locator(".ms-two-runs-curves .js-plotly-plot").first).to_be_visible()
    legend = page.locator(".ms-two-runs-curve").first.locator(".ms-two-runs-legend .ms-two-runs-of")
    assert [text[0] for text in legend.all_inner_texts()] == ["A", "B"], "each chart says which line is which, with last values"
    tag = page.locator(".ms-two-runs-curve .ms-cut a").first.inner_text()
    row = page.locator(".ms-two-runs-card-results tr").filter(has=page.get_by_role("rowheader", name=tag, exact=True))
    assert [text.split()[-1] for text in legend.all_inner_texts()] == row.locator("td").all_inner_texts()[1:3]
    name = page.locator(".ms-two-runs-one .ms-run-select-name")
    expect(name).to_have_text(first)
    shown = names_on(page, ".ms-run-select-name .ms-name")
    assert len({one.short for one in shown}) == 2
    assert [one for one in shown if one.over > 1] == [], "what differs is never cut"
    values_follow_the_pointer_and_runs_are_hidden(page)
    page.keyboard.press("x")
    expect(selects.nth(0)).to_have_value(second)
    expect(learning.locator("td").first).to_have_text(before[1])
    in_address(page, "one", second)
    page.reload()
    expect(selects.nth(0)).to_have_value(second)
    with page.expect_download() as download:
        page.locator(".ms-two-runs-selector button", has_text="CSV").click()
    rows = list(csv.reader(Path(download.value.path()).read_text().splitlines()))
    assert ["run", "", "", second, first] in rows
    page.locator(".ms-two-runs-card-results a", has_text="loss").first.click()
    expect(page).to_have_url(re.compile(r"/scalars\?.*tag=loss"))
    assert {first, second} == set(re.findall(r"run=([^&]+)", page.url))


def values_follow_the_pointer_and_runs_are_hidden(page: Page) -> None:
    rows = page.locator(".ms-two-runs-run-list .ms-run-list-row")
    expect(rows).to_have_count(2)
    last = rows.locator(".ms-run-list-value").all_inner_texts()
    plots = page.locator(".ms-two-runs-plot")
    plots.nth(0).scroll_into_view_if_needed()
    box = plots.nth(0).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 80, box["y"] + 60)
    expect(page.locator(".ms-two-runs-run-list .ms-run-list-at .en")).to_contain_text("step")
    expect(page.locator(".ms-two-runs-plot .ms-crosshair:not([hidden])")).to_have_count(plots.count())
    step = int(page.locator(".ms-run-list-at .en").inner_text().split()[1])
    read = """([plot, step]) => plot.data.filter(t => t.meta && t.meta.key !== undefined).map((t) => {
      const line = plot.calcdata.find((points) => points[0].trace._input === t);
      const away = ({ x }) => Math.abs(x - step);
      return line.reduce((nearest, point) => (away(point) < away(nearest) ? point : nearest)).y;
    })"""
    plot = plots.nth(0).locator(".js-plotly-plot").element_handle()
    wanted = [page.evaluate(read, [plot, step + away]) for away in (-0.5, 0.5)]  # the step is rounded
    here = rows.locator(".ms-run-list-value").all_inner_texts()
    assert here != last
    # A run that is NaN there is in the list, and not among the points of its line.
    shown = {place: float(value) for place, value in enumerate(here) if value != "NaN"}
    assert shown
    assert any(shown == pytest.approx({place: values[place] for place in shown}, rel=5e-4) for values in wanted)
    heads = page.locator(".ms-two-runs-curve").first.locator("[data-run] .ms-two-runs-here").all_inner_texts()
    assert heads == here
    rows.nth(0).hover()
    dim = """plots => plots.every(plot => Array.from(plot.querySelectorAll(".scatterlayer > .trace"))
      .some(trace => getComputedStyle(trace).opacity < 0.5))"""
    expect(page.locator(".ms-two-runs-plot .ms-lit-trace").first).to_be_attached()
    assert plots.evaluate_all(dim)
    rows.nth(0).locator(".ms-run-list-name").click()
    expect(page.locator(".ms-two-runs-curve").first.locator("[data-run]")).to_have_count(1)
    in_address(page, "hide")
    page.locator(".ms-two-runs-run-list .ms-run-list-all").click()
    expect(page.locator(".ms-two-runs-curve").first.locator("[data-run]")).to_have_count(2)


@pytest.mark.long
def test_columns_of_tables_do_not_overlap_at_any_width(page: Page, real: str) -> None:
    show(page, real + "/two_runs?one=lenet_adam_lr0.01_b64&other=lenet_momentum_lr0.1_b32")
    tables = page.locator(":is(.ms-two-runs-card-pipeline, .ms-two-runs-card-settings, .ms-two-runs-card-heading) table")
    expect(tables).to_have_count(4)
    expect(page.locator(".ms-two-runs-card-pipeline td").first).to_be_visible()
    for width in (1440, 1280, 1150, 1101, 1000, 700, 390):
        page.set_viewport_size({"width": width, "height": 900})
        spilt = tables.evaluate_all("""(tables) => tables.filter((table) => table.checkVisibility()).flatMap((table) => {
          const cells = Array.from(table.querySelectorAll("th, td"));
          const wide = table.scrollWidth > table.parentElement.clientWidth ? ["table"] : [];
          const right = (part) => part.getBoundingClientRect().right;
          const spills = (cell) => Array.from(cell.querySelectorAll("*")).some((part) => right(part) > right(cell) + 1);
          return [...wide, ...cells.filter(spills).map((cell) => cell.textContent)];
        })""")
        assert spilt == [], width
