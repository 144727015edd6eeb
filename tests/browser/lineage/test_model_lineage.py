"""The model lineage page in a browser: axes, brush, table and link tell of the same runs."""

from __future__ import annotations

import csv
import io
import json
import re
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Locator, Page, expect

from app.store.store import Store
from tests.browser.conftest import in_address, not_in_address
from tests.browser.showing import show
from tests.browser.waiting import steady

PLOT = ".ms-lineage-drawn .ms-lineage-plot"
COUNT = ".ms-lineage-rows .ms-lineage-told .en"


PLACES = "selector => Array.from(document.querySelectorAll(selector), (one) => one.getBoundingClientRect().toJSON())"


def axis(page: Page, name: str) -> Locator:
    return page.locator(f"{PLOT} .y-axis", has=page.locator(".axis-title", has_text=re.compile(f"^{name}$")))


def brush(page: Page, name: str, part_from: float, part_to: float) -> None:
    steady(page, PLACES, f"{PLOT} .axis-brush .background")  # what is drawn once more would take the brush with it
    box = axis(page, name).locator(".axis-brush .background").bounding_box()
    assert box is not None
    x = box["x"] + box["width"] / 2
    page.mouse.move(x, box["y"] + box["height"] * part_from)
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(x, box["y"] + box["height"] * (part_from + (part_to - part_from) * step / 5))
    page.mouse.up()


def names(page: Page) -> list[str]:
    shown = page.locator(".ms-lineage-grid .ag-pinned-left-cols-container .ag-row")
    expect(shown.first).to_be_attached()
    rows = shown.all()
    rows.sort(key=lambda row: int(row.get_attribute("row-index") or 0))
    return [(row.text_content() or "").strip() for row in rows]


def test_a_brush_filters_the_table_and_a_link_restores_it(page: Page, real: str, real_store: Store) -> None:
    rows = real_store.lineage.rows()
    accuracy = {row.run: row.settings["metric/accuracy"] for row in rows if "metric/accuracy" in row.settings}
    good = {run for run, value in accuracy.items() if isinstance(value, float) and value > 0.6}
    page.goto(real + "/model_lineage")
    expect(page.locator(COUNT)).to_have_text("15 of 15 runs, 22 of 22 ranks")
    expect(axis(page, "accuracy")).to_have_count(1)
    brush(page, "accuracy", 0.004, 0.45)
    expect(page.locator(COUNT)).to_contain_text(f" of 15 runs, {len(good)} of 22 ranks")
    assert set(names(page)) == good
    (state,) = parse_qs(urlsplit(page.url).query)["brush"]
    assert json.loads(state)[0] == "metric/accuracy"

    header = page.locator(".ag-header-cell[col-id='=metric/accuracy']")
    expect(header).to_have_attribute("aria-sort", "descending")
    header.click()
    expect(header).to_have_attribute("aria-sort", "none")
    header.click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    expect(page).to_have_url(re.compile("sort=%2B"))
    assert names(page) == sorted(good, key=lambda run: accuracy[run])
    link = page.locator("[data-kind=csv]")
    page.locator(".ms-lineage-rows summary").click()
    with page.expect_download():
        link.click()
    address = str(link.evaluate("link => link.href"))
    saved = list(csv.DictReader(io.StringIO(urlopen(address).read().decode())))
    assert [row["run"] for row in saved] == names(page)
    assert [float(row["metric/accuracy"]) for row in saved] == [accuracy[run] for run in names(page)]

    shown = names(page)
    page.reload()
    expect(page.locator(COUNT)).to_contain_text(f" of 15 runs, {len(good)} of 22 ranks")
    expect(page.locator(f"{PLOT} .axis-brush .highlight").first).to_be_attached()
    assert names(page) == shown
    page.locator('[data-act="unbrush"]').click()
    expect(page.locator(COUNT)).to_have_text("15 of 15 runs, 22 of 22 ranks")


def top(stretch: Locator) -> float:
    box = stretch.bounding_box()
    assert box is not None
    return float(box["y"])


def order(page: Page) -> list[str | None]:
    return [one.get_attribute("data-axis") for one in page.locator(f"{PLOT} .y-axis").all()]


def test_a_line_is_selected_by_the_left_button_alone(page: Page, real: str) -> None:
    show(page, real + "/model_lineage")
    expect(page.locator(COUNT)).to_have_text("15 of 15 runs, 22 of 22 ranks")
    expect(page.locator(f"{PLOT} .axis-brush .background").nth(1)).to_be_visible()
    first, second = page.locator(f"{PLOT} .axis-brush .background").evaluate_all(
        "axes => axes.slice(0, 2).map(axis => axis.getBoundingClientRect().toJSON())"
    )
    between = (first["right"] + second["left"]) / 2
    lines = page.locator(f"{PLOT} .ms-parallel-lines")
    for y in range(int(first["top"]), int(first["bottom"]), 4):
        page.mouse.move(between, y)
        if lines.get_attribute("data-near"):
            break
    assert lines.get_attribute("data-near")
    chosen = page.locator(".ag-row-selected")
    page.mouse.click(between, y, button="right")
    page.wait_for_timeout(300)
    expect(chosen).to_have_count(0)
    page.mouse.click(between, y)
    expect(chosen).not_to_have_count(0)


@pytest.mark.long
def test_stretches_are_added_moved_and_cleared_and_axes_moved_by_pointer_and_keys(page: Page, real: str) -> None:
    show(page, real + "/model_lineage")
    expect(page.locator(COUNT)).to_have_text("15 of 15 runs, 22 of 22 ranks")
    stretches = page.locator(f"{PLOT} .axis-brush .highlight")
    brush(page, "accuracy", 0.05, 0.2)
    expect(stretches).to_have_count(1)
    brush(page, "accuracy", 0.5, 0.6)
    expect(stretches).to_have_count(2)
    before = [top(one) for one in stretches.all()]
    brush(page, "accuracy", 0.1, 0.15)  # begins within the first one
    expect(stretches).to_have_count(2)
    assert max(abs(top(one) - was) for one, was in zip(stretches.all(), before, strict=True)) > 2
    brush(page, "accuracy", 0.55, 0.55)
    expect(stretches).to_have_count(1)
    brush(page, "accuracy", 0.9, 0.9)
    expect(stretches).to_have_count(0)
    expect(page.locator(COUNT)).to_have_text("15 of 15 runs, 22 of 22 ranks")

    held = axis(page, "accuracy")
    held.focus()
    page.keyboard.press("ArrowUp")  # the upper half
    expect(stretches).to_have_count(1)
    upper = top(stretches.first)
    page.keyboard.press("ArrowDown")
    expect(held).to_be_focused()
    assert top(stretches.first) > upper
    page.keyboard.press("Delete")
    expect(stretches).to_have_count(0)

    known = order(page)
    page.keyboard.press("ArrowLeft")
    expect(held).to_be_focused()
    at = known.index("metric/accuracy")
    assert order(page) == [*known[: at - 1], known[at], known[at - 1], *known[at + 1 :]]
    first, third = (page.locator(f"{PLOT} .axis-title").nth(at).bounding_box() for at in (0, 2))
    assert first is not None
    assert third is not None
    page.mouse.move(first["x"] + first["width"] / 2, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(third["x"] + third["width"] / 2 + 20, first["y"] + 5, steps=5)
    page.mouse.up()
    expect(page.locator(f"{PLOT} .y-axis").nth(2)).to_have_attribute("data-axis", str(known[0]))


@pytest.mark.long
def test_runs_are_hidden_and_columns_chosen(page: Page, address: str) -> None:
    show(page, f"{address}/model_lineage?col=learning_rate&col=optimizer")
    expect(page.locator(f"{PLOT} .y-axis")).to_have_count(2)
    total = int(page.locator(COUNT).inner_text().split()[-2])
    page.locator(".ms-lineage-grid .ag-center-cols-container, .ms-lineage-grid .ag-pinned-left-cols-container").first.wait_for()
    page.locator(".ms-lineage-grid .ag-row .ag-checkbox-input").first.check()
    page.locator('[data-act="hide"]').click()
    expect(page.locator(COUNT)).to_contain_text(f" {total - 1} of {total} ranks")
    page.locator('[data-act="unhide"]').click()
    expect(page.locator(COUNT)).to_contain_text(f" {total} of {total} ranks")
    page.locator(".ms-lineage-columns > summary").click()
    page.locator(".ms-lineage-find").fill("optimizer")
    page.locator('.ms-lineage-list input[value="optimizer"]').uncheck()
    expect(page.locator(f"{PLOT} .y-axis")).to_have_count(1)
    expect(page.locator(".ag-header-cell[col-id='=optimizer']")).to_have_count(0)
    page.locator(".ms-lineage-find").fill("")
    expect(page.locator(".ag-header-cell[col-id=tags]")).to_have_count(0)
    page.locator(".ms-lineage-list input[data-note=tags]").check()
    expect(page.locator(".ag-header-cell[col-id=remark]")).to_have_count(0)
    expect(page.locator(".ag-header-cell[col-id=tags]")).to_have_count(1)
    page.reload()
    expect(page.locator(".ag-header-cell[col-id=tags]")).to_have_count(1)
    expect(page.locator(".ag-header-cell[col-id=remark]")).to_have_count(0)


def state(page: Page, key: str) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get(key, [])


@pytest.mark.long
def test_filters_pins_and_sorting_are_in_the_link_and_runs_go_to_all_pages(page: Page, real: str, real_store: Store) -> None:
    sizes = {row.run: row.settings.get("batch_size") for row in real_store.lineage.rows()}
    wanted = {run for run, size in sizes.items() if size == 64}
    model = {"filterType": "number", "type": "equals", "filter": 64}
    link = {"col": ["batch_size", "optimizer", "learning_rate"], "pin": ["optimizer"], "sort": ["-=learning_rate"],
            "filter": [json.dumps(["=batch_size", model])]}  # fmt: skip
    show(page, real + "/model_lineage?" + urlencode(link, doseq=True))
    expect(page.locator(COUNT)).to_contain_text(f" of 15 runs, {len(wanted)} of 22 ranks")
    expect(page.locator(".ag-pinned-left-header .ag-header-cell[col-id='=optimizer']")).to_have_count(1)
    expect(page.locator(".ag-header-cell[col-id='=learning_rate'][aria-sort=descending]")).to_have_count(1)

    # A filter that somebody sets is in the link.
    page.locator('[data-act="unbrush"]').click()
    expect(page.locator(COUNT)).to_have_text("15 of 15 runs, 22 of 22 ranks")
    not_in_address(page, "filter")
    header = page.locator(".ag-header-cell[col-id='=batch_size']")
    header.hover()
    header.locator(".ag-header-cell-filter-button, .ag-header-cell-menu-button").first.click()
    page.locator(".ag-filter input[type=number]").first.fill("64")
    expect(page.locator(COUNT)).to_contain_text(f" of 15 runs, {len(wanted)} of 22 ranks")
    (kept,) = in_address(page, "filter")
    assert json.loads(kept)[1]["filter"] == 64
    page.keyboard.press("Escape")

    # Its runs are on all pages until that is undone.
    choose, undo = page.locator('[data-act="choose"]'), page.locator('[data-act="unchoose"]')
    choose.click()
    undo.click()
    expect(choose).to_be_visible()
    not_in_address(page, "run")
    choose.click()
    expect(undo).to_be_visible()
    rows = {row.key: row.members for row in real_store.runs.rows()}
    assert {member for key in in_address(page, "run") for member in rows.get(key, (key,))} == wanted
    page.locator(".ms-menu-link[data-page=scalars]").click()
    expect(page).to_have_url(re.compile("/scalars\\?"))
    assert {member for key in in_address(page, "run") for member in rows.get(key, (key,))} == wanted
    page.locator(".ms-menu-link[data-page=model_lineage]").click()
    expect(page.locator(COUNT)).to_contain_text(f" of 15 runs, {len(wanted)} of 22 ranks")
    page.locator('[data-act="everyone"]').click()
    expect(page.locator(COUNT)).to_have_text("15 of 15 runs, 22 of 22 ranks")
    expect(page.locator(".ms-picker-open")).to_contain_text("15 of 28 runs")  # of a job's ranks each is a row of the table
    show(page, page.url.split("?")[0] + "?run=nan_inf")
    expect(page.locator(COUNT)).to_have_text("None of the chosen runs has this data.")
    page.locator('[data-act="everyone"]').click()
    expect(page.locator(COUNT)).to_have_text("15 of 15 runs, 22 of 22 ranks")


@pytest.mark.long
def test_a_box_among_points_is_a_brush_of_two_columns(page: Page, real: str, real_store: Store) -> None:
    settings = {row.run: row.settings for row in real_store.lineage.rows()}
    good = {run for run, told in settings.items() if told.get("metric/accuracy", 0) > 0.6 and 1e-4 < told["learning_rate"] < 1}
    show(page, real + "/model_lineage?view=scatter&x=learning_rate&y=metric/accuracy")
    canvas = page.locator(".ms-lineage-drawn .ms-lineage-scatter canvas")
    expect(canvas).to_have_attribute("data-shown", "22")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.13, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.28, steps=4)
    page.mouse.up()
    expect(page.locator(COUNT)).to_contain_text(f" of 15 runs, {len(good)} of 22 ranks")
    assert set(names(page)) == good
    assert {json.loads(text)[0] for text in state(page, "brush")} == {"learning_rate", "metric/accuracy"}
    page.locator(".ms-segments [data-value=matrix]").click()
    expect(canvas).to_have_attribute("data-panels", "15")
    expect(canvas).to_have_attribute("data-shown", str(len(good)))
    page.reload()
    expect(canvas).to_have_attribute("data-shown", str(len(good)))
    assert set(names(page)) == good
    page.locator('.ms-segments [data-value=""]').first.click()
    expect(axis(page, "accuracy")).to_have_count(1)
    expect(page.locator(COUNT)).to_contain_text(f" of 15 runs, {len(good)} of 22 ranks")


APART = """(selector) => {
  const boxes = Array.from(document.querySelectorAll(selector), (one) => one.getBoundingClientRect());
  boxes.sort((a, b) => a.left - b.left);
  return boxes.length > 2 && boxes.every((box, i) => i === 0 || boxes[i - 1].right <= box.left + 1);
}"""


@pytest.mark.long
@pytest.mark.parametrize("name", ["model_lineage", "data_lineage"])
def test_titles_do_not_overlap_and_the_main_result_stays_visible(page: Page, real: str, name: str) -> None:
    for width, language, theme in ((1440, "en", "light"), (1150, "zh", "dark"), (1000, "en", "dark"), (1000, "zh", "light")):
        page.set_viewport_size({"width": width, "height": 900})
        show(page, f"{real}/{name}")
        page.evaluate("([language, theme]) => mindscope.prefs.set({ language, theme })", [language, theme])
        show(page, f"{real}/{name}")  # as at a visit with these
        expect(axis(page, "accuracy")).to_have_count(1)
        expect(page.locator(".ms-lineage-key-tick").first).to_be_visible()
        page.wait_for_function(APART, arg=f"{PLOT} .axis-title")
        for shown in (axis(page, "accuracy").locator(".axis-title"), page.locator(".ms-lineage-key")):
            box = shown.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= width
    expect(page.locator(".ms-lineage-key-title")).to_contain_text("accuracy")


@pytest.mark.long
def test_the_table_is_sorted_by_the_main_result_until_another_order_is_chosen(page: Page, real: str, real_store: Store) -> None:
    known = {row.run: row.settings.get("metric/accuracy") for row in real_store.lineage.rows()}
    accuracy = {run: value for run, value in known.items() if isinstance(value, float)}
    page.set_viewport_size({"width": 1440, "height": 1600})
    show(page, real + "/model_lineage")
    expect(page.locator(".ag-header-cell[col-id='=metric/accuracy']")).to_have_attribute("aria-sort", "descending")
    best = sorted(accuracy, key=lambda run: -accuracy[run])[:5]
    assert names(page)[:5] == best
    assert "sort" not in page.url
    expect(page.locator(".ag-header-cell[col-id='=user_defined/model_tag']")).to_have_count(0)
    expect(page.locator(".ag-header-cell[col-id='remark']")).to_have_count(0)
    header = page.locator(".ag-header-cell[col-id='=metric/accuracy']")
    header.click()
    expect(header).to_have_attribute("aria-sort", "none")
    expect(page).to_have_url(re.compile(r"sort=(&|$)"))
    page.reload()
    expect(header).to_have_attribute("aria-sort", "none")
    header.click()
    header.click()
    expect(header).to_have_attribute("aria-sort", "descending")
    expect(page).not_to_have_url(re.compile("sort="))


@pytest.mark.parametrize("path", ["model_lineage", ""])
def test_links_to_pages_are_whole(page: Page, real: str, path: str) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    show(page, f"{real}/{path}")
    links = page.locator(".ag-cell[col-id=open] a")
    expect(links.first).to_be_visible()
    steady(page, PLACES, ".ag-cell[col-id=open] a")
    assert re.fullmatch("Overview of .+", links.first.get_attribute("title") or "")
    assert links.evaluate_all("""all => all.flatMap((link) => {
        const { right, width } = link.getBoundingClientRect();
        const bound = Math.min(...[".ag-cell", ".ag-root"].map((one) => link.closest(one).getBoundingClientRect().right));
        return width < 28 || right > bound ? [`${link.title}: ${width}, ${right - bound}`] : [];
    })""") == []
