"""Derived curves, typed and used as a person would."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pandas as pd
import pytest
from dash import Dash, html
from flask import Flask
from playwright.sync_api import Browser, Locator, Page, expect

from app import create_app, pages
from app.store.store import Store
from parsers import open_run
from parsers.recording import EventWriter
from tests.browser.curves.test_scalars import CARDS, LINE, card, drag, drawn, state, visit
from tests.browser.test_accessibility import AXE, FOUND, GRAVE
from tests.recorded import RECORDED

FIELD = ".ms-expression-field"


def by_step(run: str, tag: str) -> pd.Series:
    """Values by step that nothing supersedes."""
    found = open_run(RECORDED / run).resolved(tag)
    frame = pd.DataFrame({"step": found.step, "value": found.value}).drop_duplicates("step", keep="last")
    return frame.set_index("step")["value"].sort_index()


def type_expression(page: Page, text: str) -> Locator:
    """Type into the dialog of a new derived curve; return the sentence below the field."""
    page.locator('[data-act="expr-add"]').click()
    page.locator(FIELD).press_sequentially(text)
    return page.locator(".ms-expression-note")


def test_an_expression_becomes_a_card_of_exact_values_in_link_and_csv(page: Page, address: str) -> None:
    visit(page, address, "run=long_history&run=lenet_sink_mode")
    note = type_expression(page, "loss / lear")
    expect(page.locator(".ms-expression-tag")).to_have_text(["learning_rate"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(FIELD)).to_have_value("loss / learning_rate")
    expect(note).to_contain_text("Valid")
    page.keyboard.press("Enter")
    made = card(page, "=loss / learning_rate")
    expect(made.locator(LINE)).to_have_count(1)
    assert page.locator(f"{CARDS} h3").first.inner_text() == "=loss / learning_rate"
    assert state(page)["expr"] == ["loss / learning_rate"]
    expect(made).to_contain_text("1 of 2 runs lack a tag")
    wanted = (by_step("long_history", "loss") / by_step("long_history", "learning_rate")).dropna()
    assert drawn(page, "=loss / learning_rate")[0]["n"] > 100
    page.reload()
    expect(made.locator(LINE)).to_have_count(1)
    made.hover()
    made.get_by_label("Download this chart").click()
    link = made.locator('[data-save="scalars.csv"]').get_attribute("href")
    with urlopen(f"{address}{link}") as answer:
        rows = list(csv.DictReader(io.StringIO(answer.read().decode())))
    assert {(row["run"], row["tag"]) for row in rows} == {("long_history", "'=loss / learning_rate")}
    assert [int(row["step"]) for row in rows] == wanted.index.tolist()
    np.testing.assert_array_equal([float(row["value"]) for row in rows], wanted.to_numpy())


@pytest.mark.long
def test_zoom_smoothing_and_log_axis_work_on_it(page: Page, address: str) -> None:
    tag = "=mean(loss, 20) * 2"
    visit(page, address, "run=long_history&expr=mean(loss,+20)+*+2&tag=" + "%3Dmean(loss,+20)+*+2")
    wanted = by_step("long_history", "loss").rolling(20, min_periods=1).mean() * 2
    expect(card(page, tag)).to_contain_text("points")
    drag(page, tag, 0.2, 0.3)
    expect(page).to_have_url(re.compile("zoom="))
    low, high = (float(value) for value in state(page)["zoom"][0].split(",")[:2])
    inside = wanted[(wanted.index >= low) & (wanted.index <= high)]
    expect(card(page, tag)).to_contain_text(f"{len(inside)} of {len(wanted):,} points")
    (line,) = drawn(page, tag)
    found = np.array(line["y"])
    assert all(np.isclose(found, value, rtol=1e-6).any() for value in inside)
    page.locator('input[type="number"][data-control="smooth"]').fill("0.5")
    expect(card(page, tag).locator(LINE)).to_have_count(2)
    card(page, tag).hover()
    card(page, tag).locator('[data-act="log"]').click()
    expect(page).to_have_url(re.compile("log="))


def test_an_error_stands_under_the_field_with_a_caret_at_its_column(page: Page, address: str) -> None:
    visit(page, address, "run=long_history")
    note = type_expression(page, "log10(loss) - * 2")
    expect(note).to_have_text("Column 15: expected a tag, a number, a function or (; found “*”.")
    expect(page.locator(FIELD)).to_have_attribute("aria-invalid", "true")
    places = page.locator(".ms-expression-mark").evaluate("""mark => {
        const range = document.createRange();
        const [before, after] = mark.childNodes;
        range.setStart(after, 0);
        range.setEnd(after, 1);
        return [before.data + after.data, range.getBoundingClientRect().left,
            mark.querySelector('.ms-expression-caret').getBoundingClientRect().left];
    }""")
    assert places[0] == "log10(loss) - * 2"
    assert abs(places[1] - places[2]) < 1.5, "the caret stands below the character"
    page.keyboard.press("Enter")
    expect(page.locator(".ms-expression")).to_be_visible()
    page.locator(FIELD).fill("loss/learning_rate")
    expect(note).to_contain_text("No run here has loss/learning_rate. With spaces a slash divides: loss / learning_rate")
    page.keyboard.press("Escape")
    expect(page.locator(".ms-expression")).to_have_count(0)
    assert "expr" not in state(page)


def test_an_invalid_expression_of_a_link_is_told_on_its_card_and_mended(page: Page, address: str) -> None:
    visit(page, address, "run=long_history&expr=loss+-+2+2")
    made = card(page, "=loss - 2 2")
    expect(made).to_contain_text("column 10")
    expect(made.locator(".ms-card-reason")).to_have_text("Column 10: expected +, -, *, / or the end; found “2”.")
    made.hover()
    made.locator('[data-act="expr-edit"]').click()
    page.locator(FIELD).fill("loss - 2")
    page.locator(".ms-expression button[type=submit]").click()
    expect(card(page, "=loss - 2").locator(LINE)).to_have_count(1)
    expect(made).to_have_count(0)
    assert state(page)["expr"] == ["loss - 2"]
    card(page, "=loss - 2").hover()
    card(page, "=loss - 2").locator('[data-act="expr-delete"]').click()
    expect(card(page, "=loss - 2")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("expr="))
    expect(card(page, "loss").locator(LINE).first).to_be_attached()


@pytest.mark.long
def test_values_without_a_partner_and_undefined_ones_are_told(page: Page, address: str) -> None:
    visit(page, address, "run=long_history&expr=log10(loss+-+1)&expr=loss+-+'eval/accuracy'")
    loss, accuracy = by_step("long_history", "loss"), by_step("long_history", "eval/accuracy")
    undefined = int((loss - 1 <= 0).sum())
    made = card(page, "=log10(loss - 1)").locator(".ms-badge", has_text="undefined")
    expect(made).to_contain_text(f"{undefined:,} undefined")
    expect(made).to_have_attribute("title", re.compile(rf"\nlog10: {undefined:,}$"))
    both = loss.index.intersection(accuracy.index)
    lost = len(loss) + len(accuracy) - 2 * len(both)
    partner = card(page, "=loss - 'eval/accuracy'").locator(".ms-badge", has_text="partner")
    expect(partner).to_contain_text(f"{lost:,} without a partner")


@pytest.mark.long
def test_it_grows_with_its_run(page: Page, address: str, base: Path) -> None:
    path = base / "growing" / "events.out.tfevents.1700000000.host"
    path.parent.mkdir()
    with EventWriter(str(path), "tensorboard", wall_time=1.7e9) as writer:
        for step in range(20):
            writer.add(step, {"train/loss": 2.0 + step, "val/loss": 1.0}, wall_time=1.7e9 + step)
    visit(page, address, "run=growing&expr=train/loss+-+val/loss")
    made = card(page, "=train/loss - val/loss")
    expect(made).to_contain_text("all 20 points")
    with EventWriter(str(path.with_name(path.name + ".1")), "tensorboard", wall_time=1.7e9) as writer:
        writer.add(20, {"train/loss": 100.0, "val/loss": 1.0}, wall_time=1.7e9 + 20)
    expect(made).to_contain_text("all 21 points")
    assert drawn(page, "=train/loss - val/loss")[0]["y"][-1] == 99.0


@pytest.mark.long
def test_the_one_chart_takes_it_on_an_axis(page: Page, address: str) -> None:
    visit(page, address, "run=long_history&mode=one&left=loss")
    type_expression(page, "2 * loss")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("left=%3D2"))
    assert state(page)["left"] == ["loss", "=2 * loss"]
    expect(page.locator(f"{CARDS} .ms-legend")).to_have_text(["loss", "=2 * loss"])


@pytest.mark.long
def test_embedded_pages_and_images_have_it_too(page: Page, address: str, serve: Callable[[Flask], str]) -> None:
    visit(page, address, "embed=1&run=long_history&expr=2+*+loss")
    made = card(page, "=2 * loss")
    made.hover()
    made.get_by_label("Download this chart").click()
    with page.expect_download() as download:
        made.locator('[data-act="png"]').click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")

    host = Dash("host", url_base_pathname="/lab/", include_assets_files=False)
    embedded = pages.Scalars(str(RECORDED), id="s1")
    host.layout = html.Div([html.P("Of the host"), embedded.layout()])
    embedded.register(host)
    page.goto(serve(host.server) + "/lab/")
    expect(page.locator(f"{CARDS} {LINE}").first).to_be_attached()
    expect(type_expression(page, "log10(loss)")).to_contain_text("Valid")
    page.keyboard.press("Enter")
    expect(card(page, "=log10(loss)").locator(LINE).first).to_be_attached()


@pytest.mark.long
def test_a_saved_view_keeps_it(page: Page, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    store = Store([RECORDED], interval=0, notes_directory=str(tmp_path)).start()
    assert store.wait(30)
    address = serve(create_app(store).server)
    visit(page, address, "run=long_history&expr=loss+-+'eval/accuracy'")
    views = page.locator(".ms-views")
    views.locator("summary").click()
    expect(views.locator("input[type=text]")).to_be_focused()
    page.keyboard.insert_text("gap")
    page.keyboard.press("Enter")
    expect(views.locator(".ms-views-open")).to_have_text("gap")
    views.locator("summary").click()
    expect(views.locator(".ms-views-open")).to_be_hidden()
    visit(page, address, "run=lenet_sink_mode")
    views.locator("summary").click()
    views.locator(".ms-views-open").click()
    expect(card(page, "=loss - 'eval/accuracy'").locator(LINE).first).to_be_attached()
    store.stop()


@pytest.mark.long
def test_the_dialog_in_chinese_and_dark_is_accessible(browser: Browser, address: str) -> None:
    context = browser.new_context(locale="zh-CN", color_scheme="dark", viewport={"width": 1000, "height": 800}, bypass_csp=True)
    page = context.new_page()
    try:
        visit(page, address, "run=long_history")
        expect(type_expression(page, "loss -")).to_have_text("第 7 列：应为标签、数字、函数或 (，实际为结尾。")
        page.keyboard.press("ArrowDown")
        if AXE.is_file():
            page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
            grave = [one for one in page.evaluate(FOUND) if one["impact"] in GRAVE and "expression" in one["html"]]
            assert grave == []
    finally:
        context.close()
