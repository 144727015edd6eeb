"""The dataset graph page, used as a person would."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from parsers import DatasetGraph, open_run
from tests.browser.showing import show
from tests.layouts.graphs.dataset.pipelines import chain, node, pipeline_source
from tests.recorded import RECORDED

BOX = ".ms-dataset-box"


def test_a_pipeline_is_drawn_chosen_by_mouse_and_keys_and_linked(page: Page, address: str) -> None:
    show(page, f"{address}/dataset?run=lenet_landscape")
    boxes = page.locator(BOX)
    expect(boxes).to_have_count(5)
    mark = open_run(RECORDED / "lenet_landscape").dataset_graph.mark  # type: ignore[union-attr]
    script = "selector => Array.from(document.querySelectorAll(selector), box => box.getBoundingClientRect().left)"
    lefts = page.evaluate(script, BOX)
    assert lefts == sorted(lefts, reverse=True)
    expect(page.locator(".ms-dataset-part")).to_have_count(6)
    panel = page.locator(".ms-dataset-panel")
    expect(panel).to_contain_text("Click an operation")
    page.locator(f'[data-node="{mark}:2"] .ms-dataset-strip').click()
    expect(panel.locator("h4")).to_have_text([re.compile("Parameters"), re.compile("Resize"), re.compile("Rescale"),
                                              re.compile("Rescale"), re.compile("HwcToChw")])  # fmt: skip
    expect(panel).to_contain_text("3.245699405670166")
    # Along the data by arrows.
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"node={mark}:1"))
    expect(panel.locator(".ms-dataset-title")).to_have_text("Shuffle")
    page.reload()
    expect(panel.locator(".ms-dataset-title")).to_have_text("Shuffle")
    expect(page.locator(f'{BOX}[aria-pressed="true"] .ms-dataset-title-text')).to_have_text("Shuffle")
    page.keyboard.press("f")
    expect(page.locator(".ms-dataset-card.ms-full")).to_be_visible()
    assert page.locator(".ms-dataset-card.ms-full").bounding_box() == {"x": 0, "y": 0, "width": 1440, "height": 900}
    page.locator(f'[data-node="{mark}:0"] .ms-dataset-strip').click()
    expect(panel.locator(".ms-dataset-title")).to_have_text("Batch")
    page.locator(f'.ms-dataset-panel [data-node="{mark}:1"]').click()
    page.keyboard.press("Escape")
    expect(page.locator(".ms-dataset-card.ms-full")).to_have_count(0)
    expect(panel.locator(".ms-dataset-title")).to_have_text("Shuffle")
    page.locator("[data-action=language]").click()
    expect(page.locator(".ms-dataset-legend li").first).to_contain_text("创建")


@pytest.mark.long
def test_a_drawing_and_all_parameters_are_saved(page: Page, address: str) -> None:
    show(page, f"{address}/dataset?run=lenet_landscape")
    expect(page.locator(BOX)).to_have_count(5)
    page.locator(".ms-dataset-card summary").click()
    with page.expect_download() as download:
        page.locator('[data-act="svg"]').click()
    assert download.value.suggested_filename == "lenet_landscape-dataset.svg"
    image = ET.parse(download.value.path()).getroot()
    texts = {element.text for element in image.iter("{http://www.w3.org/2000/svg}text")}
    assert {"MnistDataset", "RandomSampler", "Resize", "HwcToChw", "Shuffle", "Batch", "96"} <= texts
    with page.expect_download() as download:
        page.locator('[data-act="png"]').evaluate("button => button.click()")
    assert Path(download.value.path()).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON, all parameters").click()
    assert len(json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["operations"]) == 5


def test_two_runs_are_compared(page: Page, address: str) -> None:
    show(page, f"{address}/dataset?run=lenet_landscape&run=lenet_sink_mode&run=lenet_adam_lr0.01_b64&run=nan_inf")
    expect(page.locator(".ms-dataset-card")).to_have_count(3)
    expect(page.locator(".ms-dataset-changed .ms-dataset-name")).to_have_text(["batch_size"] * 3)
    row = page.locator(".ms-dataset-differences tbody tr")
    expect(row).to_have_count(1)
    assert set(row.locator("td").all_inner_texts()[2:]) == {"96", "32", "64"}
    expect(page.locator(".ms-dataset-notes")).to_contain_text("No dataset graph was recorded by: nan_inf")
    with page.expect_download() as download:
        page.locator('[data-act="csv"]').click()
    assert "batch_size" in Path(download.value.path()).read_text(encoding="utf-8")
    row.get_by_role("button").click()
    values = page.locator(".ms-dataset-panel .ms-dataset-each .ms-mono")
    expect(values).to_have_count(3)
    assert set(values.all_inner_texts()) == {"96", "32", "64"}


@pytest.mark.long
def test_odd_deep_and_wide_pipelines_stay_in_their_card(page: Page, serve: Callable[[Flask], str]) -> None:
    odd = node("<img src=x onerror=alert(1)>", **{"<b>": "</text><script>alert(1)</script>" * 50})
    source = pipeline_source({
        "deep": DatasetGraph(chain(200)), "odd": DatasetGraph(odd),
        "wide": DatasetGraph(node("Batch", node("Concat", *(chain(2) for _ in range(50))))),
    })  # fmt: skip
    page.set_viewport_size({"width": 1000, "height": 700})
    address = serve(create_app(source).server)
    for run, count in (("deep", 200), ("wide", 102), ("odd", 1)):
        show(page, f"{address}/dataset?run={run}")
        expect(page.locator(BOX)).to_have_count(count)
        assert page.evaluate("document.documentElement.scrollWidth") <= 1000
        page.locator(f"{BOX}").last.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".ms-dataset-panel table").first).to_be_visible()
    page.locator(".ms-dataset-panel summary").click()
    expect(page.locator(".ms-dataset-long")).to_contain_text("<script>alert(1)</script>")


@pytest.mark.long
def test_more_of_very_many_parameters_are_a_press_away(page: Page, serve: Callable[[Flask], str]) -> None:
    told = DatasetGraph(node("Map", **{f"p{number}": number for number in range(3_000)}))
    show(page, f"{serve(create_app(pipeline_source({'told': told})).server)}/dataset?run=told&node={told.mark}:0")
    rows = page.locator(".ms-dataset-panel tr")
    expect(rows).to_have_count(500)
    page.locator("[data-rows]").click()
    expect(rows).to_have_count(3_000)


@pytest.mark.long
def test_where_there_is_none_it_says_how_to_record_one(page: Page, address: str) -> None:
    show(page, f"{address}/dataset?run=nan_inf")
    expect(page.locator('[data-state="none"]')).to_contain_text("collect_dataset_graph")
    page.locator(".ms-dataset-elsewhere").get_by_role("button", name="lenet_landscape").click()
    expect(page.locator(BOX)).to_have_count(5)
    show(page, f"{address}/overview?run=lenet_landscape")
    page.locator('[data-tile="dataset"] a').click()
    expect(page.locator(BOX)).to_have_count(5)
