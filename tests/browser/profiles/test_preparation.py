"""The data preparation page, used as a person would."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")


@pytest.mark.long
def test_the_way_of_the_data_is_told_and_an_operation_and_steps_are_chosen(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path
) -> None:
    shutil.copytree(DATA / "profiler_new" / "mindspore_2.10_minddata" / "raw_b", tmp_path / "runs" / "feeding")
    store = Store([tmp_path / "runs"], interval=0.5).start()
    try:
        assert store.wait(30)
        page.goto(f"{serve(create_app(store).server)}/preparation")
        verdict = page.locator(".ms-preparation-verdict .en")
        expect(verdict).to_have_text(re.compile(r"Data processing is the slow part: 250 steps waited for 13\.0\s%"))
        expect(page.locator(".ms-preparation-stage.ms-preparation-slow")).to_contain_text("GeneratorOp")
        queue = page.locator(".ms-preparation-card-queue")
        expect(queue.locator(".ms-preparation-title")).to_have_text("GeneratorOp")
        page.locator(".ms-preparation-operation", has_text="BatchOp").click()
        expect(queue.locator(".ms-preparation-title")).to_have_text("BatchOp")
        expect(page).to_have_url(re.compile("op=0"))
        page.locator('.ms-preparation-stage[data-to="times"]').press("Enter")
        expect(page.locator(".ms-preparation-card-times")).to_be_focused()
        numbers = page.locator(".ms-preparation-card-table tbody th")
        expect(numbers).to_have_text(["0", "1", "2", "3"])
        page.locator(".ms-preparation-card-table .ms-sort-head", has_text="Mean entries").click()
        expect(numbers).to_have_text(["2", "0", "1", "3"])
        expect(page).to_have_url(re.compile("sort-table=3"))
        page.locator(".ms-preparation-card-sizes").hover()
        with page.expect_download() as download:
            page.locator('.ms-preparation-card-sizes [data-act="png"]').click()
        assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
        expect(page.locator(".ms-preparation-card-cpu .js-plotly-plot")).to_have_count(3)
        page.locator(".ms-preparation-step-input").first.fill("100000")
        expect(page.locator(".ms-preparation-card-cpu .ms-card-body .en").first).to_have_text(re.compile("No sample falls"))
        page.locator(".ms-preparation-steps button").click()
        expect(page.locator(".ms-preparation-card-cpu .js-plotly-plot")).to_have_count(3)
        page.locator(".ms-preparation-card-pipeline").focus()
        page.keyboard.press("f")
        expect(page.locator(".ms-preparation-card-pipeline")).to_have_class(re.compile("ms-full"))
        page.keyboard.press("Escape")
        expect(page.locator(".ms-full")).to_have_count(0)
        page.reload()
        expect(numbers).to_have_text(["2", "0", "1", "3"])
        with page.expect_download() as download:
            page.locator(".ms-preparation-card-table a", has_text="CSV").click()
        assert "BatchOp" in Path(download.value.path()).read_text()
    finally:
        store.stop()
