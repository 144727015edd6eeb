"""The model lineage page in a browser: axes, brush, table and link tell of the same runs."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

from playwright.sync_api import Browser, Locator, Page, expect

from app import create_app
from app.store import Store
from tests.writers import plotly_programs

PLOT = ".ms-lineage-drawn .ms-lineage-plot"
COUNT = ".ms-lineage-rows .ms-lineage-told .en"


def axis(page: Page, name: str) -> Locator:
    return page.locator(f"{PLOT} .y-axis", has=page.locator(".axis-title", has_text=re.compile(f"^{name}$")))


def brush(page: Page, name: str, part_from: float, part_to: float) -> None:
    box = axis(page, name).locator(".axis-brush .background").bounding_box()
    assert box is not None
    x = box["x"] + box["width"] / 2
    page.mouse.move(x, box["y"] + box["height"] * part_from)
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(x, box["y"] + box["height"] * (part_from + (part_to - part_from) * step / 5))
    page.mouse.up()


def names(page: Page) -> list[str]:
    rows = page.locator(".ms-lineage-grid .ag-pinned-left-cols-container .ag-row").all()
    return [row.inner_text().strip() for row in sorted(rows, key=lambda row: int(row.get_attribute("row-index") or 0))]


def test_a_brush_filters_the_table_and_a_link_restores_it(page: Page, real_data: Path, serve) -> None:
    store = Store([real_data / "summary"], interval=0).start()
    assert store.wait(60)
    accuracy = {row.run: row.settings["metric/accuracy"] for row in store.lineage() if "metric/accuracy" in row.settings}
    good = {run for run, value in accuracy.items() if isinstance(value, float) and value > 0.6}
    page.goto(serve(create_app(store).server) + "/lineage")
    expect(page.locator(COUNT)).to_have_text("22 of 22 runs")
    expect(axis(page, "accuracy")).to_have_count(1)
    brush(page, "accuracy", 0.004, 0.45)
    expect(page.locator(COUNT)).to_have_text(f"{len(good)} of 22 runs")
    assert set(names(page)) == good
    (state,) = parse_qs(urlsplit(page.url).query)["brush"]
    assert json.loads(state)[0] == "metric/accuracy"

    page.locator(".ag-header-cell[col-id='=metric/accuracy']").click()
    expect(page).to_have_url(re.compile("sort="))
    assert names(page) == sorted(good, key=lambda run: accuracy[run])
    link = page.locator("[data-kind=csv]")
    page.locator(".ms-lineage-rows summary").click()
    with page.expect_download():
        link.click()
    address = str(link.evaluate("link => link.href"))
    rows = list(csv.DictReader(io.StringIO(urlopen(address).read().decode())))
    assert [row["run"] for row in rows] == names(page)
    assert [float(row["metric/accuracy"]) for row in rows] == [accuracy[run] for run in names(page)]

    shown = names(page)
    page.reload()
    expect(page.locator(COUNT)).to_have_text(f"{len(good)} of 22 runs")
    expect(page.locator(f"{PLOT} .axis-brush .highlight[stroke-dasharray]").first).to_be_attached()
    assert names(page) == shown
    page.locator('[data-act="unbrush"]').click()
    expect(page.locator(COUNT)).to_have_text("22 of 22 runs")
    store.stop()


def test_runs_are_hidden_and_columns_chosen(page: Page, address: str) -> None:
    page.goto(f"{address}/lineage?col=learning_rate&col=optimizer")
    expect(page.locator(f"{PLOT} .y-axis")).to_have_count(2)
    total = int(page.locator(COUNT).inner_text().split()[0])
    page.locator(".ms-lineage-grid .ag-center-cols-container, .ms-lineage-grid .ag-pinned-left-cols-container").first.wait_for()
    page.locator(".ms-lineage-grid .ag-row .ag-checkbox-input").first.check()
    page.locator('[data-act="hide"]').click()
    expect(page.locator(COUNT)).to_have_text(f"{total - 1} of {total} runs")
    page.locator('[data-act="unhide"]').click()
    expect(page.locator(COUNT)).to_have_text(f"{total} of {total} runs")
    page.locator(".ms-lineage-columns > summary").click()
    page.locator(".ms-lineage-find").fill("optimizer")
    page.locator('.ms-lineage-list input[value="optimizer"]').uncheck()
    expect(page.locator(f"{PLOT} .y-axis")).to_have_count(1)
    expect(page.locator(".ag-header-cell[col-id='=optimizer']")).to_have_count(0)


def test_the_programs_of_the_plot_are_those_of_the_installed_plotly(browser: Browser) -> None:
    assert plotly_programs.ASSET.read_text(encoding="utf-8") == plotly_programs.asset(plotly_programs.programs(browser))
