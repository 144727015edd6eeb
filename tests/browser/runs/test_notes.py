"""Remarks, tags and saved views in a browser: edited, found again after a restart, in two windows at once."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from flask import Flask
from playwright.sync_api import Locator, Page, Route, expect

from app import create_app
from app.web.server import Application
from tests.browser.showing import show
from tests.browser.waiting import becomes, frames
from tests.sources import MemorySource, series

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)> =cmd()"


@pytest.fixture
def opened(base: Path, tmp_path: Path, serve: Callable[[Flask], str]):
    """Opens the runs with the same workspace, as often as one likes; gives the address."""
    started: list[Application] = []

    def start() -> str:
        for app in started:
            app.source.stop()
        app = create_app(base, workspace=tmp_path / "workspace")
        started.append(app)
        assert app.source.wait(30)
        return serve(app.server)

    yield start
    for app in started:
        app.source.stop()


def cell(page: Page, run: str, column: str) -> Locator:
    return page.locator(f".ag-row[row-id='{run}'] [col-id={column}]")


def post(address: str, path: str, change: dict[str, object]) -> dict:
    request = Request(f"{address}/api/{path}", json.dumps(change).encode(), {"Content-Type": "application/json"})
    return json.load(urlopen(request))


@pytest.mark.long
def test_remarks_and_tags_outlive_the_server(page: Page, opened: Callable[[], str]) -> None:
    address = opened()
    show(page, f"{address}/model_lineage?col=learning_rate&col=optimizer&without=")
    run = page.locator(".ms-lineage-grid .ag-row").first.get_attribute("row-id") or ""
    cell(page, run, "remark").dblclick()
    expect(page.locator(".ms-note-field")).to_be_focused()
    page.keyboard.insert_text(HOSTILE)
    page.keyboard.press("Shift+Enter")
    page.keyboard.insert_text("第二行")
    page.keyboard.press("Enter")
    expect(cell(page, run, "remark")).to_have_text(re.compile("第二行"))
    expect(page.locator(".ms-note-box")).to_have_count(0)
    expect(cell(page, run, "remark")).to_be_focused()
    page.keyboard.press("ArrowRight")  # on to the tags, by keys alone
    page.keyboard.press("Enter")
    expect(page.locator(".ms-note-box-tags input")).to_be_focused()
    page.keyboard.insert_text("paper")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Star", exact=True).click()
    page.get_by_role("button", name="Bug", exact=True).click()
    expect(cell(page, run, "tags").locator(".ms-icon-bug")).to_have_count(1)
    page.get_by_role("button", name="Bug", exact=True).click()
    page.keyboard.press("Escape")
    expect(cell(page, run, "tags").locator(".ms-icon-star")).to_have_count(1)
    expect(cell(page, run, "tags").locator(".ms-icon-bug")).to_have_count(0)
    expect(cell(page, run, "tags")).to_have_text("paper")

    # Somebody else changes the remark while it is edited here: neither is lost.
    cell(page, run, "remark").dblclick()
    expect(page.locator(".ms-note-field")).to_have_value(f"{HOSTILE}\n第二行")
    known = post(address, "note", {"run": run, "add": ["other"]})["now"]
    assert post(address, "note", {"run": run, "remark": "theirs", "was": known["version"]})["done"]
    page.locator(".ms-note-field").fill("mine")
    page.keyboard.press("Enter")
    expect(page.locator(".ms-note-theirs")).to_have_text("theirs")
    page.get_by_role("button", name="Keep both").click()
    expect(page.locator(".ms-note-field")).to_have_value("theirs\nmine")
    page.keyboard.press("Enter")
    expect(page.locator(".ms-note-box")).to_have_count(0)

    address = opened()
    show(page, f"{address}/model_lineage?col=learning_rate&col=optimizer")
    expect(cell(page, run, "remark")).to_have_text(re.compile("^theirs\\s+mine$"))
    expect(cell(page, run, "tags").locator(".ms-label")).to_have_text(["other", "paper"])
    page.locator(".ag-header-cell[col-id=tags]").click()  # what has none comes last
    expect(page.locator(".ms-lineage-grid .ag-row[row-index='0']").first).to_have_attribute("row-id", run)
    page.locator(".ms-lineage-rows summary").click()
    with page.expect_download() as download:
        page.locator("[data-kind=csv]").click()
    exported = csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8")))
    assert {row["run"]: (row["remark"], row["tags"]) for row in exported if row["remark"]} == {
        run: ("theirs\nmine", "star, other, paper")
    }

    show(page, f"{address}/overview?run={run}")
    expect(page.locator(".ms-note-remark")).to_have_text("theirs\nmine")
    page.locator(".ms-note-remark").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("seen")
    page.locator(".ms-overview-facts").click()  # leaving the box saves
    expect(page.locator(".ms-note-remark")).to_have_text("seen")
    show(page, f"{address}/?q=paper+seen+star")
    rows = page.locator(".ms-runs-grid .ag-center-cols-container .ag-row")
    expect(rows).to_have_count(1)
    expect(rows).to_have_attribute("row-id", run.partition("/rank_")[0])  # a job is found by what is said of its ranks


def test_the_name_of_a_view_has_the_focus_also_if_the_runs_come_late(page: Page, opened: Callable[[], str]) -> None:
    held: list[Route] = []
    opening = False

    def hold(route: Route) -> None:
        if opening:
            route.continue_()
        else:
            held.append(route)

    page.route(re.compile("_dash-update-component"), hold)
    page.goto(opened())
    page.locator(".ms-views summary").click()
    becomes(page, lambda: len(held) > 0, True)
    frames(page, 4)
    expect(page.locator(".ms-views input")).to_have_count(0)
    opening = True
    for route in held:
        route.continue_()
    expect(page.locator(".ms-views-none")).to_be_visible()
    expect(page.locator(".ms-views input[type=text]")).to_be_focused()


@pytest.mark.long
def test_views_are_saved_and_opened(page: Page, opened: Callable[[], str]) -> None:
    address = opened()
    show(page, f"{address}/scalars?run=nan_inf&smooth=0.9&tags=loss")
    views = page.locator(".ms-views")
    views.locator("summary").click()
    expect(views.locator(".ms-views-none")).to_be_visible()
    expect(views.locator("input[type=text]")).to_be_focused()
    page.keyboard.insert_text(HOSTILE)
    page.keyboard.press("Enter")
    entry = views.locator(".ms-views-open")
    expect(entry).to_have_text(HOSTILE)
    saved = page.url
    page.keyboard.press("Escape")
    page.locator(".ms-menu-link[data-page=model_lineage]").click()
    expect(page).to_have_url(re.compile("/model_lineage"))

    views.locator("summary").click()  # the name is taken: overwriting asks
    expect(views.locator("input[type=text]")).to_be_focused()
    page.keyboard.insert_text(HOSTILE)
    page.keyboard.press("Enter")
    expect(views.get_by_text("A view of that name exists.")).to_be_visible()
    views.get_by_role("button", name="Cancel").click()
    entry.click()
    expect(page).to_have_url(saved)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()

    address, before = opened(), address
    show(page, f"{address}/")
    views.locator("summary").click()
    views.get_by_role("button", name="Rename").click()
    page.keyboard.insert_text("NaN")
    page.keyboard.press("Enter")
    expect(entry).to_have_text("NaN")
    entry.click()
    expect(page).to_have_url(saved.replace(before, address))
    views.locator("summary").click()
    views.get_by_role("button", name="Delete").click()
    page.keyboard.press("Escape")
    expect(entry).to_have_count(1)
    views.get_by_role("button", name="Delete").click()
    views.locator(".ms-views-edit").get_by_role("button", name="Delete").click()
    expect(views.locator(".ms-views-none")).to_be_visible()


@pytest.mark.long
def test_without_a_workspace_it_is_said(page: Page, address: str, base: Path) -> None:
    show(page, f"{address}/overview")
    expect(page.locator(".ms-notes-line")).to_contain_text("cannot be saved")
    page.locator(".ms-views summary").click()
    expect(page.locator(".ms-views-message")).to_contain_text("cannot be saved")
    expect(page.locator(".ms-views form")).to_be_hidden()
    show(page, f"{address}/")
    row = page.locator(".ag-pinned-left-cols-container .ag-row").first
    row.hover()
    row.locator(".ms-runs-note").click()
    expect(page.locator(".ms-note-box")).to_contain_text("cannot be saved")


def test_a_long_name_has_the_width_of_its_cell_and_its_button_lies_over_it(page: Page, serve: Callable[[Flask], str]) -> None:
    source = MemorySource({f"run_{'long_' * 12}{n}": {"scalar": {"loss": series(5, n)}} for n in range(2)})
    show(page, f"{serve(create_app(source).server)}/")
    row = page.locator(".ag-pinned-left-cols-container .ag-row").first
    name, button = row.locator(".ms-run-name"), row.locator(".ms-runs-note")
    expect(button).to_have_css("opacity", "0")
    expect(button).to_have_css("pointer-events", "none")
    ends = "one => one.getBoundingClientRect().right"
    assert name.evaluate(ends) == row.locator(".ms-run").evaluate(ends)
    page.locator(".ag-center-cols-container .ag-row [col-id=state]").first.click()  # a cell without links
    expect(button).to_have_css("opacity", "1")  # a touch gives focus, too
    row.locator(".ag-cell").last.evaluate("cell => cell.focus()")
    page.keyboard.press("F2")
    expect(page.locator(".ms-note-box")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".ms-note-box")).to_have_count(0)
