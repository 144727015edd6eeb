"""The confusion page, used as a person would, on files that mindspore-xai wrote."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from parsers.recording import ExplanationWriter
from tests.browser.showing import show

MATRIX = ".ms-confusion-matrix"


def row(page: Page, name: str) -> list[str]:
    return page.locator(f"{MATRIX} tbody tr").filter(has_text=name).first.locator("th, td").all_inner_texts()


@pytest.mark.long
def test_a_cell_shows_its_samples_and_leads_to_the_saliency_page(page: Page, explained: str) -> None:
    show(page, f"{explained}/confusion?run=summary_weak")
    expect(page.locator("[data-section=head]")).to_contain_text("12 of 14 samples (85.7 %)")
    assert row(page, "vertical") == ["vertical", "0", "4", "1", "0", "5"]
    page.get_by_role("button", name="1 true vertical, predicted checker").click()
    card = page.locator("[data-card=cell]")
    expect(card).to_contain_text("(samples: 1)")
    expect(card.locator(".ms-confusion-picture")).to_contain_text("7")
    picture = card.locator("img")
    picture.evaluate("img => img.decode()")
    assert picture.evaluate("img => img.naturalWidth") == 112
    assert "cell=1,2" in page.url
    card.get_by_role("link", name="Show on the saliency page").click()
    expect(page.locator(".ms-saliency-row")).to_have_count(1)
    assert re.search(r"/saliency\?.*outcome=fp", page.url)
    # Back here all samples are counted, whatever filters the saliency page has.
    page.locator(".ms-menu-link", has_text="Confusion").click()
    expect(page.locator("[data-section=head]")).to_contain_text("12 of 14 samples")


def test_cells_are_reached_by_keys(page: Page, explained: str) -> None:
    show(page, f"{explained}/confusion?run=summary_weak")
    cells = page.locator(f"{MATRIX} [data-cell]")
    expect(cells).to_have_count(5)
    assert page.locator(f"{MATRIX} [data-cell][tabindex='0']").count() == 1
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-cell='1,2']")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-card=cell]")).to_be_visible()
    expect(page.locator("[data-cell='1,2'][aria-pressed=true]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("[data-card=cell]")).to_be_hidden()


@pytest.mark.long
def test_threshold_and_shares_are_in_the_address(page: Page, explained: str) -> None:
    show(page, f"{explained}/confusion?run=summary_weak&t=0.94&cells=true")
    expect(page.locator(MATRIX)).to_contain_text("80.0 %")
    assert row(page, "checker")[1:] == ["0 %", "0 %", "75.0 %", "25.0 %", "4"]
    page.get_by_role("spinbutton", name="Threshold").fill("0.3")
    page.keyboard.press("Tab")
    expect(page.locator("[data-section=labels]")).to_contain_text("≥ 2")
    expect(page.locator(".ms-explanations-bounds")).to_be_visible()
    page.get_by_role("button", name="Samples", exact=True).click()
    page.wait_for_url(lambda url: "cells" not in url and "t=0.3" in url)
    heading = page.locator("[data-section=labels]").get_by_role("button", name="Predicted")
    heading.click()
    expect(page.locator("[data-section=labels] th[aria-sort=descending]")).to_contain_text("Predicted")
    expect(heading).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-section=labels] th[aria-sort=ascending]")).to_contain_text("Predicted")
    page.keyboard.press("Enter")
    expect(page.locator("[data-section=labels] th[aria-sort=descending]")).to_contain_text("Predicted")
    expect(page.locator("[data-section=labels] tbody tr").nth(2)).to_contain_text("checker")


def test_two_runs_show_which_outcomes_changed(page: Page, explained: str) -> None:
    show(page, f"{explained}/confusion?run=summary_weak&run=summary_real&of=summary_weak")
    card = page.locator("[data-card=changes]")
    expect(card).to_contain_text("Compared: 6 samples")
    expect(card.locator("tbody").nth(1).locator("tr")).to_have_count(2)
    card.get_by_role("button", name="Became wrong").click()
    expect(card).to_contain_text("No outcome changed.")
    show(page, f"{explained}/confusion?run=summary_weak")
    expect(page.locator(MATRIX)).to_be_visible()
    expect(page.locator("[data-card=changes]")).to_be_hidden()


@pytest.mark.long
def test_every_table_is_saved_and_the_diagram_as_a_picture(page: Page, explained: str, tmp_path: Path) -> None:
    show(page, f"{explained}/confusion?run=summary_weak&cell=0,2&t=0.6")
    plot = page.locator("[data-plot=reliability].ms-plot-drawn")
    expect(plot.locator(".js-plotly-plot .scatterlayer")).to_be_visible()
    rows = {}
    for name in ("matrix", "labels", "cell"):
        with page.expect_download() as caught:
            page.locator(f"[data-card={name}]").get_by_role("button", name="CSV").click()
        caught.value.save_as(tmp_path / name)
        rows[name] = list(csv.DictReader((tmp_path / name).read_text().splitlines()))
    assert sum(int(one["count"]) for one in rows["matrix"]) == 14
    assert [one["fp"] for one in rows["labels"]] == ["0", "0", "2", "0"]
    assert {one["sample"] for one in rows["cell"]} == {"3"}
    with page.expect_download() as caught:
        plot.get_by_role("button", name="CSV").click()
    caught.value.save_as(tmp_path / "bins")
    assert sum(int(one["count"]) for one in csv.DictReader((tmp_path / "bins").read_text().splitlines())) == 14
    plot.hover()
    with page.expect_download() as caught:
        plot.get_by_role("button", name="Save as PNG").click()
    caught.value.save_as(tmp_path / "plot")
    assert (tmp_path / "plot").read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_samples_that_are_recorded_meanwhile_are_counted(page: Page, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    picture = np.zeros((8, 8), np.uint8)
    with ExplanationWriter(str(tmp_path / "run"), labels=["a", "b"]) as writer:
        writer.sample(0, picture, truth=[0], probabilities={0: 0.9, 1: 0.1})
        writer.flush()
        store = Store([tmp_path], interval=0.2).start()
        assert store.wait(30)
        show(page, f"{serve(create_app(store).server)}/confusion")
        expect(page.locator("[data-section=head]")).to_contain_text("1 of 1 sample")
        writer.sample(1, picture, truth=[1], probabilities={0: 0.8, 1: 0.2})
        writer.flush()
        expect(page.locator("[data-section=head]")).to_contain_text("1 of 2 samples")
        expect(page.locator("[data-cell='1,0']")).to_have_text("1")
    store.stop()
