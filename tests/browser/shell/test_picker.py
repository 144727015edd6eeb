"""The run picker and the grid of runs are two views of one choice, which is in the address and the same in Python."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from layouts.runs.chosen_runs import selected_runs
from layouts.runs.rows import RunRow
from layouts.shell.run_list import listing
from tests.browser.conftest import in_address
from tests.browser.short_names import meant, names_on
from tests.browser.showing import show
from tests.browser.waiting import frames, polls, steady
from tests.sources import MemorySource, row

Serve = Callable[[Flask], str]


def many(count: int) -> list[RunRow]:
    now = time.time()
    made = [row(f"sweep/run_{n:04d}", updated=now - 60 * n) for n in range(count)]
    if count > 12:
        made[2] = row("job", [f"job/rank_{n}" for n in range(4)], updated=now - 120)
    return made


def settle(page: Page) -> None:
    """dash-ag-grid asks a grid for its selection a moment after it changed, and AG Grid warns if it has gone by then."""
    frames(page, 15)


@pytest.fixture
def source() -> MemorySource:
    """Thirty runs, for a test that changes them."""
    return MemorySource(rows=many(30))


@pytest.fixture(scope="module")
def address(serve_file: Serve) -> str:
    """The application over thirty runs, which nothing changes."""
    return serve_file(create_app(MemorySource(rows=many(30))).server)


@pytest.fixture
def opened(page: Page, address: str) -> Page:
    show(page, address + "/")
    expect(page.locator('[row-id="sweep/run_0000"] .ag-checkbox-input').first).to_be_checked()
    settle(page)
    return page


def browser_rows(source: MemorySource) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = listing(source)["rows"]
    return rows


@pytest.mark.long
def test_colours_and_choice_are_the_same_in_browser_and_server(opened: Page, source: MemorySource) -> None:
    source.rows[20:] = [replace(r, tags={"image": 1, **r.tags}) for r in source.rows[20:]]
    chance = random.Random(7)
    keys = [key for r in source.rows for key in (r.key, *r.members)]
    states: list[dict[str, list[str]]] = [{}, {"run": [""]}, {"run": ["*"]}, {"run": ["job"]}, {"run": ["job/rank_2", "gone"]}]
    states += [{"run": chance.sample(keys, chance.randint(1, 25))} for _ in range(60)]
    cases = [(state, every) for every in (False, True) for state in states]
    got = opened.evaluate(
        """async ([cases, rows]) => {
             const { selected, encode, colours } = await import("/assets/kit/run_selection.js");
             const { merged } = await import("/assets/kit/runs.js");
             return cases.map(([state, changes]) => {
               const runs = { ...merged(null, changes, ["image"]), rows };
               const chosen = selected(state, runs);
               const again = selected({run: encode(chosen, rows)}, runs);
               return [[...chosen], [...again], Object.fromEntries(colours(chosen, rows, state))];
             });
           }""",
        [[(state, listing(source, ("image",), every=every)) for state, every in cases], browser_rows(source)],
    )
    for (state, every), (chosen, again, drawn) in zip(cases, got, strict=True):
        expected = selected_runs(state, source, ("image",), every=every)
        assert chosen == expected == again
        assert drawn == {key: colour for key, colour in source.runs.colours(state.get("run", ())).items() if key in expected}


def test_search_ranges_and_buttons_of_the_picker(opened: Page) -> None:
    opened.keyboard.press("p")
    search = opened.locator(".ms-panel-search input")
    expect(search).to_be_focused()
    opened.locator(".ms-panel-tools button").nth(1).click()
    expect(opened.locator(".ms-picker-count .en")).to_have_text("0 of 30 runs")
    rows = opened.locator(".ms-panel-row")
    rows.nth(4).click()
    rows.nth(8).click(modifiers=["Shift"])
    expect(opened.locator(".ms-picker-count .en")).to_have_text("5 of 30 runs")
    opened.locator(".ms-panel-search button").click()
    search.fill(r"run_00(1|2)\d$")
    expect(opened.locator(".ms-panel-found")).to_have_text("20 / 30")
    opened.locator(".ms-panel-tools button").first.click()
    expect(opened.locator(".ms-picker-count .en")).to_have_text("25 of 30 runs")
    search.fill("run_00(")
    expect(search).to_have_attribute("aria-invalid", "true")
    search.fill("job")
    opened.locator("[data-expand]").click()
    expect(rows).to_have_count(5)
    rows.nth(2).click()
    expect(opened.locator(".ms-picker-count .en")).to_have_text("26 of 30 runs")
    assert "run=job/rank_1" in opened.url
    opened.keyboard.press("Escape")
    expect(opened.locator(".ms-panel")).to_be_hidden()
    expect(opened.locator(".ms-picker-open")).to_be_focused()


@pytest.mark.long
def test_a_search_and_a_choice_of_just_what_it_found(opened: Page) -> None:
    opened.keyboard.press("/")
    opened.keyboard.type("run_002")
    expect(opened.locator(".ms-runs-chosen .en")).to_have_text("10 of 30 runs match · 10 chosen")
    opened.locator('[data-act="only"]').click()
    expect(opened).to_have_url(re.compile(r"run=sweep/run_0029$"))
    assert [opened.url.count("run="), opened.url.count("run_002")] == [10, 10 + 1]  # and once as the search
    opened.locator(".ms-filter input").fill("")
    expect(opened.locator(".ms-runs-chosen .en")).to_have_text("30 runs (33 ranks) · 10 chosen")
    expect(opened.locator('[data-act="only"]')).to_be_hidden()
    opened.locator('[data-act="clear"]').click()
    expect(opened.locator(".ms-runs-chosen .en")).to_have_text("30 runs (33 ranks) · 0 chosen")


@pytest.mark.long
def test_the_name_of_a_run_opens_it(opened: Page) -> None:
    opened.locator('[row-id="sweep/run_0004"] .ms-run-name').click()
    expect(opened).to_have_url(re.compile(r"/overview\?run=sweep/run_0004$"))


@pytest.mark.long
def test_the_picker_finds_the_chosen_among_a_thousand(page: Page, serve: Serve) -> None:
    page.goto(serve(create_app(MemorySource(rows=many(1000))).server) + "/scalars?run=sweep/run_0700&run=sweep/run_0900")
    page.locator(".ms-picker-open").click()
    expect(page.locator('.ms-panel-row[aria-selected="true"]')).to_have_count(1)
    expect(page.locator('.ms-panel-row[aria-selected="true"]')).to_be_in_viewport()
    only = page.locator(".ms-panel-tools button").last
    only.click()
    rows = page.locator(".ms-panel-row")
    expect(rows).to_have_count(2)
    rows.first.click()  # what is taken off the screen stays in the list, to be put back
    expect(page.locator(".ms-picker-count .en")).to_have_text("1 of 1,000 runs")
    expect(rows).to_have_count(2)


@pytest.mark.long
def test_chips_tell_runs_apart(page: Page, serve: Serve) -> None:
    long = "lenet_with_momentum_and_a_long_name_lr"
    names = [f"{long}{n}_b{n}" for n in range(9)] + ["a/run", "b/run"]
    page.goto(serve(create_app(MemorySource(rows=[row(name) for name in names])).server) + "/scalars?run=a/run")
    expect(page.locator(".ms-chip-name").first).to_have_text("a/run")
    expect(page.locator(".ms-picker-count .en")).to_have_text("1 of 11 runs")
    show(page, page.url.partition("?")[0] + "?run=*")
    expect(page.locator(".ms-chip:not([hidden]) .ms-name").nth(2)).to_be_visible()
    steady(page, "() => [...document.querySelectorAll('.ms-name')].map((one) => one.dataset.short)")
    shown = names_on(page, ".ms-chip .ms-name")
    assert all(meant(one.short, names) == [one.name] for one in shown)
    assert [one for one in shown if one.over > 1] == []
    assert page.locator(".ms-chips").evaluate("e => e.scrollWidth <= e.clientWidth")


@pytest.mark.long
def test_a_run_that_is_gone_is_named(page: Page, address: str) -> None:
    show(page, address + "/scalars?run=was/here")
    sentence = page.locator(".ms-frame-gone .ms-empty-sentence .en")
    expect(sentence).to_have_text("The run of this link does not exist: was/here")
    page.locator('[data-action="newest"]').click()
    expect(sentence).to_be_hidden()
    expect(page.locator(".ms-picker-count .en")).to_have_text("10 best of 30 runs")
    show(page, address + "/scalars?run=was/here&run=sweep/run_0001")
    expect(page.locator(".ms-chip-gone")).to_have_text("was/here")
    page.locator(".ms-chip-gone").hover()
    page.locator(".ms-chip-gone button").click()
    expect(page.locator(".ms-chip-gone")).to_have_count(0)
    in_address(page, "run", "sweep/run_0001")


@pytest.mark.long
def test_back_undoes_what_was_clicked_and_not_each_letter_typed(opened: Page) -> None:
    opened.locator('[row-id="sweep/run_0001"] .ag-checkbox-input').first.uncheck()
    expect(opened.locator(".ms-picker-count .en")).to_have_text("9 of 30 runs")
    opened.keyboard.press("/")
    opened.keyboard.type("sweep", delay=150)
    expect(opened).to_have_url(re.compile("q=sweep$"))
    opened.go_back()
    expect(opened.locator(".ms-picker-count .en")).to_have_text("10 best of 30 runs")
    expect(opened.locator('[row-id="sweep/run_0001"] .ag-checkbox-input').first).to_be_checked()
    opened.go_forward()
    expect(opened.locator(".ms-picker-count .en")).to_have_text("9 of 30 runs")
    expect(opened.locator(".ms-filter input")).to_have_value("sweep")


@pytest.mark.long
def test_the_picker_by_keyboard_alone(opened: Page) -> None:
    opened.keyboard.press("p")
    search = opened.locator(".ms-panel-search input")
    expect(search).to_be_focused()
    opened.keyboard.type("run_0020")
    expect(search).to_have_value("run_0020")
    expect(opened.locator(".ms-panel-row")).to_have_count(1)
    opened.keyboard.press("Enter")
    expect(opened.locator(".ms-picker-count .en")).to_have_text("11 of 30 runs")
    opened.keyboard.press("Alt+Enter")
    expect(opened.locator(".ms-picker-count .en")).to_have_text("1 of 30 runs")
    assert opened.url.endswith("?run=sweep/run_0020")


@pytest.mark.long
def test_grid_and_picker_choose_together_and_a_link_restores_it(opened: Page) -> None:
    opened.locator('[row-id="sweep/run_0001"] .ag-checkbox-input').first.uncheck()
    expect(opened.locator(".ms-picker-count .en")).to_have_text("9 of 30 runs")
    link = opened.url
    assert "run_0001" not in link
    opened.goto("about:blank")
    opened.goto(link)
    expect(opened.locator(".ms-picker-count .en")).to_have_text("9 of 30 runs")
    expect(opened.locator('[row-id="sweep/run_0001"] .ag-checkbox-input').first).not_to_be_checked()
    expect(opened.locator('[row-id="sweep/run_0003"] .ag-checkbox-input').first).to_be_checked()


@pytest.mark.long
def test_back_and_forward_between_pages_keep_the_choice(opened: Page) -> None:
    opened.locator('[row-id="sweep/run_0005"] a[data-page="scalars"].ms-button').click()
    expect(opened).to_have_url(re.compile(r"/scalars\?run=sweep/run_0005$"))
    expect(opened.locator(".ms-picker-count .en")).to_have_text("1 of 30 runs")
    opened.go_back()
    expect(opened.locator(".ms-page-title .en")).to_have_text("Runs")
    expect(opened.locator(".ms-runs-chosen .en")).to_have_text("30 runs (33 ranks) · 10 chosen")
    expect(opened.locator('[row-id="sweep/run_0000"] .ag-checkbox-input').first).to_be_checked()
    settle(opened)
    opened.go_forward()
    expect(opened.locator(".ms-page-title .en")).to_have_text("Scalars")
    opened.locator('.ms-menu-link[data-page=""]').click()
    expect(opened.locator(".ms-runs-chosen .en")).to_have_text("30 runs (33 ranks) · 1 chosen")


@pytest.mark.long
def test_new_data_moves_nothing(page: Page, serve: Serve) -> None:
    source = MemorySource(rows=many(200))
    page.goto(serve(create_app(source).server) + "/?run=sweep/run_0120")
    expect(page.locator(".ag-row").first).to_be_visible()
    page.evaluate("document.querySelector('.ag-body-viewport').scrollTop = 3000")
    expect(page.locator('[row-id="sweep/run_0100"]').first).to_be_visible()
    rows = many(200)
    # A run in the middle grew: it is now the newest and has another value.
    rows.insert(0, replace(rows.pop(100), state="live", main_value=0.125, updated=time.time()))
    source.change(rows)
    page.keyboard.press("r")
    expect(page.locator('[row-id="sweep/run_0100"] [col-id="value"]')).to_contain_text("0.1250")
    assert page.evaluate("document.querySelector('.ag-body-viewport').scrollTop") == 3000
    expect(page.locator(".ms-runs-chosen .en")).to_have_text("200 runs (203 ranks) · 1 chosen")


@pytest.mark.long
def test_an_idle_page_gets_no_rows_again(opened: Page) -> None:
    polls(opened)
    sizes: list[int] = []
    opened.on("response", lambda answer: sizes.append(len(answer.body())))
    polls(opened, 2)
    assert sizes
    assert max(sizes) < 1000


def test_pages_without_data_are_greyed_and_say_why(page: Page, serve: Serve) -> None:
    source = MemorySource(rows=[row("empty", tags={}, state="unreadable", main_tag="", main_value=None)])
    page.goto(serve(create_app(source).server) + "/")
    link = page.locator('.ms-menu-link[data-page="scalars"]')
    expect(link).to_have_attribute("aria-disabled", "true")
    expect(link).to_have_attribute("title", "No run here has this data")
    expect(link).to_be_hidden()
    page.locator(".ms-menu-rest").click()
    link.click(force=True)
    assert "/scalars" not in page.url
    source.change([row("full")])
    page.keyboard.press("r")
    expect(link).to_have_attribute("aria-disabled", "false")


def test_nothing_below_the_directory_says_how_to_record(page: Page, serve: Serve) -> None:
    page.goto(serve(create_app(MemorySource()).server) + "/scalars")
    expect(page.locator(".ms-frame-empty .ms-empty-sentence")).to_be_visible()
    expect(page.locator(".ms-code:visible")).to_contain_text("SummaryCollector")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".ms-code-copy:visible").click()
    assert "callbacks=[summary]" in page.evaluate("navigator.clipboard.readText()")


def test_a_server_that_is_gone_is_said_and_taken_back(unwatched: Page, address: str) -> None:
    unwatched.goto(address + "/")
    expect(unwatched.locator(".ag-row").first).to_be_visible()
    failing = re.compile("_dash-update-component")
    unwatched.route(failing, lambda route: route.fulfill(status=502, body="{}", content_type="application/json"))
    unwatched.keyboard.press("r")
    notice = unwatched.locator(".ms-notice")
    expect(notice).to_contain_text("does not answer")
    unwatched.unroute(failing)
    unwatched.keyboard.press("r")
    expect(notice).to_be_hidden()
