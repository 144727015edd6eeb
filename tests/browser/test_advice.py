"""The advice page, used as a person would."""

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


def test_advice_is_given_with_evidence_and_a_threshold_that_can_be_changed(
    page: Page, serve: Callable[[Flask], str], tmp_path: Path
) -> None:
    shutil.copytree(DATA / "profiler_new" / "mindspore_2.10_minddata" / "raw_b", tmp_path / "runs" / "feeding")
    store = Store([tmp_path / "runs"], interval=0.5).start()
    try:
        assert store.wait(30)
        page.goto(f"{serve(create_app(store).server)}/advice")
        card = page.locator('.ms-advice-card[data-rule="empty"]')
        expect(card).to_contain_text("empty for 98% of the batches")
        card.locator("summary").click()
        expect(card.locator("tbody tr")).to_have_count(20)
        card.locator("input").fill("99")
        expect(card).to_have_count(0)
        expect(page).to_have_url(re.compile("empty=99"))
        page.reload()
        expect(page.locator(".ms-advice-quiet input[value='99']")).to_be_visible()
        page.locator('.ms-advice-card[data-rule="queue_use"] a').click()
        expect(page.locator(".ms-preparation-verdict")).to_be_visible()
        assert "/preparation?" in page.url
    finally:
        store.stop()
