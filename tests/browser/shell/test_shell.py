"""Shell and runs page, used as a person would."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import BrowserContext, Page, Request, expect

from app import create_app
from app.store.store import Store
from parsers import Problem
from tests.browser.showing import show
from tests.recorded import RECORDED
from tests.sources import MemorySource, row


def open_runs(page: Page, address: str, query: str = "") -> None:
    show(page, address + "/" + query)
    expect(page.locator(".ag-root").get_by_text("long_history", exact=True).first).to_be_visible()


def test_theme_and_language_switch_without_a_reload(page: Page, address: str) -> None:
    open_runs(page, address)
    page.evaluate("window.stillHere = true")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("[data-action=theme]").first.click()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.locator("[data-action=language]").first.click()
    expect(page.locator("html")).to_have_attribute("lang", re.compile("^zh"))
    expect(page.locator(".ms-menu").get_by_text("训练列表")).to_be_visible()
    assert page.evaluate("window.stillHere") is True
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    expect(page.locator("html")).to_have_attribute("lang", re.compile("^zh"))


@pytest.mark.long
def test_a_visitor_from_china_reads_chinese(context: BrowserContext, address: str) -> None:
    assert context.browser is not None
    with context.browser.new_context(locale="zh-CN") as chinese:
        page = chinese.new_page()
        page.goto(address + "/")
        expect(page.locator("html")).to_have_attribute("lang", re.compile("^zh"))


@pytest.mark.long
def test_a_new_run_appears_with_its_name_as_text_its_damage_is_shown_and_a_deleted_one_goes(
    page: Page, address: str, base: Path
) -> None:
    open_runs(page, address)
    page.evaluate("window.stillHere = true")
    shutil.copytree(RECORDED / "nan_inf", base / "brand_new")
    name = '<img src=x onerror="window.ran=1"><b>bold'
    shutil.copytree(RECORDED / "nan_inf", base / name)
    grid = page.locator(".ag-root")
    expect(grid.get_by_text("brand_new", exact=True).first).to_be_visible()
    expect(grid.get_by_text(name, exact=True).first).to_be_visible()
    assert page.evaluate("window.ran") is None
    shutil.rmtree(base / "brand_new")
    expect(grid.get_by_text("brand_new", exact=True)).to_have_count(0)
    original = next(iter((RECORDED / "long_history").iterdir()))
    data = bytearray(original.read_bytes())
    data[20_000] ^= 0xFF
    path = base / "damaged" / original.name
    path.parent.mkdir()
    path.write_bytes(bytes(data))
    badge = page.locator(".ms-health").first
    expect(badge).to_contain_text("problem")
    badge.click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("damaged")
    expect(dialog).to_contain_text(path.name)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert page.evaluate("window.stillHere") is True


@pytest.mark.long
def test_what_is_sent_of_the_list_of_runs_is_what_changed(page: Page, address: str, base: Path) -> None:
    """All rows to who has none, then none, when a run comes its row and when it goes its key.

    A slow browser may ask twice before the first answer has arrived, which is then sent twice.
    """
    asked: list[Request] = []
    page.on("requestfinished", lambda one: asked.append(one) if "-changes.data" in (one.post_data or "") else None)

    def sent() -> list[tuple[Any, dict[str, Any]]]:
        """Marks that requests had, and what was answered."""
        found = []
        for one in asked:
            state = {given["id"].rpartition("-")[2]: given.get("value") for given in one.post_data_json["state"]}
            answer = one.response()
            parts = answer.json().get("response", {}) if answer is not None and answer.status == 200 else {}
            found += [(state["mark"], part["data"]) for name, part in parts.items() if name.endswith("-changes")]
        return found

    open_runs(page, address)
    page.locator('.ms-menu-link[data-page="scalars"]').click()
    expect(page.locator(".ms-card").first).to_be_visible()
    first = sent()
    every = len(first[0][1]["rows"])
    assert every > 5
    assert all(part["whole"] == (not mark) for mark, part in first)
    assert all(len(part["rows"]) == (0 if mark else every) for mark, part in first)
    page.keyboard.press("p")
    shutil.copytree(RECORDED / "long_history", base / "newcomer")
    name = page.locator(".ms-panel-name").get_by_text("newcomer", exact=True)
    expect(name).to_be_visible()
    shutil.rmtree(base / "newcomer")
    expect(name).to_have_count(0)
    later = [part for mark, part in sent() if mark]
    assert not any(part["whole"] for part in later)
    changed = {one["key"] for part in later for one in part["rows"]}
    assert "newcomer" in changed
    assert len(changed) < every, "the others are those that are younger and get another colour"
    assert {key for part in later for key in part["gone"]} == {"newcomer"}


def test_the_badge_of_a_run_opens_its_problems_alone(page: Page, serve: Callable[[Flask], str]) -> None:
    found = [("a", Problem("/data/a", n * 1000, 8, "bad_data", "lost")) for n in range(50)] + [
        ("b", Problem("/data/b", 7, 8, "bad_length", "lost"))
    ]
    source = MemorySource(rows=[row("a", problems=50), row("b", problems=1)], problems=found)
    page.goto(serve(create_app(source).server) + "/")
    page.locator('[row-id="a"] .ms-badge-button').click()
    dialog = page.locator("dialog[open]")
    expect(dialog.locator(".ms-problem")).to_have_count(1)
    expect(dialog.locator(".ms-problem-place")).to_have_text("× 50")
    expect(dialog.locator(".ms-problem-places")).to_contain_text("0 · 1,000 · 2,000")
    expect(dialog.locator(".ms-problem-places")).to_contain_text("and 10 more")
    dialog.locator(".ms-health-line button").click()
    expect(dialog.locator(".ms-problem")).to_have_count(2)


@pytest.mark.long
def test_a_reading_that_failed_is_said_until_one_succeeds(page: Page, serve: Callable[[Flask], str]) -> None:
    source = MemorySource(rows=[row("a")])
    source.failed = "OSError: No space left"
    page.goto(serve(create_app(source).server) + "/")
    failure = page.locator(".ms-failure")
    expect(failure).to_be_visible()
    expect(failure).to_have_attribute("title", re.compile("No space left"))
    failure.click()
    expect(page.locator("dialog[open]")).to_contain_text("No space left")
    page.keyboard.press("Escape")
    source.failed = ""
    page.keyboard.press("r")
    expect(failure).to_be_hidden()


@pytest.mark.long
def test_a_paused_refresh_says_so_and_when_it_was(page: Page, address: str) -> None:
    open_runs(page, address)
    page.evaluate("mindscope.prefs.set({refresh: false})")
    expect(page.locator(".ms-read .en")).to_have_text(re.compile(r"^paused · read .* ago$"))


@pytest.mark.long
def test_an_unknown_page_leads_back(unwatched: Page, address: str) -> None:
    unwatched.goto(address + "/no-such-page")
    expect(unwatched.locator(".ms-empty-sentence .en")).to_have_text("This page does not exist.")
    unwatched.locator(".ms-main a").click()
    expect(unwatched.locator(".ag-root")).to_be_visible()
    assert unwatched.url == address + "/"


@pytest.mark.long
def test_the_shell_can_be_left_out(page: Page, address: str) -> None:
    open_runs(page, address, "?embed=1")
    expect(page.locator(".ms-menu")).to_be_hidden()
    expect(page.locator(".ms-top")).to_be_hidden()


@pytest.mark.long
def test_usable_at_1000_pixels(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1000, "height": 700})
    open_runs(page, address)
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0


@pytest.mark.long
def test_pages_whose_data_damage_has_taken_list_the_damage(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path
) -> None:
    shutil.copytree(RECORDED / "lenet_landscape", tmp_path / "runs" / "cut")
    for path in (tmp_path / "runs" / "cut").iterdir():
        os.truncate(path, min(path.stat().st_size, 100))
        os.utime(path, (time.time() - 3600,) * 2)
    store = Store([tmp_path / "runs"], interval=0.2).start()
    address = serve(create_app(store).server)
    try:
        for name in ("landscape", "graph", "histograms", "dataset", "scalars", "model_lineage"):
            show(page, f"{address}/{name}?run=cut")
            problems = page.locator(".ms-empty-damage:visible li")
            expect(problems).to_have_count(3)
            expect(problems.filter(has_text="It holds: graph")).to_have_count(1)
            expect(page.locator(".ms-code:visible")).to_have_count(0)
            page.locator('.ms-empty:visible [data-action="health"]').click()
            expect(page.locator("dialog[open] .ms-problem")).to_have_count(3)
            page.keyboard.press("Escape")
            expect(page.locator("dialog[open]")).to_have_count(0)
    finally:
        store.stop()


@pytest.mark.long
def test_the_data_health_shows_the_progress_of_verifying(page: Page, serve: Callable[[Flask], str]) -> None:
    source = MemorySource(rows=[row("a")])
    source.checked = (1200, 5000)
    page.goto(serve(create_app(source).server) + "/")
    expect(page.locator(".ms-health").first).to_have_attribute("title", re.compile(r"1,200 of 5,000 \(24\.0 %\)"))
    page.locator(".ms-health").first.click()
    line = page.locator("dialog[open] .ms-health-verified")
    expect(line).to_contain_text("1,200 of 5,000 (24.0 %)")
    source.checked = (5000, 5000)
    expect(line).to_contain_text("all 5,000 large values have been verified")


@pytest.mark.long
def test_a_missing_directory_is_said_instead_of_how_to_record(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path
) -> None:
    store = Store([tmp_path / "later"], interval=0.2).start()
    try:
        page.goto(serve(create_app(store).server) + "/scalars")
        expect(page.locator(".ms-frame-missing")).to_be_visible()
        expect(page.locator(".ms-code:visible")).to_have_count(0)
        (tmp_path / "later").mkdir()
        expect(page.locator(".ms-frame-missing")).to_be_hidden()
        expect(page.locator(".ms-frame-empty .ms-code:visible")).to_have_count(1)
    finally:
        store.stop()


def test_several_directories_are_named_in_the_header(page: Page, serve: Callable[[Flask], str], tmp_path: Path) -> None:
    for name in ("first", "second"):
        shutil.copytree(RECORDED / "several_files", tmp_path / name / "run")
    store = Store([tmp_path / "first", tmp_path / "second"], names={str(tmp_path / "second"): "night"}).start()
    try:
        page.goto(serve(create_app(store).server) + "/scalars")
        base = page.locator(".ms-place .ms-base")
        expect(base).to_have_text("first, night")
        expect(base).to_have_attribute("title", os.pathsep.join([str(tmp_path / "first"), str(tmp_path / "second")]))
    finally:
        store.stop()


COUNTED = """() => {
    const hidden = [...document.querySelectorAll('.ms-menu-link[hidden]')];
    return hidden.length > 0 && hidden.every((link) => link.getAttribute('aria-disabled') === 'true')
        && document.querySelector('.ms-menu-rest').innerText === `No data (${hidden.length})`;
}"""
"""Entries are hidden, greyed and counted: looked at all at once, since some get their data later."""


def test_escape_closes_the_run_picker_and_pages_without_data_are_behind_one_entry_of_the_menu(page: Page, address: str) -> None:
    show(page, f"{address}/scalars?run=lenet_sink_mode")
    expect(page.locator(".ms-slot:not([hidden])").first).to_be_visible()
    panel = page.locator(".ms-panel")
    page.keyboard.press("p")
    expect(panel).to_be_visible()
    page.evaluate("document.activeElement.blur()")  # wherever the focus is
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()

    rest = page.locator(".ms-menu-rest")
    expect(rest).to_be_visible()
    hidden = page.locator(".ms-menu-link[hidden]")
    page.wait_for_function(COUNTED)
    rest.click()
    expect(hidden).to_have_count(0)
    expect(rest).to_contain_text("Hide pages without data")
    rest.click()
    page.wait_for_function(COUNTED)


def test_the_first_tab_leads_past_the_menu(page: Page, recorded: str) -> None:
    page.goto(f"{recorded}/overview?run=lenet_sink_mode")
    expect(page.locator(".ms-tiles")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator(".ms-skip")).to_be_focused()
    expect(page.locator(".ms-skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.matches('main')")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.activeElement.matches('main *')")


def test_arrow_keys_move_in_the_menu_which_is_one_stop_of_tab(page: Page, recorded: str) -> None:
    page.goto(f"{recorded}/scalars?run=lenet_sink_mode")
    expect(page.locator(".ms-slot:not([hidden])").first).to_be_visible()
    page.locator(".ms-menu-link[aria-current]").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".ms-menu-link[aria-current]")).to_be_focused()
    expect(page.locator('.ms-menu-link[tabindex="0"]')).to_have_count(1)
    page.keyboard.press("Home")
    expect(page.locator(".ms-menu-link").first).to_be_focused()
    page.keyboard.press("Tab")
    page.wait_for_function("() => !document.activeElement.matches('.ms-menu-link')")

    page.locator(".ms-skip[data-to]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".ms-slot:not([hidden])").first).to_be_focused()
