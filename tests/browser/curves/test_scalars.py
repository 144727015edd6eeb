"""The scalars page, used as a person would."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from parsers import open_run
from parsers.recording import EventWriter
from tests.browser.conftest import in_address, not_in_address
from tests.browser.showing import show
from tests.browser.waiting import becomes, polls
from tests.recorded import RECORDED

CARDS = ".ms-slot:not([hidden])"
LINE = ".scatterlayer .trace path.js-line"
WAVES = ("ms-scalars-near", "ms-scalars-far")


def visit(page: Page, address: str, query: str) -> None:
    show(page, f"{address}/scalars?{query}")
    expect(page.locator(f"{CARDS} {LINE}").first).to_be_attached()


def card(page: Page, tag: str) -> Locator:
    return page.locator(CARDS).filter(has=page.get_by_role("heading", name=tag, exact=True))


def drawn(page: Page, tag: str) -> list[dict[str, Any]]:
    """The traces of a card's lines as plotly holds them."""
    script = """card => card.querySelector('.js-plotly-plot')._fullData
        .filter(trace => trace.mode && trace.mode.includes('lines'))
        .map(trace => ({y: Array.from(trace.y, Number), n: trace.y.length}))"""
    found: list[dict[str, Any]] = card(page, tag).evaluate(script)
    return found


def state(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def axes(page: Page) -> Any:
    """[range of x, type of y] of the loss card."""
    return card(page, "loss").locator(".js-plotly-plot").evaluate("p => [p.layout.xaxis.range, p.layout.yaxis.type]")


def drag(page: Page, tag: str, begin: float, end: float) -> None:
    """A box over a part of a plot's width."""
    box = card(page, tag).locator(".nsewdrag").first.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * begin, y - 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * end, y + 40, steps=8)
    page.mouse.up()


def test_every_point_of_a_small_run_is_drawn(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_sink_mode")
    wanted = open_run(RECORDED / "lenet_sink_mode").series("loss").value
    (line,) = drawn(page, "loss")
    assert np.allclose(line["y"], wanted, rtol=1e-6)
    expect(card(page, "loss")).to_contain_text(f"all {len(wanted)} points")


def test_zoom_reads_the_raw_points_of_the_range_again(page: Page, address: str) -> None:
    visit(page, address, "run=long_history&tag=loss")
    total = len(open_run(RECORDED / "long_history").resolved("loss").step)
    expect(card(page, "loss")).to_contain_text(f"{total:,} points")
    before = drawn(page, "loss")[0]["n"]
    with page.expect_request(lambda request: "_dash-update-component" in request.url and "view" in (request.post_data or "")):
        drag(page, "loss", 0.2, 0.24)
    expect(card(page, "loss")).not_to_contain_text(f"all {total:,} points")
    expect(page).to_have_url(re.compile("zoom="))
    low, high = (float(value) for value in state(page)["zoom"][0].split(",")[:2])
    steps = open_run(RECORDED / "long_history").resolved("loss").step
    inside = int(((steps >= low) & (steps <= high)).sum())
    expect(card(page, "loss")).to_contain_text(f"{inside:,}")
    assert drawn(page, "loss")[0]["n"] <= before
    card(page, "loss").hover()
    card(page, "loss").locator('[data-act="back"]').click()
    expect(card(page, "loss")).not_to_have_class(re.compile("ms-zoomed"))
    expect(card(page, "loss")).not_to_have_class(re.compile("ms-zoomed"))
    expect(card(page, "loss")).to_contain_text(f"all {total:,} points")
    expect(page).not_to_have_url(re.compile("zoom="))


def test_smoothing_draws_the_formula_over_the_raw_shadow(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_sink_mode&tag=loss")
    page.locator('input[type="number"][data-control="smooth"]').fill("0.6")
    expect(card(page, "loss").locator(LINE)).to_have_count(2)
    expect(page).to_have_url(re.compile("smooth=0.6"))
    last, shown = 0.0, []
    for count, value in enumerate(open_run(RECORDED / "lenet_sink_mode").series("loss").value, 1):
        last = 0.6 * last + 0.4 * value
        shown.append(last / (1 - 0.6**count))
    assert any(len(line["y"]) == len(shown) and np.allclose(line["y"], shown, rtol=1e-5) for line in drawn(page, "loss"))


def test_non_finite_values_are_counted_and_found(page: Page, address: str) -> None:
    visit(page, address, "run=nan_inf&tag=loss&tag=all_nan")
    values = open_run(RECORDED / "nan_inf").series("loss").value
    badge = card(page, "loss").locator(".ms-badge-wrong").first
    expect(badge).to_contain_text(f"{np.isnan(values).sum()} NaN")
    expect(badge).to_contain_text(f"{np.isposinf(values).sum()} +Inf")
    badge.click()
    expect(card(page, "loss")).to_have_class(re.compile("ms-zoomed"))
    expect(page).to_have_url(re.compile("zoom="))


def test_badges_give_way_before_a_short_title_is_cut(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1000, "height": 800})
    visit(page, address, "run=nan_inf&run=long_history&tag=loss&tag=all_nan")
    wide = """card => {
        const title = card.querySelector('.ms-card-title');
        const right = card.getBoundingClientRect().right;
        const seen = [...card.querySelectorAll('.ms-badge')].map((one) => one.getBoundingClientRect());
        const head = card.querySelector('.ms-card-head').getBoundingClientRect();
        const shown = seen.filter((one) => one.top < head.bottom - 4);
        return [title.scrollWidth - title.clientWidth, shown.length, shown.every((one) => one.right <= right)];
    }"""
    cut, badges, whole = card(page, "loss").evaluate(wide)
    assert (cut, whole) == (0, True)
    assert badges >= 1


@pytest.mark.long
def test_an_outlier_is_left_out_until_it_is_asked_for(page: Page, address: str) -> None:
    visit(page, address, "run=nan_inf&run=long_history&tag=loss")
    top = "p => p.layout.yaxis.range[1]"
    plot = card(page, "loss").locator(".js-plotly-plot")
    expect(card(page, "loss")).to_contain_text("1 beyond the axis")
    assert plot.evaluate(top) < 10
    card(page, "loss").get_by_role("button", name="1 beyond the axis").click()
    expect(card(page, "loss")).to_contain_text("outliers shown")
    assert plot.evaluate(top) > 1e20
    in_address(page, "outliers", "loss")


@pytest.mark.long
def test_the_range_of_y_is_set_by_hand(page: Page, address: str) -> None:
    visit(page, address, "run=long_history&tag=loss")
    card(page, "loss").hover()
    card(page, "loss").get_by_role("button", name="Range of the y axis").click()
    dialog = page.get_by_role("dialog", name="Range of the y axis")
    dialog.get_by_label("To").fill("0")
    dialog.get_by_label("From").fill("2")
    dialog.get_by_role("button", name="Set").click()
    expect(dialog).to_contain_text("must be less than")
    dialog.get_by_label("To").fill("4")
    dialog.get_by_role("button", name="Set").click()
    plot = card(page, "loss").locator(".js-plotly-plot")
    page.wait_for_function("p => p.layout.yaxis.range[1] === 4", arg=plot.element_handle())
    in_address(page, "zoom", ",,2,4:loss")
    card(page, "loss").hover()
    card(page, "loss").get_by_role("button", name="Range of the y axis").click()
    dialog.get_by_role("button", name="Automatic").click()
    page.wait_for_function("p => p.layout.yaxis.range[0] < 1", arg=plot.element_handle())
    not_in_address(page, "zoom")


@pytest.mark.long
def test_threshold_reddens_what_satisfies_it(page: Page, address: str) -> None:
    visit(page, address, "run=lenet_sink_mode&tag=loss")
    card(page, "loss").hover()
    card(page, "loss").locator('[data-act="threshold"]').click()
    dialog = page.locator("dialog.ms-threshold")
    dialog.get_by_role("textbox").first.fill("not a number")
    dialog.get_by_role("button", name="Set").click()
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    dialog.get_by_role("textbox").first.fill("2.3")
    dialog.get_by_role("combobox").first.select_option("<")
    dialog.get_by_role("button", name="Set").click()
    expect(dialog).to_be_hidden()
    below = int((open_run(RECORDED / "lenet_sink_mode").series("loss").value < 2.3).sum())
    assert below > 0
    expect(card(page, "loss").locator(".ms-card-badges")).to_contain_text(str(below))
    expect(page).to_have_url(re.compile("threshold="))
    assert state(page)["threshold"] == ["<2.3:loss"]


def test_tags_are_filtered_in_the_browser(page: Page, address: str) -> None:
    visit(page, address, "run=many_tags")
    expect(page.locator(".ms-pager")).to_contain_text("412")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.post_data or ""))
    page.locator(".ms-tags input").first.fill("^group3/.*1$")
    expect(page.locator(CARDS).first).to_contain_text("group3/")
    tags = open_run(RECORDED / "many_tags").tags()
    count = sum(bool(re.search("^group3/.*1$", tag)) for tag in tags)
    expect(page.locator(CARDS)).to_have_count(min(count, 12))
    assert not [body for body in asked if "^group3" in body and '"filter"' not in body]


def test_hostile_tags_are_text_and_export_right(page: Page, address: str) -> None:
    visit(page, address, "run=many_tags&tag=%3Cb%3Ebold%3C%2Fb%3E&tag=%252F&tag=" + "quote%22%27")
    for tag in ("<b>bold</b>", "%2F", "quote\"'"):
        expect(card(page, tag)).to_have_count(1)
        one = card(page, tag)
        one.hover()
        one.locator("summary").click()
        entry = one.locator('[data-save="scalars.csv"]')
        expect(entry).to_have_attribute("href", re.compile("scalars.csv"))
        link = entry.get_attribute("href") or ""
        with urlopen(address + link if link.startswith("/") else link) as answer:
            rows = list(csv.DictReader(io.StringIO(answer.read().decode())))
        assert {row["tag"].lstrip("'") for row in rows} == {tag}
        wanted = open_run(RECORDED / "many_tags").series(tag)
        assert [float(row["value"]) for row in rows] == wanted.value.tolist()
        page.keyboard.press("Escape")
        one.locator("summary").click()


@pytest.mark.long
def test_values_without_a_tag_have_a_name_and_steps_beyond_float64_are_exact(page: Page, base: Path, address: str) -> None:
    first = 2**53 + 1
    with EventWriter(str(base / "nan_inf" / "events.out.tfevents.1800000000.host"), "tensorboard") as writer:
        for step in range(5):
            writer.add(first + 2 * step, {"": 1.0 / (step + 1)})
    show(page, f"{address}/scalars?run=nan_inf&tag=%28no+tag%29")
    one = card(page, "(no tag)")
    expect(one.locator("path.js-line").first).to_be_attached()
    expect(page.locator(".ms-tags")).to_contain_text("(no tag)")
    box = one.locator(".nsewdrag").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.02, box["y"] + 20)
    expect(page.locator(".ms-hover-table tbody tr").first).to_contain_text(f"{first:,}")


@pytest.mark.long
def test_a_copied_link_shows_the_same(page: Page, context: BrowserContext, address: str) -> None:
    visit(page, address, "run=long_history&tag=loss&smooth=0.3")
    page.locator('[data-control="x"]').first.select_option("relative")
    card(page, "loss").hover()
    card(page, "loss").locator('[data-act="log"]').click()
    drag(page, "loss", 0.3, 0.5)
    expect(card(page, "loss")).to_have_class(re.compile("ms-zoomed"))
    in_address(page, "zoom")
    first = axes(page)
    other = context.new_page()
    other.goto(page.url)
    expect(other.locator(f"{CARDS} {LINE}").first).to_be_attached()
    expect(card(other, "loss")).to_have_class(re.compile("ms-zoomed"))
    second = axes(other)
    assert first[1] == second[1] == "log"
    assert np.allclose(first[0], second[0], rtol=1e-6)
    expect(other.locator('[data-control="x"]').first).to_have_value("relative")


def test_new_points_appear_and_the_zoom_stays(page: Page, address: str, base: Path) -> None:
    path = next(iter((base / "long_history").iterdir()))
    data = path.read_bytes()
    grown = base / "growing" / path.name
    grown.parent.mkdir()
    grown.write_bytes(data[: len(data) // 4])
    visit(page, address, "run=growing&tag=loss")
    drag(page, "loss", 0.2, 0.6)
    expect(card(page, "loss")).to_have_class(re.compile("ms-zoomed"))
    expect(page).to_have_url(re.compile("zoom="))
    before = state(page)["zoom"]
    page.locator('[data-control="x"]').first.focus()
    some = card(page, "loss").locator(".ms-card-notes").inner_text()
    with grown.open("ab") as file:
        file.write(data[len(data) // 4 :])
    expect(card(page, "loss").locator(".ms-card-notes")).not_to_have_text(some)
    assert state(page)["zoom"] == before


def cards_asked(body: str) -> int:
    """The number of cards that the body of a callback's request asks for."""
    inputs = json.loads(body)["inputs"] if body else []
    return sum(len(one["value"]["cards"]) for one in inputs if isinstance(one, dict) and one.get("id") in WAVES)


@pytest.mark.long
def test_only_cards_with_new_points_are_sent(page: Page, address: str, base: Path) -> None:
    visit(page, address, "run=lenet_sink_mode&run=long_history")
    expect(page.locator(CARDS)).to_have_count(4)
    polls(page)
    sent: list[str] = []
    page.on("response", lambda answer: sent.append(answer.request.post_data or "") if "_dash-update" in answer.url else None)
    page.locator('input[type="number"][data-control="smooth"]').fill("0.5")
    becomes(page, lambda: sum(map(cards_asked, sent)), 4)  # this is how charts are sent
    polls(page)
    sent.clear()
    polls(page, 2)
    assert sum(map(cards_asked, sent)) == 0, "nothing new, no chart is sent"


def headings(page: Page) -> list[str]:
    return page.locator(f"{CARDS} .ms-card-title").all_inner_texts()


@pytest.mark.long
def test_cards_that_stay_while_the_filter_is_typed_are_not_requested_again(page: Page, address: str) -> None:
    visit(page, address, "run=many_tags")
    expect(page.locator(f"{CARDS}.ms-pending")).to_have_count(0)
    every = headings(page)
    some = every[5:11]
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or "") if "_dash-update" in request.url else None)
    filter_box = page.locator(".ms-tags input").first
    # The server looks for new data while some cards are not on screen: there are none, so no card is outdated.
    filter_box.fill("|".join(f"^{re.escape(tag)}$" for tag in some))
    expect(page.locator(CARDS)).to_have_count(len(some))
    polls(page)
    assert headings(page) == some
    filter_box.fill("")
    expect(page.locator(CARDS)).to_have_count(len(every))
    assert headings(page) == every
    expect(card(page, every[0]).locator(LINE).first).to_be_visible()
    polls(page)
    assert sum(map(cards_asked, sent)) == 0, "all of these were drawn before"


@pytest.mark.long
def test_cards_below_the_window_are_asked_for_after_those_in_it(page: Page, address: str) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or "") if "_dash-update" in request.url else None)
    visit(page, address, "run=many_tags")
    expect(page.locator(f"{CARDS}.ms-pending")).to_have_count(0)
    asked = [body for body in sent if cards_asked(body)]
    assert [json.loads(body)["inputs"][0]["id"] for body in asked] == list(WAVES)
    assert sum(map(cards_asked, asked)) == 12
    below = page.locator(CARDS).evaluate_all("cards => cards.filter(c => c.getBoundingClientRect().top >= innerHeight).length")
    assert cards_asked(asked[1]) == below > 0


def points(path: Path) -> int:
    """How many points of the loss of a file nothing supersedes."""
    return len(open_run(path).resolved("loss").step)


@pytest.mark.long
def test_new_points_come_with_one_request(page: Page, address: str, base: Path) -> None:
    path = next(iter((base / "long_history").iterdir()))
    data = path.read_bytes()
    grown = base / "growing" / path.name
    grown.parent.mkdir()
    grown.write_bytes(data[: len(data) // 2])
    visit(page, address, "run=growing")
    expect(page.locator(f"{CARDS}.ms-pending")).to_have_count(0)
    expect(card(page, "loss").locator(".ms-card-notes")).to_contain_text(f"{points(grown):,} points")
    polls(page)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or "") if "_dash-update" in request.url else None)
    with grown.open("ab") as file:
        file.write(data[len(data) // 2 :])
    expect(card(page, "loss").locator(".ms-card-notes")).to_contain_text(f"{points(grown):,} points")
    assert sum(map(cards_asked, sent)) == 0, "drawings come with the look at the source"
    assert [body for body in sent if "grown.data" in body], [json.loads(body)["output"] for body in sent]


@pytest.mark.long
def test_one_chart_with_two_axes(page: Page, address: str) -> None:
    visit(page, address, "run=long_history")
    page.locator('.ms-scalar-mode [data-value="one"]').click()
    expect(page.locator(CARDS)).to_have_count(1)
    expect(page.locator(f"{CARDS} {LINE}").first).to_be_attached()
    expect(page).to_have_url(re.compile("mode=one"))


@pytest.mark.long
def test_full_screen_by_keyboard(page: Page, address: str) -> None:
    visit(page, address, "run=long_history")
    page.keyboard.press("j")
    page.keyboard.press("f")
    expect(page.locator(".ms-slot.ms-full")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".ms-slot.ms-full")).to_have_count(0)


def test_theme_and_language(page: Page, address: str) -> None:
    visit(page, address, "run=long_history&tag=loss")
    page.evaluate("window.stillHere = true")
    colour = "getComputedStyle(document.querySelector('.xtick text')).fill"
    light = page.evaluate(colour)
    page.locator("[data-action=theme]").first.click()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    assert page.evaluate(colour) != light
    page.locator("[data-action=language]").first.click()
    expect(page.locator(".ms-cards-controls")).to_contain_text("平滑")
    assert page.evaluate("window.stillHere") is True


def test_nothing_chosen_and_nothing_there_say_so(page: Page, address: str) -> None:
    show(page, f"{address}/scalars?run=")
    expect(page.locator('[data-state="no-runs"]')).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("lost", ["**/_dash-update-component**", "**/*"], ids=["callbacks", "server"])
def test_a_failed_card_says_so_and_is_drawn_when_the_server_is_back(unwatched: Page, address: str, lost: str) -> None:
    visit(unwatched, address, "run=long_history&tag=loss")
    unwatched.route(lost, lambda route: route.abort())
    unwatched.locator('[data-control="x"]').first.select_option("relative")
    expect(card(unwatched, "loss")).to_have_class(re.compile("ms-failed"))
    expect(card(unwatched, "loss")).to_contain_text("could not be drawn")
    unwatched.unroute(lost)
    expect(card(unwatched, "loss")).not_to_have_class(re.compile("ms-failed"))
    expect(unwatched.locator(".ms-notice")).to_be_hidden()
    seconds = open_run(RECORDED / "long_history").series("loss").wall_time
    high = card(unwatched, "loss").locator(".js-plotly-plot").evaluate("p => p.layout.xaxis.range[1]")
    assert high < 2 * (seconds.max() - seconds.min())


@pytest.mark.long
def test_a_card_that_still_shows_the_previous_runs_says_so(unwatched: Page, address: str) -> None:
    visit(unwatched, address, "run=long_history&tag=loss")
    loss, note = card(unwatched, "loss"), "Still the previous selection of runs"
    expect(loss.get_by_text(note)).to_be_hidden()

    def hold(route: Route) -> None:
        if not re.search('ms-scalars-(near|far).data', route.request.post_data or ""):
            route.continue_()

    unwatched.route("**/_dash-update-component**", hold)
    unwatched.keyboard.press("p")
    unwatched.locator(".ms-panel-row", has_text="several_files").first.click()
    expect(loss.get_by_text(note)).to_be_visible()
    expect(loss).to_have_attribute("aria-busy", "true")
    unwatched.unroute("**/_dash-update-component**")  # which lets the held requests go
    expect(loss.get_by_text(note)).to_be_hidden()
    expect(loss).to_have_attribute("aria-busy", "false")


@pytest.mark.parametrize(("wrong", "said"), [
    ("x=nonsense", "x: expected step, relative, absolute or tag:<name>; found 'nonsense'."),
    ("group=1", "group: expected one of job, rank, regex, column; found '1'."),
])  # fmt: skip
def test_a_link_that_asks_for_nothing_known_says_in_one_line_what_was_expected(
    unwatched: Page, address: str, wrong: str, said: str
) -> None:
    errors: list[str] = []
    unwatched.on("pageerror", lambda error: errors.append(str(error)))
    show(unwatched, f"{address}/scalars?run=long_history&tag=loss&{wrong}")
    notice = unwatched.locator(".ms-notice")
    expect(notice).to_contain_text(f"The address has a value that this page does not know. {said}")
    expect(card(unwatched, "loss")).to_contain_text("could not be drawn")
    expect(card(unwatched, "loss").locator(".ms-card-reason")).to_have_count(0)
    notice.get_by_role("link").click()
    expect(card(unwatched, "loss").locator("path.js-line").first).to_be_attached()
    expect(notice).to_be_hidden()
    assert errors == []


@pytest.mark.long
def test_a_curve_with_a_restart_is_zoomed_where_the_restart_is_not(page: Page, address: str) -> None:
    visit(page, address, "run=long_history&tag=loss&zoom=0,2900,,:loss")
    steps = open_run(RECORDED / "long_history").resolved("loss").step
    expect(card(page, "loss")).to_contain_text(f"{int((steps <= 2900).sum()):,} of {len(steps):,} points")
