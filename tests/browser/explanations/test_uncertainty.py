"""The uncertainty page, used as a person would, on files that mindspore-xai wrote."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show

TOTAL = ".ms-explanations-total"
POINTS = ".ms-uncertainty-against .scatterlayer .point"


def test_deviations_points_and_tables(page: Page, explained: str) -> None:
    show(page, f"{explained}/uncertainty?run=summary_weak")
    expect(page.locator(POINTS)).to_have_count(16)
    expect(page.locator(".ms-uncertainty-head")).to_contain_text("16 of 16 labels have a standard deviation")
    expect(page.locator("[data-list=widest] tbody tr")).to_have_count(7)
    expect(page.locator("[data-list=narrowest] tbody tr")).to_have_count(7)
    picture = page.locator("[data-list=widest] img").first
    picture.evaluate("img => img.decode()")
    page.locator("[data-list=widest] tbody a").first.click()
    expect(page).to_have_url(re.compile(r"/saliency\?.*sample=11"))


@pytest.mark.long
def test_a_selection_in_a_plot_filters_the_samples(page: Page, explained: str) -> None:
    show(page, f"{explained}/uncertainty?run=summary_weak")
    expect(page.locator(POINTS)).to_have_count(16)
    plot = page.locator(".ms-uncertainty-against .nsewdrag").bounding_box()
    assert plot is not None
    page.mouse.move(plot["x"] + 2, plot["y"] + 2)
    page.mouse.down()
    page.mouse.move(plot["x"] + plot["width"] / 2, plot["y"] + plot["height"] - 2, steps=8)
    page.mouse.up()
    expect(page.locator(TOTAL)).to_contain_text("2 of 14 samples")
    assert "p=" in page.url
    assert "sd=" in page.url
    expect(page.locator("[data-list=widest] tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Choose all").click()
    expect(page.locator(TOTAL)).to_contain_text("14 of 14 samples")
    bars = page.locator(".ms-uncertainty-spread .nsewdrag").bounding_box()
    assert bars is not None
    page.mouse.move(bars["x"] + bars["width"] * 0.6, bars["y"] + 20)
    page.mouse.down()
    page.mouse.move(bars["x"] + bars["width"] - 2, bars["y"] + 60, steps=8)
    page.mouse.up()
    expect(page.locator(TOTAL)).to_contain_text("3 of 14 samples")


@pytest.mark.long
def test_fields_and_keys_choose_without_a_pointer(page: Page, explained: str) -> None:
    show(page, f"{explained}/uncertainty?run=summary_weak")
    expect(page.locator(POINTS)).to_have_count(16)
    page.get_by_label("Standard deviation, from").fill("0.02")
    page.get_by_label("Standard deviation, from").press("Enter")
    expect(page.locator(TOTAL)).to_contain_text("2 of 14 samples")
    page.get_by_role("link", name="Show these samples with heat maps").click()
    expect(page).to_have_url(re.compile("/saliency.*sd=0.02"))
    expect(page.locator(TOTAL)).to_contain_text("2 of 14 samples")
    page.go_back()
    expect(page.locator(TOTAL)).to_contain_text("2 of 14 samples")
    page.locator(".ms-uncertainty-said").focus()
    page.keyboard.press("Escape")
    expect(page.locator(TOTAL)).to_contain_text("14 of 14 samples")


@pytest.mark.long
def test_a_run_without_uncertainty_says_what_records_it(page: Page, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    from parsers.recording import ExplanationWriter

    with ExplanationWriter(str(tmp_path / "plain"), labels=["a"], seconds=1_700_000_000) as writer:
        writer.sample(0, [[0.0, 1.0]], truth=[0], probabilities={0: 0.5})
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    show(page, f"{serve(create_app(store).server)}/uncertainty?run=plain")
    expect(page.locator(".ms-uncertainty-none")).to_contain_text("This run has no uncertainty.")
    expect(page.locator(".ms-uncertainty-none")).to_contain_text("uncertainty={0: Uncertainty(")
    expect(page.locator(".ms-uncertainty-body")).to_be_hidden()
    store.stop()
