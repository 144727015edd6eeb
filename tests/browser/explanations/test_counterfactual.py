"""The counterfactual page, used as a person would, on files that mindspore-xai wrote."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from parsers import open_run
from tests.browser.showing import show

LINES = ".ms-counterfactual-line"
LARGE = ".ms-counterfactual-picture"



def test_a_sample_has_its_layers_and_outcome_picture(page: Page, explained: str) -> None:
    show(page, f"{explained}/counterfactual?run=summary_real")
    expect(page.locator(LINES)).to_have_count(6)
    expect(page.locator(LARGE)).to_have_count(2)
    outcome = page.locator(LARGE).nth(1)
    outcome.evaluate("img => img.decode()")
    assert outcome.evaluate("img => [img.naturalWidth, img.naturalHeight]") == [112, 112]
    expect(page.locator(".ms-counterfactual-strip button")).to_have_count(2)
    expect(page.locator(".ms-counterfactual-figure").nth(1)).to_contain_text("80,28,28,28")
    page.get_by_role("button", name=re.compile("^Layer 0")).click()
    expect(page.locator(".ms-counterfactual-figure").nth(1)).to_contain_text("55,0,56,56")
    expect(page.locator(".ms-counterfactual-sentence")).to_contain_text("25.0 %")
    assert "layer=0" in page.url
    expect(page.locator(".ms-counterfactual-curve .scatterlayer .point")).to_have_count(3)


@pytest.mark.long
def test_keys_step_through_samples_and_layers(page: Page, explained: str) -> None:
    page.goto(f"{explained}/counterfactual?run=summary_weak&sample=3")
    expect(page.locator(".ms-counterfactual-name")).to_contain_text("Sample 3")
    page.keyboard.press("j")
    expect(page.locator(".ms-counterfactual-name")).to_contain_text("Sample 4")
    assert page.evaluate("() => document.activeElement === document.body"), "no card takes the focus"
    page.keyboard.press("k")
    expect(page.locator(".ms-counterfactual-name")).to_contain_text("Sample 3")
    page.locator(".ms-counterfactual-strip button").nth(1).focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".ms-counterfactual-strip button").nth(0)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".ms-counterfactual-strip button").nth(0)).to_be_focused()
    page.get_by_role("button", name="FN", exact=True).click()
    expect(page.locator(LINES)).to_have_count(2)
    page.locator(LINES).nth(1).click()
    expect(page.locator(".ms-counterfactual-name")).to_contain_text("Sample 7")


@pytest.mark.long
def test_the_curve_chooses_a_layer(page: Page, explained: str) -> None:
    show(page, f"{explained}/counterfactual?run=summary_weak&sample=3")
    points = page.locator(".ms-counterfactual-curve .scatterlayer .point")
    expect(points).to_have_count(3)
    box = points.nth(1).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".ms-counterfactual-strip button").nth(0)).to_have_attribute("aria-pressed", "true")


@pytest.mark.long
def test_a_missing_picture_is_named(
    unwatched: Page, real_data: Path, tmp_path: Path, serve: Callable[[Flask], str]
) -> None:
    run = tmp_path / "runs" / "summary_real"
    shutil.copytree(real_data / "explain" / "summary_real", run)
    path = open_run(str(run)).explanations.samples["image"].iloc[1]
    (run / path).unlink()
    store = Store([run.parent], interval=0).start()
    assert store.wait(30)
    unwatched.goto(f"{serve(create_app(store).server)}/counterfactual?run=summary_real&sample=1")
    expect(unwatched.locator(".ms-counterfactual-missing").first).to_contain_text("The picture cannot be shown.")
    expect(unwatched.locator(".ms-counterfactual-problem")).to_contain_text(f"{path}: No such file")
    expect(unwatched.locator(".ms-counterfactual-strip button")).to_have_count(2)
    store.stop()


def test_a_run_without_counterfactuals_says_what_records_them(
    page: Page, tmp_path: Path, serve: Callable[[Flask], str]
) -> None:
    from parsers.recording import ExplanationWriter

    with ExplanationWriter(str(tmp_path / "plain"), labels=["a"], seconds=1_700_000_000) as writer:
        writer.sample(0, [[0.0, 1.0]], truth=[0], probabilities={0: 0.5})
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    page.goto(f"{serve(create_app(store).server)}/counterfactual?run=plain")
    expect(page.locator(".ms-counterfactual-none")).to_contain_text("This run has no counterfactuals.")
    expect(page.locator(".ms-counterfactual-none")).to_contain_text("writer.counterfactual(0, 0,")
    expect(page.locator(".ms-counterfactual-body")).to_be_hidden()
    store.stop()
